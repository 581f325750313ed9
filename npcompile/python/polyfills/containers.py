"""Containers of Python's, written in Python over lists and ints.

A trace follows the methods of these classes in place of the containers' own, so that all that it
knows of lists holds for them; results make the real ones of what they hold.  Where a method raises,
Python makes the call itself.  So a method raises, if at all, before it changes anything.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

SMALL = 64  #: places in front of a queue that are not worth getting back
SMALL_TABLE = 8  #: places of an empty table, as CPython's


class Model:
    """A container; ``shown`` are the attributes that a real one is made of."""

    of: ClassVar[type]
    shown: ClassVar[tuple[str, ...]]
    watched: ClassVar[bool] = True  # whether a loop over it would see that it grows

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Any:
        """The real container."""
        raise NotImplementedError


class Queue(Model):
    """A ``deque`` of any length: a list, and how many of its first items are gone."""

    of = deque
    shown = ("_items", "_head", "_most")
    watched = False
    _items: list[Any]
    _head: int
    _most: int | None

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Any:
        held, head, most = items
        return deque(held[head:], most)

    def __len__(self) -> int:
        return len(self._items) - self._head

    def __bool__(self) -> bool:
        return len(self._items) > self._head

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items[self._head :])

    def append(self, item: Any, /) -> None:
        if self._most is not None and len(self._items) - self._head >= self._most:
            if self._most == 0:
                return
            self.popleft()
        self._items.append(item)

    def appendleft(self, item: Any, /) -> None:
        if self._most is not None and len(self._items) - self._head >= self._most:
            if self._most == 0:
                return
            self._items.pop()
        if self._head == 0 and self._items:
            count = len(self._items)
            self._items[0:0] = self._items[:]
            self._head = count
        if self._items:
            self._head -= 1
            self._items[self._head] = item
        else:
            self._items.append(item)

    def extend(self, items: Iterable[Any], /) -> None:
        for item in items:
            self.append(item)

    def pop(self) -> Any:
        if len(self._items) == self._head:
            raise IndexError
        return self._items.pop()

    def popleft(self) -> Any:
        if len(self._items) == self._head:
            raise IndexError
        item, after = self._items[self._head], self._head + 1
        if after > SMALL and after * 2 > len(self._items):
            self._items[0:after] = []
            after = 0
        self._head = after
        return item

    def clear(self) -> None:
        self._items.clear()
        self._head = 0

    def __getitem__(self, index: int, /) -> Any:
        count = len(self._items) - self._head
        if index < 0:
            index += count
        if index < 0 or index >= count:
            raise IndexError
        return self._items[self._head + index]

    def __setitem__(self, index: int, item: Any, /) -> None:
        count = len(self._items) - self._head
        if index < 0:
            index += count
        if index < 0 or index >= count:
            raise IndexError
        self._items[self._head + index] = item

    def rotate(self, steps: int = 1, /) -> None:
        if len(self._items) > self._head:
            for _ in range(steps % (len(self._items) - self._head)):
                self.appendleft(self.pop())


def whole(key: Any) -> int:
    """The number that an int is equal to."""
    return int(key)


def scattered(key: Any) -> int:
    """A number from 0 to 2**62 - 1: the same of equal keys, which are ints or tuples of ints."""
    if not isinstance(key, tuple):
        return whole(key) & 0x3FFFFFFFFFFFFFFF
    found = 0
    for part in key:
        found = ((found & 0x3FFFFFFFFFF) * 1000003 ^ whole(part)) & 0x3FFFFFFFFFFFFFFF
    return found


class Hashed(Model):
    """Keys in the order in which they came, and a table of their places in it: -1 where there is
    none, half of it at least.  ``live``: what iterates over keys or values may be made before they
    change."""

    live: ClassVar[bool] = True
    _keys: list[Any]
    _places: list[int]

    def _at(self, key: Any) -> int:
        """Where in the table a key is, or would be; as CPython looks for it."""
        rest, mask = scattered(key), len(self._places) - 1
        at = rest & mask
        while True:
            found = self._places[at]
            if found < 0 or self._keys[found] == key:
                return at
            rest >>= 5
            at = (at * 5 + rest + 1) & mask

    def _found(self, key: Any) -> int:
        """A key's place among the keys; -1: it is not there."""
        if not self._keys:
            return -1
        return self._places[self._at(key)]

    def _new(self, key: Any) -> None:
        """Puts in a key that is not there."""
        count, at = len(self._keys), self._at(key)
        self._keys.append(key)
        if 2 * count < len(self._places):
            self._places[at] = count
            return
        for k in range(len(self._places)):
            self._places[k] = -1
            self._places.append(-1)
        for k in range(count + 1):
            self._places[self._at(self._keys[k])] = k

    def __len__(self) -> int:
        return len(self._keys)

    def __bool__(self) -> bool:
        return len(self._keys) > 0

    def __contains__(self, key: Any, /) -> bool:
        return self._found(key) >= 0


class HashedSet(Hashed):
    """A ``set`` that nothing is taken from: made anew of its items, it has them in the same order.
    """

    of: ClassVar[type] = set
    shown = ("_keys",)

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Any:
        (keys,) = items
        return set(keys)

    def add(self, key: Any, /) -> None:
        if self._found(key) < 0:
            self._new(key)


class HashedDict(Hashed):
    """A ``dict`` that nothing is taken from."""

    of: ClassVar[type] = dict
    shown: ClassVar[tuple[str, ...]] = ("_keys", "_values")
    _values: list[Any]

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Any:
        return dict(zip(*items))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._keys)

    def __getitem__(self, key: Any, /) -> Any:
        found = self._found(key)
        if found < 0:
            raise KeyError
        return self._values[found]

    def __setitem__(self, key: Any, value: Any, /) -> None:
        found = self._found(key)
        if found < 0:
            self._new(key)
            self._values.append(value)
        else:
            self._values[found] = value

    def get(self, key: Any, default: Any = None, /) -> Any:
        found = self._found(key)
        return self._values[found] if found >= 0 else default

    def setdefault(self, key: Any, default: Any = None, /) -> Any:
        found = self._found(key)
        if found >= 0:
            return self._values[found]
        self[key] = default
        return default

    def values(self) -> Any:
        return iter(self._values)

    def keys(self) -> Any:
        return iter(self._keys)

    def items(self) -> Any:
        return zip(self._keys, self._values)


class DefaultDict(HashedDict):
    """A ``defaultdict`` of numbers."""

    of: ClassVar[type] = defaultdict
    shown: ClassVar[tuple[str, ...]] = ("_keys", "_values", "_factory")
    _factory: Any

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Any:
        keys, values, factory = items
        return defaultdict(factory, zip(keys, values))

    def __getitem__(self, key: Any, /) -> Any:
        found = self._found(key)
        if found >= 0:
            return self._values[found]
        value = self._factory()
        self[key] = value
        return value
