"""How a traced function's leaves and guards are wired to a machine-code entry.

A version is *direct* if a call's own arguments, the words of globals and closure cells, and object
identity are all that its entry needs to look at, and what a few steps from the arguments find
(attributes of plain objects, items of lists, tuples and dictionaries).  Other versions are called
through Python, with their leaves as arguments.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from npcompile.core.records import record
from npcompile.guards.sources import (
    AddressOf,
    Arg,
    Attribute,
    Closure,
    Codes,
    Default,
    Global,
    Guard,
    Item,
    ObjectWords,
    Source,
    TensorMemory,
)
from npcompile.runtime.entry import guard_matching as _match
from npcompile.runtime.entry.access_paths import SINGLE, MethodStep, Steps
from npcompile.runtime.entry.outline import Outline
from npcompile.runtime.entry.state import EntryState, LeafPlace, Signature
from npcompile.runtime.unsafe import version_tags
from npcompile.runtime.unsafe.version_tags import Unwatchable, VersionTag


@record
class Roots:
    """The objects at which sources begin other than arguments: the function itself, and methods of
    arguments' classes."""

    function: types.FunctionType
    methods: Mapping[Source | None, MethodStep]


@record
class Wiring:
    """A signature, the objects that arguments must be and that steps need, and how to find words
    and variables."""

    signature: Signature
    same: tuple[Any, ...]
    looked: tuple[Any, ...]
    words: Callable[[], list[VersionTag]]
    variables: Callable[[EntryState], None]

    def connect(self, state: EntryState, holds: Callable[[], bool] = lambda: True) -> bool:
        """Points a state at the words and variables as they are now; False: they don't fit.

        ``holds`` tests the guards once more: another thread may have changed something since.
        One thread at a time may connect a state.
        """
        if state.holds():
            return True
        try:
            found = self.words()
        except Unwatchable:
            return False
        if len(found) != self.signature.words:
            return False
        if state.watches(found):
            return True
        before = state.watched  # what only that holds is freed at the end: it may run any code
        state.suspend()
        self.variables(state)
        for k in reversed(range(len(found))):  # the first one vouches for all
            state.watch(k, found[k].address, found[k].expected)
        state.watched = found  # keeps the objects, so that their addresses stay theirs
        held = holds()
        if not held:
            state.suspend()
        del before
        return held


def direct(traced: Outline, function: types.FunctionType, names: Sequence[str]) -> Wiring | None:
    """The wiring of a function of positional parameters ``names``, or None if it needs Python."""
    if traced.tensors:  # which autograd must be told of
        return None
    try:
        steps = Steps(traced, names)
        roots = Roots(function, steps.methods)
        places, variables = _places(traced, roots, steps)
        same = _same(traced, names, steps)
        watched = [g for g in traced.guards if not isinstance(_root(g.source), Arg)]
        sources = [leaf.source for leaf in traced.leaves if not isinstance(_root(leaf.source), Arg)]

        kinds = _match.classes(traced)

        def gather() -> list[VersionTag]:
            found = [*_gather(watched, sources, roots), *map(version_tags.of_class, kinds)]
            return found + [word for m in steps.methods.values() for word in m.words()]

        count = len(gather())
    except Unwatchable:
        return None
    signature = Signature(
        tuple(traced.leaves), places, len(names), same=tuple(k for k, _ in same), words=count,
        steps=tuple(steps.steps),
    )
    objects = tuple(value for _, value in same), tuple(steps.objects)
    return Wiring(signature, *objects, gather, variables)


def leafwise(traced: Outline) -> Wiring:
    """The wiring of an entry whose arguments are the leaves."""
    return Wiring(Signature.positional(tuple(traced.leaves)), (), (), list, lambda state: None)


def _places(
    traced: Outline, roots: Roots, steps: Steps
) -> tuple[tuple[LeafPlace, ...], Callable[[EntryState], None]]:
    places: list[LeafPlace] = []
    held: list[Source] = []
    for leaf in traced.leaves:
        argument = _argument(leaf.source)
        if argument is not None:
            kind = "argument" if argument is leaf.source else "lent"
            places.append(LeafPlace(kind, argument.position))
        elif isinstance(leaf.source, AddressOf):
            places.append(LeafPlace("address", steps.place(leaf.source.base)))
        elif isinstance(leaf.source, ObjectWords) or not isinstance(_root(leaf.source), Arg):
            places.append(LeafPlace("variable", len(held)))
            held.append(leaf.source)
        else:
            places.append(LeafPlace("read", ~steps.place(leaf.source)))

    def variables(state: EntryState) -> None:
        for k, source in enumerate(held):
            address = _variable(source, roots)
            if address is not None:
                state.refer(k, address)
            else:
                state.hold(k, value_of(source, roots))

    return tuple(places), variables


def _argument(source: Source) -> Arg | None:
    """The argument that a leaf is, or whose memory it is."""
    if isinstance(source, TensorMemory):
        source = source.base
    return source if isinstance(source, Arg) else None


def _variable(source: Source, roots: Roots) -> int | None:
    """Where the pointer to a leaf's value is, or None if it must be held."""
    if isinstance(source, Closure):
        return version_tags.cell_address(_cell(source, roots))
    if not isinstance(source, Global):
        return None
    return version_tags.name_address(value_of(source.owner, roots).__globals__, source.name)


def _same(traced: Outline, names: Sequence[str], steps: Steps) -> list[tuple[int, Any]]:
    """(position, object) of arguments that must be an object; other guards become steps."""
    found: list[tuple[int, Any]] = []
    leaves = {leaf.source.position for leaf in traced.leaves if isinstance(leaf.source, Arg)}
    for guard in traced.guards:
        root = _root(guard.source)
        if guard.kind in _match.RELATIONS and not (
            isinstance(root, Arg) and isinstance(_root(guard.value), Arg)
        ):
            raise Unwatchable("objects that are compared with each other")
        if guard.kind in _match.EXISTENCE:
            raise Unwatchable("attributes that may come and go")
        if not isinstance(root, Arg):
            continue
        by_identity = guard.kind == "is" or (
            guard.kind == "equal" and isinstance(guard.value, SINGLE)
        )
        plain = guard.source is root and root.position < len(names)
        if guard.kind == "type" and plain and root.position in leaves:
            continue  # the leaf's own test says as much
        if plain and by_identity:
            found.append((root.position, guard.value))
        else:
            steps.test(guard)
    return found


def _root(source: Source) -> Source:
    while isinstance(source, (Attribute, Item, TensorMemory, Codes, AddressOf)):
        source = source.base
    return source


def value_of(source: Source | None, roots: Roots) -> Any:
    """Evaluates a source that begins at no argument."""
    try:
        return _value_of(source, roots)
    except _match.ABSENT as error:  # in a function made anew of the same code
        raise Unwatchable(f"{source!r} is not there") from error


def _value_of(source: Source | None, roots: Roots) -> Any:
    if source in roots.methods:
        return roots.methods[source].function
    match source:
        case None:
            return roots.function
        case Global(name, owner):
            return _match.global_of(_value_of(owner, roots), name)
        case Closure():
            return _cell(source, roots).cell_contents
        case Default(name, owner):
            return _match.default_of(_value_of(owner, roots), name)
        case Attribute(base, name):
            return getattr(_value_of(base, roots), name)
        case Item(base, key):
            return _value_of(base, roots)[key]
        case ObjectWords(name):
            return _match.words_of(name)
        case _:
            raise Unwatchable(f"{source!r} depends on an argument")


def _cell(source: Closure, roots: Roots) -> types.CellType:
    owner = value_of(source.owner, roots)
    cells: dict[str, types.CellType] = dict(
        zip(owner.__code__.co_freevars, owner.__closure__ or ())
    )
    return cells[source.name]


def _gather(
    guards: Sequence[Guard], sources: Sequence[Source], roots: Roots
) -> list[VersionTag]:
    """The words that show whether guards still hold and variables are where they were."""
    found = _Watched(roots)
    for guard in guards:
        if not isinstance(_root(guard.source), Arg):
            found.guard(guard)
    for source in sources:
        found.source(source, False)
    return found.in_order()


class _Watched:
    """Collects words, each once."""

    def __init__(self, roots: Roots) -> None:
        self.roots = roots
        self.tables: dict[int, tuple[dict[str, Any], dict[str, None]]] = {}  # names by dictionary
        self.others: dict[int, VersionTag] = {}  # by address

    def in_order(self) -> list[VersionTag]:
        """Words of dictionaries first: they vouch for the addresses of others."""
        heads = [word for table, known in self.tables.values()
                 for word in version_tags.of_names(table, known)]
        return heads + list(self.others.values())

    def guard(self, guard: Guard) -> None:
        self.source(guard.source, True)
        thing = value_of(guard.source, self.roots)
        if guard.kind == "code":
            self._function(thing)
        elif (type(thing) is not tuple and guard.kind in ("length", "most", "keys")) or (
            guard.kind == "equal" and isinstance(thing, (list, dict, set))
        ):
            raise Unwatchable("a container that may change")

    def source(self, source: Source | None, value: bool) -> None:
        """``value``: the object itself must stay; else only where it is found."""
        if source in self.roots.methods:
            return
        match source:
            case None | ObjectWords():
                return
            case Global(name, owner):
                self.source(owner, True)
                table = value_of(owner, self.roots).__globals__
                self._names(table, name if value else None)
                if value and name not in table:
                    self._names(vars(builtins), name)
            case Closure(_, owner):
                self.source(owner, True)
                if value:
                    self._add(version_tags.of_cell(_cell(source, self.roots)))
            case Attribute(base, name):
                self.source(base, True)
                thing = value_of(base, self.roots)
                if isinstance(thing, types.ModuleType):
                    if type(thing) is not types.ModuleType or name not in vars(thing):
                        raise Unwatchable("an attribute that a module's code gives")
                    self._names(vars(thing), name)
                else:
                    self._class_attribute(thing, name)
            case Default(_, owner):
                self.source(owner, True)
                self._function(value_of(owner, self.roots))
            case Item(base) if type(value_of(base, self.roots)) is tuple:
                self.source(base, True)  # while that is the same tuple, its items are
            case _:
                raise Unwatchable("an item of a container")

    def _class_attribute(self, owner: Any, name: str) -> None:
        """Looks up a name in a class and its bases, without running code."""
        meta = type(owner)
        if not issubclass(meta, type) or meta.__getattribute__ is not type.__getattribute__:
            raise Unwatchable("an attribute of an object")
        held = [vars(kind)[name] for kind in owner.__mro__ if name in vars(kind)]
        asked = any(name in vars(kind) for kind in type.mro(meta))
        if asked or not held or getattr(owner, name) is not held[0]:
            raise Unwatchable("an attribute that code of its own gives")
        for kind in (owner, meta):
            if kind is not type:
                self._add(version_tags.of_class(kind))

    def _names(self, table: dict[str, Any], name: str | None) -> None:
        known = self.tables.setdefault(id(table), (table, {}))[1]
        if name is not None:
            known[name] = None

    def _function(self, function: Any) -> None:
        if type(function) is not types.FunctionType:
            raise Unwatchable("a function that another object has taken the place of")
        for word in version_tags.of_function(function):
            self._add(word)

    def _add(self, word: VersionTag) -> None:
        self.others.setdefault(word.address, word)
