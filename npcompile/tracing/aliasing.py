"""Copies in the place of arrays: those that a list of unknown length holds beside a variable
(``path.append(y)``), and views of other item sizes.

Such a list holds copies, in columns.  A copy is as good as the array itself so long as nobody
writes to the array, asks whether two arrays are one object, or hands both to Python.  All that is
refused, in whatever order it comes: in a loop, what is traced later may run earlier.
A copy in the place of a view is never handed to Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from npcompile.graph import layout
from npcompile.graph.types import c_strides
from npcompile.ops.operands import ArrayRef, Storage
from npcompile.python.values import HeapObject
from npcompile.tracing.references import unshared

if TYPE_CHECKING:
    from npcompile.tracing.tracer import Tracer


class AliasAnalysis:
    """Records which arrays the lists of one trace hold as copies, and the events that make copies
    visible."""

    def __init__(self, t: Tracer) -> None:
        self.t = t
        self.heap: set[Storage] = set()  # memory that a list has a copy of
        self.fresh: set[Storage] = set()  # made by an operator, and not renamed by a loop or branch
        self.views = False  # whether a list has copies of views or of arguments
        self.renamed = False  # whether memory was written that a loop or branch renamed
        self.handed = False  # whether such memory was handed to Python
        self.lists = False  # whether a list of arrays was handed to Python
        self.loose = False  # whether there are arrays of a library's with room between elements
        self.shared = False  # whether arrays or lists came from one list into another
        self.rows: set[HeapObject] = set()  # lists out of such a list that were handed to Python
        self.compared = False  # whether arrays were compared by identity
        self.written: set[Storage] = set()  # memory that was written so far
        self.copies: set[Storage] = set()  # memory that stands for a view
        self.viewed: set[Storage] = set()  # memory that such views are of

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Leaves later decisions alone for objects that Python gets only if the loop is
        interrupted."""
        before = self.handed, self.lists, set(self.rows)
        try:
            yield
        finally:
            self.handed, self.lists, self.rows = before

    def copied(self, ref: ArrayRef) -> None:
        """A list gets a copy of an array, which others may still see."""
        if self.t.borrows and ref.writeable is False and ref.storage.param < 0:
            self.shares()
        plain = ref.storage.param < 0 and ref.steps == c_strides(ref.shape)
        if plain and unshared(self.t, ref):
            return
        self.heap.add(ref.storage)
        self.views |= not plain or not self.t.trees.owns(ref)
        self._consistent("list")

    def writes(self, storage: Storage) -> None:
        """Memory is written."""
        if self.loose and storage.param < 0:
            self._compact(storage)
        renamed = self._renamed(storage)
        self.renamed |= renamed
        self.written.add(storage)
        if storage in self.copies or storage in self.viewed or (self.copies and renamed):
            raise self.t.refuse("view", "of another item size, where either is written")
        if self.heap and (renamed or storage in self.heap):
            raise self.t.refuse("assignment", "to an array that a list holds, too")

    def hands(self, storage: Storage, copied: bool) -> None:
        """Python gets an array, or a copy of it to go on with."""
        if copied and self.loose and storage.param < 0:
            self._compact(storage)
        if storage in self.copies or (self.copies and self._renamed(storage)):
            raise self.t.refuse("view", "of another item size, which Python gets")
        self.handed |= storage in self.heap or self._renamed(storage)
        self._consistent("return")

    def stands_in(self, copy: Storage, storage: Storage) -> None:
        """A fresh copy takes the place of a view."""
        again = self.t.scope is not None and (self.renamed or storage in self.written)
        if again or self._renamed(storage):
            raise self.t.refuse("view", "of another item size, of an array that is written")
        self.copies.add(copy)
        self.viewed |= {storage} - self.copies

    def hands_list(self) -> None:
        """Python gets a list of arrays or lists."""
        self.lists = True
        self._consistent("return")

    def shares(self) -> None:
        """Another list gets what is in a list, or this one gets it again."""
        self.shared = True
        self._consistent("list")

    def hands_row(self, obj: HeapObject) -> None:
        """Python gets a list that stands for one in another list."""
        self.rows.add(obj)
        self._consistent("return")

    def compares(self) -> None:
        """Arrays are compared by identity."""
        self.compared = True
        self._consistent("is")

    def _compact(self, storage: Storage) -> None:
        """Refuses a library's array with gaps between its elements: its copy in a list has none."""
        kind = storage.type
        if not layout.is_packed(self.t.facts, kind.shape, kind.strides):
            raise self.t.refuse("array", "of a library's, with room between its elements")

    def _renamed(self, storage: Storage) -> bool:
        return storage.param < 0 and storage not in self.fresh

    def _consistent(self, construct: str) -> None:
        if len(self.rows) > 1 or (self.rows and self.lists):
            raise self.t.refuse(construct, "of what may be a list in a list")
        if self.lists and self.shared:
            raise self.t.refuse(construct, "of lists that hold the same arrays or lists")
        both = self.lists and (self.handed or self.views)
        if self.heap and (self.renamed or self.compared or both):
            raise self.t.refuse(construct, "of an array that a list holds beside a variable")
