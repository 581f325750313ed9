"""Transforms in compiled programs: what ``npc_fft_call`` finds of a length, or has Python do.

An entry that a program may use is never freed: machine code goes through it without asking.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from threading import get_ident
from typing import Any

import numpy as np

from npcompile.backends.cpu.transforms.steps import (
    ENTRIES,
    ENTRY,
    PART,
    TOLD,
    WAYS,
    transform_name,
)
from npcompile.core.locks import lock
from npcompile.core.surroundings import why
from npcompile.graph.transform_spec import TransformSpec, transform_spec
from npcompile.runtime.transforms import arrays, prepared
from npcompile.runtime.unsafe import raw_memory

_FIND = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 4)
_RUN = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 6)
_AT = {name: k for k, name in enumerate(ENTRY)}
_lock = lock()


class TransformKind:
    """A kind of transform: its entries, and what makes them."""

    def __init__(self, spec: TransformSpec, dtype: np.dtype) -> None:
        self.spec, self.dtype = spec, dtype
        single = dtype.char in "fF"
        chars = "fd" if spec.kind == "c2r" else "FD"
        self.made = np.dtype(chars[0] if single else chars[1])
        self.words = (ctypes.c_int64 * (ENTRIES + 6))()
        self.kept: dict[tuple[int, int], Any] = {}

    def transform(self, n: int) -> arrays.Transform:
        kind = "c2c" if self.spec.kind == "ic2c" else self.spec.kind
        return arrays.transform_of(kind, n, self.spec.inverse, self.spec.norm, self.dtype.char,
                                   self.spec.rule)

    def entry(self, n: int, way: int) -> int:
        """The address of the entry of a length."""
        key = n, way
        if key not in self.kept:
            self.kept.setdefault(key, self.make(n, way))
        address = ctypes.addressof(self.kept[key][0])
        self.words[(2 * n + way) % ENTRIES] = address
        return address

    def make(self, n: int, way: int) -> tuple[Any, Any]:
        words = (ctypes.c_int64 * len(ENTRY))()
        job = arrays.job(self.transform(n), self.dtype.char, self.made.char, WAYS[way])
        if job is not None:
            for name, place in PART.items():
                words[_AT[name]] = job.words[place]
        single = self.entry(n, WAYS.index("rows")) if WAYS[way] == "lanes" else 0
        fixed = {"n": n, "way": way, "slow": job is None, "single": single,
                 "source_size": self.dtype.itemsize, "target_size": self.made.itemsize}
        for name, value in fixed.items():
            words[_AT[name]] = int(value)
        return words, job

    def run(self, source: int, target: int, before: int, given: int, n: int, made: int,
            behind: int) -> int:
        """All of a transform, by way of arrays."""
        a = raw_memory.array(source, self.dtype, (before, given, behind))
        out = raw_memory.array(target, self.made, (before, made, behind))
        return arrays.transform(self.transform(n), a, 1, out)


_kinds: list[TransformKind] = []


def _find(number: int, n: int, way: int, told: int) -> None:
    _attempt(lambda: _kinds[number].entry(n, way), told)


def _run(number: int, *args: Any) -> None:
    *of, told = args
    _attempt(lambda: int(_kinds[number].run(*of)), told)


def _attempt(work: Callable[[], int], told: int) -> None:
    """Tells the machine code what some work gives.  Where nothing can be compiled, Python makes the
    transform.  Any other exception, a signal handler's or a bug's, the machine code raises in this
    thread, as a new one of its class: from a callback none would come through."""
    words = raw_memory.numbers(told, len(TOLD))
    try:
        words[TOLD.index("found")] = work()
    except BaseException as error:
        if not isinstance(error, Exception) or why(error) is None:
            thread = get_ident()
            _errors[thread] = type(error)
            words[TOLD.index("thread")] = thread
            words[TOLD.index("error")] = id(type(error))


#: the classes of exceptions that machine code raises, which live until it has done so
_errors: dict[int, type[BaseException]] = {}
_FUNCTIONS = _FIND(_find), _RUN(_run)
_OF_PYTHON = ("PyGILState_Ensure", "PyGILState_Release", "PyThreadState_SetAsyncExc")


class Rows:
    """Calls a kind of transform on arrays in C order, along their last axis."""

    def __init__(self, kind: str, norm: str, char: str) -> None:
        spec = f"{kind} 0 {norm} even numpy"
        found = addresses(transform_name(spec, np.dtype(char)))
        self.kind = found[f"npc.{transform_name(spec, np.dtype(char))}"]
        word, number = ctypes.c_void_p, ctypes.c_int64
        self.function = ctypes.CFUNCTYPE(ctypes.c_int32, word, word, word, *[number] * 5)(
            prepared.walker_code()["npc_fft_once"])

    def __call__(self, a: np.ndarray, made: np.ndarray, n: int) -> int:
        """The floating-point flags that this raised; negative: it failed."""
        given, length = a.shape[-1], made.shape[-1]
        places = a.__array_interface__["data"][0], made.__array_interface__["data"][0]
        return int(self.function(self.kind, *places, a.size // given, given, n, length, 1))


rows = cache(Rows)


@cache
def addresses(name: str) -> dict[str, int]:
    """A kind of transform, and the function that calls it, by their names in programs."""
    words, _, dtype = name.removeprefix("transform_").partition(".")
    kind = TransformKind(transform_spec(words.replace("_", " ")), np.dtype(dtype))
    with _lock:
        _kinds.append(kind)
        kind.words[ENTRIES + 2] = len(_kinds) - 1
    for k, function in enumerate(_FUNCTIONS, ENTRIES):
        kind.words[k] = ctypes.cast(function, ctypes.c_void_p).value or 0
    for k, python in enumerate(_OF_PYTHON, ENTRIES + 3):
        kind.words[k] = raw_memory.symbol(None, python)
    return {f"npc.{name}": ctypes.addressof(kind.words),
            **{name: prepared.walker_code()[name]
               for name in ("npc_fft_call", "npc_fft_entry", "npc_fft_rows")}}
