"""``python -m benchmarks.scalar_loops [NAME ...]``: scalar loops of the corpus beside numba.

Both in one process and one thread, by the processor time of the thread: other programs on the
machine disturb it little.  Arguments are made anew for each call; the best call counts.
"""

from __future__ import annotations

import math
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import npcompile
from benchmarks.corpus import helpers
from benchmarks.programs import PROGRAMS, Program

CALLS = 15
CRASHES = {"sieve_loops"}  # numba's code ends the process
SECONDS = 1.5


def once(function: Callable[..., Any], args: tuple[Any, ...]) -> float:
    started = time.thread_time()
    function(*args)
    return time.thread_time() - started


def measure(program: Program) -> tuple[float, float, float]:
    """Seconds of npcompile, of numba, and of npcompile's first call."""
    import numba

    ours = npcompile.jit(program.function, parallel=False, cache=False)
    first = once(ours, program.arguments(program.small))
    refusal = ours.explain(*program.arguments(program.bench)).refusal
    if refusal:
        raise npcompile.CompileError(str(refusal))
    theirs, converted = helpers(program, numba.njit)
    theirs(*converted(*program.arguments(program.small)))
    best = [math.inf, math.inf]
    began = time.perf_counter()
    for call in range(CALLS):
        if call > 2 and time.perf_counter() - began > SECONDS:
            break
        best[0] = min(best[0], once(ours, program.arguments(program.bench)))
        best[1] = min(best[1], once(theirs, converted(*program.arguments(program.bench))))
    return best[0], best[1], first


def main() -> None:
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    ratios = []
    for name in sys.argv[1:] or [
            n for n, p in PROGRAMS.items() if p.scalar and n not in CRASHES]:
        try:
            ours, theirs, first = measure(PROGRAMS[name])
        except Exception as error:  # what one of the two can't compile
            print(f"{name:28s} {type(error).__name__}: {str(error)[:80]!r}", flush=True)
            continue
        ratios.append(ours / theirs)
        print(f"{name:28s} {1e3 * ours:9.3f} ms, numba {1e3 * theirs:9.3f} ms, "
              f"ratio {ours / theirs:5.2f}, first call {1e3 * first:4.0f} ms", flush=True)
    if ratios:
        print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")


if __name__ == "__main__":
    main()
