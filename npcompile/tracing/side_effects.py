"""Attributes of objects and items of containers from outside that get other values, ``self.time +=
dt`` and ``m[k] = g``, and lists from outside that get more items, ``self.losses.append(loss)``.

They are stored when the function has returned, or Python goes on in its middle: nobody can tell so
long as no Python code runs before, and the trace itself looks here first.  Until then a cell holds
the attribute's value, as one does for a variable that functions share, so that loops carry it and
branches join it.  An attribute that only some iterations or paths store to has its cell from the
beginning of another attempt on, with what it is when the function is called, and is stored in any
case; one that is not there before begins with an iteration that is followed on its own.  Where a
check fails before anything else could be seen, the function is run again, as if nothing had been
stored.

An item of a list or dictionary is an attribute whose name is a tuple, of its key.  What a list gets
is a list of the trace's own until then.  Nobody may look at a list that has got something, or go on
looking at it.
"""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import TYPE_CHECKING, Any

from npcompile.core.paths import defer
from npcompile.graph.ir import Items, StaticObject, Tree
from npcompile.guards.sources import Attribute, Item, Source, is_given
from npcompile.program.stored import MORE, Removed, Stored
from npcompile.python.values import Fetched, HeapObject, Static, Value
from npcompile.tracing.inputs import compared
from npcompile.tracing.requests import Name

if TYPE_CHECKING:
    from npcompile.guards import own_attributes
    from npcompile.python import dictionary, iterators
    from npcompile.tracing import loop_effects, references, vectors
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.guards", "own_attributes")
    defer(globals(), "npcompile.python", "dictionary", "iterators")
    defer(globals(), "npcompile.tracing", "loop_effects", "references", "vectors")

GROWN = 8  #: keys of a dictionary from outside from which on it may get more at each call
FEW = (
    4  #: attributes of which each takes another attempt; more begin with an iteration of their own
)


class SideEffects:
    """The stores of one trace to attributes and items of external objects."""

    def __init__(self, t: Tracer) -> None:
        self.t = t
        self.pending: dict[tuple[Source, Name], tuple[Static, HeapObject]] = {}
        self.awaited: list[tuple[Static, Name]] = []  # what generators have looked at

    def back_to(self, pending: dict[tuple[Source, Name], tuple[Static, HeapObject]]) -> None:
        """Goes back to stores that were pending before, to try another way."""
        self.pending = dict(pending)

    def load(self, target: Value, name: Name) -> Value | None:
        """The value that was stored under a name; None if the trace has not stored there."""
        if not isinstance(target, Static) or target.source is None:
            return None
        if self.t.generators.running:
            self.awaited.append((target, name))
        if not self.pending:
            return None
        found = self.pending.get((target.source, name))
        if found is not None:
            held: Value = self.t.heap[found[1]]
            return held
        self._apart(target, name)
        return None

    def added(self, target: Static) -> list[Any]:
        """The keys that a dictionary has got, in their order."""
        return [name[0] for source, name in self.pending
                if source == target.source and type(name) is tuple
                and type(target.value) is dict and name[0] not in target.value]

    def removed(self, target: Static) -> set[Any]:
        """The keys that a dictionary has lost."""
        return {name[0] for (source, name), (_, obj) in self.pending.items()
                if source == target.source and type(name) is tuple and self._gone(obj)}

    def _gone(self, obj: HeapObject) -> bool:
        """Whether a store is the removal of an item."""
        held = self.t.heap[obj]
        return isinstance(held, Static) and held.value is Removed

    def remove(self, target: Static, keys: tuple[Any, ...]) -> bool:
        """``del target[key]`` for each key of an external dictionary that is there; False: it is
        left to Python."""
        t, held, source = self.t, target.value, target.source
        if source is None or t.builder.region is not t.root or t.scope is not None:
            return False  # some paths or iterations only
        if t.generators.running or not all(compared(key) and key in held for key in keys):
            return False
        t.inputs.guard_keys(source, held)
        self._settled(target, MORE)
        return all(self._store(target, (key,), Static(Removed)) for key in keys)

    def changed(self, target: Static) -> bool:
        """Whether a list or dictionary has got other items."""
        return any(source == target.source for source, _ in self.pending)

    def _apart(self, target: Static, name: Name) -> None:
        """Refuses to look at what may be the attribute of an object that was changed."""
        for (source, other), (static, _) in self.pending.items():
            if name == "__dict__":
                raise self.t.refuse(f".{name}", "of an object with new values")
            if source != target.source and _meets(name, other) and self._one(target, static):
                reason = "of what may be an object with a new value there"
                raise self.t.refuse(_shown(name), reason)
            self._beside(target, name, static, other)

    def _beside(self, target: Static, name: Name, static: Static, other: Name) -> None:
        """Refuses to look at an attribute by an object, and by its dictionary."""
        if type(other) is str and other != MORE:
            target, name, static, other = static, other, target, name
        if type(name) is not str or name == MORE or other not in (MORE, (name,)):
            return
        assert target.source is not None
        own = Static(getattr(target.value, "__dict__", None), Attribute(target.source, "__dict__"))
        if type(own.value) is dict and self._one(own, static):
            raise self.t.refuse(f".{name}", "of an object whose dictionary has new values")

    def store(self, target: Static, name: str, value: Value) -> bool:
        """``target.name = value``; False: it is left to Python."""
        held, source = target.value, target.source
        if source is None or not is_plain(held, name):
            return False
        if not self._store(target, name, value):
            return False
        self.t.inputs.guard_class(source, type(held))
        return True

    def put(self, target: Value, key: Any, value: Value) -> bool:
        """``target[key] = value``; False: it is left to Python."""
        if not isinstance(target, Static) or target.source is None:
            return False
        held = target.value
        if type(held) is list:
            self.looks(target)
            self.t.inputs.guard_length(target.source, held)
            known = isinstance(key, int) and -len(held) <= key < len(held)
            if not known or not self._unlike_fetched(target):
                return False
            return self._store(target, (key % len(held),), value)
        if type(held) is not dict:
            return False
        if not compared(key) or (len(held) > GROWN and key not in held):
            return False  # it has code of a user's, or versions would be for one call each
        self.t.inputs.guard_keys(target.source, held)
        if key not in held:
            self._settled(target, MORE)
        return self._store(target, (key,), value)

    def _store(self, target: Static, name: Name, value: Value) -> bool:
        t, source = self.t, target.source
        assert source is not None
        if t.generators.running:
            return False
        self._settled(target, name)
        known = self.pending.get((source, name))
        if known is not None and self._gone(known[1]):
            return False  # it would come back as the last item
        if known is not None:
            t.heap[known[1]] = value
            return True
        if t.builder.region is not t.root or t.scope is not None:  # not each call comes here
            many = len(t.requests.given.stores) >= FEW
            if t.scope is not None and (many or not _there(target.value, name)):
                raise loop_effects.TypeMismatch("gives an object a new attribute")
            t.requests.store(source, name, target)
            return False
        self._apart(target, name)
        self._begin(target, name, value)
        return True

    def more(self, target: Value) -> HeapObject | None:
        """The list of what a list from outside gets; None: it is no such list, or it is left to
        Python."""
        t = self.t
        if not isinstance(target, Static) or type(target.value) is not list:
            return None
        source = target.source
        if source is None or t.generators.running:
            return None
        known = self.pending.get((source, MORE))
        if known is None:
            if t.builder.region is not t.root or t.scope is not None:
                t.requests.store(source, MORE, target)
                return None
            self._apart(target, MORE)
            if not self._unlike_fetched(target):
                return None
            self._begin_list(target)
            known = self.pending[source, MORE]
        self._unseen(target)
        held = t.heap[known[1]]
        assert isinstance(held, HeapObject)
        return held

    def looks(self, target: Value) -> None:
        """Refuses to read an external list to which the trace has appended."""
        if self.load(target, MORE) is not None:
            assert isinstance(target, Static) and target.source is not None
            raise self.t.refuse(target.source.text(), "has got items, and is looked at")

    def _unlike_fetched(self, target: Static) -> bool:
        """Whether a list is none of those that are read where they are, nor in one of them."""
        t = self.t
        for whole, item in t.opened:
            if isinstance(item.kind, Fetched) or self._one(whole, target):
                return False
        return True

    def _unseen(self, target: Static) -> None:
        """Refuses that a list gets items which an iterator over it may give."""
        held = [value.over[0] for value in references.everything(self.t)
                if isinstance(value, iterators.ExternalListIterator)]
        assert target.source is not None
        for other in held:
            assert isinstance(other, Static)
            if other.source == target.source or self._one(other, target):
                raise self.t.refuse(target.source.text(), "gets items while it is gone through")
        self._settled(target, MORE)

    def _settled(self, target: Static, name: Name) -> None:
        """Refuses a change of what a generator may still look at."""
        if not self.awaited or not self.t.generators.waits():
            return
        for other, known in self.awaited:
            if name == known and (other.source == target.source or self._one(other, target)):
                raise self.t.refuse("generator", "looks at what is changed before it is done")

    def _begin_list(self, target: Static) -> None:
        """The list of what a list gets, which is empty."""
        t, source = self.t, target.source
        assert source is not None
        t.inputs.guard_class(source, list)
        made = t.register(HeapObject(list, place=((source, MORE),)))
        wanted = t.requests.vector(made.place)
        t.heap[made] = () if wanted is None else vectors.begin(t, (), wanted)
        self._begin(target, MORE, made)

    def _begin(self, target: Static, name: Name, value: Value) -> None:
        assert target.source is not None
        self._replaces(target, name)
        obj = self.t.register(HeapObject(None))
        self.t.heap[obj] = value
        self.pending[target.source, name] = (target, obj)

    def _replaces(self, target: Static, name: Name) -> None:
        """Guards of what kind the object is that a store drops: its finalizer must not wait for
        the end of the function."""
        if name == MORE or not _there(target.value, name):
            return
        held, source = target.value, target.source
        assert source is not None
        if isinstance(name, tuple):
            self.t.inputs.guard_kind(held[name[0]], Item(source, name[0]))
            return
        self.t.inputs.guard_class(source, type(held))  # before anything is asked of it
        asks = inspect.getattr_static(type(held), "__getattr__", None) is not None
        there = Item(Attribute(source, "__dict__"), name) if asks else Attribute(source, name)
        self.t.inputs.guard_kind(own_attributes.own(held, name), there)

    def expect(self) -> None:
        """Makes cells for attributes that an earlier attempt stored to here or there."""
        for (source, name), target in self.t.requests.given.stores.items():
            if name == MORE:
                self._apart(target, MORE)
                if self._unlike_fetched(target):
                    self._begin_list(target)
                continue
            if not isinstance(name, str):
                self._expect_item(target, name[0])
                continue
            own = target.value.__dict__
            if not is_plain(target.value, name) or name not in own:
                continue  # storing to it is refused, at its line
            self._apart(target, name)
            self.t.inputs.guard_class(source, type(target.value))
            there = Item(Attribute(source, "__dict__"), name)
            self._begin(target, name, self.t.inputs.lift(own[name], there))

    def _expect_item(self, target: Static, key: Any) -> None:
        there = _there(target.value, (key,))
        if there and (type(target.value) is dict or self._unlike_fetched(target)):
            self._apart(target, (key,))
            self._begin(target, (key,), dictionary.item(self.t, target, key))

    def result(self, tree: Tree) -> Tree:
        """The function's result tree, with the pending stores."""
        if not self.pending:
            return tree
        trees = [tree]
        for (_, name), (target, obj) in self.pending.items():
            trees += [self.t.trees.result(target), StaticObject(name)]
            trees.append(self.t.trees.result(self.t.heap[obj]))
        return Items(Stored, tuple(trees))

    def _one(self, one: Static, other: Static) -> bool:
        """Whether two objects may be the same one; that arguments are not is guarded."""
        if type(one.value) is not type(other.value):
            return False
        if one.value is other.value or not (is_given(one.source) and is_given(other.source)):
            return True
        self.t.inputs.relate(one.source, other.source, False)
        return False


def _shown(name: Name) -> str:
    if name == MORE:
        return "items"
    return f".{name}" if isinstance(name, str) else f"[{name[0]!r}]"


def _meets(name: Name, other: Name) -> bool:
    """Whether names of two objects are of one thing if these are one: all that a list holds, or a
    dictionary's keys, have to do with each item."""
    of_items = MORE in (name, other) and tuple in (type(name), type(other))
    return name == other or of_items


def _there(held: Any, name: Name) -> bool:
    """Whether an object has such an attribute, or a list or dictionary such an item."""
    if isinstance(name, tuple):
        return type(held) is list or name[0] in held
    return own_attributes.own(held, name) is not own_attributes.MISSING


def is_plain(held: Any, name: str) -> bool:
    """Whether an object keeps such an attribute in its dictionary."""
    kind = type(held)
    if isinstance(held, (type, ModuleType)) or not own_attributes.has_dictionary(held):
        return False
    on_class = inspect.getattr_static(kind, name, own_attributes.MISSING)
    return own_attributes.ordinary(kind) and not hasattr(type(on_class), "__set__")
