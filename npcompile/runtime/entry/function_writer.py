"""Writes the LLVM text of one machine-code function, line by line."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager


class Writer:
    """Lines of a function, fresh names, and the outside names that it uses.

    >>> w = Writer()
    >>> w.add("add", "i64", "%a", 1)
    '%v0'
    >>> w.lines
    ['  %v0 = add i64 %a, 1']
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.outside: dict[str, str] = {}  # name -> its declaration
        self._count = 0

    def name(self, prefix: str = "v") -> str:
        self._count += 1
        return f"{prefix}{self._count - 1}"

    def do(self, text: str) -> None:
        self.lines.append("  " + text)

    def let(self, text: str) -> str:
        """``%fresh = text``."""
        value = "%" + self.name()
        self.do(f"{value} = {text}")
        return value

    def add(self, op: str, type_: str, left: str | int, right: str | int) -> str:
        """A binary instruction or, with ``icmp ...``, a comparison."""
        return self.let(f"{op} {type_} {left}, {right}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def goto(self, label: str) -> None:
        self.do(f"br label %{label}")

    def branch(self, condition: str, yes: str, no: str, likely: bool = True) -> None:
        weights = "!900" if likely else "!901"
        self.do(f"br i1 {condition}, label %{yes}, label %{no}, !prof {weights}")

    def any(self, conditions: list[str]) -> str:
        """Whether one of several i1 values is true."""
        found = conditions[0] if conditions else "false"
        for condition in conditions[1:]:
            found = self.add("or", "i1", found, condition)
        return found

    def refuse(self, conditions: list[str], otherwise: str) -> None:
        """Goes on where no condition holds, else to a label: one branch, for blocks are what
        compiling costs."""
        if conditions:
            on = self.name("L")
            self.branch(self.any(conditions), otherwise, on, likely=False)
            self.label(on)

    def require(self, condition: str, otherwise: str) -> None:
        """Goes on where the condition holds, else to a label."""
        on = self.name("L")
        self.branch(condition, on, otherwise)
        self.label(on)

    @contextmanager
    def unlikely(self, condition: str) -> Iterator[None]:
        """A block that runs where the condition holds, then joins."""
        inside, after = self.name("L"), self.name("L")
        self.branch(condition, inside, after, likely=False)
        self.label(inside)
        yield
        self.goto(after)
        self.label(after)

    # ---------------------------------------------------------- memory and calls

    def at(self, base: str, offset: int) -> str:
        """The address ``offset`` bytes after ``base``."""
        return self.let(f"getelementptr i8, ptr {base}, i64 {offset}") if offset else base

    def load(self, type_: str, base: str, offset: int = 0) -> str:
        return self.let(f"load {type_}, ptr {self.at(base, offset)}")

    def store(self, type_: str, value: str | int, base: str, offset: int = 0) -> None:
        self.do(f"store {type_} {value}, ptr {self.at(base, offset)}")

    def data(self, name: str) -> str:
        """The address of an outside object."""
        self.outside[name] = f"@{quoted(name)} = external global i8"
        return f"@{quoted(name)}"

    def call(self, result: str, name: str, *args: tuple[str, str | int], suffix: str = "") -> str:
        """Calls an outside function; arguments are (type, value)."""
        self.outside[name] = declaration(result, name, *(t for t, _ in args))
        text = f"call {result} @{quoted(name)}({', '.join(f'{t} {v}' for t, v in args)}){suffix}"
        if result != "void":
            return self.let(text)
        self.do(text)
        return ""


def quoted(name: str) -> str:
    return name if name.replace(".", "").replace("_", "").isalnum() else f'"{name}"'


def declaration(result: str, name: str, *types: str) -> str:
    return f"declare {result} @{quoted(name)}({', '.join(types)})"


#: branch weights for ``likely`` and ``unlikely``
METADATA = """!900 = !{!"branch_weights", i32 2000, i32 1}
!901 = !{!"branch_weights", i32 1, i32 2000}
"""


def combine(*texts: str) -> str:
    """One module from several texts: each outside name is declared once."""
    seen: set[str] = set()
    lines: list[str] = []
    for text in texts:
        *functions, rest = f"{text}\n".split("\n}\n")
        for piece in functions:
            before, define, function = f"\n{piece}".rpartition("\ndefine ")
            lines += _unseen(before.split("\n"), seen)
            lines += (f"{define[1:]}{function}", "}")
        lines += _unseen(rest.split("\n"), seen)
    return "\n".join(lines)


_HEAD = re.compile(r"^(define [^@]*@([\w.]+)\([^)]*\)[^{]*)\{$", re.MULTILINE)


def hasty(text: str, but: Collection[str] = ()) -> str:
    """A module whose functions are compiled in haste, which takes a sixth of the time; ``but``
    names functions that most calls run.

    >>> hasty("define void @f(i64 %n) {\\n  ret void\\n}")
    'define void @f(i64 %n) optnone noinline {\\n  ret void\\n}'
    """
    def head(found: re.Match[str]) -> str:
        if found[2] in but:
            return found[0]
        return f"{' '.join(found[1].split()).removesuffix(' noinline')} optnone noinline {{"

    return _HEAD.sub(head, text)


def _unseen(lines: list[str], seen: set[str]) -> Iterator[str]:
    """Lines but those that declare a name again."""
    for line in lines:
        if line.startswith(("declare ", "@")) and (line[0] == "d" or " = external global " in line):
            name = line[line.index("@") :].split("(")[0].split(" ")[0]
            if name in seen:
                continue
            seen.add(name)
        if line:
            yield line
