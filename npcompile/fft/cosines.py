"""Records of `scipy.fft`'s cosine and sine transforms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from npcompile.fft import records, scipy_records
from npcompile.fft.records import OPPOSITE, norm_of
from npcompile.fft.scipy_records import Stages
from npcompile.fft.wave_rows import Wave, WaveRows
from npcompile.ops import arguments, views
from npcompile.ops.arguments import as_array, static
from npcompile.ops.creation import filled, like_strides
from npcompile.ops.fp_errors import UNTOLD
from npcompile.ops.indexing import setitem
from npcompile.ops.operands import ArrayRef, Context, Operand


def _along(ctx: Context, which: Wave, x: ArrayRef, n: Operand, axis: int, norm: str) -> ArrayRef:
    """One transform of real numbers along an axis."""
    if n is not None:
        points = arguments.length(ctx, n, "dct")
        x = records.of_length(ctx, x, axis, points)
    arguments.require(ctx, "<", 0, x.shape[axis], "a cosine transform of no points")
    order = [*range(axis), *range(axis + 1, x.ndim), axis]
    with ctx.builder.hush("doui" + UNTOLD):
        made = WaveRows(ctx).wave(which, views.permuted(x, order), norm)
        back = views.permuted(made, [*range(axis), x.ndim - 1, *range(axis, x.ndim - 1)])
        return views.copied(ctx, back)


def _waves(ctx: Context, which: Wave, x: ArrayRef, stages: Stages, norm: str) -> ArrayRef:
    for n, axis in stages[::-1]:
        x = _along(ctx, which, x, n, axis, norm)
    return x


def _computed(ctx: Context, name: str, x: Operand, type: Operand, stages: Callable[..., Stages],
              norm: Operand, given: tuple[Operand, ...], orthogonalize: Operand) -> Operand:
    scipy_records.options(ctx, x, *given)
    ref, kind, scale = as_array(ctx, x), static(type), norm_of(ctx, norm)
    ends, inverse = static(orthogonalize), name.startswith("i")
    if kind not in (1, 2, 3, 4) or not (ends is None or isinstance(ends, bool)):
        raise ctx.refuse(name, "a type that there is not: Python raises")
    if ref.dtype.kind not in "biufc" or ref.dtype.char in "gG" or not ref.ndim:
        raise ctx.refuse(name, f"of {ref.dtype}")
    plain = given[0] is None and views.is_contiguous(ctx, ref)
    if ref.dtype.kind not in "fc" and not plain:
        raise ctx.refuse(name, "of integers that SciPy transforms where they lie")
    if ref.dtype.kind == "c" and given[0] is not None and not views.is_contiguous(ctx, ref):
        raise ctx.refuse(name, "of a part of an array of complex numbers")
    ortho = scale == "ortho" if ends is None or ref.dtype.kind == "c" else ends
    which = Wave("s" in name, {2: 3, 3: 2}.get(kind, kind) if inverse else kind, ortho)
    scale = OPPOSITE[scale] if inverse else scale
    along = stages(ref)
    if ref.dtype.kind == "c":
        parts = [_waves(ctx, which, part, along, scale) for part in WaveRows(ctx).parts(ref)]
        strides = like_strides(ctx, ref) if given[0] is None else None
        made = filled(ctx, parts[0].shape, None, ref.dtype, strides)
        for view, part in zip(WaveRows(ctx).parts(made), parts):
            setitem(ctx, view, Ellipsis, part)
        return made
    single = ref.dtype.char in "ef"
    return _waves(ctx, which, as_array(ctx, ref, np.dtype("f" if single else "d")), along, scale)


def _one(name: str, doc: str) -> None:
    def function(
        ctx: Context, x: Operand, type: Operand = 2, n: Operand = None, axis: Operand = -1,
        norm: Operand = None, overwrite_x: Operand = False, workers: Operand = None,
        orthogonalize: Operand = None,
    ) -> Operand:
        def stages(ref: ArrayRef) -> Stages:
            return [(n, arguments.axis_in(ctx, axis, ref.ndim, name))]

        return _computed(ctx, name, x, type, stages, norm, (n, overwrite_x, workers),
                         orthogonalize)

    scipy_records.add(name, function, doc)


def _several(name: str, doc: str) -> None:
    def function(
        ctx: Context, x: Operand, type: Operand = 2, s: Operand = None, axes: Operand = None,
        norm: Operand = None, overwrite_x: Operand = False, workers: Operand = None,
        orthogonalize: Operand = None,
    ) -> Operand:
        def stages(ref: ArrayRef) -> Stages:
            return scipy_records.some(ctx, scipy_records.stages(ctx, ref, s, axes), name)

        return _computed(ctx, name, x, type, stages, norm, (s, overwrite_x, workers),
                         orthogonalize)

    scipy_records.add(f"{name}n", function, f"{doc[:-1]}, along several axes.")


for _name, _doc in (("dct", "The cosine transform."), ("idct", "The inverse of `dct`."),
                    ("dst", "The sine transform."), ("idst", "The inverse of `dst`.")):
    _one(_name, _doc)
    _several(_name, _doc)
