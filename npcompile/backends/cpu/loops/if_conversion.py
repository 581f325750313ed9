"""Which branches are worth both arms: then no branch can be foretold wrongly.

Such arms only compute numbers from numbers, by few operations that can neither trap nor raise
floating-point flags.  Their checks stay, for where the arm is taken.
"""

from __future__ import annotations

from collections.abc import Sequence

from npcompile.program.ir import Apply, If, Kernel, Load, SideExit, Statement
from npcompile.program.quiet import quiet

MOST = 12  # operations of both arms


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
            case SideExit():
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
    return len(applied) if all(quiet(kernel.values, value) for value in applied) else MOST + 1
