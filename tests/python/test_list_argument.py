"""Lists that a function gets: read at places that only the run knows, never changed."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import npcompile


def cut(n, prices):
    best = [0.0] * (n + 1)
    for i in range(1, n + 1):
        most = -1e9
        for j in range(1, i + 1):
            most = max(most, prices[j - 1] + best[i - j])
        best[i] = most
    return best[n]


def found_at(held, item):
    left, right = 0, len(held) - 1
    while left <= right:
        middle = (left + right) // 2
        if held[middle] == item:
            return middle
        if held[middle] < item:
            left = middle + 1
        else:
            right = middle - 1
    return -1


def looked_up(held, at):
    total = 0
    for i in range(len(at)):
        total += held[at[i]]
    return total, held[-1], held


@pytest.mark.parametrize("function, args", [
    (cut, (8, [1.0, 5.0, 8.0, 9.0, 10.0, 17.0, 17.0, 20.0])),
    (found_at, (list(range(0, 90, 3)), 33)),
    (found_at, (list(range(0, 90, 3)), 34)),
    (looked_up, ([2**40, -1, 7], np.arange(-3, 3))),
    (looked_up, ([np.float64(1.5), np.float64(0.25)], np.array([0, 1, 1, -2]))),
])
def test_lists_from_outside_are_read_where_the_run_says(function, args):
    compiled = npcompile.jit(function, fullgraph=True)
    for _ in range(2):
        got, want = compiled(*args), function(*args)
        assert got == want and type(got) is type(want)
        assert not isinstance(want, tuple) or got[2] is want[2]


def test_lists_from_outside_are_lists_at_each_call():
    def both(a, b, at):
        total = sum([a[k] for k in at]) + a[at[0]]
        operator.setitem(b, 0, 70)
        return total + a[at[0]]

    compiled = npcompile.jit(both)
    at = np.arange(3)
    for shared in (True, False, True):
        a, c = [1, 2, 3], [1, 2, 3]
        args, again = (a, a if shared else [5], at), (c, c if shared else [5], at)
        assert compiled(*args) == both(*again)
        assert args[:2] == again[:2]
    compiled = npcompile.jit(looked_up)
    with pytest.raises(IndexError, match="list index out of range"):
        compiled([1, 2], np.array([0, 1, 2]))


def test_long_lists_from_outside_become_arrays():
    def f(held):
        return np.array(held).sum()

    held = [float(k) for k in range(5000)]
    compiled = npcompile.jit(f)
    for some in (held, held[:300], held[:1], held):
        assert compiled(some) == f(some)
    assert not compiled.cache_info().refused


def test_long_lists_in_lists_are_left_to_python():
    """Items are inputs, one by one: a matrix as lists would have as many as it has numbers."""
    def f(rows):
        return np.asarray(rows).sum()

    compiled = npcompile.jit(f)
    assert compiled([[1.0] * 60] * 20) == 1200
    assert compiled.cache_info().refused


def largest(numbers):
    best = numbers[0]
    for n in numbers:
        if n > best:
            best = n
    return best


def duplicates(numbers):
    seen = set()
    for n in numbers:
        if n in seen:
            return True
        seen.add(n)
    return False


@pytest.mark.parametrize("function", [largest, duplicates, sum])
def test_short_lists_of_other_lengths_and_numbers_are_one_compile(function):
    plain = (lambda numbers: sum(numbers)) if function is sum else function
    f, rng = npcompile.jit(plain), np.random.default_rng(0)
    for count in (8, 8, 8, 5, 6, 7, 9, 30):
        numbers = rng.integers(0, 40, count).tolist()
        assert f(numbers) == plain(numbers)
    assert f.cache_info().compiled == 1


def test_iterations_with_arrays_are_one_kernel():
    def horner(x, coefficients):
        y = np.zeros_like(x)
        for c in coefficients:
            y = y * x + c
        return y

    f, x = npcompile.jit(horner), np.arange(5.0)
    held = [1.0, 2.0, -1.0, 0.5, 3.0, 7.0]
    assert (f(x, held) == horner(x, held)).all()
    assert len(f.explain(x, held).kernels) == 1


class Network:
    def __init__(self, n):
        self.weights = [k * 7 % 50 for k in range(6 * n)]
        self.potentials = [k * 5 % 99 for k in range(n)]
        self.sources = [k * 3 % n for k in range(6 * n)]

    def cost(self, i):
        reduced = self.weights[i] - self.potentials[self.sources[i]]
        return reduced if self.weights[i] % 2 else -reduced


def test_an_argument_as_an_index_is_one_compile():
    network = Network(50)
    compiled = npcompile.jit(Network.cost, cache=False)
    for k in range(20):
        assert compiled(network, 3 * k) == network.cost(3 * k)
        network.potentials[k] += 1
    assert compiled.cache_info().compiled == 1
    for wrong in (300, -301):
        with pytest.raises(IndexError, match="list index out of range"):
            compiled(network, wrong)
