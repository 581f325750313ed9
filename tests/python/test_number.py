"""Python's numbers: bits, decimals, functions of ints, extremes of numbers of several types."""

from __future__ import annotations

import math

import numpy as np

from tests.support.oracle import alike

INTS = np.array([0, 1, -1, 2, 7, -8, 255, 2**31, 2**62, -(2**63) + 1, 2**63 - 1, 12345678901])
TIES = np.array([0.5, 1.5, 2.5, -0.5, 0.125, 2.675, 1.005, 1e-320, -0.04, 0.0, -0.0, 1e15, 0.05])


def test_bits():
    def f(a):
        found = []
        for x in a:
            n = int(x)
            found.append((n.bit_length(), n.bit_count(), bool(n).bit_length()))
        return found

    alike(f, (INTS,))


def test_bits_of_the_smallest_int():
    def f(a):
        n = int(a[0])
        return n.bit_length(), n.bit_count()

    alike(f, (INTS,), (np.array([-(2**63)]),))


def test_whole_floats():
    def f(a):
        count = 0
        for x in a:
            count += x.is_integer() + 2 * float(x).is_integer()
        return count

    alike(f, (np.array([1.0, 0.5, np.inf, np.nan, -3.0, 1e300]),))


def test_rounding_to_decimals():
    def f(a, b):
        found = []
        for x in a:
            y = float(x)
            found.append((round(y, 0), round(y, 1), round(y, 2), round(y, 3), round(y, 7)))
        return found

    draws = np.random.default_rng(0).normal(size=300)
    near = np.round(draws * 1000) / 2000  # ties of decimals, as near as floats come
    for values in (TIES[:-2], draws, near, np.round(draws, 3), np.array([np.inf]),
                   np.array([1e300]), np.array([2.0**51])):
        alike(f, (values, 0))


def test_functions_of_ints():
    def f(a, b):
        found = []
        for x, y in zip(a, b):
            m, n = int(x), int(y)
            found.append((math.gcd(m, n), math.gcd(x, 12), math.isqrt(abs(m)), math.isqrt(y),
                          math.factorial(abs(m) % 12), pow(m, abs(n) % 9, 97), pow(m, n % 5, -7)))
        return found

    draws = np.random.default_rng(0).integers(0, 2**40, (2, 40))
    alike(f, tuple(draws), tuple(-draws * [[1], [-1]]), (np.array([0]), np.array([0])))
    alike(f, (np.array([2**62, -3]), np.array([2**62 - 1, 2**53 - 1])))
    alike(f, (np.array([4]), np.array([-3])))


def test_powers_of_ints():
    def f(a, k):
        found = []
        for x in a:
            n = int(x)
            found.append((2 ** (n % 60), n**k, 3 ** abs(n % 7), (-1) ** n))
        return found

    alike(f, (np.arange(9), 3), (np.arange(9), 0), (np.arange(9), 30))

    def g(a):
        return 2 ** int(a[0])

    alike(g, (np.array([3]),), (np.array([62]),), (np.array([63]),), (np.array([-2]),))


def test_close():
    def f(a, b):
        found = []
        for x, y in zip(a, b):
            found.append((math.isclose(x, y), math.isclose(x, y, rel_tol=0.1),
                          math.isclose(x, y, abs_tol=0.5)))
        return found

    a = np.array([1.0, 1.0, 0.0, np.inf, np.nan, 1.0])
    alike(f, (a, np.array([1.0 + 1e-10, 1.01, 1e-12, np.inf, np.nan, 2.0])))


def test_products():
    def f(a):
        return math.prod(a), math.prod([a[0], 2.0]), math.prod(a[:2], start=3)

    alike(f, (TIES[:4],))


def test_extremes_of_several_types():
    def f(a, n):
        found = 0.0
        for x in a:
            found = max(0, x, n) + min(x, 0.5, 1)
        return found, max(n, 0.5), min(n, a[0])

    alike(f, (TIES, 2), (TIES, 0), captured=False)
