"""``f.explain(*args)``: what was captured, what left and why, what was fused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from npcompile.api import call_words
from npcompile.core.errors import Refusal, Refused
from npcompile.core.size_words import size_words
from npcompile.core.sizes import Size, Symbol, Unhinted, symbols
from npcompile.frontend.statements import statement_at
from npcompile.graph.routines import ROUTINES
from npcompile.guards.descriptions import conditions, readable
from npcompile.program.ir import (
    Alloc,
    Buffer,
    Call,
    For,
    If,
    Kernel,
    Program,
    RoutineCall,
    SideExit,
    While,
)
from npcompile.program.memory import moved, peak
from npcompile.runtime.threads.pool import get_num_threads
from npcompile.runtime.versions.dispatch import Dispatcher
from npcompile.runtime.versions.tiering import COMPARED
from npcompile.runtime.versions.version import Version

SHOWN = 4  # statements that are shown for a kernel, at most
AUXILIARY = {  # kernels that no statement asks for
    "save": "copies rows that are overwritten before all of their neighbours are computed",
    "keep": "copies the last rows of a temporary for the next block",
    "lanes": "takes several iterations of the loop at a time, as vectors",
}


@dataclass(frozen=True)
class Explanation:
    """Printable; the fields are for programs.

    ``captured`` is true if the whole call runs as machine code; ``refusal`` says why not.  Of a
    call that runs in regions, ``graph_breaks`` says what Python executes between them, and why.
    ``compiled`` is false if no part is.  ``peak`` is the most bytes of results and temporaries at
    once for the sizes at hand (None: only the run can tell).  ``in_python``: calls so far that ran
    in Python; ``left``: calls that began as machine code and that Python completed.
    """

    name: str
    captured: bool
    refusal: Refusal | None = None
    kernels: list[str] = field(default_factory=list)
    exits: list[str] = field(default_factory=list)
    guards: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    host_calls: list[str] = field(default_factory=list)
    routines: list[str] = field(default_factory=list)
    times: dict[str, float] = field(default_factory=dict)
    history: list[str] = field(default_factory=list)
    graph_breaks: list[str] = field(default_factory=list)
    peak: int | None = None
    compiled: bool = True
    in_python: int = 0
    left: int = 0

    def __str__(self) -> str:
        lines = [f"{self.name}: {self._summary()}"]
        if self.refusal is not None:
            lines.append(f"  why: {self.refusal}")
        for title, items in (
            ("loops over arrays (kernels), in the order in which they run", self.kernels),
            ("library functions that are called", self.host_calls),
            ("routines of linear algebra and transforms", self.routines),
            ("statements that Python executes, and why", self.graph_breaks),
            ("Python takes over if", self.exits),
            ("valid while (else another version is compiled)", self.guards),
            ("notes", self.notes),
            ("calls so far", self.history),
        ):
            if items:
                lines.append(f"  {title}:")
                for item, count in Counter(items).items():
                    first, *more = item.split("\n")
                    lines.append(f"    {first}" + f" (in {count} places)" * (count > 1))
                    lines += [f"      {line}" for line in more]
        if self.times:
            spent = ", ".join(f"{name} {ms:.1f}" for name, ms in self.times.items())
            lines.append(f"  compiled in {sum(self.times.values()):.1f} ms ({spent})")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The same in a notebook, with the headline in bold."""
        headline, _, rest = str(self).partition("\n")
        return f"<pre><b>{escape(headline)}</b>\n{escape(rest)}</pre>"

    def _summary(self) -> str:
        if self.compiled and self.in_python:
            how = "compiled whole" if self.captured else "compiled"
            how = "compiled in regions" if self.graph_breaks else how
            return f"{how}, but {_count(self.in_python, 'call')} ran in Python"
        if self.captured:
            calls = ", which calls library functions" if self.host_calls else ""
            left = f"; Python completed {_count(self.left, 'call')}" if self.left else ""
            return f"compiled whole: the call runs as machine code{calls}{left}"
        if self.graph_breaks:
            return "compiled in regions: Python executes some statements, machine code the rest"
        if self.compiled:
            return "some kinds of calls run as machine code, others in Python"
        if self.refusal is None and len(self.history) == 1:
            return "not called yet"
        ran = f"; {_count(self.in_python, 'call')} so far" if self.in_python else ""
        return f"runs in Python{ran}"


def explain(dispatcher: Dispatcher, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Explanation:
    """The explanation of one call, or of all calls so far if there are no arguments."""
    name = dispatcher.served.name
    if not args and not kwargs and dispatcher.served.parameters.positional:
        return history(dispatcher)
    bound = dispatcher.served.parameters.demand(args, kwargs)
    try:
        version = dispatcher.examine(bound)
    except Refused as refused:
        return Explanation(
            name, False, refused.refusal, compiled=False, **_past(dispatcher)
        )
    return _version(dispatcher, version)


def history(dispatcher: Dispatcher) -> Explanation:
    """The explanation of all calls so far."""
    graph_breaks = _graph_breaks(dispatcher, dispatcher.versions)
    captured = bool(dispatcher.versions) and not dispatcher.policy.refused and not graph_breaks
    return Explanation(
        dispatcher.served.name,
        captured,
        graph_breaks=graph_breaks,
        compiled=bool(dispatcher.versions),
        **_past(dispatcher),
    )


def _past(dispatcher: Dispatcher) -> dict[str, Any]:
    """The fields that tell of the calls so far."""
    lines = [_count(len(dispatcher.versions), "compiled version")]
    fallbacks, left = dispatcher.fallbacks, 0
    for why, count in list(fallbacks.items()):
        lines.append(f"{_count(count, 'call')} in Python: {why}")
    for version in dispatcher.versions:
        for why, count in list(version.exits.items()):
            lines.append(f"{_count(count, 'time')} left compiled code: {readable(why)}")
            left += count
    calls = sum(count for why, count in list(fallbacks.items()) if why != COMPARED)
    return {"history": lines, "in_python": calls, "left": left}


def _version(dispatcher: Dispatcher, version: Version) -> Explanation:
    executable, traced = version.executable, version.trace
    program, code = executable.program, dispatcher.served.function.__code__
    statements, most = list(_flatten(program.body)), _peak(program)
    parts = {s.symbol for s in statements if isinstance(s, For) and not s.line}
    here = code.co_filename
    source = _Source(here, parts)
    return Explanation(
        dispatcher.served.name,
        not traced.graph_breaks,
        graph_breaks=_graph_breaks(dispatcher, [version]),
        kernels=[source.kernel(s) for s in statements if isinstance(s, Kernel) and s.axes],
        exits=[
            readable(program.resumes[s.number].told(here))
            for s in statements
            if isinstance(s, SideExit) and not program.resumes[s.number].graph_breaks
        ],
        guards=conditions(traced),
        notes=[
            *map(readable, dict.fromkeys([*traced.notes, *program.notes])),
            _memory(program, most),
            *_places(dispatcher, program),
        ],
        peak=most,
        host_calls=[call_words.host_call(s, here) for s in statements if isinstance(s, Call)],
        routines=[
            call_words.routine(s, here) for s in statements
            if isinstance(s, RoutineCall) and s.outputs
            and not ROUTINES[s.routine.routine].prepares
        ],
        times=executable.times,
        **_past(dispatcher),
    )


def _places(dispatcher: Dispatcher, program: Program) -> list[str]:
    if dispatcher.served.config.capabilities.host_memory:
        return []
    from npcompile.backends.gpu import places

    return places(program)


def _graph_breaks(dispatcher: Dispatcher, versions: Sequence[Version]) -> list[str]:
    """What Python executes, with lines and reasons; after the first also in later regions."""
    traces = [version.trace for version in versions]
    lines = []
    if dispatcher.regions is not None:
        for continuation in dispatcher.regions.all():
            traces += [v.trace for v in continuation.versions]
            lines += _to_the_end(continuation.fallbacks)
        lines += _to_the_end(dispatcher.regions.rests)
    told = [str(refusal) for trace in traces for refusal in trace.graph_breaks.values()]
    return [*dict.fromkeys(told), *lines]


def _to_the_end(rests: Mapping[Any, int]) -> list[str]:
    """Why Python completed calls after a graph break."""
    return [f"{_count(n, 'call')} completed in Python: {why}" for why, n in rests.items()]


def _flatten(body: tuple[Any, ...]) -> Any:
    for statement in body:
        yield statement
        if isinstance(statement, (For, While)):
            yield from _flatten(statement.body)
        elif isinstance(statement, If):
            yield from _flatten(statement.then)
            yield from _flatten(statement.orelse)


def _memory(program: Program, most: int | None) -> str:
    allocated: dict[Buffer, None] = {  # once, where both arms of a branch make it
        s.buffer: None for s in _flatten(program.body) if isinstance(s, Alloc)
    }
    results = [b.name for b in allocated if b.kind == "result"]
    temps = [b.name for b in allocated if b.kind == "temp"]
    if not allocated:
        return "allocates no arrays"
    size = "" if most is None else f": {most:,} bytes at the peak for these arguments"
    counted = (len(results), "result"), (len(temps), "temporary array")
    return f"allocates {' and '.join(_count(*each) for each in counted if each[0])}{size}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + "s" * (number != 1)


def _peak(program: Program) -> int | None:
    try:
        return peak(program, get_num_threads())
    except Unhinted:
        return None


class _Source:
    """Describes kernels by the user's lines; ``parts``: symbols of loops over parts of arrays."""

    def __init__(self, file: str, parts: Collection[Symbol]) -> None:
        self.file, self.parts = file, frozenset(parts)

    def kernel(self, kernel: Kernel) -> str:
        """What a kernel does; then its lines, one below the other."""
        extents = [self._extent(axis.extent) for axis in kernel.axes]
        space = " x ".join(f"({n})" if len(extents) > 1 and any(c in n for c in "+-") else n
                           for n in extents)
        kinds = ["running " * r.running + r.kind for r in kernel.reductions]
        what = f"{'+'.join(kinds)} over" if kinds else "over"
        operations = sum(type(v).__name__ == "Apply" for v in kernel.values)
        count = f"{_count(operations, 'operation')}, {moved(kernel)} bytes a point"
        lines = list(dict.fromkeys(statement_at(n, self.file) for n in sorted(set(kernel.lines))))
        if len(lines) > SHOWN:
            lines[SHOWN - 1 :] = [f"... {len(lines) - SHOWN + 1} more statements"]
        lines += [AUXILIARY[kernel.name]] if kernel.name in AUXILIARY else []
        return "\n".join([f"{kernel.name} {what} {space}: {count}", *lines])

    def _extent(self, extent: Size) -> str:
        if not self.parts.isdisjoint(symbols(extent)):
            return "rows of a block"
        return readable(size_words(extent))
