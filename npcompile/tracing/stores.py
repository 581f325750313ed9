"""Attributes of objects from outside that get other values: ``self.time += dt``.

They are stored when the function has returned: nobody can tell so long as no Python code runs
before, and the trace itself looks here first.  Only stores that every call makes are followed;
where a check fails before anything else could be seen, the function is run again, as if nothing
had been stored.
"""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import TYPE_CHECKING, Any

from npcompile.graph.ir import Items, StaticObject, Tree
from npcompile.program.stored import Stored
from npcompile.tracing.sources import Source
from npcompile.tracing.values import Static, Value

if TYPE_CHECKING:
    from npcompile.tracing.tracer import Tracer

_MISSING = object()


class Stores:
    """What one trace has stored."""

    def __init__(self, t: Tracer) -> None:
        self.t = t
        self.pending: dict[tuple[Source, str], tuple[Static, Value]] = {}

    def load(self, target: Value, name: str) -> Value | None:
        """What an attribute has become; None: it is what it was."""
        if not self.pending or not isinstance(target, Static) or target.source is None:
            return None
        found = self.pending.get((target.source, name))
        if found is not None:
            return found[1]
        self._apart(target, name)
        return None

    def _apart(self, target: Static, name: str) -> None:
        """Refuses to look at what may be the attribute of an object that was changed."""
        for (source, other), (static, _) in self.pending.items():
            same = source == target.source
            if name == "__dict__" or (other == name and not same and _alike(target, static)):
                raise self.t.refuse(f".{name}", "of what may be an object with a new value there")

    def store(self, target: Static, name: str, value: Value) -> bool:
        """``target.name = value``; False: it is left to Python."""
        t, held, source = self.t, target.value, target.source
        always = t.builder.region is t.root and t.scope is None and not t.generators.running
        if source is None or not always or not _plain(held, name):
            return False
        self._apart(target, name)
        t.inputs.guard(source, "type", type(held))
        self.pending[source, name] = (target, value)
        return True

    def result(self, tree: Tree) -> Tree:
        """What the function returns, when all is stored."""
        if not self.pending:
            return tree
        trees = [tree]
        for (_, name), (target, value) in self.pending.items():
            trees += [self.t.trees.result(target), StaticObject(name)]
            trees.append(self.t.trees.result(value))
        return Items(Stored, tuple(trees))


def _alike(one: Static, other: Static) -> bool:
    """Whether two objects may be the same one."""
    return type(one.value) is type(other.value)


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
