"""Sums of short rows, some at a time: their lanes are folded together."""

from __future__ import annotations

from npcompile.backends.cpu.kernels import accumulators
from npcompile.backends.cpu.kernels.accumulator_lists import flatten, groups, shaped
from npcompile.backends.cpu.kernels.accumulators import PairwiseTree, State
from npcompile.backends.cpu.kernels.reduction_runs import (
    FAR_AHEAD,
    LIGHT,
    Forest,
    RunReduction,
    cached,
    write,
)
from npcompile.backends.cpu.kernels.scope import LoopScope, NestPlan
from npcompile.backends.cpu.llvm import access
from npcompile.backends.cpu.llvm.text import Value, i64, poison
from npcompile.program.ir import Apply

LEAVES = 8  # of a row at most
SHORT = 128  # bytes of a row that takes longer than memory


def together(plan: NestPlan) -> int:
    """Rows at a time, as many as their sums leave registers for; 0: nothing of the kind."""
    kernel = plan.kernel
    last = len(kernel.axes) - 1
    fits = last > 0 and not kernel.stores and len(kernel.reductions) <= 2 and all(
        accumulators.is_pairwise(r) and r.axes == (last,) and r.chunk == 0 and r.dtype.char in "fd"
        for r in kernel.reductions
    )
    if not fits or sum(isinstance(v, Apply) for v in kernel.values) > LIGHT:
        return 0
    return 8 if plan.target.masks and len(kernel.reductions) == 1 else 4


def worth(scope: LoopScope) -> Value:
    """Whether rows have a vector, and are short enough to share the nearest cache; from memory
    longer ones come sooner one by one."""
    f, plan = scope.f, scope.plan
    lanes, leaf = accumulators.shape_of_tree(plan.kernel.reductions[0])
    length = scope.extent(plan.lane_axis)
    fits = f.binary("and", f.icmp("sle", i64(lanes), length),
                    f.icmp("sle", length, i64(LEAVES * leaf)))
    short = f.icmp("sle", length, i64(SHORT // max(plan.touched(), 1)))
    return f.binary("and", fits, f.binary("or", short, cached(scope)))


def sum_rows(rows: list[LoopScope]) -> None:
    """Sums each row; ``rows`` are the scopes of some."""
    first = rows[0]
    f, count = first.f, len(rows)
    trees = [PairwiseTree(f, first.plan.target, r) for r in first.plan.kernel.reductions]
    starts = [[f.splat(part, count) for part in tree.start()] for tree in trees]
    length = first.extent(first.plan.lane_axis)
    for tree, (total,) in zip(trees, _Sides(rows, trees).sum(starts, i64(0), length), strict=True):
        for k, row in enumerate(rows):
            write(row, tree.reduce, (f.extract(total, k),), access.ALL)


class _Sides(Forest):
    """Trees of some rows at once, whose sums stand side by side."""

    def __init__(self, rows: list[LoopScope], trees: list[PairwiseTree]) -> None:
        super().__init__(RunReduction([*trees]), rows[0], i64(0), len(rows))
        self.rows = rows

    def _leaf(self, states: list[State]) -> list[State]:
        f, lanes, trees = self.f, self.lanes, self.run.trees
        begin, length = f.load(self.at, "i64"), f.load(self.length, "i64")
        end = f.binary("add", begin, length)
        f.store(end, self.at)
        whole = f.binary("add", begin, f.binary("and", length, i64(-lanes)))
        sums = [list(tree.zero(lanes)) for _ in self.rows for tree in trees]
        with f.loop(begin, whole, lanes, flatten(sums)) as loop:
            now = groups(shaped(loop.carried, sums), len(trees))
            inside = [row.enter(loop.index, lanes) for row in self.rows]
            for row in inside:
                row.ask_ahead(FAR_AHEAD)
            loop.goes_on(flatten([
                state for row, states in zip(inside, now, strict=True)
                for state in _added(trees, row, states)
            ]))
        leaves = groups(shaped(loop.results, sums), len(trees))
        totals = [list(tree.fold_leaves([tuple(leaf[k]) for leaf in leaves]))
                  for k, tree in enumerate(trees)]
        with f.loop(whole, end, carried=flatten(totals)) as rest:
            inside = [row.enter(rest.index) for row in self.rows]
            rest.goes_on(flatten([
                [f.binary("fadd", total, _column(tree, inside))]
                for tree, (total,) in zip(trees, shaped(rest.carried, totals), strict=True)
            ]))
        for tree, total in zip(trees, shaped(rest.results, totals), strict=True):
            self._store_part(tree, tuple(total))
        return states


def _added(trees: list[PairwiseTree], inside: LoopScope, states: list[State]) -> list[State]:
    return [
        list(tree.add(tuple(state), tree.widen(inside.operand(tree.reduce.value, tree.lanes))))
        for tree, state in zip(trees, states, strict=True)
    ]


def _column(tree: PairwiseTree, rows: list[LoopScope]) -> Value:
    """What is added to the rows' sums, a row to a lane."""
    f, elem = tree.f, tree.zero()[0].elem
    found = poison(elem, len(rows))
    for k, row in enumerate(rows):
        (value,) = row.operand(tree.reduce.value, 1)
        found = f.op(f"insertelement {found.typed}, {value.typed}, i64 {k}", elem, len(rows))
    return found
