"""Leaves calls to Python after calls that Python had to run again, by counts alone.

A call whose floating-point flags may stand for several warnings, or that fails a check, is run
again by Python from its start: it costs compiled code's time and Python's.  Where one call after
the other does, Python takes the next ones, and twice as many each time until a call stays in
compiled code (exponential backoff)::

    entered   --``patience`` calls ran again-->   watched     (each call comes to the dispatcher)
    watched   --a call stays-->                   entered     (with twice the patience)
              --``ROW`` calls ran again-->        resting     (for ``rest`` calls)
    resting   --so many were Python's-->          watched     (where one call decides)

No clock is looked at, so results depend on nothing but the calls before.
"""

from __future__ import annotations

#: calls that ran again before calls are watched, at first and at most
FEW, MANY = 4, 1024
#: calls in a row that ran again, while each is watched, before the next ones are Python's
ROW = 2
#: calls that are Python's then, at first and at most
SHORT, LONG = 16, 4096


class Backoff:
    """The calls of one version that ran again."""

    #: why a call is left to Python
    why = "Python had to run calls before it again, to warn or because a check had failed"

    def __init__(self) -> None:
        self.watching = False
        self._patience, self._rest = FEW, SHORT
        self._again = 0  # calls that ran again, in the present state
        self._until: int | None = None  # calls in Python before one is compiled code's

    def rests(self, left: int) -> bool:
        """Whether the next call is Python's; ``left``: calls of the function that were."""
        if self._until is not None and left >= self._until:
            self._until, self._again = None, ROW - 1
        return self._until is not None

    def ran_again(self, left: int) -> bool:
        """Notes a call that ran again; True: calls are watched from now on."""
        self._again += 1
        if not self.watching:
            if self._again < self._patience:
                return False
            self.watching, self._again = True, 0
            return True
        if self._again >= ROW:
            self._until, self._rest = left + self._rest, min(2 * self._rest, LONG)
        return False

    def stayed(self) -> None:
        """A call that was watched did not run again."""
        self.watching, self._again, self._until = False, 0, None
        self._patience, self._rest = min(2 * self._patience, MANY), SHORT
