"""Choices of a kernel without axes that one condition decides: one branch for all of them.

``if value > best: best, where, count = ...`` is seldom taken, and then foretold; three and more
choices of their own would cost more than a branch, and each would wait for the comparison.
"""

from __future__ import annotations

from collections.abc import Sequence

from npcompile.graph.types import INT
from npcompile.program.ir import Apply, Constant, Kernel, Load, Value

LEAST = 3  # choices that are worth a branch; LLVM's own passes make no branch of fewer
SELDOM = 4  # if one of them is that of a running extreme, which needs no branch itself
ROOM = 4  # choices that are made while the machine divides

Unit = tuple[int, ...]


def units(kernel: Kernel) -> list[Unit]:
    """The positions of all values, in an order in which operands come first; choices of one
    condition stand together."""
    values, groups = kernel.values, _groups(kernel)
    held = {position for group in groups for position in group}
    order: list[Unit] = []
    done: set[int] = set()

    def ready(position: int) -> bool:
        value = values[position]
        needs = value.args if isinstance(value, Apply) else (getattr(value, "by", None),)
        return all(n is None or n in done for n in needs)

    while len(done) < len(values):
        for position in range(len(values)):
            if position not in done and position not in held and ready(position):
                order.append((position,))
                done.add(position)
        group = next((g for g in groups if all(map(ready, g))), None)
        if group is not None:
            order.append(group)
            done.update(group)
        elif groups:  # they need each other
            group = groups[0]
        if group is not None:
            groups.remove(group)
            held.difference_update(group)
    return order


def by_order(values: Sequence[Value], choice: Apply) -> bool:
    """Whether a choice is between the two floats that are compared for it: one instruction."""
    condition = values[choice.args[0]]
    return (isinstance(condition, Apply) and condition.op == "lt" and len(set(choice.args)) == 3
            and set(choice.args[1:]) == set(condition.args)
            and choice.dtype.kind == "f" and choice.dtype.itemsize in (4, 8))


def from_the_end(values: Sequence[Value], choice: Apply) -> bool:
    """Whether a choice is an index that counts from the end where it is negative."""
    condition, counted = (values[arg] for arg in choice.args[:2])
    index = choice.args[2]
    if not (isinstance(condition, Apply) and isinstance(counted, Apply) and condition.op == "lt"
            and counted.op == "add" and condition.args[0] == index and index in counted.args):
        return False
    zero = values[condition.args[1]]
    return isinstance(zero, Constant) and zero.value == 0 and choice.dtype == INT


def seldom(kernel: Kernel, group: Unit) -> bool:
    """Whether choices go with a number's becoming the least or greatest so far."""
    return any(_running(kernel, position) for position in group)


def _running(kernel: Kernel, position: int) -> bool:
    choice = kernel.values[position]
    if not isinstance(choice, Apply) or not by_order(kernel.values, choice):
        return False
    held = [v.buffer for v in map(kernel.values.__getitem__, choice.args) if isinstance(v, Load)]
    return any(s.value == position and s.buffer in held for s in kernel.stores)


def _groups(kernel: Kernel) -> list[Unit]:
    """Choices of one condition that don't need each other."""
    values = kernel.values
    by_condition: dict[int, list[int]] = {}
    for position, value in enumerate(values):
        if isinstance(value, Apply) and value.op == "where" and (
                _running(kernel, position) or not by_order(values, value)):
            by_condition.setdefault(value.args[0], []).append(position)
    found = []
    slow = sum(isinstance(v, Apply) and v.op in ("div", "sqrt") for v in values)
    for group in by_condition.values():
        running = any(_running(kernel, position) for position in group)
        least = SELDOM + ROOM * slow if running else LEAST
        if len(group) >= least:
            kept: list[int] = []
            after: set[int] = set()
            for position in range(group[0], len(values)):
                value = values[position]
                needs = value.args if isinstance(value, Apply) else ()
                if not after.isdisjoint(needs):
                    after.add(position)
                elif position in group:
                    kept.append(position)
                    after.add(position)
            if len(kept) >= least:
                found.append(tuple(kept))
    return found
