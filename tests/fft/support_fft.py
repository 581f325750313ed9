"""What tests of transforms share."""

from __future__ import annotations

import hashlib
import math

import numpy as np

#: one length for each kind of plan and of radix, small and large
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 16, 17, 20, 31, 32, 33, 34, 36, 64, 97, 100, 128,
           1000, 1009, 1024, 1155, 2187)


def numbers(seed: int, shape: tuple[int, ...], char: str) -> np.ndarray:
    """Uniform numbers of a dtype."""
    rng = np.random.default_rng(seed)
    if char in "FD":
        return (rng.random(shape) - 0.5 + 1j * (rng.random(shape) - 0.5)).astype(char)
    return ((rng.random(shape) - 0.5) * (1 if char in "fd" else 100)).astype(char)


def error(result: np.ndarray, exact: np.ndarray) -> float:
    """The error in the Euclidean norm, in units in the last place."""
    unit = float(np.finfo(result.dtype).eps) / 2
    return float(np.linalg.norm(result - exact) / np.linalg.norm(exact)) / unit


def bound(n: int, smooth: bool = True) -> float:
    """What an error may be."""
    return (0.7 if smooth else 2.0) * math.sqrt(math.log2(n)) if n > 1 else 0.0


def digest(*arrays: np.ndarray) -> str:
    return hashlib.sha256(b"".join(a.tobytes() for a in arrays)).hexdigest()
