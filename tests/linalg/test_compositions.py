"""Norms, einsum and what NumPy composes of products and factorisations: NumPy's bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.linalg import _linalg

from npcompile import jit
from npcompile.backends.cpu.linalg import blas
from tests.linalg.test_linalg import matrices
from tests.support import oracle

linalg = np.linalg
Test = Callable[[Any], Any]
pytestmark = pytest.mark.skipif(blas.library() is None, reason="no LAPACK to be found")

NORMS: dict[str, Test] = {
    "all": lambda a: linalg.norm(a),
    "all, kept": lambda a: linalg.norm(a, keepdims=True),
    "vector": lambda a: linalg.norm(a[0]),
    "steps": lambda a: linalg.norm(a[:, 0], 2),
    "vector, 0": lambda a: linalg.norm(a[0], 0),
    "rows": lambda a: linalg.norm(a, axis=-1),
    "columns, 2": lambda a: linalg.norm(a, 2, axis=0, keepdims=True),
    "fro": lambda a: linalg.norm(a, "fro"),
    "nuc": lambda a: linalg.norm(a, "nuc"),
    "spectral": lambda a: linalg.norm(a, 2),
    "smallest": lambda a: linalg.norm(a, -2),
    "both axes": lambda a: linalg.norm(a, axis=(1, 0)),
    "vector_norm": lambda a: linalg.vector_norm(a),
    "vector_norm, kept": lambda a: linalg.vector_norm(a, keepdims=True),
    "matrix_norm": lambda a: linalg.matrix_norm(a, keepdims=True),
}
SIZES: dict[str, Test] = {  # NumPy's size of a complex number may differ in its last bit
    "1": lambda a: linalg.norm(a[0], 1),
    "inf": lambda a: linalg.norm(a[0], np.inf),
    "-inf": lambda a: linalg.norm(a, -np.inf, axis=0),
    "matrix, 1": lambda a: linalg.norm(a, 1),
    "matrix, -1": lambda a: linalg.norm(a, -1),
    "matrix, inf": lambda a: linalg.norm(a, np.inf, axis=(1, 0), keepdims=True),
    "matrix, -inf": lambda a: linalg.norm(a, -np.inf),
}
COMPOSED: dict[str, Test] = {
    "matrix_power -2": lambda a: linalg.matrix_power(a, -2),
    "matrix_power 1": lambda a: linalg.matrix_power(a, 1) + 0,
    "matrix_power 3": lambda a: linalg.matrix_power(a, 3),
    "matrix_power 6": lambda a: linalg.matrix_power(a, 6),
    "multi_dot of two": lambda a: linalg.multi_dot([a, a]),
    "multi_dot of three": lambda a: linalg.multi_dot([a, a[:, :1], a[:1]]),
    "multi_dot of vectors": lambda a: linalg.multi_dot((a[0], a, a[1])),
    "multi_dot and a vector": lambda a: linalg.multi_dot((a, a, a[1])),
    "multi_dot of four": lambda a: linalg.multi_dot([a, a[:, :2], a[:2], a]),
    "multi_dot of five": lambda a: linalg.multi_dot([a[0], a, a[:, :1], a[:1], a[1]]),
    "trace": lambda a: linalg.trace(a, offset=1),
    "diagonals": lambda a: linalg.diagonal(a[None], offset=-1),
    "outer": lambda a: linalg.outer(a[0], a[1]),
    "tensordot": lambda a: linalg.tensordot(a, a, axes=1),
    "matmul": lambda a: linalg.matmul(a, a),
    "rank above a bound": lambda a: linalg.matrix_rank(a, tol=0.5),
    "kron": lambda a: np.kron(a, a[:2]),
    "kron of unlike ranks": lambda a: np.kron(a[0], a.T),
    "cross": lambda a: np.cross(a[:, :3], a[:1, :3] + 1),
    "cross of one": lambda a: linalg.cross(a[0, :3], a[:, :3]),
    "cross, axis": lambda a: np.cross(a[:3], a[:3] * 2 + 1, axis=0),
    "cond": lambda a: linalg.cond(a),
    "cond -2": lambda a: linalg.cond(a, -2),
    "matrix_rank": lambda a: linalg.matrix_rank(a),
    "pinv": lambda a: linalg.pinv(a[:, :-1]),
    "pinv, wide": lambda a: linalg.pinv(a[:-1]),
}
SUBSCRIPTS = [
    "ij,jk->ik", "ij,jk->ki", "ij,jk", "ij,kj->ik", "ji , jk -> ik", "ij,ij->i", "ij,ij->j",
    "ij,ij", "ij,ji", "ij,ik->jk",
]


@pytest.mark.parametrize("name", [*NORMS, *SIZES, *COMPOSED])
def test_bits(name: str) -> None:
    function = {**NORMS, **SIZES, **COMPOSED}[name]
    compiled = jit(lambda a: function(a), fullgraph=True)
    for dtype in "df" if name in SIZES else "dDfF":
        for n in (3, 6, 30):
            a = matrices(dtype, (n, n))
            for layout in (a, np.asfortranarray(a), np.repeat(a, 2, -1)[..., ::2]):
                oracle.check(compiled(layout), function(layout))
    assert compiled.cache_info().fallbacks == 0
    by_numpy = jit(lambda a: function(a), fullgraph=True, backend="reference")
    a = matrices("d", (4, 4))
    np.testing.assert_allclose(by_numpy(a), function(a), rtol=1e-12)


@pytest.mark.parametrize("name", ["all", "rows", "fro"])
def test_norms_of_integers(name: str) -> None:
    a = matrices("i", (3, 3))
    oracle.check(jit(lambda a: NORMS[name](a), fullgraph=True)(a), NORMS[name](a))


@pytest.mark.parametrize("subscripts", SUBSCRIPTS)
def test_einsum(subscripts: str) -> None:
    compiled = jit(lambda a, b: np.einsum(subscripts, a, b), fullgraph=True)
    for dtype in "diF":
        a, b = matrices(dtype, (5, 5)), matrices(dtype, (5, 5), 1)
        for x in (a, np.asfortranarray(a), a[::-1]):
            got, want = compiled(x, b), np.einsum(subscripts, x, b)
            assert np.asarray(got).strides == np.asarray(want).strides
            assert type(got) is type(want)
            np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: np.einsum("i,j->ij", a[0, 0], a[0, 1]),
        lambda a: np.einsum("bij,bjk->bik", a, a),
        lambda a: np.einsum("bij,bjk->ik", a, a),
        lambda a: np.einsum("bij,k->kijb", a, a[0, 0]),
        lambda a: np.einsum("bij->jib", a),
        lambda a: np.einsum("ii->i", a[0]),
        lambda a: np.vecdot(a, a[:, :1]),
        lambda a: np.matvec(a, a[..., 0]),
        lambda a: np.vecmat(a[0, :, 0], a),
        lambda a: (a[0] @ a[1]) @ a[:, 0, 0].sum(keepdims=True).repeat(4),
    ],
)
def test_batches(function: Test) -> None:
    compiled = jit(lambda a: function(a))
    for dtype in "id":
        a = matrices(dtype, (3, 4, 4))
        oracle.check(compiled(a), function(a))
        oracle.check(compiled(np.asfortranarray(a)), function(np.asfortranarray(a)))


def test_a_diagonal_by_einsum_is_a_view() -> None:
    @jit(fullgraph=True)
    def f(a: Any) -> None:
        np.einsum("ii->i", a)[:] = 1.0

    a = np.zeros((3, 3))
    f(a)
    assert np.array_equal(a, np.eye(3))


def test_singular_matrices() -> None:
    f = jit(lambda a: (linalg.cond(a), linalg.matrix_rank(a)))
    a = np.ones((3, 3))
    oracle.check(f(a), (linalg.cond(a), linalg.matrix_rank(a)))
    assert f(np.zeros((2, 2))) == (np.inf, 0)


@pytest.mark.parametrize("function", [
    lambda a: linalg.cond(a), lambda a: linalg.cond(a, -2), lambda a: linalg.cond(a, 1),
    lambda a: linalg.cond(a, np.inf), lambda a: linalg.cond(a, "fro"), lambda a: linalg.pinv(a),
    lambda a: linalg.pinv(a[..., :2]), lambda a: linalg.matrix_rank(a),
    lambda a: linalg.trace(a), lambda a: linalg.matrix_rank(a, tol=2.0),
])
def test_compositions_of_batches(function: Test) -> None:
    compiled = jit(lambda a: function(a), fullgraph=True)
    for shape in ((4, 4), (3, 4, 4), (2, 3, 9, 9)):
        a = matrices("d", shape)
        got, want = compiled(a), function(a)
        assert (type(got), got.dtype, got.shape) == (type(want), want.dtype, want.shape)
        np.testing.assert_allclose(got, want, 1e-9, 1e-12)
        if a.shape[-1] > 8 or a.ndim == 2:
            oracle.check(got, want)


@pytest.mark.parametrize("order", [None, 1, "fro"])
def test_conditions_of_singular_matrices(order: Any) -> None:
    f = jit(lambda a: linalg.cond(a, order))
    for a in (np.zeros((2, 2)), np.stack([np.eye(2), np.ones((2, 2))])):
        np.testing.assert_array_equal(f(a), linalg.cond(a, order))


class Counted:
    """Counts the uses of a module's attributes."""

    def __init__(self, module: Any) -> None:
        self.module, self.used = module, 0

    def __getattr__(self, name: str) -> Any:
        self.used += 1
        return getattr(self.module, name)


@pytest.mark.parametrize("name", ["eig", "eigvals"])
def test_complex_eigenvalues_of_a_real_matrix_take_no_call_of_numpy(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = getattr(linalg, name)
    compiled = jit(lambda a: function(a))
    rotation = np.array([[0.0, -1.0], [1.0, 0.0]])
    oracle.check(compiled(np.diag([1.0, 2.0])), function(np.diag([1.0, 2.0])))
    oracle.check(compiled(rotation), function(rotation))
    lapack = Counted(_linalg._umath_linalg)
    monkeypatch.setattr(_linalg, "_umath_linalg", lapack)
    compiled(rotation)
    assert lapack.used == 0
