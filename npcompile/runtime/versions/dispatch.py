"""From a call to the version that serves it: match, compile on a miss, run, come back.

A :class:`Dispatcher` serves one function.  Its versions are found by
:class:`~npcompile.runtime.versions.version_list.Versions`, what is compiled and what is Python's
is decided by :class:`~npcompile.runtime.versions.policy.Policy`, and
:class:`~npcompile.runtime.versions.exits.Exits` resumes what has left compiled code.  Calls that
the machine-code entry can take never come here; what comes here is the first call of a kind,
keywords, containers, and whatever left compiled code.
"""

from __future__ import annotations

import gc
import inspect
from collections import Counter
from collections.abc import Callable
from functools import partial
from time import perf_counter, thread_time
from types import FunctionType
from typing import TYPE_CHECKING, Any
from weakref import ref

from npcompile.core.aside import load
from npcompile.core.config import Config, Deterministic
from npcompile.core.errors import Refusal, Refused
from npcompile.core.paths import defer
from npcompile.core.reported import reported
from npcompile.core.sections import section
from npcompile.core.surroundings import Postponed, Unusable, why
from npcompile.core.unseen import unseen
from npcompile.frontend.opcode_numbers import check_opcodes
from npcompile.runtime.entry import leaf_matching
from npcompile.runtime.entry.executables import MISS, STALE, Executable, Left
from npcompile.runtime.unsafe.layout import proven, supported, unsupported
from npcompile.runtime.versions.fallbacks import Fallbacks, complain
from npcompile.runtime.versions.native import Probe
from npcompile.runtime.versions.policy import LITTLE, Bucket, Policy
from npcompile.runtime.versions.served import Served
from npcompile.runtime.versions.version import Version
from npcompile.runtime.versions.version_list import Versions

if TYPE_CHECKING:
    from npcompile.guards.sources import Trace
    from npcompile.runtime.versions import exits, tiering
    from npcompile.runtime.versions.exits import Exits
    from npcompile.runtime.versions.regions import Continuations
    from npcompile.runtime.versions.tiering import TierProfile
else:
    defer(globals(), "npcompile.runtime.versions", "exits", "tiering")

Args = tuple[Any, ...]
Named = dict[str, Any]

_REPORTED = Refusal("errors", "scipy.special's are reported, which SciPy's functions can tell")


@unseen
class Dispatcher:
    """All calls of one function that its machine code does not take alone.

    Parameters
    ----------
    served
        The function.
    bucket
        What compiling takes, if this is a part of a function (None: a new one).
    leave
        The class that resumes calls, if it is not the usual one.
    """

    def __init__(
        self, served: Served, bucket: Bucket | None = None, leave: type[Exits] | None = None
    ) -> None:
        self.served, self.table = served, Versions(served)
        self.policy, self.left = Policy(served, bucket or Bucket()), Fallbacks(served)
        self._leave = leave
        self._exits: list[Exits] = []
        self.ran = 0.0  # the price of the last call, if this is a part of a function
        self._heirs = _heirs(served.function, served.config)

    @property
    def exits(self) -> Exits:
        """The object that resumes calls; it is made for the first call that leaves its code."""
        if not self._exits:  # if two threads make one each, the first one counts
            make = self._leave or exits.Exits
            self._exits.append(make(self.served, self.table, self.policy, self.left))
        return self._exits[0]

    @property
    def _broken_off(self) -> tuple[int, float]:
        """How many graph breaks there were, and the seconds outside of machine code."""
        return self.exits.graph_breaks if self._exits else (0, 0.0)

    # ------------------------------------------------------------------ calls

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """The slow path: any call, right in every case."""
        config = self.served.config
        if config.check:
            from npcompile.runtime.versions.checked import checked  # for who looks for mistakes

            plain = self.served.function
            return checked(plain, self.call, args, kwargs, self.exact, config.check_rtol)
        return self.call(*args, **kwargs)

    def call(self, /, *args: Any, **kwargs: Any) -> Any:
        """One call: through a version whose guards hold, a new one, or Python."""
        served = self.served
        if served.function.__code__ is not served.code:
            if served.start is not None:  # the call began with the code before
                return served.plain(*args, **kwargs)
            self._heirs = None  # what was compiled is of that code
            served.take(served.function, served.changed)
            self.clear()
        bound = served.parameters.bind(args, kwargs)
        if bound is None:
            return served.plain(*args, **kwargs)  # raises the TypeError that Python raises
        mode = served.mode
        if reported:
            return self.left.python(_REPORTED, args, kwargs, mode)
        if self.policy.gives_up and not mode and self.policy.idle(bound):
            return self._refused(LITTLE, args, kwargs, mode)
        for version in self.table.found[: self.policy.tried(bound)]:
            leaves = self.table.match(version, bound)
            if leaves is None:
                continue
            if isinstance(leaves, Refusal):
                return self._refused(leaves, args, kwargs, mode)
            watched = version.watched
            if watched and not mode and watched.rests(self.fallbacks.total()):
                return self.left.again(watched.why, None, args, kwargs, False)
            if version.trial is not None and not mode:
                result = self._tried(version, version.trial, bound, leaves, args, kwargs)
            else:
                result = self._run(version, bound, leaves, args, kwargs, mode)
            if result is not MISS:
                return result
        leaves = None  # else it would hold what the call may drop
        return self._miss(bound, args, kwargs, mode)

    def _miss(self, bound: Named, args: Args, kwargs: Named, mode: Deterministic) -> Any:
        """A call that no version serves."""
        refusal = self._known(bound, mode)
        if refusal is not None:
            self.table.drift()  # an entry that is out of date shall not look at each call
            return self._refused(refusal, args, kwargs, mode)
        if _unaligned(bound):
            return self._aligned(bound, args, kwargs, mode)
        begun = thread_time()
        found = self._attempt(bound)
        if found is None:
            return self.served.plain(*args, **kwargs)
        if isinstance(found, Refusal):
            return self.left.python(found, args, kwargs, mode)
        seconds, (version, leaves) = thread_time() - begun, found
        try:
            result = self._run(version, bound, leaves, args, kwargs, mode)
        finally:
            self.policy.took(bound, seconds, version)
        if result is not MISS:
            return result
        reason = "they overlap, or what they lead to changed while the call was compiled"
        misfit = Refusal("arguments", reason)
        self.policy.remember(bound, misfit)
        return self.left.python(misfit, args, kwargs, mode)

    def _run(
        self, version: Version, bound: Named, leaves: Args, args: Args, kwargs: Named,
        mode: Deterministic,
    ) -> Any:
        self._promise(version, mode)
        self.left.interrupt()
        saved = version.save(leaves) if version.cautious else None
        left: Left | None = None
        result: Any = MISS
        given = tuple(bound.values())
        begun = perf_counter()
        try:
            result = version.run(given, leaves)
            seconds = perf_counter() - begun
        except Left as found:
            left = found.with_traceback(None)  # else a cycle would keep the arguments alive
        if left is not None or result is not MISS:
            if self.served.start is not None:
                self.ran = version.price(leaves)
            leaf_matching.written(version.trace.tensors, bound, self.served.function)
        if left is not None:
            return self.exits.leave(version, left, args, kwargs, saved)
        if result is not MISS:
            version.called(seconds)
            if saved is not None:
                version.doubt(False)
                self.served.changed()
            self.policy.stayed(version)
            if not mode:
                self.policy.looked_at(version, bound, leaves)
                if self.policy.tried(bound):
                    self.table.prefer(version)
        return result

    def _promise(self, version: Version, mode: Deterministic) -> None:
        """Complains of a version that can't keep the promise of a deterministic mode."""
        names = version.trace.unpromised[mode] if mode else []
        if names:
            config = self.served.config
            complain(config, f"{', '.join(names)}: not deterministic in mode {mode!r}")

    def _aligned(self, bound: Named, args: Args, kwargs: Named, mode: Deterministic) -> Any:
        """One call with arrays that are not aligned."""
        if not load("npcompile.runtime.versions.aligned_copies"):
            return self.served.plain(*args, **kwargs)
        from npcompile.runtime.versions.aligned_copies import AlignedCopies  # few calls are

        copied, begun = AlignedCopies(bound, self.served.function), thread_time()
        with self.served.lock:
            found = self.table.serving(copied.bound) or self._known(copied.bound, mode)
        if found is None and isinstance(found := self._attempt(copied.bound), tuple):
            self.policy.took(copied.bound, thread_time() - begun, found[0])
        if found is None:
            return self.served.plain(*args, **kwargs)
        if isinstance(found, Refusal):
            return self._refused(found, args, kwargs, mode)
        refusal = copied.refusal(found[0])
        if refusal is not None:
            self.policy.remember(bound, refusal)
            return self._refused(refusal, args, kwargs, mode)
        self._promise(found[0], mode)
        self.left.interrupt()
        python = partial(self.served.plain, *args, **kwargs)
        return copied.run(*found, python, partial(self.exits.count, found[0]))

    def _tried(
        self, version: Version, trial: TierProfile, bound: Named, leaves: Args, args: Args,
        kwargs: Named,
    ) -> Any:
        """One call of a version that may be slower than Python."""
        python, (broken_off, outside) = trial.in_python(), self._broken_off
        lost, taker = trial.lost, self.left.taker() if trial.lost else None
        ran, begun = thread_time(), perf_counter()
        try:
            if trial.lost:
                return self.left.again(tiering.FASTER, trial.longest, args, kwargs, self._timed)
            if python:
                return self.served.plain(*args, **kwargs)
            if not version.direct:  # so that it is timed
                version.match(self.served.bind(args, kwargs) or {}, self.served.function)
            version.untimed()
            return self._run(version, bound, leaves, args, kwargs, False)
        finally:  # what it raises takes time as well
            seconds, busy = perf_counter() - begun, thread_time() - ran
            if taker is not None:
                busy = taker.busy  # without the rest of a look
            elif not python:
                alone = version.direct and version.seconds and not version.trace.graph_breaks
                seconds = version.seconds - tiering.AROUND if alone else seconds + tiering.BEFORE
            graph_breaks, rest = self._broken_off
            trial.note(python, seconds, busy, graph_breaks - broken_off, rest - outside)
            if python and not lost:
                self.left.note(tiering.COMPARED)
            if trial.won or not self.exact():  # regions may be compiled later
                version.keep()
                self.served.changed()

    # ------------------------------------------------------------------ Python's calls

    def _known(self, bound: Named, mode: Deterministic) -> Refusal | None:
        """Why a call that no version serves is left to Python without trying."""
        return self.policy.decide(bound, mode, len(self.table.found), self.fallbacks.total())

    def _refused(self, refusal: Refusal, args: Args, kwargs: Named, mode: Deterministic) -> Any:
        """A call of a kind that is known to be left to Python."""
        return self.left.refused(refusal, args, kwargs, mode, self._timed)

    @property
    def _timed(self) -> bool:
        """Whether results do not depend on which calls are Python's, so that a clock may tell."""
        return self.exact() and not self.policy.gives_up

    def exact(self) -> bool:
        """Whether every version so far must agree with NumPy bit for bit."""
        return self.table.exact and all(left.exact for left in self._exits)

    # ------------------------------------------------------------------ compiling

    def _attempt(self, bound: Named) -> tuple[Version, Args] | Refusal | None:
        """A version for these arguments and their leaves, or why there is none; None: there is
        none yet."""
        begun = thread_time()
        try:
            return self.compile(bound)
        except Exception as error:  # a bug here must not become one of the user's program
            refusal, postponed = why(error), isinstance(error, Postponed)
            if refusal is None:
                raise
        # out of the handler: what Python raises has no other context
        self.policy.took(bound, thread_time() - begun, None)
        if postponed:
            return None
        self.policy.remember(bound, refusal)
        if refusal.finalizer and gc.isenabled():
            gc.collect()  # cycles of the compiler's hold the object
        return refusal

    @section
    def compile(self, bound: Named, whole: bool = False) -> tuple[Version, Args]:
        """A version for these arguments, new if need be, and their leaves.

        ``whole``: one with all its stages, none that another process has compiled.

        Raises
        ------
        Refused
            If the call can't be compiled.
        """
        with self.served.lock:
            recalled = [v for v in self.table.found if whole and v.trace.graph is None]
            found = self.table.serving(bound, recalled)  # another thread may have been first
            if found is not None:
                return found
            version = self._made(bound, whole)
            self.policy.made(version)
            leaves = version.match(bound, self.served.function)
            if leaves is None:
                raise Refused(Refusal("guards", "the arguments don't satisfy their own guards"))
            self.table.add(version, recalled)
            return version, leaves

    def _made(self, bound: Named, whole: bool) -> Version:
        compiler = self.served.compiler
        if not (compiler.walked or supported()):
            raise Unusable(Refusal("machine", unsupported()))
        check_opcodes()
        if not (compiler.walked or proven()):
            from npcompile.runtime.entry import self_check  # on few machines

            self_check.require()
        make = compiler.make if whole else compiler.once
        return make(bound, self.policy.idle(bound), self._exit)

    @section
    def examine(self, bound: Named) -> Version:
        """A version for these arguments with all its stages; calls are served as before.

        Raises
        ------
        Refused
            If the call can't be compiled.
        """
        with self.served.lock:
            recalled = [v for v in self.table.found if v.trace.graph is None]
            found = self.table.serving(bound, recalled)
            return self._made(bound, True) if found is None else found[0]

    def follow(self, bound: Named) -> Trace:
        """Traces the function; where something can't be followed, it pauses."""
        return self.served.compiler.follow(bound, self.policy.idle(bound))

    def _exit(self, executable: Executable, left: Left, function: Any, args: Args) -> Any:
        """Called by the machine-code entry when compiled code was left or could not be entered."""
        probing = isinstance(function, Probe)  # called by the slow path, which knows more
        if left.number == STALE and not probing:
            self.table.outdate()
            return self(*args)
        if left.number == STALE:
            return MISS
        if probing:
            raise left
        return self.exits.leave(executable.owner, left, args, {})

    def installable(self, modes: bool) -> list[Version]:
        """The versions that calls may go to directly, while deterministic modes are in force."""
        return self.table.installable(modes, self.policy.gives_up and not modes)

    def clear(self) -> None:
        """Forgets all versions and refusals."""
        with self.served.lock:
            for left in self._exits:
                left.clear()
            self.table.clear()
            self.policy.clear()
            self.left.clear()
            self.served.changed()

    # ------------------------------------------------------------------ functions made again

    @classmethod
    def of(
        cls, function: FunctionType, config: Config, on_change: Callable[[], None]
    ) -> Dispatcher:
        """That of an earlier function of the same code, which is no more, or a new one."""
        kind = _heirs(function, config)
        found: Dispatcher | None = _closure_cache().inherit(kind) if kind is not None else None
        if found is None:
            return cls(Served(function, config, on_change))
        found.policy.begin_anew()
        found.adopt(function, on_change)
        return found

    def leave_behind(self) -> None:
        """Its function is no more: the next one of the same code may have what was compiled."""
        if self._heirs is not None:
            former = ref(self.served.function)
            self.release()
            _closure_cache().leave(self._heirs, former, self)

    def release(self) -> None:
        """Lets go of all that belongs to the function."""
        self.table.release()
        self.served.release()
        self.left.forget()
        for left in self._exits:
            left.release()

    def adopt(self, function: FunctionType, on_change: Callable[[], None]) -> None:
        """Serves another function of the same code."""
        self.served.take(function, on_change)
        self.table.adopt()
        for left in self._exits:
            left.adopt()

    # ------------------------------------------------------------------ for who looks at it

    @property
    def versions(self) -> list[Version]:
        return self.table.found

    @property
    def regions(self) -> Continuations | None:
        """The continuations, which are compiled for the places after graph breaks."""
        return self.exits.regions if self._exits else None

    @property
    def fallbacks(self) -> Counter[str]:
        """How many calls were left to Python, by reason."""
        return self.left.counts


def _heirs(function: FunctionType, config: Config) -> object | None:
    """The key that functions share which may use each other's versions; None: they never do."""
    nested = function.__code__.co_flags & inspect.CO_NESTED
    return _closure_cache().kind(function, config) if nested else None


def _closure_cache() -> Any:
    from npcompile.runtime.versions import closure_cache  # few functions are made again and again

    return closure_cache


def _unaligned(bound: Named) -> bool:
    """Whether arguments are arrays that need aligned copies, or hold such."""
    if leaf_matching.CONTAINERS.isdisjoint(map(type, bound.values())):
        return any(map(leaf_matching.is_unaligned, bound.values()))
    from npcompile.runtime.entry.held_objects import reached  # few functions take containers

    return any(map(leaf_matching.is_unaligned, reached(bound)))
