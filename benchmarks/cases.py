"""What is timed: ordinary NumPy functions and how to make their arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import erf

from benchmarks import loops


def axpy(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


def magnitude(a: Any, b: Any) -> Any:
    return np.sqrt(a * a + b * b)


def wave(x: Any) -> Any:
    return np.exp(-x * x) * np.sin(x)


def black_scholes(s: Any, k: Any, t: Any) -> Any:
    root = 0.3 * np.sqrt(t)
    d1 = (np.log(s / k) + 0.075 * t) / root
    d2 = d1 - root
    n1 = 0.5 + 0.5 * erf(d1 * 0.7071067811865476)
    n2 = 0.5 + 0.5 * erf(d2 * 0.7071067811865476)
    return s * n1 - k * np.exp(-0.03 * t) * n2


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def variance0(x: Any) -> Any:
    return x.var(axis=0)


def variance1(x: Any) -> Any:
    return x.var(axis=1)


def dot(a: Any, b: Any) -> Any:
    return (a * b).sum()


def stencil(u: Any) -> Any:
    return 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]) - u[1:-1, 1:-1]


def normalise(x: Any) -> Any:
    return (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)


@dataclass(frozen=True)
class Case:
    """``shapes(n)`` are the arguments' shapes for about ``n`` elements; values lie in (0.5, 2).

    ``numexpr`` is the same in that language, if it can be said there; ``loop`` is the same as an
    explicit loop for numba.
    """

    function: Callable[..., Any]
    shapes: Callable[[int], list[tuple[int, ...]]]
    numexpr: str = ""
    loop: Callable[..., Any] | None = None

    @property
    def name(self) -> str:
        return self.function.__name__


def flat(count: int) -> Callable[[int], list[tuple[int, ...]]]:
    return lambda n: [(n,)] * count


def rows(width: int) -> Callable[[int], list[tuple[int, ...]]]:
    return lambda n: [(max(n // width, 1), width)]


def square(n: int) -> list[tuple[int, ...]]:
    side = max(int(n**0.5), 3)
    return [(side, side)]


CASES = [
    Case(axpy, flat(3), "a*b+c", loops.axpy),
    Case(magnitude, flat(2), "sqrt(a*a+b*b)", loops.magnitude),
    Case(wave, flat(1), "exp(-x*x)*sin(x)", loops.wave),
    Case(black_scholes, flat(3), "", loops.black_scholes),
    Case(softmax, rows(1000), "", loops.softmax),
    Case(variance0, square, "", loops.variance0),
    Case(variance1, square, "", loops.variance1),
    Case(dot, flat(2), "sum(a*b)", loops.dot),
    Case(stencil, square, "", loops.stencil),
    Case(normalise, rows(32), "", loops.normalise),
]


def arguments(case: Case, n: int, dtype: str) -> list[Any]:
    """Arguments for about ``n`` elements."""
    rng = np.random.default_rng(n)
    return [rng.uniform(0.5, 2.0, shape).astype(dtype) for shape in case.shapes(n)]
