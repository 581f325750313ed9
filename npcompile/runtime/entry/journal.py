"""Keeps the contents that written arguments had when a call began, so that it can be run again.

Floating-point flags do not tell which of several operations raised them: only Python, running the
function from its start, warns at the very lines.  After a write that needs what was there before.
Copying it costs less than a microsecond as long as it is small; see
docs/decisions/0002-floating-point-flags.md for what happens where it is not.
"""

from __future__ import annotations

from npcompile.runtime.entry.function_writer import Writer

#: bytes of all written arguments together that a call keeps
LIMIT = 16384


class Journal:
    """Writes the machine code that keeps memory and puts it back."""

    room = f"%journal = alloca [{LIMIT} x i8], align 64"

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.kept = "false"  # whether there is a copy, an i1
        self._parts: list[tuple[str, str, str]] = []  # place in the copy, address, bytes

    def save(self, extents: list[tuple[str, str]]) -> None:
        """Copies arrays, of which each extent gives the first address and the one after the last
        as integers, if they are small enough."""
        w, at = self.writer, "0"
        for low, high in extents:
            size = w.add("sub", "i64", high, low)
            place = w.let(f"getelementptr i8, ptr %journal, i64 {at}")
            self._parts.append((place, w.let(f"inttoptr i64 {low} to ptr"), size))
            at = w.add("add", "i64", at, size)
        self.kept = w.add("icmp ule", "i64", at, LIMIT)
        small, after = w.name("L"), w.name("L")
        w.branch(self.kept, small, after)
        w.label(small)
        for place, address, size in self._parts:
            self._copy(place, address, size)
        w.goto(after)
        w.label(after)

    def restore(self) -> None:
        """Makes the arrays what they were; only where ``kept``."""
        for place, address, size in self._parts:
            self._copy(address, place, size)

    def _copy(self, to: str, source: str, size: str) -> None:
        arguments = (("ptr", to), ("ptr", source), ("i64", size), ("i1", "false"))
        self.writer.call("void", "llvm.memcpy.p0.p0.i64", *arguments)
