"""``python -m benchmarks.run [throughput] [bandwidth] [calls] [start] ...``: tables.

Calls are timed in interleaved turns; every figure is a ratio to NumPy in the same run.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import npcompile
from benchmarks import bandwidth as bandwidths
from benchmarks import matrices, products, small
from benchmarks import start as starts
from benchmarks.cases import CASES
from benchmarks.peers import PEERS, installed
from benchmarks.workers import measure, started
from npcompile.runtime.threads import pool

SIZES = [10**5, 10**6, 10**7]


class Times:
    """Seconds of each peer, the best so far: with a file, of this run and those before."""

    def __init__(self, path: str) -> None:
        self.path = Path(path) if path else None
        self.best: dict[str, dict[str, float]] = {}
        if self.path is not None and self.path.exists():
            self.best = json.loads(self.path.read_text())

    def get(self, case: str, dtype: str, n: int) -> dict[str, float]:
        return self.best.get(f"{case} {dtype} {n}", {})

    def take(self, case: str, dtype: str, n: int, seconds: dict[str, float]) -> None:
        old = self.get(case, dtype, n)
        self.best[f"{case} {dtype} {n}"] = {k: min(t, old.get(k, t)) for k, t in seconds.items()}
        if self.path is not None:
            self.path.write_text(json.dumps(self.best, indent=1))

    def rows(self, n: int) -> list[tuple[str, str, dict[str, float]]]:
        """(function, dtype, seconds) at one size."""
        keys = [(c.name, d) for c in CASES for d in ("float64", "float32")]
        return [(*key, found) for key in keys if (found := self.get(*key, n))]


def median_times(
    functions: dict[str, Callable[..., Any]], args: list[Any], budget: float
) -> dict[str, float]:
    """Interleaved medians in seconds; each run keeps its result until the next, as programs do."""
    first = {}
    for name, function in functions.items():
        function(*args)
        started = time.perf_counter()
        function(*args)
        first[name] = time.perf_counter() - started
    rounds = int(min(31, max(5, budget / max(sum(first.values()), 1e-6))))
    inner = {name: max(1, int(20e-6 / max(t, 1e-7))) for name, t in first.items()}
    spent: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            count = inner[name]
            started = time.perf_counter()
            for _ in range(count):
                function(*args)
            spent[name].append((time.perf_counter() - started) / count)
    return {name: float(np.median(t)) for name, t in spent.items()}


def throughput(options: argparse.Namespace) -> list[str]:
    """Elementwise work and reductions over sizes, float32 and float64, on all threads."""
    names = installed()
    times = Times(options.times)
    with started(["numpy", *names], pool.get_num_threads()) as workers:
        for case in CASES:
            if options.functions and case.name not in options.functions:
                continue
            for dtype in ("float64", "float32"):
                for name, worker in workers.items():
                    reason = worker.ask((case.name, dtype))
                    worker.able = not reason
                    if reason:
                        print(f"{case.name} {dtype} {name}: {reason}")
                for n in options.sizes:
                    times.take(case.name, dtype, n, measure(workers, n, options.rounds))
                    print(_row(case.name, dtype, n, names, times), flush=True)
    if options.plot:
        from benchmarks.plot import plot

        plot(times.rows(10**6), versions()[0], options.plot)
    wanted = [(c.name, d, n) for c in CASES for d in ("float64", "float32") for n in options.sizes]
    return [
        "Speed-up over NumPy (first NumPy's own ns per element); * : best of all; - : can't.",
        "",
        "| function | dtype | N | NumPy | " + " | ".join(names) + " |",
        "|---" * (4 + len(names)) + "|",
        *[_row(*row, names, times) for row in wanted if times.get(*row)],
    ]


def _row(case: str, dtype: str, n: int, names: list[str], times: Times) -> str:
    found = times.get(case, dtype, n)
    base = found["numpy"]
    best = min(found, key=found.__getitem__)
    cells = [
        f"{base / found[name]:.2f}" + "*" * (name == best) if name in found else "-"
        for name in names
    ]
    return f"| {case} | {dtype} | {n:.0e} | {1e9 * base / n:.2f} | " + " | ".join(cells) + " |"


def bandwidth(options: argparse.Namespace) -> list[str]:
    """GB/s, and in brackets the shares of our own copies' in the same run: of as many elements and
    of as many bytes, then with non-temporal stores of as many elements and of as many bytes.
    *reading* is a loop that only reads what *dot* does; the others write into an ``out=``."""
    lines: list[str] = []
    for dtype in ("float64", "float32"):
        for n in options.sizes:
            found = bandwidths.gigabytes(n, dtype, options.rounds)
            copied, past = found["copy"].own, found[bandwidths.PAST].own
            if not lines:
                names = [f"{k} (no out=)" if k in bandwidths.WITHOUT_OUT else k for k in found]
                lines.append("| dtype | N | " + " | ".join(names) + " |")
                lines.append("|---" * (2 + len(found)) + "|")
            cells = [f"{v:.1f} ({v / copied:.2f}, {v / like:.2f}; {v / past:.2f}, {v / wide:.2f})"
                     for v, like, wide in found.values()]
            lines.append(f"| {dtype} | {n:.0e} | " + " | ".join(cells) + " |")
    return lines


def line(x: Any) -> Any:
    return x * 2 + 1


def five(a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
    return a * b + c * d - e


def calls(options: argparse.Namespace) -> list[str]:
    """The cost of a call on ten elements."""
    x = np.arange(10.0)
    functions: dict[str, Any] = {"NumPy": line, "npcompile": npcompile.jit(line)}
    if "numba" in installed():
        import numba

        functions["numba"] = numba.njit(line)
    one = median_times(functions, [x], 0.2)
    many = median_times({"NumPy": five, "npcompile": npcompile.jit(five)}, [x] * 5, 0.2)
    lines = ["| call | " + " | ".join(one) + " |", "|---" * (1 + len(one)) + "|"]
    lines.append("| x*2+1, ns | " + " | ".join(f"{1e9 * t:.0f}" for t in one.values()) + " |")
    cells = " | ".join(f"{1e9 * t:.0f}" for t in many.values())
    lines.append(f"| five arrays, ns | {cells} |")
    return lines


def start(options: argparse.Namespace) -> list[str]:
    """New processes, with an empty and with a warm disk cache."""
    return starts.table()


SECTIONS = {
    "throughput": throughput, "bandwidth": bandwidth, "calls": calls, "start": start,
    "small": small.table, "matrices": matrices.table,
    "products": products.table,
}


def versions() -> list[str]:
    """The machine and the versions that figures belong to."""
    import importlib.metadata as metadata

    packages = ["numpy", "scipy", "llvmlite", *(PEERS[p][0] for p in installed())]
    packages.remove("npcompile")
    found = ", ".join(f"{p} {metadata.version(p)}" for p in dict.fromkeys(packages))
    info = Path("/proc/cpuinfo")
    models = [t for t in info.read_text().splitlines() if t.startswith("model name")]
    cpu = models[0].split(":")[1].strip() if models else platform.processor()
    return [
        f"{time.strftime('%Y-%m-%d')}, {cpu}, {pool.get_num_threads()} threads,"
        f" Python {platform.python_version()}, {found}"
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], default=list(SECTIONS))
    parser.add_argument("--sizes", nargs="*", type=lambda t: int(float(t)), default=SIZES)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--plot", default="", help="a figure of the throughput at 1e6")
    parser.add_argument("--times", default="", help="a file that keeps the best times of runs")
    parser.add_argument("--functions", nargs="*", default=[])
    parser.add_argument("--output", default="")
    parser.add_argument("--title", default="", help="the first line of the output")
    options = parser.parse_args()
    report = [f"# {options.title}", "", *versions()] if options.title else versions()
    for name in options.sections or SECTIONS:
        section = SECTIONS[name]
        print(f"\n## {name}")
        lines = section(options)
        if name != "throughput":
            print("\n".join(lines))
        report += ["", f"## {name}: {section.__doc__}", "", *lines]
    if options.output:
        Path(options.output).write_text("\n".join(report) + "\n")


if __name__ == "__main__":
    main()
