"""Continues calls that have left compiled code: in Python, at their start or in their middle."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from npcompile.core import logs
from npcompile.core.aside import load
from npcompile.core.unseen import unseen
from npcompile.guards.sources import Roots
from npcompile.runtime.entry import fp_warnings
from npcompile.runtime.entry.executables import FLAGS, OVERLAP, Left
from npcompile.runtime.versions import version_list
from npcompile.runtime.versions.fallbacks import Fallbacks, complain
from npcompile.runtime.versions.policy import Policy
from npcompile.runtime.versions.served import Served
from npcompile.runtime.versions.version import Version
from npcompile.runtime.versions.version_list import Versions

if TYPE_CHECKING:
    from npcompile.program.ir import Exit
    from npcompile.runtime.versions.regions import Continuations


@unseen
class Exits:
    """The exits of one function's versions, and what is compiled after its graph breaks."""

    def __init__(
        self, served: Served, versions: Versions, policy: Policy, fallbacks: Fallbacks
    ) -> None:
        self.served, self.versions = served, versions
        self._policy, self._fallbacks = policy, fallbacks
        self.regions: Continuations | None = None

    # ------------------------------------------------------------------ leaving

    def leave(
        self, version: Version, left: Left, args: tuple[Any, ...], kwargs: Any,
        saved: list[tuple[Any, Any]] | None = None,
    ) -> Any:
        """Goes on in Python after a failed check or floating-point exceptions; ``saved``: copies of
        what the run has written."""
        from npcompile.program.ir import Exit  # calls that stay don't need it

        way_out = version.executable.program.resumes[left.number] if left.number >= 0 else Exit()
        if left.number == FLAGS or way_out.frames:
            wanted = fp_warnings.wanted(left.flags - version.trace.silent)
            middle = bool(way_out.frames) and not way_out.graph_breaks
            if saved is None or not wanted:
                if wanted and (version.trace.written or middle or version.lasts()):
                    self._report(version, wanted)
                elif wanted:  # nothing has happened yet
                    if left.number != FLAGS:
                        return self._rerun(version, left, args, kwargs)
                    self._again(version, left, args, kwargs)
                    return left.result
                if left.number == FLAGS:
                    return left.result
                return self._go_on(version, left, way_out, args, kwargs)
            for array, copy in saved:
                array[...] = copy
        if left.number == OVERLAP:
            return self._fallbacks.python(version_list.OVERLAP, args, kwargs, self.served.mode)
        return self._rerun(version, left, args, kwargs)

    def _rerun(self, version: Version, left: Left, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Runs the function in Python from its start: no caller could see that it has begun."""
        found = self._again(version, left, args, kwargs)
        self._promise(version, left)
        return found

    def _again(self, version: Version, left: Left, args: tuple[Any, ...], kwargs: Any) -> Any:
        if left.exception is not None:
            raise left.exception
        self.count(version, left)
        self._policy.ran_again(version, self._fallbacks.counts.total())
        return self.served.plain(*args, **kwargs)

    def _promise(self, version: Version, left: Left) -> None:
        """Complains where Python has computed what a deterministic mode promises: it may raise what
        compiled code can't."""
        if self.served.mode and not version.trace.exact:
            why = self._reason(version, left)
            complain(self.served.config, f"{self.served.name}: runs in Python ({why})")

    def _go_on(
        self, version: Version, left: Left, way_out: Exit, args: tuple[Any, ...], kwargs: Any
    ) -> Any:
        """Goes on in Python where a check has failed, in the middle of the function."""
        self.count(version, left)

        def bind() -> dict[str, Any]:
            return self.served.bind(args, kwargs) or {}

        if not way_out.graph_breaks:
            found = self._resume(left, way_out, bind)
            self._promise(version, left)
            return found
        result = self.graph_break(version, left, way_out)
        price, exact = partial(self._price, version, bind), self.versions.exact and self.exact
        if self.regions is not None and self.regions.idled(exact, price):
            self._policy.idled(version, bind())
        return result

    def _price(self, version: Version, bind: Callable[[], dict[str, Any]]) -> float:
        leaves = version.match(bind(), self.served.function)
        return 0.0 if leaves is None else version.price(leaves)

    def _resume(self, left: Left, way_out: Exit, bind: Callable[[], dict[str, Any]]) -> Any:
        """Goes on in Python where a check has failed, or by raising what a signal handler has
        raised; ``bind`` gives the call's arguments."""
        load("npcompile.runtime.versions.resume")
        from npcompile.runtime.entry import interrupts
        from npcompile.runtime.versions import resume

        held = iter(left.held)
        roots = Roots(self.served.function, bind())
        frames = resume.activations(way_out, lambda _: next(held), roots.value)
        first = None if left.exception is None else interrupts.raiser(left.exception)
        return resume.prepare(frames, first)()

    def graph_break(self, version: Version, left: Left, way_out: Exit) -> Any:
        """Lets Python execute what can't be compiled, and goes on after it."""
        load("npcompile.runtime.versions.regions")
        from npcompile.runtime.versions import regions

        if self.regions is None:
            parts = self.served.function, self.served.config, self._policy.bucket
            self.regions = regions.Continuations(*parts)
        withdraw = partial(self.versions.withdraw, version)
        return self.regions.go(regions.broken_off(version, left, way_out, withdraw))

    # ------------------------------------------------------------------ notes

    def count(self, version: Version, left: Left) -> None:
        """Notes why a version's code was left."""
        why = self._reason(version, left)
        version.exits[why] += 1
        logs.log("exits", lambda: f"{self.served.name}: {why}")
        self._policy.noted(version)

    def _reason(self, version: Version, left: Left) -> str:
        """Why a version's code was left, and in which line."""
        if left.number < 0:
            return left.reason
        way_out = version.executable.program.resumes[left.number]
        return way_out.told(self.served.function.__code__.co_filename)

    def _report(self, version: Version, wanted: list[str]) -> None:
        """Tells of floating-point exceptions of a run that can't be repeated."""
        if version.trace.ambiguous and not version.lasting:
            version.doubt(True)
            self.served.changed()
        fp_warnings.report(version.trace, wanted, self.served.function)

    @property
    def exact(self) -> bool:
        """Whether all that was compiled after graph breaks must agree with NumPy bit for bit."""
        return all(rest.exact() for rest in self.regions.all()) if self.regions else True

    @property
    def graph_breaks(self) -> tuple[int, float]:
        """How many there were, and the seconds outside of machine code."""
        made = self.regions
        return (0, 0.0) if made is None else (made.broken_off, made.outside)

    # ------------------------------------------------------------------ functions made again

    def release(self) -> None:
        """Lets go of the function, which is no more."""
        if self.regions is not None:
            self.regions.release()

    def adopt(self) -> None:
        """Serves another function of the same code."""
        if self.regions is not None:
            self.regions.adopt(self.served.function)

    def clear(self) -> None:
        """Forgets what was compiled."""
        for rest in self.regions.all() if self.regions else ():
            rest.clear()
        self.regions = None
