"""What objects from outside get when a call has its result: attributes, items, and lists more of
them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from npcompile.graph.ir import Items, Tree
from npcompile.program.ir import ItemsResult, Result

#: stands for the name of an attribute where a list gets items
MORE = "[]"


class Removed:
    """Stands for the value of an item that a dictionary loses."""


class Stored:
    """As the kind of a result: the first item, when objects have got their attributes: the others
    are an object, a name and a value in turn, or a container, a tuple of its key and an item or
    :class:`Removed`, or a list, :data:`MORE` and the items it gets."""

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Any:
        result, *rest = items
        for thing, name, value in zip(rest[::3], rest[1::3], rest[2::3]):
            if name == MORE:
                thing.extend(value)
            elif value is Removed:
                del thing[name[0]]
            elif type(name) is tuple:
                thing[name[0]] = value
            else:
                setattr(thing, name, value)
        return result


def stores(result: Tree | Result) -> bool:
    """Whether a result comes with stores."""
    return isinstance(result, (Items, ItemsResult)) and result.kind is Stored
