"""Records of versions are data: what is written comes back, and nothing else is read."""

from __future__ import annotations

import functools
import gc
import math
import os
import pickle
import struct
import subprocess
import sys
import threading
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.core.errors import Refusal
from npcompile.core.lines import SourceLine
from npcompile.core.sizes import Poly, Symbol
from npcompile.graph.stubs import Globals
from npcompile.program.results import Buffer
from npcompile.program.stored import Stored
from npcompile.python.values import NULL, Marker
from npcompile.runtime.cache.disk import DiskCache, Record, fingerprint
from npcompile.runtime.cache.serialization import Invalid, PlainEncoder, Unwritable, read
from npcompile.runtime.versions import native, version_lookup

SYMBOL = Symbol("n", 3, 0)
X = np.arange(4.0)


def back(value: Any) -> Any:
    return read(PlainEncoder().text(value))


@pytest.mark.parametrize("value", [
    None, ..., True, False, 0, -1, 2**200, 1.5, -0.0, math.inf, 1e-320, 2j, complex(-0.0, math.inf),
    "", "a b", "a\nb", "\\n", "\0", "é\ud800", b"", b"\0\n\xff", (), ((),), [1, [2]], {1: "a"},
    frozenset({1, "a"}), slice(1, None), range(2, 9, 3), np.dtype("f4"), np.dtype(">i2"),
    np.dtype("U5"), np.dtype("q"), np.dtype("l"), np.float32(1.5), np.bool_(True), len, math.sqrt,
    np.sum, np.add, np.add.reduce, np.linalg.norm, str.join, dict.fromkeys, int, types.FunctionType,
    type(iter(())), np.float64, Stored, NULL, SYMBOL.__class__, functools.partial,
])
def test_values_come_back(value: Any) -> None:
    got = back(value)
    assert type(got) is type(value)
    assert repr(got) == repr(value)
    assert got == value
    if isinstance(value, np.dtype):
        assert got.num == value.num


def test_bits_arrays_and_objects_come_back() -> None:
    nan = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_0000_0123))[0]
    assert struct.pack("<d", back(nan)) == struct.pack("<d", nan)
    array = np.arange(6, dtype=">f4").reshape(2, 3)
    got = back(array)
    assert got.dtype == array.dtype and got.tolist() == array.tolist() and got.flags.writeable
    made = back(functools.partial(int, "11", base=2))
    assert made() == 3
    line = back(SourceLine(3, "/a b/c.py"))
    assert type(line) is SourceLine and (line, line.file) == (3, "/a b/c.py")
    assert back(Refusal("a", "b\nc", 3)) == Refusal("a", "b\nc", 3)


def test_objects_that_are_shared_stay_shared() -> None:
    size = Poly((((SYMBOL,), 2),))
    one, other, symbol, third = back((size, size, SYMBOL, Poly((((SYMBOL,), 2),))))
    assert one is other and one.terms[0][0][0] is symbol and one is not third and one == third


@pytest.mark.parametrize("value", [
    lambda: 1, (lambda: 1).__code__, object(), threading.Lock(), Globals({}), np.array([None]),
    np.arange(6.0)[::2], np.dtype([("a", "i4")]), types.SimpleNamespace(a=1), [[threading.Lock()]],
    Marker("other"), test_values_come_back.__get__(3), iter([1]), open,
])
def test_what_is_no_data_is_not_written(value: Any) -> None:
    if value is open:  # a name like any other
        assert back(value) is open
    elif isinstance(value, Globals):  # a record, which the writer of versions refuses
        assert back(value).names == {}
    else:
        with pytest.raises(Unwritable):
            PlainEncoder().text(value)


def test_depth_is_refused() -> None:
    value: Any = ()
    for _ in range(100_000):
        value = (value,)
    gc.disable()  # finalizers of other tests' objects would find no stack left
    try:
        with pytest.raises(Unwritable):
            PlainEncoder().text(value)
    finally:
        gc.enable()


def line(x: Any) -> Any:
    return x * 2 + 1


BUFFER = f"@{Buffer.__module__}:Buffer"


@pytest.mark.parametrize("text", [
    "", "x", "i", "ione", "(0", "(-1", "N\n(-1", "N\n(0 1", "N\n{0", "[\n<0", "[\nN\n{0 1", "bx",
    "f00", "S\\x", "dnone", "@os", "@no.such.module:x", "@os:no", "@npcompile.no:x", "hnone",
    "g0 a", "i1\ng0 real", "w0", "i1\nw0", f"{BUFFER}\nr0", "@subprocess:Popen\ns/bin/true\nr0 1",
    "@builtins:eval\ns1\nr0 1", "@npcompile.runtime.cache.disk:Store\ns/tmp\nr0 1",
    "@npcompile.core.lines:file_of\ni1\nr0 1", "@npcompile.core.errors:Refusal\n[\no0 1",
    "@builtins:dict\n{\no0 1", "@builtins:int\nN\nN\np0 1 2", "@numpy:float64\n(\nn0 1 00",
    "df8\n(\nn0 1 00", "df8\n(\nn0 -1 " + "00" * 8, pickle.dumps(3).decode("latin1"),
    "@builtins:int\n" * 3 + "r0 1 2",
])
def test_nothing_else_is_read(text: str) -> None:
    with pytest.raises(Invalid):
        read(text)


@pytest.mark.parametrize("how", [
    "pickle", "nothing", "nulls", "text", "other kinds", "half", "swapped", "names"])
def test_foreign_records_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Even such as have the right key and digest: the function is compiled again."""
    made = DiskCache(tmp_path / "cache")
    monkeypatch.setattr("npcompile.runtime.versions.compiling.store", lambda: made)
    monkeypatch.setattr(native, "store", lambda: made)
    mark = tmp_path / "mark"

    class Touch:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(mark),)

    f = line
    keys: list[bytes] = []
    put = made.put
    monkeypatch.setattr(made, "put", lambda key, record: keys.append(key) or put(key, record))
    assert jit(f)(X).tolist() == (X * 2 + 1).tolist()
    (key,) = [key for key in keys if (found := made.get(key)) and version_lookup.entries(found)]
    record = made.get(key)
    assert record is not None
    (entry,) = version_lookup.entries(record)
    foreign = {
        "pickle": pickle.dumps([((), (), Touch(), Touch(), Touch())]),
        "nothing": b"", "nulls": b"\0" * 7, "text": b"N\0N\0N\0N",
        "other kinds": "\0".join([entry[0], "i1\ni2\n(0 1", *entry[2:]]).encode(),
        "half": record.object[: len(record.object) // 2],
        "swapped": "\0".join([entry[0], entry[2], entry[1], entry[3]]).encode(),
        "names": "\0".join([f"@os:mkdir\ns{mark}\nr0 1"] * 4).encode(),
    }[how]
    assert put(key, Record(foreign, {}))
    again = jit(types.FunctionType(f.__code__, f.__globals__))
    assert again(X).tolist() == (X * 2 + 1).tolist()
    assert again.cache_info().compiled == 1
    assert "trace" in again._dispatcher.versions[0].executable.times
    assert not mark.exists()
    third = jit(types.FunctionType(f.__code__, f.__globals__))  # and the record is right again
    assert third(X).tolist() == (X * 2 + 1).tolist()
    assert "recall" in third._dispatcher.versions[0].executable.times


def test_nothing_of_the_cache_unpickles() -> None:
    home = Path(native.__file__).parents[1]
    places = [home / "runtime", home / "backends/cpu"]
    found = subprocess.run(
        ["grep", "-rlE", "pickle.load|Unpickler|marshal", "--include=*.py", *map(str, places)],
        capture_output=True, text=True, check=False)
    assert found.stdout == ""


def test_integers_of_any_length_are_written() -> None:
    numbers = (10**5000, -(10**5000), -17, 0, 1 << 64)
    assert read(PlainEncoder().text(numbers)) == numbers
    long, longer = range(10**5000), range(10**5000 + 1)
    assert fingerprint(long) == fingerprint(range(10**5000)) != fingerprint(longer)


def test_what_a_trace_function_raises_is_no_fault_of_the_text() -> None:
    class Late(Exception):
        pass

    def trace(frame: Any, event: str, value: object) -> Any:
        if frame.f_code.co_name == "_several":
            raise Late
        return trace

    text = PlainEncoder().text(value := [(1, 2), (3,)])
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with pytest.raises(Late):
            read(text)
    finally:
        sys.settrace(before)
    assert read(text) == value
