"""What a call costs that warns of a floating-point error, against one that doesn't.

``python -m benchmarks.warnings`` prints a table: microseconds, the least of many rounds in which
all four calls of a row take turns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

import npcompile

ROUNDS, SECONDS = 40, 2e-3  #: of each row, and the least time of a round


def logarithm(a: Any, b: Any) -> Any:
    return np.log(b)


def quotient(a: Any, b: Any) -> Any:
    return a / b


def exponential(a: Any, b: Any) -> Any:
    return np.exp(a)


def scaled(a: Any, b: Any) -> Any:
    return np.log(b) * 0.5 + 1.0


def several(a: Any, b: Any) -> Any:
    """Flags don't say which of its operations finds an invalid value."""
    return (a / b - a) / (b + a)


#: functions, numbers that a and b get at one place, and what a program shows of it
CASES: tuple[tuple[str, Callable[..., Any], float, float], ...] = (
    ("`np.log(b)`, a zero", logarithm, 1.0, 0.0),
    ("`a / b`, a zero", quotient, 1.0, 0.0),
    ("`a / b`, 0 / 0", quotient, 0.0, 0.0),
    ("`np.exp(a)` that overflows", exponential, 1000.0, 1.0),
    ("`np.log(b) * 0.5 + 1.0`, a number below 0", scaled, 1.0, -1.0),
    ("`(a / b - a) / (b + a)`, 0 / 0", several, 0.0, 0.0),
)


def measure(function: Callable[..., Any], args: list[list[Any]]) -> list[float]:
    """The least microseconds of npcompile's and NumPy's silent and warning calls."""
    calls = [(f, values) for f in (npcompile.jit(function), function) for values in args]
    counts = []
    for call, values in calls:
        for _ in range(3):
            call(*values)
        begun = perf_counter()
        call(*values)
        counts.append(max(1, int(SECONDS / (perf_counter() - begun))))
    best = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for k, (call, values) in enumerate(calls):
            begun = perf_counter()
            for _ in range(counts[k]):
                call(*values)
            best[k] = min(best[k], 1e6 * (perf_counter() - begun) / counts[k])
    return best


def main() -> None:
    print("| call | N | filters | silent | warns | times | NumPy silent | warns |")
    print("|---|---|---|---|---|---|---|---|")
    rng = np.random.default_rng(0)
    for size in (1000, 1_000_000):
        for name, function, a, b in CASES:
            quiet = [*rng.uniform(1.0, 2.0, (2, size))]
            loud = [x.copy() for x in quiet]
            loud[0][size // 2], loud[1][size // 2] = a, b
            for action in ("default", "always"):
                with warnings.catch_warnings():
                    warnings.simplefilter("always" if action == "always" else "default")
                    warnings.showwarning = lambda *_, **__: None
                    found = measure(function, [quiet, loud])
                row = (name, f"{size:.0e}".replace("+0", ""), action,
                       *(f"{x:.2f}" if x < 100 else f"{x:.0f}" for x in found[:2]),
                       f"{found[1] / found[0]:.2f}",
                       *(f"{x:.2f}" if x < 100 else f"{x:.0f}" for x in found[2:]))
                print("|", " | ".join(row), "|", flush=True)


if __name__ == "__main__":
    main()
