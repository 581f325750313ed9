"""Arrays that Python gets where compiled code is left: their memory is moved, if it can be.

A schedule copies arrays there into objects of their own.  A copy of gigabytes takes seconds, and
nothing needs its source afterwards: the object takes the memory over.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from npcompile.core.records import record
from npcompile.program.ir import Alloc, Buffer, Kernel, Load, Statement
from npcompile.schedule.memory.allocate import touched


@record
class Move:
    """A result array takes the memory of a buffer over."""

    source: Buffer
    target: Buffer


def moved(leaving: Sequence[Statement], stay: Container[Buffer]) -> dict[Kernel, Move]:
    """The kernels that only copy a buffer which nothing touches after them into an array which
    nothing has touched before; the buffers that ``stay`` are not moved."""
    found: dict[Kernel, Move] = {}
    before: set[Buffer] = set()
    made = {s.buffer for s in leaving if isinstance(s, Alloc)}
    for k, statement in enumerate(leaving):
        if isinstance(statement, Kernel):
            move = _move(statement)
            if (
                move is not None and move.source not in stay and move.source not in made
                and move.target in made - before
                and not any(move.source in touched(later) for later in leaving[k + 1:])
            ):
                found[statement] = move
        before.update(touched(statement))
    return found


def _move(kernel: Kernel) -> Move | None:
    """The buffers of a kernel that only copies elements to the same places."""
    if len(kernel.values) != 1 or len(kernel.stores) != 1 or kernel.reductions:
        return None
    (value,), (store,) = kernel.values, kernel.stores
    if not isinstance(value, Load) or not kernel.axes or kernel.in_order:
        return None
    source, target = value.buffer, store.buffer
    same = (
        source.kind in ("temp", "result") and target.kind == "result"
        and source.dtype == target.dtype == value.dtype and source.shape == target.shape
        and source.strides == target.strides and value.at == store.at
        and value.by is None and store.by is None and store.mask is None
    )
    return Move(source, target) if same else None
