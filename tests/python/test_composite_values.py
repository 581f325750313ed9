"""Values made of others: what a branch or a loop computes inside a partial, a slice, a function."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.graph.builder import Builder
from npcompile.python.bound_methods import Method
from npcompile.python.functions import Function
from npcompile.python.iterators import ItemsIterator
from npcompile.python.partials import Partial
from npcompile.python.slices import Slice
from npcompile.python.super_objects import Super
from npcompile.python.values import Composite, Sequence, Static, TaggedUnion
from tests.support.oracle import alike

X = np.linspace(0.1, 1.0, 5)
WAYS = ((1.0, X), (-1.0, X), (0.3, X))


def plus(a, b, *, scale=1.0):
    return (a + b) * scale


def total(x):
    s = 0.0
    for k in range(len(x)):
        s = s * 0.5 + x[k]
    return s


class Reading:
    def __init__(self, value):
        self.value = value

    def read(self):
        return self.value


class Doubled(Reading):
    def read(self):
        return super().read() * 2


class TestNumbersOfALoopInOneArm:
    def test_partial(self) -> None:
        def f(c, x):
            g = partial(plus, total(x), scale=c) if c > 0.0 else partial(plus, 1.0)
            return g(2.0)

        alike(f, *WAYS)

    def test_partial_that_leaves_a_loop(self) -> None:
        def f(c, x):
            g, s = partial(plus, 1.0), 0.0
            for k in range(len(x)):
                s = s * 0.5 + x[k]
                if s > c:
                    g = partial(plus, s)
                    break
            return g(2.0)

        alike(f, *WAYS)

    def test_default_of_a_function(self) -> None:
        def f(c, x):
            if c > 0.0:
                s = total(x)

                def g(y, z=s, *, w=s):
                    return y + z * w
            else:
                def g(y, z=2.0, *, w=1.0):
                    return y * z + w
            return g(2.0)

        alike(f, *WAYS)

    def test_super(self) -> None:
        def f(c, x):
            o = Doubled(1.0)
            if c > 0.0:
                o = Doubled(total(x))
            return super(Doubled, o).read() + o.read()

        alike(f, *WAYS, captured=False)  # Python 3.12 has an instruction for it

    def test_slice(self) -> None:
        def f(c, x):
            count = 0
            if c > 0.0:
                for k in range(len(x)):
                    if x[k] > 0.4:
                        count = count + 1
                key = slice(count)
            else:
                key = slice(2)
            return x[key].sum()

        alike(f, *WAYS)

    def test_slice_that_a_loop_carries(self) -> None:
        def f(x):
            key, s = slice(0, 1), 0.0
            for k in range(len(x) - 2):
                s = s + x[key].sum()
                key = slice(k, k + 2)
            return s, x[key]

        alike(f, (X,))


class TestEqualObjects:
    """Objects that are equal on two paths are one on one path and two on the other."""

    @pytest.mark.parametrize("kind", ["method", "tuple", "slice"])
    def test_in_a_branch(self, kind: str) -> None:
        def f(c, x):
            o = Reading(c)
            if c > 0.0:
                a = o.read if kind == "method" else (x, 1) if kind == "tuple" else slice(1, len(x))
                b = a
            elif kind == "method":
                a, b = o.read, o.read
            elif kind == "tuple":
                a, b = (x, 1), (x, 1)
            else:
                a, b = slice(1, len(x)), slice(1, len(x))
            return x + 1.0, a is b

        alike(f, *WAYS, captured=False)

    @pytest.mark.parametrize("kind", ["method", "tuple"])
    def test_in_a_loop(self, kind: str) -> None:
        def f(x):
            o = Reading(1.0)
            a = o.read if kind == "method" else (x, 1)
            b, s = a, 0.0
            for k in range(len(x)):
                s = s * 0.5 + x[k]
                b = a
                a = o.read if kind == "method" else (x, 1)
            return s, a is b

        alike(f, (X,), (X[:0],), captured=False)


def _values() -> list[Composite]:
    one, two, three = Static(1), Static(2), Static(3)
    code, node = plus.__code__, Builder().const(1)
    return [
        Sequence((one, two)), Slice(one, two, three), Method(one, two), Super(one, two),
        Partial(one, (two,), {"scale": three}), ItemsIterator((one, two)),
        TaggedUnion(node, (0, 1), (one, two)),
        Function(code, {}, None, "f", (one,), {"scale": two}, (three,), (one, two)),
    ]


@pytest.mark.parametrize("value", _values(), ids=lambda value: type(value).__name__)
def test_rebuilt_of_its_parts(value: Any) -> None:
    parts = value.parts()
    new = [Static(k) for k in range(len(parts))]
    made = value.rebuilt(new)
    assert type(made) is type(value)
    assert list(made.parts()) == new
    assert value.mapped(lambda part: part) is value
    fields = type(value).__match_args__
    again = made.rebuilt(parts)
    assert [getattr(again, name) for name in fields] == [getattr(value, name) for name in fields]


def test_compiled_whole() -> None:
    calls: list[Callable[..., Any]] = []
    for make in (lambda s: partial(plus, s), lambda s: lambda y, z=s: y + z):
        def f(c, x, make=make):
            s = 0.0
            if c > 0.0:
                for k in range(len(x)):
                    s = s * 0.5 + x[k]
                g = make(s)
            else:
                g = make(1.0)
            return g(2.0)

        calls.append(jit(f, fullgraph=True))
    for call in calls:
        assert call(1.0, X) == pytest.approx(total(X) + 2.0)
        assert call.cache_info().compiled == 1
