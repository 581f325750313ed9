"""Memory in which compiled code notes when its statements begin and end.

All is in words of 64 bits, so that machine code and Python share it::

    0                     events that there are room for
    1                     events so far
    2                     then, for each mark, four words: the time at which it begins, the sum of
                          its times, how often it ended, and the sum of its amounts
    2 + 4 * MARKS         then, for each event, four words: mark, begin, end, amount

Times are those of the processor's counter.  A mark that ends when there is no room for another
event still counts in its sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from npcompile.core.records import record

MARKS, EVENTS = 4096, 1 << 16
#: words of each mark and of each event, and where they begin
WORDS, FIRST_MARK = 4, 2
FIRST_EVENT = FIRST_MARK + WORDS * MARKS


@record(eq=False)
class StatementMark:
    """A statement of a program; None: the program itself.  ``around`` is the mark of the loop in
    which it is timed on its own."""

    program: Any
    statement: Any
    around: int | None = None


@record
class Event:
    """One run of a statement, in the counter's time."""

    mark: int
    begin: int
    end: int
    amount: int


class Recorder:
    """The memory, and which statement each mark stands for."""

    def __init__(self) -> None:
        self._words = np.zeros(FIRST_EVENT + WORDS * EVENTS, np.int64)
        self._words[0] = EVENTS
        self.marks: list[StatementMark] = []

    @property
    def address(self) -> int:
        """Where the memory is."""
        return int(self._words.ctypes.data)

    def mark(self, program: Any, statement: Any, around: int | None = None) -> int | None:
        """A new mark; None if there are too many."""
        if len(self.marks) == MARKS:
            return None
        self.marks.append(StatementMark(program, statement, around))
        return len(self.marks) - 1

    @property
    def count(self) -> int:
        """The number of events so far."""
        return int(self._words[1])

    def begin(self, number: int) -> int:
        """When the first one of the events from one on begins: the whole program's is the last of
        a call."""
        first, end = (FIRST_EVENT + WORDS * k for k in (number, self.count))
        return int(self._words[first + 1 : end : WORDS].min())

    def clear(self) -> None:
        """Forgets the times, not the marks."""
        self._words[1:] = 0

    def sums(self, mark: int) -> tuple[int, int, int]:
        """The time, the number of runs and the amount of a mark."""
        at = FIRST_MARK + WORDS * mark
        _, time, runs, amount = self._words[at : at + WORDS].tolist()
        return time, runs, amount

    def all_sums(self) -> list[tuple[int, int, int]]:
        """The sums of all marks."""
        return [self.sums(mark) for mark in range(len(self.marks))]

    def events(self) -> Iterator[Event]:
        """The runs in the order in which they ended."""
        rows = self._words[FIRST_EVENT : FIRST_EVENT + WORDS * self.count].reshape(-1, WORDS)
        for row in rows.tolist():
            yield Event(*row)
