"""Arrays with elements chosen by conditions, put in or left out; indices of triangles.

Functions in Python are traced; ``raise`` leaves a call to NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.graph import layout
from npcompile.graph.types import BOOL
from npcompile.ops import arguments, elementwise
from npcompile.ops.arguments import FOLLOWED, as_array, followed, program
from npcompile.ops.creation import filled
from npcompile.ops.operands import ArrayRef, Context, Operand

EDITING = arguments.program_kind("choice")


@program(EDITING, "select")
def select(ctx: Context, condlist: Operand, choicelist: Operand, default: Operand = 0) -> ArrayRef:
    """For each element that of the first choice whose condition holds."""
    lists = all(isinstance(x, (list, tuple)) for x in (condlist, choicelist))
    if not lists or len(condlist) != len(choicelist) or not condlist:
        raise ctx.refuse("select", "of what are no two lists of one length")
    given = [*choicelist, default]
    samples = [elementwise.lift(ctx, x, "select").sample for x in given]
    dtype = np.result_type(*samples)
    weak = any(arguments.is_weak(x) for x in given)
    if weak and dtype.kind in "bu":
        raise ctx.refuse("select", f"numbers of Python's among {dtype}")
    masks = [as_array(ctx, x) for x in condlist]
    if any(mask.dtype != BOOL for mask in masks):
        raise ctx.refuse("select", "conditions that are no truth values: Python raises")
    choices = [as_array(ctx, x) for x in given]
    shape = layout.broadcast_shapes(ctx.facts, *[ref.shape for ref in (*masks, *choices)])
    if not shape:
        raise ctx.refuse("select", "of numbers only")
    *nodes, found = [ctx.builder.cast(ctx.read(ref), dtype) for ref in choices]
    for mask, node in reversed(list(zip(masks, nodes))):
        found = ctx.builder.map("where", (ctx.read(mask), node, found), dtype)
    out = filled(ctx, shape, None, dtype)
    ctx.write(out, found)
    return out


# ------------------------------------------------------------------ elements put in or left out


@followed
def _rows(arr: Any, axis: Any) -> Any:
    """The array with the axis that is meant in front."""
    arr = np.asarray(arr)
    if axis is None:
        return arr.ravel()
    if arr.ndim == 0 or not -arr.ndim <= axis < arr.ndim or arr.strides[0] < arr.strides[-1]:
        raise NotImplementedError
    return np.moveaxis(arr, axis, 0)


@followed
def _place(obj: Any, most: Any, n: Any) -> Any:
    """An index from the front, below ``most``."""
    if not isinstance(obj, (int, np.integer)) or isinstance(obj, bool) or not -n <= obj < most:
        raise NotImplementedError
    return obj + n if obj < 0 else obj


@followed
def _room(arr: Any, rows: Any, axis: Any, n: Any) -> Any:
    """An empty array with another length along the axis, and the same with that in front."""
    if axis is None:
        new = np.empty(n, rows.dtype)
        return new, new
    axis %= arr.ndim
    new = np.empty((*arr.shape[:axis], n, *arr.shape[axis + 1 :]), rows.dtype)
    return new, np.moveaxis(new, axis, 0)


@program(FOLLOWED, "insert")
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """A copy with elements put in before an index."""
    arr = np.asarray(arr)
    rows = _rows(arr, axis)
    n = rows.shape[0]
    at = _place(obj, n + 1, n)
    values = np.asarray(values)
    if values.ndim > rows.ndim or not np.can_cast(values.dtype, rows.dtype, "same_kind"):
        raise NotImplementedError
    if values.ndim > 0 and rows.ndim > 1:
        raise NotImplementedError
    count = values.size if values.ndim == 1 else 1
    whole, new = _room(arr, rows, axis, n + count)
    new[:at] = rows[:at]
    new[at : at + count] = values
    new[at + count :] = rows[at:]
    return whole


@program(FOLLOWED, "delete")
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """A copy without elements."""
    arr = np.asarray(arr)
    rows = _rows(arr, axis)
    n = rows.shape[0]
    if not isinstance(obj, (int, np.integer)):
        obj = np.asarray(obj)
        if obj.ndim != 1 or obj.size < 2 or obj.dtype.kind not in "ib" or rows.ndim != 1:
            raise NotImplementedError
        if obj.dtype == np.bool_:
            if obj.size != n:
                raise ValueError
            return rows[~obj]
        keep = np.ones(n, dtype=np.bool_)
        keep[obj] = False
        return rows[keep]
    at = _place(obj, n, n)
    whole, new = _room(arr, rows, axis, n - 1)
    new[:at] = rows[:at]
    new[at:] = rows[at + 1 :]
    return whole


@program(FOLLOWED, "ediff1d")
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of neighbours, with numbers before and behind."""
    ary = np.asarray(ary).ravel()
    if ary.dtype == np.bool_:
        raise TypeError
    if to_end is None and to_begin is None:
        return ary[1:] - ary[:-1]
    parts = []
    for part in (to_begin, to_end):
        part = np.empty(0, ary.dtype) if part is None else np.asarray(part).ravel()
        if not np.can_cast(part.dtype, ary.dtype, "same_kind"):
            raise TypeError
        parts.append(part)
    count = max(ary.size - 1, 0)
    first, last = parts
    out = np.empty(count + first.size + last.size, ary.dtype)
    out[: first.size] = first
    out[first.size + count :] = last
    out[first.size : first.size + count] = ary[1:] - ary[:-1]
    return out


# ------------------------------------------------------------------ triangles


@followed
def _where(mask: Any) -> Any:
    """The indices of a matrix where a mask holds, each as an array of its own."""
    rows, columns = mask.shape
    return (np.broadcast_to(np.arange(rows)[:, None], mask.shape)[mask],
            np.broadcast_to(np.arange(columns)[None, :], mask.shape)[mask])


@program(FOLLOWED, "triu_indices")
def triu_indices(n: Any, k: Any = 0, m: Any = None) -> Any:
    """The indices at and above a diagonal."""
    if not isinstance(n, int) or not isinstance(k, int):
        raise NotImplementedError
    return _where(~np.tri(n, m, k=k - 1, dtype=np.bool_))


@program(FOLLOWED, "tril_indices")
def tril_indices(n: Any, k: Any = 0, m: Any = None) -> Any:
    """The indices at and below a diagonal."""
    if not isinstance(n, int) or not isinstance(k, int):
        raise NotImplementedError
    return _where(np.tri(n, m, k=k, dtype=np.bool_))


@program(FOLLOWED, "triu_indices_from")
def triu_indices_from(arr: Any, k: Any = 0) -> Any:
    """The indices at and above a diagonal of a matrix."""
    if arr.ndim != 2:
        raise ValueError
    return np.triu_indices(arr.shape[-2], k=k, m=arr.shape[-1])


@program(FOLLOWED, "tril_indices_from")
def tril_indices_from(arr: Any, k: Any = 0) -> Any:
    """The indices at and below a diagonal of a matrix."""
    if arr.ndim != 2:
        raise ValueError
    return np.tril_indices(arr.shape[-2], k=k, m=arr.shape[-1])
