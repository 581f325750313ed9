"""``python -m benchmarks.run small [--functions NAME ...]``: where a decorated function is slower.

Each function of ``small_cases`` is called compiled and plain in turns, in one process.  *first* is
the first call; *settling* is what calls 2 to 64 take, in calls of Python's (64 or less: as fast),
some of which find out whether Python is faster; the ratio is of medians after these.  All by the
thread's processor time, which other programs on the machine disturb little.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from statistics import median
from time import thread_time
from typing import Any

import npcompile
from benchmarks.small_cases import CASES, Case

SETTLING, ROUNDS, TURN, NOISE = 64, 41, 4e-5, 1.05

Call = Callable[[], float]


@dataclass(frozen=True)
class Found:
    """Seconds, but for ``settling`` (plain calls); ``why``: the reason of most calls left to
    Python, if these are many."""

    case: Case
    first: float
    settling: float
    compiled: float
    plain: float
    why: str

    @property
    def ratio(self) -> float:
        return self.compiled / self.plain


def timed(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    """A call of the function that gives its seconds."""

    def raising() -> float:
        begun = thread_time()
        with suppress(Exception):
            function(*args, **kwargs)
        return thread_time() - begun

    return raising


def batch(function: Callable[..., Any], args: Any, kwargs: Any, count: int) -> float:
    """Seconds of one call out of so many."""
    done, begun = 0, thread_time()
    while done < count:
        try:  # once around all of them, if none raises
            while done < count:
                done += 1
                function(*args, **kwargs)
        except Exception:
            continue
    return (thread_time() - begun) / count


def measure(case: Case) -> Found:
    compiled = npcompile.jit(case.function)
    ours, theirs = (copy.deepcopy((case.args, case.kwargs)) for _ in range(2))
    one = timed(compiled, *ours)
    first = one()
    settling = sum(one() for _ in range(SETTLING))
    begin = median(timed(case.function, *theirs)() for _ in range(SETTLING))
    count = max(1, int(TURN / begin))
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        spent[0].append(batch(compiled, *ours, count))
        spent[1].append(batch(case.function, *theirs, count))
    times = [median(s) for s in spent]
    left = compiled._dispatcher.fallbacks
    why = max(left, key=left.__getitem__) if left.total() > SETTLING else ""
    return Found(case, first, settling / begin, times[0], times[1], why)


def table(options: Any) -> list[str]:
    """Small functions, slowest beside Python's first."""
    wanted = [c for c in CASES if not options.functions or c.name in options.functions]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        measure(wanted[0])  # imports
        found = sorted((measure(c) for c in wanted), key=lambda f: -f.ratio)
    slower = sum(f.ratio > NOISE for f in found)
    return [
        f"{slower} of {len(found)} take more than {NOISE} times as long as plain.",
        "",
        "| function | family | plain us | ratio | settling | first ms | left to Python |",
        "|---|---|--:|--:|--:|--:|---|",
        *[
            f"| {f.case.name} | {f.case.family} | {1e6 * f.plain:.2f} | {f.ratio:.2f} |"
            f" {f.settling:.0f} | {1e3 * f.first:.1f} | {f.why} |"
            for f in found
        ],
    ]
