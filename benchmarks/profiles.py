"""What recording costs, and whether the lines of a profile are the call.

``python -m benchmarks.profiles [--write]`` calls the functions of :mod:`benchmarks.users` inside a
``with npcompile.profiler()`` block and outside of one, in turns, and profiles a call of each.
Times are the thread's own, of one thread, the least of many rounds; functions that Python runs are
left out.  ``--write`` puts the
table into ``docs/measurements/profiles.md``.
"""

from __future__ import annotations

import math
import platform
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, thread_time
from timeit import timeit
from typing import Any

import numpy as np

import npcompile
from benchmarks.users import Case, cases
from npcompile import jit

PAGE = Path(__file__).parent.parent / "docs" / "measurements" / "profiles.md"
ROUNDS, CALLS, SECONDS, LONG = 12, 200, 0.3, 20e-6
#: what is promised: of the time without recording, and the difference between lines and the call
RATIO, APART = 1.10, 0.05


@dataclass(frozen=True)
class Found:
    """``seconds`` of a call, ``recorded``: of one in a profiler's block; ``lines``: the sum of a
    profile's lines over the profile's call; ``named``: the share of lines of the function."""

    name: str
    seconds: float
    recorded: float
    lines: float
    named: float

    @property
    def ratio(self) -> float:
        return self.recorded / self.seconds


def once(function: Any, case: Case, args: tuple[Any, ...], calls: int) -> float:
    """Seconds of a call."""
    given = [case.make() for _ in range(calls)] if case.fresh else [args] * calls
    begun = thread_time()
    for each in given:
        function(*each)
    return (thread_time() - begun) / calls


def measured(case: Case) -> Found | None:
    """One function; None if Python runs it, whole or a statement of it."""
    compiled = jit(case.function)
    args = case.make()
    begun, calls = perf_counter(), 0
    while calls < CALLS and perf_counter() - begun < SECONDS:
        compiled(*(case.make() if case.fresh else args))
        calls += 1
    if compiled._dispatcher.fallbacks or compiled.explain(*case.make()).graph_breaks:
        return None
    each = min(max(1, int(4e-3 / max(once(compiled, case, args, 1), 1e-7))), 500)
    profiler = npcompile.profiler()
    with profiler:
        once(compiled, case, args, 2)
    plain = recorded = math.inf
    for _ in range(ROUNDS):
        once(compiled, case, args, 3)
        plain = min(plain, once(compiled, case, args, each))
        with profiler:
            once(compiled, case, args, 3)
            recorded = min(recorded, once(compiled, case, args, each))
    profile = compiled.profile(*case.make())
    lines = sum(profile.lines.values())
    return Found(case.function.__qualname__, plain, recorded, lines / profile.seconds,
                 1 - profile.lines.get(0, 0.0) / lines)


def outside() -> tuple[float, float]:
    """Nanoseconds of a call of ``x * 2 + 1`` on ten numbers: of a function that no profiler has
    seen, and of one that was recorded before."""
    never, once_recorded = jit(lambda x: x * 2 + 1), jit(lambda x: x * 2 + 1)
    x, best = np.ones(10), [math.inf, math.inf]
    for function in (never, once_recorded):
        for _ in range(CALLS):
            function(x)
    with npcompile.profiler():
        once_recorded(x)
    for _ in range(60):
        for k, function in enumerate((never, once_recorded)):
            best[k] = min(best[k], timeit(lambda f=function: f(x), timer=thread_time, number=4000))
    return best[0] / 4e-6, best[1] / 4e-6


def table(rows: list[Found], never: float, after: float) -> Iterator[str]:
    """The page's lines."""
    long = [row for row in rows if row.seconds >= LONG]
    cheap = [row for row in long if row.ratio <= RATIO]
    whole = [row for row in rows if abs(row.lines - 1) <= APART]
    beyond = sorted(row.recorded - row.seconds for row in rows if row.seconds < LONG)
    yield from (
        "# Profiles", "",
        f"Written by `python -m benchmarks.profiles --write`, Python {platform.python_version()}, "
        "on a shared machine, one thread.  *Recorded*: the", "time of a call inside `with "
        "npcompile.profiler()` over that outside.  *Lines*: the sum of the lines of `f.profile()` "
        "over", "its call; *named*: the share of the time that is told of a line of the function.  "
        "Nothing is recorded outside of a block.", "",
        f"The lines are within {APART:.0%} of the call in {len(whole)} of {len(rows)} functions.  "
        f"Recording costs at most {RATIO - 1:.0%} in {len(cheap)} of the {len(long)}",
        f"that take {LONG * 1e6:.0f} us or more; a shorter call takes "
        f"{beyond[0] * 1e6:.1f} to {beyond[-1] * 1e6:.1f} us longer, "
        f"{beyond[len(beyond) // 2] * 1e6:.1f} in the middle." if beyond else "", "",
        "Outside of a block a call of `x * 2 + 1` on ten numbers, with that of a lambda around it, "
        f"takes {never:.1f} ns, and {after:.1f} ns", "if a profiler has recorded the function "
        "before.", "",
        "| function | us | recorded | lines | named |", "|---|---:|---:|---:|---:|")
    for row in rows:
        yield (f"| {row.name} | {row.seconds * 1e6:.1f} | {row.ratio:.2f} | {row.lines:.3f} "
               f"| {row.named:.0%} |")


def main() -> None:
    warnings.simplefilter("ignore")
    npcompile.set_num_threads(1)
    wanted = [word for word in sys.argv[1:] if not word.startswith("-")]
    rows: list[Found] = []
    for case in cases():
        name: Any = case.function.__qualname__
        if not wanted or name in wanted:
            found = measured(case)
            if found is not None:
                rows.append(found)
                print(found, flush=True)
    lines = list(table(rows, *outside()))
    print("\n".join(lines))
    if "--write" in sys.argv:
        PAGE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
