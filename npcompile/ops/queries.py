"""Questions about arrays that are answered with Python's own objects."""

from __future__ import annotations

from npcompile.core.releases import numpy_before
from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, PY_BOOL, PYTHON, Array
from npcompile.ops import arguments, comparison, views
from npcompile.ops.arguments import as_array, axes_in, program
from npcompile.ops.elementwise import py_scalar, run
from npcompile.ops.indexing import getitem
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.reductions import reduce_node

QUERY = arguments.program_kind("query")
_NEEDED = comparison  # its record "equal" is called by name


def _known(ctx: Context, a: Operand, name: str) -> ArrayRef | None:
    """An array, or None for a number."""
    if arguments.is_number(a):
        return None
    if isinstance(a, ArrayRef):
        return a
    if isinstance(a, (tuple, list)):
        return as_array(ctx, a)
    raise ctx.refuse(name, "of what is no array")


@program(QUERY, "shape")
def shape(ctx: Context, a: Operand) -> Operand:
    """The length of each axis."""
    ref = _known(ctx, a, "shape")
    return () if ref is None else views.attribute(ctx, ref, "shape")


@program(QUERY, "ndim")
def ndim(ctx: Context, a: Operand) -> int:
    """How many axes there are."""
    ref = _known(ctx, a, "ndim")
    return 0 if ref is None else ref.ndim


@program(QUERY, "size")
def size(ctx: Context, a: Operand, axis: Operand = None) -> Operand:
    """How many elements there are, in all or along axes."""
    ref = _known(ctx, a, "size")
    if ref is None:
        return 1
    if axis is None:
        return views.attribute(ctx, ref, "size")
    if isinstance(axis, tuple) and numpy_before(2, 4):
        raise ctx.refuse("size", "along several axes: Python raises")
    kept = axes_in(ctx, axis, ref.ndim, "size")
    part = arguments.view(ref, [ref.shape[k] for k in kept], [ref.strides[k] for k in kept])
    return views.attribute(ctx, part, "size")


@program(QUERY, "ndarray.item", of_numbers=True)
def item(ctx: Context, a: Operand, *args: Operand) -> Operand:
    """One element as a Python number."""
    ref = as_array(ctx, a)
    key = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    if not key:
        if not all(ctx.facts.equal(n, 1) for n in ref.shape):
            raise ctx.refuse("item", "of more than one element: Python raises")
        key = (0,) * ref.ndim
    if len(key) != ref.ndim:
        raise ctx.refuse("item", "by one index into several axes")
    found = getitem(ctx, ref, tuple(key))
    if not isinstance(found, Node) or found.dtype.char in "QL":
        raise ctx.refuse("item", "of an integer that may be wider than 64 bits")
    kind = {"b": bool, "i": int, "u": int, "f": float, "c": complex}[found.dtype.kind]
    return py_scalar(ctx, found, PYTHON[kind])


@program(QUERY, "array_equal")
def array_equal(ctx: Context, a1: Operand, a2: Operand, equal_nan: Operand = False) -> Operand:
    """Whether two arrays have one shape and equal elements."""
    if arguments.truth(ctx, equal_nan, "array_equal"):
        raise ctx.refuse("array_equal", "equal_nan=")
    x, y = as_array(ctx, a1), as_array(ctx, a2)
    if x.ndim != y.ndim or not all(map(ctx.facts.equal, x.shape, y.shape)):
        return False
    same = arguments.contents(ctx, run(ctx, "equal", x, y))
    if isinstance(same.type, Array):
        same = reduce_node(ctx, same, "all", tuple(range(same.type.ndim)), False, BOOL)
    return py_scalar(ctx, same, PY_BOOL)
