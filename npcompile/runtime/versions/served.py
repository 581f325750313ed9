"""The function that a dispatcher serves."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

from npcompile.core.config import Config, Deterministic, deterministic_mode, modes
from npcompile.core.living import Living
from npcompile.runtime.unsafe.parameters import Parameters
from npcompile.runtime.versions.compiling import Compiler
from npcompile.runtime.versions.version import VERSION_LIMIT

if TYPE_CHECKING:
    from npcompile.tracing.graph_breaks import ResumePoint


class Served:
    """A function with its options, its parameters, and the lock behind which its versions change.

    When the function is no more, the next one of the same code takes its place.

    Parameters
    ----------
    function
        The plain Python function.
    config
        Its options.
    on_change
        Called, under ``lock``, when other versions can be called than before.
    start
        Where in the function to begin; None: at its beginning.
    """

    limit = VERSION_LIMIT

    def __init__(
        self,
        function: FunctionType,
        config: Config,
        on_change: Callable[[], None],
        start: ResumePoint | None = None,
    ) -> None:
        self.config, self.start = config, start
        self.lock = threading.RLock()
        self.take(function, on_change)
        _living.add(self)

    def take(self, function: FunctionType, on_change: Callable[[], None]) -> None:
        """Stands for a function from now on."""
        self.function, self.changed = function, on_change
        self.code = function.__code__
        self.plain, self.parameters = self.whole(function)

    def whole(self, function: FunctionType) -> tuple[Callable[..., Any], Parameters]:
        """What runs in Python in the place of compiled code, and its parameters."""
        return function, Parameters(function)

    def release(self) -> None:
        """Lets go of the function, which is no more."""
        self.take(_NOBODY, lambda: None)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
        """Arguments by parameter name with defaults filled in, or None if they don't fit."""
        return self.parameters.bind(args, kwargs)

    @property
    def name(self) -> str:
        return self.function.__qualname__

    @property
    def mode(self) -> Deterministic:
        """The deterministic mode in force for a call."""
        return self.config.deterministic or (deterministic_mode()[0] if modes else False)

    @property
    def compiler(self) -> Compiler:
        """What makes versions of it."""
        return Compiler(self.function, self.config, self.parameters, self.start)

    def forked(self) -> None:
        """In a child, which has no other thread: what one held in the parent is free."""
        self.lock = threading.RLock()


def _nobody() -> None:
    """Stands for a function that is no more."""


_NOBODY = cast(FunctionType, _nobody)
_living: Living[Served] = Living()


def _forked() -> None:
    for served in _living:
        served.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
