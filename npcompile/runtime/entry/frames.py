"""Reads a frame from Python: what a failed check leaves behind.

The code that an ``exit`` gets is the number of the check, and ``what`` is the address of the frame,
which is there until ``exit`` returns.
"""

from __future__ import annotations

import ctypes
from time import perf_counter
from typing import Any

import numpy as np

from npcompile.backends.cpu.llvm.frame import SHORT, FrameLayout
from npcompile.core.sizes import Size, Symbol, evaluate
from npcompile.program.ir import (
    INTERRUPTED,
    Buffer,
    BufferResult,
    ItemsResult,
    ObjectResult,
    ParamResult,
    Program,
    Result,
    ScalarResult,
    StaticResult,
    ViewResult,
)
from npcompile.runtime.entry import interrupts
from npcompile.runtime.entry.assembly import assemble
from npcompile.runtime.entry.executables import FLAGS, OVERLAP, STALE, UNDONE, Left
from npcompile.runtime.entry.helpers import flag_names
from npcompile.runtime.unsafe import numpy_memory, raw_memory

_WRITEABLE = 0x400


class FrameReader:
    """Boxes what is in a frame.  Objects boxed by one reader keep their identity.

    Parameters
    ----------
    program, frame
        What the code was made of.
    address
        Where the frame is.
    """

    def __init__(self, program: Program, frame: FrameLayout, address: int) -> None:
        self._program = program
        self._frame = frame
        self._slots = raw_memory.words(address, frame.size)
        self._views: dict[int, Any] = {}
        self._numbers: dict[int, Any] = {}
        self._containers: dict[int, Any] = {}

    def size(self, size: Size) -> int:
        """The value of a size."""
        return evaluate(size, self._symbol)

    def _symbol(self, name: Symbol) -> int:
        return ctypes.c_int64(self._slots[self._frame.symbol(name)]).value

    def array(self, buffer: Buffer) -> Any:
        """The array object of a parameter or result, or what an object buffer holds."""
        slot = self._frame.object(buffer)
        if not self._slots[slot]:
            raise ValueError(f"{buffer.name} has not been made")
        return raw_memory.object_at(self._slots[slot])

    def number(self, buffer: Buffer, origin: str) -> Any:
        """The number in a scalar buffer."""
        slot = self._frame.number(buffer)
        bits = b"".join(self._slots[k].to_bytes(8, "little") for k in (slot, slot + 1))
        number = np.frombuffer(bits, buffer.dtype, 1)[0]
        return number.item() if origin == "py" else number

    def box(self, result: Result) -> Any:
        """The object that a result stands for."""
        match result:
            case ParamResult(index):
                return self.array(self._program.params[index])
            case BufferResult(buffer):
                return self.array(buffer)
            case ScalarResult(buffer, origin, ident):
                if not ident:
                    return self.number(buffer, origin)
                if ident not in self._numbers:
                    self._numbers[ident] = self.number(buffer, origin)
                return self._numbers[ident]
            case ObjectResult(buffer):
                return self.array(buffer)
            case StaticResult(value):
                return value
            case ViewResult(ident):
                if ident not in self._views:
                    self._views[ident] = self._view(result)
                return self._views[ident]
            case ItemsResult():
                return assemble(result, self.box, self._containers)

    def _view(self, view: ViewResult) -> Any:
        owner = self.box(view.base)
        part, unit = view.geometry.part, owner.dtype.itemsize
        offset = self.size(view.geometry.offset) * unit + (unit // 2 if part == "imag" else 0)
        shape = tuple([max(self.size(n), 0) for n in view.geometry.shape])  # as in boxing
        unit = unit if self.size(view.filled) else 0
        strides = tuple(self.size(stride) * unit for stride in view.geometry.strides)
        flags = owner.flags.num & (_WRITEABLE if view.writeable else 0)
        return numpy_memory.view(owner, view.dtype, offset, shape, strides, flags)


def left(program: Program, frame: FrameLayout, number: int, raised: int, what: Any) -> Left:
    """Why compiled code was left; what Python needs is boxed while the frame is there."""
    names = flag_names(raised)
    if number == FLAGS:
        return Left("floating-point exceptions", number, names, what)
    if number == UNDONE:
        told = interrupts.taken()
        return Left("floating-point exceptions", number, names, exception=told)
    if number == SHORT:
        return Left("memory has run out", number, exception=interrupts.taken())
    if number == OVERLAP:
        return Left("arrays that overlap and are written, or may not be", number)
    if number == STALE:
        return Left("a global or a closure changed", number)
    way_out, begun = program.resumes[number], perf_counter()
    told = interrupts.taken() if way_out.reason == INTERRUPTED else None
    try:
        held = list(map(FrameReader(program, frame, what).box, way_out.held()))
    except BaseException as error:  # another handler's
        if told is None:
            raise
        raise error from told
    return Left(way_out.reason, number, names, None, held, perf_counter() - begun, told)
