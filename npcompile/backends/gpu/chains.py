"""Reductions that are too long for one program, as several kernels one after the other.

What may be combined in any order is cut into pieces, and the pieces' results are combined.  A
pairwise sum is cut into parts of its tree, all at one level; then the sums of parts are added as
the tree has them, some levels in each kernel.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from npcompile.backends.gpu import scalar
from npcompile.backends.gpu.compile import stored
from npcompile.backends.gpu.reductions import (
    WIDTH,
    Form,
    height,
    larger_half,
    power,
)
from npcompile.backends.gpu.source import NONE, Between, Chain, Source, Step
from npcompile.core.records import replace
from npcompile.core.sizes import Size, floordiv, product
from npcompile.program.ir import Buffer, Kernel, Reduce

LONG = 1 << 16  #: numbers that one program reduces
PIECE = 1 << 13  #: numbers for each of several programs
JOINED = 7  #: levels of a tree in one program


def chain(kernel: Kernel, reduce: Reduce, given: frozenset[Buffer], file: str) -> Chain | None:
    """A reduction as several kernels; None: it has one form only."""
    if len(kernel.axes) - 1 not in reduce.axes or reduce.kind in ("argmin", "argmax"):
        return None

    def form(part: str) -> Form:
        return Form(kernel, reduce, given, file, f"{kernel.name}_{part}")

    if reduce.kind in ("min", "max") or reduce.dtype.kind not in "fc":
        return Pieces(form)
    if reduce.kind == "sum" and len(reduce.axes) == 1 and reduce.chunk == 0:
        return Tree(form)
    return None


class Pieces:
    """Equal pieces of each row, by what may be combined in any order."""

    def __init__(self, form: Callable[[str], Form]) -> None:
        first, last = form("pieces"), form("whole")
        self.kept, self.length = product(first.at(first.kept)), product(first.at(first.reduced))
        self.parts = floordiv(self.length + LONG - 1, LONG)
        self.between = Between(first.dtype, True)
        self.first, self.last = self._first(first), self._last(last)

    def steps(self, size: Callable[[Size], int]) -> list[Step]:
        if size(self.length) <= LONG:
            return []
        kept, parts = size(self.kept), size(self.parts)
        width = min(power(parts), WIDTH)
        rows = min(WIDTH // width, power(kept))
        return [
            Step(self.first, kept * parts, {"ROWS": 1, "LEVELS": WIDTH.bit_length() - 1},
                 kept * parts * stored(self.between.dtype).itemsize),
            Step(self.last, -(-kept // rows), {"ROWS": rows, "LEVELS": width.bit_length() - 1}),
        ]

    def _first(self, form: Form) -> Source:
        w = form.w
        parts = w.factor(self.parts)
        form.rows_of_kept(f"tl.program_id(0).to(tl.int64) // {parts} * ROWS")
        w.line(f"piece = tl.program_id(0).to(tl.int64) % {parts}")
        w.line(f"end = tl.minimum((piece + 1) * {LONG}, {w.size(self.length)})")
        form.along_row(f"piece * {LONG}", "end", form.value_in_row)
        value = "total.to(tl.uint8)" if form.dtype.kind == "b" else "total"
        w.line(f"tl.store({w.parameter(self.between)} + lane * {parts} + piece, {value}, row)")
        return w.source(NONE, ["ROWS", "LEVELS"], form.before)

    def _last(self, form: Form) -> Source:
        w = form.w
        form.rows_of_kept()
        parts, sums = w.factor(self.parts), w.parameter(replace(self.between, out=False))
        value = f"tl.load({sums} + lane[:, None] * {parts} + at, live, 0)"
        value += " != 0" * (form.dtype.kind == "b")
        form.along_row("0", parts, lambda: value)
        form.finish()
        return w.source(NONE, ["ROWS", "LEVELS"])


class Tree:
    """Parts of the tree of each row's pairwise sum, all at one level; those of a leaf above it are
    empty, but for the first."""

    def __init__(self, form: Callable[[str], Form]) -> None:
        first, middle, last = form("parts"), form("joins"), form("whole")
        self.kept, (self.length,) = product(first.at(first.kept)), first.at(first.reduced)
        self.lanes, self.width = first.lanes, first.parts
        half = np.dtype(np.float32) if first.half == np.float16 else first.half
        self.between = Between(half, True)
        self.first, self.middle = self._first(first), self._middle(middle)
        self.last = self._last(last)

    def steps(self, size: Callable[[Size], int]) -> list[Step]:
        kept, length = size(self.kept), size(self.length)
        if length <= LONG:
            return []
        level, part = 0, length
        while part > PIECE:
            part, level = larger_half(part, self.lanes), level + 1
        unit = kept * self.width * self.between.dtype.itemsize

        def step(source: Source, depth: int) -> Step:
            constants = {"ROWS": 1, "LEVEL": level, "DEPTH": depth, "LANES": self.lanes}
            return Step(source, kept << level, constants, unit << level)

        found = [step(self.first, height(part, self.lanes))]
        while level > JOINED:
            level -= JOINED
            found.append(step(self.middle, JOINED))
        return [*found, replace(step(self.last, level), programs=kept, room=0)]

    def _first(self, form: Form) -> Source:
        w, (inner,) = form.w, form.reduced
        self._rows(form)
        w.line(f"begin, count = npc.subtree({w.size(self.length)}, piece, LEVEL, LANES)")
        w.line("start, size = npc.leaves(count, DEPTH, LANES)")
        self._pass_on(form, form.leaves((), inner))
        return w.source(NONE, _CONSTANTS, form.before)

    def _middle(self, form: Form) -> Source:
        """``LEVEL`` is that of what comes out."""
        self._rows(form)
        self._pass_on(form, self._joined(form))
        return form.w.source(NONE, _CONSTANTS)

    def _last(self, form: Form) -> Source:
        """``LEVEL`` is that of what comes in."""
        w, total = form.w, form.names_of("total")
        form.rows_of_kept()
        w.line("piece = 0")
        sums = self._joined(form, "LEVEL")
        if form.reduce.initial is None:
            texts = sums
        else:
            texts = [f"{scalar.typed(start)} + {part}" for start, part in
                     zip(form.initial(), sums)]
        narrow = ".to(tl.float16)" if form.half == np.float16 else ""
        for name, text in zip(total, texts):
            w.line(f"{name} = ({text}){narrow}" if narrow else f"{name} = {text}")
        form.store(total, "row")
        return w.source(NONE, _CONSTANTS)

    def _rows(self, form: Form) -> None:
        form.rows_of_kept("(tl.program_id(0).to(tl.int64) >> LEVEL) * ROWS")
        form.w.line("piece = tl.program_id(0).to(tl.int64) & ((1 << LEVEL) - 1)")

    def _joined(self, form: Form, level: str = "LEVEL + DEPTH") -> list[str]:
        """The sums of parts of the tree, from memory."""
        w, parts = form.w, form.names_of("leaf")
        w.line("slot = (piece << DEPTH) + tl.arange(0, 1 << DEPTH)")
        w.line(f"start, size = npc.subtree({w.size(self.length)}, slot, {level}, LANES)")
        w.line(f"at = (lane << ({level}))[:, None] + slot[None, :]")
        sums = w.parameter(replace(self.between, out=False))
        for k, part in enumerate(parts):
            w.line(f"{part} = tl.load({sums} + {self._place('at', k)}, row[:, None], 0)")
        return form.joined(parts)

    def _pass_on(self, form: Form, sums: list[str]) -> None:
        out = form.w.parameter(self.between)
        form.w.line("at = (lane << LEVEL) + piece")
        for k, part in enumerate(sums):
            form.w.line(f"tl.store({out} + {self._place('at', k)}, {part}, row)")

    def _place(self, at: str, k: int) -> str:
        """Complex sums are pairs."""
        return at if self.width == 1 else f"2 * ({at})" + f" + {k}" * k


_CONSTANTS = ["ROWS", "LEVEL", "DEPTH", "LANES"]
