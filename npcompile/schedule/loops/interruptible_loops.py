"""Loops in the middle of which Python may have to go on, on threads nevertheless.

What the iterations write is copied first.  If a check fails in some iteration, everything is put
back, and the iterations run one after the other, up to the one that leaves.  This is done where
iterations compute much more than they write.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from npcompile.core.facts import Facts
from npcompile.core.records import replace
from npcompile.core.sizes import Size, Unhinted, floordiv, hint, largest, product, substitute
from npcompile.graph.types import BOOL, INT, c_strides
from npcompile.program.ir import (
    Apply,
    Axis,
    Buffer,
    Constant,
    For,
    If,
    Index,
    Kernel,
    Load,
    SideExit,
    SizeValue,
    Statement,
    Store,
    Swap,
    While,
    flat,
    with_blocks,
)
from npcompile.schedule.memory.allocate import bound
from npcompile.schedule.memory.renamed_buffers import Names, renamed_kernel
from npcompile.schedule.walk.nest import NAMES

HERE = Index(0, ())
LEAST, TIMES = 2000, 8  # iterations of inner loops, and such for each element that is copied
UNKNOWN = 8  # iterations of a loop, where nothing tells how many


class SpeculativeLoop:
    """``loop`` leaves by ``failed`` becoming true; ``serial`` is the one that leaves for Python."""

    def __init__(self, loop: For, private: set[Buffer], number: int) -> None:
        self.serial = loop
        self.failed = Buffer(f"failed{number}", "scalar", BOOL)
        self.tried = Buffer(f"tried{number}", "scalar", BOOL)
        self.private = {b: replace(b, name=f"{b.name}.own{number}") for b in private}
        body = _copied(loop.body, self.private)
        self.loop = replace(loop, body=body, failed=self.failed, edge=None)
        written = dict.fromkeys(
            buffer for s in flat(loop.body) if isinstance(s, Kernel) for buffer in s.written
            if buffer.kind != "scalar" and buffer not in private
        )
        self.copies = {
            b: Buffer(f"{b.name}.before{number}", "temp", b.dtype, b.shape, c_strides(b.shape))
            for b in written
        }
        self.elements: Size = 0
        for buffer in written:
            self.elements = self.elements + product(buffer.shape)
        iterations = largest(floordiv(loop.stop - loop.start, loop.step), 0)
        inside = substitute(
            _iterations(loop.body), {loop.symbol: floordiv(loop.start + loop.stop, 2)}
        )
        self.work = iterations * substitute(inside, dict.fromkeys(bound(loop.body), UNKNOWN))

    @property
    def made(self) -> list[Buffer]:
        return [self.failed, self.tried, *self.copies.values(), *self.private.values()]

    def pays(self, facts: Facts) -> bool:
        """Whether it does for the sizes at hand, but for their magnitude."""
        try:
            return hint(facts.norm(self.elements)) * TIMES <= hint(facts.norm(self.work))
        except (Unhinted, ZeroDivisionError):
            return False

    def statements(self, parallel: For) -> list[Statement]:
        copied = [_copy(source, target) for source, target in self.copies.items()]
        restored = [_copy(target, source) for source, target in self.copies.items()]
        values = (SizeValue(self.elements * TIMES), SizeValue(self.work),
                  Constant(np.int64(LEAST), INT), Apply("le", (0, 1), BOOL),
                  Apply("le", (2, 1), BOOL), Apply("bit_and", (3, 4), BOOL),
                  Apply("bit_not", (5,), BOOL))
        stores = (Store(self.tried, HERE, 5), Store(self.failed, HERE, 6))
        return [
            Kernel("attempt", (), values, stores),
            If(self.tried, (*copied, parallel, If(self.failed, tuple(restored), ())), ()),
            If(self.failed, (self.serial,), ()),
        ]


def _copy(source: Buffer, target: Buffer) -> Kernel:
    axes = tuple([Axis(name, extent) for name, extent in zip(NAMES, source.shape)])
    load = Load(source, Index(0, source.strides), source.dtype)
    return Kernel("copy", axes, (load,), (Store(target, Index(0, target.strides), 0),))


def _copied(body: Iterable[Statement], names: Names) -> tuple[Statement, ...]:
    """The same statements on other buffers; checks leave without doing anything."""
    found: list[Statement] = []
    for s in body:
        match s:
            case For() | While():
                found.append(replace(s, body=_copied(s.body, names), edge=None))
            case SideExit():
                found.append(replace(s, leaving=()))
            case Swap(first, second):
                found.append(Swap(names.get(first, first), names.get(second, second)))
            case Kernel():
                found.append(renamed_kernel(s, names))
            case _:
                found.append(with_blocks(s, lambda inner: _copied(inner, names)))
    return tuple(found)


def _iterations(body: Iterable[Statement]) -> Size:
    """The iterations of inner loops, and elements of kernels."""
    total: Size = 0
    for s in body:
        match s:
            case Kernel():
                total = total + (product([axis.extent for axis in s.axes]) if s.axes else 0)
            case For(symbol, start, stop, step, inner):
                iterations = largest(floordiv(stop - start, step), 0)
                total = total + iterations * (1 + substitute(_iterations(inner), {symbol: start}))
            case While(inner):
                total = total + UNKNOWN * (1 + _iterations(inner))
            case If(_, then, other):
                total = total + _iterations(then) + _iterations(other)
    return total
