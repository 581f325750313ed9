"""Operators of the language that compute; :mod:`.questions` has comparisons, truth and identity."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.paths import defer
from npcompile.core.sections import from_handler
from npcompile.core.sizes import Size
from npcompile.graph.ir import Node
from npcompile.graph.types import PY_INT, Calling
from npcompile.ops import python
from npcompile.ops.operands import ArrayRef
from npcompile.python.values import (
    HeapObject,
    Static,
    Unreachable,
    Value,
    is_model,
    is_of_user,
    is_tensor,
    python_class,
)

if TYPE_CHECKING:
    from npcompile.core import warned
    from npcompile.tracing import (
        containers,
        device_arrays,
        operator_methods,
        tensor_values,
        vectors,
    )
    from npcompile.tracing.polyfills import consumers
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.core", "warned")
    defer(globals(), "npcompile.tracing", "containers", "device_arrays", "operator_methods",
          "tensor_values", "vectors")
    defer(globals(), "npcompile.tracing.polyfills", "consumers")

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "@": operator.matmul,
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
    ">>": operator.rshift, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg, "+": operator.pos, "~": operator.invert,
}
#: operands that are computed with while tracing: nothing of theirs warns or changes
_PLAIN = (bool, int, float, complex, str, bytes, tuple, type, type(None), np.dtype, slice, range)


#: in the text of an object that is known by where it is in memory
_ADDRESS = " at 0x"


def executed(t: Tracer, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Value:
    """Runs a pure function on known objects; what it raises, Python raises here."""
    try:
        with np.errstate(all="raise"), warned.all_warnings("error"):
            found = function(*args, **kwargs)
    except (FloatingPointError, Warning) as error:
        raise t.refuse(function.__name__, f"{error}: Python warns at each call") from None
    except Exception as error:
        if from_handler(error):
            raise
        raise Unreachable from None
    if isinstance(found, str) and _ADDRESS in found:
        raise t.refuse(function.__name__, "gives an address, which is another one in each process")
    return t.value(found)


def plain_objects(t: Tracer, *values: Value) -> list[Any] | None:
    """The objects that values are, if they may be computed with now."""
    found = []
    for value in values:
        known, held = t.known(value) if not isinstance(value, Node) else (False, None)
        if not known or not (type(held) in _PLAIN or isinstance(held, np.dtype)):
            return None
        found.append(held)
    return found


# ---------------------------------------------------------------------- operators


def binary(
    t: Tracer, symbol: str, left: Value, right: Value, on_stack: bool = False
) -> Value:
    """``left symbol right``; with ``=`` at the end of the symbol, in place.  ``on_stack``: the
    result goes on the stack, nothing else."""
    plain = symbol.rstrip("=")
    if is_tensor(left) or is_tensor(right):
        return tensor_values.binary(t, symbol, left, right)
    held = plain_objects(t, left, right)
    if held is not None:
        return executed(t, BINARY[plain], *held)
    if any(is_of_user(value) or is_model(value) for value in (left, right)):
        called = operator_methods.binary(t, symbol, left, right, on_stack)
        if called is not None:
            return called
    found = None
    if any(python_class(value) in (tuple, list) for value in (left, right)):
        found = containers.combined(t, symbol, left, right)
    if isinstance(left, (HeapObject, Static)) and python_class(left) not in _PLAIN:
        found = found or operator_methods.of_type(t, symbol, left, right)
    if found is not None:
        return found
    if plain == "**" and isinstance(right, Node) and right.op != "const" and (
        _is_int(left) and _is_int(right)
    ):
        return _power(t, left, right)
    if isinstance(left, HeapObject) or isinstance(right, HeapObject):
        left, right = vectors.beside(t, left, right), vectors.beside(t, right, left)
    if symbol != plain:
        device_arrays.check_in_place(t, left)
    if symbol != plain and isinstance(left, ArrayRef):
        return _keep(t, left, plain, right)
    return _remember(t, plain, left, right, t.operate(_binary, plain, left, right))


def _is_int(value: Value) -> bool:
    """Whether it is an int of Python's."""
    return python_class(value) in (int, bool)


def _power(t: Tracer, base: Value, exponent: Node) -> Value:
    """An int to a power that the run finds; a negative one gives a float, by Python."""
    if t.known(base) == (True, 2):
        return binary(t, "<<", Static(1), exponent)
    return consumers.follow(t, consumers.power, base, exponent)


_SIZES: dict[str, Callable[[Size, Size], Size]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
}


def _remember(t: Tracer, symbol: str, left: Value, right: Value, made: Value) -> Value:
    """Keeps which size a computed integer is; that it fits into 64 bits has been checked."""
    if symbol in _SIZES and isinstance(made, Node) and made.type == PY_INT:
        first, second = _size(t, left), _size(t, right)
        if first is not None and second is not None:
            t.builder.known[made] = _SIZES[symbol](first, second)
    return made


def _size(t: Tracer, value: Value) -> Size | None:
    if isinstance(value, Node):
        return t.builder.known_size(value) if value.type == PY_INT else None
    return value.value if isinstance(value, Static) and type(value.value) is int else None


def _binary(t: Tracer, symbol: str, left: Any, right: Any) -> Any:
    with t.called(_how(symbol)):
        return python.binary(t, symbol, left, right)


def _inplace(t: Tracer, symbol: str, left: Any, right: Any) -> Any:
    with t.called(_how(symbol)):
        return python.inplace(t, symbol, left, right)


def _how(symbol: str) -> Calling | None:
    """How the program calls an operator's ufunc; a product of matrices is another thing."""
    return None if symbol == "@" else "operator"


def _keep(t: Tracer, left: ArrayRef, symbol: str, right: Value) -> Value:
    """An array that is changed in place stays the same object."""
    t.operate(_inplace, symbol, left, right)
    return left


def unary(t: Tracer, symbol: str, value: Value, on_stack: bool = False) -> Value:
    if is_tensor(value):
        return tensor_values.unary(t, symbol, value)
    held = plain_objects(t, value)
    if held is not None:
        return executed(t, _UNARY[symbol], *held)
    called = operator_methods.unary(t, symbol, value, on_stack)
    if called is not None:
        return called
    return t.operate(python.unary, symbol, value)
