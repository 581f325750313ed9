"""Rows that a sweep overwrites and others still read: they are saved before it begins.

A part of a sweep in place (``u[1:-1] = f(u[:-2], u[2:])``) overwrites rows next to its cuts, which
the parts beside it read.  So the rows around each cut are copied before any part begins, and what
reads beyond its part reads the copies.  Single rows that read some far away (periodic boundaries)
read copies, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

import numpy as np

from npcompile.core.facts import Facts
from npcompile.core.records import record, replace
from npcompile.core.sizes import Poly, Predicate, Size, Symbol, largest, product, smallest
from npcompile.graph.types import c_strides
from npcompile.program.ir import Axis, Buffer, For, Index, Kernel, Load, Statement, Store, Value
from npcompile.schedule.fusion.row_blocks import Fusion
from npcompile.schedule.fusion.row_kernels import RingBuffer, RowRange, SkewedGroup, written
from npcompile.schedule.memory.overlaps import span


@record
class Reach:
    """Row ``i`` of a member reads rows ``i + first`` to ``i + last`` of what nobody in its sweep
    has overwritten yet, but will: of ``buffers``."""

    first: int
    last: int
    buffers: frozenset[Buffer]


def reaches(group: SkewedGroup, changed: Set[Buffer]) -> list[Reach | None]:
    """The rows at which each member reads the old contents of buffers that the sweep changes."""
    found: list[Reach | None] = []
    overwritten: set[Buffer] = set()
    for member in group.members:
        overwritten |= written(member) & changed
        touches = [t for t in member.touches if t.buffer in changed - overwritten]
        found.append(Reach(
            min(t.first for t in touches), max(t.last for t in touches),
            frozenset([t.buffer for t in touches]),
        ) if touches else None)
    return found


@record
class RowLayout:
    """The rows of a buffer: along an axis, ``stride`` elements apart; None: all are contiguous."""

    axis: int | None
    stride: Size
    count: Size


def rows_of(facts: Facts, buffer: Buffer, stride: Size) -> RowLayout | None:
    """The rows of a buffer, if no element of one lies between those of another."""
    shape, strides = (tuple(map(facts.norm, sizes)) for sizes in (buffer.shape, buffer.strides))
    before = facts.mark()
    for k in range(len(shape)):  # where there are elements at all
        facts.learn(Predicate("<", 0, product(shape[k:])))
    try:
        for axis, step in enumerate(strides):
            if step == stride:
                rest = [k for k in range(len(shape)) if k != axis]
                reach = span(facts, (0, tuple([shape[k] for k in rest]),
                                     tuple([strides[k] for k in rest])))
                if reach is not None and facts.prove("<=", 0, reach[0]) and (
                    facts.prove("<", reach[1], stride)
                ):
                    return RowLayout(axis, stride, shape[axis])
        if stride == 1 and strides == tuple(map(facts.norm, c_strides(shape))):
            return RowLayout(None, stride, product(shape))
    finally:
        facts.undo(before)
    return None


@record
class Halo:
    """Copies of ``below`` rows before and ``above`` rows after each cut, ``width`` rows apart."""

    rows: Mapping[Buffer, RowLayout]
    copies: Mapping[Buffer, Buffer]
    below: int
    above: int
    width: Size

    def geometries(self, buffers: Set[Buffer], cut: Size) -> dict[Buffer, RingBuffer]:
        """The copies around a cut in place of what they are copies of."""
        first = cut * self.width - self.below - (cut - 1) * (self.below + self.above)
        return {b: RingBuffer(self.copies[b], first, self.rows[b].stride)
                for b in self.copies if b in buffers}

    def write(self, parts: Size) -> list[Statement]:
        """The loop that makes the copies around all cuts."""
        symbol = Symbol("cut", low=1)
        cut = Poly((((symbol,), 1),))
        low, high = cut * self.width - self.below, cut * self.width + self.above
        body = [
            self._copy(buffer, geometry).rows(
                largest(low, 0), smallest(high, self.rows[buffer].count))
            for buffer, geometry in self.geometries(self.copies.keys(), cut).items()
        ]
        if not body:
            return []
        copies = For(symbol, 1, parts, 1, tuple(body), parallel=True)
        return [For(Symbol("once"), 0, smallest(parts - 1, 1), 1, (copies,))]

    def _copy(self, buffer: Buffer, geometry: RingBuffer) -> RowRange:
        low, count = Symbol("low"), Symbol("count", low=0)
        first, many = (Poly((((name,), 1),)) for name in (low, count))
        rows = self.rows[buffer]
        axes = [Axis(f"i{k}", size) for k, size in enumerate(buffer.shape)]
        steps = buffer.strides
        if rows.axis is None:
            axes, steps = [Axis("i", many)], (1,)
        else:
            axes[rows.axis] = Axis("i", many)
        load = Load(buffer, Index(first * rows.stride, steps), buffer.dtype)
        store = Store(geometry.buffer, Index((first - geometry.first) * rows.stride, steps), 0)
        return RowRange(Kernel("save", tuple(axes), (load,), (store,)), low, count)


def new_halo(out: Fusion, rows: Mapping[Buffer, RowLayout], below: int, above: int, parts: Size,
             width: Size) -> Halo:
    """Room for the rows around the cuts between parts."""
    copies = {
        b: new_buffer(out, "halo", b.dtype, ((parts - 1) * (below + above) * r.stride,))
        for b, r in rows.items()
    }
    return Halo(rows, copies, below, above, width)


def new_buffer(out: Fusion, stem: str, dtype: np.dtype, shape: tuple[Size, ...]) -> Buffer:
    made = Buffer(f"{stem}{len(out.made)}", "temp", dtype, shape, c_strides(shape))
    out.made.append(made)
    return made


def far_rows(out: Fusion, group: SkewedGroup) -> None:
    """Has single rows of a group read copies of what is overwritten while it sweeps."""
    later: set[Buffer] = set()
    for k in range(len(group.members) - 1, -1, -1):
        member = group.members[k]
        far = member.still & later
        if far:
            copy, kernel = _copied(out, member.kernel, far)
            group.numbers.append(copy)
            group.members[k] = replace(member, kernel=kernel)
        later |= written(member)


def _copied(out: Fusion, kernel: Kernel, far: Set[Buffer]) -> tuple[Kernel, Kernel]:
    """A kernel that copies what another one loads of some buffers, and that one afterwards."""
    shape = tuple([axis.extent for axis in kernel.axes])
    index = Index(0, c_strides(shape))
    loads: list[Value] = []
    stores: list[Store] = []
    values: list[Value] = []
    for value in kernel.values:
        if isinstance(value, Load) and value.buffer in far:
            copy = new_buffer(out, "far", value.dtype, shape)
            stores.append(Store(copy, index, len(loads)))
            loads.append(value)
            value = Load(copy, index, value.dtype)
        values.append(value)
    copies = Kernel("save", kernel.axes, tuple(loads), tuple(stores), lines=kernel.lines)
    return copies, replace(kernel, values=tuple(values))
