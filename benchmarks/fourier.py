"""``python -m benchmarks.fourier``: transforms beside the libraries of Fourier transforms.

Every cell runs in one process on one thread, the entries in turns; a figure is the least processor
time of some rounds.  FFTW is a bare plan (MEASURE) between arrays of its own from 2**8 points on;
all other entries are their Python functions, with fresh results.  float32 is transformed in
float32: by ``scipy.fft``, as ``numpy.fft`` computes in float64.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

for _name in ("OMP", "MKL", "OPENBLAS", "NPCOMPILE"):
    os.environ.setdefault(f"{_name}_NUM_THREADS", "1")

import numpy as np  # noqa: E402

import npcompile  # noqa: E402

Entry = Callable[[], Any]
Shape = tuple[int, ...]

#: the name of a cell, a shape, and the transformed axes
CELLS: list[tuple[str, Shape, tuple[int, ...]]] = [
    *[(f"2^{k}", (1 << k,), (0,)) for k in range(4, 23)],
    *[(str(n), (n,), (0,)) for n in (1000, 1009, 1155, 10007, 19683)],
    ("1000 x 1024, rows", (1000, 1024), (1,)), ("1000 x 1024, columns", (1000, 1024), (0,)),
    ("1000 x 1009, rows", (1000, 1009), (1,)), ("100000 x 16, rows", (100000, 16), (1,)),
    ("1024 x 1024", (1024, 1024), (0, 1)), ("128 x 128 x 128", (128, 128, 128), (0, 1, 2)),
]
KINDS = {"c2c float64": "D", "c2c float32": "F", "r2c float64": "d", "r2c float32": "f"}
OURS = ("npcompile", "eager")
WARM = 24  #: calls before any is timed: functions that are called often are compiled


def numbers(shape: Shape, char: str) -> Any:
    rng = np.random.default_rng(0)
    a = rng.random(shape) - 0.5
    return (a + 1j * (rng.random(shape) - 0.5) if char in "DF" else a).astype(char)


def _named(module: Any, a: Any, axes: tuple[int, ...], real: bool, along: str = "") -> Entry:
    """A call of a module with NumPy's names, whose parameters may be called otherwise."""
    name, one = "rfft" if real else "fft", len(axes) == 1
    function = getattr(module, name if one else f"{name}n")
    options: dict[str, Any] = {along or ("axis" if one else "axes"): axes[0] if one else axes}
    return lambda: function(a, **options)


def ours(a: Any, axes: tuple[int, ...], real: bool) -> Entry:
    import scipy.fft

    module = np.fft if a.dtype.char in "dD" else scipy.fft
    name, key = ("rfft" if real else "fft"), "axis" if len(axes) == 1 else "axes"
    name, where = (name, axes[0]) if len(axes) == 1 else (f"{name}n", axes)
    source = f"lambda a: fft.{name}(a, {key}={where!r})"
    compiled = npcompile.jit(eval(source, {"fft": module}))
    return lambda: compiled(a)


def eager(a: Any, axes: tuple[int, ...], real: bool) -> Entry:
    return _named(npcompile.fft, a, axes, real)


def with_numpy(a: Any, axes: tuple[int, ...], real: bool) -> Entry:
    return _named(np.fft, a, axes, real)


def with_scipy(a: Any, axes: tuple[int, ...], real: bool) -> Entry:
    import scipy.fft

    return _named(scipy.fft, a, axes, real)


def with_mkl(a: Any, axes: tuple[int, ...], real: bool) -> Entry:
    import mkl_fft

    return _named(mkl_fft, a, axes, real)


def with_ducc(a: Any, axes: tuple[int, ...], real: bool) -> Entry:
    import ducc0

    function = ducc0.fft.r2c if real else ducc0.fft.c2c
    return lambda: function(a, axes=axes, nthreads=1)


def with_torch(a: Any, axes: tuple[int, ...], real: bool) -> Entry:
    import torch

    torch.set_num_threads(1)
    return _named(torch.fft, torch.from_numpy(a), axes, real, "dim")


def with_fftw(a: Any, axes: tuple[int, ...], real: bool) -> Entry:
    import pyfftw

    shape = list(a.shape)
    if real:
        shape[axes[-1]] = shape[axes[-1]] // 2 + 1
    source = pyfftw.empty_aligned(a.shape, a.dtype)
    made = pyfftw.empty_aligned(tuple(shape), np.result_type(a.dtype, np.complex64))
    plan = pyfftw.FFTW(source, made, axes=axes, threads=1, flags=("FFTW_MEASURE",))
    source[...] = a
    bare: Entry = plan.execute
    return bare if a.size >= 256 else lambda: plan(a)


PEERS: dict[str, Callable[[Any, tuple[int, ...], bool], Entry]] = {
    "npcompile": ours, "eager": eager, "numpy": with_numpy, "scipy": with_scipy, "MKL": with_mkl,
    "FFTW": with_fftw, "ducc0": with_ducc, "torch": with_torch,
}


def installed() -> list[str]:
    """The entries that can be imported here."""
    found = []
    for name, make in PEERS.items():
        try:
            make(numbers((16,), "D"), (0,), False)()
        except ImportError:
            continue
        found.append(name)
    return found


def turns(entries: dict[str, Entry], rounds: int, slice_s: float = 1.5e-3) -> dict[str, float]:
    """The least processor time of a call, in seconds."""
    best, calls = dict.fromkeys(entries, 1e9), {}
    for name, entry in entries.items():
        start, count = time.thread_time(), 0
        while count < 3 or (count < WARM and time.thread_time() - start < 1.0):
            entry()
            count += 1
        start, count = time.thread_time(), 0
        while count < 3 or time.thread_time() - start < slice_s:
            entry()
            count += 1
        calls[name] = max(1, int(slice_s * count / (time.thread_time() - start)))
    for _ in range(rounds):
        for name, entry in entries.items():
            start = time.thread_time()
            for _ in range(calls[name]):
                entry()
            best[name] = min(best[name], (time.thread_time() - start) / calls[name])
    return best


def measured(
    names: list[str], words: list[str], rounds: int
) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Each cell whose name has all words: its name, its kind, and the times of the entries."""
    for name, shape, axes in CELLS:
        for kind, char in KINDS.items():
            if words and not any(word in (name, kind, f"{name} {kind}") for word in words):
                continue
            a = numbers(shape, char)
            entries = {peer: PEERS[peer](a, axes, char in "df") for peer in names}
            yield name, kind, turns(entries, rounds if a.size < 1 << 18 else max(5, rounds // 2))


def _shown(seconds: float) -> str:
    return f"{seconds * 1e6:.3g}" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms"


def line(name: str, times: dict[str, float]) -> str:
    """A row of the table; the last figures: the best other entry's time over ours, SciPy's over
    ours."""
    others = [t for peer, t in times.items() if peer not in OURS]
    figures = [f"{min(others) / times['npcompile']:.2f}",
               f"{times.get('scipy', float('nan')) / times['npcompile']:.2f}"]
    return " | ".join(["", name, *map(_shown, times.values()), *figures, ""]).strip()


_FIRST = """
import sys, time
import numpy as np, numpy.fft, npcompile
def timed(f, n):
    x = np.arange(n) + 0j
    start = time.process_time()
    f(x)
    return (time.process_time() - start) * 1e3
plain = npcompile.jit(lambda x: np.real(np.abs(x) * 2 + 1))
other = npcompile.jit(lambda x: np.imag(np.fft.fft(x) * 2 + 1))
f = npcompile.jit(lambda x: np.real(np.fft.fft(x) * 2 + 1))
npcompile.jit(lambda x: x * 2 + 1)(np.arange(10.0))
if sys.argv[1] == "length":
    for n in [128, 512] * 20:
        f(np.arange(n) + 0j)
elif sys.argv[1].startswith("other"):
    other(np.arange(1024) + 0j)
print(timed(plain if sys.argv[1].endswith("plain") else f, 1024))
"""


def first_calls(processes: int = 9) -> list[str]:
    """Milliseconds of processor time of first calls in new processes, medians."""
    def run(cache: str, what: str) -> float:
        env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run([sys.executable, "-c", _FIRST, what], capture_output=True, text=True,
                              check=True, env={**env, "NPCOMPILE_CACHE_DIR": cache})
        return float(done.stdout)

    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for what in ("plain", "other", "fft"):
            run(os.path.join(folder, "kept"), what)
        for k in range(processes):
            for what in ("plain", "fft", "other", "other plain"):
                found.setdefault(f"disk {what}", []).append(
                    run(os.path.join(folder, "kept"), what))
            for what in ("plain", "fft", "length"):
                found.setdefault(f"empty {what}", []).append(
                    run(os.path.join(folder, f"{what} {k}"), what))
    ms = {name: statistics.median(times) for name, times in found.items()}
    pairs = {"empty fft": "empty plain", "disk fft": "disk plain", "disk other": "disk other plain"}
    beyond = {what: ms[what] - ms[plain] for what, plain in pairs.items()}
    rows = [
        ("first call with an empty cache, beyond a function without the transform",
         beyond["empty fft"]),
        ("a new length whose codelets are there", ms["empty length"]),
        ("the process's first transform, from disk, beyond such a function",
         beyond["disk fft"]),
        ("the next function's, from disk, beyond such a function", beyond["disk other"]),
    ]
    return ["| 1024 points, complex128 | ms |", "|---|--:|",
            *[f"| {name} | {time:.1f} |" for name, time in rows]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="names of cells or kinds")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--without", nargs="*", default=[], help="entries to leave out")
    parser.add_argument("--first", action="store_true", help="first calls only")
    options = parser.parse_args()
    if options.first:
        print("\n".join(first_calls()))
        return
    names = [name for name in installed() if name not in options.without]
    print(" | ".join(["", "cell", *names, "best / ours", "scipy / ours", ""]).strip())
    print("|---" * (len(names) + 3) + "|")
    near = whole = behind = 0
    for name, kind, times in measured(names, options.words, options.rounds):
        print(line(f"{name} {kind}", times), flush=True)
        mine = times["npcompile"]
        whole += 1
        near += mine <= 1.1 * min(t for peer, t in times.items() if peer not in OURS)
        behind += mine > times.get("scipy", mine)
    print(f"\n{near} of {whole} cells within 1.1 of the best, {behind} slower than SciPy")


if __name__ == "__main__":
    main()
