"""Integers that a call leaves at their defaults are constants of the compiled code."""

import numpy as np

import npcompile


def test_default_is_constant_and_other_values_compile_anew():
    @npcompile.jit
    def f(x, bits=3, *, mask=5):
        return (x << bits) & mask

    x = np.arange(9)
    assert "load int64 bits" not in f.lower(x).program
    for args, named in (
        ((), {}), ((4,), {}), ((3,), {}), ((1,), {"mask": 9}), ((), {"mask": 2}), ((True,), {})
    ):
        want = f.__wrapped__(x, *args, **named)
        got = f(x, *args, **named)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_default_that_changes():
    @npcompile.jit
    def f(x, n=2):
        return x * n

    assert f(3.0) == 6.0
    f.__wrapped__.__defaults__ = (5,)
    assert f(3.0) == 15.0
    assert f(3.0, 2) == 6.0
