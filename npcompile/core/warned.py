"""What becomes of warnings while functions are tried out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, cast


@contextmanager
def all_warnings(action: Literal["error", "ignore"]) -> Iterator[None]:
    """Every warning raises, or is ignored.  Unlike ``warnings.catch_warnings``, what this process
    has been told so far is not forgotten, so that the user is not told again.

    >>> with all_warnings("error"):
    ...     warnings.warn("a word")
    Traceback (most recent call last):
    UserWarning: a word
    """
    filters = cast("list[Any]", warnings.filters)
    rule = (action, None, Warning, None, 0)
    filters.insert(0, rule)
    try:
        yield
    finally:
        filters.remove(rule)
