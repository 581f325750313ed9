"""Ranges that are known; other ranges are positions in themselves, until a loop begins."""

from __future__ import annotations

from npcompile.python.constants import ConstantType


class RangeType(ConstantType):
    """A ``range``."""

    subclasses = True
    base = range
