"""Refusals speak of the kinds of values that a program has, not of the compiler's."""

import numpy as np
import pytest

import npcompile
from npcompile import jit

X = np.arange(3.0)


class Point:
    x = 1.0


@pytest.mark.parametrize(("function", "args", "text"), [
    (lambda p, x: p[0] + x, (Point(), X), "subscript: of a Point is left to Python"),
    (lambda p, x: [y + x for y in p], (Point(), X), "iteration: over a Point is left to Python"),
    (lambda x: x.sum().unknown, (X,), "unknown"),
    (lambda x: (y := (x, 1)) and y(2), (X,), "call: of a tuple"),
    (lambda x: {**x}, (X,), "**: of an array is left to Python"),
])
def test_kinds_are_python_s(function, args, text):
    refusal = jit(function).explain(*args).refusal
    assert text in str(refusal)
    for word in ("static", "node", "arrayref", "sequence", "box"):
        assert f" {word} " not in f"{refusal} "


@npcompile.vectorize
def shrunk(x, by):
    return 0.0 if abs(x) < by else x - by


def test_what_to_do_is_said():
    def of_a_ufunc(x):
        return shrunk(x * 2, 0.5, out=np.empty(3)).sum()

    def of_a_list(x, places):
        return np.diff(x[places])

    def of_a_tuple(x):
        return hash(tuple(x))

    for function, args, text in (
        (of_a_ufunc, (X,), "on numbers call the plain function: `__wrapped__`"),
        (of_a_list, (np.arange(1000.0), [*range(1, 900, 2)]), "np.array(...)"),
        (of_a_tuple, (X,), "write its items out"),
    ):
        explained = jit(function).explain(*args)
        assert text in f"{explained.refusal} {explained.graph_breaks}", function.__name__


def test_the_plain_function_of_a_ufunc_is_compiled():
    @jit(fullgraph=True)
    def total(x, by):
        found = 0.0
        for v in x:
            found += shrunk.__wrapped__(v, by)
        return found

    x = np.linspace(-2, 2, 101)
    assert total(x, 0.5) == total.__wrapped__(x, 0.5) == pytest.approx(shrunk(x, 0.5).sum())


class Bar:
    """As tqdm's: it iterates, and has a finalizer."""

    __module__ = "tqdm.std"

    def __init__(self, items):
        self.items = items

    def __iter__(self):
        yield from self.items

    def __del__(self):
        self.items = None


def test_bodies_of_loops_with_a_progress_bar():
    @jit
    def step(x, k):
        return (x * k).sum()

    @jit
    def run(x, n):
        total = 0.0
        for k in Bar(range(n)):
            total += step(x, k)
        return total

    assert run(X, 5) == 30.0 and step.cache_info().compiled == 1
    assert "put the loop's body into a compiled function" in str(run.explain(X, 5))
