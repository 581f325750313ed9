"""Reductions with ``where=`` have NumPy's bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npcompile import jit
from tests.support import oracle

RNG = np.random.default_rng(3)
FUNCTIONS: list[tuple[Callable[..., Any], str]] = [
    (lambda a, m: np.sum(a, where=m), "biufc"),
    (lambda a, m: a.sum(axis=0, where=m), "biufc"),
    (lambda a, m: a.sum(axis=-1, where=m, keepdims=True), "biufc"),
    (lambda a, m: a.sum(axis=-1, where=m, initial=2), "iufc"),
    (lambda a, m: np.add.reduce(a, where=m), "biufc"),
    (lambda a, m: np.prod(a, axis=0, where=m), "biufc"),
    (lambda a, m: np.max(a, where=m, initial=1), "iuf"),
    (lambda a, m: a.min(axis=0, where=m, initial=3), "iuf"),
    (lambda a, m: np.all(a, axis=-1, where=m), "biufc"),
    (lambda a, m: np.any(a, where=m), "biufc"),
    (lambda a, m: np.mean(a, axis=0, where=m), "biuf"),
    (lambda a, m: a.mean(where=m), "biuf"),
    (lambda a, m: a.mean(axis=-1, where=m, keepdims=True), "biuf"),
    (lambda a, m: a.var(axis=-1, where=m, ddof=1), "biuf"),
    (lambda a, m: np.std(a, where=m), "biuf"),
    (lambda a, m: np.sum(a * 2, axis=0, where=m), "iuf"),
    (lambda a, m: np.sum(a, axis=0, where=a > 1), "iuf"),
]
DTYPES = ["?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
LAYOUTS: list[Callable[[Any], Any]] = [
    lambda a: a, lambda a: a.T, lambda a: a[::-1], lambda a: a[:, ::-2], lambda a: a[..., 0],
    lambda a: np.asfortranarray(a), lambda a: a[:0], lambda a: a[None],
]


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_bits_of_reductions(number: int) -> None:
    function, kinds = FUNCTIONS[number]
    compiled = jit(function)
    for dtype in map(np.dtype, DTYPES):
        if dtype.kind not in kinds:
            continue
        whole = (RNG.standard_normal((7, 150)) * 3).astype(dtype)
        mask = RNG.random((7, 150)) < 0.7
        for lay in LAYOUTS:
            oracle.check_calls(compiled, function, lay(whole), lay(mask))
        oracle.check_calls(compiled, function, whole, mask.copy(order="F"))
        oracle.check_calls(compiled, function, whole, mask[0])
        oracle.check_calls(compiled, function, whole, mask[:, :1])
        oracle.check_calls(compiled, function, whole, np.zeros_like(mask))
        oracle.check_calls(compiled, function, whole, True)


@settings(max_examples=60)
@given(st.integers(1, 5), st.integers(1, 40), st.floats(0, 1), st.sampled_from(["f4", "f8", "i4"]),
       st.integers(0, 2**32 - 1))
def test_random_masks(rows: int, columns: int, share: float, dtype: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    array = (rng.standard_normal((rows, columns)) * 100).astype(dtype)
    array[rng.random(array.shape) < 0.1] = np.nan if dtype[0] == "f" else 0
    mask = rng.random(array.shape) < share
    for compiled, plain in COMPILED:
        oracle.check_calls(compiled, plain, array, mask)


COMPILED = [(jit(f), f) for f, _ in FUNCTIONS[:4] + FUNCTIONS[10:14]]


def test_they_are_compiled() -> None:
    array, mask = RNG.random((5, 6)), RNG.random((5, 6)) < 0.9
    for function, _ in FUNCTIONS:
        compiled = jit(function, fullgraph=True)
        compiled(array, mask)
        assert compiled.cache_info().compiled


def test_what_numpy_refuses() -> None:
    array = np.ones((2, 3))
    for function in (
        lambda a, m: np.max(a, where=m),
        lambda a, m: a.sum(where=m),
        lambda a, m: a.mean(axis=0, where=m),
    ):
        compiled = jit(function)
        for mask in (np.ones((2, 3), int), np.ones((2, 2, 3), bool), np.ones(2, bool)):
            oracle.check_calls(compiled, function, array, mask)
