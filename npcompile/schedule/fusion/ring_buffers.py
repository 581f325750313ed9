"""Sweeps whose temporaries hold a few rows only.

A temporary that only the members of a sweep use needs no more rows than lie between the newest one
that is written and the oldest one that is still read: a *window* that moves on with each step, when
the rows that are still needed are copied to its front.  So it stays in the cache.

For threads the rows are cut into parts, which have windows of their own.  A part computes anew what
it reads beyond its rows of others' temporaries, as far as its *margins* (overlapped tiling:
Krishnamoorthy et al., Effective automatic parallelization of stencil computations, PLDI 2007): by
the same operations from the same numbers.  Every row of what is left afterwards is computed once.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from npcompile.core.facts import Facts
from npcompile.core.records import record, replace
from npcompile.core.sizes import Poly, Size, Symbol, floordiv, largest, product, smallest, symbols
from npcompile.program.ir import (
    Alloc,
    Axis,
    Buffer,
    For,
    Free,
    Index,
    Kernel,
    Load,
    Statement,
    Store,
)
from npcompile.schedule.fusion.row_blocks import Fusion
from npcompile.schedule.fusion.row_kernels import (
    RingBuffer,
    SkewedGroup,
    row_bytes,
    row_strides,
    some_rows,
    uses,
    written,
)
from npcompile.schedule.fusion.saved_rows import (
    Halo,
    Reach,
    RowLayout,
    far_rows,
    new_halo,
    reaches,
    rows_of,
)

NEAR = 1 << 18  # bytes that the rows of a block touch
PART = 1 << 18  # bytes that the rows of a part touch at least, if some are copied for others
PARTS = 12  # at most, for threads to share
EVEN = 4  # threads that have as many parts each
SHARE = 8  # rows of a part for each one that is computed twice


@record
class Margins:
    """Rows that a member computes before and behind those of a part; of -1 it leaves one out."""

    before: int
    behind: int


@record
class Depth:
    """A temporary whose rows are ``stride`` elements: from how far behind a step's first row they
    are needed, how many more than those of a step, and the axis that runs over them."""

    axis: int
    stride: Size
    behind: int
    more: int


def write(out: Fusion, group: SkewedGroup) -> list[Statement] | None:
    """The loop over parts of a group, if temporaries of it can be windows, and that pays."""
    depths = _depths(out, group)
    if not depths or not (group.useful or _pieced(group, depths.keys())):
        return None
    changed = {b for member in group.members for b in written(member)} - depths.keys()
    old = reaches(group, changed)
    margins = _margins(group, depths.keys(), changed, old)
    rows = _saved(out, group, old)
    if margins is None or rows is None:
        return None
    far_rows(out, group)
    return _RollingWriter(out, group, depths, margins, old, rows).write()


def _pieced(group: SkewedGroup, geometries: Set[Buffer]) -> bool:
    """Whether a temporary is put together from pieces of different rows (``np.roll``): a block of
    rows does not pass through all of these (see :mod:`.row_blocks`)."""
    rows: dict[Buffer, set[tuple[Size, Size]]] = {}
    for member in group.members:
        for buffer in written(member) & geometries:
            rows.setdefault(buffer, set()).add((member.start, member.stop))
    return any(len(found) > 1 for found in rows.values())


def _saved(
    out: Fusion, group: SkewedGroup, old: list[Reach | None]
) -> dict[Buffer, RowLayout] | None:
    """The rows of what parts overwrite and others read; None where they can't be told."""
    found, strides = dict[Buffer, RowLayout](), row_strides(out.facts, group)
    for buffer in [b for reach in old if reach is not None for b in reach.buffers]:
        rows = rows_of(out.facts, buffer, strides[buffer]) if buffer in strides else None
        if rows is None:
            return None
        found[buffer] = rows
    return found


def _depths(out: Fusion, group: SkewedGroup) -> dict[Buffer, Depth]:
    """The temporaries that only the group uses, whose rows all members know."""
    own = uses(group)
    still = frozenset[Buffer]().union(*(member.still for member in group.members))
    rows = row_bytes(out.facts, group)
    found = {}
    for buffer in own:
        if (buffer.kind == "temp" and own[buffer] == out.uses[buffer] and buffer not in still
                and buffer in rows):
            axis = _axis(out.facts, buffer, rows[buffer])
            ends = [
                (lag - touch.first, touch.last - lag)
                for member, lag in zip(group.members, group.lags, strict=True)
                for touch in member.touches if touch.buffer is buffer
            ]
            behind = max(first for first, _ in ends)
            more = behind + max(last for _, last in ends)
            if axis is not None:
                stride = out.facts.norm(buffer.strides[axis])
                found[buffer] = Depth(axis, stride, behind, more)
    return found


def _axis(facts: Facts, buffer: Buffer, row: Size) -> int | None:
    """The slowest axis of a buffer without gaps, if its rows are so many bytes."""
    shape = tuple(map(facts.norm, buffer.shape))
    for axis, stride in enumerate(buffer.strides):
        rest = facts.norm(product((*shape[:axis], *shape[axis + 1 :])))
        stride = facts.norm(stride)
        if stride == rest and facts.norm(stride * buffer.dtype.itemsize) == row:
            return axis
    return None


def _margins(group: SkewedGroup, geometries: Set[Buffer], changed: Set[Buffer],
             old: list[Reach | None]) -> list[Margins] | None:
    """The rows that each member computes beyond its part (the halo); None where a member reads a
    buffer that changes at other rows than it writes, since parts do not wait for each other."""
    needs = dict.fromkeys(geometries, (0, 0))  # rows of each that later members read
    found: list[Margins] = []
    for member, reach in zip(reversed(group.members), reversed(old), strict=True):
        before = behind = 0
        for touch in member.touches:
            if touch.writes and touch.buffer in geometries:
                before = max(before, needs[touch.buffer][0] + touch.last)
                behind = max(behind, needs[touch.buffer][1] - touch.first)
        after = changed if reach is None else changed - reach.buffers
        rows = {row for t in member.touches if t.buffer in after for row in (t.first, t.last)}
        if rows:  # it has this row of a part, no less and no more
            row, *others = rows
            if others or max(before - row, behind + row) > 0:
                return None
            before, behind = row, -row
        for touch in member.touches:
            if not touch.writes and touch.buffer in geometries:
                low, high = needs[touch.buffer]
                needs[touch.buffer] = (
                    max(low, before - touch.first), max(high, behind + touch.last)
                )
        found.append(Margins(before, behind))
    return found[::-1]


class _RollingWriter:
    """Writes the loop over parts; see the head of the module."""

    def __init__(
        self,
        out: Fusion,
        group: SkewedGroup,
        depths: dict[Buffer, Depth],
        margins: list[Margins],
        old: list[Reach | None],
        rows: dict[Buffer, RowLayout],
    ) -> None:
        self.out, self.group, self.depths, self.margins = out, group, depths, margins
        self.old, self.rows = old, rows
        sizes = row_bytes(out.facts, group)
        self.row: Size = 0
        for size in sizes.values():
            self.row = self.row + size
        ends = [size for m in group.members for size in (m.start, m.stop)]
        outer = {name for size in (*ends, *sizes.values()) for name in symbols(size)}
        self.early: list[Statement] = out.front if outer.isdisjoint(out.inside) else []
        self.lead = max(0, *(m.before - lag for m, lag in self._margins()))
        self.trail = max(0, *(m.behind + lag for m, lag in self._margins()))
        self.base, self.part = Symbol("base"), Symbol("part", low=0)

    def _margins(self) -> Iterator[tuple[Margins, int]]:
        return zip(self.margins, self.group.lags, strict=True)

    def write(self) -> list[Statement]:
        group, bind, early = self.group, self.out.bind, self.early
        parts, width = self._parts()
        most = width + self.lead + self.trail
        kept = max(depth.more for depth in self.depths.values())
        near = largest(floordiv(NEAR, largest(self.row, 1)), max(2 * kept, 1))
        block = bind("block", smallest(near, most), early)
        self._note()
        halo = new_halo(self.out, self.rows, *self._around(), parts, width)
        geometries = self._geometries(_size(self.part) * width, block)
        made = [geometry.buffer for geometry in geometries.values()]
        start, stop = -self.lead, width + self.trail
        body = (*self._members(geometries, halo, parts, block),
                *self._keep(geometries, stop, block))
        steps = For(self.base, start, stop, block, tuple(body))
        iteration: list[Statement] = [*map(Alloc, made), steps, *map(Free, made)]
        here = [] if early is self.out.front else early
        return [*group.numbers, *here, *halo.write(parts),
                For(self.part, 0, parts, 1, tuple(iteration), parallel=True)]

    def _parts(self) -> tuple[Size, Size]:
        """How many parts there are, and their rows."""
        height: Size = 0
        for member, margins in zip(self.group.members, self.margins, strict=True):
            height = largest(height, member.stop - margins.behind)
        again = max(m.before + m.behind for m in self.margins) + self.trail + sum(self._around())
        least: Size = max(SHARE * again, 1)  # 0: nothing is read, in no rows at all
        if self.rows:
            least = largest(least, floordiv(PART, largest(self.row, 1)))
        fit = smallest(largest(floordiv(height, least), 1), PARTS)
        if self.rows:
            fit = largest(floordiv(fit, EVEN) * EVEN, smallest(fit, EVEN - 1))
        parts = self.out.bind("parts", fit, self.early)
        width = largest(floordiv(height + parts - 1, parts), 1)
        return parts, self.out.bind("width", width, self.early)

    def _around(self) -> tuple[int, int]:
        """How many rows before and after a cut are overwritten and read by the other part."""
        below = above = 0
        for margins, reach in zip(self.margins, self.old, strict=True):
            if reach is not None and margins.before > reach.first:
                below = max(below, margins.before - reach.first)
                above = max(above, reach.last - reach.first)
            if reach is not None and margins.behind > -reach.last:
                below = max(below, reach.last - reach.first)
                above = max(above, margins.behind + reach.last)
        return below, above

    def _note(self) -> None:
        rolled = f"temporaries that hold some rows at a time: {len(self.depths)}"
        self.out.notes.append(f"{self.group.told()}; {rolled}")

    def _geometries(self, begin: Size, block: Size) -> dict[Buffer, RingBuffer]:
        found, base = {}, begin + _size(self.base)
        for buffer, depth in self.depths.items():
            shape = list(buffer.shape)
            shape[depth.axis] = block + depth.more
            small = self.out.smaller[buffer] = replace(buffer, shape=tuple(shape))
            found[buffer] = RingBuffer(small, base - depth.behind, depth.stride)
        return found

    def _members(self, geometries: dict[Buffer, RingBuffer], halo: Halo, parts: Size,
                 block: Size) -> list[Statement]:
        """The statements of the members for one step of the sweep."""
        begin, body = _size(self.part) * halo.width, list[Statement]()
        base = begin + _size(self.base)
        for k, (margins, lag) in enumerate(self._margins()):
            member, reach = self.group.members[k], self.old[k]
            low = largest(largest(base - lag, begin - margins.before), member.start)
            end = begin + halo.width + margins.behind
            high = smallest(smallest(base - lag + block, end), member.stop)
            if reach is None:
                body.append(some_rows(member, geometries).rows(low, high))
                continue
            part, left = _size(self.part), parts - 1 - _size(self.part)
            first = begin - min(reach.first, margins.before) * smallest(part, 1)
            last = end - max(reach.last + margins.behind, 0) * smallest(left, 1)
            if margins.before > reach.first:
                before = {**geometries, **halo.geometries(reach.buffers, part)}
                body.append(some_rows(member, before).rows(low, smallest(high, first)))
            own = some_rows(member, geometries)
            body.append(own.rows(largest(low, first), smallest(high, last)))
            if margins.behind > -reach.last:
                behind = {**geometries, **halo.geometries(reach.buffers, part + 1)}
                body.append(some_rows(member, behind).rows(largest(low, last), high))
        return body

    def _keep(
        self, geometries: dict[Buffer, RingBuffer], stop: Size, block: Size
    ) -> list[Statement]:
        """The rows that are needed again go to the front, unless this was the last step."""
        copies = []
        for buffer, geometry in geometries.items():
            count = geometry.stride * self.depths[buffer].more
            load = Load(geometry.buffer, Index(block * geometry.stride, (1,)), buffer.dtype)
            store = Store(geometry.buffer, Index(0, (1,)), 0)
            if self.depths[buffer].more:
                copies.append(Kernel("keep", (Axis("i", count),), (load,), (store,)))
        if not copies:
            return []
        base = _size(self.base)
        left = largest(floordiv(stop - 1 - base, block), 0)
        return [For(Symbol("again"), 0, smallest(left, 1), 1, tuple(copies))]


def _size(symbol: Symbol) -> Poly:
    return Poly((((symbol,), 1),))
