"""Functions of ``scipy.linalg``: SciPy's results, bits, layouts and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy
from scipy import linalg

from npcompile import jit
from npcompile.backends.cpu.linalg import blas
from tests.support.oracle import difference, observe

needs_lapack = pytest.mark.skipif(
    blas.scipys() is None or tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 18),
    reason="no LAPACK to be found, or a SciPy with code of its own in its place")
needs_batches = pytest.mark.skipif(
    blas.scipys() is None or tuple(map(int, scipy.__version__.split(".")[:2])) != (1, 17),
    reason="no LAPACK to be found, or a SciPy that has batches in another way")
Function = Callable[..., Any]


def numbers(dtype: str, *shape: int) -> Any:
    rng = np.random.default_rng(sum(shape))
    a = rng.standard_normal(shape) * 5
    return (a + 1j * rng.standard_normal(shape) if dtype in "DF" else a).astype(dtype)


def matches(function: Function, *args: Any, whole: bool = True) -> None:
    def program(*args: Any) -> Any:
        return function(*args)

    compiled = jit(program, fullgraph=whole)
    for _ in range(2):
        got, want = observe(compiled, *args), observe(program, *args)
        assert not difference(got, want, bases=False, flags=False, lines=False)


def positive(dtype: str, n: int) -> Any:
    a = numbers(dtype, n, n)
    return a @ a.conj().T + n * np.eye(n, dtype=a.dtype)


SQUARE: dict[str, Function] = {
    "lu_factor": linalg.lu_factor,
    "lu_solve": lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b),
    "lu_solve T": lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b, trans=1),
    "lu_solve C": lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b, 2),
    "cholesky": linalg.cholesky,
    "cholesky lower": lambda a: linalg.cholesky(a, lower=True),
    "cho_factor": linalg.cho_factor,
    "cho_factor lower": lambda a: linalg.cho_factor(a, True),
    "cho_solve": lambda a, b: linalg.cho_solve(linalg.cho_factor(a), b),
    "cho_solve lower": lambda a, b: linalg.cho_solve(linalg.cho_factor(a, lower=True), b),
    "solve_triangular": linalg.solve_triangular,
    "solve_triangular lower": lambda a, b: linalg.solve_triangular(a, b, lower=True),
    "solve_triangular T": lambda a, b: linalg.solve_triangular(a, b, "T"),
    "solve_triangular C": lambda a, b: linalg.solve_triangular(a, b, 2, unit_diagonal=True),
    "eigh": linalg.eigh,
    "eigh upper": lambda a: linalg.eigh(a, lower=False, check_finite=False),
    "eigh values": lambda a: linalg.eigh(a, eigvals_only=True),
    "eigvalsh": linalg.eigvalsh,
}
ANY: dict[str, Function] = {
    "lu_factor": linalg.lu_factor,
    "lu": linalg.lu,
    "lu indices": lambda a: linalg.lu(a, p_indices=True),
    "qr": linalg.qr,
    "qr r": lambda a: linalg.qr(a, mode="r"),
    "qr economic": lambda a: linalg.qr(a, mode="economic"),
    "svd": linalg.svd,
    "svd thin": lambda a: linalg.svd(a, full_matrices=False),
    "svd values": lambda a: linalg.svd(a, compute_uv=False),
    "svdvals": linalg.svdvals,
    "pinv": linalg.pinv,
    "pinv rank": lambda a: linalg.pinv(a, rtol=1e-3, return_rank=True),
    "norm": linalg.norm,
    "norm 2": lambda a: linalg.norm(a, 2),
    "norms of rows": lambda a: linalg.norm(a, axis=1),
    "procrustes": lambda a: linalg.orthogonal_procrustes(a, a[::-1]),
}


@needs_lapack
@pytest.mark.parametrize("dtype", "dfDFl")
@pytest.mark.parametrize("name", SQUARE)
def test_square_matrices(name: str, dtype: str) -> None:
    function = SQUARE[name]
    two = function.__code__.co_argcount == 2 or name == "solve_triangular"
    for n in (1, 3, 12):
        a = positive("d" if dtype == "l" else dtype, n).astype(dtype)
        b = numbers(dtype, n, 2)
        for each in (a, np.asfortranarray(a), a[::-1, ::-1]):
            if two:
                matches(function, each, b)
                matches(function, each, b[:, 0])
            else:
                matches(function, each)


@needs_lapack
@pytest.mark.parametrize("dtype", "dfDFl")
@pytest.mark.parametrize("name", ANY)
def test_matrices(name: str, dtype: str) -> None:
    for m, n in ((1, 1), (2, 5), (5, 2), (4, 4), (13, 9)):
        a = numbers(dtype, m, n)
        for each in (a, np.asfortranarray(a), a[::-1]):
            matches(ANY[name], each, whole=False)
    compiled = jit(lambda a: ANY[name](a), fullgraph=True)
    compiled(numbers(dtype, 4, 3))


def calls_no_library(compiled: Any, *args: Any) -> bool:
    return "library functions" not in str(compiled.explain(*args))


def all_match(function: Function, *calls: tuple[Any, ...]) -> None:
    """Of one compiled function, which calls none of SciPy's."""
    def program(*args: Any) -> Any:
        return function(*args)

    compiled = jit(program, fullgraph=True)
    for args in calls:
        got, want = observe(compiled, *args), observe(program, *args)
        assert not difference(got, want, bases=False, flags=False, lines=False)
    assert calls_no_library(compiled, *calls[0])


def laid_out(a: Any) -> list[Any]:
    return [a, np.asfortranarray(a), a[..., ::-1, ::-1], a.swapaxes(-1, -2)]


@needs_batches
@pytest.mark.parametrize("name", ["lu_factor", "cholesky lower", "cho_factor", "eigh upper",
                                  "eigvalsh"])
def test_batches_of_square_matrices(name: str) -> None:
    for dtype, batch, n in (("d", (2, 3), 5), ("F", (4,), 3)):
        scale = np.arange(1, 1 + int(np.prod(batch))).reshape(*batch, 1, 1)
        a = positive(dtype, n) * scale.astype(dtype)
        all_match(SQUARE[name], *[(each,) for each in laid_out(a)])


@needs_batches
@pytest.mark.parametrize("name", ["lu_solve C", "solve_triangular", "solve_triangular T"])
def test_batches_of_equations(name: str) -> None:
    """With right sides that all matrices have, or each its own, and one matrix with several."""
    a, b = positive("d", 4) + np.arange(3.0).reshape(3, 1, 1), numbers("d", 3, 4, 2)
    for right in (b, b[0, :, 0]):
        all_match(SQUARE[name], *[(each, right) for each in laid_out(a)])
    all_match(SQUARE[name], (a[0], b))


@needs_batches
def test_batches_of_factors() -> None:
    c = linalg.cholesky(positive("D", 4))
    all_match(lambda c, b: linalg.cho_solve((c, False), b),
              (np.stack([c, 2 * c]), numbers("D", 4)))


@needs_batches
@pytest.mark.parametrize("name", ["qr", "qr r", "qr economic", "svd", "svd thin", "svdvals"])
def test_batches_of_matrices(name: str) -> None:
    for shape in ((3, 4, 4), (3, 5, 2), (4, 2, 5), (2, 1, 1)):
        a = numbers("d", *shape)
        all_match(ANY[name], (a,), (np.asfortranarray(a),))
    all_match(ANY[name], (numbers("F", 2, 3, 5, 2),))


@needs_batches
@pytest.mark.parametrize("name", ["lu", "lu indices", "det"])
def test_batches_of_pivots(name: str) -> None:
    function = ANY.get(name, linalg.det)
    for shape in ((3, 4, 4), (2, 2, 3, 3), (5, 5)):
        all_match(function, *[(a,) for a in laid_out(numbers("d", *shape))])
    for shape in ((3, 5, 2), (3, 2, 5)) if name != "det" else ((2, 1, 1), (1, 1), (2, 0, 0)):
        matches(function, numbers("d", *shape), whole=False)


@needs_batches
@pytest.mark.parametrize("dtype", "dD")
def test_batches_of_inverses_are_near_those_of_scipy(dtype: str) -> None:
    def inverses(a: Any) -> Any:
        return linalg.inv(a)

    def solved(a: Any, b: Any) -> Any:
        return linalg.solve(a, b)

    a = numbers(dtype, 3, 4, 4)
    for function, rest in ((inverses, ()), (solved, (numbers(dtype, 3, 4, 2),)),
                           (solved, (numbers(dtype, 4),))):
        compiled = jit(function, fullgraph=True)
        for each in (a, np.asfortranarray(a), a[:, ::-1]):
            got, want = compiled(each, *rest), function(each, *rest)
            assert got.strides == want.strides and got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)
        assert calls_no_library(compiled, a, *rest)


def test_scipy_decides_about_inverses() -> None:
    """Raises for what is singular or not finite, and warns of condition numbers."""
    a, near = numbers("d", 3, 4, 4), np.stack([np.eye(2), [[1, 1], [1, 1 + 1e-15]]])
    for each in (near, a * np.nan, a * 0, a[0], a[:0], a.astype("f"), a.astype(int), a[:, :3],
                 np.stack([np.eye(3), np.diag([1e200, 1, 1e-200])])):
        matches(linalg.inv, each, whole=False)
        matches(linalg.solve, each, each[..., 0, :], whole=False)
    matches(lambda a: linalg.inv(a, assume_a="sym"), a, whole=False)
    matches(lambda a: linalg.solve(a, a, transposed=True), a, whole=False)
    matches(lambda a: linalg.solve(a, a * np.inf), a, whole=False)


@needs_lapack
def test_scipy_decides_about_batches() -> None:
    """Raises for one matrix of several, where there is none, and says which is singular."""
    one = np.stack([np.eye(3), np.zeros((3, 3)), -np.eye(3)])
    for function in (linalg.lu_factor, linalg.cholesky, linalg.cho_factor, linalg.solve_triangular):
        for a in (one, np.full((2, 3, 3), np.nan), np.zeros((0, 3, 3)), np.zeros((2, 0, 0)),
                  np.zeros((2, 3, 4))):
            matches(function, a, *[np.ones(3)] * (function is linalg.solve_triangular), whole=False)


@needs_lapack
def test_scipy_decides_about_special_matrices() -> None:
    zeros, broken = np.zeros((3, 3)), np.full((3, 3), np.nan)
    for function in (linalg.lu_factor, linalg.cholesky, linalg.qr, linalg.svd, linalg.eigh,
                     linalg.lu, linalg.pinv, linalg.cho_factor):
        for a in (zeros, broken, -np.eye(3), np.zeros((0, 0)), np.ones(3), np.ones((2, 3, 3)),
                  np.eye(3, 4)):
            matches(function, a, whole=False)
    matches(linalg.solve_triangular, zeros, np.ones(3), whole=False)
    matches(linalg.solve_triangular, np.eye(3), np.ones(4), whole=False)
    matches(linalg.solve_triangular, np.eye(3, dtype="f"), np.ones(3), whole=False)
    matches(lambda a: linalg.svd(a, overwrite_a=True)[1], np.eye(3), whole=False)


@needs_lapack
@pytest.mark.parametrize("dtype", "?bBhHeiILQ")
def test_narrow_numbers_are_computed_with_in_single_precision(dtype: str) -> None:
    a = (positive("d", 4) / 8 + 1).astype(dtype)
    b = np.array([1, 0, 1, 1], dtype)
    for name, function in SQUARE.items():
        two = function.__code__.co_argcount == 2 or name == "solve_triangular"
        matches(function, a, *[b] * two, whole=False)
    for name in set(ANY) - {"procrustes"}:
        matches(ANY[name], a[:3], whole=False)


@needs_lapack
def test_scipy_decides_about_arguments_of_other_forms() -> None:
    a, pivots = numbers("d", 3, 3), np.arange(3, dtype=np.int32)
    matches(lambda a, p: linalg.lu_solve((a, p, 1), a), a, pivots, whole=False)
    matches(lambda a: linalg.cho_solve((a, True, 1), a), a, whole=False)
    matches(lambda a: linalg.norm(a, axis=[0, 1]), a, whole=False)
    matches(lambda n: linalg.hilbert(n), 0, whole=False)


VECTORS: dict[str, Function] = {
    "toeplitz": linalg.toeplitz,
    "toeplitz of two": lambda c: linalg.toeplitz(c, c[1:]),
    "hankel": linalg.hankel,
    "hankel of two": lambda c: linalg.hankel(c, c[::-1]),
    "circulant": linalg.circulant,
    "companion": linalg.companion,
    "leslie": lambda c: linalg.leslie(c, c[1:]),
    "fiedler": linalg.fiedler,
    "block_diag": lambda c: linalg.block_diag(c, c[:, None], [[1, 2], [3, 4]]),
    "convolution_matrix": lambda c: linalg.convolution_matrix(c, 4),
}


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("dtype", "dfDFl")
def test_special_matrices(name: str, dtype: str) -> None:
    if name == "fiedler":  # sizes of complex numbers have an error bound
        dtype = dtype.lower()
    for c in (numbers(dtype, 5), numbers(dtype, 9)[::-2], numbers(dtype, 2)):
        matches(VECTORS[name], c)
    for c in (numbers(dtype, 1), numbers(dtype, 2, 3), np.zeros(3, dtype)):
        matches(VECTORS[name], c, whole=False)


@pytest.mark.parametrize("function", [
    linalg.hilbert, linalg.helmert, lambda n: linalg.helmert(n, full=True)])
def test_matrices_by_their_size(function: Function) -> None:
    for n in (1, 2, 7):
        matches(function, n)
