"""Reductions that are too long for one program, as several kernels one after the other.

What may be combined in any order is cut into pieces, and the pieces' results are combined; of a
running reduction, what stands before each piece is found between.  A pairwise sum is cut into parts
of its tree, all at one level; then the sums of parts are added as the tree has them, some levels in
each kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.backends.gpu import scalar
from npcompile.backends.gpu.compile import stored
from npcompile.backends.gpu.source import NONE, Between, Chain, KernelLaunch, KernelSource
from npcompile.backends.gpu.triton_reductions import (
    WIDTH,
    ReductionForm,
    height,
    in_any_order,
    larger_half,
    power,
)
from npcompile.core.records import replace
from npcompile.core.sizes import Size, floordiv, product
from npcompile.graph.types import INT
from npcompile.program.ir import Buffer, Kernel, Reduce

LONG = 1 << 16  #: numbers that one program reduces
PIECE = 1 << 13  #: numbers for each of several programs
JOINED = 7  #: levels of a tree in one program


def chain(kernel: Kernel, reduce: Reduce, given: frozenset[Buffer]) -> Chain | None:
    """A reduction as several kernels; None: it has one form only."""
    def form(part: str) -> ReductionForm:
        return ReductionForm(kernel, reduce, given, f"{kernel.name}_{part}")

    if reduce.kind in ("argmin", "argmax"):
        return Positions(form)
    if len(kernel.axes) - 1 not in reduce.axes:
        return None
    if in_any_order(reduce):
        return Running(form) if reduce.running else Pieces(form)
    if reduce.running:
        return None
    if reduce.kind == "sum" and len(reduce.axes) == 1 and reduce.chunk == 0:
        return PairwisePieces(form)
    return None


class Pieces:
    """Equal pieces of each row, by what may be combined in any order."""

    def __init__(self, form: Callable[[str], ReductionForm]) -> None:
        first = form("pieces")
        self.kept, self.length = product(first.at(first.kept)), product(first.at(first.reduced))
        self.parts = floordiv(self.length + LONG - 1, LONG)
        self.between = Between(self.passed_on(first), True)
        self.first = self._first(first)
        self.rest = self._rest(form)

    def passed_on(self, form: ReductionForm) -> np.dtype[Any]:
        """What a piece leaves."""
        return form.dtype

    def steps(self, size: Callable[[Size], int]) -> list[KernelLaunch]:
        if size(self.length) <= LONG:
            return []
        kept, parts = size(self.kept), size(self.parts)
        width = min(power(parts), WIDTH)
        rows = min(WIDTH // width, power(kept))
        room = kept * parts * stored(self.between.dtype).itemsize
        pieces = KernelLaunch(
            self.first, kept * parts, {"ROWS": 1, "LEVELS": WIDTH.bit_length() - 1}, room
        )
        wholes = KernelLaunch(self.rest[0], -(-kept // rows),
                      {"ROWS": rows, "LEVELS": width.bit_length() - 1})
        if len(self.rest) == 1:
            return [pieces, wholes]
        return [pieces, replace(wholes, room=room), replace(pieces, source=self.rest[1], room=0)]

    def _first(self, form: ReductionForm) -> KernelSource:
        self.along_row(form, *self.piece(form))
        value = "total.to(tl.uint8)" if self.between.dtype.kind == "b" else "total"
        self.pass_on(form, "lane", "piece", value, "row")
        return form.w.source(NONE, ["ROWS", "LEVELS"], form.before)

    def along_row(self, form: ReductionForm, begin: str, end: str) -> None:
        """What a piece leaves is ``total``."""
        form.along_row(begin, end, form.value_in_row)

    def _rest(self, form: Callable[[str], ReductionForm]) -> list[KernelSource]:
        """The kernels after the first one."""
        last = form("whole")
        last.rows_of_kept()
        last.along_row("0", last.w.factor(self.parts), lambda: self.passed(last))
        last.finish()
        return [last.w.source(NONE, ["ROWS", "LEVELS"])]

    def piece(self, form: ReductionForm) -> tuple[str, str]:
        """A program has one piece of a row: where that begins and ends."""
        w = form.w
        parts = w.factor(self.parts)
        form.rows_of_kept(f"tl.program_id(0).to(tl.int64) // {parts} * ROWS")
        w.line(f"piece = tl.program_id(0).to(tl.int64) % {parts}")
        w.line(f"end = tl.minimum((piece + 1) * {LONG}, {w.size(self.length)})")
        return f"piece * {LONG}", "end"

    def passed(self, form: ReductionForm, lane: str = "lane[:, None]", piece: str = "at",
               live: str = "live") -> str:
        """What the kernel before has left for pieces of rows."""
        sums = form.w.parameter(replace(self.between, out=False))
        text = f"tl.load({sums} + {lane} * {form.w.factor(self.parts)} + {piece}, {live}, 0)"
        return text + " != 0" * (self.between.dtype.kind == "b")

    def pass_on(self, form: ReductionForm, lane: str, piece: str, value: str, live: str) -> None:
        out = form.w.parameter(self.between)
        place = f"{lane} * {form.w.factor(self.parts)} + {piece}"
        form.w.line(f"tl.store({out} + {place}, {value}, {live})")


class Positions(Pieces):
    """The place of the best of each piece, then the best of these."""

    def passed_on(self, form: ReductionForm) -> np.dtype[Any]:
        return INT

    def along_row(self, form: ReductionForm, begin: str, end: str) -> None:
        form.best(begin, end)
        form.w.line("total = found")

    def _rest(self, form: Callable[[str], ReductionForm]) -> list[KernelSource]:
        last = form("whole")
        last.rows_of_kept()
        last.best("0", last.w.factor(self.parts), self.passed(last))
        last.store(["found"], "row")
        return [last.w.source(NONE, ["ROWS", "LEVELS"], last.before)]


class Running(Pieces):
    """What stands before each piece, then each piece with it."""

    def _rest(self, form: Callable[[str], ReductionForm]) -> list[KernelSource]:
        middle, last = form("before"), form("running")
        middle.rows_of_kept()
        byte = ".to(tl.uint8)" if middle.dtype.kind == "b" else ""
        start = f"tl.broadcast_to({middle.neutral}, (ROWS,))"
        self.pass_on(middle, "lane", "0", start + byte, "row")
        parts = middle.w.factor(self.parts)
        middle.scan("0", parts, lambda: self.passed(middle), start, lambda: self.pass_on(
            middle, "lane[:, None]", "at + 1", "whole" + byte, f"live & (at + 1 < {parts})"))
        begin, end = self.piece(last)
        before = self.passed(last, "lane", "piece", "row")
        last.scan(begin, end, last.value_in_row, before,
                  lambda: last.store(["whole"], "live", "[:, None]"))
        return [middle.w.source(NONE, ["ROWS", "LEVELS"]),
                last.w.source(NONE, ["ROWS", "LEVELS"], last.before)]


class PairwisePieces:
    """Parts of the tree of each row's pairwise sum, all at one level; those of a leaf above it are
    empty, but for the first."""

    def __init__(self, form: Callable[[str], ReductionForm]) -> None:
        first, middle, last = form("parts"), form("joins"), form("whole")
        self.kept, (self.length,) = product(first.at(first.kept)), first.at(first.reduced)
        self.lanes, self.width = first.lanes, first.parts
        half = np.dtype(np.float32) if first.half == np.float16 else first.half
        self.between = Between(half, True)
        self.first, self.middle = self._first(first), self._middle(middle)
        self.last = self._last(last)

    def steps(self, size: Callable[[Size], int]) -> list[KernelLaunch]:
        kept, length = size(self.kept), size(self.length)
        if length <= LONG:
            return []
        level, part = 0, length
        while part > PIECE:
            part, level = larger_half(part, self.lanes), level + 1
        unit = kept * self.width * self.between.dtype.itemsize

        def step(source: KernelSource, depth: int) -> KernelLaunch:
            constants = {"ROWS": 1, "LEVEL": level, "DEPTH": depth, "LANES": self.lanes}
            return KernelLaunch(source, kept << level, constants, unit << level)

        found = [step(self.first, height(part, self.lanes))]
        while level > JOINED:
            level -= JOINED
            found.append(step(self.middle, JOINED))
        return [*found, replace(step(self.last, level), programs=kept, room=0)]

    def _first(self, form: ReductionForm) -> KernelSource:
        w, (inner,) = form.w, form.reduced
        self._rows(form)
        w.line(f"begin, count = npc.subtree({w.size(self.length)}, piece, LEVEL, LANES)")
        w.line("start, size = npc.leaves(count, DEPTH, LANES)")
        self._pass_on(form, form.leaves((), inner))
        return w.source(NONE, _CONSTANTS, form.before)

    def _middle(self, form: ReductionForm) -> KernelSource:
        """``LEVEL`` is that of what comes out."""
        self._rows(form)
        self._pass_on(form, self._joined(form))
        return form.w.source(NONE, _CONSTANTS)

    def _last(self, form: ReductionForm) -> KernelSource:
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

    def _rows(self, form: ReductionForm) -> None:
        form.rows_of_kept("(tl.program_id(0).to(tl.int64) >> LEVEL) * ROWS")
        form.w.line("piece = tl.program_id(0).to(tl.int64) & ((1 << LEVEL) - 1)")

    def _joined(self, form: ReductionForm, level: str = "LEVEL + DEPTH") -> list[str]:
        """The sums of parts of the tree, from memory."""
        w, parts = form.w, form.names_of("leaf")
        w.line("slot = (piece << DEPTH) + tl.arange(0, 1 << DEPTH)")
        w.line(f"start, size = npc.subtree({w.size(self.length)}, slot, {level}, LANES)")
        w.line(f"at = (lane << ({level}))[:, None] + slot[None, :]")
        sums = w.parameter(replace(self.between, out=False))
        for k, part in enumerate(parts):
            w.line(f"{part} = tl.load({sums} + {self._place('at', k)}, row[:, None], 0)")
        return form.joined(parts)

    def _pass_on(self, form: ReductionForm, sums: list[str]) -> None:
        out = form.w.parameter(self.between)
        form.w.line("at = (lane << LEVEL) + piece")
        for k, part in enumerate(sums):
            form.w.line(f"tl.store({out} + {self._place('at', k)}, {part}, row)")

    def _place(self, at: str, k: int) -> str:
        """Complex sums are pairs."""
        return at if self.width == 1 else f"2 * ({at})" + f" + {k}" * k


_CONSTANTS = ["ROWS", "LEVEL", "DEPTH", "LANES"]
