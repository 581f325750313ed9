"""Calls of real Python functions in generated code.

An operand is the caller's own array where it is shown whole, else a new array object on the same
memory, which lives as long as the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from npcompile.backends.cpu.llvm.scalar import component, memory
from npcompile.backends.cpu.llvm.sizes import SizeEmitter, Slots
from npcompile.backends.cpu.llvm.text import Value, i64, literal
from npcompile.backends.cpu.loader.symbols import descr
from npcompile.backends.cpu.loops.python_objects import (
    ARRAY_BASE,
    ARRAY_DATA,
    ARRAY_DESCR,
    ARRAY_DIMENSIONS,
    ARRAY_FLAGS,
    NULL,
    OBJECT_TYPE,
    ORDINARY,
    OWNED,
    Objects,
    new_array,
)
from npcompile.core.paths import defer
from npcompile.core.sizes import Size
from npcompile.graph.ir import CallSite, Direct, Geometry, HostCall
from npcompile.program.ir import Buffer, Call, View

if TYPE_CHECKING:
    from npcompile.backends.cpu.loops import random_numbers
else:
    defer(globals(), "npcompile.backends.cpu.loops", "random_numbers")


class HostCalls:
    """Emits calls of Python functions on a program's buffers."""

    def __init__(self, slots: Slots, objects: Objects, leave: Callable[[], None]) -> None:
        self.f, self.slots, self.objects = slots.f, slots, objects
        self.leave = leave  # with an exception set
        self.ours: list[Value] = []  # references to give back
        self.ways: dict[int, str] = {}  # out of the call, with so many of them

    def emit(self, call: Call) -> None:
        """Calls the function and brings its results into the outputs.

        Floating-point flags are put back: NumPy clears them, and reports its own itself.
        """
        f = self.f
        self.ours = []
        self.ways = {}
        sizes = SizeEmitter(self.slots)
        if isinstance(call.function, CallSite) and call.function.direct is not None:
            with self.not_drawn(call):
                inputs = [self.operand(sizes, view) for view in call.inputs]
                self.direct(call.function.direct, inputs, call.outputs)
                self.release()
            return
        inputs = [self.operand(sizes, view) for view in call.inputs]
        outputs = [] if isinstance(call.function, CallSite) else [
            self.operand(sizes, whole(b), True) for b in call.outputs if b.kind != "owned"
        ]
        control = f.alloca("i32")
        f.run("npc.fp.save", control)
        result = self.call(call.function, inputs, outputs)
        f.run("npc.fp.restore", control)
        self.require(result)
        if isinstance(call.function, CallSite):
            self.take(result, call.outputs)
        elif not outputs and call.outputs:
            result = self.adopt(sizes, result, call.outputs[0])
        elif not call.function.out:
            self.copy(result, outputs)
        f.run("Py_DecRef", result)
        self.release()

    def release(self) -> None:
        for value in self.ours:
            self.f.run("Py_DecRef", value)

    def require(self, made: Value, also: Value | None = None) -> None:
        """Leaves if an object was not made."""
        f = self.f
        out, on = f.name_for("failed"), f.name_for("on")
        f.branch(f.icmp("eq", made, NULL), out, on)
        f.label(out)
        if also is not None:
            f.run("Py_DecRef", also)
        self.undo()
        f.label(on)

    def undo(self) -> None:
        """Gives back one reference after the other and leaves: by the code that is there already
        for those that came first, or calls with many operands would take it for each of them."""
        f = self.f
        for count in range(len(self.ours), -1, -1):
            if count in self.ways:
                f.jump(self.ways[count])
                return
            way = self.ways[count] = f.name_for("undo")
            f.jump(way)
            f.label(way)
            if count:
                f.run("Py_DecRef", self.ours[count - 1])
        self.leave()

    # ------------------------------------------------------------------ operands

    def operand(self, sizes: SizeEmitter, view: View, writes: bool = False) -> Value:
        buffer, geometry = view.buffer, view.geometry
        if buffer.kind == "object":
            return self.slots.object(buffer)
        if buffer.kind == "scalar" and not writes:
            made = self.number(buffer, view.origin)
        elif buffer.kind in OWNED and geometry == whole(buffer).geometry:
            return self.slots.object(buffer)
        else:
            made = self.view(sizes, view)
        self.require(made)
        self.ours.append(made)
        return made

    def number(self, buffer: Buffer, origin: str) -> Value:
        """A number as an object."""
        f = self.f
        if origin == "np":
            kind = f.module.extern(descr(buffer.dtype))
            return f.call("PyArray_Scalar", ("ptr", 1), self.slots.data(buffer), kind, NULL)
        parts = self.slots.number(buffer)
        match buffer.dtype.kind:
            case "b":
                wide = f.convert("zext", parts[0], "i64")
                return f.call("PyBool_FromLong", ("ptr", 1), wide)
            case "i":
                return f.call("PyLong_FromLongLong", ("ptr", 1), *parts)
            case "f":
                return f.call("PyFloat_FromDouble", ("ptr", 1), *parts)
        return f.call("PyComplex_FromDoubles", ("ptr", 1), *parts)

    def view(self, sizes: SizeEmitter, view: View) -> Value:
        """An array object on a view of a buffer's memory."""
        f, geometry, unit = self.f, view.geometry, view.buffer.dtype.itemsize
        place: Size = geometry.offset * unit
        if geometry.part == "imag":
            place = place + component(view.buffer.dtype).itemsize
        data = f.offset(self.slots.data(view.buffer), "i8", sizes(place))
        strides = [sizes(stride * unit) for stride in geometry.strides]
        made = new_array(f, view.dtype, [sizes(n) for n in geometry.shape], strides, data)
        if view.buffer.kind in OWNED:
            self.require(made)
            owner = self.slots.object(view.buffer)
            f.run("Py_IncRef", owner)  # for the view to own
            f.call("PyArray_SetBaseObject", ("i32", 1), made, owner)
        return made

    # ------------------------------------------------------------------ the call

    def call(
        self, function: HostCall | CallSite, inputs: list[Value], outputs: list[Value]
    ) -> Value:
        if isinstance(function, CallSite):
            return self.vectorcall(function, inputs, {})
        split = len(inputs) - len(function.keywords)
        positional = list(inputs[:split])
        keywords = dict(zip(function.keywords, inputs[split:], strict=True))
        for where, constant in function.statics:
            value = self.constant(constant)
            if isinstance(where, int):
                positional.insert(where, value)
            else:
                keywords[where] = value
        if function.out:
            (keywords["out"],) = outputs
        return self.vectorcall(function, positional, keywords)

    def vectorcall(
        self, function: object, positional: list[Value], keywords: dict[str, Value]
    ) -> Value:
        f = self.f
        args = [*positional, *keywords.values()]
        room = f.alloca("ptr", len(args) + 1)
        for position, value in enumerate(args, 1):  # one slot before them is the callee's
            f.store(value, f.offset(room, "ptr", i64(position)))
        names = self.constant(tuple(keywords)) if keywords else NULL
        count = literal("i64", len(positional) | 1 << 63)
        first = f.offset(room, "ptr", i64(1))
        return f.call("PyObject_Vectorcall", ("ptr", 1), self.constant(function), first, count,
                      names)

    @contextmanager
    def not_drawn(self, call: Call) -> Iterator[None]:
        """The code written inside this context runs where machine code can't draw the number."""
        f, site = self.f, call.function
        assert isinstance(site, CallSite)
        assert site.direct is not None
        wanted = random_numbers.draw(site.path, site.direct, call.inputs)
        if wanted is None:
            yield
            return
        first, elem = site.direct.arguments[0], random_numbers.GIVES[wanted.kind]
        generator = self.slots.object(call.inputs[first].buffer) if isinstance(first, int) else (
            self.constant(first.value))
        fits, _, number = call.outputs
        room = f.alloca(elem)
        with f.either(random_numbers.attempt(self.slots, wanted, generator, room)) as others:
            f.store(literal("i8", 1), self.slots.data(fits))
            f.store(f.load(room, elem), self.slots.data(number))
            others()
            yield

    def direct(
        self, site: Direct, inputs: list[Value], outputs: tuple[Buffer, ...]
    ) -> None:
        """Calls a function that gives a number, without a Python function between."""
        f = self.f
        args = [
            inputs[a] if isinstance(a, int) else self.constant(a.value) for a in site.arguments
        ]
        split = len(args) - len(site.names)
        keywords = dict(zip(site.names, args[split:], strict=True))
        control = f.alloca("i32")
        f.run("npc.fp.save", control)
        result = self.vectorcall(site.function, args[:split], keywords)
        f.run("npc.fp.restore", control)
        with f.when(f.icmp("eq", result, NULL)):
            for name, file, line in site.places:
                texts = [
                    f.call("PyBytes_AsString", ("ptr", 1), self.constant(t)) for t in (name, file)
                ]
                f.run("_PyTraceback_Add", *texts, literal("i32", line))
        self.require(result)
        fits, outcome, number = outputs
        kind = f.load(f.offset(result, "i8", i64(OBJECT_TYPE)), "ptr")
        same = f.icmp("eq", kind, self.constant(site.kind))
        f.store(f.convert("zext", same, "i8"), self.slots.data(fits))
        f.run("Py_DecRef", self.slots.object(outcome))  # of the iteration before
        self.slots.set_object(outcome, result)
        with f.when(same):
            self.unbox(result, number)

    def constant(self, what: Any) -> Value:
        return self.f.module.extern(self.objects.name(what))

    def take(self, result: Value, outputs: tuple[Buffer, ...]) -> None:
        """Takes over the items of a tuple, whose kinds are known."""
        f = self.f
        for position, buffer in enumerate(outputs):
            item = f.call("PyTuple_GetItem", ("ptr", 1), result, i64(position))  # borrowed
            if buffer.kind == "scalar":
                self.unbox(item, buffer)
                continue
            f.run("Py_IncRef", item)
            f.run("Py_DecRef", self.slots.object(buffer))  # of the iteration before
            self.slots.set_object(buffer, item)
            if buffer.kind == "owned":
                place = f.offset(item, "i8", i64(ARRAY_DATA))
                self.slots.set_data(buffer, f.load(place, "ptr"))

    def unbox(self, item: Value, buffer: Buffer) -> None:
        """Stores a number of the buffer's type, be it Python's or NumPy's."""
        f, place, elem = self.f, self.slots.data(buffer), memory(buffer.dtype)
        match buffer.dtype.kind:
            case "b":
                parts = [f.call("PyObject_IsTrue", ("i32", 1), item)]
            case "i":
                parts = [f.call("PyLong_AsLongLong", ("i64", 1), item)]
            case "u":
                parts = [f.call("PyLong_AsUnsignedLongLongMask", ("i64", 1), item)]
            case _ if buffer.dtype.char in "eF":  # Python's functions read half of it
                f.run("PyArray_ScalarAsCtype", item, place)
                return
            case "f":
                parts = [f.call("PyFloat_AsDouble", ("double", 1), item)]
            case _:
                names = ("PyComplex_RealAsDouble", "PyComplex_ImagAsDouble")
                parts = [f.call(name, ("double", 1), item) for name in names]
        for k, part in enumerate(parts):
            if part.elem != elem:
                part = f.convert("fptrunc" if part.elem == "double" else "trunc", part, elem)
            f.store(part, f.offset(place, elem, i64(k)))

    def adopt(self, sizes: SizeEmitter, result: Value, buffer: Buffer) -> Value:
        """Stores the result of a library function as a buffer: the array itself if it is as
        expected and has no other owner, else a copy.  Gives the reference to be released."""
        f = self.f
        shape = [sizes(n) for n in buffer.shape]
        fresh, as_it_is = f.alloca("ptr"), self.is_fresh(result, buffer, shape)
        f.store(result, fresh)
        with f.when(f.negate(as_it_is)):
            made = new_array(f, buffer.dtype, shape, None)
            self.require(made, result)
            failed = f.call("PyArray_CopyObject", ("i32", 1), made, result)
            with f.when(f.icmp("slt", failed, literal("i32", 0))):
                f.run("Py_DecRef", made)
            done = f.select(f.icmp("slt", failed, literal("i32", 0)), NULL, made)
            self.require(done, result)
            f.run("Py_DecRef", result)
            f.store(made, fresh)
        taken = f.load(fresh, "ptr")
        f.run("Py_DecRef", self.slots.object(buffer))  # of the iteration before
        self.slots.set_object(buffer, taken)
        self.slots.set_data(buffer, f.load(f.offset(taken, "i8", i64(ARRAY_DATA)), "ptr"))
        return NULL

    def is_fresh(self, result: Value, buffer: Buffer, shape: list[Value]) -> Value:
        """Whether an object is an array of this type and shape with memory that only it refers
        to."""
        f = self.f

        def word(place: Value, at: int, elem: str = "ptr") -> Value:
            return f.load(f.offset(place, "i8", i64(at)), elem)

        def both(a: Value, b: Value) -> Value:
            return f.binary("and", a, b)

        found = f.icmp("eq", word(result, OBJECT_TYPE), f.module.extern("PyArray_Type"))
        fresh = f.alloca("i1")
        f.store(found, fresh)
        with f.when(found):
            alone = f.icmp("eq", word(result, 0, "i32"), literal("i32", 1))
            alone = both(alone, f.icmp("eq", word(result, ARRAY_BASE), NULL))
            kind = f.icmp("eq", word(result, ARRAY_DESCR), f.module.extern(descr(buffer.dtype)))
            rank = f.icmp("eq", word(result, ARRAY_DATA + 8, "i32"), literal("i32", len(shape)))
            flags = f.binary("and", word(result, ARRAY_FLAGS, "i32"), literal("i32", ORDINARY))
            plain = both(f.icmp("eq", flags, literal("i32", ORDINARY)), rank)
            f.store(both(both(alone, kind), plain), fresh)
        with f.when(f.load(fresh, "i1")):
            lengths, same = word(result, ARRAY_DIMENSIONS), f.load(fresh, "i1")
            for axis, length in enumerate(shape):
                same = both(same, f.icmp("eq", word(lengths, 8 * axis, "i64"), length))
            f.store(same, fresh)
        return f.load(fresh, "i1")

    def copy(self, result: Value, outputs: list[Value]) -> None:
        f = self.f
        for position, output in enumerate(outputs):
            item = result
            if len(outputs) > 1:
                item = f.call("PySequence_GetItem", ("ptr", 1), result, i64(position))
                self.require(item, result)
            failed = f.call("PyArray_CopyObject", ("i32", 1), output, item)
            if item is not result:
                f.run("Py_DecRef", item)
            done = f.select(f.icmp("slt", failed, literal("i32", 0)), NULL, output)
            self.require(done, result)


def whole(buffer: Buffer) -> View:
    return View(buffer, Geometry(0, buffer.shape, buffer.strides), buffer.dtype)
