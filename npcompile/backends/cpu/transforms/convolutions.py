"""Codelets around the transforms of convolutions: for primes (Rader) and other lengths (Bluestein).

``gather`` puts numbers in another order, ``scatter`` puts them back and adds the first number of
the row, ``product`` multiplies by a table, ``copy`` by nothing.
"""

from __future__ import annotations

from npcompile.backends.cpu.llvm.text import Value, i64, literal
from npcompile.backends.cpu.transforms.codelets import CodeletWriter, Pair
from npcompile.backends.cpu.transforms.formats import SIZE
from npcompile.backends.cpu.transforms.steps import WORD


class ConvolutionWriter(CodeletWriter):
    """``along`` is how many numbers there are."""

    def number(self, pointer: Value, index: Value, lanes: int, source: bool = True) -> Pair:
        form = self.codelet.source if source else self.codelet.target
        place = self.at(pointer, self.times(index, form.bytes))
        return self.read(form, place, self.word(f"{'source' if source else 'target'}_parts"),
                         lanes)

    def put(self, value: Pair, index: Value) -> None:
        form = self.codelet.target
        self.write(form, value, self.at(self.target, self.times(index, form.bytes)),
                   self.word("target_parts"))

    def table(self) -> Value:
        return self.f.load(self.f.offset(self.step, "i64", i64(WORD["table"])), "ptr")

    def product(self) -> None:
        """Products with the numbers of a table, whose parts lie apart; zeros behind them, as many
        as ``extra`` says."""
        f, elem, lanes = self.f, self.codelet.elem, self.codelet.lanes
        along, re = self.word("along"), self.table()
        im = f.offset(re, elem, along)
        scale = self.scale_of_call() if self.codelet.scaled else None
        with f.loop(i64(0), along, lanes) as loop:
            index = self.clamped(loop.index, along)
            w = tuple(f.load(f.offset(part, elem, index), elem, lanes, SIZE[elem])
                      for part in (re, im))
            y = self.math.mul(self.number(self.source, index, lanes), (w[0], w[1]))
            (y,) = self.scaled([y], scale)
            self.put(y, index)
        zero = literal(elem, 0.0)
        with f.loop(along, self.plus(along, self.word("extra"))) as loop:
            self.put((zero, zero), loop.index)

    def copy(self) -> None:
        """Numbers as they are."""
        along, lanes = self.word("along"), self.codelet.lanes
        with self.f.loop(i64(0), along, lanes) as loop:
            index = self.clamped(loop.index, along)
            self.put(self.number(self.source, index, lanes), index)

    def gather(self) -> None:
        """The numbers at the places that a table lists."""
        f, places = self.f, self.table()
        with f.loop(i64(0), self.word("along")) as loop:
            place = f.load(f.offset(places, "i64", loop.index), "i64")
            self.put(self.number(self.source, place, 1), loop.index)

    def scatter(self) -> None:
        """Numbers plus the first one of the row (``extra`` bytes behind them) to the places that a
        table lists; the row's sum, which lies ``other`` bytes behind them, to the first place."""
        f, places = self.f, self.table()
        scale = self.scale_of_call() if self.codelet.scaled else None
        first, total = (self.read(self.codelet.source, self.at(self.source, self.word(name)),
                                  self.word("source_parts"), 1) for name in ("extra", "other"))
        self.put(self.scaled([self.math.add(first, total)], scale)[0], i64(0))
        with f.loop(i64(0), self.word("along")) as loop:
            value = self.math.add(self.number(self.source, loop.index, 1), first)
            place = f.load(f.offset(places, "i64", loop.index), "i64")
            self.put(self.scaled([value], scale)[0], place)
