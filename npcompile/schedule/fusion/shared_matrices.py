"""Two products of one matrix by vectors, one of which sums over rows and one over columns, become
one routine that reads the matrix once.  Two equal operands of a product that are computed one after
the other are computed once, where the product is one of :mod:`.gram_rows`.

Both round otherwise than a library: their sums are those of bands of rows, whose errors are
smaller.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from npcompile.core.facts import Facts
from npcompile.core.paths import defer
from npcompile.core.records import record, replace
from npcompile.core.sizes import Unhinted, floordiv
from npcompile.graph.ir import Extern, Geometry
from npcompile.graph.routines import BAND, parse
from npcompile.program.ir import (
    Buffer,
    Kernel,
    Load,
    RoutineCall,
    Statement,
    Store,
    View,
    with_blocks,
)

if TYPE_CHECKING:
    from npcompile.schedule.fusion import gram_rows
else:
    defer(globals(), "npcompile.schedule.fusion", "gram_rows")


@record
class MatrixByVector:
    """A product of a matrix whose columns lie side by side; ``over_rows``: the sum runs over its
    rows, else along them."""

    matrix: View
    vector: View
    over_rows: bool


def matrix_by_vector(call: RoutineCall) -> MatrixByVector | None:
    """A product as one of a matrix by a vector, both of one real float dtype."""
    if call.routine.routine != "product" or call.into is not None:
        return None
    spec = parse(call.routine.spec)
    (word, matrix), (other, vector) = sorted(zip((spec.left, spec.right), call.inputs),
                                             key=lambda pair: -len(pair[0]))
    geometry, steps = matrix.geometry, vector.geometry.strides
    usual = len(word) == 2 and len(other) == 1 and other == spec.summed and steps == (1,)
    if not usual or matrix.dtype.char not in "fd" or geometry.part or vector.geometry.part:
        return None
    if geometry.strides[1] == 1:
        return MatrixByVector(matrix, vector, word[0] == spec.summed)
    if geometry.strides[0] == 1:
        turned = Geometry(geometry.offset, geometry.shape[::-1], geometry.strides[::-1])
        return MatrixByVector(View(matrix.buffer, turned, matrix.dtype), vector,
                              word[1] == spec.summed)
    return None


class SharedMatrices:
    """Joins such products; ``made`` are the buffers that these need, ``uses`` counts the statements
    that touch a buffer and results that are it."""

    def __init__(self, facts: Facts, uses: Counter[Buffer]) -> None:
        self.facts, self.uses = facts, uses
        self.made: list[Buffer] = []
        self.notes: list[str] = []

    def block(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        found: list[Statement] = []
        for statement in body:
            if isinstance(statement, RoutineCall) and found and isinstance(found[-1], RoutineCall):
                joined = self.joined(found[-1], statement)
                found[-1:] = [found[-1], statement] if joined is None else [joined]
            elif isinstance(statement, RoutineCall):
                found += self.of_one_operand(found, statement)
            else:
                found.append(with_blocks(statement, self.block))
        return tuple(found)

    def joined(self, first: RoutineCall, second: RoutineCall) -> RoutineCall | None:
        """Two products as one, if they are of one matrix."""
        pair = [(call, product) for call in (first, second)
                if (product := matrix_by_vector(call)) is not None]
        pair.sort(key=lambda item: item[1].over_rows)
        if [product.over_rows for _, product in pair] != [False, True]:
            return None
        (along, times), (over, added) = pair
        same = (times.matrix.buffer is added.matrix.buffer and self.same(times, added)
                and first.routine.quiet == second.routine.quiet)
        (t,), (y,) = along.outputs, over.outputs
        if not same or times.vector.buffer is y or any(b.strides != (1,) for b in (t, y)):
            return None
        vectors = [times.vector]
        if added.vector.buffer is not t:
            vectors.append(added.vector)
        elif added.vector.geometry.offset != 0:
            return None
        rows, columns = times.matrix.geometry.shape
        sums = Buffer(f"sums{len(self.made)}", "temp", t.dtype,
                      (floordiv(rows + (BAND - 1), BAND), columns), (columns, 1))
        self.made.append(sums)
        self.notes.append(f"{first.routine.name} and {second.routine.name} read "
                          f"{times.matrix.buffer.name} once")
        what = Extern("double", first.routine.name, "", first.routine.quiet)
        return RoutineCall(what, (times.matrix, *vectors), (t, y, sums), first.line)

    def of_one_operand(self, before: list[Statement], call: RoutineCall) -> list[Statement]:
        """A product; where both operands are made by the kernels in front of it, which compute the
        same, of the first one only, and the second kernel is dropped."""
        kept, twin = (*before[-2:], None, None)[:2]
        if call.routine.routine != "product" or not (
                isinstance(kept, Kernel) and isinstance(twin, Kernel)):
            return [call]
        one, other = _target(kept), _target(twin)
        if one is None or other is None or not _equal(kept, twin) or (
                {view.buffer for view in call.inputs} != {one, other}) or self.uses[other] != 2:
            return [call]
        views = [replace(view, buffer=one) for view in call.inputs]
        gram = replace(call, inputs=tuple(views))
        rows = gram_rows.by_rows(self.facts, gram)
        try:
            pays = rows is not None and rows.pays(self.facts)
        except Unhinted:
            return [call]
        if not pays:
            return [call]
        self.notes.append(f"{call.routine.name} has the operand {one.name} twice")
        before.pop()
        return [gram]

    def same(self, a: MatrixByVector, b: MatrixByVector) -> bool:
        """Whether views of one buffer are equal."""
        one, other = a.matrix.geometry, b.matrix.geometry
        return a.matrix.dtype == b.matrix.dtype and all(
            self.facts.equal(x, y) for x, y in zip(
                (one.offset, *one.shape, *one.strides),
                (other.offset, *other.shape, *other.strides)))


def _target(kernel: Kernel) -> Buffer | None:
    """The temporary that a kernel makes of other buffers, if it does nothing else."""
    if len(kernel.stores) != 1 or kernel.reductions:
        return None
    (store,) = kernel.stores
    read = {value.buffer for value in kernel.values if isinstance(value, Load)}
    whole = store.mask is None and store.by is None
    return store.buffer if whole and store.buffer.kind == "temp" and store.buffer not in read else (
        None)


def _equal(a: Kernel, b: Kernel) -> bool:
    """Whether two kernels, of which the second reads nothing that the first makes, store the same
    numbers at the same places."""
    (one,), (other,) = a.stores, b.stores

    def key(kernel: Kernel, store: Store) -> tuple[object, ...]:
        return ([axis.extent for axis in kernel.axes], kernel.values, store.at, store.value,
                store.buffer.dtype, kernel.ordered)

    return key(a, one) == key(b, other) and one.buffer is not other.buffer
