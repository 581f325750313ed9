"""Sums of the bits of products, factorisations and transforms in mode ``"portable"``.

    python -m tests.linalg.portable_page               prints all sums of this process
    python -m tests.linalg.portable_page COUNT SEED    prints some of them
    python -m tests.linalg.portable_page all           compares all widths and numbers of threads

Each function is called with operands in C and in Fortran order, spread out and reversed, and those
that take batches with a batch of one and of a thousand (:data:`MOST`): a sum is of one result, of
which the others must have the bits.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile import jit

#: matrices or rows of a batch, and how many numbers a batch has at most
MANY, MOST = 1000, 1 << 23
CAPABILITIES, THREADS = ("default", "avx2", "scalar"), (1, 2, 3)
#: the first words of names of functions whose operands may be batches
_BATCHES = ("matmul", "solve", "inv", "det", "cholesky", "qr", "slogdet", "eigh", "eigvalsh", "svd",
            "svdvals", "fft", "ifft", "rfft", "irfft", "hfft", "fft2")


def numbers(dtype: str, *shape: int) -> Any:
    rng = np.random.default_rng(sum(shape))
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape) if dtype in "DF" else a).astype(dtype)


def products() -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    """Products of every way to compute them: functions and operands."""
    found: dict[str, tuple[Callable[..., Any], list[Any]]] = {}
    for dtype in "dfDF":
        for m, k, n in ((5, 7, 3), (64, 64, 64), (130, 500, 77), (200, 1000, 50)):
            a, b = numbers(dtype, m, k), numbers(dtype, k, n)
            found[f"matmul {dtype} {m}"] = (lambda a, b: a @ b), [a, b]
        a, x = numbers(dtype, 300, 517), numbers(dtype, 517)
        found[f"matrix by vector {dtype}"] = (lambda a, x: a @ x), [a, x]
        found[f"vector by matrix {dtype}"] = (lambda a, x: x @ a.T), [a, x]
        found[f"dot {dtype}"] = (lambda a, x: np.dot(a[3], x)), [a, x]
        found[f"inner {dtype}"] = (lambda a, x: np.inner(a, a[:9])), [a, x]
        found[f"times its transpose {dtype}"] = (lambda a, x: a.T @ a), [a, x]
        found[f"einsum {dtype}"] = (lambda a, x: np.einsum("ij,kj->ik", a, a[:50])), [a, x]
    for dtype in "df":
        x, w, b = numbers(dtype, 207, 300), numbers(dtype, 300, 53), numbers(dtype, 53)
        found[f"product and bias {dtype}"] = (lambda x, w, b: (x @ w + b) / 3), [x, w, b]
        q = numbers(dtype, 3, 203, 24)
        found[f"rows between products {dtype}"] = _normalised, [q]
    return found


def _normalised(q: Any) -> Any:
    scores = q @ q.swapaxes(-1, -2)
    return (scores - scores.mean(axis=-1, keepdims=True)) @ (q[..., :9] * q.dtype.type(2))


def factorisations() -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    """What is built over products: functions and operands."""
    linalg = np.linalg
    found: dict[str, tuple[Callable[..., Any], list[Any]]] = {}
    for dtype in "dfD":
        for n in (5, 70):
            a = numbers(dtype, n, n)
            positive = (a @ a.conj().T + n * np.eye(n)).astype(dtype)
            batch = np.stack([a, a + 1])
            found[f"solve {dtype} {n}"] = (lambda a: linalg.solve(a, a[..., :3])), [a]
            found[f"one side {dtype} {n}"] = (lambda a: linalg.solve(a, a[0])), [a]
            found[f"inv {dtype} {n}"] = linalg.inv, [a]
            found[f"inv of two {dtype} {n}"] = linalg.inv, [batch]
            found[f"det {dtype} {n}"] = linalg.det, [a]
            found[f"cholesky {dtype} {n}"] = linalg.cholesky, [positive]
            if dtype != "f":
                found[f"qr {dtype} {n}"] = linalg.qr, [a[:, : n - 2].copy()]
    a = numbers("d", 20, 20)
    found["slogdet"] = linalg.slogdet, [a]
    found["eigh"] = linalg.eigh, [a + a.T]
    found["eigvalsh"] = linalg.eigvalsh, [a + a.T]
    found["svd"] = linalg.svd, [a]
    found["svdvals"] = linalg.svdvals, [a[:9].copy()]
    return found


def transforms() -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    """Fourier transforms by every kind of plan."""
    fft = np.fft
    found: dict[str, tuple[Callable[..., Any], list[Any]]] = {}
    for n in (6, 60, 1024, 17, 1009, 1042, 1 << 16):
        for dtype in "DF" if n < 1000 else "D":
            rows = numbers(dtype, 2, n)
            found[f"fft {dtype} {n}"] = (lambda a: fft.fft(a)), [rows]
            found[f"ifft {dtype} {n}"] = (lambda a: fft.ifft(a)), [rows]
    for n in (16, 21, 720):
        found[f"rfft d {n}"] = (lambda a: fft.rfft(a)), [numbers("d", 2, n)]
        found[f"irfft D {n}"] = (lambda a: fft.irfft(a)), [numbers("D", 2, n)]
    found["hfft D 30"] = (lambda a: fft.hfft(a)), [numbers("D", 2, 30)]
    found["fft2 D 12"] = (lambda a: fft.fft2(a)), [numbers("D", 12, 40)]
    found["along the first axis"] = (lambda a: fft.fft(a, axis=0)), [numbers("D", 60, 11)]
    found["longer rows"] = (lambda a: fft.fft(a, n=64)), [numbers("d", 3, 50)]
    return found


Lines = dict[str, tuple[Callable[..., Any], list[Any]]]


def lines() -> Lines:
    return products() | factorisations() | transforms()


def sums(found: Lines) -> dict[str, str]:
    """Of the results of each function on operands in C order; all other orders, and batches, must
    give the same."""
    told = {}
    for name, (function, operands) in found.items():
        compiled = jit(_call(function), deterministic="portable", fullgraph=True)
        calls = [(arrays, None) for arrays in _laid_out(operands)]
        if name.split()[0] in _BATCHES:
            calls += _batches(operands)
        bits = {digest(compiled(*arrays), place) for arrays, place in calls}
        assert len(bits) == 1, name
        told[name] = bits.pop()
    return told


def digest(found: Any, place: int | None) -> str:
    """The sum of a call's results, or of those at a place of a batch."""
    parts = found if isinstance(found, tuple) else (found,)
    return hashlib.sha256(b"".join(np.ascontiguousarray(
        x if place is None else x[place]).tobytes() for x in parts)).hexdigest()


def _batches(operands: list[Any]) -> list[tuple[list[Any], int]]:
    """Batches of one and of many operands, and the places at which these operands are."""
    many = max(3, min(MANY, MOST // max(x.size for x in operands)))
    spread = [np.stack([x * x.dtype.type(1 + k % 7 / 8) for k in range(many)]) for x in operands]
    for batch, x in zip(spread, operands, strict=True):
        batch[many // 2] = batch[-1] = x
    return [([x[None] for x in operands], 0), *[(spread, k) for k in (0, many // 2, -1)]]


def _call(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands: function(*operands)


def _laid_out(operands: list[Any]) -> list[list[Any]]:
    wide = [np.repeat(x, 2, axis=-1)[..., ::2] for x in operands]
    return [operands, [np.asfortranarray(x) for x in operands], wide,
            [np.ascontiguousarray(x[::-1])[::-1] for x in operands]]


def output(capability: str, threads: int, *arguments: str) -> str:
    """The page of another process."""
    environment = {**os.environ, "NPCOMPILE_CPU_CAPABILITY": capability,
                   "NPCOMPILE_NUM_THREADS": str(threads)}
    done = subprocess.run([sys.executable, "-m", "tests.linalg.portable_page", *arguments],
                          env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def main() -> None:
    found = lines()
    if sys.argv[1:] == ["all"]:
        kinds = list(itertools.product(CAPABILITIES, THREADS))
        pages = {kind: output(*kind) for kind in kinds}
        bad = [kind for kind in kinds if pages[kind] != pages[kinds[0]]]
        print(f"{len(found)} functions, {len(kinds)} processes, {len(bad)} differ", *bad, sep="\n")
        raise SystemExit(bool(bad))
    if sys.argv[1:]:
        count, seed = map(int, sys.argv[1:])
        found = {name: found[name] for name in random.Random(seed).sample(sorted(found), count)}
    for name, told in sums(found).items():
        print(f"{name}: {told}")


if __name__ == "__main__":
    main()
