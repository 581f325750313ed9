"""Makes versions: traced, lowered and linked, or loaded where an earlier process kept one."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from npcompile.core.aside import load
from npcompile.core.config import Config
from npcompile.core.errors import Refusal, Refused
from npcompile.core.surroundings import Postponed
from npcompile.guards.matching import Match, matcher
from npcompile.runtime.entry import guard_binding, leaf_matching
from npcompile.runtime.entry.executables import Executable, Stopwatch
from npcompile.runtime.entry.outline import Outline
from npcompile.runtime.unsafe.parameters import Parameters
from npcompile.runtime.versions import version_lookup
from npcompile.runtime.versions.call_signatures import call_kind, on_device, placed
from npcompile.runtime.versions.native import Leave, link, native, store
from npcompile.runtime.versions.version import Version

if TYPE_CHECKING:
    from npcompile.guards.sources import Trace
    from npcompile.tracing.graph_breaks import GraphBreaks, ResumePoint

#: with all that they import, the modules that only who compiles needs
_COMPILER = (
    "npcompile.runtime.versions.version_writer", "npcompile.runtime.versions.lowering",
    "npcompile.tracing.retries",
    "npcompile.tracing.graph_breaks", "npcompile.runtime.entry.entry_code",
    "npcompile.backends.cpu.body",
)
#: places in one trace where Python executes what can't be followed
GRAPH_BREAKS = 8


def provisional(graph_breaks: GraphBreaks) -> bool:
    """Whether Python is to show how some statement can be followed."""
    return any(refusal.provisional for refusal in graph_breaks.values())


class Compiler:
    """Makes versions of one function, or of what comes after its place ``start``."""

    def __init__(self, function: FunctionType, config: Config, parameters: Parameters,
                 start: ResumePoint | None) -> None:
        self.function, self.config = function, config
        self.parameters, self.start = parameters, start

    def once(self, bound: dict[str, Any], idle: bool, leave: Leave) -> Version:
        """As :meth:`make`, but a version that an earlier process has compiled does, too; several
        processes that need the same one at the same time compile it once."""
        name = self._key(bound)
        if name is None:
            return self.make(bound, idle, leave)
        known = self.recalled(name, bound, leave)
        if known is not None:
            return known
        with store().making(name) as waited:
            known = self.recalled(name, bound, leave) if waited else None
            return known or self.make(bound, idle, leave)

    def make(self, bound: dict[str, Any], idle: bool, leave: Leave) -> Version:
        """A version for these arguments; ``idle``: one with graph breaks would do too little
        between them.  Its entry calls ``leave`` where compiled code is left.

        Raises
        ------
        Refused
            If there can be none.
        """
        if not load(*_COMPILER):
            raise Postponed(Refusal("compiler", "what it imports is being imported"))
        from npcompile.runtime.versions import (  # only who compiles needs them
            lowering,
            version_writer,
        )

        watch = Stopwatch()
        followed = self.follow(bound, idle)
        watch.lap("trace")
        config = on_device(followed, self.config)
        program = lowering.lower(followed, config, watch)
        traced = lowering.outline(followed, config)
        if self.walked or config is not self.config:
            from npcompile.runtime.versions.interpreted import interpreted

            made, direct = interpreted(traced, program, config), False
        else:
            wires, direct = self.wires(traced)
            made, linked, frame = native(traced, program, self.config, wires, leave, watch)
            name = self._key(bound)
            if name is not None and not provisional(followed.graph_breaks):
                parts = (self.function, traced, linked, program, frame)
                kept = version_writer.keep(store(), name, *parts)
                watch.lap("keep" if kept else "not kept")
        return self._version(traced, matcher(traced.guards, traced.leaves), made, direct, watch)

    def recalled(self, name: bytes, bound: dict[str, Any], leave: Leave) -> Version | None:
        """A version that serves a call and that an earlier process has compiled."""
        watch = Stopwatch()
        for found in version_lookup.find(store(), name, self.function, bound):
            matching = matcher(found.outline.guards, found.outline.leaves)
            leaves = matching(bound, self.function)
            if leaves is None or not leaf_matching.accepts(found.outline, leaves):
                continue
            wires, direct = self.wires(found.outline)
            code = store().get(found.linked.key)
            if code is None or not wires.signature.like(found.linked.signature):
                continue
            watch.lap("recall")
            made = link(found.linked, code.object, self.config, wires, found.rest, leave)
            watch.lap("load")
            return self._version(found.outline, matching, made, direct, watch)
        return None

    def follow(self, bound: dict[str, Any], idle: bool) -> Trace:
        """Traces the function; where something can't be followed, it pauses."""
        from npcompile.tracing.graph_breaks import may_graph_break, worthwhile
        from npcompile.tracing.retries import trace

        graph_breaks: dict[int, Refusal] = {}
        first: Refusal | None = None  # no exception, whose traceback would lead back to here
        while True:
            try:
                traced = trace(self.function, bound, self.config, self.start, graph_breaks)
                break
            except Refused as refused:
                first, place = first or refused.refusal, refused.place
                known = place in graph_breaks or len(graph_breaks) >= GRAPH_BREAKS
                whole = self.config.fullgraph and not refused.refusal.provisional
                if known or whole or not may_graph_break(self.function, place):
                    raise Refused(first) from None
                graph_breaks[place] = placed(refused.refusal, self.function, place)
        if first is None or provisional(graph_breaks):
            return traced
        if idle or not worthwhile(traced.graph, self.function, graph_breaks):
            raise Refused(first)
        return traced

    @property
    def walked(self) -> bool:
        """Whether programs run statement by statement, from Python."""
        return not self.config.capabilities.native

    def wires(self, traced: Outline) -> tuple[guard_binding.Wiring, bool]:
        """How calls reach the leaves, and whether directly."""
        known = self.parameters
        wired = (
            guard_binding.direct(traced, self.function, known.positional) if known.plain else None
        )
        return (wired, True) if wired is not None else (guard_binding.leafwise(traced), False)

    def _key(self, bound: dict[str, Any]) -> bytes | None:
        """The disk cache's key of versions for these arguments; None if they are not kept."""
        if not self.config.cache or self.walked:
            return None
        kinds = (self.start, call_kind(bound, exact=False))
        return version_lookup.key(self.function, self.config, kinds)

    def _version(self, traced: Outline, matching: Match, made: Executable, direct: bool,
                 watch: Stopwatch) -> Version:
        version = Version(
            traced, made, matching, direct, lasting=traced.lasting, heavy=traced.heavy,
            cautious=bool(traced.written) and not traced.lasting and traced.ambiguous)
        made.belongs_to(version, watch.times)
        version.tell(self.function)
        version.log(self.function.__qualname__)
        return version
