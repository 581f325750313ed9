"""Plans as lists of steps, for one way that rows or columns lie in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.backends.cpu.transforms.formats import (
    GRID,
    ROWS,
    SIZE,
    Codelet,
    NumberFormat,
    TransformLayout,
)
from npcompile.backends.cpu.transforms.steps import CALL, PLACES, PassStep
from npcompile.core.records import record
from npcompile.fft import convolutions, twiddles
from npcompile.fft.plans import Bluestein, FourStep, Passes, Plan, Rader

_COLUMNS = 32  # that are transformed together
_GAP = 192  # bytes between buffers, which keeps them off each other's lines of the cache

#: the transform of complex128 numbers, by the compiled functions themselves
Spectrum = Callable[[np.ndarray], np.ndarray]


@record
class End:
    """One end of a step: which memory, how far in, its strides and the distance of both parts.
    Strides are in units of a word of the call."""

    place: str
    form: NumberFormat
    unit: str = "one"
    at: int = 0
    parts: int = 0

    @property
    def exchanged(self) -> End:
        """The same numbers with real parts for imaginary ones."""
        if self.form.layout == "split":
            return End(self.place, self.form, self.unit, self.at + self.parts, -self.parts)
        other = {"pairs": "swapped", "swapped": "pairs", "rows": "turned"}[self.form.layout]
        return End(self.place, NumberFormat(other, self.form.elem), self.unit, self.at, self.parts)

    def words(self, end: str, line: int = 0, point: int = 0) -> dict[str, int]:
        """``line`` and ``point`` are strides in numbers, or in strides of the user's array."""
        size = self.form.bytes
        if self.unit.endswith("stride"):
            size = 2 if self.form.layout in ROWS else 1  # rows of the array to a number
        return {end: PLACES[self.place], f"{end}_at": self.at, f"{end}_line": line * size,
                f"{end}_point": point * size, f"{end}_parts": self.parts,
                f"{end}_unit": CALL[self.unit]}


class Lowering:
    """The steps of a plan; ``scratch`` is how many bytes they need."""

    def __init__(self, layout: TransformLayout, spectrum: Spectrum) -> None:
        self.layout, self.spectrum = layout, spectrum
        self.size = SIZE[layout.elem]
        self.dtype = np.dtype(np.float64 if layout.elem == "double" else np.float32)
        self.steps: list[PassStep] = []
        self.scratch = 0
        self.pairs: dict[int, list[End]] = {}

    def all(self, plan: Plan) -> Lowering:
        """The steps of a plan between the arrays of a call."""
        layout = self.layout
        if layout.block > 1 and not layout.columns:
            return self.whole(plan.n)
        source, target = (
            End(side, form, f"{side}_stride" if layout.columns else "one",
                parts=int(form.layout in ROWS))  # one row on
            for side, form in (("source", layout.source), ("target", layout.target)))
        if layout.kind == "c2c":
            self.lower(plan, source, target, layout.scaled)
            return self
        half = self.buffer(plan.n)
        if "real" in (layout.source.layout, layout.target.layout):
            self.odd(plan, source, half, target)
        elif layout.kind == "r2c":
            self.lower(plan, source, half)
            self.real("behind", plan.n, half, target, layout.scaled)
        else:
            self.real("before", plan.n, source, half)
            self.lower(plan, half.exchanged, target.exchanged, layout.scaled)
        return self

    def described(self, tables: bytearray) -> dict[str, Any]:
        """The steps as JSON can hold them; their tables join others, at multiples of 64 bytes."""
        layout = self.layout
        return {"scratch": self.scratch, "lanes": layout.lanes(layout.block),
                "block": layout.block, "steps": [_described(step, tables) for step in self.steps]}

    def whole(self, n: int) -> Lowering:
        """One step for rows of few points."""
        layout = self.layout
        source = End("source", layout.source, "source_stride")
        target = End("target", layout.target, "target_stride")
        shape = "whole" if layout.kind == "c2c" else f"whole_{layout.kind}"
        self.put(shape, n, layout.lanes(layout.block), source, target, {}, scaled=layout.scaled)
        return self

    def buffer(self, n: int) -> End:
        """Room for so many numbers in two parts."""
        at = self.scratch
        apart = -(-n * self.layout.block * self.size // 64) * 64 + 64
        self.scratch = at + 2 * apart + _GAP
        return End("scratch", NumberFormat("split", self.layout.elem), "width", at, apart)

    def lower(self, plan: Plan, source: End, target: End, scaled: bool = False) -> None:
        match plan:
            case Passes():
                self.passes(plan, source, target, scaled)
            case Rader():
                self.rader(plan, source, target, scaled)
            case Bluestein():
                self.bluestein(plan, source, target, scaled)
            case FourStep():
                self.four_step(plan, source, target, scaled)

    def put(self, shape: str, radix: int, lanes: int, source: End, target: End,
            words: dict[str, int], table: np.ndarray | None = None, factors: bool = False,
            scaled: bool = False, grid: bool = False) -> None:
        codelet = Codelet(shape, radix, self.layout.elem, lanes, source.form, target.form,
                          factors, scaled, grid)
        ends = source.words("source") | target.words("target")
        self.steps.append(PassStep(codelet, ends | words, table))

    # ------------------------------------------------------------ passes

    def passes(self, plan: Passes, source: End, target: End, scaled: bool = False,
               grid: tuple[dict[str, int], np.ndarray] | None = None) -> None:
        """``grid``: words and table of the factors that the last results are multiplied by."""
        radices, n = plan.radices or (1,), plan.n
        if len(radices) > 1 and n not in self.pairs:
            self.pairs[n] = [self.buffer(n), self.buffer(n)]
        m, s = n, 1
        for k, radix in enumerate(radices):
            m //= radix
            here = source if k == 0 else self.pairs[n][(k - 1) % 2]
            there = target if m == 1 else self.pairs[n][k % 2]
            if s == 1 < m and not self.layout.columns:
                self.first(radix, m, here, there)
            else:
                last = m == 1
                self.lines(radix, m, s, here, there, scaled and last, grid if last else None)
            s *= radix

    def first(self, radix: int, m: int, source: End, target: End) -> None:
        lanes = self.layout.lanes(m)
        words = {"along": m} | source.words("source", point=m)
        self.put("first", radix, lanes, source, target, words, self.blocks(radix, m, lanes))

    def lines(
        self, radix: int, m: int, s: int, source: End, target: End, scaled: bool,
        grid: tuple[dict[str, int], np.ndarray] | None,
    ) -> None:
        """``m`` transforms of lines of ``s`` numbers."""
        layout = self.layout
        # the last results of rows are neighbours, those of columns are lines of the user's array
        apart = m == 1 and layout.columns
        lines, along = (s, 1) if apart else (m, s)
        words = {"lines": lines, "along": along}
        words |= source.words("source", along, s * m)
        words |= target.words("target", along if apart else radix * s, s)
        table = self.factors(radix, m) if m > 1 else None
        if grid is not None:
            words, table = words | grid[0], grid[1]
        lanes = layout.lanes(layout.block if layout.columns else s)
        self.put("lines", radix, lanes, source, target, words, table, m > 1, scaled,
                 grid is not None)

    # ------------------------------------------------------------ around transforms

    def real(self, shape: str, half: int, source: End, target: End, scaled: bool = False) -> None:
        table = twiddles.factors(np.arange(half), 2 * half, self.dtype).T
        layout, words = self.layout, {"along": half}
        if layout.columns:
            words |= source.words("source", 1) | target.words("target", 1)
        lanes = layout.lanes(layout.block if layout.columns else half // 2)
        self.put(f"{shape}_columns" if layout.columns else shape, 2, lanes, source, target, words,
                 table, scaled=scaled)

    def odd(self, plan: Plan, source: End, whole: End, target: End) -> None:
        """Real rows of odd length as complex ones, of which one half follows from the other."""
        rest, scaled = plan.n // 2, self.layout.scaled
        if self.layout.kind == "r2c":
            self.lower(plan, source, whole, scaled)
            self.put("copy", 1, self.layout.lanes(rest + 1), whole, target, {"along": rest + 1})
        else:
            self.put("mirror", 1, self.layout.lanes(rest), source, whole, {"along": rest})
            self.lower(plan, whole, target, scaled)

    def product(self, by: np.ndarray, source: End, target: End, zeros: int = 0,
                scaled: bool = False) -> None:
        table = np.stack([by.real, by.imag]).astype(self.dtype)
        words = {"along": by.size, "extra": zeros}
        self.put("product", 1, self.layout.lanes(by.size), source, target, words, table,
                 scaled=scaled)

    def rader(self, plan: Rader, source: End, target: End, scaled: bool) -> None:
        """The row's first number stands behind those of the convolution."""
        n, (places, back, kernel) = plan.n, convolutions.rader(plan.n)
        x, y, z = self.buffer(n), self.buffer(n), self.buffer(n)
        self.put("gather", 1, 1, source, x, {"along": n}, places)
        self.lower(plan.inner, x, y)
        self.product(self.spectrum(kernel) / (n - 1), y, x)
        self.lower(plan.inner, x.exchanged, z.exchanged)
        words = {"along": n - 1, "extra": x.at + (n - 1) * self.size - z.at, "other": y.at - z.at}
        self.put("scatter", 1, 1, z, target, words, back, scaled=scaled)

    def bluestein(self, plan: Bluestein, source: End, target: End, scaled: bool) -> None:
        n, m = plan.n, plan.inner.n
        chirp, kernel = convolutions.bluestein(n, m)
        x, y = self.buffer(m), self.buffer(m)
        self.product(chirp, source, x, m - n)
        self.lower(plan.inner, x, y)
        self.product(self.spectrum(kernel) / m, y, x)
        self.lower(plan.inner, x.exchanged, y.exchanged)
        self.product(chirp, y, target, scaled=scaled)

    # ------------------------------------------------------------ long transforms

    def four_step(self, plan: FourStep, source: End, target: End, scaled: bool) -> None:
        """Columns, and several rows at a time, whose results are columns again."""
        rows, columns, size = plan.columns.n, plan.rows.n, self.size
        apart = columns * size + 64  # of rows in memory: not a power of two
        at, parts = self.scratch, rows * apart + 128
        self.scratch += 2 * parts
        lanes = self.layout.lanes(GRID)
        middle = End("scratch", NumberFormat("split", self.layout.elem), "one", at, parts)
        self.put_columns(plan, source, middle, apart)
        batch = Lowering(self.inside(middle.form, target.form), self.spectrum)
        made = End("scratch", middle.form, "one", batch.reserve(lanes * apart), lanes * apart)
        each = Lowering(self.inside(middle.form, middle.form), self.spectrum)
        each.lower(plan.rows, End("source", middle.form, parts=parts),
                   End("target", middle.form, parts=made.parts))
        frame = {"source_inner": apart, "target_inner": apart, "block": 1, "lanes": 1}
        batch.repeat(each, End("source", middle.form), made, frame)
        words = {"along": columns} | made.words("source", apart // size)
        there = End("target", target.form, parts=target.parts)
        batch.put("transpose", 1, lanes, made, there, words | there.words("target", point=rows),
                  scaled=scaled)
        frame = {"source_inner": apart, "target_inner": target.form.bytes, "block": lanes,
                 "total": rows, "lanes": lanes}
        self.repeat(batch, middle, target, frame, -(-rows // lanes))

    def put_columns(self, plan: FourStep, source: End, middle: End, apart: int) -> None:
        rows, columns = plan.columns.n, plan.rows.n
        layout = self.inside(source.form, middle.form, min(_COLUMNS, columns))
        inner = Lowering(layout, self.spectrum)
        table = self.grid(rows, columns)
        words = {"extra": columns // GRID, "other": table.nbytes - rows * 2 * GRID * self.size}
        inner.passes(plan.columns, End("source", source.form, "source_stride", 0, source.parts),
                     End("target", middle.form, "target_stride", 0, middle.parts),
                     grid=(words, table))
        frame = {"source_inner": source.form.bytes, "target_inner": self.size,
                 "source_stride": columns * source.form.bytes, "target_stride": apart,
                 "block": layout.block, "total": columns, "lanes": layout.lanes(layout.block)}
        self.repeat(inner, source, middle, frame, -(-columns // layout.block))

    def inside(
        self, source: NumberFormat, target: NumberFormat, block: int = 1
    ) -> TransformLayout:
        elem, register = self.layout.elem, self.layout.register
        return TransformLayout("c2c", source, target, elem, register, block, block > 1)

    def reserve(self, length: int) -> int:
        """Room for two parts of so many bytes."""
        at, self.scratch = self.scratch, self.scratch + 2 * length + _GAP
        return at

    def repeat(self, inner: Lowering, source: End, target: End, frame: dict[str, int],
               units: int = 0) -> None:
        """Goes through steps for so many units, or for as many as the call has neighbours."""
        words = {"lines": units, "extra": int(units > 0)}
        ends = source.words("source") | target.words("target")
        self.steps.append(PassStep(None, ends | words, None, inner, frame))

    def grid(self, rows: int, columns: int) -> Any:
        """Factors of every so many columns, by rows, and of those between; real parts first."""
        row, n = np.arange(rows)[:, None], rows * columns
        blocks = twiddles.factors(row * np.arange(0, columns, GRID), n, self.dtype)
        between = twiddles.factors(row * np.arange(GRID), n, self.dtype).transpose(0, 2, 1)
        return np.concatenate([blocks.ravel(), between.ravel()])

    # ------------------------------------------------------------ twiddle factors

    def factors(self, radix: int, m: int) -> Any:
        """``w**(p k)`` by line ``p`` and ``k = 1 .. radix - 1``."""
        j = np.arange(m)[:, None] * np.arange(1, radix)
        return twiddles.factors(j, m * radix, self.dtype)

    def blocks(self, radix: int, m: int, lanes: int) -> Any:
        """The same by vectors of ``p``, of which the last ends at ``m``."""
        starts = np.minimum(np.arange(0, m, lanes), m - lanes)
        p = starts[:, None] + np.arange(lanes)
        return self.factors(radix, m)[p].transpose(0, 2, 3, 1)


def _described(step: PassStep, tables: bytearray) -> dict[str, Any]:
    made: dict[str, Any] = {"words": step.words}
    if step.codelet is not None:
        made["codelet"] = step.codelet.name
    if step.inner is not None:
        made |= {"inner": step.inner.described(tables), "frame": step.frame}
    elif step.table is not None:
        tables += bytes(-len(tables) % 64)
        made["table"] = len(tables)
        tables += np.ascontiguousarray(step.table).tobytes()
    return made
