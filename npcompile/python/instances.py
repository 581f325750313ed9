"""Objects of users' classes, and all objects of types that have no class of their own here."""

from __future__ import annotations

from types import FunctionType

from npcompile.python.bound_methods import Method
from npcompile.python.protocol import PythonType
from npcompile.python.values import Static, Value, described


class InstanceType(PythonType):
    """An instance, whose operators are methods of its class
    (:mod:`npcompile.tracing.operator_methods`)."""

    def call(
        self, args: tuple[Value, ...], kwargs: dict[str, Value], plain: bool = False
    ) -> Value:
        found = self.t.special_method(self.value, "__call__")
        if found is None:
            return super().call(args, kwargs, plain)
        return self.t.call(found, (self.value, *args), kwargs, plain)

    def enter(self) -> tuple[Value, Value]:
        begin, end = (self._special(name) for name in ("__enter__", "__exit__"))
        leave = Method(end, self.value)
        enter = Method(begin, self.value)
        return leave, self.t.call_for((leave,), enter, (), {}, plain=True, drops=False)

    def _special(self, name: str) -> Static:
        """A method of the class that a statement calls, which is a function of a user's."""
        found = self.t.special_method(self.value, name)
        if not isinstance(found, Static) or type(found.value) is not FunctionType:
            raise self.t.refuse("with", f"of {described(self.value)} is left to Python")
        return found
