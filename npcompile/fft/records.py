"""Records of the functions of `numpy.fft`: transforms along one axis, and what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npcompile.core.sizes import Size, floordiv, is_known, mod
from npcompile.graph import layout
from npcompile.graph.ir import Extern
from npcompile.graph.transform_spec import transform_spec
from npcompile.graph.types import BOOL, Array, Scalar, Tuple, c_strides
from npcompile.ops import arguments, views
from npcompile.ops.arguments import as_array, axis_in, program, static
from npcompile.ops.complexes import conjugate_method
from npcompile.ops.creation import filled
from npcompile.ops.joining import joined
from npcompile.ops.operands import ArrayRef, Context, Operand

TRANSFORM = arguments.program_kind("transform")
_NORMS = {None: "backward", "backward": "backward", "ortho": "ortho", "forward": "forward"}
OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}
_RESULTS = {"c2c": "FD", "ic2c": "FD", "r2c": "FD", "c2r": "fd"}


def norm_of(ctx: Context, norm: Operand) -> str:
    found = static(norm)
    if not (found is None or isinstance(found, str)) or found not in _NORMS:
        raise ctx.refuse("norm", "which is none that NumPy knows: Python raises")
    return _NORMS[found]


def operand(ctx: Context, kind: str, a: Operand, rule: str = "numpy") -> ArrayRef:
    """An array of the dtype that the transform reads."""
    x = as_array(ctx, a)
    wider = "gG" if rule == "scipy" else "egG"  # SciPy computes with float16 in float32
    if x.dtype.kind not in "biufc" or x.dtype.char in wider or x.ndim == 0:
        raise ctx.refuse("fft", f"of {x.dtype}")
    if kind == "r2c" and x.dtype.kind == "c":
        raise ctx.refuse("rfft", "of complex numbers: Python raises")
    char = "F" if x.dtype.char in "efF" else "D"
    return as_array(ctx, x, np.dtype(char.lower() if kind == "r2c" else char))


def of_length(ctx: Context, x: ArrayRef, axis: int, n: Size) -> ArrayRef:
    """The array cut, or padded with zeros, to so many points."""
    given = x.shape[axis]
    if ctx.facts.equal(given, n):
        return x
    shape = list(x.shape)
    if ctx.facts.at_most(n, given):
        shape[axis] = n
        return arguments.view(x, shape, x.strides)
    if not ctx.facts.at_most(given, n):
        raise ctx.refuse("fft", "of a number of points that may be more or less than there are")
    shape[axis] = n - given
    return joined(ctx, "fft", [x, filled(ctx, tuple(shape), 0, x.dtype)], axis)


def is_even(ctx: Context, n: Size) -> bool:
    """Whether a length is even, in every call of the version."""
    if not is_known(n):
        raise ctx.refuse("irfft", "a number of points that may be even or odd")
    return ctx.facts.ask("==", mod(n, 2), 0)


def transform(ctx: Context, name: str, kind: str, a: Operand, n: Operand, axis: Operand,
              norm: Operand, rule: str = "numpy") -> ArrayRef:
    """One transform along an axis, by the rule of a library."""
    given = as_array(ctx, a)
    x = operand(ctx, kind, given, rule)
    along, scaled = axis_in(ctx, axis, x.ndim, name), norm_of(ctx, norm)
    points: Size = arguments.length(ctx, n, name) if n is not None else (
        2 * (x.shape[along] - 1) if kind == "c2r" else x.shape[along])
    arguments.require(ctx, "<", 0, points, f"{name} of no points")
    last = "even"
    if kind == "c2r":
        if n is not None:
            last = "even" if is_even(ctx, points) else "odd"
        x = of_length(ctx, x, along, floordiv(points, 2) + 1 if n is not None else x.shape[along])
    else:
        x = of_length(ctx, x, along, points)
    shape = list(x.shape)
    shape[along] = floordiv(points, 2) + 1 if kind == "r2c" else points
    strides = c_strides(tuple(shape))
    if rule == "numpy":
        strides = layout.like_strides(ctx.facts, given.shape, given.steps, tuple(shape))
    if strides == c_strides(tuple(shape)):
        return _in_c_order(ctx, name, f"{kind} {along} {scaled} {last} {rule}", x, shape)
    order = layout.stride_order(ctx.facts, strides)  # results lie as operands do
    spec = f"{kind} {order.index(along)} {scaled} {last} {rule}"
    made = _in_c_order(ctx, name, spec, views.permuted(x, order), [shape[k] for k in order])
    back = views.permuted(made, [order.index(k) for k in range(x.ndim)])
    return _with_strides(ctx, back, strides)


def _with_strides(ctx: Context, ref: ArrayRef, strides: tuple[Size, ...]) -> ArrayRef:
    """A fresh array of these strides."""
    kind = Array(ref.dtype, ref.shape, strides)
    return ctx.new(ctx.builder.emit("copy", (ctx.read(ref),), None, kind))


def _in_c_order(ctx: Context, name: str, spec: str, x: ArrayRef, shape: list[Size]) -> ArrayRef:
    """A transform whose operand and result lie in C order."""
    if not views.is_contiguous(ctx, x):
        x = views.copied(ctx, x)
    what = transform_spec(spec)
    dtype = np.dtype(_RESULTS[what.kind][x.dtype.char in "dD"])
    made = Tuple((Array(dtype, tuple(shape), c_strides(tuple(shape))), Scalar(BOOL, "np")))
    attrs = Extern("transform", f"fft.{name}", spec, quiet=what.rule == "scipy")
    node = ctx.builder.emit("extern", [ctx.read(x)], attrs, made)
    ctx.builder.check(ctx.builder.get(node, 1), "not enough memory: Python goes on")
    return ctx.new(ctx.builder.get(node, 0))


def _out(ctx: Context, out: Operand) -> None:
    if out is not None:
        raise ctx.refuse("fft", "out=")


@program(TRANSFORM, "fft.fft")
def fft(ctx: Context, a: Operand, n: Operand = None, axis: Operand = -1, norm: Operand = None,
        out: Operand = None) -> Operand:
    """The discrete Fourier transform along an axis."""
    _out(ctx, out)
    return transform(ctx, "fft", "c2c", a, n, axis, norm)


@program(TRANSFORM, "fft.ifft")
def ifft(ctx: Context, a: Operand, n: Operand = None, axis: Operand = -1, norm: Operand = None,
         out: Operand = None) -> Operand:
    """The inverse discrete Fourier transform along an axis."""
    _out(ctx, out)
    return transform(ctx, "ifft", "ic2c", a, n, axis, norm)


@program(TRANSFORM, "fft.rfft")
def rfft(ctx: Context, a: Operand, n: Operand = None, axis: Operand = -1, norm: Operand = None,
         out: Operand = None) -> Operand:
    """The transform of real numbers along an axis."""
    _out(ctx, out)
    return transform(ctx, "rfft", "r2c", a, n, axis, norm)


@program(TRANSFORM, "fft.irfft")
def irfft(ctx: Context, a: Operand, n: Operand = None, axis: Operand = -1, norm: Operand = None,
          out: Operand = None) -> Operand:
    """The inverse of `rfft`."""
    _out(ctx, out)
    return transform(ctx, "irfft", "c2r", a, n, axis, norm)


@program(TRANSFORM, "fft.hfft")
def hfft(ctx: Context, a: Operand, n: Operand = None, axis: Operand = -1, norm: Operand = None,
         out: Operand = None) -> Operand:
    """The transform of a signal with Hermitian symmetry."""
    _out(ctx, out)
    x = conjugate_method(ctx, operand(ctx, "c2r", a))
    return transform(ctx, "hfft", "c2r", x, n, axis, OPPOSITE[norm_of(ctx, norm)])


@program(TRANSFORM, "fft.ihfft")
def ihfft(ctx: Context, a: Operand, n: Operand = None, axis: Operand = -1, norm: Operand = None,
          out: Operand = None) -> Operand:
    """The inverse of `hfft`."""
    _out(ctx, out)
    norm = OPPOSITE[norm_of(ctx, norm)]
    made = transform(ctx, "ihfft", "r2c", a, n, axis, norm)
    found = as_array(ctx, conjugate_method(ctx, made))
    return found if found.strides == made.strides else _with_strides(ctx, found, made.strides)


# ------------------------------------------------------------------ several axes


def _stages(ctx: Context, x: ArrayRef, s: Operand, axes: Operand) -> list[tuple[Operand, int]]:
    """Lengths, None for those that there are, and axes."""
    axes = static(axes)
    if axes is None:
        if s is not None:
            raise ctx.refuse("fft", "s= without axes=: NumPy warns")
        axes = tuple(range(x.ndim))
    if not isinstance(axes, (tuple, list)):
        raise ctx.refuse("fft", "axes= that are no tuple")
    along = [axis_in(ctx, axis, x.ndim, "fft") for axis in axes]
    if len(set(along)) < len(along):
        raise ctx.refuse("fft", "along an axis twice: lengths are those of the operand")
    lengths: Sequence[Any] = [None] * len(along) if s is None else s
    if not isinstance(lengths, (tuple, list)) or len(lengths) != len(along) or not along:
        raise ctx.refuse("fft", "s= and axes= of unlike lengths: Python raises")
    if s is not None and any(n is None for n in lengths):
        raise ctx.refuse("fft", "s= with None: NumPy warns")
    return [(None if static(n) == -1 else n, axis) for n, axis in zip(lengths, along)]


def _several(ctx: Context, kind: str, a: Operand, s: Operand, axes: Operand, norm: Operand,
             out: Operand) -> Operand:
    """Transforms along the last axis of those given, then along the others."""
    _out(ctx, out)
    x = as_array(ctx, a)
    name = "ifft" if kind == "ic2c" else "fft"
    for n, axis in _stages(ctx, x, s, axes)[::-1]:
        real = kind == "r2c"
        x = transform(ctx, "rfft" if real else name, kind, x, n, axis, norm)
        kind = "c2c" if real else kind
    return x


def _real_inverse(ctx: Context, a: Operand, s: Operand, axes: Operand, norm: Operand,
                  out: Operand) -> Operand:
    _out(ctx, out)
    x = as_array(ctx, a)
    *first, (n, axis) = _stages(ctx, x, s, axes)
    if n is None and s is not None:  # as many points as there are coefficients, says NumPy
        raise ctx.refuse("irfft", "s= that ends with -1")
    for length, along in first:
        x = transform(ctx, "ifft", "ic2c", x, length, along, norm)
    return transform(ctx, "irfft", "c2r", x, n, axis, norm)


@program(TRANSFORM, "fft.fftn")
def fftn(ctx: Context, a: Operand, s: Operand = None, axes: Operand = None,
         norm: Operand = None, out: Operand = None) -> Operand:
    """The transform along several axes."""
    return _several(ctx, "c2c", a, s, axes, norm, out)


@program(TRANSFORM, "fft.ifftn")
def ifftn(ctx: Context, a: Operand, s: Operand = None, axes: Operand = None,
          norm: Operand = None, out: Operand = None) -> Operand:
    """The inverse transform along several axes."""
    return _several(ctx, "ic2c", a, s, axes, norm, out)


@program(TRANSFORM, "fft.fft2")
def fft2(ctx: Context, a: Operand, s: Operand = None, axes: Operand = (-2, -1),
         norm: Operand = None, out: Operand = None) -> Operand:
    """The transform along two axes."""
    return _several(ctx, "c2c", a, s, axes, norm, out)


@program(TRANSFORM, "fft.ifft2")
def ifft2(ctx: Context, a: Operand, s: Operand = None, axes: Operand = (-2, -1),
          norm: Operand = None, out: Operand = None) -> Operand:
    """The inverse transform along two axes."""
    return _several(ctx, "ic2c", a, s, axes, norm, out)


@program(TRANSFORM, "fft.rfftn")
def rfftn(ctx: Context, a: Operand, s: Operand = None, axes: Operand = None,
          norm: Operand = None, out: Operand = None) -> Operand:
    """The transform of real numbers along several axes."""
    return _several(ctx, "r2c", a, s, axes, norm, out)


@program(TRANSFORM, "fft.rfft2")
def rfft2(ctx: Context, a: Operand, s: Operand = None, axes: Operand = (-2, -1),
          norm: Operand = None, out: Operand = None) -> Operand:
    """The transform of real numbers along two axes."""
    return _several(ctx, "r2c", a, s, axes, norm, out)


@program(TRANSFORM, "fft.irfftn")
def irfftn(ctx: Context, a: Operand, s: Operand = None, axes: Operand = None,
           norm: Operand = None, out: Operand = None) -> Operand:
    """The inverse of `rfftn`."""
    return _real_inverse(ctx, a, s, axes, norm, out)


@program(TRANSFORM, "fft.irfft2")
def irfft2(ctx: Context, a: Operand, s: Operand = None, axes: Operand = (-2, -1),
           norm: Operand = None, out: Operand = None) -> Operand:
    """The inverse of `rfft2`."""
    return _real_inverse(ctx, a, s, axes, norm, out)
