"""Runs the demo: a table in the terminal and a page."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from npcompile import jit
from npcompile.demo import functions
from npcompile.demo.data import Data, load, palette
from npcompile.demo.page import page


@dataclass(frozen=True)
class Case:
    """A function, its arguments, and the tolerance that its mathematics allows (0: bit for bit)."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    ulp: float = 0.0


@dataclass(frozen=True)
class Measurement:
    """What was measured: seconds, and how far the results are apart."""

    name: str
    numpy: float
    compiled: float
    first_call: float
    error: float
    whole: bool
    result: Any
    expected: Any

    @property
    def speedup(self) -> float:
        return self.numpy / self.compiled


def cases(data: Data) -> list[Case]:
    """The demo's calls."""
    pixels = data.photo.reshape(-1, 3)
    centres = palette(pixels)
    sigma = functions.volatility(data.prices)[-1]
    spot = np.repeat(data.prices[-1], 20000)
    scores = np.log(data.prices)[:, None, :] * np.linspace(0.1, 2.0, 500)[:, None]
    peak = np.unravel_index(data.height.argmax(), data.height.shape)
    place = float(data.latitude[peak]), float(data.longitude[peak])
    return [
        Case(functions.hillshade, (data.height, 90.0, 5.5, 0.8)),
        Case(functions.unsharp, (data.photo, 1.5)),
        Case(functions.nearest_colour, (pixels, centres)),
        Case(functions.black_scholes, (spot, 100.0, 1.5, 0.03, np.repeat(sigma, 20000)), 64),
        Case(functions.softmax, (scores,), 8),
        Case(functions.logsumexp, (scores,), 8),
        Case(functions.haversine, (data.latitude, data.longitude, *place), 16),
        Case(functions.contrast, (data.scan, 5.0, 180.0, 0.6), 4),
        Case(functions.volatility, (np.tile(data.prices, (1, 200)),), 64),
    ]


def main(folder: str = "demo_output") -> int:
    """Runs everything; returns 1 if a result differs by more than it may."""
    print("loading the sample data of matplotlib's wheel ...")
    data = load()
    ready = compiler_ready()
    rows = []
    todo = cases(data)
    for k, case in enumerate(todo):
        _progress(k, len(todo), case.function.__name__)
        rows.append(measure(case))
    _progress(len(todo), len(todo), "done")
    print(table(rows))
    print(f"first compile of the process, which imports the compiler: {1e3 * ready:.0f} ms")
    report = jit(functions.hillshade).report(*todo[0].args)
    path = page(data, rows, ready, report, Path(folder))
    print(f"pictures, a chart and a report: {path}")
    wrong = [r.name for r, case in zip(rows, todo) if r.error > case.ulp]
    if wrong:
        print("WRONG: " + ", ".join(wrong))
    return int(bool(wrong))


def compiler_ready() -> float:
    """The seconds that the first compile of a process takes beyond that of later ones."""
    started = time.perf_counter()
    jit(lambda x: x * 2 + 1, cache=False)(np.ones(3))
    return time.perf_counter() - started


def measure(case: Case) -> Measurement:
    """Times a function before and after, interleaved, and compares the results."""
    compiled = jit(case.function)
    started = time.perf_counter()
    got = compiled(*case.args)
    first = time.perf_counter() - started
    want = case.function(*case.args)
    times: dict[Any, list[float]] = {case.function: [], compiled: []}
    for _ in range(7):
        for function, spent in times.items():
            started = time.perf_counter()
            function(*case.args)
            spent.append(time.perf_counter() - started)
    return Measurement(
        case.function.__name__,
        sorted(times[case.function])[3],
        sorted(times[compiled])[3],
        first,
        distance(got, want),
        compiled.explain(*case.args).captured,
        got[0] if isinstance(got, tuple) else got,
        want[0] if isinstance(want, tuple) else want,
    )


def distance(got: Any, want: Any) -> float:
    """The largest difference in units of the last place of the larger operand involved."""
    if isinstance(want, tuple):
        return max(map(distance, got, want))
    if want.dtype.kind != "f":
        return 0.0 if np.array_equal(got, want) else np.inf
    scale = np.spacing(np.maximum(np.abs(want), np.finfo(want.dtype).tiny))
    floor = np.spacing(np.abs(want).max()) / 16
    return float((np.abs(got - want) / np.maximum(scale, floor)).max())


def _progress(done: int, total: int, label: str) -> None:
    if not sys.stderr.isatty():
        return
    width = 30
    filled = width * done // total
    bar = "#" * filled + "-" * (width - filled)
    end = "\n" if done == total else ""
    print(f"\r[{bar}] {done}/{total} {label:<20}", end=end, file=sys.stderr, flush=True)


def table(rows: list[Measurement]) -> str:
    """The measurements as text."""
    lines = [
        f"{'function':<16}{'NumPy ms':>10}{'npcompile ms':>14}{'speed-up':>10}"
        f"{'first call ms':>15}{'equal':>14}"
    ]
    for row in rows:
        equal = "bit for bit" if row.error == 0 else f"{row.error:.1f} ulp"
        where = "" if row.whole else "  (in Python)"
        lines.append(
            f"{row.name:<16}{1e3 * row.numpy:>10.2f}{1e3 * row.compiled:>14.3f}"
            f"{row.speedup:>9.1f}x{1e3 * row.first_call:>15.1f}{equal:>14}{where}"
        )
    mean = float(np.exp(np.mean([np.log(r.speedup) for r in rows])))
    lines.append(f"geometric mean of the speed-ups: {mean:.2f}")
    return "\n".join(lines)
