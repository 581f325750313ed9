"""Plans in memory: steps with the addresses of codelets and tables, and calls of them."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from functools import cache
from typing import Any

import numpy as np

from npcompile.backends import cpu
from npcompile.backends.cpu.transforms import walker
from npcompile.backends.cpu.transforms.codelets import Codelet, ElementFormat
from npcompile.backends.cpu.transforms.lowering import Lowering, TransformLayout
from npcompile.backends.cpu.transforms.steps import STEP, WORD
from npcompile.core.aside import aside
from npcompile.core.locks import lock
from npcompile.fft.plans import Plan, plan
from npcompile.runtime.cache.disk import environment, kept, own
from npcompile.runtime.threads import pool

#: bytes of tables that are kept
LIMIT = 64 << 20

_lock = lock()


@cache
def _walker() -> Any:
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
    """A plan's steps in memory."""

    def __init__(self, of: Plan, layout: TransformLayout) -> None:
        lowering = Lowering(of, layout, spectrum)
        self.scratch = lowering.scratch
        self.lanes = layout.lanes(layout.block)
        self.block = layout.block
        self.tables: list[np.ndarray] = []
        self.words = np.zeros((len(lowering.steps) + 1, len(STEP)), np.int64)
        for row, step in zip(self.words, lowering.steps):
            for name, value in step.words.items():
                row[WORD[name]] = value
            row[WORD["function"]] = self._function(step.codelet)
            if step.table is not None:
                row[WORD["table"]] = self._table(step.table)
        self.bytes = sum(table.nbytes for table in self.tables)
        self.steps = self.words.ctypes.data

    def _function(self, codelet: Codelet | str) -> int:
        return _walker()[codelet] if isinstance(codelet, str) else _codelet(codelet.name)

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
    made = aside(lambda: Prepared(of, layout))
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
        _walker()["npc_fft_run"])


class Job:
    """Where the numbers of a call lie: a frame of the walker (:data:`.walker.FRAME`)."""

    def __init__(self, prepared: Prepared, scale: float = 1.0) -> None:
        self.prepared = prepared
        self.words = (ctypes.c_int64 * len(walker.FRAME))()
        self.set(steps=prepared.steps, scratch=prepared.scratch, block=prepared.block,
                 lanes=prepared.lanes, inner=1, total=1)
        ctypes.c_double.from_buffer(self.words, 8 * walker.PART["scale"]).value = scale

    def set(self, **words: int) -> None:
        for name, value in words.items():
            self.words[walker.PART[name]] = value

    def move(self, source: int, target: int) -> None:
        """Goes on by so many bytes."""
        self.words[walker.PART["source"]] += source
        self.words[walker.PART["target"]] += target

    def run(self, units: int, much: bool) -> int:
        """Goes through so many units, on threads if they are much work; the floating-point flags
        that this raised."""
        return int(_entry()(ctypes.addressof(self.words), units, much))


def spectrum(numbers: np.ndarray) -> np.ndarray:
    """The transform of one row of complex128 numbers."""
    form = ElementFormat("pairs", "double")
    layout = TransformLayout("c2c", form, form, "double", cpu.target().width)
    job, made = Job(prepared(plan(numbers.size), layout)), np.empty_like(numbers)
    job.set(source=numbers.ctypes.data, target=made.ctypes.data)
    job.run(1, False)
    return made
