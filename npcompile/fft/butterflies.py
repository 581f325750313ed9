"""Discrete Fourier transforms of few points as straight-line programs.

They are written over any arithmetic: a backend's emitter, or NumPy's arrays in tests.  Composite
lengths are split; odd primes take sums and differences of ``x[k]`` and ``x[r - k]``, which halves
the products.  The sign of the exponent is -1: the other one is the same program with the real and
imaginary parts exchanged at both ends.
"""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

from npcompile.fft.twiddles import constant

V = TypeVar("V")


class Arithmetic(Protocol[V]):
    """What programs are written with."""

    def add(self, a: V, b: V) -> V: ...
    def sub(self, a: V, b: V) -> V: ...
    def mul(self, a: V, b: V) -> V: ...
    def neg(self, a: V) -> V: ...
    def fma(self, a: V, b: V, c: V) -> V: ...
    def constant(self, number: float) -> V: ...


class ComplexArithmetic(Generic[V]):
    """ComplexArithmetic numbers as pairs of real and imaginary parts."""

    def __init__(self, arithmetic: Arithmetic[V]) -> None:
        self.real = arithmetic

    def add(self, a: tuple[V, V], b: tuple[V, V]) -> tuple[V, V]:
        return self.real.add(a[0], b[0]), self.real.add(a[1], b[1])

    def sub(self, a: tuple[V, V], b: tuple[V, V]) -> tuple[V, V]:
        return self.real.sub(a[0], b[0]), self.real.sub(a[1], b[1])

    def mul(self, a: tuple[V, V], w: tuple[V, V]) -> tuple[V, V]:
        f = self.real
        return (f.fma(a[0], w[0], f.neg(f.mul(a[1], w[1]))),
                f.fma(a[0], w[1], f.mul(a[1], w[0])))

    def rotated(self, a: tuple[V, V], j: int, n: int) -> tuple[V, V]:
        """``a * exp(-2 pi i j / n)``."""
        f, (re, im), (eighths, between) = self.real, a, divmod(8 * (j % n), n)
        if between:
            c, s = constant(j % n, n)
            return self.mul(a, (f.constant(c), f.constant(s)))
        if eighths % 2:  # (1 - i) a = (re + im) + i (im - re)
            h = f.constant(constant(1, 8)[0])
            re, im = f.mul(f.add(re, im), h), f.mul(f.sub(im, re), h)
        match eighths // 2:
            case 0:
                return re, im
            case 1:
                return im, f.neg(re)
            case 2:
                return f.neg(re), f.neg(im)
        return f.neg(im), re

    def transform(self, x: list[tuple[V, V]]) -> list[tuple[V, V]]:
        """``y[k] = sum(exp(-2 pi i j k / r) x[j] for j in range(r))``."""
        r, f = len(x), self.real
        if r == 1:
            return x
        if r == 2:
            return [self.add(*x), self.sub(*x)]
        if r == 4:
            a, b = self.add(x[0], x[2]), self.sub(x[0], x[2])
            c, d = self.add(x[1], x[3]), self.sub(x[1], x[3])
            return [self.add(a, c), (f.add(b[0], d[1]), f.sub(b[1], d[0])),
                    self.sub(a, c), (f.sub(b[0], d[1]), f.add(b[1], d[0]))]
        for p in (4, 2, 3, 5, 7, 11, 13):
            if r % p == 0 and r > p:
                return self._composite(x, p, r // p)
        return self._prime(x)

    def _composite(self, x: list[tuple[V, V]], p: int, q: int) -> list[tuple[V, V]]:
        """Transforms of ``p`` points, products, and transforms of ``q`` points."""
        columns = [self.transform(x[k::q]) for k in range(q)]
        rows = [self.transform([self.rotated(columns[j][k], j * k, p * q) for j in range(q)])
                for k in range(p)]
        return [rows[k % p][k // p] for k in range(p * q)]

    def _prime(self, x: list[tuple[V, V]]) -> list[tuple[V, V]]:
        r, f = len(x), self.real
        half = range(1, (r + 1) // 2)
        sums = [self.add(x[k], x[r - k]) for k in half]
        differences = [self.sub(x[k], x[r - k]) for k in half]
        first = x[0]
        for t in sums:
            first = self.add(first, t)
        out = [first] * r
        for j in half:
            even, odd = x[0], (f.constant(0.0), f.constant(0.0))
            for k, t, d in zip(half, sums, differences):
                c, s = (f.constant(number) for number in constant(j * k % r, r))
                even = f.fma(t[0], c, even[0]), f.fma(t[1], c, even[1])
                odd = ((f.mul(d[0], s), f.mul(d[1], s)) if k == 1 else
                       (f.fma(d[0], s, odd[0]), f.fma(d[1], s, odd[1])))
            # odd is multiplied by i
            out[j] = f.sub(even[0], odd[1]), f.add(even[1], odd[0])
            out[r - j] = f.add(even[0], odd[1]), f.sub(even[1], odd[0])
        return out
