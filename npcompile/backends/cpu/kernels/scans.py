"""Running reductions: every partial result is stored.

Along the kernel's last axis, where the order does not show, whole vectors are scanned in steps of
1, 2, 4, ... lanes (Hillis and Steele: Data parallel algorithms, CACM 29, 1986); else the
accumulator stays in a register, and some rows run side by side, so that they don't wait for each
other's results.  Along another axis, lanes run over the last one, and each row of results is made
from the one before, in memory.
"""

from __future__ import annotations

from npcompile.backends.cpu.kernels.accumulator_lists import flatten, shaped
from npcompile.backends.cpu.kernels.accumulators import Fold, FoldInput, State, neutral
from npcompile.backends.cpu.kernels.reduction_kernels import BLOCK, kept_loops, sweep
from npcompile.backends.cpu.kernels.reduction_runs import write
from npcompile.backends.cpu.kernels.scope import LoopScope, NestPlan, one_by_one, widest
from npcompile.backends.cpu.llvm import access
from npcompile.backends.cpu.llvm.access import ElementAddress
from npcompile.backends.cpu.llvm.scalar import Parts, constant
from npcompile.backends.cpu.llvm.text import Value, i64, poison
from npcompile.backends.target import Target
from npcompile.core.records import replace
from npcompile.graph.primitives import REDUCTIONS
from npcompile.program.ir import Apply, Kernel

ROWS = 8  # that run side by side
LIGHT = 4  # operations of what is accumulated up to which they do


def scans(kernel: Kernel) -> bool:
    return any(reduce.running for reduce in kernel.reductions)


def plan(kernel: Kernel, target: Target) -> NestPlan:
    """Kept axes outside, then the running one; lanes along the kernel's last axis if it is kept or
    can be scanned by vectors."""
    last = len(kernel.axes) - 1
    (axis,) = kernel.reductions[0].axes
    others = [k for k in range(last) if k != axis]
    lanes = max(1, target.width // widest(kernel))
    if axis != last:
        return NestPlan(kernel, target, (*others, axis, last), last, lanes)
    if lanes > 1 and by_vectors(kernel):
        return NestPlan(kernel, target, (*others, axis), last, lanes)
    return NestPlan(kernel, target, (*others, axis))


def by_vectors(kernel: Kernel) -> bool:
    """Whether partial results of neighbours may be made side by side, with some gain."""
    (reduce,) = kernel.reductions
    extreme = REDUCTIONS[reduce.kind][0] in ("minimum", "maximum")
    return (reduce.dtype.kind in ("iuf" if extreme else "iu") and not one_by_one(kernel)
            and REDUCTIONS[reduce.kind][0] != "mul")


def nest(scope: LoopScope, begin: Value, end: Value) -> None:
    """The kept loops; the outermost of them from ``begin`` to ``end``."""
    rank = len(scope.plan.order)
    fold = Fold(scope.f, scope.plan.target, scope.plan.kernel.reductions[0])
    if scope.plan.lane_axis not in (-1, *fold.reduce.axes):
        kept_loops(scope, rank - 2, begin, end, _Rows(fold).block)
    elif rank > 1 and scope.plan.lanes > 1:
        _by_length(scope, fold, begin, end)
    elif scope.plan.lanes > 1:
        _run_vectors(scope, fold)
    elif rank == 1:
        _run([scope], fold)
    else:
        _side_by_side(scope, fold, begin, end)


# ------------------------------------------------------------------ along the last axis


def _by_length(scope: LoopScope, fold: Fold, begin: Value, end: Value) -> None:
    """Rows that are shorter than a vector side by side, others by vectors."""
    f, plan = scope.f, scope.plan
    sides, ones, after = (f.name_for(stem) for stem in ("sides", "ones", "after"))
    f.branch(f.icmp("slt", scope.extent(plan.order[-1]), i64(plan.lanes)), sides, ones)
    f.label(sides)
    _side_by_side(scope, fold, begin, end)
    f.jump(after)
    f.label(ones)
    kept_loops(scope, len(plan.order) - 1, begin, end, lambda row, *_: _run_vectors(row, fold))
    f.jump(after)
    f.label(after)


def _side_by_side(scope: LoopScope, fold: Fold, begin: Value, end: Value) -> None:
    f, order = scope.f, scope.plan.order
    if scope.depth < len(order) - 2:
        with f.loop(begin, end) as loop:
            inside = scope.enter(loop.index)
            _side_by_side(inside, fold, i64(0), inside.extent(order[inside.depth]))
        return
    operations = sum(isinstance(v, Apply) for v in scope.plan.kernel.values)
    whole = begin
    if operations <= LIGHT:
        count = f.binary("sub", end, begin)
        whole = f.binary("add", begin, f.binary("and", count, i64(-ROWS)))
        with f.loop(begin, whole, ROWS) as loop:
            rows = [f.binary("add", loop.index, i64(k)) for k in range(ROWS)]
            _run([scope.enter(row) for row in rows], fold)
    with f.loop(whole, end) as loop:
        _run([scope.enter(loop.index)], fold)


def _run(scopes: list[LoopScope], fold: Fold) -> None:
    """All of the axis, for some rows."""
    f, length = scopes[0].f, scopes[0].extent(scopes[0].plan.order[-1])
    with f.when(f.icmp("slt", i64(0), length)):
        first = [scope.enter(i64(0)) for scope in scopes]
        states: list[State] = [list(fold.widen(_value(inside, fold))) for inside in first]
        for inside, state in zip(first, states, strict=True):
            write(inside, fold.reduce, fold.finish(state), inside.lanes)
        with f.loop(i64(1), length, carried=flatten(states)) as loop:
            following = []
            for scope, state in zip(scopes, shaped(loop.carried, states), strict=True):
                inside = scope.enter(loop.index)
                state = fold.step(state, FoldInput(_value(inside, fold), loop.index))
                write(inside, fold.reduce, fold.finish(state), inside.lanes)
                following.append(state)
            loop.goes_on(flatten(following))


def _run_vectors(scope: LoopScope, fold: Fold) -> None:
    """The same by vectors, and what is left behind these one by one."""
    f, lanes, reduce = scope.f, scope.plan.lanes, fold.reduce
    length = scope.extent(scope.plan.order[-1])
    with f.when(f.icmp("slt", i64(0), length)):
        if fold.idempotent:
            start = fold.widen(scope.enter(i64(0)).operand(reduce.value, 1))
        else:
            start = constant(neutral(reduce), fold.dtype)
        whole = f.binary("and", length, i64(-lanes))
        with f.loop(i64(0), whole, lanes, [f.splat(part, lanes) for part in start]) as loop:
            inside = scope.enter(loop.index, lanes)
            made = _scanned(fold, fold.widen(_value(inside, fold)))
            made = fold.combine(tuple(loop.carried), made)
            write(inside, reduce, fold.finish(list(made)), inside.lanes)
            last = [lanes - 1] * lanes
            loop.goes_on([f.shuffle(part, poison(part.elem, lanes), last) for part in made])
        with f.loop(whole, length, carried=[f.extract(p, 0) for p in loop.results]) as rest:
            inside = scope.enter(rest.index)
            state = fold.step(rest.carried, FoldInput(_value(inside, fold), rest.index))
            write(inside, reduce, fold.finish(state), inside.lanes)
            rest.goes_on(state)


def _scanned(fold: Fold, parts: Parts) -> Parts:
    """The partial results of a vector: each lane takes in that one before it, then that two before
    it, and so on; the first lanes take in themselves or what changes nothing."""
    f, lanes, step = fold.f, parts[0].lanes, 1
    nothing = constant(neutral(fold.reduce), fold.dtype, lanes)
    while step < lanes:
        first = 0 if fold.idempotent else lanes
        picks = [first + k if k < step else k - step for k in range(lanes)]
        before = tuple(f.shuffle(p, n, picks) for p, n in zip(parts, nothing, strict=True))
        parts, step = fold.combine(before, parts), 2 * step
    return parts


def _value(scope: LoopScope, fold: Fold) -> tuple[Value, ...]:
    """The next value; other stores of the kernel happen on the way."""
    scope.stores()
    return scope.operand(fold.reduce.value, scope.lanes.count)


# ------------------------------------------------------------------ along another axis


class _Rows:
    """Rows of results, each made from the one before."""

    def __init__(self, fold: Fold) -> None:
        self.fold = fold

    def block(self, scope: LoopScope, begin: Value, end: Value) -> None:
        """Blocks of columns, whose results stay in the nearest cache from row to row."""
        f, extent = scope.f, scope.extent(scope.plan.order[-2])
        with f.when(f.icmp("slt", i64(0), extent)), f.loop(begin, end, BLOCK) as block:
            stop = f.intrinsic("smin", f.binary("add", block.index, i64(BLOCK)), end)
            sweep([scope.enter(i64(0))], block.index, stop, self.first)
            with f.loop(i64(1), extent) as loop:
                sweep([scope.enter(loop.index)], block.index, stop, self.following)

    def first(self, scopes: list[LoopScope]) -> None:
        (scope,), fold = scopes, self.fold
        state = list(fold.widen(_value(scope, fold)))
        write(scope, fold.reduce, fold.finish(state), scope.lanes)

    def following(self, scopes: list[LoopScope]) -> None:
        (scope,), fold = scopes, self.fold
        state = list(fold.widen(access.load(scope.f, self.before(scope), scope.lanes)))
        state = fold.step(state, FoldInput(_value(scope, fold), i64(0)))
        write(scope, fold.reduce, fold.finish(state), scope.lanes)

    def before(self, scope: LoopScope) -> ElementAddress:
        """The element of the row before."""
        f, reduce = scope.f, self.fold.reduce
        place = scope.place(reduce.buffer, reduce.at)
        step = scope.sizes(reduce.at.coefficients[reduce.axes[0]])
        unit = access.element_type(place.dtype)
        back = f.binary("sub", i64(0), step)
        return replace(place, pointer=f.offset(place.pointer, unit, back))
