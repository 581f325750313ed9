"""A dictionary that loses items, written in Python over lists and ints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from npcompile.python.polyfills.containers import HashedDict, scattered

GONE = -2  #: in the table, for a key that was removed; a search goes on behind it
_RAISE: Any = object()


class ShrinkingDict(HashedDict):
    """A ``dict`` whose removed keys stay among ``_keys``, with a zero in ``_there``, until there is
    no room for another key or something looks at all of them.  The last of ``_keys`` is there.

    ``_live`` counts the keys that are there, ``_used`` the places of the table that are not -1, and
    ``_base`` the keys that were taken from the front since the table was written: the table counts
    them, too.
    """

    shown: ClassVar[tuple[str, ...]] = ("_keys", "_values", "_there")
    live = False
    _there: list[int]
    _live: int
    _used: int
    _base: int

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Any:
        return {key: value for key, value, there in zip(*items) if there}

    def _at(self, key: Any) -> int:
        rest, mask = scattered(key), len(self._places) - 1
        at = rest & mask
        while True:
            found = self._places[at]
            if found == -1 or (found >= 0 and self._keys[found - self._base] == key):
                return at
            rest >>= 5
            at = (at * 5 + rest + 1) & mask

    def _found(self, key: Any) -> int:
        found = self._places[self._at(key)]
        return found - self._base if found >= 0 else -1

    def _new(self, key: Any) -> None:
        if 2 * self._used >= len(self._places):
            self._rebuild()
        self._places[self._at(key)] = self._base + len(self._keys)
        self._keys.append(key)
        self._there.append(1)
        self._live += 1
        self._used += 1

    def _rebuild(self) -> None:
        """Writes the table anew, twice as long if a quarter of it is in use."""
        self._pack()
        if 4 * self._live >= len(self._places):
            for _ in range(len(self._places)):
                self._places.append(-1)
        self._base = 0
        for k in range(len(self._places)):
            self._places[k] = -1
        for k in range(len(self._keys)):
            self._places[self._at(self._keys[k])] = k
        self._used = self._live

    def _pack(self) -> None:
        """Leaves only keys that are there."""
        if self._live == len(self._keys):
            return
        count = 0
        while not self._there[count]:
            count += 1
        self._keys[0:count] = []
        self._values[0:count] = []
        self._there[0:count] = []
        self._base += count
        if self._live == len(self._keys):
            return
        count = 0
        for k in range(len(self._keys)):
            if self._there[k]:
                if count < k:
                    self._places[self._at(self._keys[k])] = self._base + count
                    self._keys[count] = self._keys[k]
                    self._values[count] = self._values[k]
                    self._there[count] = 1
                count += 1
        while len(self._keys) > count:
            self._keys.pop()
            self._values.pop()
            self._there.pop()

    def _remove(self, key: Any, found: int) -> None:
        """Takes out a key by its place among the keys."""
        self._places[self._at(key)] = GONE
        self._there[found] = 0
        self._live -= 1
        while self._there and not self._there[-1]:
            self._keys.pop()
            self._values.pop()
            self._there.pop()

    def __len__(self) -> int:
        return self._live

    def __bool__(self) -> bool:
        return self._live > 0

    def __iter__(self) -> Iterator[Any]:
        self._pack()
        return iter(self._keys)

    def __delitem__(self, key: Any, /) -> None:
        found = self._found(key)
        if found < 0:
            raise KeyError
        self._remove(key, found)

    def pop(self, key: Any, default: Any = _RAISE, /) -> Any:
        found = self._found(key)
        if found < 0:
            if default is _RAISE:
                raise KeyError
            return default
        value = self._values[found]
        self._remove(key, found)
        return value

    def popitem(self) -> Any:
        if self._live == 0:
            raise KeyError
        key, value = self._keys[-1], self._values[-1]
        self._remove(key, len(self._keys) - 1)
        return key, value

    def clear(self) -> None:
        self._keys.clear()
        self._values.clear()
        self._there.clear()
        for k in range(len(self._places)):
            self._places[k] = -1
        self._live = self._used = self._base = 0

    def values(self) -> Any:
        self._pack()
        return iter(self._values)

    def keys(self) -> Any:
        self._pack()
        return iter(self._keys)

    def items(self) -> Any:
        self._pack()
        return zip(self._keys, self._values)
