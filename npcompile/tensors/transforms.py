"""``torch.fft``: the transforms of :mod:`npcompile.fft`, in torch's precision and layout.

Torch's transforms are MKL's: a result lies as if the axes that are not transformed came first, in
the order in which the operand has them in memory.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from npcompile.core.sizes import Size
from npcompile.fft.records import OPPOSITE, norm_of, transform
from npcompile.graph import layout
from npcompile.graph.types import c_strides
from npcompile.ops.arguments import as_array, axes_in, static
from npcompile.ops.complexes import conjugate_method
from npcompile.ops.elementwise import run
from npcompile.ops.operands import ArrayRef, Context, Operand, Tensor
from npcompile.tensors.elementwise import laid_out
from npcompile.tensors.promotion import DEFAULT, DEFAULT_COMPLEX
from npcompile.tensors.tensor_functions import dtype_in, named, result, tensor

Stages = list[tuple[Operand, int]]

#: axes that one call of MKL's transforms
MOST_AXES = 3


def _operand(ctx: Context, input: Operand, real: bool) -> ArrayRef:
    """The operand in the dtype that is transformed."""
    ref = tensor(ctx, input, "fft")
    if (ref.dtype.kind == "c" and real) or not ref.ndim or ref.dtype == np.float16:
        raise ctx.refuse("fft", "of complex numbers where torch wants real ones, or of no axes")
    if not sys.modules["torch"].backends.mkl.is_available():
        raise ctx.refuse("fft", "by another library than MKL")
    if real:
        return as_array(ctx, ref, ref.dtype if ref.dtype.kind == "f" else DEFAULT)
    wide = ref.dtype if ref.dtype.kind == "c" else (
        np.result_type(ref.dtype, np.complex64) if ref.dtype.kind == "f" else DEFAULT_COMPLEX)
    return as_array(ctx, ref, wide)


def _stages(ctx: Context, ref: ArrayRef, s: Operand, dim: Operand) -> Stages:
    """The lengths, None for those that there are, and the axes."""
    dims = static(dim)
    given = [s] if isinstance(dims, int) else s
    if dims is None:
        count = len(given) if isinstance(given, (tuple, list)) else ref.ndim
        dims = tuple(range(-count, 0))
    if isinstance(dims, int):
        dims = (dims,)
    along = axes_in(ctx, dims, ref.ndim, "fft")
    if given is None:
        given = [None] * len(along)
    if not isinstance(given, (tuple, list)) or len(given) != len(along) or not along:
        raise ctx.refuse("fft", "lengths and axes of unlike number: Python raises")
    if len(along) > MOST_AXES:
        raise ctx.refuse("fft", f"along more than {MOST_AXES} axes")
    return [(None if static(n) == -1 else n, axis) for n, axis in zip(given, along)]


def _strides(
    ctx: Context, strides: Sequence[Size], shape: Sequence[Size], axes: Sequence[int],
    last: int | None = None,
) -> tuple[Size, ...]:
    """The layout of a result: other axes first, then those transformed, each in the order in which
    they lie in memory; ``last`` is behind all of them."""
    order = layout.stride_order(ctx.facts, tuple(strides))
    order = [
        *(k for k in order if k not in axes and k != last),
        *(k for k in order if k in axes and k != last), *([] if last is None else [last]),
    ]
    packed = c_strides(tuple([shape[k] for k in order]))
    return tuple([packed[order.index(k)] for k in range(len(order))])


def _complex(
    ctx: Context, ref: ArrayRef, stages: Stages, norm: Operand, inverse: bool
) -> ArrayRef:
    """Complex transforms along several axes."""
    if not stages:
        return ref
    found, kind = ref, "ic2c" if inverse else "c2c"
    for n, axis in stages[::-1]:
        found = transform(ctx, "ifft" if inverse else "fft", kind, found, n, axis, norm, "scipy")
    axes = [axis for _, axis in stages]
    return laid_out(ctx, found, _strides(ctx, ref.strides, found.shape, axes))


def _from_real(ctx: Context, ref: ArrayRef, stages: Stages, norm: Operand) -> ArrayRef:
    """A real transform along the last axis, then complex ones along the others."""
    *rest, (n, last) = stages
    found = transform(ctx, "rfft", "r2c", ref, n, last, norm, "scipy")
    for n, axis in rest[::-1]:
        found = transform(ctx, "fft", "c2c", found, n, axis, norm, "scipy")
    axes = [axis for _, axis in rest]
    return laid_out(ctx, found, _strides(ctx, ref.strides, found.shape, axes, last))


def _to_real(
    ctx: Context, ref: ArrayRef, stages: Stages, norm: Operand, inverse: bool
) -> ArrayRef:
    """Complex transforms, and along the last axis one to real numbers."""
    *rest, (n, last) = stages
    middle = _complex(ctx, ref, rest, norm, inverse)
    if not inverse:  # of a Hermitian signal: the opposite direction
        middle = as_array(ctx, conjugate_method(ctx, middle))
        norm = OPPOSITE[norm_of(ctx, norm)]
    found = transform(ctx, "irfft", "c2r", middle, n, last, norm, "scipy")
    return laid_out(ctx, found, _strides(ctx, middle.strides, found.shape, (), last))


def _to_hermitian(ctx: Context, ref: ArrayRef, stages: Stages, norm: Operand) -> ArrayRef:
    """The inverse of that."""
    *rest, (n, last) = stages
    norm = norm_of(ctx, norm)
    half = transform(ctx, "rfft", "r2c", ref, n, last, OPPOSITE[norm], "scipy")
    half = laid_out(ctx, half, _strides(ctx, ref.strides, half.shape, (), last))
    middle = as_array(ctx, conjugate_method(ctx, half))
    middle = laid_out(ctx, middle, half.strides)
    if not rest:  # torch gives a view of conjugates
        return ctx.stand_in(middle, half)
    return _complex(ctx, middle, rest, norm, True)


def _compute(
    ctx: Context, kind: str, input: Operand, s: Operand, dim: Operand, norm: Operand,
    lazy: bool = False,
) -> Tensor:
    ref = _operand(ctx, input, kind in ("rfft", "ihfft"))
    stages = _stages(ctx, ref, s, dim)
    match kind:
        case "ifft" if lazy:  # by a real transform, of whose result torch gives a view
            found = _complex(ctx, ref, stages, norm, True)
            found = ctx.stand_in(found, as_array(ctx, conjugate_method(ctx, found)))
        case "fft" | "ifft":
            found = _complex(ctx, ref, stages, norm, kind == "ifft")
        case "rfft":
            found = _from_real(ctx, ref, stages, norm)
        case "irfft" | "hfft":
            found = _to_real(ctx, ref, stages, norm, kind == "irfft")
        case _:
            found = _to_hermitian(ctx, ref, stages, norm)
    return Tensor(found)


def _family(kind: str) -> None:
    """Enters the transforms along one axis, two and several."""

    @named(f"fft.{kind}")
    def one(ctx: Context, input: Operand, n: Operand = None, dim: Operand = -1,
            norm: Operand = None) -> Tensor:
        """A transform along one axis."""
        if not isinstance(static(dim), int):
            raise ctx.refuse(kind, "along no axis: Python raises")
        lazy = tensor(ctx, input, kind).dtype.kind != "c"
        return _compute(ctx, kind, input, n, dim, norm, lazy)

    @named(f"fft.{kind}2")
    def two(ctx: Context, input: Operand, s: Operand = None, dim: Operand = (-2, -1),
            norm: Operand = None) -> Tensor:
        """A transform along two axes."""
        return _compute(ctx, kind, input, s, dim, norm)

    @named(f"fft.{kind}n")
    def several(ctx: Context, input: Operand, s: Operand = None, dim: Operand = None,
                norm: Operand = None) -> Tensor:
        """A transform along several axes."""
        return _compute(ctx, kind, input, s, dim, norm)


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _family(_name)


# ------------------------------------------------------------------ frequencies


def _shift(name: str) -> None:
    @named(f"fft.{name}")
    def shift(ctx: Context, input: Operand, dim: Operand = None) -> Tensor:
        """Halves exchanged."""
        ref = tensor(ctx, input, name)
        return result(ctx, run(ctx, f"fft.{name}", ref, axes=dim))


_shift("fftshift")
_shift("ifftshift")


def _frequencies(name: str) -> None:
    @named(f"fft.{name}")
    def frequencies(ctx: Context, n: Operand, d: Operand = 1.0, *, dtype: Operand = None) -> Tensor:
        """The frequencies of a transform's results."""
        kind: Any = DEFAULT if dtype is None else dtype_in(ctx, dtype, name)
        made = run(ctx, f"fft.{name}", n, d)
        assert isinstance(made, ArrayRef)
        if kind.kind != "f":
            raise ctx.refuse(name, f"of {kind}")
        return Tensor(as_array(ctx, made, kind))


_frequencies("fftfreq")
_frequencies("rfftfreq")
