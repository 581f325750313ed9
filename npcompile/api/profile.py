"""``f.profile(*args)``: where the time of a call goes, by line and by step.

The function is compiled once more, so that its statements note their times (see
:mod:`npcompile.core.recorder`), and called on copies of the arguments.  The version that calls run
otherwise stays as it is.
"""

from __future__ import annotations

import copy
import functools
import json
import random
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any

import numpy as np

from npcompile.api.pages import fragment, page
from npcompile.core.errors import CompileError
from npcompile.core.lines import SourceLine, in_words
from npcompile.core.recorder import Event, Recorder
from npcompile.core.records import replace
from npcompile.core.sizes import Size, Unhinted, floordiv, hint, product
from npcompile.core.units import bytes_text, time_text
from npcompile.frontend.statements import statement_at
from npcompile.program.ir import (
    Alloc,
    Apply,
    Buffer,
    Call,
    For,
    Free,
    Kernel,
    Load,
    RoutineCall,
    Statement,
    While,
    blocks,
    flat,
)
from npcompile.program.memory import moved
from npcompile.runtime.versions.dispatch import Dispatcher
from npcompile.runtime.versions.served import Served

#: seconds for timed calls, and the most of them; the shortest counts
SECONDS, CALLS = 0.5, 20
#: calls at most before
WARM = 8
#: seconds between two readings of the counter by which its ticks are told
BETWEEN = 0.02
#: iterations of a loop, where nothing tells how many
SUPPOSED = 16
#: what the steps are, for readers
KINDS = {
    Kernel: "kernel", RoutineCall: "library", Call: "library", Alloc: "memory", Free: "memory",
    For: "loop", While: "loop",
}
PYTHON, ENTRY, REST = "Python", "entry", "rest"


@dataclass(frozen=True)
class Step:
    """A kernel, a loop, a call, memory, or what Python executes, with its sums over one call.

    ``seconds`` and ``runs`` are of all its runs; ``points`` of a kernel are the elements of its
    space, ``bytes`` what it moves between memory and registers, ``operations`` what it computes:
    0 where that is not known.  ``lines`` gives for each of the user's lines its share; ``reads``
    and ``writes`` are names of arrays.
    """

    name: str
    kind: str
    seconds: float
    runs: int = 1
    points: int = 0
    bytes: int = 0
    operations: int = 0
    lines: dict[int, float] = field(default_factory=dict)
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    @property
    def rate(self) -> str:
        """Gigabytes and giga-operations a second."""
        if not self.seconds or not self.bytes:
            return ""
        text = f"{self.bytes / self.seconds / 1e9:.1f} GB/s"
        each = self.operations / self.seconds / 1e9
        return text + (f", {each:.2f} Gop/s" if each else "")


@dataclass(frozen=True)
class Profile:
    """Where the time of a call went; printable, and a page in notebooks.

    Attributes
    ----------
    name, file
        The function and where its source is.
    seconds
        The time of the shortest call.
    plain
        That of the plain function; None: it was not called.
    busy
        Processor time over time: the number of threads that worked, on average.
    steps
        What ran, in the order of the program.
    lines
        Seconds for each line of the user's; a kernel's time is divided among its lines by the
        number of operations that come from each.
    memory
        Pairs of seconds and of bytes that are in use from then on.
    events
        Each run: name, kind, begin and end in seconds.
    """

    name: str
    file: str
    seconds: float
    plain: float | None
    busy: float
    steps: list[Step]
    lines: dict[int, float]
    memory: list[tuple[float, int]]
    events: list[tuple[str, str, float, float]]
    source: str = ""
    first: int = 1

    @property
    def peak(self) -> int:
        """The most bytes of results and temporaries in use at once."""
        return max((held for _, held in self.memory), default=0)

    def __str__(self) -> str:
        return "\n".join(self._text())

    __repr__ = __str__

    def _text(self) -> Iterator[str]:
        yield f"{self.name}: {self.head}"
        yield "  by line:"
        for line, seconds in sorted(self.lines.items(), key=lambda pair: -pair[1]):
            text = statement_at(line, self.file) if line else "no line of its own"
            yield f"    {self.share(seconds):6.1%} {time_text(seconds):>10}  {text}"
        yield "  by step:"
        for step in sorted(self.steps, key=lambda step: -step.seconds):
            runs = f" in {step.runs:,} runs" if step.runs > 1 else ""
            rate = f"  ({step.rate})" if step.rate else ""
            yield (f"    {self.share(step.seconds):6.1%} {time_text(step.seconds):>10}  "
                   f"{step.kind}: {step.name}{runs}{rate}")

    @property
    def head(self) -> str:
        """The call's time and memory in one line."""
        beside = "" if self.plain is None else (
            f" a call; plain Python {time_text(self.plain)} "
            f"({self.plain / self.seconds:.1f} times as long)")
        threads = "one thread" if self.busy < 1.05 else f"{self.busy:.1f} threads on average"
        return (f"{time_text(self.seconds)}{beside}; {threads}; "
                f"{bytes_text(self.peak)} of results and temporaries at the peak")

    def share(self, seconds: float) -> float:
        """The part of the call that some seconds are."""
        return seconds / self.seconds if self.seconds else 0.0

    def _repr_html_(self) -> str:
        return fragment(self)

    def html(self) -> str:
        """A page of its own: the source with its times, the steps, the memory over time."""
        return page(self)

    def trace(self) -> dict[str, Any]:
        """The runs as Chrome's trace viewer and Perfetto read them (JSON)."""
        begin = min((b for *_, b, _ in self.events), default=0.0)
        events: list[dict[str, Any]] = [
            {"name": name, "cat": kind, "ph": "X", "pid": 1, "tid": 1,
             "ts": (b - begin) * 1e6, "dur": (e - b) * 1e6}
            for name, kind, b, e in self.events
        ]
        events += [
            {"name": "memory", "ph": "C", "pid": 1, "ts": (at - begin) * 1e6,
             "args": {"bytes": held}}
            for at, held in self.memory
        ]
        return {"traceEvents": events, "displayTimeUnit": "ns"}

    def save(self, path: str | Path) -> None:
        """Writes a page (``.html``), a trace (``.json``) or text (any other name)."""
        path = Path(path)
        text = str(self)
        if path.suffix == ".html":
            text = self.html()
        elif path.suffix == ".json":
            text = json.dumps(self.trace())
        path.write_text(text, encoding="utf-8")


def profile(dispatcher: Dispatcher, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Profile:
    """The profile of a call on copies of its arguments.

    Raises
    ------
    Exception
        What the call raises.
    """
    recorder = Recorder()
    twin = recorded(dispatcher, recorder)
    call = _Calls(args, kwargs)
    known, spent = -1, 0.0
    for _ in range(WARM):  # what comes after graph breaks is compiled later
        spent += call(twin.call)[1]
        if len(recorder.marks) == known and spent > SECONDS:
            break
        known = len(recorder.marks)
    best = _best(call, twin, recorder)
    plain, ran, spent = min(_timed(call, dispatcher.served.function)), 0, 0.0
    while spent < SECONDS and ran < CALLS and plain < SECONDS:
        plain = min(plain, *_timed(call, dispatcher.served.function))
        ran, spent = ran + 1, spent + plain
    return best.profile(plain)


def _nothing() -> None:
    """No entries go to a version that is profiled."""


def recorded(dispatcher: Dispatcher, recorder: Recorder,
             on_change: Callable[[], None] = _nothing) -> Dispatcher:
    """One that compiles the same function so that its statements note their times; ``on_change``
    is called when other versions can be called.

    Raises
    ------
    CompileError
        If the function is compiled for a device whose code notes no times.
    """
    config = dispatcher.served.config
    if not config.capabilities.native:
        raise CompileError(f"{dispatcher.served.name}: only code of the CPU is profiled")
    config = replace(config, recorder=recorder, cache=False, check=False)
    return Dispatcher(Served(dispatcher.served.function, config, on_change))


class _Calls:
    """Calls on copies, each with the same random numbers."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._given = args, kwargs
        self._states = np.random.get_state(), random.getstate()

    def __call__(self, function: Callable[..., Any]) -> tuple[float, float, float]:
        """Times a call: when it began, its seconds, and those of all processors."""
        args, kwargs = copy.deepcopy(self._given)
        now = np.random.get_state(), random.getstate()
        np.random.set_state(self._states[0])
        random.setstate(self._states[1])
        try:
            ran, begun = process_time(), perf_counter()
            result = function(*args, **kwargs)
            seconds, busy = perf_counter() - begun, process_time() - ran
            del result
            return begun, seconds, busy
        finally:
            np.random.set_state(now[0])
            random.setstate(now[1])


def _timed(call: _Calls, function: Callable[..., Any]) -> list[float]:
    return [call(function)[1]]


class Ticks:
    """Finds how fast the counter counts, from calls whose begin is known by both clocks."""

    def __init__(self) -> None:
        self._readings: list[tuple[float, int]] = []

    def read(self, begun: float, recorder: Recorder, before: int = 0) -> None:
        """Takes a call that began then, and whose first event has the number ``before``."""
        if recorder.count > before:
            self._readings.append((begun, recorder.begin(before)))

    def rate(self) -> float:
        """Ticks in a second."""
        if len(self._readings) > 1:
            (first, at), *_, (last, then) = self._readings
            if last - first >= BETWEEN / 2:
                return (then - at) / (last - first)
        return 1e9

    @property
    def zero(self) -> float:
        """The time of the first call."""
        return self._readings[0][0] if self._readings else 0.0


def _best(call: _Calls, twin: Dispatcher, recorder: Recorder) -> Reading:
    """Of several calls the shortest."""
    found: tuple[float, list[tuple[int, int, int]], list[Event]] | None = None
    ticks = Ticks()
    spent = busy = 0.0
    runs = 0
    while runs < 2 or (spent < SECONDS and runs < CALLS):
        recorder.clear()
        begun, seconds, processors = call(twin.call)
        ticks.read(begun, recorder)
        spent, busy, runs = spent + seconds, busy + processors, runs + 1
        if found is None or seconds < found[0]:
            found = seconds, recorder.all_sums(), list(recorder.events())
        if runs == 1:
            sleep(BETWEEN)
    assert found is not None
    threads = busy / spent if spent else 1.0
    return Reading(twin, recorder, ticks.rate(), found[0], threads, *found[1:])


class Reading:
    """Makes a profile of what a recorder holds."""

    def __init__(self, twin: Dispatcher, recorder: Recorder, ticks: float, seconds: float,
                 busy: float, sums: list[tuple[int, int, int]], events: list[Event]) -> None:
        self.twin, self.marks, self.ticks = twin, recorder.marks, ticks
        self.seconds, self.busy, self.sums, self.events = seconds, busy, sums, events
        self.here = twin.served.function.__code__.co_filename
        self._names: dict[tuple[int, int], tuple[str, str]] = {}
        self.timed = frozenset([id(mark.statement) for mark in self.marks])

    @classmethod
    def of(cls, twin: Dispatcher, recorder: Recorder, ticks: float, seconds: float,
           busy: float) -> Reading:
        """The reading of all that a recorder holds."""
        sums, events = recorder.all_sums(), list(recorder.events())
        return cls(twin, recorder, ticks, seconds, busy, sums, events)

    def profile(self, plain: float | None) -> Profile:
        """The profile; ``plain``: the plain function's seconds."""
        steps = list(self.steps())
        lines: defaultdict[int, float] = defaultdict(float)
        for step in steps:
            for line, share in (step.lines or {0: 1.0}).items():
                lines[line] += share * step.seconds
        text, first = self.source()
        return Profile(
            self.twin.served.name, self.here, self.seconds, plain, self.busy, steps,
            dict(lines), self.memory(), self.runs(), text, first)

    def steps(self) -> Iterator[Step]:
        """The steps in the order of the programs, and the rest of the call's time."""
        inside = self.inside()
        programs = [k for k, mark in enumerate(self.marks) if mark.statement is None]
        for k, mark in enumerate(self.marks):
            time, runs, amount = self.sums[k]
            if runs and mark.statement is not None:
                own = max(time - inside.get(k, 0), 0) / self.ticks
                yield self.step(mark.statement, own, runs, amount)
        whole = sum(self.sums[k][0] for k in programs) / self.ticks
        ran = [self.marks[k].program for k in programs if self.sums[k][1]]
        if ran:
            body = [statement for program in ran for statement in program.body]
            yield Step("between kernels and calls: sizes, numbers, branches", REST,
                       max(whole - inside.get(None, 0) / self.ticks, 0.0),
                       lines=shares(body, self.timed))
        left = max(self.seconds - whole, 0.0)
        told = self.broken_off()
        if not ran:
            why = next(reversed(self.twin.fallbacks), "")
            yield Step(f"the whole function{': ' * bool(why)}{why}", PYTHON, left)
        elif told:
            lines = {line: 1 / len(told) for line in told}
            yield Step("statements that Python executes, and the way there and back", PYTHON, left,
                       lines=lines)
        else:
            yield Step("the call itself: looking at arguments, making results", ENTRY, left)

    def inside(self) -> dict[int | None, int]:
        """For each loop the ticks of what is timed in it; for None those of all outside of
        loops."""
        found: defaultdict[int | None, int] = defaultdict(int)
        for mark, (time, _, _) in zip(self.marks, self.sums):
            if mark.statement is not None:
                found[mark.around] += time
        return found

    def broken_off(self) -> list[int]:
        """The lines at which Python executes statements."""
        dispatchers = [self.twin]
        if self.twin.regions is not None:
            dispatchers += self.twin.regions.continuations.values()
        code = self.twin.served.function.__code__
        ran = {id(self.marks[k].program) for k, (_, runs, _) in enumerate(self.sums) if runs}
        found: dict[int, None] = {}
        for dispatcher in dispatchers:
            for version in dispatcher.versions:
                if id(version.executable.program) in ran:
                    for place in version.trace.graph_breaks:
                        found[_line_at(code, place)] = None
        return list(found)

    def step(self, statement: Statement, seconds: float, runs: int, amount: int) -> Step:
        """One step with what it moves and computes."""
        kind = KINDS[type(statement)]
        lines = shares((statement,), self.timed - {id(statement)})
        match statement:
            case Kernel():
                computed = sum(isinstance(v, Apply) and v.op != "cast" for v in statement.values)
                computed += len(statement.reductions)
                return Step(statement.name, kind, seconds, runs, amount, moved(statement) * amount,
                            computed * amount, lines, *arrays(statement))
            case Alloc(buffer) | Free(buffer):
                name = f"{type(statement).__name__.lower()} {buffer.name} ({bytes_text(amount)})"
                return Step(name, kind, seconds, runs, lines=lines)
            case RoutineCall():
                return Step(statement.routine.name, kind, seconds, runs, 0, 0, 0, lines,
                            *arrays(statement))
            case Call():
                parts = statement.function.path.replace(":", ".").split(".")
                name = ".".join(part for part in parts if not part.startswith("_"))
                return Step(name, kind, seconds, runs, 0, 0, 0, lines, *arrays(statement))
        where = "on threads" if isinstance(statement, For) and statement.parallel else "of numbers"
        at = [statement.line] if isinstance(statement, For) and statement.line else sorted(lines)
        name = ", ".join([where, *(in_words(line, self.here) for line in at[:3])])
        return Step(name, kind, seconds, runs, 0, 0, 0, lines, *arrays(statement))

    def memory(self) -> list[tuple[float, int]]:
        """When memory is taken and given back, and how much is in use then."""
        held: dict[Buffer, int] = {}
        found = []
        for event in self.events:
            statement = self.marks[event.mark].statement
            if isinstance(statement, Alloc):
                held[statement.buffer] = event.amount
            elif isinstance(statement, Free):  # of a library's result, too
                held.pop(statement.buffer, 0)
            else:
                continue
            found.append((self.when(event.end), sum(held.values())))
        return found

    def runs(self) -> list[tuple[str, str, float, float]]:
        """Each run with its name and kind."""
        return [(*self.named(event.mark, event.amount), self.when(event.begin),
                 self.when(event.end)) for event in self.events]

    def named(self, mark: int, amount: int) -> tuple[str, str]:
        """The name and kind of a step, which is made once for all its runs."""
        if (mark, amount) not in self._names:
            found = self.marks[mark]
            if found.statement is None:
                return found.program.name, "program"
            step = self.step(found.statement, 0.0, 1, amount)
            self._names[mark, amount] = step.name, step.kind
        return self._names[mark, amount]

    @functools.cached_property
    def begun(self) -> int:
        """When the first event begins."""
        return min((event.begin for event in self.events), default=0)

    def when(self, ticks: int) -> float:
        """Seconds since the first event."""
        return (ticks - self.begun) / self.ticks

    def source(self) -> tuple[str, int]:
        """The function's source and its first line."""
        import inspect

        try:
            lines, first = inspect.getsourcelines(self.twin.served.function)
        except (OSError, TypeError):
            return "", 1
        return "".join(lines), first


# ------------------------------------------------------------------ what statements do


def arrays(statement: Statement) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the arrays that a statement reads, and of those that it stores to."""
    loaded: dict[str, None] = {}
    stored: dict[str, None] = {}
    for inner in flat((statement,)):
        match inner:
            case Kernel():
                loads = [v.buffer for v in inner.values if isinstance(v, Load)]
                loaded.update(dict.fromkeys(b.name for b in loads if b.kind != "scalar"))
                stored.update(dict.fromkeys(b.name for b in inner.written if b.kind != "scalar"))
            case RoutineCall() | Call():
                loaded.update(dict.fromkeys(view.buffer.name for view in inner.inputs))
                stored.update(dict.fromkeys(buffer.name for buffer in inner.outputs))
    return tuple(loaded), tuple(stored)


def shares(body: Iterable[Statement], apart: Container[int]) -> dict[int, float]:
    """For each of the user's lines its share of the time of some statements, without those that
    are timed on their own."""
    counts: defaultdict[int, float] = defaultdict(float)
    for statement, times in _weighted(body, apart, 1.0):
        match statement:
            case Kernel():
                for value in statement.values:
                    if isinstance(value, Apply) and value.line:
                        counts[value.line] += times
                for line in statement.lines:
                    counts[line] += 0.5 * times  # what it loads and stores
            case RoutineCall() | Call() if statement.line:
                counts[statement.line] += times
            case For() if statement.line:
                counts[statement.line] += 0.5 * times
    total = sum(counts.values())
    return {line: count / total for line, count in counts.items()}


def _weighted(
    body: Iterable[Statement], apart: Container[int], times: float
) -> Iterator[tuple[Statement, float]]:
    """The statements of a block and of those in it, each with how often it runs or how many
    elements it computes."""
    for statement in body:
        if id(statement) in apart:
            continue
        inner = times
        if isinstance(statement, (For, While)):
            inner *= _trips(statement)
        elif isinstance(statement, Kernel):
            many = _known(product([axis.extent for axis in statement.axes]))
            yield statement, times * many
            continue
        yield statement, times
        for block in blocks(statement):
            yield from _weighted(block, apart, inner)


def _trips(loop: For | While) -> int:
    """How many iterations a loop makes, as far as it is known."""
    if isinstance(loop, While):
        return SUPPOSED
    return max(_known(floordiv(loop.stop - loop.start, loop.step)), 1)


def _known(size: Size) -> int:
    """A size in the call at hand; a guess where only the run knows it."""
    try:
        return hint(size)
    except Unhinted:
        return SUPPOSED


def _line_at(code: Any, offset: int) -> int:
    """The line of an instruction."""
    line = next((n for begin, end, n in code.co_lines() if begin <= offset < end and n), 0)
    return SourceLine(line, code.co_filename)
