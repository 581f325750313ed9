"""Checks that a program is well formed: a violation is a bug of ours, found before it runs."""

from __future__ import annotations

import numpy as np

from npcompile.core.errors import VerifyError
from npcompile.core.sizes import Size, Symbol, symbols
from npcompile.graph.ir import Subprogram, Table
from npcompile.graph.layout import is_packed_here
from npcompile.graph.primitives import PRIMITIVES, REDUCTIONS
from npcompile.graph.routines import ROUTINES
from npcompile.graph.subprograms import region_of
from npcompile.graph.types import BOOL, INT
from npcompile.program.ir import (
    Alloc,
    Apply,
    Bind,
    Buffer,
    Call,
    Edge,
    For,
    Free,
    If,
    Index,
    Kernel,
    Load,
    Program,
    RoutineCall,
    SideExit,
    SizeValue,
    Statement,
    Swap,
    While,
    flat,
)
from npcompile.program.results import result_buffers

#: which dtype kinds a class letter of a primitive's signature stands for
CLASSES = {"f": "f", "i": "iub", "b": "b", "n": "fiub", "a": "fiubc", "c": "c"}


#: how iterations may change a number together
FOLDS = frozenset({"sum", "max", "min", "and", "or"})


def verify(program: Program) -> None:
    """Raises :class:`VerifyError` naming the first ill-formed statement."""
    _Verifier(program).run()


class _Verifier:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.alive: set[Buffer] = set(program.params)
        self.declared = set(program.params) | set(program.buffers)
        self.failing = False  # inside a loop that only says that it has failed
        self.symbols: set[Symbol] = set(program.int_symbols.values())
        for buffer in program.params:
            for size in (*buffer.shape, *buffer.strides):
                self.symbols.update(symbols(size))

    def run(self) -> None:
        self.alive |= {b for b in self.program.buffers if b.kind in ("scalar", "object")}
        self.block(self.program.body)
        for buffer in result_buffers(self.program.result):
            self.require(buffer in self.alive, f"result {buffer.name} is not allocated")

    def require(self, holds: bool, message: str) -> None:
        if not holds:
            raise VerifyError(f"{self.program.name}: {message}")

    def size(self, size: Size, where: str) -> None:
        for name in symbols(size):
            self.require(name in self.symbols, f"{where}: {name!r} is not known yet")

    # ------------------------------------------------------------------ statements

    def block(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Alloc() | Free() | Swap():
                self.memory(statement)
            case Kernel():
                self.kernel(statement)
            case Bind():
                self.number(statement.buffer, "bind")
                self.symbols.add(statement.symbol)
            case SideExit():
                self.number(statement.buffer, "check")
                self.require(statement.buffer.dtype == BOOL, "a check tests a bool")
                self.leaving(statement)
            case RoutineCall() | Call():
                for size in statement.sizes if isinstance(statement, RoutineCall) else ():
                    self.size(size, "call")
                for view in statement.inputs:
                    self.uses(view.buffer, "call")
                for buffer in statement.outputs:
                    if buffer.kind == "owned":
                        self.alive.add(buffer)
                    self.uses(buffer, "call")
            case For():
                for size in (statement.start, statement.stop, statement.step):
                    self.size(size, "for")
                self.symbols.add(statement.symbol)
                if statement.edge is not None:
                    self.leaving(statement.edge)
                if statement.parallel:
                    self.iterations(statement)
                else:
                    self.block(statement.body)
            case While():
                if statement.edge is not None:
                    self.leaving(statement.edge)
                self.block(statement.body)
                self.number(statement.again, "while")
            case If():
                self.number(statement.condition, "if")
                before = set(self.alive)
                self.block(statement.then)
                after, self.alive = self.alive, before
                self.block(statement.orelse)
                self.require(all(b.kind == "scalar" for b in after ^ self.alive),
                             "the arms of an if leave other buffers alive")
                self.alive &= after

    def memory(self, statement: Alloc | Free | Swap) -> None:
        match statement:
            case Alloc(buffer):
                self.require(buffer in self.declared, f"{buffer.name} is not declared")
                self.require(buffer not in self.alive, f"{buffer.name} is allocated twice")
                for size in (*buffer.shape, *buffer.strides):
                    self.size(size, buffer.name)
                self.require(is_packed_here(buffer.shape, buffer.strides),
                             f"{buffer.name}: elements with gaps")
                self.alive.add(buffer)
            case Free(buffer):
                self.require(buffer.kind in ("temp", "owned"), f"{buffer.name} is not ours to free")
                self.uses(buffer, "free")
                self.alive.discard(buffer)
            case Swap(first, second):
                for buffer in (first, second):
                    self.require(buffer.kind == "temp", f"{buffer.name} is not ours to swap")
                    self.uses(buffer, "swap")
                alike = [(b.dtype, b.shape, b.strides) for b in (first, second)]
                self.require(alike[0] == alike[1], f"{first.name} and {second.name} differ")

    def iterations(self, loop: For) -> None:
        """A parallel loop calls nothing, keeps no memory, leaves only to run everything again, and
        its numbers are used in it only, but those that it folds."""
        before, failing = self.alive, self.failing
        self.alive, self.failing = set(before), loop.failed is not None
        self.block(loop.body)
        self.failing = failing
        if loop.failed is not None:
            self.number(loop.failed, "for")
        numbers: set[Buffer] = set()
        for statement in flat(loop.body):
            match statement:
                case RoutineCall() if ROUTINES[statement.routine.routine].inside:
                    pass
                case For(parallel=True) | RoutineCall() | Call():
                    self.require(False, "a parallel for calls nothing and holds no other")
                case SideExit(number=number, leaving=leaving):
                    whole = loop.failed is not None or not self.program.resumes[number].frames
                    self.require(not leaving and whole,
                                 "an iteration of a parallel for is left in the middle")
                case Swap(first, second):
                    self.require(not {first, second} & before, "a parallel for swaps its own")
                case Kernel():
                    numbers |= {b for b in statement.written if b.kind == "scalar"}
        for folded, kind in loop.folds:
            integer = folded.dtype == (BOOL if kind in ("and", "or") else INT)
            self.require(integer and kind in FOLDS, f"a parallel for folds {folded.name}")
        self.require(self.alive <= before, "a parallel for frees what it allocates")
        self.alive = before - (numbers - {folded for folded, _ in loop.folds})

    def leaving(self, check: SideExit | Edge) -> None:
        self.require(check.number < len(self.program.resumes), "no such exit")
        if self.failing:
            return
        before = set(self.alive)
        self.block(check.leaving)
        for result in self.program.resumes[check.number].held():
            for buffer in result_buffers(result):
                self.uses(buffer, f"exit {check.number}")
        self.alive = before

    def uses(self, buffer: Buffer, where: str) -> None:
        self.require(buffer in self.alive, f"{where}: {buffer.name} is not allocated")

    def number(self, buffer: Buffer, where: str) -> None:
        self.require(buffer.kind == "scalar", f"{where}: {buffer.name} is no number")
        self.uses(buffer, where)

    # ------------------------------------------------------------------ kernels

    def kernel(self, kernel: Kernel) -> None:
        where = f"kernel {kernel.name}"
        self.alive |= {b for b in kernel.written if b.kind == "scalar"} & self.declared
        for axis in kernel.axes:
            self.size(axis.extent, where)
        for position, value in enumerate(kernel.values):
            here = f"{where}, v{position}"
            if isinstance(value, Load):
                self.index(kernel, value.buffer, value.at, here)
                self.require(value.dtype == _element(value.buffer, value.at), f"{here}: dtype")
                self.by(kernel, value.by, position, here)
            elif isinstance(value, SizeValue):
                self.size(value.size, here)
            elif isinstance(value, Apply):
                self.require(all(0 <= a < position for a in value.args), f"{here}: value order")
                self.apply(value, [kernel.values[a].dtype for a in value.args], here)
        self.stores(kernel, where)
        self.reductions(kernel, where)

    def index(self, kernel: Kernel, buffer: Buffer, at: Index, where: str) -> None:
        self.uses(buffer, where)
        self.require(len(at.coefficients) == len(kernel.axes), f"{where}: arity of the index")
        for size in (at.offset, *at.coefficients):
            self.size(size, where)
        if buffer.kind == "scalar":
            self.require(at.offset == 0 and not any(c != 0 for c in at.coefficients),
                         f"{where}: a number has one element")

    def by(self, kernel: Kernel, by: int | None, position: int, where: str) -> None:
        self.require(by is None or (0 <= by < position and kernel.values[by].dtype == INT),
                     f"{where}: adds no earlier int64 to the index")

    def apply(self, value: Apply, given: list[np.dtype], where: str) -> None:
        if value.op == "cast":
            self.require(len(given) == 1, f"{where}: cast takes one operand")
            return
        primitive = PRIMITIVES.get(value.op)
        self.require(primitive is not None, f"{where}: {value.op} is no primitive")
        assert primitive is not None
        wanted = primitive.signature.partition("->")[0]
        if isinstance(value.attrs, Subprogram):
            region = region_of(value.attrs)
            self.require(value.op == "call" and given == [p.dtype for p in region.params]
                         and value.dtype == region.results[0].dtype, f"{where}: other dtypes")
            return
        self.require(len(wanted) == len(given), f"{where}: {value.op} takes {len(wanted)}")
        seen: dict[str, np.dtype] = {}
        for letter, dtype in zip(wanted, given):
            self.require(dtype.kind in CLASSES[letter] and seen.get(letter, dtype) == dtype,
                         f"{where}: {value.op} of {', '.join(d.name for d in given)}")
            seen[letter] = dtype
        needed = {"lookup": Table, "call": Subprogram}.get(value.op, type(None))
        self.require(isinstance(value.attrs, needed), f"{where}: attributes of another operation")

    def stores(self, kernel: Kernel, where: str) -> None:
        count = len(kernel.values)
        for store in kernel.stores:
            here = f"{where}, store to {store.buffer.name}"
            self.index(kernel, store.buffer, store.at, here)
            self.require(store.value < count, f"{here}: value order")
            self.by(kernel, store.by, count, here)
            dtype = kernel.values[store.value].dtype
            self.require(dtype == _element(store.buffer, store.at), f"{here}: {dtype.name}")
            if store.mask is not None:
                self.require(kernel.values[store.mask].dtype == BOOL, f"{here}: the mask is a bool")

    def reductions(self, kernel: Kernel, where: str) -> None:
        masks = {store.mask for store in kernel.stores if store.packed}
        self.require(len(masks) < 2 and None not in masks, f"{where}: packs by several masks")
        one_by_one = kernel.ordered or bool(masks)
        self.require(not (one_by_one and kernel.reductions), f"{where}: reduces in order")
        spaces = {tuple(sorted(reduce.axes)) for reduce in kernel.reductions}
        self.require(len(spaces) <= 1, f"{where}: reductions over different axes")
        for reduce in kernel.reductions:
            here = f"{where}, {reduce.kind} into {reduce.buffer.name}"
            self.index(kernel, reduce.buffer, reduce.at, here)
            self.require(reduce.kind in REDUCTIONS, f"{here}: unknown kind")
            self.require(reduce.value < len(kernel.values), f"{here}: value order")
            for axis in reduce.axes:
                self.require(0 <= axis < len(kernel.axes), f"{here}: no such axis")
                own = reduce.at.coefficients[axis] != 0
                empty = any(a.extent == 0 for a in kernel.axes)
                self.require(own == reduce.running or empty, f"{here}: depends on its own axis")
            alone = len(kernel.reductions) == len(reduce.axes) == 1
            self.require(not reduce.running or alone, f"{here}: a running one is alone")
            if not reduce.kind.startswith("arg"):
                self.require(kernel.values[reduce.value].dtype == reduce.dtype, f"{here}: dtype")
                self.require(reduce.buffer.dtype == reduce.dtype, f"{here}: dtype of the buffer")


def _element(buffer: Buffer, at: Index) -> np.dtype:
    if not at.part:
        return buffer.dtype
    return np.dtype(np.float32 if buffer.dtype == np.complex64 else np.float64)
