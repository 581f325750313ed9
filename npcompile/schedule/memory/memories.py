"""Memories, places in them, and what can be proved about two accesses."""

from __future__ import annotations

from typing import Literal

import numpy as np

from npcompile.core.facts import Facts
from npcompile.core.records import record
from npcompile.core.sizes import Poly, Size, Unhinted, hint
from npcompile.graph.ir import Geometry
from npcompile.program.ir import Buffer


class Memory:
    """A buffer in the making: its kind is settled when the whole program is known."""

    __slots__ = ("buffer", "dtype", "index", "kind", "like", "name", "shape", "strides",
                 "title")

    def __init__(
        self,
        name: str,
        kind: Literal["param", "result", "temp", "owned", "scalar", "object"],
        dtype: np.dtype,
        shape: tuple[Size, ...] = (),
        strides: tuple[Size, ...] = (),
        index: int = -1,
        title: str = "",
    ) -> None:
        self.name, self.kind, self.dtype = name, kind, dtype
        self.shape, self.strides, self.index, self.title = shape, strides, index, title
        self.buffer: Buffer | None = None
        self.like: Memory | None = None  # not smaller, and it may take the place of this

    def becomes(self, kind: Literal["result", "owned"]) -> None:
        """From now on it is of another kind."""
        self.kind = kind

    def may_be(self, other: Memory) -> None:
        """From now on it may be in the place of another memory, which is not smaller."""
        self.like = other

    @property
    def model(self) -> Memory:
        """The memory that this one is as large as."""
        return self if self.like is None else self.like.model

    def whole(self, facts: Facts) -> BufferView:
        """All of it, in the sizes' normal names."""
        shape = tuple(map(facts.norm, self.shape))
        return BufferView(self, 0, shape, tuple(map(facts.norm, self.strides)))

    def final(self) -> Buffer:
        """The buffer; from now on the memory must not change its kind."""
        if self.buffer is None:
            model = self.model
            self.buffer = Buffer(self.name, self.kind, self.dtype, model.shape, model.strides,
                                 self.index, self.title)
        return self.buffer


@record
class BufferView:
    """Where the elements of a value are: a view on a memory."""

    memory: Memory
    offset: Size
    shape: tuple[Size, ...]
    strides: tuple[Size, ...]
    part: str = ""

    def geometry(self, w: Geometry) -> BufferView:
        """A view on this place."""
        return BufferView(
            self.memory, self.offset + w.offset, w.shape, w.strides, w.part or self.part
        )

    def as_geometry(self) -> Geometry:
        return Geometry(self.offset, self.shape, self.strides, self.part)

    @property
    def dtype(self) -> np.dtype:
        whole = self.memory.dtype
        return np.dtype(whole.char.lower()) if self.part else whole


@record
class Footprint:
    """The elements that a loop nest touches: ``offset + sum(steps[k] * axis k)`` for all its axes;
    ``by``: plus the value of the nest with that number."""

    memory: Memory
    offset: Size
    steps: tuple[Size, ...]
    part: str = ""
    by: int | None = None


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
