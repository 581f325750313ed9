"""The steps by which an entry finds what arguments hold: attributes and items.

Only what runs no code of the program's is read by machine code: attributes of objects whose class
looks them up as ``object`` does, functions of such a class, and items of lists, tuples and
dictionaries.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType, MemberDescriptorType, MethodType
from typing import Any

from npcompile.core.records import record
from npcompile.guards.sources import Arg, Attribute, Guard, Item, Source
from npcompile.runtime.entry.guard_matching import LENGTHS, RELATIONS
from npcompile.runtime.entry.outline import Outline
from npcompile.runtime.entry.state import AccessStep
from npcompile.runtime.unsafe import version_tags
from npcompile.runtime.unsafe.native_functions import FunctionBase
from npcompile.runtime.unsafe.version_tags import Unwatchable, VersionTag

#: more objects than that are read in Python
MANY = 32
_CONTAINERS = (list, tuple, dict)
_PLAIN = (int, str, bytes)  # where == is that of :func:`match.same_constant`
#: constants that are one object, so that ``==`` is ``is``
SINGLE = (type(None), bool, type(Ellipsis), type(NotImplemented))
_MISSING = object()


@record(eq=False)
class MethodStep:
    """A function that an object has by its class, which ``holds`` it now."""

    function: Any
    kind: type
    holds: Callable[[], bool]

    def words(self) -> Iterator[VersionTag]:
        """Yields the version tags that change when the class or the method does."""
        if not self.holds():
            raise Unwatchable("a class has got another method")
        yield version_tags.of_class(self.kind)
        yield from version_tags.of_function(self.function)


class Steps:
    """Collects steps; ``objects`` are what they need, in their order; ``methods`` are the
    functions that objects are found to have.

    Parameters
    ----------
    traced
        What is to be called; its guards say what class each object is of.
    names
        The positional parameters.
    """

    def __init__(self, traced: Outline, names: Sequence[str]) -> None:
        self.steps: list[AccessStep] = []
        self.objects: list[Any] = []
        self.methods: dict[Source | None, MethodStep] = {}
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
        elif guard.kind == "flags":
            self.steps.append(AccessStep("flags", self.place(guard.source), guard.value))
        elif guard.kind in RELATIONS:
            self.steps.append(
                AccessStep(guard.kind, self.place(guard.source), self.place(guard.value))
            )
        elif guard.kind == "is" or (guard.kind == "equal" and isinstance(guard.value, SINGLE)):
            self._add("is", self.place(guard.source), guard.value)
        elif guard.kind == "code":
            self._method(guard)
        elif guard.kind in LENGTHS and self._class(guard.source) in _CONTAINERS:
            self.steps.append(AccessStep(guard.kind, self._of_class(guard.source), guard.value))
        elif guard.kind == "equal" and type(guard.value) in _PLAIN:
            place = self.place(guard.source)
            self._test_class(place, type(guard.value))
            self._add("equal", place, guard.value)
        else:
            raise Unwatchable("what only Python can compare")

    def _method(self, guard: Guard) -> None:
        """A function that an object has by its class: that very one is asked for."""
        source = guard.source
        if not isinstance(source, Attribute):
            raise Unwatchable("a function that may be another one of the same code")
        base, name = source.base, source.name
        function: FunctionType = getattr(guard.value, "__func__", guard.value)
        match base:
            case Attribute(Attribute(thing, "__class__"), of) if name == "fget":  # a property
                place, kind, name = self.place(thing), self._class(thing), of
                if kind is not None:
                    self._test_class(place, kind)
            case _:
                place, kind = self.place(source), self._class(base)
        if kind is None:
            raise Unwatchable("a function of an object of any class")
        held = _of_class(kind, name)
        found = _function_of(held)
        if name == "__wrapped__":
            self._add("is", place, function)
        elif found is not function:
            raise Unwatchable("a function that an object holds")
        elif isinstance(held, (FunctionType, classmethod)):
            self._classes[source] = MethodType
            self._add("is", self.place(Attribute(source, "__func__")), function)
        elif isinstance(held, staticmethod):
            self._add("is", place, function)
        self.methods[source] = MethodStep(function, kind, lambda: _of_class(kind, name) is held)

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
        self.steps.append(AccessStep(kind, place))
        self.objects.append(thing)


def _of_class(kind: type, name: str) -> Any:
    """Looks up a name in a class and its bases, without running descriptors."""
    return inspect.getattr_static(kind, name, _MISSING)


def _function_of(held: Any) -> Any:
    """The function that is called where an object finds this in its class."""
    if type(held) is property:
        return held.fget
    return held.__func__ if isinstance(held, (classmethod, staticmethod)) else held


def _looked_up(kind: type | None, name: str) -> bool:
    """Whether reading an attribute of an instance runs no code of the program's."""
    if kind is None or name == "__class__":
        return False
    if kind is MethodType:
        return name in ("__func__", "__self__")
    held = _of_class(kind, name)
    method = isinstance(held, (FunctionType, FunctionBase, classmethod, staticmethod))
    if method and not isinstance(_function_of(held), (FunctionType, FunctionBase)):
        return False  # of what else there is, code of its own may run
    plain = method or isinstance(held, MemberDescriptorType) or not hasattr(type(held), "__get__")
    own = _of_class(kind, "__getattribute__") is object.__getattribute__
    return plain and own and _of_class(kind, "__getattr__") is _MISSING
