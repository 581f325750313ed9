"""Whether Python is faster, found out on the calls themselves.

Some versions need Python around them: arguments that are looked at there, or pauses.  Where such a
call does little, the plain function is faster.  Both give the same bits, so calls may take turns:
some are timed in either way, and if Python wins, later calls are left to it.
"""

from __future__ import annotations

#: calls before the first that is timed, and those that are timed, in turns
WARM, TIMED = 8, 16
#: what compiled code must take longer than Python to lose
MARGIN = 1.1
#: calls that take so many times as long as those that were timed are other calls, if they take
#: more seconds than the second number
LONGER, SHORT = 4.0, 5e-6
#: seconds after which one call in Python is enough
LONG = 1e-3


class Trial:
    """The times of one version and of the plain function, in seconds.

    ``lost``: calls are left to Python; ``won``: they are not, and nothing is timed any more.
    """

    def __init__(self) -> None:
        self.lost = self.won = False
        self._begin()

    def _begin(self) -> None:
        self.turn = 0
        self.compiled = self.plain = float("inf")

    @property
    def longest(self) -> float:
        """Seconds that calls like the timed ones take in Python, at most."""
        return max(LONGER * self.plain, SHORT)

    def in_python(self) -> bool:
        """Whether the next call is Python's."""
        self.turn += 1
        return self.lost or (self.turn > WARM and self.turn % 2 == 0)

    def note(self, python: bool, seconds: float) -> None:
        """What a call took; the smaller times count, others were disturbed."""
        if self.lost:
            if seconds > self.longest:
                self.lost = False
                self._begin()
        elif self.turn > WARM:
            if python:
                self.plain = min(self.plain, seconds)
            else:
                self.compiled = min(self.compiled, seconds)
            enough = seconds > LONG or self.turn >= WARM + TIMED // 2
            if (enough and self.plain > LONGER * self.compiled) or self.turn >= WARM + TIMED:
                self.lost = self.compiled > MARGIN * self.plain
                self.won = not self.lost
