"""Arrays out of numbers: filled, counted, copied from lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.core.sizes import Size
from npcompile.graph import layout
from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, FLOAT, Array, c_strides
from npcompile.ops import arguments, views
from npcompile.ops.arguments import as_array, dtype_of, program, shape_of
from npcompile.ops.assignment import assigned, fitted
from npcompile.ops.indexing import setitem
from npcompile.ops.operands import ArrayRef, Context, Operand

CREATION = arguments.program_kind("creation")

def _ordered(ctx: Context, shape: tuple[Size, ...], order: Operand) -> tuple[Size, ...]:
    if order in ("C", None, "A", "K"):
        return c_strides(shape)
    if order == "F":
        return layout.fresh_strides(shape, range(len(shape))[::-1])
    raise ctx.refuse("creation", f"order={order!r}")


def filled(ctx: Context, shape: tuple[Size, ...], value: Operand, dtype: np.dtype[Any],
           strides: tuple[Size, ...] | None = None) -> ArrayRef:
    """A fresh array of one value; of undefined contents where ``value`` is None."""
    kind = Array(dtype, shape, c_strides(shape) if strides is None else strides)
    if value is None:
        return ctx.new(ctx.builder.emit("empty", (), None, kind))
    node = arguments.scalar_to(ctx, value, dtype)
    return ctx.new(ctx.builder.emit("full", (node,), None, kind))


def _maker(name: str, value: int | None) -> None:
    """``zeros``, ``ones`` or ``empty``, and its ``_like``."""

    def make(ctx: Context, shape: Operand, dtype: Operand = None, order: Operand = "C", *,
             device: Operand = None, like: Operand = None) -> ArrayRef:
        kind = FLOAT if dtype is None else dtype_of(ctx, dtype, name)
        sizes = shape_of(ctx, shape, name)
        return filled(ctx, sizes, value, kind, _ordered(ctx, sizes, order))

    def make_like(ctx: Context, a: Operand, dtype: Operand = None, order: Operand = "K",
                  subok: Operand = True, shape: Operand = None, *,
                  device: Operand = None) -> ArrayRef:
        return _like(ctx, f"{name}_like", a, value, dtype, order, shape)

    program(CREATION, name, doc=f"A fresh array: {name}.")(make)
    program(CREATION, f"{name}_like", doc=f"A fresh array: {name}.")(make_like)


def _like(ctx: Context, name: str, a: Operand, value: Operand, dtype: Operand, order: Operand,
          shape: Operand) -> ArrayRef:
    """A fresh array of another's shape, dtype and layout, unless they are given."""
    if not isinstance(a, ArrayRef):
        raise ctx.refuse(name, "the prototype is no array")
    kind = a.dtype if dtype is None else dtype_of(ctx, dtype, name)
    sizes = a.shape if shape is None else shape_of(ctx, shape, name)
    if order == "A":
        order = views.order_in(ctx, a, order, name)
    if order == "K" and len(sizes) == a.ndim:
        strides = layout.like_strides(ctx.facts, a.shape, a.steps, sizes)
    else:
        strides = _ordered(ctx, sizes, order)
    return filled(ctx, sizes, value, kind, strides)


def like_strides(ctx: Context, a: ArrayRef) -> tuple[Size, ...]:
    """Strides in K order of the array itself."""
    return layout.like_strides(ctx.facts, a.shape, a.steps)


for _name, _value in (("zeros", 0), ("ones", 1), ("empty", None)):
    _maker(_name, _value)


@program(CREATION, "full")
def full(ctx: Context, shape: Operand, fill_value: Operand, dtype: Operand = None,
         order: Operand = "C", *, device: Operand = None, like: Operand = None) -> ArrayRef:
    """A fresh array of one value, or of the values of an array that broadcasts."""
    if dtype is None:
        kind = arguments.operand_dtype(as_array(ctx, fill_value)
                                       if isinstance(fill_value, (list, tuple)) else fill_value)
    else:
        kind = dtype_of(ctx, dtype, "full")
    sizes = shape_of(ctx, shape, "full")
    return _filled_from(ctx, sizes, fill_value, kind, _ordered(ctx, sizes, order))


@program(CREATION, "full_like")
def full_like(ctx: Context, a: Operand, fill_value: Operand, dtype: Operand = None,
              order: Operand = "K", subok: Operand = True, shape: Operand = None, *,
              device: Operand = None) -> ArrayRef:
    """A fresh array like another, of one value."""
    if arguments.is_number(fill_value):
        return _like(ctx, "full_like", a, fill_value, dtype, order, shape)
    out = _like(ctx, "full_like", a, None, dtype, order, shape)
    return _assign(ctx, out, fill_value)


def _filled_from(ctx: Context, shape: tuple[Size, ...], value: Operand, dtype: np.dtype[Any],
                 strides: tuple[Size, ...]) -> ArrayRef:
    if arguments.is_number(value):
        return filled(ctx, shape, value, dtype, strides)
    return _assign(ctx, filled(ctx, shape, None, dtype, strides), value)


def _assign(ctx: Context, out: ArrayRef, value: Operand) -> ArrayRef:
    ctx.write(out, assigned(ctx, out, value))
    return out


# ------------------------------------------------------------------ from other arrays


@program(CREATION, "array")
def array(ctx: Context, object: Operand, dtype: Operand = None, *, copy: Operand = True,
          order: Operand = "K", subok: Operand = False, ndmin: Operand = 0,
          like: Operand = None) -> ArrayRef:
    """A fresh array of numbers, nested lists or another array."""
    found = _as(ctx, "array", object, dtype, order, copy)
    missing = max(arguments.static_int(ctx, ndmin, "array") - found.ndim, 0)
    if not missing:
        return found
    turned = found.ndim > 1 and views.is_fortran(ctx, found) and not views.is_contiguous(ctx, found)
    step = 1 if turned or not found.ndim else found.shape[0] * found.strides[0]
    shape, strides = (*[1] * missing, *found.shape), (*[step] * missing, *found.strides)
    return arguments.view(found, shape, strides)


def _as(ctx: Context, name: str, source: Operand, dtype: Operand, order: Operand,
        copy: Operand) -> ArrayRef:
    """An array of these contents; the array itself where nothing must change."""
    kind = None if dtype is None else dtype_of(ctx, dtype, name)
    if isinstance(copy, np._CopyMode):
        copy = {"ALWAYS": True, "IF_NEEDED": None, "NEVER": False}[copy.name]
    if copy not in (True, False, None):
        raise ctx.refuse(name, f"copy={copy!r}")
    if not isinstance(source, ArrayRef) and copy is not False:
        found = as_array(ctx, source, kind)
        if order == "F" and found.ndim > 1:
            raise ctx.refuse(name, "order='F' of a list")
        return found
    if not isinstance(source, ArrayRef):
        raise ctx.refuse(name, "copy=False of what is no array: Python raises")
    layouts = {"K": True, None: True, "A": True}
    fits = layouts.get(order) or (
        views.is_contiguous(ctx, source) if order == "C" else views.is_fortran(ctx, source)
    )
    same = kind is None or kind == source.dtype
    if not copy and same and fits:
        return source
    if copy is False:
        raise ctx.refuse(name, "copy=False where a copy is needed: Python raises")
    wanted = views.order_in(ctx, source, "K" if order is None else order, name)
    if order == "A" and wanted == "C" and not same:  # NumPy asks for order F, or for none
        wanted = "K"
    if kind is not None and source.dtype.kind == "c" and kind.kind not in "cb":
        raise ctx.refuse(name, "complex to real warns")
    return views.copied(ctx, source, wanted, kind)


def _as_program(name: str) -> None:
    def make(ctx: Context, a: Operand, dtype: Operand = None, order: Operand = None, *,
             device: Operand = None, copy: Operand = None, like: Operand = None) -> ArrayRef:
        return _as(ctx, name, a, dtype, order, copy)

    program(CREATION, name, doc="The array itself, or a fresh one where it must change.")(make)


_as_program("asarray")
_as_program("asanyarray")


def _contiguous(name: str, order: str) -> None:
    def make(ctx: Context, a: Operand, dtype: Operand = None, *, like: Operand = None) -> ArrayRef:
        found = _as(ctx, name, a, dtype, order, None)
        return found if found.ndim else arguments.view(found, (1,), (1,))

    program(CREATION, name,
            doc=f"The array itself if it is contiguous in {order} order, or a copy.")(make)


_contiguous("ascontiguousarray", "C")
_contiguous("asfortranarray", "F")


# ------------------------------------------------------------------ filling


@program(CREATION, "ndarray.fill")
def fill(ctx: Context, a: ArrayRef, value: Operand) -> None:
    """All elements set to one number."""
    if not arguments.is_number(value):
        raise ctx.refuse("fill", "with what is no number")
    setitem(ctx, a, Ellipsis, value)


@program(CREATION, "copyto", lists_are_arrays=arguments.no_call)
def copyto(ctx: Context, dst: Operand, src: Operand, casting: Operand = "same_kind",
           where: Operand = True) -> None:
    """``dst[...] = src``, where a mask is true."""
    if not isinstance(dst, ArrayRef) or not dst.writeable:
        raise ctx.refuse("copyto", "the destination is no writeable array: Python raises")
    if isinstance(src, (list, tuple)):
        src = as_array(ctx, src)
    weak, source = arguments.is_weak(src), arguments.operand_dtype(src)
    if source.kind == "c" and dst.dtype.kind != "c":
        raise ctx.refuse("copyto", "complex numbers to others: Python raises or warns")
    if not _copies(source, dst.dtype, casting, weak):
        raise ctx.refuse("copyto", f"{source} to {dst.dtype}: Python raises")
    if arguments.is_number(src) and not weak:
        value = ctx.builder.cast(arguments.number(ctx, src), dst.dtype)
    else:
        value = assigned(ctx, dst, src)
    ctx.write(dst, value, _mask(ctx, dst, where))


def _copies(source: np.dtype[Any], target: np.dtype[Any], casting: Operand, weak: bool) -> bool:
    """Whether ``copyto`` takes it; of a Python number only the kind counts."""
    if not weak:
        return bool(np.can_cast(source, target, casting))
    kinds = "biufc"
    widens = kinds.index(source.kind) <= kinds.index(target.kind)
    return widens or (source.kind, target.kind) == ("i", "u")


def _mask(ctx: Context, dst: ArrayRef, where: Operand) -> Node | None:
    if arguments.static(where) is True:
        return None
    if not isinstance(where, ArrayRef) or where.dtype != BOOL:
        raise ctx.refuse("copyto", "where= is no array of bool")
    return ctx.read(fitted(ctx, where, dst.shape))
