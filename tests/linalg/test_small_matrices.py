"""Batches of matrices of up to eight rows and columns: one matrix in each lane."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.backends.cpu.linalg import blas, small_kernels
from npcompile.backends.cpu.linalg.small_kernels import SmallKernel
from npcompile.backends.cpu.loader.compile import compile, load, target

linalg = np.linalg
needs_lapack = pytest.mark.skipif(blas.library() is None, reason="no LAPACK to be found")
UNIT = 2.0**-53


def several(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def transposed(a: Any) -> Any:
    return a.swapaxes(-1, -2)


def residual(got: Any, want: Any, size: Any) -> float:
    """The largest element of a difference of matrices, each over a size."""
    return float((np.abs(got - want).max((-1, -2)) / size).max(initial=0))


def norm(a: Any) -> Any:
    return np.abs(a).sum(-1).max(-1) + 1e-300


def orthogonality(q: Any) -> float:
    return residual(transposed(q) @ q, np.eye(q.shape[-1]), 1)


# Each routine: the matrices that it takes, and the errors of its results

GENERAL = np.random.default_rng(0).standard_normal
ERRORS: dict[str, tuple[Callable[[Any], Any], Callable[..., list[float]]]] = {
    "inv": (linalg.inv, lambda a, x: [residual(a @ x, np.eye(a.shape[-1]), norm(a) * norm(x))]),
    "solve": (lambda a: linalg.solve(a, a[..., ::-1]),
              lambda a, x: [residual(a @ x, a[..., ::-1], norm(a) * norm(x))]),
    "cholesky": (linalg.cholesky, lambda a, x: [residual(x @ transposed(x), a, norm(a))]),
    "upper": (lambda a: linalg.cholesky(a, upper=True),
              lambda a, x: [residual(transposed(x) @ x, a, norm(a))]),
    "qr": (linalg.qr, lambda a, q, r: [residual(q @ r, a, norm(a)), orthogonality(q)]),
    "eigh": (linalg.eigh, lambda a, w, v: [residual(a @ v, v * w[..., None, :], norm(a)),
                                           orthogonality(v)]),
    "svd": (lambda a: linalg.svd(a, full_matrices=False),
            lambda a, u, s, v: [residual(u * s[..., None, :] @ v, a, norm(a)),
                                orthogonality(u), orthogonality(transposed(v))]),
}


def matrices(name: str, count: int, n: int) -> Any:
    a = np.random.default_rng(n).standard_normal((count, n, n))
    return a @ transposed(a) + np.eye(n) if name in ("cholesky", "upper", "eigh") else a


@needs_lapack
@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_within_twice_those_of_lapack(name: str) -> None:
    function, errors = ERRORS[name]
    compiled = jit(lambda a: function(a), fullgraph=True)
    for n in (1, 2, 3, 5, 8):
        a = matrices(name, 1003, n)
        got, want = compiled(a), function(a)
        mine, theirs = (errors(a, *several(found)) for found in (got, want))
        for one, other in zip(mine, theirs):
            assert one <= 2 * max(other, 2 * UNIT), (n, one / UNIT, other / UNIT)


@needs_lapack
@pytest.mark.parametrize("name", ["det", "slogdet", "eigvalsh", "svdvals", "solve a vector"])
def test_numbers(name: str) -> None:
    functions: dict[str, Callable[[Any], Any]] = {
        "det": linalg.det, "slogdet": linalg.slogdet, "eigvalsh": linalg.eigvalsh,
        "svdvals": linalg.svdvals,
        "solve a vector": lambda a: linalg.solve(a, np.ones(a.shape[-1])),
    }
    function = functions[name]
    compiled = jit(lambda a: function(a), fullgraph=True)
    for dtype in "df":
        for n in (1, 2, 4, 7):
            a = (np.random.default_rng(n).standard_normal((3, 7, n, n)) + 3 * np.eye(n))
            a = a.astype(dtype)
            got, want = compiled(a), function(a)
            for one, other in zip(several(got), several(want)):
                assert (one.dtype, one.strides) == (other.dtype, other.strides)
                tolerance = 1e-12 if dtype == "d" else 1e-6
                np.testing.assert_allclose(one, other, tolerance, tolerance)


@needs_lapack
def test_layouts_and_axes_of_batches() -> None:
    """A matrix's result is the same wherever it lies, whatever is beside it."""
    compiled = jit(lambda a: linalg.inv(a), fullgraph=True)
    a = GENERAL((4, 5, 3, 3))
    want = compiled(a)
    assert np.abs(a @ want - np.eye(3)).max() < 1e-11
    for k in (1, 2, 7, 8, 9, 20):
        flat = a.reshape(-1, 3, 3)[:k]
        assert np.array_equal(compiled(flat), want.reshape(-1, 3, 3)[:k])
        assert np.array_equal(compiled(flat[::-1]), want.reshape(-1, 3, 3)[:k][::-1])
    assert np.array_equal(compiled(a.swapaxes(0, 1)), want.swapaxes(0, 1))
    assert np.array_equal(compiled(np.asfortranarray(a)), want)
    assert np.array_equal(compiled(np.repeat(a, 2, -1)[..., ::2]), want)
    turned = transposed(np.ascontiguousarray(transposed(a)))
    assert np.array_equal(compiled(turned), want)


@needs_lapack
def test_one_side_for_all_equations() -> None:
    a, b = GENERAL((19, 4, 4)), GENERAL((4, 2))
    got = jit(lambda a, b: linalg.solve(a, b), fullgraph=True)(a, b)
    np.testing.assert_allclose(got, linalg.solve(a, b), 1e-8)


@needs_lapack
@pytest.mark.parametrize("function", [
    lambda a: linalg.inv(a), lambda a: linalg.solve(a, a), lambda a: linalg.det(a),
    lambda a: linalg.slogdet(a), lambda a: linalg.cholesky(a), lambda a: linalg.eigh(a),
    lambda a: linalg.svd(a), lambda a: linalg.qr(a),
])
@pytest.mark.parametrize("special", ["zeros", "nan", "inf", "negative", "huge", "tiny", "equal"])
def test_numpy_decides_about_special_matrices(function: Callable[[Any], Any], special: str) -> None:
    """Among regular ones: the same errors, and the same results where kernels refuse."""
    odd = {"zeros": np.zeros((3, 3)), "nan": np.full((3, 3), np.nan), "negative": -np.eye(3),
           "inf": np.diag([1.0, np.inf, 2.0]), "huge": np.eye(3) * 1e200, "equal": np.ones((3, 3)),
           "tiny": np.eye(3) * 1e-200}[special]
    a = np.stack([np.diag([3.0, 2.0, 1.0]), odd, np.diag([4.0, 3.0, 1.0])])

    def outcome(call: Callable[[Any], Any]) -> Any:
        try:
            found = call(a)
        except linalg.LinAlgError as error:
            return str(error)
        return several(found)

    with np.errstate(all="ignore"):
        want, got = outcome(function), outcome(jit(lambda a: function(a)))
    if isinstance(want, str):
        assert got == want
        return
    for one, other in zip(got, want):
        if special == "equal" and one.ndim == 3:  # the vectors of equal values are any
            assert np.isfinite(one).all()
        else:
            np.testing.assert_allclose(abs(one), abs(other), 1e-12, 1e-15 * np.abs(a[0]).max())


@needs_lapack
def test_vectors_of_rank_one() -> None:
    a = np.stack([np.ones((4, 3)), np.outer([1.0, 2, 3, 4], [1.0, 0, 2]), np.zeros((4, 3))] * 3)
    u, s, v = jit(lambda a: linalg.svd(a), fullgraph=True)(a)
    assert orthogonality(u) < 1e-15 * 8 and orthogonality(transposed(v)) < 1e-15 * 8
    assert residual(u[..., :3] * s[..., None, :] @ v, a, 1) < 1e-14


@needs_lapack
def test_determinants_of_singular_matrices_need_no_help() -> None:
    a = np.stack([np.eye(3), np.ones((3, 3)), np.zeros((3, 3)), -np.eye(3)])
    compiled = jit(lambda a: linalg.det(a), fullgraph=True)
    assert compiled(a).tolist() == [1.0, 0.0, 0.0, -1.0]
    assert compiled.cache_info().fallbacks == 0


# ------------------------------------------------------------------ kernels


def run(kernel: SmallKernel, lanes: int, wish: str, *arrays: Any) -> bytes:
    """The bytes of the results of a kernel for a number of lanes."""
    code = load(compile(small_kernels.text(kernel, lanes), target(wish)))
    _, results = kernel.shapes
    count = len(arrays[0])
    made = [np.empty((count, *shape), kernel.dtype) for shape in results]
    places = [x for a in (*arrays, *made) for x in (a.ctypes.data, a[0].size)]
    kinds = [ctypes.c_void_p, ctypes.c_int64] * len(places[::2])
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, *kinds)(code[kernel.symbol])
    assert call(count // lanes, *places) == 1
    return b"".join(a.tobytes() for a in made)


@pytest.mark.parametrize("routine", ["solve", "inv", "det", "cholesky_L", "qr", "eigh_U", "svd"])
@pytest.mark.parametrize("dtype", "df")
def test_one_sum_of_bits_for_any_number_of_lanes(routine: str, dtype: str) -> None:
    n = 3
    a = matrices("eigh" if routine in ("cholesky_L", "eigh_U") else routine, 64, n).astype(dtype)
    sizes = (n, n) if routine in ("solve", "qr", "svd") else (n,)
    arrays = (a, a[..., ::-1].copy()) if routine == "solve" else (a,)
    kernel = SmallKernel(routine, sizes, np.dtype(dtype))
    found = {hashlib.sha256(run(kernel, lanes, wish, *arrays)).hexdigest()
             for lanes, wish in ((1, "avx2"), (4, "avx2"), (8, "avx2"), (8, "default"))}
    assert len(found) == 1
