"""What a reduction keeps while it runs, and how it takes in one more vector of values.

A fold's state is a list of values, scalars or vectors of partial results.  Where the order of
elements does not show (integers, minima, truth) each lane folds its own elements; where it does
(products of floats) lanes are taken one after the other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from npcompile.backends.cpu.llvm import casts, scalar
from npcompile.backends.cpu.llvm.scalar import Parts, compare, component, constant
from npcompile.backends.cpu.llvm.text import (
    FLOATS,
    LLVMFunction,
    Value,
    literal,
    poison,
    vector_literal,
)
from npcompile.backends.target import Target
from npcompile.core.errors import refuse
from npcompile.core.records import record, replace
from npcompile.graph.primitives import REDUCTIONS
from npcompile.graph.types import INT
from npcompile.program.ir import Apply, Kernel, Reduce

State = list[Value]
HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)


@record
class FoldInput:
    """One vector of values on its way into a fold: ``counter`` is the first lane's position,
    ``mask`` says which lanes count (None: all)."""

    parts: Parts
    counter: Value
    mask: Value | None = None


def neutral(reduce: Reduce) -> float | int:
    """What leaves every value as it is, to the sign of zero."""
    op = REDUCTIONS[reduce.kind][0]
    if op == "add":
        return -0.0 if reduce.dtype.kind in "fc" else 0
    return {"mul": 1, "bit_and": -1 if reduce.dtype.kind != "b" else True}.get(op, 0)


def is_pairwise(reduce: Reduce) -> bool:
    """Whether runs along the last axis are summed as trees."""
    return reduce.kind == "sum" and reduce.dtype.kind in "fc"


class Fold:
    """Combines values by a primitive."""

    def __init__(self, f: LLVMFunction, target: Target, reduce: Reduce) -> None:
        self.f, self.target, self.reduce = f, target, reduce
        self.op = REDUCTIONS[reduce.kind][0]
        # minima of float16 are exact in float32
        widens = reduce.dtype == HALF and self.op in ("minimum", "maximum")
        self.dtype = SINGLE if widens else reduce.dtype
        self.idempotent = self.op in ("minimum", "maximum", "bit_and", "bit_or")
        self.ordered = self.op in ("add", "mul") and reduce.dtype.kind in "fc"

    def combine(self, a: Parts, b: Parts) -> Parts:
        f, dtype = self.f, self.dtype
        if dtype == HALF:
            wide = [casts.cast(f, x, HALF, SINGLE) for x in (a, b)]
            made = scalar.apply(f, self.target, self.op, [SINGLE, SINGLE], wide, SINGLE)
            return casts.cast(f, made, SINGLE, HALF)
        if dtype.kind != "c":
            return scalar.apply(f, self.target, self.op, [dtype, dtype], [a, b], dtype)
        if self.op == "add":
            return tuple(f.binary("fadd", x, y) for x, y in zip(a, b, strict=True))
        if self.op != "mul":
            raise refuse(self.reduce.kind, "of complex numbers is not compiled")
        (ar, ai), (br, bi) = a, b
        re = f.binary("fsub", f.binary("fmul", ar, br), f.binary("fmul", ai, bi))
        return re, f.binary("fadd", f.binary("fmul", ar, bi), f.binary("fmul", ai, br))

    def widen(self, parts: Parts) -> Parts:
        return casts.cast(self.f, parts, self.reduce.dtype, self.dtype)

    def start(self, first: Parts | None, lanes: int) -> State:
        """The state before any value; ``first`` is the first value where there is no initial one
        and taking it twice does no harm."""
        if first is not None:
            return [self.f.splat(p, lanes) for p in self.widen(first)]
        initial = self.reduce.initial
        start = neutral(self.reduce) if initial is None else initial
        return list(self.widen(constant(start, self.reduce.dtype, lanes)))

    def types(self) -> State:
        """A state of one lane, for its types."""
        return list(constant(0, self.dtype))

    @property
    def wants_first(self) -> bool:
        return self.idempotent and self.reduce.initial is None

    def step(self, state: State, item: FoldInput) -> State:
        """Lane by lane."""
        return list(self.combine(tuple(state), self.widen(item.parts)))

    def finish(self, state: State) -> Parts:
        return casts.cast(self.f, tuple(state), self.dtype, self.reduce.dtype)


class AcrossLanes(Fold):
    """All lanes go into one result, whose order does not show: each lane folds its own."""

    def another(self, state: State) -> State:
        """A state to be merged with one that began as ``state``."""
        if self.idempotent:
            return state
        return list(constant(neutral(self.reduce), self.dtype, state[0].lanes))

    def merge(self, a: State, b: State) -> State:
        return list(self.combine(tuple(a), tuple(b)))

    def start(self, first: Parts | None, lanes: int) -> State:
        if first is not None or self.idempotent:
            return super().start(first, lanes)
        return list(constant(neutral(self.reduce), self.reduce.dtype, lanes))

    def step(self, state: State, item: FoldInput) -> State:
        parts = self.widen(item.parts)
        if item.mask is not None and not self.idempotent:  # else masked lanes repeat the first
            rest = constant(neutral(self.reduce), self.dtype, parts[0].lanes)
            parts = tuple(self.f.select(item.mask, p, r) for p, r in zip(parts, rest))
        return list(self.combine(tuple(state), parts))

    def finish(self, state: State) -> Parts:
        state = merge_lanes(self.f, state, self.merge)
        if not self.idempotent and self.reduce.initial is not None:
            state = self.merge(list(constant(self.reduce.initial, self.dtype)), state)
        return super().finish(state)


class Count(AcrossLanes):
    """The sum of bools: how many of a vector's are true, at once."""

    def __init__(self, f: LLVMFunction, target: Target, reduce: Reduce) -> None:
        super().__init__(f, target, reduce)
        self.dtype = INT

    def start(self, first: Parts | None, lanes: int) -> State:
        return [literal("i64", 0)]

    def another(self, state: State) -> State:
        return self.start(None, 1)

    def step(self, state: State, item: FoldInput) -> State:
        f, (bools,) = self.f, item.parts
        if item.mask is not None:
            bools = f.binary("and", bools, item.mask)
        count = bools
        if bools.lanes > 1:
            bits = f.op(f"bitcast {bools.typed} to i{bools.lanes}", f"i{bools.lanes}")
            count = f.intrinsic("ctpop", bits)
        if count.elem != "i64":
            count = f.convert("zext", count, "i64")
        return [f.binary("add", state[0], count)]


def counted(kernel: Kernel, reduce: Reduce) -> int | None:
    """The bools that a sum of integers counts, which are needed as numbers by nothing else."""
    cast = kernel.values[reduce.value]
    if not (reduce.kind == "sum" and reduce.dtype.kind in "iu" and isinstance(cast, Apply)
            and cast.op == "cast" and kernel.values[cast.args[0]].dtype.kind == "b"):
        return None
    users = [v for v in kernel.values if isinstance(v, Apply) and reduce.value in v.args]
    stored = [s for s in kernel.stores if reduce.value in (s.value, s.mask, s.by)]
    return None if users or stored or reduce.running else cast.args[0]


class ShortRun(Fold):
    """The sum of a run that is too short to be a tree: one value after the other, lane by lane."""

    def start(self, first: Parts | None, lanes: int) -> State:
        return list(constant(neutral(self.reduce), self.dtype, lanes))

    def finish(self, state: State) -> Parts:
        if self.reduce.initial is not None:
            lanes = state[0].lanes
            start = constant(self.reduce.initial, self.dtype, lanes)
            state = list(self.combine(start, tuple(state)))
        return super().finish(state)


class InOrder(Fold):
    """All lanes go into one result, one after the other."""

    def start(self, first: Parts | None, lanes: int) -> State:
        return super().start(first, 1)

    def step(self, state: State, item: FoldInput) -> State:
        parts, total = self.widen(item.parts), tuple(state)
        if item.mask is not None:
            # a product with 1 is exact, but for what a complex one does to infinities
            rest = constant(neutral(self.reduce), self.dtype, parts[0].lanes)
            parts = tuple(self.f.select(item.mask, p, r) for p, r in zip(parts, rest))
        for lane in range(parts[0].lanes):
            more = self.combine(total, tuple(self.f.extract(p, lane) for p in parts))
            if item.mask is not None and self.dtype.kind == "c":
                counts = self.f.extract(item.mask, lane)
                more = tuple(self.f.select(counts, m, t) for m, t in zip(more, total))
            total = more
        return list(total)


class ArgExtreme(Fold):
    """Position of the first extreme; the first NaN wins.  The state is (extreme, position)."""

    def __init__(self, f: LLVMFunction, target: Target, reduce: Reduce, dtype: np.dtype) -> None:
        super().__init__(f, target, reduce)
        if dtype.kind == "c":
            raise refuse(reduce.kind, "of complex numbers is not compiled")
        self.given = dtype
        self.dtype = SINGLE if dtype == HALF else dtype
        self.smallest = reduce.kind == "argmin"
        self.idempotent = True

    def widen(self, parts: Parts) -> Parts:
        return casts.cast(self.f, parts, self.given, self.dtype)

    def start(self, first: Parts | None, lanes: int) -> State:
        assert first is not None
        (value,) = self.widen(first)
        return [self.f.splat(value, lanes), literal("i64", 0, lanes)]

    def types(self) -> State:
        return [*super().types(), literal("i64", 0)]

    def beats(self, a: Value, b: Value) -> Value:
        """Whether ``a`` replaces ``b``, which comes before it."""
        f, how = self.f, "lt" if self.smallest else "gt"
        if a.elem not in FLOATS:
            return f.icmp(("s" if self.dtype.kind == "i" else "u") + how, a, b)
        return f.binary("and", compare(f, "u" + how, a, b), compare(f, "ord", b, b))

    def step(self, state: State, item: FoldInput) -> State:
        f, (best, where) = self.f, state
        (value,) = self.widen(item.parts)
        better = self.beats(value, best)
        position = f.splat(item.counter, value.lanes)
        position = self.position(position)
        if item.mask is not None:
            better = f.binary("and", better, item.mask)
        return [f.select(better, value, best), f.select(better, position, where)]

    def position(self, first: Value) -> Value:
        return first

    def finish(self, state: State) -> Parts:
        return casts.cast(self.f, (state[1],), INT, self.reduce.buffer.dtype)


class ArgAcrossLanes(ArgExtreme):
    """Each lane has its own first extreme; then the best one, or of equals the first."""

    def position(self, first: Value) -> Value:
        if first.lanes == 1:
            return first
        return self.f.binary("add", first, vector_literal("i64", range(first.lanes)))

    def another(self, state: State) -> State:
        return state

    def merge(self, a: State, b: State) -> State:
        f = self.f
        wins, loses = self.beats(b[0], a[0]), self.beats(a[0], b[0])
        equal = f.binary("xor", f.binary("or", wins, loses), literal("i1", True, wins.lanes))
        tie = f.binary("and", equal, f.icmp("slt", b[1], a[1]))
        second = f.binary("or", wins, tie)
        return [f.select(second, y, x) for x, y in zip(a, b, strict=True)]

    def finish(self, state: State) -> Parts:
        return super().finish(merge_lanes(self.f, state, self.merge))


class ArgSearch(ArgAcrossLanes):
    """The same of one lane: the extreme of a block of elements comes first, and its position is
    looked for only where it is a better one."""

    def __init__(self, f: LLVMFunction, target: Target, reduce: Reduce, dtype: np.dtype) -> None:
        super().__init__(f, target, reduce, dtype)
        kind = "min" if self.smallest else "max"
        self.extreme = AcrossLanes(f, target, replace(reduce, kind=kind, dtype=dtype))

    def start(self, first: Parts | None, lanes: int) -> State:
        return super().start(first, 1)

    def is_last(self, best: Value) -> Value:
        """Whether nothing can replace it."""
        if best.elem == "i1":
            return self.f.negate(best) if self.smallest else best
        if best.elem in FLOATS:
            return compare(self.f, "uno", best, best)
        return literal("i1", False)

    def hits(self, parts: Parts, best: Value) -> Value:
        """Where values are the extreme."""
        f, (value,) = self.f, self.widen(parts)
        best = f.splat(best, value.lanes)
        if value.elem not in FLOATS:
            return f.icmp("eq", value, best)
        nans = f.binary("and", compare(f, "uno", value, value), compare(f, "uno", best, best))
        return f.binary("or", compare(f, "oeq", value, best), nans)


def searches(kernel: Kernel) -> bool:
    """Whether a position is looked for in blocks, which compute what little there is twice."""
    return (len(kernel.reductions) == 1 and kernel.reductions[0].kind.startswith("arg")
            and not kernel.stores and sum(isinstance(v, Apply) for v in kernel.values) <= 2)


def merge_lanes(f: LLVMFunction, state: State, merge: Callable[[State, State], State]) -> State:
    """One lane from all."""
    count = state[0].lanes
    while count > 1:
        count //= 2
        state = merge([some_lanes(f, value, range(count)) for value in state],
                      [some_lanes(f, value, range(count, 2 * count)) for value in state])
    return state


def some_lanes(f: LLVMFunction, a: Value, picks: range) -> Value:
    """Lanes of a vector; two of them twice, because two floats leave half a register to whatever is
    there, which would raise flags."""
    return f.shuffle(a, poison(a.elem, a.lanes), [*picks] * (2 if len(picks) == 2 else 1))


class PairwiseTree:
    """The pairwise sum of a run: leaves of eight partial sums (four if complex), added in pairs.

    The leaf's state is a vector per part; a run's sum is added to the state of the fold, which is
    rounded to float16 once a run where the numbers are.
    """

    def __init__(self, f: LLVMFunction, target: Target, reduce: Reduce) -> None:
        self.f, self.target, self.reduce = f, target, reduce
        self.dtype = SINGLE if reduce.dtype == HALF else reduce.dtype
        self.lanes, self.leaf = shape_of_tree(reduce)

    def zero(self, lanes: int = 1) -> Parts:
        return constant(complex(-0.0, -0.0) if self.dtype.kind == "c" else -0.0, self.dtype, lanes)

    def start(self) -> State:
        initial = self.reduce.initial
        return list(self.zero() if initial is None and self.reduce.dtype != HALF
                    else constant(-0.0 if initial is None else initial, self.reduce.dtype))

    def widen(self, parts: Parts) -> Parts:
        return casts.cast(self.f, parts, self.reduce.dtype, self.dtype)

    def add(self, a: Parts, b: Parts) -> Parts:
        return tuple(self.f.binary("fadd", x, y) for x, y in zip(a, b, strict=True))

    def fold_lanes(self, sums: Parts) -> Parts:
        """``((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))``."""
        count = sums[0].lanes
        while count > 1:
            evens = tuple(some_lanes(self.f, s, range(0, count, 2)) for s in sums)
            sums = self.add(evens, tuple(some_lanes(self.f, s, range(1, count, 2)) for s in sums))
            count //= 2
        return sums

    def fold_leaves(self, leaves: list[Parts]) -> Parts:
        """The same of several leaves, a power of two, side by side in one vector."""
        count, lanes, step = len(leaves), leaves[0][0].lanes, 1
        while len(leaves) > 1:
            picks = [first + k + j for k in range(0, lanes, 2 * step)
                     for first in (0, lanes) for j in range(step)]
            leaves = [self._meet(a, b, picks, step)
                      for a, b in zip(leaves[::2], leaves[1::2], strict=True)]
            step *= 2
        (sums,) = leaves
        while sums[0].lanes > count:
            both = [self.f.halves(s) for s in sums]
            sums = self.add(tuple(b[0] for b in both), tuple(b[1] for b in both))
        return sums

    def _meet(self, a: Parts, b: Parts, picks: list[int], step: int) -> Parts:
        """Sums of lanes of two vectors: those picked and those ``step`` further on."""
        later = [k + step for k in picks]
        return self.add(
            tuple(self.f.shuffle(x, y, picks) for x, y in zip(a, b, strict=True)),
            tuple(self.f.shuffle(x, y, later) for x, y in zip(a, b, strict=True)),
        )

    def add_rest(self, total: Parts, parts: Parts, mask: Value) -> Parts:
        """Adds the unmasked lanes, of which the last is none, one after the other."""
        rest = self.zero(self.lanes)
        parts = tuple(self.f.select(mask, p, r) for p, r in zip(self.widen(parts), rest))
        for lane in range(self.lanes - 1):
            total = self.add(total, tuple(self.f.extract(p, lane) for p in parts))
        return total

    def close_run(self, state: State, run: Parts) -> State:
        if self.reduce.dtype != HALF:
            return list(self.add(tuple(state), run))
        return list(casts.cast(self.f, self.add(self.widen(tuple(state)), run),
                               SINGLE, HALF))


def shape_of_tree(reduce: Reduce) -> tuple[int, int]:
    """(lanes, elements in a leaf)."""
    return (4, 64) if component(reduce.dtype) != reduce.dtype else (8, 128)
