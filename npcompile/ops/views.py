"""Views and what NumPy makes of one: transposed, reshaped, repeated, cut, copied."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from npcompile.core.records import replace
from npcompile.core.sizes import Size, floordiv, is_known, largest, product, smallest
from npcompile.graph import layout
from npcompile.graph.ir import Geometry, Node
from npcompile.graph.types import Array, c_strides, contiguous
from npcompile.ops import arguments
from npcompile.ops.arguments import as_array, axes_in, axis_in, program, static_int, view
from npcompile.ops.bits import as_dtype
from npcompile.ops.itemsize import resized
from npcompile.ops.operands import ArrayRef, Context, Operand

VIEW = arguments.program_kind("view")


# ------------------------------------------------------------------ order of axes


def permuted(ref: ArrayRef, axes: Sequence[int]) -> ArrayRef:
    return view(ref, [ref.shape[a] for a in axes], [ref.strides[a] for a in axes])


def _no_scalar(ctx: Context, a: Operand, what: str) -> ArrayRef:
    """What is no number of NumPy's: of those it makes numbers again."""
    if isinstance(a, (Node, np.generic)):
        raise ctx.refuse(what, "of a number is left to Python")
    return as_array(ctx, a)


@program(VIEW, "transpose")
def transpose(ctx: Context, a: Operand, axes: Operand = None) -> ArrayRef:
    """Axes in another order; by default reversed."""
    ref = _no_scalar(ctx, a, "transpose")
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


def copied(
    ctx: Context, ref: ArrayRef, order: str = "C", dtype: np.dtype[Any] | None = None
) -> ArrayRef:
    """A fresh array, of another dtype if one is given; ``order`` C, F, or K as in ``np.copy``."""
    if order == "K":
        strides = layout.like_strides(ctx.facts, ref.shape, ref.steps)
    elif order == "F":
        strides = layout.fresh_strides(ref.shape, range(ref.ndim)[::-1])
    else:
        strides = c_strides(ref.shape)
    kind = Array(dtype or ref.dtype, ref.shape, strides)
    op = "copy" if kind.dtype == ref.dtype else "cast"
    return ctx.new(ctx.builder.emit(op, (ctx.read(ref),), None, kind))


def order_in(ctx: Context, ref: ArrayRef, order: Operand, what: str) -> str:
    """``order=`` as C, F or K; A is decided by the layout."""
    name = str(order).upper() if isinstance(order, str) else "C" if order is None else "?"
    if name == "A":
        return "F" if is_fortran(ctx, ref) and not is_contiguous(ctx, ref) else "C"
    if name not in ("C", "F", "K"):
        raise ctx.refuse(what, f"order={order!r}")
    return name


def _packed(ctx: Context, ref: ArrayRef, axes: Sequence[int]) -> bool:
    """Whether elements lie side by side in the order of ``axes``, slowest first."""
    expected: Size = 1
    packed = True
    for axis in reversed(axes):
        n = ref.shape[axis]
        if ctx.facts.prove("==", ref.steps[axis], expected) is True:
            expected = expected * n
            continue
        if ctx.facts.equal(n, 0):
            return True
        if not ctx.facts.equal(n, 1):
            packed = packed and ctx.facts.equal(ref.steps[axis], expected)
            expected = expected * n
    return packed or any(ctx.facts.equal(n, 0) for n in ref.shape)


def is_contiguous(ctx: Context, ref: ArrayRef) -> bool:
    """NumPy's C_CONTIGUOUS flag."""
    return _packed(ctx, ref, range(ref.ndim))


def is_fortran(ctx: Context, ref: ArrayRef) -> bool:
    """NumPy's F_CONTIGUOUS flag."""
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
    return _flat(ctx, _turned(ctx, a, order, "flatten"))


def _flat(ctx: Context, ref: ArrayRef) -> ArrayRef:
    """The elements in a fresh array of one axis, which is no view of another."""
    if ref.ndim == 1:
        return copied(ctx, ref)
    made = ctx.builder.emit("empty", (), None, contiguous(ref.dtype, (a_size(ref),)))
    whole = Geometry(0, ref.shape, c_strides(ref.shape))
    return ctx.new(ctx.builder.write(made, ctx.read(ref), whole))


def a_size(ref: ArrayRef) -> Size:
    return product(ref.shape)


def _turned(ctx: Context, ref: ArrayRef, order: Operand, what: str) -> ArrayRef:
    """The array, or its transpose: F order is C order of that."""
    name = order_in(ctx, ref, order, what)
    if name == "K":
        raise ctx.refuse(what, "order='K'")
    return ref if name == "C" else permuted(ref, range(ref.ndim)[::-1])


# ------------------------------------------------------------------ shape


@program(VIEW, "ravel", "numpy:ndarray.ravel", of_numbers=True)
def ravel(ctx: Context, a: Operand, order: Operand = "C") -> ArrayRef:
    """One axis; a copy only where memory is not contiguous."""
    ref = _turned(ctx, as_array(ctx, a), order, "ravel")
    return view(ref, (a_size(ref),), (1,)) if is_contiguous(ctx, ref) else _flat(ctx, ref)


@program(VIEW, "reshape")
def reshape(ctx: Context, a: Operand, /, shape: Operand, order: Operand = "C", *,
            copy: Operand = None) -> ArrayRef:
    """Another shape; a copy only where strides can't say it."""
    ref = as_array(ctx, a)
    if copy is not None:
        raise ctx.refuse("reshape", "copy=")
    sizes, whole = new_shape(ctx, ref, shape)
    turned = _turned(ctx, ref, order, "reshape")
    if whole and len(sizes) == ref.ndim and all(map(ctx.facts.equal, sizes, ref.shape)):
        return view(ref, ref.shape, ref.strides)
    if turned is ref:
        flat = shape in (-1, (-1,), [-1]) and ref.ndim == 1 and not ref.geometry.part
        if flat and is_contiguous(ctx, ref):
            return view(ref, sizes, (1,))  # it is not seen to be the same shape
        return reshaped(ctx, ref, sizes)
    return reshaped(ctx, ref, sizes, fortran=True)


@program(VIEW, "ndarray.reshape", of_numbers=True)
def reshape_method(ctx: Context, a: ArrayRef, *shape: Operand, order: Operand = "C",
                   copy: Operand = None) -> ArrayRef:
    """Another shape; a copy only where strides can't say it."""
    one = len(shape) == 1
    return reshape(ctx, a, shape[0] if one else shape, order, copy=copy)


def new_shape(
    ctx: Context, ref: ArrayRef, shape: Operand
) -> tuple[tuple[Size, ...], bool]:
    """A shape argument, with -1 replaced, and whether there was none; refuses another number of
    elements."""
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
    for size in sizes:
        arguments.require(ctx, "<=", 0, size, "reshape: a negative length")
    arguments.require(ctx, "==", product(sizes), total, "reshape: another number of elements")
    return tuple(sizes), not unknown


def _quotient(ctx: Context, ref: ArrayRef, rest: Size, total: Size) -> Size:
    """``total // rest``, by cancelling equal lengths where that is possible."""
    left = [ctx.facts.norm(n) for n in ref.shape]
    if isinstance(rest, int) or rest not in left:
        return floordiv(total, rest)
    left.remove(rest)
    return product(left)


def reshaped(
    ctx: Context, ref: ArrayRef, shape: tuple[Size, ...], fortran: bool = False
) -> ArrayRef:
    strides = _reshape_strides(ctx, ref, shape, fortran)
    if strides is None:
        ref = copied(ctx, ref, "F" if fortran else "C")
        strides = _fresh(shape, fortran)
    return view(ref, shape, strides)


def _fresh(shape: Sequence[Size], fortran: bool) -> tuple[Size, ...]:
    return c_strides(tuple(shape[::-1]))[::-1] if fortran else c_strides(tuple(shape))


def _reshape_strides(
    ctx: Context, ref: ArrayRef, shape: tuple[Size, ...], fortran: bool = False
) -> tuple[Size, ...] | None:
    """Strides of a reshaped view, or None where a copy is needed."""
    equal = ctx.facts.equal
    known = all(map(is_known, (*ref.shape, *shape)))
    if ref.shape == shape and (ref.steps == _fresh(shape, fortran) or not known
                               or not any(equal(n, 0) or equal(n, 1) for n in shape)):
        return ref.strides
    empty = any(equal(n, 0) for n in ref.shape)
    if empty or (is_fortran(ctx, ref) if fortran else is_contiguous(ctx, ref)):
        if ref.geometry.part and shape:  # strides of a view on complex numbers are whole ones
            raise ctx.refuse("reshape", "of the parts of at most one complex number")
        return _fresh([1 if empty and equal(n, 0) else n for n in shape], fortran)
    if not known:
        raise ctx.refuse("reshape", "of lengths that only the run can tell, in strided memory")
    old = [(n, s) for n, s in zip(ref.shape, ref.strides) if not equal(n, 1)]
    return _matched(ctx, old, shape, fortran)


def _matched(
    ctx: Context, old: list[tuple[Size, Size]], shape: tuple[Size, ...], fortran: bool
) -> tuple[Size, ...] | None:
    """As NumPy's ``_attempt_nocopy_reshape``: of axes (length, stride) and new ones, groups with
    equal products are matched, each of which must be one run of memory."""
    equal = ctx.facts.equal
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
            inner, outer = (old[k], old[k + 1]) if fortran else (old[k + 1], old[k])
            if not equal(outer[1], inner[0] * inner[1]):
                return None
        step = old[first if fortran else i][1]
        out += [step * stride for stride in _fresh(shape[start : j + 1], fortran)]
        i, j = i + 1, j + 1
    tail = out[-1] if out else 1
    if fortran and out:
        tail = tail * shape[len(out) - 1]
    return (*out, *[tail] * (len(shape) - len(out)))


@program(VIEW, "squeeze", "ndarray.squeeze")
def squeeze(ctx: Context, a: Operand, axis: Operand = None) -> ArrayRef:
    """Axes of length 1 dropped."""
    ref = _no_scalar(ctx, a, "squeeze")
    if axis is None:
        drop = tuple(k for k, n in enumerate(ref.shape) if ctx.facts.equal(n, 1))
    else:
        drop = axes_in(ctx, axis, ref.ndim, "squeeze")
        if not all(ctx.facts.equal(ref.shape[k], 1) for k in drop):
            raise ctx.refuse("squeeze", "an axis is longer than 1: Python raises")
    if not drop:
        return ref
    return permuted(ref, [k for k in range(ref.ndim) if k not in drop])


@program(VIEW, "expand_dims")
def expand_dims(ctx: Context, a: Operand, axis: Operand) -> ArrayRef:
    """New axes of length 1."""
    ref = as_array(ctx, a)
    many = len(axis) if isinstance(axis, (tuple, list)) else 1
    new = axes_in(ctx, axis, ref.ndim + many, "expand_dims")
    wide = _with_units(ref, new)
    if new and not all(map(is_known, ref.shape)):
        return view(ref, wide.shape, _strides_of_units(ctx, ref, wide.shape))
    strides = _reshape_strides(ctx, ref, wide.shape)  # as NumPy does it
    return wide if strides is None else view(ref, wide.shape, strides)


def _strides_of_units(ctx: Context, ref: ArrayRef, shape: tuple[Size, ...]) -> tuple[Size, ...]:
    """Strides that NumPy's reshape gives a view with more axes of length 1: they span the longer
    axis that follows, behind the last they go in its steps."""
    pairs = zip(ref.strides, c_strides(ref.shape), strict=True)
    if all(ctx.facts.prove("==", step, packed) is True for step, packed in pairs):
        return c_strides(shape)
    longer = [(n, s) for n, s in zip(ref.shape, ref.strides) if not ctx.facts.equal(n, 1)]
    found, span = list[Size](), longer[-1][1] if longer else 1
    for n in reversed(shape):
        if not ctx.facts.equal(n, 1):
            found.append(longer[-1][1])
            span = product(longer.pop())
        else:
            found.append(span)
    return tuple(reversed(found))


def _with_units(ref: ArrayRef, new: Sequence[int]) -> ArrayRef:
    """New axes of length 1 at these places of the result."""
    shape, strides = list(ref.shape), list(ref.strides)
    for axis in sorted(new):
        shape.insert(axis, 1)
        strides.insert(axis, 0)
    return view(ref, shape, strides)


def _at_least(ndim: int, places: dict[int, tuple[int, ...]]) -> None:
    """``atleast_1d`` and its like; ``places`` says where axes are added to fewer."""

    def make(ctx: Context, *arys: Operand) -> Operand:
        refs = [as_array(ctx, a) for a in arys]
        made = [_with_units(r, places[r.ndim]) if 0 < r.ndim < ndim else
                reshaped(ctx, r, (1,) * ndim) if r.ndim < ndim else r for r in refs]
        return made[0] if len(made) == 1 else tuple(made)

    program(VIEW, f"atleast_{ndim}d", doc=f"Arrays of at least {ndim} axes.")(make)


_at_least(1, {0: (0,)})
_at_least(2, {0: (0, 1), 1: (0,)})
_at_least(3, {0: (0, 1, 2), 1: (0, 2), 2: (2,)})


@program(VIEW, "ndarray.view", of_numbers=True)
def reinterpreted(
    ctx: Context, a: Operand, dtype: Operand = None, type: Operand = None
) -> Operand:
    """The same memory as an array of another dtype."""
    if type is not None and type is not np.ndarray:
        raise ctx.refuse("view", "of another class")
    have = a.dtype
    want = have if dtype is None or dtype is np.ndarray else arguments.dtype_of(ctx, dtype, "view")
    bits = have.kind in "biuf" and want.kind in "iuf" and have.itemsize == want.itemsize
    if isinstance(a, ArrayRef) and have.itemsize != want.itemsize and is_contiguous(ctx, a):
        return resized(ctx, a, want)
    if have != want and not bits:
        raise ctx.refuse("view", f"of {have} as {want}")
    if isinstance(a, ArrayRef):
        return replace(a, dtype=want)
    return as_dtype(ctx.builder, arguments.number(ctx, a), want)


# ------------------------------------------------------------------ repetition without memory


def broadcast(ctx: Context, ref: ArrayRef, shape: tuple[Size, ...]) -> ArrayRef:
    """A read-only view of a shape that the array broadcasts to."""
    wide = layout.broadcast_shapes(ctx.facts, ref.shape, shape)
    if len(wide) != len(shape) or not all(map(ctx.facts.equal, wide, shape)):
        raise ctx.refuse("broadcast_to", "the shape does not fit: Python raises")
    strides = layout.broadcast_strides(ctx.facts, ref.shape, ref.strides, shape)
    found = view(ref, shape, strides)
    return ArrayRef(found.storage, found.geometry, found.dtype, False)


@program(VIEW, "broadcast_to")
def broadcast_to(ctx: Context, array: Operand, shape: Operand, subok: Operand = False) -> ArrayRef:
    """A read-only view of a larger shape."""
    sizes = arguments.shape_of(ctx, shape, "broadcast_to")
    return _repeated(ctx, as_array(ctx, array), sizes)


def _repeated(ctx: Context, ref: ArrayRef, shape: tuple[Size, ...]) -> ArrayRef:
    """What users see of it: axes of length 1 have stride 0, too."""
    found = broadcast(ctx, ref, shape)
    strides = [
        step * smallest(largest(n - 1, 0), 1) if not is_known(n) and step != 0
        else 0 if ctx.facts.equal(n, 1) else step
        for n, step in zip(found.shape, found.strides)
    ]
    return ArrayRef(
        found.storage, replace(found.geometry, strides=tuple(strides)), found.dtype, False
    )


@program(VIEW, "broadcast_arrays")
def broadcast_arrays(ctx: Context, *args: Operand, subok: Operand = False) -> Operand:
    """Views of one common shape."""
    refs = [as_array(ctx, a) for a in args]
    shape = layout.broadcast_shapes(ctx.facts, *(r.shape for r in refs))
    return tuple([
        r if r.ndim == len(shape) and all(map(ctx.facts.equal, r.shape, shape))
        else replace(_repeated(ctx, r, shape), writeable=None) for r in refs
    ])


@program(VIEW, "numpy.lib.stride_tricks:sliding_window_view")
def sliding_window_view(ctx: Context, x: Operand, window_shape: Operand, axis: Operand = None, *,
                        subok: Operand = False, writeable: Operand = False) -> ArrayRef:
    """A read-only view of all views of a shape; their axes come last."""
    what = "sliding_window_view"
    ref = as_array(ctx, x)
    one = not isinstance(window_shape, (tuple, list))
    sizes = [arguments.length(ctx, n, what) for n in ([window_shape] if one else window_shape)]
    every = tuple(range(ref.ndim))
    given = every if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = [axis_in(ctx, k, ref.ndim, what) for k in given]
    if len(axes) != len(sizes):
        raise ctx.refuse(what, "other axes than views: Python raises")
    shape = list(ref.shape)
    for k, size in zip(axes, sizes, strict=True):
        arguments.require(ctx, "<=", size, shape[k], f"{what}: a view longer than its axis")
        shape[k] = shape[k] - size + 1
    found = view(ref, (*shape, *sizes), (*ref.strides, *(ref.strides[k] for k in axes)))
    return found if arguments.truth(ctx, writeable, what) else replace(found, writeable=False)


# ------------------------------------------------------------------ attributes


def _part(ctx: Context, value: Operand, which: str) -> Operand:
    from npcompile.ops import complexes

    found: Operand = getattr(complexes, f"{which}_part")(ctx, value)
    return found


def _size(ctx: Context, size: Size) -> Operand:
    """A size as the program sees it: an int, or a traced one."""
    size = ctx.facts.norm(size)
    return size if isinstance(size, int) else ctx.builder.size(size)


def _bytes(ctx: Context, ref: ArrayRef) -> int:
    return ref.dtype.itemsize * (2 if ref.geometry.part else 1)


ATTRIBUTES: dict[str, Callable[[Context, ArrayRef], Operand]] = {
    "shape": lambda ctx, ref: tuple(_size(ctx, n) for n in ref.shape),
    "ndim": lambda ctx, ref: ref.ndim,
    "size": lambda ctx, ref: _size(ctx, a_size(ref)),
    "dtype": lambda ctx, ref: ref.dtype,
    "itemsize": lambda ctx, ref: ref.dtype.itemsize,
    "nbytes": lambda ctx, ref: _size(ctx, a_size(ref) * ref.dtype.itemsize),
    "strides": lambda ctx, ref: tuple(_size(ctx, s * _bytes(ctx, ref)) for s in ref.strides),
    "T": lambda ctx, ref: permuted(ref, range(ref.ndim)[::-1]),
    "mT": lambda ctx, ref: matrix_transpose(ctx, ref),
    "real": lambda ctx, ref: _part(ctx, ref, "real"),
    "imag": lambda ctx, ref: _part(ctx, ref, "imag"),
}


def attribute(ctx: Context, value: ArrayRef | Node, name: str) -> Operand:
    """``value.name`` of an array, or the parts of a number."""
    if not isinstance(value, ArrayRef):
        if name not in ("real", "imag") or not isinstance(value, Node):
            raise ctx.refuse(f".{name}", "of a number is left to Python")
        return _part(ctx, value, name)
    if name not in ATTRIBUTES:
        raise ctx.refuse(f".{name}", "of an array is left to Python")
    if name == "strides":
        if any(n == 1 for n in map(ctx.facts.norm, value.shape)):
            raise ctx.refuse(".strides", "of an axis of length 1")
        if ctx.facts.equal(a_size(value), 0):
            raise ctx.refuse(".strides", "of an array without elements")
        ctx.facts.rests_on_all_strides()
    return ATTRIBUTES[name](ctx, value)
