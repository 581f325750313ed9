"""The policy: which calls run compiled code, which are compiled anew, which are Python's.

A function under ``jit`` shall never be slower for good than the plain one.  What can make it
slower, and until when, for each kind of arguments (types, layouts, types of a list's items):

*Refused.*  A refusal is remembered for arguments of the same sizes and values; after ``SAME`` of
one kind, for all of that kind; after ``KINDS`` kinds, for all that no version serves.

*Compiled again and again* (lists that grow, ever new texts).  The first compile of a kind is
free.  Those after it fill a bucket with the seconds that they take, less ``WORTH`` times what the
new code then ran (it may have saved that); the bucket leaks ``SHARE`` seconds a second.  While
it holds ``AT_ONCE`` seconds or more, calls that no version serves are Python's::

    cost of compiling  <=  first compile + AT_ONCE + one compile + SHARE * (time since)

*Slower than Python* (versions that pause, exit or miss).  A version with NumPy's bits takes turns
with the plain function (:mod:`~npcompile.runtime.versions.tiering`) as soon as it is made, if it
pauses, is looked at by Python at each call or is torch's, otherwise after ``EXITS`` calls that left
it or that its entry did not take, and again after twice as many.  It is given up for calls like
those timed, once ``MARGIN`` times slower, and at once when ``DEBT`` seconds were lost by it::

    cost of calls  <=  DEBT + one call  +  (those before EXITS exits)

*Other bits.*  Where a version holds elementary functions, whose last bits may differ from NumPy's,
results must not depend on time: no clock is looked at.  The work of a call is estimated from the
sizes of its operations (:mod:`~npcompile.runtime.versions.numpy_cost`), in microseconds that NumPy
would take for them; each graph break counts ``PAUSE`` microseconds, a call that is looked at in
Python ``LOOKED``.  After ``IDLE_LIMIT`` calls of a kind and magnitude (of sizes and integers) that
cost more than they work, such calls are Python's.  ``FEW`` versions of a kind are compiled, then
one more for each ``PATIENT`` calls in Python.  Calls of a version that Python runs again from their
start, one after the other, are counted (:mod:`~npcompile.runtime.versions.backoff`): of n of them,
about log2(n) are run twice.

In a deterministic mode nothing is given up, and whoever calls waits for what is compiled.

Calls that are Python's go to the forwarder (:mod:`~npcompile.runtime.versions.forwarding`), at
Python's price but for some nanoseconds; one of some hundreds is looked at, for other kinds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from time import perf_counter
from typing import Any

from npcompile.core.config import Deterministic
from npcompile.core.errors import Refusal
from npcompile.core.records import record
from npcompile.core.sections import section
from npcompile.guards.sources import TensorMemory
from npcompile.runtime.versions.call_signatures import call_kind, magnitude
from npcompile.runtime.versions.served import Served
from npcompile.runtime.versions.version import Version

#: refused traces of one kind of arguments before that kind is left to Python without trying
SAME = 8
#: refused kinds of arguments before all others are
KINDS = 64
#: seconds of compiling before all other calls are, if it was for more calls than that
BUDGET, CALLS = 30.0, 16
#: seconds of compiling for one kind of arguments after its first; the share of the time after it
AT_ONCE, SHARE = 0.15, 0.03
#: how many times what a new version ran it may have saved, and seconds of them that count
WORTH, MOST = 10.0, 3.0
#: compiles for a kind whose versions have other bits than NumPy, and calls in Python for one more
FEW, PATIENT = 8, 2048
#: compiles for a kind whose versions are each for one text that is longer than an option, at first
TEXTS, OPTION = 2, 40
#: versions that a call is matched with in Python, where more were compiled than are worth it
TRIED = 4
#: calls that did less than they cost before calls like them are left to Python
IDLE_LIMIT = 2
#: microseconds that a graph break takes, and a call that Python looks at
PAUSE, LOOKED = 50.0, 8.0

#: why calls like these are left to Python
LITTLE = Refusal("calls", "they take less time than the way into compiled code and out of it")


def _is_long(guard: Any) -> bool:
    """Whether a guard wants one long text."""
    value = getattr(guard, "value", None)
    return isinstance(value, (str, bytes)) and len(value) > OPTION


class Bucket:
    """Seconds of compiling for one function beyond its kinds' first, as they leak away."""

    def __init__(self) -> None:
        self.empty()

    def empty(self) -> None:
        """Begins anew."""
        self._level = self._saved = 0.0
        self._at = perf_counter()

    def fill(self, seconds: float, ran: float) -> None:
        """So much for a version that then ran so long."""
        saved = min(WORTH * ran, MOST - self._saved, seconds)
        self._saved += saved
        self._level, self._at = self.level + seconds - saved, perf_counter()

    @property
    def level(self) -> float:
        """The bucket's present level."""
        return max(self._level - SHARE * (perf_counter() - self._at), 0.0)


@record(frozen=False)
class Compiles:
    """How often was compiled for one kind of arguments, and how many seconds; ``exact``: all
    versions have NumPy's bits."""

    count: int = 0
    seconds: float = 0.0
    exact: bool = True
    texts: bool = False  #: whether one is for one long text alone

    def told(self) -> Refusal:
        """Why no more of it is compiled now."""
        what = f"compiled {self.count} times in {self.seconds:.1f} s for one kind of arguments"
        return Refusal("versions", what, hint="more is compiled after some time in Python")


class Policy:
    """Decides which calls of one function are Python's, from its refusals, compiles and idle calls.

    Parameters
    ----------
    served
        The function.
    bucket
        What compiling takes; one for a function and what comes after its graph breaks.
    """

    def __init__(self, served: Served, bucket: Bucket) -> None:
        self._served, self.bucket = served, bucket
        self.forget()

    def forget(self) -> None:
        """Forgets what was refused and compiled."""
        self.gives_up = False  #: whether some calls do too little
        self._crowded: set[object] = set()
        self.refused: dict[object, Refusal] = {}
        self._same: Counter[object] = Counter()
        self._latest: dict[object, Refusal] = {}
        self._calls, self._seconds = 0, 0.0
        self._compiles: defaultdict[object, Compiles] = defaultdict(Compiles)
        self._idle: Counter[object] = Counter()

    def clear(self) -> None:
        """Forgets what was refused and compiled, and what that took."""
        self.forget()
        self.bucket.empty()

    # ------------------------------------------------------------------ compiling

    def decide(
        self, bound: dict[str, Any], mode: Deterministic, versions: int, left: int
    ) -> Refusal | None:
        """Why a call that none of so many versions serves is left to Python without trying;
        ``left``: calls of the function that were Python's."""
        patient = bool(mode) or self._served.config.fullgraph  # waits for what may be compiled
        found = self._known(bound, patient, left)
        if found is None and versions >= self._served.limit:
            return Refusal("versions", f"more than {self._served.limit} compiled versions")
        return found

    def _known(self, bound: dict[str, Any], patient: bool, left: int) -> Refusal | None:
        kind, exact = call_kind(bound, exact=False), call_kind(bound, exact=True)
        found = self.refused.get(exact)
        if found is None and self._same[kind] >= SAME:
            found = self._latest.get(kind)
        if found is None and len(self._latest) >= KINDS:
            found = Refusal("versions", f"{KINDS} kinds of arguments are left to Python")
        if found is None and self._calls > CALLS and self._seconds > BUDGET:
            what = f"more than {BUDGET:.0f} s of compiling for more than {CALLS} kinds of calls"
            found = Refusal("versions", what)
        if found is None and not patient:
            coarse = call_kind(bound, exact=False, items=False)
            compiles = self._compiles[coarse]
            timely = self.bucket.level < AT_ONCE or not compiles.count
            few = compiles.count < FEW + left // PATIENT
            if compiles.texts:
                timely = few = compiles.count < TEXTS + (left // PATIENT).bit_length()
            if timely if compiles.exact else few:
                self._crowded.discard(coarse)
            else:
                self._crowded.add(coarse)
                found = compiles.told()
        return found

    def tried(self, bound: dict[str, Any]) -> int | None:
        """How many versions, the last that served a call, are tried from Python; None: all."""
        if self._crowded and call_kind(bound, exact=False, items=False) in self._crowded:
            return TRIED
        return None

    @section
    def remember(self, bound: dict[str, Any], refusal: Refusal) -> None:
        """Leaves such calls to Python, and after some all of their kind."""
        with self._served.lock:
            kind, exact = call_kind(bound, exact=False), call_kind(bound, exact=True)
            self.refused[exact] = self._latest[kind] = refusal
            self._same[kind] += SAME if refusal.general else 1

    def took(self, bound: dict[str, Any], seconds: float, made: Version | None) -> None:
        """Records the time of compiling for one call; ``made``: the version, which has run once."""
        self._calls += 1
        self._seconds += seconds
        compiles = self._compiles[call_kind(bound, exact=False, items=False)]
        if made is not None:
            compiles.exact &= made.trace.exact
            compiles.texts |= any(_is_long(guard) for guard in made.trace.guards)
        if compiles.count:
            self.bucket.fill(seconds, made.seconds if made and not made.trace.graph_breaks else 0.0)
        compiles.count += 1
        compiles.seconds += seconds

    def begin_anew(self) -> None:
        """For another function of the same code, whose versions may be few."""
        self._compiles.clear()
        self._crowded.clear()
        self.bucket.empty()

    # ------------------------------------------------------------------ calls that do little

    def looked_at(self, version: Version, bound: dict[str, Any], leaves: tuple[Any, ...]) -> None:
        """Notes a call that came here, to a version with an entry of its own or without."""
        inexact = not (version.direct or version.trace.exact)
        if inexact and version.price(leaves) < LOOKED:
            self.idled(version, bound)
        elif version.installable(False):
            self.noted(version)

    def idled(self, version: Version, bound: dict[str, Any]) -> None:
        """Notes a call that did less than it cost; soon, such calls are left to Python."""
        served = self._served
        eager = served.mode or served.config.fullgraph or served.config.check
        if eager or served.start is not None:
            return
        with served.lock:
            kind = call_kind(bound, exact=False), magnitude(bound)
            self._idle[kind] += 1
            if self._idle[kind] >= IDLE_LIMIT:
                why = next(iter(version.trace.graph_breaks.values()), LITTLE)
                self.refused[call_kind(bound, exact=True)] = why
                self.gives_up = True
                served.changed()

    def idle(self, bound: dict[str, Any]) -> bool:
        """Whether calls like this one are Python's because they do little."""
        kind = call_kind(bound, exact=False), magnitude(bound)
        return self.gives_up and self._idle[kind] >= IDLE_LIMIT

    # ------------------------------------------------------------------ versions that may be slow

    def made(self, version: Version) -> None:
        """Tries a new version that needs Python around it, or is for torch's tensors."""
        tensors = any(isinstance(leaf.source, TensorMemory) for leaf in version.trace.leaves)
        if version.trace.graph_breaks or not version.bare or tensors:
            self._try(version)

    def noted(self, version: Version) -> None:
        """Counts a call that left a version or that its entry did not take."""
        if version.note():
            self._try(version)
            self._served.changed()

    def _try(self, version: Version) -> None:
        """Finds out at the next calls whether Python is faster, if it has the same bits."""
        if version.trace.exact and self._may_give_up:
            version.try_out()

    @property
    def _may_give_up(self) -> bool:
        config = self._served.config
        told = config.fullgraph or config.check or config.recorder
        return self._served.start is None and not told

    # ------------------------------------------------------------------ calls that run twice

    def ran_again(self, version: Version, left: int) -> None:
        """Counts a call that Python runs again from its start, of a version with bits of its own;
        ``left``: calls of the function that were Python's."""
        served = self._served
        if version.trace.exact or served.mode or not self._may_give_up:
            return
        with served.lock:
            if version.ran_again(left):
                served.changed()

    def stayed(self, version: Version) -> None:
        """Notes a call that came here and stayed in compiled code."""
        watched = version.watched
        if watched is not None:
            with self._served.lock:
                watched.stayed()
                self._served.changed()
