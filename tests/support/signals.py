"""Signals that end what a test runs, and nothing else.

Python runs a handler wherever it is when the signal comes: in a finalizer, in a callback that
another package has given to the garbage collector (which drop its exception), or after the call
that it was meant for.  An :class:`Alarm` raises only in frames of the project, of its tests and of
programs that these have made, while its region runs; if an exception is dropped all the same, the
signal comes again.  When the region is left, no signal of it is pending.
"""

from __future__ import annotations

import signal
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = str(Path(__file__).parent.parent.parent)
AGAIN = 0.5  #: seconds until the signal comes once more


class Stop(BaseException):
    """What the handler raises."""


class Alarm:
    """``with Alarm(0.1): ...`` raises ``kind`` after a tenth of a second, if the region still runs.
    """

    def __init__(
        self, seconds: float, again: float = AGAIN, kind: type[BaseException] = Stop
    ) -> None:
        self.seconds, self.again, self.kind = seconds, again, kind
        self.inside = False
        self.before: Any = None

    def __enter__(self) -> None:
        self.before = signal.signal(signal.SIGALRM, self.come)
        signal.setitimer(signal.ITIMER_REAL, self.seconds, self.again)
        self.inside = True

    def __exit__(self, *_: object) -> None:
        self.inside = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)  # which lets pending signals come before

    def come(self, _: int, frame: FrameType | None) -> None:
        if self.inside and frame is not None and _meant(frame.f_code.co_filename):
            raise self.kind


def _meant(file: str) -> bool:
    return file.startswith((ROOT, "<")) and file != __file__ and not file.startswith("<frozen")
