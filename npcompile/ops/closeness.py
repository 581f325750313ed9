"""Equality up to tolerances, composed as NumPy composes it (``_core/numeric.py``)."""

from __future__ import annotations

import numpy as np

from npcompile.graph.ir import Node
from npcompile.graph.types import PY_BOOL, PY_FLOAT, Scalar
from npcompile.ops import arguments, arithmetic, builtin, comparison, reductions
from npcompile.ops.arguments import as_array, program
from npcompile.ops.elementwise import py_scalar, run
from npcompile.ops.fp_errors import UNTOLD
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.python import binary, compare

CLOSENESS = arguments.program_kind("closeness")
#: the modules whose records are called by name
_NEEDED = (arithmetic, builtin, comparison, reductions)


def _tolerance(ctx: Context, x: Operand) -> Operand:
    """A finite number: of others NumPy warns."""
    if not arguments.is_number(x) or arguments.operand_dtype(x).kind not in "biuf":
        raise ctx.refuse("isclose", "tolerances that are no real numbers")
    finite = arguments.contents(ctx, run(ctx, "isfinite", x))
    ctx.builder.check(finite, "isclose with a tolerance that is not finite: NumPy warns")
    return x


def _operand(ctx: Context, x: Operand) -> Operand:
    """A number, or an array."""
    found = x if arguments.is_number(x) else as_array(ctx, x)
    dtype = arguments.operand_dtype(found)
    if dtype.kind not in "biuf":
        raise ctx.refuse("isclose", f"of {dtype}")
    return found


def _inexact(ctx: Context, y: Operand) -> Operand:
    """An operand as floats, as wide as itself."""
    dtype = np.result_type(arguments.operand_dtype(y), 1.0)
    if isinstance(y, ArrayRef):
        return as_array(ctx, y, dtype)
    weak = arguments.is_weak(y)
    return py_scalar(ctx, arguments.number(ctx, y), PY_FLOAT if weak else Scalar(dtype, "np"))


@program(CLOSENESS, "isclose")
def isclose(ctx: Context, a: Operand, b: Operand, rtol: Operand = 1e-5, atol: Operand = 1e-8,
            equal_nan: Operand = False) -> Operand:
    """Whether numbers differ by at most ``atol`` and ``rtol`` times the second."""
    x, y = _operand(ctx, a), _inexact(ctx, _operand(ctx, b))
    share, least = _tolerance(ctx, rtol), _tolerance(ctx, atol)
    with ctx.builder.hush("i" + UNTOLD):
        gap = run(ctx, "python.abs", binary(ctx, "-", x, y))
        most = binary(ctx, "+", least, binary(ctx, "*", share, run(ctx, "python.abs", y)))
        near = binary(ctx, "&", run(ctx, "less_equal", gap, most), run(ctx, "isfinite", y))
        found = binary(ctx, "|", near, compare(ctx, "==", x, y))
        if arguments.truth(ctx, equal_nan, "isclose"):
            both = binary(ctx, "&", run(ctx, "isnan", x), run(ctx, "isnan", y))
            found = binary(ctx, "|", found, both)
    return found


@program(CLOSENESS, "allclose")
def allclose(ctx: Context, a: Operand, b: Operand, rtol: Operand = 1e-5, atol: Operand = 1e-8,
             equal_nan: Operand = False) -> Operand:
    """Whether all numbers are close, as ``isclose`` says."""
    found = run(ctx, "all", isclose(ctx, a, b, rtol, atol, equal_nan))
    assert isinstance(found, Node)
    return py_scalar(ctx, found, PY_BOOL)
