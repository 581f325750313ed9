"""Products of matrices and vectors: NumPy's results to the bit, its layouts, types and warnings."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import npcompile
from npcompile import jit
from npcompile.backends.cpu.linalg import blas, portable_products
from npcompile.backends.cpu.loader.compile import compile, host_target, load
from npcompile.runtime.memory import recycled
from tests.support import oracle

LAYOUTS: dict[str, Callable[[Any, tuple[int, ...]], Any]] = {
    "C": lambda make, shape: make(shape),
    "F": lambda make, shape: make(shape[::-1]).transpose(),
    "turned": lambda make, shape: make((*shape[:-2], *shape[:-3:-1])).swapaxes(-1, -2)
    if len(shape) > 1 else make(shape),
    "steps": lambda make, shape: make(tuple(2 * n for n in shape))[(slice(None, None, 2),)
                                                                  * len(shape)],
    "wide": lambda make, shape: make((*shape[:-1], shape[-1] + 3))[..., 2 : shape[-1] + 2],
    "reversed": lambda make, shape: make(shape)[(slice(None, None, -1),) * len(shape)],
    "batches": lambda make, shape: make((shape[1], shape[0], *shape[2:])).swapaxes(0, 1)
    if len(shape) > 2 else make(shape),
    "repeated": lambda make, shape: np.broadcast_to(make((1, *shape[1:])), shape),
}
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300]


def maker(dtype: str, seed: int, special: bool) -> Callable[[tuple[int, ...]], Any]:
    """Makes arrays of a shape."""
    rng = np.random.default_rng(seed)

    def make(shape: tuple[int, ...]) -> Any:
        if dtype in "?bhilqBHILQ":
            return rng.integers(-100, 100, shape).astype(dtype)
        x = rng.standard_normal(shape)
        if dtype in "FD":
            x = x + 1j * rng.standard_normal(shape)
        if special and x.size:
            x.flat[rng.integers(0, x.size, 2)] = rng.choice(SPECIAL, 2)
        with np.errstate(all="ignore"):
            return x.astype(dtype)

    return make


def same_numbers(got: Any, want: Any, exact: bool = True) -> None:
    """The same type, layout and numbers; where sums may have another order, nearly."""
    oracle.check(got, want, close=None if exact else (1e-4, 1e-4))


@st.composite
def operands(draw: st.DrawFn) -> tuple[Any, Any]:
    """Two arrays that ``@`` takes."""
    size = st.sampled_from([0, 1, 1, 2, 3, 4, 5, 8, 13, 17, 33, 70])
    m, n, k = draw(size), draw(size), draw(size)
    batch = draw(st.sampled_from([(), (), (), (2,), (3, 2), (1, 2)]))
    other = draw(st.sampled_from([batch, batch[1:], tuple(1 for _ in batch)]))
    left = draw(st.sampled_from([(*batch, m, k), (k,)]))
    right = draw(st.sampled_from([(*other, k, n), (k,)]))
    dtypes = draw(st.sampled_from(["d", "d", "d", "f", "F", "D", "i", "B", "q", "?", "e", "fd",
                                   "id", "dF", "hi", "ef"]))
    arrays = []
    for shape, dtype in ((left, dtypes[0]), (right, dtypes[-1])):
        make = maker(dtype, draw(st.integers(0, 99)), draw(st.booleans()))
        arrays.append(LAYOUTS[draw(st.sampled_from(sorted(LAYOUTS)))](make, shape))
    return arrays[0], arrays[1]


def numpys_bits(a: Any, b: Any) -> bool:
    """Whether the very library that NumPy calls is called."""
    char = np.result_type(a, b).char
    library = blas.library()
    return char not in "fdFD" or (library is not None and library.cblas)


@settings(max_examples=150)
@given(operands(), st.sampled_from(["cpu", "cpu", "reference"]))
def test_matmul(pair: tuple[Any, Any], backend: str) -> None:
    a, b = pair
    if backend == "reference":  # its order of sums may be another, so that others of them overflow
        a, b = (np.where(np.abs(x) < 1e9, x, 1).astype(x.dtype) for x in pair)
    compiled = jit(lambda a, b: a @ b, fullgraph=True, backend=backend)
    with np.errstate(all="ignore"):
        same_numbers(compiled(a, b), a @ b, numpys_bits(a, b) and backend == "cpu")
    assert compiled.cache_info().fallbacks == 0


@settings(max_examples=80)
@given(operands(), st.sampled_from([np.dot, np.inner, np.vdot]))
def test_dot_inner_vdot(pair: tuple[Any, Any], function: Any) -> None:
    a, b = pair
    if function is np.inner:
        b = b.swapaxes(-1, -2) if b.ndim > 1 else b
    if function is np.vdot:
        a, b = (np.nan_to_num(x.ravel()[: min(a.size, b.size)], posinf=1, neginf=-1)
                for x in (a, b))
    compiled = jit(lambda a, b: function(a, b), fullgraph=True)
    with np.errstate(all="ignore"):
        # beyond two axes NumPy takes one dot product for each element, for one number axpy; what
        # is not one run of memory it copies
        ours = max(a.ndim, b.ndim) > 2 or 1 in (a.size, b.size)
        ours |= not all(x.flags.forc for x in (a, b))
        exact = numpys_bits(a, b) and (not ours or np.result_type(a, b).kind in "biu")
        # infinities may become NaN; BLAS's axpy takes a factor of 0 for no work
        nothing = any(x.size == 1 and not x.any() for x in (a, b))
        if nothing or (not exact and np.result_type(a, b).kind == "c"):
            a, b = (np.nan_to_num(x, posinf=1, neginf=-1) for x in (a, b))
        same_numbers(compiled(a, b), function(a, b), exact)
    assert compiled.cache_info().fallbacks == 0


def test_zero_times_what_is_not_finite() -> None:
    """Where NumPy's ``dot`` calls BLAS's axpy, it skips a factor of 0; ``@`` and ours don't."""
    a, zero = np.array([[np.nan], [np.inf], [1.0]]), np.zeros((1, 1))
    for function in (np.dot, np.inner, np.matmul):
        with np.errstate(all="ignore"):
            got = jit(lambda a, b, function=function: function(a, b))(a, zero)
            np.testing.assert_array_equal(got, a @ zero)


# ------------------------------------------------------------------ out=, overlap, warnings


def test_out() -> None:
    a, b = np.random.default_rng(0).standard_normal((2, 5, 5))

    @jit(fullgraph=True)
    def into(a: Any, b: Any, out: Any) -> Any:
        np.matmul(a, b, out=out)
        np.dot(out, b, out=out)
        return a.dot(b, out=out)

    want = np.empty((5, 5))
    np.matmul(a, b, out=want)
    got = np.zeros((5, 5))
    assert into(a, b, got) is got
    assert np.array_equal(got, want)


def test_out_is_an_operand() -> None:
    a, b = np.random.default_rng(0).standard_normal((2, 5, 5))

    @jit(fullgraph=True)
    def f(a: Any, b: Any) -> None:
        np.dot(a, b, out=a)
        np.matmul(b[::-1], a.T, out=b)
        a[1:, 1:] = a[:-1, :-1] @ b[1:, :-1]

    x, y, u, v = a.copy(), b.copy(), a.copy(), b.copy()
    f(u, v)
    f.__wrapped__(x, y)
    assert np.array_equal(u, x)
    assert np.array_equal(v, y)


@pytest.mark.parametrize("name", ["matmul", "dot", "inner", "vdot"])
def test_warnings(name: str) -> None:
    function = getattr(np, name)
    f = jit(lambda x: function(x, x))
    for x in (np.full(3, 1e300), np.array([np.inf, -np.inf, 0.0]), np.arange(3.0)):
        with warnings.catch_warnings(record=True) as want:
            warnings.simplefilter("always")
            function(x, x)
        with warnings.catch_warnings(record=True) as got:
            warnings.simplefilter("always")
            f(x)
        assert [str(w.message) for w in got] == [str(w.message) for w in want]


def test_warning_of_a_product_that_nobody_needs() -> None:
    @jit
    def f(x: Any) -> int:
        x @ x
        return 1

    with pytest.warns(RuntimeWarning, match="overflow encountered in matmul"):
        f(np.full(3, 1e300))


def test_errors_are_numpys() -> None:
    f = jit(lambda a, b: a @ b)
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        f(np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="does not have enough dimensions"):
        f(np.zeros((2, 3)), np.float64(2))


def test_parts_of_complex_numbers() -> None:
    @jit(fullgraph=True)
    def f(a: Any, b: Any) -> tuple[Any, ...]:
        x = a * 2
        return a.real @ b.imag, a.imag[0] @ b.real[:, 1], np.dot(a.imag.T, a.real), x.imag @ x.real

    a, b = maker("D", 0, False)((4, 4)), maker("D", 1, False)((4, 5))
    for got, want in zip(f(a, b), f.__wrapped__(a, b)):
        same_numbers(got, want)


def test_a_times_its_transpose_is_symmetric() -> None:
    f = jit(lambda a: a @ a.T, fullgraph=True)
    a = np.random.default_rng(0).standard_normal((70, 40))
    got = f(a)
    assert np.array_equal(got, got.T)
    assert np.array_equal(got, a @ a.T)


# ------------------------------------------------------------------ in loops


def test_rows_and_columns_in_loops() -> None:
    @jit(fullgraph=True)
    def lu(a: Any) -> None:
        for i in range(a.shape[0]):
            for j in range(i):
                a[i, j] -= a[i, :j] @ a[:j, j]
                a[i, j] /= a[j, j]
            for j in range(i, a.shape[0]):
                a[i, j] -= a[i, :i] @ a[:i, j]

    a = np.random.default_rng(0).standard_normal((20, 20)) + 20 * np.eye(20)
    want = a.copy()
    lu(a)
    lu.__wrapped__(want)
    assert np.array_equal(a, want)


def test_products_that_change_their_operand() -> None:
    @jit(fullgraph=True)
    def f(a: Any, x: Any, n: int) -> Any:
        for k in range(n):
            x = a @ x
            a[k % 3] = x * 0.5
        return x

    a, x = np.random.default_rng(0).standard_normal((4, 4)), np.arange(4.0)
    b = a.copy()
    assert np.array_equal(f(a, x, 7), f.__wrapped__(b, x, 7))
    assert np.array_equal(a, b)


@pytest.mark.parametrize("function", [np.dot, np.inner, np.vdot])
def test_by_the_reference(function: Any) -> None:
    compiled = jit(lambda x, y: function(x, y), backend="reference", fullgraph=True)
    a = np.arange(16).reshape(4, 4)
    for x, y in ((a, a[::-1]), (a[0], a[:, 1])):
        same_numbers(compiled(x, y), function(x, y))


# ------------------------------------------------------------------ tensordot, outer


@pytest.mark.parametrize("axes", [0, 1, 2, ((0, 1), (1, 0)), ((1,), (0,)), (2, 2)])
def test_tensordot(axes: Any) -> None:
    f = jit(lambda a, b: np.tensordot(a, b, axes), fullgraph=True)
    for dtype in ("d", "i", "F"):
        a = maker(dtype, 1, False)((4, 4, 4))
        same_numbers(f(a, a[::-1]), np.tensordot(a, a[::-1], axes))


# ------------------------------------------------------------------ the routines themselves


@pytest.mark.parametrize("machine", ["default", "avx2"])
@pytest.mark.parametrize("library", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64", "int64", "int8", "bool",
                                   "float16"])
def test_routines(machine: str, library: bool, dtype: str) -> None:
    found = blas.library() if library else None
    text = portable_products.text(np.dtype(dtype), host_target(machine), found)
    recycled.ensure()
    code = load(compile(text, host_target(machine)), blas.Addresses(found))
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 12)(code[f"npc.gemm.{dtype}"])
    make = maker(np.dtype(dtype).char, 0, False)
    for m, n, k in [(1, 1, 3), (4, 5, 6), (9, 1, 40), (1, 50, 7), (13, 67, 29), (3, 3, 0)]:
        for a, b in ((make((m, k)), make((k, n))), (make((k, m)).T, make((2 * n, k))[::2].T)):
            c = make((m, n))
            steps = [[s // x.itemsize for s in x.strides] for x in (a, b, c)]
            call(m, n, k, a.ctypes.data, *steps[0], b.ctypes.data, *steps[1], c.ctypes.data,
                 steps[2][0], 2)
            with np.errstate(all="ignore"):
                same_numbers(c, np.matmul(a, b), exact=np.dtype(dtype).kind not in "fc")


@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_without_memory(dtype: str) -> None:
    """What needs copies is computed without them."""
    recycled.ensure()
    found = blas.library()
    none = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int64)(lambda size: None)
    addresses = blas.Addresses(found)
    addresses["npc_take"] = ctypes.cast(none, ctypes.c_void_p).value or 0
    text = portable_products.text(np.dtype(dtype), host_target("default"), found)
    code = load(compile(text), addresses)
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 12)(code[f"npc.gemm.{dtype}"])
    a, b = np.arange(15).reshape(3, 5).astype(dtype), np.arange(20).reshape(5, 4).astype(dtype)
    wide = np.repeat(a, 2, axis=1)[:, ::2], np.repeat(b, 2, axis=1)[:, ::2]
    c = np.zeros((3, 4), dtype)
    steps = [[s // x.itemsize for s in x.strides] for x in (*wide, c)]
    call(3, 4, 5, wide[0].ctypes.data, *steps[0], wide[1].ctypes.data, *steps[1], c.ctypes.data,
         steps[2][0], 2)
    assert np.array_equal(c, a @ b)


def test_deterministic_modes() -> None:
    a = np.random.default_rng(0).standard_normal((30, 40))
    want = a @ a.T
    f = jit(lambda a: (a @ a.T, a[0] @ a[1], a @ a[0]), deterministic="portable", fullgraph=True)
    got = f(a)
    np.testing.assert_allclose(got[0], want, rtol=1e-10)
    total = 0.0
    for x, y in zip(a[0], a[1]):
        total += x * y
    assert got[1] == total == got[2][1]
    library = jit(lambda a: a @ a.T)
    assert np.array_equal(library(a), want)
    with npcompile.deterministic(True):
        assert np.array_equal(f(a)[0], got[0])
        with pytest.raises(npcompile.DeterminismError, match="matmul"):
            library(a)
        integers = np.arange(9).reshape(3, 3)
        assert np.array_equal(jit(lambda a: a @ a.T)(integers), integers @ integers.T)


@pytest.mark.parametrize("shape", [(12, 3), (3, 12), (40, 40), (1, 5), (0, 2)])
def test_a_computed_matrix_times_its_own_transpose(shape: tuple[int, int]) -> None:
    a = np.random.default_rng(0).normal(size=shape)
    for function in (
        lambda a: (lambda v: v @ v.T)(a - 3.0),
        lambda a: (lambda v: v.T @ v)(a * 3.0),
        lambda a: (lambda v: (v @ v.T, v.T + 1))(a / 3.0),
    ):
        got, want = jit(function)(a), function(a)
        for ours, theirs in zip(got, want):
            assert np.array_equal(ours, theirs)


def _again(a: Any) -> Any:
    return (a + 1) @ (a + 1).T


@pytest.mark.parametrize("product", [
    lambda a: a @ a.T, lambda a: a.T @ a, lambda a: np.dot(a, a.T), lambda a: np.inner(a, a),
    _again, lambda a: a[:, 1:] @ a[:, 1:].T,
])
@pytest.mark.parametrize("kind", ["float64", "float32", "complex128"])
def test_bits_of_a_matrix_times_itself(product: Any, kind: str) -> None:
    """NumPy takes another routine where both operands are the very same memory."""
    compiled = jit(product)
    for n, k in ((3, 4), (20, 30), (33, 17)):
        base = np.random.default_rng(n).standard_normal((2 * n, 3 * k)).astype(kind)
        for a in (base[:n, :k].copy(), np.asfortranarray(base[:n, :k]), base[:n, :k],
                  base[::2, ::3], base[:n, ::3], base[:n, :k][::-1], base[:n, :k][:, ::-1]):
            got, want = compiled(a), product(a)
            assert got.strides == want.strides and np.array_equal(got, want)
