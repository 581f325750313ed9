"""``with npcompile.profiler() as p``: the profile of a whole program."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from npcompile.api.profile import Profile, Reading, Ticks, recorded
from npcompile.core.config import modes
from npcompile.core.errors import Refused
from npcompile.core.recorder import Recorder
from npcompile.core.sections import section
from npcompile.core.units import time_text
from npcompile.core.unseen import unseen
from npcompile.runtime.unsafe.native_functions import FunctionBase, install

LONG = 100e-6  # seconds of a call, from which its processor time counts
OFTEN = 5e-3  # seconds from one call that is looked at to the next


class _RecordedFunction(FunctionBase):
    """Calls a recorded version's machine code as a compiled function does; what fits none of them
    is dispatched."""

    __slots__ = ("dispatcher",)

    def __init__(self, function: Any, recorder: Recorder) -> None:
        self.dispatcher = recorded(function._dispatcher, recorder, self.changed)

    @unseen
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.dispatcher.call(*args, **kwargs)

    @section
    def changed(self) -> None:
        """Chains the entries of the versions, the newest first."""
        first = 0
        for version in reversed(self.dispatcher.installable(False)):
            first = version.precede(first)
        install(self, first)


@dataclass
class _Recorded:
    """What was recorded of one function; ``times``: when each call began and ended, as numbers,
    which the garbage collector does not look at."""

    entry: _RecordedFunction
    recorder: Recorder
    times: array[float] = field(default_factory=lambda: array("d"))
    #: of the calls whose processor time was read, and that time
    watched: float = 0.0
    busy: float = 0.0

    @property
    def calls(self) -> int:
        return len(self.times) // 2

    @property
    def seconds(self) -> float:
        return sum(self.times[1::2]) - sum(self.times[::2])

    @property
    def spans(self) -> Iterator[tuple[float, float]]:
        return zip(self.times[::2], self.times[1::2], strict=True)

    def look(self, args: tuple[Any, ...], kwargs: dict[str, Any], ticks: Ticks) -> Any:
        """One call, of which the processor time and the counter are read, too: that takes as long
        as many a call."""
        before, ran = self.recorder.count, process_time()
        begun = perf_counter()
        try:
            return self.entry(*args, **kwargs)
        finally:
            ended, ran = perf_counter(), process_time() - ran
            self.times.extend((begun, ended))
            ticks.read(begun, self.recorder, before)
            if ended - begun >= LONG:
                self.watched += ended - begun
                self.busy += ran


class profiler:
    """Records the calls of all compiled functions in a ``with`` block, on its thread.

    Each function is compiled once more before its first call in the block, so that its statements
    note their times; that is not counted, but the compile of another kind of call is.  Outside of a
    block nothing is recorded, and calls cost what they cost without a profiler.

    Attributes
    ----------
    profiles
        When the block has ended, by the functions' names: :class:`~npcompile.api.profile.Profile`,
        whose ``seconds`` are of all calls; ``plain`` is not known.

    Raises
    ------
    RuntimeError
        If another profiler is recording.

    Examples
    --------
    >>> import numpy as np
    >>> import npcompile
    >>> @npcompile.jit
    ... def total(x):
    ...     return (x * x).sum()
    >>> with npcompile.profiler() as p:
    ...     for k in range(3):
    ...         _ = total(np.ones(1000))
    >>> p.calls["total"]
    3
    """

    def __init__(self) -> None:
        self._functions: dict[Any, _Recorded] = {}
        self._ticks = Ticks()
        self._due = 0.0  # when a call is looked at again
        self.profiles: dict[str, Profile] = {}

    @property
    def calls(self) -> dict[str, int]:
        """The number of calls of each function."""
        return {key.__qualname__: found.calls for key, found in self._functions.items()}

    def __enter__(self) -> profiler:
        modes.record(self._take)
        return self

    def __exit__(self, *_: object) -> None:
        modes.record(None)
        rate = self._ticks.rate()
        for key, found in self._functions.items():
            if found.calls:
                busy = found.busy / found.watched if found.watched else 1.0
                reading = Reading.of(
                    found.entry.dispatcher, found.recorder, rate, found.seconds, busy)
                self.profiles[key.__qualname__] = reading.profile(None)

    def _take(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        found = self._functions.get(function) or self._begin(function, args, kwargs)
        begun = perf_counter()
        if begun >= self._due:
            self._due = begun + OFTEN
            return found.look(args, kwargs, self._ticks)
        try:
            return found.entry(*args, **kwargs)
        finally:
            found.times.extend((begun, perf_counter()))

    def _begin(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Recorded:
        recorder = Recorder()
        entry = _RecordedFunction(function, recorder)
        found = self._functions[function] = _Recorded(entry, recorder)
        bound = entry.dispatcher.served.parameters.bind(args, kwargs)
        if bound is not None:
            with suppress(Refused):  # Python runs the call
                entry.dispatcher.compile(bound)
        self._due = 0.0
        return found

    def __str__(self) -> str:
        lines = []
        ordered = sorted(self._functions.items(), key=lambda pair: -pair[1].seconds)
        for key, found in ordered:
            lines.append(f"{key.__qualname__}: {found.calls:,} calls, {time_text(found.seconds)}")
        return "\n".join([*lines, "", *map(str, self.profiles.values())])

    def _repr_html_(self) -> str:
        return "".join(profile._repr_html_() for profile in self.profiles.values())

    def trace(self) -> dict[str, Any]:
        """Calls and what ran in them as Chrome's trace viewer and Perfetto read them (JSON)."""
        spans = [span for found in self._functions.values() for span in found.spans]
        zero = min((begin for begin, _ in spans), default=0.0)
        events: list[dict[str, Any]] = []
        for number, (key, found) in enumerate(self._functions.items(), 1):
            at = {"ph": "X", "pid": 1, "tid": number}
            events.append({"name": "thread_name", "ph": "M", "pid": 1, "tid": number,
                           "args": {"name": key.__qualname__}})
            events += [{**at, "name": key.__qualname__, "cat": "call", "ts": (b - zero) * 1e6,
                        "dur": (e - b) * 1e6} for b, e in found.spans]
            shift = self._ticks.zero - zero
            profile = self.profiles.get(key.__qualname__)
            events += [{**at, "name": name, "cat": kind, "ts": (b + shift) * 1e6,
                        "dur": (e - b) * 1e6}
                       for name, kind, b, e in (profile.events if profile else ())
                       if kind != "program"]
        return {"traceEvents": events, "displayTimeUnit": "ns"}

    def save(self, path: str | Path) -> None:
        """Writes a trace (``.json``) or text (any other name)."""
        path = Path(path)
        text = json.dumps(self.trace()) if path.suffix == ".json" else str(self)
        path.write_text(text, encoding="utf-8")
