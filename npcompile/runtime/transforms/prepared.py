"""Plans in memory: steps with the addresses of codelets and tables, and calls of them."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from functools import cache
from typing import Any

import numpy as np

from npcompile.backends import cpu
from npcompile.backends.cpu.transforms import walker
from npcompile.backends.cpu.transforms.codelets import NumberFormat
from npcompile.backends.cpu.transforms.lowering import Lowering, TransformLayout
from npcompile.backends.cpu.transforms.steps import FRAME, PART, STEP, WORD, PassStep
from npcompile.core.aside import aside
from npcompile.core.locks import lock
from npcompile.fft.plans import Plan, plan
from npcompile.runtime.cache.disk import environment, kept, own
from npcompile.runtime.memory import recycled
from npcompile.runtime.threads import pool

#: bytes of tables that are kept
LIMIT = 64 << 20

_lock = lock()


@cache
def walker_code() -> Any:
    """The functions of :mod:`.walker`."""
    recycled.ensure()
    pool.ensure()
    return cpu.lasting(own("transforms", walker.text))


@cache
def _codelet(name: str) -> int:
    """The address of a codelet, compiled once and kept on disk."""
    from npcompile.backends.cpu.transforms.shapes import written  # only who compiles needs it

    def made() -> tuple[bytes, dict[str, Any]]:
        return cpu.compile(written(name)), {}

    code, _ = kept((name, environment()), made)
    return cpu.lasting(code)[name]


class Prepared:
    """Steps in memory."""

    def __init__(self, lowering: Lowering) -> None:
        layout = lowering.layout
        self.scratch = lowering.scratch
        self.lanes, self.block = layout.lanes(layout.block), layout.block
        self.tables: list[np.ndarray] = []
        self.inner: list[Prepared] = []
        self.words = np.zeros((len(lowering.steps) + 1, len(STEP)), np.int64)
        for row, step in zip(self.words, lowering.steps):
            for name, value in step.words.items():
                row[WORD[name]] = value
            row[WORD["function"]] = self._function(step)
            table = step.table if step.inner is None else self._frame(step)
            if table is not None:
                row[WORD["table"]] = self._table(table)
        self.bytes: int = sum(t.nbytes for t in self.tables) + sum(p.bytes for p in self.inner)
        self.steps = int(self.words.ctypes.data)

    def _function(self, step: PassStep) -> int:
        codelet = step.codelet
        return walker_code()["npc_fft_repeat"] if codelet is None else _codelet(codelet.name)

    def _frame(self, step: PassStep) -> np.ndarray:
        """The frame of a step that repeats others."""
        assert step.inner is not None
        assert step.frame is not None
        inner = Prepared(step.inner)
        self.inner.append(inner)
        words = np.zeros(len(FRAME), np.int64)
        for name, value in (step.frame | {"steps": inner.steps, "scratch": inner.scratch}).items():
            words[PART[name]] = value
        return words

    def _table(self, numbers: np.ndarray) -> int:
        """The address of a copy at a multiple of 64."""
        room = np.empty(numbers.nbytes + 64, np.uint8)
        self.tables.append(room)
        start = -room.ctypes.data % 64
        room[start : start + numbers.nbytes] = np.ascontiguousarray(numbers).view(np.uint8).ravel()
        return int(room.ctypes.data) + start


_prepared: OrderedDict[tuple[Plan, TransformLayout], Prepared] = OrderedDict()


def prepared(of: Plan, layout: TransformLayout) -> Prepared:
    """The steps of a plan, made anew if they have been dropped: the latest are kept, up to
    :data:`LIMIT` bytes."""
    key = of, layout
    found = _prepared.get(key)
    if found is not None:
        return found
    made = aside(lambda: Prepared(Lowering(layout, spectrum).all(of)))
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
        ctypes.c_double.from_buffer(self.words, 8 * PART["scale"]).value = scale

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
    layout = TransformLayout("c2c", form, form, "double", cpu.target().width)
    job, made = Job(prepared(plan(numbers.size), layout)), np.empty_like(numbers)
    job.set(source=numbers.ctypes.data, target=made.ctypes.data)
    job.run(1, False)
    return made
