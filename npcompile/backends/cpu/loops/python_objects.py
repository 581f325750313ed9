"""Python objects in generated code: arrays on our memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, literal
from npcompile.backends.cpu.loader.symbols import descr
from npcompile.core.paths import defer

if TYPE_CHECKING:
    pass
else:
    defer(globals(), "npcompile.backends.cpu.loops", "random_numbers")

NULL = Value("null", "ptr")
#: where an array object keeps the address of its first element
ARRAY_DATA = object.__basicsize__
ARRAY_DIMENSIONS, ARRAY_BASE = ARRAY_DATA + 16, ARRAY_DATA + 32
ARRAY_DESCR, ARRAY_FLAGS = ARRAY_DATA + 40, ARRAY_DATA + 48
ORDINARY = 0x0505  # contiguous, with memory of its own, aligned, writeable
#: where every object has its class
OBJECT_TYPE = object.__basicsize__ - 8
WRITEABLE = 0x0400  # NPY_ARRAY_WRITEABLE
#: buffers that are the memory of an array object
OWNED = frozenset({"param", "result", "owned"})


class Objects:
    """The ``@obj.N`` of a module, each listed once."""

    def __init__(self) -> None:
        self.listed: list[object] = []

    def name(self, what: object) -> str:
        for position, known in enumerate(self.listed):
            if known is what:
                return f"obj.{position}"
        self.listed.append(what)
        return f"obj.{len(self.listed) - 1}"


def numbers(f: LLVMFunction, values: list[Value]) -> Value:
    """Values in an array on the stack."""
    room = f.alloca("i64", max(1, len(values)))
    for position, value in enumerate(values):
        f.store(value, f.offset(room, "i64", i64(position)))
    return room


def new_array(f: LLVMFunction, dtype: np.dtype, shape: list[Value], strides: list[Value] | None,
              data: Value = NULL) -> Value:
    """A new array object, of fresh memory unless ``data`` is given; null if it fails.

    Strides are in bytes; C order if they are None.
    """
    kind = f.module.extern(descr(dtype))
    steps = NULL if strides is None else numbers(f, strides)
    rank, dims = literal("i32", len(shape)), numbers(f, shape)
    if data is NULL:
        return f.call("npc_new_array", ("ptr", 1), kind, rank, dims, steps)
    f.run("Py_IncRef", kind)  # the array takes it over
    return f.call("PyArray_NewFromDescr", ("ptr", 1), f.module.extern("PyArray_Type"), kind,
                  rank, dims, steps, data, literal("i32", WRITEABLE), NULL)


def adopt(f: LLVMFunction, dtype: np.dtype, shape: list[Value], strides: list[Value] | None,
          data: Value, bytes_: Value) -> Value:
    """A new array object that owns memory which was taken; null if it fails."""
    steps = NULL if strides is None else numbers(f, strides)
    return f.call("npc_adopt", ("ptr", 1), f.module.extern(descr(dtype)),
                  literal("i32", len(shape)), numbers(f, shape), steps, data, bytes_)
