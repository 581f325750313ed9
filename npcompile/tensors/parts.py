"""Complex tensors and their parts, tests of what a tensor is, and orthogonal polynomials."""

from __future__ import annotations

import numpy as np

from npcompile.graph import layout
from npcompile.graph.types import BOOL, Array
from npcompile.ops import views
from npcompile.ops.arguments import an_array, static, view
from npcompile.ops.complexes import half_window
from npcompile.ops.elementwise import run
from npcompile.ops.operands import ArrayRef, Context, Operand, Tensor
from npcompile.tensors import elementwise, shapes, tensor_memory
from npcompile.tensors.elementwise import call, cast, result_strides
from npcompile.tensors.promotion import result_dtype
from npcompile.tensors.tensor_functions import moving, named, result, tensor

# ------------------------------------------------------------------ complex numbers


@moving("real")
def real(ctx: Context, input: Operand) -> Tensor:
    """The view of the real parts; real numbers themselves."""
    ref = tensor(ctx, input, "real")
    if ref.dtype.kind != "c":
        assert isinstance(input, Tensor)
        return input
    return Tensor(half_window(ref, "real"))


@named("imag")
def imag(ctx: Context, input: Operand) -> Tensor:
    """The view of the imaginary parts."""
    ref = tensor(ctx, input, "imag")
    if ref.dtype.kind != "c":
        raise ctx.refuse("imag", "of real numbers: Python raises")
    return Tensor(half_window(ref, "imag"))


@named("plain_complex", method=True)
def complex_of(ctx: Context, real: Operand, imag: Operand) -> Tensor:
    """Complex numbers of their parts."""
    dtype = result_dtype(ctx, (real, imag), "complex")
    if dtype.char not in "fd":
        raise ctx.refuse("complex", f"of {dtype}")
    wide = np.dtype(dtype.char.upper())
    full = [tensor(ctx, x, "complex") for x in (real, imag)]
    shape = layout.broadcast_shapes(ctx.facts, full[0].shape, full[1].shape)
    strides = result_strides(ctx, shape, [ref for ref in full if ref.ndim])
    made = ctx.new(ctx.builder.emit("empty", (), None, Array(wide, shape, strides)))
    for ref, part in zip(full, ("real", "imag")):
        ctx.write(half_window(made, part), ctx.read(views.broadcast(ctx, ref, shape)))
    return Tensor(made)


def cast_to(ctx: Context, x: Operand, dtype: np.dtype) -> ArrayRef:
    """A fresh array of a dtype."""
    return ctx.new(ctx.builder.cast(ctx.read(tensor(ctx, x, "cast")), dtype))


@named("conj_physical")
def conj_physical(ctx: Context, input: Operand) -> Tensor:
    """The complex conjugates."""
    ref = tensor(ctx, input, "conj_physical")
    if ref.dtype.kind != "c":
        raise ctx.refuse("conj_physical", "of real numbers")
    return call(ctx, "conjugate", (input,), ref.dtype)


@moving("conj")
def conj(ctx: Context, input: Operand) -> Tensor:
    """The complex conjugates, in the place of torch's view; real numbers themselves."""
    ref = tensor(ctx, input, "conj")
    assert isinstance(input, Tensor)
    if ref.dtype.kind != "c":
        return input
    made = call(ctx, "conjugate", (input,), ref.dtype)
    return Tensor(ctx.stand_in(made.memory, ref))


@moving("abs", "absolute")
def absolute(ctx: Context, input: Operand) -> Tensor:
    """The absolute values."""
    ref = tensor(ctx, input, "abs")
    if ref.dtype == BOOL:
        raise ctx.refuse("abs", "of bool: Python raises")
    if ref.dtype.kind != "c":
        return call(ctx, "absolute", (input,), ref.dtype)
    return _real_of(ctx, "absolute", ref)


def _real_of(ctx: Context, record: str, ref: ArrayRef) -> Tensor:
    """A real function of complex numbers."""
    found = run(ctx, record, ref)
    if not isinstance(found, ArrayRef):
        return result(ctx, found)
    strides = result_strides(ctx, found.shape, [ref])
    return Tensor(elementwise.laid_out(ctx, found, strides))


# ------------------------------------------------------------------ what a tensor is


def _told(name: str, kinds: str) -> None:
    @moving(name)
    def told(ctx: Context, input: Operand) -> bool:
        """Whether the dtype is of a kind."""
        return tensor(ctx, input, name).dtype.kind in kinds


_told("is_complex", "c")
_told("is_floating_point", "f")
_told("is_signed", "ifc")
_told("is_conj", "")
_told("is_neg", "")
_told("Tensor.is_inference", "")


@moving("is_tensor", method=False)
def is_tensor(ctx: Context, obj: Operand) -> bool:
    """Whether an object is a tensor."""
    return isinstance(obj, Tensor)


@moving("Tensor.element_size")
def element_size(ctx: Context, input: Operand) -> int:
    """The bytes of an element."""
    return tensor(ctx, input, "element_size").dtype.itemsize


@moving("Tensor.get_device", "get_device")
def get_device(ctx: Context, input: Operand) -> int:
    """The number of the device: the CPU has none."""
    tensor(ctx, input, "get_device")
    return -1


def _itself(*paths: str) -> None:
    @moving(*paths)
    def same(ctx: Context, input: Operand) -> Operand:
        """The tensor itself."""
        tensor(ctx, input, paths[0])
        return input


_itself("Tensor.cpu")


# ------------------------------------------------------------------ NumPy's arrays


@moving("Tensor.numpy")
def numpy(ctx: Context, input: Operand, *, force: Operand = False) -> ArrayRef:
    """The array over the tensor's memory."""
    ref = tensor(ctx, input, "numpy")
    return view(ref, ref.shape, ref.strides)


@moving("from_numpy", method=False)
def from_numpy(ctx: Context, ndarray: Operand) -> Tensor:
    """The tensor over an array's memory."""
    ref = an_array(ctx, ndarray, "from_numpy")
    if ref.dtype not in tensor_memory.dtypes().values() or ref.writeable is not True:
        raise ctx.refuse("from_numpy", f"of {ref.dtype}, or of a read-only array: torch warns")
    for step in ref.strides:
        if ctx.facts.prove("<", step, 0) is not False:
            raise ctx.refuse("from_numpy", "strides that may be negative: Python raises")
    return Tensor(view(ref, ref.shape, ref.strides))


@moving("as_tensor", method=False)
def as_tensor(ctx: Context, data: Operand, dtype: Operand = None) -> Tensor:
    """A tensor itself, or one over an array's memory."""
    found = data if isinstance(data, Tensor) else from_numpy(ctx, data)
    return found if dtype is None else shapes.to(ctx, found, dtype)


# ------------------------------------------------------------------ special functions


@named("special.plain_polygamma", method=False)
def polygamma(ctx: Context, input: Operand, n: Operand) -> Tensor:
    """The derivative of order n of digamma."""
    ref = tensor(ctx, input, "polygamma")
    wide = cast(ctx, input, np.dtype(np.float64))
    found = run(ctx, "polygamma", n, wide)
    assert isinstance(found, ArrayRef)
    made = cast_to(ctx, Tensor(found), ref.dtype)
    return Tensor(elementwise.laid_out(ctx, made, result_strides(ctx, ref.shape, [ref])))


@named("special.zeta")
def zeta(ctx: Context, input: Operand, other: Operand) -> Tensor:
    """Hurwitz's zeta function."""
    dtype = result_dtype(ctx, (input, other), "zeta")
    if dtype.kind != "f":
        raise ctx.refuse("zeta", f"of {dtype}")
    return call(ctx, "_zeta", (input, other), dtype)


def _polynomial(name: str, record: str) -> None:
    @named(f"special.{name}")
    def polynomial(ctx: Context, input: Operand, n: Operand) -> Tensor:
        """An orthogonal polynomial of whole degree."""
        dtype, degree = result_dtype(ctx, (input,), name), static(n)
        if dtype.kind != "f" or type(degree) is not int or degree < 0:
            raise ctx.refuse(name, "of integers, or of a degree that only the run knows")
        ref = tensor(ctx, input, name)
        found = run(ctx, record, degree, cast(ctx, input, dtype))
        made = found if isinstance(found, ArrayRef) else result(ctx, found).memory
        if made.dtype != dtype:
            made = cast_to(ctx, Tensor(made), dtype)
        return Tensor(elementwise.laid_out(ctx, made, result_strides(ctx, ref.shape, [ref])))


for _name, _record in [
    ("chebyshev_polynomial_t", "eval_chebyt"), ("chebyshev_polynomial_u", "eval_chebyu"),
    ("shifted_chebyshev_polynomial_t", "eval_sh_chebyt"),
    ("shifted_chebyshev_polynomial_u", "eval_sh_chebyu"),
    ("hermite_polynomial_h", "eval_hermite"), ("hermite_polynomial_he", "eval_hermitenorm"),
    ("laguerre_polynomial_l", "eval_laguerre"), ("legendre_polynomial_p", "eval_legendre"),
]:
    _polynomial(_name, _record)
