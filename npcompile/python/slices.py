"""``slice`` objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from npcompile.core.records import record
from npcompile.guards.sources import Attribute, Source
from npcompile.python.composite import Composite
from npcompile.python.protocol import Guarding, Tracing
from npcompile.python.registry import RepresentedType
from npcompile.python.values import NONE, NULL, Value

_NAMES = ("start", "stop", "step")


@record(eq=False)
class Slice(Composite):
    """``slice(start, stop, step)``."""

    start: Value
    stop: Value
    step: Value

    joins = True
    renewed = True
    builds = slice
    python_class = slice

    def parts(self) -> tuple[Value, ...]:
        return (self.start, self.stop, self.step)

    def rebuilt(self, parts: Iterable[Value]) -> Slice:
        return Slice(*parts)

    def label(self) -> None:
        return None


class SliceType(RepresentedType):
    """A ``slice``."""

    represents = Slice
    value: Slice

    @classmethod
    def construct(cls, t: Tracing, /, *args: Value) -> Value:
        if not 1 <= len(args) <= 3:
            return NULL
        start, stop, step = (NONE, *args, NONE) if len(args) == 1 else (*args, NONE)[:3]
        return Slice(start, stop, step)

    @classmethod
    def external(cls, inputs: Guarding, held: Any, source: Source) -> Value:
        inputs.guard_class(source, slice)
        return Slice(*(inputs.lift(getattr(held, n), Attribute(source, n)) for n in _NAMES))

    def attribute(self, name: str, plain: bool = False) -> Value | None:
        return self.value.parts()[_NAMES.index(name)] if name in _NAMES else None
