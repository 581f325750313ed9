"""The frame: one block of 8-byte slots through which the entry, the body and kernels talk.

::

    slot          holds
    data(b)       address of element (0, ..., 0) of an array buffer
    object(b)     PyObject* of a parameter or result array (0 until there is one); temporaries have
                  none
    number(b)     the bits of a scalar buffer, low-order first; complex128 takes two slots
    symbol(s)     the value of a size symbol

``define i64 @body(ptr %frame)`` runs a program's statements on a filled frame and returns a
:data:`DONE`, :data:`RAISED`, :data:`SHORT` or the number (>= 0) of the check that failed.
"""

from __future__ import annotations

from npcompile.core.sizes import Symbol, symbols
from npcompile.program.ir import (
    Bind,
    Buffer,
    For,
    If,
    Program,
    SideExit,
    Statement,
    While,
)

DONE = -1  #: every statement ran
RAISED = -2  #: a Python exception is set (a host call's)
SHORT = -7  #: memory has run out; no exception is set


class FrameLayout:
    """Slot numbers of a program.

    ``temporaries``: the first slot of their addresses and how many there are; ``cleared``: the same
    of all slots that must be 0 at first.
    """

    def __init__(self, program: Program) -> None:
        self._slots: dict[tuple[str, object], int] = {}
        self.size = 0
        for buffer in program.params:
            self._buffer(buffer)
        first = self.size
        for kinds in (("result", "owned", "object"), ("temp",), ("scalar",)):
            start = self.size
            for buffer in program.buffers:
                if buffer.kind in kinds:
                    self._buffer(buffer)
            if kinds == ("temp",):
                self.temporaries = (start, self.size - start)
                self.cleared = (first, self.size - first)
        for buffer in program.params:
            for size in (*buffer.shape, *buffer.strides):
                for name in symbols(size):
                    self._take("symbol", name)
        for name in program.int_symbols.values():
            self._take("symbol", name)
        self._block(program.body)

    def _take(self, what: str, key: object, count: int = 1) -> None:
        if (what, key) not in self._slots:
            self._slots[what, key] = self.size
            self.size += count

    def _buffer(self, buffer: Buffer) -> None:
        if buffer.kind == "scalar":
            self._take("number", buffer, 2)
        else:
            self._take("data", buffer)
            if buffer.kind != "temp":
                self._take("object", buffer)

    def _block(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            if isinstance(statement, (Bind, For)):
                self._take("symbol", statement.symbol)
            if isinstance(statement, (For, While)):
                if statement.edge is not None:
                    self._block(statement.edge.leaving)
                self._block(statement.body)
            elif isinstance(statement, If):
                self._block(statement.then)
                self._block(statement.orelse)
            elif isinstance(statement, SideExit):
                self._block(statement.leaving)

    def data(self, buffer: Buffer) -> int:
        return self._slots["data", buffer]

    def object(self, buffer: Buffer) -> int:
        return self._slots["object", buffer]

    def number(self, buffer: Buffer) -> int:
        return self._slots["number", buffer]

    def symbol(self, name: Symbol) -> int:
        return self._slots["symbol", name]

    def __contains__(self, name: Symbol) -> bool:
        """Whether a symbol has a slot."""
        return ("symbol", name) in self._slots
