"""Of zeros of unlike sign, extremes are the machine's: the second, or -0 as less than +0."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from npcompile import jit, passes
from npcompile.backends.target import families, family, here

NUMBERS = [0.0, -0.0, 1.0, -1.0, np.nan]
#: in which every machine's compiled functions give NumPy's zeros
FUNCTIONS: tuple[Callable[..., Any], ...] = (
    lambda x, y: np.maximum(x, y), lambda x, y: np.minimum(x, y),
    lambda x, y: np.maximum(x, 0), lambda x, y: np.minimum(-0.0, y),
    lambda x, y: np.clip(x, y, None), lambda x, y: x.clip(max=y), lambda x, y: np.clip(x, 0.0, 1.0),
    lambda x, y: np.clip(x, y, np.ones_like(x)), lambda x, y: np.maximum.outer(x, y),
    lambda x, y: [np.maximum(a, b) for a, b in zip(x, y)],
)
#: in which they do where NumPy's loops order zeros
ORDERED: tuple[Callable[..., Any], ...] = (
    lambda x, y: np.fmax(x, y), lambda x, y: np.fmin(x, y), lambda x, y: np.max(x * y),
    lambda x, y: np.fmin.reduce(x), lambda x, y: np.maximum.accumulate(y),
    lambda x, y: np.minimum.accumulate(x[::-1]),
)


@pytest.mark.parametrize("char", "efd")
def test_zeros_are_numpys(char: str) -> None:
    x, y = np.array(list(product(NUMBERS, NUMBERS)), char).T
    ordered = here().orders_zeros and char != "e"
    for function in (*FUNCTIONS, *(ORDERED if ordered else ())):
        for step in (1, -1):
            got, want = (np.asarray(f(x[::step], y.copy())) for f in (jit(function), function))
            assert got.dtype == want.dtype and np.array_equal(got, want, equal_nan=True)
            number = ~np.isnan(want)
            assert np.array_equal(np.signbit(got[number]), np.signbit(want[number])), function


def test_zeros_in_mode_portable_are_the_second() -> None:
    x, y = np.array([0.0, -0.0]), np.array([-0.0, 0.0])
    for function in (np.maximum, np.minimum):
        made: Callable[..., Any] = jit(lambda x, y, f=function: f(x, y), deterministic="portable")
        assert np.signbit(made(x, y)).tolist() == [True, False]


@pytest.mark.parametrize("name", families())
def test_the_family_tells_which(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(passes, "here", lambda: family(name))
    for mode, char in product((False, True, "portable"), "dfe"):
        x, y = np.array([0.0, -0.0], char), np.array([-0.0, 0.0], char)
        function = eval("lambda x, y: np.maximum(x, y)", {"np": np})  # functions share versions
        made = jit(function, deterministic=mode, cache=False)
        ordered = name == "aarch64" and mode != "portable" and char != "e"
        want = [False, False] if ordered else [char != "e", char == "e"]
        assert np.signbit(made(x, y)).tolist() == want
