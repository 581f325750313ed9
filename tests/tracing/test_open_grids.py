"""``np.ogrid`` of slices is compiled: values, dtypes and strides are NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit


def whole_numbers(h: int, w: int) -> Any:
    return np.ogrid[0:h, 0:w]


def of_points(h: int, w: int) -> Any:
    return np.ogrid[-1.4 : 1.4 : h * 1j, -2 : 0.8 : w * 1j]


def left_out(h: int, w: int) -> Any:
    return np.ogrid[:h, 1:w:2, 0.5:3]


def around_nothing(h: int, w: int) -> Any:
    return np.ogrid[-h : h + 1, -w : w + 1]


def with_steps(h: int, w: int) -> Any:
    return np.ogrid[0:h:0.3, 0:w:3]


def backwards(h: int, w: int) -> Any:
    return np.ogrid[h:0:-1, 0:w]


def constant(h: int, w: int) -> Any:
    return np.ogrid[0:1:5j, 0:w], np.ogrid[0:1:1j, 2:3]


def disc(h: int, w: int) -> Any:
    y, x = np.ogrid[0:h, 0:w]
    return (x - w / 2) ** 2 + (y - h / 2) ** 2 < 9


def mandelbrot(h: int, w: int) -> Any:
    y, x = np.ogrid[-1.4 : 1.4 : h * 1j, -2 : 0.8 : w * 1j]
    c = x + y * 1j
    z, count = c, np.zeros(c.shape, int)
    for _ in range(10):
        z = np.where(abs(z) < 2, z**2 + c, z)
        count += abs(z) < 2
    return count


def looks(result: Any) -> list[Any]:
    """All that tells arrays apart."""
    if isinstance(result, tuple):
        return [looks(item) for item in result]
    base = None if result.base is None else (result.base.shape, result.base.dtype)
    return [result.tolist(), result.dtype, result.shape, result.strides, base]


@pytest.mark.parametrize("function", [
    whole_numbers, of_points, left_out, around_nothing, with_steps, backwards, constant, disc,
    mandelbrot,
])
def test_as_numpy_makes_them(function: Callable[..., Any]) -> None:
    compiled = jit(function)
    for h, w in ((3, 4), (5, 7), (2, 2), (12, 9), (1, 2), (40, 50)):
        for _ in range(2):
            assert looks(compiled(h, w)) == looks(function(h, w))
    assert compiled.cache_info().fallbacks == 0
    assert "left compiled code" not in str(compiled.explain())


def test_what_numpy_refuses() -> None:
    compiled: Any = jit(lambda h, step: np.ogrid[0:h:step, 0:3])
    assert looks(compiled(3, 1)) == looks(np.ogrid[0:3:1, 0:3])
    with pytest.raises(ZeroDivisionError):
        compiled(3, 0)
    assert looks(compiled(np.float32(3), 1)) == looks(np.ogrid[0 : np.float32(3) : 1, 0:3])
