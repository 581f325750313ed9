"""Arrays that Python gets where compiled code is left: their memory is moved, if it can be.

A schedule copies arrays there into objects of their own.  A copy of gigabytes takes seconds, and
nothing needs its source afterwards: the object takes the memory over.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from npcompile.core.records import record, replace
from npcompile.program.ir import Alloc, Buffer, Kernel, Load, Statement
from npcompile.schedule.memory.allocate import touched


@record
class Move:
    """A result array takes the memory of a buffer over."""

    source: Buffer
    target: Buffer


def apart(leaving: Sequence[Statement]) -> Iterator[Statement]:
    """The statements, with a kernel for each array that one of them only copies among others."""
    for statement in leaving:
        if isinstance(statement, Kernel) and _copies(statement):
            for store in statement.stores:
                value = statement.values[store.value]
                yield replace(statement, values=(value,), stores=(replace(store, value=0),))
        else:
            yield statement


def _copies(kernel: Kernel) -> bool:
    """Whether a kernel only copies elements between buffers, none of which it reads and writes."""
    plain = [value for value in kernel.values if isinstance(value, Load) and value.by is None]
    return (
        len(plain) == len(kernel.values) and not kernel.reductions and not kernel.in_order
        and all(store.mask is None and store.by is None for store in kernel.stores)
        and {value.buffer for value in plain}.isdisjoint(kernel.written)
    )


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
