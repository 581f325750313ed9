"""Versions that earlier calls or processes have compiled, found without tracing.

::

    key    ::= fingerprint of the function's code, its options, this package, Python, NumPy,
               the processor, and the kinds of the arguments
    record ::= entries, the latest first; entry ::= checks, libraries, version, rest
    check  ::= (source, kind of guard, fingerprint of what the guard watches)
    libraries ::= names and versions of the packages whose functions it calls

An entry serves a call if everything that its guards watch has the fingerprint that it had, and
then the guards themselves, on the objects of now, hold as for any other version.  What they watch
(modules, functions, classes) is not in the record: it is read from its source.  A version that
holds anything else of this process (an object without a fingerprint) is not kept.  Functions of
libraries are found by their names, and called by stubs that are made anew.

The *rest*, which only calls that leave compiled code need, is read when one does.
"""

from __future__ import annotations

import io
import pickle
import random
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from importlib import import_module
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

import numpy as np

from npcompile.backends.cpu.frame import Frame
from npcompile.core.config import Config
from npcompile.graph.ir import Site
from npcompile.graph.stubs import Globals
from npcompile.ops import foreign
from npcompile.ops.record import import_path, loaded
from npcompile.program.ir import ItemsResult, Program, Result, StaticResult
from npcompile.runtime import match
from npcompile.runtime.cache import Record, Store, configuration, environment, fingerprint
from npcompile.runtime.outline import Outline
from npcompile.runtime.state import Signature
from npcompile.tracing.sources import Source

#: where another process finds objects, by identity; code is the same if it is equal
Sources = dict[int | CodeType, tuple[str, Source | None]]
#: entries of one key: the same kinds of arguments with other globals, sizes or constants
LIMIT = 4

_SAMPLES: tuple[Any, ...] = (range(0), [], (), "", b"", {}, set(), np.empty(0))
#: types that can't be imported, by an object of them or by their name in the module ``types``
_HIDDEN = {type(iter(made)): iter(made) for made in _SAMPLES}
_TYPES = {found: name for name, found in vars(types).items() if isinstance(found, type)}
_KINDS = ("is", "type", "code")
_WRONG = (KeyError, AttributeError, IndexError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Linked:
    """What machine code needs to become a version: ``objects`` and ``routines`` as they were
    emitted, and the ``key`` of the machine code itself."""

    signature: Signature
    result: Result
    objects: tuple[object, ...]
    routines: tuple[str, ...]
    key: bytes


@dataclass(frozen=True, slots=True)
class Found:
    """A version that may serve a call; ``rest`` reads its frame and its program, which has no
    statements."""

    outline: Outline
    linked: Linked
    rest: Callable[[], tuple[Program, Frame]]


def key(function: FunctionType, config: Config, kinds: object) -> bytes | None:
    """The name of the record; None if the kinds of the arguments have no fingerprint."""
    try:
        parts = (function.__code__, configuration(config), environment(), kinds)
        return fingerprint("version", *parts).encode()
    except TypeError:
        return None


# ------------------------------------------------------------------ finding


def find(
    store: Store, name: bytes, function: FunctionType, bound: dict[str, Any]
) -> Iterator[Found]:
    """The versions whose guards watch what they watched."""
    record = store.get(name)
    entries = pickle.loads(record.object) if record is not None else []
    for checks, libraries, version, rest in entries:
        if not all(_unchanged(check, function, bound) for check in checks):
            continue
        if any(_version(name) != known for name, known in libraries):
            continue
        outline, linked = _read(version, function, bound)
        yield Found(outline, linked, partial(_read, rest, function, bound))


def _read(data: bytes, function: FunctionType, bound: dict[str, Any]) -> Any:
    return _Unpickler(data, function, bound).load()


def _unchanged(
    check: tuple[Source, str, str], function: FunctionType, bound: dict[str, Any]
) -> bool:
    source, kind, wanted = check
    try:
        value = match.fetch(source, bound, function)
        if isinstance(value, MethodType):
            value = value.__func__
        return fingerprint(type(value) if kind == "type" else value) == wanted
    except _WRONG:
        return False


class _Unpickler(pickle.Unpickler):
    """Reads what guards watch from its source."""

    def __init__(self, data: bytes, function: FunctionType, bound: dict[str, Any]) -> None:
        super().__init__(io.BytesIO(data))
        self.function, self.bound = function, bound

    def persistent_load(self, pid: tuple[str, Source | None]) -> Any:
        what, source = pid
        return _SEEN[what](match.fetch(source, self.bound, self.function))


_SEEN: dict[str, Callable[[Any], Any]] = {
    "value": lambda value: value,
    "type": type,
    "code": lambda value: value.__code__,
    "globals": lambda value: Globals(_globals(value)),
}


def _globals(value: Any) -> Any:
    """The globals of a function or method; None for what has none."""
    return getattr(getattr(value, "__func__", value), "__globals__", None)


def _version(name: str) -> str:
    """The version of a package, which has none if it is a part of Python."""
    return str(getattr(import_module(name), "__version__", ""))


# ------------------------------------------------------------------ keeping


def keep(
    store: Store,
    name: bytes,
    function: FunctionType,
    outline: Outline,
    linked: Linked,
    program: Program,
    frame: Frame,
) -> bool:
    """Adds a version to the record; whether it can be kept."""
    sources = _sources(function, outline, program)
    try:
        checks = [
            (guard.source, guard.kind, fingerprint(guard.value))
            for guard in outline.guards
            if guard.kind in _KINDS
        ]
        version = _pickled((replace(outline, graph=None), linked), sources)
        rest = _pickled((replace(program, body=()), frame), sources)
    except (pickle.PicklingError, TypeError, AttributeError):
        return False  # something of this process
    record = store.get(name)
    others = pickle.loads(record.object)[: LIMIT - 1] if record is not None else []
    packages = {o.path.partition(".")[0] for o in linked.objects if isinstance(o, Site)}
    libraries = [(name, _version(name)) for name in sorted(packages & sys.modules.keys())]
    entry = (checks, libraries, version, rest)
    return store.put(name, Record(pickle.dumps([entry, *others], 5), {}))


def _pickled(value: Any, sources: Sources) -> bytes:
    data = io.BytesIO()
    _Pickler(data, sources).dump(value)
    return data.getvalue()


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, sources: Sources) -> None:
        super().__init__(file, protocol=5)
        self.sources = sources

    def persistent_id(self, value: Any) -> Any:
        space = isinstance(value, Globals)
        key = value if isinstance(value, CodeType) else id(value.names if space else value)
        found = self.sources.get(key)
        return found if found is not None and (found[0] == "globals") == space else None

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, _OURS):
            raise pickle.PicklingError(f"a {type(value).__name__} that no guard watches")
        if isinstance(value, (MethodType, BuiltinMethodType)):
            return self._method(value)
        if isinstance(value, type) and value in _HIDDEN:
            return (type, (_HIDDEN[value],))
        if isinstance(value, type) and value in _TYPES:
            return (_type, (_TYPES[value],))
        if _is_record(type(value)):  # many times faster to read than what dataclasses do
            return (type(value), tuple([getattr(value, f.name) for f in fields(value)]))
        return NotImplemented

    def _method(self, value: Any) -> Any:
        """A method of an object that a module has, like ``numpy.random.rand``, is found there."""
        known = foreign.find(value)
        if isinstance(value.__self__, (type, ModuleType, np.ufunc)) or known is None:
            return NotImplemented
        path = ":".join(known.path.rsplit(".", 1))
        if loaded(path) is not value:
            raise pickle.PicklingError(f"{known.path} is another one")
        return (import_path, (path,))


def _is_record(kind: type) -> bool:
    """Whether objects of a class are made of their fields alone."""
    own = vars(kind)
    parameters = own.get("__dataclass_params__")
    if parameters is None or not parameters.frozen or "__reduce__" in own:
        return False
    return all(f.init for f in own["__dataclass_fields__"].values())


#: what is one process's
_OURS = (CodeType, Globals, *foreign.GENERATORS, random.Random)


def _type(name: str) -> type:
    found: type = getattr(types, name)
    return found


def _sources(function: FunctionType, outline: Outline, program: Program) -> Sources:
    """Objects of this process by identity, and where another process finds them."""
    found: Sources = {
        id(function): ("value", None),
        function.__code__: ("code", None),
        id(function.__globals__): ("globals", None),
    }
    for guard in outline.guards:
        if guard.kind in _KINDS:
            found.setdefault(id(guard.value), (_WHAT[guard.kind], guard.source))
            if guard.kind != "type" and _globals(guard.value) is not None:
                found.setdefault(id(_globals(guard.value)), ("globals", guard.source))
        if guard.kind == "code":
            found.setdefault(guard.value.__code__, ("code", guard.source))
    for result in (program.result, *(held for way in program.resumes for held in way.held())):
        for leaf in _statics(result):
            if leaf.source is not None and not isinstance(leaf.value, _CONSTANT):
                found.setdefault(id(leaf.value), ("value", cast(Source, leaf.source)))
    return found


_WHAT = {"is": "value", "type": "type", "code": "value"}
_CONSTANT = (bool, int, float, complex, str, bytes, type(None), tuple, frozenset, slice)


def _statics(result: Result) -> Iterator[StaticResult]:
    if isinstance(result, StaticResult):
        yield result
    elif isinstance(result, ItemsResult):
        for item in result.items:
            yield from _statics(item)
