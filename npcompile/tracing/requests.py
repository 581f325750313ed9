"""Specialization requests: what an attempt to trace finds to be needed from the beginning.

:class:`Requests` is the set of requests that an attempt begins with.  The attempt leaves its own,
the union of both begins the next one, and tracing ends with an attempt that asks for nothing new
(:func:`.retries.trace`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from npcompile.core.records import record, replace
from npcompile.graph.types import Scalar
from npcompile.guards.sources import Source
from npcompile.python.values import Fetched, Item

if TYPE_CHECKING:
    from npcompile.core.config import Config
    from npcompile.python.values import HeapObject, Static

Place = tuple[Any, ...]
Name = str | tuple[Any]  #: of an attribute, or the key of an item


@record
class AsVector:
    """A list with items of a type; ``grows``: it is appended to."""

    item: Item
    grows: bool


@record
class AsHashTable:
    """A dictionary or set of keys that the run makes; ``value`` is the type of a dictionary's
    values."""

    item: Item
    value: Item | None


_NONE: Mapping[Any, Any] = MappingProxyType({})


@record
class Requests:
    """The requests of all attempts so far.

    Attributes
    ----------
    plain
        Strings are static and no external list is read in place: a last resort.
    strings
        Strings that are data.
    strides
        Arrays whose strides say more than their flags do.
    copies
        External lists that are copied to arrays before anything else.
    in_place
        External lists that are read where they are.
    arrays
        External lists of numbers of a type, which an array gets before anything else.
    lists
        Lists, dictionaries and sets, by the place where they are made.
    stores
        Attributes and items of external objects that some paths store to.
    """

    plain: bool = False
    strings: frozenset[Source] = frozenset()
    strides: frozenset[Source] = frozenset()
    copies: frozenset[Source] = frozenset()
    in_place: Mapping[Source, Fetched] = _NONE
    arrays: Mapping[Source, AsVector] = _NONE
    lists: Mapping[Place, AsVector | AsHashTable] = _NONE
    stores: Mapping[tuple[Source, Name], Static] = _NONE

    def __or__(self, more: Requests) -> Requests:
        """Adds the most urgent of ``more``: the program of the next attempt looks so different that
        other requests are made again if they are needed.  The later of two requests for one place
        holds, which was made in knowledge of the earlier one.

        >>> some = Requests(strides=frozenset("a"))
        >>> (some | Requests(strings=frozenset("b"), copies=frozenset("c"))).copies
        frozenset()
        """
        if not more.strings <= self.strings:
            return Requests(strings=self.strings | more.strings)
        if not (more.strides <= self.strides and more.copies <= self.copies):
            strides, copies = self.strides | more.strides, self.copies | more.copies
            return replace(self, strides=strides, copies=copies)
        stores = {**more.stores, **self.stores}
        stores = {key: stores[key] for key in {**self.stores, **more.stores}}
        if not more.in_place.keys() <= self.in_place.keys():
            in_place = {**self.in_place, **more.in_place}
            return replace(self, in_place=in_place, arrays=_NONE, lists=_NONE, stores=stores)
        arrays, lists = {**self.arrays, **more.arrays}, {**self.lists, **more.lists}
        return replace(self, arrays=arrays, lists=lists, stores=stores)

    def keep(self, earlier: Requests) -> bool:
        """Whether the trace of an attempt that began with ``earlier`` serves the call at hand."""
        return (self.strings, self.strides) == (earlier.strings, earlier.strides)


class Specialization:
    """The requests that an attempt was ``given``, and the ones that it makes."""

    def __init__(self, given: Requests, config: Config) -> None:
        self.given = given
        self._strings: set[Source] = set()
        self._strides: set[Source] = set()
        self._copies: set[Source] = set()
        self._in_place: dict[Source, Fetched] = {}
        self._arrays: dict[Source, AsVector] = {}
        self.lists: dict[Place, AsVector | AsHashTable] = {}
        self._stores: dict[tuple[Source, Name], Static] = {}
        self._in_memory = config.capabilities.host_memory and not given.plain

    @property
    def reads_in_place(self) -> bool:
        """Whether lists may be asked for."""
        from npcompile.runtime.unsafe import object_memory  # few calls are of lists

        return self._in_memory and object_memory.readable()

    def of_trace(self) -> Requests:
        """The requests of an attempt that has traced the function: it would serve, but better
        with them."""
        if self._strings:
            return Requests(strings=frozenset(self._strings))
        strides, copies = frozenset(self._strides), frozenset(self._copies)
        return Requests(strides=strides, copies=copies, in_place=self._in_place)

    def of_refusal(self) -> Requests:
        """The requests of an attempt that was refused, which may be traced with them."""
        return Requests(strings=frozenset(self._strings), in_place=self._in_place,
                        arrays=self._arrays, lists=self.lists, stores=self._stores)

    # ------------------------------------------------------------------ what comes from outside

    def string(self, source: Source) -> None:
        """Asks for a string to be data."""
        if not self.given.plain:
            self._strings.add(source)

    def exact_strides(self, source: Source) -> None:
        """Asks for exact strides of an array."""
        self._strides.add(source)

    def copy(self, source: Source) -> None:
        """Asks for an external list to be copied to arrays before anything else."""
        self._copies.add(source)

    def in_place(self, source: Source, item: Fetched) -> None:
        """Asks for an external list to be read where it is."""
        self._in_place[source] = item

    def array(self, source: Source, item: Scalar) -> None:
        """Asks for an array of the numbers of an external list."""
        self._arrays[source] = AsVector(item, False)

    def store(self, source: Source, name: Name, target: Static) -> None:
        """Asks for an attribute or item of an external object to be stored in any case."""
        self._stores[source, name] = target

    # ------------------------------------------------------------------ what the program makes

    def vector(self, place: Place | None) -> AsVector | None:
        """The request for a list that is made at a place."""
        found = self.given.lists.get(place) if place is not None else None
        return found if isinstance(found, AsVector) else None

    def columns(self, obj: HeapObject, made: AsVector) -> None:
        """Asks for columns where a list was made."""
        if obj.place is not None:
            self.lists[obj.place] = made
