"""Operators of classes that are written in Python: ``a * b`` is a call of ``__mul__`` or
``__rmul__``, in the order of the language reference (3.3.8, emulating numeric types); ``a[k]``,
``abs(a)``, ``len(a)``, ``bool(a)`` and what ``for`` asks of ``a`` are calls of one method."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import TYPE_CHECKING

from npcompile.core.paths import defer
from npcompile.guards.class_hooks import of_library
from npcompile.python import registry
from npcompile.python.bound_methods import Method
from npcompile.python.iterator import Iterator
from npcompile.python.values import (
    NULL,
    Static,
    Value,
    boolean,
    described,
    is_model,
    is_of_user,
    python_class,
)

if TYPE_CHECKING:
    from npcompile.tracing import attributes, traced_containers
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.tracing", "attributes", "traced_containers")

_ARITHMETIC = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
    "@": "matmul", "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}
#: methods of comparisons, and those of the other operand
_COMPARISONS = {
    "<": ("__lt__", "__gt__"), "<=": ("__le__", "__ge__"), ">": ("__gt__", "__lt__"),
    ">=": ("__ge__", "__le__"), "==": ("__eq__", "__eq__"), "!=": ("__ne__", "__ne__"),
}
_SIGNS = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
_NUMBERS = (bool, int, float, complex)  # their own methods know nothing of other classes
_NONE = Static(NotImplemented)


def binary(t: Tracer, symbol: str, left: Value, right: Value, on_stack: bool) -> Value | None:
    """``left symbol right``, None if neither operand is of a class that is written in Python;
    ``on_stack``: the result goes on the stack, nothing else."""
    plain = symbol.rstrip("=")
    name = _ARITHMETIC[plain]
    _no_models(t, symbol, left, right)
    if not _concerns(left, right):
        return None
    if symbol != plain and is_of_user(left):
        found = _try(t, left, f"__i{name}__", (right,), on_stack)
        if found is not _NONE:
            return found
    return _union(t, symbol, (f"__{name}__", f"__r{name}__"), left, right, on_stack)


def of_type(t: Tracer, symbol: str, left: Value, right: Value) -> Value | None:
    """The result of the method by which the left operand's type answers an operator, if it has
    one."""
    plain = symbol.rstrip("=")
    name = _ARITHMETIC[plain]
    for method in (f"__{name}__",) if symbol == plain else (f"__i{name}__", f"__{name}__"):
        held = getattr(python_class(left), method, None)
        found = NULL if held is None else registry.method(t, held, (left, right), {})
        if found is not NULL:
            return found
    return None


def compare(t: Tracer, symbol: str, left: Value, right: Value) -> Value | None:
    """A comparison, None if it is not for a method that is written in Python."""
    _no_models(t, symbol, left, right)
    if not _concerns(left, right):
        return None
    names = _COMPARISONS[symbol]
    if not any(_has(value, name) for value, name in zip((left, right), names)):
        return None
    return _union(t, symbol, names, left, right, False)


def unary(t: Tracer, symbol: str, value: Value, on_stack: bool) -> Value | None:
    """``symbol value``"""
    if not is_of_user(value) or not _has(value, _SIGNS[symbol]):
        return None
    found = _try(t, value, _SIGNS[symbol], (), on_stack)
    return None if found is _NONE else found


def called(
    t: Tracer, value: Value, name: str, *args: Value, on_stack: bool = False
) -> Value | None:
    """Calls a special method that is written in Python; None if the value's class has none.
    ``on_stack``: the result goes on the stack, and nothing else is done with it."""
    if is_model(value):
        return traced_containers.special(t, value, name, *args)
    if not is_of_user(value) or not _has(value, name):
        return None
    return _try(t, value, name, args, on_stack)


def dropped(t: Tracer, value: Value, name: str, *args: Value) -> bool:
    """Calls a special method for an instruction that gives nothing; false if the value's class has
    none that is written in Python."""
    if not is_of_user(value) or not _has(value, name):
        return False
    t.call_for((), Method(_method(t, value, name), value), args, {}, plain=True)
    return True


def length(t: Tracer, value: Value) -> Value | None:
    """``len(value)``, of a class that is written in Python."""
    found = called(t, value, "__len__")
    if found is None or is_model(value):
        return found
    size = t.static(found, "len")
    if type(size) is not int or size < 0:
        raise t.refuse("len", "that is no size: Python raises")
    return Static(size)


def truth(t: Tracer, value: Value) -> Value | None:
    """``bool(value)``, of a class that is written in Python."""
    found = called(t, value, "__bool__")
    if found is None:
        size = length(t, value)
        return boolean(bool(size.value)) if isinstance(size, Static) else None
    if python_class(found) is not bool:
        raise t.refuse("truth", "that is no bool: Python raises")
    return found


def iterator(t: Tracer, value: Value) -> Iterator | None:
    """``iter(value)``, of a class that is written in Python."""
    found = called(t, value, "__iter__")
    if found is not None and (not isinstance(found, Iterator) or found.itself):
        raise t.refuse("iter", f"over {described(value)}, whose iterator is left to Python")
    return found


def _no_models(t: Tracer, symbol: str, *operands: Value) -> None:
    for value in filter(is_model, operands):
        raise t.refuse(symbol, f"of {described(value)} is left to Python")


def _concerns(left: Value, right: Value) -> bool:
    """Whether one operand is of a class that is written in Python, and the other one too, or a
    number of Python's; NumPy's have rules of their own."""
    users = is_of_user(left), is_of_user(right)
    return users[0] or (users[1] and python_class(left) in _NUMBERS)


def _union(
    t: Tracer, symbol: str, names: tuple[str, str], left: Value, right: Value, on_stack: bool
) -> Value:
    """Calls the two operands' methods in the order of the language until one does not return
    NotImplemented."""
    first, second = python_class(left), python_class(right)
    tries = [(left, names[0], right), (right, names[1], left)]
    if first is second and symbol not in _COMPARISONS:
        del tries[1]
    elif second is not first and issubclass(second, first) and _differ(left, right, names[1]):
        tries.reverse()
    for value, name, other in tries:
        if is_of_user(value):
            found = _try(t, value, name, (other,), on_stack)
            if found is not _NONE:
                return found
    raise t.refuse(symbol, f"of {described(left)} and {described(right)} is left to Python")


def _differ(left: Value, right: Value, name: str) -> bool:
    """Whether the right operand's class has a method of its own."""
    ours, theirs = (inspect.getattr_static(python_class(v), name, None) for v in (right, left))
    return ours is not None and ours is not theirs


def _has(value: Value, name: str) -> bool:
    """Whether a value is of a class with a method of its own, which is no library's."""
    found = inspect.getattr_static(python_class(value), name, None)
    if isinstance(found, FunctionType) and of_library(found):
        return False
    return is_of_user(value) and found is not getattr(object, name, None)


def _try(
    t: Tracer, value: Value, name: str, args: tuple[Value, ...], on_stack: bool
) -> Value:
    """Calls a method; NotImplemented if the class has none."""
    if not _has(value, name):
        return _NONE
    method = _method(t, value, name)
    # who goes on after it takes what it gives for the result
    last = on_stack and "NotImplemented" not in method.value.__code__.co_names
    found = t.call(Method(method, value), args, {}, plain=last)
    if isinstance(found, Static) and found.value is NotImplemented:
        return _NONE
    return found


def _method(t: Tracer, value: Value, name: str) -> Static:
    method = attributes.method(t, value, name)
    if not isinstance(method, Static) or type(method.value) is not FunctionType:
        raise t.refuse(name, f"of {described(value)} is left to Python")
    return method
