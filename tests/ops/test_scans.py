"""Running sums, products and extremes have NumPy's bits, dtype and layout."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npcompile import jit
from npcompile.core.sizes import symbol
from npcompile.program.interpret import interpret
from npcompile.program.ir import Apply, Axis, Buffer, BufferResult, Index, Kernel, Load, Reduce
from tests.support.cpu_backend import TARGETS, Runner, program

FUNCTIONS = {
    "cumsum": lambda a, axis: np.cumsum(a, axis),
    "cumsum method": lambda a, axis: (a + a).cumsum(axis=axis),
    "cumprod": lambda a, axis: np.cumprod(a, axis=axis),
    "nancumsum": lambda a, axis: np.nancumsum(a, axis=axis),
    "nancumprod": lambda a, axis: np.nancumprod(a, axis=axis),
    "cumulative_sum": lambda a, axis: np.cumulative_sum(a, axis=axis) * 2,
    "cumulative_prod": lambda a, axis: np.cumulative_prod(a, axis=axis),
    "add": lambda a, axis: np.add.accumulate(a, axis=axis, dtype=np.float32),
    "maximum": lambda a, axis: np.maximum.accumulate(a, axis),
    "minimum": lambda a, axis: np.minimum.accumulate(a[::-1], axis=axis)[::-1],
    "logical_and": lambda a, axis: np.logical_and.accumulate(a, axis=axis),
    "logical_or": lambda a, axis: np.logical_or.accumulate(a, axis),
}
COMPILED = {name: jit(function) for name, function in FUNCTIONS.items()}
SHAPES = [(0,), (1,), (9,), (130,), (3, 0), (0, 3), (1, 1), (5, 9), (21, 70), (2, 3, 4), (9, 1, 33)]


def laid(draw: Any, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    seed = draw(st.integers(0, 999))
    rng = np.random.default_rng(seed)
    a = (rng.standard_normal(shape) * 4).round(1)
    if a.size > 2:
        a.flat[1], a.flat[2] = draw(st.sampled_from([(0.0, -0.0), (np.nan, 1.0), (np.inf, 2.0)]))
    with np.errstate(all="ignore"):
        a = a.astype(dtype)
    how = draw(st.sampled_from(["C", "F", "reversed", "strided"]))
    if how == "reversed":
        return a[::-1]
    if how == "strided":
        return np.repeat(a, 2, axis=-1)[..., ::2]
    return np.asarray(a, order=how)


@settings(max_examples=400)
@given(st.data())
def test_numpys_bits(data: Any) -> None:
    name = data.draw(st.sampled_from(sorted(FUNCTIONS)))
    shape = data.draw(st.sampled_from(SHAPES))
    dtype = data.draw(st.sampled_from(["d", "d", "f", "e", "i", "l", "B", "?", "H", "L"]))
    a = laid(data.draw, shape, dtype)
    axis = data.draw(st.sampled_from([*range(-len(shape), len(shape))]))
    with np.errstate(all="ignore"):
        want, got = FUNCTIONS[name](a, axis), COMPILED[name](a, axis)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    steps = zip(got.shape, got.strides, want.strides)
    assert got.size == 0 or all(n == 1 or mine == numpys for n, mine, numpys in steps)
    if name in ("minimum", "maximum"):  # whose signs of zeros are IEEE's
        want, got = want + 0, got + 0
    if want.dtype.kind == "f":  # of two NaN either may be taken
        want, got = (np.where(x == x, x, x.dtype.type(np.nan)) for x in (want, got))
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("dtype", ["d", "i", "D", "F", "?"])
def test_of_all_elements(dtype: str) -> None:
    a = (np.arange(24) % 7 - 3).reshape(2, 3, 4).astype(dtype)
    for function in (lambda a: np.cumsum(a), lambda a: a.cumprod(), lambda a: np.nancumsum(a),
                     lambda a: np.cumsum(a, axis=1), lambda a: np.cumprod(a.T, axis=0)):
        compiled = jit(function, fullgraph=True)
        for x in (a, a.T, a[:, ::-1]):
            got, want = compiled(x), function(x)
            assert (got.dtype, got.strides) == (want.dtype, want.strides)
            assert got.tobytes() == want.tobytes()


def test_integers_wrap_and_dtypes_are_numpys() -> None:
    a = np.full((3, 50), 100, np.int8)
    for function in (lambda a: np.cumsum(a, axis=1, dtype=np.int8), lambda a: np.cumsum(a, axis=1),
                     lambda a: np.multiply.accumulate(a, axis=1),
                     lambda a: np.bitwise_xor.accumulate(a, axis=1),
                     lambda a: np.bitwise_and.accumulate(a), lambda a: np.cumsum(a, 1, np.uint16)):
        got, want = jit(function, fullgraph=True)(a), function(a)
        assert got.dtype == want.dtype
        assert np.array_equal(got, want)


def test_into_arrays_that_overlap() -> None:
    def f(a: Any, out: Any) -> Any:
        np.cumsum(a, axis=0, out=a)
        a[1:, 1:] = a[:-1, :-1].cumsum(axis=1)
        return np.cumsum(a[::-1], axis=0, out=out)

    one, two = (np.arange(30.0).reshape(5, 6) for _ in range(2))
    outs = np.zeros((5, 6)), np.zeros((5, 6))
    got, want = jit(f, fullgraph=True)(one, outs[0]), f(two, outs[1])
    assert got is outs[0]
    assert one.tobytes() == two.tobytes()
    assert got.tobytes() == want.tobytes()


def test_warns_as_numpy_does() -> None:
    def f(a: Any) -> Any:
        return np.cumsum(a)

    with warnings.catch_warnings(record=True) as ours:
        warnings.simplefilter("always")
        jit(f)(np.array([1e308, 1e308, -np.inf, np.inf]))
    with warnings.catch_warnings(record=True) as theirs:
        warnings.simplefilter("always")
        f(np.array([1e308, 1e308, -np.inf, np.inf]))
    assert [str(w.message) for w in ours] == [str(w.message) for w in theirs]


def test_in_a_loop_of_rows() -> None:
    def f(a: Any) -> Any:
        total = np.zeros(a.shape[1])
        for row in a:
            total += np.cumsum(row * 2)
        return total

    a = np.random.default_rng(0).random((20, 300))
    assert jit(f, fullgraph=True)(a).tobytes() == f(a).tobytes()


# ------------------------------------------------------------------ language 2


def scan(kind: str, dtype: str, rank: int, axis: int) -> Any:
    """Scans ``a + a`` of a strided array, or float16 as it is, into another."""
    kept = np.dtype(dtype)
    shape = tuple(symbol(f"n{k}", 3, 0) for k in range(rank))
    steps = [tuple(symbol(f"{name}{k}", 1) for k in range(rank)) for name in "st"]
    a, out = (Buffer(n, "param", kept, shape, s, k) for k, (n, s) in enumerate(zip("ab", steps)))
    values = (Load(a, Index(0, steps[0]), kept), Apply("add", (0, 0), kept))
    values = values[:1] if dtype == "e" else values
    reduce = Reduce(kind, (axis,), len(values) - 1, out, Index(0, steps[1]), kept, running=True)
    axes = tuple(Axis(f"i{k}", n) for k, n in enumerate(shape))
    return program([a, out], [], Kernel("k", axes, values, (), (reduce,)),
                   result=BufferResult(out))


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.cpu)
@pytest.mark.parametrize("dtype", "dfeBl")
@pytest.mark.parametrize(("rank", "axis"), [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)])
def test_kernels(target: Any, dtype: str, rank: int, axis: int) -> None:
    rng = np.random.default_rng(rank)
    for kind, ufunc in (("sum", np.add), ("prod", np.multiply), ("min", np.minimum)):
        made = scan(kind, dtype, rank, axis)
        run = Runner(made, target)
        for shape in ((0, 3, 5), (4, 2, 33), (19, 11, 8), (2500, 1, 1)):
            for order in "CF":
                a = np.asarray(rng.integers(0, 3, shape[:rank]), dtype, order)
                out, other = np.zeros(shape[:rank], dtype), np.zeros(shape[:rank], dtype, order)
                want = ufunc.accumulate(a if dtype == "e" else a + a, axis, dtype)
                run(a, out)
                interpret(made, [a, other])
                assert out.tobytes() == want.tobytes() == other.tobytes()


VECTORS = {
    "maximum": lambda a: np.maximum.accumulate(a, axis=-1),
    "minimum": lambda a: np.minimum.accumulate(a, axis=-1),
    "sum": lambda a: np.cumsum(a, axis=-1),
    "differences": lambda a: np.maximum.accumulate(a[..., 1:] - a[..., :-1], axis=-1),
    "in place": lambda a: np.maximum.accumulate(a, axis=-1, out=a),
}


@pytest.mark.parametrize("capability", ["default", "avx2"])
@pytest.mark.parametrize("name", VECTORS)
def test_vectors_and_what_is_left(
    name: str, capability: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NPCOMPILE_CPU_CAPABILITY", capability)
    function = VECTORS[name]
    compiled = jit(function, cache=False)
    rng = np.random.default_rng(0)
    for dtype in "bBhIlefd":
        for size in (1, 7, 8, 17, 33, 64, 131):
            x = (rng.standard_normal((3, 2 * size + 1)) * 30).clip(0, 100).astype(dtype)
            if dtype in "efd":
                x[1, size // 2] = np.nan
            for a in (x[1, :size], x[:, :size], x[:, ::2], x[2, ::-1]):
                got, want = compiled(a.copy(order="K")), function(a.copy(order="K"))
                assert got.dtype == want.dtype and got.strides == want.strides
                np.testing.assert_array_equal(got, want)
