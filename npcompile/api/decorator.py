"""Types of ``jit`` as a decorator with options, for checkers of types: nothing here is run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, Protocol, TypedDict, TypeVar, overload

from npcompile.api.jit import Jit
from npcompile.core.config import Deterministic

P = ParamSpec("P")
T = TypeVar("T")


class Options(TypedDict, total=False):
    """The options of :func:`npcompile.jit`."""

    fullgraph: bool
    dynamic: bool
    static: str | Sequence[str]
    check: bool
    check_rtol: float | None
    fastmath: bool
    reassociate: bool
    deterministic: Deterministic | None
    parallel: bool
    cache: bool
    backend: str | None
    device: str


class Decorator(Protocol):
    """The type of ``jit(...)`` without a function."""

    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, fn: staticmethod[P, T], /
    ) -> staticmethod[P, T]: ...
    @overload
    def __call__(self, fn: classmethod[Any, P, T], /) -> classmethod[Any, P, T]: ...
    @overload
    def __call__(self, fn: Callable[P, T], /) -> Jit[P, T]: ...
