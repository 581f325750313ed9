"""Whether anything that others can tell has happened: what calls such things says so."""

from __future__ import annotations

from itertools import count

_numbers = count(1)
_latest = 0


def happened() -> None:
    """Something has, on whatever thread: no two times have the same number."""
    global _latest
    _latest = next(_numbers)


def latest() -> int:
    """The number of the latest; another one than before: something has happened since."""
    return _latest
