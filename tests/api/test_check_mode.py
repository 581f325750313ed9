"""``check=True``: what its errors say, and which differences it lets pass."""

from __future__ import annotations

import numpy as np
import pytest

import npcompile
from npcompile import jit
from npcompile.runtime.versions.checked import checked


def test_a_message_says_function_place_size_and_count() -> None:
    def plain(x: np.ndarray) -> list[np.ndarray]:
        return [x, x.reshape(2, 3)]

    def wrong(x: np.ndarray) -> list[np.ndarray]:
        y = x.reshape(2, 3).copy()
        y[1, 1:] += 0.5
        return [x, y]

    with pytest.raises(npcompile.CheckError) as caught:
        checked(plain, wrong, (np.ones(6),), {}, lambda: True)
    text = str(caught.value)
    assert plain.__qualname__ in text
    assert "result[1][1, 1]: np.float64(1.5), Python gives np.float64(1.0)" in text
    assert "2 of 6 elements differ, by at most 0.5 (relative 0.5); the tolerance is 0" in text


@pytest.mark.parametrize(("rtol", "exact", "passes"), [
    (None, True, False), (None, False, True), (0, False, False), (1e-9, True, True),
    (1e-13, False, False),
])
def test_the_tolerance_is_chosen(rtol: float | None, exact: bool, passes: bool) -> None:
    def plain(x: np.ndarray) -> np.ndarray:
        return x

    def close(x: np.ndarray) -> np.ndarray:
        return x * (1 + 1e-11)

    def run() -> None:
        checked(plain, close, (np.ones(3),), {}, lambda: exact, rtol)

    if passes:
        run()
    else:
        with pytest.raises(npcompile.CheckError, match="3 of 3 elements differ"):
            run()


def test_option() -> None:
    x = np.linspace(0.1, 3, 50)
    assert np.allclose(jit(lambda x: np.sin(x), check=True, check_rtol=1e-14)(x), np.sin(x))
    exact = jit(lambda x: np.tan(x * 1e5), check=True, check_rtol=0)
    if not np.array_equal(npcompile.tan(x * 1e5), np.tan(x * 1e5)):
        with pytest.raises(npcompile.CheckError, match="elements differ"):
            exact(x)
    for wrong in (True, -1.0, 2, "0.1", float("nan")):
        with pytest.raises(ValueError, match="check_rtol is a number from 0 to 1"):
            jit(check_rtol=wrong)(lambda x: x)
