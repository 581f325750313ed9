"""The steps by which an entry finds what arguments hold: attributes and items.

Only what runs no code of the program's is read by machine code: attributes of objects whose class
looks them up as ``object`` does, and items of lists, tuples and dictionaries.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from types import MemberDescriptorType
from typing import Any

from npcompile.runtime.match import LENGTHS, RELATIONS
from npcompile.runtime.outline import Outline
from npcompile.runtime.state import Step
from npcompile.runtime.words import Unwatchable
from npcompile.tracing.sources import Arg, Attribute, Guard, Item, Source

#: more objects than that are read in Python
MANY = 32
_CONTAINERS = (list, tuple, dict)
_PLAIN = (int, str, bytes)  # where == is that of :func:`match.same_constant`
#: constants that are one object, so that ``==`` is ``is``
SINGLE = (type(None), bool, type(Ellipsis), type(NotImplemented))
_MISSING = object()


class Steps:
    """Collects steps; ``objects`` are what they need, in their order.

    Parameters
    ----------
    traced
        What is to be called; its guards say what class each object is of.
    names
        The positional parameters.
    """

    def __init__(self, traced: Outline, names: Sequence[str]) -> None:
        self.steps: list[Step] = []
        self.objects: list[Any] = []
        self._count = len(names)
        self._classes = {g.source: g.value for g in traced.guards if g.kind == "type"}
        self._read: dict[Source, int] = {}
        self._known: set[tuple[int, type]] = set()

    def place(self, source: Source) -> int:
        """Where an object is found, which is read if it has not been yet."""
        if isinstance(source, Arg):
            if source.position >= self._count:
                raise Unwatchable("an argument that can't be given by position")
            return source.position
        if source in self._read:
            return self._read[source]
        match source:
            case Attribute(base, name) if _looked_up(self._class(base), name):
                self._add("attribute", self._of_class(base), name)
            case Item(base, key) if self._class(base) in _CONTAINERS and type(key) in (int, str):
                self._add("item", self._of_class(base), key)
            case _:
                raise Unwatchable("what only Python can read")
        if len(self._read) >= MANY:
            raise Unwatchable("too many objects to read")
        self._read[source] = ~len(self._read)
        return self._read[source]

    def test(self, guard: Guard) -> None:
        """A guard on something that an argument leads to."""
        if guard.kind == "type":
            self._of_class(guard.source)
        elif guard.kind in RELATIONS:
            self.steps.append(Step(guard.kind, self.place(guard.source), self.place(guard.value)))
        elif guard.kind == "is" or (guard.kind == "equal" and isinstance(guard.value, SINGLE)):
            self._add("is", self.place(guard.source), guard.value)
        elif guard.kind in LENGTHS and self._class(guard.source) in _CONTAINERS:
            self.steps.append(Step(guard.kind, self._of_class(guard.source), guard.value))
        elif guard.kind == "equal" and type(guard.value) in _PLAIN:
            place = self.place(guard.source)
            self._test_class(place, type(guard.value))
            self._add("equal", place, guard.value)
        else:
            raise Unwatchable("what only Python can compare")

    def _class(self, source: Source) -> type | None:
        return self._classes.get(source)

    def _of_class(self, source: Source) -> int:
        """Where an object is found, whose class has been tested."""
        place, kind = self.place(source), self._class(source)
        assert kind is not None
        self._test_class(place, kind)
        return place

    def _test_class(self, place: int, kind: type) -> None:
        if (place, kind) not in self._known:
            self._known.add((place, kind))
            self._add("class", place, kind)

    def _add(self, kind: str, place: int, thing: Any) -> None:
        self.steps.append(Step(kind, place))
        self.objects.append(thing)


def _looked_up(kind: type | None, name: str) -> bool:
    """Whether reading an attribute of an instance runs no code of the program's."""
    if kind is None or name == "__class__":
        return False

    def of_class(name: str) -> Any:
        return inspect.getattr_static(kind, name, _MISSING)

    held = of_class(name)
    plain = isinstance(held, MemberDescriptorType) or not hasattr(type(held), "__get__")
    own = of_class("__getattribute__") is object.__getattribute__
    return plain and own and of_class("__getattr__") is _MISSING
