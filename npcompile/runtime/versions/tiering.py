"""Measures, on the calls themselves, whether Python is faster than a version.

Some versions need Python around them: arguments that are looked at there, or graph breaks.  Where
such a call does little, the plain function is faster.  Both give the same bits, so calls may take
turns: some are timed in either way, and if Python wins, later calls are left to it.
"""

from __future__ import annotations

#: why a call that compiled code could take is left to Python
FASTER = "Python is faster for calls that do so little"
#: why one is that is compared with compiled code
COMPARED = "their time is compared with compiled code's"
#: calls before the first that is timed, those that are timed, and how many in a row in one way
#: (code that has just run is faster)
WARM, TIMED, RUN = 8, 24, 4
#: what compiled code must take longer than Python to lose; where a short call wins by less than
#: the second number, the measurement's own noise may decide, and so many times as many are timed
MARGIN, CLEAR, MORE = 1.03, 1.5, 4
#: calls that take so many times as long as those that were timed are other calls, if they take
#: more seconds than the second number
LONGER, SHORT = 4.0, 1e-5
#: seconds that compiled calls may take before one is Python's, and beyond Python's time in all
DEBT = 0.05
#: seconds after which one call in Python is enough
LONG = 1e-3
#: seconds between two pauses in which Python gets nothing done that compiled code is worth its
#: pauses for; more between them is not tried in Python, where it might take much longer
BETWEEN = 5e-4
#: the part of all calls that may take longer by chance; what takes so many times as long does not
DISTURBED, MUCH = 0.1, 50.0
#: seconds that a call has taken before it can be timed, where Python looks at it
BEFORE = 0.3e-6
#: and those that Python's calls around machine code take that is timed alone
AROUND = 0.1e-6


class TierProfile:
    """The times of one version and of the plain function, in seconds.

    ``lost``: calls are left to Python; ``won``: they are not, and nothing is timed any more.
    ``heavy``: there are loops or large arrays in it, which may take any time.  Where such calls
    turn out to differ much from each other, Python does not win a second time.
    """

    def __init__(self, heavy: bool = False) -> None:
        self.heavy = heavy
        self.lost = self.won = False
        self._defeats = 0
        self._begin()

    def _begin(self) -> None:
        self.iteration, self._longer = 0, 0.0
        self._runs, self._spent = 0, 0.0  # compiled calls
        self.compiled = self.plain = self.between = float("inf")

    @property
    def longest(self) -> float:
        """Seconds that calls like the timed ones take in Python, at most."""
        return max(LONGER * self.plain, SHORT)

    @property
    def _close(self) -> bool:
        """Whether compiled code seems faster, by what may be noise."""
        return MARGIN * self.plain >= self.compiled > self.plain / CLEAR and self.compiled < SHORT

    def in_python(self) -> bool:
        """Whether the next call is Python's."""
        self.iteration += 1
        owes = self._spent > DEBT and self.plain == float("inf")
        return self.lost or owes or (
            self.iteration > WARM and (self.iteration - WARM - 1) // RUN % 2 == 1)

    def note(
        self, python: bool, seconds: float, busy: float, graph_breaks: int = 0, outside: float = 0.0
    ) -> None:
        """Records the time of a call, with its number of graph breaks and the seconds ``outside``
        of machine code; only the smaller times count, since others were disturbed. ``busy``:
        seconds that its thread has run, which tell a long call from a disturbed one."""
        if self.lost:
            long = busy > self.longest
            self._longer = self._longer + 1 if long else max(self._longer - DISTURBED, 0.0)
            if self._longer > 1 or busy > MUCH * self.longest:
                self.lost = False
                self.won = self.heavy and self._defeats > 1
                self._begin()
            return
        if not python:
            self._runs, self._spent = self._runs + 1, self._spent + seconds
        owes = self._spent > DEBT
        if self.iteration > WARM or owes:
            if python:
                self.plain = min(self.plain, seconds)
            else:
                self.compiled = min(self.compiled, seconds)
                self.between = min(self.between, seconds - outside)
            enough = busy > LONG or self.iteration >= WARM + TIMED // 2
            untried = self.heavy and self.plain == float("inf")  # Python may take any time
            slow = untried and (self.iteration == WARM + RUN or owes)
            slow = slow and self.between > BETWEEN * (1 + graph_breaks)
            owes = self._spent - self._runs * self.plain > DEBT
            if slow or (enough and LONGER * self.compiled < self.plain < float("inf")):
                self.won = True
            elif self.iteration >= WARM + TIMED * (MORE if self._close else 1) or owes:
                self.lost = self.compiled > MARGIN * self.plain
                self.won = not self.lost
                self._defeats += self.lost
