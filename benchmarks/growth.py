"""``python -m benchmarks.growth [--write] [KIND ...]``: how first calls grow with the function.

Functions of n statements, items or branches, each called once in a process of its own that has
compiled another function before, without a disk cache: processor time, and how much more memory the
process has held than before.  *ms a statement* is what each takes between two sizes.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import npcompile

PAGE = Path(__file__).resolve().parent.parent / "docs/measurements/growth.md"
SIZES = (100, 400, 2000)
LONGEST = 300  #: seconds of one process


def _lines(head: str, line: Callable[[int], str], result: str) -> Callable[[int], str]:
    """The text of functions with n lines."""
    return lambda n: f"def f({head}):\n{''.join(f'    {line(i)}{chr(10)}' for i in range(n))}" \
                     f"    return {result}\n"


def _display(form: str, item: Callable[[int], str], result: str) -> Callable[[int], str]:
    """The text of functions with a display of n items."""
    return lambda n: f"def f(a, x):\n    t = {form[0]}{', '.join(map(item, range(n)))}{form[1]}\n" \
                     f"    return {result}\n"


def _nest(n: int) -> str:
    """The text of a function with loops in loops."""
    loops = "".join(f"{'    ' * (k + 1)}for i{k} in range(2):\n" for k in range(n))
    return f"def f(a, x):\n{loops}{'    ' * (n + 1)}x = x * 0.5 + i0\n    return x\n"


#: text of a function of n statements, items, branches or loops
KINDS: dict[str, Callable[[int], str]] = {
    "arrays": _lines("a, x", lambda i: f"a = a * {i % 7 / 8 + 0.5} - x / {i + 1}", "a"),
    "numbers": _lines("a, x", lambda i: f"x = x * {i % 7 / 8 + 0.5} - {i} / (x + 2.0)", "x"),
    "arrays and numbers": _lines(
        "a, x", lambda i: f"x = x * 0.5 + a[{i % 5}]" if i % 2 else f"a = a * {i % 7 / 8} - x",
        "a"),
    "variables": _lines("a, x", lambda i: f"v{i} = v{max(i - 9, 0)} * 0.5 + {i}" if i else "v0 = a",
                        "v0"),
    "slices": _lines("a, x", lambda i: f"a[{i % 3 + 1}:-1] = a[{i % 3}:-2] * 0.5 + x", "a"),
    "elements": _lines("a, x", lambda i: f"a[{i % 5}] = a[{(i + 1) % 5}] * 0.5 + x", "a"),
    "sums": _lines("a, x", lambda i: f"a = a * 0.5 + a.sum() * {i / 9}", "a"),
    "library calls": _lines("a, x", lambda i: f"a = np.sort(a * 0.5 + {i}.0)", "a"),
    "calls of exp": _lines("a, x", lambda i: f"a = np.exp(-a * {i % 7 / 8})", "a"),
    "branches": _lines("a, x", lambda i: f"if x > {i}:\n        a = a + {i + 1}", "a"),
    "branches of numbers": _lines("a, x", lambda i: f"if x > {i}:\n        x = x + {i + 1}", "x"),
    "loops": _lines("a, x", lambda i: f"for k in range(len(a)):\n        x = x + a[k] * {i}", "x"),
    "nested loops": _nest,
    "array of constants": _display(("np.array([", "])"), str, "a.sum() + t"),
    "array of pairs": _display(("np.array([", "])"), lambda i: f"[{i}, {i}.5]", "a.sum() + t"),
    "array of numbers": _display(("np.array([", "])"), lambda i: f"x + {i}", "a.sum() + t"),
    "list": _display("[]", str, "a + t[3]"),
    "tuple": _display("()", str, "a + t[3]"),
    "dictionary": _display("{}", lambda i: f"{i}: {i}.5", "a + t[3]"),
}
#: of these, other sizes
SIZES_OF = {"branches": (50, 100, 300), "branches of numbers": (50, 100, 300),
            "loops": (50, 100, 300), "nested loops": (4, 8, 12)}


def function(kind: str, n: int) -> Callable[..., Any]:
    scope: dict[str, Any] = {"np": np}
    exec(compile(KINDS[kind](n), f"<{kind}, {n}>", "exec"), scope)
    made: Callable[..., Any] = scope["f"]
    return made


def arguments() -> tuple[Any, ...]:
    return np.arange(8.0), 1.5


def first_call(kind: str, n: int) -> tuple[float, float, str]:
    """Seconds, MB and what was left to Python, of a first call in this process."""
    npcompile.jit(lambda a, x: np.sort(a) * 2 + (x if x > 0 else 3.0), cache=False)(*arguments())
    compiled = npcompile.jit(function(kind, n), cache=False)
    before, start = _most_memory(), time.process_time()
    with np.errstate(all="ignore"):
        compiled(*arguments())
    seconds = time.process_time() - start
    return seconds, _most_memory() - before, "; ".join(compiled._dispatcher.fallbacks)


def _most_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _measured(kind: str, n: int) -> tuple[float, float, str]:
    script = f"from benchmarks.growth import first_call; print(*first_call({kind!r}, {n}), sep='|')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          timeout=LONGEST, check=True)
    seconds, memory, left = done.stdout.strip().split("|", 2)
    return float(seconds), float(memory), left


def rows(kinds: list[str]) -> list[str]:
    lines = ["| kind | n | first call, s | ms a statement | MB | left to Python |",
             "|---|--:|--:|--:|--:|---|"]
    for kind in kinds:
        last: tuple[int, float] | None = None
        for n in SIZES_OF.get(kind, SIZES):
            seconds, memory, left = _measured(kind, n)
            each = "" if last is None else f"{1e3 * (seconds - last[1]) / (n - last[0]):.2f}"
            last = n, seconds
            lines.append(f"| {kind} | {n} | {seconds:.2f} | {each} | {memory:.0f} | {left} |")
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--write", action="store_true", help=f"to {PAGE.name}")
    options = parser.parse_args()
    found = rows(options.kinds or list(KINDS))
    if options.write:
        from benchmarks.run import versions

        about = (__doc__ or "").split("\n\n", 1)[1].replace("``", "`")
        PAGE.write_text("\n".join(["# First calls of long functions", "", *versions(), "", about,
                                   *found, ""]))


if __name__ == "__main__":
    main()
