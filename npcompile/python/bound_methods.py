"""Bound methods: a function with the object that is its first argument."""

from __future__ import annotations

from npcompile.python.instances import RepresentedType
from npcompile.python.values import TRUE, Method, Value


class BoundMethodType(RepresentedType):
    """A method of an object, of a user's class or of one that is not written in Python."""

    represents = Method
    value: Method

    def call(
        self, args: tuple[Value, ...], kwargs: dict[str, Value], plain: bool = False
    ) -> Value:
        return self.t.call(self.value.function, (self.value.receiver, *args), kwargs, plain)

    def inlines(self) -> bool:
        return self.t.inlines(self.value.function)

    def truth(self) -> Value:
        return TRUE
