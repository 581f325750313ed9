"""How an entry finds and tests what its arguments and globals hold.

What arguments hold is found by *steps*.  Machine code takes only steps that run no code of the
program's: attributes of objects whose class looks them up as ``object`` does, functions of such a
class, and items of lists, tuples and dictionaries.  What globals and closures hold is not read at
all, as long as the *words* of memory that change with it stay what they are.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any

from npcompile.core.paths import defer
from npcompile.core.records import record
from npcompile.guards.sources import ABSENT, Arg, Attribute, Item, Leaf, Roots, Source
from npcompile.runtime.unsafe import version_tags
from npcompile.runtime.unsafe.version_tags import Unwatchable, VersionTag

if TYPE_CHECKING:
    from npcompile.guards import class_hooks, kinds, methods
    from npcompile.guards.methods import MethodStep
else:
    defer(globals(), "npcompile.guards", "class_hooks", "kinds", "methods")

#: of classes whose objects keep their class (Py_TPFLAGS_IMMUTABLETYPE)
_IMMUTABLE = 1 << 8
#: more objects than that are read in Python
MANY = 32
_CONTAINERS = (list, tuple, dict)


@record
class AccessStep:
    """Something that an entry reads or tests of an object that an argument leads to.

    ``by`` writes the step (``by.emit``): a class of sources reads, one of guards tests.  ``place``
    is an argument k, or ~k for what the k-th read has found; ``number`` is what the test needs
    beside that.
    """

    by: type[Source] | type[kinds.Guard]
    place: int
    number: int = 0

    @property
    def reads(self) -> bool:
        return issubclass(self.by, Source)


class Steps:
    """Collects steps; ``objects`` are what they need, in their order; ``methods`` are the
    functions that objects are found to have; ``same`` are positions of arguments and the objects
    that must be there.

    Parameters
    ----------
    guards
        Those of the trace; they say what class each object is of.
    names
        The positional parameters.
    leaves
        Of the trace.
    """

    def __init__(
        self, guards: Sequence[kinds.Guard], names: Sequence[str], leaves: Sequence[Leaf]
    ) -> None:
        self.steps: list[AccessStep] = []
        self.objects: list[Any] = []
        self.same: list[tuple[int, Any]] = []
        self.methods: dict[Source | None, MethodStep] = {}
        self._count = len(names)
        self._leaves = {leaf.source for leaf in leaves if self._is_positional(leaf.source)}
        self._classes = {g.source: g.value for g in guards if isinstance(g, kinds.ClassGuard)}
        self._read: dict[Source, int] = {}
        self._known: set[tuple[int, type]] = set()

    def _is_positional(self, source: Source) -> bool:
        return isinstance(source, Arg) and source.position < self._count

    # ------------------------------------------------------------------ places

    def place(self, source: Source) -> int:
        """Where an object is found, which is read if it has not been yet."""
        if isinstance(source, Arg):
            if source.position >= self._count:
                raise Unwatchable("an argument that can't be given by position")
            return source.position
        if source not in self._read:
            source.read(self)
            if len(self._read) >= MANY:
                raise Unwatchable("too many objects to read")
            self._read[source] = ~len(self._read)
        return self._read[source]

    def is_leaf(self, source: Source) -> bool:
        """Whether it is an argument and a leaf."""
        return source in self._leaves

    def read_attribute(self, base: Source, name: str) -> None:
        """Reads an attribute, if that runs no code of the program's."""
        if not methods.looked_up(self.class_of(base), name):
            raise Unwatchable("what only Python can read")
        self.add(Attribute, self.of_class(base), name)

    def read_item(self, base: Source, key: Any) -> None:
        """Reads an item of a container of Python's own."""
        if self.class_of(base) not in _CONTAINERS or type(key) not in (int, str):
            raise Unwatchable("what only Python can read")
        self.add(Item, self.of_class(base), key)

    # ------------------------------------------------------------------ tests

    def identical(self, source: Source, thing: Any) -> None:
        """Requires the value that was found to be one object."""
        if self._is_positional(source):
            self.same.append((self.place(source), thing))
        else:
            self.add(kinds.IdentityGuard, self.place(source), thing)

    def class_of(self, source: Source) -> type | None:
        """The class that a guard demands; None: none does."""
        return self._classes.get(source)

    def of_class(self, source: Source) -> int:
        """Where an object is found, whose class has been tested."""
        place, kind = self.place(source), self.class_of(source)
        assert kind is not None
        self.class_at(place, kind)
        return place

    def class_at(self, place: int, kind: type) -> None:
        """Requires the object at a place to be of a class."""
        if (place, kind) not in self._known:
            self._known.add((place, kind))
            self.add(kinds.ClassGuard, place, kind)

    def add(self, by: type[Source] | type[kinds.Guard], place: int, thing: Any) -> None:
        """Adds a step that needs an object."""
        self.steps.append(AccessStep(by, place))
        self.objects.append(thing)

    def compare(self, by: type[kinds.Guard], place: int, number: int) -> None:
        """Adds a step that needs a number, or another place."""
        self.steps.append(AccessStep(by, place, number))

    def method(self, source: Source, value: Any) -> None:
        """A function that an object has by its class: that very one is asked for."""
        self.methods[source] = methods.step(self, source, value)

    def bound(self, source: Source) -> None:
        """Requires the value that was found to be a bound method."""
        self._classes[source] = MethodType


# ------------------------------------------------------------------ globals and closures


class WatchedWords:
    """Collects the words that change with what sources hold, each once."""

    def __init__(self, roots: Roots) -> None:
        self.roots = roots
        self._tables: dict[int, tuple[dict[str, Any], dict[str, None]]] = {}  # by dictionary
        self._others: dict[int, VersionTag] = {}  # by address

    def in_order(self) -> list[VersionTag]:
        """WatchedWords of dictionaries first: they vouch for the addresses of others."""
        heads = [word for table, known in self._tables.values()
                 for word in version_tags.of_names(table, known)]
        return heads + list(self._others.values())

    def source(self, source: Source | None, value: bool) -> None:
        """Watches the object that a source holds, or (not ``value``) where it is found."""
        if source is not None and source not in self.roots.methods:
            source.watch(self, value)

    def held(self, source: Source | None) -> Any:
        """The object that a source holds, which is watched."""
        try:
            self.source(source, True)
            return self.roots.value(source)
        except ABSENT as error:  # in a function made anew of the same code
            raise Unwatchable(f"{source!r} is not there") from error

    def class_held(self, source: Source) -> None:
        """Watches an object whose class no program assigns."""
        kind = type(self.held(source))
        if not kind.__flags__ & _IMMUTABLE and not class_hooks.is_ours(kind):
            raise Unwatchable("an object that may get another class")

    def names(self, table: dict[str, Any], name: str | None) -> None:
        """Watches a name of a module; None: only where its names are."""
        known = self._tables.setdefault(id(table), (table, {}))[1]
        if name is not None:
            known[name] = None

    def class_attribute(self, owner: Any, name: str) -> None:
        """Watches a name in a class and its bases, or in an object of npcompile's, if it is
        looked up without running code."""
        meta = type(owner)
        if class_hooks.is_ours(meta) and name in getattr(owner, "__dict__", ()):
            for word in methods.attributes(owner):
                self.add(word)
            return
        if not issubclass(meta, type) or meta.__getattribute__ is not type.__getattribute__:
            raise Unwatchable("an attribute of an object")
        held = [vars(kind)[name] for kind in owner.__mro__ if name in vars(kind)]
        asked = any(name in vars(kind) for kind in type.mro(meta))
        if asked or not held or getattr(owner, name) is not held[0]:
            raise Unwatchable("an attribute that code of its own gives")
        for kind in (owner, meta):
            if kind is not type:
                self.add(version_tags.of_class(kind))

    def function(self, function: Any) -> None:
        """Watches the parts of a function."""
        if type(function) is not types.FunctionType:
            raise Unwatchable("a function that another object has taken the place of")
        for word in version_tags.of_function(function):
            self.add(word)

    def add(self, word: VersionTag) -> None:
        """Watches a word."""
        self._others.setdefault(word.address, word)
