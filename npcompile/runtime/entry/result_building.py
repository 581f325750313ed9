"""Builds results from their leaves, where machine code does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

from npcompile.program.results import BufferResult, ItemsResult, Result, StaticResult


def leaves(result: Result) -> Iterator[Result]:
    """The leaves of a result, left to right."""
    if isinstance(result, ItemsResult):
        for item in result.items:
            yield from leaves(item)
    else:
        yield result


def constants(result: Result) -> tuple[Any, ...]:
    """The constant objects in a result, in order."""
    return tuple(leaf.value for leaf in leaves(result) if isinstance(leaf, StaticResult))


def maker(node: Result) -> str:
    """The function in machine code that makes a container of its only item; empty: none."""
    if not isinstance(node, ItemsResult) or len(node.items) != 1:
        return ""
    one = isinstance(node.items[0], BufferResult)
    return str(getattr(node.kind, "maker", "")) if one else ""


def native(result: Result, among: type = tuple) -> bool:
    """Whether a result is a leaf or made of plain tuples (and of one kind more, whose items are
    leaves), each in one place only."""
    seen: set[int] = set()

    def plain(node: Result) -> bool:
        if not isinstance(node, ItemsResult) or (among is tuple and maker(node)):
            return True
        if node.kind is among is not tuple:
            return not any(isinstance(item, ItemsResult) for item in node.items)
        if node.kind is not tuple or node.ident in seen:
            return False
        seen.update({node.ident} - {0})
        return all(map(plain, node.items))

    return plain(result)


def builder(result: Result) -> Callable[[tuple[Any, ...]], Any] | None:
    """Makes the function that builds a result from its leaves; None if machine code builds it."""
    if native(result):
        return None
    from npcompile.graph.ir import OneOf  # most results are plain

    assert isinstance(result, ItemsResult)
    if hasattr(result.kind, "_make") and not any(isinstance(x, ItemsResult) for x in result.items):
        made: Callable[[tuple[Any, ...]], Any] = result.kind._make
        return made
    if native(result, among=OneOf):
        return _picked(result, 0, OneOf)[0]

    def build(flat: tuple[Any, ...]) -> Any:
        rest = iter(flat)
        return assemble(result, lambda leaf: next(rest), {})

    return build


def _picked(
    result: Result, first: int, one_of: type
) -> tuple[Callable[[tuple[Any, ...]], Any], int]:
    """Makes a function that picks a result from all leaves, of which its own begin at ``first``;
    and the place after its last leaf."""
    if not isinstance(result, ItemsResult):
        return itemgetter(first), first + 1
    if result.kind is one_of:
        return lambda flat: flat[first + 1 + flat[first]], first + len(result.items)
    takers = []
    for item in result.items:
        taker, first = _picked(item, first, one_of)
        takers.append(taker)
    return lambda flat: tuple([take(flat) for take in takers]), first


def assemble(result: Result, leaf: Callable[[Result], Any], made: dict[int, Any]) -> Any:
    """A result, given what its leaves are; ``made`` holds containers by their ``ident``."""
    if not isinstance(result, ItemsResult):
        return leaf(result)
    from npcompile.graph.ir import container

    items = [assemble(item, leaf, made) for item in result.items]
    if result.ident in made:
        return made[result.ident]
    thing = container(result.kind, items, result.keys)
    if result.ident:
        made[result.ident] = thing
    return thing
