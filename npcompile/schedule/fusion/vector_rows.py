"""Products of a matrix by vectors, on blocks of its rows.

A product that sums along rows gives numbers of these rows.  One that sums over rows adds them, each
times a number, to sums of bands of rows, which are added in their order behind the loop: so the
bits don't depend on the number of threads.  Both of one matrix, with any code between them that
keeps to its rows, read the matrix once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.core.facts import Facts
from npcompile.core.sizes import Poly, Size, Symbol, floordiv, largest, smallest
from npcompile.graph.ir import Extern, Geometry
from npcompile.graph.routines import BAND
from npcompile.program.ir import (
    Axis,
    Buffer,
    Constant,
    For,
    Index,
    Kernel,
    Load,
    Reduce,
    RoutineCall,
    Statement,
    Store,
    View,
)
from npcompile.schedule.fusion.routine_rows import RoutineByRows, RoutineTouch, SumByBands
from npcompile.schedule.fusion.shared_matrices import MatrixByVector, matrix_by_vector

if TYPE_CHECKING:
    from npcompile.schedule.fusion.row_blocks import Fusion

#: elements of a matrix from which on it is worth while, and the least of a row
WORK, LEAST = 1 << 20, 8
#: bands at most, so that their sums are few
BANDS = 64


class VectorRows(RoutineByRows):
    """A product that sums along rows, with sums of its own."""

    heavy = True

    def __init__(self, call: RoutineCall, rows: Size, operands: MatrixByVector) -> None:
        super().__init__(call, rows)
        self.matrix, self.vector = operands.matrix, operands.vector

    @property
    def n(self) -> Size:
        return self.matrix.geometry.shape[1]

    def pays(self, facts: Facts) -> bool:
        return facts.at_most(LEAST, self.n) and facts.at_most(WORK, self.rows * self.n)

    def touches(self) -> list[RoutineTouch]:
        return [self._matrix(), RoutineTouch(self.call.outputs[0], True, 1, 0, 1),
                RoutineTouch(self.vector.buffer, False)]

    def _matrix(self) -> RoutineTouch:
        geometry = self.matrix.geometry
        return RoutineTouch(self.matrix.buffer, False, geometry.strides[0], geometry.offset, self.n)

    def _rows(self, start: Size, count: Size, private: dict[Buffer, Buffer]) -> View:
        """Some rows of the matrix."""
        matrix, geometry = self.matrix, self.matrix.geometry
        begin = geometry.offset
        if matrix.buffer not in private:
            begin = begin + start * geometry.strides[0]
        part = Geometry(begin, (count, self.n), geometry.strides)
        return View(private.get(matrix.buffer, matrix.buffer), part, matrix.dtype)

    def on_rows(self, found: Buffer | None, start: Size, count: Size,
                private: dict[Buffer, Buffer]) -> RoutineCall:
        (made,), routine = self.call.outputs, self.call.routine
        into = Geometry(0 if made in private else start, (count,), (1,))
        what = Extern("vector_rows", routine.name, routine.spec, routine.quiet)
        return RoutineCall(what, (self._rows(start, count, private), self.vector),
                           (private.get(made, made),), self.call.line, into=into)


class SumOverRows(VectorRows, SumByBands):
    """A product that sums over rows; ``band`` of them have sums of their own."""

    @property
    def band(self) -> Size:
        several = floordiv(self.rows + (BAND * BANDS - 1), BAND * BANDS)
        return BAND * largest(several, 1)

    def touches(self) -> list[RoutineTouch]:
        vector = self.vector
        return [self._matrix(), RoutineTouch(vector.buffer, False, 1, vector.geometry.offset, 1)]

    def prepared(self, name: str) -> Buffer:
        bands = floordiv(self.rows + self.band - 1, self.band)
        return Buffer(name, "temp", self.matrix.dtype, (bands, self.n), (self.n, 1))

    def cleared(self, found: Buffer, band: Size) -> Kernel:
        zero = Constant(found.dtype.type(0), found.dtype)
        store = Store(found, Index(band * self.n, (1,)), 0)
        return Kernel(f"{found.name}.zero", (Axis("j", self.n),), (zero,), (store,))

    def on_band(self, found: Buffer, band: Size, start: Size, count: Size,
                private: dict[Buffer, Buffer]) -> RoutineCall:
        vector, routine = self.vector, self.call.routine
        begin = vector.geometry.offset
        if vector.buffer not in private:
            begin = begin + start
        numbers = View(private.get(vector.buffer, vector.buffer), Geometry(begin, (count,), (1,)),
                       vector.dtype)
        into = Geometry(band * self.n, (self.n,), (1,))
        what = Extern("add_rows", routine.name, routine.spec, routine.quiet)
        rows = self._rows(start, count, private)
        return RoutineCall(what, (rows, numbers, View(found, into, found.dtype)), (found,),
                           self.call.line, into=into)

    def after(self, found: Buffer) -> list[Statement]:
        axes = Axis("i", found.shape[0]), Axis("j", self.n)
        load = Load(found, Index(0, (self.n, 1)), found.dtype)
        reduce = Reduce("sum", (0,), 0, self.summed, Index(0, (0, 1)), found.dtype)
        return [Kernel(f"{found.name}.sum", axes, (load,), (), (reduce,))]


class Bands:
    """The loop over bands of rows, which have sums of their own."""

    def __init__(self, out: Fusion, rows: Size, found: dict[RoutineByRows, Buffer | None],
                 before: list[Statement]) -> None:
        self.sums = [(routine, made) for routine, made in found.items()
                     if isinstance(routine, SumByBands) and made is not None]
        self.rows, self.symbol = rows, Symbol("band", 0, 0)
        self.band = out.bind("band", self.sums[0][0].band, before)
        self.at = Poly((((self.symbol,), 1),))

    @property
    def bounds(self) -> tuple[Size, Size]:
        """The first row of a band, and where it ends."""
        start = self.at * self.band
        return start, smallest(start + self.band, self.rows)

    def member(self, routine: RoutineByRows, found: Buffer | None, start: Size, count: Size,
               private: dict[Buffer, Buffer]) -> RoutineCall:
        assert isinstance(routine, SumByBands) and found is not None
        return routine.on_band(found, self.at, start, count, private)

    def cleared(self) -> list[Statement]:
        return [routine.cleared(made, self.at) for routine, made in self.sums]

    def loop(self, body: tuple[Statement, ...]) -> list[Statement]:
        bands = floordiv(self.rows + self.band - 1, self.band)
        after = [s for routine, made in self.sums for s in routine.after(made)]
        return [For(self.symbol, 0, bands, 1, body, parallel=True), *after]


def by_rows(facts: Facts, call: RoutineCall) -> VectorRows | None:
    """A product of a matrix by a vector by rows of the matrix, which lie in C order."""
    product = matrix_by_vector(call)
    (made,) = call.outputs
    if product is None or made.kind == "scalar" or made.strides != (1,):
        return None
    rows = facts.norm(product.matrix.geometry.shape[0])
    return (SumOverRows if product.over_rows else VectorRows)(call, rows, product)
