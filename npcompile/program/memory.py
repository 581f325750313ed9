"""How much memory the arrays of a program take at most, and how much a kernel moves."""

from __future__ import annotations

from collections.abc import Sequence

from npcompile.core.sizes import Size, Symbol, Unhinted, evaluate, floordiv, product
from npcompile.program.ir import (
    Alloc,
    Bind,
    Buffer,
    Call,
    For,
    Free,
    If,
    Kernel,
    Load,
    Program,
    SizeValue,
    Statement,
    Store,
    While,
)


def peak(program: Program, threads: int = 1) -> int:
    """Most bytes that results and temporaries take at once, for the sizes of the call that the
    program was made for; each thread has what a parallel loop allocates.

    Raises
    ------
    Unhinted
        A size is known to the run only.
    """
    found = _Peak(threads)
    found.block(program.body)
    return found.most


def moved(kernel: Kernel) -> int:
    """Bytes between memory and registers for each point of a kernel's space: each array that
    varies over it counts once, read and written, neighbours being in the cache."""
    loads = {v.buffer: v.dtype for v in kernel.values if isinstance(v, Load) and _varies(v)}
    stores = {s.buffer: s.buffer.dtype for s in kernel.stores if _varies(s)}
    return sum(dtype.itemsize for each in (loads, stores) for dtype in each.values())


def _varies(place: Load | Store) -> bool:
    return place.by is not None or any(c != 0 for c in place.at.coefficients)


class _Peak:
    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.now = self.most = 0
        self.sizes: dict[Buffer, int] = {}
        self.numbers: dict[Buffer, Size] = {}
        self.symbols: dict[Symbol, int] = {}

    def block(self, body: Sequence[Statement], copies: int = 1) -> None:
        for statement in body:
            self._statement(statement, copies)

    def _statement(self, statement: Statement, copies: int) -> None:
        match statement:
            case Alloc(buffer):
                self._made(buffer, copies)
            case Call(outputs=outputs):
                for buffer in outputs:
                    if buffer.kind == "owned":
                        self._made(buffer, copies)
            case Free(buffer):
                self.now -= self.sizes.pop(buffer, 0)
            case Kernel(axes=(), values=values, stores=stores):
                for store in stores:
                    value = values[store.value]
                    if isinstance(value, SizeValue):
                        self.numbers[store.buffer] = value.size
            case Bind(symbol, buffer):
                if buffer in self.numbers:
                    self.symbols[symbol] = evaluate(self.numbers[buffer], self._value)
            case For():
                self.symbols[statement.symbol] = evaluate(statement.start, self._value)
                self.block(
                    statement.body, self._iterations(statement) if statement.parallel else copies
                )
            case While():
                self.block(statement.body, copies)
            case If():
                before, sizes = self.now, dict(self.sizes)
                self.block(statement.then, copies)
                after, self.now, self.sizes = self.now, before, sizes
                self.block(statement.orelse, copies)
                self.now = max(after, self.now)

    def _made(self, buffer: Buffer, copies: int) -> None:
        count = evaluate(product(buffer.shape), self._value)
        self.now -= self.sizes.get(buffer, 0)  # made anew in each iteration of a loop
        self.sizes[buffer] = copies * count * buffer.dtype.itemsize
        self.now += self.sizes[buffer]
        self.most = max(self.most, self.now)

    def _iterations(self, loop: For) -> int:
        """How many iterations of a parallel loop run side by side at most."""
        try:
            count = evaluate(floordiv(loop.stop - loop.start + loop.step - 1, loop.step),
                             self._value)
        except Unhinted:  # the run will know, and has no more threads
            return self.threads
        return min(self.threads, max(count, 1))

    def _value(self, name: Symbol) -> int:
        value = self.symbols.get(name, name.hint)
        if value is None:
            raise Unhinted(name)
        return value
