"""Statements that call the routines of :mod:`.matrix_products`, :mod:`.factors` and
:mod:`.batches`: addresses, strides and loops around."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from npcompile.backends.cpu.llvm import access
from npcompile.backends.cpu.llvm.scalar import memory
from npcompile.backends.cpu.llvm.sizes import SizeEmitter, Slots
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, literal
from npcompile.backends.cpu.transforms.steps import transform_name
from npcompile.core.records import record, replace
from npcompile.core.sizes import Size
from npcompile.core.sizes import product as extent_of
from npcompile.graph.routines import ROUTINES, Routine, Spec, parse
from npcompile.graph.transform_spec import transform_spec
from npcompile.program.ir import Buffer, RoutineCall, View

if TYPE_CHECKING:
    from npcompile.backends.cpu.linalg import batches
else:
    from npcompile.core.paths import defer

    defer(globals(), "npcompile.backends.cpu.linalg", "batches")

#: the flags in the word of ``npc.fp.save`` by the first letters of what NumPy calls them
_FLAGS = {"i": 1, "d": 4, "o": 8, "u": 16}

#: routines that :class:`Routines` has methods of the same name for
_BY_NAME = frozenset(("double", "pack", "product_rows", "gram_rows", "gram_sum", "vector_rows",
                      "add_rows"))


@record
class Operand:
    """An array in memory: the address of its first element, and the stride of each index."""

    dtype: np.dtype
    pointer: Value
    strides: dict[str, Value]

    def stride(self, letter: str) -> Value:
        """In elements; 0 for an index that it does not have."""
        return self.strides.get(letter, i64(0))

    def at(self, f: LLVMFunction, letter: str, index: Value) -> Operand:
        """Where one index has a value."""
        if letter not in self.strides:
            return self
        step = f.binary("mul", index, self.strides[letter])
        pointer = f.offset(self.pointer, access.element_type(self.dtype), step)
        return Operand(self.dtype, pointer, self.strides)


class Routines:
    """Emits :class:`RoutineCall` statements; ``used`` are the modules of routines that are needed,
    ``own`` says that products take nothing from a library."""

    def __init__(self, slots: Slots, own: bool) -> None:
        self.f, self.slots = slots.f, slots
        self.product_module = "own" if own else "product"
        self.used: set[str] = set()
        self.known: Value | None = None  # the control word when flags were last looked at

    def emit(self, call: RoutineCall) -> None:
        f, routine = self.f, ROUTINES[call.routine.routine]
        if routine.name == "settle":
            self.settle(call.routine.spec)
            return
        if routine.name == "transform_entry":
            self.transform_entry(call)
            return
        transform = routine.name.startswith("transform")
        product = routine.name == "product"
        name = "_".join([routine.name, *[call.routine.spec] * bool(call.routine.spec)])
        if transform:
            name = transform_name(call.routine.spec, call.inputs[0].dtype)
        self.used.add(name if transform else
                      f"{self._module(call, routine, name)}.{call.inputs[0].dtype.name}")
        quiet = call.routine.quiet or not routine.flags
        control = f.alloca("i32") if quiet else None
        if control is not None:
            f.run("npc.fp.save", control)
        if product:
            self.product(call)
        elif routine.name in _BY_NAME:
            getattr(self, routine.name)(call)
        elif routine.name == "transform_rows":
            self.transform_rows(call)
        elif transform:
            self.transform(call, name)
        else:
            self.matrices(call, routine, name)
        if control is not None:
            f.run("npc.fp.restore", control)

    def _module(self, call: RoutineCall, routine: Routine, name: str) -> str:
        if routine.name == "product":
            return self.product_module
        if routine.name in ("pack", "product_rows", "gram_rows", "gram_sum"):
            return "rows"
        if routine.name in ("vector_rows", "add_rows"):
            return "vector_rows"
        return f"{batches.PREFIX}{name}" if _in_batches(call, routine, name) else name

    def settle(self, letters: str) -> None:
        """Flags become what they were at the last such place, or at first, when there were none.
        Kernels are calls, and what stands in line between them stays where it is."""
        f, forgotten = self.f, sum(_FLAGS[letter] for letter in letters)
        if self.known is None:
            self.known = f.alloca("i32")
            with f.at_entry():
                f.store(literal("i32", 0), self.known)
        room = f.alloca("i32")
        f.run("npc.fp.save", room)
        state = f.load(room, "i32")
        if letters:
            before = f.binary("and", f.load(self.known, "i32"), literal("i32", forgotten))
            state = f.binary("and", state, literal("i32", ~forgotten))
            state = f.binary("or", state, before)
            f.store(state, room)
            f.run("npc.fp.restore", room)
        f.store(state, self.known)

    # ------------------------------------------------------------------ operands

    def operand(self, sizes: SizeEmitter, view: View, letters: str) -> Operand:
        """A view whose axes are called by letters; strides count its own elements, of which a
        complex number has two."""
        f, geometry, unit = self.f, view.geometry, access.element_type(view.buffer.dtype)
        pointer = self.slots.data(view.buffer)
        if not (isinstance(geometry.offset, int) and geometry.offset == 0):
            pointer = f.offset(pointer, unit, sizes(geometry.offset))
        if geometry.part == "imag":
            pointer = f.offset(pointer, access.element_type(view.dtype), i64(1))
        steps = [sizes(stride * 2 if geometry.part else stride) for stride in geometry.strides]
        return Operand(view.dtype, pointer, dict(zip(letters, steps, strict=True)))

    def target(self, sizes: SizeEmitter, buffer: Buffer, letters: str) -> Operand:
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

    # ------------------------------------------------------------------ transforms

    def transform(self, call: RoutineCall, name: str) -> None:
        """One call for arrays in C order: the axes before the transformed one, its lengths, and
        those behind it."""
        f, sizes = self.f, SizeEmitter(self.slots)
        (view,), (made, well) = call.inputs, call.outputs
        spec = transform_spec(call.routine.spec)
        shape, axis = view.geometry.shape, spec.axis
        source = self.operand(sizes, view, "0123456789"[: len(shape)])
        lengths = [extent_of(shape[:axis]), shape[axis], spec.length(shape), made.shape[axis],
                   extent_of(shape[axis + 1 :])]
        done = f.call("npc_fft_call", ("i64", 1), f.module.extern(f"npc.{name}"), source.pointer,
                      self.slots.data(made), *map(sizes, lengths))
        self.slots.set_number(well, (f.icmp("ne", done, i64(0)),))

    def transform_entry(self, call: RoutineCall) -> None:
        f, (points,), (entry, well) = self.f, call.sizes, call.outputs
        spec, _, dtype = call.routine.spec.rpartition(" ")
        name = transform_name(str(replace(transform_spec(spec), axis=1)), np.dtype(dtype))
        self.used.add(name)
        kind = f.module.extern(f"npc.{name}")
        found = f.call("npc_fft_entry", ("i64", 1), kind, SizeEmitter(self.slots)(points))
        self.slots.set_number(entry, (found,))
        self.slots.set_number(well, (f.icmp("ne", found, i64(0)),))

    def transform_rows(self, call: RoutineCall) -> None:
        f, sizes, into = self.f, SizeEmitter(self.slots), call.into
        (view, number), (made,) = call.inputs, call.outputs
        assert into is not None
        source = self.operand(sizes, view, "01")
        target = self.operand(sizes, View(made, into, made.dtype), "01")
        (entry,) = self.slots.number(number.buffer)
        count, given = map(sizes, view.geometry.shape)
        f.run("npc_fft_rows", entry, source.pointer, target.pointer, count, given,
              sizes(into.shape[-1]))

    # ------------------------------------------------------------------ factorisations

    def matrices(self, call: RoutineCall, routine: Routine, name: str) -> None:
        """One call for all matrices of a batch whose axes are one run."""
        f, sizes = self.f, SizeEmitter(self.slots)
        words, results = (part.split(",") for part in routine.core.split("->"))
        batch = "0123456789"[: len(call.inputs[0].geometry.shape) - len(words[0])]
        operands = [self.operand(sizes, view, batch + "ij"[: len(word)])
                    for view, word in zip(call.inputs, words, strict=True)]
        outputs = call.outputs[: len(results)]
        targets = [self.target(sizes, buffer, (batch + "ij")[: len(buffer.shape)])
                   for buffer in outputs]
        count: dict[str, Size] = {}
        for view, word in zip(call.inputs, words, strict=True):
            count.update(zip(batch + word, view.geometry.shape, strict=True))
        extents = {letter: sizes(size) for letter, size in count.items()}
        lengths = [extents[letter] for letter in dict.fromkeys("".join(words))]
        well = f.alloca("i64")
        f.store(i64(1), well)

        runs = _one_run(call, len(batch))
        around, last = list(batch[: len(batch) - runs]), batch[-1:]
        for letter in batch[len(batch) - runs : -1]:
            extents[last] = f.binary("mul", extents[last], extents[letter])
        many = "batch." if _in_batches(call, routine, name) else ""
        symbol = f"npc.{many}{name}.{operands[0].dtype.name}"

        def one(arrays: list[Operand]) -> None:
            args = [*lengths, extents.get(last, i64(1))]
            for array, word in zip(arrays, words):
                args += [array.pointer, *map(array.stride, "ij"[: len(word)]), array.stride(last)]
            for array in arrays[len(words) :]:
                args += [array.pointer, array.stride(last)]
            done = f.call(symbol, ("i64", 1), *args)
            f.store(f.binary("and", done, f.load(well, "i64")), well)

        self._each(around, extents, operands + targets, one)
        for buffer, target in zip(outputs, targets, strict=True):
            self.deliver(buffer, target.pointer)
        self.slots.set_number(call.outputs[-1], (f.icmp("ne", f.load(well, "i64"), i64(0)),))

    def _each(self, letters: list[str], count: dict[str, Value], operands: list[Operand],
              one: Callable[[list[Operand]], None]) -> None:
        """Inside loops over some indices."""
        if not letters:
            one(operands)
            return
        letter, *rest = letters
        with self.f.loop(i64(0), count[letter]) as running:
            inside = [operand.at(self.f, letter, running.index) for operand in operands]
            self._each(rest, count, inside, one)

    # ------------------------------------------------------------------ products

    def double(self, call: RoutineCall) -> None:
        """Two products of a matrix by vectors, all in C order."""
        f, sizes = self.f, SizeEmitter(self.slots)
        matrix, *vectors = call.inputs
        a = self.operand(sizes, matrix, "mn")
        x, *others = [self.operand(sizes, view, "k").pointer for view in vectors]
        t, y, sums = (self.slots.data(buffer) for buffer in call.outputs)
        f.run(f"npc.double.{a.dtype.name}", *map(sizes, matrix.geometry.shape), a.pointer,
              a.strides["m"], x, *(others or [t]), t, y, sums)

    def pack(self, call: RoutineCall) -> None:
        """The matrices of a batch, one after the other."""
        f, sizes, (view,), (packed,) = self.f, SizeEmitter(self.slots), call.inputs, call.outputs
        batch = "0123456789"[: len(view.geometry.shape) - 2]
        extents = {x: sizes(size) for x, size in zip(f"{batch}kn", view.geometry.shape)}
        size = f.binary("mul", *map(sizes, packed.shape[1:]))
        place: dict[str, Value] = {}
        for letter in reversed(batch):
            place[letter] = size
            size = f.binary("mul", size, extents[letter])

        def one(operands: list[Operand]) -> None:
            b, into = operands
            f.run(f"npc.pack.{b.dtype.name}", extents["k"], extents["n"], b.pointer, b.stride("k"),
                  b.stride("n"), into.pointer)

        target = Operand(packed.dtype, self.slots.data(packed), place)
        self._each(list(batch), extents, [self.operand(sizes, view, f"{batch}kn"), target], one)

    def product_rows(self, call: RoutineCall) -> None:
        f, sizes, into = self.f, SizeEmitter(self.slots), call.into
        (view, packed), (made,) = call.inputs, call.outputs
        assert into is not None
        a = self.operand(sizes, view, "mk")
        c = self.operand(sizes, View(made, into, made.dtype), "mn")
        chain, start, per, n = map(sizes, call.sizes)
        count, k = map(sizes, view.geometry.shape)
        f.run(f"npc.rows.{a.dtype.name}", chain, start, count, per, n, k, a.pointer, a.stride("m"),
              a.stride("k"), self.slots.data(packed.buffer), c.pointer, c.stride("m"))

    def gram_rows(self, call: RoutineCall) -> None:
        f, sizes, into = self.f, SizeEmitter(self.slots), call.into
        (view, _), (made,) = call.inputs, call.outputs
        assert into is not None
        a = self.operand(sizes, view, "kn")
        c = self.operand(sizes, View(made, into, made.dtype), "mn")
        f.run(f"npc.gram.{a.dtype.name}", *map(sizes, view.geometry.shape), a.pointer,
              a.stride("k"), a.stride("n"), c.pointer)

    def gram_sum(self, call: RoutineCall) -> None:
        f, sizes, (view,), (made,) = self.f, SizeEmitter(self.slots), call.inputs, call.outputs
        count, n, _ = map(sizes, view.geometry.shape)
        f.run(f"npc.gram_sum.{made.dtype.name}", count, n, self.slots.data(view.buffer),
              self.slots.data(made))

    def vector_rows(self, call: RoutineCall) -> None:
        f, sizes, into = self.f, SizeEmitter(self.slots), call.into
        matrix, vector = call.inputs[:2]
        assert into is not None
        a, x = self.operand(sizes, matrix, "mn"), self.operand(sizes, vector, "k")
        made = self.operand(sizes, View(call.outputs[0], into, a.dtype), "k")
        f.run(f"npc.{call.routine.routine}.{a.dtype.name}", *map(sizes, matrix.geometry.shape),
              a.pointer, a.stride("m"), x.pointer, made.pointer)

    add_rows = vector_rows

    def product(self, call: RoutineCall) -> None:
        """One product of vectors or matrices, inside loops over all other indices."""
        spec, sizes = parse(call.routine.spec), SizeEmitter(self.slots)
        (left, right), (out,) = call.inputs, call.outputs
        extents: dict[str, Size] = dict(zip(spec.left, left.geometry.shape))
        extents.update(zip(spec.right, right.geometry.shape))
        a = self.operand(sizes, left, spec.left)
        b = self.operand(sizes, right, spec.right)
        c = self.target(sizes, out, spec.out)
        runs = next((x for x in reversed(spec.out) if c.stride(x).text == "1"), "")
        if runs in spec.rows:  # columns are what lies side by side
            a, b, spec = b, a, Spec(spec.right, spec.left, spec.out)
        column = runs if runs in spec.columns else ""
        row = spec.rows[-1:]
        around = [letter for letter in spec.out if letter not in (row, column)]
        count = {letter: sizes(extent) for letter, extent in extents.items()}
        self._each(around, count, [a, b, c],
                   lambda abc: self._one(count, abc, row, column, spec.summed, call.routine.name))
        self.deliver(out, c.pointer)

    def _one(self, count: dict[str, Value], operands: list[Operand], row: str, column: str,
             summed: str, function: str) -> None:
        a, b, c = operands
        m, n, k = (count.get(letter, i64(1)) for letter in (row, column, summed))
        name = a.dtype.name
        if not row and not column:
            self.f.run(f"npc.dot.{name}", k, a.pointer, a.stride(summed), b.pointer,
                       b.stride(summed), c.pointer)
            return
        self.f.run(f"npc.gemm.{name}", m, n, k, a.pointer, a.stride(row), a.stride(summed),
                   b.pointer, b.stride(summed), b.stride(column), c.pointer, c.stride(row),
                   i64(1 if function == "dot" else 2))


def _in_batches(call: RoutineCall, routine: Routine, name: str) -> bool:
    """Whether there are several matrices, of which small ones have kernels."""
    first = call.inputs[0]
    axes = len(routine.core.partition("->")[0].split(",")[0])
    return len(first.geometry.shape) > axes and batches.has(name, first.dtype)


def _one_run(call: RoutineCall, axes: int) -> int:
    """How many of the last axes of a batch are one, with one stride from matrix to matrix, in all
    operands and results."""
    results = call.outputs[:-1]
    arrays = [(view.geometry.shape, view.geometry.strides) for view in call.inputs]
    arrays += [(buffer.shape, buffer.strides) for buffer in results]
    found = min(1, axes)
    while 0 < found < axes:
        at = axes - found
        if not all(strides[at - 1] == strides[at] * shape[at] for shape, strides in arrays):
            break
        found += 1
    return found
