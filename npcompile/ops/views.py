"""Views and what NumPy makes of one: transposed, reshaped, repeated, cut, copied."""

from __future__ import annotations

from collections.abc import Sequence

from npcompile.core.sizes import Size, floordiv, product
from npcompile.graph import layout
from npcompile.graph.types import Array, c_strides
from npcompile.ops import arguments
from npcompile.ops.arguments import as_array, axes_in, axis_in, program, static_int, view
from npcompile.ops.operands import ArrayRef, Context, Operand

VIEW = arguments.program_kind("view")


# ------------------------------------------------------------------ order of axes


def permuted(ref: ArrayRef, axes: Sequence[int]) -> ArrayRef:
    return view(ref, [ref.shape[a] for a in axes], [ref.strides[a] for a in axes])


@program(VIEW, "transpose")
def transpose(ctx: Context, a: Operand, axes: Operand = None) -> ArrayRef:
    """Axes in another order; by default reversed."""
    ref = as_array(ctx, a)
    if axes is None:
        return permuted(ref, range(ref.ndim)[::-1])
    order = axes_in(ctx, axes, ref.ndim, "transpose")
    if len(order) != ref.ndim:
        raise ctx.refuse("transpose", "axes don't match the array: Python raises")
    return permuted(ref, order)


@program(VIEW, "ndarray.transpose")
def transpose_method(ctx: Context, a: ArrayRef, *axes: Operand) -> ArrayRef:
    """Axes in another order; by default reversed."""
    if not axes or axes == (None,):
        return transpose(ctx, a)
    return transpose(ctx, a, axes[0] if isinstance(axes[0], (tuple, list)) else axes)


@program(VIEW, "matrix_transpose", "numpy:linalg.matrix_transpose")
def matrix_transpose(ctx: Context, x: Operand, /) -> ArrayRef:
    """The last two axes swapped."""
    ref = as_array(ctx, x)
    if ref.ndim < 2:
        raise ctx.refuse("matrix_transpose", "needs two axes: Python raises")
    return swapaxes(ctx, ref, -1, -2)


@program(VIEW, "swapaxes", "numpy:ndarray.swapaxes")
def swapaxes(ctx: Context, a: Operand, axis1: Operand, axis2: Operand) -> ArrayRef:
    """Two axes exchanged."""
    ref = as_array(ctx, a)
    i, j = (axis_in(ctx, axis, ref.ndim, "swapaxes") for axis in (axis1, axis2))
    order = list(range(ref.ndim))
    order[i], order[j] = j, i
    return permuted(ref, order)


@program(VIEW, "moveaxis")
def moveaxis(ctx: Context, a: Operand, source: Operand, destination: Operand) -> ArrayRef:
    """Axes moved to other places, the rest in order."""
    ref = as_array(ctx, a)
    origin = axes_in(ctx, source, ref.ndim, "moveaxis")
    places = axes_in(ctx, destination, ref.ndim, "moveaxis")
    if len(origin) != len(places):
        raise ctx.refuse("moveaxis", "as many sources as destinations: Python raises")
    order = [axis for axis in range(ref.ndim) if axis not in origin]
    for place, axis in sorted(zip(places, origin)):
        order.insert(place, axis)
    return permuted(ref, order)


@program(VIEW, "rollaxis")
def rollaxis(ctx: Context, a: Operand, axis: Operand, start: Operand = 0) -> ArrayRef:
    """One axis moved before another."""
    ref = as_array(ctx, a)
    moved, before = axis_in(ctx, axis, ref.ndim, "rollaxis"), static_int(ctx, start, "rollaxis")
    before += ref.ndim if before < 0 else 0
    if not 0 <= before <= ref.ndim:
        raise ctx.refuse("rollaxis", "start is out of bounds: Python raises")
    before -= moved < before
    order = [k for k in range(ref.ndim) if k != moved]
    order.insert(before, moved)
    return permuted(ref, order)


# ------------------------------------------------------------------ copies


def copied(ctx: Context, ref: ArrayRef, order: str = "C") -> ArrayRef:
    """A fresh array; ``order`` C, or K as ``np.copy`` and results of operators have it."""
    if order == "K":
        strides = layout.k_strides(ctx.facts, ref.shape, [ref.strides])
    elif order == "F":
        strides = layout.fresh_strides(ref.shape, range(ref.ndim)[::-1])
    else:
        strides = c_strides(ref.shape)
    kind = Array(ref.dtype, ref.shape, strides)
    return ctx.new(ctx.builder.emit("copy", (ctx.read(ref),), None, kind))


def order_in(ctx: Context, ref: ArrayRef, order: Operand, what: str) -> str:
    """``order=`` as C, F or K; A is decided by the layout."""
    name = str(order).upper() if isinstance(order, str) else "C" if order is None else "?"
    if name == "A":
        return "F" if _is_f(ctx, ref) and not is_contiguous(ctx, ref) else "C"
    if name not in ("C", "F", "K"):
        raise ctx.refuse(what, f"order={order!r}")
    return name


def _packed(ctx: Context, ref: ArrayRef, axes: Sequence[int]) -> bool:
    """Whether elements lie side by side in the order of ``axes``, slowest first."""
    expected: Size = 1
    packed = True
    for axis in reversed(axes):
        n = ref.shape[axis]
        if ctx.facts.prove("==", ref.strides[axis], expected) is True:
            expected = expected * n
            continue
        if ctx.facts.equal(n, 0):
            return True
        if not ctx.facts.equal(n, 1):
            packed = packed and ctx.facts.equal(ref.strides[axis], expected)
            expected = expected * n
    return packed


def is_contiguous(ctx: Context, ref: ArrayRef) -> bool:
    """NumPy's C_CONTIGUOUS flag."""
    return _packed(ctx, ref, range(ref.ndim))


def _is_f(ctx: Context, ref: ArrayRef) -> bool:
    return _packed(ctx, ref, range(ref.ndim)[::-1])


@program(VIEW, "copy")
def copy(ctx: Context, a: Operand, order: Operand = "K", subok: Operand = False) -> ArrayRef:
    """A fresh array in K order."""
    ref = as_array(ctx, a)
    if not isinstance(a, ArrayRef):
        return ref
    return copied(ctx, ref, order_in(ctx, ref, order, "copy"))


@program(VIEW, "ndarray.copy")
def copy_method(ctx: Context, a: ArrayRef, order: Operand = "C") -> ArrayRef:
    """A fresh array in C order."""
    return copied(ctx, a, order_in(ctx, a, order, "copy"))


@program(VIEW, "ndarray.flatten")
def flatten(ctx: Context, a: ArrayRef, order: Operand = "C") -> ArrayRef:
    """A fresh array of one axis."""
    return _reshaped(ctx, _c_only(ctx, copied(ctx, a), order, "flatten"), (a_size(a),))


def a_size(ref: ArrayRef) -> Size:
    return product(ref.shape)


def _c_only(ctx: Context, ref: ArrayRef, order: Operand, what: str) -> ArrayRef:
    if order_in(ctx, ref, order, what) != "C":
        raise ctx.refuse(what, f"order={order!r}: only C is compiled")
    return ref


# ------------------------------------------------------------------ shape


@program(VIEW, "ravel", "numpy:ndarray.ravel")
def ravel(ctx: Context, a: Operand, order: Operand = "C") -> ArrayRef:
    """One axis; a copy only where memory is not contiguous."""
    ref = _c_only(ctx, as_array(ctx, a), order, "ravel")
    if not is_contiguous(ctx, ref):
        ref = copied(ctx, ref)
    return view(ref, (a_size(ref),), (1,))


@program(VIEW, "reshape")
def reshape(ctx: Context, a: Operand, /, shape: Operand, order: Operand = "C", *,
            copy: Operand = None) -> ArrayRef:
    """Another shape, in C order; a copy only where strides can't say it."""
    ref = as_array(ctx, a)
    if copy is not None:
        raise ctx.refuse("reshape", "copy=")
    return _reshaped(ctx, _c_only(ctx, ref, order, "reshape"), _new_shape(ctx, ref, shape))


@program(VIEW, "ndarray.reshape")
def reshape_method(ctx: Context, a: ArrayRef, *shape: Operand, order: Operand = "C",
                   copy: Operand = None) -> ArrayRef:
    """Another shape, in C order; a copy only where strides can't say it."""
    one = len(shape) == 1
    return reshape(ctx, a, shape[0] if one else shape, order, copy=copy)


def _new_shape(ctx: Context, ref: ArrayRef, shape: Operand) -> tuple[Size, ...]:
    """A shape argument, with -1 replaced; refuses another number of elements."""
    items = shape if isinstance(shape, (tuple, list)) else (shape,)
    sizes = [arguments.integer(ctx, item, "reshape") for item in items]
    unknown = [k for k, n in enumerate(sizes) if ctx.facts.equal(n, -1)]
    total = ctx.facts.norm(a_size(ref))
    if len(unknown) > 1:
        raise ctx.refuse("reshape", "-1 twice: Python raises")
    if unknown:
        rest = product([n for k, n in enumerate(sizes) if k != unknown[0]])
        if ctx.facts.equal(rest, 0):
            raise ctx.refuse("reshape", "-1 beside an axis of length 0: Python raises")
        sizes[unknown[0]] = _quotient(ctx, ref, rest, total)
    if not ctx.facts.equal(product(sizes), total):
        raise ctx.refuse("reshape", "another number of elements: Python raises")
    for size in sizes:
        arguments.require(ctx, "<=", 0, size, "reshape: a negative length")
    return tuple(sizes)


def _quotient(ctx: Context, ref: ArrayRef, rest: Size, total: Size) -> Size:
    """``total // rest``, by cancelling equal lengths where that is possible."""
    left = [ctx.facts.norm(n) for n in ref.shape]
    if isinstance(rest, int) or rest not in left:
        return floordiv(total, rest)
    left.remove(rest)
    return product(left)


def _reshaped(ctx: Context, ref: ArrayRef, shape: tuple[Size, ...]) -> ArrayRef:
    strides = _reshape_strides(ctx, ref, shape)
    if strides is None:
        ref, strides = copied(ctx, ref), c_strides(shape)
    return view(ref, shape, strides)


def _reshape_strides(
    ctx: Context, ref: ArrayRef, shape: tuple[Size, ...]
) -> tuple[Size, ...] | None:
    """Strides of a reshaped view, or None where a copy is needed.

    As NumPy's ``_attempt_nocopy_reshape``: axes of length 1 are dropped, then groups of old and
    new axes with equal products are matched, each of which must be one run of memory.
    """
    equal = ctx.facts.equal
    if any(equal(n, 0) for n in ref.shape) or ref.shape == shape:
        return ref.strides if ref.shape == shape else c_strides(shape)
    if is_contiguous(ctx, ref):
        return c_strides(shape)
    old = [(n, s) for n, s in zip(ref.shape, ref.strides) if not equal(n, 1)]
    out: list[Size] = []
    i = j = 0
    while i < len(old) and j < len(shape):
        have, want = old[i][0], shape[j]
        first, start = i, j
        while not equal(have, want):
            if ctx.facts.less(want, have):
                j += 1
                want = want * shape[j]
            else:
                i += 1
                have = have * old[i][0]
        for k in range(first, i):
            if not equal(old[k][1], old[k + 1][0] * old[k + 1][1]):
                return None
        packed = c_strides(shape[start : j + 1])
        out += [old[i][1] * stride for stride in packed]
        i, j = i + 1, j + 1
    tail = (out[-1] if out else 1)
    return (*out, *[tail] * (len(shape) - len(out)))
