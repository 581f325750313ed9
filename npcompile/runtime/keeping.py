"""How versions are written for other processes: see :mod:`npcompile.runtime.remembered`."""

from __future__ import annotations

import io
import pickle
import random
import sys
import types
from collections.abc import Iterator
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

import numpy as np

from npcompile.backends.cpu.frame import Frame
from npcompile.core.paths import import_path, loaded
from npcompile.core.records import field_names, replace
from npcompile.graph.ir import Site
from npcompile.graph.stubs import Globals
from npcompile.ops import foreign
from npcompile.program.ir import ItemsResult, Program, Result, StaticResult
from npcompile.runtime.cache import Record, Store, fingerprint
from npcompile.runtime.outline import Outline
from npcompile.runtime.remembered import Linked, Watched, globals_of, type_of, version_of
from npcompile.tracing.sources import Source


class Sources(dict[int | CodeType, Watched]):
    """Where another process finds objects, by identity; code is the same if it is equal.  ``kinds``
    are the classes of these objects."""

    kinds: frozenset[type] = frozenset()


#: entries of one key: the same kinds of arguments with other globals, sizes or constants
LIMIT = 4

_SAMPLES: tuple[Any, ...] = (range(0), [], (), "", b"", {}, set(), np.empty(0))
#: types that can't be imported, by an object of them or by their name in the module ``types``
_HIDDEN = {type(iter(made)): iter(made) for made in _SAMPLES}
_TYPES = {found: name for name, found in vars(types).items() if isinstance(found, type)}
_KINDS = ("is", "type", "code")

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
        version, _ = _pickled((replace(outline, graph=None), linked), sources)
        rest = _pickled((replace(program, body=()), frame), sources)
        packages = {o.path.partition(".")[0] for o in linked.objects if isinstance(o, Site)}
        libraries = [(name, version_of(name)) for name in sorted(packages & sys.modules.keys())]
        record = store.get(name)
        others = pickle.loads(record.object)[: LIMIT - 1] if record is not None else []
        data = pickle.dumps([(checks, libraries, version, *rest), *others], 5)
    except (pickle.PicklingError, TypeError, AttributeError):
        return False  # something of this process
    return store.put(name, Record(data, {}))


def _pickled(value: Any, sources: Sources) -> tuple[bytes, list[Watched]]:
    """The data, and what they leave to be read from its source."""
    data = io.BytesIO()
    pickler = _Pickler(data, sources)
    pickler.dump(value)
    return data.getvalue(), list(pickler.left)


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, sources: Sources) -> None:
        super().__init__(file, protocol=5)
        self.sources, self.kinds = sources, sources.kinds
        self.left: dict[Watched, None] = {}

    def persistent_id(self, value: Any) -> Any:
        if type(value) not in self.kinds:
            return None
        space = isinstance(value, Globals)
        key = value if isinstance(value, CodeType) else id(value.names if space else value)
        found = self.sources.get(key)
        if found is None or (found[0] == "globals") != space:
            return None
        self.left[found] = None
        return found

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, _OURS):
            raise pickle.PicklingError(f"a {type(value).__name__} that no guard watches")
        if isinstance(value, (MethodType, BuiltinMethodType)):
            return self._method(value)
        if isinstance(value, type) and value in _HIDDEN:
            return (type, (_HIDDEN[value],))
        if isinstance(value, type) and value in _TYPES:
            return (type_of, (_TYPES[value],))
        if _is_record(type(value)):  # many times faster to read than what dataclasses do
            return (type(value), tuple([getattr(value, f) for f in field_names(value) or ()]))
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
    return "__record__" in vars(kind) and "__reduce__" not in vars(kind)


#: what is one process's
_OURS = (CodeType, Globals, *foreign.GENERATORS, random.Random)


def _sources(function: FunctionType, outline: Outline, program: Program) -> Sources:
    """Objects of this process by identity, and where another process finds them."""
    found = Sources()
    found.update(_codes(function.__code__, None))
    found[id(function)] = ("value", None)
    found[id(function.__globals__)] = ("globals", None)
    kinds: set[type] = {FunctionType, CodeType, Globals}
    for guard in outline.guards:
        if guard.kind in _KINDS:
            kinds.add(type(guard.value))
            found.setdefault(id(guard.value), (_WHAT[guard.kind], guard.source))
            if guard.kind != "type" and globals_of(guard.value) is not None:
                found.setdefault(id(globals_of(guard.value)), ("globals", guard.source))
        if guard.kind == "code":
            for code, watched in _codes(guard.value.__code__, guard.source).items():
                found.setdefault(code, watched)
    for result in (program.result, *(held for way in program.resumes for held in way.held())):
        for leaf in _statics(result):
            if leaf.source is not None and not isinstance(leaf.value, _CONSTANT):
                kinds.add(type(leaf.value))
                found.setdefault(id(leaf.value), ("value", cast(Source, leaf.source)))
    found.kinds = frozenset(kinds)
    return found


def _codes(
    code: CodeType, source: Source | None, what: str = "code"
) -> dict[int | CodeType, Watched]:
    """A function's code, and that of the functions that it makes."""
    found: dict[int | CodeType, Watched] = {code: (what, source)}
    for place, held in enumerate(code.co_consts):
        if isinstance(held, CodeType):
            found = _codes(held, source, f"{what} {place}") | found
    return found


_WHAT = {"is": "value", "type": "type", "code": "value"}
_CONSTANT = (bool, int, float, complex, str, bytes, type(None), tuple, frozenset, slice)


def _statics(result: Result) -> Iterator[StaticResult]:
    if isinstance(result, StaticResult):
        yield result
    elif isinstance(result, ItemsResult):
        for item in result.items:
            yield from _statics(item)
