"""Begins loops over values, and takes their items where their number is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.core.records import replace
from npcompile.python.registry import view

if TYPE_CHECKING:
    from npcompile.python.iterator import Iterator
    from npcompile.python.values import Value
    from npcompile.tracing.services import Tracer


def begin(t: Tracer, value: Value) -> Iterator:
    """``iter(value)``."""
    found = view(t, value).iterate()
    if found.token is not None:
        if found.token in t.consumed:
            raise t.refuse("iterator", "is run a second time")
        if t.homes[found.token] is not t.scope:
            raise t.refuse("iterator", "is older than the loop whose iterations go on with it")
        t.consumed.add(found.token)
    return replace(found.started(t), nodes=len(t.builder.region.nodes), itself=False, begun=True)


def advance(t: Tracer, iterator: Iterator) -> tuple[Value, Iterator] | None:
    """The next item and the iterator after it, or None at the end."""
    rest = iterator.left(t)
    if rest is None:
        raise t.refuse("loop", "has a length that depends on data, and runs in Python")
    if not rest:
        return None
    return iterator.item(t, iterator.position), replace(iterator, position=iterator.position + 1)


def items(t: Tracer, value: Value, exactly: int = -1) -> tuple[Value, ...]:
    """All items of something; ``exactly``: how many the program wants (-1: all there are)."""
    return view(t, value).unpacked(exactly)
