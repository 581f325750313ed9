"""The C function of a ufunc's loop around the body of a traced loop, as LLVM text.

::

    void loop(char **args, npy_intp *dimensions, npy_intp *steps, void *data)

The body works on arrays of some steps of the loop, whose elements lie next to each other.  So do
NumPy's operands most of the time: then it gets them as they are.  Numbers elsewhere are copied, a
chunk at a time, before the chunk's results are stored; of operands with core axes it gets one step
at a time.  Where core axes lie in another order, or globals have changed, all steps are Python's.
``data`` is the block of :class:`.captured.Captured`, which begins with the address of the function
that computes one step in Python.  A body that is left for Python has stored nothing that counts:
its steps are done again, one by one, and those that are left again are Python's::

    int64_t step(char **args, npy_intp *core_lengths, npy_intp *core_steps)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from npcompile.backends.cpu.llvm.frame import DONE, FrameLayout
from npcompile.backends.cpu.llvm.text import LLVMFunction, LLVMModule, Value, i64, literal
from npcompile.core.sizes import Symbol
from npcompile.runtime.entry.function_writer import combine
from npcompile.runtime.ufuncs.captured import Captured
from npcompile.runtime.ufuncs.core_layouts import LoopKind

CHUNK = 512  #: numbers that are copied at a time
#: what tells the length of an axis: the number of steps, or a core axis
STEPS = ""


class LoopWriter:
    """Writes the functions around a body.

    Parameters
    ----------
    kind
        The operands.
    frame
        Where the body has its parameters.
    data
        The slot of each operand's address.
    symbols
        Which axis each symbol is the length of.
    captured
        What the body reads beside its operands.
    limit
        How many steps the body does at once at most.
    silent
        Floating-point flags that tell nothing.
    """

    def __init__(
        self,
        kind: LoopKind,
        frame: FrameLayout,
        data: Sequence[int],
        symbols: Mapping[Symbol, str],
        captured: Captured,
        limit: int,
        silent: int,
    ) -> None:
        self.kind, self.frame, self.data, self.symbols = kind, frame, data, symbols
        self.captured, self.limit, self.silent = captured, limit, silent
        self.module = LLVMModule()
        self.count = len(kind.dtypes)
        self.inputs = len(kind.layout.inputs)

    def beside(self, body: str) -> str:
        """The text of a body with the functions around it."""
        self.write_run()
        self.write_attempt()
        self.write_loop()
        written = [function.text() for function in self.module.functions]
        return combine(body, "\n".join([*self.module.declarations.values(), *written]))

    def function(self, name: str, result: str, **params: str) -> LLVMFunction:
        listed = [(elem, name) for name, elem in params.items()]
        return LLVMFunction(self.module, name, result, listed, name != "loop")

    # ------------------------------------------------------------------ the body

    def write_run(self) -> None:
        """``@run``: the body on a filled frame; what it returns."""
        f = self.function("run", "i64", args="ptr", cores="ptr", data="ptr", count="i64")
        args, cores, data, count = f.params
        slots = f.alloca("i64", self.frame.size)
        cleared(f, self.frame, slots)

        def put(slot: int, value: Value) -> None:
            f.store(value, f.offset(slots, "i64", i64(slot)))

        for k, slot in enumerate(self.data):
            put(slot, f.load(f.offset(args, "ptr", i64(k)), "ptr"))
        for name, axis in self.symbols.items():
            put(self.frame.symbol(name), count if axis == STEPS else self.core(f, cores, axis))
        self.captured.fill(f, slots, data)
        status = f.op(f"call i64 @body({slots.typed})", "i64")
        f.do(f"ret {status.typed}")

    def core(self, f: LLVMFunction, cores: Value, axis: str) -> Value:
        """The length of a core axis."""
        place = self.kind.layout.names.index(axis)
        return f.load(f.offset(cores, "i64", i64(place)), "i64")

    # ------------------------------------------------------------------ what is left for Python

    def write_attempt(self) -> None:
        """``@attempt``: so many steps, by the body or by Python; whether Python has raised."""
        f = self.function("attempt", "i64", args="ptr", steps="ptr", cores="ptr", data="ptr",
                          count="i64", strided="i1")
        args, steps, cores, data, count, strided = f.params
        here, mode = f.alloca("ptr", self.count), f.alloca("i32")
        self.mode(f, "save", mode)
        f.branch(strided, "left", "try")
        f.label("try")
        status = f.op(f"call i64 @run({args.typed}, {cores.typed}, {data.typed}, {count.typed})",
                      "i64")
        f.branch(f.icmp("eq", status, i64(DONE)), "done", "left", likely=True)
        f.label("left")
        self.mode(f, "restore", mode)
        with f.loop(i64(0), count) as iteration:
            for k in range(self.count):
                step = f.load(f.offset(steps, "i64", i64(k)), "i64")
                pointer = f.load(f.offset(args, "ptr", i64(k)), "ptr")
                away = f.binary("mul", iteration.index, step)
                f.store(f.offset(pointer, "i8", away), f.offset(here, "ptr", i64(k)))
            python, fine = f.name_for("python"), f.name_for("fine")
            again = f.name_for("again")
            f.branch(strided, python, again)
            f.label(again)
            self.mode(f, "save", mode)
            status = f.op(f"call i64 @run({here.typed}, {cores.typed}, {data.typed}, i64 1)", "i64")
            left = f.name_for("left")
            f.branch(f.icmp("eq", status, i64(DONE)), fine, left)
            f.label(left)
            self.mode(f, "restore", mode)
            f.jump(python)
            f.label(python)
            raised = self.ask_python(f, here, mode, steps, cores, data)
            f.branch(f.icmp("eq", raised, i64(0)), fine, "failed", likely=True)
            f.label(fine)
        f.jump("done")
        f.label("failed")
        f.do("ret i64 1")
        f.label("done")
        f.do("ret i64 0")

    def ask_python(self, f: LLVMFunction, here: Value, mode: Value, steps: Value, cores: Value,
                   data: Value) -> Value:
        """Has Python compute one step, which leaves the floating-point flags as they are; whether
        it has raised."""
        self.mode(f, "save", mode)
        python = f.load(data, "ptr")
        cores_at = f.offset(steps, "i64", i64(self.count))
        raised = f.op(f"call i64 {python.text}({here.typed}, {cores.typed}, {cores_at.typed})",
                      "i64")
        self.mode(f, "restore", mode)
        return raised

    def mode(self, f: LLVMFunction, how: str, place: Value) -> None:
        """Saves or restores the floating-point flags and modes."""
        f.run(f"npc.fp.{how}", place)

    # ------------------------------------------------------------------ NumPy's function

    def write_loop(self) -> None:
        f = self.function("loop", "void", args="ptr", dimensions="ptr", steps="ptr", data="ptr")
        args, dimensions, steps, data = f.params
        self.captured.count(f, data, 1)
        cores = f.offset(dimensions, "i64", i64(1))
        count = f.load(dimensions, "i64")
        pointers = [f.load(f.offset(args, "ptr", i64(k)), "ptr") for k in range(self.count)]
        strides = [f.load(f.offset(steps, "i64", i64(k)), "i64") for k in range(self.count)]
        sizes = [self.size(f, cores, k) for k in range(self.count)]
        strided = f.binary("or", self.strided(f, steps, cores), self.captured.stale(f, data))
        direct = self.direct(f, pointers, strides, sizes, count)
        f.branch(direct, "whole", "apart", likely=True)
        f.label("whole")
        self.by_pieces(f, pointers, steps, cores, data, count, i64(self.limit), strided)
        f.jump("done")
        f.label("apart")
        if self.kind.layout.scalar:
            self.by_chunks(f, pointers, strides, sizes, cores, data, count, strided)
        else:
            self.by_pieces(f, pointers, steps, cores, data, count, i64(1), strided)
        f.jump("done")
        f.label("failed")
        f.jump("done")
        f.label("done")
        self.captured.count(f, data, -1)
        if self.silent:
            mode = f.alloca("i32")
            self.mode(f, "save", mode)
            told = f.binary("and", f.load(mode, "i32"), literal("i32", ~self.silent))
            f.store(told, mode)
            self.mode(f, "restore", mode)
        f.do("ret void")

    def size(self, f: LLVMFunction, cores: Value, k: int) -> Value:
        """The bytes of one step of an operand."""
        size = i64(self.kind.dtypes[k].itemsize)
        for axis in self.kind.layout.operands[k]:
            size = f.binary("mul", size, self.core(f, cores, axis))
        return size

    def direct(self, f: LLVMFunction, pointers: list[Value], strides: list[Value],
               sizes: list[Value], count: Value) -> Value:
        """Whether steps lie next to each other, or there is one, and results apart from
        operands."""
        fits = literal("i1", True)
        for stride, size in zip(strides, sizes):
            fits = f.binary("and", fits, f.icmp("eq", stride, size))
        fits = f.binary("or", fits, f.icmp("eq", count, i64(1)))
        starts = [f.convert("ptrtoint", pointer, "i64") for pointer in pointers]
        ends = [f.binary("add", start, f.binary("mul", size, count))
                for start, size in zip(starts, sizes)]
        for out in range(self.inputs, self.count):
            for k in range(out):
                before = f.icmp("ule", ends[k], starts[out])
                after = f.icmp("ule", ends[out], starts[k])
                fits = f.binary("and", fits, f.binary("or", before, after))
        return fits

    def strided(self, f: LLVMFunction, steps: Value, cores: Value) -> Value:
        """Whether core axes lie in memory otherwise than in C's order."""
        found, place = literal("i1", False), self.count
        for dtype, axes in zip(self.kind.dtypes, self.kind.layout.operands):
            size = i64(dtype.itemsize)
            for k in range(len(axes) - 1, -1, -1):
                length = self.core(f, cores, axes[k])
                step = f.load(f.offset(steps, "i64", i64(place + k)), "i64")
                other = f.binary("and", f.icmp("ne", step, size), f.icmp("ne", length, i64(1)))
                found = f.binary("or", found, other)
                size = f.binary("mul", size, length)
            place += len(axes)
        return found

    def by_pieces(self, f: LLVMFunction, pointers: list[Value], steps: Value, cores: Value,
                  data: Value, count: Value, most: Value, strided: Value) -> None:
        """Operands as they are, so many steps at a time."""
        here = f.alloca("ptr", self.count)
        with f.loop(i64(0), count, most) as piece:
            for k, pointer in enumerate(pointers):
                stride = f.load(f.offset(steps, "i64", i64(k)), "i64")
                away = f.binary("mul", piece.index, stride)
                f.store(f.offset(pointer, "i8", away), f.offset(here, "ptr", i64(k)))
            many = self.least(f, count, piece.index, most)
            self.attempt(f, here, steps, cores, data, many, strided)

    def attempt(self, f: LLVMFunction, here: Value, steps: Value, cores: Value, data: Value,
                count: Value, strided: Value) -> None:
        raised = f.op(f"call i64 @attempt({here.typed}, {steps.typed}, {cores.typed}, "
                      f"{data.typed}, {count.typed}, {strided.typed})", "i64")
        fine = f.name_for("fine")
        f.branch(f.icmp("eq", raised, i64(0)), fine, "failed", likely=True)
        f.label(fine)

    def least(self, f: LLVMFunction, count: Value, first: Value, most: Value) -> Value:
        """How many steps there are from one on, at most so many."""
        rest = f.binary("sub", count, first)
        return f.select(f.icmp("slt", rest, most), rest, most)

    def by_chunks(self, f: LLVMFunction, pointers: list[Value], strides: list[Value],
                  sizes: list[Value], cores: Value, data: Value, count: Value,
                  stale: Value) -> None:
        """Numbers that lie anywhere: copies of some of them at a time."""
        here, steps = f.alloca("ptr", self.count), f.alloca("i64", self.count)
        rooms = [f.alloca(_word(dtype.itemsize), CHUNK) for dtype in self.kind.dtypes]
        for k, (room, size) in enumerate(zip(rooms, sizes)):
            f.store(room, f.offset(here, "ptr", i64(k)))
            f.store(size, f.offset(steps, "i64", i64(k)))
        most = self.at_once(f, pointers, strides, count)
        with f.loop(i64(0), count, most) as chunk:
            many = self.least(f, count, chunk.index, most)
            for k in range(self.inputs):
                self.copy(f, k, pointers[k], strides[k], rooms[k], chunk.index, many)
            self.attempt(f, here, steps, cores, data, many, stale)
            for k in range(self.inputs, self.count):
                self.copy(f, k, pointers[k], strides[k], rooms[k], chunk.index, many)

    def copy(self, f: LLVMFunction, k: int, pointer: Value, stride: Value, room: Value,
             first: Value, count: Value) -> None:
        size = self.kind.dtypes[k].itemsize
        word, align = _word(size), min(8, size)
        with f.loop(i64(0), count) as iteration:
            away = f.binary("mul", f.binary("add", first, iteration.index), stride)
            far = f.offset(pointer, "i8", away)
            near = f.offset(room, word, iteration.index)
            source, target = (far, near) if k < self.inputs else (near, far)
            f.store(f.load(source, word, align=align), target, align)

    def at_once(self, f: LLVMFunction, pointers: list[Value], strides: list[Value],
                count: Value) -> Value:
        """How many numbers may be read before the first result is stored: NumPy's loops go from
        one element to the next, and its methods hand over results that are operands of the next.
        """
        free = literal("i1", True)
        ends = [self.extent(f, k, pointers[k], strides[k], count) for k in range(self.count)]
        for k, out in product(range(self.inputs), range(self.inputs, self.count)):
            (low, high), (start, stop) = ends[k], ends[out]
            apart = f.binary("or", f.icmp("ule", high, start), f.icmp("ule", stop, low))
            same = f.binary("and", f.icmp("eq", strides[k], strides[out]), f.icmp(
                "eq", *(f.convert("ptrtoint", pointers[j], "i64") for j in (k, out))))
            moves = f.icmp("ne", strides[k], i64(0))
            ready = f.binary("or", apart, f.binary("and", same, moves))
            free = f.binary("and", free, ready)
        return f.select(free, i64(min(CHUNK, self.limit)), i64(1))

    def extent(self, f: LLVMFunction, k: int, pointer: Value, stride: Value,
               count: Value) -> tuple[Value, Value]:
        """The first address of an operand's numbers, and the one behind them."""
        start = f.convert("ptrtoint", pointer, "i64")
        last = f.binary("add", start, f.binary("mul", f.binary("sub", count, i64(1)), stride))
        up = f.icmp("sge", stride, i64(0))
        high = f.select(up, last, start)
        size = i64(self.kind.dtypes[k].itemsize)
        return f.select(up, start, last), f.binary("add", high, size)


def cleared(f: LLVMFunction, frame: FrameLayout, slots: Value) -> None:
    """Writes what clears the slots of a frame that must be 0 at first."""
    first, count = frame.cleared
    if count:
        f.module.declare("llvm.memset.p0.i64", "void", ["ptr", "i8", "i64", "i1"])
        begin = f.offset(slots, "i64", i64(first))
        f.do(f"call void @llvm.memset.p0.i64({begin.typed}, i8 0, i64 {8 * count}, i1 false)")


def _word(size: int) -> str:
    return f"i{8 * size}"
