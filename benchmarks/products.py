"""``python -m benchmarks.run products``: products beside NumPy's, jax's and torch's.

*Rows* are products that run over blocks of rows with the code around them; *doubles* two products
of one matrix by vectors; *portable* is mode ``"portable"`` beside OpenBLAS.  All are called in
turns in one process, with one thread each (``OPENBLAS_NUM_THREADS=1``, and for jax
``XLA_FLAGS="--xla_cpu_multi_thread_eigen=false"`` on one processor); figures are ratios of medians
of the process's processor time.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from statistics import median
from time import process_time
from typing import Any

import numpy as np

import npcompile
from npcompile.runtime.threads import pool

#: seconds that one turn takes at least, and how many turns
TURN, ROUNDS = 5e-3, 9

Function = Callable[..., Any]


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = (q @ k.swapaxes(-1, -2)) * np.float32(0.125)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)) @ v


def layer(x: Any, w: Any, b: Any) -> Any:
    return np.maximum(x @ w + b, np.float32(0))


def layers(x: Any, w: Any, b: Any) -> Any:
    return np.tanh(np.maximum(x @ w + b, np.float32(0)) @ w + b)


def _attention_torch(q: Any, k: Any, v: Any) -> Any:
    import torch

    return torch.softmax((q @ k.transpose(-1, -2)) * 0.125, -1) @ v


def _layer_torch(x: Any, w: Any, b: Any) -> Any:
    return (x @ w + b).clamp(min=0)


def _layers_torch(x: Any, w: Any, b: Any) -> Any:
    return ((x @ w + b).clamp(min=0) @ w + b).tanh()


#: functions, the same for torch, and shapes of float32 arguments
ROWS: dict[str, tuple[Function, Function, list[tuple[int, ...]]]] = {
    "attention, 8 heads, 1024 x 64": (attention, _attention_torch, [(8, 1024, 64)] * 3),
    "attention, 8 heads, 256 x 64": (attention, _attention_torch, [(8, 256, 64)] * 3),
    "`np.maximum(x @ w + b, 0)`, 10,000 x 64 by 64": (
        layer, _layer_torch, [(10_000, 64), (64, 64), (64,)]),
    "the same, 4,096 x 256 by 256": (layer, _layer_torch, [(4096, 256), (256, 256), (256,)]),
    "two layers and `tanh`, 10,000 x 64": (
        layers, _layers_torch, [(10_000, 64), (64, 64), (64,)]),
}


def medians(functions: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Seconds of a call, in turns."""
    repeats: dict[str, int] = {}
    for name, function in functions.items():
        for _ in range(3):
            function()
        begun = process_time()
        function()
        repeats[name] = max(1, int(TURN / max(process_time() - begun, 1e-9)))
    spent: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(ROUNDS):
        for name, function in functions.items():
            begun = process_time()
            for _ in range(repeats[name]):
                function()
            spent[name].append((process_time() - begun) / repeats[name])
    return {name: median(times) for name, times in spent.items()}


def _numbers(shape: tuple[int, ...], dtype: str) -> Any:
    a = np.random.default_rng(sum(shape)).standard_normal(shape)
    return (a + 1j * a[::-1] if dtype in "FD" else a).astype(dtype)


def _peers(plain: Function, torchs: Function, args: list[Any]) -> dict[str, Callable[[], Any]]:
    ours = npcompile.jit(plain)
    found: dict[str, Callable[[], Any]] = {
        "npcompile": lambda: ours(*args), "numpy": lambda: plain(*args)}
    if importlib.util.find_spec("jax"):
        import jax

        from benchmarks.peers import moved

        theirs = jax.jit(moved(plain, {"np": jax.numpy}))
        arrays = [jax.numpy.asarray(a) for a in args]
        found["jax"] = lambda: theirs(*arrays).block_until_ready()
    if importlib.util.find_spec("torch"):
        import torch

        torch.set_num_threads(1)
        compiled, tensors = torch.compile(torchs), [torch.from_numpy(a) for a in args]
        found["torch"] = lambda: torchs(*tensors)
        found["torch.compile"] = lambda: compiled(*tensors)
    return found


def _rows() -> Iterator[str]:
    names = ["npcompile", "numpy", "jax", "torch", "torch.compile"]
    yield "| ms | " + " | ".join(names) + " | best other over ours |"
    yield "|---|" + "--:|" * (len(names) + 1)
    for name, (plain, torchs, shapes) in ROWS.items():
        found = medians(_peers(plain, torchs, [_numbers(s, "f") for s in shapes]))
        cells = [f"{1e3 * found[who]:.2f}" if who in found else "" for who in names]
        best = min(time for who, time in found.items() if who != "npcompile")
        yield f"| {name} | {' | '.join(cells)} | {best / found['npcompile']:.2f} |"


def _beside_numpy(ours: Function, plain: Function, args: list[Any]) -> tuple[float, float]:
    """NumPy's time over ours, and our seconds."""
    found = medians({"ours": lambda: ours(*args), "numpy": lambda: plain(*args)})
    return found["numpy"] / found["ours"], found["ours"]


def _normal(a: Any, x: Any) -> Any:
    return a.T @ (a @ x)


def _gradient(a: Any, x: Any) -> Any:
    return a.T @ (a @ x - x)


def _both(a: Any, x: Any) -> Any:
    return a @ x, x @ a


def _doubles() -> Iterator[str]:
    sizes = (100, 300, 1000, 2000, 4000)
    yield "| NumPy's time over ours | " + " | ".join(map(str, sizes)) + " |"
    yield "|---|" + "--:|" * len(sizes)
    for name, plain in (("A.T @ (A @ x)", _normal), ("A.T @ (A @ x - b)", _gradient),
                        ("A @ x, x @ A", _both)):
        for dtype in "df":
            cells = []
            for n in sizes:
                args = [_numbers((n, n), dtype), _numbers((n,), dtype)]
                cells.append(f"{_beside_numpy(npcompile.jit(plain), plain, args)[0]:.2f}")
            yield f"| `{name}`, {np.dtype(dtype).name} | {' | '.join(cells)} |"


def _times(a: Any, b: Any) -> Any:
    return a @ b


def _beside_openblas(plain: Function, args: list[Any]) -> tuple[float, float]:
    """OpenBLAS's time over ours in mode ``"portable"``, and our seconds."""
    return _beside_numpy(npcompile.jit(deterministic="portable")(plain), plain, args)


def _portable() -> Iterator[str]:
    sizes = (64, 128, 256, 512, 1024, 2048)
    yield "| OpenBLAS's time over ours (GF/s) | " + " | ".join(map(str, sizes)) + " |"
    yield "|---|" + "--:|" * len(sizes)
    for dtype in "dfDF":
        cells = []
        for n in sizes:
            ratio, time = _beside_openblas(_times, [_numbers((n, n), dtype) for _ in "ab"])
            work = (8 if dtype in "FD" else 2) * n**3
            cells.append(f"{ratio:.2f} ({work / time / 1e9:.0f})")
        yield f"| product, {np.dtype(dtype).name} | {' | '.join(cells)} |"
    for name, order in (("C", "C"), ("Fortran", "F")):
        cells = []
        for n in sizes:
            a = np.asarray(_numbers((n, n), "d"), order=order)
            cells.append(f"{_beside_openblas(_times, [a, _numbers((n,), 'd')])[0]:.2f}")
        yield f"| matrix by vector, float64, {name} order | {' | '.join(cells)} |"


#: factorisations, and the rows of their matrices
FACTORS: dict[str, tuple[Function, int]] = {
    "solve": (lambda a: np.linalg.solve(a, a[:, :3]), 512),
    "inv": (lambda a: np.linalg.inv(a), 512),
    "det (LU)": (lambda a: np.linalg.det(a), 512),
    "cholesky": (lambda a: np.linalg.cholesky(a), 512),
    "qr": (lambda a: np.linalg.qr(a), 512),
    "eigh": (lambda a: np.linalg.eigh(a), 32),
    "svd": (lambda a: np.linalg.svd(a), 32),
}


def _factors() -> Iterator[str]:
    yield "| OpenBLAS's time over ours | rows | |\n|---|--:|--:|"
    for name, (plain, n) in FACTORS.items():
        a = _numbers((n, n), "d")
        a = a @ a.T / n + np.eye(n)
        yield f"| {name} | {n} | {_beside_openblas(plain, [a])[0]:.2f} |"


def _bits() -> str:
    """How many functions have how many sums of bits on several kinds of machines."""
    pages = set()
    for capability, threads in (("default", 1), ("default", 2), ("avx2", 3), ("scalar", 1)):
        environment = {**os.environ, "NPCOMPILE_CPU_CAPABILITY": capability,
                       "NPCOMPILE_NUM_THREADS": str(threads)}
        done = subprocess.run([sys.executable, "-m", "tests.linalg.portable_page"], check=True,
                              env=environment, capture_output=True, text=True)
        pages.add(done.stdout)
    count = len(next(iter(pages)).splitlines())
    return (f"{count} products and factorisations in C order, Fortran order, with steps and"
            f" reversed rows, on AVX-512, AVX2 and one lane, 1 to 3 threads: {len(pages)} page of"
            " sums.")


def table(options: Any) -> list[str]:
    """Rows, doubles, portable."""
    pool.set_num_threads(1)
    found = ["Products that run over blocks of rows, float32:", "", *_rows(), "",
             "Two products of one matrix by vectors:", "", *_doubles(), "",
             'Mode `"portable"`:', "", *_portable(), "", *_factors(), "", _bits()]
    return found
