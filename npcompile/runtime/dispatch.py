"""From a call to the version that serves it: match, compile on a miss, run, come back.

A :class:`Dispatcher` owns the compiled versions of one function.  Calls that the machine-code
entry can take never come here; what comes here is the first call of a kind, keywords, containers,
and whatever left compiled code.
"""

from __future__ import annotations

import inspect
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

from npcompile.core import logs
from npcompile.core.config import Config, Deterministic, deterministic_mode
from npcompile.core.errors import CompileError, DeterminismError, Refusal, Refused
from npcompile.runtime import build, match
from npcompile.runtime.build import MISS, Executable, Left
from npcompile.tracing import trace
from npcompile.tracing.sources import Arg, Trace

#: after so many versions a function stays in Python for what none of them serves
VERSION_LIMIT = 64
#: refused traces of one kind of arguments before that kind is left to Python without trying
REFUSAL_LIMIT = 8


@dataclass(eq=False)
class Version:
    """One compiled version of a function."""

    trace: Trace
    executable: Executable
    match: match.Match
    direct: bool  # the leaves are exactly the positional arguments
    calls: int = 0
    exits: Counter[str] = field(default_factory=Counter)


class Dispatcher:
    """All versions of one function.

    Parameters
    ----------
    function
        The plain Python function.
    config
        Its options.
    """

    def __init__(self, function: FunctionType, config: Config) -> None:
        self.function = function
        self.config = config
        self.versions: list[Version] = []
        self.refusals: dict[object, Refusal] = {}
        self.fallbacks: Counter[str] = Counter()
        self.on_version: Callable[[Version], None] = lambda version: None
        self._refused_kinds: Counter[object] = Counter()
        self._lock = threading.RLock()
        self._signature = inspect.signature(function)
        parameters = self._signature.parameters.values()
        self._names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        self._plain = len(self._names) == len(parameters)

    # ------------------------------------------------------------------ calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The slow path: any call, right in every case."""
        bound = self.bind(args, kwargs)
        if bound is None:
            return self.function(*args, **kwargs)  # raises the TypeError that Python raises
        mode = self.mode()
        for version in self.versions:
            leaves = version.match(bound, self.function)
            if leaves is None:
                continue
            refused = self._indeterminate(version, mode)
            if refused is not None:
                return self._python(refused, args, kwargs, mode)
            result = self._run(version, leaves, args, kwargs)
            if result is not MISS:
                return result
        return self._miss(bound, args, kwargs, mode)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
        """Arguments by parameter name with defaults filled in, or None if they don't fit."""
        if self._plain and not kwargs and len(args) == len(self._names):
            return dict(zip(self._names, args))
        try:
            found = self._signature.bind(*args, **kwargs)
        except TypeError:
            return None
        found.apply_defaults()
        return dict(found.arguments)

    def _run(
        self, version: Version, leaves: tuple[Any, ...], args: tuple[Any, ...], kwargs: Any
    ) -> Any:
        try:
            result = version.executable(leaves)
        except Left as left:
            return self.leave(version, left, args, kwargs)
        if result is not MISS:
            version.calls += 1
        return result

    def _miss(
        self, bound: dict[str, Any], args: tuple[Any, ...], kwargs: Any, mode: Deterministic
    ) -> Any:
        kind, exact = call_kind(bound, exact=False), call_kind(bound, exact=True)
        refusal = self.refusals.get(exact)
        if refusal is None and self._refused_kinds[kind] >= REFUSAL_LIMIT:
            refusal = next(r for k, r in self.refusals.items() if k[0] == kind)  # type: ignore[index]
        if refusal is None and len(self.versions) >= VERSION_LIMIT:
            refusal = Refusal("versions", f"more than {VERSION_LIMIT} compiled versions")
        if refusal is not None:
            return self._python(refusal, args, kwargs, mode)
        try:
            version, leaves = self.compile(bound)
        except Refused as refused:
            refusal = refused.refusal
            with self._lock:
                self.refusals[kind, exact] = self.refusals[exact] = refusal
                self._refused_kinds[kind] += 1
            return self._python(refusal, args, kwargs, mode)
        blocked = self._indeterminate(version, mode)
        if blocked is not None:
            return self._python(blocked, args, kwargs, mode)
        result = self._run(version, leaves, args, kwargs)
        if result is not MISS:
            return result
        # overlapping arguments and the like: right in Python, on record
        clash = Refusal("arguments", "written arrays that overlap others or can't be written")
        return self._python(clash, args, kwargs, mode)

    def compile(self, bound: dict[str, Any]) -> tuple[Version, tuple[Any, ...]]:
        """A new version for these arguments, and their leaves."""
        with self._lock:
            for version in self.versions:  # another thread may have been first
                leaves = version.match(bound, self.function)
                if leaves is not None and match.accepts(version.trace, leaves):
                    return version, leaves
            traced = trace(self.function, bound, self.config)
            logs.log("trace", lambda: f"{self.function.__qualname__}: {len(traced.leaves)} leaves")
            version = Version(
                traced,
                build.executable(traced, self.config, self._exit),
                match.matcher(traced),
                self._direct(traced),
            )
            version.executable.owner = version
            leaves = version.match(bound, self.function)
            if leaves is None:
                raise Refused(Refusal("guards", "the arguments don't satisfy their own guards"))
            self.versions.insert(0, version)
            logs.log("recompiles", lambda: f"{self.function.__qualname__}: {len(self.versions)}")
            self.on_version(version)
            return version, leaves

    def _direct(self, traced: Trace) -> bool:
        places = [leaf.source.position if isinstance(leaf.source, Arg) else -1
                  for leaf in traced.leaves]
        return self._plain and places == list(range(len(self._names)))

    # ------------------------------------------------------------------ leaving

    def _exit(self, executable: Executable, left: Left, leaves: tuple[Any, ...]) -> Any:
        """Called by the machine-code entry when compiled code was left."""
        version: Version = executable.owner
        if not version.direct:
            raise left  # a slow-path call: it knows the real arguments
        return self.leave(version, left, leaves, {})

    def leave(self, version: Version, left: Left, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Goes on in Python after a failed check or floating-point exceptions."""
        if left.flags:
            wanted = flags_wanted(left.flags)
            if not wanted:
                return left.result
            if version.trace.graph.written:
                warn_by_candidates(version.trace, wanted)
                return left.result
        version.exits[left.reason] += 1
        logs.log("exits", lambda: f"{self.function.__qualname__}: {left.reason}")
        return self.function(*args, **kwargs)

    def _python(
        self, refusal: Refusal, args: tuple[Any, ...], kwargs: Any, mode: Deterministic
    ) -> Any:
        self.fallbacks[str(refusal)] += 1
        logs.log("exits", lambda: f"{self.function.__qualname__} runs in Python: {refusal}")
        if self.config.fullgraph:
            raise CompileError(f"{self.function.__qualname__}: {refusal}")
        if mode:
            self._complain(f"{self.function.__qualname__}: runs in Python ({refusal})", mode)
        return self.function(*args, **kwargs)

    # ------------------------------------------------------------------ determinism

    def mode(self) -> Deterministic:
        """The deterministic mode in force for a call."""
        return self.config.deterministic or deterministic_mode()[0]

    def _indeterminate(self, version: Version, mode: Deterministic) -> Refusal | None:
        if not mode:
            return None
        names = build.unpromised(version.trace.graph, mode)
        if names:
            self._complain(f"{', '.join(names)}: not deterministic in mode {mode!r}", mode)
        return None

    def _complain(self, text: str, mode: Deterministic) -> None:
        if self.config.warn_only or deterministic_mode()[1]:
            warnings.warn(text, stacklevel=4)
        else:
            raise DeterminismError(text)

    def clear(self) -> None:
        """Forgets all versions and refusals."""
        with self._lock:
            self.versions.clear()
            self.refusals.clear()
            self.fallbacks.clear()
            self._refused_kinds.clear()


def call_kind(bound: dict[str, Any], exact: bool) -> object:
    """What a refusal is remembered by: types and layouts, or (``exact``) sizes and values too."""

    def one(value: Any) -> object:
        if type(value) is np.ndarray:
            kind = (value.dtype, value.ndim, value.flags.c_contiguous)
            return (*kind, value.shape) if exact else kind
        if type(value) in (int, float, bool, str, type(None), complex):
            return (type(value), value) if exact else type(value)
        return type(value)

    kinds = tuple(map(one, bound.values()))
    return (call_kind(bound, exact=False), kinds) if exact else kinds


CATEGORIES = {
    "divide": "divide by zero",
    "over": "overflow",
    "under": "underflow",
    "invalid": "invalid value",
}


def flags_wanted(flags: frozenset[str]) -> list[str]:
    """The categories among raised flags that ``np.geterr()`` does not ignore."""
    state = np.geterr()
    return [name for name in CATEGORIES if name in flags and state[name] != "ignore"]


def warn_by_candidates(traced: Trace, wanted: list[str]) -> None:
    """Warns, or raises, as NumPy would, at the line of the first operation that can raise each
    category.  (Results are in place already, so the function can't be run again.)"""
    state = np.geterr()
    for category in wanted:
        name, line = build.flag_candidate(traced.graph, category)
        text = f"{CATEGORIES[category]} encountered in {name}"
        action = state[category]
        if action == "raise":
            raise FloatingPointError(text)
        if action == "warn":
            code = traced.code
            warnings.warn_explicit(text, RuntimeWarning, code.co_filename, line)
        elif action == "print":
            print(f"Warning: {text}")
        elif action == "call":
            handler = np.geterrcall()
            if callable(handler):
                handler(category, 0)
