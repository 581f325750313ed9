"""The edges of loops, where these may be left between two iterations.

They are no part of what a loop does: whoever puts iterations into another order, or computes
parts of several at a time, takes the edges away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from npcompile.core.records import replace
from npcompile.program.ir import (
    Buffer,
    Exit,
    For,
    Kernel,
    Load,
    Statement,
    While,
    flat,
    with_blocks,
)
from npcompile.program.results import result_buffers


def without_edges(body: Iterable[Statement]) -> tuple[Statement, ...]:
    """Statements whose loops can't be left between two iterations."""
    return tuple(map(_without, body))


def _without(statement: Statement) -> Statement:
    inner = with_blocks(statement, without_edges)
    return replace(inner, edge=None) if isinstance(inner, (For, While)) else inner


def held(loop: For | While, exits: Sequence[Exit]) -> Iterator[Buffer]:
    """Yields the buffers that the edge of a loop hands to Python, and their operands."""
    if loop.edge is not None:
        for result in exits[loop.edge.number].held():
            yield from result_buffers(result)
        for statement in flat(loop.edge.leaving):
            if isinstance(statement, Kernel):
                yield from (v.buffer for v in statement.values if isinstance(v, Load))
