"""The numbers that algorithms on small matrices compute with: one of each matrix, side by side.

An algorithm is written once, over scalars.  What runs it (:class:`LaneBuilder`) works on several
matrices at once, one in each lane, and no operation joins lanes: a matrix's result is the same
whatever lies beside it, and however many lanes there are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from npcompile.core.records import record

#: an index: a number, or what a loop that runs counts with
Index = Any


@record(eq=False)
class LaneMask:
    """A condition in each lane."""

    lanes: LaneBuilder
    value: Any

    def __or__(self, other: LaneMask) -> LaneMask:
        return LaneMask(self.lanes, self.lanes.emit("or", self.value, other.value))

    def __and__(self, other: LaneMask) -> LaneMask:
        return LaneMask(self.lanes, self.lanes.emit("and", self.value, other.value))

    def __invert__(self) -> LaneMask:
        return LaneMask(self.lanes, self.lanes.emit("not", self.value))

    def where(self, one: LaneNumber, other: LaneNumber) -> LaneNumber:
        """``one`` in the lanes where the condition holds, ``other`` elsewhere."""
        return LaneNumber(self.lanes, self.lanes.emit("select", self.value, one.value, other.value))


@record(eq=False)
class LaneNumber:
    """A float64 in each lane."""

    lanes: LaneBuilder
    value: Any

    def _number(self, op: str, *others: LaneNumber) -> LaneNumber:
        return LaneNumber(self.lanes, self.lanes.emit(op, self.value, *[x.value for x in others]))

    def _mask(self, how: str, other: LaneNumber) -> LaneMask:
        return LaneMask(self.lanes, self.lanes.emit(f"fcmp {how}", self.value, other.value))

    def __add__(self, other: LaneNumber) -> LaneNumber:
        return self._number("fadd", other)

    def __sub__(self, other: LaneNumber) -> LaneNumber:
        return self._number("fsub", other)

    def __mul__(self, other: LaneNumber) -> LaneNumber:
        return self._number("fmul", other)

    def __truediv__(self, other: LaneNumber) -> LaneNumber:
        return self._number("fdiv", other)

    def __neg__(self) -> LaneNumber:
        return self._number("fneg")

    def __abs__(self) -> LaneNumber:
        return self._number("fabs")

    def __gt__(self, other: LaneNumber) -> LaneMask:
        return self._mask("ogt", other)

    def __lt__(self, other: LaneNumber) -> LaneMask:
        return self._mask("olt", other)

    def sqrt(self) -> LaneNumber:
        return self._number("sqrt")

    def log(self) -> LaneNumber:
        return self._number("log")

    def plus(self, a: LaneNumber, b: LaneNumber) -> LaneNumber:
        """``self + a * b``, rounded once."""
        return a._number("fma", b, self)

    def minus(self, a: LaneNumber, b: LaneNumber) -> LaneNumber:
        """``self - a * b``, rounded once."""
        return (-a)._number("fma", b, self)

    def larger(self, other: LaneNumber) -> LaneNumber:
        """The larger of two; this one if the other is a NaN."""
        return (other > self).where(other, self)

    def power(self) -> LaneNumber:
        """The power of two that its size is at least, if neither 0 nor infinite."""
        return self._number("power")

    def within(self, least: float, most: float) -> LaneMask:
        """Whether the number is between two bounds; a NaN is not."""
        return (self > self.lanes.constant(least)) & (self < self.lanes.constant(most))

    def equals(self, other: LaneNumber) -> LaneMask:
        """Whether it is equal; a NaN is not."""
        return self._mask("oeq", other)

    def signed(self, other: LaneNumber) -> LaneNumber:
        """Its size with the sign of another number."""
        return self._number("copysign", other)


class MatrixAccess(ABC):
    """An operand or a result: ``matrix[i, j]``."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns

    @abstractmethod
    def __getitem__(self, at: tuple[Index, Index]) -> LaneNumber: ...

    @abstractmethod
    def __setitem__(self, at: tuple[Index, Index], value: LaneNumber) -> None: ...


class LaneBuilder(ABC):
    """What runs an algorithm."""

    @abstractmethod
    def emit(self, op: str, *values: Any) -> Any:
        """An operation on values of all lanes; ``op`` is LLVM's name of it."""

    @abstractmethod
    def constant(self, number: float) -> LaneNumber:
        """The same number in all lanes."""

    @abstractmethod
    def unit(self, i: Index, j: Index) -> LaneNumber:
        """1 if two indices are equal, else 0."""

    @abstractmethod
    def fail(self, where: LaneMask) -> None:
        """Says that the result of some lanes is not to be used."""

    @abstractmethod
    def each(self, count: int, body: Callable[[Index], None]) -> None:
        """Calls ``body`` with the indices from 0 to ``count`` - 1."""

    @abstractmethod
    def settle(self, state: Sequence[LaneNumber], most: int, iteration: Iteration
               ) -> list[LaneNumber]:
        """Repeats an iteration, which returns the next state and the lanes that need another one.
        A lane that needs none keeps its numbers; one that needs more than ``most`` has failed."""

    def require(self, holds: LaneMask) -> None:
        """Says that lanes where a condition does not hold have failed."""
        self.fail(~holds)


#: of a loop: from a state to the next one, and where it is not the last one
Iteration = Callable[[list[LaneNumber]], tuple[list[LaneNumber], LaneMask]]
