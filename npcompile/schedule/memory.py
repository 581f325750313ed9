"""Memories, places in them, and what can be proved about two accesses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from npcompile.core.sizes import Facts, Poly, Size, Unhinted, hint
from npcompile.graph.ir import Window
from npcompile.program.ir import Buffer


class Memory:
    """A buffer in the making: its kind is settled when the whole program is known."""

    __slots__ = ("buffer", "dtype", "index", "kind", "name", "shape", "strides")

    def __init__(
        self,
        name: str,
        kind: Literal["param", "result", "temp", "owned", "scalar", "object"],
        dtype: np.dtype,
        shape: tuple[Size, ...] = (),
        strides: tuple[Size, ...] = (),
        index: int = -1,
    ) -> None:
        self.name, self.kind, self.dtype = name, kind, dtype
        self.shape, self.strides, self.index = shape, strides, index
        self.buffer: Buffer | None = None

    def whole(self, facts: Facts) -> Place:
        """All of it, in the sizes' normal names."""
        shape = tuple(map(facts.norm, self.shape))
        return Place(self, 0, shape, tuple(map(facts.norm, self.strides)))

    def final(self) -> Buffer:
        """The buffer; from now on the memory must not change its kind."""
        if self.buffer is None:
            self.buffer = Buffer(
                self.name, self.kind, self.dtype, self.shape, self.strides, self.index
            )
        return self.buffer


@dataclass(frozen=True, slots=True)
class Place:
    """Where the elements of a value are: a window on a memory."""

    memory: Memory
    offset: Size
    shape: tuple[Size, ...]
    strides: tuple[Size, ...]
    part: str = ""

    def window(self, w: Window) -> Place:
        """A window on this place."""
        return Place(self.memory, self.offset + w.offset, w.shape, w.strides, w.part or self.part)

    def as_window(self) -> Window:
        return Window(self.offset, self.shape, self.strides, self.part)

    @property
    def dtype(self) -> np.dtype:
        whole = self.memory.dtype
        return np.dtype(whole.char.lower()) if self.part else whole


@dataclass(frozen=True, slots=True)
class Access:
    """What a loop nest touches: ``offset + sum(steps[k] * axis k)`` for all its axes; ``by``: and a
    value of the nest further on."""

    memory: Memory
    offset: Size
    steps: tuple[Size, ...]
    part: str = ""
    by: int | None = None


def conflict(facts: Facts, extents: tuple[Size, ...], a: Access, b: Access) -> bool:
    """Whether iterations of one nest may meet through two accesses, one of them a store."""
    if a.memory is not b.memory:
        return False
    if a.by is not None or b.by is not None:
        return True
    if a == b:
        return False
    if a.part and b.part and a.part != b.part:
        return False
    return not disjoint(facts, (a.offset, extents, a.steps), (b.offset, extents, b.steps))


def overlap(facts: Facts, a: Place, b: Place) -> bool:
    """Whether two places may share memory."""
    if a.memory is not b.memory or (a.part and b.part and a.part != b.part):
        return False
    return not disjoint(facts, (a.offset, a.shape, a.strides), (b.offset, b.shape, b.strides))


Box = tuple[Size, tuple[Size, ...], tuple[Size, ...]]


def disjoint(facts: Facts, a: Box, b: Box) -> bool:
    """Whether it is proved that two strided boxes (offset, lengths, steps) have no element in
    common: one ends before the other begins."""
    if a == b:
        return False
    first, second = span(facts, a), span(facts, b)
    if first is None or second is None:
        return False
    return bool(
        facts.prove("<", first[1], second[0]) or facts.prove("<", second[1], first[0])
    )


def span(facts: Facts, box: Box) -> tuple[Size, Size] | None:
    """The lowest and the highest element of a box that is not empty."""
    low, lengths, steps = box
    high = low
    for length, step in zip(lengths, steps):
        reach = step * (length - 1)
        if facts.prove("<=", 0, step):
            high = high + reach
        elif facts.prove("<=", step, 0):
            low = low + reach
        else:
            return None
    return low, high


def weight(size: Size) -> tuple[int, int, int]:
    """A key that sorts strides by magnitude as well as one can tell: by degree, then by the value
    in the call being traced.  It steers speed only."""
    if isinstance(size, Poly):
        degree = max(len(atoms) for atoms, _ in size.terms)
        try:
            value = abs(hint(size))
        except Unhinted:
            value = 0
        return degree, value, 0
    return 0, abs(size), 0
