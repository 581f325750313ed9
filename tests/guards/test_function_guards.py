"""Functions from outside that share their code with others are told apart where it matters."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import pytest
import scipy.signal
import scipy.special as sp

import npcompile
from npcompile import jit
from npcompile.runtime.versions.dispatch import Dispatcher

X = np.linspace(0.5, 3.0, 5)


def scaled(k: float) -> Callable[[Any], Any]:
    def inner(x: Any) -> Any:
        return x * k

    return inner


FIRST, SECOND = scaled(2.0), scaled(3.0)
TABLE = {FIRST: 1.0, SECOND: 2.0}


@pytest.mark.parametrize("cached", [True, False])
def test_library_functions_made_by_one_decorator(cached: bool) -> None:
    """SciPy's spherical functions are closures of the same code."""
    functions = [sp.spherical_jn, sp.spherical_yn, sp.spherical_in, sp.spherical_kn]
    assert len({f.__code__ for f in functions}) == 1

    def of(function: Any) -> Any:
        return jit(lambda x: function(2, x), fullgraph=True, cache=cached)

    def given(x: Any, function: Any) -> Any:
        return function(2, x)

    compiled = jit(given, fullgraph=True, cache=cached)
    for _ in range(2):
        for function in functions:
            np.testing.assert_allclose(of(function)(X), function(2, X), rtol=1e-13)
            np.testing.assert_allclose(compiled(X, function), function(2, X), rtol=1e-13)


@pytest.mark.parametrize("function", [
    lambda x, f: x + 1 if f is FIRST else x - 1,
    lambda x, f: x + 1 if f == FIRST else x - 1,
    lambda x, f: x + 1 if f in (FIRST,) else x - 1,
    lambda x, f: x + 1 if f in TABLE else x - 1,
    lambda x, f: x * TABLE[f],
    lambda x, f: x * {FIRST: 4.0}.get(f, 0.5),
    lambda x, f: x * [SECOND, FIRST].index(f),
    lambda x, f: (x, str(f)),
    lambda x, f: (x, f"{f}"),
    lambda x, f: (x, hash(f), id(f)),
    lambda x, f: (f, f(x)),
])
def test_identity_counts(function: Callable[..., Any]) -> None:
    compiled = jit(function)
    for _ in range(2):
        for given in (FIRST, SECOND):
            got, want = compiled(X, given), function(X, given)
            assert repr(got) == repr(want)


def test_what_is_only_called_is_compiled_once() -> None:
    compiled = jit(lambda x, f: f(x) + 1, fullgraph=True)
    for k in range(5):
        assert (compiled(X, scaled(float(k))) == X * k + 1).all()
    assert compiled.cache_info().compiled == 1


def doubling(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def wrapper(*args: Any) -> Any:
        return 2 * function(*args)

    return wrapper


def test_functions_of_one_decorator_of_the_user() -> None:
    functions = [doubling(np.sin), doubling(np.cos), doubling(lambda x: x), doubling(abs)]
    compiled = npcompile.jit(lambda x, f: f(x), fullgraph=True)
    for _ in range(2):
        for f in functions:
            np.testing.assert_allclose(compiled(X, f), f(X), rtol=1e-14)


@pytest.mark.parametrize("of", [np.sin, np.median, math.sqrt, np.linalg.norm, scipy.signal.detrend])
def test_decorators_of_the_user_around_library_functions(of: Callable[..., Any]) -> None:
    """What a wrapper does is neither forgotten nor tried out."""
    calls = []

    def counting(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def wrapper(*args: Any) -> Any:
            calls.append(len(args))
            return function(*args)

        return wrapper

    made = counting(of)
    one, two = jit(lambda x: made(x) + 1), jit(lambda x: x + made(4.0 * np.ones(3)[0]))
    x = 4.0 if of is math.sqrt else X
    for k in range(3):
        np.testing.assert_allclose(one(x), of(x) + 1, rtol=1e-14)
        assert calls == [1] * (k + 1)
    if of in (np.sin, math.sqrt):
        for k in range(3):
            np.testing.assert_allclose(two(X), X + of(4.0), rtol=1e-14)
            assert calls == [1] * (k + 4)


def test_a_version_behind_one_that_watches_what_has_changed(monkeypatch):
    space = {"np": np}
    exec("def f(u, out):\n    np.add(u, 1.0, out=out)\n", space)
    compiled = jit(space["f"])
    wide, narrow = np.ones(9), np.ones(9, np.float32)
    for u in (wide, wide, narrow, narrow):  # the second version is looked at first
        compiled(u, np.empty_like(u))
    space["another"] = 1
    compiled(wide, out := np.empty(9))
    slow = []
    call = Dispatcher.call
    monkeypatch.setattr(Dispatcher, "call", lambda *args: slow.append(1) or call(*args))
    compiled(wide, out)
    assert not slow
    compiled(narrow, shorter := np.empty_like(narrow))
    compiled(wide, out)
    compiled(narrow, shorter)
    assert len(slow) == 1
    assert (out == 2).all() and (shorter == 2).all()


class Held:
    def __init__(self, values):
        self.values = values


def test_attributes_that_overlap_make_one_version():
    def move(to, source, where):
        to.values[where] = source.values[where] + 1
        return to

    compiled = jit(move)
    one = Held(np.arange(6.0))
    where = np.arange(6) % 2 == 0
    for _ in range(4):
        assert compiled(one, one, where) is one
    assert np.array_equal(one.values, [4, 1, 6, 3, 8, 5])
    assert compiled.cache_info().compiled == 1
    locked = Held(np.arange(6.0))
    locked.values.flags.writeable = False
    for _ in range(3):
        with pytest.raises(ValueError, match="read-only"):
            compiled(locked, one, where)
    assert compiled.cache_info().compiled == 1
    compiled(Held(np.zeros(6)), one, where)
    assert compiled.cache_info().compiled == 1


@pytest.mark.parametrize("text", ["str(f)", "repr(f)", "f'{f}'", "'{}'.format(f)", "f'{f!r:>9}'"])
def test_addresses_are_of_one_process(text: str) -> None:
    """The text of a function is not kept on disk for processes that have it elsewhere."""
    compiled = jit(eval(f"lambda x, f: (x * 2, {text})"))
    got, want = compiled(X, FIRST), compiled.__wrapped__(X, FIRST)
    assert repr(got) == repr(want)
    assert compiled._dispatcher.policy.refused  # else the text would be a constant
