"""Complex numbers: programs over their parts, and the operators that take them apart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from npcompile.core.releases import numpy_before
from npcompile.graph import layout
from npcompile.graph.expression import Expr, complex_, const, fma, imag, real, rint, where
from npcompile.graph.ir import Geometry, Node
from npcompile.graph.types import Array, Scalar, c_strides, contiguous
from npcompile.ops.arguments import static
from npcompile.ops.elementwise import (
    COMPLEX,
    NUMBERS,
    as_node,
    composed,
    lift,
    loops,
    part,
    py_scalar,
    run,
    ufunc,
    wrap,
)
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.record import OPERATORS, SILENT

# ------------------------------------------------------------------ programs


def parts(z: Expr) -> tuple[Expr, Expr]:
    """Real and imaginary part."""
    return real(z), imag(z)


def invalid(condition: Expr, value: Expr) -> Expr:
    """A real value, NaN where a condition holds, which raises the invalid flag there."""
    wild = where(condition, const(float("inf"), value), 0.0)
    return where(condition, wild - wild, value)


def cadd(x: Expr, y: Expr) -> Expr:
    return complex_(real(x) + real(y), imag(x) + imag(y))


def csub(x: Expr, y: Expr) -> Expr:
    return complex_(real(x) - real(y), imag(x) - imag(y))


def cneg(z: Expr) -> Expr:
    return complex_(-real(z), -imag(z))


def cmul(x: Expr, y: Expr) -> Expr:
    """The product as NumPy's array loops have it on machines with fused multiply-add."""
    (a, b), (c, d) = parts(x), parts(y)
    return complex_(fma(a, c, -(b * d)), fma(a, d, b * c))


def cmul_plain(x: Expr, y: Expr) -> Expr:
    """The product as NumPy's and Python's scalars have it."""
    (a, b), (c, d) = parts(x), parts(y)
    return complex_(a * c - b * d, a * d + b * c)


def csquare(x: Expr) -> Expr:
    """The square as NumPy has it, which takes another loop for a single number from 2.4 on."""
    several = numpy_before(2, 4) or (isinstance(x.node.type, Array) and x.node.type.shape)
    return cmul(x, x) if several else cmul_plain(x, x)


def cdiv(x: Expr, y: Expr) -> Expr:
    """Smith's method as NumPy has it (R. L. Smith, Algorithm 116, CACM 5, 1962)."""
    (a, b), (c, d) = parts(x), parts(y)
    c = invalid((c != c) | (d != d), c)  # NumPy's loop compares them
    wide = abs(c) >= abs(d)
    big, small = where(wide, c, d), where(wide, d, c)
    zero = (abs(c) == 0) & (abs(d) == 0)
    ratio = small / where(zero, 1.0, big)
    scale = 1.0 / (where(zero, 1.0, big) + small * ratio)
    nothing = where(zero, 0.0, const(1.0, c))  # other lanes must not divide by zero
    at_0, at_0_im = a / nothing, b / nothing
    a, b = where(zero, 0.0, a), where(zero, 0.0, b)
    first, second = where(wide, a, b), where(wide, b, a)
    re = (first + second * ratio) * scale
    cross = where(wide, b - a * ratio, b * ratio - a)
    im = cross * scale
    return complex_(where(zero, at_0, re), where(zero, at_0_im, im))


def cdiv_python(x: Expr, y: Expr) -> Expr:
    """Smith's method as CPython has it; the divisor isn't zero."""
    (a, b), (c, d) = parts(x), parts(y)
    wide = abs(c) >= abs(d)
    ratio = where(wide, d, c) / where(wide, c, d)
    denominator = where(wide, c + d * ratio, c * ratio + d)
    re = where(wide, a + b * ratio, a * ratio + b) / denominator
    im = where(wide, b - a * ratio, b * ratio - a) / denominator
    nan = (c != c) | (d != d)
    return complex_(where(nan, float("nan"), re), where(nan, float("nan"), im))


def creciprocal(z: Expr) -> Expr:
    c, d = parts(z)
    c = invalid((c != c) | (d != d), c)
    wide = abs(d) <= abs(c)
    big, small = where(wide, c, d), where(wide, d, c)
    ratio = small / big
    denominator = big + small * ratio
    one, tail = 1.0 / denominator, ratio / denominator
    return complex_(where(wide, one, tail), -where(wide, tail, one))


def cless(x: Expr, y: Expr) -> Expr:
    """Lexicographic order."""
    (a, b), (c, d) = parts(x), parts(y)
    return ((a < c) & (b == b) & (d == d)) | ((a == c) & (b < d))


def cless_equal(x: Expr, y: Expr) -> Expr:
    (a, b), (c, d) = parts(x), parts(y)
    return ((a < c) & (b == b) & (d == d)) | ((a == c) & (b <= d))


def ordered(less: Callable[[Expr, Expr], Expr]) -> Callable[[Expr, Expr], Expr]:
    """A comparison as NumPy's loops have it: NaN among what they look at is invalid."""

    def run(x: Expr, y: Expr) -> Expr:
        (a, b), (c, d) = parts(x), parts(y)
        nan = (a != a) | (c != c) | ((a == c) & ((b != b) | (d != d)))
        return less(x, y) & (invalid(nan, const(0.0, a)) == 0.0)

    return run


def cequal(x: Expr, y: Expr) -> Expr:
    return (real(x) == real(y)) & (imag(x) == imag(y))


def cnonzero(z: Expr) -> Expr:
    return (real(z) != 0) | (imag(z) != 0)


def cnan(z: Expr) -> Expr:
    a, b = parts(z)
    return (a != a) | (b != b)


def crint(z: Expr) -> Expr:
    return complex_(rint(real(z)), rint(imag(z)))


def ctimes(z: Expr, factor: Expr) -> Expr:
    """Both parts times a real number."""
    return complex_(real(z) * factor, imag(z) * factor)


# ------------------------------------------------------------------ records


def is_complex(x: Expr) -> bool:
    return x.dtype.kind == "c"


part("scalar_multiply", loops("xx->x", COMPLEX), "operator:mul", cmul_plain,
     doc="The product of complex scalars: not fused.")


def python_quotient(a: complex, b: complex) -> np.complex128:
    """The reference of ``python_divide``."""
    return np.complex128(complex(a) / complex(b))


part("python_divide", loops("xx->x", "D"), "npcompile.ops.complexes:python_quotient", cdiv_python,
     doc="The quotient of Python's complex numbers.")


def _conjugate(z: Expr) -> Expr:
    return complex_(real(z), -imag(z)) if is_complex(z) else z


ufunc("conjugate", loops("x->x", NUMBERS), _conjugate,
      errors=SILENT, doc="The complex conjugate.")


@composed("conjugate.method", "numpy:ndarray.conj", "numpy:ndarray.conjugate", of_numbers=True,
          reference="numpy:conjugate")
def conjugate_method(ctx: Context, x: Operand, *args: Operand) -> Operand:
    """``x.conj()``: a real array is its own conjugate."""
    if args or as_node(ctx, x, "conj").dtype.kind == "b":
        raise ctx.refuse("conj", "out=, or of bool")
    if isinstance(x, ArrayRef) and x.dtype.kind != "c":
        return x
    return run(ctx, "conjugate", x)


@composed("python.conjugate", "builtins:complex.conjugate", "builtins:float.conjugate")
def conjugate_number(ctx: Context, x: Operand, /) -> Operand:
    """``z.conjugate()`` of a number of Python's own."""
    node = as_node(ctx, x, "conjugate")
    if node.dtype.kind != "c":
        return py_scalar(ctx, node, Scalar(node.dtype, "py"))
    return ctx.builder.map("conjugate", (node,), node.dtype, origin="py")


def half_window(ref: ArrayRef, which: str) -> ArrayRef:
    """The view of the real or imaginary parts of a complex array."""
    geometry = Geometry(ref.geometry.offset, ref.geometry.shape, ref.geometry.strides, which)
    return ArrayRef(ref.storage, geometry, np.dtype(ref.dtype.char.lower()), ref.writeable)


def _filled(ctx: Context, like: ArrayRef, value: np.generic) -> Node:
    """A fresh array in C order, or in Fortran order if ``like`` is."""
    b = ctx.builder
    type_ = contiguous(value.dtype, like.shape)
    if layout.is_fortran(ctx.facts, like.type.shape, like.type.strides):
        strides = tuple(reversed(c_strides(tuple(reversed(like.shape)))))
        type_ = Array(value.dtype, like.shape, strides)
    return b.emit("full", (b.const(value),), None, type_)


def _part(ctx: Context, x: Operand, which: str) -> Operand:
    if isinstance(x, ArrayRef):
        if x.dtype.kind == "c":
            return half_window(x, which)
        if which == "real":
            return x
        made = ctx.new(_filled(ctx, x, x.dtype.type(0)))
        return ArrayRef(made.storage, made.geometry, made.dtype, False)
    if not (isinstance(x, Node) and isinstance(x.type, Scalar)):
        raise ctx.refuse(which, "an operand that is no array and no number")
    if x.dtype.kind == "c":
        node = ctx.builder.emit(which, (x,), None, Scalar(np.dtype(x.dtype.char.lower()),
                                                          x.type.origin))
        return node
    if x.dtype.kind == "b" and x.type.origin == "py":
        raise ctx.refuse(which, "a part of a Python bool is left to Python")
    if which == "real":
        return x
    return ctx.builder.const(x.type.python_type(0) if x.type.origin == "py" else x.dtype.type(0))


@composed("real_part", "numpy:real", reference="numpy:real")
def real_part(ctx: Context, val: Operand) -> Operand:
    """The real part: a view of a complex array, a real array itself."""
    return _part(ctx, val, "real")


@composed("imag_part", "numpy:imag", reference="numpy:imag")
def imag_part(ctx: Context, val: Operand) -> Operand:
    """The imaginary part: a view of a complex array, read-only zeros of a real one."""
    return _part(ctx, val, "imag")


def _imaginary_is(ctx: Context, x: Operand, op: str) -> Operand:
    if not isinstance(x, ArrayRef):
        raise ctx.refuse("isreal, iscomplex", "of a number: its type is Python's to say")
    b = ctx.builder
    if x.dtype.kind == "c":
        node = as_node(ctx, half_window(x, "imag"), op)
        return wrap(ctx, b.map(op, (node, b.const(node.dtype.type(0))), np.bool_))
    answer = np.bool_(op == "eq")
    if x.ndim == 0:
        return b.const(answer)
    if op == "eq":
        return ctx.new(_filled(ctx, x, answer))
    return ctx.new(b.full(x.shape, b.const(answer)))


@composed("isreal", "numpy:isreal")
def isreal(ctx: Context, x: Operand) -> Operand:
    """Whether the imaginary part is 0."""
    return _imaginary_is(ctx, x, "eq")


@composed("iscomplex", "numpy:iscomplex")
def iscomplex(ctx: Context, x: Operand) -> Operand:
    """Whether the imaginary part is not 0."""
    return _imaginary_is(ctx, x, "ne")


@composed("angle", "numpy:angle")
def angle(ctx: Context, z: Operand, deg: Operand = False) -> Operand:
    """The angle of complex numbers, in radians or degrees."""
    deg = static(deg)
    if not isinstance(deg, bool) or "arctan2" not in OPERATORS:
        raise ctx.refuse("angle", "deg= must be known while tracing, and arctan2 be compiled")
    source = lift(ctx, z, "angle")
    if source.dtype.kind == "c":
        made = run(ctx, "arctan2", _part(ctx, z, "imag"), _part(ctx, z, "real"))
    else:
        made = run(ctx, "arctan2", 0, z)
    return run(ctx, "multiply", made, 180 / np.pi) if deg else made
