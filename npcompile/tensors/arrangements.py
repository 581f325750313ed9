"""Tensors put in another order, cut into pieces and put together: views and copies."""

from __future__ import annotations

from npcompile.core.sizes import Size, floordiv
from npcompile.graph import layout
from npcompile.graph.types import c_strides
from npcompile.ops import selection, views
from npcompile.ops.arguments import (
    axes_in,
    axis_in,
    integer,
    length,
    pinned,
    require,
    static,
    static_int,
    view,
)
from npcompile.ops.elementwise import run
from npcompile.ops.operands import ArrayRef, Context, Operand, Tensor
from npcompile.tensors import shapes
from npcompile.tensors.tensor_functions import moving, result, tensor

# ------------------------------------------------------------------ other orders


@moving("roll")
def roll(ctx: Context, input: Operand, shifts: Operand, dims: Operand = None) -> Tensor:
    """Elements moved along axes, or along all as one."""
    ref = tensor(ctx, input, "roll")
    steps = shifts if isinstance(shifts, (tuple, list)) else (shifts,)
    along = () if dims is None else axes_in(ctx, dims, ref.ndim, "roll")
    if dims in ((), []) or not ref.ndim or len(steps) != max(len(along), 1):
        raise ctx.refuse("roll", "of shifts and axes that torch takes otherwise")
    if dims is None:
        return result(ctx, run(ctx, "roll", ref, steps[0]))
    return result(ctx, run(ctx, "roll", ref, tuple(steps), along))


def _half(name: str) -> None:
    @moving(name)
    def keep(ctx: Context, input: Operand, diagonal: Operand = 0) -> Tensor:
        """The triangle above or below a diagonal; else 0."""
        ref = tensor(ctx, input, name)
        if ref.ndim < 2:
            raise ctx.refuse(name, "of less than two axes: Python raises")
        return result(ctx, run(ctx, name, ref, static_int(ctx, diagonal, name)))


for _name in ("tril", "triu"):
    _half(_name)


@moving("diagonal")
def diagonal(ctx: Context, input: Operand, offset: Operand = 0, dim1: Operand = 0,
             dim2: Operand = 1) -> Tensor:
    """The view of a diagonal as the last axis."""
    ref = tensor(ctx, input, "diagonal")
    if ref.ndim < 2:
        raise ctx.refuse("diagonal", "of less than two axes: Python raises")
    first, second = axes_in(ctx, (dim1, dim2), ref.ndim, "diagonal")
    place = static_int(ctx, offset, "diagonal")
    return Tensor(selection.diagonal_of(ctx, ref, place, (first, second)))


@moving("linalg.diagonal")
def diagonal_of_matrices(ctx: Context, A: Operand, *, offset: Operand = 0, dim1: Operand = -2,
                         dim2: Operand = -1) -> Tensor:
    """The view of the diagonals of matrices."""
    return diagonal(ctx, A, offset, dim1, dim2)


@moving("diagonal_copy", method=False)
def diagonal_copy(ctx: Context, input: Operand, offset: Operand = 0, dim1: Operand = 0,
                  dim2: Operand = 1) -> Tensor:
    """A copy of a diagonal."""
    return fresh(ctx, diagonal(ctx, input, offset, dim1, dim2))


@moving("diag")
def diag(ctx: Context, input: Operand, diagonal: Operand = 0) -> Tensor:
    """The matrix with a diagonal, or a copy of the diagonal of a matrix."""
    ref, place = tensor(ctx, input, "diag"), static_int(ctx, diagonal, "diag")
    if ref.ndim not in (1, 2):
        raise ctx.refuse("diag", "of neither a vector nor a matrix: Python raises")
    if ref.ndim == 1:
        return result(ctx, run(ctx, "diag", ref, place))
    return fresh(ctx, Tensor(selection.diagonal_of(ctx, ref, place, (0, 1))))


@moving("diagflat")
def diagflat(ctx: Context, input: Operand, offset: Operand = 0) -> Tensor:
    """The matrix whose diagonal has all elements of a tensor."""
    flat = shapes.reshape(ctx, input, -1)
    return diag(ctx, flat, offset)


def fresh(ctx: Context, x: Tensor) -> Tensor:
    """A contiguous copy."""
    return shapes.copied(ctx, x.memory, c_strides(x.memory.shape))


@moving("moveaxis", "movedim")
def moveaxis(ctx: Context, input: Operand, source: Operand, destination: Operand) -> Tensor:
    """The view with some axes at other places."""
    ref = tensor(ctx, input, "moveaxis")
    made = run(ctx, "moveaxis", ref, source, destination)
    assert isinstance(made, ArrayRef)
    return Tensor(made)


@moving("adjoint")
def adjoint(ctx: Context, input: Operand) -> Tensor:
    """The transposed matrices of real numbers."""
    ref = tensor(ctx, input, "adjoint")
    if ref.dtype.kind == "c" or ref.ndim < 2:
        raise ctx.refuse("adjoint", "of complex numbers, or of less than two axes")
    return shapes.transpose(ctx, input, -2, -1)


def _flipped(name: str, axis: int) -> None:
    @moving(name)
    def flip(ctx: Context, input: Operand) -> Tensor:
        """A copy with one axis backwards."""
        return shapes.flip(ctx, input, (axis,))


_flipped("flipud", 0)
_flipped("fliplr", 1)


@moving("rot90")
def rot90(ctx: Context, input: Operand, k: Operand = 1, dims: Operand = (0, 1)) -> Tensor:
    """A quarter turn of a copy, k times."""
    ref = tensor(ctx, input, "rot90")
    first, second = axes_in(ctx, dims, ref.ndim, "rot90")
    quarters = static_int(ctx, k, "rot90") % 4
    if quarters == 0:
        return fresh(ctx, Tensor(ref))
    if quarters == 2:
        return shapes.flip(ctx, input, (first, second))
    turned = shapes.flip(ctx, input, (second if quarters == 1 else first,))
    return shapes.transpose(ctx, turned, first, second)


# ------------------------------------------------------------------ other shapes


@moving("atleast_1d", method=False)
def atleast_1d(ctx: Context, *tensors: Operand) -> Operand:
    """At least one axis."""
    return _at_least(ctx, tensors, {0: (0,)})


@moving("atleast_2d", method=False)
def atleast_2d(ctx: Context, *tensors: Operand) -> Operand:
    """At least two axes."""
    return _at_least(ctx, tensors, {0: (0, 0), 1: (0,)})


@moving("atleast_3d", method=False)
def atleast_3d(ctx: Context, *tensors: Operand) -> Operand:
    """At least three axes."""
    return _at_least(ctx, tensors, {0: (0, 0, 0), 1: (0, -1), 2: (-1,)})


def _at_least(
    ctx: Context, tensors: tuple[Operand, ...], more: dict[int, tuple[int, ...]]
) -> Operand:
    one = len(tensors) == 1 and isinstance(tensors[0], Tensor)
    items = tensors if one or len(tensors) != 1 else tensors[0]
    if not isinstance(items, (tuple, list)):
        raise ctx.refuse("atleast_1d", "of no tensors: Python raises")
    found = []
    for x in items:
        for place in more.get(tensor(ctx, x, "atleast_1d").ndim, ()):
            x = shapes.unsqueeze(ctx, x, place)
        found.append(x)
    return found[0] if one else tuple(found)


@moving("unflatten")
def unflatten(ctx: Context, input: Operand, dim: Operand, sizes: Operand) -> Tensor:
    """One axis as several."""
    ref = tensor(ctx, input, "unflatten")
    at = axis_in(ctx, dim, ref.ndim, "unflatten")
    if not isinstance(sizes, (tuple, list)) or not sizes:
        raise ctx.refuse("unflatten", "into no sizes: Python raises")
    known = [integer(ctx, n, "unflatten") for n in sizes]
    if any(ctx.facts.prove("<", n, 0) is not False for n in known):
        raise ctx.refuse("unflatten", "into sizes of which one may be -1")
    total: Size = 1
    for n in known:
        total = total * n
    require(ctx, "==", total, ref.shape[at], "unflatten: another number of elements")
    steps, step = [], ref.strides[at]
    for n in known[::-1]:
        steps.append(step)
        step = step * n
    return Tensor(view(ref, [*ref.shape[:at], *known, *ref.shape[at + 1 :]],
                       [*ref.strides[:at], *steps[::-1], *ref.strides[at + 1 :]]))


@moving("Tensor.view_as", "Tensor.reshape_as")
def reshape_as(ctx: Context, input: Operand, other: Operand) -> Tensor:
    """The shape of another tensor."""
    ref = tensor(ctx, other, "view_as")
    return shapes.view_as(ctx, input, tuple(_number(ctx, n) for n in ref.shape))


def _number(ctx: Context, size: Size) -> Operand:
    size = ctx.facts.norm(size)
    return size if isinstance(size, int) else ctx.builder.size(size)


@moving("Tensor.expand_as")
def expand_as(ctx: Context, input: Operand, other: Operand) -> Tensor:
    """A view that repeats axes of length 1."""
    ref = tensor(ctx, other, "expand_as")
    return shapes.expand(ctx, input, tuple(_number(ctx, n) for n in ref.shape))


@moving("broadcast_tensors", method=False)
def broadcast_tensors(ctx: Context, *tensors: Operand) -> tuple[Tensor, ...]:
    """Views of one shape."""
    items = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    refs = [tensor(ctx, x, "broadcast_tensors") for x in items]
    wide: tuple[Size, ...] = ()
    for ref in refs:
        wide = layout.broadcast_shapes(ctx.facts, wide, ref.shape)
    return tuple([Tensor(views.broadcast(ctx, ref, wide)) for ref in refs])


@moving("meshgrid", method=False)
def meshgrid(ctx: Context, *tensors: Operand, indexing: Operand = None) -> tuple[Tensor, ...]:
    """Coordinates as views of one shape."""
    items = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    refs = [tensor(ctx, x, "meshgrid") for x in items]
    if indexing not in ("ij", "xy") or any(ref.ndim != 1 for ref in refs):
        raise ctx.refuse("meshgrid", "without indexing=: torch warns, or of other than vectors")
    if any(ref.dtype != refs[0].dtype for ref in refs):
        raise ctx.refuse("meshgrid", "of unlike dtypes: Python raises")
    order = list(range(len(refs)))
    if indexing == "xy" and len(refs) > 1:
        order[:2] = [1, 0]
    wide = tuple([ref.shape[0] for ref in refs])
    found = []
    for k, ref in enumerate(refs):
        strides: list[Size] = [0] * len(refs)
        strides[k] = ref.strides[0]
        found.append(Tensor(views.permuted(view(ref, wide, strides), order)))
    return tuple(found)


# ------------------------------------------------------------------ pieces


@moving("narrow")
def narrow(ctx: Context, input: Operand, dim: Operand, start: Operand, length: Operand) -> Tensor:
    """The view of some places of an axis."""
    ref = tensor(ctx, input, "narrow")
    if isinstance(start, Tensor) or ref.ndim == 0:
        raise ctx.refuse("narrow", "from a tensor, or of no axes")
    axis = axis_in(ctx, dim, ref.ndim, "narrow")
    first, count = integer(ctx, start, "narrow"), integer(ctx, length, "narrow")
    if ctx.facts.prove("<", first, 0) is not False:
        raise ctx.refuse("narrow", "from a place that may be negative")
    require(ctx, "<=", 0, count, "narrow: a negative length")
    require(ctx, "<=", first + count, ref.shape[axis], "narrow: out of bounds")
    return _part(ref, axis, first, count)


def _part(ref: ArrayRef, axis: int, first: Size, count: Size) -> Tensor:
    shape = [*ref.shape]
    shape[axis] = count
    return Tensor(view(ref, shape, ref.strides, first * ref.strides[axis]))


@moving("select")
def select(ctx: Context, input: Operand, dim: Operand, index: Operand) -> Tensor:
    """The view of one place of an axis."""
    from npcompile.tensors.indexing import view_of

    ref = tensor(ctx, input, "select")
    axis = axis_in(ctx, dim, ref.ndim, "select")
    if isinstance(index, Tensor):
        raise ctx.refuse("select", "at a tensor")
    return Tensor(view_of(ctx, ref, (*[slice(None)] * axis, index)))


@moving("unbind")
def unbind(ctx: Context, input: Operand, dim: Operand = 0) -> tuple[Tensor, ...]:
    """The views of all places of an axis."""
    ref = tensor(ctx, input, "unbind")
    axis = axis_in(ctx, dim, ref.ndim, "unbind")
    return tuple([select(ctx, input, axis, k) for k in range(_count(ctx, ref, axis))])


#: pieces that a function is followed for
MOST_PIECES = 64


def _count(ctx: Context, ref: ArrayRef, axis: int) -> int:
    """The length of an axis that decides how many results there are."""
    found = pinned(ctx, ref.shape[axis])
    if found > MOST_PIECES:
        raise ctx.refuse("unbind", f"into more than {MOST_PIECES} tensors")
    return found


def _pieces(ctx: Context, ref: ArrayRef, axis: int, sizes: list[Size]) -> tuple[Tensor, ...]:
    found: list[Tensor] = []
    start: Size = 0
    for size in sizes:
        found.append(_part(ref, axis, start, size))
        start = start + size
    return tuple(found)


@moving("split", "Tensor.split_with_sizes")
def split(ctx: Context, tensor_: Operand, split_size_or_sections: Operand,
          dim: Operand = 0) -> tuple[Tensor, ...]:
    """Views of pieces of a size, or of these sizes."""
    ref = tensor(ctx, tensor_, "split")
    axis = axis_in(ctx, dim, ref.ndim, "split")
    if isinstance(split_size_or_sections, (tuple, list)):
        sizes: list[Size] = [length(ctx, n, "split") for n in split_size_or_sections]
        total: Size = 0
        for n in sizes:
            total = total + n
        require(ctx, "==", total, ref.shape[axis], "split: another sum of lengths")
        return _pieces(ctx, ref, axis, sizes)
    each, n = static_int(ctx, split_size_or_sections, "split"), pinned(ctx, ref.shape[axis])
    if each <= 0 or n == 0 or n > each * MOST_PIECES:
        raise ctx.refuse("split", "into no pieces, or very many")
    return _pieces(ctx, ref, axis, [min(each, n - k) for k in range(0, n, each)])


@moving("chunk")
def chunk(ctx: Context, input: Operand, chunks: Operand, dim: Operand = 0) -> tuple[Tensor, ...]:
    """Views of pieces, of which the last may be shorter or missing."""
    ref = tensor(ctx, input, "chunk")
    axis, count = axis_in(ctx, dim, ref.ndim, "chunk"), static_int(ctx, chunks, "chunk")
    n = pinned(ctx, ref.shape[axis])
    if count <= 0 or n == 0:
        raise ctx.refuse("chunk", "into no pieces")
    return split(ctx, input, -(-n // count), axis)


@moving("tensor_split")
def tensor_split(ctx: Context, input: Operand, indices_or_sections: Operand,
                 dim: Operand = 0) -> tuple[Tensor, ...]:
    """Views of pieces of nearly one length, or between places."""
    ref = tensor(ctx, input, "tensor_split")
    axis = axis_in(ctx, dim, ref.ndim, "tensor_split")
    n = pinned(ctx, ref.shape[axis])
    if isinstance(indices_or_sections, (tuple, list)):
        ends = [static_int(ctx, k, "tensor_split") for k in indices_or_sections]
        bounds = [slice(a, b).indices(n)[:2] for a, b in zip([0, *ends], [*ends, n])]
        return tuple([_part(ref, axis, a, max(b - a, 0)) for a, b in bounds])
    count = static_int(ctx, indices_or_sections, "tensor_split")
    if count <= 0:
        raise ctx.refuse("tensor_split", "into no pieces: Python raises")
    return _pieces(ctx, ref, axis, [n // count + (k < n % count) for k in range(count)])


def _splitter(name: str, least: int, axis: int) -> None:
    @moving(name)
    def cut(ctx: Context, input: Operand, indices_or_sections: Operand) -> tuple[Tensor, ...]:
        """Views of pieces of one length, or between places."""
        ref = tensor(ctx, input, name)
        if ref.ndim < least:
            raise ctx.refuse(name, "of too few axes: Python raises")
        along = 0 if name == "hsplit" and ref.ndim == 1 else axis
        count = static(indices_or_sections)
        if isinstance(count, int) and (count <= 0 or pinned(ctx, ref.shape[along]) % count):
            raise ctx.refuse(name, "into pieces of unlike lengths: Python raises")
        return tensor_split(ctx, input, indices_or_sections, along)


_splitter("hsplit", 1, 1)
_splitter("vsplit", 2, 0)
_splitter("dsplit", 3, 2)


# ------------------------------------------------------------------ put together


def _stacker(names: str, ndim: int, axis: int) -> None:
    @moving(*names.split(), method=False)
    def stack(ctx: Context, tensors: Operand) -> Tensor:
        """Tensors side by side along an axis."""
        if not isinstance(tensors, (tuple, list)) or not tensors:
            raise ctx.refuse(names, "of no sequence of tensors")
        wide = {1: atleast_1d, 2: atleast_2d, 3: atleast_3d}[ndim](ctx, *tensors)
        items = wide if isinstance(wide, tuple) else (wide,)
        along = axis
        if names == "hstack" and items[0].memory.ndim == 1:
            along = 0
        return shapes.cat(ctx, items, along)


_stacker("hstack", 1, 1)
_stacker("vstack row_stack", 2, 0)
_stacker("dstack", 3, 2)


@moving("column_stack", method=False)
def column_stack(ctx: Context, tensors: Operand) -> Tensor:
    """Vectors as columns, beside the columns of matrices."""
    if not isinstance(tensors, (tuple, list)) or not tensors:
        raise ctx.refuse("column_stack", "of no sequence of tensors")
    columns = [
        shapes.reshape(ctx, x, -1, 1) if tensor(ctx, x, "column_stack").ndim < 2 else x
        for x in tensors
    ]
    return shapes.cat(ctx, columns, 1)


@moving("block_diag", method=False)
def block_diag(ctx: Context, *tensors: Operand) -> Tensor:
    """Matrices along the diagonal of one."""
    if not tensors:
        raise ctx.refuse("block_diag", "of no tensors")
    blocks = [tensor(ctx, x, "block_diag") for x in atleast_2d(ctx, tensors)]
    if any(ref.ndim > 2 or ref.dtype != blocks[0].dtype for ref in blocks):
        raise ctx.refuse("block_diag", "of more than two axes, or of unlike dtypes")
    rows, columns = [ref.shape[0] for ref in blocks], [ref.shape[1] for ref in blocks]
    shape = (_total(rows), _total(columns))
    made = run(ctx, "zeros", tuple(_number(ctx, n) for n in shape), blocks[0].dtype)
    assert isinstance(made, ArrayRef)
    for k, ref in enumerate(blocks):
        start = _total(rows[:k]) * made.strides[0] + _total(columns[:k]) * made.strides[1]
        ctx.write(view(made, ref.shape, made.strides, start), ctx.read(ref))
    return Tensor(made)


def _total(sizes: list[Size]) -> Size:
    found: Size = 0
    for n in sizes:
        found = found + n
    return found


@moving("tile")
def tile(ctx: Context, input: Operand, *dims: Operand) -> Tensor:
    """The tensor side by side with itself."""
    ref = tensor(ctx, input, "tile")
    items = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    if not isinstance(items, (tuple, list)):
        raise ctx.refuse("tile", "of no counts")
    counts: list[Operand] = [1] * (ref.ndim - len(items)) + [*items]
    return repeat(ctx, input, tuple(counts))


@moving("Tensor.repeat")
def repeat(ctx: Context, input: Operand, *repeats: Operand) -> Tensor:
    """The tensor side by side with itself along each axis."""
    ref = tensor(ctx, input, "repeat")
    items = repeats[0] if len(repeats) == 1 and isinstance(repeats[0], (tuple, list)) else repeats
    if not isinstance(items, (tuple, list)) or len(items) < ref.ndim or not items:
        raise ctx.refuse("repeat", "of fewer counts than axes")
    counts = tuple([static_int(ctx, k, "repeat") for k in items])
    if min(counts) < 1:
        raise ctx.refuse("repeat", "no times")
    return result(ctx, run(ctx, "tile", ref, counts))


@moving("repeat_interleave")
def repeat_interleave(ctx: Context, input: Operand, repeats: Operand,
                      dim: Operand = None) -> Tensor:
    """Each place of an axis several times."""
    ref = tensor(ctx, input, "repeat_interleave")
    times = static(repeats)
    if type(times) is not int or times < 1 or ref.ndim == 0:
        raise ctx.refuse("repeat_interleave", "of counts that are no constant integer")
    axis = None if dim is None else axis_in(ctx, dim, ref.ndim, "repeat_interleave")
    return result(ctx, run(ctx, "repeat", ref, times, axis))


@moving("constant_pad_nd", method=False)
def constant_pad_nd(ctx: Context, input: Operand, pad: Operand, value: Operand = 0) -> Tensor:
    """The tensor in a frame of one number; the last axis comes first in ``pad``."""
    ref = tensor(ctx, input, "pad")
    if not isinstance(pad, (tuple, list)) or len(pad) % 2 or len(pad) > 2 * ref.ndim or not pad:
        raise ctx.refuse("pad", "of widths that don't fit: Python raises")
    widths = [static_int(ctx, n, "pad") for n in pad]
    if min(widths) < 0 or (ref.dtype.kind in "biu" and not isinstance(static(value), int)):
        raise ctx.refuse("pad", "of negative widths, or with a number of another kind")
    pairs = list(zip(widths[::2], widths[1::2]))[::-1]
    pairs = [(0, 0)] * (ref.ndim - len(pairs)) + pairs
    return result(ctx, run(ctx, "pad", ref, tuple(pairs), "constant", constant_values=value))


@moving("nn.functional.pad")
def pad(ctx: Context, input: Operand, pad: Operand, mode: Operand = "constant",
        value: Operand = None) -> Tensor:
    """The tensor in a frame."""
    if mode == "constant":
        return constant_pad_nd(ctx, input, pad, 0 if value is None else value)
    raise ctx.refuse("pad", f"mode {mode}")


@moving("Tensor.unfold")
def unfold(ctx: Context, input: Operand, dimension: Operand, size: Operand,
           step: Operand) -> Tensor:
    """The view of windows along an axis, which becomes the last one, too."""
    ref = tensor(ctx, input, "unfold")
    axis = axis_in(ctx, dimension, ref.ndim, "unfold")
    wide, pace = static_int(ctx, size, "unfold"), static_int(ctx, step, "unfold")
    if wide < 0 or pace <= 0:
        raise ctx.refuse("unfold", "of a size or step that is not positive: Python raises")
    require(ctx, "<=", wide, ref.shape[axis], "unfold: more than there is")
    shape, strides = [*ref.shape, wide], [*ref.strides, ref.strides[axis]]
    shape[axis] = floordiv(ref.shape[axis] - wide, pace) + 1
    strides[axis] = ref.strides[axis] * pace
    return Tensor(view(ref, shape, strides))


@moving("Tensor.type_as")
def type_as(ctx: Context, input: Operand, other: Operand) -> Tensor:
    """The tensor in the dtype of another."""
    from npcompile.tensors.tensor_memory import torch_dtype

    return shapes.to(ctx, input, torch_dtype(tensor(ctx, other, "type_as").dtype))
