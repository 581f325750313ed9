"""The form of results: what machine code builds of their leaves, and what Python does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def native(result: Result) -> bool:
    """Whether machine code builds a result: leaves, tuples and lists of these, and lists of
    columns."""
    if not isinstance(result, ItemsResult) or maker(result):
        return True
    if result.kind in (tuple, list):
        return all(map(native, result.items))
    from npcompile.runtime.entry.list_code import has_objects  # most results are plain
    return has_objects(result)


def builder(result: Result) -> Callable[[tuple[Any, ...]], Any] | None:
    """Makes the function that builds a result from its leaves; None if machine code builds it."""
    if native(result):
        return None
    from npcompile.runtime.entry import assembly

    return assembly.builder(result)
