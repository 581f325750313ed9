"""A function of ten operations, for first-call times."""

from __future__ import annotations

from typing import Any

import numpy as np


def ten(a: Any, b: Any, c: Any) -> Any:
    s = a * a + b * b
    t = np.abs(a - c) * s
    u = np.where(b < 0.0, t, c * 0.5)
    return (u + t) * (s + 1.5)
