"""``functools.partial``, and callables of other classes that call like one."""

from __future__ import annotations

import functools

from npcompile.python.instances import RepresentedType
from npcompile.python.protocol import Tracing
from npcompile.python.values import NULL, TRUE, Partial, Value


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
