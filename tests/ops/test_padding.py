"""``np.pad`` in its modes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.oracle import alike

A = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize("mode", ["edge", "wrap", "reflect", "symmetric"])
def test_borders_of_own_elements(mode):
    def f(a, w):
        return np.pad(a, w, mode=mode), np.pad(a, ((1, 2), (0, w)), mode)

    alike(f, (A, 1), (A, 2), (A.T, 1), (A[::-1, ::2], 1), captured=False)


def test_borders_wider_than_the_array():
    def f(a, w):
        return np.pad(a, w, mode="edge")

    alike(f, (A, 5), (A[:1], 7))

    def g(a, w):
        return np.pad(a, w, mode="reflect")

    alike(g, (A, 5), captured=False)


def test_several_constants():
    def f(a):
        b = np.pad(a, ((1, 2), (3, 0)), constant_values=((1, 2), (3, 4)))
        return b, np.pad(a, 1, constant_values=(1.5, -2)), np.pad(a[0], (0, 2))

    alike(f, (A,), (A.astype(int),))


def test_a_mode_that_is_left_to_python():
    def f(a):
        return np.pad(a, 2, mode="mean")

    alike(f, (A,), captured=False)
