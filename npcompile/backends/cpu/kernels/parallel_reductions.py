"""A long run reduced by several threads, with the bits of one: they sum nodes of its tree."""

from __future__ import annotations

from collections.abc import Sequence

from npcompile.backends.cpu.kernels import accumulators
from npcompile.backends.cpu.kernels.accumulator_lists import flatten, restore, save, shaped
from npcompile.backends.cpu.kernels.accumulators import (
    AcrossLanes,
    ArgAcrossLanes,
    PairwiseTree,
    State,
    merge_lanes,
)
from npcompile.backends.cpu.kernels.reduction_runs import RunReduction, first_value, row_kind, write
from npcompile.backends.cpu.kernels.scope import PIECES, LoopScope, NestPlan
from npcompile.backends.cpu.llvm import access
from npcompile.backends.cpu.llvm.sizes import SlotList, Word
from npcompile.backends.cpu.llvm.text import LLVMFunction, LLVMModule, Value, i64
from npcompile.program.ir import Kernel

LEVELS = 5  # of a tree whose 2**5 nodes threads may sum, where it is at least so long:
LONG = 1 << 15


def divides(kernel: Kernel) -> bool:
    """Whether regions of the only axis may be reduced apart, with the same bits."""
    return (
        len(kernel.axes) == 1
        and not _ends_early(kernel)
        and all(
            reduce.chunk == 0
            and reduce.dtype != accumulators.HALF
            and not reduce.running
            and (
                accumulators.is_pairwise(reduce)
                or not (reduce.kind == "prod" and reduce.dtype.kind in "fc")
            )
            for reduce in kernel.reductions
        )
    )


def _ends_early(kernel: Kernel) -> bool:
    """The first true one of bools is mostly near."""
    return (
        accumulators.searches(kernel)
        and kernel.values[kernel.reductions[0].value].dtype.kind == "b"
    )


def emit(module: LLVMModule, name: str, plan: NestPlan, least: int, words: dict[Word, int]) -> str:
    """A function that has nodes of the tree reduced by another one, at once by threads if there
    are more than ``least`` elements, and combines them in its order; its name.

    What both share is a block: the address of the words, the levels of the tree, states of nodes.
    """
    nodes = _nodes(module, f"{name}.nodes", plan, words)
    f = LLVMFunction(module, name, "void", [("ptr", "block"), ("i64", "begin"), ("i64", "end")])
    run = RunReduction([row_kind(f, plan.target, plan.kernel, r) for r in plan.kernel.reductions])
    scope = LoopScope.outermost(plan, f, SlotList(f, f.params[0], words))
    like = run.scalar_states()
    width = sum(map(len, like))
    block = f.alloca("i64", 2 + width * (1 << LEVELS))
    length = scope.extent(0)
    long = f.icmp("slt", i64(max(LONG, least)), length)
    levels = f.select(long, i64(LEVELS), i64(0))
    save(f, [f.params[0], levels], [block, f.offset(block, "i64", i64(1))])
    wide, narrow, after = (f.name_for(stem) for stem in ("wide", "narrow", "after"))
    f.branch(long, wide, narrow)
    f.label(wide)
    f.run("npc_pool_run", Value(f"@{nodes}", "ptr"), block, i64(1 << LEVELS), i64(1),
          i64(PIECES))
    f.jump(after)
    f.label(narrow)
    f.run_here(nodes, block, i64(0), i64(1))
    f.jump(after)
    f.label(after)
    _combine(f, run, block, levels, like)
    for kind, state in zip(run.kinds, _read(f, block, i64(0), like), strict=True):
        parts = (tuple(kind.close_run(kind.start(), tuple(state))) if isinstance(kind, PairwiseTree)
                 else kind.finish(state))
        write(scope, kind.reduce, parts, access.ALL)
    f.do("ret void")
    return module.shared(f)


def _nodes(module: LLVMModule, name: str, plan: NestPlan, words: dict[Word, int]) -> str:
    """A function that reduces nodes ``begin`` to ``end`` of the tree's last level."""
    f = LLVMFunction(module, name, "void", [("ptr", "block"), ("i64", "begin"), ("i64", "end")])
    block, begin, end = f.params
    with f.at_entry():
        slots = SlotList(f, f.load(block, "ptr"), words)
    levels = f.load(f.offset(block, "i64", i64(1)), "i64")
    scope = LoopScope.outermost(plan, f, slots)
    run = RunReduction([row_kind(f, plan.target, plan.kernel, r) for r in plan.kernel.reductions])
    lanes = run.trees[0].lanes if run.trees else plan.lanes
    with f.loop(begin, end) as node:
        with f.loop(i64(0), levels, carried=[i64(0), scope.extent(0)]) as level:
            first, length = level.carried
            half = f.binary("and", f.binary("lshr", length, i64(1)), i64(-lanes))
            bit = f.binary("lshr", node.index, f.binary("sub", f.binary("sub", levels, i64(1)),
                                                        level.index))
            right = f.icmp("ne", f.binary("and", bit, i64(1)), i64(0))
            level.goes_on([
                f.binary("add", first, f.select(right, half, i64(0))),
                f.select(right, f.binary("sub", length, half), half),
            ])
        first, length = level.results
        starts = [
            list(kind.zero()) if isinstance(kind, PairwiseTree)
            else kind.start(first_value(scope, kind), plan.lanes) for kind in run.kinds
        ]
        ends = run.span(scope, starts, first, f.binary("add", first, length), i64(0))
        merged = [
            merge_lanes(f, state, kind.merge) if isinstance(kind, AcrossLanes | ArgAcrossLanes)
            else state for kind, state in zip(run.kinds, ends, strict=True)
        ]
        _keep(f, block, node.index, merged)
    f.do("ret void")
    return module.shared(f)


def _combine(
    f: LLVMFunction, run: RunReduction, block: Value, levels: Value, like: list[State]
) -> None:
    """Combines neighbours, level by level."""
    with f.loop(i64(0), levels) as level:
        rest = f.binary("sub", f.binary("sub", levels, i64(1)), level.index)
        with f.loop(i64(0), f.binary("shl", i64(1), rest)) as node:
            left = f.binary("shl", node.index, i64(1))
            lefts = _read(f, block, left, like)
            rights = _read(f, block, f.binary("add", left, i64(1)), like)
            _keep(f, block, node.index, [
                list(kind.add(tuple(a), tuple(b))) if isinstance(kind, PairwiseTree)
                else kind.merge(a, b)
                for kind, a, b in zip(run.kinds, lefts, rights, strict=True)
                if isinstance(kind, PairwiseTree | AcrossLanes | ArgAcrossLanes)
            ])


def _rooms(f: LLVMFunction, block: Value, node: Value, like: Sequence[State]) -> list[Value]:
    width = sum(map(len, like))
    first = f.offset(block, "i64", f.binary("add", f.binary("mul", node, i64(width)), i64(2)))
    return [f.offset(first, "i64", i64(k)) for k in range(width)]


def _read(f: LLVMFunction, block: Value, node: Value, like: list[State]) -> list[State]:
    return shaped(restore(f, flatten(like), _rooms(f, block, node, like)), like)


def _keep(f: LLVMFunction, block: Value, node: Value, states: list[State]) -> None:
    save(f, flatten(states), _rooms(f, block, node, states))
