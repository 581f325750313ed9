"""``prange``: a range whose iterations are independent, as the program says."""

from __future__ import annotations

from typing import SupportsIndex


def prange(
    start: SupportsIndex, stop: SupportsIndex | None = None, step: SupportsIndex = 1
) -> range:
    """``range``, for loops whose iterations don't depend on each other.

    In Python it is a range.  Compiled loops run side by side where that is proved, whichever of
    the two they are written with, and one iteration after the other where it is not: the results
    are Python's, for any number of threads.  ``f.explain(...)`` says of each loop how it runs, and
    why.

    Examples
    --------
    >>> from npcompile import prange
    >>> list(prange(3))
    [0, 1, 2]
    """
    return range(start) if stop is None else range(start, stop, step)
