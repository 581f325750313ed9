"""Attributes and functions that objects have by their classes, as machine code reads them.

Reading an attribute is a step only where that runs no code of the program's: the class looks it up
as ``object`` does.  A function of a class is not read from it: the class stays as it is while its
version tag does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import FunctionType, MemberDescriptorType, MethodType
from typing import TYPE_CHECKING, Any

from npcompile.core.records import record
from npcompile.guards.kinds import IdentityGuard
from npcompile.guards.sources import Attribute, Source
from npcompile.runtime.unsafe import version_tags
from npcompile.runtime.unsafe.native_functions import FunctionBase
from npcompile.runtime.unsafe.version_tags import Unwatchable, VersionTag

if TYPE_CHECKING:
    from npcompile.guards.binding import Steps

_MISSING = object()
#: the flag of classes whose objects hold their attributes themselves, from CPython 3.13 on
_INLINE = 1 << 2


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


def step(steps: Steps, source: Source, value: Any) -> MethodStep:
    """Has an entry test that an object has a function by its class, and that very one."""
    if not isinstance(source, Attribute):
        raise Unwatchable("a function that may be another one of the same code")
    base, name = source.base, source.name
    function: FunctionType = getattr(value, "__func__", value)
    match base:
        case Attribute(Attribute(thing, "__class__"), of) if name == "fget":  # a property
            place, kind, name = steps.place(thing), steps.class_of(thing), of
            if kind is not None:
                steps.class_at(place, kind)
        case _:
            place, kind = steps.place(source), steps.class_of(base)
    if kind is None:
        raise Unwatchable("a function of an object of any class")
    held = _of_class(kind, name)
    if name == "__wrapped__":
        steps.add(IdentityGuard, place, function)
    elif _function_of(held) is not function:
        raise Unwatchable("a function that an object holds")
    elif isinstance(held, (FunctionType, classmethod)):
        steps.bound(source)
        steps.add(IdentityGuard, steps.place(Attribute(source, "__func__")), function)
    elif isinstance(held, staticmethod):
        steps.add(IdentityGuard, place, function)
    return MethodStep(function, kind, lambda: _of_class(kind, name) is held)


def attributes(thing: object) -> Iterator[VersionTag]:
    """Yields the words of memory that CPython changes when a program stores an attribute in an
    object of a class of npcompile's.  The object keeps one dictionary all its life."""
    if type(thing).__flags__ & _INLINE:
        raise Unwatchable("the version of the dictionary does not tell of attributes")
    yield version_tags.of_class(type(thing))
    yield version_tags.of_dict(vars(thing))


def _of_class(kind: type, name: str) -> Any:
    """Looks up a name in a class and its bases, without running descriptors."""
    return inspect.getattr_static(kind, name, _MISSING)


def _function_of(held: Any) -> Any:
    """The function that is called where an object finds this in its class."""
    if type(held) is property:
        return held.fget
    return held.__func__ if isinstance(held, (classmethod, staticmethod)) else held


def looked_up(kind: type | None, name: str) -> bool:
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
