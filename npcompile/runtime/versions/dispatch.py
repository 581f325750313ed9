"""From a call to the version that serves it: match, compile on a miss, run, come back.

A :class:`Dispatcher` owns the compiled versions of one function.  Calls that the machine-code
entry can take never come here; what comes here is the first call of a kind, keywords, containers,
and whatever left compiled code.
"""

from __future__ import annotations

import gc
import os
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter, thread_time
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast
from weakref import ref

from npcompile.core import logs
from npcompile.core.config import Config, Deterministic, deterministic_mode, modes
from npcompile.core.errors import CompileError, Refusal, Refused
from npcompile.core.living import Living
from npcompile.core.reported import reported
from npcompile.core.sections import section
from npcompile.core.surroundings import Postponed, Unusable, why
from npcompile.core.unseen import unseen
from npcompile.runtime.entry import executables, fp_warnings, leaf_matching
from npcompile.runtime.entry.executables import FLAGS, MISS, OVERLAP, STALE, Executable, Left
from npcompile.runtime.unsafe.layout import supported, unsupported
from npcompile.runtime.unsafe.parameters import Parameters
from npcompile.runtime.versions import aligned_copies, closure_cache
from npcompile.runtime.versions.compiling import Compiler
from npcompile.runtime.versions.exits import Exits
from npcompile.runtime.versions.fallbacks import Fallbacks, complain
from npcompile.runtime.versions.native import Native, Probe, in_python
from npcompile.runtime.versions.policy import (
    LITTLE,
    Bucket,
    Policy,
    does_little,
    may_be_tried,
    trial,
)
from npcompile.runtime.versions.tiering import AROUND, BEFORE, FASTER, TierProfile
from npcompile.runtime.versions.version import HEIRLOOMS, VERSION_LIMIT, Version

if TYPE_CHECKING:
    from npcompile.guards.sources import Trace
    from npcompile.program.ir import Exit
    from npcompile.runtime.versions.aligned_copies import AlignedCopies
    from npcompile.runtime.versions.forwarding import Forwarder
    from npcompile.runtime.versions.regions import Continuations
    from npcompile.tracing.graph_breaks import ResumePoint

Args = tuple[Any, ...]
Named = dict[str, Any]

_OVERLAP = Refusal("arguments", "arrays that overlap and are written, or may not be")
_REPORTED = Refusal("errors", "scipy.special's are reported, which SciPy's functions can tell")


_dispatchers: Living[Dispatcher] = Living()


def _forked() -> None:
    """In a child, which has no other thread: what one held in the parent is free."""
    for dispatcher in _dispatchers:
        dispatcher.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


@unseen
class Dispatcher:
    """All versions of one function.

    Parameters
    ----------
    function
        The plain Python function.
    config
        Its options.
    on_version
        Called, under ``lock``, when other versions can be called than before.
    bucket
        What compiling takes, if this is a part of a function (None: a new one).
    """

    start: ResumePoint | None = None  # where in the function to begin
    limit = VERSION_LIMIT

    def __init__(
        self,
        function: FunctionType,
        config: Config,
        on_version: Callable[[], None],
        bucket: Bucket | None = None,
    ) -> None:
        self.function = function
        self.config = config
        self.versions: list[Version] = []
        self._outdated = False  # whether the first entry has found that what it watches has changed
        self.policy = Policy(bucket or Bucket())
        self.left = Fallbacks()
        self.ran = 0.0  # the price of the last call, if this is a part of a function
        self.on_version = on_version
        self._heirs = closure_cache.kind(function, config)
        self.lock = threading.RLock()
        self.plain: Callable[..., Any] = function
        self.exits = Exits(function, config)
        _dispatchers.add(self)
        self.parameters = Parameters(function)

    # ------------------------------------------------------------------ functions made again

    @classmethod
    def of(
        cls, function: FunctionType, config: Config, on_version: Callable[[], None]
    ) -> Dispatcher:
        """That of an earlier function of the same code, which is no more, or a new one."""
        found = closure_cache.inherit(closure_cache.kind(function, config))
        if found is None:
            return cls(function, config, on_version)
        assert isinstance(found, Dispatcher)
        found.policy.begin_anew()
        found.adopt(function, on_version)
        return found

    def leave_behind(self) -> None:
        """Its function is no more: the next one of the same code may have what was compiled."""
        if self._heirs is not None:
            former = ref(self.function)
            self.release()
            closure_cache.leave(self._heirs, former, self)

    def release(self) -> None:
        """Lets go of all that belongs to the function."""
        self.versions = [v for v in self.versions if v.release()]
        self.function = self.plain = _NOBODY
        self.on_version = lambda: None
        self.left = Fallbacks()
        self.parameters = Parameters(_NOBODY)
        self.exits.release(_NOBODY)

    def adopt(self, function: FunctionType, on_version: Callable[[], None]) -> None:
        """Serves another function of the same code."""
        self.function = self.plain = function
        self.parameters = Parameters(function)
        self.versions = [v for v in self.versions if self._rewired(v)][:HEIRLOOMS]
        self.on_version = on_version
        self.exits.adopt(function)

    def _rewired(self, version: Version) -> bool:
        """Whether a version's entry could be wired to this function, or need not be."""
        made = version.executable
        version.calls = 0
        version.exits.clear()
        if not version.direct or not isinstance(made, Native):
            return True
        wires, direct = self._compiler.wires(version.trace)
        if not direct or not wires.signature.like(made.state.signature):
            return False
        made.wiring = wires
        version.tell(self.function)
        return True

    # ------------------------------------------------------------------ calls

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """The slow path: any call, right in every case."""
        if self.config.check:
            from npcompile.runtime.versions.checked import checked  # for who looks for mistakes

            rtol = self.config.check_rtol
            return checked(self.function, self.call, args, kwargs, self.exact, rtol)
        return self.call(*args, **kwargs)

    def exact(self) -> bool:
        """Whether every version so far must agree with NumPy bit for bit."""
        return all(v.trace.exact for v in self.versions) and self.exits.exact

    def call(self, /, *args: Any, **kwargs: Any) -> Any:
        """One call: through a version whose guards hold, a new one, or Python."""
        bound = self.bind(args, kwargs)
        if bound is None:
            return self.plain(*args, **kwargs)  # raises the TypeError that Python raises
        mode = self.mode()
        if reported:
            return self._python(_REPORTED, args, kwargs, mode)
        if self.policy.gives_up and not mode and self.policy.idle(bound):
            return self._refused(LITTLE, args, kwargs, mode)
        for version in self.versions[: self.policy.tried(bound)]:
            leaves = version.match(bound, self.function)
            if leaves is None:
                continue
            if version.direct and not leaf_matching.accepts(version.trace, leaves):
                # what its entry would find out, after all that it watches is looked up
                if leaf_matching.overlaps(version.trace, leaves):
                    return self._refused(_OVERLAP, args, kwargs, mode)
                continue
            connected = True
            if version.direct:  # else its entry gets all that it relies on
                with self.lock:
                    connected = self._connect(version, bound)
            if not connected:
                continue
            if version.trial is not None and not mode:
                result = self._tried(version, version.trial, bound, leaves, args, kwargs)
            else:
                result = self._run(version, bound, leaves, args, kwargs, mode)
            if result is not MISS:
                return result
        leaves = None  # else it would hold what the call may drop
        return self._miss(bound, args, kwargs, mode)

    def _connect(self, version: Version, bound: dict[str, Any]) -> bool:
        connected = version.connect(bound, self.function)
        if connected and (version.adrift or self._outdated):
            version.adrift = self._outdated = False
            self._order([version, *(v for v in self.versions if v is not version)])
        return connected

    def _drift(self) -> None:
        """Takes away the entries that watch what has changed, until they serve a call again."""
        with self.lock:
            self._outdated = False
            drifted = [version for version in self.versions if version.drift()]
            if drifted:
                self.on_version()

    def installable(self, modes: bool) -> list[Version]:
        """The versions that calls may go to directly, while deterministic modes are in force; those
        with graph breaks are none of them where calls may be Python's because they do little."""
        few = self.policy.gives_up and not modes
        return [
            v for v in self.versions if v.installable(modes) and not (few and v.trace.graph_breaks)
        ]

    def _order(self, versions: list[Version]) -> None:
        """Entries are tried in this order, but those of whole functions first."""
        self.versions = sorted(versions, key=lambda v: bool(v.trace.graph_breaks))
        self.on_version()

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
        """Arguments by parameter name with defaults filled in, or None if they don't fit."""
        return self.parameters.bind(args, kwargs)

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
            version.seconds = perf_counter() - begun
        except Left as found:
            left = found.with_traceback(None)  # else a cycle would keep the arguments alive
        if left is not None or result is not MISS:
            if self.start is not None:
                self.ran = version.price(leaves)
            leaf_matching.written(version.trace.tensors, bound, self.function)
        if left is not None:
            return self.leave(version, left, args, kwargs, saved)
        if result is not MISS:
            version.calls += 1
            if saved is not None:
                version.cautious = False
                self.on_version()
            if not mode:
                self._looked_at(version, bound, leaves)
        return result

    def _promise(self, version: Version, mode: Deterministic) -> None:
        """Complains of a version that can't keep the promise of a deterministic mode."""
        names = version.trace.unpromised[mode] if mode else []
        if names:
            complain(self.config, f"{', '.join(names)}: not deterministic in mode {mode!r}")

    def _looked_at(
        self, version: Version, bound: dict[str, Any], leaves: tuple[Any, ...]
    ) -> None:
        """Notes a call that came here, to a version with an entry of its own or without."""
        if does_little(version, leaves):
            self._idled(version, bound)
        elif version.installable(False) and version.note():
            self._try(version)
            self.on_version()
        if self.policy.tried(bound):
            with self.lock:  # the next ones are tried in this order
                self.versions.sort(key=lambda v: v is not version)

    def _miss(self, bound: Named, args: Args, kwargs: Named, mode: Deterministic) -> Any:
        refusal = self._known(bound, mode)
        if refusal is not None:
            if self._outdated:  # its entry shall not look at each call
                self._drift()
            return self._refused(refusal, args, kwargs, mode)
        copied = aligned_copies.replaced(bound)
        if copied is not None:
            return self._aligned(copied, bound, args, kwargs, mode)
        begun = thread_time()
        found = self._attempt(bound)
        if found is None:
            return self.plain(*args, **kwargs)
        if isinstance(found, Refusal):
            return self._python(found, args, kwargs, mode)
        seconds, (version, leaves) = thread_time() - begun, found
        try:
            result = self._run(version, bound, leaves, args, kwargs, mode)
        finally:
            self.policy.took(bound, seconds, version)
        if result is not MISS:
            return result
        misfit = Refusal("arguments", "not what the compiled version expects of them")
        self._remember(bound, misfit)
        return self._python(misfit, args, kwargs, mode)

    def _known(self, bound: dict[str, Any], mode: Deterministic) -> Refusal | None:
        """Why a call that no version serves is left to Python without trying."""
        patient = bool(mode) or self.config.fullgraph
        refusal = self.policy.known(bound, patient, self.fallbacks.total())
        if refusal is None and len(self.versions) >= self.limit:
            return Refusal("versions", f"more than {self.limit} compiled versions")
        return refusal

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
        self._remember(bound, refusal)
        if refusal.finalizer and gc.isenabled():
            gc.collect()  # cycles of the compiler's hold the object
        return refusal

    def _aligned(
        self, copied: AlignedCopies, bound: Named, args: Args, kwargs: Named, mode: Deterministic
    ) -> Any:
        """One call with arrays that are not aligned."""
        with self.lock:
            found = self._serving(copied.bound) or self._known(copied.bound, mode)
        if found is None:
            begun = thread_time()
            found = self._attempt(copied.bound)
            if isinstance(found, tuple):
                self.policy.took(copied.bound, thread_time() - begun, found[0])
        if found is None:
            return self.plain(*args, **kwargs)
        if isinstance(found, tuple):
            version, refusal = found[0], copied.refusal(found[0], self.function)
            if refusal is None:
                self._promise(version, mode)
                self.left.interrupt()
                count = partial(self._count, version)
                return copied.run(version, partial(self.plain, *args, **kwargs), count)
            self._remember(bound, refusal)
            found = refusal
        return self._refused(found, args, kwargs, mode)

    def _refused(
        self, refusal: Refusal, args: tuple[Any, ...], kwargs: Any, mode: Deterministic
    ) -> Any:
        """A call of a kind that is known to be left to Python."""
        if mode or self.config.fullgraph:
            return self._python(refusal, args, kwargs, mode)
        return self._again(str(refusal), None, args, kwargs)

    def _tried(
        self,
        version: Version,
        trial: TierProfile,
        bound: dict[str, Any],
        leaves: tuple[Any, ...],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """One call of a version that may be slower than Python."""
        python, (broken_off, outside) = trial.in_python(), self.exits.graph_breaks
        taker = self._forwarder() if trial.lost else None
        ran, begun = thread_time(), perf_counter()
        try:
            if trial.lost:
                return self._again(FASTER, trial.longest, args, kwargs)
            if python:
                return self.plain(*args, **kwargs)
            if not version.direct:
                version.match(self.bind(args, kwargs) or {}, self.function)  # so that it is timed
            version.seconds = 0.0
            return self._run(version, bound, leaves, args, kwargs, False)
        finally:  # what it raises takes time as well
            seconds, busy = perf_counter() - begun, thread_time() - ran
            if taker is not None:
                busy = taker.busy  # without the rest of a look
            elif not python:
                alone = version.direct and version.seconds and not version.trace.graph_breaks
                seconds = version.seconds - AROUND if alone else seconds + BEFORE
            graph_breaks, rest = self.exits.graph_breaks
            trial.note(python, seconds, busy, graph_breaks - broken_off, rest - outside)
            if python and not trial.lost:
                self._note_python(FASTER)
            if trial.won or not self.exact():  # regions may be compiled later
                version.trial = None
                self.on_version()

    def _again(
        self, why: str, longest: float | None, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """One more call that is left to Python; after many in a row, short ones (of at most
        ``longest`` seconds) are not looked at any more."""
        self._note_python(why)
        taker = self._forwarder()
        if taker is None:
            return self.plain(*args, **kwargs)
        timed = self.exact() and not self.policy.gives_up  # else results would depend on time
        return taker.look(why, longest, args, kwargs, timed)

    def _forwarder(self) -> Forwarder | None:
        """The entry that passes calls straight to the plain function, if they need no dispatch."""
        if self.left.wanting and self.start is None:
            self.left.begin(self.function, in_python)
            self.on_version()
        return self.left.forwarder

    @property
    def regions(self) -> Continuations | None:
        """The continuations, which are compiled for the places after graph breaks."""
        return self.exits.regions

    @property
    def fallbacks(self) -> Counter[str]:
        """How many calls were left to Python, by reason."""
        return self.left.counts

    @section
    def _remember(self, bound: dict[str, Any], refusal: Refusal) -> None:
        with self.lock:
            self.policy.remember(bound, refusal)

    @section
    def compile(
        self, bound: dict[str, Any], whole: bool = False
    ) -> tuple[Version, tuple[Any, ...]]:
        """A version for these arguments, new if need be, and their leaves.

        ``whole``: one with all its stages, none that another process has compiled.

        Raises
        ------
        Refused
            If the call can't be compiled.
        """
        with self.lock:
            recalled = [v for v in self.versions if whole and v.trace.graph is None]
            found = self._serving(bound, recalled)  # another thread may have been first
            if found is not None:
                return found
            version = self._made(bound, whole)
            leaves = version.match(bound, self.function)
            if leaves is None:
                raise Refused(Refusal("guards", "the arguments don't satisfy their own guards"))
            made = [version, *(v for v in self.versions if v not in recalled)]
            for old in recalled:
                executables.retire(old.executable)
            self._order(made)
            logs.log("recompiles", lambda: f"{self.function.__qualname__}: {len(self.versions)}")
            return version, leaves

    def _serving(
        self, bound: Named, but: Sequence[Version] = ()
    ) -> tuple[Version, Args] | None:
        """The version, none of some, that serves these arguments, and their leaves."""
        for version in self.versions:
            if version in but:
                continue
            leaves = version.match(bound, self.function)
            if leaves is None or not leaf_matching.accepts(version.trace, leaves):
                continue
            if self._connect(version, bound):
                return version, leaves
        return None

    @property
    def _compiler(self) -> Compiler:
        return Compiler(self.function, self.config, self.parameters, self.start)

    def _made(self, bound: dict[str, Any], whole: bool) -> Version:
        compiler = self._compiler
        if not (compiler.walked or supported()):
            raise Unusable(Refusal("machine", unsupported()))
        make = compiler.make if whole else compiler.once
        version = make(bound, self.policy.idle(bound), self._exit)
        if version.trace.graph_breaks or not version.bare:
            self._try(version)
        return version

    def follow(self, bound: dict[str, Any]) -> Trace:
        """Traces the function; where something can't be followed, it pauses."""
        return self._compiler.follow(bound, self.policy.idle(bound))

    def _try(self, version: Version) -> None:
        """Finds out at the next calls whether Python is faster, if it has the same bits."""
        if self.start is None and may_be_tried(version, self.config):
            version.trial = trial(version)

    # ------------------------------------------------------------------ leaving

    def _exit(
        self, executable: Executable, left: Left, function: Any, args: tuple[Any, ...]
    ) -> Any:
        """Called by the machine-code entry when compiled code was left or could not be entered."""
        probing = isinstance(function, Probe)  # called by the slow path, which knows more
        if left.number == STALE and not probing:
            self._outdated = True  # if the call is of other arguments, nobody will look at it anew
            return self(*args)
        if left.number == STALE:
            return MISS
        if probing:
            raise left
        return self.leave(executable.owner, left, args, {})

    def leave(
        self,
        version: Version,
        left: Left,
        args: tuple[Any, ...],
        kwargs: Any,
        saved: list[tuple[Any, Any]] | None = None,
    ) -> Any:
        """Goes on in Python after a failed check or floating-point exceptions."""
        from npcompile.program.ir import Exit  # calls that stay don't need it

        way_out = version.executable.program.resumes[left.number] if left.number >= 0 else Exit()
        if left.number == FLAGS or way_out.frames:
            wanted = fp_warnings.wanted(left.flags - version.trace.silent)
            middle = bool(way_out.frames) and not way_out.graph_breaks
            if saved is None or not wanted:
                if wanted and (version.trace.written or middle or version.lasts()):
                    self._report(version, wanted)
                elif wanted:  # nothing has happened yet
                    found = self._rerun(version, left, args, kwargs)
                    return left.result if left.number == FLAGS else found
                if left.number == FLAGS:
                    return left.result
                return self._go_on(version, left, way_out, args, kwargs)
            for array, copy in saved:
                array[...] = copy
        if left.number == OVERLAP:
            return self._python(_OVERLAP, args, kwargs, self.mode())
        return self._rerun(version, left, args, kwargs)

    def _rerun(self, version: Version, left: Left, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Runs the function in Python from its start: no caller could see that it has begun."""
        if left.exception is not None:
            raise left.exception
        self._count(version, left)
        return self.plain(*args, **kwargs)

    def _go_on(
        self, version: Version, left: Left, way_out: Exit, args: tuple[Any, ...], kwargs: Any
    ) -> Any:
        """Goes on in Python where a check has failed, in the middle of the function."""
        self._count(version, left)
        if way_out.graph_breaks:
            result = self.graph_break(version, left, way_out)
            if self.exits.idled(self.exact(), lambda: self._price(version, args, kwargs)):
                self._idled(version, self.bind(args, kwargs) or {})
            return result
        return self.exits.resume(left, way_out, lambda: self.bind(args, kwargs) or {})

    def graph_break(self, version: Version, left: Left, way_out: Exit) -> Any:
        """Lets Python execute what can't be compiled, and goes on after it."""
        withdraw = partial(self.withdraw, version)
        return self.exits.graph_break(version, left, way_out, withdraw, self.policy.bucket)

    def _idled(self, version: Version, bound: dict[str, Any]) -> None:
        """Notes that a call did less than it cost; soon, such calls are left to Python."""
        if self.mode() or self.config.fullgraph or self.config.check or self.start is not None:
            return
        with self.lock:
            if self.policy.idled(bound, next(iter(version.trace.graph_breaks.values()), LITTLE)):
                self.on_version()

    def withdraw(self, version: Version) -> None:
        """Forgets one version."""
        with self.lock:
            if version in self.versions:
                self.versions = [v for v in self.versions if v is not version]
                executables.retire(version.executable)
                self.on_version()

    def _price(self, version: Version, args: tuple[Any, ...], kwargs: Any) -> float:
        leaves = version.match(self.bind(args, kwargs) or {}, self.function)
        return 0.0 if leaves is None else version.price(leaves)

    def _count(self, version: Version, left: Left) -> None:
        self.exits.count(version, left)
        if version.note():
            self._try(version)
            self.on_version()

    def _report(self, version: Version, wanted: list[str]) -> None:
        """Tells of floating-point exceptions of a run that can't be repeated."""
        if version.trace.ambiguous and not version.lasting:
            version.cautious = True
            self.on_version()
        fp_warnings.report(version.trace, wanted, self.function)

    def _python(
        self, refusal: Refusal, args: tuple[Any, ...], kwargs: Any, mode: Deterministic
    ) -> Any:
        self._note_python(str(refusal))
        if self.config.fullgraph:
            raise CompileError(f"{self.function.__qualname__}: {refusal}")
        if mode:
            complain(self.config, f"{self.function.__qualname__}: runs in Python ({refusal})")
        return self.plain(*args, **kwargs)

    def _note_python(self, why: str) -> None:
        self.left.counts[why] += 1
        logs.log("exits", lambda: f"{self.function.__qualname__} runs in Python: {why}")

    # ------------------------------------------------------------------ determinism

    def mode(self) -> Deterministic:
        """The deterministic mode in force for a call."""
        return self.config.deterministic or (deterministic_mode()[0] if modes else False)

    def clear(self) -> None:
        """Forgets all versions and refusals."""
        with self.lock:
            for version in self.versions:
                executables.retire(version.executable)
            self.exits.clear()
            self.versions = []
            self.policy = Policy(Bucket())
            self.left.clear()
            self.on_version()


def _nobody() -> None:
    """Stands for a function that is no more."""


_NOBODY = cast(FunctionType, _nobody)
