"""Scripts that are run twice, with ``jit`` and with ``jit`` doing nothing; what a caller can see.

A script is a text that defines functions under ``@jit`` and ``script(go)``, which calls
``go(function, *arguments)`` as often as it likes and changes things in between.
"""

from __future__ import annotations

import sys
import types
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile import jit
from tests.support import oracle


def observed(source: str, decorate: Callable[..., Any]) -> list[oracle.Outcome]:
    """What each call of the script showed."""
    found: list[oracle.Outcome] = []
    module = sys.modules["script"] = types.ModuleType("script")  # dataclasses look there
    space = vars(module)
    space.update(np=np, jit=decorate)

    def go(function: Any, *args: Any, **named: Any) -> Any:
        found.append(oracle.observe(function, *args, world=lambda: space.get("world"), **named))
        return found[-1].result

    exec(compile(source, "<script>", "exec"), space)
    space["script"](go)
    return found


def differs(source: str, counts: Counter[str] | None = None) -> str:
    """What differs between compiled and plain, or an empty string."""
    made: list[Any] = []

    def decorate(function: Any = None, **options: Any) -> Any:
        if function is None:
            return lambda f: decorate(f, **options)
        made.append(jit(function, **options))
        return made[-1]

    def plain(function: Any = None, **options: Any) -> Any:
        return function if function is not None else (lambda f: f)

    want, got = observed(source, plain), observed(source, decorate)
    if counts is not None:
        for function in made:
            counts["compiled" if function.cache_info().compiled else "refused"] += 1
            counts["calls"] += len(want)
    for k, (ours, theirs) in enumerate(zip(got, want)):
        text = oracle.difference(ours, theirs)
        if text:
            return f"call {k}: {text}"
    return "" if len(got) == len(want) else f"{len(got)} calls instead of {len(want)}"
