"""Functions of :mod:`scipy.linalg` that are one LAPACK routine: SciPy's own, with its bits.

Of batches SciPy goes through the matrices one by one, and so does machine code; where there are
several results, SciPy gives a list of them instead of a tuple.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from npcompile.core.sizes import Size
from npcompile.graph.layout import broadcast_shapes
from npcompile.linalg.factorisations import PIVOTS, call
from npcompile.linalg.norms import of
from npcompile.ops import arguments, views
from npcompile.ops.arguments import as_array, program, static, truth
from npcompile.ops.operands import ArrayRef, Context, Operand

#: SciPy calls LAPACK by its interface for one matrix; from 1.18 on it has code of its own, whose
#: results have other bits and lie in memory in another order
_VERSION = tuple(map(int, scipy.__version__.split(".")[:2]))
BY_LAPACK = _VERSION < (1, 18)
#: whether every function takes batches as this code does
BATCHES = _VERSION == (1, 17)
FACTORS = arguments.program_kind("factors of SciPy")
DType = np.dtype[Any]
#: dtypes whose numbers SciPy computes with in single precision
_IN_SINGLE = "?bBhHe"
_SINGULAR = "a singular matrix: SciPy raises or warns"


# ------------------------------------------------------------------ operands


def _operand(ctx: Context, operand: Operand, what: str, check_finite: Operand = True) -> ArrayRef:
    """An array that is not empty, in a dtype of LAPACK's, with finite numbers."""
    if not BY_LAPACK:
        raise ctx.refuse(what, "as this version of SciPy computes it")
    ref = as_array(ctx, operand)
    if ref.dtype.char in _IN_SINGLE or ref.dtype.kind in "iu":
        wider = np.float32 if ref.dtype.char in _IN_SINGLE else np.float64
        ref = ctx.new(ctx.builder.cast(ctx.read(ref), np.dtype(wider)))
    if ref.dtype.char not in "fdFD":
        raise ctx.refuse(what, f"of {ref.dtype}")
    if not all(ctx.facts.less(0, size) for size in ref.shape):
        raise ctx.refuse(what, "of an empty array")
    if ref.ndim > 2 and not BATCHES:
        raise ctx.refuse(what, "of a batch, as this version of SciPy computes it")
    if truth(ctx, check_finite, what):
        finite = of(ctx, "all", of(ctx, "isfinite", ref))
        ctx.builder.check(arguments.contents(ctx, finite), "a number that is not finite")
    return ref


def _matrix(ctx: Context, operand: Operand, what: str, check_finite: Operand = True,
            square: bool = True) -> ArrayRef:
    ref = _operand(ctx, operand, what, check_finite)
    if ref.ndim < 2 or (square and not ctx.facts.equal(*ref.shape[-2:])):
        raise ctx.refuse(what, "of what is no matrix, or not a square one")
    return ref


def _kept(ctx: Context, what: str, *overwrites: Operand) -> None:
    """Refuses to use operands as scratch memory, which shows in them."""
    if any(truth(ctx, overwrite, what) for overwrite in overwrites):
        raise ctx.refuse(what, "overwriting an operand")


def _sides(ctx: Context, b: Operand, what: str, check_finite: Operand, a: ArrayRef,
           *pivots: ArrayRef) -> tuple[list[ArrayRef], bool]:
    """All operands of equations, the right sides last and as columns, with the axes of batches that
    they have in common; and whether there was a vector."""
    ref = _operand(ctx, b, what, check_finite)
    if ref.dtype != a.dtype or ref.ndim == 0:
        raise ctx.refuse(what, "of unlike dtypes, or a number")
    vector = ref.ndim == 1
    if vector:
        ref = arguments.view(ref, (*ref.shape, 1), (*ref.strides, 1))
    if not ctx.facts.equal(ref.shape[-2], a.shape[-2]):
        raise ctx.refuse(what, "lengths differ: Python raises")
    operands = [(a, 2), *[(one, 1) for one in pivots], (ref, 2)]
    batch: tuple[Size, ...] = ()
    for one, axes in operands:
        batch = broadcast_shapes(ctx.facts, batch, one.shape[: one.ndim - axes])
    return [views.broadcast(ctx, one, (*batch, *one.shape[one.ndim - axes :]))
            for one, axes in operands], vector


def _is_pair(operand: Operand) -> bool:
    return isinstance(operand, (tuple, list)) and len(operand) == 2


def _call(ctx: Context, name: str, routine: str, operands: list[ArrayRef],
          results: list[tuple[DType, tuple[Size, ...]]], spec: str = "", why: str = _SINGULAR
          ) -> list[Any]:
    return call(ctx, f"scipy.linalg.{name}", routine, operands, operands[0].dtype, results, spec,
                why, columns=True)


def _solved(ctx: Context, name: str, routine: str, operands: list[ArrayRef], vector: bool,
            spec: str) -> Operand:
    """Results of equations, whose right sides are the last operand."""
    right = operands[-1]
    (x,) = _call(ctx, name, routine, operands, [(right.dtype, right.shape[-2:])], spec)
    return arguments.view(x, x.shape[:-1], x.strides[:-1]) if vector else x


def _several(operand: ArrayRef, results: Sequence[Operand]) -> Operand:
    """Results for a matrix, or for a batch of them."""
    return tuple(results) if operand.ndim == 2 else list(results)


# ------------------------------------------------------------------ factors


@program(FACTORS, "scipy.linalg:lu_factor", guarantee="none")
def lu_factor(ctx: Context, a: Operand, overwrite_a: Operand = False, check_finite: Operand = True
              ) -> Operand:
    """Both factors of Gauss in one matrix, and the rows that were exchanged."""
    _kept(ctx, "lu_factor", overwrite_a)
    ref = _matrix(ctx, a, "lu_factor", check_finite, square=False)
    m, n = ref.shape[-2:]
    least = m if ctx.facts.at_most(m, n) else n
    return _several(ref, _call(ctx, "lu_factor", "getrf", [ref],
                               [(ref.dtype, (m, n)), (PIVOTS, (least,))]))


@program(FACTORS, "scipy.linalg:lu_solve", guarantee="none")
def lu_solve(ctx: Context, lu_and_piv: Operand, b: Operand, trans: Operand = 0,
             overwrite_b: Operand = False, check_finite: Operand = True) -> Operand:
    """Results of equations by the factors of Gauss."""
    _kept(ctx, "lu_solve", overwrite_b)
    if not _is_pair(lu_and_piv) or static(trans) not in (0, 1, 2):
        raise ctx.refuse("lu_solve", "of what lu_factor doesn't give")
    factors = _matrix(ctx, lu_and_piv[0], "lu_solve", False)
    pivots = as_array(ctx, lu_and_piv[1])
    if (pivots.dtype != PIVOTS or pivots.ndim == 0
            or not ctx.facts.equal(pivots.shape[-1], factors.shape[-1])):
        raise ctx.refuse("lu_solve", "of other pivots")
    operands, vector = _sides(ctx, b, "lu_solve", check_finite, factors, pivots)
    return _solved(ctx, "lu_solve", "getrs", operands, vector, "NTC"[static(trans)])


def _cholesky(ctx: Context, name: str, a: Operand, lower: Operand, overwrite_a: Operand,
              check_finite: Operand, clean: str) -> tuple[Any, bool]:
    _kept(ctx, name, overwrite_a)
    ref, low = _matrix(ctx, a, name, check_finite), truth(ctx, lower, name)
    (c,) = _call(ctx, name, "potrf", [ref], [(ref.dtype, ref.shape[-2:])], "UL"[low] + clean,
                 "a matrix that is not positive definite: Python raises")
    return c, low


@program(FACTORS, "scipy.linalg:cholesky", guarantee="none")
def cholesky(ctx: Context, a: Operand, lower: Operand = False, overwrite_a: Operand = False,
             check_finite: Operand = True) -> Operand:
    """The triangular factor of a positive definite matrix."""
    return _cholesky(ctx, "cholesky", a, lower, overwrite_a, check_finite, "c")[0]


@program(FACTORS, "scipy.linalg:cho_factor", guarantee="none")
def cho_factor(ctx: Context, a: Operand, lower: Operand = False, overwrite_a: Operand = False,
               check_finite: Operand = True) -> Operand:
    """The same over the other half of the matrix, and which half it is."""
    if not isinstance(static(lower), bool):
        raise ctx.refuse("cho_factor", "lower= that is no bool")
    c, low = _cholesky(ctx, "cho_factor", a, lower, overwrite_a, check_finite, "k")
    if c.ndim == 2:
        return c, low
    batch = arguments.view(c, c.shape[:-2], c.strides[:-2])
    return [c, of(ctx, "full_like", batch, low, dtype=np.bool_)]


@program(FACTORS, "scipy.linalg:cho_solve", guarantee="none")
def cho_solve(ctx: Context, c_and_lower: Operand, b: Operand, overwrite_b: Operand = False,
              check_finite: Operand = True) -> Operand:
    """Results of equations by a factor of Cholesky."""
    _kept(ctx, "cho_solve", overwrite_b)
    if not _is_pair(c_and_lower):
        raise ctx.refuse("cho_solve", "of what cho_factor doesn't give")
    factor = _matrix(ctx, c_and_lower[0], "cho_solve", check_finite)
    operands, vector = _sides(ctx, b, "cho_solve", check_finite, factor)
    half = "UL"[truth(ctx, c_and_lower[1], "cho_solve")]
    return _solved(ctx, "cho_solve", "potrs", operands, vector, half)


@program(FACTORS, "scipy.linalg:solve_triangular", guarantee="none")
def solve_triangular(ctx: Context, a: Operand, b: Operand, trans: Operand = 0,
                     lower: Operand = False, unit_diagonal: Operand = False,
                     overwrite_b: Operand = False, check_finite: Operand = True) -> Operand:
    """Results of triangular equations."""
    _kept(ctx, "solve_triangular", overwrite_b)
    ref = _matrix(ctx, a, "solve_triangular", check_finite)
    (ref, right), vector = _sides(ctx, b, "solve_triangular", check_finite, ref)
    how = {"N": 0, "T": 1, "C": 2}.get(static(trans), static(trans))
    if how not in (0, 1, 2):
        raise ctx.refuse("solve_triangular", f"trans={how!r}")
    low, unit = (truth(ctx, x, "solve_triangular") for x in (lower, unit_diagonal))
    one = arguments.view(ref, ref.shape[-2:], ref.strides[-2:])
    if how != 2 and not views.is_fortran(ctx, one):  # as SciPy gives it to LAPACK
        ref, low, how = views.swapaxes(ctx, ref, -1, -2), not low, 1 - how
    spec = "UL"[low] + "NTC"[how] + "NU"[unit]
    return _solved(ctx, "solve_triangular", "trtrs", [ref, right], vector, spec)


@program(FACTORS, "scipy.linalg:qr", guarantee="none")
def qr(ctx: Context, a: Operand, overwrite_a: Operand = False, lwork: Operand = None,
       mode: Operand = "full", pivoting: Operand = False, check_finite: Operand = True) -> Operand:
    """An orthogonal and a triangular factor."""
    _kept(ctx, "qr", overwrite_a, pivoting)
    if lwork is not None or mode not in ("full", "qr", "r", "economic"):
        raise ctx.refuse("qr", f"mode={mode!r}, or lwork=")
    ref = _matrix(ctx, a, "qr", check_finite, square=False)
    (m, n), dtype = ref.shape[-2:], ref.dtype
    wide = ctx.facts.less(m, n)
    results: list[tuple[DType, tuple[Size, ...]]] = [(dtype, (m, n))]
    if mode == "r":
        routine = "geqrf_r"
    elif mode == "economic":
        routine = "geqrf_thin"
        results.append((dtype, (m, m if wide or ctx.facts.equal(m, n) else n)))
    else:
        routine = "geqrf_full"
        results.append((dtype, (m, m)))
    made, *q = _call(ctx, "qr", routine, [ref], results)
    if mode == "economic" and not wide:
        made = arguments.view(made, (*made.shape[:-2], n, n), made.strides)
    return _several(ref, [*q, of(ctx, "triu", made)]) if q or ref.ndim == 2 else of(
        ctx, "triu", made)


# ------------------------------------------------------------------ values and vectors


@program(FACTORS, "scipy.linalg:svd", guarantee="none")
def svd(ctx: Context, a: Operand, full_matrices: Operand = True, compute_uv: Operand = True,
        overwrite_a: Operand = False, check_finite: Operand = True, lapack_driver: Operand = "gesdd"
        ) -> Operand:
    """Singular values and vectors."""
    _kept(ctx, "svd", overwrite_a)
    if lapack_driver != "gesdd":
        raise ctx.refuse("svd", f"lapack_driver={lapack_driver!r}")
    ref = _matrix(ctx, a, "svd", check_finite, square=False)
    (m, n), dtype = ref.shape[-2:], ref.dtype
    k, reals = m if ctx.facts.at_most(m, n) else n, np.dtype(dtype.char.lower())
    why = "singular values that did not converge: Python raises"
    if not truth(ctx, compute_uv, "svd"):
        return _call(ctx, "svdvals", "gesdd_values", [ref], [(reals, (k,))], why=why)[0]
    full = truth(ctx, full_matrices, "svd")
    left, right = (m, n) if full else (k, k)
    return _several(ref, _call(ctx, "svd", "gesdd_full" if full else "gesdd_thin", [ref],
                               [(dtype, (m, left)), (reals, (k,)), (dtype, (right, n))], why=why))


@program(FACTORS, "scipy.linalg:svdvals", guarantee="none")
def svdvals(ctx: Context, a: Operand, overwrite_a: Operand = False, check_finite: Operand = True
            ) -> Operand:
    """Singular values."""
    return svd(ctx, a, compute_uv=False, overwrite_a=overwrite_a, check_finite=check_finite)


@program(FACTORS, "scipy.linalg:eigh", guarantee="none")
def eigh(ctx: Context, a: Operand, b: Operand = None, *, lower: Operand = True,
         eigvals_only: Operand = False, overwrite_a: Operand = False, overwrite_b: Operand = False,
         type: Operand = 1, check_finite: Operand = True, subset_by_index: Operand = None,
         subset_by_value: Operand = None, driver: Operand = None) -> Operand:
    """Eigenvalues and eigenvectors of a symmetric matrix."""
    _kept(ctx, "eigh", overwrite_a)
    if not (b is None and subset_by_index is None and subset_by_value is None
            and driver in (None, "evr")):
        raise ctx.refuse("eigh", "of two matrices, of some values, or by another driver")
    ref = _matrix(ctx, a, "eigh", check_finite)
    half, n = "UL"[truth(ctx, lower, "eigh")], ref.shape[-1]
    reals, why = np.dtype(ref.dtype.char.lower()), "values that did not converge: Python raises"
    if truth(ctx, eigvals_only, "eigh"):
        return _call(ctx, "eigvalsh", "syevr_values", [ref], [(reals, (n,))], half, why)[0]
    return _several(ref, _call(ctx, "eigh", "syevr", [ref],
                               [(reals, (n,)), (ref.dtype, (n, n))], half, why))


@program(FACTORS, "scipy.linalg:eigvalsh", guarantee="none")
def eigvalsh(ctx: Context, a: Operand, b: Operand = None, *, lower: Operand = True,
             **options: Operand) -> Operand:
    """Eigenvalues of a symmetric matrix."""
    if "eigvals_only" in options:
        raise ctx.refuse("eigvalsh", "eigvals_only=: Python raises")
    return eigh(ctx, a, b, lower=lower, eigvals_only=True, **options)
