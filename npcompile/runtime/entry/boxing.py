"""Machine code that turns what is in the frame into the Python objects of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.backends.cpu.llvm.frame import FrameLayout
from npcompile.backends.cpu.loader.symbols import descr
from npcompile.core.paths import defer
from npcompile.core.sizes import Symbol, largest
from npcompile.program.ir import (
    Buffer,
    BufferResult,
    Call,
    ItemsResult,
    ObjectResult,
    ParamResult,
    Program,
    Result,
    ScalarResult,
    StaticResult,
    ViewResult,
    flat,
)
from npcompile.runtime.entry.function_writer import Writer
from npcompile.runtime.entry.guard_code import WRITEABLE, SizeEvaluator
from npcompile.runtime.entry.result_building import constants, leaves, maker, native
from npcompile.runtime.entry.state import BUILD, Signature
from npcompile.runtime.unsafe.layout import Layout

if TYPE_CHECKING:
    from npcompile.runtime.entry import list_code
else:
    defer(globals(), "npcompile.runtime.entry", "list_code")

#: buffers whose object the frame holds a reference to
HOLDING = frozenset({"result", "owned", "object"})


class Boxing:
    """Writes the code that boxes one result.

    Every reference made is at once owned by something that the failure path releases: a result
    buffer's object slot of the frame, or the outermost tuple.
    """

    def __init__(
        self,
        writer: Writer,
        layout: Layout,
        signature: Signature,
        program: Program,
        frame: FrameLayout,
    ) -> None:
        self.writer = writer
        self.layout = layout
        self.signature = signature
        self.program = program
        self.frame = frame
        self.fail = "failed"
        self._sizes = SizeEvaluator(writer, self._symbol)
        self._constants = 0
        self.room: list[str] = []
        self._moved: set[Buffer] = set()
        self._views: dict[int, str] = {}
        self._single: dict[int, str] = {}
        self._containers: dict[int, str] = {}
        self._lists: list_code.ListCode | None = None
        self._numbers: dict[int, str] = {}
        self._results = list(leaves(program.result))

    def emit(self) -> str:
        """Writes everything; the value of the result, a new reference."""
        ranks = [len(leaf.geometry.shape) for leaf in self._results if isinstance(leaf, ViewResult)]
        for name in ("%dims", "%strides") if ranks else ():
            self.room.append(f"{name} = alloca [{max(*ranks, 1)} x i64]")
        for slot in ("%root", "%pending"):
            self.writer.store("ptr", "null", slot)
        result = self.program.result
        if not isinstance(result, ItemsResult):
            return self._leaf(result)
        if native(result):
            return self._made(result) if maker(result) else self._container(result, "%root")
        w = self.writer
        flat = self._container(ItemsResult(tuple, tuple(self._results)), "%root")
        build = w.load("ptr", w.data("npc.state"), 8 * BUILD)
        args = (("ptr", "%root"), ("i64", 1), ("ptr", "null"))
        made = self._checked(w.call("ptr", "PyObject_Vectorcall", ("ptr", build), *args))
        w.call("void", "Py_DecRef", ("ptr", flat))
        return made

    @property
    def left_over(self) -> list[Buffer]:
        """Result buffers whose objects are still the frame's."""
        return [b for b in self.program.buffers if b.kind in HOLDING and b not in self._moved]

    def _symbol(self, name: Symbol) -> str:
        return self.writer.load("i64", "%frame", 8 * self.frame.symbol(name))

    def _checked(self, value: str) -> str:
        """``value`` where it is no NULL."""
        self.writer.require(self.writer.add("icmp ne", "ptr", value, "null"), self.fail)
        return value

    def _new_reference(self, value: str) -> str:
        self.writer.call("void", "Py_IncRef", ("ptr", value))
        return value

    def _leaf(self, result: Result) -> str:
        """A new reference to one leaf."""
        match result:
            case ParamResult(index):
                buffer = self.program.params[index]
                return self._new_reference(self._object(buffer))
            case BufferResult(buffer):
                return self._buffer(buffer)
            case ScalarResult():
                if not result.ident:
                    return self._scalar(result)
                if result.ident in self._numbers:
                    return self._new_reference(self._numbers[result.ident])
                made = self._numbers[result.ident] = self._scalar(result)
                return made
            case ObjectResult(buffer):
                return self._new_reference(self._object(buffer))
            case StaticResult():
                slot = self.signature.constant(self._constants)
                self._constants += 1
                w = self.writer
                return self._new_reference(w.load("ptr", w.data("npc.state"), 8 * slot))
            case ViewResult():
                return self._view(result)
            case ItemsResult():
                raise AssertionError("a container is no leaf")

    def _made(self, result: ItemsResult) -> str:
        """A new reference to what a function makes of one leaf."""
        if result.ident in self._single:
            return self._new_reference(self._single[result.ident])
        item = self._leaf(result.items[0])
        made = self._checked(self.writer.call("ptr", maker(result), ("ptr", item)))
        if result.ident:
            self._single[result.ident] = made
        return made

    def _container(self, result: ItemsResult, parent: str, at: int = 0) -> str:
        """A tuple or list, owned at once by its parent; the outermost is what failure releases."""
        w = self.writer
        if result.ident in self._containers:
            made = self._new_reference(self._containers[result.ident])
            w.store("ptr", made, parent, at)
            self._constants += len(constants(result))
            return made
        plain = result.kind in (tuple, list)
        name = "PyTuple_New" if result.kind is tuple else "PyList_New"
        size = ("i64", len(result.items))
        made = self._checked(w.call("ptr", name, size) if plain else self._columns(result))
        w.store("ptr", made, parent, at)
        if result.ident:
            self._containers[result.ident] = made
        held, first = made, self.layout.tuple_items
        if result.kind is list and result.items:
            held, first = w.load("ptr", made, self.layout.list_items), 0
        for k, item in enumerate(result.items if plain else ()):
            if not isinstance(item, ItemsResult):
                w.store("ptr", self._leaf(item), held, first + 8 * k)
            elif maker(item):
                w.store("ptr", self._made(item), held, first + 8 * k)
            else:
                self._container(item, held, first + 8 * k)
        return made

    def _columns(self, result: ItemsResult) -> str:
        """A new list of columns; NULL where memory has run out."""
        if self._lists is None:
            self._lists = list_code.ListCode(self.layout)
        w, (item,) = self.writer, result.keys
        buffers = [leaf.buffer for leaf in result.items if isinstance(leaf, BufferResult)]
        sizes = [buffers[0].shape[0], *(size for b in buffers for size in b.shape[1:])]
        count, *lengths = [f"i64 {self._sizes.emit(size)}" for size in sizes]
        columns = [f"ptr {w.load('ptr', '%frame', 8 * self.frame.data(b))}" for b in buffers]
        function, args = self._lists.function(item), ", ".join([count, *columns, *lengths])
        return w.let(f"call ptr @{function}({args})")

    @property
    def functions(self) -> list[str]:
        """The texts of functions that the code calls."""
        return [] if self._lists is None else self._lists.texts

    def _object(self, buffer: Buffer) -> str:
        return self.writer.load("ptr", "%frame", 8 * self.frame.object(buffer))

    def _buffer(self, buffer: Buffer) -> str:
        thing = self._object(buffer)
        if self._keeps(buffer):
            return self._new_reference(thing)
        self._moved.add(buffer)
        self.writer.store("ptr", "null", "%frame", 8 * self.frame.object(buffer))
        return thing

    def _keeps(self, buffer: Buffer) -> bool:
        """Whether the frame must keep its reference: the buffer is needed more than once."""
        uses = sum(
            leaf == BufferResult(buffer)
            or (isinstance(leaf, ViewResult) and leaf.base == BufferResult(buffer))
            for leaf in self._results
        )
        return uses > 1

    def _scalar(self, result: ScalarResult) -> str:
        w, buffer = self.writer, result.buffer
        at = w.at("%frame", 8 * self.frame.number(buffer))
        if result.origin == "np":
            dtype = w.data(descr(buffer.dtype))
            return self._checked(
                w.call("ptr", "PyArray_Scalar", ("ptr", at), ("ptr", dtype), ("ptr", "null"))
            )
        match buffer.dtype.kind:
            case "b":
                true = w.add("icmp ne", "i8", w.load("i8", at), 0)
                yes, no = w.data("_Py_TrueStruct"), w.data("_Py_FalseStruct")
                return self._new_reference(w.let(f"select i1 {true}, ptr {yes}, ptr {no}"))
            case "i":
                made = w.call("ptr", "PyLong_FromLongLong", ("i64", w.load("i64", at)))
            case "f":
                made = w.call("ptr", "PyFloat_FromDouble", ("double", w.load("double", at)))
            case _:
                parts = [("double", w.load("double", at, k)) for k in (0, 8)]
                made = w.call("ptr", "PyComplex_FromDoubles", *parts)
        return self._checked(made)

    def _view(self, view: ViewResult) -> str:
        if view.ident in self._views:
            return self._new_reference(self._views[view.ident])
        w, base = self.writer, view.base
        buffer = self.program.params[base.index] if isinstance(base, ParamResult) else base.buffer
        unit = buffer.dtype.itemsize
        geometry = view.geometry
        for k, size in enumerate(geometry.shape):  # below 0 in an option that is not taken
            w.store("i64", self._sizes.emit(largest(size, 0)), "%dims", 8 * k)
        filled = self._sizes.emit(view.filled)
        some = w.add("icmp ne", "i64", filled, 0)
        for k, size in enumerate(geometry.strides):
            stride = w.let(f"select i1 {some}, i64 {self._sizes.emit(size * unit)}, i64 0")
            w.store("i64", stride, "%strides", 8 * k)
        half = unit // 2 if geometry.part == "imag" else 0
        offset = self._sizes.emit(geometry.offset * unit + half)
        start = w.load("ptr", "%frame", 8 * self.frame.data(buffer))
        data = w.let(f"getelementptr i8, ptr {start}, i64 {offset}")
        owner = self._object(buffer)
        inherited = WRITEABLE if view.writeable else 0
        flags = w.add("and", "i32", w.load("i32", owner, self.layout.flags), inherited)
        dtype = self._new_reference(w.data(descr(view.dtype)))
        made = self._checked(
            w.call(
                "ptr", "PyArray_NewFromDescr",
                ("ptr", w.data("PyArray_Type")), ("ptr", dtype), ("i32", len(geometry.shape)),
                ("ptr", "%dims"), ("ptr", "%strides"), ("ptr", data), ("i32", flags),
                ("ptr", "null"),
            )
        )
        w.store("ptr", made, "%pending")
        self._new_reference(owner)  # for the view to own
        status = w.call("i32", "PyArray_SetBaseObject", ("ptr", made), ("ptr", owner))
        w.require(w.add("icmp eq", "i32", status, 0), self.fail)
        w.store("ptr", "null", "%pending")
        self._views[view.ident] = made
        return made


def without_objects(signature: Signature, program: Program) -> frozenset[int]:
    """The tensors of whose memory no array is made: neither the result nor a call has it."""
    lent = {k for k, place in enumerate(signature.places) if place.kind == "lent"}
    if not lent or any(isinstance(statement, Call) for statement in flat(program.body)):
        return frozenset()
    from npcompile.runtime.unsafe import torch_functions

    if torch_functions.exchange() is None:
        return frozenset()
    used = {
        base.index for leaf in leaves(program.result)
        for base in (leaf, getattr(leaf, "base", None)) if isinstance(base, ParamResult)
    }
    return frozenset(lent - used)
