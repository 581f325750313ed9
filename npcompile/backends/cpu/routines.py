"""Statements that call the routines of :mod:`.products`: addresses, strides and loops around."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from npcompile.backends.cpu import access
from npcompile.backends.cpu.scalar import memory
from npcompile.backends.cpu.sizes import Sizes, Slots
from npcompile.backends.cpu.text import Function, Value, i64, literal
from npcompile.core.sizes import Size
from npcompile.graph.routines import ROUTINES, Spec, parse
from npcompile.program.ir import Buffer, Library, View


@dataclass(frozen=True)
class Operand:
    """An array in memory: the address of its first element, and the stride of each index."""

    dtype: np.dtype
    pointer: Value
    strides: dict[str, Value]

    def stride(self, letter: str) -> Value:
        """In elements; 0 for an index that it does not have."""
        return self.strides.get(letter, i64(0))

    def at(self, f: Function, letter: str, index: Value) -> Operand:
        """Where one index has a value."""
        if letter not in self.strides:
            return self
        step = f.binary("mul", index, self.strides[letter])
        pointer = f.offset(self.pointer, access.element_type(self.dtype), step)
        return Operand(self.dtype, pointer, self.strides)


class Routines:
    """Emits :class:`Library` statements; ``used`` are the dtypes whose routines are needed."""

    def __init__(self, slots: Slots) -> None:
        self.f, self.slots = slots.f, slots
        self.used: set[str] = set()

    def emit(self, call: Library) -> None:
        f = self.f
        self.used.add(call.inputs[0].dtype.name)
        quiet = call.routine.quiet or not ROUTINES[call.routine.routine].flags
        if not quiet:
            self.product(call)
            return
        control = f.alloca("i32")
        f.run("llvm.x86.sse.stmxcsr", control)
        self.product(call)
        f.run("llvm.x86.sse.ldmxcsr", control)

    # ------------------------------------------------------------------ operands

    def operand(self, sizes: Sizes, view: View, letters: str) -> Operand:
        """A view whose axes are called by letters."""
        window, unit = view.window, access.element_type(view.buffer.dtype)
        pointer = self.slots.data(view.buffer)
        if not (isinstance(window.offset, int) and window.offset == 0):
            pointer = self.f.offset(pointer, unit, sizes(window.offset))
        strides = dict(zip(letters, map(sizes, window.strides), strict=True))
        return Operand(view.dtype, pointer, strides)

    def target(self, sizes: Sizes, buffer: Buffer, letters: str) -> Operand:
        """Where a result goes: into a buffer, or for a number to the stack."""
        if buffer.kind == "scalar":
            return Operand(buffer.dtype, self.f.alloca(memory(buffer.dtype), 2), {})
        strides = dict(zip(letters, map(sizes, buffer.strides), strict=True))
        return Operand(buffer.dtype, self.slots.data(buffer), strides)

    def deliver(self, buffer: Buffer, room: Value) -> None:
        """A number from the stack."""
        if buffer.kind != "scalar":
            return
        f, elem = self.f, memory(buffer.dtype)
        parts = [f.load(f.offset(room, elem, i64(k)), elem)
                 for k in range(2 if buffer.dtype.kind == "c" else 1)]
        if buffer.dtype.kind == "b":
            parts = [f.icmp("ne", parts[0], literal("i8", 0))]
        self.slots.set_number(buffer, tuple(parts))

    # ------------------------------------------------------------------ products

    def product(self, call: Library) -> None:
        """One product of vectors or matrices, inside loops over all other indices."""
        spec, sizes = parse(call.routine.spec), Sizes(self.slots)
        (left, right), (out,) = call.inputs, call.outputs
        extents: dict[str, Size] = dict(zip(spec.left, left.window.shape))
        extents.update(zip(spec.right, right.window.shape))
        a = self.operand(sizes, left, spec.left)
        b = self.operand(sizes, right, spec.right)
        c = self.target(sizes, out, spec.out)
        if spec.out and spec.out[-1] in spec.rows:  # columns are what lies side by side
            a, b, spec = b, a, Spec(spec.right, spec.left, spec.out)
        column = spec.out[-1:] if c.strides and c.stride(spec.out[-1]).text == "1" else ""
        column = column if column in spec.columns else ""
        row = spec.rows[-1:]
        around = [letter for letter in spec.out if letter not in (row, column)]
        count = {letter: sizes(extent) for letter, extent in extents.items()}
        self._loops(around, count, (a, b, c), row, column, spec.summed)
        self.deliver(out, c.pointer)

    def _loops(self, around: list[str], count: dict[str, Value],
               operands: tuple[Operand, Operand, Operand], row: str, column: str,
               summed: str) -> None:
        if not around:
            self._one(count, *operands, row, column, summed)
            return
        letter, *rest = around
        with self.f.loop(i64(0), count[letter]) as running:
            a, b, c = (x.at(self.f, letter, running.index) for x in operands)
            self._loops(rest, count, (a, b, c), row, column, summed)

    def _one(self, count: dict[str, Value], a: Operand, b: Operand, c: Operand, row: str,
             column: str, summed: str) -> None:
        m, n, k = (count.get(letter, i64(1)) for letter in (row, column, summed))
        name = a.dtype.name
        if not row and not column:
            self.f.run(f"npc.dot.{name}", k, a.pointer, a.stride(summed), b.pointer,
                       b.stride(summed), c.pointer)
            return
        self.f.run(f"npc.gemm.{name}", m, n, k, a.pointer, a.stride(row), a.stride(summed),
                   b.pointer, b.stride(summed), b.stride(column), c.pointer, c.stride(row))
