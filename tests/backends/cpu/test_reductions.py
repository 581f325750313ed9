"""Reductions against NumPy's bits."""

import numpy as np
import pytest

import npcompile
from npcompile.core.sizes import symbol
from npcompile.graph.primitives import REDUCTIONS
from npcompile.graph.types import c_strides
from npcompile.program.interpret import interpret
from npcompile.program.ir import (
    Apply,
    Axis,
    Buffer,
    BufferResult,
    Index,
    Kernel,
    Load,
    Reduce,
    Store,
)
from tests.support import oracle
from tests.support.cpu_backend import TARGETS, Runner, program

rng = np.random.default_rng(3)
targets = pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.cpu)


def reduction(kind, dtype, rank, axes, initial="identity", chunk=0, into=None, op=None,
              stores=False):
    """Reduces a strided array of symbolic shape over some axes into another."""
    dtype = np.dtype(dtype)
    shape = tuple(symbol(f"n{k}", 3, 0) for k in range(rank))
    strides = (*(symbol(f"s{k}", 1) for k in range(rank - 1)), 1)
    a = Buffer("a", "param", dtype, shape, strides, 0)
    kept = [k for k in range(rank) if k not in axes]
    steps = tuple(symbol(f"t{k}", 1) for k in kept)
    if initial == "identity":
        initial = REDUCTIONS[kind][1]
        if initial == -1 and dtype.kind == "u":
            initial = np.iinfo(dtype).max
    into = np.dtype(into or (np.int64 if kind.startswith("arg") else dtype))
    out = Buffer("out", "param", into, tuple(shape[k] for k in kept), steps, 1)
    at = tuple(steps[kept.index(k)] if k in kept else 0 for k in range(rank))
    values, what = [Load(a, Index(0, strides), dtype)], 0
    if op is not None:
        values.append(Apply(op, (0, 0), dtype))
        what = 1
    more = Buffer("copy", "param", dtype, shape, c_strides(shape), 2)
    put = (Store(more, Index(0, c_strides(shape)), what),) if stores else ()
    reduce = Reduce(kind, tuple(axes), what, out, Index(0, at), dtype, initial, chunk)
    kernel = Kernel("k", tuple(Axis(f"i{k}", n) for k, n in enumerate(shape)), tuple(values), put,
                    (reduce,))
    params = [a, out, more] if stores else [a, out]
    return program(params, [], kernel, result=BufferResult(out))


def sample(dtype, shape):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        scale = 3 if dtype.itemsize < 8 else 9
        return (rng.standard_normal(shape) * 10.0**rng.integers(-scale, scale, shape)).astype(dtype)
    if dtype.kind == "c":
        return (sample("d", shape) + 1j * sample("d", shape)).astype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


LENGTHS = [*range(20), 31, 63, 64, 65, 127, 128, 129, 136, 200, 255, 256, 257, 300, 1000, 1031,
           4096, 12345, 100003]


@targets
@pytest.mark.parametrize("dtype", "fdFDe")
def test_long_sums_have_numpys_bits(dtype, target):
    run = Runner(reduction("sum", dtype, 1, (0,)), target)
    for n in LENGTHS:
        a, out = sample(dtype, n), np.zeros((), dtype)
        run(a, out)
        assert oracle.elements(out[()], a.sum()), (n, out, a.sum())


@targets
@pytest.mark.parametrize("dtype", "fd")
def test_sum_of_a_fused_product(dtype, target):
    run = Runner(reduction("sum", dtype, 1, (0,), op="mul", stores=True), target)
    for n in LENGTHS:
        a, out, copy = sample(dtype, n), np.zeros((), dtype), np.zeros(n, dtype)
        run(a, out, copy)
        assert oracle.elements(out[()], (a * a).sum()) and oracle.elements(copy, a * a), n


@targets
@pytest.mark.parametrize("dtype", "fdFDeh")
def test_short_rows_side_by_side(dtype, target):
    op = None if dtype in "FDe" else "mul"
    run = Runner(reduction("sum", dtype, 2, (1,), op=op, initial=3, stores=True), target)
    for rows in (1, 7, 8, 9, 100):
        for length in range(10):
            a = sample(dtype, (rows, length))
            out, copy = np.zeros(rows, dtype), np.zeros_like(a)
            run(a, out, copy)
            values = a if op is None else a * a
            expected = np.add.reduce(values, axis=1, dtype=dtype, initial=3)
            assert oracle.elements(out, expected) and oracle.elements(copy, values), (rows, length)


KINDS = {"sum": "fdDilB", "prod": "fdDilB", "min": "fdilBe?", "max": "fdilBe?",
         "argmin": "fdilBe?", "argmax": "fdilBe?", "all": "?", "any": "?", "bit_and": "lB",
         "bit_or": "lB", "bit_xor": "lB"}
SHAPES = {
    1: [((0,), [(1,), (7,), (8,), (9,), (100,), (321,)])],
    2: [((0,), [(1, 1), (5, 3), (30, 35), (9, 80), (3, 0)]),
        ((1,), [(1, 1), (3, 5), (37, 3), (70, 7), (4, 35), (6, 300), (0, 3)]),
        ((0, 1), [(1, 1), (3, 5), (4, 150)])],
    3: [((0, 2), [(2, 3, 4), (5, 3, 140)]), ((1,), [(2, 3, 4), (3, 9, 40)]),
        ((0, 1), [(2, 3, 4), (4, 5, 70)]), ((2,), [(2, 3, 9), (2, 37, 4)])],
}


@targets
@pytest.mark.parametrize("kind", KINDS)
def test_axes(kind, target):
    for dtype in KINDS[kind]:
        for rank, cases in SHAPES.items():
            for axes, shapes in cases:
                check_axes(kind, dtype, rank, axes, shapes, target)


def check_axes(kind, dtype, rank, axes, shapes, target):
    of = reduction(kind, dtype, rank, axes)
    run = Runner(of, target)
    for shape in shapes:
        # one more along each axis, so that nothing coalesces and strides are not the shape's
        whole = sample(dtype, tuple(n + 2 for n in shape))
        if np.dtype(dtype).kind in "fc" and whole.size > 200:
            whole.ravel()[::97] = np.nan
        a = whole[tuple(slice(0, n) for n in shape)]
        kept = tuple(n for k, n in enumerate(shape) if k not in axes)
        out, expected = np.zeros(kept, of.params[1].dtype), np.zeros(kept, of.params[1].dtype)
        run(a, out)
        if out.size:
            interpret(of, [a, expected])
        assert oracle.elements(out, expected), (kind, dtype, shape, axes, out, expected)


@targets
def test_pieces(target):
    of = reduction("sum", "d", 2, (1,), chunk=8192)
    run = Runner(of, target)
    for n in (1, 100, 8192, 8193, 30000):
        a, out, expected = sample("d", (3, n)), np.zeros(3), np.zeros(3)
        run(a, out)
        interpret(of, [a, expected])
        assert oracle.elements(out, expected)


@targets
@pytest.mark.parametrize("kind", ["argmin", "argmax", "min", "max"])
def test_ties_zeros_and_nans(kind, target):
    run = Runner(reduction(kind, "d", 1, (0,)), target)
    for _ in range(200):
        n = int(rng.integers(1, rng.choice([40, 300])))
        some = [0.0, -0.0, 1.0, -1.0, np.nan] if rng.random() < 0.3 else [0.0, -0.0, 2.0]
        a = rng.choice(some, n)
        out = np.zeros((), np.int64 if kind.startswith("arg") else float)
        run(a, out)
        if kind.startswith("arg"):
            assert out == getattr(a, kind)(), a
        elif np.isnan(a).any():
            assert np.isnan(out)
        else:
            assert out == getattr(a, kind)()
            if out == 0:
                zeros = np.signbit(a[a == 0])
                assert np.signbit(out) == (zeros.any() if kind == "min" else zeros.all())


@targets
@pytest.mark.parametrize("kind", KINDS)
def test_threads_change_no_bit(kind, target):
    from npcompile.runtime.threads import pool

    if not pool.supported():
        pytest.skip("no threads here")
    pool.ensure()
    for dtype in KINDS[kind]:
        of = reduction(kind, dtype, 1, (0,), op="add" if dtype in "fd" else None)
        alone, together = Runner(of, target), Runner(of, target, parallel=True)
        for n in (1, 9, 1000, 32769, 300001):
            a = sample(dtype, n)
            if kind.startswith("arg"):
                a = np.round(a) if dtype in "fd" else a
            out, expected = (np.zeros((), of.params[1].dtype) for _ in range(2))
            alone(a, expected)
            together(a, out)
            assert oracle.elements(out, expected), (kind, dtype, n)


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8"])
def test_leaves_side_by_side(dtype):
    """Sums around all lengths where four leaves are summed at a time."""
    compiled = npcompile.jit(lambda a: a.sum())
    numbers = np.random.default_rng(2).standard_normal(4200)
    numbers = (numbers + 1j * numbers[::-1]).astype(dtype) if dtype[0] == "c" else numbers
    for length in (*range(120, 560, 3), *range(900, 1100, 7), 2047, 2048, 4099):
        a = numbers[:length].astype(dtype)
        assert oracle.elements(compiled(a), a.sum()), length
