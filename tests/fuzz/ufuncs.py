"""Random calls of ufuncs and their methods, with results over operands.

Each call draws one of the ufuncs of ``npcompile`` or ``npcompile.special``, a method, operands laid
out in any way, and often a result that lies over an operand: shifted, reversed, strided, of other
axes, of another dtype.  The same function on copies, for methods element by element, must give the
same bits.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import npcompile
from npcompile.api import namespaces
from tests.fuzz.framework import Counts, Grammar
from tests.support.oracle import elements

METHODS = ("call", "call", "call", "reduce", "accumulate", "reduceat", "outer", "at")
SIZES = (0, 1, 2, 3, 7, 8, 9, 31, 64, 511, 512, 513, 1100)
OF_NUMPY = sorted(namespaces.elementary())


@cache
def functions() -> list[tuple[str, Any]]:
    """Ufuncs with loops of our own for one or two numbers."""
    found = [(name, getattr(npcompile, name)) for name in OF_NUMPY]
    for name in namespaces.names_of_special():
        function, op = getattr(npcompile.special, name), namespaces.special().get(name)
        if isinstance(function, np.ufunc) and op is not None and function.nout == 1:
            found.append((f"special.{name}", function))
    return [(name, function) for name, function in found
            if function.nin <= 2 and "d" * function.nin + "->d" in function.types]


@cache
def in_order(name: str) -> Any:
    """The same function on numbers, one after the other, with all methods."""
    function = dict(functions())[name]
    return np.frompyfunc(function, 2, 1)


class Draw:
    """One call: what it is made of, as a seed decides."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.name, self.function = self.one_of(functions())
        usable = [m for m in METHODS if m == "call" or self.function.nin == 2 or m == "at"]
        self.method = self.one_of(usable)
        chars = [c for c in "fd" if c * self.function.nin + "->" + c in self.function.types]
        self.dtype = np.dtype(self.one_of(chars))
        self.notes: list[str] = []

    def one_of(self, options: Any) -> Any:
        return options[self.rng.integers(len(options))]

    def maybe(self, chance: float = 0.5) -> bool:
        return bool(self.rng.random() < chance)

    def memory(self, count: int, dtype: np.dtype | None = None) -> np.ndarray:
        values = self.rng.uniform(0.05, 3, count) * self.rng.choice([1, 1, 1, -1], count)
        return values.astype(dtype or self.dtype)

    def shape(self) -> tuple[int, ...]:
        kind = self.rng.integers(6)
        if kind == 0:
            return tuple(self.rng.integers(0, 6, self.rng.integers(0, 4)).tolist())
        if kind == 1:
            return (int(self.rng.integers(1, 5)), int(self.one_of(SIZES)))
        return (int(self.one_of(SIZES)),)

    def window(self, memory: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """A part of some memory, of any strides."""
        many = max(int(np.prod(shape)), 1)
        step = int(self.one_of([1, 1, 1, 2, 3])) if many * 3 + 40 <= memory.size else 1
        start = int(self.rng.integers(0, memory.size - many * step + 1))
        part = memory[start : start + many * step : step][: int(np.prod(shape))].reshape(shape)
        if shape and self.maybe(0.25):
            part = part[::-1]
        if len(shape) == 2 and shape[0] == shape[1] and self.maybe():
            part = part.T
        return part

    def operand(self, memory: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        found = self.window(memory, shape)
        kind = self.rng.integers(12)
        if kind == 0:
            return found.astype(found.dtype.newbyteorder())
        if kind == 1:
            raw = np.zeros(found.nbytes + 1, "u1")
            other = np.ndarray(found.shape, found.dtype, raw, 1)
            other[...] = found
            return other
        if kind == 2 and found.ndim and found.size:
            return np.broadcast_to(found[:1], shape)
        if kind == 3:
            return np.array(found, order="F")
        return found


def call(d: Draw) -> str:
    shape = d.shape()
    memory = d.memory(3 * max(int(np.prod(shape)), 1) + 60)
    before = memory.copy()
    args = [d.operand(memory, shape) for _ in range(d.function.nin)]
    copies = [np.array(a, d.dtype, order="C") for a in args]
    kwargs: dict[str, Any] = {}
    mask: Any = True
    if d.maybe(0.2):
        kwargs["where"] = mask = d.rng.random(shape) < 0.6
    if d.maybe(0.2):
        kwargs["order"] = d.one_of("CFAK")
    if d.maybe(0.2):
        kwargs["dtype"] = d.dtype
    want = np.asarray(d.function(*copies))
    if d.maybe(0.25) and mask is True:
        return "" if elements(d.function(*args, **kwargs), want) else "call"
    out = d.window(memory, shape)
    if d.maybe(0.2):
        kwargs["casting"] = "unsafe"
        out = np.empty(shape, d.one_of(["f4", "f8", "c16", ">f8"]))
        out[...] = 1
    kept = out.copy()
    kept[...] = np.where(mask, want, kept) if mask is not True else want
    d.function(*args, out=out, **kwargs)
    d.notes.append(f"{[a.strides for a in args]} -> {out.strides} {kwargs}")
    if not elements(out, kept):
        return "call, out over an operand"
    outside = before.copy()
    if np.shares_memory(out, memory):
        offset = out.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
        np.ndarray(shape, d.dtype, outside.view("u1"), offset, out.strides)[...] = kept
    return "" if elements(memory, outside) else "call wrote elsewhere"


def method(d: Draw) -> str:
    shape = d.shape() or (3,)
    memory = d.memory(3 * max(int(np.prod(shape)), 1) + 60)
    x = d.operand(memory, shape)
    copy, axis = np.array(x, d.dtype), int(d.rng.integers(len(shape)))
    slow, kwargs = in_order(d.name), {"axis": axis}
    d.notes.append(f"{shape} {x.strides} axis {axis}")
    boxed = np.empty(shape, object)
    for at in np.ndindex(*shape):
        boxed[at] = copy[at]
    if d.method == "accumulate":
        want = slow.accumulate(boxed, axis).astype(d.dtype)
        out = d.window(memory, shape) if d.maybe(0.6) else None
        if out is not None and d.maybe(0.4) and np.shares_memory(x, memory):
            out = x if x.flags.writeable else out
        found = d.function.accumulate(x, axis, out=out)
        return "" if elements(found, np.asarray(want, found.dtype)) else "accumulate"
    if d.method == "reduceat":
        if not shape[axis]:
            return ""
        indices = d.rng.integers(0, shape[axis], d.rng.integers(1, 5))
        want = slow.reduceat(boxed, indices, axis).astype(d.dtype)
        return "" if elements(d.function.reduceat(x, indices, axis), want) else "reduceat"
    kwargs["keepdims"] = d.maybe()
    initial = d.function.identity
    if d.maybe(0.4):
        initial = kwargs["initial"] = d.dtype.type(0.5)
    if initial is None and not shape[axis]:
        return ""
    mask: Any = np.ones(shape, bool)
    if initial is not None and d.maybe(0.4):
        kwargs["where"] = mask = d.rng.random(shape) < 0.6
    columns, masks = np.moveaxis(copy, axis, 0), np.moveaxis(mask, axis, 0)
    total = (columns[0] if initial is None else np.full(columns.shape[1:], initial)).astype(d.dtype)
    for k in range(initial is None, shape[axis]):
        total = np.where(masks[k], d.function(total, columns[k]), total).astype(d.dtype)
    want = np.expand_dims(total, axis) if kwargs["keepdims"] else total
    if d.maybe(0.5):
        kwargs["out"] = d.window(memory, want.shape)
    found = d.function.reduce(x, **kwargs)
    d.notes.append(str(kwargs))
    return "" if elements(found, want) else "reduce"


def outer(d: Draw) -> str:
    x, y = (d.operand(d.memory(200), (int(d.rng.integers(0, 9)),)) for _ in "xy")
    want = d.function(np.array(x, d.dtype)[:, None], np.array(y, d.dtype))
    return "" if elements(d.function.outer(x, y), want) else "outer"


def at(d: Draw) -> str:
    memory = d.memory(int(d.rng.integers(1, 60)))
    x = memory[:: int(d.one_of([1, 2, -1]))]
    indices = d.rng.integers(0, len(x), d.rng.integers(0, 40))
    others = [d.memory(len(indices)) for _ in range(d.function.nin - 1)]
    want = x.copy()
    for k, index in enumerate(indices):
        want[index] = d.function(want[index], *[other[k] for other in others])
    d.function.at(x, indices, *others)
    return "" if elements(x, want) else "at"


_CHECKS = {"call": call, "outer": outer, "at": at}


def check(seed: int, counts: Counts) -> str:
    """Where a call differs, or an empty string."""
    draw = Draw(seed)
    with np.errstate(all="ignore"):
        found = _CHECKS.get(draw.method, method)(draw)
    return found and f"{draw.name} {draw.dtype} {found}: {' '.join(draw.notes)}"


GRAMMAR = Grammar(check=check)
