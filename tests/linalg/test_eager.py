"""The functions of ``npcompile.linalg``, called as they are: the same bits as in compiled code."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile import jit
from npcompile.api.linear_algebra import FUNCTIONS
from npcompile.backends.cpu.linalg import blas

pytestmark = pytest.mark.skipif(blas.library() is None, reason="no LAPACK to be found")


def definite(*shape: int) -> Any:
    a = np.random.default_rng(0).standard_normal(shape)
    return a @ a.swapaxes(-1, -2) + np.eye(shape[-1])


def parts(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_bits_as_compiled(name: str) -> None:
    eager, theirs = FUNCTIONS[name], getattr(np.linalg, name)
    compiled = jit(lambda *args: theirs(*args), fullgraph=True)
    inside = jit(lambda *args: eager(*args), fullgraph=True)
    for shape in ((7, 3, 3), (3, 3), (2, 9, 9)):
        a = definite(*shape)
        args = (a, a[..., :1]) if name == "solve" else (a,)
        got, want, nested = eager(*args), compiled(*args), inside(*args)
        assert type(got) is type(want) is type(nested) is type(theirs(*args))
        for one, other, third in zip(parts(got), parts(want), parts(nested)):
            assert np.array_equal(one, other) and np.array_equal(third, other)


def test_the_namespace_is_there_without_its_import() -> None:
    code = ("import npcompile; found = npcompile.linalg.det\n"
            "from npcompile.api.linear_algebra import FUNCTIONS; assert found is FUNCTIONS['det']")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_parameters_and_errors_are_numpys() -> None:
    linalg, a = npcompile.linalg, definite(4, 3, 3)
    assert np.array_equal(linalg.cholesky(a, upper=True), linalg.cholesky(a).swapaxes(1, 2))
    assert np.allclose(linalg.eigh(a, UPLO="U")[0], linalg.eigvalsh(a, "U"))
    assert linalg.svd(a, compute_uv=False).shape == (4, 3)
    assert np.allclose(linalg.inv([[1.0, 2.0], [3.0, 4.0]]), [[-2.0, 1.0], [1.5, -0.5]])
    with pytest.raises(TypeError, match="positional"):
        linalg.cholesky(a, True)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        linalg.inv(np.zeros((2, 3, 3)))
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        linalg.det(np.zeros((2, 3, 2)))


def test_batches_run_compiled() -> None:
    a = definite(20_000, 3, 3)
    for function in (FUNCTIONS["inv"], FUNCTIONS["cholesky"]):
        least = {}
        for call in (function, function.__wrapped__):  # type: ignore[attr-defined]
            for _ in range(5):
                start = time.perf_counter()
                call(a)
                took = time.perf_counter() - start
                least[call] = min(least.get(call, took), took)
        assert least[function] < 0.5 * least[function.__wrapped__]  # type: ignore[attr-defined]
