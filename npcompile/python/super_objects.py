"""``super`` objects."""

from __future__ import annotations

from collections.abc import Iterable

from npcompile.core.records import record
from npcompile.python.composite import Composite
from npcompile.python.values import Value


@record(eq=False)
class Super(Composite):
    """``super(after, receiver)``."""

    after: Value
    receiver: Value

    python_class = super

    def parts(self) -> tuple[Value, ...]:
        return (self.after, self.receiver)

    def rebuilt(self, parts: Iterable[Value]) -> Super:
        return Super(*parts)
