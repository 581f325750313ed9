"""Objects live as long as in Python: what a call was given, and what it made or dropped."""

from __future__ import annotations

import gc
import types
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.optimize

from npcompile import jit
from tests.fuzz import lifetimes
from tests.fuzz.framework import checked
from tests.support import oracle

LOG: list[Any] = []
PARTS = 4


class Mortal:
    def __init__(self, a: Any) -> None:
        self.a = a

    def __del__(self) -> None:
        LOG.append(("del", self.a))


class Holder:
    c: Any


def _helper(k: float) -> float:
    c = Mortal(k)
    return float(c.a)


def _numbers(k: float) -> Iterator[float]:
    try:
        yield k
        yield k + 1
    finally:
        LOG.append("closed")


def made(y: Any, k: Any) -> Any:
    c = Mortal(k)
    return y * c.a


def many(y: Any, k: Any) -> Any:
    return [Mortal(k + i).a * y for i in range(3)][-1]


def in_helper(y: Any, k: Any) -> Any:
    r = _helper(k) * y
    LOG.append("after")
    return r


def rebound(y: Any, k: Any) -> Any:
    c = Mortal(k)
    c = Mortal(k + 1)
    LOG.append("after")
    return y * c.a


def left_early(y: Any, k: Any) -> Any:
    for v in _numbers(k):
        y = y + v
        break
    LOG.append("after")
    return y


def replaced(y: Any, k: Any, h: Holder) -> Any:
    h.c = h.c.a * 2
    LOG.append("after")
    return y * h.c


def kept(y: Any, k: Any, h: Holder) -> Any:
    c = h.c
    h.c = 5.0
    LOG.append("kept")
    r = c.a * y
    c = None
    LOG.append("dropped")
    return r


def out_of_a_list(y: Any, k: Any, h: Holder, xs: list[Any]) -> Any:
    d = {"a": xs[0]}
    xs[0] = 0
    LOG.append("stored")
    d["a"] = 3
    LOG.append("dropped")
    return y


def out_of_a_slice(y: Any, k: Any, h: Holder, xs: list[Any]) -> Any:
    xs += [1.0]
    xs[:1] = []
    LOG.append("after")
    return y


FINALIZED = (made, many, in_helper, rebound, left_early, replaced, kept, out_of_a_list,
             out_of_a_slice)


def _log(function: Any, *given: str) -> list[Any]:
    LOG.clear()
    for k in range(3):
        h, xs = Holder(), [Mortal(200.0 + k), Mortal(300.0 + k)]
        h.c = Mortal(100.0 + k)
        args = (2.0, float(k), h, xs)[: function.__code__.co_argcount]
        LOG.append(("returns", function(*args)))
        del h, xs, args
    told = list(LOG)
    LOG.clear()
    return told


@pytest.mark.parametrize("function", FINALIZED, ids=lambda f: str(f.__name__))
def test_finalizers_run_when_pythons_do(function: Any) -> None:
    oracle.check(_log(jit(function, cache=False)), _log(function))


def summed(a: Any) -> Any:
    return (a * 2).sum()


def unknown(a: Any) -> Any:
    return eval("1")


def paused(a: Any) -> Any:
    s = 0.0
    for i in range(5):
        s += a[i]
        eval("1")
    return s


def refused(a: Any) -> Any:
    return sorted(a, key=lambda v: eval("-v"))[0]


def raising(a: Any) -> Any:
    raise ValueError("no")


def fitted(a: Any) -> Any:
    return scipy.optimize.nnls(np.eye(len(a)), a)[0] * 2


def guarded(a: Any) -> Any:
    try:
        return a.sum()
    finally:
        eval("2")


@pytest.mark.parametrize(
    "function", [summed, unknown, paused, refused, raising, fitted, guarded],
    ids=lambda f: str(f.__name__))
def test_arguments_of_the_first_call_die_with_it(function: Any) -> None:
    compiled, alive = jit(function, cache=False), []
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        for _ in range(3):
            a = np.arange(6.0)
            found = weakref.ref(a)
            if function is raising:
                with pytest.raises(ValueError, match="no"):
                    compiled(a)
            else:
                compiled(a)
            del a
            alive.append(found() is not None)
    finally:
        gc.set_threshold(*before)
    assert alive == [False] * 3


def _template(a: Any) -> Any:
    return a + 1 + len("abc")


def test_a_name_is_a_function_in_one_module_and_a_builtin_in_the_next() -> None:
    x = np.arange(3.0)
    names = [{"len": lambda s: 10}, {"len": lambda s: 20}, {}, {"len": abs}]
    for space in names * 2:
        module = {"__builtins__": __builtins__, **space}
        made = types.FunctionType(_template.__code__, module, "made")
        try:
            want = made(x).tolist()
        except TypeError as error:
            with pytest.raises(TypeError, match=str(error)[:20]):
                jit(made)(x)
        else:
            assert jit(made)(x).tolist() == want


@pytest.fixture
def frozen() -> Iterator[None]:
    """Collections look only at what the test makes."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("part", range(PARTS))
def test_random_lifetimes(part: int, frozen: None) -> None:
    checked(lifetimes.GRAMMAR, range(part, 60, PARTS))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_more_lifetimes(part: int) -> None:
    checked(lifetimes.GRAMMAR, range(1000 + part, 3000, PARTS))


DROPPED = np.zeros(1)


class Counted(Mortal):
    def __del__(self) -> None:
        DROPPED[0] += 1


def over_an_attribute(y: Any, h: Any) -> Any:
    h.c = 3.0
    return y + DROPPED[0]


def over_an_item(y: Any, xs: Any) -> Any:
    xs[0] = 3.0
    return y + DROPPED[0]


def over_a_key(y: Any, d: Any) -> Any:
    d["c"] = y
    return y + DROPPED[0]


def _holding(function: Any, kind: Any) -> Any:
    held = kind() if kind is Holder else kind(1.0)
    if function is over_an_attribute:
        h = Holder()
        h.c = held
        return h
    return [held, 1.0] if function is over_an_item else {"c": held}


@pytest.mark.parametrize("kinds", [(Counted, Counted), (float, Counted, float), (Holder, Counted)])
@pytest.mark.parametrize("function", [over_an_attribute, over_an_item, over_a_key])
def test_what_a_store_drops_dies_before_the_next_statement(function: Any, kinds: Any) -> None:
    def told(call: Any) -> list[Any]:
        DROPPED[0] = 0
        return [call(np.ones(2), _holding(function, kind)).tolist() for kind in kinds * 2]

    assert told(jit(function, cache=False)) == told(function)


def popped_behind_a_name(y: Any, k: Any, xs: list[Any]) -> Any:
    for _ in range(3):
        y = y * 2
    c = xs[-1]  # noqa: F841 -- keeps it alive
    for _ in range(int(k)):
        LOG.append("here")  # noqa: PERF401 -- a loop of statements that Python executes
    xs.pop()
    LOG.append("popped")
    return y


def test_variables_that_nobody_reads_keep_what_they_hold() -> None:
    def told(call: Any) -> list[Any]:
        LOG.clear()
        for k in (1.0, 2.0):
            xs = [Mortal(k), Mortal(-k)]
            call(np.ones(2), k, xs)
            LOG.append("returned")
        xs = []
        return list(LOG)

    assert told(jit(popped_behind_a_name, cache=False)) == told(popped_behind_a_name)
