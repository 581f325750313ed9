"""Prefetching of rows that several iterations of a stencil read.

Where rows come from memory, processors that are asked for each line a kilobyte ahead see too few of
them under way, as each iteration reads most of its rows from a cache.  So only those rows are asked
for that nobody has read, and long before: into the second cache, where they wait.  Stencils over
planes gain nothing by it: of their rows most come from the last cache.
"""

from __future__ import annotations

from npcompile.backends.cpu.llvm import access
from npcompile.backends.cpu.llvm.access import Address
from npcompile.core.sizes import Size
from npcompile.program.ir import Kernel, Load

REACH = 8  # rows that may lie between two that one iteration reads


def fresh_rows(kernel: Kernel) -> dict[int, Size]:
    """For each load along rows how many elements further the next row is, if no other load comes to
    its rows before, else 0; nothing where no two loads come to the same rows, or some of an array
    to rows of other planes.  The kernel has at least two axes."""
    if kernel.reductions:
        return {}
    families: list[tuple[Address, dict[int, int]]] = []  # with how many rows beyond that one
    for position, value in enumerate(kernel.values):
        if not isinstance(value, Load) or value.by is not None or value.at.coefficients[-1] != 1:
            continue
        address, _ = access.split(value.buffer, value.at)
        for first, members in families:
            rows = _rows_between(first, address)
            if rows is not None:
                members[position] = rows
                break
        else:
            families.append((address, {position: 0}))
    if len({(first.buffer, first.coefficients) for first, _ in families}) < len(families):
        return {}
    found: dict[int, Size] = {}
    for address, members in families:
        most = max(members.values())
        found |= {position: address.coefficients[-2] if rows == most else 0
                  for position, rows in members.items()}
    return found if any(len(set(members.values())) > 1 for _, members in families) else {}


def _rows_between(one: Address, other: Address) -> int | None:
    step = one.coefficients[-2]
    if one.buffer is not other.buffer or one.coefficients != other.coefficients or step == 0:
        return None
    for rows in range(-REACH, REACH + 1):
        if other.offset - one.offset == rows * step:
            return rows
    return None
