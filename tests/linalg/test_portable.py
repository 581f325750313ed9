"""Mode ``"portable"``: the same bits for any vector width, number of threads, layout and batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import CompileError, DeterminismError, deterministic, jit
from tests.linalg import portable_page
from tests.linalg.portable_page import numbers


def test_one_sum_of_bits_for_each_function() -> None:
    """A sample: `python -m tests.linalg.portable_page all` compares all."""
    assert len(portable_page.lines()) >= 100
    first = portable_page.output("default", 1, "12", "1")
    assert portable_page.output("avx2", 3, "12", "1") == first
    assert portable_page.output("scalar", 2, "12", "1") == first


@pytest.mark.slow
@pytest.mark.parametrize("capability", portable_page.CAPABILITIES)
@pytest.mark.parametrize("threads", portable_page.THREADS)
def test_one_sum_of_bits_on_every_machine(capability: str, threads: int) -> None:
    assert portable_page.output(capability, threads) == portable_page.output("default", 1)


@pytest.mark.parametrize("dtype", "dfDF")
def test_products_are_as_accurate_as_sums_may_be(dtype: str) -> None:
    compiled = jit(lambda a, b: a @ b, deterministic="portable", fullgraph=True)
    unit = np.finfo(dtype).eps
    for m, k, n in ((1, 1, 1), (3, 5, 2), (70, 33, 129), (97, 961, 101), (8, 0, 4), (256, 256, 1)):
        a, b = numbers(dtype, m, k), numbers(dtype, k, n)
        want = a.astype("G") @ b.astype("G")
        bound = 2 * unit * max(k, 1) * (np.abs(a) @ np.abs(b))
        assert (np.abs(compiled(a, b) - want) <= bound).all()


def test_a_batch_has_the_bits_of_its_matrices() -> None:
    compiled = jit(lambda a, b: a @ b, deterministic="portable", fullgraph=True)
    for n in (2, 9, 100):
        a, b = numbers("d", 7, n, n), numbers("d", 7, n, n)
        assert np.array_equal(compiled(a, b), np.stack([compiled(x, y) for x, y in zip(a, b)]))


def test_squares_that_underflow() -> None:
    """Numbers whose squares are 0 are not 0: pivots are found, and reflections raise."""
    a = np.array([[0, 1e200 + 1j], [1e-200j, 1]])
    compiled = jit(lambda a: np.linalg.det(a), deterministic="portable")
    assert abs(compiled(a) - np.linalg.det(a)) < 1e-14
    b = numbers("d", 3, 3)
    factors = jit(lambda a: np.linalg.qr(a), deterministic="portable")
    for ours, theirs in zip(factors(b), np.linalg.qr(b)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)
    with pytest.raises(DeterminismError, match="runs in Python"):
        factors(b * 1e-200)
    q, r = factors(np.zeros((3, 2)))
    assert np.array_equal(q, np.eye(3, 2)) and not r.any()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [3, 100])
def test_what_fills_strips_raises_no_flag(n: int) -> None:
    """Matrices with infinities: NumPy warns of what is not a number, and of nothing else."""
    compiled = jit(lambda a, b: a @ b, deterministic="portable", fullgraph=True)
    a, b = np.ones((n, n)), np.ones((n, n))
    a[1, 1] = np.inf
    got = compiled(a, b)
    assert np.isinf(got[1]).all() and (got[0] == n).all()
    b[1, 0] = 0.0
    with pytest.raises(RuntimeWarning, match="invalid value"):
        compiled(a, b)


def test_products_with_numbers_that_are_not_packed_whole() -> None:
    compiled: Any = jit(lambda a, b: a @ b, deterministic="portable", fullgraph=True)
    a, b = numbers("d", 400, 300), numbers("d", 300, 200)
    whole = compiled(a, b)
    for rows in (1, 7, 8, 191, 193):
        if rows > 1:  # a row is a product with a vector
            assert np.array_equal(compiled(a[:rows], b), whole[:rows])
    for columns in (2, 23, 25):
        assert np.array_equal(compiled(a, b[:, :columns]), whole[:, :columns])


# ------------------------------------------------------------------ factorisations

LINALG = np.linalg
OF_ONE: dict[str, Callable[[Any], Any]] = {
    "solve": lambda a: LINALG.solve(a, a[..., ::-1]), "inv": lambda a: LINALG.inv(a),
    "det": lambda a: LINALG.det(a), "cholesky": lambda a: LINALG.cholesky(a),
    "upper": lambda a: LINALG.cholesky(a, upper=True),
}


def portable(function: Callable[..., Any]) -> Any:
    return jit(function, deterministic="portable", fullgraph=True)


@pytest.mark.parametrize("name", OF_ONE)
@pytest.mark.parametrize("n", [1, 3, 12])
def test_batches_of_one_and_of_many_have_the_bits_of_their_matrices(name: str, n: int) -> None:
    compiled = portable(OF_ONE[name])
    a = numbers("d", 1000, n, n)
    a = a @ a.swapaxes(-1, -2) + np.eye(n)
    whole = compiled(a)
    assert np.array_equal(compiled(a[:1])[0], whole[0])
    assert np.array_equal(compiled(np.asfortranarray(a[:50])), whole[:50])
    for k in (0, 1, 500, 999):
        assert np.array_equal(compiled(a[k]), whole[k])


def backward(got: Any, want: Any, size: int) -> None:
    """Asserts a difference that is rounding's, of numbers of about ``want``'s size."""
    assert np.abs(got - want).max() <= 8 * size * np.finfo(float).eps * np.abs(want).max()


@pytest.mark.parametrize("n", [1, 2, 31, 33, 100])
@pytest.mark.parametrize("dtype", "dD")
def test_backward_errors(dtype: str, n: int) -> None:
    a = numbers(dtype, n, n)
    x = portable(lambda a: LINALG.solve(a, a[:, ::-1]))(a)
    backward(a @ x, a[:, ::-1], 64 * n)
    positive = a @ a.conj().T + n * np.eye(n)
    factor = portable(lambda a: LINALG.cholesky(a))(positive)
    backward(factor @ factor.conj().T, positive, n)
    q, r = portable(lambda a: LINALG.qr(a))(a)
    backward(q @ r, a, n)
    backward(q.conj().T @ q, np.eye(n), n)
    assert (np.tril(r, -1) == 0).all()


@pytest.mark.parametrize("n", [1, 2, 7, 32])
def test_values_and_vectors(n: int) -> None:
    a = numbers("d", n, n)
    w, v = portable(lambda a: LINALG.eigh(a))(a + a.T)
    backward((a + a.T) @ v, v * w, 4 * n)
    backward(v.T @ v, np.eye(n), 4 * n)
    assert (np.diff(w) >= 0).all()
    u, s, vt = portable(lambda a: LINALG.svd(a))(a)
    backward(u * s @ vt, a, 4 * n)
    backward(u.T @ u, np.eye(n), 4 * n)
    assert (np.diff(s) <= 0).all()


@pytest.mark.parametrize("n", [7, 32])
def test_eigenvectors_are_as_good_as_lapacks(n: int) -> None:
    compiled = portable(lambda a: LINALG.eigh(a))
    matrices = [m + m.T for m in np.random.default_rng(n).standard_normal((8, n, n))]
    matrices.append(np.diag(10.0 ** np.arange(n)[::-1] / 2) + 1e-3)  # of very different sizes

    def errors(a: Any, w: Any, v: Any) -> Any:
        return [np.linalg.norm(a @ v - v * w) / np.linalg.norm(a, 2),
                np.linalg.norm(v.T @ v - np.eye(n))]

    ours = np.array([errors(a, *compiled(a)) for a in matrices])
    theirs = np.array([errors(a, *np.linalg.eigh(a)) for a in matrices])
    assert (ours.max(axis=0) <= 2 * theirs.max(axis=0)).all(), (ours, theirs)


def test_batches_of_factors_and_values_are_those_of_their_matrices() -> None:
    a = numbers("d", 2, 3, 5, 4)
    square = a[..., :4, :]
    functions: list[tuple[Callable[..., Any], Any]] = [
        (LINALG.qr, a), (LINALG.svd, square), (LINALG.svdvals, a), (LINALG.eigh, square),
        (lambda a: LINALG.qr(a, mode="r"), a), (lambda a: LINALG.qr(a, mode="complete"), a),
        (lambda a: LINALG.svd(a, full_matrices=False), a.swapaxes(-1, -2)),
        (LINALG.slogdet, square), (LINALG.eigvalsh, square)]
    for function, given in functions:
        compiled = portable(lambda x, function=function: function(x))
        whole, one = compiled(given), compiled(given[1, 2])
        for parts, part in zip(*(x if isinstance(x, tuple) else (x,) for x in (whole, one))):
            assert np.array_equal(parts[1, 2], part)
        if function is LINALG.svd:
            assert np.allclose(whole.U * whole.S[..., None, :] @ whole.Vh, given)
    with pytest.raises((DeterminismError, CompileError, ValueError)):
        portable(lambda x: LINALG.slogdet(x))(np.zeros((2, 0, 0)))


def test_what_has_no_portable_way_raises_by_name() -> None:
    for function in (lambda a: LINALG.eigvals(a), lambda a: LINALG.svd(a + 0j)):
        with pytest.raises((DeterminismError, CompileError)):
            portable(function)(np.eye(3))
    large = portable(lambda a: LINALG.eigvalsh(a))
    with pytest.raises((DeterminismError, CompileError)):
        large(np.eye(33))


def test_what_gives_up_while_it_runs_raises_by_line() -> None:
    def values(a):
        return LINALG.svd(a * 1.0, compute_uv=False)

    compiled = portable(values)
    assert np.allclose(compiled(np.diag([3.0, 2.0])), [3, 2])
    for _ in range(2):
        with pytest.raises(DeterminismError, match=r"values: runs in Python \(line"):
            compiled(np.diag([3.0, 0.0]))
    told = pytest.warns(UserWarning, match="values: runs in Python")
    with deterministic("portable", warn_only=True), told:
        assert np.allclose(compiled(np.diag([3.0, 0.0])), [3, 0])


def test_python_may_raise_in_place_of_compiled_code() -> None:
    def counted(a, k):
        if k > 3:
            raise ValueError(k)
        return np.exp(a) * k

    compiled = portable(counted)
    assert compiled(np.zeros(3), 1).tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="7"):
        compiled(np.zeros(3), 7)


@pytest.mark.parametrize("dtype", ["d", "D"])
def test_reflections_of_all_sizes_are_compiled(dtype: str) -> None:
    compiled = portable(lambda a: LINALG.qr(a, "complete"))
    for shape in ((5, 5), (1, 1), (3, 5), (4, 1), (34, 34), (70, 68)):
        a = numbers(dtype, *shape)
        q, r = compiled(a)
        assert np.allclose(q @ r, a)


def test_singular_matrices_raise_what_numpy_raises() -> None:
    compiled = jit(lambda a: LINALG.inv(a), deterministic=True)
    assert compiled(np.eye(3)).tolist() == np.eye(3).tolist()
    with pytest.raises(LINALG.LinAlgError, match="Singular"):
        jit(lambda a: LINALG.inv(a))(np.zeros((3, 3)))
    with pytest.raises((LINALG.LinAlgError, DeterminismError)):
        compiled(np.zeros((3, 3)))


@pytest.mark.parametrize("n", [3, 9, 32])
def test_singular_values_are_found_of_all_matrices(n: int) -> None:
    """Columns are as orthogonal as rounded sums can tell."""
    factors = jit(lambda a: np.linalg.svd(a), deterministic="portable", fullgraph=True)
    for a in np.random.default_rng(n).standard_normal((600 // n, n, n)):
        for matrix in (a, a @ a.T / n + np.eye(n)):
            u, s, vt = factors(matrix)
            assert np.abs(u * s @ vt - matrix).max() < 1e-14 * n * s[0]
            assert np.abs(u.T @ u - np.eye(n)).max() < 1e-15 * (n + 8)
