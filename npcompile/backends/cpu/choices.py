"""Which branches are worth both arms: then no branch can be foretold wrongly.

Such arms only compute numbers from numbers, by few operations that can neither trap nor raise
floating-point flags.  Their checks stay, for where the arm is taken.
"""

from __future__ import annotations

from collections.abc import Sequence

from npcompile.graph.primitives import PRIMITIVES
from npcompile.program.ir import Apply, Check, Const, If, Kernel, Load, Statement

MOST = 12  # operations of both arms
_DIVISIONS = frozenset({"int_div", "int_mod"})


def both(choice: If) -> bool:
    """Whether to compute both arms."""
    costs = (_cost(choice.then), _cost(choice.orelse))
    return sum(costs) <= MOST


def _cost(body: Sequence[Statement]) -> int:
    total = 0
    for statement in body:
        match statement:
            case Kernel(axes=()):
                total += _kernel(statement)
            case Check():
                total += 1
            case If():
                total += 1 + _cost(statement.then) + _cost(statement.orelse)
            case _:
                return MOST + 1
        if total > MOST:
            break
    return total


def _kernel(kernel: Kernel) -> int:
    """Operations, or more than the most."""
    touched = [v.buffer for v in kernel.values if isinstance(v, Load)]
    touched += [store.buffer for store in kernel.stores]
    if any(buffer.kind != "scalar" for buffer in touched) or kernel.reductions:
        return MOST + 1
    if any(store.mask is not None for store in kernel.stores):
        return MOST + 1
    applied = [value for value in kernel.values if isinstance(value, Apply)]
    return len(applied) if all(_quiet(kernel, value) for value in applied) else MOST + 1


def _quiet(kernel: Kernel, value: Apply) -> bool:
    """Whether it neither traps, nor raises a flag, nor touches memory."""
    operands = [kernel.values[arg] for arg in value.args]
    if value.op in _DIVISIONS:
        by = operands[1]
        return isinstance(by, Const) and by.dtype.kind == "i" and int(by.value) > 0  # type: ignore[arg-type]
    floating = any(v.dtype.kind in "fc" for v in (*operands, value))
    if value.op in ("cast", "lookup") or not floating:
        return not floating
    return not PRIMITIVES[value.op].flags
