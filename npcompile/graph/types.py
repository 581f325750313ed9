"""Types of language 1 (see :mod:`npcompile.graph.ir` for the grammar)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from npcompile.core.records import record
from npcompile.core.sizes import Size, product

Origin = Literal["py", "np"]
#: how a program calls a ufunc: by its name, or as an operator
Calling = Literal["ufunc", "operator"]


@record
class Array:
    """A NumPy array; ``strides`` count elements, as NumPy would lay the array out.

    The layout is part of the type because NumPy shows it: the order of a sum, whether ``reshape``
    is a view, and the layout of every later result depend on it.
    """

    dtype: np.dtype
    shape: tuple[Size, ...]
    strides: tuple[Size, ...]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __repr__(self) -> str:
        return f"{self.dtype.name}[{', '.join(map(repr, self.shape))}]"


@record
class Scalar:
    """A number. ``origin`` keeps Python's int, float, bool and complex apart from NumPy's scalars:
    it decides promotion (NEP 50), division by zero, overflow and the type that is returned."""

    dtype: np.dtype
    origin: Origin

    @property
    def shape(self) -> tuple[Size, ...]:
        return ()

    @property
    def python_type(self) -> type:
        """The Python type of a scalar whose origin is ``py``."""
        return {"b": bool, "i": int, "f": float, "c": complex}[self.dtype.kind]

    def __repr__(self) -> str:
        return f"{self.origin}.{self.dtype.name}"


@record
class Tuple:
    """Several values, of a node with several results."""

    items: tuple[Type, ...]

    def __repr__(self) -> str:
        return f"({', '.join(map(repr, self.items))})"


@record
class List:
    """A growing list of values of one type."""

    item: Type


@record
class Maybe:
    """A value that is bound on some paths only."""

    item: Type


@record
class Opaque:
    """A Python object that only host calls look into; ``python_type`` is its class."""

    python_type: type


@record
class Nothing:
    """The type of a node that is there for its effect."""

    def __repr__(self) -> str:
        return "()"


Type = Array | Scalar | Tuple | List | Maybe | Opaque | Nothing

BOOL = np.dtype(np.bool_)
INT = np.dtype(np.int64)
FLOAT = np.dtype(np.float64)
COMPLEX = np.dtype(np.complex128)
OBJECT = np.dtype(np.object_)
PY_BOOL, PY_INT = Scalar(BOOL, "py"), Scalar(INT, "py")
PY_FLOAT, PY_COMPLEX = Scalar(FLOAT, "py"), Scalar(COMPLEX, "py")
PYTHON = {bool: PY_BOOL, int: PY_INT, float: PY_FLOAT, complex: PY_COMPLEX}
# long double, object, strings, dates and records are Python's to handle
SUPPORTED = frozenset("?bBhHiIlLqQefdFD")


def c_strides(shape: tuple[Size, ...]) -> tuple[Size, ...]:
    """Strides, in elements, of a C-contiguous array."""
    return tuple(product(shape[axis + 1 :]) for axis in range(len(shape)))


def contiguous(dtype: np.dtype, shape: tuple[Size, ...]) -> Array:
    """The type of a fresh C-contiguous array."""
    return Array(dtype, shape, c_strides(shape))
