"""Memory-bound functions with ``out=`` against our own copy: how much of its bandwidth they get."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import npcompile
from benchmarks.workers import burst


def copy(a: Any, out: Any) -> Any:
    out[...] = a


def axpy(a: Any, b: Any, c: Any, out: Any) -> Any:
    np.add(a * b, c, out=out)


def magnitude(a: Any, b: Any, out: Any) -> Any:
    np.sqrt(a * a + b * b, out=out)


def dot(a: Any, b: Any) -> Any:
    return (a * b).sum()


def stencil(u: Any, out: Any) -> Any:
    around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
    np.subtract(0.25 * around, u[1:-1, 1:-1], out=out)


def flat(count: int) -> Callable[[int], list[tuple[int, ...]]]:
    return lambda n: [(n,)] * count


def grid(n: int) -> list[tuple[int, ...]]:
    side = int(n**0.5)
    return [(side, side), (side - 2, side - 2)]


CASES: list[tuple[Callable[..., Any], Callable[[int], list[tuple[int, ...]]]]] = [
    (copy, flat(2)),
    (axpy, flat(4)),
    (magnitude, flat(3)),
    (dot, flat(2)),
    (stencil, grid),
]


def gigabytes(n: int, dtype: str, rounds: int) -> dict[str, tuple[float, float]]:
    """GB/s of each, all arrays counted once, and of a copy that touches as many bytes (a copy of
    ``n`` elements stays in caches where others don't): the best of some interleaved turns."""
    rng = np.random.default_rng(n)
    copying, made = npcompile.jit(copy), []
    for function, shapes in CASES:
        args = [rng.uniform(0.5, 2.0, shape).astype(dtype) for shape in shapes(n)]
        half = sum(a.size for a in args) // 2
        like = [rng.uniform(0.5, 2.0, half).astype(dtype) for _ in range(2)]
        made.append((function.__name__, npcompile.jit(function), args, like))
    found = {name: (0.0, 0.0) for name, *_ in made}
    for _ in range(rounds):
        for name, function, args, like in made:
            speeds = [sum(a.nbytes for a in given) / burst(called, given, 0.03) / 1e9
                      for called, given in ((function, args), (copying, like))]
            found[name] = max(found[name][0], speeds[0]), max(found[name][1], speeds[1])
    return found
