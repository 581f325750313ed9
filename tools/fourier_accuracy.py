"""Errors of Fourier transforms beside SciPy's: ``python -m tools.fourier_accuracy``.

The L2 error of uniform numbers against SciPy's transform in long double, in units of
``u sqrt(log2 n)``, where ``u`` is half a unit in the last place (fftw.org/accuracy).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.fft

import npcompile

SMOOTH = (16, 64, 256, 1000, 1024, 1155, 4096, 19683, 1 << 16, 1 << 20, 1 << 22)
OTHER = (17, 97, 1009, 1042, 10007, 65537)


def error(made: Any, exact: Any) -> float:
    """In units of ``u sqrt(log2 n)``; the first axis is of samples."""
    u = float(np.finfo(made.dtype).eps) / 2
    relative = float(np.linalg.norm(made - exact) / np.linalg.norm(exact))
    return relative / (u * math.sqrt(math.log2(made.shape[-1])))


def main() -> None:
    compiled = npcompile.jit(lambda a: scipy.fft.fft(a))
    print("| n | float64 | SciPy | float32 | SciPy |\n|--:|--:|--:|--:|--:|")
    for n in (*SMOOTH, *OTHER):
        rng, found = np.random.default_rng(n), []
        shape = max(1, 20000 // n), n
        x = rng.random(shape) - 0.5 + 1j * (rng.random(shape) - 0.5)
        for dtype in (np.complex128, np.complex64):
            a = x.astype(dtype)
            exact = scipy.fft.fft(a.astype(np.clongdouble))
            found += [error(compiled(a), exact), error(scipy.fft.fft(a), exact)]
        print(f"| {n} | {' | '.join(f'{e:.2f}' for e in found)} |", flush=True)


if __name__ == "__main__":
    main()
