"""The heap of a trace: which memory has copies, and what escapes.

`AliasAnalysis` states the rule under which a copy may stand for an array; :mod:`.references` knows
who refers to something at one place of the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from npcompile.core.paths import defer
from npcompile.graph import layout
from npcompile.graph.types import c_strides
from npcompile.ops.operands import ArrayRef, Storage

if TYPE_CHECKING:
    from npcompile.python.values import HeapObject
    from npcompile.tracing import references
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.tracing", "references")


#: whether lists got memory twice, the memory that they got, and the older names of memory
Listed = tuple[bool, "frozenset[Storage]", "set[Storage]", "dict[Storage, set[Storage]]"]


class AliasAnalysis:
    """The arrays of a trace that have copies, and the events that would make copies visible.

    Columns of a list hold a copy of each array that the list gets (``path.append(y)``), and a fresh
    array may stand for a view of another item size.  A copy is as good as the array itself under
    one rule:

        *Memory that has a copy is not written, is not compared by identity, and does not escape
        twice*: not as an array beside the list with its copy, nor at two places of lists.  A fresh
        array in the place of a view does not escape at all.

    Events count in whatever order they come: in a loop, what is traced later may run earlier.

    Memory is known by its storage until a loop or branch gives it another one.  Such *renamed*
    memory may be any that was made before it, so that an event of renamed memory is one of all
    memory with copies.  The converse does not hold: memory has lost its first name when it gets
    another one.  An array without other references has no copy; its columns are the array.

    Lists get memory at two places if two of its names are given to lists, or one is given twice on
    one way through the program, or in a loop inside the one that made it.  Renamed memory is some
    of the *older* names that a loop or branch joined.
    """

    def __init__(self, t: Tracer) -> None:
        self.t = t
        self._known: set[Storage] = set()  # made by an operator
        self.made = self._known.add  # an operator makes memory
        self._gaps = False  # whether a library made arrays with room between elements
        # copies
        self._copied: set[Storage] = set()  # memory that columns have a copy of
        self._apart = False  # whether any of it is a view's or the caller's, and has escaped so
        self.listed: frozenset[Storage] = frozenset()  # that lists have got on the way here
        self._listed: set[Storage] = set()  # and on any way
        self._older: dict[Storage, set[Storage]] = {}  # the names that renamed memory had before
        self._twice = False  # whether lists have got an array or list at two places
        self._read = False  # whether arrays were read from such lists, as copies
        self._stand_ins: set[Storage] = set()  # fresh memory in the place of views
        self._viewed: set[Storage] = set()  # the memory of these views
        # events
        self._written: set[Storage] = set()
        self._escaped: set[Storage] = set()
        self._lists_escaped = False  # whether lists of arrays or lists did
        self._rows_escaped: set[HeapObject] = set()  # lists that stand for one in another list
        self._compared = False  # whether arrays were compared by identity

    # ------------------------------------------------------------------ copies

    def made_with_gaps(self) -> None:
        """A library makes an array with room between its elements."""
        self._gaps = True

    def copied(self, ref: ArrayRef) -> None:
        """A list gets a copy of an array."""
        again = ref.storage in self.listed or self.t.homes.get(ref.storage) is not self.t.scope
        self.listed |= {ref.storage}
        self._listed.add(ref.storage)
        if again or self.is_item(ref) or self._listed_twice():
            self.shares()
        plain = ref.storage.param < 0 and ref.steps == c_strides(ref.shape)
        if plain and references.unshared(self.t, ref):
            return
        self._copied.add(ref.storage)
        self._apart |= not plain or not self.t.trees.owns(ref)
        self._check("list")

    def reads_item(self) -> None:
        """A copy is made of an array in a list."""
        self._read = True

    def is_item(self, ref: ArrayRef) -> bool:
        """Whether an array may be the copy of one in a list."""
        return self._read and ref.writeable is False and ref.storage.param < 0

    def shares(self) -> None:
        """A list gets arrays or lists that another one has, or its own again."""
        self._twice = True
        self._check("list")

    def renames(self, made: Storage, *older: Storage) -> None:
        """A loop or branch gives another name to memory."""
        self._older.setdefault(made, set()).update(older)
        if self._listed_twice():
            self.shares()

    def inherits(self, made: Storage, storage: Storage) -> None:
        """After a loop memory is what it would be in one more iteration."""
        self.renames(made, *self._older.get(storage, {storage}))

    def mark(self) -> Listed:
        """The memory that lists have got, for `back_to`."""
        older = {made: set(names) for made, names in self._older.items()}
        return self._twice, self.listed, set(self._listed), older

    def back_to(self, mark: Listed) -> None:
        """Goes back to a mark, as what was traced since is no part of the program."""
        self._twice, self.listed, listed, older = mark
        self._listed = set(listed)
        self._older = {made: set(names) for made, names in older.items()}

    def goes_on(self, listed: Iterable[frozenset[Storage]]) -> None:
        """Goes on where ways meet on which lists have got such memory."""
        self.listed = frozenset().union(*listed)

    def stands_in(self, copy: Storage, storage: Storage) -> None:
        """A fresh copy takes the place of a view."""
        written = storage in self._written or any(map(self.renamed, self._written))
        if self.renamed(storage) or (written and self.t.scope is not None):
            raise self.t.refuse("view", "of another item size, of an array that is written")
        self._stand_ins.add(copy)
        self._viewed.add(storage)

    # ------------------------------------------------------------------ events

    def writes(self, storage: Storage) -> None:
        """Memory is written."""
        if self._gaps and storage.param < 0:
            self._compact(storage)
        self._written.add(storage)
        if self._stand_ins and (self._of(self._stand_ins, storage) or storage in self._viewed):
            raise self.t.refuse("view", "of another item size, where either is written")
        if self._copied and self._of(self._copied, storage):
            raise self.t.refuse("assignment", "to an array that a list holds, too")

    def compares(self) -> None:
        """Arrays are compared by identity."""
        self._compared = True
        self._check("is")

    def escapes(self, storage: Storage, copied: bool) -> None:
        """Python gets an array, or a copy of it to go on with."""
        if copied and self._gaps and storage.param < 0:
            self._compact(storage)
        if self._stand_ins and self._of(self._stand_ins, storage):
            raise self.t.refuse("view", "of another item size, which Python gets")
        self._escaped.add(storage)
        self._check("return")

    def list_escapes(self) -> None:
        """Python gets a list of arrays or lists."""
        self._lists_escaped = True
        self._check("return")

    def row_escapes(self, obj: HeapObject) -> None:
        """Python gets a list that stands for one in another list."""
        self._rows_escaped.add(obj)
        self._check("return")

    @contextmanager
    def unless_interrupted(self) -> Iterator[None]:
        """Forgets what escapes here: Python gets it only if a loop is interrupted."""
        before = set(self._escaped), self._lists_escaped, set(self._rows_escaped)
        try:
            yield
        finally:
            self._escaped, self._lists_escaped, self._rows_escaped = before

    # ------------------------------------------------------------------ the rule

    def renamed(self, storage: Storage) -> bool:
        """Whether memory may be other memory that was made before it."""
        return storage.param < 0 and storage not in self._known

    def _of(self, memory: set[Storage], storage: Storage) -> bool:
        """Whether a storage may be one of some memory, of which there is some."""
        return storage in memory or self.renamed(storage)

    def _listed_twice(self) -> bool:
        """Whether lists may have got memory by two of its names."""
        return any(self._may_be_listed(storage) for storage in filter(self.renamed, self._listed))

    def _may_be_listed(self, storage: Storage) -> bool:
        """Whether an older name of renamed memory is one that lists have got."""
        seen, work = set[Storage](), [storage]
        while work:
            name = work.pop()
            older = self._older.get(name)
            if older is None and self.renamed(name):
                return True  # it may be anything
            found = (older or set()) - seen
            if not found.isdisjoint(self._listed):
                return True
            seen |= found
            work += found
        return False

    def _check(self, construct: str) -> None:
        """Applies the rule to all events so far."""
        rows, lists, copied = self._rows_escaped, self._lists_escaped, self._copied
        if len(rows) > 1 or (rows and lists):
            raise self.t.refuse(construct, "of what may be a list in a list")
        if lists and self._twice:
            raise self.t.refuse(construct, "of lists that hold the same arrays or lists")
        if copied and (
            self._compared or any(map(self.renamed, self._written))
            or (lists and (self._apart or any(self._of(copied, s) for s in self._escaped)))
        ):
            raise self.t.refuse(construct, "of an array that a list holds beside a variable")

    def _compact(self, storage: Storage) -> None:
        """Refuses a library's array with gaps between its elements: its copy in a list has none."""
        kind = storage.type
        if not layout.is_packed(self.t.facts, kind.shape, kind.strides):
            raise self.t.refuse("array", "of a library's, with room between its elements")
