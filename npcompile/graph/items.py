"""Lists whose length the run finds, and what their columns are for Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from npcompile.core.records import record
from npcompile.core.sizes import Size
from npcompile.graph.types import Array


@record
class AnyOrigin:
    """Numbers of one dtype, each of which is Python's or NumPy's; a second column says which."""

    dtype: Any


@record
class Row:
    """The type of a list's item that is a list itself, of so many items."""

    items: tuple[Any, ...]


@record
class Line:
    """The type of a list's item that is a list itself, as long as all others and as a size says,
    of numbers of one type or of such lists; a program may write into it."""

    item: Any
    size: Size


def listed(item: Any, columns: Iterator[Any]) -> list[Any]:
    """The list that columns stand for; an item is a number, or a tuple or list of items."""
    if isinstance(item, Line):
        return [listed(item.item, iter([row])) for row in next(columns)]
    if isinstance(item, Row):
        return list(map(list, listed(item.items, columns)))
    if isinstance(item, tuple):
        return list(zip(*(listed(part, columns) for part in item)))
    column = next(columns)
    if isinstance(item, AnyOrigin):
        return [n if numpys else n.item() for n, numpys in zip(column, next(columns))]
    if isinstance(item, Array):
        return [array.copy() for array in column]
    found: list[Any] = column.tolist() if item.origin == "py" else list(column)
    return found
