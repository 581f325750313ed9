"""CuPy's arrays as arguments: what differs from NumPy's.

In such a function all arrays are the device's.  CuPy has no numbers of its own: an element is an
array without axes, and a view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.graph.ir import Node
from npcompile.graph.types import Scalar
from npcompile.ops.operands import ArrayRef
from npcompile.python.values import Sequence, Static, Value
from npcompile.tensors import device

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer

#: NumPy's functions that make arrays of the host without any array
_MAKERS: tuple[Any, ...] = (
    np.array, np.asarray, np.asanyarray, np.zeros, np.ones, np.empty, np.full, np.arange, np.eye,
    np.linspace, np.logspace, np.geomspace, np.identity, np.tri, np.indices, np.fromfunction,
)
_MAKING = frozenset(map(id, _MAKERS))
#: attributes that are not what they are of NumPy's arrays
_ATTRIBUTES = frozenset({"device", "data", "ctypes", "flat", "base", "tobytes", "tofile"})


def function(t: Tracer, held: Any) -> Any:
    """A callable as NumPy's."""
    on_device = t.inputs.device
    if on_device and id(held) in _MAKING:
        raise t.refuse(held.__name__, "makes an array of the host, the others are a device's")
    if not device.belongs(held):
        return held
    if not on_device:
        raise t.refuse(f"cupy.{held.__name__}", "in a function that no array of CuPy's comes to")
    meant = device.meant(held)
    if meant is None:
        raise t.refuse(f"cupy.{getattr(held, '__name__', held)}", "is left to CuPy")
    return meant


def viewing(t: Tracer, key: Value) -> Value:
    """A key that gives an array where it would give a number."""
    if not t.inputs.device or isinstance(key, ArrayRef):
        return key
    items = key.items if isinstance(key, Sequence) else (key,)
    if isinstance(key, Static) and type(key.value) is tuple:
        items = tuple(map(t.value, key.value))
    if any(isinstance(item, ArrayRef) or _is_ellipsis(item) for item in items):
        return key
    return Sequence((*items, Static(Ellipsis)), tuple)


def _is_ellipsis(item: Value) -> bool:
    return isinstance(item, Static) and item.value is Ellipsis


def _is_number(value: Value) -> bool:
    """Whether a value is a number of NumPy's here: of CuPy's, an array without axes."""
    if not isinstance(value, Node):
        return False
    return isinstance(value.type, Scalar) and value.type.origin == "np"


def check_in_place(t: Tracer, value: Value) -> None:
    """``value += ...`` of a number would change an array that others may hold."""
    if t.inputs.device and _is_number(value):
        raise t.refuse("augmented assignment", "to an array without axes is left to CuPy")


def check_attribute(t: Tracer, name: str) -> None:
    """Attributes of arrays."""
    if t.inputs.device and name in _ATTRIBUTES:
        raise t.refuse(f".{name}", "of a device's array is left to CuPy")


def check_class(t: Tracer, value: Value) -> None:
    """``type(value)`` and ``isinstance(value, ...)``"""
    if t.inputs.device and (isinstance(value, ArrayRef) or _is_number(value)):
        raise t.refuse("type", "of a device's array is left to CuPy")


def check_iteration(t: Tracer, array: ArrayRef) -> None:
    """``for element in array``"""
    if t.inputs.device and array.ndim == 1:
        raise t.refuse("iteration", "over the elements of a device's array is left to CuPy")
