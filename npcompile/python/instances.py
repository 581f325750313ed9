"""Objects of users' classes, and all objects of types that have no class of their own here."""

from __future__ import annotations

import inspect
from types import FunctionType

from npcompile.guards.class_hooks import wrapped_by_us
from npcompile.guards.own_attributes import C_METHODS, MISSING, ordinary
from npcompile.guards.sources import Attribute
from npcompile.python import properties
from npcompile.python.bound_methods import Method
from npcompile.python.protocol import PythonType, Tracing
from npcompile.python.values import HeapObject, Static, Unreachable, Value, described


class InstanceType(PythonType):
    """An instance, whose operators are methods of its class
    (:mod:`npcompile.tracing.operator_methods`)."""

    @classmethod
    def of(cls, t: Tracing, value: Value) -> PythonType:
        return (MadeInstance if isinstance(value, HeapObject) else InstanceType)(t, value)

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


class HeldAttributes(PythonType):
    """An object that the program made, whose attributes the heap holds."""

    def _kind(self) -> type | None:
        """The object's class; None: it comes from elsewhere."""
        return self.value.kind if isinstance(self.value, HeapObject) else None

    def _of_class(self, name: str, held: object) -> Value:
        """An attribute of the class."""
        obj = self.value
        if obj.source is None:
            return Static(held)
        return self.t.inputs.lift(held, Attribute(obj.source, name))

    def method(self, name: str) -> Value | None:
        kind = self._kind()
        if kind is None:
            return None
        found = inspect.getattr_static(kind, name, MISSING)
        if isinstance(found, C_METHODS):
            return Static(getattr(kind, name))
        plain = type(found) is FunctionType or wrapped_by_us(found)
        if not plain or name in self.t.heap[self.value]:
            return None
        return self._of_class(name, found)

    def attribute(self, name: str, plain: bool = False) -> Value | None:
        t, obj, kind = self.t, self.value, self._kind()
        if kind is None:
            return None
        if name in t.heap[obj]:
            found: Value = t.heap[obj][name]
            return found
        held = inspect.getattr_static(kind, name, MISSING)
        if held is MISSING:
            raise Unreachable
        if isinstance(held, property):
            return properties.computed(t, held, obj.source, name, obj, plain)
        if hasattr(type(held), "__get__") or obj.source is None:
            raise t.refuse(f".{name}", "of this kind of object is left to Python")
        return self._of_class(name, held)

    def has_attribute(self, name: str) -> bool | None:
        obj, kind = self.value, self._kind()
        if kind is None or name in self.t.heap[obj]:
            return None if kind is None else True
        there = hasattr(kind, name)
        if obj.source is not None:
            properties.refuse_hooks(self.t, kind)
            self.t.inputs.guard_presence(Attribute(obj.source, name), there)
        return there

    def assign(self, name: str, value: Value, plain: bool = False) -> bool:
        t, obj, kind = self.t, self.value, self._kind()
        if kind is None or not ordinary(kind):
            return False
        on_class = inspect.getattr_static(kind, name, MISSING)
        if type(on_class) is property:
            setter = properties.part(t, on_class, obj.source, name, "fset")
            t.call_for((), setter, (obj, value), {}, plain)
        elif hasattr(type(on_class), "__set__"):
            return False
        else:
            t.generators.changes(obj)
            t.heap[obj] = {**t.heap[obj], name: value}
        return True


class MadeInstance(HeldAttributes, InstanceType):
    """An instance that the program made."""
