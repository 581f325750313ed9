"""Kernels with reductions, in the canonical order (see :mod:`npcompile.program.ir`).

Kept axes are the outer loops.  Where the kernel's last axis is reduced, lanes run along it, and
floats are summed as trees; short runs are reduced side by side instead.  Where it is kept, lanes
run along it, and rows are added to the result in memory, some at a time; or, where the result is
no place for that, the reduced loops are inside and the partial results of some columns stay in
registers.
"""

from __future__ import annotations

from collections.abc import Callable

from npcompile.backends.cpu.kernels import accumulators, short_sums
from npcompile.backends.cpu.kernels.accumulator_lists import flatten, groups, shaped
from npcompile.backends.cpu.kernels.accumulators import (
    ArgExtreme,
    Fold,
    FoldInput,
    PairwiseTree,
    ShortRun,
    State,
)
from npcompile.backends.cpu.kernels.reduction_runs import RunReduction, first_value, row_kind, write
from npcompile.backends.cpu.kernels.scope import LoopScope, NestPlan, masks_tail, one_by_one, widest
from npcompile.backends.cpu.llvm import access
from npcompile.backends.cpu.llvm.sizes import SizeEmitter
from npcompile.backends.cpu.llvm.text import Value, i64
from npcompile.backends.target import Target
from npcompile.program.ir import Apply, Kernel, Load, Reduce

SHORT = 8  # elements from which on lanes run along a reduced axis
COLUMNS = 4  # vectors of columns that are reduced side by side in registers
BLOCK = 2048  # columns of results that stay in the nearest cache while rows are added


def plan(kernel: Kernel, target: Target) -> NestPlan:
    """Kept axes outside, then the reduced ones; lanes along the kernel's last axis."""
    rank = len(kernel.axes)
    reduced = set(kernel.reductions[0].axes)
    kept = [axis for axis in range(rank) if axis not in reduced]
    order = (*kept, *(axis for axis in range(rank) if axis in reduced))
    if adds_rows(kernel):
        order = (*(axis for axis in order if axis != rank - 1), rank - 1)
    counts = {r.value for r in kernel.reductions
              if rank - 1 in reduced and accumulators.counted(kernel, r) is not None}
    lanes = max(1, target.width // widest(kernel, counts))
    trees = (
        [r for r in kernel.reductions if accumulators.is_pairwise(r)] if rank - 1 in reduced else []
    )
    if trees:
        lanes, _ = accumulators.shape_of_tree(trees[0])
    elif one_by_one(kernel):
        lanes = 1
    elif any(r.kind.startswith("arg") for r in kernel.reductions) and not (
        rank - 1 in reduced and accumulators.searches(kernel)
    ):
        lanes = min(lanes, target.width // 8)  # positions are int64
    return NestPlan(kernel, target, order, rank - 1, lanes)


def short_plan(kernel: Kernel, target: Target) -> NestPlan | None:
    """The same with lanes along the last kept axis, for kernels that may have short runs."""
    last = len(kernel.axes) - 1
    extent = kernel.axes[last].extent
    if (last == 0 or (isinstance(extent, int) and extent >= SHORT)
            or any(r.axes != (last,) or r.dtype == accumulators.HALF or r.running
                   for r in kernel.reductions)):
        return None
    lanes = max(1, target.width // widest(kernel))
    if any(r.kind.startswith("arg") for r in kernel.reductions):
        lanes = min(lanes, target.width // 8)
    return NestPlan(kernel, target, tuple(range(last + 1)), last - 1, lanes)


def short_nest(scope: LoopScope, begin: Value, end: Value) -> None:
    kept_loops(scope, len(scope.plan.order) - 2, begin, end, _columns)


def is_short(kernel: Kernel, sizes: SizeEmitter) -> Value:
    """Whether runs are shorter than any leaf of a tree, and better reduced side by side."""
    trees = [
        accumulators.shape_of_tree(r)[0] for r in kernel.reductions if accumulators.is_pairwise(r)
    ]
    return sizes.f.icmp("slt", sizes(kernel.axes[-1].extent), i64(min([SHORT, *trees])))


def nest(scope: LoopScope, begin: Value, end: Value) -> None:
    """The kept loops; the outermost of them from ``begin`` to ``end``."""
    kernel = scope.plan.kernel
    reduced = kernel.reductions[0].axes
    kept = len(scope.plan.order) - len(reduced)
    if scope.plan.lane_axis in reduced:
        kept_loops(scope, kept, begin, end, _rows)
    else:
        kept_loops(scope, kept - 1, begin, end, _add_rows if adds_rows(kernel) else _columns)


def adds_rows(kernel: Kernel) -> bool:
    """Whether the results' own memory can hold the partial results."""
    last = len(kernel.axes) - 1
    loaded = {v.buffer for v in kernel.values if isinstance(v, Load)}
    return last not in kernel.reductions[0].axes and all(
        not r.kind.startswith("arg") and r.dtype != accumulators.HALF and r.buffer not in loaded
        and r.at.coefficients[last] != 0
        for r in kernel.reductions
    )


def kept_loops(scope: LoopScope, count: int, begin: Value, end: Value,
               inner: Callable[[LoopScope, Value, Value], None]) -> None:
    """The ``count`` outermost loops, and inside what runs over the next kept axis."""
    if scope.depth == count:
        inner(scope, begin, end)
        return
    f = scope.f
    rows = short_sums.together(scope.plan) if scope.depth == count - 1 and inner is _rows else 0
    if rows:
        many = f.binary("and", f.binary("sub", end, begin), i64(-rows))
        whole = f.select(short_sums.worth(scope), f.binary("add", begin, many), begin)
        with f.loop(begin, whole, rows) as loop:
            short_sums.sum_rows([scope.enter(f.binary("add", loop.index, i64(k)))
                            for k in range(rows)])
        begin = whole
    with f.loop(begin, end) as loop:
        inside = scope.enter(loop.index)
        last = inside.depth == count  # what is left of the kept axes is the lanes'
        axis = inside.plan.lane_axis if last else inside.plan.order[inside.depth]
        kept_loops(inside, count, i64(0), inside.extent(axis), inner)


def _counter(scope: LoopScope, outer: Value, index: Value) -> Value:
    """The position along the reduced axes, row-major."""
    axis = scope.plan.order[scope.depth]
    if outer.text == "0":
        return index
    return scope.f.binary("add", scope.f.binary("mul", outer, scope.extent(axis)), index)


Inner = Callable[[list[LoopScope], list[State], Value], list[State]]


def _loops(scopes: list[LoopScope], states: list[State], counter: Value, innermost: Inner,
           stop: int | None = None) -> list[State]:
    """The reduced loops down to depth ``stop`` (all of them), carrying states."""
    first = scopes[0]
    if first.depth == (len(first.plan.order) if stop is None else stop):
        return innermost(scopes, states, counter)
    f, extent = first.f, first.extent(first.plan.order[first.depth])
    with f.loop(i64(0), extent, carried=flatten(states)) as loop:
        inside = [scope.enter(loop.index) for scope in scopes]
        at = _counter(first, counter, loop.index)
        loop.goes_on(flatten(_loops(inside, shaped(loop.carried, states), at, innermost, stop)))
    return shaped(loop.results, states)


# ------------------------------------------------------------------ rows added in memory


def _add_rows(scope: LoopScope, begin: Value, end: Value) -> None:
    f = scope.f
    kinds = [Fold(f, scope.plan.target, r) for r in scope.plan.kernel.reductions]
    operations = sum(isinstance(v, Apply) for v in scope.plan.kernel.values)
    together = 8 if operations <= 1 else 4 if operations <= 4 else 1
    with f.loop(begin, end, BLOCK) as block:
        stop = f.intrinsic("smin", f.binary("add", block.index, i64(BLOCK)), end)
        columns = _Columns(kinds, block.index, stop)
        columns.start(scope)
        columns.rows(scope, together)


def sweep(rows: list[LoopScope], begin: Value, end: Value,
          each: Callable[[list[LoopScope]], None]) -> None:
    """Along the lanes of some rows at once: whole vectors, then the rest."""
    f, plan, lanes = rows[0].f, rows[0].plan, rows[0].plan.lanes
    count = f.binary("sub", end, begin)
    whole = f.binary("add", begin, f.binary("and", count, i64(-lanes)))
    with f.loop(begin, whole, lanes) as loop:
        each([row.enter(loop.index, lanes) for row in rows])
    if masks_tail(plan):
        with f.when(f.icmp("slt", whole, end)):
            valid = f.binary("sub", end, whole)
            each([row.enter(whole, lanes, valid) for row in rows])
    else:
        with f.loop(whole, end) as loop:
            each([row.enter(loop.index) for row in rows])


class _Columns:
    """A block of columns, whose results are in memory."""

    def __init__(self, kinds: list[Fold], begin: Value, end: Value) -> None:
        self.kinds, self.begin, self.end = kinds, begin, end

    def start(self, scope: LoopScope) -> None:
        while scope.depth < len(scope.plan.order) - 1:
            scope = scope.enter(i64(0))
        sweep([scope], self.begin, self.end, self._write_start)

    def _write_start(self, scopes: list[LoopScope]) -> None:
        (scope,) = scopes
        for fold in self.kinds:
            first = None
            if fold.wants_first:
                first = scope.operand(fold.reduce.value, scope.lanes.count)
            state = fold.start(first, scope.lanes.count)
            write(scope, fold.reduce, tuple(state), scope.lanes)

    def rows(self, scope: LoopScope, together: int) -> None:
        """The reduced loops; of the innermost, ``together`` iterations in one pass over the
        columns."""
        f, extent = scope.f, scope.extent(scope.plan.order[scope.depth])
        if scope.depth < len(scope.plan.order) - 2:
            with f.loop(i64(0), extent) as loop:
                self.rows(scope.enter(loop.index), together)
            return
        whole = f.binary("and", extent, i64(-together))
        with f.loop(i64(0), whole, together) as loop:
            iterations = [f.binary("add", loop.index, i64(k)) for k in range(together)]
            sweep(
                [scope.enter(iteration) for iteration in iterations],
                self.begin,
                self.end,
                self._add,
            )
        if together > 1:
            with f.loop(whole, extent) as loop:
                sweep([scope.enter(loop.index)], self.begin, self.end, self._add)

    def _add(self, scopes: list[LoopScope]) -> None:
        first = scopes[0]
        states = [
            list(access.load(first.f, first.place(k.reduce.buffer, k.reduce.at), first.lanes))
            for k in self.kinds
        ]
        for scope in scopes:
            scope.stores()
            for position, fold in enumerate(self.kinds):
                parts = scope.operand(fold.reduce.value, scope.lanes.count)
                states[position] = fold.step(states[position], FoldInput(parts, i64(0)))
        for fold, state in zip(self.kinds, states, strict=True):
            write(first, fold.reduce, tuple(state), first.lanes)


# ------------------------------------------------------------------ lanes along a kept axis


def _columns(scope: LoopScope, begin: Value, end: Value) -> None:
    f, plan, lanes = scope.f, scope.plan, scope.plan.lanes
    together = COLUMNS if plan.lane_axis == len(plan.order) - 1 else 1
    block = lanes * together
    count = f.binary("sub", end, begin)
    whole = f.binary("add", begin, f.binary("and", count, i64(-block)))
    with f.loop(begin, whole, block) as loop:
        starts = [f.binary("add", loop.index, i64(k * lanes)) for k in range(together)]
        _reduce_columns([scope.enter(start, lanes) for start in starts])
    if masks_tail(scope.plan):
        with f.loop(whole, end, lanes) as loop:
            _reduce_columns([scope.enter(loop.index, lanes, f.binary("sub", end, loop.index))])
    else:
        with f.loop(whole, end) as loop:
            _reduce_columns([scope.enter(loop.index)])


def _column_kind(scope: LoopScope, reduce: Reduce) -> Fold:
    f, plan = scope.f, scope.plan
    if reduce.kind.startswith("arg"):
        return ArgExtreme(f, plan.target, reduce, plan.kernel.values[reduce.value].dtype)
    runs = plan.lane_axis not in reduce.axes and len(plan.order) - 1 in reduce.axes
    if runs and accumulators.is_pairwise(reduce):
        return ShortRun(f, plan.target, reduce)
    return Fold(f, plan.target, reduce)


def _reduce_columns(scopes: list[LoopScope]) -> None:
    """Reduces some vectors of columns side by side."""
    first = scopes[0]
    kinds = [_column_kind(first, r) for r in first.plan.kernel.reductions]
    starts = [fold.start(first_value(s, fold), s.lanes.count) for s in scopes for fold in kinds]

    def innermost(inside: list[LoopScope], states: list[State], counter: Value) -> list[State]:
        taken = []
        for scope, group in zip(inside, groups(states, len(kinds)), strict=True):
            scope.stores()
            for fold, state in zip(kinds, group, strict=True):
                parts = scope.operand(fold.reduce.value, scope.lanes.count)
                taken.append(fold.step(state, FoldInput(parts, counter)))
        return taken

    ends = _loops(scopes, starts, i64(0), innermost)
    for scope, group in zip(scopes, groups(ends, len(kinds)), strict=True):
        for fold, state in zip(kinds, group, strict=True):
            write(scope, fold.reduce, fold.finish(state), scope.lanes)


# ------------------------------------------------------------------ lanes along a reduced axis


def _rows(scope: LoopScope, begin: Value, end: Value) -> None:
    del begin, end  # all of the reduced axes
    f, kernel, target = scope.f, scope.plan.kernel, scope.plan.target
    run = RunReduction([row_kind(f, target, kernel, r) for r in kernel.reductions])
    starts = [
        kind.start() if isinstance(kind, PairwiseTree)
        else kind.start(first_value(scope, kind), scope.plan.lanes)
        for kind in run.kinds
    ]
    ends = _loops([scope], starts, i64(0), run, len(scope.plan.order) - 1)
    for kind, state in zip(run.kinds, ends, strict=True):
        parts = tuple(state) if isinstance(kind, PairwiseTree) else kind.finish(state)
        write(scope, kind.reduce, parts, access.ALL)
