"""Transforms as convolutions: orders and kernels of Rader's and Bluestein's algorithms."""

from __future__ import annotations

import numpy as np

from npcompile.fft.twiddles import circle

Array = np.ndarray


def primitive_root(p: int) -> int:
    """The least number whose powers are all numbers from 1 to ``p - 1`` modulo a prime."""
    rest, primes, d = p - 1, [], 2
    while d * d <= rest:
        if rest % d == 0:
            primes.append(d)
            while rest % d == 0:
                rest //= d
        d += 1
    primes += [rest] if rest > 1 else []
    return next(g for g in range(1, p) if all(pow(g, (p - 1) // q, p) != 1 for q in primes))


def rader(p: int) -> tuple[Array, Array, Array]:
    """Where the numbers of the convolution stand in a row, the row's first one last; where the
    results belong; and the kernel."""
    g = primitive_root(p)
    powers = [1]
    for _ in range(p - 2):
        powers.append(powers[-1] * g % p)
    back = np.array([powers[0], *powers[:0:-1]], np.int64)  # powers of the inverse of g
    cosine, sine = circle(back, p)
    return np.array([*powers, 0], np.int64), back, cosine - 1j * sine


def bluestein(n: int, m: int) -> tuple[Array, Array]:
    """The chirp ``exp(-pi i j**2 / n)``, and its conjugate around 0 as ``m`` numbers."""
    j = np.arange(n, dtype=object) ** 2 % (2 * n)
    cosine, sine = circle(j.astype(np.int64), 2 * n)
    kernel = np.zeros(m, np.complex128)
    kernel[:n] = cosine + 1j * sine
    kernel[m - n + 1 :] = kernel[1:n][::-1]
    return cosine - 1j * sine, kernel
