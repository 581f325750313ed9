"""``python -m benchmarks.compile_time [--write] [names]``: what each operator adds to a kernel.

A kernel ``x * c + 1``, compiled with an operator and without it in turns, each time with another
number in it so that no cache has it; processor time of the process, the least of several.  The
first of them also compiles the subprograms, which are cached for all that come after.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import npcompile
from benchmarks.run import versions
from npcompile.core.paths import import_path
from npcompile.ops.elementwise import ELEMENTWISE
from npcompile.ops.record import OPERATORS

PAGE = Path(__file__).resolve().parent.parent / "docs/measurements/compile_time.md"
GOAL = 25.0  # ms
TURNS = 6
#: the cache on disk has the numbers of other runs
_number = itertools.count(time.time_ns() % 2**40)


def seconds(function: Callable[..., Any] | None, args: list[Any]) -> float:
    """Processor time of the first call of a new kernel."""
    names = ", ".join("abcdefgh"[: len(args)])
    inner = "a" if function is None else f"f({names})"
    scope: dict[str, Any] = {"f": function}
    exec(f"def kernel({names}):\n    y = {inner}\n    return (y[0] if isinstance(y, tuple) else y)"
         f" * {2.0 + next(_number) * 2.0**-50!r} + 1.0", scope)
    compiled = npcompile.jit(scope["kernel"], fullgraph=True)
    start = time.process_time()
    compiled(*args)
    return time.process_time() - start


def added(function: Callable[..., Any], args: list[Any], like: Any) -> tuple[float, float]:
    """Milliseconds that a function adds: to the first kernel, and to later ones."""
    first, later, plain = seconds(function, args), [], []
    for _ in range(TURNS):
        plain.append(seconds(None, [like]))
        later.append(seconds(function, args))
    return 1e3 * (first - min(plain)), 1e3 * (min(later) - min(plain))


def rows(wanted: list[str]) -> Iterator[tuple[str, str, float, float]]:
    """(name, loop, first, later) of elementwise operators of float32, float64 and complex."""
    for name, op in OPERATORS.items():
        public = [alias for alias in op.aliases if "." not in alias.partition(":")[2]]
        if op.kind is not ELEMENTWISE or not public or (wanted and name not in wanted):
            continue
        function = import_path(public[0])
        for signature in op.signatures.split():
            inputs = signature.partition("->")[0]
            kinds = [c for c in inputs if c in "fdFD"]
            if kinds and len({c in "FD" for c in kinds}) == 1:
                args = [np.full(64, 0.3 if c in "fdFD" else 2).astype(c) for c in inputs]
                like = args[inputs.index(kinds[0])]
                yield name, signature, *added(function, args, like)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true", help=f"to {PAGE.name}")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for _ in range(10):
        seconds(None, [np.ones(64)])
    found = []
    for row in rows(options.names):
        found.append(row)
        print(f"{row[0]:24} {row[1]:8} first {row[2]:6.1f} ms, later {row[3]:6.1f} ms", flush=True)
    found.sort(key=lambda row: -row[3])
    above = ", ".join(f"{name} {loop}" for name, loop, _, later in found if later > GOAL)
    lines = [
        "# What an operator adds to the compile time of a kernel", "",
        *versions(), "",
        (__doc__ or "").split("\n\n", 1)[1].replace("``", "`"),
        f"{len(found)} loops; more than {GOAL:g} ms add: {above or 'none'}.",
        f"Median {np.median([row[3] for row in found]):.1f} ms.  The costliest:", "",
        "| operator | loop | first, ms | later, ms |", "|---|---|--:|--:|",
        *(f"| {n} | {s} | {a:.1f} | {b:.1f} |" for n, s, a, b in found[:60]), "",
    ]
    if options.write:
        PAGE.write_text("\n".join(lines))
    else:
        print("\n".join(lines))


if __name__ == "__main__":
    main()
