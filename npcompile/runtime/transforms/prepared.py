"""Plans in memory: steps with the addresses of codelets and tables, and calls of them."""

from __future__ import annotations

import ctypes
import struct
from collections import OrderedDict
from functools import cache
from typing import Any

import numpy as np

from npcompile.backends import cpu
from npcompile.backends.cpu.transforms.formats import NumberFormat, TransformLayout
from npcompile.backends.cpu.transforms.steps import FRAME, PART, STEP, WORD
from npcompile.core.aside import aside
from npcompile.core.locks import lock
from npcompile.fft.plans import Plan, plan
from npcompile.runtime.cache.disk import Made, environment, kept, own
from npcompile.runtime.cache.serialization import PlainEncoder, read
from npcompile.runtime.memory import recycled
from npcompile.runtime.threads import pool

#: bytes of tables that are kept
LIMIT = 64 << 20
#: the most points of plans that are kept on disk
_KEPT = 1 << 18
_LENGTH = struct.Struct("<Q")

_lock = lock()


@cache
def _walker(of: str) -> Any:
    """The walker in an environment."""
    def text() -> str:
        from npcompile.backends.cpu.transforms import walker  # only who compiles needs it

        return walker.text(cpu.target().width)

    recycled.ensure()
    pool.ensure()
    return cpu.lasting(own("transforms", text))


def walker_code() -> Any:
    """The functions that go through steps."""
    return _walker(environment())


@cache
def _register(of: str) -> int:
    return int(ctypes.CFUNCTYPE(ctypes.c_int64)(_walker(of)["npc_fft_register"])())


def register() -> int:
    """Bytes of a register, without asking LLVM, which takes long to import."""
    return _register(environment())


@cache
def _codelet(name: str) -> int:
    """The address of a codelet, compiled once and kept on disk."""
    def text() -> str:
        from npcompile.backends.cpu.transforms.shapes import written  # only who compiles needs it

        return written(name)

    return cpu.lasting(own(name, text))[name]


class Prepared:
    """Steps in memory, of what a lowering says of them and of the tables that they have."""

    def __init__(self, lowered: dict[str, Any], tables: np.ndarray) -> None:
        self.scratch: int = lowered["scratch"]
        self.lanes: int = lowered["lanes"]
        self.block: int = lowered["block"]
        self.bytes: int = tables.nbytes
        self.held: list[Any] = [tables]
        steps = lowered["steps"]
        self.words = np.zeros((len(steps) + 1, len(STEP)), np.int64)
        for row, step in zip(self.words, steps):
            for name, value in step["words"].items():
                row[WORD[name]] = value
            if "codelet" in step:
                row[WORD["function"]] = _codelet(step["codelet"])
            if "table" in step:
                row[WORD["table"]] = tables.ctypes.data + step["table"]
            if "inner" in step:
                row[WORD["function"]] = walker_code()["npc_fft_repeat"]
                row[WORD["table"]] = self._frame(step, tables)
        self.steps = int(self.words.ctypes.data)

    def _frame(self, step: dict[str, Any], tables: np.ndarray) -> int:
        """The frame of a step that repeats others."""
        inner, words = Prepared(step["inner"], tables), np.zeros(len(FRAME), np.int64)
        frame = step["frame"] | {"steps": inner.steps, "scratch": inner.scratch}
        for name, value in frame.items():
            words[PART[name]] = value
        self.held += [inner, words]
        return int(words.ctypes.data)


def _lowered(of: Plan, layout: TransformLayout) -> bytes:
    """What a plan is for a layout: the length of a text, the text of its steps, and its tables."""
    from npcompile.backends.cpu.transforms.lowering import Lowering  # which disk caches save

    tables = bytearray()
    text = PlainEncoder().text(Lowering(layout, spectrum).all(of).described(tables)).encode()
    return _LENGTH.pack(len(text)) + text + tables


def _placed(of: Plan, layout: TransformLayout) -> Prepared:
    def make() -> Made:
        return _lowered(of, layout), {}

    key = ("plan", of, layout, environment())
    made, _ = kept(key, make) if of.n <= _KEPT else make()
    start = _LENGTH.size + _LENGTH.unpack_from(made)[0]
    return Prepared(read(made[_LENGTH.size : start].decode()), _aligned(made[start:]))


def _aligned(numbers: bytes) -> np.ndarray:
    """A copy at a multiple of 64."""
    room = np.empty(len(numbers) + 64, np.uint8)
    start = -room.ctypes.data % 64
    placed = room[start : start + len(numbers)]
    placed[:] = np.frombuffer(numbers, np.uint8)
    return placed


_prepared: OrderedDict[tuple[Plan, TransformLayout], Prepared] = OrderedDict()


def prepared(of: Plan, layout: TransformLayout) -> Prepared:
    """The steps of a plan, made anew if they have been dropped: the latest are kept, up to
    :data:`LIMIT` bytes."""
    key = of, layout
    found = _prepared.get(key)
    if found is not None:
        return found
    made = aside(lambda: _placed(of, layout))
    with _lock:
        _prepared[key] = made
        total = sum(p.bytes for p in _prepared.values())
        while total > LIMIT and len(_prepared) > 1:
            total -= _prepared.popitem(last=False)[1].bytes
    return made


@cache
def _entry() -> Any:
    """The walker as a function that releases the GIL."""
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    return ctypes.CFUNCTYPE(ctypes.c_int32, pointer, number, ctypes.c_bool)(
        walker_code()["npc_fft_run"])


class Job:
    """Where the numbers of a call lie: a frame of the walker (:data:`.steps.FRAME`)."""

    def __init__(self, prepared: Prepared, scale: float = 1.0) -> None:
        self.prepared = prepared
        self.words = (ctypes.c_int64 * len(FRAME))()
        self.set(steps=prepared.steps, scratch=prepared.scratch, block=prepared.block,
                 lanes=prepared.lanes, inner=1, total=1)
        struct.pack_into("=d", self.words, 8 * PART["scale"], scale)

    def set(self, **words: int) -> None:
        for name, value in words.items():
            self.words[PART[name]] = value

    def move(self, source: int, target: int) -> None:
        """Goes on by so many bytes."""
        self.words[PART["source"]] += source
        self.words[PART["target"]] += target

    def run(self, units: int, much: bool) -> int:
        """Goes through so many units, on threads if they are much work; the floating-point flags
        that this raised."""
        return int(_entry()(ctypes.addressof(self.words), units, much))


def spectrum(numbers: np.ndarray) -> np.ndarray:
    """The transform of one row of complex128 numbers."""
    form = NumberFormat("pairs", "double")
    layout = TransformLayout("c2c", form, form, "double", register())
    job, made = Job(prepared(plan(numbers.size), layout)), np.empty_like(numbers)
    job.set(source=numbers.ctypes.data, target=made.ctypes.data)
    job.run(1, False)
    return made
