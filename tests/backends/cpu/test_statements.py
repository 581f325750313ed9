"""Statements: allocation, control flow, checks, calls of real functions."""

import ctypes
import sys

import numpy as np
import pytest

from npcompile.backends.cpu.llvm.frame import DONE, SHORT
from npcompile.core.paths import import_path
from npcompile.core.sizes import floordiv, largest, mod, smallest, symbol
from npcompile.graph.ir import Geometry, HostCall
from npcompile.program.ir import (
    Alloc,
    Apply,
    Axis,
    Bind,
    Buffer,
    BufferResult,
    Call,
    Constant,
    Exit,
    For,
    Free,
    If,
    Index,
    Kernel,
    Load,
    SideExit,
    SizeValue,
    Store,
    View,
    While,
)
from tests.support.cpu_backend import TARGETS, Runner, program, vector

INT, FLOAT, BOOL = np.dtype(np.int64), np.dtype(float), np.dtype(bool)
HERE = Index(0, ())


def number(name, dtype=INT, index=-1):
    return Buffer(name, "scalar", np.dtype(dtype), (), (), index)


def assign(target, op, *operands):
    """``target = op(operands)`` over numbers: buffers, sizes or constants."""
    values = []
    for operand in operands:
        if isinstance(operand, Buffer):
            values.append(Load(operand, HERE, operand.dtype))
        elif isinstance(operand, int | float) and not isinstance(operand, bool):
            dtype = INT if isinstance(operand, int) else FLOAT
            values.append(Constant(operand, dtype))
        else:
            values.append(SizeValue(operand))
    if op:
        values.append(Apply(op, tuple(range(len(operands))), target.dtype))
    return Kernel("s", (), tuple(values), (Store(target, HERE, len(values) - 1),))


def test_results_and_temporaries():
    n = symbol("n", 4, 0)
    a, t = vector("a", float, n), vector("t", float, n, "temp", -1)
    out = Buffer("out", "result", FLOAT, (n, 2), (1, n))
    at = Index(0, (1,))
    double = Kernel("k", (Axis("i", n),), (Load(a, at, FLOAT), Apply("add", (0, 0), FLOAT)),
                    (Store(t, at, 1),))
    both = Kernel("k", (Axis("j", 2), Axis("i", n)),
                  (Load(t, Index(0, (0, 1)), FLOAT),), (Store(out, Index(0, (n, 1)), 0),))
    run = Runner(program([a], [t, out], Alloc(t), double, Alloc(out), both, Free(t)))
    for size in (0, 1, 5, 1000):
        x = np.arange(float(size))
        status, found = run(x)
        count = sys.getrefcount(found["out"])
        assert status == DONE and count == 2
        assert found["out"].strides == (8, 8 * size) if size > 1 else True
        assert np.array_equal(found["out"], np.stack([2 * x, 2 * x], 1))
        assert found["out"].flags.owndata and found["out"].flags.writeable


def test_sizes_round_as_python_does():
    m, k = symbol("m", 5), symbol("k", 3)
    sizes = [floordiv(m, k), mod(m, k), floordiv(m, 4), mod(m, 4), smallest(m, k), largest(m, k),
             3 * m * k - k + 7]
    outs = [number(f"o{i}") for i in range(len(sizes))]
    a, b = number("a", index=0), number("b", index=1)
    of = program([a, b], outs, *(assign(o, "", s) for o, s in zip(outs, sizes, strict=True)),
                 int_symbols={0: m.terms[0][0][0], 1: k.terms[0][0][0]})
    run = Runner(of)
    for x in (-9, -8, -1, 0, 1, 7, 12):
        for y in (-3, -1, 1, 3, 4):
            found = run(x, y)[1]
            assert [found[o.name] for o in outs] == [
                x // y, x % y, x // 4, x % 4, min(x, y), max(x, y), 3 * x * y - y + 7]
    run(3, 0)  # and no trap


def test_loops_branches_and_checks():
    """Collatz: steps until 1, at most ``limit``; a check fails where they are more."""
    start, limit = number("start", index=0), number("limit", index=1)
    x, steps, odd, more, fits, one = (number("x"), number("steps"), number("odd", bool),
                                      number("more", bool), number("fits", bool), number("one"))
    parity = number("parity")
    step = (
        assign(parity, "bit_and", x, 1),
        assign(odd, "eq", parity, 1),
        If(odd, (assign(one, "mul", x, 3), assign(x, "add", one, 1)), (assign(x, "shr", x, 1),)),
        assign(steps, "add", steps, 1),
        assign(fits, "le", steps, limit),
        SideExit(fits, "too many", 3),
        assign(more, "ne", x, 1),
    )
    of = program([start, limit], [x, steps, odd, more, fits, one, parity],
                 assign(x, "", start), assign(steps, "", 0), While(step, more),
                 resumes=[Exit()] * 4)
    run = Runner(of)

    def collatz(n):
        count = 0
        while True:
            n, count = (3 * n + 1 if n & 1 else n >> 1), count + 1
            if n == 1:
                return count

    for n in (2, 6, 27, 97):
        status, found = run(n, 200)
        assert status == DONE and found["steps"] == collatz(n)
    assert run(27, 50)[0] == 3


def test_ranges_of_either_sign():
    first, last, step = (symbol(n) for n in ("first", "last", "step"))
    i, total, k = symbol("i"), number("total"), number("k")
    params = [number(n, index=j) for j, n in enumerate(("a", "b", "c"))]
    loop = For(i.terms[0][0][0], first, last, step,
               (assign(k, "mul", total, 3), assign(total, "add", k, i)))
    of = program(params, [k, total], assign(total, "", 0), loop,
                 int_symbols={j: s.terms[0][0][0] for j, s in enumerate((first, last, step))})
    run = Runner(of)
    for trip in [(0, 5, 1), (5, 0, -1), (0, 5, 2), (1, 6, 5), (0, 5, -1), (5, 0, 1), (7, -8, -3),
                 (0, 0, 1), (-4, 5, 3)]:
        expected = 0
        for value in range(*trip):
            expected = expected * 3 + value
        assert run(*trip)[1]["total"] == expected, trip


def test_a_computed_number_becomes_a_size():
    given, count = number("given", np.int32, 0), symbol("count", 3, 0)
    out = vector("out", np.int64, count, "result", -1)
    fill = Kernel("k", (Axis("i", count),), (Constant(7, INT),), (Store(out, Index(0, (1,)), 0),))
    of = program([given], [out], Bind(count.terms[0][0][0], given), Alloc(out), fill)
    run = Runner(of)
    assert np.array_equal(run(5)[1]["out"], np.full(5, 7))


def test_no_memory_is_a_status():
    n = symbol("n", 3, 0)
    given, t = number("given", index=0), vector("t", float, n, "temp", -1)
    of = program([given], [t], Alloc(t), Free(t), result=BufferResult(t),
                 int_symbols={0: n.terms[0][0][0]})
    run = Runner(of)
    assert run(1 << 57)[0] == SHORT
    assert run(100)[0] == DONE


class HostRunner(Runner):
    """Imports host functions as a runtime does."""

    def prepare(self, what):
        return import_path(what.path) if isinstance(what, HostCall) else what


def host(function, inputs, outputs, *more, params):
    return HostRunner(program(params, outputs, *(Alloc(o) for o in outputs if o.kind != "scalar"),
                              Call(function, inputs, tuple(outputs)), *more))


def test_host_call_with_out():
    n = symbol("n", 3, 0)
    s = symbol("s", 3)
    a = Buffer("a", "param", FLOAT, (n, n), (s, 1), 0)
    out = Buffer("out", "result", FLOAT, (n, n), (n, 1))
    whole, turned = Geometry(0, (n, n), (s, 1)), Geometry(0, (n, n), (1, s))
    run = host(HostCall("numpy:matmul", out=True),
               (View(a, whole, FLOAT), View(a, turned, FLOAT)), [out], params=[a])
    x = np.random.default_rng(0).standard_normal((7, 9))[:, :7]
    count = sys.getrefcount(x)
    status, found = run(x)
    assert status == DONE and np.array_equal(found["out"], x @ x.T)
    counts = sys.getrefcount(x), sys.getrefcount(found["out"])
    assert counts == (count, 2)


def test_host_call_with_keywords_statics_and_several_results():
    n = symbol("n", 3, 0)
    a = vector("a", float, n)
    low, high = Buffer("low", "result", FLOAT, (n,), (1,)), number("high", float)
    function = HostCall("tests.backends.cpu.test_statements:split",
                        ("scale",), ((0, "name"), ("add", 5)))
    scale = number("scale", float, 1)
    run = host(function, (View(a, Geometry(1, (n - 1,), (1,)), FLOAT),
                          View(scale, Geometry(0, (), ()), FLOAT)), [low, high], params=[a, scale])
    status, found = run(np.arange(5.0), 2.5)
    assert status == DONE and np.array_equal(found["low"], np.arange(1.0, 6.0) * 0 + 8)
    assert found["high"] == 10.0


def split(name, x, *, scale, add):
    assert name == "name" and type(scale) is np.float64 and scale == 2.5
    assert np.array_equal(x, [1, 2, 3, 4])
    return add + 3, x.sum()


def test_host_call_that_raises():
    a = Buffer("a", "param", FLOAT, (2, 2), (2, 1), 0)
    out = Buffer("out", "result", FLOAT, (2, 2), (2, 1))
    t = Buffer("t", "temp", FLOAT, (2,), (1,))
    window = Geometry(0, (2, 2), (2, 1))
    call = Call(HostCall("numpy:linalg.inv"), (View(a, window, FLOAT),), (out,))
    run = HostRunner(program([a], [t, out], Alloc(t), Alloc(out), call, Free(t)))
    with pytest.raises(np.linalg.LinAlgError):
        run(np.zeros((2, 2)))
    assert np.array_equal(run(np.eye(2) * 2)[1]["out"], np.eye(2) / 2)


def test_host_call_keeps_flags():
    a = Buffer("a", "param", FLOAT, (), (), 0)
    out, d = Buffer("out", "result", FLOAT, (), ()), number("d", float)
    divide = Kernel(
        "k",
        (),
        (Constant(1.0, FLOAT), Load(a, HERE, FLOAT), Apply("div", (0, 1), FLOAT)),
        (Store(d, HERE, 2),),
    )
    call = Call(HostCall("numpy:sqrt"), (View(a, Geometry(0, (), ()), FLOAT),), (out,))
    run = HostRunner(program([a], [d, out], divide, Alloc(out), call))
    libm = ctypes.CDLL("libm.so.6")
    libm.feclearexcept(63)
    run(np.array(0.0))
    assert libm.fetestexcept(4)


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.cpu)
def test_threads_give_the_same(target):
    from npcompile.runtime.threads import pool

    if not pool.supported():
        pytest.skip("no threads here")
    pool.ensure()
    n = symbol("n", 4, 0)
    a, out = vector("a", float, n), vector("out", float, n, "result", -1)
    at = Index(0, (1,))
    square = Kernel("k", (Axis("i", n),), (Load(a, at, FLOAT), Apply("mul", (0, 0), FLOAT)),
                    (Store(out, at, 1),))
    run = Runner(program([a], [out], Alloc(out), square), target, parallel=True)
    for size in (10, 1_000_003):
        x = np.random.default_rng(0).standard_normal(size)
        assert np.array_equal(run(x)[1]["out"], x * x)
