"""Versions that earlier calls or processes have compiled, found without tracing.

::

    key    ::= fingerprint of the function's code, its options, this package, Python, NumPy,
               the processor, and the kinds of the arguments
    record ::= entries, the latest first; entry ::= checks, version, rest, key of its machine code
    check  ::= (source, kind of guard, fingerprint of what the guard watches)

An entry serves a call if everything that its guards watch has the fingerprint that it had, and
then the guards themselves, on the objects of now, hold as for any other version.  What they watch
(modules, functions, classes) is not in the record: it is read from its source.  A version that
holds anything else of this process (an object without a fingerprint, a function made while
tracing) is not kept.

The *rest*, which only calls that leave compiled code need, is read when one does.
"""

from __future__ import annotations

import io
import pickle
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any, cast

from npcompile.backends.cpu.frame import Frame
from npcompile.core.config import Config
from npcompile.program.ir import ItemsResult, Program, Result, StaticResult
from npcompile.runtime import match
from npcompile.runtime.cache import Record, Store, configuration, environment, fingerprint
from npcompile.runtime.outline import Outline
from npcompile.runtime.state import Signature
from npcompile.tracing.sources import Source

#: entries of one key: the same kinds of arguments with other globals, sizes or constants
LIMIT = 4

_SAMPLES: tuple[Any, ...] = (range(0), [], (), "", b"", {}, set())
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
    for checks, version, rest in entries:
        if not all(_unchanged(check, function, bound) for check in checks):
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
        value = match.fetch(source, self.bound, self.function)
        return type(value) if what == "type" else value.__code__ if what == "code" else value


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
    return store.put(name, Record(pickle.dumps([(checks, version, rest), *others], 5), {}))


def _pickled(value: Any, sources: dict[int, tuple[str, Source | None]]) -> bytes:
    data = io.BytesIO()
    _Pickler(data, sources).dump(value)
    return data.getvalue()


class _Pickler(pickle.Pickler):
    def __init__(
        self, file: io.BytesIO, sources: dict[int, tuple[str, Source | None]]
    ) -> None:
        super().__init__(file, protocol=5)
        self.sources = sources

    def persistent_id(self, value: Any) -> Any:
        return self.sources.get(id(value))

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, CodeType):
            raise pickle.PicklingError("code that no guard watches")
        if isinstance(value, type) and value in _HIDDEN:
            return (type, (_HIDDEN[value],))
        if isinstance(value, type) and value in _TYPES:
            return (_type, (_TYPES[value],))
        return NotImplemented


def _type(name: str) -> type:
    found: type = getattr(types, name)
    return found


def _sources(
    function: FunctionType, outline: Outline, program: Program
) -> dict[int, tuple[str, Source | None]]:
    """Objects of this process by identity, and where another process finds them."""
    found: dict[int, tuple[str, Source | None]] = {
        id(function): ("value", None), id(function.__code__): ("code", None),
    }
    for guard in outline.guards:
        if guard.kind in _KINDS:
            found.setdefault(id(guard.value), (_WHAT[guard.kind], guard.source))
        if guard.kind == "code":
            found.setdefault(id(guard.value.__code__), ("code", guard.source))
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
