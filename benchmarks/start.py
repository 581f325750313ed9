"""How long it takes from a new process to the first result of a function."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

PROCESSES = 9  #: of which each figure is the median


def ten(a: Any, b: Any, c: Any) -> Any:
    """A function of ten operations."""
    s = a * a + b * b
    t = np.abs(a - c) * s
    u = np.where(b < 0.0, t, c * 0.5)
    return (u + t) * (s + 1.5)


#: stages of a process, in order: prints milliseconds of each; ``{llvmlite}`` is an import or none
STAGES = ("numpy", "llvmlite", "npcompile", "decorate", "first", "fifty", "another")
_SCRIPT = """
import time
times = [time.perf_counter()]
lap = lambda: times.append(time.perf_counter())
import numpy as np; lap()
{llvmlite}; lap()
import npcompile; lap()
begun = time.perf_counter()
from benchmarks.start import ten
x, y, z = (np.random.rand(1000) for _ in range(3))
spent = time.perf_counter() - begun
f = npcompile.jit(ten); lap()
f(x, y, z); lap()
fifty = [npcompile.jit(ten) for _ in range(50)]; lap()
g = npcompile.jit(lambda a, b, c: ten(a, b, c) * 0.5)
g(x, y, z); lap()
found = [1e3 * (b - a) for a, b in zip(times, times[1:])]
found[3] -= 1e3 * spent
print(*found)
"""


def measure(folder: str, llvmlite: bool, warm: bool) -> dict[str, float]:
    """The median milliseconds of each stage, and of them all up to the first result."""
    rows = []
    for k in range(PROCESSES):
        cache = os.path.join(folder, "warm" if warm else f"cold {llvmlite} {k}")
        rows.append(_process(cache, llvmlite))
    total = statistics.median(sum(row[:5]) for row in rows)
    return dict(zip(STAGES, map(statistics.median, zip(*rows)))) | {"in all": total}


def _process(cache: str, llvmlite: bool) -> list[float]:
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    script = _SCRIPT.format(llvmlite="import llvmlite.binding" if llvmlite else "pass")
    done = subprocess.run([sys.executable, "-c", script], env={**env, "NPCOMPILE_CACHE_DIR": cache},
                          capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def table() -> list[str]:
    """Rows by disk cache and by whether the process has llvmlite anyway; columns by stage."""
    names = [*STAGES[:5], "in all", "fifty", "another"]
    titles = [*(f"import {name}" for name in STAGES[:3]), "decorate the first", "first call",
              "in all", "decorate 50 more", "another's first call"]
    lines = [f"| ms, medians of {PROCESSES} processes | " + " | ".join(titles) + " |",
             "|---" * (1 + len(titles)) + "|"]
    with tempfile.TemporaryDirectory() as folder:
        _process(os.path.join(folder, "warm"), True)  # also writes Python's bytecode
        for warm in (False, True):
            for llvmlite in (True, False):
                found = measure(folder, llvmlite, warm)
                cells = " | ".join(f"{found[name]:.1f}" for name in names)
                label = f"{'warm' if warm else 'empty'} disk cache"
                label += ", llvmlite imported before" if llvmlite else ""
                lines.append(f"| {label} | {cells} |")
    return lines
