"""What users write around computations: progress bars, files, counts, tables, callbacks.

Some of it is compiled, some is left to Python.  All of it gives Python's results, says what becomes
of it, and what is left to Python is not looked at any more after some calls.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks import idioms
from benchmarks.idioms import IDIOMS, Idiom, derivatives
from npcompile import jit
from npcompile.runtime.versions.forwarding import PATIENCE
from tests.support import oracle

RNG = np.random.default_rng(3)


def seen_by_caller(function: Callable[..., Any], idiom: Idiom, k: int) -> tuple[Any, ...]:
    """The result of a call, its arguments afterwards, and the global that it may assign."""
    idioms.COUNT = k
    args = idiom.make(k)
    result = function(*args)
    seen = [arg.getvalue() if isinstance(arg, io.StringIO) else arg for arg in args]
    return result, seen, idioms.COUNT


@pytest.mark.parametrize("name", IDIOMS)
def test_an_idiom(name: str) -> None:
    idiom = IDIOMS[name]
    compiled = jit(idiom.function)
    for k in range(3 * PATIENCE):
        oracle.check(seen_by_caller(compiled, idiom, k), seen_by_caller(idiom.function, idiom, k))
    told = compiled.explain()
    assert compiled.cache_info().compiled <= 3
    if not idiom.told:
        assert told.captured and not told.left
        return
    assert idiom.told in f"{told} {compiled.explain(*idiom.make(1))}"
    if not told.compiled:  # Python's calls are passed on, and not looked at
        left = compiled._dispatcher.left.forwarder
        assert left is not None and told.in_python == 3 * PATIENCE


# ------------------------------------------------------------------ pandas


class Series:
    """As pandas': operators, iteration, and an array."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def to_numpy(self) -> Any:
        return self.values

    def __mul__(self, other: Any) -> Any:
        return Series(self.values * other)


@pytest.mark.parametrize("column", ["values", "to_numpy"])
def test_columns_as_arrays(column: str) -> None:
    """A column's array is used where the function asks for it."""
    def total(frame: Any) -> Any:
        a = frame["a"].values if column == "values" else frame["a"].to_numpy()
        best = 0.0
        for i in range(len(a)):
            best = max(best, a[i] * i)
        return best

    compiled = jit(total)
    for n in (3, 50, 400):
        frame = {"a": Series(RNG.random(n))}
        assert compiled(frame) == total(frame)
    assert compiled.explain(frame).captured


# ------------------------------------------------------------------ callbacks


def test_an_animation() -> None:
    """Callbacks of matplotlib: the line has the values, and Python takes the calls at last."""
    figure = pytest.importorskip("matplotlib.figure", reason="the extra `test` has matplotlib")
    axes = figure.Figure().subplots()
    x = np.linspace(0, 6, 50)
    (line,) = axes.plot(x, np.sin(x))

    @jit
    def update(frame: int) -> Any:
        line.set_ydata(x * frame + 1)
        return (line,)

    for frame in range(200):
        assert update(frame)[0] is line
        assert np.array_equal(line.get_ydata(), x * frame + 1)
    assert update.cache_info().compiled <= 3
    assert update.cache_info().fallbacks > 100


def test_callbacks_of_scipy() -> None:
    """Solvers give the same steps with a compiled right-hand side of lists, arrays and numbers."""
    from scipy.integrate import odeint, solve_ivp
    from scipy.ndimage import generic_filter

    def decay(t: float, state: Any) -> Any:
        return np.array([-0.5 * state[0], state[0] - 0.1 * state[1]])

    def spread(values: Any) -> Any:
        return values.max() - values.min()

    times, start = np.linspace(0, 1, 20), np.array([1.0, 2.0, 3.0])
    got = odeint(jit(derivatives), start, times)
    assert np.array_equal(got, odeint(derivatives, start, times))
    got, want = (solve_ivp(f, (0, 3), [1.0, 0.0]).y for f in (jit(decay), decay))
    assert np.array_equal(got, want)
    image = RNG.random((9, 8))
    got, want = (generic_filter(image, f, 3) for f in (jit(spread), spread))
    assert np.array_equal(got, want)


def test_callbacks_of_numpy() -> None:
    def steps(n: int) -> int:
        count = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    def trimmed(x: Any) -> Any:
        return np.sort(x)[2:-2].mean()

    numbers, rows = np.arange(1, 60), RNG.random((20, 25))
    got, want = (np.vectorize(f)(numbers) for f in (jit(steps), steps))
    oracle.check(got, want)
    got, want = (np.apply_along_axis(f, 1, rows) for f in (jit(trimmed), trimmed))
    oracle.check(got, want)
