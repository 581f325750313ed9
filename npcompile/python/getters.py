"""``operator.itemgetter``, ``attrgetter`` and ``methodcaller``, which ask their argument."""

from __future__ import annotations

import operator
from typing import Any, ClassVar

from npcompile.python.partials import Partial, PartialType
from npcompile.python.protocol import Tracing
from npcompile.python.values import NULL, Sequence, Static, Unreachable, Value


class GetterType(PartialType):
    """A callable that looks up the names or keys that it was made with."""

    made: ClassVar[Any]  #: the class that the program sees

    @classmethod
    def construct(cls, t: Tracing, /, *args: Value, **kwargs: Value) -> Value:
        if not args or kwargs or not cls.accepts(t, args):
            return NULL
        return Partial(Static(cls.made), args, {}, cls.made)

    @classmethod
    def accepts(cls, t: Tracing, args: tuple[Value, ...]) -> bool:
        """Whether Python makes a callable of these arguments, rather than raises."""
        return True

    def call(
        self, args: tuple[Value, ...], kwargs: dict[str, Value], plain: bool = False
    ) -> Value:
        if len(args) != 1 or kwargs:
            raise Unreachable
        several = len(self.value.args) > 1
        found = [self.found(args[0], name, plain and not several) for name in self.value.args]
        return Sequence(tuple(found)) if several else found[0]

    def found(self, value: Value, name: Value, plain: bool) -> Value:
        """What a value has at one of the names or keys."""
        return self.t.call(Static(operator.getitem), (value, name), {}, plain)


class ItemGetterType(GetterType):
    """``operator.itemgetter(*keys)``."""

    made = operator.itemgetter


class AttributeGetterType(GetterType):
    """``operator.attrgetter(*names)``, whose names may have dots."""

    made = operator.attrgetter

    @classmethod
    def accepts(cls, t: Tracing, args: tuple[Value, ...]) -> bool:
        return all(type(t.known(name)[1]) is str for name in args)

    def found(self, value: Value, name: Value, plain: bool) -> Value:
        for part in self.t.static(name, "a name").split("."):
            value = self.t.call(Static(getattr), (value, Static(part)), {})
        return value


class MethodCallerType(PartialType):
    """``operator.methodcaller(name, *args, **kwargs)``."""

    @classmethod
    def construct(cls, t: Tracing, /, *args: Value, **kwargs: Value) -> Value:
        if not args or type(t.known(args[0])[1]) is not str:
            return NULL
        return Partial(args[0], args[1:], kwargs, operator.methodcaller)

    def call(
        self, args: tuple[Value, ...], kwargs: dict[str, Value], plain: bool = False
    ) -> Value:
        if len(args) != 1 or kwargs:
            raise Unreachable
        held = self.value
        method = self.t.call(Static(getattr), (args[0], held.function), {})
        return self.t.call(method, held.args, held.keywords, plain)
