"""Square roots and quotients by products: NumPy's bits and flags, wherever the numbers lie."""

import numpy as np
import pytest

import npcompile
from npcompile.core.sizes import symbol
from npcompile.program.ir import Apply, Axis, BufferResult, Index, Kernel, Load, Store
from tests.support import oracle
from tests.support.cpu_backend import TARGETS, Runner, announced, program, raised, vector

targets = pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.cpu)
F8 = np.dtype("f8")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 4.0, np.inf, -np.inf, np.nan, 1e-310, 5e-324, 1e308, 2.0**-255,
           2.0**-256, np.nextafter(2.0**257, 0), 2.0**257, 2.0**-1022]


def each(op):
    """``out[i] = op(x[i], ...)``."""
    n, count = symbol("n", 5, 0), 2 if op == "div" else 1
    arrays = [vector(f"x{k}", F8, n, "param", k) for k in range(count)]
    out = vector("out", F8, n, "param", count)
    values = [Load(a, Index(0, (1,)), F8) for a in arrays]
    values.append(Apply(op, tuple(range(count)), F8))
    kernel = Kernel("k", (Axis("i", n),), tuple(values), (Store(out, Index(0, (1,)), count),))
    return program([*arrays, out], [], kernel, result=BufferResult(out))


def roots_as_numpy(run, op, *args):
    out = np.empty_like(args[0])
    flags = raised(lambda: run(*args, out))
    expected, told = announced(lambda: (np.sqrt if op == "sqrt" else np.divide)(*args))
    assert oracle.elements(out, expected)
    assert flags == told


def numbers(rng, how, count=997):
    if how == "any bits":
        return rng.integers(0, 2**64, count, np.uint64).view(F8)
    if how == "integers":
        return rng.integers(0, 2**20, count).astype(F8)
    if how == "at the limits":
        return np.ldexp(rng.uniform(1, 2, count), rng.choice([-256, -255, 256, 257], count))
    return rng.uniform(0.5, 5, count)


@targets
@pytest.mark.parametrize("op", ["sqrt", "div"])
@pytest.mark.parametrize("how", ["usual", "integers", "at the limits", "any bits"])
@np.errstate(all="ignore")
def test_by_products(how, op, target):
    rng, run = np.random.default_rng(7), Runner(each(op), target)
    assert ("14.pd" in run.text) == target.masks
    for turn in range(40):
        args = [numbers(rng, how) for _ in range(2 if op == "div" else 1)]
        if turn % 2:
            for x in args:
                x[rng.integers(0, 997, 16)] = SPECIAL
        roots_as_numpy(run, op, *args)


@pytest.mark.parametrize("count", [1001, 600_000], ids=["near", "past the cache"])
@np.errstate(all="ignore")
def test_the_divider_does_every_other_register(count):
    def both(a, b):
        return np.sqrt(a * a + b * b), np.sqrt(a), a / b

    rng = np.random.default_rng(3)
    a, b = (numbers(rng, "usual", count) for _ in range(2))
    for x in (a, b):
        x[rng.integers(0, count, 500)] = rng.choice(SPECIAL, 500)
    for k in range(3):
        got = npcompile.jit(fullgraph=True)(lambda a, b, k=k: both(a, b)[k])(a, b)
        assert oracle.elements(got, both(a, b)[k])


def square_roots(c, bits):
    """Odd numbers whose square is ``c`` modulo a power of two."""
    s = 1
    for bit in range(3, bits):
        if (s * s - c) % 2 ** (bit + 1):
            s += 2 ** (bit - 1)
    return {(sign * s + half) % 2**bits for sign in (1, -1) for half in (0, 2 ** (bits - 1))}


@targets
def test_roots_close_to_the_middle(target):
    """Square roots as near as can be to the middle of two numbers: half of an odd number."""
    near = [
        np.ldexp(float((s * s - c) >> bits), (bits % 2))
        for bits in (53, 54, 55) for c in range(-255, 256, 8)
        for s in square_roots(c, bits) if 2**53 <= s < 2**54 and (s * s - c) >> bits < 2**53
    ]
    assert len(near) > 100
    roots_as_numpy(Runner(each("sqrt"), target), "sqrt", np.resize(near, 2000))


@targets
def test_quotients_close_to_the_middle(target):
    run = Runner(each("div"), target)
    for divisor in range(2**52 + 1, 2**53, 2**47 + 12345678):
        odd = divisor | 1
        inverse = pow(2, -54, odd)  # of 2**54: x * 2**54 is 1, 2, ... beyond a multiple of it
        near = [(k * inverse) % odd for k in (*range(1, 40), *range(-39, 0))]
        x = np.array([v for v in near if v >= 2**30], float)
        roots_as_numpy(run, "div", x, np.full_like(x, float(odd)))
