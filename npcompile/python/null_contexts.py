"""``contextlib.nullcontext``."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from npcompile.python.bound_methods import Method
from npcompile.python.instances import HeldAttributes
from npcompile.python.values import NONE, HeapObject, Static, Value

if TYPE_CHECKING:
    from npcompile.python.protocol import Tracing


class NullContextType(HeldAttributes):
    """A ``nullcontext`` that the program made."""

    METHODS = (nullcontext.__exit__,)

    @classmethod
    def construct(cls, t: Tracing, enter_result: Value = NONE) -> Value:
        return t.allocate(nullcontext, {"enter_result": enter_result})

    def enter(self) -> tuple[Value, Value]:
        if not isinstance(self.value, HeapObject):
            return super().enter()
        result: Value = self.t.heap[self.value]["enter_result"]
        return Method(Static(nullcontext.__exit__), self.value), result

    def __exit__(self, *raised: Value) -> Value:
        return NONE
