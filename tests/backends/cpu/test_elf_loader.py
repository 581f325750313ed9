"""Machine code that is put into memory without LLVM, and what it is kept by."""

from __future__ import annotations

import ctypes
import gc
import importlib
import platform
import subprocess
import sys
import weakref
from typing import Any

import numpy as np
import pytest

from npcompile.backends.cpu.loader import elf_loader
from npcompile.backends.cpu.loader.compile import compile, load
from npcompile.backends.cpu.loader.elf_loader import Image, Unplaceable
from npcompile.backends.cpu.loader.ir_splitter import divided
from npcompile.backends.target import here
from npcompile.runtime.entry.function_writer import hasty
from npcompile.runtime.unsafe import processor

compiler = importlib.import_module("npcompile.backends.cpu.loader.compile")  # not the function

TEXT = """
@numbers = global [3 x i64] [i64 5, i64 7, i64 11], align 8
@where = global ptr @numbers, align 8
@room = internal global [40000 x i8] zeroinitializer, align 64
@outside = external global i64
declare i64 @labs(i64)
declare i64 @given(i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define i64 @third() {
  %numbers = load ptr, ptr @where
  %at = getelementptr i64, ptr %numbers, i64 2
  %number = load i64, ptr %at
  ret i64 %number
}
define i64 @call(i64 %x) {
  %a = call i64 @labs(i64 %x)
  %b = call i64 @given(i64 %a)
  %c = load i64, ptr @outside
  %d = call i64 @third()
  %e = add i64 %b, %c
  %f = add i64 %e, %d
  ret i64 %f
}
define i64 @fill(i64 %n, i8 %with) {
  call void @llvm.memset.p0.i64(ptr @room, i8 %with, i64 %n, i1 false)
  %last = sub i64 %n, 1
  %at = getelementptr i8, ptr @room, i64 %last
  %byte = load i8, ptr %at
  %found = zext i8 %byte to i64
  ret i64 %found
}
define double @pick(i64 %k) {
  switch i64 %k, label %other [i64 0, label %a  i64 1, label %b  i64 2, label %c  i64 3, label %d
                               i64 4, label %e  i64 5, label %f]
a: ret double 0.5
b: ret double 1.25
c: ret double 2.125
d: ret double 3.0625
e: ret double 4.03125
f: ret double 5.015625
other: ret double -1.0
}
"""
GIVEN = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(lambda x: 3 * x)
OUTSIDE = ctypes.c_int64(1000)
IMPORTS = {"given": ctypes.cast(GIVEN, ctypes.c_void_p).value or 0,
           "outside": ctypes.addressof(OUTSIDE)}

linux = pytest.mark.skipif(sys.platform != "linux", reason="ELF files")


def _parts(code: bytes) -> tuple[list[bytes], list[str]]:
    end = 8 + int.from_bytes(code[4:8], "little")
    gives, _, lengths = [line.split() for line in code[8:end].decode().split("\n")]
    objects = []
    for length in map(int, lengths):
        objects.append(code[end : end + length])
        end += length
    return objects, gives


def _works(loaded: Any) -> None:
    def call(name: str, kind: type, *args: int) -> object:
        address = loaded[name]
        return ctypes.CFUNCTYPE(kind, *[ctypes.c_int64] * len(args))(address)(*args)

    assert call("third", ctypes.c_int64) == 11
    assert call("call", ctypes.c_int64, -8) == 24 + 1000 + 11
    assert [call("fill", ctypes.c_int64, n, 9) for n in (1, 64, 39_999)] == [9, 9, 9]
    picked = [call("pick", ctypes.c_double, k) for k in range(7)]
    assert picked == [0.5, 1.25, 2.125, 3.0625, 4.03125, 5.015625, -1.0]
    numbers = (ctypes.c_int64 * 3).from_address(loaded["numbers"])
    numbers[2] = 12  # is what code reads
    assert call("third", ctypes.c_int64) == 12


@linux
@pytest.mark.parametrize("optimise", [(), ("call", "fill", "pick")])
def test_placed_code_is_what_llvm_links(optimise: tuple[str, ...]) -> None:
    objects, gives = _parts(compile(TEXT, optimise=optimise))
    _works(Image(objects, IMPORTS))
    _works(compiler._linked(objects, gives, {**IMPORTS, "labs": compiler.symbols.resolve("labs")}))


@linux
def test_what_is_not_understood_is_linked_by_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    code = compile(TEXT)

    def refuse(*args: object) -> None:
        raise Unplaceable("nothing is understood")

    monkeypatch.setattr(elf_loader, "Image", refuse)
    _works(load(code, IMPORTS))


@linux
def test_objects_see_each_other_and_names_are_there_once() -> None:
    one, _ = _parts(compile("define i64 @one() {\n  ret i64 1\n}\n"))
    two, _ = _parts(compile(
        "declare i64 @one()\ndefine i64 @two() {\n  %a = call i64 @one()\n  %b = add i64 %a, 1\n"
        "  ret i64 %b\n}\n"))
    image = Image([*two, *one], {})
    assert ctypes.CFUNCTYPE(ctypes.c_int64)(image["two"])() == 2
    with pytest.raises(Unplaceable):
        Image([*one, *one], {})
    with pytest.raises(Unplaceable):
        Image(two, {})
    with pytest.raises(Unplaceable, match="too far"):
        far = "@far = external dso_local global i64\ndefine i64 @get() {\n" \
              "  %x = load i64, ptr @far\n  ret i64 %x\n}\n"
        Image(_parts(compile(far))[0], {"far": 0x1000})
    with pytest.raises(Unplaceable):
        Image([b"\x7fELF\x02\x01\x01" + bytes(80)], {})
    held = elf_loader._Object(one[0], here().elf)
    (where,) = np.flatnonzero([kind == elf_loader._TEXTS for _, kind, *_ in held.sections])
    first = int.from_bytes(one[0][40:48], "little") + int(where) * elf_loader._SECTION.itemsize + 4
    with pytest.raises(Unplaceable, match="section"):  # relocations without what is added
        Image([one[0][:first] + (9).to_bytes(4, "little") + one[0][first + 4 :]], {})


@linux
@pytest.mark.parametrize("linked", [False, True])
def test_variables_of_functions_compiled_well_and_in_haste_are_the_same(
    linked: bool, monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*args: object) -> None:
        raise Unplaceable("nothing is understood")

    if linked:
        monkeypatch.setattr(elf_loader, "Image", refuse)
    text = hasty("""
@hidden = internal global i64 5, align 8
@shown = global [2 x i64] [i64 1, i64 7], align 8
@alone = internal global i64 3, align 8
@constant = private constant i64 100
define i64 @read() {
  %a = load i64, ptr @hidden
  %b = load i64, ptr getelementptr (i64, ptr @shown, i64 1)
  %c = load i64, ptr @constant
  %d = add i64 %a, %b
  %e = add i64 %d, %c
  ret i64 %e
}
define i64 @write(i64 %to,
                  i64 %other) noinline {
  store i64 %to, ptr @hidden
  store i64 %other, ptr getelementptr (i64, ptr @shown, i64 1)
  %before = load i64, ptr @alone
  %c = load i64, ptr @constant
  store i64 %c, ptr @alone
  ret i64 %before
}
""", {"read"})
    well, haste = divided(text)
    assert "@read(" in well and "define i64 @write(" in haste
    code = load(compile(text))
    assert sorted(code.addresses) == ["read", "shown", "write"]
    read = ctypes.CFUNCTYPE(ctypes.c_int64)(code["read"])
    write = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 2)(code["write"])
    assert (read(), write(20, 3), read(), write(0, 0)) == (112, 3, 123, 100)
    assert (ctypes.c_int64 * 2).from_address(code["shown"])[:] == [1, 0]


def test_memory_is_given_back_and_code_is_not_writable() -> None:
    image = Image(_parts(compile(TEXT))[0], IMPORTS)
    address, held = image["call"], weakref.ref(image._memory)
    with open("/proc/self/maps") as maps:
        ours = [line.split()[1] for line in maps
                if int(line.split("-")[0], 16) <= address < int(line.split("-")[1].split()[0], 16)]
    assert ours == ["r-xp"]
    del image
    gc.collect()
    assert held() is None


def test_a_processor_is_itself() -> None:
    code = "from npcompile.runtime.unsafe.processor import identity; print(identity())"
    both = {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                           check=True).stdout.strip() for _ in range(3)}
    assert both == {str(processor.identity())}


def test_where_the_processor_cannot_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert processor.identity.__wrapped__() is None
    monkeypatch.undo()
    monkeypatch.setattr(sys, "maxsize", 2**31 - 1)  # a program of 32 bits
    assert processor.identity.__wrapped__() is None
    monkeypatch.undo()
    monkeypatch.setattr(processor, "protect", lambda *args: False)
    assert processor.identity.__wrapped__() is None
    with pytest.raises(Unplaceable):
        monkeypatch.setattr(elf_loader, "protect", lambda *args: False)
        Image(_parts(compile(TEXT))[0], IMPORTS)
