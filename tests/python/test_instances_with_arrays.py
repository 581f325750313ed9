"""Objects that keep arrays for later: layers, simulations, filters."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.fuzz import layers
from tests.fuzz.framework import checked
from tests.support import oracle


class Dense:
    def __init__(self, n: int, m: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.w, self.b = rng.normal(size=(n, m)), np.zeros(m)

    def forward(self, x: Any) -> Any:
        self.x = x
        self.z = x @ self.w + self.b
        return self.z

    def backward(self, g: Any) -> Any:
        self.dw, self.db = self.x.T @ g, g.sum(axis=0)
        return g @ self.w.T

    def step(self, rate: float) -> None:
        self.w -= rate * self.dw
        self.b -= rate * self.db


class Relu:
    def forward(self, x: Any) -> Any:
        self.mask = x > 0
        return x * self.mask

    def backward(self, g: Any) -> Any:
        return g * self.mask

    def step(self, rate: float) -> None:
        pass


class Keeps(Relu):
    def forward(self, x: Any) -> Any:
        self.out = np.maximum(x, 0.0)
        return self.out

    def backward(self, g: Any) -> Any:
        return g * (self.out > 0)


class Net:
    def __init__(self, middle: type) -> None:
        self.layers = [Dense(3, 4, 0), middle(), Dense(4, 2, 1)]
        self.losses: list[float] = []

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def fit(self, x: Any, y: Any, turns: int, rate: float) -> Any:
        for _ in range(turns):
            found = self.forward(x)
            error = found - y
            self.losses.append(float((error**2).mean()))
            g = 2 * error / error.size
            for layer in reversed(self.layers):
                g = layer.backward(g)
            for layer in self.layers:
                layer.step(rate)
        return self.losses


def trained(net: Any, x: Any, y: Any, turns: int) -> Any:
    return net.fit(x, y, turns, 0.25)


def last_output(net: Any, x: Any, y: Any, turns: int) -> Any:
    p = None
    for _ in range(turns):
        p = net.forward(x)
    return p


class Heat:
    def __init__(self) -> None:
        self.grid = np.random.default_rng(2).random((6, 6))
        self.next, self.steps = self.grid.copy(), 0

    def step(self) -> None:
        g = self.grid
        self.next[1:-1, 1:-1] = 0.25 * (g[:-2, 1:-1] + g[2:, 1:-1] + g[1:-1, :-2] + g[1:-1, 2:])
        self.grid, self.next = self.next, self.grid
        self.steps += 1


def heat(s: Any, turns: int) -> Any:
    for _ in range(turns):
        s.step()
    return s.grid


def stops(s: Any, turns: int) -> Any:
    """A check fails in the middle of turns that swap."""
    for k in range(turns):
        s.grid[0, 0] = 1 // (5 - k)
        s.step()
    return s.next


class Mean:
    def __init__(self) -> None:
        self.value: Any = None

    def __call__(self, x: Any) -> Any:
        self.value = x if self.value is None else 0.5 * self.value + 0.5 * x
        return self.value


def means(s: Any, xs: Any) -> Any:
    found = None
    for k in range(len(xs)):
        found = s(xs[k])
    return found


def best(s: Any, xs: Any) -> Any:
    """A new attribute that only some turns make: Python's."""
    for k in range(len(xs)):
        if xs[k, 0] > 0.5:
            s.best = xs[k] * 2
    return s.best


def as_python(function: Any, make: Any, *others: Any) -> Any:
    """The compiled function, after calls that leave all as Python does."""
    compiled = jit(function)
    for arguments in (*others, *others):
        mine, theirs = ((make(), *copy.deepcopy(arguments)) for _ in range(2))
        for _ in range(2):
            oracle.check(oracle.observe(compiled, *mine), oracle.observe(function, *theirs))
    return compiled


X, Y = np.random.default_rng(3).random((7, 3)), np.random.default_rng(4).random((7, 2))


@pytest.mark.parametrize("function", [trained, last_output])
@pytest.mark.parametrize("middle", [Relu, Keeps])
def test_networks(function: Any, middle: type) -> None:
    compiled = as_python(function, lambda: Net(middle), *[(X, Y, n) for n in (6, 1, 0, 2, 5)])
    explained = compiled.explain(Net(middle), X, Y, 6)
    assert explained.captured, str(explained)


def test_swaps() -> None:
    compiled = as_python(heat, Heat, *[(n,) for n in (6, 0, 1, 7, 2)])
    assert compiled.explain(Heat(), 6).captured and compiled.explain(Heat(), 7).captured
    as_python(stops, Heat, *[(n,) for n in (4, 5, 6, 7)])


def test_one_array_in_two_places() -> None:
    """What is swapped may be one array, or one that somebody else sees."""
    def one() -> Heat:
        s = Heat()
        s.next = s.grid
        return s

    def seen() -> Heat:
        s = Heat()
        s.other = s.grid
        return s

    as_python(heat, one, (4,), (3,))
    as_python(heat, seen, (4,), (3,))


def test_first_a_view() -> None:
    compiled = as_python(means, Mean, (X,), (X[:1],), (X[:0],), (X[:2],))
    assert compiled.explain(Mean(), X).captured


def test_new_on_some_paths() -> None:
    as_python(best, Mean, (X,), (X * 0,))


class Last(Mean):
    def put(self, value: Any) -> Any:
        self.last = value
        for _ in range(3):
            self.doubled = value * 2
        return self.last


def chosen(s: Any, xs: Any) -> Any:
    """What turns keep depends on the data in its type, or in whose it is."""
    other = Last()
    for k in range(len(xs)):
        value = 1 if xs[k, 0] > 0.5 else 2.0
        s.put(value)
        part = s if xs[k, 1] > 0.5 else other
        part.put(xs[k])
        xs[k, 2] += value
    return s.last, s.doubled, vars(other)


def test_what_depends_on_the_data() -> None:
    as_python(chosen, Last, (X,), (X[:1],), (X[:0] + 1,), (1 - X,))


def test_what_is_no_plain_attribute() -> None:
    class Slots:
        __slots__ = ("n", "x")

        def __init__(self) -> None:
            self.x, self.n = np.ones(3), 0

    class Loud(Mean):
        def __setattr__(self, name: str, value: Any) -> None:
            object.__setattr__(self, name, value if name == "value" else value * 2.0)

    class Set(Mean):
        @property
        def x(self) -> Any:
            return self._x

        @x.setter
        def x(self, value: Any) -> None:
            self._x = value + 1.0

    class ReadOnly(Mean):
        @property
        def x(self) -> Any:
            return np.ones(3)

    def f(s: Any, n: int) -> Any:
        for k in range(n):
            s.x = np.ones(3) * k
        return s.x

    compiled = jit(f)
    for kind in (Loud, Set, ReadOnly, Mean, Loud, Set):
        for n in (0, 3):
            oracle.check_made(compiled, f, lambda kind=kind, n=n: (kind(), n))
    one, other = Slots(), Slots()
    assert compiled(one, 4).tolist() == f(other, 4).tolist() == one.x.tolist()


def test_programs() -> None:
    assert checked(layers.GRAMMAR, range(12))["whole"]
