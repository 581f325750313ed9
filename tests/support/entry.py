"""Entries with hand-written bodies, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npcompile.backends.cpu.llvm.frame import FrameLayout
from npcompile.backends.cpu.loader.compile import compile, load
from npcompile.backends.cpu.loader.symbols import descr
from npcompile.core.sizes import Predicate, Size, Symbol, symbol
from npcompile.graph.types import PYTHON, Array, Scalar, contiguous
from npcompile.guards.sources import Arg, Leaf
from npcompile.program.ir import Buffer, Program, Result
from npcompile.runtime.entry import result_building
from npcompile.runtime.entry.entry_code import emit_entry
from npcompile.runtime.entry.function_writer import Writer, combine
from npcompile.runtime.entry.state import EntryState, Signature
from npcompile.runtime.memory import recycled
from npcompile.runtime.unsafe.native_functions import FunctionBase, install

F8 = np.dtype("f8")


class Probe(FunctionBase):
    """Tells what arrived in Python."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return ("python", args, kwargs)


def leave(function: Any, code: int, flags: int, what: Any, *args: Any, **kwargs: Any) -> Any:
    return ("exit", code, flags, what, args, kwargs)


def atom(size: Size) -> Symbol:
    """The symbol that a size made by ``symbol`` is."""
    assert not isinstance(size, int)
    found = size.terms[0][0][0]
    assert isinstance(found, Symbol)
    return found


def array_leaf(name: str, dtype: Any = F8, ndim: int = 1, strided: bool = False) -> Leaf:
    shape = tuple(symbol(f"{name}{k}", 5, 0) for k in range(ndim))
    type_ = contiguous(np.dtype(dtype), shape)
    if strided:
        type_ = Array(type_.dtype, shape, tuple(symbol(f"{name}s{k}", 1) for k in range(ndim)))
    return Leaf(Arg(name, 0), type_, not strided)


def number_leaf(kind: Any) -> Leaf:
    return Leaf(Arg("n", 0), PYTHON.get(kind) or Scalar(np.dtype(kind), "np"))


def buffers(leaves: Sequence[Leaf]) -> list[Buffer]:
    """The parameter buffers of leaves."""
    found = []
    for k, leaf in enumerate(leaves):
        if isinstance(leaf.type, Array):
            made = Buffer(f"p{k}", "param", leaf.type.dtype, leaf.type.shape, leaf.type.strides, k)
        else:
            made = Buffer(f"p{k}", "scalar", leaf.type.dtype, index=k)
        found.append(made)
    return found


class Body:
    """The text of ``@body``."""

    def __init__(self, frame: FrameLayout) -> None:
        self.frame = frame
        self.writer = Writer()

    def new_array(self, result: Buffer, dims: int) -> None:
        """Allocates a result; its lengths start at slot ``dims``."""
        w, frame = self.writer, self.frame
        dtype = w.data(descr(result.dtype))
        w.call("void", "Py_IncRef", ("ptr", dtype))
        made = w.call(
            "ptr", "PyArray_NewFromDescr", ("ptr", w.data("PyArray_Type")), ("ptr", dtype),
            ("i32", len(result.shape)), ("ptr", w.at("%frame", 8 * dims)), ("ptr", "null"),
            ("ptr", "null"), ("i32", 0), ("ptr", "null"),
        )
        w.store("ptr", made, "%frame", 8 * frame.object(result))
        w.store("ptr", w.load("ptr", made, 16), "%frame", 8 * frame.data(result))

    def double_plus_one(self, out: Buffer, source: Buffer, count: int) -> None:
        """``out[i] = source[i] * 2 + 1`` for as many doubles as slot ``count`` says."""
        w, frame = self.writer, self.frame
        n = w.load("i64", "%frame", 8 * count)
        to, of = (w.load("ptr", "%frame", 8 * frame.data(b)) for b in (out, source))
        w.do("br label %before")
        w.label("before")
        w.branch(w.add("icmp sgt", "i64", n, 0), "loop", "done")
        w.label("loop")
        w.do("%i = phi i64 [0, %before], [%next, %loop]")
        x = w.load("double", w.let(f"getelementptr double, ptr {of}, i64 %i"))
        y = w.add("fadd", "double", w.add("fmul", "double", x, "2.0"), "1.0")
        w.store("double", y, w.let(f"getelementptr double, ptr {to}, i64 %i"))
        w.do("%next = add i64 %i, 1")
        w.branch(w.add("icmp slt", "i64", "%next", n), "loop", "done")
        w.label("done")

    def copy_number(self, out: Buffer, source: Buffer) -> None:
        w, frame = self.writer, self.frame
        for k in (0, 8):
            word = w.load("i64", "%frame", 8 * frame.number(source) + k)
            w.store("i64", word, "%frame", 8 * frame.number(out) + k)

    def text(self, status: str = "-1") -> str:
        w = self.writer
        head = ["define i64 @body(ptr %frame) {", "start:"]
        return "\n".join([*w.outside.values(), *head, *w.lines, f"  ret i64 {status}", "}"])


class Entry:
    """A function with one compiled entry."""

    def __init__(self, signature: Signature, program: Program, body: Body | None = None,
                 status: str = "-1", exit: Any = leave, same: tuple[Any, ...] = ()) -> None:
        frame = body.frame if body is not None else FrameLayout(program)
        text = (body or Body(frame)).text(status)
        self.state = EntryState(
            signature, type(self).python, exit, same, result_building.constants(program.result),
            result_building.builder(program.result),
        )
        recycled.ensure()  # entries call functions of its module
        self.code = compile(combine(emit_entry(signature, program, frame), text))
        self.loaded = load(self.code, {"npc.state": self.state.address})
        self.function: Any = Probe()
        install(self.function, self.loaded["entry"])

    @staticmethod
    def python(function: Any, *args: Any, **kwargs: Any) -> Any:
        return type(function).__call__(function, *args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def program(leaves: Sequence[Leaf], result: Result, more: Sequence[Buffer] = (),
            guards: Sequence[Predicate] = (), **fields: Any) -> Program:
    params = fields.pop("params", None) or buffers(leaves)
    return Program("f", params, list(more), (), result, list(guards), **fields)
