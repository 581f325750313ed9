"""``functools.partial``, and callables of other classes that call like one."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from npcompile.core.records import record
from npcompile.guards.sources import Attribute, Item, Source
from npcompile.python.composite import Composite, Read, Reader
from npcompile.python.protocol import Guarding, Tracing
from npcompile.python.registry import RepresentedType
from npcompile.python.tuples import TupleType
from npcompile.python.values import NULL, TRUE, Value


@record(eq=False)
class Partial(Composite):
    """A callable with its first arguments; ``python_class`` is ``functools.partial``, or the class
    of what calls like one."""

    function: Value
    args: tuple[Value, ...]
    keywords: dict[str, Value]
    python_class: type = functools.partial

    def parts(self) -> tuple[Value, ...]:
        return (self.function, *self.args, *self.keywords.values())

    def rebuilt(self, parts: Iterable[Value]) -> Partial:
        function, *rest = parts
        count = len(self.args)
        keywords = dict(zip(self.keywords, rest[count:]))
        return Partial(function, tuple(rest[:count]), keywords, self.python_class)

    def read_by(self, reader: Reader[Read]) -> Read:
        return reader.read_partial(self)


class PartialType(RepresentedType):
    """A callable with its first arguments and some keywords."""

    represents = Partial
    value: Partial

    @classmethod
    def construct(cls, t: Tracing, /, *args: Value, **kwargs: Value) -> Value:
        if not args:
            return NULL
        inner, first = args[0], args[1:]
        if isinstance(inner, Partial) and inner.python_class is functools.partial:
            return Partial(inner.function, inner.args + first, {**inner.keywords, **kwargs})
        return Partial(inner, first, kwargs)

    @classmethod
    def external(cls, inputs: Guarding, held: Any, source: Source) -> Value:
        inputs.guard_class(source, type(held))
        function = inputs.lift(held.func, Attribute(source, "func"))
        args = TupleType.external(inputs, held.args, Attribute(source, "args"))
        named = Attribute(source, "keywords")
        inputs.guard_keys(named, held.keywords)
        keywords = {k: inputs.lift(v, Item(named, k)) for k, v in held.keywords.items()}
        return Partial(function, args.items, keywords)

    def call(
        self, args: tuple[Value, ...], kwargs: dict[str, Value], plain: bool = False
    ) -> Value:
        held = self.value
        return self.t.call(held.function, held.args + args, {**held.keywords, **kwargs}, plain)

    def truth(self) -> Value:
        return TRUE


class VectorizeType(PartialType):
    """``np.vectorize``, which tracing represents as a function of ours with its first arguments."""

    @classmethod
    def construct(cls, t: Tracing, /, *args: Value, **kwargs: Value) -> Value:
        return NULL
