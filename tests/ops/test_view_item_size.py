"""``array.view(dtype)`` of another item size."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support import oracle


def _as_plain(f: Any, *args: Any, captured: bool | None = None) -> None:
    compiled = jit(f)
    oracle.check_calls(compiled, f, *args)
    if captured is not None:
        assert bool(compiled.cache_info().compiled) == captured, str(compiled.explain(*args))


def _shifted(want: Any) -> Any:
    def f(a):
        return a.view(want)[...] + want.type(1)

    return f


@pytest.mark.parametrize("have", "?bBHilfdFD")
def test_values(have: str) -> None:
    random = np.random.default_rng(1)
    for want, shape in itertools.product("bHIlefdFD", [(8,), (3, 16), (0,), (2, 1, 8), (7,)]):
        a = (random.standard_normal(shape) * 1000).astype(have)

        with np.errstate(all="ignore"):
            _as_plain(_shifted(np.dtype(want)), a)


def test_layouts() -> None:
    def f(a):
        return a.view(np.uint8).sum(), a.view(np.uint8).shape

    _as_plain(lambda a: f(a)[0], np.arange(12.0).reshape(3, 4), captured=True)
    _as_plain(lambda a: f(a)[0], np.arange(12.0).reshape(3, 4)[:, :2])
    _as_plain(lambda a: f(a)[0], np.arange(12.0).reshape(3, 4).T)
    _as_plain(lambda a: f(a)[0], np.array(2.0))


def test_writes_are_seen() -> None:
    def before(a):
        a[0] = 7
        return a.view(np.uint8).sum()

    def after(a):
        b = a.view(np.uint8)
        a[0] = 7
        return b.sum()

    def through(a):
        b = a.view(np.uint32)
        b[0] = 7
        return a.sum()

    def turns(a):
        total = 0
        for i in range(3):
            b = a.view(np.uint8)
            total += b.sum()
            a[i] = 5
        return total

    def carried(a):
        b, total = a.view(np.uint8), 0
        for i in range(3):
            total += b.sum()
            a[i] = 5
        return total

    x = np.arange(8.0)
    _as_plain(before, x, captured=True)
    for f in (after, through, turns, carried):
        _as_plain(f, x)


def test_what_python_gets_is_a_view() -> None:
    compiled = jit(lambda a: a.view(np.uint8)[2:])
    x = np.zeros(3)
    assert np.shares_memory(compiled(x), x)

    def kept(a, flag):
        b = a.view(np.uint8)
        while flag:
            b = b[1:]
            flag = False
        return b

    assert np.shares_memory(jit(kept)(x, True), x)
