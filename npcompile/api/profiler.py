"""``with npcompile.profiler() as p``: the profile of a whole program."""

from __future__ import annotations

import json
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

LONG = 100e-6  # seconds of a call, from which its processor time is read


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
    """What was recorded of one function."""

    entry: _RecordedFunction
    recorder: Recorder
    calls: int = 0
    seconds: float = 0.0
    #: of calls whose processor time is read, and that time: reading it takes a microsecond
    watched: float = 0.0
    busy: float = 0.0
    spans: list[tuple[float, float]] = field(default_factory=list)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """One call, timed."""
        watched = self.seconds >= LONG * self.calls
        ran = process_time() if watched else 0.0
        begun = perf_counter()
        try:
            return self.entry(*args, **kwargs)
        finally:
            ended = perf_counter()
            self.calls += 1
            self.seconds += ended - begun
            self.spans.append((begun, ended))
            if watched:
                self.watched += ended - begun
                self.busy += process_time() - ran


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
        found = self._functions.get(function)
        if found is None:
            recorder = Recorder()
            entry = _RecordedFunction(function, recorder)
            found = self._functions[function] = _Recorded(entry, recorder)
            bound = entry.dispatcher.served.parameters.bind(args, kwargs)
            if bound is not None:
                with suppress(Refused):  # Python runs the call
                    entry.dispatcher.compile(bound)
        if not self._ticks.due():
            return found.call(args, kwargs)
        before = found.recorder.count
        try:
            return found.call(args, kwargs)
        finally:
            self._ticks.read(found.spans[-1][0], found.recorder, before)

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
