"""Refusals are values: what can't be done, where, why, and what would help."""

from __future__ import annotations

import os.path

from npcompile.core.lines import file_of, in_words
from npcompile.core.records import record, replace

#: libraries whose objects Python works with, and what to do about it
_ADVICE = {
    "pandas": "pass columns as arrays: `series.to_numpy()`",
    "polars": "pass columns as arrays: `series.to_numpy()`",
    "xarray": "pass the array: `x.values`",
    "tqdm": "put the loop's body into a compiled function",
}
#: why a trace ends that has followed too many blocks
TOO_LONG = "is too long to follow"


@record
class Refusal:
    """Why a construct is not compiled (or a fusion not made).

    ``construct`` names the thing in the user's terms, ``line`` is the user's line (0: unknown).
    ``general``: other values of the same kind would not be compiled either.
    ``finalizer``: an object has one, which must run when Python drops the object.
    ``provisional``: it holds until Python has executed the construct once.
    """

    construct: str
    reason: str
    line: int = 0
    hint: str = ""
    general: bool = False
    finalizer: bool = False
    provisional: bool = False

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        advice = f" ({self.hint})" if self.hint else ""
        return f"{place}{self.construct}: {self.reason}{advice}"

    def called_at(self, line: int) -> Refusal:
        """The same, told for the line of the call that leads to it."""
        here, library = file_of(line), library_of(file_of(self.line))
        if library:
            why, hint = "Python runs this library's code", advice(library)
            return replace(self, construct=library, reason=why, line=line, hint=hint)
        if (self.line, file_of(self.line)) == (line, here):
            return self
        return replace(self, reason=f"{self.reason} ({in_words(self.line, here)})", line=line)


def library_of(file: str) -> str:
    """The name of the library that a file belongs to, or an empty string."""
    parts = os.path.normpath(file).split(os.sep)
    return next((name for name in _ADVICE if name in parts[:-1]), "")


def advice(library: str) -> str:
    """The hint for objects of a library, or an empty string."""
    return _ADVICE.get(library, "")


class Refused(Exception):
    """Carries a :class:`Refusal` from where it is noticed to where Python takes over.

    ``place`` is the offset of the instruction of the outermost function that can't be followed
    (-1: it is none of them alone).
    """

    def __init__(self, refusal: Refusal, place: int = -1) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal
        self.place = place

    def called_at(self, line: int) -> None:
        """Adds the line of a call to the refusal."""
        self.refusal = self.refusal.called_at(line)

    def stands_at(self, place: int) -> None:
        """Attributes the refusal to an instruction, unless it has one."""
        if self.place < 0:
            self.place = place

    def again(self) -> Refused:
        """The same without a traceback, whose frames would keep the program's objects alive."""
        return Refused(self.refusal, self.place)


def refuse(construct: str, reason: str, line: int = 0, hint: str = "") -> Refused:
    """``raise refuse(...)``: shorthand for a :class:`Refused`."""
    return Refused(Refusal(construct, reason, line, hint=hint))


class CompileError(Exception):
    """``fullgraph=True`` and the function can't be compiled whole."""


class DeterminismError(RuntimeError):
    """A deterministic mode is on and an operator can't promise it."""


class CheckError(AssertionError):
    """``check=True`` and the compiled result differs from Python's."""


class VerifyError(AssertionError):
    """A graph or a kernel program is ill formed: a bug of this library."""
