"""numpy.linalg in compiled code: NumPy's bits, layouts, named tuples and errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npcompile import jit
from npcompile.backends.cpu.linalg import blas
from tests.support import oracle

linalg = np.linalg
pytestmark = pytest.mark.skipif(blas.library() is None, reason="no LAPACK to be found")


def as_numpy(got: Any, want: Any, a: Any) -> None:
    """The same bits, but for batches of small real matrices: there the same types and layouts, and
    values but for rounding and the signs of vectors."""
    if a.ndim < 3 or a.dtype.kind == "c" or a.shape[-1] > 8:
        oracle.check(got, want)
    elif isinstance(want, tuple):
        assert type(got) is type(want) and len(got) == len(want)
        for one, other in zip(got, want):
            as_numpy(one, other, a)
    else:
        assert (type(got), got.dtype, got.shape) == (type(want), want.dtype, want.shape)
        assert got.strides == want.strides or 0 in want.shape
        most = 1e4 * np.finfo(want.dtype).eps * np.abs(want).max(initial=0)
        assert oracle.equal_elements(np.abs(got), np.abs(want), atol=most).all()


def matrices(dtype: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    a = rng.integers(-9, 9, shape) + (0.25 if dtype in "fdFD" else 0)
    if dtype in "FD":
        a = a + 1j * rng.integers(-9, 9, shape)
    return a.astype(dtype)


def definite(a: Any) -> Any:
    """A positive definite matrix."""
    return a @ a.swapaxes(-1, -2).conj() + np.eye(a.shape[-1], dtype=a.dtype) * 9


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "solve": lambda a: linalg.solve(a, a[..., :2]),
    "solve vector": lambda a: linalg.solve(a, a.ravel()[: a.shape[-1]]),
    "solve column": lambda a: linalg.solve(a, a[..., 0][..., None]),
    "inv": lambda a: linalg.inv(a),
    "det": lambda a: linalg.det(a),
    "slogdet": lambda a: linalg.slogdet(a),
    "cholesky": lambda a: linalg.cholesky(definite(a)),
    "cholesky, upper": lambda a: linalg.cholesky(definite(a), upper=True),
    "eigh": lambda a: linalg.eigh(a),
    "eigh of the upper half": lambda a: linalg.eigh(a, "u"),
    "eigvalsh": lambda a: linalg.eigvalsh(a),
    "svd": lambda a: linalg.svd(a),
    "svd, high": lambda a: linalg.svd(a[..., :-1], full_matrices=False),
    "svd, wide": lambda a: linalg.svd(a[..., :-1, :]),
    "svd, values": lambda a: linalg.svd(a, compute_uv=False),
    "svdvals": lambda a: linalg.svdvals(a[..., :-1]),
    "qr": lambda a: linalg.qr(a),
    "qr, high": lambda a: linalg.qr(a[..., :-1]),
    "qr, wide": lambda a: linalg.qr(a[..., :-1, :]),
    "qr, complete": lambda a: linalg.qr(a[..., :-1], mode="complete"),
    "qr, wide and complete": lambda a: linalg.qr(a[..., :-1, :], "complete"),
    "qr, only r": lambda a: linalg.qr(a[..., :-1], "r"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_bits(name: str) -> None:
    function = FUNCTIONS[name]
    compiled = jit(lambda a: function(a), fullgraph=True)
    for dtype, shape in (("d", (4, 4)), ("D", (3, 3)), ("f", (2, 5, 5)), ("F", (2, 2)),
                         ("i", (3, 3)), ("d", (35, 35)), ("d", (2, 3, 4, 4))):
        a = matrices(dtype, shape)
        for layout in (a, np.asfortranarray(a), np.repeat(a, 2, -1)[..., ::2]):
            as_numpy(compiled(layout), function(layout), a)
    assert compiled.cache_info().fallbacks == 0


@settings(max_examples=40)
@given(st.sampled_from(sorted(FUNCTIONS)), st.integers(2, 12), st.sampled_from("dDfF"),
       st.sampled_from([(), (3,), (0,), (2, 1)]), st.sampled_from(["cpu", "reference"]),
       st.integers(0, 99))
def test_any_size(name: str, n: int, dtype: str, batch: tuple[int, ...], backend: str,
                  seed: int) -> None:
    function = FUNCTIONS[name]
    if name == "solve vector" and 0 in batch:
        return
    a = matrices(dtype, (*batch, n, n), seed)
    as_numpy(jit(lambda a: function(a), fullgraph=True, backend=backend)(a), function(a), a)


@pytest.mark.parametrize("name", ["solve", "inv", "det", "slogdet", "eigh", "eigvalsh"])
def test_empty_and_single(name: str) -> None:
    compiled = jit(lambda a: FUNCTIONS[name](a), fullgraph=True)
    for shape in ((0, 0), (1, 1), (2, 0, 0), (0, 3, 3)):
        a = matrices("d", shape)
        oracle.check(compiled(a), FUNCTIONS[name](a))


# ------------------------------------------------------------------ errors

SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])


@pytest.mark.parametrize(
    ("function", "a"),
    [
        (lambda a: linalg.solve(a, a), SINGULAR),
        (lambda a: linalg.inv(a), SINGULAR),
        (lambda a: linalg.inv(a), np.stack([np.eye(2), SINGULAR])),
        (lambda a: linalg.cholesky(a), -np.eye(3)),
        (lambda a: linalg.inv(a), np.ones((2, 3))),
        (lambda a: linalg.det(a), np.ones(3)),
        (lambda a: linalg.eigh(a), np.full((3, 3), np.nan)),
        (lambda a: linalg.svd(a), np.full((3, 3), np.nan)),
        (lambda a: linalg.solve(a, np.ones(3)), np.eye(2)),
        (lambda a: linalg.inv(a), np.eye(2, dtype="e")),
    ],
)
def test_errors_are_numpys(function: Callable[[Any], Any], a: Any) -> None:
    compiled = jit(lambda a: function(a))
    for _ in range(2):
        try:
            want: Any = function(a)
        except Exception as error:
            with pytest.raises(type(error)) as raised:
                compiled(a)
            assert str(raised.value) == str(error)
        else:
            oracle.check(compiled(a), want)


def test_error_in_the_middle() -> None:
    """What was written before stays, and the error can be caught."""

    def f(a: Any, out: Any) -> Any:
        total = 0.0
        for k in range(a.shape[0]):
            out[k] = linalg.inv(a[k])
            total += out[k, 0, 0]
        return total

    a = np.stack([np.eye(2), 2 * np.eye(2), SINGULAR, np.eye(2)])
    got, want = np.zeros_like(a), np.zeros_like(a)
    for call, out in ((jit(f, fullgraph=True), got), (f, want)):
        with pytest.raises(linalg.LinAlgError, match="Singular matrix"):
            call(a, out)
    assert np.array_equal(got, want)


def test_warnings_of_determinants() -> None:
    f = jit(lambda a: linalg.det(a))
    a = np.eye(400) * 1e10
    with pytest.warns(RuntimeWarning, match="overflow encountered in det"):
        assert f(a) == np.inf


@pytest.mark.parametrize("name, a", [
    ("det", np.zeros((3, 3))), ("slogdet", np.zeros((3, 3))),
    ("det", np.ones((2, 2), complex)), ("slogdet", np.ones((2, 2), complex)),
])
def test_singular_matrices_raise_no_flags(name: str, a: Any) -> None:
    """After a draw, which can't be repeated, flags become warnings without Python's help."""
    function = getattr(linalg, name)

    def f(a: Any, g: Any) -> Any:
        return g.random(), function(a)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = jit(f, fullgraph=True)(a, np.random.default_rng(1))
        assert repr(got) == repr(f(a, np.random.default_rng(1)))


# ------------------------------------------------------------------ in programs


def test_kalman_step() -> None:
    def step(x: Any, p: Any, f: Any, h: Any, q: Any, r: Any, zs: Any) -> tuple[Any, Any]:
        for z in zs:
            x = f @ x
            p = f @ p @ f.T + q
            s = h @ p @ h.T + r
            k = p @ h.T @ linalg.inv(s)
            x = x + k @ (z - h @ x)
            p = (np.eye(2) - k @ h) @ p
        return x, p

    rng = np.random.default_rng(0)
    args = (np.zeros(2), np.eye(2), np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[1.0, 0.0]]),
            np.eye(2) * 0.01, np.eye(1), rng.standard_normal((9, 1)))
    oracle.check(jit(step, fullgraph=True)(*args), step(*args))


def test_fields_of_results() -> None:
    @jit(fullgraph=True)
    def f(a: Any) -> tuple[Any, ...]:
        u, s, vh = linalg.svd(a, full_matrices=False)
        values, vectors = linalg.eigh(a)
        return u * s @ vh, linalg.qr(a).R, linalg.slogdet(a).sign, vectors @ np.diag(values)

    a = definite(matrices("d", (4, 4)))
    oracle.check(f(a), f.__wrapped__(a))
