"""Signatures of compiled functions, as numba writes them.

>>> read("float64(float64, int32)")
TypeSignature(result=Kind(dtype=dtype('float64'), ndim=0, pointer=False), \
params=(Kind(dtype=dtype('float64'), ndim=0, pointer=False), \
Kind(dtype=dtype('int32'), ndim=0, pointer=False)))
>>> read("void(float64[:, :], CPointer(intc))").params[1].pointer
True
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

import numpy as np

from npcompile.core.records import record

#: names of numba's that are not NumPy's
_NAMES = {
    "boolean": "bool", "b1": "bool", "uchar": "uint8", "char": "int8", "size_t": "uintp",
    "ssize_t": "intp", "none": "void", "double": "float64", "long_": "long", "float": "float64",
    "int": "int64", "complex": "complex128",
}
_NUMBERS = frozenset("?bBhHiIlLqQefdFD")


@record
class Kind:
    """What a parameter is: a number, an array of some axes, or a pointer; ``void`` is no dtype."""

    dtype: np.dtype | None
    ndim: int = 0
    pointer: bool = False


@record
class TypeSignature:
    """``result`` of functions that tell none is None."""

    result: Kind | None
    params: tuple[Kind, ...]


def read(text: object) -> TypeSignature:
    """The signature that a text, or an object of numba's whose text it is, describes.

    Raises
    ------
    TypeError
        If it is no signature of numbers, arrays and pointers.
    """
    whole = str(text).replace("->", "@") if "->" not in str(text) else _turned(str(text))
    try:
        tree = ast.parse(whole, mode="eval").body
    except SyntaxError:
        raise TypeError(f"{text!r} is not a signature such as 'float64(float64)'") from None
    try:
        if isinstance(tree, ast.Tuple):
            return TypeSignature(None, tuple(map(_kind, tree.elts)))
        if isinstance(tree, ast.Call) and not _is_pointer(tree):
            result = _kind(tree.func)
            return TypeSignature(result, tuple(map(_kind, tree.args)))
        return TypeSignature(None, (_kind(tree),))
    except ValueError as error:
        raise TypeError(f"signature {text!r}: {error}") from None


def _turned(text: str) -> str:
    """``"(float64,) -> float64"``, as numba prints signatures, the other way round."""
    params, _, result = text.partition("->")
    inner = params.strip()
    return f"{result.strip()}{inner if inner.startswith('(') else f'({inner})'}"


def _is_pointer(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _name(node.func) == "CPointer"


def _name(node: ast.expr) -> str:
    """A name, or the last one of ``types.float64``."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Constant(value=None):
            return "void"
    raise ValueError(f"{ast.unparse(node)!r} is no type")


def _kind(node: ast.expr) -> Kind:
    match node:
        case ast.Subscript(value=of, slice=index):
            inner = _kind(of)
            axes = index.elts if isinstance(index, ast.Tuple) else [index]
            if inner.ndim or inner.pointer or not all(isinstance(a, ast.Slice) for a in axes):
                raise ValueError(f"{ast.unparse(node)!r} is no array")
            return Kind(inner.dtype, len(axes))
        case ast.Call(args=[of]) if _is_pointer(node):
            return Kind(_kind(of).dtype, 0, True)
    name = _name(node)
    if name in ("voidptr", "void"):
        return Kind(None, 0, name == "voidptr")
    return Kind(dtype_of(name))


def dtype_of(name: str) -> np.dtype:
    """The dtype that numba or NumPy calls by a name."""
    try:
        found = np.dtype(_NAMES.get(name, name))
    except TypeError:
        raise ValueError(f"{name!r} is no type") from None
    if found.char not in _NUMBERS:
        raise ValueError(f"{name!r} is no type of numbers")
    return found


def read_all(given: object) -> list[TypeSignature]:
    """The signatures of a list of them, or of one."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        return [read(given)]
    return [read(item) for item in given]
