"""Sizes in words, for messages: names of sizes that only the run can tell are the compiler's."""

from __future__ import annotations

from npcompile.core.sizes import Size, symbols

UNKNOWN = "a length that only the run can tell"


def size_words(size: Size) -> str:
    """A size as its expression, or that only the run can tell it.

    >>> size_words(3)
    '3'
    """
    unknown = any(symbol.hint is None for symbol in symbols(size))
    return UNKNOWN if unknown else repr(size)


def rows_words(rows: Size) -> str:
    """The rows that are taken block by block, with their number where it is known.

    >>> rows_words(3)
    'the 3 rows'
    """
    number = size_words(rows)
    return "the rows" if number == UNKNOWN else f"the {number} rows"
