"""Runs a program with NumPy: kernels over whole index grids, one primitive at a time.

It is the second lowering of language 2, beside machine code: what both agree on is the meaning.
Every access is checked against the bounds of its buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from npcompile.core.errors import VerifyError
from npcompile.core.records import replace
from npcompile.core.sizes import Poly, Size, Symbol, evaluate, largest
from npcompile.graph.ir import CallSite, Geometry, HostCall, container, keywords
from npcompile.graph.primitives import PRIMITIVES, REDUCTIONS
from npcompile.graph.routines import ROUTINES
from npcompile.program.ir import (
    Alloc,
    Apply,
    AxisIndex,
    Bind,
    Buffer,
    BufferResult,
    Call,
    Constant,
    For,
    Free,
    If,
    Index,
    ItemsResult,
    Kernel,
    Load,
    ObjectResult,
    ParamResult,
    Program,
    Reduce,
    Result,
    RoutineCall,
    ScalarResult,
    SideExit,
    SizeValue,
    Statement,
    StaticResult,
    Store,
    Swap,
    Value,
    View,
    ViewResult,
    While,
)

DONE = -1
Memory = Any  # a NumPy array
Shape = tuple[int, ...]


def pairwise(rows: Memory) -> Memory:
    """Sums along the last axis in NumPy's pairwise order."""
    lanes, leaf = (4, 64) if rows.dtype.kind == "c" else (8, 128)
    n = rows.shape[-1]
    if n > leaf:
        half = n // 2 & -lanes
        return pairwise(rows[..., :half]) + pairwise(rows[..., half:])
    whole = n - n % lanes
    total = rows[..., :lanes] if whole else rows[..., :1]
    for k in range(lanes, whole, lanes):
        total = total + rows[..., k : k + lanes]
    while total.shape[-1] > 1:
        total = total[..., 0::2] + total[..., 1::2]
    total = total[..., 0]
    for k in range(whole or 1, n):
        total = total + rows[..., k]
    return total


#: NumPy's names of floating-point exceptions, and the keys of ``np.errstate`` for them
FLAGS = {"divide by zero": "divide", "overflow": "over", "underflow": "under",
         "invalid value": "invalid"}


def interpret(
    program: Program,
    params: Sequence[Any],
    run_sum: Callable[[Memory], Memory] = pairwise,
    flags: set[str] | None = None,
) -> tuple[int, Any]:
    """Runs a program on arrays and numbers, which it changes in place.

    ``run_sum`` sums runs; floating-point exceptions are added to ``flags``.

    Returns
    -------
    status, result
        :data:`DONE` and the function's result, or the number of the check that failed and a list
        of what its exit holds (None: it has no frames).
    """
    raised: set[str] = set() if flags is None else flags
    with np.errstate(all="call", call=lambda what, _: raised.add(FLAGS[what])):
        return ProgramRun(program, run_sum).run(params)


class ProgramRun:
    def __init__(self, program: Program, run_sum: Callable[[Memory], Memory]) -> None:
        self.program, self.run_sum = program, run_sum
        self.memory: dict[Buffer, Memory] = {}
        self.symbols: dict[Symbol, int] = {}
        self.objects: dict[int, Any] = {}
        self.first: Shape = ()  # index of an ordered kernel

    def run(self, params: Sequence[Any]) -> tuple[int, Any]:
        for buffer, param in zip(self.program.params, params, strict=True):
            if buffer.kind == "object":
                self.memory[buffer] = param
                continue
            array = param if buffer.kind == "param" else np.array(param, buffer.dtype)
            self.memory[buffer] = array
            strides = [s // buffer.dtype.itemsize for s in array.strides]
            for size, value in zip((*buffer.shape, *buffer.strides), (*array.shape, *strides)):
                if isinstance(size, Poly) and isinstance(name := size.terms[0][0][0], Symbol):
                    self.symbols.setdefault(name, value)
        for index, name in self.program.int_symbols.items():
            self.symbols[name] = int(params[index])
        for buffer in self.program.buffers:
            if buffer.kind == "scalar":
                self.memory[buffer] = np.zeros((), buffer.dtype)
        status = self.block(self.program.body)
        if status == DONE:
            return status, self.result(self.program.result, params)
        way_out = self.program.resumes[status]
        held = [self.result(result, params) for result in way_out.held()]
        return status, held if way_out.frames else None

    def size(self, size: Size) -> int:
        return evaluate(size, self.symbols.__getitem__)

    def shape(self, sizes: Sequence[Size]) -> Shape:
        return tuple(map(self.size, sizes))

    def view(self, buffer: Buffer, offset: Size, shape: Shape, steps: Sequence[Size],
             part: str = "") -> Memory:
        """``buffer[offset + steps . index]`` for every index of a shape."""
        memory = self.memory[buffer]
        unit = memory.dtype.itemsize
        source = getattr(memory, part) if part else memory
        if 0 in shape:
            return np.empty(shape, source.dtype)
        strides = tuple(self.size(s) * unit for s in steps)
        where = _Place(source, self.size(offset) * unit)
        view = as_strided(np.asarray(where), shape, strides)
        have, used = byte_bounds(memory), byte_bounds(view)
        if memory.size == 0 or not have[0] <= used[0] <= used[1] <= have[1]:
            raise VerifyError(f"{self.program.name}: {buffer.name} is accessed out of bounds")
        return view

    # ------------------------------------------------------------------ statements

    def block(self, body: tuple[Statement, ...]) -> int:
        for statement in body:
            status = self.statement(statement)
            if status != DONE:
                return status
        return DONE

    def statement(self, statement: Statement) -> int:
        match statement:
            case Alloc(buffer):
                self.memory[buffer] = self.alloc(buffer)
            case Free(buffer):
                del self.memory[buffer]
            case Swap(first, second):
                memory = self.memory
                memory[first], memory[second] = memory[second], memory[first]
            case Kernel():
                self.kernel(statement)
            case Bind():
                self.symbols[statement.symbol] = int(self.memory[statement.buffer])
            case SideExit():
                if not self.memory[statement.buffer]:
                    self.block(statement.leaving)
                    return statement.number
            case RoutineCall():
                self.library(statement)
            case Call():
                self.call(statement)
            case For():
                trips = (statement.start, statement.stop, statement.step)
                iterations = range(*map(self.size, trips))
                for index in reversed(iterations) if statement.parallel else iterations:
                    self.symbols[statement.symbol] = index
                    if (status := self.block(statement.body)) != DONE:
                        break
                else:
                    status = DONE
                if statement.failed is None:
                    return status
                self.memory[statement.failed][...] = status != DONE
            case While():
                while (status := self.block(statement.body)) == DONE:
                    if not self.memory[statement.again]:
                        break
                return status
            case If():
                return self.block(
                    statement.then if self.memory[statement.condition] else statement.orelse
                )
        return DONE

    def alloc(self, buffer: Buffer) -> Memory:
        shape, strides = self.shape(buffer.shape), self.shape(buffer.strides)
        order = sorted(range(len(shape)), key=lambda a: (-strides[a], -shape[a]))
        packed = np.empty([shape[a] for a in order], buffer.dtype)
        memory = packed.transpose(np.argsort(order)) if order else packed
        flat = any(s * memory.itemsize != t and n > 1
                   for s, t, n in zip(strides, memory.strides, shape))
        if flat and memory.size:
            raise VerifyError(f"{buffer.name}: strides {strides} of shape {shape} have gaps")
        return memory

    def library(self, call: RoutineCall) -> None:
        routine = ROUTINES[call.routine.routine]
        inputs = [*map(self.operand, call.inputs), *map(self.size, call.sizes)]
        if routine.flags and not call.routine.quiet:
            found = routine.meaning(call.routine.spec, *inputs)
        else:
            with np.errstate(all="ignore"):
                found = routine.meaning(call.routine.spec, *inputs)
        if call.into is not None:
            (made,) = call.outputs
            self.view(made, call.into.offset, self.shape(call.into.shape),
                      call.into.strides)[...] = found
        elif call.outputs:
            self.deliver(call.outputs, found)

    def call(self, call: Call) -> None:
        inputs = list(map(self.operand, call.inputs))
        if isinstance(call.function, CallSite):
            found = call.function.function(*inputs)
            for buffer, result in zip(call.outputs, found, strict=True):
                number = buffer.kind == "scalar"
                self.memory[buffer] = np.array(result, buffer.dtype) if number else result
            return
        for buffer in call.outputs:
            if buffer.kind == "owned":
                self.memory[buffer] = self.alloc(buffer)
        self.deliver(call.outputs, run_host(call.function, inputs))

    def deliver(self, outputs: tuple[Buffer, ...], found: Any) -> None:
        results = found if len(outputs) > 1 else (found,)
        for buffer, result in zip(outputs, results, strict=True):
            self.memory[buffer][...] = result

    def operand(self, view: View) -> Any:
        if view.buffer.kind == "object":
            return self.memory[view.buffer]
        array = self.geometry(view.buffer, view.geometry)
        if view.buffer.kind != "scalar":
            return array
        return array.item() if view.origin == "py" else array[()]

    def geometry(self, buffer: Buffer, geometry: Geometry) -> Memory:
        return self.view(buffer, geometry.offset, self.shape(geometry.shape), geometry.strides,
                         geometry.part)

    # ------------------------------------------------------------------ kernels

    def kernel(self, kernel: Kernel) -> None:
        extents = self.shape([axis.extent for axis in kernel.axes])
        if kernel.ordered:
            for index in np.ndindex(*extents):
                self.iterations(kernel, (1,) * len(extents), index)
        else:
            self.iterations(kernel, extents, ())

    def iterations(self, kernel: Kernel, extents: Shape, first: Shape) -> None:
        """The iterations of a kernel from a first index on."""
        self.first = first
        values: list[Memory] = []
        for value in kernel.values:
            values.append(self.value(value, values, extents))
        for store in kernel.stores:
            if store.packed:
                self.pack(store, values, extents)
                continue
            if store.by is not None:
                self.scatter(store, values, extents)
                continue
            target = self.view(store.buffer, self.start(store.at), extents,
                               store.at.coefficients, store.at.part)
            mask = True if store.mask is None else values[store.mask]
            np.copyto(target, values[store.value], where=mask)
        for reduce in kernel.reductions:
            self.reduce(reduce, values[reduce.value], extents)

    def value(self, value: Value, values: list[Memory], extents: Shape) -> Memory:
        match value:
            case Load(buffer, at, _, None):
                return self.view(buffer, self.start(at), extents, at.coefficients,
                                 at.part).copy()[()]
            case Load(buffer, at, _, by) if by is not None:
                memory, places = self.places(buffer, at, values[by], extents)
                return memory[places]
            case Constant(number, dtype):
                return dtype.type(number)
            case AxisIndex(axis):
                index = np.indices(extents, sparse=True)[axis]
                return index + self.first[axis] if self.first else index
            case SizeValue(size):
                return np.int64(self.size(size))
            case Apply(op, args, dtype, attrs):
                operands = [values[a] for a in args]
                if op == "cast":
                    return np.asarray(operands[0]).astype(dtype)[()]
                return PRIMITIVES[op].meaning(*operands, **keywords(attrs, dtype))

    def start(self, at: Index) -> Size:
        """Where the first iteration is."""
        if not self.first:
            return at.offset
        steps = map(self.size, at.coefficients)
        return self.size(at.offset) + sum(s * i for s, i in zip(steps, self.first))

    def places(
        self, buffer: Buffer, at: Index, by: Memory, extents: Shape
    ) -> tuple[Memory, Memory]:
        """A run of memory and, for each iteration, the element of it that is meant."""
        offsets = np.full(extents, self.size(self.start(at)), np.int64) + by
        for grid, step in zip(np.indices(extents, sparse=True), at.coefficients):
            offsets = offsets + grid * self.size(step)
        low = int(offsets.min()) if offsets.size else 0
        length = int(offsets.max()) - low + 1 if offsets.size else 0
        return self.view(buffer, low, (length,), (1,), at.part), offsets - low

    def scatter(self, store: Store, values: list[Memory], extents: Shape) -> None:
        """All stores happen; of several to one element, the order is that of an ordered kernel."""
        assert store.by is not None
        memory, places = self.places(store.buffer, store.at, values[store.by], extents)
        chosen = True if store.mask is None else values[store.mask]
        chosen = np.broadcast_to(chosen, extents)
        memory[places[chosen]] = np.broadcast_to(values[store.value], extents)[chosen]

    def pack(self, store: Store, values: list[Memory], extents: Shape) -> None:
        assert store.mask is not None
        chosen = np.broadcast_to(values[store.mask], extents)
        found = np.broadcast_to(values[store.value], extents)[chosen]
        self.view(store.buffer, store.at.offset, found.shape, (1,), store.at.part)[...] = found

    def reduce(self, reduce: Reduce, value: Memory, extents: Shape) -> None:
        if reduce.running:
            target = self.view(reduce.buffer, reduce.at.offset, extents, reduce.at.coefficients,
                               reduce.at.part)
            combine = PRIMITIVES[REDUCTIONS[reduce.kind][0]].meaning
            (axis,) = reduce.axes
            rows, out = (np.moveaxis(x, axis, 0) for x in (np.broadcast_to(value, extents), target))
            for k, row in enumerate(rows):
                out[k] = combine(out[k - 1], row) if k else row
            return
        kept = [axis for axis in range(len(extents)) if axis not in reduce.axes]
        order = list(reduce.axes) if reduce.kind.startswith("arg") else sorted(reduce.axes)
        shape = [extents[axis] for axis in kept]
        last = extents[-1] if len(extents) - 1 in reduce.axes else 1
        grid = np.broadcast_to(value, extents).transpose(kept + order)
        rows = grid.reshape(*shape, np.prod([extents[a] for a in order], dtype=int) // (last or 1),
                            last)
        steps = [reduce.at.coefficients[axis] for axis in kept]
        target = self.view(reduce.buffer, reduce.at.offset, tuple(shape), steps, reduce.at.part)
        chunk = self.size(reduce.chunk) if rows.size else 0  # of no elements it may be no size
        target[...] = accumulate(reduce, rows, chunk, self.run_sum)

    # ------------------------------------------------------------------ results

    def result(self, result: Result, params: Sequence[Any]) -> Any:
        match result:
            case ParamResult(index):
                return params[index]
            case BufferResult(buffer):
                return self.memory[buffer]
            case ViewResult(ident, base, geometry, dtype, writeable):
                if ident not in self.objects:
                    owner = self.program.params[base.index] if isinstance(
                        base, ParamResult) else base.buffer
                    # below 0 in an option that is not taken
                    shape = tuple([largest(n, 0) for n in geometry.shape])
                    whole = self.geometry(owner, replace(geometry, shape=shape))
                    made = self.objects[ident] = whole.view(dtype)
                    if not writeable:
                        made.setflags(write=False)
                return self.objects[ident]
            case ScalarResult(buffer, origin, ident):
                if ident in self.objects:
                    return self.objects[ident]
                number = self.memory[buffer][()]
                number = number.item() if origin == "py" else number
                if ident:
                    self.objects[ident] = number
                return number
            case ObjectResult(buffer):
                return self.memory[buffer]
            case StaticResult():
                return result.value
            case ItemsResult():
                if not result.ident:
                    return self.items(result, params)
                if -result.ident not in self.objects:
                    self.objects[-result.ident] = self.items(result, params)
                return self.objects[-result.ident]

    def items(self, result: ItemsResult, params: Sequence[Any]) -> Any:
        items = [self.result(item, params) for item in result.items]
        return container(result.kind, items, result.keys)


class _Place:
    """A 0-d array at a byte offset from element (0, ..., 0) of an array, kept alive."""

    def __init__(self, memory: Memory, offset: int) -> None:
        self.memory = memory
        data = (memory.__array_interface__["data"][0] + offset, False)
        typestr = memory.dtype.str
        self.__array_interface__ = {"version": 3, "shape": (), "typestr": typestr, "data": data}


def run_host(call: HostCall, args: Sequence[Any]) -> Any:
    """Calls the real function of a host call on its traced operands and its constants."""
    from importlib import import_module

    module, _, names = call.path.partition(":")
    function: Any = import_module(module)
    for name in names.split("."):
        function = getattr(function, name)
    split = len(args) - len(call.keywords)
    keywords = dict(zip(call.keywords, args[split:], strict=True))
    positional = list(args[:split])
    for where, value in call.statics:
        if isinstance(where, int):
            positional.insert(where, value)
        else:
            keywords[where] = value
    return function(*positional, **keywords)


def accumulate(
    reduce: Reduce, rows: Memory, chunk: int, run_sum: Callable[[Memory], Memory]
) -> Memory:
    """Reduces ``rows`` (kept axes, runs, elements of a run) as the kernel program defines it."""
    kind, dtype = reduce.kind, reduce.dtype
    flat = rows.reshape(*rows.shape[:-2], rows.shape[-2] * rows.shape[-1])
    if kind in ("argmin", "argmax"):
        return getattr(np, kind)(flat, axis=-1)
    combine = PRIMITIVES[REDUCTIONS[kind][0]].meaning
    start = None if reduce.initial is None else np.full(flat.shape[:-1], reduce.initial, dtype)
    if kind == "sum" and dtype.kind in "fc":
        return _sum(rows, start, chunk, run_sum)
    if kind == "prod":
        lead = [] if start is None else [start[..., None]]
        return np.multiply.accumulate(np.concatenate([*lead, flat], -1), axis=-1)[..., -1]
    while (n := flat.shape[-1]) > 1:  # exact and associative, so halves will do
        flat = np.concatenate([combine(flat[..., : n // 2], flat[..., n // 2 : n // 2 * 2]),
                               flat[..., n // 2 * 2 :]], -1)
    if start is None:
        return flat[..., 0]
    return combine(start, flat[..., 0]) if flat.shape[-1] else start


def _sum(rows: Memory, start: Memory | None, chunk: int,
         run_sum: Callable[[Memory], Memory]) -> Memory:
    """Run after run; float16 is summed in float32 and rounded once a run."""
    dtype = rows.dtype
    wide = np.dtype(np.float32) if dtype == np.float16 else dtype
    total = start
    length = rows.shape[-1]
    for run in range(rows.shape[-2]):
        for begin in range(0, length, chunk or length or 1):
            piece = rows[..., run, begin : begin + (chunk or length)].astype(wide)
            part = run_sum(piece)
            total = part.astype(dtype) if total is None else (total + part).astype(dtype)
    assert total is not None
    return total
