"""Functions that tests call from another file."""

from __future__ import annotations

from typing import Any

import numpy as np


def positive_root(x: Any) -> Any:
    """Of numbers that are positive."""
    if (x < 0).any():
        raise ValueError("negative")
    return np.sqrt(
        x
    )


def unknown(x: Any) -> Any:
    """Calls what is not compiled."""
    return np.asarray(memoryview(x))
