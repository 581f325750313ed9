"""Records of the functions of `scipy.fft`: they compute in the operand's format and report no
floating-point errors.

What ``overwrite_x`` lets a function destroy is left as it is, and how many threads work is not for
``workers`` to say.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from npcompile.core.sizes import floordiv
from npcompile.fft import records
from npcompile.fft.records import OPPOSITE, TRANSFORM, norm_of, operand
from npcompile.ops import arguments, views
from npcompile.ops.arguments import as_array, axes_in, program, static
from npcompile.ops.complexes import conjugate_method
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.record import define

Stages = list[tuple[Operand, int]]


def options(
    ctx: Context, x: Operand, n: Operand, overwrite_x: Operand, workers: Operand,
    plan: Operand = None,
) -> None:
    """Refuses what SciPy raises for, and operands in whose memory it would put results that lie
    otherwise than fresh ones."""
    count, overwrites = static(workers), static(overwrite_x)
    if plan is not None or not isinstance(overwrites, bool):
        raise ctx.refuse("scipy.fft", "plan=, or overwrite_x= that only the run tells")
    if count is not None and not (type(count) is int and count and count >= -(os.cpu_count() or 1)):
        raise ctx.refuse("scipy.fft", "workers= that is no number of workers")
    if overwrites and not (
        n is None and isinstance(x, ArrayRef) and views.is_contiguous(ctx, x)):
        raise ctx.refuse("scipy.fft", "overwrite_x= of a part of an array")


def add(name: str, function: Callable[..., Operand], doc: str) -> None:
    """Makes a function the record of SciPy's of a name."""
    path = f"scipy.fft:{name}"
    define(path, TRANSFORM, aliases=(path,), reference=path, lower=function, doc=doc)


def _one(ctx: Context, name: str, kind: str, x: Operand, n: Operand, axis: Operand,
         norm: Operand) -> ArrayRef:
    return records.transform(ctx, name, kind, x, n, axis, norm, "scipy")


@program(TRANSFORM, "scipy.fft:fft")
def fft(ctx: Context, x: Operand, n: Operand = None, axis: Operand = -1, norm: Operand = None,
        overwrite_x: Operand = False, workers: Operand = None, *, plan: Operand = None) -> Operand:
    """The discrete Fourier transform along an axis."""
    options(ctx, x, n, overwrite_x, workers, plan)
    return _one(ctx, "fft", "c2c", x, n, axis, norm)


@program(TRANSFORM, "scipy.fft:ifft")
def ifft(ctx: Context, x: Operand, n: Operand = None, axis: Operand = -1, norm: Operand = None,
         overwrite_x: Operand = False, workers: Operand = None, *, plan: Operand = None) -> Operand:
    """The inverse discrete Fourier transform along an axis."""
    options(ctx, x, n, overwrite_x, workers, plan)
    return _one(ctx, "ifft", "ic2c", x, n, axis, norm)


@program(TRANSFORM, "scipy.fft:rfft")
def rfft(ctx: Context, x: Operand, n: Operand = None, axis: Operand = -1, norm: Operand = None,
         overwrite_x: Operand = False, workers: Operand = None, *, plan: Operand = None) -> Operand:
    """The transform of real numbers along an axis."""
    options(ctx, x, n, overwrite_x, workers, plan)
    return _one(ctx, "rfft", "r2c", x, n, axis, norm)


@program(TRANSFORM, "scipy.fft:irfft")
def irfft(ctx: Context, x: Operand, n: Operand = None, axis: Operand = -1, norm: Operand = None,
          overwrite_x: Operand = False, workers: Operand = None,
          *, plan: Operand = None) -> Operand:
    """The inverse of `rfft`."""
    options(ctx, x, n, overwrite_x, workers, plan)
    return _one(ctx, "irfft", "c2r", x, n, axis, norm)


@program(TRANSFORM, "scipy.fft:hfft")
def hfft(ctx: Context, x: Operand, n: Operand = None, axis: Operand = -1, norm: Operand = None,
         overwrite_x: Operand = False, workers: Operand = None, *, plan: Operand = None) -> Operand:
    """The transform of a signal with Hermitian symmetry."""
    options(ctx, x, n, overwrite_x, workers, plan)
    x = conjugate_method(ctx, operand(ctx, "c2r", x, "scipy"))
    return _one(ctx, "hfft", "c2r", x, n, axis, OPPOSITE[norm_of(ctx, norm)])


@program(TRANSFORM, "scipy.fft:ihfft")
def ihfft(ctx: Context, x: Operand, n: Operand = None, axis: Operand = -1, norm: Operand = None,
          overwrite_x: Operand = False, workers: Operand = None,
          *, plan: Operand = None) -> Operand:
    """The inverse of `hfft`."""
    options(ctx, x, n, overwrite_x, workers, plan)
    norm = OPPOSITE[norm_of(ctx, norm)]
    return conjugate_method(ctx, _one(ctx, "ihfft", "r2c", x, n, axis, norm))


# ------------------------------------------------------------------ several axes


def stages(ctx: Context, x: ArrayRef, s: Operand, axes: Operand) -> Stages:
    """Lengths, None for those that there are, and axes."""
    given, wanted = static(axes), static(s)
    if wanted is not None and not isinstance(wanted, (tuple, list)):
        wanted = (wanted,)
    if given is None:
        count = x.ndim if wanted is None else len(wanted)
        if count > x.ndim:
            raise ctx.refuse("scipy.fft", "more lengths than axes: Python raises")
        given = tuple(range(x.ndim - count, x.ndim))
    along = axes_in(ctx, given, x.ndim, "scipy.fft")
    if wanted is None:
        return [(None, axis) for axis in along]
    if len(wanted) != len(along) or None in map(static, wanted):
        raise ctx.refuse("scipy.fft", "no length, or not as many as axes: Python raises")
    return [(None if static(n) == -1 else n, axis) for n, axis in zip(wanted, along)]


def some(ctx: Context, found: Stages, what: str) -> Stages:
    if not found:
        raise ctx.refuse(what, "along no axis")
    return found


def _complex(ctx: Context, kind: str, x: Operand, s: Operand, axes: Operand, norm: Operand,
             *given: Operand) -> Operand:
    """Complex transforms along all axes."""
    options(ctx, x, s, *given)
    made = as_array(ctx, x)
    for n, axis in some(ctx, stages(ctx, made, s, axes), "fftn")[::-1]:
        made = _one(ctx, "ifft" if kind == "ic2c" else "fft", kind, made, n, axis, norm)
    return made


def _real(ctx: Context, inverse: bool, x: Operand, s: Operand, axes: Operand, norm: Operand,
          *given: Operand) -> Operand:
    """A real transform along the last axis, then complex ones; all are `hfft`'s inverses or
    `rfft`'s."""
    options(ctx, x, s, *given)
    made = as_array(ctx, x)
    *rest, (n, last) = some(ctx, stages(ctx, made, s, axes), "rfftn")
    if not inverse:
        made = _one(ctx, "rfft", "r2c", made, n, last, norm)
    else:
        made = conjugate_method(
            ctx, _one(ctx, "ihfft", "r2c", made, n, last, OPPOSITE[norm_of(ctx, norm)]))
    for n, axis in rest[::-1]:
        name, kind = ("ifft", "ic2c") if inverse else ("fft", "c2c")
        made = _one(ctx, name, kind, made, n, axis, norm)
    return made


def _to_real(ctx: Context, inverse: bool, x: Operand, s: Operand, axes: Operand, norm: Operand,
             *given: Operand) -> Operand:
    """Complex transforms, at last one along the last axis whose results are real."""
    options(ctx, x, s, *given)
    made = operand(ctx, "c2r", x, "scipy")
    *rest, (n, last) = some(ctx, stages(ctx, made, s, axes), "irfftn")
    if n is None and s is not None:  # as many points as there are coefficients
        points = made.shape[last]
        n = points if isinstance(points, int) else ctx.builder.size(points)
    if n is not None:  # numbers beyond those that are read are not transformed
        length = arguments.length(ctx, n, "irfftn")
        made = records.of_length(ctx, made, last, floordiv(length, 2) + 1)
    for length, axis in rest:
        name, kind = ("ifft", "ic2c") if inverse else ("fft", "c2c")
        made = _one(ctx, name, kind, made, length, axis, norm)
    if inverse:
        return _one(ctx, "irfft", "c2r", made, n, last, norm)
    made = conjugate_method(ctx, made)
    return _one(ctx, "hfft", "c2r", made, n, last, OPPOSITE[norm_of(ctx, norm)])


#: name, program, its first argument, axes by default
_ROWS: list[tuple[str, Any, Any, str]] = [
    ("fftn", _complex, "c2c", "The transform along several axes."),
    ("ifftn", _complex, "ic2c", "The inverse transform along several axes."),
    ("rfftn", _real, False, "The transform of real numbers along several axes."),
    ("ihfftn", _real, True, "The inverse of `hfftn`."),
    ("irfftn", _to_real, True, "The inverse of `rfftn`."),
    ("hfftn", _to_real, False, "The transform of a signal with Hermitian symmetry."),
]


def _several(name: str, compute: Any, kind: Any, doc: str, default: Any) -> None:
    def function(
        ctx: Context, x: Operand, s: Operand = None, axes: Operand = default,
        norm: Operand = None, overwrite_x: Operand = False, workers: Operand = None,
        *, plan: Operand = None,
    ) -> Operand:
        return compute(ctx, kind, x, s, axes, norm, overwrite_x, workers, plan)

    add(name, function, doc)


for _name, _compute, _kind, _doc in _ROWS:
    _several(_name, _compute, _kind, _doc, None)
    _several(_name.replace("fftn", "fft2"), _compute, _kind, _doc, (-2, -1))
