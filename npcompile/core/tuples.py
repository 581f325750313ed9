"""Which classes of tuples are what ``collections.namedtuple`` makes, as far as we rely on it."""

from __future__ import annotations

from collections import namedtuple
from inspect import getattr_static
from operator import itemgetter
from types import FunctionType
from typing import Any

_Pair: Any = namedtuple("_Pair", "first second")
_GETTER = type(vars(_Pair)["first"])
#: ``_replace`` of all named tuples, whose code is one
REPLACE = _Pair._replace
_MAKE = vars(_Pair)["_make"].__func__.__code__
#: what looks at a tuple's items, in Python and in NumPy
_PROTOCOL = (
    "__getitem__", "__iter__", "__len__", "__contains__", "__bool__", "__hash__",
    "__getattribute__", "__getattr__", "__array__", "__array_ufunc__", "__array_function__",
    "__array_interface__", "__array_struct__",
)


def _item(self: Any, index: int = 0) -> Any:
    """What SciPy's classes of results get their items by."""
    return self[index]


def reads_as_tuple(kind: type) -> bool:
    """Whether the objects of a class have a tuple's items, and names for them that give these."""
    fields = getattr(kind, "_fields", None)
    if not issubclass(kind, tuple) or not isinstance(fields, tuple):
        return False
    return all(getattr(kind, n, None) is getattr(tuple, n, None) for n in _PROTOCOL) and all(
        _gives(getattr_static(kind, name, None), place) for place, name in enumerate(fields)
    )


def _gives(descriptor: Any, place: int) -> bool:
    """Whether an attribute is the item at a place."""
    if type(descriptor) is _GETTER:
        return bool(descriptor.__reduce__()[1][0] == place)
    getter = descriptor.fget if type(descriptor) is property else None
    if type(getter) is itemgetter:
        return bool(getter.__reduce__()[1] == (place,))
    return (
        type(getter) is FunctionType and getter.__defaults__ == (place,)
        and getter.__code__.co_code == _item.__code__.co_code
    )


def is_named_tuple(kind: type) -> bool:
    """Whether calling a class makes a named tuple of the arguments, and of nothing else."""
    made: Any = kind
    new, make = made.__new__, getattr_static(kind, "_make", None)
    return (
        reads_as_tuple(kind)
        and made.__init__ is object.__init__
        and type(kind).__call__ is type.__call__
        and getattr(getattr(make, "__func__", None), "__code__", None) is _MAKE
        and getattr(new, "__globals__", {}).get("__name__", "").startswith("namedtuple_")
    )


def replaces(kind: type) -> bool:
    """Whether ``_replace`` of a class makes another named tuple of it, and does nothing else."""
    found = getattr_static(kind, "_replace", None)
    return is_named_tuple(kind) and getattr(found, "__code__", None) is REPLACE.__code__
