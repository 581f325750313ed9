"""How much work statements are, as a size: elements, times what each costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from npcompile.backends.cpu.kernels import kernel_functions
from npcompile.core.paths import defer
from npcompile.core.sizes import Size, floordiv, largest, product, substitute
from npcompile.program.ir import Apply, For, If, Kernel, Load, RoutineCall, Statement, While, flat
from npcompile.schedule.memory.allocate import bound

if TYPE_CHECKING:
    from npcompile.graph import routines
else:
    defer(globals(), "npcompile.graph", "routines")

SCALAR = 8  # an operation on numbers takes as long as one on so many elements
PASSES = 16  # over its points, that a transform is worth
UNKNOWN = 16  # iterations of a loop, where nothing tells how many


def iteration(loop: For) -> Size:
    """The work of one iteration of a loop."""
    cost = _cost(loop.body)
    where = middle(loop) if _is_scalar(loop.body) else loop.start
    cost = substitute(cost, {loop.symbol: where})
    return substitute(cost, dict.fromkeys(bound(loop.body), UNKNOWN))


def whole(body: Sequence[Statement]) -> Size:
    """The work of some statements."""
    return substitute(_cost(body, inside=True), dict.fromkeys(bound(body), UNKNOWN))


def middle(loop: For) -> Size:
    """The index of an iteration in the middle."""
    return floordiv(loop.start + loop.stop, 2)


def _is_scalar(body: Sequence[Statement]) -> bool:
    return not any(isinstance(s, Kernel) and s.axes for s in flat(body))


def _cost(body: Sequence[Statement], inside: bool = False) -> Size:
    """``inside``: loops in one another take as many iterations as in the middle of the outer
    one."""
    total: Size = 0
    for statement in body:
        match statement:
            case Kernel(axes=()):
                total = total + SCALAR * _operations(statement)
            case Kernel():
                elements = product([a.extent for a in statement.axes])
                total = total + elements * kernel_functions.weight(statement)
            case RoutineCall():
                total = total + multiplications(statement)
            case For(symbol, start, stop, step, inner):
                trips = largest(floordiv(stop - start, step), 1)
                where = middle(statement) if inside else start
                total = total + trips * substitute(_cost(inner, inside), {symbol: where})
            case While(inner):
                total = total + UNKNOWN * _cost(inner, inside)
            case If(_, then, other):
                total = total + _cost(then, inside) + _cost(other, inside)
    return total


def is_counted(call: RoutineCall) -> bool:
    """Whether it is known how many multiplications a routine makes."""
    routine = routines.ROUTINES[call.routine.routine]
    return bool(routine.core) or routine.inside or routine.name == "product"


def multiplications(call: RoutineCall) -> Size:
    """How many a routine makes: for a product the extents of all its indices, for a factorisation
    the third power of a matrix's, for each of a batch."""
    if not call.inputs:
        return 0
    routine, shape = routines.ROUTINES[call.routine.routine], call.inputs[0].geometry.shape
    if routine.name.startswith("transform"):
        return product([*shape, PASSES])
    if routine.core or routine.inside:
        return product([*shape, *(shape[-1:] if routine.core else call.sizes[-1:])])
    if routine.name != "product":
        return 0
    operands, _, _ = call.routine.spec.partition("->")
    extents: dict[str, Size] = {}
    for letters, view in zip(operands.split(","), call.inputs, strict=True):
        extents.update(zip(letters, view.geometry.shape, strict=True))
    return product(list(extents.values()))


def _operations(kernel: Kernel) -> int:
    """What a kernel of numbers costs."""
    loads = sum(isinstance(v, Load) and v.buffer.kind != "scalar" for v in kernel.values)
    stores = sum(store.buffer.kind != "scalar" for store in kernel.stores)
    return loads + stores + sum(
        kernel_functions.SLOW.get(v.op, 1) for v in kernel.values if isinstance(v, Apply))
