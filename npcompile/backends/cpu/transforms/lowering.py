"""Plans as lists of steps, for one way that rows or columns lie in memory."""

from __future__ import annotations

import numpy as np

from npcompile.backends.cpu.transforms.codelets import SIZE, Codelet, Format
from npcompile.backends.cpu.transforms.steps import CALL, PLACES, Step
from npcompile.core.records import record
from npcompile.fft import twiddles
from npcompile.fft.plans import Passes

_GAP = 192  # bytes between buffers, which keeps them off each other's lines of the cache


@record
class Layout:
    """What a lowering is for: the numbers at both ends, those of the arithmetic, bytes of a
    register, whether neighbours lie in lanes (up to ``block`` of them), and whether results are
    scaled."""

    source: Format
    target: Format
    elem: str
    register: int
    block: int = 1
    columns: bool = False
    scaled: bool = False

    def lanes(self, extent: int) -> int:
        """Numbers in a vector, at most ``extent`` of them."""
        most = min(self.register // SIZE[self.elem], extent)
        return 1 << (most.bit_length() - 1)


@record
class End:
    """One end of a step: which memory, how far in, and its strides in units of a word of the call.
    """

    place: str
    form: Format
    at: int = 0
    line: int = 0
    point: int = 0
    parts: int = 0
    unit: str = "one"

    def words(self, end: str) -> dict[str, int]:
        return {end: PLACES[self.place], f"{end}_at": self.at, f"{end}_line": self.line,
                f"{end}_point": self.point, f"{end}_parts": self.parts,
                f"{end}_unit": CALL[self.unit]}


class Lowering:
    """Writes the steps of a plan; ``scratch`` is how many bytes they need."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.size = SIZE[layout.elem]
        self.dtype = np.dtype(np.float64 if layout.elem == "double" else np.float32)
        self.steps: list[Step] = []
        self.scratch = 0

    def buffer(self, n: int) -> tuple[int, int]:
        """Room for so many numbers in two parts: where it begins, and how far apart they lie."""
        at = self.scratch
        apart = -(-n * self.layout.block * self.size // 64) * 64 + 64
        self.scratch = at + 2 * apart + _GAP
        return at, apart

    def passes(self, plan: Passes) -> None:
        layout, radices, n = self.layout, plan.radices or (1,), plan.n
        buffers = [self.buffer(n), self.buffer(n)] if len(radices) > 1 else []
        m, s = n, 1
        for k, radix in enumerate(radices):
            m //= radix
            source = self.outer("source") if k == 0 else self.inner(buffers[(k - 1) % 2])
            target = self.outer("target") if m == 1 else self.inner(buffers[k % 2])
            self.add(radix, m, s, source, target)
            s *= radix
        assert m == 1, (plan, layout)

    def outer(self, side: str) -> End:
        form = self.layout.source if side == "source" else self.layout.target
        return End(side, form, unit=f"{side}_stride" if self.layout.columns else "one")

    def inner(self, buffer: tuple[int, int]) -> End:
        at, parts = buffer
        return End("scratch", Format("split", self.layout.elem), at, parts=parts, unit="width")

    def add(self, radix: int, m: int, s: int, source: End, target: End) -> None:
        """One pass: ``m`` transforms of lines of ``s`` numbers."""
        layout = self.layout
        scaled = layout.scaled and m == 1
        if not layout.columns and s == 1 and m > 1:
            lanes = layout.lanes(m)
            codelet = Codelet("first", radix, layout.elem, lanes, source.form, target.form)
            words = {"along": m} | _end(source, 0, m * source.form.bytes).words("source")
            self.put(codelet, words | target.words("target"), self.blocks(radix, m, lanes))
            return
        # rows' last results are neighbours; those of columns are lines apart in the user's array
        apart = m == 1 and layout.columns
        lines, along = (s, 1) if apart else (m, s)
        lanes = layout.lanes(layout.block if layout.columns else s)
        codelet = Codelet("lines", radix, layout.elem, lanes, source.form, target.form, m > 1,
                          scaled)
        words = {"lines": lines, "along": along}
        words |= self.strides(source, along, s * m).words("source")
        words |= self.strides(target, along if apart else radix * s, s).words("target")
        self.put(codelet, words, self.factors(radix, m) if m > 1 else None)

    def strides(self, end: End, line: int, point: int) -> End:
        """An end with strides in numbers as those in units: the user's columns lie a stride of the
        call apart."""
        size = 1 if end.unit.endswith("stride") else end.form.bytes
        return _end(end, line * size, point * size)

    def put(self, codelet: Codelet | str, words: dict[str, int], table: np.ndarray | None) -> None:
        self.steps.append(Step(codelet, words, table))

    # ------------------------------------------------------------ twiddle factors

    def factors(self, radix: int, m: int) -> np.ndarray:
        """``w**(p k)`` by line ``p`` and ``k = 1 .. radix - 1``."""
        j = np.arange(m)[:, None] * np.arange(1, radix)
        return twiddles.factors(j, m * radix, self.dtype)

    def blocks(self, radix: int, m: int, lanes: int) -> np.ndarray:
        """The same by vectors of ``p``, of which the last ends at ``m``."""
        starts = np.minimum(np.arange(0, m, lanes), m - lanes)
        p = starts[:, None] + np.arange(lanes)
        return self.factors(radix, m)[p].transpose(0, 2, 3, 1)


def _end(end: End, line: int, point: int) -> End:
    return End(end.place, end.form, end.at, line, point, end.parts, end.unit)
