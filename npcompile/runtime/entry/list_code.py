"""Machine code that makes Python's lists of columns (:mod:`npcompile.graph.items`).

For each type of items the entry gets one function with a loop over the items::

    define internal ptr @npc.list.K(i64 %count, ptr %column.0, ..., i64 %size.0, ...)

The result is a new reference, or NULL with an exception set.  Every object that the function makes
is stored at once into the list or tuple that holds it, so that releasing the list releases all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from npcompile.backends.cpu.loader.symbols import descr
from npcompile.graph.ir import Columns
from npcompile.graph.items import AnyOrigin, Line, Row
from npcompile.graph.types import BOOL, Scalar, c_strides
from npcompile.program.results import BufferResult, ItemsResult
from npcompile.runtime.entry.function_writer import Writer
from npcompile.runtime.unsafe.layout import Layout

#: LLVM's types of the numbers that columns hold, by the dtypes' kinds
_WORDS = {"b": "i8", "i": "i64", "f": "double"}


class ListCode:
    """Writes the functions that make lists of columns; ``texts`` holds them."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._names: dict[Any, str] = {}
        self.texts: list[str] = []

    def function(self, item: Any) -> str:
        """The name of the function that makes lists of items of this type."""
        key = _form(item)
        if key not in self._names:
            name = self._names[key] = f"npc.list.{len(self._names)}"
            self.texts.append(_ListFunction(self._layout, item).text(name))
        return self._names[key]


def numbers(item: Any) -> Iterator[Any]:
    """The types of the numbers or arrays of an item: there is a column for each."""
    if isinstance(item, (Line, Row, tuple)):
        inner = item if isinstance(item, tuple) else item.items if isinstance(item, Row) else (
            item.item,)
        for part in inner:
            yield from numbers(part)
    elif isinstance(item, AnyOrigin):
        yield from (Scalar(item.dtype, "py"), Scalar(BOOL, "np"))
    else:
        yield item


def has_objects(result: ItemsResult) -> bool:
    """Whether a result is a list of columns that machine code makes objects of."""
    return result.kind is Columns and all(map(_boxed, numbers(result.keys[0]))) and all(
        isinstance(column, BufferResult) and column.buffer.strides == c_strides(column.buffer.shape)
        for column in result.items
    )


def _boxed(kind: Any) -> bool:
    """Whether a column holds numbers that Python has, or NumPy's."""
    return isinstance(kind, Scalar) and (
        kind.origin == "np" or kind.dtype.str[1:] in ("b1", "i8", "f8", "c16")
    )


def depth(item: Any) -> int:
    """How many lists, each as long as all others at its place, an item is made of."""
    if isinstance(item, Line):
        return 1 + depth(item.item)
    inner = item.items if isinstance(item, Row) else item
    return sum(map(depth, inner)) if isinstance(inner, tuple) else 0


def _form(item: Any) -> Any:
    """What the function of a type of items depends on."""
    if isinstance(item, Line):
        return Line, _form(item.item)
    if isinstance(item, Row):
        return Row, tuple(map(_form, item.items))
    return tuple(map(_form, item)) if isinstance(item, tuple) else item


class _ListFunction:
    """Writes one function."""

    def __init__(self, layout: Layout, item: Any) -> None:
        self._layout, self._item = layout, item
        self._writer = Writer()
        self._columns = iter([f"%column.{k}" for k in range(len(list(numbers(item))))])
        self._sizes = iter([f"%size.{k}" for k in range(depth(item))])

    def text(self, name: str) -> str:
        """The text of the function, under this name."""
        w = self._writer
        w.do("%root = alloca ptr")
        w.store("ptr", "null", "%root")
        columns = [f"ptr %column.{k}" for k in range(len(list(numbers(self._item))))]
        lengths = [f"i64 %size.{k}" for k in range(depth(self._item))]
        head = ", ".join(["i64 %count", *columns, *lengths])
        self._list(self._item, "%count", "%root", "0")
        w.do(f"ret ptr {w.load('ptr', '%root')}")
        w.label("failed")
        w.call("void", "Py_DecRef", ("ptr", w.load("ptr", "%root")))
        w.do("ret ptr null")
        outside = "\n".join(w.outside.values())
        body = "\n".join(w.lines)
        return f"{outside}\ndefine internal ptr @{name}({head}) nounwind noinline {{\n{body}\n}}"

    def _list(self, item: Any, count: str, slot: str, first: str) -> None:
        """Makes a list of so many items, the first of which is this one of the columns."""
        w = self._writer
        made = self._made(w.call("ptr", "PyList_New", ("i64", count)), slot)
        held = w.load("ptr", made, self._layout.list_items)
        with self._counting(count) as k:
            place = w.let(f"getelementptr ptr, ptr {held}, i64 {k}")
            self._value(item, w.add("add", "i64", first, k), place)

    def _value(self, item: Any, at: str, slot: str) -> None:
        """Makes an item of the numbers at a place of the columns."""
        w = self._writer
        if isinstance(item, Line):
            size = next(self._sizes)
            self._list(item.item, size, slot, w.add("mul", "i64", at, size))
        elif isinstance(item, Scalar):
            self._made(self._number(item, next(self._columns), at), slot)
        elif isinstance(item, AnyOrigin):
            column, numpys = next(self._columns), next(self._columns)
            self._made(self._either(item.dtype, column, numpys, at), slot)
        else:
            parts = item.items if isinstance(item, Row) else item
            kind = "List" if isinstance(item, Row) else "Tuple"
            made = self._made(w.call("ptr", f"Py{kind}_New", ("i64", len(parts))), slot)
            held = w.at(made, self._layout.tuple_items)
            if kind == "List":
                held = w.load("ptr", made, self._layout.list_items)
            for k, part in enumerate(parts):
                self._value(part, at, w.at(held, 8 * k))

    def _made(self, value: str, slot: str) -> str:
        """A new object, which its slot owns from now on; fails where there is none."""
        w = self._writer
        w.store("ptr", value, slot)
        w.require(w.add("icmp ne", "ptr", value, "null"), "failed")
        return value

    def _number(self, kind: Scalar, column: str, at: str) -> str:
        """A new reference to a number of a column."""
        w, dtype = self._writer, kind.dtype
        size = dtype.itemsize
        place = w.let(f"getelementptr [{size} x i8], ptr {column}, i64 {at}")
        if kind.origin == "np":
            return w.call("ptr", "PyArray_Scalar", ("ptr", place),
                          ("ptr", w.data(descr(dtype))), ("ptr", "null"))
        if dtype.kind == "c":
            parts = [("double", w.load("double", place, k)) for k in (0, 8)]
            return w.call("ptr", "PyComplex_FromDoubles", *parts)
        value = w.load(_WORDS[dtype.kind], place)
        if dtype.kind == "b":
            true = w.add("icmp ne", "i8", value, 0)
            return w.call("ptr", "PyBool_FromLong", ("i64", w.let(f"zext i1 {true} to i64")))
        if dtype.kind == "i":
            return w.call("ptr", "PyLong_FromLongLong", ("i64", value))
        return w.call("ptr", "PyFloat_FromDouble", ("double", value))

    def _either(self, dtype: np.dtype, column: str, numpys: str, at: str) -> str:
        """A new reference to a number of a column, as Python's or as NumPy's."""
        w = self._writer
        flag = w.load("i8", w.let(f"getelementptr i8, ptr {numpys}, i64 {at}"))
        yes, no, after = (w.name("L") for _ in range(3))
        w.branch(w.add("icmp ne", "i8", flag, 0), yes, no)
        w.label(yes)
        theirs = self._number(Scalar(dtype, "np"), column, at)
        w.goto(after)
        w.label(no)
        ours = self._number(Scalar(dtype, "py"), column, at)
        w.goto(after)
        w.label(after)
        return w.let(f"phi ptr [{theirs}, %{yes}], [{ours}, %{no}]")

    @contextmanager
    def _counting(self, count: str) -> Iterator[str]:
        """A loop that runs so many times; gives the number of the iteration."""
        w = self._writer
        before, head, inside, latch, after = (w.name("L") for _ in range(5))
        w.goto(before)
        w.label(before)
        w.goto(head)
        w.label(head)
        k, following = f"%{w.name()}", f"%{w.name()}"
        w.do(f"{k} = phi i64 [0, %{before}], [{following}, %{latch}]")
        w.branch(w.add("icmp slt", "i64", k, count), inside, after)
        w.label(inside)
        yield k
        w.goto(latch)
        w.label(latch)
        w.do(f"{following} = add i64 {k}, 1")
        w.goto(head)
        w.label(after)
