"""Kernels as functions ``void kN(ptr frame, i64 begin, i64 end)`` over a range of their outermost
loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from npcompile.backends.cpu import reductions
from npcompile.backends.cpu.compile import Target
from npcompile.backends.cpu.frame import Frame
from npcompile.backends.cpu.scope import Plan, Scope, masks_tail, widest
from npcompile.backends.cpu.sizes import Sizes, Slots
from npcompile.backends.cpu.text import Function, Module, Value, i64
from npcompile.core.sizes import Size
from npcompile.program.ir import Kernel


@dataclass(frozen=True, slots=True)
class Made:
    """A kernel's function; ``extent`` is that of the loop that callers may divide."""

    name: str
    extent: Size
    work: tuple[Size, ...]  # extents of all axes
    unit: int  # ranges begin at multiples of it


def inline(f: Function, slots: Slots, kernel: Kernel, target: Target) -> None:
    """A kernel without axes, in the middle of a function."""
    Scope.outermost(Plan(kernel, target, ()), f, slots).stores()


def emit(module: Module, frame: Frame, kernel: Kernel, name: str, target: Target) -> Made:
    """The function of a kernel with axes."""
    rank = len(kernel.axes)
    if kernel.reductions:
        plan, nest = reductions.plan(kernel, target), reductions.nest
    else:
        lanes = max(1, target.width // widest(kernel))
        plan, nest = Plan(kernel, target, tuple(range(rank)), rank - 1, lanes), _nest
    f = Function(module, name, "void", [("ptr", "frame"), ("i64", "begin"), ("i64", "end")])
    pointer, begin, end = f.params
    slots = Slots(f, frame, pointer)
    loops = plan.order[: rank - len(reduced_axes(kernel))]  # those that may be empty
    with f.when(_nonempty(f, kernel, loops[1:], slots, begin, end)):
        nest(Scope.outermost(plan, f, slots), begin, end)
    f.do("ret void")
    extent = kernel.axes[loops[0]].extent if loops else 1
    unit = 64 if loops == (rank - 1,) else 1
    return Made(name, extent, tuple(axis.extent for axis in kernel.axes), unit)


def reduced_axes(kernel: Kernel) -> tuple[int, ...]:
    return kernel.reductions[0].axes if kernel.reductions else ()


def _nonempty(f: Function, kernel: Kernel, axes: tuple[int, ...], slots: Slots, begin: Value,
              end: Value) -> Value:
    """Nothing may be computed, and raise flags, for no element."""
    some, sizes = f.icmp("slt", begin, end), Sizes(slots)
    for axis in axes:
        some = f.binary("and", some, f.icmp("slt", i64(0), sizes(kernel.axes[axis].extent)))
    return some


def _nest(scope: Scope, begin: Value, end: Value) -> None:
    """The loops from this scope on; the next one from ``begin`` to ``end``."""
    if scope.depth == len(scope.plan.order) - 1:
        row(scope, begin, end, lambda inside: inside.stores())
        return
    with scope.f.loop(begin, end) as loop:
        inside = scope.enter(loop.index)
        _nest(inside, i64(0), inside.extent(inside.plan.order[inside.depth]))


def row(scope: Scope, begin: Value, end: Value, each: Callable[[Scope], None]) -> None:
    """A loop along lanes: whole vectors, then the rest in one masked (or in single steps)."""
    f, lanes = scope.f, scope.plan.lanes
    if lanes == 1:
        with f.loop(begin, end) as loop:
            each(scope.enter(loop.index))
        return
    count = f.binary("sub", end, begin)
    whole = f.binary("add", begin, f.binary("and", count, i64(-lanes)))
    with f.loop(begin, whole, lanes) as loop:
        each(scope.enter(loop.index, lanes))
    if masks_tail(scope.plan):
        with f.when(f.icmp("slt", whole, end)):
            each(scope.enter(whole, lanes, f.binary("sub", end, whole)))
    else:
        with f.loop(whole, end) as loop:
            each(scope.enter(loop.index))

