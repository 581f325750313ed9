"""Arrays that a list of unknown length holds beside a variable: ``path.append(y)``.

Such a list holds copies, in columns.  A copy is as good as the array itself so long as nobody
writes to the array, asks whether two arrays are one object, or hands both to Python.  All that is
refused, in whatever order it comes: in a loop, what is traced later may run earlier.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.graph.types import c_strides
from npcompile.ops.operands import ArrayRef, Cell
from npcompile.tracing.references import unshared

if TYPE_CHECKING:
    from npcompile.tracing.tracer import Tracer


class Lending:
    """What one trace has lent, and what it did that forbids lending."""

    def __init__(self, t: Tracer) -> None:
        self.t = t
        self.cells: set[Cell] = set()  # memory that a list has a copy of
        self.fresh: set[Cell] = set()  # made by an operator, and not renamed by a loop or branch
        self.views = False  # whether a list has copies of views or of arguments
        self.renamed = False  # whether memory was written that a loop or branch renamed
        self.handed = False  # whether such memory was handed to Python
        self.lists = False  # whether a list of arrays was handed to Python
        self.compared = False  # whether arrays were compared by identity

    def copied(self, ref: ArrayRef) -> None:
        """A list gets a copy of an array, which others may still see."""
        plain = ref.cell.param < 0 and ref.strides == c_strides(ref.shape)
        if plain and unshared(self.t, ref):
            return
        self.cells.add(ref.cell)
        self.views |= not plain or not self.t.trees.owns(ref)
        self._consistent("list")

    def writes(self, cell: Cell) -> None:
        """Memory is written."""
        renamed = self._renamed(cell)
        self.renamed |= renamed
        if self.cells and (renamed or cell in self.cells):
            raise self.t.refuse("assignment", "to an array that a list holds, too")

    def hands(self, cell: Cell) -> None:
        """Python gets an array."""
        self.handed |= cell in self.cells or self._renamed(cell)
        self._consistent("return")

    def hands_list(self) -> None:
        """Python gets a list of arrays."""
        self.lists = True
        self._consistent("return")

    def compares(self) -> None:
        """Arrays are compared by identity."""
        self.compared = True
        self._consistent("is")

    def _renamed(self, cell: Cell) -> bool:
        return cell.param < 0 and cell not in self.fresh

    def _consistent(self, construct: str) -> None:
        both = self.lists and (self.handed or self.views)
        if self.cells and (self.renamed or self.compared or both):
            raise self.t.refuse(construct, "of an array that a list holds beside a variable")
