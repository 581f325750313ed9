"""How versions are written for other processes: see
:mod:`npcompile.runtime.versions.version_lookup`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from npcompile.backends.cpu.llvm.frame import FrameLayout
from npcompile.core.paths import defer
from npcompile.core.records import replace
from npcompile.graph.ir import CallSite
from npcompile.graph.stubs import Globals
from npcompile.guards.sources import Source
from npcompile.program.ir import ItemsResult, Program, Result, StaticResult
from npcompile.runtime.cache.disk import DiskCache, fingerprint
from npcompile.runtime.cache.serialization import PlainEncoder, Unwritable
from npcompile.runtime.entry.outline import Outline
from npcompile.runtime.versions.version_lookup import (
    Linked,
    Watched,
    entries,
    entries_as_record,
    globals_of,
    members_of,
    version_of,
)

if TYPE_CHECKING:
    from npcompile.guards import kinds
    from npcompile.ops import foreign
else:
    defer(globals(), "npcompile.guards", "kinds")
    defer(globals(), "npcompile.ops", "foreign")


class Sources(dict[int | CodeType, Watched]):
    """Where another process finds objects, by identity; code is the same if it is equal.  ``kinds``
    are the classes of these objects."""

    kinds: frozenset[type] = frozenset()


#: entries of one key: the same kinds of arguments with other globals, sizes or constants
LIMIT = 4


def keep(
    store: DiskCache,
    name: bytes,
    function: FunctionType,
    outline: Outline,
    linked: Linked,
    program: Program,
    frame: FrameLayout,
) -> bool:
    """Adds a version to the record; whether it can be kept."""
    sources = _sources(function, outline, program)
    try:
        checks = [
            (guard.source, guard.recorded, fingerprint(guard.value))
            for guard in outline.guards
            if guard.recorded
        ]
        version, rest = _RecordWriter(sources), _RecordWriter(sources)
        packages = {o.path.partition(".")[0] for o in linked.objects if isinstance(o, CallSite)}
        libraries = [(name, version_of(name)) for name in sorted(packages & sys.modules.keys())]
        parts = [
            PlainEncoder().text((checks, _members(function, outline), libraries)),
            version.text((replace(outline, graph=None), linked)),
            rest.text((replace(program, body=()), frame)),
            PlainEncoder().text(list(rest.left)),
        ]
    except TypeError:
        return False  # something of this process
    record = store.get(name)
    others = entries(record)[: LIMIT - 1] if record is not None else []
    return store.put(name, entries_as_record([parts, *others]))


class _RecordWriter(PlainEncoder):
    """``left`` is read from its source."""

    def __init__(self, sources: Sources) -> None:
        super().__init__()
        self._sources, self._kinds = sources, sources.kinds
        self.left: dict[Watched, None] = {}

    def elsewhere(self, value: Any) -> Watched | None:
        """Where another process finds an object of this one."""
        found = self._watched(value) if type(value) in self._kinds else None
        if found is not None:
            self.left[found] = None
        elif isinstance(value, (CodeType, Globals)) or _draws(value):
            raise Unwritable(f"a {type(value).__name__} that no guard watches")
        return found

    def _watched(self, value: Any) -> Watched | None:
        space = isinstance(value, Globals)
        key = value if isinstance(value, CodeType) else id(value.names if space else value)
        found = self._sources.get(key)
        return found if found is not None and (found[0] == "globals") == space else None

    def name(self, value: Any) -> str | None:
        """A method of an object that a module has, like ``numpy.random.rand``, is found there."""
        if isinstance(value, (MethodType, BuiltinMethodType)):
            known = foreign.find(value)
            if known is not None and not isinstance(value.__self__, (type, ModuleType, np.ufunc)):
                return ":".join(known.path.rsplit(".", 1))
        return super().name(value)


def _draws(value: Any) -> bool:
    """Whether a value is a generator of random numbers."""
    python = sys.modules.get("random")
    return (python is not None and isinstance(value, python.Random)) or (
        "numpy.random" in sys.modules and isinstance(value, foreign.GENERATORS))


def _sources(function: FunctionType, outline: Outline, program: Program) -> Sources:
    """Objects of this process by identity, and where another process finds them."""
    found = Sources()
    found.update(_codes(function.__code__, None))
    found[id(function)] = ("value", None)
    found[id(function.__globals__)] = ("globals", None)
    classes: set[type] = {FunctionType, CodeType, Globals}
    for guard in outline.guards:
        if guard.recorded:
            classes.add(type(guard.value))
            found.setdefault(id(guard.value), (guard.recorded, guard.source))
            if guard.recorded == "value" and globals_of(guard.value) is not None:
                found.setdefault(id(globals_of(guard.value)), ("globals", guard.source))
        if isinstance(guard, kinds.FunctionGuard):
            for code, watched in _codes(guard.value.__code__, guard.source).items():
                found.setdefault(code, watched)
    for result in (program.result, *(held for way in program.resumes for held in way.held())):
        for leaf in _statics(result):
            if leaf.source is not None and not isinstance(leaf.value, _CONSTANT):
                classes.add(type(leaf.value))
                found.setdefault(id(leaf.value), ("value", cast(Source, leaf.source)))
    found.kinds = frozenset(classes)
    return found


def _members(
    function: FunctionType, outline: Outline
) -> list[tuple[Source, dict[str, tuple[str, ...]]]]:
    """For each module that a guard watches, the names that the code may look up in it."""
    codes = [*_codes(function.__code__, None)]
    for guard in outline.guards:
        if isinstance(guard, kinds.FunctionGuard):
            codes += _codes(guard.value.__code__, None)
    names = {name for code in codes if isinstance(code, CodeType) for name in code.co_names}
    return [
        (guard.source, members_of(guard.value, sorted(_dotted(guard.value, names))))
        for guard in outline.guards
        if guard.recorded == "value" and isinstance(guard.value, ModuleType)
    ]


def _dotted(module: ModuleType, names: set[str], depth: int = 2) -> Iterator[str]:
    """The names that a module has, and those that modules in it have."""
    for name in names & vars(module).keys():
        held = vars(module)[name]
        if not isinstance(held, ModuleType):
            yield name
        elif depth:
            yield from (f"{name}.{inner}" for inner in _dotted(held, names, depth - 1))


def _codes(
    code: CodeType, source: Source | None, what: str = "code"
) -> dict[int | CodeType, Watched]:
    """A function's code, and that of the functions that it makes."""
    found: dict[int | CodeType, Watched] = {code: (what, source)}
    for place, held in enumerate(code.co_consts):
        if isinstance(held, CodeType):
            found = _codes(held, source, f"{what} {place}") | found
    return found


_CONSTANT = (bool, int, float, complex, str, bytes, type(None), tuple, frozenset, slice)


def _statics(result: Result) -> Iterator[StaticResult]:
    if isinstance(result, StaticResult):
        yield result
    elif isinstance(result, ItemsResult):
        for item in result.items:
            yield from _statics(item)
