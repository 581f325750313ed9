"""Lines of the user's code, which messages and comments speak of."""

from __future__ import annotations

import os.path


class SourceLine(int):
    """A line number that knows its file: compiled code has lines of functions in other files too.

    >>> SourceLine(3, "/home/me/model.py") + 1, SourceLine(3, "/home/me/model.py").file
    (4, '/home/me/model.py')
    """

    file: str

    def __new__(cls, number: int, file: str) -> SourceLine:
        made = super().__new__(cls, number)
        made.file = file
        return made

    def __reduce__(self) -> tuple[type[SourceLine], tuple[int, str]]:
        return SourceLine, (int(self), self.file)


def file_of(line: int) -> str:
    """The file that a line is in; empty if that is not known."""
    return line.file if isinstance(line, SourceLine) else ""


def in_words(line: int, here: str = "") -> str:
    """A line in words; other files than ``here`` are named, if that is given.

    >>> in_words(SourceLine(3, "/home/me/model.py"), "/home/me/main.py")
    'line 3 of model.py'
    >>> in_words(SourceLine(3, "/home/me/main.py"), "/home/me/main.py")
    'line 3'
    """
    file = file_of(line)
    if not here or file in ("", here):
        return f"line {line}"
    return f"line {line} of {os.path.basename(file)}"
