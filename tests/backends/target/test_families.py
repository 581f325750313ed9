"""Families of processors: their names stay in their room, and each has all machine functions."""

from __future__ import annotations

import ast
import ctypes
import os
import platform
import re
import sys
from pathlib import Path

import llvmlite.binding as llvm
import pytest

import npcompile
from npcompile.backends.cpu.loader.compile import assembly, compile, load, target
from npcompile.backends.target import MACHINE_FUNCTIONS, Target, families, family, here
from npcompile.core.records import replace

PACKAGE = Path(npcompile.__file__).parent
#: of intrinsics, registers and instructions
NAMES = re.compile(
    r"llvm\.(x86|aarch64|readcyclecounter|readsteadycounter)|\b(st|ld)?mxcsr\b|\bfp[sc]r\b"
    r"|\b[xyz]mm\d*\b|\b[lms]fence\b|\brdtscp?\b|\bcpuid\b|vzeroupper|\bcnt(vct|frq)_el0"
    r"|\b(rcp|rsqrt)14|\bavx512\.|\basm sideeffect|\bv?pause\b(?= *\()", re.IGNORECASE)


def constants(path: Path) -> list[tuple[int, str]]:
    """The strings of a module that are no documentation, with their lines."""
    tree = ast.parse(path.read_text())
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [(node.lineno, node.value) for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
            and id(node) not in told]


def test_what_belongs_to_a_family_is_named_in_one_room() -> None:
    found = {path.relative_to(PACKAGE).as_posix(): [
        line for line, text in constants(path) if NAMES.search(text)]
        for path in PACKAGE.rglob("*.py")}
    named = {path for path, lines in found.items() if lines}
    assert {f"backends/target/{name}.py" for name in ("x86_64", "aarch64")} <= named
    assert not {path for path in named if not path.startswith("backends/target/")}


TEXT = """
declare void @npc.fp.save(ptr)
declare void @npc.fp.restore(ptr)
declare void @npc.spin()
declare void @npc.streamed()
declare i64 @npc.clock()

define i32 @divide(double %a, double %b, ptr %result) {
  %word = alloca i32
  call void @npc.fp.save(ptr %word)
  %before = load i32, ptr %word
  %clear = and i32 %before, -64
  store i32 %clear, ptr %word
  call void @npc.fp.restore(ptr %word)
  %c = call double @quotient(double %a, double %b)
  store double %c, ptr %result
  call void @npc.fp.save(ptr %word)
  %after = load i32, ptr %word
  store i32 %before, ptr %word
  call void @npc.fp.restore(ptr %word)
  %flags = and i32 %after, 63
  ret i32 %flags
}

define i64 @wait() {
  %first = call i64 @npc.clock()
  call void @npc.spin()
  call void @npc.streamed()
  %last = call i64 @npc.clock()
  %passed = sub i64 %last, %first
  ret i64 %passed
}

define internal double @quotient(double %a, double %b) noinline {
  %c = fdiv double %a, %b
  ret double %c
}
"""


@pytest.mark.parametrize("name", families())
def test_every_family_has_all_machine_functions(name: str) -> None:
    """Their module is one that LLVM understands for the family's processors."""
    if name == "plain":
        triple, cpu = "riscv64-unknown-linux-gnu", "generic-rv64"
    else:
        triple, cpu = f"{name.replace('-', '_')}-unknown-linux-gnu", ""
    spelled = family(name).spelled(TEXT)
    assert all(f"declare {kind} @{function}(" not in spelled
               for function, (kind, _) in MACHINE_FUNCTIONS.items())
    text = assembly(TEXT, Target(cpu, "", 16, False, 1 << 20, name, triple=triple))
    assert "divide:" in text and "wait:" in text


def test_flags_are_read_and_put_back() -> None:
    code = load(compile(TEXT))
    kinds = (ctypes.c_double, ctypes.c_double, ctypes.c_void_p)
    divide = ctypes.PYFUNCTYPE(ctypes.c_int, *kinds)(code["divide"])
    result = ctypes.c_double()
    where = ctypes.addressof(result)
    assert divide(6.0, 3.0, where) == 0 and result.value == 2
    assert divide(1.0, 3.0, where) & 31 == 0 and divide(1.0, 3.0, where) & 32
    assert divide(1.0, 0.0, where) & 31 == 4 and result.value == float("inf")
    assert divide(0.0, 0.0, where) & 31 == 1
    assert divide(1e300, 1e-300, where) & 31 == 8
    assert divide(1e-300, 1e300, where) & 31 == 16 and result.value == 0
    assert divide(6.0, 3.0, where) == 0  # what was raised is not there the next time


def test_the_clock_goes_forward() -> None:
    code = load(compile(TEXT))
    wait = ctypes.PYFUNCTYPE(ctypes.c_int64)(code["wait"])
    passed = [wait() for _ in range(1000)]
    assert min(passed) >= 0 and sum(passed) > 0


def test_the_family_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    assert here().name == target().family
    assert llvm.get_process_triple().partition("-")[0] in (here().name.replace("-", "_"), "arm64")
    for machine, other, name in (("AMD64", "x86_64", "x86-64"), ("arm64", "aarch64", "aarch64"),
                                 ("riscv64", "riscv64", "plain"), ("aarch64", "x86_64", "plain")):
        monkeypatch.setattr(platform, "machine", lambda machine=machine: machine)
        known = os.uname_result(("Linux", "", "", "", other))
        monkeypatch.setattr(os, "uname", lambda known=known: known)
        assert here().name == name
    monkeypatch.setattr(sys, "maxsize", 2**31 - 1)
    assert here().name == "plain"


def test_targets_are_equal_by_what_they_say() -> None:
    one = target()
    assert one == replace(one) and one != replace(one, saturates=not one.saturates)
