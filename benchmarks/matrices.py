"""``python -m benchmarks.run matrices``: linear algebra, compiled beside NumPy's and torch's.

Compiled functions, NumPy's and torch's are called in turns in one process; a figure is the ratio of
medians of the thread's processor time, with one thread each (``OPENBLAS_NUM_THREADS=1``).
*Batches* are many small matrices, with the backward error beside that of LAPACK.  *Sizes* has
every routine from 2 to 512 rows, single matrices and small batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from time import thread_time
from typing import Any

import numpy as np

import npcompile
from npcompile.runtime.threads import pool

#: seconds that one turn takes at least, and how many turns
TURN, ROUNDS = 2e-3, 9
#: matrices of a batch, by their rows
COUNTS = {3: 100_000, 4: 100_000, 8: 20_000}
SIZES = (2, 3, 4, 8, 9, 16, 32, 64, 128, 256, 512)

linalg = np.linalg
Function = Callable[..., Any]


def _solve(a: Any) -> Any:
    return linalg.solve(a, a[..., ::-1])


def _inv(a: Any) -> Any:
    return linalg.inv(a)


def _det(a: Any) -> Any:
    return linalg.det(a)


def _slogdet(a: Any) -> Any:
    return linalg.slogdet(a)


def _cholesky(a: Any) -> Any:
    return linalg.cholesky(a)


def _qr(a: Any) -> Any:
    return linalg.qr(a)


def _eigh(a: Any) -> Any:
    return linalg.eigh(a)


def _eigvalsh(a: Any) -> Any:
    return linalg.eigvalsh(a)


def _svd(a: Any) -> Any:
    return linalg.svd(a)


def _svdvals(a: Any) -> Any:
    return linalg.svdvals(a)


#: those of which batches of small matrices have kernels
ROUTINES: dict[str, Function] = {
    f.__name__[1:]: f
    for f in (_solve, _inv, _det, _slogdet, _cholesky, _qr, _eigh, _eigvalsh, _svd, _svdvals)
}


def _pinv(a: Any) -> Any:
    return linalg.pinv(a)


def _norm(a: Any) -> Any:
    return linalg.norm(a, axis=(-2, -1))


def _norm_2(a: Any) -> Any:
    return linalg.norm(a, 2, axis=(-2, -1))


def _cond(a: Any) -> Any:
    return linalg.cond(a)


def _matrix_rank(a: Any) -> Any:
    return linalg.matrix_rank(a)


def _matrix_power(a: Any) -> Any:
    return linalg.matrix_power(a, 5)


def _matmul(a: Any) -> Any:
    return a @ a


def _eig(a: Any) -> Any:
    return linalg.eig(a)


def _eigvals(a: Any) -> Any:
    return linalg.eigvals(a)


def _lstsq(a: Any) -> Any:
    return linalg.lstsq(a, a[:, 0])


def _multi_dot(a: Any) -> Any:
    return linalg.multi_dot([a, a, a[:, 0]])


def _tensorsolve(a: Any) -> Any:
    return linalg.tensorsolve(a, a[0])


COMPOSED: dict[str, Function] = {
    f.__name__[1:]: f
    for f in (_pinv, _norm, _norm_2, _cond, _matrix_rank, _matrix_power, _matmul, _eig, _eigvals)
}
SINGLE: dict[str, Function] = {
    f.__name__[1:]: f for f in (_lstsq, _multi_dot, _tensorsolve)
}


def _torchs(name: str) -> Function | None:
    """torch's function of the same name, for arrays."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    theirs = getattr(torch.linalg, name)

    def function(a: Any) -> Any:
        tensor = torch.from_numpy(a)
        return theirs(tensor, tensor.flip(-1)) if name == "solve" else theirs(tensor)

    return function


def matrices(shape: tuple[int, ...]) -> Any:
    """Symmetric positive definite ones."""
    a = np.random.default_rng(0).standard_normal(shape)
    return a @ a.swapaxes(-1, -2) / shape[-1] + np.eye(shape[-1])


def medians(functions: dict[str, Function], a: Any) -> dict[str, float]:
    """Seconds of a call, in turns."""
    repeats: dict[str, int] = {}
    for name, function in functions.items():
        function(a)
        begun = thread_time()
        function(a)
        repeats[name] = max(1, int(TURN / max(thread_time() - begun, 1e-9)))
    spent: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(ROUNDS):
        for name, function in functions.items():
            begun = thread_time()
            for _ in range(repeats[name]):
                function(a)
            spent[name].append((thread_time() - begun) / repeats[name])
    return {name: median(times) for name, times in spent.items()}


def _residual(difference: Any, *factors: Any) -> float:
    """The largest error of a batch in units of its factors' rounding errors."""
    scale: Any = np.finfo(float).eps
    for factor in factors:
        scale = scale * linalg.norm(factor, 1, axis=(-2, -1))
    return float((linalg.norm(difference, 1, axis=(-2, -1)) / scale).max())


#: the backward error of a result, given the matrices
ERRORS: dict[str, Callable[[Any, Any], float]] = {
    "solve": lambda a, x: _residual(a @ x - a[..., ::-1], a, x),
    "inv": lambda a, x: _residual(a @ x - np.eye(a.shape[-1]), a, x),
    "cholesky": lambda a, x: _residual(x @ x.swapaxes(-1, -2) - a, a),
    "qr": lambda a, x: _residual(x[0] @ x[1] - a, a),
    "eigh": lambda a, x: _residual(a @ x[1] - x[1] * x[0][..., None, :], a),
    "svd": lambda a, x: _residual(x[0] * x[1][..., None, :] @ x[2] - a, a),
}


def _batches() -> Iterator[str]:
    for n, count in COUNTS.items():
        a = matrices((count, n, n))
        for name, plain in ROUTINES.items():
            functions = {"ours": npcompile.jit(plain), "numpy": plain}
            torchs = _torchs(name)
            if torchs is not None:
                functions["torch"] = torchs
            error = ERRORS.get(name, lambda a, x: float("nan"))
            ours, theirs = (error(a, functions[who](a)) for who in ("ours", "numpy"))
            found = medians(functions, a)
            numpys, mine = found["numpy"], found["ours"]
            best = min(numpys, found.get("torch", numpys))
            errors = "" if ours != ours else f"{ours:.1f}, {theirs:.1f}"
            yield (f"| {name} | {n} x {n} | {1e9 * mine / count:.1f} | {1e9 * numpys / count:.0f} |"
                   f" {numpys / mine:.1f} | {best / mine:.1f} | {errors} |")


def _sizes() -> Iterator[tuple[str, str, int, float]]:
    """Routine, kind, rows, and NumPy's time over ours."""
    for n in SIZES:
        for kind, shape in (("single", (n, n)), ("batch", (max(2, min(64, 4096 // n)), n, n))):
            if kind == "batch" and n > 128:
                continue
            a = matrices(shape)
            for name, plain in (ROUTINES | COMPOSED | (SINGLE if kind == "single" else {})).items():
                found = medians({"ours": npcompile.jit(plain), "numpy": plain}, a)
                yield name, kind, n, found["numpy"] / found["ours"]


def table(options: Any) -> list[str]:
    """Batches, then sizes."""
    pool.set_num_threads(1)
    rows = [
        "| routine | rows | ours, ns a matrix | NumPy | NumPy over ours | best other over ours |"
        " backward error, LAPACK's |",
        "|---|---|--:|--:|--:|--:|--:|",
        *_batches(), "",
        "| routine | kind | " + " | ".join(map(str, SIZES)) + " |",
        "|---|---|" + "--:|" * len(SIZES),
    ]
    found = {(name, kind, n): ratio for name, kind, n, ratio in _sizes()}
    for name, kind in dict.fromkeys((name, kind) for name, kind, _ in found):
        cells = [f"{found[name, kind, n]:.2f}" if (name, kind, n) in found else ""
                 for n in SIZES]
        rows.append(f"| {name} | {kind} | " + " | ".join(cells) + " |")
    return rows
