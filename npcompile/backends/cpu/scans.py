"""Running reductions: every partial result is stored.

Along the kernel's last axis the accumulator stays in a register, and some rows run side by side, so
that they don't wait for each other's results.  Along another axis, lanes run over the last one, and
each row of results is made from the one before, in memory.
"""

from __future__ import annotations

from npcompile.backends.cpu import access
from npcompile.backends.cpu.access import Place
from npcompile.backends.cpu.compile import Target
from npcompile.backends.cpu.folds import Fold, Item, State
from npcompile.backends.cpu.reductions import BLOCK, kept_loops, sweep
from npcompile.backends.cpu.runs import write
from npcompile.backends.cpu.scope import Plan, Scope, widest
from npcompile.backends.cpu.states import flatten, shaped
from npcompile.backends.cpu.text import Value, i64
from npcompile.core.records import replace
from npcompile.program.ir import Apply, Kernel

ROWS = 8  # that run side by side
LIGHT = 4  # operations of what is accumulated up to which they do


def scans(kernel: Kernel) -> bool:
    return any(reduce.running for reduce in kernel.reductions)


def plan(kernel: Kernel, target: Target) -> Plan:
    """Kept axes outside, then the running one; lanes along the kernel's last axis if it is kept."""
    last = len(kernel.axes) - 1
    (axis,) = kernel.reductions[0].axes
    others = [k for k in range(last) if k != axis]
    if axis == last:
        return Plan(kernel, target, (*others, axis))
    return Plan(kernel, target, (*others, axis, last), last, max(1, target.width // widest(kernel)))


def nest(scope: Scope, begin: Value, end: Value) -> None:
    """The kept loops; the outermost of them from ``begin`` to ``end``."""
    rank = len(scope.plan.order)
    fold = Fold(scope.f, scope.plan.target, scope.plan.kernel.reductions[0])
    if scope.plan.lane_axis >= 0:
        kept_loops(scope, rank - 2, begin, end, _Rows(fold).block)
    elif rank == 1:
        _run([scope], fold)
    else:
        _side_by_side(scope, fold, begin, end)


# ------------------------------------------------------------------ along the last axis


def _side_by_side(scope: Scope, fold: Fold, begin: Value, end: Value) -> None:
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


def _run(scopes: list[Scope], fold: Fold) -> None:
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
                state = fold.step(state, Item(_value(inside, fold), loop.index))
                write(inside, fold.reduce, fold.finish(state), inside.lanes)
                following.append(state)
            loop.next = flatten(following)


def _value(scope: Scope, fold: Fold) -> tuple[Value, ...]:
    """The next value; other stores of the kernel happen on the way."""
    scope.stores()
    return scope.operand(fold.reduce.value, scope.lanes.count)


# ------------------------------------------------------------------ along another axis


class _Rows:
    """Rows of results, each made from the one before."""

    def __init__(self, fold: Fold) -> None:
        self.fold = fold

    def block(self, scope: Scope, begin: Value, end: Value) -> None:
        """Blocks of columns, whose results stay in the nearest cache from row to row."""
        f, extent = scope.f, scope.extent(scope.plan.order[-2])
        with f.when(f.icmp("slt", i64(0), extent)), f.loop(begin, end, BLOCK) as block:
            stop = f.intrinsic("smin", f.binary("add", block.index, i64(BLOCK)), end)
            sweep([scope.enter(i64(0))], block.index, stop, self.first)
            with f.loop(i64(1), extent) as loop:
                sweep([scope.enter(loop.index)], block.index, stop, self.following)

    def first(self, scopes: list[Scope]) -> None:
        (scope,), fold = scopes, self.fold
        state = list(fold.widen(_value(scope, fold)))
        write(scope, fold.reduce, fold.finish(state), scope.lanes)

    def following(self, scopes: list[Scope]) -> None:
        (scope,), fold = scopes, self.fold
        state = list(fold.widen(access.load(scope.f, self.before(scope), scope.lanes)))
        state = fold.step(state, Item(_value(scope, fold), i64(0)))
        write(scope, fold.reduce, fold.finish(state), scope.lanes)

    def before(self, scope: Scope) -> Place:
        """The element of the row before."""
        f, reduce = scope.f, self.fold.reduce
        place = scope.place(reduce.buffer, reduce.at)
        step = scope.sizes(reduce.at.coefficients[reduce.axes[0]])
        unit = access.element_type(place.dtype)
        back = f.binary("sub", i64(0), step)
        return replace(place, pointer=f.offset(place.pointer, unit, back))
