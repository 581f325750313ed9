"""Functions of NumPy that run as they are, between compiled regions: sorting, partitions.

Each is a host call whose result has the operand's shape, or one that a rule tells.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.core.paths import import_path
from npcompile.graph import layout
from npcompile.graph.ir import HostCall
from npcompile.graph.types import SUPPORTED, Array, c_strides
from npcompile.ops import arguments, views
from npcompile.ops.arguments import as_array, axis_in, program, static
from npcompile.ops.operands import ArrayRef, Context, Operand

LIBRARY = arguments.program_kind("host call")


def _call(ctx: Context, path: str, x: ArrayRef, like: bool = True, kth: Operand = None,
          **statics: Any) -> ArrayRef:
    """Runs a function on a C-contiguous array; its dtype is what NumPy gives for a small one.

    ``like``: the result's axes of length 1 lie as the operand's do, not as those of a fresh array.
    ``kth`` is the second argument, if there is one.
    """
    what = path.partition(":")[2]
    if not views.is_contiguous(ctx, x):
        if x.ndim > 1:
            raise ctx.refuse(what, "of an array that is not C-contiguous")
        x = views.copied(ctx, x)
    try:
        with np.errstate(all="ignore"):
            sample = (np.ones((2,) * x.ndim, x.dtype), *[0] * (kth is not None))
            dtype = import_path(path)(*sample, **statics).dtype
    except (TypeError, ValueError) as error:
        raise ctx.refuse(what, f"{error}: Python raises") from None
    if dtype.char not in SUPPORTED:
        raise ctx.refuse(what, f"a result of dtype {dtype}")
    call = HostCall(path, statics=tuple(statics.items()))
    strides = layout.like_strides(ctx.facts, x.shape, x.steps) if like else c_strides(x.shape)
    given = (x,) if kth is None else (x, arguments.number(ctx, kth))
    return ctx.host_call(call, given, Array(dtype, x.shape, strides))


def _sorting(ctx: Context, name: str, a: Operand, axis: Operand, **options: Operand) -> ArrayRef:
    """``kind=`` and ``stable=``: a stable order is one, others are NumPy's to choose."""
    x = as_array(ctx, a)
    if axis is None:
        x, axis = views.ravel(ctx, x), -1
    known = {key: static(value) for key, value in options.items() if value is not None}
    if not all(isinstance(value, (str, bool)) for value in known.values()):
        raise ctx.refuse(name, "an option that is not known")
    along = axis_in(ctx, axis, x.ndim, name)
    return _call(ctx, f"numpy:{name}", x, name == "sort", axis=along, **known)


@program(LIBRARY, "sort")
def sort(
    ctx: Context, a: Operand, axis: Operand = -1, kind: Operand = None, *, stable: Operand = None
) -> Operand:
    """A sorted copy."""
    return _sorting(ctx, "sort", a, axis, kind=kind, stable=stable)


@program(LIBRARY, "argsort", "numpy:ndarray.argsort")
def argsort(
    ctx: Context, a: Operand, axis: Operand = -1, kind: Operand = None, *, stable: Operand = None
) -> Operand:
    """The indices that would sort an array."""
    return _sorting(ctx, "argsort", a, axis, kind=kind, stable=stable)


def _partitioning(ctx: Context, name: str, a: Operand, kth: Operand, axis: Operand,
                  kind: Operand, order: Operand) -> ArrayRef:
    """The order beside one place is NumPy's to choose."""
    x = as_array(ctx, a)
    if axis is None:
        x, axis = views.ravel(ctx, x), -1
    one = arguments.is_number(kth) and arguments.operand_dtype(kth).kind == "i"
    if not one or kind != "introselect" or order is not None:
        raise ctx.refuse(name, "around several places, or options")
    along = axis_in(ctx, axis, x.ndim, name)
    return _call(ctx, f"numpy:{name}", x, name == "partition", kth, axis=along)


@program(LIBRARY, "partition", guarantee="machine")
def partition(ctx: Context, a: Operand, kth: Operand, axis: Operand = -1,
              kind: Operand = "introselect", order: Operand = None) -> ArrayRef:
    """A copy in which smaller elements stand before one place, larger ones behind it."""
    return _partitioning(ctx, "partition", a, kth, axis, kind, order)


@program(LIBRARY, "argpartition", "numpy:ndarray.argpartition", guarantee="machine")
def argpartition(ctx: Context, a: Operand, kth: Operand, axis: Operand = -1,
                 kind: Operand = "introselect", order: Operand = None) -> ArrayRef:
    """The indices that would partition an array."""
    return _partitioning(ctx, "argpartition", a, kth, axis, kind, order)
