"""Functions that call themselves."""

import time

import numpy as np

from npcompile import jit


@jit
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@jit
def power(x, n):
    return x if n == 1 else power(x, n - 1) * x


@jit
def transform(x):
    n = len(x)
    if n == 1:
        return x.astype(complex)
    even, odd = transform(x[::2]), transform(x[1::2])
    turned = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate([even + turned, even - turned])


def test_few_calls_are_followed():
    x = np.arange(4.0)
    assert (power(x, 5) == x * x * x * x * x).all()
    assert power.explain(x, 5).captured
    x = np.cos(np.arange(16.0))
    assert np.allclose(transform(x), np.fft.fft(x))
    assert transform.explain(x).captured


def test_many_calls_are_left_to_python_for_all_numbers():
    begun = time.process_time()
    assert [fibonacci(n) for n in (17, 16, 15, 14)] == [1597, 987, 610, 377]
    assert time.process_time() - begun < 3  # following one of these takes longer
    assert fibonacci.cache_info().compiled == 0
    assert "calls itself more than" in str(fibonacci.explain(16))


@jit
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


@jit
def half(x):
    if x - int(x) not in (0, 0.5):
        raise NotImplementedError
    return 1.0 if x <= 1 else (x - 1) * half(x - 1)


def test_frames_that_look_at_calls_leave_room_for_the_programs_own():
    assert [depth(n) for n in (600, 500, 3)] == [600, 500, 3]
    assert half(171.5) > 1e300
    assert depth(2) == 2
