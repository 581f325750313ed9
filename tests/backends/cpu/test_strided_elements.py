"""Elements that stand apart, of all widths: narrow ones are loaded and stored one by one."""

from __future__ import annotations

import numpy as np
import pytest

import npcompile

FUNCTIONS = [
    lambda a: a[:, ::2].sum(axis=0),
    lambda a: a[:, ::2].max(axis=0),
    lambda a: a[:, ::2].argmax(axis=0),
    lambda a: a[:, ::2].argmin(axis=1),
    lambda a: a[:, ::2].min(),
    lambda a: a[:, ::3] + a[:, ::3],
    lambda a: a[::2, ::-2].copy(),
    lambda a: a.T.copy(),
    lambda a: a.T.max(axis=1),
    lambda a: a[:, ::2].any(axis=0),
    lambda a: np.stack([a, a], axis=-1),
    lambda a: a[:, ::2] * 2 + a[:, 1::2],
    lambda a: np.where(a[:, ::2] > 1, a[:, ::2], 0),
    lambda a: a[:, ::2].prod(axis=0),
    lambda a: a[:, ::2].sum(axis=1),
    lambda a: np.repeat(a, 2, axis=1),
    lambda a: np.repeat(a, 3, axis=1) + np.repeat(a, 3, axis=1),
    lambda a: a[:, :2] + a[:, :1],
    lambda a: a[:, :3].sum(axis=0),
    lambda a: a[:, ::2][a[:, ::2] > 1],
]
COMPILED = [npcompile.jit(f) for f in FUNCTIONS]


@pytest.mark.parametrize("dtype", list("?BheifdFD"))
def test_bits_and_layout(dtype: str) -> None:
    rng = np.random.default_rng(1)
    for shape in [(3, 6), (40, 70), (64, 128), (1, 4)]:
        x = rng.integers(0, 3, shape).astype(dtype)
        for plain, compiled in zip(FUNCTIONS, COMPILED, strict=True):
            try:
                expected = plain(x)
            except TypeError:
                continue
            found = compiled(x)
            np.testing.assert_array_equal(found, expected, strict=isinstance(expected, np.ndarray))
            assert type(found) is type(expected)
            assert getattr(found, "strides", ()) == getattr(expected, "strides", ())
