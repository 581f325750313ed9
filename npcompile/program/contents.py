"""Whether a program reads contents of arrays twice and relies on both readings being the same.

While a body runs without the GIL, another thread may write to arrays that the caller knows.  Other
numbers are then computed, which is what such a program asks for; but an index that has been checked
may be another one where it is used, and an array that was made for as many elements as one pass has
counted may be too short for those that the next pass finds.  So a body keeps the GIL if

* a value that is computed from an element of such an array is an index, becomes a size, or says
  which elements are packed;
* a check looks at such a value, and arrays are touched under a condition that such values decide:
  the check may have passed because the condition did not hold then.

Numbers that are counted under such a condition are in registers, where nobody else writes: their
check and their use see the same number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from npcompile.program.ir import (
    Apply,
    Bind,
    Buffer,
    Call,
    Edge,
    For,
    If,
    Kernel,
    Load,
    Program,
    RoutineCall,
    SideExit,
    Statement,
    While,
    flat,
)


def relied_on(program: Program) -> bool:
    """Whether the program relies on the contents of arrays that other threads may write."""
    return _Contents(program).relied_on()


class _Contents:
    """``read`` are the buffers whose elements are computed from elements of argument arrays;
    ``decided`` adds the buffers whose sizes, places or conditions depend on such elements."""

    def __init__(self, program: Program) -> None:
        self.body = program.body
        every = list(flat(program.body))
        handed = {v.buffer for s in every if isinstance(s, Call) for v in s.inputs}
        self.known = {b for b in program.buffers if b.kind in ("param", "owned") or b in handed}
        self.known |= {b for b in program.params if b.kind not in ("scalar", "object")}
        self.read: set[Buffer] = set()
        self.decided: set[Buffer] = set()
        self.found = self.checked = self.conditional = False

    def relied_on(self) -> bool:
        before = -1
        while before != len(self.read) + len(self.decided):  # loops carry what they compute
            before = len(self.read) + len(self.decided)
            self._block(self.body, False)
        return self.found or (self.checked and self.conditional)

    def _block(self, body: Iterable[Statement], under: bool) -> None:
        """``under``: a condition that such contents decide."""
        for statement in body:
            match statement:
                case Kernel():
                    self._kernel(statement, under)
                case Bind(buffer=buffer):
                    self.found |= buffer in self.read
                case SideExit():
                    self.checked |= statement.buffer in self.read
                    self._block(statement.leaving, under)
                case RoutineCall() | Call():
                    inputs = [view.buffer for view in statement.inputs]
                    self._computed(statement.outputs, *self._of(inputs), under)
                    self.conditional |= under
                case For():
                    self._edge(statement.edge, under)
                    self._block(statement.body, under)
                case While():
                    self._edge(statement.edge, under)
                    self._block(statement.body, under or statement.again in self.decided)
                case If():
                    under_this = under or statement.condition in self.decided
                    self._block((*statement.then, *statement.orelse), under_this)

    def _edge(self, edge: Edge | None, under: bool) -> None:
        if edge is not None:
            self._block(edge.leaving, under)

    def _of(self, buffers: Sequence[Buffer]) -> tuple[bool, bool]:
        """Whether values loaded from buffers are such contents, or are decided by them."""
        read = any(b in self.known or b in self.read for b in buffers)
        return read, read or any(b in self.decided for b in buffers)

    def _computed(self, buffers: Sequence[Buffer], read: bool, decided: bool, under: bool) -> None:
        if read:
            self.read.update(buffers)
        if decided or under:
            self.decided.update(buffers)

    def _kernel(self, kernel: Kernel, under: bool) -> None:
        values: list[tuple[bool, bool]] = []
        for value in kernel.values:
            if isinstance(value, Load):
                values.append(self._of([value.buffer]))
                self.found |= value.by is not None and values[value.by][0]
            elif isinstance(value, Apply):
                args = [values[k] for k in value.args]
                chosen = args[1:] if value.op == "where" else args
                values.append((any(r for r, _ in chosen), any(d for _, d in args)))
            else:
                values.append((False, False))
        for store in kernel.stores:
            masked = values[store.mask] if store.mask is not None else (False, False)
            read, decided = values[store.value]
            self._computed([store.buffer], read, decided, under or masked[1])
            self.found |= store.by is not None and values[store.by][0]
            self.found |= store.packed and masked[1]
            self.conditional |= masked[1]
        for reduce in kernel.reductions:
            self._computed([reduce.buffer], *values[reduce.value], under)
        loaded = [v.buffer for v in kernel.values if isinstance(v, Load)]
        self.conditional |= under and any(b.kind != "scalar" for b in loaded + kernel.written)
