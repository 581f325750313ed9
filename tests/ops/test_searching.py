"""Searches in sorted tables, lines between points and histograms have NumPy's bits."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npcompile import jit
from tests.support import oracle

FUNCTIONS = {
    "left": lambda a, v: np.searchsorted(a, v),
    "right": lambda a, v: a.searchsorted(v, side="right"),
    "digitize": lambda a, v: np.digitize(v, a),
    "closed": lambda a, v: np.digitize(v * 2, a, right=True),
    "interp": lambda a, v: np.interp(v, a, a * a - 1),
    "ends": lambda a, v: np.interp(v, a, np.arange(len(a)), left=-1, right=np.nan),
}
COMPILED = {name: jit(function) for name, function in FUNCTIONS.items()}


@settings(max_examples=150)
@given(st.data())
def test_in_tables(data: Any) -> None:
    name = data.draw(st.sampled_from(sorted(FUNCTIONS)))
    n, shape = data.draw(st.sampled_from([1, 3, 20])), data.draw(st.sampled_from([(9,), (4, 5)]))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    dtypes = st.sampled_from(["d", "d", "f", "l", "i", "B"])
    table = np.sort(rng.integers(0, 12, n).astype(data.draw(dtypes)))
    keys = rng.integers(0, 13, shape).astype(data.draw(dtypes))
    if keys.dtype.kind == "f":
        keys += data.draw(st.sampled_from([0.0, 0.5]))
        keys.flat[:3] = np.nan, np.inf, -np.inf
    for a, v in ((table, keys), (np.repeat(table, 2)[::2], keys.T), (table, keys[::-1])):
        assert oracle.same(COMPILED[name](a, v), FUNCTIONS[name](a, v))


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_other_tables_are_numpys(name: str) -> None:
    keys = np.linspace(-1, 9, 40)
    for table in ([0.0, np.inf], [-np.inf, 1.0, np.inf], [1.0, 1.0, 1.0], [2.0, np.nan],
                  [3.0, 1.0, 2.0], [5.0, 4.0, 1.0]):
        try:
            want = FUNCTIONS[name](np.array(table), keys)
        except ValueError as error:
            with pytest.raises(ValueError, match=re.escape(str(error))):
                COMPILED[name](np.array(table), keys)
            continue
        got = COMPILED[name](np.array(table), keys)
        assert np.array_equal(got, want, equal_nan=got.dtype.kind == "f")


def test_is_compiled() -> None:
    def f(a: Any, v: Any) -> Any:
        return np.interp(v, a, a), np.histogram(v, 5, (0, 2))[0], np.searchsorted(a, v)

    program = jit(f, fullgraph=True).lower(np.arange(5.0), np.ones(30)).program
    assert "call" not in program


BINS = {
    "whole": lambda a: np.histogram(a),
    "seven": lambda a: np.histogram(a, bins=7),
    "bytes": lambda a: np.histogram(a, 256, (0, 256)),
    "range": lambda a: np.histogram(a, 33, range=(-1.5, 2.25)),
    "wrong": lambda a: np.histogram(a, 3, range=(2, 1)),
}
COUNTED = {name: jit(function) for name, function in BINS.items()}


@settings(max_examples=120)
@given(st.sampled_from(sorted(BINS)), st.sampled_from("dliBh"), st.integers(0, 99),
       st.sampled_from([(1,), (40,), (6, 7)]), st.booleans())
def test_histograms(name: str, dtype: str, seed: int, shape: tuple[int, ...], odd: bool) -> None:
    rng = np.random.default_rng(seed)
    a = (rng.standard_normal(shape) * 6).round(seed % 3).astype(dtype).T
    if odd and dtype == "d":
        a.flat[0] = rng.choice([np.nan, np.inf, -0.0])
    try:
        want = BINS[name](a)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            COUNTED[name](a)
        return
    got = COUNTED[name](a)
    assert isinstance(got, tuple)
    assert all(oracle.same(mine, numpys) for mine, numpys in zip(got, want, strict=True))
    assert got[0].base is None
