"""Loops and memory: ranks, layouts, lanes, masks, in place; against the program interpreter."""

import itertools

import numpy as np
import pytest

from npcompile.backends.cpu.llvm.frame import DONE
from npcompile.core.sizes import symbol
from npcompile.program.interpret import interpret
from npcompile.program.ir import (
    Apply,
    Axis,
    AxisIndex,
    Buffer,
    BufferResult,
    Constant,
    Index,
    Kernel,
    Load,
    SizeValue,
    Store,
)
from tests.support import oracle
from tests.support.cpu_backend import TARGETS, Runner, program, raised

rng = np.random.default_rng(5)
targets = pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.cpu)
FLOAT, BOOL = np.dtype(float), np.dtype(bool)
STEPS = {"unit": 1, "reversed": -1, "second": 2, "symbolic": None}


def array(name, dtype, shape, strides, index):
    return Buffer(name, "param", np.dtype(dtype), shape, strides, index)


def check(of, params, target):
    """Runs a program by machine and by interpreter on copies; all memory must be equal."""
    pairs = [[clone(p) for p in params] for _ in range(2)]
    status, _ = Runner(of, target)(*pairs[0])
    assert status == DONE
    assert interpret(of, pairs[1])[0] == DONE
    for mine, theirs in zip(*pairs, strict=True):
        assert oracle.elements(mine, theirs), (mine, theirs)


def clone(a):
    """A copy with the same strides in the same surroundings."""
    if not isinstance(a, np.ndarray) or a.base is None:
        return a.copy() if isinstance(a, np.ndarray) else a
    base = a
    while base.base is not None:
        base = base.base
    fresh = base.copy()
    at = a.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return np.ndarray(a.shape, a.dtype, fresh, at, a.strides)


def place(values, step):
    """A vector of these values with a step between elements, among others."""
    n, room = len(values), max(1, 2 * abs(step) * len(values))
    base = np.full(room, 77).astype(values.dtype)
    view = base[: n * abs(step) : abs(step)] if n else base[:0]
    view = view[::-1] if step < 0 else view
    view[...] = values
    return view


@targets
@pytest.mark.parametrize("dtype", ["d", "f", "b", "?", "h", "D", "F", "e"])
def test_steps(dtype, target):
    dtype = np.dtype(dtype)
    for (_, first), (_, second) in itertools.product(STEPS.items(), STEPS.items()):
        n = symbol("n", 5, 0)
        steps = [symbol("s", 3) if s is None else s for s in (first, second)]
        a, out = array("a", dtype, (n,), (steps[0],), 0), array("b", dtype, (n,), (steps[1],), 1)
        values = [Load(a, Index(0, (steps[0],)), dtype)]
        kernel = Kernel("k", (Axis("i", n),), tuple(values),
                        (Store(out, Index(0, (steps[1],)), 0),))
        of = program([a, out], [], kernel, result=BufferResult(out))
        run = Runner(of, target)
        for size in (0, 1, 3, 8, 21, 70):
            x = (rng.standard_normal(size) * 50).astype(dtype)
            source = place(x, 3 if first is None else first)
            to = place(np.zeros(size, dtype), 3 if second is None else second)
            around = to.base.copy() if size else None
            run(source, to)
            assert oracle.elements(to, x), (dtype, first, second, size)
            if size:
                to[...] = 0
                assert oracle.elements(to.base, around), "wrote beside the elements"


@targets
def test_masks_write_only_where_true(target):
    n = symbol("n", 5, 0)
    for dtype, step in itertools.product("dfbD", (1, 2, -1)):
        a = array("a", dtype, (n,), (1,), 0)
        m = array("m", "?", (n,), (1,), 1)
        out = array("o", dtype, (n,), (step,), 2)
        at = Index(0, (1,))
        kernel = Kernel("k", (Axis("i", n),), (Load(a, at, a.dtype), Load(m, at, BOOL)),
                        (Store(out, Index(0, (step,)), 0, 1),))
        of = program([a, m, out], [], kernel, result=BufferResult(out))
        for size in (3, 8, 37, 130):
            x, chosen = (rng.standard_normal(size) * 9).astype(dtype), rng.random(size) < 0.4
            check(of, [x, chosen, place(np.zeros(size, dtype), step)], target)


@targets
def test_parts_of_complex_memory(target):
    n = symbol("n", 5, 0)
    for whole, half in (("D", "d"), ("F", "f")):
        a, out = array("a", whole, (n,), (1,), 0), array("b", whole, (n,), (1,), 1)
        re, im = Index(0, (1,), "real"), Index(0, (1,), "imag")
        real = np.dtype(half)
        kernel = Kernel("k", (Axis("i", n),),
                        (Load(a, re, real), Load(a, im, real), Apply("neg", (0,), real)),
                        (Store(out, re, 1), Store(out, im, 2)))
        of = program([a, out], [], kernel, result=BufferResult(out))
        for size in (1, 8, 29):
            z = (rng.standard_normal(size) + 1j * rng.standard_normal(size)).astype(whole)
            check(of, [z, np.zeros(size, whole)], target)


@targets
@pytest.mark.parametrize("layout", ["C", "F", "sliced", "negative"])
def test_broadcast_matrix_with_indices(layout, target):
    """``out[i, j] = a[i, j] * row[j] + column[i] + number + i - 2 * j + n``."""
    m, n = symbol("m", 3, 0), symbol("n", 5, 0)
    s, t = symbol("s", 5), symbol("t", 1)
    inner = t if layout in ("F", "negative") else 1
    a = array("a", "d", (m, n), (s, inner), 0)
    row, column = array("r", "d", (n,), (1,), 1), array("c", "d", (m,), (2,), 2)
    given = Buffer("g", "scalar", FLOAT, (), (), 3)
    out = array("o", "d", (m, n), (n, 1), 4)
    values = [
        Load(a, Index(0, (s, inner)), FLOAT), Load(row, Index(0, (0, 1)), FLOAT),
        Load(column, Index(0, (2, 0)), FLOAT), Load(given, Index(0, (0, 0)), FLOAT),
        Apply("mul", (0, 1), FLOAT), Apply("add", (4, 2), FLOAT), Apply("add", (5, 3), FLOAT),
        AxisIndex(0), AxisIndex(1), SizeValue(n), Constant(2, np.dtype(np.int64)),
        Apply("mul", (8, 10), np.dtype(np.int64)), Apply("sub", (7, 11), np.dtype(np.int64)),
        Apply("add", (12, 9), np.dtype(np.int64)), Apply("cast", (13,), FLOAT),
        Apply("add", (6, 14), FLOAT),
    ]
    kernel = Kernel("k", (Axis("i", m), Axis("j", n)), tuple(values),
                    (Store(out, Index(0, (n, 1)), 15),))
    of = program([a, row, column, given, out], [], kernel, result=BufferResult(out))
    for rows, columns in ((1, 1), (3, 7), (5, 8), (4, 35), (2, 0), (0, 3)):
        base = rng.standard_normal((rows + 1, columns + 3))
        x = {"C": base[:rows, :columns].copy(), "F": np.asfortranarray(base[:rows, :columns]),
             "sliced": base[:rows, :columns], "negative": base[rows:0:-1, columns - 1 :: -1]
             if columns else base[:rows, :0]}[layout]
        check(of, [x, rng.standard_normal(columns), rng.standard_normal(2 * rows)[::2], 1.5,
                   np.zeros((rows, columns))], target)


@targets
def test_three_axes_with_offsets(target):
    """A heat-like stencil of windows on one array, written into the middle of another."""
    n = symbol("n", 5, 0)
    shape, strides = (n, n, n), (n * n, n, 1)
    a, out = array("a", "d", shape, strides, 0), array("o", "d", shape, strides, 1)
    centre = n * n + n + 1
    offsets = [centre, centre - n * n, centre + n * n, centre - n, centre + n, centre - 1,
               centre + 1]
    values = [Load(a, Index(o, strides), FLOAT) for o in offsets]
    total = 0
    for k in range(1, 7):
        values.append(Apply("add", (total, k), FLOAT))
        total = len(values) - 1
    axes = tuple(Axis(name, n - 2) for name in "ijk")
    kernel = Kernel("k", axes, tuple(values), (Store(out, Index(centre, strides), total),))
    of = program([a, out], [], kernel, result=BufferResult(out))
    for size in (2, 3, 5, 13):
        check(of, [rng.standard_normal((size,) * 3), np.zeros((size,) * 3)], target)


@targets
def test_in_place(target):
    n = symbol("n", 5, 0)
    a = array("a", "d", (n,), (1,), 0)
    at = Index(0, (1,))
    kernel = Kernel("k", (Axis("i", n),), (Load(a, at, FLOAT), Apply("mul", (0, 0), FLOAT)),
                    (Store(a, at, 1),))
    of = program([a], [], kernel, result=BufferResult(a))
    for size in (5, 64, 1000):
        check(of, [rng.standard_normal(size)], target)


@targets
def test_masked_lanes_raise_no_flags(target):
    """``1 / (a - 1) + sqrt(i) // b`` has poles just where lanes without data might land."""
    n = symbol("n", 5, 0)
    a, out = array("a", "d", (n,), (1,), 0), array("o", "d", (n,), (1,), 1)
    b = array("b", "l", (n,), (1,), 2)
    at, integer = Index(0, (1,)), np.dtype(np.int64)
    values = (
        Load(a, at, FLOAT), Constant(1.0, FLOAT), Apply("sub", (0, 1), FLOAT),
        Apply("div", (1, 2), FLOAT), AxisIndex(0), SizeValue(n), Apply("sub", (4, 5), integer),
        Load(b, at, integer), Apply("int_div", (6, 7), integer), Apply("int_mod", (7, 6), integer),
        Apply("add", (8, 9), integer), Apply("cast", (10,), FLOAT), Apply("add", (3, 11), FLOAT),
    )
    kernel = Kernel("k", (Axis("i", n),), values, (Store(out, at, 12),))
    of = program([a, out, b], [], kernel, result=BufferResult(out))
    run = Runner(of, target)
    for size in range(20):
        x, k = rng.random(size) + 2, rng.integers(1, 9, size)
        y = np.zeros(size)
        assert raised(lambda x=x, y=y, k=k: run(x, y, k)) == 0
        i = np.arange(size) - size
        assert oracle.elements(y, 1 / (x - 1) + (i // k + k % i))


@targets
def test_both_targets_have_equal_bits(target):
    """Casts, comparisons and choices in mixed widths."""
    n = symbol("n", 5, 0)
    a, b = array("a", "f", (n,), (1,), 0), array("b", "h", (n,), (1,), 1)
    out = array("o", "d", (n,), (1,), 2)
    at, single = Index(0, (1,)), np.dtype(np.float32)
    values = (
        Load(a, at, single), Load(b, at, np.dtype(np.int16)), Apply("cast", (1,), single),
        Apply("lt", (0, 2), BOOL), Apply("div", (0, 2), single), Apply("sqrt", (2,), single),
        Apply("where", (3, 4, 5), single), Apply("cast", (6,), FLOAT),
        Apply("fma", (7, 7, 7), FLOAT),
    )
    kernel = Kernel("k", (Axis("i", n),), values, (Store(out, at, 8),))
    of = program([a, b, out], [], kernel, result=BufferResult(out))
    outs = []
    x = (rng.standard_normal(777) * 100).astype("f")
    k = rng.integers(-200, 200, 777).astype("h")
    for each in {target, *TARGETS}:
        outs.append(np.zeros(777))
        Runner(of, each)(x, k, outs[-1])
    assert all(oracle.elements(o, outs[0]) for o in outs)


@targets
def test_rare_choices(target):
    """``rare(a > 2, sqrt(a) / b, rare(a < -2, -b * b, a))``: in some vectors no lane takes them."""
    n = symbol("n", 5, 0)
    a, b, out = (array(name, "d", (n,), (1,), k) for k, name in enumerate("abo"))
    at = Index(0, (1,))
    values = (
        Load(a, at, FLOAT), Load(b, at, FLOAT), Constant(2.0, FLOAT), Apply("lt", (2, 0), BOOL),
        Apply("sqrt", (0,), FLOAT), Apply("div", (4, 1), FLOAT), Constant(-2.0, FLOAT),
        Apply("lt", (0, 6), BOOL), Apply("mul", (1, 1), FLOAT), Apply("neg", (8,), FLOAT),
        Apply("rare", (7, 9, 0), FLOAT), Apply("rare", (3, 5, 10), FLOAT),
    )
    kernel = Kernel("k", (Axis("i", n),), values, (Store(out, at, 11),))
    of = program([a, b, out], [], kernel, result=BufferResult(out))
    for size in (5, 64, 1000):
        x, y = rng.standard_normal(size), rng.random(size) + 1
        if size == 64:
            x = np.clip(x, -1, 1)
        check(of, [x, y, np.zeros(size)], target)


@targets
@pytest.mark.parametrize("divisor", [0, 1, -1, 2, 3, -7, 10**12])
def test_division_by_constants(divisor, target):
    n, integer = symbol("n", 5, 0), np.dtype(np.int64)
    a, q, r = (array(name, "l", (n,), (1,), k) for k, name in enumerate("aqr"))
    at = Index(0, (1,))
    values = (Load(a, at, integer), Constant(divisor, integer), Apply("int_div", (0, 1), integer),
              Apply("int_mod", (0, 1), integer))
    kernel = Kernel("k", (Axis("i", n),), values, (Store(q, at, 2), Store(r, at, 3)))
    of = program([a, q, r], [], kernel, result=BufferResult(r))
    least = np.iinfo(integer).min
    x = np.append(rng.integers(least, -least - 1, 30), [least, least + 1, 0, -1, 1, -least - 1])
    check(of, [x, np.zeros_like(x), np.zeros_like(x)], target)


@targets
def test_constants_raise_flags_at_run_time(target):
    """``(a * 0) / (a * 0)`` and ``1.0 / 0.0``: known to a compiler, flagged all the same."""
    n, integer = symbol("n", 5, 0), np.dtype(np.int64)
    a, out = array("a", "l", (n,), (1,), 0), array("o", "d", (n,), (1,), 1)
    at = Index(0, (1,))
    loads = (Load(a, at, integer), Constant(0, integer), Apply("mul", (0, 1), integer),
             Apply("cast", (2,), FLOAT), Apply("div", (3, 3), FLOAT))
    constants = (Constant(1.0, FLOAT), Constant(0.0, FLOAT), Apply("div", (0, 1), FLOAT))
    for values, flag in ((loads, 1), (constants, 4)):
        kernel = Kernel("k", (Axis("i", n),), values, (Store(out, at, len(values) - 1),))
        run = Runner(program([a, out], [], kernel, result=BufferResult(out)), target)
        for size in (3, 16):
            x, y = np.arange(size), np.zeros(size)
            assert raised(lambda x=x, y=y, run=run: run(x, y)) == flag
