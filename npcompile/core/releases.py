"""The release of NumPy at hand: functions whose results differ between those that are served ask
for it."""

import numpy as np

_RELEASE = tuple(map(int, np.__version__.split(".")[:2]))


def numpy_before(*release: int) -> bool:
    """Whether NumPy is older than a release.

    >>> numpy_before(2, 0), numpy_before(99, 0)
    (False, True)
    """
    return release > _RELEASE
