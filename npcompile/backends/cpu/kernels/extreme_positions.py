"""Where the first extreme of floats is, without a branch that nobody could foretell.

Each lane keeps the best of blocks so far and the number of the block in which it came first; then
one block is searched.  The last block overlaps the one before it instead of being shorter.
"""

from __future__ import annotations

from npcompile.backends.cpu.kernels import accumulators
from npcompile.backends.cpu.kernels.accumulators import ArgExtreme
from npcompile.backends.cpu.kernels.scope import LoopScope
from npcompile.backends.cpu.llvm import intrinsics, scalar
from npcompile.backends.cpu.llvm.text import Value, i64, literal

BLOCK = 64  # elements


def fits(kind: ArgExtreme, scope: LoopScope) -> bool:
    """Whether an extreme is found so, in regions of one block at least."""
    return kind.dtype.kind == "f" and scope.plan.lanes > 1


class Scan:
    """A region of at least a block."""

    def __init__(self, kind: ArgExtreme, scope: LoopScope, begin: Value, end: Value) -> None:
        self.kind, self.scope, self.f = kind, scope, scope.f
        self.begin, self.end = begin, end
        self.last = self.f.binary("sub", end, i64(BLOCK))  # where the last block begins

    def best(self, least: Value) -> tuple[Value, Value, Value]:
        """The best value, where the first block with it begins, whether some are NaN; if none
        beats ``least``, that one."""
        f, lanes = self.f, self.scope.plan.lanes
        word = f"i{64 if least.elem == 'double' else 32}"
        count = f.binary("sdiv", f.binary("add", f.binary("sub", self.end, self.begin),
                                          i64(BLOCK - 1)), i64(BLOCK))
        start = [f.splat(least, lanes), literal(word, 0, lanes), literal("i1", False, lanes)]
        with f.loop(i64(0), count, 1, start) as loop:
            best, where, unordered = loop.carried
            values = self._values(self._place(loop.index), lanes)
            for a, b in zip(values[::2], values[1::2] or values, strict=True):
                unordered = f.binary("or", unordered, self._unordered(a, b))
            while len(values) > 1:
                values = [self._better(a, b) for a, b in zip(values[::2], values[1::2])]
            better = scalar.compare(f, self._how(), values[0], best)
            number = loop.index if word == "i64" else f.convert("trunc", loop.index, word)
            loop.goes_on([f.select(better, values[0], best),
                         f.select(better, f.splat(number, lanes), where), unordered])
        best, where, unordered = loop.results
        (found,) = accumulators.merge_lanes(f, [best], lambda a, b: [self._better(a[0], b[0])])
        here = f.op(f"fcmp oeq {best.type} {best.text}, {f.splat(found, lanes).text}", "i1", lanes)
        most = literal(word, (1 << (int(word[1:]) - 1)) - 1, lanes)
        (first,) = accumulators.merge_lanes(f, [f.select(here, where, most)],
                                     lambda a, b: [f.intrinsic("smin", a[0], b[0])])
        first = first if word == "i64" else f.convert("zext", first, "i64")
        return found, self._place(first), scalar.any_lane(f, unordered)

    def _unordered(self, a: Value, b: Value) -> Value:
        """Where one of two is NaN."""
        if scalar.nans_in_bits(self.kind.target, a):
            return self.f.binary("or", *(intrinsics.nans(self.f, x) for x in (a, b)))
        return scalar.compare(self.f, "uno", a, b)

    def first(self, found: Value, block: Value) -> Value:
        """Where a value is first in a block, in which it is."""
        f = self.f
        (values,) = self._values(block, BLOCK)
        hits = f.op(f"fcmp oeq {values.type} {values.text}, {f.splat(found, BLOCK).text}", "i1",
                    BLOCK)
        bits = f.op(f"bitcast {hits.typed} to i{BLOCK}", f"i{BLOCK}")
        return f.binary("add", block, f.call("llvm.cttz.i64", ("i64", 1), bits, "i1 true"))

    def _place(self, number: Value) -> Value:
        f = self.f
        at = f.binary("add", self.begin, f.binary("mul", number, i64(BLOCK)))
        return f.intrinsic("smin", at, self.last)

    def _values(self, at: Value, lanes: int) -> list[Value]:
        """A block's values, in vectors."""
        f = self.f
        found: list[Value] = []
        for k in range(0, BLOCK, lanes):
            inside = self.scope.enter(f.binary("add", at, i64(k)), lanes)
            found += self.kind.widen(inside.operand(self.kind.reduce.value, lanes))
        return found

    def _how(self) -> str:
        return "olt" if self.kind.smallest else "ogt"

    def _better(self, a: Value, b: Value) -> Value:
        """One of two numbers, of which none is NaN."""
        if self.kind.target.masks and intrinsics.fits(a):
            return intrinsics.extreme(self.f, self.kind.smallest, a, b)
        return self.f.select(scalar.compare(self.f, self._how(), a, b), a, b)
