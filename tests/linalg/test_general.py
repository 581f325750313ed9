"""Eigenvalues of general matrices, least squares and equations of tensors: NumPy's bits."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.backends.cpu.linalg import blas
from tests.support.oracle import difference, observe

pytestmark = pytest.mark.skipif(blas.library() is None, reason="no LAPACK to be found")
linalg = np.linalg


def numbers(dtype: str, *shape: int) -> Any:
    rng = np.random.default_rng(sum(shape))
    a = rng.standard_normal(shape) * 5
    return (a + 1j * rng.standard_normal(shape) if dtype in "DF" else a).astype(dtype)


def matches(function: Callable[..., Any], *args: Any, whole: bool = True) -> None:
    def program(*args: Any) -> Any:
        return function(*args)

    compiled = jit(program, fullgraph=whole)
    for _ in range(2):
        got, want = observe(compiled, *args), observe(program, *args)
        assert not difference(got, want, bases=False, flags=False, lines=False)


@pytest.mark.parametrize("dtype", "dfDFl")
@pytest.mark.parametrize("n", [1, 2, 3, 6, 20])
def test_eigenvalues(dtype: str, n: int) -> None:
    a = numbers(dtype, n, n)
    for each in (a, a + a.T, a.T, np.triu(a), a[::-1]):
        matches(linalg.eig, each)
        matches(linalg.eigvals, each)


def test_one_version_for_real_and_complex_results() -> None:
    compiled = jit(lambda a: linalg.eigvals(a).sum(), fullgraph=True)
    turn, swap = np.array([[0.0, -1], [1, 0]]), np.array([[0.0, 1], [1, 0]])
    for a in (turn, swap, turn, swap):
        got, want = compiled(a), linalg.eigvals(a).sum()
        assert type(got) is type(want) and got == want
    assert compiled.cache_info().compiled == 1


def test_batches_of_eigenvalues() -> None:
    a = numbers("d", 5, 4, 4)
    for each in (a, a + a.swapaxes(-1, -2), a.swapaxes(0, 1)[:, :4], np.asfortranarray(a)):
        matches(linalg.eig, each)
        matches(linalg.eigvals, each)
    a[2, 1, 1] = np.nan
    matches(linalg.eig, a, whole=False)


@pytest.mark.parametrize("dtype", "dfDFl")
@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (5, 5), (2, 1), (1, 1)])
def test_least_squares(dtype: str, shape: tuple[int, int]) -> None:
    a, b = numbers(dtype, *shape), numbers(dtype, shape[0], 2)
    for rcond in (None, -1, 1e-3):
        matches(lambda a, b, rcond=rcond: linalg.lstsq(a, b, rcond), a, b)
        matches(lambda a, b, rcond=rcond: linalg.lstsq(a, b, rcond), a, b[:, 0])
    a[:, -1] = a[:, 0]
    matches(linalg.lstsq, a, b)
    matches(linalg.lstsq, np.asfortranarray(a), b[:, ::-1])
    matches(linalg.lstsq, a, b[1:], whole=False)


def test_equations_of_tensors() -> None:
    a = numbers("d", 6, 4, 2, 3, 4)
    matches(linalg.tensorsolve, a, numbers("d", 6, 4))
    matches(linalg.tensorsolve, a[0], numbers("d", 6, 4), whole=False)
    moved = a.transpose(2, 0, 1, 3, 4).copy()
    matches(lambda a, b: linalg.tensorsolve(a, b, axes=(0,)), moved, numbers("d", 6, 4),
            whole=False)
    matches(lambda a, b: linalg.tensorsolve(a, b, axes=(0, 2)), numbers("d", 4, 6, 3, 8),
          numbers("d", 6, 8), whole=False)
    matches(lambda a, b: linalg.tensorsolve(a, b, axes=(1,)), numbers("d", 4, 6, 24)[:, :4],
          numbers("d", 4), whole=False)
    matches(linalg.tensorinv, numbers("d", 4, 6, 8, 3))
    matches(lambda a: linalg.tensorinv(a, ind=1), numbers("d", 24, 8, 3))
    matches(linalg.tensorinv, numbers("d", 24, 8, 3), whole=False)
    matches(lambda a: linalg.tensorinv(a, 0), numbers("d", 24, 8, 3), whole=False)


def test_shapes_of_leftovers_are_the_runs() -> None:
    compiled = jit(lambda a, b: linalg.lstsq(a, b)[1].size, fullgraph=True)
    a, b = numbers("d", 7, 3), numbers("d", 7)
    poor = a.copy()
    poor[:, 1] = poor[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [compiled(x, b) for x in (a, poor, a)] == [1, 0, 1]
