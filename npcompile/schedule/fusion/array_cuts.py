"""Sweeps whose arrays are whole: in parts, and then around the cuts between them.

In a first parallel loop each part is swept as far as it depends on itself only: a member begins by
its *edge* after the part's first row, and ends by its lag before the last.  What is left around
each cut is computed in a second one (split tiling: Krishnamoorthy et al., Effective automatic
parallelization of stencil computations, PLDI 2007).  Every row is computed once.
"""

from __future__ import annotations

from collections.abc import Iterator

from npcompile.core.sizes import Poly, Size, Symbol, floordiv, largest, smallest, symbols
from npcompile.program.ir import For, Statement
from npcompile.schedule.fusion.row_blocks import Fusion
from npcompile.schedule.fusion.row_kernels import (
    RowRange,
    SkewedGroup,
    SkewedMember,
    row_bytes,
    some_rows,
)

BLOCK = 1 << 16  # bytes that the rows of a block touch
PARTS = 12  # at most, for threads to share


class Cuts:
    """Writes the two loops of a group; see the head of the module."""

    def __init__(self, out: Fusion, group: SkewedGroup) -> None:
        self.facts, self.group, self.out = out.facts, group, out
        sizes = [size for m in group.members for size in (m.start, m.stop)]
        sizes += row_bytes(out.facts, group).values()
        outer = {name for size in sizes for name in symbols(size)}
        self.early: list[Statement] = out.front if outer.isdisjoint(out.inside) else []
        self.here = [] if self.early is out.front else self.early

    def write(self) -> list[Statement]:
        group = self.group
        height: Size = 0
        for member, lag in zip(group.members, group.lags, strict=True):
            height = largest(height, member.stop + lag)
        total: Size = 0
        for size in row_bytes(self.facts, group).values():
            total = total + size
        farthest = max(group.lags) + max(group.edges) + 1
        block = self.out.bind("block", largest(floordiv(BLOCK, largest(total, 1)), 1), self.early)
        least = 4 * farthest + 2 * block
        fit = smallest(largest(floordiv(height, least), 1), PARTS)
        parts = self.out.bind("parts", fit, self.early)
        width = self.out.bind("width", largest(floordiv(height + parts - 1, parts), 1), self.early)
        inner = [some_rows(member, {}) for member in group.members]
        self.out.notes.append(group.told())
        first = self._parts(inner, parts, width, block)
        return [*group.numbers, *self.here, first, self._cuts(inner, parts, width)]

    def _parts(self, inner: list[RowRange], parts: Size, width: Size, block: Size) -> For:
        """Each part as far as it depends on itself only."""
        part, step = Symbol("part", low=0), Symbol("step", low=0)
        p, t = (Poly((((name,), 1),)) for name in (part, step))
        body: list[Statement] = []
        for member, lag, edge, made in self._all(inner):
            begin, at = p * width, p * width + t * block - lag
            low = largest(largest(at, begin + edge * smallest(p, 1)), member.start)
            high = smallest(smallest(at + block, begin + width - lag), member.stop)
            body.append(made.rows(low, high))
        steps = floordiv(width + block - 1, block)
        return For(part, 0, parts, 1, (For(step, 0, steps, 1, tuple(body)),), parallel=True)

    def _cuts(self, inner: list[RowRange], parts: Size, width: Size) -> For:
        """What is left around each cut between parts."""
        cut = Symbol("cut", low=1)
        at = Poly((((cut,), 1),)) * width
        body = [
            made.rows(largest(at - lag, member.start), smallest(at + edge, member.stop))
            for member, lag, edge, made in self._all(inner) if lag or edge
        ]
        return For(cut, 1, parts, 1, tuple(body), parallel=True)

    def _all(self, inner: list[RowRange]) -> Iterator[tuple[SkewedMember, int, int, RowRange]]:
        group = self.group
        return zip(group.members, group.lags, group.edges, inner, strict=True)
