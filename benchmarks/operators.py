"""``python -m benchmarks.operators``: single operators and small expressions against NumPy.

Every case runs plain and compiled, in turns in one process on one thread, with the sizes below;
the table has NumPy's time over ours, and at the end stand the cases in which NumPy is faster.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import npcompile
from npcompile.runtime.threads import pool

SIZES = [10, 100, 1000, 10**5, 10**6]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
REAL = [*INTEGERS, *FLOATS]
ALL = [*REAL, *COMPLEX]
SOME = ["uint8", "int64", "float32", "float64"]

Make = Callable[[int, str], list[Any]]
Row = tuple[str, Callable[..., Any], Make, list[str]]


@dataclass(frozen=True)
class Case:
    """``make(n, dtype)`` are arguments of about ``n`` elements."""

    name: str
    function: Callable[..., Any]
    make: Make
    dtype: str


# ------------------------------------------------------------------ arguments


def values(shape: tuple[int, ...] | int, dtype: str, seed: int = 0) -> Any:
    """Numbers that overflow nothing and are never 0, but for bools."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if kind in "iu":
        return rng.integers(1, 11, shape).astype(dtype)
    x = rng.uniform(0.5, 2.0, shape)
    return (x + 1j * rng.uniform(0.5, 2.0, shape) if kind == "c" else x).astype(dtype)


def flat(n: int, dtype: str) -> list[Any]:
    return [values(n, dtype, 1), values(n, dtype, 2)]


def one(n: int, dtype: str) -> list[Any]:
    return [values(n, dtype, 1)]


def near_one(n: int, dtype: str) -> list[Any]:
    """Whose products stay in range."""
    return [(1 + (values(n, "float64", 1) - 1.25) / n).astype(dtype)]


def near_one_square(n: int, dtype: str) -> list[Any]:
    return [x.reshape(sides(n)) for x in near_one(sides(n)[0] ** 2, dtype)]


def sides(n: int) -> tuple[int, int]:
    side = max(int(n**0.5), 3)
    return side, side


def square(n: int, dtype: str) -> list[Any]:
    return [values(sides(n), dtype, 1)]


def squares(n: int, dtype: str) -> list[Any]:
    return [values(sides(n), dtype, 1), values(sides(n), dtype, 2)]


def box(n: int, dtype: str) -> list[Any]:
    return [values((max(n // 100, 2), 10, 10), dtype, 1)]


def fortran(n: int, dtype: str) -> list[Any]:
    return [np.asfortranarray(x) for x in squares(n, dtype)]


def mixed(n: int, dtype: str) -> list[Any]:
    a, b = squares(n, dtype)
    return [a, np.asfortranarray(b)]


def every_other(n: int, dtype: str) -> list[Any]:
    return [values(2 * n, dtype, 1)[::2], values(2 * n, dtype, 2)[::2]]


def backwards(n: int, dtype: str) -> list[Any]:
    return [values(n, dtype, 1)[::-1], values(n, dtype, 2)]


def columns(n: int, dtype: str) -> list[Any]:
    """Two wide matrices, of which every other column counts."""
    side, _ = sides(n)
    return [values((side, 2 * side), dtype, k)[:, ::2] for k in (1, 2)]


def with_row(n: int, dtype: str) -> list[Any]:
    return [values(sides(n), dtype, 1), values(sides(n)[1], dtype, 2)]


def with_column(n: int, dtype: str) -> list[Any]:
    return [values(sides(n), dtype, 1), values((sides(n)[0], 1), dtype, 2)]


def row_and_column(n: int, dtype: str) -> list[Any]:
    return [values(sides(n)[1], dtype, 1), values((sides(n)[0], 1), dtype, 2)]


def points(n: int, dtype: str) -> list[Any]:
    """Triples, and a triple, and a number for each."""
    count = max(n // 3, 1)
    return [values(shape, dtype, k) for k, shape in enumerate([(count, 3), 3, (count, 1)])]


def masked(n: int, dtype: str) -> list[Any]:
    return [values(n, dtype, 1), values(n, "bool", 2)]


def indexed(n: int, dtype: str) -> list[Any]:
    return [values(n, dtype, 1), np.random.default_rng(3).integers(0, n, n)]


# ------------------------------------------------------------------ what is timed


def _store(a: Any, b: Any) -> None:
    a[...] = b


def _add_in_place(a: Any, b: Any) -> None:
    a += b


def _clear(a: Any, mask: Any) -> None:
    a[mask] = 1


BOOL = ["bool"]
ELEMENTWISE: list[Row] = [
    ("a + b", lambda a, b: a + b, flat, ALL),
    ("a - b", lambda a, b: a - b, flat, ALL),
    ("a * b", lambda a, b: a * b, flat, ALL),
    ("a / b", lambda a, b: a / b, flat, ALL),
    ("a // b", lambda a, b: a // b, flat, REAL),
    ("a % b", lambda a, b: a % b, flat, REAL),
    ("a + 3", lambda a: a + 3, one, ALL),
    ("a // 3", lambda a: a // 3, one, REAL),
    ("a % 3", lambda a: a % 3, one, REAL),
    ("a ** 2", lambda a: a**2, one, ALL),
    ("-a", lambda a: -a, one, ALL),
    ("abs(a)", lambda a: abs(a), one, ALL),
    ("a < b", lambda a, b: a < b, flat, REAL),
    ("a == b", lambda a, b: a == b, flat, ALL),
    ("a & b", lambda a, b: a & b, flat, [*BOOL, *INTEGERS]),
    ("a | b", lambda a, b: a | b, flat, BOOL),
    ("~a", lambda a: ~a, one, [*BOOL, *INTEGERS]),
    ("a << 2", lambda a: a << 2, one, INTEGERS),
    ("maximum", lambda a, b: np.maximum(a, b), flat, REAL),
    ("clip", lambda a: np.clip(a, 2, 7), one, REAL),
    ("where(a<b, a, b)", lambda a, b: np.where(a < b, a, b), flat, REAL),
    ("where(m, a, 0)", lambda a, m: np.where(m, a, 0), masked, SOME),
    ("sqrt", lambda a: np.sqrt(a), one, [*FLOATS, *COMPLEX]),
    ("floor", lambda a: np.floor(a), one, FLOATS),
    ("exp", lambda a: np.exp(a), one, FLOATS),
    ("log", lambda a: np.log(a), one, FLOATS),
    ("isnan", lambda a: np.isnan(a), one, FLOATS),
    ("sign", lambda a: np.sign(a), one, REAL),
    ("to float64", lambda a: a.astype(np.float64), one, [*BOOL, *REAL]),
    ("to float32", lambda a: a.astype(np.float32), one, [*BOOL, *REAL]),
    ("to int32", lambda a: a.astype(np.int32), one, [*BOOL, *REAL]),
    ("to uint8", lambda a: a.astype(np.uint8), one, SOME),
    ("conj", lambda a: np.conj(a), one, COMPLEX),
    ("real", lambda a: a.real + 1, one, COMPLEX),
    ("a = b", _store, flat, SOME),
    ("a += b", _add_in_place, flat, SOME),
    ("copy", lambda a: a.copy(), one, SOME),
]

REDUCTIONS: list[Row] = [
    ("sum", lambda a: a.sum(), one, [*BOOL, *ALL]),
    ("prod", lambda a: a.prod(), near_one, [*INTEGERS, "float32", "float64"]),
    ("mean", lambda a: a.mean(), one, ALL),
    ("var", lambda a: a.var(), one, ALL),
    ("min", lambda a: a.min(), one, REAL),
    ("argmin", lambda a: a.argmin(), one, REAL),
    ("any", lambda a: (a == 0).any(), one, REAL),
    ("all", lambda a: a.all(), one, REAL),
    ("count_nonzero", lambda a: np.count_nonzero(a), one, [*BOOL, *REAL]),
    ("sum axis 0", lambda a: a.sum(axis=0), square, ALL),
    ("sum axis 1", lambda a: a.sum(axis=1), square, ALL),
    ("sum axis 1 of 3", lambda a: a.sum(axis=1), box, SOME),
    ("sum axis 2 of 3", lambda a: a.sum(axis=2), box, SOME),
    ("sum axes 0, 2", lambda a: a.sum(axis=(0, 2)), box, SOME),
    ("sum keepdims", lambda a: a.sum(axis=1, keepdims=True), square, SOME),
    ("prod axis 0", lambda a: a.prod(axis=0), near_one_square, SOME),
    ("prod axis 1", lambda a: a.prod(axis=1), near_one_square, SOME),
    ("min axis 0", lambda a: a.min(axis=0), square, REAL),
    ("max axis 1", lambda a: a.max(axis=1), square, REAL),
    ("argmin axis 0", lambda a: a.argmin(axis=0), square, REAL),
    ("argmax axis 1", lambda a: a.argmax(axis=1), square, REAL),
    ("mean axis 0", lambda a: a.mean(axis=0), square, SOME),
    ("std axis 1", lambda a: a.std(axis=1), square, SOME),
    ("any axis 0", lambda a: a.any(axis=0), square, SOME),
    ("all axis 1", lambda a: a.all(axis=1), square, SOME),
    ("ptp", lambda a: np.ptp(a), one, SOME),
    ("nansum", lambda a: np.nansum(a), one, ["float32", "float64"]),
    ("cumsum", lambda a: a.cumsum(), one, ALL),
    ("cumsum axis 0", lambda a: a.cumsum(axis=0), square, SOME),
    ("cumsum axis 1", lambda a: a.cumsum(axis=1), square, SOME),
    ("cumprod", lambda a: a.cumprod(), near_one, ["float32", "float64"]),
    ("maximum.accumulate", lambda a: np.maximum.accumulate(a), one, SOME),
    ("a @ b", lambda a, b: a @ b, flat, SOME),
    ("sum(a * b)", lambda a, b: (a * b).sum(), flat, ALL),
]

LAYOUTS: list[Row] = [
    ("F + F", lambda a, b: a + b, fortran, SOME),
    ("C + F", lambda a, b: a + b, mixed, SOME),
    ("a.T + b", lambda a, b: a.T + b, squares, SOME),
    ("a.T.copy()", lambda a: a.T.copy(), square, SOME),
    ("ascontiguousarray(a.T)", lambda a: np.ascontiguousarray(a.T), square, SOME),
    ("F sum axis 0", lambda a, b: a.sum(axis=0), fortran, SOME),
    ("F sum axis 1", lambda a, b: a.sum(axis=1), fortran, SOME),
    ("F min axis 1", lambda a, b: a.min(axis=1), fortran, SOME),
    ("x[::2] + y[::2]", lambda a, b: a + b, every_other, [*SOME, "int16", "complex128"]),
    ("x[::2].copy()", lambda a, b: a.copy(), every_other, [*SOME, "int16", "complex128"]),
    ("x[::2].sum()", lambda a, b: a.sum(), every_other, SOME),
    ("x[::2].max()", lambda a, b: a.max(), every_other, SOME),
    ("x[::-1] + y", lambda a, b: a + b, backwards, [*SOME, "int16", "complex128"]),
    ("x[:, ::2] * y[:, ::2]", lambda a, b: a * b, columns, SOME),
    ("matrix + row", lambda a, b: a + b, with_row, SOME),
    ("matrix + column", lambda a, b: a + b, with_column, SOME),
    ("row * column", lambda a, b: a * b, row_and_column, SOME),
    ("outer", lambda a, b: np.outer(a, b), row_and_column, ["float32", "float64"]),
    ("triples + triple", lambda a, b, c: a + b, points, SOME),
    ("triples * column", lambda a, b, c: a * c, points, SOME),
    ("sum of triples", lambda a, b, c: a.sum(axis=1), points, SOME),
    ("mean of triples", lambda a, b, c: a.mean(axis=0), points, SOME),
    ("max of triples", lambda a, b, c: a.max(axis=1), points, SOME),
    ("lengths of triples", lambda a, b, c: np.sqrt((a * a).sum(axis=1)), points, SOME[2:]),
    ("x[1:] - x[:-1]", lambda a: a[1:] - a[:-1], one, SOME),
    ("diff", lambda a: np.diff(a), one, SOME),
    ("a[:, 0] + a[:, 1]", lambda a: a[:, 0] + a[:, 1], square, SOME),
]

SHAPES: list[Row] = [
    ("concatenate", lambda a, b: np.concatenate([a, b]), flat, SOME),
    ("concatenate axis 1", lambda a, b: np.concatenate([a, b], axis=1), squares, SOME),
    ("stack", lambda a, b: np.stack([a, b]), flat, SOME),
    ("stack axis -1", lambda a, b: np.stack([a, b], axis=-1), flat, SOME),
    ("hstack", lambda a, b: np.hstack([a, b]), squares, SOME),
    ("column_stack", lambda a, b: np.column_stack([a, b]), flat, SOME),
    ("flip", lambda a: np.flip(a).copy(), one, SOME),
    ("roll", lambda a: np.roll(a, 3), one, SOME),
    ("repeat", lambda a: np.repeat(a, 3), one, SOME),
    ("tile", lambda a: np.tile(a, 3), one, SOME),
    ("pad", lambda a: np.pad(a, 2), one, SOME),
    ("ravel of F", lambda a, b: a.ravel(), fortran, SOME),
    ("zeros_like", lambda a: np.zeros_like(a), one, SOME),
    ("full_like", lambda a: np.full_like(a, 3), one, SOME),
    ("arange", lambda a: np.arange(a.size), one, ["float64"]),
    ("linspace", lambda a: np.linspace(0.0, 1.0, a.size), one, ["float64"]),
    ("a[mask]", lambda a, m: a[m], masked, SOME),
    ("a[mask] = 1", _clear, masked, SOME),
    ("a[index]", lambda a, i: a[i], indexed, SOME),
    ("take", lambda a, i: np.take(a, i), indexed, SOME),
    ("nonzero", lambda a, m: np.nonzero(m)[0], masked, ["float64"]),
    ("sort", lambda a: np.sort(a), one, SOME),
    ("argsort", lambda a: np.argsort(a), one, ["float64"]),
    ("searchsorted", lambda a, b: np.searchsorted(np.sort(a), b), flat, ["float64"]),
    ("bincount", lambda a, i: np.bincount(i % 50), indexed, ["float64"]),
    ("trace", lambda a: np.trace(a), square, SOME),
    ("tril", lambda a: np.tril(a), square, SOME),
    ("diagonal", lambda a: a.diagonal() + 1, square, SOME),
]

GROUPS = {"elementwise": ELEMENTWISE, "reductions": REDUCTIONS, "layouts": LAYOUTS,
          "shapes": SHAPES}


def cases(groups: list[str], words: list[str]) -> Iterator[Case]:
    """The cases of groups whose names hold all of some words."""
    for group in groups:
        for name, function, make, dtypes in GROUPS[group]:
            for dtype in dtypes:
                case = Case(f"{name} {dtype}", function, make, dtype)
                if all(word in case.name for word in words):
                    yield case


# ------------------------------------------------------------------ timing


def ratio(plain: Callable[..., Any], compiled: Callable[..., Any], args: list[Any],
          seconds: float) -> tuple[float, float]:
    """Seconds of both: the best of short turns."""
    best = [float("inf"), float("inf")]
    pair = (plain, compiled)
    once = []
    for function in pair:
        function(*args)
        started = time.perf_counter()
        function(*args)
        once.append(time.perf_counter() - started)
    inner = [max(1, int(50e-6 / max(t, 1e-7))) for t in once]
    rounds = int(min(60, max(5, seconds / max(sum(i * t for i, t in zip(inner, once)), 1e-6))))
    for _ in range(rounds):
        for k, function in enumerate(pair):
            repeats = range(inner[k])
            started = time.perf_counter()
            for _ in repeats:
                function(*args)
            best[k] = min(best[k], (time.perf_counter() - started) / inner[k])
    return best[0], best[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="only cases whose names hold them")
    parser.add_argument("--groups", nargs="*", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--sizes", nargs="*", type=lambda t: int(float(t)), default=SIZES)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.03, help="for a case at a size")
    options = parser.parse_args()
    pool.set_num_threads(options.threads)
    warnings.simplefilter("ignore")
    heads = " | ".join(f"{n:.0e}" for n in options.sizes)
    print(f"| NumPy's time over ours | {heads} |\n|---{'|---' * len(options.sizes)}|")
    losers, logs = [], []
    for case in cases(options.groups, options.words):
        compiled = npcompile.jit(case.function)
        found = []
        for n in options.sizes:
            plain, ours = ratio(case.function, compiled, case.make(n, case.dtype), options.seconds)
            found.append(plain / ours)
            logs.append(np.log(plain / ours))
            if ours > plain:
                losers.append((ours / plain, f"{case.name} {n:.0e}: {1e9 * plain / n:.3g} and "
                                             f"{1e9 * ours / n:.3g} ns an element"))
        print(f"| {case.name} | {' | '.join(f'{r:.2f}' for r in found)} |", flush=True)
    print(f"\n{len(logs)} figures, geometric mean {np.exp(np.mean(logs)):.2f}; "
          f"NumPy is faster in {len(losers)}, by more than 5 % in "
          f"{sum(by > 1.05 for by, _ in losers)}:\n")
    for by, text in sorted(losers, reverse=True):
        print(f"* {by:.2f} times: {text}")


if __name__ == "__main__":
    main()
