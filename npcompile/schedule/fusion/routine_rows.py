"""Routines that do the same for each row of an array, on blocks of rows: what the loop over blocks
asks of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from npcompile.core.facts import Facts
from npcompile.core.records import record
from npcompile.core.sizes import Size
from npcompile.program.ir import Buffer, Exit, Kernel, RoutineCall, SideExit, Statement


@record
class RoutineTouch:
    """One access of a routine as rows: ``first`` of row 0, ``count`` elements, each ``apart``, and
    ``step`` from row to row; ``None``: any of the buffer's elements."""

    buffer: Buffer
    writes: bool
    step: Size = 0
    first: Size | None = None
    count: Size = 1
    apart: Size = 1


class RoutineByRows(ABC):
    """A routine that does the same for each of ``rows`` rows.

    ``checked``: what it finds before the loop may fail.  ``heavy``: blocks should be large, as it
    reads much for each; they have ``deep`` rows at least.  ``alone``: it is worth while without
    neighbours.
    """

    checked: ClassVar[bool] = False
    heavy: ClassVar[bool] = False
    alone: ClassVar[bool] = False
    deep: ClassVar[int] = 0

    def __init__(self, call: RoutineCall, rows: Size) -> None:
        self.call, self.rows = call, rows

    @property
    def summed(self) -> Buffer | None:
        """The result, if it is a sum over rows."""
        return None

    def pays(self, facts: Facts) -> bool:
        """Whether it is worth while, for the sizes at hand."""
        return True

    @abstractmethod
    def touches(self) -> list[RoutineTouch]:
        """What a row touches."""

    def prepared(self, name: str) -> Buffer | None:
        """The buffer of what it finds before the loop, if it needs something."""
        return None

    def before(self, found: Buffer | None, check: SideExit | None) -> list[Statement]:
        """Finds it."""
        return []

    @abstractmethod
    def on_rows(self, found: Buffer | None, start: Size, count: Size, private: dict[Buffer, Buffer]
                ) -> RoutineCall:
        """The routine on ``count`` rows from ``start`` on."""


class SumByBands(RoutineByRows):
    """A routine that adds something of each row; ``band`` rows have sums of their own."""

    @property
    def summed(self) -> Buffer:
        return self.call.outputs[0]

    @property
    @abstractmethod
    def band(self) -> Size:
        """Rows of a band at least."""

    @abstractmethod
    def cleared(self, found: Buffer, band: Size) -> Kernel:
        """Begins the sums of a band."""

    @abstractmethod
    def on_band(self, found: Buffer, band: Size, start: Size, count: Size,
                private: dict[Buffer, Buffer]) -> RoutineCall:
        """The routine on ``count`` rows of a band from ``start`` on."""

    @abstractmethod
    def after(self, found: Buffer) -> list[Statement]:
        """Adds the sums of all bands."""

    def on_rows(self, found: Buffer | None, start: Size, count: Size, private: dict[Buffer, Buffer]
                ) -> RoutineCall:
        raise NotImplementedError("rows have no result of their own")


def check_of(
    call: RoutineCall, behind: Sequence[Statement], exits: Sequence[Exit]
) -> SideExit | None:
    """The check that follows a routine, if everything is run again where it fails."""
    for check in behind:
        if isinstance(check, SideExit) and check.buffer is call.outputs[1]:
            whole = check.number < len(exits) and not exits[check.number].frames
            return check if whole and not check.leaving else None
    return None
