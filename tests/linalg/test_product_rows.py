"""Products share a loop over blocks of rows with the code in front of them and behind them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile import jit
from npcompile.program.interpret import interpret


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = (q @ k.swapaxes(-1, -2)) * q.dtype.type(0.25)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)) @ v


def layer(x: Any, w: Any, b: Any) -> Any:
    return np.maximum(x @ w + b, 0)


def numbers(seed: int, shape: tuple[int, ...], dtype: str = "d") -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def fused(f: Any, *args: Any) -> int:
    """The products that run on blocks of rows."""
    return str(f.lower(*args).program).count("= product_rows ")


def check_accuracy(found: np.ndarray, function: Any, *args: np.ndarray) -> None:
    """Errors are those of the plain function."""
    exact = function(*[a.astype("g" if a.dtype == "d" else "d") for a in args])
    plain = function(*args)
    assert found.dtype == plain.dtype and found.strides == plain.strides
    unit = np.finfo(found.dtype).eps * np.abs(exact).max()
    assert np.abs(found - exact).max() <= 2 * np.abs(plain - exact).max() + unit


@pytest.mark.parametrize("dtype", ["f", "d"])
def test_attention(dtype: str) -> None:
    f = jit(fullgraph=True)(attention)
    for rows, keys, width, out in ((160, 160, 16, 16), (193, 77, 24, 33), (260, 150, 9, 70)):
        q, k, v = (numbers(seed, (3, *shape), dtype) for seed, shape in
                   enumerate(((rows, width), (keys, width), (keys, out))))
        assert fused(f, q, k, v) == 2
        check_accuracy(f(q, k, v), attention, q, k, v)


def test_meaning_in_numpy() -> None:
    q, k, v = (numbers(seed, (3, *shape)) for seed, shape in
               enumerate(((93, 24), (170, 24), (170, 33))))
    program = jit(attention).lower(q, k, v).executable.program
    np.testing.assert_allclose(interpret(program, [q, k, v])[1], attention(q, k, v), rtol=1e-12)


def test_scores_are_never_stored() -> None:
    f = jit(fullgraph=True)(attention)
    q, k, v = (numbers(seed, (2, 1024, 16), "f") for seed in range(3))
    f(q, k, v)
    assert f.explain(q, k, v).peak < 2 * 1024 * 1024 * 4 // 2


@pytest.mark.parametrize("dtype", ["f", "d"])
def test_layouts(dtype: str) -> None:
    f = jit(fullgraph=True)(layer)
    x, w, b = numbers(0, (150, 90), dtype), numbers(1, (90, 101), dtype), numbers(2, (101,), dtype)
    strided = numbers(3, (150, 180), dtype)[:, ::2]
    for left in (x, np.asfortranarray(x), x[::-1], strided):
        for right in (w, np.asfortranarray(w), w[:, ::-1], w[::-1]):
            assert fused(f, left, right, b) == 1
            check_accuracy(f(left, right, b), layer, left, right, b)


def test_batches() -> None:
    f = jit(fullgraph=True)(layer)
    b = numbers(2, (45,))
    for left, right in (((5, 70, 70), (70, 45)), ((5, 70, 70), (5, 70, 45)),
                        ((2, 3, 61, 70), (2, 3, 70, 45)), ((2, 3, 61, 70), (70, 45))):
        x, w = numbers(0, left), numbers(1, right)
        assert fused(f, x, w, b) == 1
        check_accuracy(f(x, w, b), layer, x, w, b)


def test_chains_of_layers() -> None:
    def network(x: Any, w: Any, b: Any, u: Any, c: Any) -> Any:
        return np.tanh(np.maximum(x @ w + b, 0) @ u + c)

    f = jit(fullgraph=True)(network)
    args = (numbers(0, (403, 50)), numbers(1, (50, 90)), numbers(2, (90,)), numbers(3, (90, 40)),
            numbers(4, (40,)))
    assert fused(f, *args) == 2
    check_accuracy(f(*args), network, *args)


@pytest.mark.parametrize("mode", [True, "portable"])
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_the_same_bits_as_alone(dtype: str, mode: Any) -> None:
    """From any number of threads; own products that stand alone give them, too."""
    def product(x: Any, w: Any) -> Any:
        return x @ w

    x, w, b = numbers(0, (700, 600), dtype), numbers(1, (600, 53), dtype), numbers(2, (53,), dtype)
    alone = jit(deterministic="portable")(product)(x, w)
    wanted = np.maximum(alone + b, 0)
    before = npcompile.get_num_threads()
    try:
        for threads in (1, 2, 3):
            npcompile.set_num_threads(threads)
            f = jit(fullgraph=True, deterministic=mode)(layer)
            assert fused(f, x, w, b) == 1
            assert np.array_equal(f(x, w, b), wanted)
    finally:
        npcompile.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["f", "d"])
def test_long_sums_are_as_accurate_as_a_librarys(dtype: str) -> None:
    f = jit(fullgraph=True)(layer)
    for k in (255, 256, 257, 512, 1100, 3000):
        x, w = numbers(0, (130, k), dtype), numbers(1, (k, 35), dtype)
        b = np.zeros(35, dtype)
        assert fused(f, x, w, b) == 1
        exact = np.maximum(x.astype("g") @ w.astype("g"), 0)
        errors = [np.abs(found - exact).mean() for found in (f(x, w, b), layer(x, w, b))]
        assert errors[0] <= 1.2 * errors[1]


@pytest.mark.parametrize("dtype", ["f", "d"])
def test_the_same_bits_on_any_number_of_threads(dtype: str) -> None:
    x, w, b = numbers(0, (701, 600), dtype), numbers(1, (600, 53), dtype), numbers(2, (53,), dtype)
    found, before = [], npcompile.get_num_threads()
    try:
        for threads in (1, 2, 3):
            npcompile.set_num_threads(threads)
            found.append(jit(fullgraph=True)(layer)(x, w, b))
    finally:
        npcompile.set_num_threads(before)
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


def test_small_products_are_the_librarys() -> None:
    f = jit(fullgraph=True)(layer)
    for rows, k, n in ((40, 30, 20), (5, 700, 500), (100000, 3, 3)):
        x, w, b = numbers(0, (rows, k)), numbers(1, (k, n)), numbers(2, (n,))
        assert fused(f, x, w, b) == 0
        assert np.array_equal(f(x, w, b), layer(x, w, b))


def test_matrices_that_outgrow_the_cache_are_the_librarys() -> None:
    f = jit(fullgraph=True)(layer)
    x, w, b = numbers(0, (64, 600)), numbers(1, (600, 600)), numbers(2, (600,))
    assert fused(f, x, w, b) == 0
    assert np.array_equal(f(x, w, b), layer(x, w, b))


def test_matrices_that_are_written_in_between() -> None:
    """A packed matrix is read before the loop, so nobody in the loop may have changed it."""
    def changed(x: Any, w: Any) -> Any:
        y = x * 2.0
        w[:] = y[: len(w)]
        return (y @ w) + 1.0

    f = jit(fullgraph=True)(changed)
    x, w = numbers(0, (150, 100)), numbers(1, (100, 100))
    other = w.copy()
    found, wanted = f(x, w), changed(x, other)
    assert np.array_equal(w, other)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_a_matrix_by_its_own_transpose() -> None:
    def gram(x: Any) -> Any:
        y = x - x.mean(axis=1, keepdims=True)
        return (y @ y.T) * 0.5

    f = jit(fullgraph=True)(gram)
    x = numbers(0, (130, 80))
    check_accuracy(f(x), gram, x)


def test_nothing_to_add() -> None:
    f = jit(fullgraph=True)(layer)
    x, w, b = numbers(0, (200, 80)), numbers(1, (80, 80)), numbers(2, (80,))
    f(x, w, b)
    assert np.array_equal(f(x[:, :0], w[:0], b), np.broadcast_to(np.maximum(b, 0), (200, 80)))
    assert f(x[:0], w, b).shape == (0, 80)


def test_warnings() -> None:
    f = jit(fullgraph=True)(layer)
    x, w, b = numbers(0, (203, 80)), numbers(1, (80, 81)), numbers(2, (81,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(x, w, b)
    x[7, 3] = np.inf  # where NumPy's library, too, computes on the thread that sees its flags
    w[3, 80] = 0
    with pytest.warns(RuntimeWarning, match="invalid"):
        found = f(x, w, b)
    assert np.isnan(found[7, 80]) and np.array_equal(np.isnan(found), np.isnan(layer(x, w, b)))
