"""Objects that live: a set of weak references without callbacks.

The callbacks of :class:`weakref.WeakSet` are functions of Python's, which run wherever an object
dies; what a signal handler raises there is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Generic, TypeVar
from weakref import ref

T = TypeVar("T")


class Living(Generic[T]):
    """Objects, as long as they live.

    >>> class Thing: pass
    >>> things, one = Living[Thing](), Thing()
    >>> things.add(one), things.add(Thing()), len(list(things))
    (None, None, 1)
    """

    def __init__(self) -> None:
        self._numbers = count()
        self._found: dict[int, ref[T]] = {}
        self._most = 64

    def add(self, thing: T) -> None:
        if len(self._found) >= self._most:  # another thread may add something meanwhile
            for number, known in list(self._found.items()):
                if known() is None:
                    self._found.pop(number, None)
            self._most = 2 * len(self._found) + 64
        self._found[next(self._numbers)] = ref(thing)

    def __iter__(self) -> Iterator[T]:
        found = [known() for known in list(self._found.values())]
        return iter([living for living in found if living is not None])
