"""``np.ogrid[key]``, in Python: its bytecode is followed like the user's own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def axis(start: Any, stop: Any, step: Any, floats: bool) -> Any:
    """The numbers along one axis."""
    points = math.ceil((stop - start) / step)
    return np.arange(points, dtype=np.float64 if floats else np.int64) * step + start


def divided(start: Any, stop: Any, count: complex) -> Any:
    """So many numbers from start to stop (``np.ogrid[0:1:5j]``)."""
    points = int(abs(count))
    step = 1
    if points != 1:
        step = (stop - start) / float(points - 1)
    return np.arange(points, dtype=np.float64) * step + start
