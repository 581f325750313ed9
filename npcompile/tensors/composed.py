"""Products of matrices, and elementwise functions with rules of their own."""

from __future__ import annotations

import math

import numpy as np

from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL
from npcompile.ops.arguments import static
from npcompile.ops.elementwise import run
from npcompile.ops.operands import ArrayRef, Context, Operand, Tensor
from npcompile.tensors import elementwise, selections
from npcompile.tensors.elementwise import Elementwise, call, cast
from npcompile.tensors.promotion import result_dtype
from npcompile.tensors.tensor_functions import named, result, tensor

# ------------------------------------------------------------------ products of matrices


def _product(names: str, ranks: tuple[tuple[int, int], ...]) -> None:
    first = names.split()[0]

    @named(*names.split())
    def multiply(ctx: Context, input: Operand, other: Operand) -> Tensor:
        """A product of matrices or vectors."""
        a, b = tensor(ctx, input, first), tensor(ctx, other, first)
        if a.dtype != b.dtype or a.dtype.kind not in "fc":
            raise ctx.refuse(first, f"of {a.dtype} and {b.dtype}")
        if ranks and (a.ndim, b.ndim) not in ranks:
            raise ctx.refuse(first, "of other numbers of axes: Python raises")
        return result(ctx, run(ctx, "outer" if first == "outer" else "matmul", a, b))


_product("matmul linalg.matmul __matmul__", ())
_product("mm", ((2, 2),))
_product("mv", ((2, 1),))
_product("dot", ((1, 1),))
_product("bmm", ((3, 3),))
_product("outer", ((1, 1),))


# ------------------------------------------------------------------ with rules of their own


@named("clamp", "clip")
def clamp(ctx: Context, input: Operand, min: Operand = None, max: Operand = None) -> Tensor:
    """Numbers brought between bounds."""
    ref = tensor(ctx, input, "clamp")
    bounds = [("maximum", min), ("minimum", max)]
    given = [x for _, x in bounds if x is not None]
    if not given or ref.dtype == BOOL:
        raise ctx.refuse("clamp", "without bounds, or of bool: Python raises")
    dtype = result_dtype(ctx, (input, *given), "clamp")
    if dtype == BOOL:
        raise ctx.refuse("clamp", "of bool")
    found = input
    for record, bound in bounds:
        if bound is not None:
            found = call(ctx, record, (found, bound), dtype)
    assert isinstance(found, Tensor)
    return found


@named("positive")
def positive(ctx: Context, input: Operand) -> Tensor:
    """The tensor itself."""
    if tensor(ctx, input, "positive").dtype == BOOL:
        raise ctx.refuse("positive", "of bool: Python raises")
    assert isinstance(input, Tensor)
    return input


@named("relu", "nn.functional.relu")
def relu(ctx: Context, input: Operand) -> Tensor:
    """What is positive; else 0."""
    ref = tensor(ctx, input, "relu")
    if ref.dtype == BOOL:
        raise ctx.refuse("relu", "of bool: Python raises")
    return call(ctx, "maximum", (input, 0), ref.dtype)


@named("sign", "sgn")
def sign(ctx: Context, input: Operand) -> Tensor:
    """-1, 0 or 1; 0 of NaN."""
    ref = tensor(ctx, input, "sign")
    if ref.dtype.kind not in "if":
        raise ctx.refuse("sign", f"of {ref.dtype}")
    positive = call(ctx, "greater", (input, 0), ref.dtype, True)
    negative = call(ctx, "less", (input, 0), ref.dtype, True)
    return call(ctx, "subtract", (positive, negative), ref.dtype)


@named("rsqrt")
def rsqrt(ctx: Context, input: Operand) -> Tensor:
    """``1 / sqrt(input)``"""
    found = _SQRT.of(ctx, input)
    return _RECIPROCAL.of(ctx, found)


@named("square")
def square(ctx: Context, input: Operand) -> Tensor:
    """``input * input``"""
    if tensor(ctx, input, "square").dtype == BOOL:
        raise ctx.refuse("square", "of bool")
    return _MULTIPLY.of(ctx, input, input)


_SQRT = Elementwise("sqrt", "float", ("input",))
_RECIPROCAL = Elementwise("reciprocal", "float", ("input",))
_MULTIPLY = Elementwise("multiply", "same", ("input", "other"))


@named("pow")
def power(ctx: Context, input: Operand, exponent: Operand) -> Tensor:
    """``input ** exponent``: some exponents have their own functions."""
    dtype = result_dtype(ctx, (input, exponent), "pow")
    if isinstance(exponent, Tensor):
        if dtype.kind != "f":
            raise ctx.refuse("pow", "of integers")
        made = call(ctx, "power", (input, exponent), dtype)
        return made if isinstance(input, Tensor) or not made.memory.ndim else result(
            ctx, made.memory
        )
    known = static(exponent)
    if isinstance(known, Node) or dtype == BOOL:
        raise ctx.refuse("pow", "an exponent that only the run knows")
    base = Tensor(_cast(ctx, input, dtype))
    if dtype.kind in "iu" and not 1 <= known <= 3:
        raise ctx.refuse("pow", "of an integer to another power than 1, 2 or 3")
    if known in (2, 3, -2):
        twice = call(ctx, "multiply", (base, base), dtype)
        if known == 2:
            return twice
        if known == 3:
            return call(ctx, "multiply", (twice, base), dtype)
        return call(ctx, "reciprocal", (twice,), dtype)
    if known == 1:
        return call(ctx, "multiply", (base, 1), dtype)
    if known in (0.5, -0.5, -1):
        root = base if known == -1 else call(ctx, "sqrt", (base,), dtype)
        return root if known == 0.5 else call(ctx, "reciprocal", (root,), dtype)
    return call(ctx, "power", (base, exponent), dtype)


@named("special.multigammaln", "mvlgamma")
def multigammaln(ctx: Context, input: Operand, p: Operand) -> Tensor:
    """The logarithm of the multivariate gamma function."""
    order, ref = static(p), tensor(ctx, input, "multigammaln")
    if type(order) is not int or not 1 <= order <= 20 or ref.dtype.kind != "f":
        raise ctx.refuse("multigammaln", "of an order that is not small and known, or of integers")
    total = call(ctx, "gammaln", (input,), ref.dtype)
    for k in range(1, order):
        below = call(ctx, "subtract", (input, 0.5 * k), ref.dtype)
        total = call(ctx, "add", (total, call(ctx, "gammaln", (below,), ref.dtype)), ref.dtype)
    constant = 0.25 * order * (order - 1) * math.log(math.pi)
    return result(ctx, call(ctx, "add", (total, constant), ref.dtype).memory)


def _cast(ctx: Context, x: Operand, dtype: np.dtype) -> ArrayRef:
    """A tensor of a dtype, without axes too."""
    found = cast(ctx, x, dtype)
    return found if isinstance(found, ArrayRef) else elementwise.point(ctx, found).memory


def _quotient(ctx: Context, input: Operand, other: Operand, what: str) -> np.dtype:
    """The dtype of a division that rounds down; integers by positive numbers only."""
    dtype = result_dtype(ctx, (input, other), what)
    if dtype == BOOL:
        raise ctx.refuse(what, "of bool")
    if dtype.kind in "iu":
        known = static(other)
        if not isinstance(known, int) or known <= 0:
            raise ctx.refuse(what, "by an integer that may be zero or negative")
    return dtype


@named("floor_divide", "Tensor.__floordiv__")
def floor_divide(ctx: Context, input: Operand, other: Operand) -> Tensor:
    """The quotient, rounded down."""
    dtype = _quotient(ctx, input, other, "floor_divide")
    return call(ctx, "floor_divide", (input, other), dtype)


@named("remainder")
def remainder(ctx: Context, input: Operand, other: Operand) -> Tensor:
    """The remainder of that quotient; 0 has the sign of the dividend."""
    dtype = _quotient(ctx, input, other, "remainder")
    if dtype.kind in "iu":
        return call(ctx, "remainder", (input, other), dtype)
    rest = call(ctx, "fmod", (input, other), dtype)
    zero = call(ctx, "equal", (rest, 0), dtype, True)
    return selections.choose(ctx, zero, rest, call(ctx, "remainder", (input, other), dtype))
