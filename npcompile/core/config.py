"""The one frozen configuration, from arguments, context managers and the environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from threading import get_ident
from typing import Any, Literal

from npcompile.core.living import Living
from npcompile.core.locks import lock
from npcompile.core.records import field_names, record

Deterministic = Literal[False, True, "portable"]


@record
class Capabilities:
    """The abilities of a device and the backend that writes for it.

    Passes, schedule and runtime ask for an ability; none of them asks for a device's name.
    """

    host_memory: bool = True  #: its arrays are NumPy's, and it reads Python's objects
    native: bool = True  #: a program is one machine-code function; else Python runs its statements
    flags: bool = True  #: floating-point flags that are read and cleared
    reports_errors: bool = True  #: floating-point errors of its kernels can be told
    shares_caches: bool = True  #: kernels over the same rows gain by running together
    inlines: bool = False  #: its compiler puts called programs in line


_GPU = Capabilities(host_memory=False, native=False, flags=False, reports_errors=False,
                    shares_caches=False, inlines=True)
_REFERENCE = Capabilities(native=False, flags=False)
#: by device and backend
_CAPABILITIES = {
    ("cpu", "cpu"): Capabilities(),
    ("cpu", "reference"): _REFERENCE,
    **{(device, backend): _GPU
       for device in ("cuda", "interpreter") for backend in ("cpu", "reference")},
}


@record
class Config:
    """All options of a compiled function; see :func:`npcompile.jit` for their meaning."""

    fullgraph: bool = False
    dynamic: bool = True
    static: tuple[str, ...] = ()
    check: bool = False
    check_rtol: float | None = None
    fastmath: bool = False
    reassociate: bool = False
    deterministic: Deterministic = False
    warn_only: bool = False
    parallel: bool = True
    cache: bool = True
    backend: Literal["cpu", "reference"] = "cpu"
    device: Literal["cpu", "cuda", "interpreter"] = "cpu"
    recorder: Any = None  #: a :class:`~npcompile.core.recorder.Recorder` of times, no option of jit
    #: code without loops is compiled as well as that of loops: it is called often; no option of jit
    thorough: bool = False

    @property
    def capabilities(self) -> Capabilities:
        """The abilities of the machine that the function is compiled for."""
        return _CAPABILITIES[self.device, self.backend]


_SWITCH = {"": False, "0": False, "false": False, "no": False, "off": False,
           "1": True, "true": True, "yes": True, "on": True}


def _flag(name: str) -> bool:
    text = os.environ.get(name, "")
    if text.lower() not in _SWITCH:
        raise ValueError(f"{name} is 0 or 1, not {text!r}")
    return _SWITCH[text.lower()]


def disabled() -> bool:
    """``NPCOMPILE_DISABLE=1``: decorated functions run as plain Python."""
    return _flag("NPCOMPILE_DISABLE")


def strict() -> bool:
    """``NPCOMPILE_STRICT=1``: errors of the compiler itself are raised, as its tests want."""
    return _flag("NPCOMPILE_STRICT")


def full_tracebacks() -> bool:
    """``NPCOMPILE_FULL_TRACEBACKS=1``: tracebacks show npcompile's own frames, too."""
    return _flag("NPCOMPILE_FULL_TRACEBACKS")


def tries_platform() -> bool:
    """``NPCOMPILE_PLATFORM=try``: npcompile compiles on systems that its tests have not run on."""
    value = os.environ.get("NPCOMPILE_PLATFORM", "")
    if value not in ("", "try"):
        raise ValueError(f"NPCOMPILE_PLATFORM is try, not {value!r}")
    return value == "try"


def _deterministic() -> Deterministic:
    name = "NPCOMPILE_DETERMINISTIC"
    text = os.environ.get(name, "")
    if text == "portable":
        return "portable"
    if text.lower() not in _SWITCH:
        raise ValueError(f"{name} is 0, 1 or portable, not {text!r}")
    return _SWITCH[text.lower()]


Capability = Literal["default", "avx2", "avx512", "scalar"]
_VECTORS: tuple[Capability, ...] = ("default", "avx2", "avx512", "scalar")


def capability() -> Capability:
    """``NPCOMPILE_CPU_CAPABILITY``: the vector width to generate for."""
    value = os.environ.get("NPCOMPILE_CPU_CAPABILITY", "default").lower()
    for known in _VECTORS:
        if value == known:
            return known
    raise ValueError(f"NPCOMPILE_CPU_CAPABILITY is default, avx2, avx512 or scalar, not {value!r}")


def wanted_threads() -> int | None:
    """``NPCOMPILE_NUM_THREADS``; None: as many as there are processors."""
    text = os.environ.get("NPCOMPILE_NUM_THREADS", "")
    if text and not (text.isdigit() and int(text) > 0):
        raise ValueError(f"NPCOMPILE_NUM_THREADS is a positive number, not {text!r}")
    return int(text) if text else None


#: the mode that ``use_deterministic_algorithms`` and ``with deterministic(...)`` set
_mode: ContextVar[tuple[Deterministic, bool]] = ContextVar("npcompile_deterministic")


def deterministic_mode() -> tuple[Deterministic, bool]:
    """The mode in force and whether it only warns."""
    found = _mode.get(None)
    if found is None:
        return _deterministic(), False
    return found


def set_deterministic_mode(mode: Deterministic, warn_only: bool = False) -> Any:
    """Sets the mode; returns a token for :func:`reset_deterministic_mode`."""
    _one_of("mode", mode, _MODES)
    return _mode.set((mode, warn_only))


def reset_deterministic_mode(token: Any) -> None:
    """Undoes the :func:`set_deterministic_mode` that gave the token."""
    _mode.reset(token)


#: calls a function in the place of its compiled versions: the object under ``jit`` and arguments
Taker = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


class _Modes:
    """Whether any thread or task may have a mode in force, and whether a profiler takes calls.

    Machine-code entries don't look at context variables: while a mode may be in force, only
    versions that keep every promise are called directly; while a profiler takes calls, none is.
    """

    def __init__(self) -> None:
        self.blocks = 0  # ``with deterministic(...)`` blocks that are open
        self.taker: Taker | None = None  #: the profiler
        self._thread = 0  # whose calls it takes
        self.standing = bool(_deterministic())
        self._listeners: Living[Any] = Living()
        self._telling = 0  # threads that tell the listeners of a change
        self._lock = lock()

    def __bool__(self) -> bool:
        return self.standing or self.blocks > 0

    def listen(self, listener: Any) -> None:
        """``listener.modes_changed()`` is called at each change, as long as it lives."""
        with self._lock:
            self._listeners.add(listener)

    def listening(self) -> list[Any]:
        """The listeners that live."""
        with self._lock:
            return list(self._listeners)

    def change(self, blocks: int = 0, standing: bool | None = None) -> None:
        """Opens (1) or closes (-1) a block, or sets what stands outside of blocks."""
        with self._lock:
            before = bool(self)
            self.blocks += blocks
            if standing is not None:
                self.standing = standing
            # where another thread tells of the same change, some have not heard of it yet
            news = bool(self) != before or self._telling > 0
        if news:
            self.tell()

    def tell(self) -> None:
        """Has all listeners look at the modes as they are now."""
        with self._lock:
            told = self.listening()
            self._telling += 1
        try:
            for listener in told:
                listener.modes_changed()
        finally:
            with self._lock:
                self._telling -= 1

    def record(self, taker: Taker | None) -> None:
        """Has a profiler take the calls of this thread from now on; None: no more.

        Raises
        ------
        RuntimeError
            If another one does already.
        """
        with self._lock:
            if taker is not None and self.taker is not None:
                raise RuntimeError("a profiler is recording already")
            self.taker, self._thread = taker, get_ident()
        self.tell()

    def taker_here(self) -> Taker | None:
        """The profiler that takes the calls of this thread."""
        return self.taker if self.taker is not None and get_ident() == self._thread else None


modes = _Modes()


_MODES = (False, True, "portable")
_CHOICES = {
    "deterministic": _MODES,
    "backend": ("cpu", "reference"),
    "device": ("cpu", "cuda", "interpreter"),
}


def _one_of(name: str, value: object, choices: tuple[object, ...]) -> None:
    if value not in choices:
        *first, last = map(repr, choices)
        raise ValueError(f"{name} is {', '.join(first)} or {last}, not {value!r}")


def _names(static: object) -> tuple[str, ...]:
    """``static`` as names of parameters."""
    found = (static,) if isinstance(static, str) else static
    if not isinstance(found, Sequence) or not all(isinstance(name, str) for name in found):
        raise TypeError(f"static is a parameter's name or a sequence of names, not {static!r}")
    return tuple(found)


def _tolerance(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise ValueError(f"check_rtol is a number from 0 to 1, not {value!r}")


_INTERNAL = frozenset({"warn_only", "recorder", "thorough"})


def options() -> dict[str, Any]:
    """The options of :func:`npcompile.jit` and their defaults."""
    default = Config()
    return {name: getattr(default, name)
            for name in field_names(default) or () if name not in _INTERNAL}


def from_environment(**given: Any) -> Config:
    """A configuration from options, with the environment's defaults.

    Raises
    ------
    TypeError, ValueError
        If there is no such option, or an option or a variable of the environment has no such value.
    """
    known = {k: v for k, v in given.items() if v is not None}
    names = list(options())
    for name, value in known.items():
        if name not in names:
            from difflib import get_close_matches

            close = get_close_matches(name, names, 1)
            advice = f"did you mean {close[0]!r}?" if close else f"options are {', '.join(names)}"
            raise TypeError(f"jit has no option {name!r}; {advice}")
        if name == "check_rtol":
            _tolerance(value)
        elif name != "static":
            _one_of(name, value, _CHOICES.get(name, (False, True)))
    known["static"] = _names(known.get("static", ()))
    capability()  # what has a wrong value is told now, not when the first function is compiled
    wanted_threads()
    full_tracebacks()
    known["check"] = known.get("check", False) or _flag("NPCOMPILE_CHECK")
    return Config(**known)
