"""Torch's dtype promotion.

Operands are of three kinds: tensors with axes, tensors without, numbers of Python's.  A kind that
comes later decides only if its category (bool, integer, float, complex) is a higher one.  An
integer and a float give the float's dtype, whatever their widths.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npcompile.graph.ir import Node
from npcompile.ops.arguments import is_number, is_weak, operand_dtype
from npcompile.ops.operands import Context, Operand, Tensor

DEFAULT = np.dtype(np.float32)
DEFAULT_COMPLEX = np.dtype(np.complex64)
_CATEGORY = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def promoted(a: np.dtype | None, b: np.dtype | None) -> np.dtype | None:
    """The dtype of two operands of one kind."""
    if a is None or b is None:
        return b if a is None else a
    if _CATEGORY[a.kind] != _CATEGORY[b.kind] and "c" not in (a.kind, b.kind):
        return a if _CATEGORY[a.kind] > _CATEGORY[b.kind] else b
    if "c" in (a.kind, b.kind) and not {a.kind, b.kind} <= set("fc"):
        return a if a.kind == "c" else b
    return np.promote_types(a, b)


def _combined(higher: np.dtype | None, lower: np.dtype | None) -> np.dtype | None:
    """What operands of a kind make of the dtype of those that decide after them."""
    if higher is None or lower is None:
        return lower if higher is None else higher
    if higher.kind == "f" and lower.kind == "c":
        return np.dtype(np.complex64 if higher.itemsize < 8 else np.complex128)
    if higher.kind in "fc":
        return higher
    if higher.kind == "b" or lower.kind in "fc":
        return promoted(higher, lower)
    return higher


def result_dtype(ctx: Context, operands: Sequence[Operand], what: str) -> np.dtype:
    """``torch.result_type`` of tensors and numbers."""
    wide: np.dtype | None = None
    point: np.dtype | None = None
    number: np.dtype | None = None
    for x in operands:
        if isinstance(x, Tensor):
            if x.memory.ndim:
                wide = promoted(wide, x.memory.dtype)
            else:
                point = promoted(point, x.memory.dtype)
        else:
            number = promoted(number, weak_dtype(ctx, x, what))
    found = _combined(wide, _combined(point, number))
    assert found is not None
    if found.kind == "c" and any(
            isinstance(x, Tensor) and x.memory.dtype == np.float16 for x in operands):
        raise ctx.refuse(what, "of float16 and complex numbers")
    return found


def weak_dtype(ctx: Context, x: Operand, what: str) -> np.dtype:
    """What a number of Python's counts as."""
    if not is_number(x) or not is_weak(x):
        name = x.dtype.name if isinstance(x, Node) else type(x).__name__
        raise ctx.refuse(what, f"of a tensor and an operand of type {name}")
    dtype = operand_dtype(x)
    return {"f": DEFAULT, "c": DEFAULT_COMPLEX}.get(dtype.kind, dtype)
