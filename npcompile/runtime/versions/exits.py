"""Continues calls that have left compiled code: in Python, in the middle of their function."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from npcompile.core import logs
from npcompile.core.aside import load
from npcompile.core.config import Config
from npcompile.core.unseen import unseen
from npcompile.guards.sources import Roots
from npcompile.runtime.entry.executables import Left
from npcompile.runtime.versions.version import Version

if TYPE_CHECKING:
    from npcompile.program.ir import Exit
    from npcompile.runtime.versions.policy import Bucket
    from npcompile.runtime.versions.regions import Continuations


@unseen
class Exits:
    """The exits of one function's versions, and what is compiled after its graph breaks."""

    def __init__(self, function: FunctionType, config: Config) -> None:
        self.function, self.config = function, config
        self.regions: Continuations | None = None

    def release(self, function: FunctionType) -> None:
        """Lets go of the function, which is no more; ``function`` stands for it."""
        self.function = function
        if self.regions is not None:
            self.regions.release()

    def adopt(self, function: FunctionType) -> None:
        """Serves another function of the same code."""
        self.function = function
        if self.regions is not None:
            self.regions.adopt(function)

    def clear(self) -> None:
        """Forgets what was compiled."""
        for continuation in self.regions.continuations.values() if self.regions else ():
            continuation.clear()
        self.regions = None

    @property
    def exact(self) -> bool:
        """Whether all that was compiled after graph breaks must agree with NumPy bit for bit."""
        rest = self.regions.continuations.values() if self.regions is not None else ()
        return all(continuation.exact() for continuation in rest)

    @property
    def graph_breaks(self) -> tuple[int, float]:
        """How many there were, and the seconds outside of machine code."""
        made = self.regions
        return (0, 0.0) if made is None else (made.broken_off, made.outside)

    def idled(self, exact: bool, price: Callable[[], float]) -> bool:
        """Whether the last call did little between its graph breaks; ``exact``: a clock tells
        better how little; ``price``: gives that of what it did before the first."""
        return self.regions is not None and self.regions.idled(exact, price)

    def count(self, version: Version, left: Left) -> None:
        """Notes why a version's code was left."""
        why = left.reason
        if left.number >= 0:
            way_out = version.executable.program.resumes[left.number]
            why = way_out.told(self.function.__code__.co_filename)
        version.exits[why] += 1
        logs.log("exits", lambda: f"{self.function.__qualname__}: {why}")

    def resume(self, left: Left, way_out: Exit, bind: Callable[[], dict[str, Any]]) -> Any:
        """Goes on in Python where a check has failed, or by raising what a signal handler has
        raised; ``bind`` gives the call's arguments."""
        load("npcompile.runtime.versions.resume")
        from npcompile.runtime.entry import interrupts
        from npcompile.runtime.versions import resume

        held = iter(left.held)
        frames = resume.activations(
            way_out,
            lambda _: next(held),
            Roots(self.function, bind()).value,
        )
        first = None if left.exception is None else interrupts.raiser(left.exception)
        return resume.prepare(frames, first)()

    def graph_break(
        self,
        version: Version,
        left: Left,
        way_out: Exit,
        withdraw: Callable[[], None],
        bucket: Bucket,
    ) -> Any:
        """Lets Python execute what can't be compiled, and goes on after it; ``withdraw`` forgets
        the version; what is compiled there goes into a bucket."""
        load("npcompile.runtime.versions.regions")
        from npcompile.runtime.versions import regions

        if self.regions is None:
            self.regions = regions.Continuations(self.function, self.config, bucket)
        return self.regions.go(regions.broken_off(version, left, way_out, withdraw))
