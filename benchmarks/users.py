"""Functions as users write them, plain, compiled, and by numba where it takes them.

    python -m benchmarks.users [--only NAME] [--json FILE] [--write]

Each function is called 200 times (or for two seconds), then plain and compiled calls take turns;
the least of 20 rounds counts.  ``numba`` compiles the same text with ``njit``; ``-``: it refuses.
"""

from __future__ import annotations

import argparse
import copy
import datetime
import itertools
import json
import math
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.idioms import IDIOMS, Idiom
from npcompile import jit

ROUNDS, CALLS, SECONDS = 20, 200, 2.0
PAGE = Path(__file__).parent.parent / "docs" / "measurements" / "users.md"
AROUND = ("| function | plain, us | under jit, times plain's time | first call, ms |\n"
          "|---|--:|--:|--:|")
HEAD = ("| function | plain, us | npcompile, times | numba, times | npcompile / numba | first call "
        "| numba's |\n|---|--:|--:|--:|--:|--:|--:|")


# ------------------------------------------------------------------ images


def sobel(a):
    dx = a[:, 2:] - a[:, :-2]
    dy = a[2:] - a[:-2]
    gx = dx[:-2] + 2 * dx[1:-1] + dx[2:]
    gy = dy[:, :-2] + 2 * dy[:, 1:-1] + dy[:, 2:]
    return np.sqrt(gx * gx + gy * gy)


def hist_equalise(image):
    counts = np.bincount(image.ravel(), minlength=256)
    levels = counts.cumsum() * (255.0 / image.size)
    return levels[image]


def bilateral(image, radius, spatial, tonal):
    out = np.empty_like(image)
    rows, columns = image.shape
    for i in range(rows):
        for j in range(columns):
            total = weight = 0.0
            for k in range(max(i - radius, 0), min(i + radius + 1, rows)):
                for m in range(max(j - radius, 0), min(j + radius + 1, columns)):
                    t = image[k, m] - image[i, j]
                    w = math.exp(-((k - i) ** 2 + (m - j) ** 2) / spatial - t * t / tonal)
                    total += w * image[k, m]
                    weight += w
            out[i, j] = total / weight
    return out


def mandelbrot(h, w, steps):
    y, x = np.ogrid[-1.4 : 1.4 : h * 1j, -2 : 0.8 : w * 1j]
    c = x + y * 1j
    z = c
    found = steps + np.zeros(z.shape, dtype=int)
    for i in range(steps):
        z = z**2 + c
        diverge = z * np.conj(z) > 4
        now = diverge & (found == steps)
        found[now] = i
        z[diverge] = 2
    return found


# ------------------------------------------------------------------ finance


def asian_option(z, spot, strike, rate, sigma, years):
    steps = z.shape[1]
    dt = years / steps
    paths = spot * np.exp(((rate - sigma**2 / 2) * dt + sigma * np.sqrt(dt) * z).cumsum(axis=1))
    return np.exp(-rate * years) * np.maximum(paths.mean(axis=1) - strike, 0).mean()


def binomial_american(spot, strike, rate, sigma, years, steps):
    dt = years / steps
    up = np.exp(sigma * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    price = spot * up ** (2.0 * np.arange(steps + 1) - steps)
    value = np.maximum(strike - price, 0.0)
    for _ in range(steps):
        price = price[1:] / up
        value = np.exp(-rate * dt) * (p * value[1:] + (1 - p) * value[:-1])
        value = np.maximum(value, strike - price)
    return value[0]


def max_drawdown(prices):
    peak, worst = prices[0], 0.0
    for price in prices:
        peak = max(peak, price)
        worst = max(worst, 1 - price / peak)
    return worst


def rolling_z(x, width):
    windows = np.lib.stride_tricks.sliding_window_view(x, width)
    return (x[width - 1 :] - windows.mean(axis=1)) / windows.std(axis=1)


# ------------------------------------------------------------------ signals


def biquad(x, b0, b1, b2, a1, a2):
    y = np.empty_like(x)
    z1 = z2 = 0.0
    for i in range(len(x)):
        y[i] = b0 * x[i] + z1
        z1 = b1 * x[i] - a1 * y[i] + z2
        z2 = b2 * x[i] - a2 * y[i]
    return y


def stft_power(x, window, hop):
    n = len(window)
    frames = np.lib.stride_tricks.sliding_window_view(x, n)[::hop]
    return np.abs(np.fft.rfft(frames * window)) ** 2


def moving_average(x, n):
    total = np.cumsum(x)
    total[n:] = total[n:] - total[:-n]
    return total[n - 1 :] / n


# ------------------------------------------------------------------ learning


def logreg(x, y, steps, rate):
    w = np.zeros(x.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-(x @ w)))
        w -= rate * (x.T @ (p - y)) / len(y)
    return w


def kmeans(points, centres, steps):
    for _ in range(steps):
        delta = points[:, None, :] - centres
        label = (delta * delta).sum(axis=2).argmin(axis=1)
        for k in range(len(centres)):
            inside = label == k
            if inside.any():
                centres[k] = points[inside].mean(axis=0)
    return centres


class Network:
    def __init__(self, rng, inputs, hidden):
        self.w1 = rng.normal(size=(inputs, hidden))
        self.w2 = rng.normal(size=(hidden, 1))

    def step(self, x, y, rate):
        hidden = np.tanh(x @ self.w1)
        error = hidden @ self.w2 - y
        back = (error @ self.w2.T) * (1 - hidden * hidden)
        self.w2 -= rate * hidden.T @ error / len(x)
        self.w1 -= rate * x.T @ back / len(x)
        return (error * error).mean()


def softmax_rows(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


# ------------------------------------------------------------------ simulation


def nbody(position, velocity, mass, dt, steps):
    for _ in range(steps):
        d = position[None, :, :] - position[:, None, :]
        r2 = (d * d).sum(axis=2) + 1e-3
        force = (d * (mass[None, :] / (r2 * np.sqrt(r2)))[:, :, None]).sum(axis=1)
        velocity += dt * force
        position += dt * velocity
    return position


def ising(spins, chances, where, table):
    n = spins.shape[0]
    for k in range(len(where)):
        i, j = where[k, 0], where[k, 1]
        around = spins[(i + 1) % n, j] + spins[i - 1, j] + spins[i, (j + 1) % n] + spins[i, j - 1]
        if chances[k] < table[spins[i, j] * around + 4]:
            spins[i, j] = -spins[i, j]
    return spins.sum()


def life(board):
    n = (np.roll(board, 1, 0) + np.roll(board, -1, 0) + np.roll(board, 1, 1)
         + np.roll(board, -1, 1))
    rows = np.roll(board, 1, 0) + np.roll(board, -1, 0)
    n += np.roll(rows, 1, 1) + np.roll(rows, -1, 1)
    return ((n == 3) | ((board == 1) & (n == 2))).astype(board.dtype)


class Epidemic:
    def __init__(self, susceptible, infected):
        self.s, self.i, self.r = susceptible, infected, 0.0

    def run(self, beta, gamma, steps):
        for _ in range(steps):
            new = beta * self.s * self.i
            gone = gamma * self.i
            self.s -= new
            self.i += new - gone
            self.r += gone
        return self.r


def lorenz(t, state):
    x, y, z = state
    return np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])


def lorenz_list(state, t):
    x, y, z = state
    return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]


def heat_rhs(t, u):
    out = np.zeros_like(u)
    out[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
    return 100.0 * out


# ------------------------------------------------------------------ text, graphs, geometry


def needleman(a, b, match, miss, gap):
    score = np.zeros((len(a) + 1, len(b) + 1))
    for i in range(len(a) + 1):
        score[i, 0] = gap * i
    for j in range(len(b) + 1):
        score[0, j] = gap * j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            step = match if a[i - 1] == b[j - 1] else miss
            score[i, j] = max(score[i - 1, j - 1] + step, score[i - 1, j] + gap,
                              score[i, j - 1] + gap)
    return score[-1, -1]


def kmer_counts(text, k):
    counts = {}
    for i in range(len(text) - k + 1):
        piece = text[i : i + k]
        counts[piece] = counts.get(piece, 0) + 1
    return counts


def haversine_matrix(latitude, longitude):
    half = np.sin((latitude[:, None] - latitude) / 2) ** 2
    half += np.cos(latitude)[:, None] * np.cos(latitude) * np.sin(
        (longitude[:, None] - longitude) / 2) ** 2
    return 2 * 6371.0 * np.arcsin(np.sqrt(half))


def points_in_polygon(x, y, px, py):
    inside = np.zeros(len(x), dtype=bool)
    j = len(px) - 1
    for i in range(len(px)):
        crosses = (py[i] > y) != (py[j] > y)
        at = (px[j] - px[i]) * (y - py[i]) / (py[j] - py[i]) + px[i]
        inside ^= crosses & (x < at)
        j = i
    return inside


def csr_matvec(data, indices, starts, x):
    out = np.zeros(len(starts) - 1)
    for i in range(len(out)):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += data[k] * x[indices[k]]
        out[i] = total
    return out


# ------------------------------------------------------------------ statistics


def bootstrap(rng, x, repeats):
    means = np.empty(repeats)
    for k in range(repeats):
        means[k] = x[rng.integers(0, len(x), len(x))].mean()
    return means.std()


def permutation_test(rng, x, n, repeats):
    want = x[:n].mean() - x[n:].mean()
    count = 0
    for _ in range(repeats):
        rng.shuffle(x)
        if x[:n].mean() - x[n:].mean() >= want:
            count += 1
    return count / repeats


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def neg_loglik(parameters, x):
    mean, log_sigma = parameters
    z = (x - mean) / np.exp(log_sigma)
    return (0.5 * z * z).sum() + len(x) * log_sigma


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def trimmed_mean(x):
    return np.sort(x)[2:-2].mean()


def canberra(x, y):
    total = 0.0
    for i in range(len(x)):
        below = abs(x[i]) + abs(y[i])
        if below > 0:
            total += abs(x[i] - y[i]) / below
    return total


def spread(values):
    return values.max() - values.min()


# ------------------------------------------------------------------ measuring


@dataclass(frozen=True)
class Case:
    """A function and what makes its arguments; ``fresh``: for each call."""

    function: Callable[..., Any]
    make: Callable[[], tuple[Any, ...]]
    fresh: bool = False
    numba: bool = True


def cases() -> list[Case]:
    """All functions with arguments of ordinary sizes."""
    rng = np.random.default_rng(0)
    image = rng.random((256, 256))
    grey = rng.integers(0, 256, (256, 256)).astype(np.uint8)
    x = rng.normal(size=2000)
    rows = rng.normal(size=(500, 10))
    labels = (rows[:, 0] > 0).astype(float)
    prices = 100 * np.exp(rng.normal(0, 0.01, 20_000).cumsum())
    bodies = rng.normal(size=(40, 3)), np.zeros((40, 3)), np.ones(40), 1e-3, 10
    places = rng.integers(0, 64, (5000, 2))
    text = "".join(rng.choice(list("ACGT"), 3000))
    starts = np.arange(0, 20_001, 10)
    angle = np.linspace(0, 2 * np.pi, 30)[:-1]
    network, epidemic = Network(rng, 8, 32), Epidemic(0.99, 0.01)
    return [
        Case(sobel, lambda: (image,)),
        Case(hist_equalise, lambda: (grey,)),
        Case(bilateral, lambda: (image[:32, :32].copy(), 2, 4.0, 0.1)),
        Case(mandelbrot, lambda: (60, 80, 20)),
        Case(asian_option, lambda: (rng.normal(size=(1000, 50)), 100.0, 95.0, 0.03, 0.2, 1.0)),
        Case(binomial_american, lambda: (100.0, 100.0, 0.05, 0.2, 1.0, 200)),
        Case(max_drawdown, lambda: (prices,)),
        Case(rolling_z, lambda: (x, 20)),
        Case(biquad, lambda: (x, 0.5, 0.25, 0.1, -0.5, 0.2)),
        Case(stft_power, lambda: (x, np.hanning(256), 64)),
        Case(moving_average, lambda: (x, 20)),
        Case(logreg, lambda: (rows, labels, 50, 0.1)),
        Case(kmeans, lambda: (rows, rows[:5].copy(), 5), fresh=True),
        Case(Network.step, lambda: (network, rows[:, :8].copy(), labels[:, None], 0.01)),
        Case(softmax_rows, lambda: (rows,)),
        Case(nbody, lambda: copy.deepcopy(bodies), fresh=True),
        Case(ising, lambda: (np.ones((64, 64), np.int64), rng.random(5000), places,
                             np.exp(-np.arange(-4.0, 5.0))), fresh=True),
        Case(life, lambda: (rng.integers(0, 2, (100, 100)),)),
        Case(Epidemic.run, lambda: (epidemic, 0.3, 0.1, 100)),
        Case(lorenz, lambda: (0.0, np.array([1.0, 2.0, 3.0]))),
        Case(lorenz_list, lambda: (np.array([1.0, 2.0, 3.0]), 0.0)),
        Case(heat_rhs, lambda: (0.0, x)),
        Case(needleman, lambda: (text[:100], text[100:200], 1.0, -1.0, -2.0)),
        Case(kmer_counts, lambda: (text, 5)),
        Case(haversine_matrix, lambda: (rng.random(200), rng.random(200))),
        Case(points_in_polygon, lambda: (x, x[::-1].copy(), np.cos(angle), np.sin(angle))),
        Case(csr_matvec, lambda: (rng.random(20_000), rng.integers(0, 2000, 20_000), starts, x)),
        Case(bootstrap, lambda: (np.random.default_rng(1), x[:500], 50), fresh=True),
        Case(permutation_test, lambda: (np.random.default_rng(1), x[:100].copy(), 40, 50),
             fresh=True),
        Case(rosenbrock, lambda: (x[:10].copy(),)),
        Case(neg_loglik, lambda: (np.array([0.1, 0.2]), x)),
        Case(collatz, lambda: (837799,)),
        Case(trimmed_mean, lambda: (x[:25].copy(),)),
        Case(canberra, lambda: (x[:200].copy(), x[200:400].copy())),
        Case(spread, lambda: (x[:9].copy(),)),
    ]


def around(idiom: Idiom) -> Case:
    """What users write around computations, as a case."""
    calls = itertools.count()
    return Case(idiom.function, lambda: idiom.make(next(calls) % 100), idiom.fresh, numba=False)


def once(function: Callable[..., Any], case: Case, args: tuple[Any, ...], calls: int) -> float:
    """Seconds of a call."""
    if case.fresh:
        given = [case.make() for _ in range(calls)]
    else:
        given = [args] * calls
    begun = perf_counter()
    for each in given:
        function(*each)
    return (perf_counter() - begun) / calls


def measure(case: Case) -> dict[str, Any]:
    """Plain, compiled and numba's seconds of a call, and first calls."""
    compiled = jit(case.function, cache=False)
    peers: dict[str, Callable[..., Any]] = {"plain": case.function, "npcompile": compiled}
    found: dict[str, Any] = {"name": case.function.__qualname__}
    begun = perf_counter()
    compiled(*case.make())
    found["first"] = perf_counter() - begun
    try:
        if not case.numba:
            raise LookupError("it is not asked")
        import numba

        other = numba.njit(case.function)
        begun = perf_counter()
        other(*case.make())
        found["numba first"] = perf_counter() - begun
        peers["numba"] = other
    except Exception as error:  # what it can't compile it says in many ways
        found["numba refuses"] = type(error).__name__
    args = case.make()
    begun, calls = perf_counter(), 0
    while calls < CALLS and perf_counter() - begun < SECONDS:
        compiled(*(case.make() if case.fresh else args))
        calls += 1
    each = {name: max(1, int(2e-3 / max(once(f, case, args, 1), 1e-7)))
            for name, f in peers.items()}
    least = dict.fromkeys(peers, math.inf)
    for _ in range(ROUNDS):
        for name, function in peers.items():
            least[name] = min(least[name], once(function, case, args, min(each[name], 2000)))
    return {**found, **least, "in python": sum(compiled._dispatcher.fallbacks.values())}


def row(found: dict[str, Any]) -> str:
    """A line of the table."""
    plain, ours, numba = found["plain"], found["npcompile"], found.get("numba")
    beside = "-" if numba is None else f"{plain / numba:.2f}"
    ratio = "" if numba is None else f"{numba / ours:.2f}"
    theirs = "-" if numba is None else f"{1e3 * found['numba first']:.0f}"
    return (f"| {found['name']} | {1e6 * plain:.1f} | {plain / ours:.2f} | {beside} | {ratio} | "
            f"{1e3 * found['first']:.0f} | {theirs} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", action="store_true", help="the page of measurements")
    options = parser.parse_args()
    print(HEAD)
    rows = []
    for case in cases():
        if options.only in case.function.__qualname__:
            rows.append(measure(case))
            print(row(rows[-1]), flush=True)
    print(AROUND)
    others = []
    for idiom in IDIOMS.values():
        if options.only in idiom.function.__qualname__:
            others.append(measure(around(idiom)))
            print(line(others[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    print(summary(rows))
    print(slower(others))
    if options.write:
        PAGE.write_text("\n".join([*page(rows), *around_page(others), ""]))


def line(found: dict[str, Any]) -> str:
    """A line of the table of what users write around computations."""
    plain, ours = found["plain"], found["npcompile"]
    return (f"| {found['name']} | {1e6 * plain:.1f} | {ours / plain:.2f} | "
            f"{1e3 * found['first']:.0f} |")


def slower(rows: list[dict[str, Any]]) -> str:
    """Which functions are slower under ``jit``."""
    slow = [r["name"] for r in rows if r["npcompile"] > 1.06 * r["plain"]]
    return f"Slower than plain by more than 6 %: {', '.join(slow) or 'none'}."


def around_page(rows: list[dict[str, Any]]) -> list[str]:
    """The part of the page on what users write around computations."""
    return [
        "", "## What users write around computations", "",
        f"{len(rows)} functions with progress bars, prints to files, counts of words, globals, "
        "lists of dictionaries, tables in texts and dataclasses", "(`benchmarks/idioms.py`), after "
        "200 calls.  What is not compiled is Python's.", "",
        AROUND, *map(line, rows), "", slower(rows)]


def summary(rows: list[dict[str, Any]]) -> str:
    """What the rows come to."""
    taken = [r for r in rows if "numba" in r]
    fast = [r for r in taken if r["npcompile"] <= 1.05 * r["numba"]]
    theirs = f", numba {mean(taken, 'numba'):.1f}" if taken else ""
    return (f"Geometric mean over plain: {mean(rows):.1f}; of the {len(taken)} that numba takes: "
            f"{mean(taken):.1f}{theirs}.\n{slower(rows)}  As fast as numba or faster, within 5 %: "
            f"{len(fast)} of {len(taken)}.")


def mean(rows: list[dict[str, Any]], name: str = "npcompile") -> float:
    """The geometric mean of times over the plain function's."""
    return math.exp(sum(math.log(r["plain"] / r[name]) for r in rows) / max(len(rows), 1))


def page(rows: list[dict[str, Any]]) -> list[str]:
    """The page of measurements."""
    import numba
    import scipy

    versions = (f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy "
                f"{scipy.__version__}, numba {numba.__version__}")
    return [
        "# Functions as users write them", "",
        f"{len(rows)} functions of image processing, finance, signals, learning, simulation, text "
        "and statistics, written as users do, beside", "plain NumPy and numba's `njit` of the same "
        "text.  Written by `python -m benchmarks.users --write`.", "",
        f"Machine: {os.cpu_count()} cores of an AMD EPYC (Zen 5, a virtual machine), "
        f"{datetime.date.today()}, {versions}.", "How: after 200 calls, plain and compiled calls "
        "take turns; the least of 20 rounds counts.  The machine is shared: ratios",
        "stand, first calls are up to four times what they are on a quiet machine, and functions "
        "that use threads gain less.  `-`:", "numba refuses the function.  First calls are in "
        "milliseconds, without the disk cache.", "", HEAD, *map(row, rows), "", summary(rows)]


if __name__ == "__main__":
    main()
