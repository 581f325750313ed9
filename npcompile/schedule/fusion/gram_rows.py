"""Products of the transpose of a matrix by the matrix itself, on blocks of its rows.

The code in front makes a block of rows, which is packed once for both operands while it is in the
cache; tiles from the diagonal on are added to the sums of a band of rows, and the other half of the
result is a copy.  Sums are those of short chains, which are as accurate as a library's, but round
otherwise.
"""

from __future__ import annotations

from typing import ClassVar

from npcompile.core.facts import Facts
from npcompile.core.records import record
from npcompile.core.sizes import Size, floordiv, largest
from npcompile.graph.ir import Extern, Geometry
from npcompile.graph.routines import BAND, parse
from npcompile.program.ir import (
    Axis,
    Buffer,
    Constant,
    Index,
    Kernel,
    RoutineCall,
    Statement,
    Store,
    View,
)
from npcompile.schedule.fusion.routine_rows import RoutineTouch, SumByBands

#: multiplications from which on it is worth while, the least columns, and rows for each of these
WORK, LEAST, TALL = 1 << 20, 8, 8
#: bands at most, as each has a matrix of sums
BANDS = 8


@record
class GramOperand:
    """A matrix whose rows are ``step`` apart and its ``n`` columns ``apart``."""

    matrix: View
    rows: Size
    n: Size
    step: Size
    apart: Size


class GramRows(SumByBands):
    """A product over rows of their elements, each by each."""

    heavy = True
    alone = True
    deep: ClassVar[int] = 128

    def __init__(self, call: RoutineCall, operand: GramOperand) -> None:
        super().__init__(call, operand.rows)
        self.operand, self.n = operand, operand.n

    def pays(self, facts: Facts) -> bool:
        """Whether there are many rows, so that the bands' sums are few beside them."""
        return (facts.at_most(LEAST, self.n) and facts.at_most(TALL * self.n, self.rows)
                and facts.at_most(WORK, self.rows * self.n * self.n))

    @property
    def band(self) -> Size:
        several = floordiv(self.rows + (BANDS - 1), BANDS)
        return largest(largest(several, self.n), BAND)

    def touches(self) -> list[RoutineTouch]:
        a = self.operand
        return [RoutineTouch(a.matrix.buffer, False, a.step, a.matrix.geometry.offset, self.n,
                             a.apart)]

    def prepared(self, name: str) -> Buffer:
        bands = floordiv(self.rows + self.band - 1, self.band)
        shape = (bands, self.n, self.n)
        return Buffer(name, "temp", self.summed.dtype, shape, (self.n * self.n, self.n, 1))

    def cleared(self, found: Buffer, band: Size) -> Kernel:
        size = self.n * self.n
        zero = Constant(found.dtype.type(0), found.dtype)
        store = Store(found, Index(band * size, (1,)), 0)
        return Kernel(f"{found.name}.zero", (Axis("j", size),), (zero,), (store,))

    def on_band(self, found: Buffer, band: Size, start: Size, count: Size,
                private: dict[Buffer, Buffer]) -> RoutineCall:
        a, routine = self.operand, self.call.routine
        source, begin = a.matrix.buffer, a.matrix.geometry.offset
        if source not in private:
            begin = begin + start * a.step
        rows = View(private.get(source, source),
                    Geometry(begin, (count, self.n), (a.step, a.apart)), a.matrix.dtype)
        into = Geometry(band * self.n * self.n, (self.n, self.n), (self.n, 1))
        what = Extern("gram_rows", routine.name, routine.spec, routine.quiet)
        return RoutineCall(what, (rows, View(found, into, found.dtype)), (found,), self.call.line,
                           into=into)

    def after(self, found: Buffer) -> list[Statement]:
        routine = self.call.routine
        what = Extern("gram_sum", routine.name, routine.spec, routine.quiet)
        view = View(found, Geometry(0, found.shape, found.strides), found.dtype)
        return [RoutineCall(what, (view,), (self.summed,), self.call.line)]


def by_rows(facts: Facts, call: RoutineCall) -> GramRows | None:
    """A product of a computed matrix by itself, its result in C order."""
    spec, (left, right), (made,) = parse(call.routine.spec), call.inputs, call.outputs
    usual = (call.into is None and left.dtype.char in "fd" and len(spec.out) == 2
             and len(spec.rows) == len(spec.columns) == len(spec.summed) == 1
             and left.buffer is right.buffer and left.buffer.kind in ("temp", "result")
             and not left.geometry.part and not right.geometry.part)
    if not usual or tuple(map(facts.norm, made.strides)) != (facts.norm(made.shape[1]), 1):
        return None
    found = []
    for word, view, kept in ((spec.left, left, spec.rows), (spec.right, right, spec.columns)):
        summed, other = word.index(spec.summed), word.index(kept)
        shape, strides = view.geometry.shape, view.geometry.strides
        found.append(tuple(map(facts.norm, (view.geometry.offset, shape[summed], shape[other],
                                            strides[summed], strides[other]))))
    if found[0] != found[1]:
        return None
    return GramRows(call, GramOperand(left, *found[0][1:]))
