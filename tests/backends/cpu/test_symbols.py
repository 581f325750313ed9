"""Addresses by name."""

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from npcompile.backends.cpu.loader import symbols
from npcompile.runtime.unsafe import numpy_memory


def test_numpy_api_positions_are_those_of_the_header():
    text = (Path(np.get_include()) / "numpy" / "__multiarray_api.h").read_text()
    found = re.findall(r"#define (Py(?:Array|DataMem)_\w+)\s*\\\n[^#]*?PyArray_API\[(\d+)\]", text)
    table = {name: int(position) for name, position in found}
    assert {name: table[name] for name in numpy_memory.PLACES} == numpy_memory.PLACES


def test_objects():
    assert symbols.resolve("PyFloat_Type") == id(float)
    assert symbols.resolve("_Py_NoneStruct") == id(None)
    assert symbols.resolve("PyArray_Type") == id(np.ndarray)
    assert symbols.resolve("type.float32") == id(np.float32)
    for char in "?bBhHiIlLqQefdFD":
        assert symbols.resolve(symbols.descr(np.dtype(char))) == id(np.dtype(char))


def test_functions_can_be_called():
    pow_ = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)
    assert pow_(symbols.resolve("pow"))(2.0, 5.0) == 32.0
    equivalent = ctypes.PYFUNCTYPE(ctypes.c_ubyte, ctypes.py_object, ctypes.py_object)
    f = equivalent(symbols.resolve("PyArray_EquivTypes"))
    assert f(np.dtype("l"), np.dtype("q")) == 1
    assert f(np.dtype("l"), np.dtype("d")) == 0


def test_registered():
    with pytest.raises(KeyError):
        symbols.resolve("npc_test_symbol")
    symbols.register("npc_test_symbol", 1234)
    assert symbols.resolve("npc_test_symbol") == 1234
