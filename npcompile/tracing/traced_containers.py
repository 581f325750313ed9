"""Containers whose methods are followed as Python code
(:mod:`npcompile.python.polyfills.containers`)."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from npcompile.core.records import replace
from npcompile.graph.types import PY_INT
from npcompile.python.instances import HeldAttributes
from npcompile.python.iterator import Iterator
from npcompile.python.iterators import TableIterator, VectorIterator
from npcompile.python.polyfills.containers import (
    SMALL_TABLE,
    DefaultDict,
    Hashed,
    HashedDict,
    HashedSet,
    Model,
)
from npcompile.python.values import (
    HeapObject,
    Static,
    Value,
    Vector,
    described,
    is_model,
    python_class,
)
from npcompile.tracing import vectors
from npcompile.tracing.item_types import common, is_key, item_type
from npcompile.tracing.polyfills import consumers
from npcompile.tracing.requests import AsHashTable, AsVector, Place

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer


def inside(t: Tracer) -> bool:
    """Whether the code at hand is a model's own."""
    return t.frame.owner is consumers.OURS


def is_attribute(t: Tracer, value: Value, name: str) -> bool:
    """Whether a model's own code reads or writes one of its attributes."""
    held = t.heap[value] if isinstance(value, HeapObject) and is_model(value) else ()
    return inside(t) and name in held


def method(t: Tracer, value: Value, name: str) -> Value:
    """Finds a container's method by name; code of the polyfills also finds their helpers."""
    kind = python_class(value)
    if not callable(getattr(kind, name, None)) and not inside(t):
        raise t.refuse(f".{name}", f"of {described(value)} is left to Python")
    return Static(getattr(kind, name, None) or getattr(_model(value), name))


def _model(value: Value) -> type[Model]:
    assert (
        isinstance(value, HeapObject) and value.kind is not None and issubclass(value.kind, Model)
    )
    return value.kind


def meant(held: Any, args: tuple[Value, ...]) -> str:
    """The name of the method that a call of a function with a model as its receiver means."""
    name = getattr(held, "__name__", "")
    if not args or not is_model(args[0]):
        return ""
    known = getattr(python_class(args[0]), name, None), getattr(_model(args[0]), name, None)
    return name if held in known else ""


def special(
    t: Tracer, value: Value, name: str, *args: Value, **kwargs: Value
) -> Value:
    """A call of a method."""
    kind = _model(value)
    if name in _REMOVING and kind is HashedDict:
        _shrinks(t, value)
    found = getattr(kind, name, None)
    if name == "__iter__" and not kind.watched and t.frame.space is not vars(consumers):
        raise t.refuse("iteration", f"over {described(value)}, which may change meanwhile")
    if type(found) is not FunctionType:
        raise t.refuse(name.strip("_"), f"of {described(value)} is left to Python")
    if name in _ADDING and issubclass(kind, Hashed):
        _hashes(t, value, *args)
    result = consumers.follow(t, found, value, *args, **kwargs)
    if not isinstance(result, Iterator) or not issubclass(kind, Hashed):
        return result
    live = name in _VIEWS and kind.live
    if isinstance(result, VectorIterator):
        over = result.over[:1] if live else result.over
        result = TableIterator(over, token=result.token, itself=live)
    return replace(result, itself=True, token=None) if live else result


# ---------------------------------------------------------------------- hash tables

_VIEWS = ("keys", "values", "items")
_ADDING = ("add", "__setitem__")
_REMOVING = ("__delitem__", "pop", "popitem", "clear")
#: what may be a hash table where it is made
PLACED = (list, dict, HashedSet, DefaultDict)


def unhashed(t: Tracer, values: bool) -> dict[str, Value]:
    """An empty table whose first key asks for columns."""
    names = ("_keys", "_places", "_values")[: 2 + values]
    return {name: _made(t, list, (), None) for name in names}


def _made(t: Tracer, kind: type, contents: Any, place: Place | None) -> HeapObject:
    made = t.register(HeapObject(kind, place=place))
    t.heap[made] = contents
    return made


def _hashes(t: Tracer, obj: Value, *item: Value) -> None:
    """Refuses a key in a table without columns, which are asked for."""
    assert isinstance(obj, HeapObject)
    if not isinstance(t.heap[t.heap[obj]["_keys"]], Vector):
        t.requests.hashed(obj, *item)
        raise t.refuse(python_class(obj).__name__, "of keys that are no ints, or tuples of ints")


def _there(place: Place | None) -> Place:
    """Where the column of a dictionary is made that says which keys are there."""
    return (*(place or ()), ("_there", 0))


def _shrinks(t: Tracer, obj: Value) -> None:
    """Asks for a dictionary that may lose items, by a column that says which are there."""
    assert isinstance(obj, HeapObject)
    if obj.place is not None:
        column = t.register(HeapObject(list, place=_there(obj.place)))
        t.requests.columns(column, AsVector(PY_INT, True))
    raise t.refuse("dict", "loses items, and was made for items that stay")


def wanted(t: Tracer, obj: HeapObject, key: Value, value: Value) -> bool:
    """Whether a dictionary that gets a key of the run's is asked for as a hash table."""
    held: dict[Any, Value] = t.heap[obj]
    if not all(is_key(item_type(t, Static(k))) for k in held):
        return False
    kinds = [item_type(t, v) for v in held.values()]
    both = common(t, [*kinds, item_type(t, value)]) if None not in kinds else None
    return both is not None and t.requests.hashed(obj, key, value)


def hashed(
    t: Tracer, kind: Any, contents: dict[Any, Value], request: AsHashTable
) -> HeapObject:
    """A hash table where one is wanted; ``contents`` is what a dictionary begins with."""
    place = t.place()
    types = {"_keys": request.item, "_places": PY_INT, "_values": request.value}
    begun: dict[str, Value] = {}
    made: type[HashedDict] = HashedDict
    if t.requests.vector(_there(place)) is not None:
        from npcompile.python.polyfills.shrinking import ShrinkingDict as made

        types["_there"] = PY_INT
        begun = dict.fromkeys(("_live", "_used", "_base"), Static(0))
    for name, item in types.items():
        if item is not None:
            inner = (*place, (name, 0))
            columns = t.requests.vector(inner) or AsVector(item, True)
            items = (Static(-1),) * SMALL_TABLE if name == "_places" else ()
            begun[name] = _made(t, list, vectors.begin(t, items, columns), inner)
    if kind is not dict:
        return _made(t, kind, {**contents, **begun}, place)
    found = _made(t, made, begun, place)
    for key, value in contents.items():
        special(t, found, "__setitem__", Static(key), value)
    return found


class ModelType(HeldAttributes):
    """A container whose methods are followed as Python code."""

    t: Tracer

    def setitem(self, key: Value, value: Value) -> None:
        special(self.t, self.value, "__setitem__", key, value)

    def delitem(self, key: Value) -> None:
        special(self.t, self.value, "__delitem__", key)

    def contains(self, item: Value) -> Value:
        return special(self.t, self.value, "__contains__", item)

    def iterate(self) -> Iterator:
        found = special(self.t, self.value, "__iter__")
        assert isinstance(found, Iterator)
        return found
