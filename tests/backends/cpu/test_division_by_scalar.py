"""Quotients of many numbers by one: NumPy's bits and flags, wherever the numbers lie."""

import numpy as np
import pytest

import npcompile
from npcompile.backends.cpu.llvm.frame import DONE
from npcompile.core.sizes import symbol
from npcompile.program.ir import Apply, Axis, Buffer, BufferResult, Index, Kernel, Load, Store
from tests.support import oracle
from tests.support.cpu_backend import TARGETS, Runner, announced, program, raised, vector

targets = pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.cpu)
SPECIAL = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e-310, -5e-324, 1e308, 2.0**-400, 2.0**400]


def by_number(dtype):
    """``out[i] = x[i] / s``."""
    n, dtype = symbol("n", 5, 0), np.dtype(dtype)
    x, number = vector("x", dtype, n), Buffer("s", "scalar", dtype, index=1)
    out = vector("out", dtype, n, "param", 2)
    values = (Load(x, Index(0, (1,)), dtype), Load(number, Index(0, (0,)), dtype),
              Apply("div", (0, 1), dtype))
    kernel = Kernel("k", (Axis("i", n),), values, (Store(out, Index(0, (1,)), 2),))
    return program([x, number, out], [], kernel, result=BufferResult(out))


def dividends(rng, dtype, how):
    bits = np.dtype(f"u{np.dtype(dtype).itemsize}")
    if how == "any bits":
        return rng.integers(0, np.iinfo(bits).max, 997, bits, endpoint=True).view(dtype)
    if how == "integers":
        return rng.integers(-(2**20), 2**20, 997).astype(dtype)
    if how == "at the limits":  # of what is safe
        limits = (-512, -511, -501, -499, 499, 501, 512, 513)
        limits = limits if dtype == "f8" else (-64, -63, -61, -59, 59, 61, 64, 65)
        signs = rng.choice([-1.0, 1.0], 997)
        return np.ldexp(signs * rng.uniform(1, 2, 997), rng.choice(limits, 997)).astype(dtype)
    if how == "wide":
        return np.ldexp(rng.standard_normal(997), rng.integers(-90, 90, 997)).astype(dtype)
    return rng.standard_normal(997).astype(dtype)


@targets
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("how", ["usual", "integers", "wide", "at the limits", "any bits"])
@np.errstate(all="ignore")
def test_quotients(how, dtype, target):
    rng, run = np.random.default_rng(7), Runner(by_number(dtype), target)
    for turn in range(60):
        x = dividends(rng, dtype, how)
        number = dividends(rng, dtype, how)[turn]
        if turn % 3 == 0:
            x[rng.integers(0, 997, 20)] = np.resize(SPECIAL, 20).astype(dtype)
        if turn % 7 == 0:
            number = np.dtype(dtype).type(SPECIAL[turn % len(SPECIAL)])
        quotients_as_numpy(run, x, number)


def quotients_as_numpy(run, x, number):
    out = np.empty_like(x)
    flags = raised(lambda: run(x, number, out))
    expected, told = announced(lambda: x / number)
    assert oracle.elements(out, expected), number
    assert flags == told, number


@targets
def test_close_to_the_middle(target):
    """Quotients as near as can be to the middle of two numbers."""
    run = Runner(by_number("f8"), target)
    for divisor in range(2**52 + 1, 2**53, 2**47 + 12345678):
        odd = divisor | 1
        inverse = pow(2, -54, odd)  # of 2**54: x * 2**54 is 1, 2, ... beyond a multiple of it
        near = [(k * inverse) % odd for k in (*range(1, 40), *range(-39, 0))]
        x = np.array([v for v in near if v >= 2**30], float)
        out = np.empty_like(x)
        assert run(x, float(odd), out)[0] == DONE
        assert oracle.elements(out, x / float(odd))


def test_rows() -> None:
    compiled = npcompile.jit(lambda a: (a - a.mean(1, keepdims=True)) / a.std(1, keepdims=True))
    rng = np.random.default_rng(3)
    for shape in ((5, 32), (100, 8), (40, 33), (3, 400)):
        for dtype in ("f8", "f4"):
            a = rng.standard_normal(shape).astype(dtype)
            a[0] = 2  # 0 / 0
            with np.errstate(all="ignore"):
                expected = (a - a.mean(1, keepdims=True)) / a.std(1, keepdims=True)
            with pytest.warns(RuntimeWarning, match="invalid value") as seen:
                found = compiled(a)
            assert oracle.elements(found, expected) and len(seen) == 1
