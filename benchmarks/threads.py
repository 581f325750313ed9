"""What a second thread gets while compiled functions run.

``python -m benchmarks.threads`` writes two tables.  The first counts how often a thread that sleeps
for a moment wakes while another one computes, beside the same while NumPy computes; the second
compares one thread that does some scalar work with two that do a half each, by the clock and by the
processor time of the busier thread; in the last row no thread needs the interpreter's lock.  The
best of many rounds counts, taken in turns.
"""

from __future__ import annotations

import os
import platform
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import npcompile
from npcompile import jit

NAP, ROUND, REST = 1e-3, 0.5, 0.03  # seconds
ROUNDS = 9
SHORT = 200  # rounds of some milliseconds, after a rest: few of them are disturbed


def waves(x: Any) -> Any:
    return np.sin(x) * 2 + np.cos(x)


def filtered(n: int, state: float) -> float:
    for k in range(n):
        state = state * 0.5 + k
    return state


def logistic(n: int, x: float) -> float:
    for _ in range(n):
        x = 3.7 * x * (1.0 - x)
    return x


def mixed(n: int, state: int) -> int:
    for _ in range(n):
        state = (state * 1103515245 + 12345) % 2147483648
    return state


def walked(x: Any, y: Any) -> float:
    best = 0.0
    for k in range(1, len(x)):
        best = max(best * 0.999, x[k] * y[k] - x[k - 1])
    return best


def ticks(work: Callable[[], Any]) -> float:
    """How often a second another thread wakes while work is done again and again."""
    count, over = 0, False

    def nap() -> None:
        nonlocal count
        while not over:
            time.sleep(NAP)
            count += 1

    thread = threading.Thread(target=nap)
    thread.start()
    count, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < ROUND:
        work()
    found, seconds = count, time.perf_counter() - begun
    over = True
    thread.join()
    return found / seconds


def together(works: list[Callable[[], Any]]) -> tuple[float, float]:
    """Seconds of some works, each on a thread, and the most processor time of one."""
    spent: list[float] = []

    def run(work: Callable[[], Any]) -> None:
        before = time.thread_time()
        work()
        spent.append(time.thread_time() - before)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - begun, max(spent)


def tick_rows() -> list[str]:
    x = np.random.default_rng(0).random(3_000_000)
    kernel, loop = jit(waves), jit(filtered)
    works = {
        "NumPy, `sin(x) * 2 + cos(x)`, 3e6": lambda: waves(x),
        "compiled kernel, the same": lambda: kernel(x),
        "compiled loop, `state * 0.5 + k`, 1e8": lambda: loop(100_000_000, 1.0),
    }
    found = dict.fromkeys(works, 0.0)
    for work in works.values():
        work()
    for _ in range(ROUNDS):
        for name, work in works.items():
            found[name] = max(found[name], ticks(work))
    numpy = next(iter(found.values()))
    return [f"| {name} | {count:.0f} | {count / numpy:.2f} |" for name, count in found.items()]


def half_rows() -> Iterator[str]:
    a, b = (np.random.default_rng(k).random(8_000_000) for k in (1, 2))
    middle, n = len(a) // 2, 8_000_000
    cases: list[tuple[str, Any, tuple[Any, ...], list[tuple[Any, ...]]]] = [
        ("`state * 0.5 + k`", filtered, (n, 1.0), [(n // 2, 1.0)] * 2),
        ("logistic map", logistic, (n, 0.4), [(n // 2, 0.4)] * 2),
        ("congruential generator", mixed, (n, 7), [(n // 2, 7)] * 2),
        ("walk over two arrays", walked, (a, b), [(a[:middle], b[:middle]),
                                                  (a[middle:], b[middle:])]),
    ]
    for name, function, whole, halves in cases:
        f = jit(function)
        f(*whole)
        yield _row(name, partial(f, *whole), [partial(f, *half) for half in halves])
    data = np.random.default_rng(3).bytes(1 << 20)
    yield _row("`zlib.compress`", lambda: zlib.compress(data, 1),
               [lambda: zlib.compress(data[: 1 << 19], 1)] * 2)


def _row(name: str, whole: Callable[[], Any], halves: list[Callable[[], Any]]) -> str:
    one = two = (float("inf"), float("inf"))
    for _ in range(SHORT):
        time.sleep(REST)
        one = _least(one, together([whole]))
        time.sleep(REST)
        two = _least(two, together(halves))
    gains = " | ".join(f"{a / b:.2f}" for a, b in zip(one, two, strict=True))
    return f"| {name} | {1e3 * one[0]:.1f} | {1e3 * two[0]:.1f} | {gains} |"


def _least(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    return min(a[0], b[0]), min(a[1], b[1])


def main() -> None:
    load = os.getloadavg()[0]
    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} processors ({platform.machine()}), load "
          f"{load:.0f} when begun; Python {platform.python_version()}, NumPy {np.__version__}, "
          f"npcompile {npcompile.__version__}.\n")
    print("| while this runs | ticks a second | NumPy's |\n|---|---|---|")
    print(*tick_rows(), sep="\n", end="\n\n")
    print("| scalar work | one thread, ms | two threads, ms | gain | by processor time |")
    print("|---|---|---|---|---|")
    for row in half_rows():
        print(row, flush=True)


if __name__ == "__main__":
    main()
