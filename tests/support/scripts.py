"""Scripts that are run twice, with ``jit`` and with ``jit`` doing nothing; what a caller can see.

A script is a text that defines functions under ``@jit`` and ``script(go)``, which calls
``go(function, *arguments)`` as often as it likes and changes things in between.
"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import sys
import traceback
import types
import warnings
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile import jit

PLAIN = (str, bytes, type(None), range, slice, type(...), type)
CODE = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, np.ufunc)


class Portrait:
    """All that can be seen of values: types, numbers, who is who and who shares memory."""

    def __init__(self) -> None:
        self.kept: dict[int, tuple[int, Any]] = {}
        self.arrays: list[np.ndarray] = []

    def of(self, value: Any) -> Any:
        if isinstance(value, (bool, int)):
            return type(value).__name__, int(value)
        if isinstance(value, (float, complex, np.generic)):
            return type(value).__name__, *_bits(np.asarray(value))
        if isinstance(value, PLAIN):
            return repr(value)
        if isinstance(value, tuple):
            return type(value).__name__, *map(self.of, value)
        if id(value) in self.kept:
            return "again", self.kept[id(value)][0]
        self.kept[id(value)] = len(self.kept), value
        return type(value).__name__, len(self.kept), self.parts(value)

    def parts(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            self.arrays.append(value)
            flags = value.flags.writeable, value.flags.c_contiguous
            return *_bits(value), value.size and value.strides, flags, self.shared(value)
        if isinstance(value, dict):
            return [(self.of(k), self.of(v)) for k, v in value.items()]
        if isinstance(value, (set, frozenset)):
            return sorted(map(repr, map(self.of, value)))
        if isinstance(value, CODE):
            return value.__name__
        if isinstance(value, functools.partial):
            return self.of([value.func, value.args, value.keywords])
        found = [self.of(item) for item in value] if isinstance(value, (list, deque)) else []
        slots = [name for name in dir(type(value))
                 if isinstance(getattr(type(value), name), types.MemberDescriptorType)]
        found += [(name, self.of(getattr(value, name, "not there"))) for name in slots]
        if hasattr(value, "__dict__"):
            found.append(self.of(dict(vars(value))))
        return found

    def shared(self, array: np.ndarray) -> Any:
        """Which arrays it shares memory with, and how far from their beginnings."""
        start = array.__array_interface__["data"][0]
        return [
            (k, start - other.__array_interface__["data"][0])
            for k, other in enumerate(self.arrays[:-1])
            if array.size and np.may_share_memory(array, other)
        ]


def _bits(value: np.ndarray) -> tuple[Any, ...]:
    """Type, shape and bits; all NaNs are alike."""
    if value.dtype.kind == "O":
        return "object", value.shape, [repr(v) for v in value.ravel()]
    whole = np.ascontiguousarray(value)
    if value.dtype.kind in "fc":
        parts = whole.view(whole.real.dtype)
        whole = np.where(np.isnan(parts), np.nan, parts).astype(parts.dtype)
    return value.dtype.str, value.shape, whole.tobytes(), repr(value)


def _line(error: BaseException) -> list[tuple[int | None, str]]:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == "<script>"]
    return [(f.lineno, f.name) for f in frames if f.name not in ("script", "go")]


def observed(source: str, decorate: Callable[..., Any]) -> list[Any]:
    """What each call of the script showed."""
    told: list[Any] = []
    module = sys.modules["script"] = types.ModuleType("script")  # dataclasses look there
    space = vars(module)
    space.update(np=np, jit=decorate)
    world: list[Any] = []

    def go(function: Any, *args: Any, **named: Any) -> Any:
        result: Any = None
        text = io.StringIO()
        with contextlib.redirect_stdout(text), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = function(*args, **named)
                error: Any = None
            except Exception as e:
                unbound = isinstance(e, UnboundLocalError)
                error = repr(type(e)), str(e), [] if unbound else _line(e)
        portrait = Portrait()
        told.append({
            "error": error, "result": portrait.of(result), "arguments": portrait.of([args, named]),
            "world": portrait.of(space.get("world")), "printed": text.getvalue(),
            "warned": sorted({(w.category.__name__, str(w.message), w.lineno) for w in caught}),
        })
        world.append(result)  # ids must stay apart
        return result

    exec(compile(source, "<script>", "exec"), space)
    space["script"](go)
    return told


def difference(source: str, counts: Counter[str] | None = None) -> str:
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
    for k, (ours, theirs) in enumerate(itertools.zip_longest(got, want)):
        if ours is None or theirs is None:
            return f"call {k}: one has no such call"
        for name, value in theirs.items():
            if ours[name] != value:
                return f"call {k}: {name}\n   {ours[name]}\n instead of\n   {value}"
    return ""
