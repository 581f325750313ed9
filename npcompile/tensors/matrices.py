"""``torch.linalg``, and products of matrices and vectors under torch's other names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from npcompile.core.sizes import Size, product
from npcompile.graph.types import c_strides
from npcompile.ops.arguments import (
    axes_in,
    axis_in,
    contents,
    require,
    static,
    static_int,
    truth,
    view,
)
from npcompile.ops.elementwise import run
from npcompile.ops.operands import ArrayRef, Context, Operand, Tensor
from npcompile.tensors import shapes, tensor_memory
from npcompile.tensors.elementwise import laid_out
from npcompile.tensors.expressions import composition
from npcompile.tensors.tensor_functions import named, result, tensor

#: singular values this many times torch's tolerance tell the rank beyond doubt
_DOUBT = 100

# ------------------------------------------------------------------ products


def _alike(ctx: Context, what: str, *operands: Operand) -> list[ArrayRef]:
    """Operands of one dtype of floats or complex numbers."""
    refs = [tensor(ctx, x, what) for x in operands]
    if any(ref.dtype != refs[0].dtype or ref.dtype.kind not in "fc" for ref in refs):
        raise ctx.refuse(what, "of integers, or of unlike dtypes")
    return refs


@named("inner")
def inner(ctx: Context, input: Operand, other: Operand) -> Tensor:
    """The product over the last axes."""
    a, b = _alike(ctx, "inner", input, other)
    if not a.ndim or not b.ndim:
        raise ctx.refuse("inner", "of a tensor without axes")
    return result(ctx, run(ctx, "inner", a, b))


@named("vdot")
def vdot(ctx: Context, input: Operand, other: Operand) -> Tensor:
    """The product of vectors, of which the first is conjugated."""
    a, b = _alike(ctx, "vdot", input, other)
    if (a.ndim, b.ndim) != (1, 1):
        raise ctx.refuse("vdot", "of other than vectors: Python raises")
    return result(ctx, run(ctx, "vdot", a, b))


@named("linalg.vecdot")
def vecdot(ctx: Context, x: Operand, y: Operand, *, dim: Operand = -1) -> Tensor:
    """The products of vectors, of which the first are conjugated."""
    a, b = _alike(ctx, "vecdot", x, y)
    if a.ndim != b.ndim or not a.ndim:
        raise ctx.refuse("vecdot", "of other numbers of axes")
    axis = axis_in(ctx, dim, a.ndim, "vecdot")
    pair = [run(ctx, "moveaxis", ref, axis, -1) for ref in (a, b)]
    return result(ctx, run(ctx, "vecdot", *pair))


@named("ger")
def ger(ctx: Context, input: Operand, vec2: Operand) -> Tensor:
    """The products of all pairs."""
    a, b = _alike(ctx, "ger", input, vec2)
    if (a.ndim, b.ndim) != (1, 1):
        raise ctx.refuse("ger", "of other than vectors: Python raises")
    return result(ctx, run(ctx, "outer", a, b))


@named("tensordot", method=False)
def tensordot(ctx: Context, a: Operand, b: Operand, dims: Operand = 2) -> Tensor:
    """The product over some axes."""
    left, right = _alike(ctx, "tensordot", a, b)
    axes = static(dims)
    if not isinstance(axes, (int, tuple, list)) or (isinstance(axes, int) and axes < 1):
        raise ctx.refuse("tensordot", "over a tensor of axes, or over none")
    return result(ctx, run(ctx, "tensordot", left, right, axes))


@named("einsum", method=False)
def einsum(ctx: Context, equation: Operand, *operands: Operand) -> Tensor:
    """Einstein's sums."""
    items = operands[0] if len(operands) == 1 and isinstance(
        operands[0], (tuple, list)) else operands
    if not isinstance(equation, str) or not isinstance(items, (tuple, list)):
        raise ctx.refuse("einsum", "of sublists")
    refs = _alike(ctx, "einsum", *items)
    return result(ctx, run(ctx, "einsum", equation.replace(" ", ""), *refs))


@named("kron")
def kron(ctx: Context, input: Operand, other: Operand) -> Tensor:
    """Kronecker's product."""
    a, b = _alike(ctx, "kron", input, other)
    if not a.ndim or not b.ndim:
        raise ctx.refuse("kron", "of a tensor without axes")
    return result(ctx, run(ctx, "kron", a, b))


@named("linalg.cross")
def cross(ctx: Context, input: Operand, other: Operand, *, dim: Operand = -1) -> Tensor:
    """The cross products of vectors."""
    a, b = tensor(ctx, input, "cross"), tensor(ctx, other, "cross")
    if a.dtype != b.dtype or a.dtype.kind not in "ifc" or a.ndim != b.ndim or not a.ndim:
        raise ctx.refuse("cross", "of unlike dtypes or ranks")
    axis = axis_in(ctx, dim, a.ndim, "cross")
    for ref in (a, b):
        require(ctx, "==", ref.shape[axis], 3, "cross: another length than 3")
    return result(ctx, run(ctx, "cross", a, b, axis=axis))


@named("cross")
def cross_along(ctx: Context, input: Operand, other: Operand, dim: Operand = None) -> Tensor:
    """The cross products of vectors along an axis that is given."""
    if dim is None:
        raise ctx.refuse("cross", "without dim=: torch warns")
    return cross(ctx, input, other, dim=dim)


@named("trace")
def trace(ctx: Context, input: Operand) -> Tensor:
    """The sum of the diagonal."""
    ref = tensor(ctx, input, "trace")
    if ref.ndim != 2 or ref.dtype.kind not in "fc":
        raise ctx.refuse("trace", "of other than a matrix of floats")
    return result(ctx, run(ctx, "trace", ref))


@named("linalg.multi_dot", "chain_matmul")
def multi_dot(ctx: Context, tensors: Operand, *more: Operand) -> Tensor:
    """The product of several matrices."""
    items = (tensors, *more) if isinstance(tensors, Tensor) else tensors
    refs = _alike(ctx, "multi_dot", *items)
    if len(refs) < 2:
        raise ctx.refuse("multi_dot", "of less than two matrices")
    return result(ctx, run(ctx, "linalg.multi_dot", list(refs)))


def _scaled(beta: Any, input: Any, alpha: Any, product: Any) -> Any:
    if beta == 0:
        return alpha * product if alpha != 1 else product
    product = product if alpha == 1 else alpha * product
    return product + (input if beta == 1 else beta * input)


def _added(name: str, inner: str, ranks: tuple[int, int]) -> None:
    @composition(name)
    def product(input: Any, first: Any, second: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
        """``beta * input + alpha * (first @ second)``"""
        if len({x.dtype for x in (input, first, second)}) > 1 or (first.ndim, second.ndim) != ranks:
            raise input.refuse("of unlike dtypes, or of other numbers of axes")
        made = first.do(inner, second)
        if input.ndim > made.ndim:
            raise input.refuse("of another shape: Python raises")
        _spreads(input, made)
        return _scaled(beta, input, alpha, made)


def _spreads(input: Any, made: Any) -> None:
    """Demands that a summand does not make the result larger."""
    for a, b in zip(input.shape[::-1], made.shape[::-1]):
        if not input.ctx.facts.equal(a, 1):
            require(input.ctx, "==", a, b, "another shape: Python raises")


for _name, _inner, _ranks in [("addmm", "mm", (2, 2)), ("addmv", "mv", (2, 1)),
                              ("addr", "outer", (1, 1)), ("baddbmm", "bmm", (3, 3))]:
    _added(_name, _inner, _ranks)


@composition("addbmm")
def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * input + alpha * (batch1 @ batch2).sum(0)``"""
    if len({x.dtype for x in (input, batch1, batch2)}) > 1 or (batch1.ndim, batch2.ndim) != (3, 3):
        raise input.refuse("of unlike dtypes, or of other numbers of axes")
    made = batch1.bmm(batch2).sum(0)
    _spreads(input, made)
    return _scaled(beta, input, alpha, made)


@composition("dist")
def dist(input: Any, other: Any, p: Any = 2) -> Any:
    """The norm of a difference."""
    if p != 2 or input.dtype != other.dtype:
        raise input.refuse("another norm than the Euclidean, or of unlike dtypes")
    return (input - other).norm()


@composition("cov")
def cov(input: Any, *, correction: Any = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariances of rows."""
    from npcompile.ops.arguments import pinned

    if fweights is not None or aweights is not None or input.ndim != 2:
        raise input.refuse("weights, or of other than a matrix")
    count = pinned(input.ctx, input.shape[1]) - correction
    if count <= 0:
        raise input.refuse("too few observations: torch warns")
    moved = input - input.mean(1, True)
    return (moved @ moved.t()) / count


# ------------------------------------------------------------------ matrices


def _matrix(ctx: Context, x: Operand, what: str, square: bool = True) -> ArrayRef:
    """A batch of matrices of floats that are not empty."""
    ref = tensor(ctx, x, what)
    if ref.dtype.kind not in "fc" or ref.dtype == np.float16 or ref.ndim < 2:
        raise ctx.refuse(what, "of other than matrices of floats")
    for n in ref.shape:
        require(ctx, "<", 0, n, f"{what} of no elements")
    if square and not ctx.facts.equal(ref.shape[-1], ref.shape[-2]):
        raise ctx.refuse(what, "of a matrix that is not square: Python raises")
    return ref


def _columns(ctx: Context, found: Operand) -> Tensor:
    """A result whose matrices lie columns first, as LAPACK leaves them."""
    assert isinstance(found, ArrayRef)
    shape = found.shape
    packed = c_strides((*shape[:-2], shape[-1], shape[-2]))
    return Tensor(laid_out(ctx, found, (*packed[:-2], packed[-1], packed[-2])))


def _tuple(name: str, *items: Tensor) -> Operand:
    """One of torch's named tuples."""
    return tensor_memory.named_result(name)(items)


@named("linalg.inv", "inverse")
def inv(ctx: Context, A: Operand) -> Tensor:
    """The inverse matrices."""
    return _columns(ctx, run(ctx, "linalg.inv", _matrix(ctx, A, "inv")))


@named("linalg.det", "det")
def det(ctx: Context, A: Operand) -> Tensor:
    """The determinants."""
    return result(ctx, run(ctx, "linalg.det", _matrix(ctx, A, "det")))


@named("linalg.slogdet")
def slogdet(ctx: Context, A: Operand) -> Operand:
    """The signs of determinants, and the logarithms of their absolute values."""
    return _slogdet(ctx, A, "linalg_slogdet")


@named("slogdet")
def slogdet_of(ctx: Context, input: Operand) -> Operand:
    """The same under an older name."""
    return _slogdet(ctx, input, "slogdet")


def _slogdet(ctx: Context, A: Operand, name: str) -> Operand:
    sign, logarithm = run(ctx, "linalg.slogdet", _matrix(ctx, A, "slogdet"))
    return _tuple(name, result(ctx, sign), result(ctx, logarithm))


@named("logdet")
def logdet(ctx: Context, input: Operand) -> Tensor:
    """The logarithms of determinants."""
    ref = _matrix(ctx, input, "logdet")
    if ref.dtype.kind == "c":
        raise ctx.refuse("logdet", "of complex numbers")
    sign, logarithm = run(ctx, "linalg.slogdet", ref)
    return result(ctx, run(ctx, "where.choose", run(ctx, "equal", sign, -1),
                           run(ctx, "multiply", logarithm, float("nan")), logarithm))


@named("linalg.cholesky")
def cholesky(ctx: Context, A: Operand, *, upper: Operand = False) -> Tensor:
    """Cholesky's factors."""
    high = truth(ctx, upper, "cholesky")
    found = run(ctx, "linalg.cholesky", _matrix(ctx, A, "cholesky"), upper=high)
    return _columns(ctx, found)


@named("cholesky")
def cholesky_of(ctx: Context, input: Operand, upper: Operand = False) -> Tensor:
    """Cholesky's factors under an older name."""
    if truth(ctx, upper, "cholesky"):
        raise ctx.refuse("cholesky", "upper=")
    return cholesky(ctx, input)


@named("linalg.solve")
def solve(ctx: Context, A: Operand, B: Operand, *, left: Operand = True) -> Tensor:
    """The solutions of systems of linear equations."""
    a, b = _matrix(ctx, A, "solve"), tensor(ctx, B, "solve")
    if a.dtype != b.dtype or not truth(ctx, left, "solve"):
        raise ctx.refuse("solve", "of unlike dtypes, or from the right")
    if b.ndim == 1 and a.ndim == 2:
        return result(ctx, run(ctx, "linalg.solve", a, b))
    if a.ndim != b.ndim or b.ndim < 2:
        raise ctx.refuse("solve", "of other numbers of axes")
    for m, n in zip((*a.shape[:-2], a.shape[-1]), b.shape[:-1]):
        require(ctx, "==", m, n, "solve: another shape")
    require(ctx, "<", 0, b.shape[-1], "solve for no columns")
    return _columns(ctx, run(ctx, "linalg.solve", a, b))


@named("linalg.eigvalsh")
def eigvalsh(ctx: Context, A: Operand, UPLO: Operand = "L") -> Tensor:
    """The eigenvalues of symmetric matrices."""
    return result(ctx, run(ctx, "linalg.eigvalsh", _matrix(ctx, A, "eigvalsh"), UPLO))


@named("linalg.eigh")
def eigh(ctx: Context, A: Operand, UPLO: Operand = "L") -> Operand:
    """The eigenvalues and eigenvectors of symmetric matrices."""
    values, vectors = run(ctx, "linalg.eigh", _matrix(ctx, A, "eigh"), UPLO)
    return _tuple("linalg_eigh", result(ctx, values), _columns(ctx, vectors))


@named("linalg.svdvals")
def svdvals(ctx: Context, A: Operand, *, driver: Operand = None) -> Tensor:
    """The singular values."""
    if driver is not None:
        raise ctx.refuse("svdvals", "driver=")
    return result(ctx, run(ctx, "linalg.svdvals", _matrix(ctx, A, "svdvals", False)))


@named("linalg.svd")
def svd(ctx: Context, A: Operand, full_matrices: Operand = True, *,
        driver: Operand = None) -> Operand:
    """The singular values and vectors."""
    if driver is not None:
        raise ctx.refuse("svd", "driver=")
    ref = _matrix(ctx, A, "svd", False)
    u, s, v = run(ctx, "linalg.svd", ref, truth(ctx, full_matrices, "svd"))
    if ref.dtype.kind == "c":
        return _tuple("linalg_svd", _columns(ctx, u), result(ctx, s), result(ctx, v))
    return _tuple("linalg_svd", _columns(ctx, u), result(ctx, s), _columns(ctx, v))


def _qr(ctx: Context, A: Operand, mode: Operand, name: str) -> Operand:
    ref = _matrix(ctx, A, "qr", False)
    if mode not in ("reduced", "complete"):
        raise ctx.refuse("qr", f"mode {mode}")
    q, r = run(ctx, "linalg.qr", ref, mode)
    return _tuple(name, _columns(ctx, q), _columns(ctx, r))


@named("linalg.qr")
def qr(ctx: Context, A: Operand, mode: Operand = "reduced") -> Operand:
    """Orthonormal columns, and a triangle."""
    return _qr(ctx, A, mode, "linalg_qr")


@named("qr")
def qr_of(ctx: Context, input: Operand, some: Operand = True) -> Operand:
    """The same under an older name."""
    return _qr(ctx, input, "reduced" if truth(ctx, some, "qr") else "complete", "qr")


@named("linalg.matrix_power", "matrix_power")
def matrix_power(ctx: Context, A: Operand, n: Operand) -> Tensor:
    """A product of a matrix with itself."""
    power = static_int(ctx, n, "matrix_power")
    ref = _matrix(ctx, A, "matrix_power")
    if power < 2:
        raise ctx.refuse("matrix_power", "an inverse, or no product")
    return result(ctx, run(ctx, "linalg.matrix_power", ref, power))


@named("linalg.pinv", method=False)
def pinv(ctx: Context, A: Operand, *, atol: Operand = None, rtol: Operand = None,
         hermitian: Operand = False) -> Tensor:
    """Pseudo-inverses."""
    return _pinv(ctx, A, atol, rtol, hermitian)


def _pinv(ctx: Context, A: Operand, atol: Operand, rtol: Operand, hermitian: Operand) -> Tensor:
    ref = _matrix(ctx, A, "pinv", False)
    if atol is not None or rtol is not None or truth(ctx, hermitian, "pinv"):
        raise ctx.refuse("pinv", "options")
    return result(ctx, run(ctx, "linalg.pinv", ref, rcond=_least(ref, ctx)))


def _least(ref: ArrayRef, ctx: Context) -> Any:
    """Torch's relative tolerance: the larger length, times the distance of 1 to its neighbour."""
    from npcompile.ops.arguments import pinned

    longest = max(pinned(ctx, n) for n in ref.shape[-2:])
    return float(longest * np.finfo(ref.dtype).eps)


@named("linalg.matrix_rank", method=False)
def matrix_rank(ctx: Context, A: Operand, tol: Operand = None, hermitian: Operand = False, *,
                atol: Operand = None, rtol: Operand = None) -> Tensor:
    """The number of singular values that are not small."""
    ref = _matrix(ctx, A, "matrix_rank", False)
    if any(x is not None for x in (tol, atol, rtol)) or truth(ctx, hermitian, "matrix_rank"):
        raise ctx.refuse("matrix_rank", "options")
    return result(ctx, run(ctx, "linalg.matrix_rank", ref))


@named("linalg.cond", method=False)
def cond(ctx: Context, A: Operand, p: Operand = None) -> Tensor:
    """The condition number."""
    ref = _matrix(ctx, A, "cond", False)
    if ref.dtype.kind == "c" or (p is not None and p not in (2, -2)):
        raise ctx.refuse("cond", "of complex numbers, or another norm")
    return result(ctx, run(ctx, "linalg.cond", ref, p))


@named("linalg.vander", method=False)
def vander(ctx: Context, x: Operand, *, N: Operand = None) -> Tensor:
    """The powers of numbers as rows."""
    ref = tensor(ctx, x, "vander")
    count = static_int(ctx, N, "vander")
    if ref.dtype.kind not in "fc" or not ref.ndim or count < 2:
        raise ctx.refuse("vander", "of integers, or of few powers")
    one = run(ctx, "ones_like", ref)
    powers = [one, ref]
    for _ in range(count - 2):
        powers.append(run(ctx, "multiply", powers[-1], ref))
    return result(ctx, run(ctx, "stack", powers, axis=-1))


# ------------------------------------------------------------------ norms


def _order(ord: Operand) -> Any:
    found = static(ord)
    return found if isinstance(found, (int, float, str)) else None


@named("linalg.vector_norm", method=False)
def vector_norm(ctx: Context, x: Operand, ord: Operand = 2, dim: Operand = None,
                keepdim: Operand = False, *, dtype: Operand = None) -> Tensor:
    """The norm of vectors, along one axis or of all numbers."""
    ref = tensor(ctx, x, "vector_norm")
    order, keeps = _order(ord), truth(ctx, keepdim, "vector_norm")
    if dtype is not None or ref.dtype.kind not in "fc" or not ref.ndim or order is None:
        raise ctx.refuse("vector_norm", "dtype=, or of integers")
    if isinstance(order, str) or order not in (0, 1, 2, 3, float("inf"), -float("inf")):
        raise ctx.refuse("vector_norm", f"order {order}")
    for n in ref.shape:
        require(ctx, "<", 0, n, "vector_norm of no elements")
    if dim in ((), []):
        raise ctx.refuse("vector_norm", "over no axes")
    axes = None if dim is None else axes_in(ctx, dim, ref.ndim, "vector_norm")
    if order == 2:
        return _euclidean(ctx, ref, axes, keeps)
    axis = axes if axes is None or len(axes) > 1 else axes[0]
    return result(ctx, run(ctx, "linalg.vector_norm", ref, ord=order, axis=axis, keepdims=keeps))


def _euclidean(ctx: Context, ref: ArrayRef, axes: Any, keeps: bool) -> Tensor:
    magnitude = run(ctx, "absolute", ref) if ref.dtype.kind == "c" else ref
    total = run(ctx, "sum", run(ctx, "square", magnitude), axis=axes, keepdims=keeps)
    return result(ctx, run(ctx, "sqrt", total))


@named("linalg.norm", method=False)
def norm(ctx: Context, A: Operand, ord: Operand = None, dim: Operand = None,
         keepdim: Operand = False, *, dtype: Operand = None) -> Tensor:
    """The norm of vectors or matrices."""
    ref = tensor(ctx, A, "norm")
    if ord is None:
        return vector_norm(ctx, A, 2, dim, keepdim, dtype=dtype)
    axes = static(dim)
    if isinstance(axes, int) or (axes is None and ref.ndim == 1):
        return vector_norm(ctx, A, ord, dim, keepdim, dtype=dtype)
    return matrix_norm(ctx, A, ord, (-2, -1) if axes is None else dim, keepdim, dtype=dtype)


@named("linalg.matrix_norm", method=False)
def matrix_norm(ctx: Context, A: Operand, ord: Operand = "fro", dim: Operand = (-2, -1),
                keepdim: Operand = False, *, dtype: Operand = None) -> Tensor:
    """The norm of matrices."""
    ref = tensor(ctx, A, "matrix_norm")
    order, keeps = _order(ord), truth(ctx, keepdim, "matrix_norm")
    if dtype is not None or ref.dtype.kind not in "fc" or ref.ndim < 2 or order is None:
        raise ctx.refuse("matrix_norm", "dtype=, or of other than matrices of floats")
    axes = axes_in(ctx, dim, ref.ndim, "matrix_norm")
    for n in ref.shape:
        require(ctx, "<", 0, n, "matrix_norm of no elements")
    if len(axes) != 2:
        raise ctx.refuse("matrix_norm", "over other than two axes: Python raises")
    if order == "fro":
        return _euclidean(ctx, ref, axes, keeps)
    if ref.ndim != 2 or axes != (0, 1):
        raise ctx.refuse("matrix_norm", "of batches")
    return result(ctx, run(ctx, "linalg.norm", ref, order, axis=axes, keepdims=keeps))


# ------------------------------------------------------------------ of one matrix


def _one(ctx: Context, x: Operand, what: str) -> ArrayRef:
    """A single square matrix."""
    ref = _matrix(ctx, x, what)
    if ref.ndim != 2:
        raise ctx.refuse(what, "of batches")
    return ref


@named("linalg.eig", method=False)
def eig(ctx: Context, A: Operand) -> Operand:
    """The eigenvalues and eigenvectors of a matrix, as complex numbers."""
    ref = _matrix(ctx, A, "eig")
    values, vectors = run(ctx, "npcompile.linalg.general:complex_eig", ref)
    return _tuple("linalg_eig", result(ctx, values), _columns(ctx, vectors))


@named("linalg.eigvals", method=False)
def eigvals(ctx: Context, A: Operand) -> Tensor:
    """The eigenvalues of a matrix, as complex numbers."""
    ref = _matrix(ctx, A, "eigvals")
    return result(ctx, run(ctx, "npcompile.linalg.general:complex_eigvals", ref))


def _factored(ctx: Context, A: Operand, pivot: Operand, what: str) -> tuple[Tensor, Tensor]:
    ref = _one(ctx, A, what)
    if not truth(ctx, pivot, what):
        raise ctx.refuse(what, "without pivots")
    both, pivots = run(ctx, "scipy.linalg:lu_factor", ref)
    counted = run(ctx, "add", run(ctx, "astype", pivots, np.dtype(np.int32)), np.int32(1))
    return _columns(ctx, both), result(ctx, counted)


@named("linalg.lu_factor", method=False)
def lu_factor(ctx: Context, A: Operand, *, pivot: Operand = True) -> Operand:
    """The triangles of a matrix, and its pivots."""
    return _tuple("linalg_lu_factor", *_factored(ctx, A, pivot, "lu_factor"))


@named("linalg.lu_factor_ex", method=False)
def lu_factor_ex(ctx: Context, A: Operand, *, pivot: Operand = True,
                 check_errors: Operand = False) -> Operand:
    """The same, and 0: where a matrix is singular, torch computes all again."""
    none = run(ctx, "zeros", (), np.dtype(np.int32))
    return _tuple("linalg_lu_factor_ex", *_factored(ctx, A, pivot, "lu_factor_ex"),
                  result(ctx, none))


@named("linalg.lu_solve", method=False)
def lu_solve(ctx: Context, LU: Operand, pivots: Operand, B: Operand, *, left: Operand = True,
             adjoint: Operand = False) -> Tensor:
    """The solutions of systems by the triangles of their matrix."""
    a, b, rows = _one(ctx, LU, "lu_solve"), tensor(ctx, B, "lu_solve"), tensor(
        ctx, pivots, "lu_solve")
    from_left, turned = truth(ctx, left, "lu_solve"), truth(ctx, adjoint, "lu_solve")
    if a.dtype != b.dtype or b.ndim != 2 or rows.ndim != 1 or rows.dtype != np.int32:
        raise ctx.refuse("lu_solve", "of unlike dtypes, or of batches")
    if a.dtype.kind == "c" and not from_left:
        raise ctx.refuse("lu_solve", "of complex numbers from the right: torch gives conjugates")
    require(ctx, "==", a.shape[0], b.shape[0 if from_left else 1], "lu_solve: another shape")
    require(ctx, "==", a.shape[0], rows.shape[0], "lu_solve: another number of pivots")
    for n in b.shape:
        require(ctx, "<", 0, n, "lu_solve for no columns")
    exchanged = (a, run(ctx, "subtract", rows, np.int32(1)))
    if from_left:
        return _columns(ctx, run(ctx, "scipy.linalg:lu_solve", exchanged, b, 2 if turned else 0,
                                 check_finite=False))
    found = run(ctx, "scipy.linalg:lu_solve", exchanged, run(ctx, "transpose", b),
                0 if turned else 1, check_finite=False)
    return result(ctx, run(ctx, "transpose", found))


@named("linalg.lstsq", method=False)
def lstsq(ctx: Context, A: Operand, B: Operand, rcond: Operand = None, *,
          driver: Operand = None) -> Operand:
    """Least squares of systems whose rank is full beyond doubt."""
    a, b = _matrix(ctx, A, "lstsq", False), tensor(ctx, B, "lstsq")
    if (a.ndim, b.ndim) != (2, 2) or a.dtype != b.dtype or rcond is not None or driver is not None:
        raise ctx.refuse("lstsq", "of unlike dtypes, of batches, or by another driver")
    require(ctx, "==", a.shape[0], b.shape[0], "lstsq: another shape")
    require(ctx, "<", 0, b.shape[1], "lstsq for no columns")
    x, _, rank, sizes = run(ctx, "npcompile.linalg.general:least_squares", a, b, None)
    sure = run(ctx, "multiply", run(ctx, "max", sizes), sizes.dtype.type(_DOUBT * _least(a, ctx)))
    ctx.builder.check(contents(ctx, run(ctx, "less", sure, run(ctx, "min", sizes))),
                      "lstsq: of a rank that is not full, or in doubt")
    none = result(ctx, run(ctx, "empty", (0,), a.dtype))
    ranked = result(ctx, run(ctx, "astype", rank, np.dtype(np.int64)))
    again = result(ctx, run(ctx, "empty", (0,), a.dtype))
    return _tuple("linalg_lstsq", _among_more(ctx, x, a.shape), none, ranked, again)


def _among_more(ctx: Context, x: Operand, shape: Sequence[Size]) -> Tensor:
    """Solutions as columns, where LAPACK leaves them: in the memory of longer right sides."""
    assert isinstance(x, ArrayRef)
    (m, n), (_, sides) = shape, x.shape
    if ctx.facts.at_most(m, n):
        return _columns(ctx, x)
    rest = run(ctx, "zeros", (_number(ctx, m - n), _number(ctx, sides)), x.dtype)
    held = _columns(ctx, run(ctx, "concatenate", [x, rest])).memory
    return Tensor(view(held, (n, sides), held.strides))


@named("linalg.solve_triangular", method=False)
def solve_triangular(ctx: Context, A: Operand, B: Operand, *, upper: Operand,
                     left: Operand = True, unitriangular: Operand = False) -> Tensor:
    """The solutions of a system whose matrix is a triangle."""
    a, b = _one(ctx, A, "solve_triangular"), tensor(ctx, B, "solve_triangular")
    if a.dtype != b.dtype or b.ndim != 2 or not truth(ctx, left, "solve_triangular"):
        raise ctx.refuse("solve_triangular", "of unlike dtypes, of batches, or from the right")
    require(ctx, "==", a.shape[0], b.shape[0], "solve_triangular: another shape")
    require(ctx, "<", 0, b.shape[1], "solve_triangular for no columns")
    return _columns(ctx, run(
        ctx, "scipy.linalg:solve_triangular", a, b, lower=not truth(ctx, upper, "upper"),
        unit_diagonal=truth(ctx, unitriangular, "unitriangular"), check_finite=False))


@named("linalg.tensorinv", method=False)
def tensorinv(ctx: Context, A: Operand, ind: Operand = 2) -> Tensor:
    """The inverse of a tensor as a matrix of its first and last axes."""
    ref, first = tensor(ctx, A, "tensorinv"), static_int(ctx, ind, "tensorinv")
    if not 0 < first < ref.ndim:
        raise ctx.refuse("tensorinv", "of other numbers of axes")
    flat = shapes.reshape(ctx, A, shapes.number_of(ctx, product(ref.shape[:first])), -1)
    turned = (*ref.shape[first:], *ref.shape[:first])
    return shapes.reshape(ctx, inv(ctx, flat), *[shapes.number_of(ctx, n) for n in turned])


@named("linalg.tensorsolve", method=False)
def tensorsolve(ctx: Context, A: Operand, B: Operand, dims: Operand = None) -> Tensor:
    """The solution of a system of tensors."""
    ref, right = tensor(ctx, A, "tensorsolve"), tensor(ctx, B, "tensorsolve")
    if dims is not None or right.ndim >= ref.ndim or ref.dtype != right.dtype:
        raise ctx.refuse("tensorsolve", "dims=, or of unlike dtypes")
    flat = shapes.reshape(ctx, A, shapes.number_of(ctx, product(right.shape)), -1)
    found = solve(ctx, flat, shapes.reshape(ctx, B, -1))
    back = tuple([shapes.number_of(ctx, n) for n in ref.shape[right.ndim:]])
    return shapes.reshape(ctx, found, back)


# ------------------------------------------------------------------ with what went wrong


def _told(path: str, name: str, plain: Callable[..., Operand]) -> None:
    @named(path, method=False)
    def told(ctx: Context, A: Operand, *args: Operand, **options: Operand) -> Operand:
        """The result, and 0 for each matrix: where one fails, torch computes all again."""
        made = plain(ctx, A, *args, **options)
        assert isinstance(made, Tensor)
        batch = tensor(ctx, A, path).shape[:-2]
        zeros = run(ctx, "zeros", tuple(_number(ctx, n) for n in batch), np.dtype(np.int32))
        return _tuple(name, made, result(ctx, zeros))


def _number(ctx: Context, size: Size) -> Operand:
    size = ctx.facts.norm(size)
    return size if isinstance(size, int) else ctx.builder.size(size)


_told("linalg.inv_ex", "linalg_inv_ex", inv)
_told("linalg.cholesky_ex", "linalg_cholesky_ex", cholesky)
_told("linalg.solve_ex", "linalg_solve_ex", solve)

