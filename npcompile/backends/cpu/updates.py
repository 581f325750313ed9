"""Choices of a kernel without axes that one condition decides: one branch for all of them.

``if value > best: best, where, count = ...`` is seldom taken, and then foretold; three and more
choices of their own would cost more than a branch, and each would wait for the comparison.
"""

from __future__ import annotations

from collections.abc import Sequence

from npcompile.program.ir import Apply, Value

LEAST = 3  # choices that are worth a branch; LLVM's own passes make no branch of fewer

Unit = tuple[int, ...]


def units(values: Sequence[Value]) -> list[Unit]:
    """The positions of all values, in an order in which operands come first; choices of one
    condition stand together."""
    groups = _groups(values)
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


def _groups(values: Sequence[Value]) -> list[Unit]:
    """Choices of one condition that don't need each other."""
    by_condition: dict[int, list[int]] = {}
    for position, value in enumerate(values):
        if isinstance(value, Apply) and value.op == "where":
            by_condition.setdefault(value.args[0], []).append(position)
    found = []
    for group in by_condition.values():
        if len(group) >= LEAST:
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
            if len(kept) >= LEAST:
                found.append(tuple(kept))
    return found
