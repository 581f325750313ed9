"""Laws of factorisations, of single matrices and of batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from npcompile import jit

sizes = st.sampled_from([1, 2, 3, 4, 5, 8, 9, 20])
batches = st.sampled_from([(), (1,), (3,), (2, 9)])
U = float(np.finfo(np.float64).eps)


def matrices(seed: int, batch: tuple[int, ...], n: int) -> np.ndarray:
    made: np.ndarray = np.random.default_rng(seed).random((*batch, n, n)) - 0.5
    return made


def norm(a: Any) -> Any:
    return np.linalg.norm(a, axis=(-2, -1))


@jit
def equations(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b), np.linalg.inv(a), np.linalg.det(a)


@jit
def orthogonal(a: Any) -> Any:
    q, r = np.linalg.qr(a)
    u, s, v = np.linalg.svd(a)
    return q, r, u, s, v


@jit
def symmetric(a: Any) -> Any:
    s = a @ a.swapaxes(-1, -2) + np.eye(a.shape[-1])
    return s, np.linalg.cholesky(s), *np.linalg.eigh(s)


def transposed(a: Any) -> Any:
    return a.swapaxes(-1, -2)


@settings(max_examples=30, deadline=None)
@given(n=sizes, batch=batches, seed=st.integers(0, 99))
def test_equations(n: int, batch: tuple[int, ...], seed: int) -> None:
    a, b = matrices(seed, batch, n) + n * np.eye(n), matrices(seed + 1, batch, n)
    x, inverse, determinant = equations(a, b)
    assert np.all(norm(a @ x - b) <= 20 * n * U * norm(a) * norm(x))
    assert np.all(norm(a @ inverse - np.eye(n)) <= 20 * n * U * norm(a) * norm(inverse))
    product = equations(a @ a, b)[2]
    np.testing.assert_allclose(product, determinant**2, rtol=1e-12)


@settings(max_examples=30, deadline=None)
@given(n=sizes, batch=batches, seed=st.integers(0, 99))
def test_orthogonal_factors(n: int, batch: tuple[int, ...], seed: int) -> None:
    a = matrices(seed, batch, n)
    q, r, u, s, v = orthogonal(a)
    for made in (q, u, v):
        assert np.all(norm(transposed(made) @ made - np.eye(n)) <= 20 * n * U)
    assert np.all(norm(q @ r - a) <= 20 * n * U * norm(a))
    assert np.all(norm((u * s[..., None, :]) @ v - a) <= 40 * n * U * norm(a))
    assert np.all(np.tril(r, -1) == 0) and np.all(s[..., :-1] >= s[..., 1:])


@settings(max_examples=30, deadline=None)
@given(n=sizes, batch=batches, seed=st.integers(0, 99))
def test_symmetric_factors(n: int, batch: tuple[int, ...], seed: int) -> None:
    s, lower, w, v = symmetric(matrices(seed, batch, n))
    assert np.all(norm(lower @ transposed(lower) - s) <= 20 * n * U * norm(s))
    assert np.all(norm(transposed(v) @ v - np.eye(n)) <= 20 * n * U)
    assert np.all(norm((v * w[..., None, :]) @ transposed(v) - s) <= 40 * n * U * norm(s))
    assert np.all(w[..., :-1] <= w[..., 1:]) and np.all(w >= 1 - 20 * n * U * norm(s)[..., None])
