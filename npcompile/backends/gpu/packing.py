"""Packing: the elements for which a mask holds, one after the other, in the order of their indices.

Three kernels: how many hold in each piece of the indices, how many before each piece, and then each
element at its place.  One does it where all indices are one piece.
"""

from __future__ import annotations

from collections.abc import Callable

from npcompile.backends.gpu import scalar
from npcompile.backends.gpu.kernels import Body, merge
from npcompile.backends.gpu.source import (
    BASE,
    NONE,
    Between,
    DeviceMemory,
    FunctionWriter,
    Grid,
    KernelLaunch,
    KernelSource,
    LaneBlock,
)
from npcompile.core.errors import refuse
from npcompile.core.records import replace
from npcompile.core.sizes import Size, floordiv, product
from npcompile.graph.types import INT
from npcompile.program.ir import Buffer, Kernel, Load, Store

LONG = 1 << 13  #: indices that one program goes through
WIDTH = 1024  #: of them at a time


def packed(kernel: Kernel, given: frozenset[Buffer]) -> KernelSource:
    """The Triton functions of a kernel's packed stores, which have one mask.

    Raises
    ------
    Refused
        There is no Triton code for it (yet).
    """
    stores = [store for store in kernel.stores if store.packed]
    if len({store.mask for store in stores}) > 1:
        raise refuse("packing", "by several masks has no GPU kernel")
    if any(isinstance(v, Load) and v.buffer in kernel.written for v in kernel.values):
        raise refuse("packing", "reads what it writes")
    return Packing(replace(kernel, stores=tuple(stores), reductions=()), given).whole


class Packing:
    """The chain; ``whole`` is what does all in one program."""

    def __init__(self, kernel: Kernel, given: frozenset[Buffer]) -> None:
        self.kernel, self.given = kernel, given
        self.count = product([axis.extent for axis in kernel.axes])
        self.parts = floordiv(self.count + LONG - 1, LONG)
        self.between = Between(INT, True)
        self.grid = LaneBlock(tuple([product([kernel.axes[a].extent for a in group])
                                 for group in merge(kernel)]), WIDTH)
        self.counted, self.before, self.placed = self._counted(), self._before(), self._placed()
        self.whole = replace(self._placed(True), long=self)

    def launch(self, size: Callable[[Size], int]) -> tuple[int, dict[str, int]]:
        """Of ``whole``."""
        return min(size(self.count), 1), self.grid.launch(size)[1]

    def steps(self, size: Callable[[Size], int]) -> list[KernelLaunch]:
        if size(self.count) <= LONG:
            return []
        parts, constants = size(self.parts), self.grid.launch(size)[1]
        counted = KernelLaunch(self.counted, parts, constants, parts * INT.itemsize)
        before = KernelLaunch(self.before, 1, {"BLOCK": WIDTH}, counted.room)
        return [counted, before, replace(counted, source=self.placed, room=0)]

    # ------------------------------------------------------------------ the kernels

    def _counted(self) -> KernelSource:
        """How many hold in each piece."""
        body = self._body("counts")
        w = body.w
        self._piece(body, "tl.full((1,), 0, tl.int64)")
        w.line('total += npc.collapse(holds, "add")')
        w.leave()
        w.line(f"tl.store({w.parameter(self.between)} + piece + tl.arange(0, 1), total)")
        return self._source(body)

    def _before(self) -> KernelSource:
        """How many hold before each piece, in one program."""
        w = FunctionWriter(f"{self.kernel.name}_before")
        counts, out = w.parameter(replace(self.between, out=False)), w.parameter(self.between)
        parts = w.size(self.parts)
        w.line("total = tl.full((1,), 0, tl.int64)")
        w.line(f"for begin in range(0, {parts}, BLOCK):")
        w.nest()
        w.line("at = begin + tl.arange(0, BLOCK).to(tl.int64)")
        w.line(f"count = tl.load({counts} + at, at < {parts}, 0)[None, :]")
        w.line('before = total[:, None] + npc.scan(count, "add") - count')
        w.line(f"tl.store({out} + at[None, :], before, (at < {parts})[None, :])")
        w.line('total += npc.collapse(count, "add")')
        return w.source(NONE, ["BLOCK"])

    def _placed(self, whole: bool = False) -> KernelSource:
        """Each element at its place."""
        body = self._body("packed" if whole else "places")
        w = body.w
        if whole:
            w.line("total = tl.full((1,), 0, tl.int64)")
            self._blocks(body, "0", w.size(self.count))
        else:
            before = f"tl.load({w.parameter(replace(self.between, out=False))} + piece)"
            self._piece(body, f"tl.full((1,), 0, tl.int64) + {before}")
        w.line('place = (total[:, None] + npc.scan(holds, "add") - 1).reshape(BLOCK)')
        for store in self.kernel.stores:
            self._store(body, store)
        w.line('total += npc.collapse(holds, "add")')
        return self._source(body, self if whole else NONE)

    def _body(self, part: str) -> Body:
        body = Body(self.kernel, self.given, FunctionWriter(f"{self.kernel.name}_{part}"))
        body.comment()
        return body

    def _piece(self, body: Body, before: str) -> None:
        """A program has one piece; ``total`` is what holds before it."""
        w = body.w
        w.line("piece = tl.program_id(0).to(tl.int64)")
        w.line(f"end = tl.minimum((piece + 1) * {LONG}, {w.size(self.count)})")
        w.line(f"total = {before}")
        self._blocks(body, f"piece * {LONG}", "end")

    def _blocks(self, body: Body, begin: str, end: str) -> None:
        """Opens a loop over indices; ``holds`` is the mask as numbers."""
        w, (store, *_) = body.w, self.kernel.stores
        assert store.mask is not None
        w.line(f"for {BASE} in range({begin}, {end}, BLOCK):")
        w.nest()
        w.line(f"lane = {BASE} + tl.arange(0, BLOCK)")
        w.line(f"live = lane < {end}")
        body.spread(merge(self.kernel))
        body.values("live")
        mask = body.terms[store.mask][0]
        w.line(f"chosen = live & {mask.operand if mask.value is None else scalar.typed(mask)}")
        w.line("holds = chosen.to(tl.int64)[None, :]")

    def _store(self, body: Body, store: Store) -> None:
        """Packed memory has no gaps."""
        w, unit = body.w, 2 if store.buffer.dtype.kind == "c" else 1
        pointer = w.parameter(DeviceMemory(store.buffer))
        index = w.index(store.at.offset, (1,), ("place",), unit)
        parts = body.terms[store.value]
        for k, part in enumerate(parts):
            text = scalar.typed(part)
            if store.buffer.dtype.kind == "b":
                text = f"({text}).to(tl.uint8)"
            half = int(store.at.part == "imag") or k
            w.line(f"tl.store({pointer}{index}{f' + {half}' * bool(half)}, {text}, chosen)")

    def _source(self, body: Body, grid: Grid = NONE) -> KernelSource:
        return body.w.source(grid, ["BLOCK", *self.grid.long], body.library.parts)
