"""The names that Dask gives to jitted functions: equal for equal functions, in every process.

A name covers what decides the results as cloudpickle would write it: the code, defaults, values of
closures, options and attributes, and of functions that are not found by their names (those of
``__main__``, nested ones) also the globals that their code reads.  Functions and classes of modules
go by their names.
"""

from __future__ import annotations

import dis
import pickle
import sys
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from npcompile.api.pickling import found
from npcompile.core.records import field_names
from npcompile.runtime.cache.disk import fingerprint
from npcompile.runtime.unsafe.native_functions import FunctionBase

if TYPE_CHECKING:
    from npcompile.api.jit import Jit


def token(function: Jit[..., Any]) -> tuple[str, str]:
    """The name of a jitted function."""
    return "npcompile.jit", fingerprint(_Walk().value(function))


class _Walk:
    """Turns values into tuples and strings that have a fingerprint.

    Functions are numbered as they are met, so that those that refer to each other end.
    """

    def __init__(self) -> None:
        self._met: dict[int, int] = {}
        self._open: set[int] = set()

    def value(self, value: Any) -> Any:
        if isinstance(value, FunctionBase) and hasattr(value, "__wrapped__"):
            return self._numbered(value, self._jitted)
        if type(value) is FunctionType:
            if _by_name(value):
                return "function", value.__module__, value.__qualname__
            return self._numbered(value, self._function)
        if type(value) in (list, tuple, set, frozenset, dict):
            return self._container(value)
        if type(value) is partial:
            return "partial", *map(self.value, (value.func, value.args, value.keywords))
        owner = getattr(value, "__self__", None) if isinstance(value, _CALLED) else None
        if owner is not None and not isinstance(owner, ModuleType):
            function = getattr(value, "__func__", value.__name__)
            return "method", self.value(owner), self.value(function)
        if isinstance(value, (ModuleType, BuiltinFunctionType, np.ufunc)):
            return type(value).__name__, getattr(value, "__module__", ""), value.__name__
        if isinstance(value, type) and _by_name(value):
            return "class", value.__module__, value.__qualname__
        return _other(value)

    def _numbered(self, value: Any, parts: Callable[[Any], Any]) -> Any:
        number = self._met.get(id(value))
        if number is not None:
            return number
        number = self._met[id(value)] = len(self._met)
        return number, parts(value)

    def _jitted(self, function: Jit[..., Any]) -> Any:
        plain, config = cast(FunctionType, function.__wrapped__), function.config
        known = found(function.__module__, function.__qualname__)
        by_name = function.__module__ != "__main__" and (known is function or _by_name(plain))
        options = [(name, getattr(config, name)) for name in field_names(config) or ()]
        own = {name: value for name, value in vars(function).items()
               if name != "__wrapped__" and not hasattr(plain, name)}
        return "jit", options, self.value(own), self._function(plain, by_name)

    def _function(self, function: FunctionType, by_name: bool = False) -> Any:
        code = function.__code__
        cells = [_contents(cell) for cell in function.__closure__ or ()]
        known = function.__globals__
        read = {} if by_name else {n: known[n] for n in sorted(set(_names(code))) if n in known}
        parts = (function.__defaults__, function.__kwdefaults__, cells, read, vars(function))
        return function.__qualname__, fingerprint(code), *map(self.value, parts)

    def _container(self, value: Any) -> Any:
        if id(value) in self._open:
            return "again"
        self._open.add(id(value))
        try:
            if type(value) is dict:
                items = [(self.value(k), self.value(v)) for k, v in value.items()]
            else:
                items = [self.value(item) for item in value]
            if type(value) in (set, frozenset):
                items.sort(key=fingerprint)
            return type(value).__name__, items
        finally:
            self._open.remove(id(value))


def _by_name(value: Any) -> bool:
    """Whether pickles hold a function or class by its name, cloudpickle's too."""
    module = value.__module__
    return module not in (None, "__main__") and found(module, value.__qualname__) is value


def _names(code: CodeType) -> Iterator[str]:
    """The globals that code and the functions made by it read."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for held in code.co_consts:
        if isinstance(held, CodeType):
            yield from _names(held)


def _contents(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return "empty cell"


#: what else has an object that it is bound to
_CALLED = (BuiltinFunctionType, MethodType)
_PLAIN = (type(None), type(...), bool, int, float, complex, str, bytes, range)


def _other(value: Any) -> Any:
    """The token of a value: Dask's own where Dask is loaded."""
    if type(value) in _PLAIN or isinstance(value, (np.dtype, np.generic)):
        return fingerprint(value)
    normalize = getattr(sys.modules.get("dask.base"), "normalize_token", None)
    if normalize is not None:
        return str(normalize(value))
    try:
        return sys.modules.get("cloudpickle", pickle).dumps(value, protocol=5)
    except Exception:  # whatever the value's own methods raise
        return uuid.uuid4().bytes
