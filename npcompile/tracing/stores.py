"""Attributes of objects from outside that get other values: ``self.time += dt``.

They are stored when the function has returned, or Python goes on in its middle: nobody can tell so
long as no Python code runs before, and the trace itself looks here first.  Until then a cell holds
the attribute's value, as one does for a variable that functions share, so that loops carry it and
branches join it.  An attribute that only some turns or paths store to has its cell from the
beginning of another attempt on, with what it is when the function is called, and is stored in any
case.  Where a check fails before anything else could be seen, the function is run again, as if
nothing had been stored.
"""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import TYPE_CHECKING, Any

from npcompile.graph.ir import Items, StaticObject, Tree
from npcompile.ops.operands import Cell
from npcompile.program.stored import Stored
from npcompile.tracing.sources import Attribute, Item, Source, is_given
from npcompile.tracing.values import Box, Static, Value

if TYPE_CHECKING:
    from npcompile.tracing.tracer import Tracer

_MISSING = object()
Attributes = dict[tuple[Source, str], Static]  #: of objects from outside


class Stores:
    """What one trace has stored."""

    def __init__(self, t: Tracer) -> None:
        self.t = t
        self.pending: dict[tuple[Source, str], tuple[Static, Box]] = {}
        self.wanted: Attributes = {}  # which should have had a cell from the beginning

    def load(self, target: Value, name: str) -> Value | None:
        """What an attribute has become; None: it is what it was."""
        if not self.pending or not isinstance(target, Static) or target.source is None:
            return None
        found = self.pending.get((target.source, name))
        if found is not None:
            held: Value = self.t.cells[found[1]]
            return held
        self._apart(target, name)
        return None

    def _apart(self, target: Static, name: str) -> None:
        """Refuses to look at what may be the attribute of an object that was changed."""
        for (source, other), (static, _) in self.pending.items():
            if name == "__dict__":
                raise self.t.refuse(f".{name}", "of an object with new values")
            if other == name and source != target.source and self._one(target, static):
                raise self.t.refuse(f".{name}", "of what may be an object with a new value there")

    def store(self, target: Static, name: str, value: Value) -> bool:
        """``target.name = value``; False: it is left to Python."""
        t, held, source = self.t, target.value, target.source
        if source is None or t.generators.running or not _plain(held, name):
            return False
        known = self.pending.get((source, name))
        if known is not None:
            t.cells[known[1]] = value
            return True
        if t.builder.region is not t.root or t.scope is not None:  # not each call comes here
            self.wanted[source, name] = target
            return False
        self._apart(target, name)
        t.inputs.guard(source, "type", type(held))
        self._begin(target, name, value, t.cells)
        return True

    def _begin(
        self, target: Static, name: str, value: Value, cells: dict[Cell | Box, Any]
    ) -> None:
        assert target.source is not None
        box = self.t.register(Box(None))
        cells[box] = value
        self.pending[target.source, name] = (target, box)

    def expect(self, places: Attributes, cells: dict[Cell | Box, Any]) -> None:
        """Makes cells for attributes that an earlier attempt stored to here or there."""
        for (source, name), target in places.items():
            own = target.value.__dict__
            if not _plain(target.value, name) or name not in own:
                continue  # storing to it is refused, at its line
            self._apart(target, name)
            self.t.inputs.guard(source, "type", type(target.value))
            there = Item(Attribute(source, "__dict__"), name)
            self._begin(target, name, self.t.inputs.lift(own[name], there), cells)

    def result(self, tree: Tree) -> Tree:
        """What the function returns, when all is stored."""
        if not self.pending:
            return tree
        trees = [tree]
        for (_, name), (target, box) in self.pending.items():
            trees += [self.t.trees.result(target), StaticObject(name)]
            trees.append(self.t.trees.result(self.t.cells[box]))
        return Items(Stored, tuple(trees))

    def _one(self, one: Static, other: Static) -> bool:
        """Whether two objects may be the same one; that arguments are not is guarded."""
        if type(one.value) is not type(other.value):
            return False
        if one.value is other.value or not (is_given(one.source) and is_given(other.source)):
            return True
        self.t.inputs.relate(one.source, other.source, False)
        return False


def _plain(held: Any, name: str) -> bool:
    """Whether an object keeps such an attribute in its dictionary."""
    kind = type(held)
    if isinstance(held, (type, ModuleType)) or type(getattr(held, "__dict__", None)) is not dict:
        return False
    on_class = inspect.getattr_static(kind, name, _MISSING)
    return ordinary(kind) and not hasattr(type(on_class), "__set__")


def ordinary(kind: type) -> bool:
    """Whether what is stored as an attribute of such objects is what is read of them again."""
    names = ("__setattr__", "__getattribute__")
    return all(inspect.getattr_static(kind, name) is getattr(object, name) for name in names)
