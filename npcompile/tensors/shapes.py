"""Views of tensors, copies, and tensors put together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npcompile.core.sizes import Size, product
from npcompile.graph.ir import Node
from npcompile.graph.types import PY_BOOL, PY_COMPLEX, PY_FLOAT, PY_INT, Array, c_strides
from npcompile.ops import views
from npcompile.ops.arguments import (
    axes_in,
    axis_in,
    element,
    integer,
    require,
    view,
)
from npcompile.ops.elementwise import py_scalar, run
from npcompile.ops.operands import ArrayRef, Context, Operand, Tensor
from npcompile.tensors.elementwise import (
    cast,
    laid_out,
    refuse_rounding_twice,
    result_strides,
)
from npcompile.tensors.promotion import result_dtype
from npcompile.tensors.tensor_functions import dtype_in, moving, result, tensor
from npcompile.tensors.tensor_memory import torch_dtype

_PYTHON = {"b": PY_BOOL, "i": PY_INT, "u": PY_INT, "f": PY_FLOAT, "c": PY_COMPLEX}


@moving("Tensor.item")
def item(ctx: Context, input: Operand) -> Node:
    """The only element as a number of Python's."""
    ref = tensor(ctx, input, "item")
    for n in ref.shape:
        require(ctx, "==", n, 1, "item of several elements")
    node = element(ctx, view(ref, (), ()))
    return py_scalar(ctx, node, _PYTHON[node.dtype.kind])


# ------------------------------------------------------------------ sizes


def number_of(ctx: Context, n: Size) -> Operand:
    """A size as an operand."""
    n = ctx.facts.norm(n)
    return n if isinstance(n, int) else ctx.builder.size(n)


@moving("Tensor.size")
def size(ctx: Context, input: Operand, dim: Operand) -> Operand:
    """The length of an axis."""
    ref = tensor(ctx, input, "size")
    return number_of(ctx, ref.shape[axis_in(ctx, dim, ref.ndim, "size")])


@moving("numel", "Tensor.nelement")
def numel(ctx: Context, input: Operand) -> Operand:
    """The number of elements."""
    return number_of(ctx, product(tensor(ctx, input, "numel").shape))


@moving("Tensor.dim", "Tensor.ndimension")
def dim(ctx: Context, input: Operand) -> Operand:
    """The number of axes."""
    return tensor(ctx, input, "dim").ndim


# ------------------------------------------------------------------ order of axes


def _turned(ctx: Context, input: Operand, order: Sequence[int], what: str) -> Tensor:
    ref = tensor(ctx, input, what)
    return Tensor(views.permuted(ref, order))


@moving("t")
def t(ctx: Context, input: Operand) -> Tensor:
    """A matrix with its axes exchanged."""
    ndim = tensor(ctx, input, "t").ndim
    if ndim > 2:
        raise ctx.refuse("t", "of more than two axes: Python raises")
    return _turned(ctx, input, range(ndim)[::-1], "t")


@moving("transpose", "swapaxes", "swapdims")
def transpose(ctx: Context, input: Operand, dim0: Operand, dim1: Operand) -> Tensor:
    """Two axes exchanged."""
    ndim = tensor(ctx, input, "transpose").ndim
    i, j = (axis_in(ctx, k, ndim, "transpose") for k in (dim0, dim1))
    order = list(range(ndim))
    order[i], order[j] = j, i
    return _turned(ctx, input, order, "transpose")


def _many(given: tuple[Operand, ...]) -> Operand:
    """Arguments that may come as one tuple."""
    return given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given


@moving("permute")
def permute(ctx: Context, input: Operand, *dims: Operand) -> Tensor:
    """Axes in another order."""
    ndim = tensor(ctx, input, "permute").ndim
    order = axes_in(ctx, _many(dims), ndim, "permute") if dims else ()
    if not dims or len(order) != ndim:
        raise ctx.refuse("permute", "of other axes: Python raises")
    return _turned(ctx, input, order, "permute")


# ------------------------------------------------------------------ shape


def _shaped(ctx: Context, input: Operand, shape: Operand, what: str, copies: bool) -> Tensor:
    ref = tensor(ctx, input, what)
    if views.is_contiguous(ctx, ref):
        made = views.reshape(ctx, ref, shape)
        return Tensor(view(made, made.shape, made.strides))
    sizes, _ = views.new_shape(ctx, ref, shape)
    strides = _view_strides(ctx, ref, sizes)
    if strides is not None:
        return Tensor(view(ref, sizes, strides))
    if not copies:
        raise ctx.refuse(what, "of a tensor that is not contiguous: Python raises")
    made = views.copied(ctx, ref)
    return Tensor(view(made, sizes, c_strides(sizes)))


def _view_strides(
    ctx: Context, ref: ArrayRef, shape: tuple[Size, ...]
) -> tuple[Size, ...] | None:
    """Strides of a view of another shape, as torch chooses those of axes of length 1; None where
    only a copy has it."""
    equal = ctx.facts.equal
    for n in ref.shape:
        require(ctx, "<", 0, n, "reshape of no elements")
    strides: list[Size] = []
    left = list(shape)
    for held, step in _runs(ctx, ref):
        taken: Size = 1
        while left and (not equal(taken, held) or equal(left[-1], 1)):
            if not equal(taken, 1) and not ctx.facts.less(taken, held) and not equal(left[-1], 1):
                return None
            strides.append(taken * step)
            taken = taken * left.pop()
        if not equal(taken, held):
            return None
    return tuple(strides[::-1])


def _runs(ctx: Context, ref: ArrayRef) -> list[tuple[Size, Size]]:
    """The runs of axes that are one row of memory: their numbers of elements and steps, last
    first."""
    equal = ctx.facts.equal
    held: Size = 1
    step: Size = ref.strides[-1] if ref.ndim else 1
    runs: list[tuple[Size, Size]] = []
    for k in range(ref.ndim)[::-1]:
        held = held * ref.shape[k]
        before = k - 1
        if before < 0 or not (
            equal(ref.shape[before], 1) or equal(ref.strides[before], held * step)
        ):
            runs.append((held, step))
            held, step = 1, ref.strides[before]
    return runs


@moving("Tensor.reshape")
def reshape(ctx: Context, input: Operand, *shape: Operand) -> Tensor:
    """Another shape."""
    return _shaped(ctx, input, _many(shape), "reshape", True)


@moving("reshape", method=False)
def reshape_to(ctx: Context, input: Operand, shape: Operand) -> Tensor:
    """Another shape, given as one."""
    if not isinstance(shape, (tuple, list)):
        raise ctx.refuse("reshape", "to what is no shape: Python raises")
    return _shaped(ctx, input, shape, "reshape", True)


@moving("Tensor.view")
def view_as(ctx: Context, input: Operand, *shape: Operand) -> Tensor:
    """A view of another shape."""
    return _shaped(ctx, input, _many(shape), "view", False)


@moving("flatten")
def flatten(ctx: Context, input: Operand, start_dim: Operand = 0, end_dim: Operand = -1) -> Tensor:
    """One axis in the place of some; the tensor itself, if it is one already."""
    ref = tensor(ctx, input, "flatten")
    if not ref.ndim:
        return _shaped(ctx, input, (1,), "flatten", True)
    first, last = (axis_in(ctx, k, ref.ndim, "flatten") for k in (start_dim, end_dim))
    if first == last:
        return Tensor(ref)
    if first > last:
        raise ctx.refuse("flatten", "of no axes: Python raises")
    one = product(ref.shape[first:last + 1])
    shape = (*ref.shape[:first], one, *ref.shape[last + 1:])
    return _shaped(ctx, input, tuple([number_of(ctx, n) for n in shape]), "flatten", True)


@moving("ravel")
def ravel(ctx: Context, input: Operand) -> Tensor:
    """One axis, whose elements lie side by side."""
    return _shaped(ctx, contiguous(ctx, input), (-1,), "ravel", False)


@moving("unsqueeze")
def unsqueeze(ctx: Context, input: Operand, dim: Operand) -> Tensor:
    """A new axis of length 1."""
    ref = tensor(ctx, input, "unsqueeze")
    at = axis_in(ctx, dim, ref.ndim + 1, "unsqueeze")
    step: Size = 1 if at == ref.ndim else ref.shape[at] * ref.strides[at]
    shape, strides = list(ref.shape), list(ref.strides)
    shape.insert(at, 1)
    strides.insert(at, step)
    return Tensor(view(ref, shape, strides))


@moving("squeeze")
def squeeze(ctx: Context, input: Operand, dim: Operand = None) -> Tensor:
    """Axes of length 1 dropped."""
    ref = tensor(ctx, input, "squeeze")
    over = range(ref.ndim) if dim is None else axes_in(ctx, dim, ref.ndim, "squeeze")
    drop = [k for k in over if ctx.facts.equal(ref.shape[k], 1)]
    return Tensor(views.permuted(ref, [k for k in range(ref.ndim) if k not in drop]))


@moving("Tensor.expand", "broadcast_to")
def expand(ctx: Context, input: Operand, *sizes: Operand) -> Tensor:
    """A view that repeats axes of length 1."""
    ref = tensor(ctx, input, "expand")
    items = _many(sizes)
    assert isinstance(items, (tuple, list))
    extra = len(items) - ref.ndim
    shape: list[Size] = []
    strides: list[Size] = []
    for k, given in enumerate(items):
        wanted = integer(ctx, given, "expand")
        if k < extra:
            require(ctx, "<=", 0, wanted, "expand: a negative length")
            shape.append(wanted)
            new = ref.ndim > 0 and ctx.facts.equal(wanted, 1)  # torch has no steps else
            strides.append(-1 if new else 0)
            continue
        n, step = ref.shape[k - extra], ref.strides[k - extra]
        kept = ctx.facts.equal(wanted, -1) or ctx.facts.equal(wanted, n)
        if not kept and not ctx.facts.equal(n, 1):
            raise ctx.refuse("expand", "of an axis that is longer than 1: Python raises")
        require(ctx, "<=", -1, wanted, "expand: a negative length")
        shape.append(n if kept else wanted)
        strides.append(step if kept else 0)
    for k in range(extra)[::-1]:  # a new axis of length 1 lies before all that come after it
        if strides[k] == -1:
            strides[k] = shape[k + 1] * strides[k + 1] if k + 1 < len(shape) else 1
    return Tensor(view(ref, shape, strides))


# ------------------------------------------------------------------ copies


def copied(ctx: Context, ref: ArrayRef, strides: tuple[Size, ...]) -> Tensor:
    """A fresh tensor with these strides."""
    kind = Array(ref.dtype, ref.shape, strides)
    return Tensor(ctx.new(ctx.builder.emit("copy", (ctx.read(ref),), None, kind)))


@moving("clone")
def clone(ctx: Context, input: Operand) -> Tensor:
    """A copy, laid out alike."""
    ref = tensor(ctx, input, "clone")
    return copied(ctx, ref, result_strides(ctx, ref.shape, [ref]))


@moving("Tensor.contiguous")
def contiguous(ctx: Context, input: Operand) -> Tensor:
    """The tensor itself if it is contiguous, else a copy that is."""
    ref = tensor(ctx, input, "contiguous")
    if views.is_contiguous(ctx, ref):
        return Tensor(ref)
    return copied(ctx, ref, c_strides(ref.shape))


@moving("detach")
def detach(ctx: Context, input: Operand) -> Tensor:
    """Another object of the same memory."""
    ref = tensor(ctx, input, "detach")
    return Tensor(view(ref, ref.shape, ref.strides))


@moving("Tensor.to", "Tensor.type")
def to(ctx: Context, input: Operand, dtype: Operand) -> Tensor:
    """The tensor as another dtype: itself, if it has that."""
    ref = tensor(ctx, input, "to")
    kind = dtype_in(ctx, dtype, "to", half=True)
    refuse_rounding_twice(ctx, ref.dtype, kind)
    if kind == ref.dtype:
        return Tensor(ref)
    if (ref.dtype.kind == "f" and kind.kind in "iu") or (
            ref.dtype.kind == "c" and kind.kind not in "cb"):
        raise ctx.refuse("to", "floats to integers, or complex numbers to real ones")
    made = ctx.new(ctx.builder.cast(ctx.read(ref), kind))
    return Tensor(laid_out(ctx, made, result_strides(ctx, ref.shape, [ref])))


def _converter(name: str, dtype: str) -> None:
    @moving(f"Tensor.{name}")
    def convert(ctx: Context, input: Operand) -> Tensor:
        """The tensor as another dtype."""
        return to(ctx, input, torch_dtype(np.dtype(dtype)))


for _name, _kind in [("float", "float32"), ("double", "float64"), ("int", "int32"),
                     ("long", "int64"), ("short", "int16"), ("bool", "bool"), ("byte", "uint8"),
                     ("char", "int8"), ("half", "float16"), ("cfloat", "complex64"),
                     ("cdouble", "complex128")]:
    _converter(_name, _kind)


@moving("flip")
def flip(ctx: Context, input: Operand, *dims: Operand) -> Tensor:
    """A copy with some axes backwards."""
    ref = tensor(ctx, input, "flip")
    strides = result_strides(ctx, ref.shape, [ref])
    turned = run(ctx, "flip", ref, axis=axes_in(ctx, _many(dims), ref.ndim, "flip"))
    return copied(ctx, turned, strides)


# ------------------------------------------------------------------ put together


def _joined(ctx: Context, what: str, tensors: Operand, dim: Operand, more: int) -> Tensor:
    if not isinstance(tensors, (tuple, list)) or not tensors:
        raise ctx.refuse(what, "of no sequence of tensors")
    refs = [tensor(ctx, x, what) for x in tensors]
    if not all(ref.ndim == refs[0].ndim for ref in refs) or refs[0].ndim + more == 0:
        raise ctx.refuse(what, "of tensors of unlike ranks")
    dtype = result_dtype(ctx, tensors, what)
    if any(not views.is_contiguous(ctx, ref) for ref in refs):
        raise ctx.refuse(what, "of tensors that are not contiguous")
    axis = axis_in(ctx, dim, refs[0].ndim + more, what)
    arrays = [cast(ctx, x, dtype) if x.memory.ndim else x.memory for x in tensors]
    if any(isinstance(a, ArrayRef) and a.dtype != dtype for a in arrays):
        raise ctx.refuse(what, "of tensors without axes of unlike dtypes")
    return result(ctx, run(ctx, "stack" if more else "concatenate", arrays, axis=axis))


@moving("cat", "concat", "concatenate")
def cat(ctx: Context, tensors: Operand, dim: Operand = 0) -> Tensor:
    """Tensors one after the other."""
    return _joined(ctx, "cat", tensors, dim, 0)


@moving("stack")
def stack(ctx: Context, tensors: Operand, dim: Operand = 0) -> Tensor:
    """Tensors side by side along a new axis."""
    return _joined(ctx, "stack", tensors, dim, 1)
