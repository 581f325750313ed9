"""``slice`` objects."""

from __future__ import annotations

from npcompile.python.instances import RepresentedType
from npcompile.python.protocol import Tracing
from npcompile.python.values import NONE, NULL, Slice, Value

_NAMES = ("start", "stop", "step")


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

    def attribute(self, name: str) -> Value | None:
        return self.value.parts()[_NAMES.index(name)] if name in _NAMES else None
