"""Bound methods: a function with the object that is its first argument."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any

from npcompile.core.records import record
from npcompile.guards.class_hooks import wrapped_by_us
from npcompile.guards.sources import Attribute, Source
from npcompile.python.composite import Composite, Read, Reader
from npcompile.python.protocol import Guarding
from npcompile.python.registry import RepresentedType
from npcompile.python.values import TRUE, Static, Value

#: the classes of bound functions that are not written in Python, by their functions'
_BOUND = {types.MethodDescriptorType: types.BuiltinMethodType,
          types.WrapperDescriptorType: types.MethodWrapperType}


@record(eq=False)
class Method(Composite):
    """A function with its first argument."""

    function: Value
    receiver: Value

    renewed = True

    @property
    def python_class(self) -> type:
        held = self.function.value if isinstance(self.function, Static) else None
        return _BOUND.get(type(held), types.MethodType)

    def parts(self) -> tuple[Value, ...]:
        return (self.function, self.receiver)

    def rebuilt(self, parts: Iterable[Value]) -> Method:
        return Method(*parts)

    def label(self) -> None:
        return None

    def read_by(self, reader: Reader[Read]) -> Read:
        return reader.read_method(self)


class BoundMethodType(RepresentedType):
    """A method of an object, of a user's class or of one that is not written in Python."""

    represents = Method
    value: Method

    @classmethod
    def external(cls, inputs: Guarding, held: Any, source: Source) -> Value:
        function = Attribute(source, "__func__")
        if wrapped_by_us(held.__func__):
            inputs.guard_class(source, types.MethodType)
            inputs.guard_class(function, type(held.__func__))
        else:
            inputs.guard_code(source, held)
        receiver = inputs.lift(held.__self__, Attribute(source, "__self__"))
        return Method(Static(held.__func__, function), receiver)

    def call(
        self, args: tuple[Value, ...], kwargs: dict[str, Value], plain: bool = False
    ) -> Value:
        return self.t.call(self.value.function, (self.value.receiver, *args), kwargs, plain)

    def inlines(self) -> bool:
        return self.t.inlines(self.value.function)

    def truth(self) -> Value:
        return TRUE
