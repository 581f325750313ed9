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
from npcompile.schedule.members import Group, Window, row_bytes, some_rows, uses, written
from npcompile.schedule.rows import Fusion

NEAR = 1 << 18  # bytes that the rows of a block touch
PARTS = 12  # at most, for threads to share
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


def write(out: Fusion, group: Group) -> list[Statement] | None:
    """The loop over parts of a group, if temporaries of it can be windows."""
    depths = _depths(out, group)
    margins = _margins(group, depths.keys()) if depths else None
    return None if margins is None else _Writer(out, group, depths, margins).write()


def _depths(out: Fusion, group: Group) -> dict[Buffer, Depth]:
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


def _margins(group: Group, windows: Set[Buffer]) -> list[Margins] | None:
    """What each member computes beyond a part; None where one changes what is left afterwards in
    other rows than those where others touch it: parts do not wait for each other."""
    changed = {b for member in group.members for b in written(member)} - windows
    needs = dict.fromkeys(windows, (0, 0))  # rows of each that later members read
    found: list[Margins] = []
    for member in reversed(group.members):
        before = behind = 0
        for touch in member.touches:
            if touch.writes and touch.buffer in windows:
                before = max(before, needs[touch.buffer][0] + touch.last)
                behind = max(behind, needs[touch.buffer][1] - touch.first)
        rows = {row for t in member.touches if t.buffer in changed for row in (t.first, t.last)}
        if rows:  # it has this row of a part, no less and no more
            row, *others = rows
            if others or max(before - row, behind + row) > 0:
                return None
            before, behind = row, -row
        for touch in member.touches:
            if not touch.writes and touch.buffer in windows:
                low, high = needs[touch.buffer]
                needs[touch.buffer] = (
                    max(low, before - touch.first), max(high, behind + touch.last)
                )
        found.append(Margins(before, behind))
    return found[::-1]


class _Writer:
    """Writes the loop over parts; see the head of the module."""

    def __init__(self, out: Fusion, group: Group, depths: dict[Buffer, Depth],
                 margins: list[Margins]) -> None:
        self.out, self.group, self.depths, self.margins = out, group, depths, margins
        rows = row_bytes(out.facts, group)
        self.row: Size = 0
        for size in rows.values():
            self.row = self.row + size
        sizes = [size for m in group.members for size in (m.start, m.stop)]
        outer = {name for size in (*sizes, *rows.values()) for name in symbols(size)}
        self.early: list[Statement] = out.front if outer.isdisjoint(out.inside) else []
        self.lead = max(0, *(m.before - lag for m, lag in self._margins()))
        self.trail = max(0, *(m.behind + lag for m, lag in self._margins()))
        self.base = Symbol("base")

    def _margins(self) -> Iterator[tuple[Margins, int]]:
        return zip(self.margins, self.group.lags, strict=True)

    def write(self) -> list[Statement]:
        group, bind, early = self.group, self.out.bind, self.early
        height: Size = 0
        for member, margins in zip(group.members, self.margins, strict=True):
            height = largest(height, member.stop - margins.behind)
        twice = max(m.before + m.behind for m in self.margins)
        again = max(SHARE * (twice + self.trail), 1)  # 0: nothing is read, in no rows at all
        fit = smallest(largest(floordiv(height, again), 1), PARTS)
        parts = bind("parts", fit, early)
        width = bind("width", largest(floordiv(height + parts - 1, parts), 1), early)
        most = width + self.lead + self.trail
        kept = max(depth.more for depth in self.depths.values())
        near = largest(floordiv(NEAR, largest(self.row, 1)), max(2 * kept, 1))
        block = bind("block", smallest(near, most), early)
        self._note()
        part = Symbol("part", low=0)
        begin = Poly((((part,), 1),)) * width
        windows = self._windows(block)
        made = [window.buffer for window in windows.values()]
        start, stop = begin - self.lead, begin + width + self.trail
        body = (*self._members(windows, begin, width, block),
                *self._keep(windows, stop, block))
        steps = For(self.base, start, stop, block, tuple(body))
        turn: list[Statement] = [*map(Alloc, made), steps, *map(Free, made)]
        here = [] if early is self.out.front else early
        return [*group.numbers, *here, For(part, 0, parts, 1, tuple(turn), parallel=True)]

    def _note(self) -> None:
        names = ", ".join(m.kernel.name for m in self.group.members)
        self.out.notes.append(
            f"{names} sweep over the rows together, up to {max(self.group.lags)} rows behind each "
            f"other; {len(self.depths)} temporaries hold some rows at a time")

    def _windows(self, block: Size) -> dict[Buffer, Window]:
        found, base = {}, Poly((((self.base,), 1),))
        for buffer, depth in self.depths.items():
            shape = list(buffer.shape)
            shape[depth.axis] = block + depth.more
            small = self.out.smaller[buffer] = replace(buffer, shape=tuple(shape))
            found[buffer] = Window(small, base - depth.behind, depth.stride)
        return found

    def _members(self, windows: dict[Buffer, Window], begin: Size, width: Size,
                 block: Size) -> list[Statement]:
        """What the members do in a step."""
        base, body = Poly((((self.base,), 1),)), []
        for member, (margins, lag) in zip(self.group.members, self._margins(), strict=True):
            low = largest(largest(base - lag, begin - margins.before), member.start)
            end = begin + width + margins.behind
            high = smallest(smallest(base - lag + block, end), member.stop)
            body.append(some_rows(member, windows).rows(low, high))
        return body

    def _keep(self, windows: dict[Buffer, Window], stop: Size, block: Size) -> list[Statement]:
        """The rows that are needed again go to the front, unless this was the last step."""
        copies = []
        for buffer, window in windows.items():
            count = window.stride * self.depths[buffer].more
            load = Load(window.buffer, Index(block * window.stride, (1,)), buffer.dtype)
            store = Store(window.buffer, Index(0, (1,)), 0)
            if self.depths[buffer].more:
                copies.append(Kernel("keep", (Axis("i", count),), (load,), (store,)))
        if not copies:
            return []
        base = Poly((((self.base,), 1),))
        left = largest(floordiv(stop - 1 - base, block), 0)
        return [For(Symbol("again"), 0, smallest(left, 1), 1, tuple(copies))]
