"""Products whose left operand and result have the same rows, on blocks of rows.

The right operand, which all rows of a matrix meet, is packed once before the loop; so the code in
front of a product, the product and the code behind it pass over a block of rows while that stays in
the cache, and what lies between them is never stored as a whole.  Elements are sums of chains of
fused multiply-adds, which are as accurate as a library's sums, but round otherwise; in the
deterministic modes one chain, as wherever else these modes multiply matrices.
"""

from __future__ import annotations

from npcompile.core.facts import Facts
from npcompile.core.records import record
from npcompile.core.sizes import Size, floordiv, product
from npcompile.graph.ir import Extern, Geometry
from npcompile.graph.routines import PADDED, Spec, parse
from npcompile.program.ir import Buffer, RoutineCall, SideExit, Statement, View
from npcompile.schedule.fusion import gram_rows, vector_rows
from npcompile.schedule.fusion.routine_rows import RoutineByRows, RoutineTouch

#: bytes of a packed matrix at most, so that it stays in a cache
PACKED = 1 << 21
#: multiplications from which on it is worth while; a matrix with fewer rows or columns is the
#: library's
WORK, LEAST = 1 << 20, 8


@record
class ProductOperands:
    """``a`` has the rows, whose elements are ``apart``, and which are ``step`` apart as those of
    the result are ``made_step``; ``per`` rows meet the same one of the matrices ``b``, the axes of
    which are those of a batch, the summed one and the columns."""

    a: View
    b: View
    per: Size
    step: Size
    apart: Size
    made_step: Size


class ProductRows(RoutineByRows):
    """A product of matrices."""

    heavy = True

    def __init__(self, call: RoutineCall, rows: Size, operands: ProductOperands, chain: bool
                 ) -> None:
        super().__init__(call, rows)
        self.operands, self.chain = operands, chain
        self.a, self.b, self.per = operands.a, operands.b, operands.per

    @property
    def k(self) -> Size:
        return self.b.geometry.shape[-2]

    @property
    def n(self) -> Size:
        return self.b.geometry.shape[-1]

    def pays(self, facts: Facts) -> bool:
        """Whether it is worth while to pack a matrix, for the sizes at hand."""
        most = PACKED // self.a.dtype.itemsize
        return (facts.at_most(LEAST, self.per) and facts.at_most(LEAST, self.n)
                and facts.at_most(WORK, self.rows * self.k * self.n)
                and facts.at_most(self.k * self.n, most))

    def touches(self) -> list[RoutineTouch]:
        (made,), has = self.call.outputs, self.operands
        return [RoutineTouch(self.a.buffer, False, has.step, self.a.geometry.offset, self.k,
                             has.apart),
                RoutineTouch(made, True, has.made_step, 0, self.n),
                RoutineTouch(self.b.buffer, False)]

    def prepared(self, name: str) -> Buffer:
        columns = floordiv(self.n + (PADDED - 1), PADDED) * PADDED
        shape = (product(self.b.geometry.shape[:-2]), self.k, columns)
        return Buffer(name, "temp", self.a.dtype, shape, (self.k * columns, columns, 1))

    def before(self, found: Buffer | None, check: SideExit | None) -> list[Statement]:
        assert found is not None
        what = Extern("pack", self.call.routine.name, "", True)
        return [RoutineCall(what, (self.b,), (found,), self.call.line)]

    def on_rows(self, found: Buffer | None, start: Size, count: Size, private: dict[Buffer, Buffer]
                ) -> RoutineCall:
        (made,), a, routine, has = self.call.outputs, self.a, self.call.routine, self.operands
        assert found is not None

        def part(buffer: Buffer, offset: Size, step: Size, length: Size, apart: Size) -> Geometry:
            begin = offset if buffer in private else offset + start * step
            return Geometry(begin, (count, length), (step, apart))

        source = part(a.buffer, a.geometry.offset, has.step, self.k, has.apart)
        left = View(private.get(a.buffer, a.buffer), source, a.dtype)
        packed = View(found, Geometry(0, found.shape, found.strides), found.dtype)
        what = Extern("product_rows", routine.name, routine.spec, routine.quiet)
        return RoutineCall(what, (left, packed), (private.get(made, made),), self.call.line,
                           (int(self.chain), start, self.per, self.n),
                           part(made, 0, has.made_step, self.n, 1))


def by_rows(facts: Facts, call: RoutineCall, rounds: bool) -> RoutineByRows | None:
    """A product of real floats by rows, where strides tell a row from the next one; ``rounds``: it
    may round otherwise than other products."""
    spec, (left, right), (made,) = parse(call.routine.spec), call.inputs, call.outputs
    if len(spec.out) == 1:
        return vector_rows.by_rows(facts, call) if rounds else None
    gram = gram_rows.by_rows(facts, call) if rounds else None
    if gram is not None:
        return gram
    if spec.out[-1:] in spec.rows:
        spec, left, right = Spec(spec.right, spec.left, spec.out), right, left
    usual = (call.into is None and left.dtype.char in "fd" and len(spec.columns) == 1 and spec.rows
             and spec.summed and spec.out == spec.batch + spec.rows + spec.columns
             and not left.geometry.part and not right.geometry.part)
    if not usual or made.kind == "scalar" or facts.norm(made.strides[-1]) != 1:
        return None
    along, summed = spec.out[:-1], spec.left.index(spec.summed)
    extents = dict(zip(spec.left, left.geometry.shape))
    steps = dict(zip(spec.left, left.geometry.strides))
    step = _one_step(facts, [extents[x] for x in along], [steps[x] for x in along])
    made_step = _one_step(facts, [extents[x] for x in along], made.strides[:-1])
    if step is None or made_step is None:
        return None
    order = [spec.right.index(x) for x in spec.batch + spec.summed + spec.columns]
    geometry = right.geometry
    turned = Geometry(geometry.offset, tuple([geometry.shape[x] for x in order]),
                      tuple([geometry.strides[x] for x in order]))
    operands = ProductOperands(
        left, View(right.buffer, turned, right.dtype),
        facts.norm(product([extents[x] for x in spec.rows])), facts.norm(step),
        facts.norm(left.geometry.strides[summed]), facts.norm(made_step))
    rows = facts.norm(product([extents[x] for x in along]))
    return ProductRows(call, rows, operands, not rounds)


def _one_step(facts: Facts, extents: list[Size], strides: tuple[Size, ...] | list[Size]
              ) -> Size | None:
    """The distance of rows over several axes, if it is one."""
    for at in range(len(extents) - 1):
        if facts.norm(strides[at]) != facts.norm(strides[at + 1] * extents[at + 1]):
            return None
    return strides[-1]
