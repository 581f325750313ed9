"""What dictionaries hold, and what lists and dictionaries from outside do: what they held when the
function was called, and what the trace has stored there since (:mod:`.effects`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npcompile.guards.sources import Item
from npcompile.python.values import HeapObject, Sequence, Static, Value, described

if TYPE_CHECKING:
    from npcompile.tracing.tracer import Tracer


def keys(t: Tracer, value: Value) -> list[Any]:
    """The keys of a dictionary, in their order."""
    if isinstance(value, Static) and type(value.value) is dict:
        if value.source is None:
            return list(value.value)
        t.effects.looks(value)
        t.inputs.guard_keys(value.source, value.value)
        return [*value.value, *t.effects.added(value)]
    return list(mapping(t, value))


def mapping(t: Tracer, value: Value) -> dict[Any, Value]:
    """The items of a dictionary."""
    if isinstance(value, HeapObject) and value.kind is dict:
        contents: dict[Any, Value] = t.heap[value]
        return contents
    if isinstance(value, Static) and type(value.value) is dict:
        return {key: item(t, value, key) for key in keys(t, value)}
    if isinstance(value, Sequence):  # keyword defaults of a function: names and values in turn
        names = [t.static(name, "a name") for name in value.items[::2]]
        return dict(zip(names, value.items[1::2]))
    raise t.refuse("**", f"of {described(value)} is left to Python")


def has(t: Tracer, target: Static, key: Any) -> bool:
    """Whether a dictionary has an item, which :func:`item` then reads."""
    return key in target.value or t.effects.load(target, (key,)) is not None


def item(t: Tracer, target: Static, key: Any) -> Value:
    """The item at a key of a dictionary from outside, or at a place of a list from outside."""
    held, source = target.value, target.source
    if source is None:
        return t.value(held[key])
    found = t.effects.load(target, (key,))
    return t.inputs.lift(held[key], Item(source, key)) if found is None else found


def size(t: Tracer, target: Static) -> int:
    """How many items a list or dictionary from outside has, which is guarded."""
    held, source = target.value, target.source
    assert source is not None
    t.effects.looks(target)
    t.inputs.guard_length(source, held)
    return len(held) + len(t.effects.added(target))
