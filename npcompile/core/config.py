"""The one frozen configuration, from arguments, context managers and the environment."""

from __future__ import annotations

import os
from contextvars import ContextVar
from dataclasses import dataclass, replace
from threading import RLock
from typing import Any, Literal
from weakref import WeakSet

Deterministic = Literal[False, True, "portable"]


@dataclass(frozen=True, slots=True)
class Config:
    """All options of a compiled function; see :func:`npcompile.jit` for their meaning."""

    fullgraph: bool = False
    dynamic: bool = True
    static: tuple[str, ...] = ()
    check: bool = False
    fastmath: bool = False
    reassociate: bool = False
    deterministic: Deterministic = False
    warn_only: bool = False
    parallel: bool = True
    cache: bool = True
    backend: Literal["cpu", "reference"] = "cpu"
    device: Literal["cpu", "cuda", "interpreter"] = "cpu"


def _flag(name: str) -> bool:
    return os.environ.get(name, "").lower() in ("1", "true", "yes", "on")


def disabled() -> bool:
    """``NPCOMPILE_DISABLE=1``: decorated functions run as plain Python."""
    return _flag("NPCOMPILE_DISABLE")


def strict() -> bool:
    """``NPCOMPILE_STRICT=1``: errors of the compiler itself are raised, as its tests want."""
    return _flag("NPCOMPILE_STRICT")


def _deterministic(text: str) -> Deterministic:
    if text == "portable":
        return "portable"
    return text.lower() in ("1", "true", "yes", "on")


Capability = Literal["default", "avx2", "avx512"]
_CAPABILITIES: tuple[Capability, ...] = ("default", "avx2", "avx512")


def capability() -> Capability:
    """``NPCOMPILE_CPU_CAPABILITY``: the vector width to generate for."""
    value = os.environ.get("NPCOMPILE_CPU_CAPABILITY", "default").lower()
    for known in _CAPABILITIES:
        if value == known:
            return known
    raise ValueError(f"NPCOMPILE_CPU_CAPABILITY is default, avx2 or avx512, not {value!r}")


#: the mode that ``use_deterministic_algorithms`` and ``with deterministic(...)`` set
_mode: ContextVar[tuple[Deterministic, bool]] = ContextVar("npcompile_deterministic")


def deterministic_mode() -> tuple[Deterministic, bool]:
    """The mode in force and whether it only warns."""
    found = _mode.get(None)
    if found is None:
        return _deterministic(os.environ.get("NPCOMPILE_DETERMINISTIC", "")), False
    return found


def set_deterministic_mode(mode: Deterministic, warn_only: bool = False) -> Any:
    """Sets the mode; returns a token for :func:`reset_deterministic_mode`."""
    if mode not in (False, True, "portable"):
        raise ValueError(f"mode is False, True or 'portable', not {mode!r}")
    return _mode.set((mode, warn_only))


def reset_deterministic_mode(token: Any) -> None:
    """Undoes the :func:`set_deterministic_mode` that gave the token."""
    _mode.reset(token)


class _Modes:
    """Whether any thread or task may have a mode in force.

    Machine-code entries don't look at context variables: while this is so, only versions that
    keep every promise are called directly.
    """

    def __init__(self) -> None:
        self.blocks = 0  # ``with deterministic(...)`` blocks that are open
        self.standing = bool(_deterministic(os.environ.get("NPCOMPILE_DETERMINISTIC", "")))
        self._listeners: WeakSet[Any] = WeakSet()
        self._lock = RLock()

    def __bool__(self) -> bool:
        return self.standing or self.blocks > 0

    def listen(self, listener: Any) -> None:
        """``listener.modes_changed()`` is called at each change, as long as it lives."""
        with self._lock:
            self._listeners.add(listener)

    def change(self, blocks: int = 0, standing: bool | None = None) -> None:
        """Opens (1) or closes (-1) a block, or sets what stands outside of blocks."""
        with self._lock:
            before = bool(self)
            self.blocks += blocks
            if standing is not None:
                self.standing = standing
            told = list(self._listeners) if bool(self) != before else []
        for listener in told:
            listener.modes_changed()


modes = _Modes()


def from_environment(**options: Any) -> Config:
    """A configuration from keyword options, with the environment's defaults."""
    known = {k: v for k, v in options.items() if v is not None}
    if "static" in known and isinstance(known["static"], str):
        known["static"] = (known["static"],)
    elif "static" in known:
        known["static"] = tuple(known["static"])
    config = Config(**known)
    if config.device not in ("cpu", "cuda", "interpreter"):
        raise ValueError(f"device is 'cpu', 'cuda' or 'interpreter', not {config.device!r}")
    return replace(config, check=True) if _flag("NPCOMPILE_CHECK") else config
