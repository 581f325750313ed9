"""Puts results together from their leaves in Python, where machine code does not."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from npcompile.graph.ir import OneOf, container
from npcompile.program.results import ItemsResult, Result


def builder(result: Result) -> Callable[[tuple[Any, ...]], Any]:
    """Makes the function that builds a result from its leaves."""
    assert isinstance(result, ItemsResult)
    if hasattr(result.kind, "_make") and not any(isinstance(x, ItemsResult) for x in result.items):
        made: Callable[[tuple[Any, ...]], Any] = result.kind._make
        return made
    if _picks(result, set()):
        return _picked(result, 0)[0]

    def build(flat: tuple[Any, ...]) -> Any:
        rest = iter(flat)
        return assemble(result, lambda leaf: next(rest), {})

    return build


def _picks(result: Result, seen: set[int]) -> bool:
    """Whether a result is made of plain tuples, each in one place only, and of options that are
    leaves; ``seen``: tuples in other places."""
    if not isinstance(result, ItemsResult):
        return True
    if result.kind is OneOf:
        return not any(isinstance(item, ItemsResult) for item in result.items)
    if result.kind is not tuple or result.ident in seen:
        return False
    seen.update({result.ident} - {0})
    return all(_picks(item, seen) for item in result.items)


def _picked(result: Result, first: int) -> tuple[Callable[[tuple[Any, ...]], Any], int]:
    """Makes a function that picks a result from all leaves, of which its own begin at ``first``;
    and the place after its last leaf."""
    if not isinstance(result, ItemsResult):
        return itemgetter(first), first + 1
    if result.kind is OneOf:
        return lambda flat: flat[first + 1 + flat[first]], first + len(result.items)
    takers = []
    for item in result.items:
        taker, first = _picked(item, first)
        takers.append(taker)
    return lambda flat: tuple([take(flat) for take in takers]), first


def assemble(result: Result, leaf: Callable[[Result], Any], made: dict[int, Any]) -> Any:
    """A result, given what its leaves are; ``made`` holds containers by their ``ident``."""
    if not isinstance(result, ItemsResult):
        return leaf(result)
    items = [assemble(item, leaf, made) for item in result.items]
    if result.ident in made:
        return made[result.ident]
    thing = container(result.kind, items, result.keys)
    if result.ident:
        made[result.ident] = thing
    return thing
