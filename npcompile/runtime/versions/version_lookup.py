"""Versions that earlier calls or processes have compiled, found without tracing.

::

    key    ::= fingerprint of the function's code, its options, this package, Python, NumPy,
               the processor, and the kinds of the arguments
    record ::= entries, the latest first
    entry  ::= (checks, members, libraries), version, rest, what the rest reads from its source
    check  ::= (source, what of it the guard watches, fingerprint of that)
    members ::= the source of a module, names in it that the code may look up, what each stands for
    libraries ::= names and versions of the packages whose functions it calls

An entry serves a call if everything that its guards watch has the fingerprint that it had, and
then the guards themselves, on the objects of now, hold as for any other version.  What they watch
(modules, functions, classes) is not in the record: it is read from its source.  A version that
holds anything else of this process (an object without a fingerprint) is not kept.  Functions of
libraries are found by their names, and called by stubs that are made anew.

The *rest*, which only calls that leave compiled code need, is read when one does.  The parts are
data only, see :mod:`.serialization`; an entry that is not is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from importlib import import_module
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from npcompile.core.config import Config
from npcompile.core.records import record
from npcompile.guards.sources import ABSENT, Roots, Source
from npcompile.runtime.cache.disk import DiskCache, Record, configuration, environment, fingerprint
from npcompile.runtime.cache.serialization import Invalid, read
from npcompile.runtime.entry.outline import Outline
from npcompile.runtime.entry.state import Signature

if TYPE_CHECKING:
    from npcompile.backends.cpu.llvm.frame import FrameLayout
    from npcompile.program.ir import Program
    from npcompile.program.results import Result

#: what is read from its source: a key of ``_SEEN``, and the source, None for the function itself
Watched = tuple[str, Source | None]
#: of an entry
PARTS = 4


@record
class Linked:
    """The data that machine code needs to become a version: ``objects`` and ``routines`` as they
    were emitted, and the ``key`` of the machine code itself."""

    signature: Signature
    result: Result
    objects: tuple[object, ...]
    routines: tuple[str, ...]
    key: bytes


@record
class StoredVersion:
    """A version that may serve a call; ``rest`` reads its frame and its program, which has no
    statements."""

    outline: Outline
    linked: Linked
    rest: Callable[[], tuple[Program, FrameLayout]]


def key(function: FunctionType, config: Config, kinds: object) -> bytes | None:
    """The name of the record; None if the kinds of the arguments have no fingerprint."""
    try:
        parts = (function.__code__, configuration(config), environment(), kinds)
        return fingerprint("version", *parts).encode()
    except TypeError:
        return None


# ------------------------------------------------------------------ finding


def find(
    store: DiskCache, name: bytes, function: FunctionType, bound: dict[str, Any]
) -> Iterator[StoredVersion]:
    """The versions whose guards watch what they watched."""
    record = store.get(name)
    roots = Roots(function, bound)

    def seen(what: Watched) -> Any:
        kind, *places = what[0].split()
        held = _SEEN[kind](roots.value(what[1]))
        for place in places:  # of a code object among another's constants
            held = held.co_consts[int(place)]
        return held

    for head, version, rest, left in entries(record) if record is not None else ():
        try:
            checks, members, libraries = read(head)
            if not all(_unchanged(check, roots) for check in checks):
                continue
            if any(members_of(roots.value(module), known) != known for module, known in members):
                continue
            if any(version_of(name) != known for name, known in libraries):
                continue
            outline, linked = read(version, seen)
            if not (isinstance(outline, Outline) and isinstance(linked, Linked)):
                continue
            known = {what: seen(what) for what in read(left)}  # no arguments, which should not stay
        except (Invalid, *ABSENT):
            continue
        yield StoredVersion(outline, linked, cache(partial(read, rest, known.__getitem__)))


def entries(record: Record) -> list[list[str]]:
    """The entries of a record, each as its parts; none if it is no record of versions."""
    try:
        parts = record.object.decode().split("\0")
    except UnicodeDecodeError:
        return []
    return [parts[k : k + PARTS] for k in range(0, len(parts) - PARTS + 1, PARTS)]


def entries_as_record(entries: list[list[str]]) -> Record:
    """What :func:`entries` reads."""
    return Record("\0".join([part for entry in entries for part in entry]).encode(), {})


def _unchanged(check: tuple[Source, str, str], roots: Roots) -> bool:
    source, recorded, wanted = check
    try:
        value = roots.value(source)
        if isinstance(value, MethodType):
            value = value.__func__
        return fingerprint(_SEEN[recorded](value)) == wanted
    except ABSENT:
        return False


_SEEN: dict[str, Callable[[Any], Any]] = {
    "value": lambda value: value,
    "type": type,
    "code": lambda value: value.__code__,
    "globals": lambda value: _globals(value),
}


def _globals(value: Any) -> Any:
    from npcompile.graph.stubs import Globals  # few versions call libraries

    return Globals(globals_of(value))


def members_of(module: ModuleType, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """What names in a module (dotted: in a module that it has) stand for.

    A function that took the place of another one has another name or home.
    """
    found: dict[str, tuple[str, ...]] = {}
    for dotted in names:
        held: Any = module
        *inside, last = dotted.split(".")
        for name in inside:
            held = _module_in(held, name)
        held = vars(held).get(last) if isinstance(held, ModuleType) else None
        called = getattr(held, "__qualname__", None) or getattr(held, "__name__", "")
        found[dotted] = type(held).__name__, str(called), str(getattr(held, "__module__", ""))
    return found


def _module_in(module: Any, name: str) -> Any:
    """A module that another one has, or imports when it is first asked for, as NumPy does with
    ``numpy.fft``: the function that is called would ask for it, too."""
    if not isinstance(module, ModuleType):
        return None
    return vars(module)[name] if name in vars(module) else getattr(module, name, None)


def globals_of(value: Any) -> Any:
    """The globals of a function or method; None for what has none."""
    return getattr(getattr(value, "__func__", value), "__globals__", None)


def version_of(name: str) -> str:
    """The version of a package, which has none if it is a part of Python."""
    return str(getattr(import_module(name), "__version__", ""))
