"""Inner loops of ufuncs: a record's program as a C function that NumPy calls.

::

    void loop(char **args, npy_intp *dimensions, npy_intp *steps, void *data)

Operands that lie next to each other are handed to the compiled body as they are; others go through
buffers of :data:`CHUNK` elements, a chunk at a time.  NumPy's loops go from one element to the
next, and its methods rely on that: ``reduce`` and ``accumulate`` hand a loop a result that is an
operand of the next element.  So where a result may be read later, a chunk is one element.  NumPy
clears and reads the floating-point flags around a loop.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from npcompile import passes
from npcompile.backends import cpu
from npcompile.backends.cpu.llvm.frame import FrameLayout
from npcompile.backends.cpu.llvm.text import LLVMFunction, LLVMModule, Value, i64, literal
from npcompile.core.config import Config
from npcompile.core.sizes import Symbol, symbol, symbols
from npcompile.graph.builder import Builder
from npcompile.graph.ir import Geometry, Graph, Param, StaticObject
from npcompile.graph.types import contiguous
from npcompile.ops.record import Op
from npcompile.program.ir import Buffer, Program
from npcompile.runtime.threads import pool
from npcompile.runtime.versions.native import loaded
from npcompile.schedule import schedule

CHUNK = 512


def graph_of(op: Op, dtypes: tuple[np.dtype, ...]) -> tuple[Graph, Symbol]:
    """``out[:] = op(x0, x1, ...)``, all of one length."""
    b = Builder()
    length = symbol("n", 4096, 0)
    *operands, out = [
        b.emit("param", (), Param(k, f"x{k}"), contiguous(dtype, (length,)))
        for k, dtype in enumerate(dtypes)
    ]
    b.region.begins_with([*operands, out])
    value = b.map(op.name, operands, dtypes[-1])
    final = b.write(out, value, Geometry(0, (length,), (1,)))
    graph = Graph(op.name, b.region, StaticObject(None), b.facts, {len(operands): final}, b.bound)
    return graph, next(iter(symbols(length)))


class UfuncLoop:
    """One loop in machine code; ``address`` is the C function's."""

    def __init__(self, op: Op, dtypes: tuple[np.dtype, ...], config: Config | None = None) -> None:
        config = config or Config()
        graph, length = graph_of(op, dtypes)
        program = schedule(passes.run(graph, config), config)
        frame, target = FrameLayout(program), cpu.target()
        parallel = config.parallel and pool.supported()
        emitted = cpu.emit(program, frame, target, parallel)
        text = emitted.text + _trampoline(program, frame, length)
        self._loaded = loaded(text, emitted.optimise, config, {})
        self.address = self._loaded["loop"]


# ------------------------------------------------------------------ the C function


def _trampoline(program: Program, frame: FrameLayout, length: Symbol) -> str:
    """``@loop``, which calls ``@body`` on a filled frame."""
    return _Trampoline(program, frame, length).text()


class _Trampoline:
    def __init__(self, program: Program, frame: FrameLayout, length: Symbol) -> None:
        names = ("args", "dimensions", "steps", "data")
        self.f = LLVMFunction(
            LLVMModule(), "loop", "void", [("ptr", name) for name in names], False
        )
        self.frame, self.length = frame, length
        self.buffers = sorted(program.params, key=lambda buffer: buffer.index)
        args, dimensions, steps, _ = self.f.params
        self.slots = self.f.alloca("i64", frame.size)
        places = [i64(k) for k in range(len(self.buffers))]
        self.count = self.f.load(dimensions, "i64")
        self.pointers = [self.f.load(self.f.offset(args, "ptr", k), "ptr") for k in places]
        self.steps = [self.f.load(self.f.offset(steps, "i64", k), "i64") for k in places]

    def text(self) -> str:
        f = self.f
        self.set_all(range(self.frame.size), i64(0))
        f.branch(self.direct(), "whole", "apart")
        f.label("whole")
        self.run(self.pointers, self.count)
        f.do("ret void")
        f.label("apart")
        self.by_chunks()
        f.do("ret void")
        return f.text()

    def set_all(self, slots: Iterable[int], value: Value) -> None:
        for slot in slots:
            self.f.store(value, self.f.offset(self.slots, "i64", i64(slot)))

    def direct(self) -> Value:
        """Whether elements lie next to each other, or are alone, and the result apart from the
        operands."""
        f, fits = self.f, literal("i1", True)
        for buffer, step in zip(self.buffers, self.steps):
            fits = f.binary("and", fits, f.icmp("eq", step, i64(buffer.dtype.itemsize)))
        fits = f.binary("or", fits, f.icmp("eq", self.count, i64(1)))
        for k in range(len(self.buffers) - 1):
            fits = f.binary("and", fits, self.apart(k))
        return fits

    def extent(self, k: int) -> tuple[Value, Value]:
        """The first address of an operand's elements, and the one behind them."""
        f, start = self.f, self.address(k)
        last = f.binary("add", start, f.binary(
            "mul", f.binary("sub", self.count, i64(1)), self.steps[k]))
        up = f.icmp("sge", self.steps[k], i64(0))
        end = f.select(up, last, start)
        size = i64(self.buffers[k].dtype.itemsize)
        return f.select(up, start, last), f.binary("add", end, size)

    def address(self, k: int) -> Value:
        return self.f.convert("ptrtoint", self.pointers[k], "i64")

    def apart(self, k: int) -> Value:
        """Whether the result shares no memory with an operand."""
        f, (first, end), (start, stop) = self.f, self.extent(k), self.extent(-1)
        return f.binary("or", f.icmp("ule", end, start), f.icmp("ule", stop, first))

    def behind(self, k: int) -> Value:
        """Whether no result is stored over an element of an operand that a later one needs: both
        move on alike, and results are stored where elements have been read, or in their place."""
        f, step, size = self.f, self.steps[k], i64(self.buffers[k].dtype.itemsize)
        away = f.binary("sub", self.address(k), self.address(-1))
        alike = f.icmp("eq", step, self.steps[-1])
        same = f.binary("and", f.icmp("eq", away, i64(0)), f.icmp("ne", step, i64(0)))
        up = f.binary("and", f.icmp("sgt", step, i64(0)), f.icmp("sge", away, size))
        down = f.binary("sub", i64(0), size)
        down = f.binary("and", f.icmp("slt", step, i64(0)), f.icmp("sle", away, down))
        return f.binary("and", alike, f.binary("or", same, f.binary("or", up, down)))

    def at_once(self) -> Value:
        """How many elements may be read before the first result is stored."""
        f, free = self.f, literal("i1", True)
        for k in range(len(self.buffers) - 1):
            free = f.binary("and", free, f.binary("or", self.apart(k), self.behind(k)))
        return f.select(free, i64(CHUNK), i64(1))

    def run(self, pointers: list[Value], count: Value) -> None:
        for buffer, pointer in zip(self.buffers, pointers):
            self.set_all([self.frame.data(buffer)], pointer)
        self.set_all([self.frame.symbol(self.length)], count)
        self.f.op(f"call i64 @body({self.slots.typed})", "i64")

    def by_chunks(self) -> None:
        f = self.f
        rooms = [f.alloca(_word(buffer), CHUNK) for buffer in self.buffers]
        most = self.at_once()
        with f.loop(i64(0), self.count, most) as chunk:
            left = f.binary("sub", self.count, chunk.index)
            short = f.icmp("slt", left, most)
            count = f.select(short, left, most)
            for k, room in enumerate(rooms[:-1]):
                self.copy(k, room, chunk.index, count, True)
            self.run(rooms, count)
            self.copy(len(rooms) - 1, rooms[-1], chunk.index, count, False)

    def copy(self, k: int, room: Value, first: Value, count: Value, into: bool) -> None:
        f, word, align = self.f, _word(self.buffers[k]), min(8, self.buffers[k].dtype.itemsize)
        with f.loop(i64(0), count) as iteration:
            away = f.binary("mul", f.binary("add", first, iteration.index), self.steps[k])
            far = f.offset(self.pointers[k], "i8", away)
            near = f.offset(room, word, iteration.index)
            source, target = (far, near) if into else (near, far)
            f.store(f.load(source, word, align=align), target, align)


def _word(buffer: Buffer) -> str:
    return f"i{8 * buffer.dtype.itemsize}"
