"""Codelets behind and before complex transforms of half the length: transforms of real rows.

A row of ``2 h`` real numbers is taken for ``h`` complex ones, whose transform is ``Z``.  That of
the even points is ``E[k] = (Z[k] + conj(Z[h - k])) / 2``, that of the odd ones
``O[k] = (Z[k] - conj(Z[h - k])) / 2i``, and that of all ``E[k] + w**k O[k]``.  Both ends of a row
are computed together; the middle, which is both, is stored as the upper one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from npcompile.backends.cpu.llvm.text import Value, i64, literal
from npcompile.backends.cpu.transforms.codelets import CodeletWriter, Pair, VectorArithmetic
from npcompile.backends.cpu.transforms.formats import SIZE, Codelet, NumberFormat
from npcompile.backends.cpu.transforms.steps import WORD
from npcompile.fft.twiddles import constant


class RealWriter(CodeletWriter):
    """``along`` is half the length of the real row."""

    def __init__(self, codelet: Codelet) -> None:
        super().__init__(codelet)
        self.half = self.word("along")
        self.table = self.f.load(self.f.offset(self.step, "i64", i64(WORD["table"])), "ptr")
        self.scale = self.scale_of_call() if codelet.scaled else None
        self.apart = {end: self.word(f"{end}_parts") for end in ("source", "target")}
        self.one = VectorArithmetic(self.f, codelet.elem, 1)

    def number(self, index: Value, lanes: int) -> Pair:
        form = self.codelet.source
        place = self.at(self.source, self.times(index, form.bytes))
        return self.read(form, place, self.apart["source"], lanes)

    def put(self, value: Pair, index: Value) -> None:
        form: NumberFormat = self.codelet.target
        (scaled,) = self.scaled([value], self.scale)
        place = self.at(self.target, self.times(index, form.bytes))
        self.write(form, scaled, place, self.apart["target"])

    def backwards(self, value: Pair) -> Pair:
        order = range(value[0].lanes)[::-1]
        re, im = (self.f.shuffle(part, part, order) for part in value)
        return re, im

    def factor(self, index: Value) -> Pair:
        f, elem, lanes = self.f, self.codelet.elem, self.codelet.lanes
        sines = f.offset(self.table, elem, self.half)
        return (f.load(f.offset(self.table, elem, index), elem, lanes, SIZE[elem]),
                f.load(f.offset(sines, elem, index), elem, lanes, SIZE[elem]))

    def both_ends(self, forward: bool) -> None:
        """The loop over ``k = 1 .. h // 2``."""
        f, lanes = self.f, self.codelet.lanes
        count = f.binary("lshr", self.half, i64(1))
        with f.loop(i64(0), count, lanes) as loop:
            low = self.plus(self.clamped(loop.index, count), i64(1))
            high = f.binary("sub", self.plus(self.half, i64(1 - lanes)), low)
            ends = self.number(low, lanes), self.backwards(self.number(high, lanes))
            make = self.joined if forward else self.parted
            lower, upper = make(*ends, self.factor(low))
            self.put(lower, low)
            self.put(self.backwards(upper), high)

    def joined(self, z: Pair, y: Pair, w: Pair) -> tuple[Pair, Pair]:
        v, half = self.vector, self.vector.constant(0.5)
        even = v.mul(v.add(z[0], y[0]), half), v.mul(v.sub(z[1], y[1]), half)
        odd = v.mul(v.sub(z[0], y[0]), half), v.mul(v.add(z[1], y[1]), half)
        t = self.math.mul(odd, w)  # the odd part is divided by i
        return ((v.add(even[0], t[1]), v.sub(even[1], t[0])),
                (v.sub(even[0], t[1]), v.sub(v.neg(even[1]), t[0])))

    def parted(self, x: Pair, y: Pair, w: Pair) -> tuple[Pair, Pair]:
        """The way back, twice the numbers: the transform that follows is of half the length."""
        v = self.vector
        even = v.add(x[0], y[0]), v.sub(x[1], y[1])
        odd = v.sub(x[0], y[0]), v.add(x[1], y[1])
        t = self.math.mul(odd, (w[0], v.neg(w[1])))  # and is multiplied by i
        return ((v.sub(even[0], t[1]), v.add(even[1], t[0])),
                (v.add(even[0], t[1]), v.sub(t[0], even[1])))

    def behind(self) -> None:
        re, im = self.number(i64(0), 1)
        zero = literal(self.codelet.elem, 0.0)
        self.put((self.one.add(re, im), zero), i64(0))
        self.put((self.one.sub(re, im), zero), self.half)
        self.both_ends(forward=True)

    def before(self) -> None:
        """The imaginary parts of both ends don't count."""
        (first, _), (last, _) = self.number(i64(0), 1), self.number(self.half, 1)
        self.put((self.one.add(first, last), self.one.sub(first, last)), i64(0))
        self.both_ends(forward=False)

    # ------------------------------------------------------------ columns

    def line(self, end: str, index: Value, column: Value) -> Value:
        """Where a number of a column lies."""
        pointer, form = ((self.source, self.codelet.source) if end == "source" else
                         (self.target, self.codelet.target))
        away = self.times(index, self.strides(end)[0])
        return self.at(pointer, self.plus(away, self.times(column, form.bytes)))

    def taken(self, index: Value, column: Value) -> Pair:
        return self.read(self.codelet.source, self.line("source", index, column),
                         self.apart["source"], self.codelet.lanes)

    def given(self, value: Pair, index: Value, column: Value) -> None:
        (scaled,) = self.scaled([value], self.scale)
        self.write(self.codelet.target, scaled, self.line("target", index, column),
                   self.apart["target"])

    @contextmanager
    def each_column(self) -> Iterator[Value]:
        width = self.of_call("width")
        with self.f.loop(i64(0), width, self.codelet.lanes) as loop:
            yield self.clamped(loop.index, width)

    def across(self, forward: bool) -> None:
        """What :meth:`both_ends` does, with columns in lanes."""
        f, lanes, elem = self.f, self.codelet.lanes, self.codelet.elem
        sines = f.offset(self.table, elem, self.half)
        end = self.plus(f.binary("lshr", self.half, i64(1)), i64(1))
        with f.loop(i64(1), end) as loop:
            low, high = loop.index, f.binary("sub", self.half, loop.index)
            w = tuple(f.splat(f.load(f.offset(part, elem, low), elem), lanes)
                      for part in (self.table, sines))
            with self.each_column() as column:
                make = self.joined if forward else self.parted
                lower, upper = make(self.taken(low, column), self.taken(high, column), (w[0], w[1]))
                self.given(lower, low, column)
                self.given(upper, high, column)

    def behind_columns(self) -> None:
        zero = literal(self.codelet.elem, 0.0, self.codelet.lanes)
        with self.each_column() as column:
            re, im = self.taken(i64(0), column)
            self.given((self.vector.add(re, im), zero), i64(0), column)
            self.given((self.vector.sub(re, im), zero), self.half, column)
        self.across(forward=True)

    def before_columns(self) -> None:
        with self.each_column() as column:
            (first, _), (last, _) = self.taken(i64(0), column), self.taken(self.half, column)
            ends = self.vector.add(first, last), self.vector.sub(first, last)
            self.given(ends, i64(0), column)
        self.across(forward=False)

    # ------------------------------------------------------------ rows of few points in lanes

    def whole_r2c(self) -> None:
        self.whole()

    def whole_c2r(self) -> None:
        self.whole()

    def row_numbers(self) -> int:
        """One more of a half spectrum."""
        return self.codelet.radix + (self.codelet.shape == "whole_c2r")

    def of_row(self, x: list[Pair]) -> list[Pair]:
        """What the transform of half the length and :meth:`behind` or :meth:`before` do."""
        v, half = self.vector, self.codelet.radix
        zero = v.constant(0.0)
        if self.codelet.shape == "whole_c2r":
            (first, _), (last, _) = x[0], x[half]
            y = [(v.add(first, last), v.sub(first, last)), *x[1:half]]
            for k in range(1, half // 2 + 1):
                y[k], y[half - k] = self.parted(x[k], x[half - k], self.root(k))
            turned = self.math.transform([(im, re) for re, im in y])
            return [(im, re) for re, im in turned]
        z = self.math.transform(x)
        re, im = z[0]
        made = [(v.add(re, im), zero), *z[1:], (v.sub(re, im), zero)]
        for k in range(1, half // 2 + 1):
            made[k], made[half - k] = self.joined(z[k], z[half - k], self.root(k))
        return made

    def root(self, k: int) -> Pair:
        re, im = constant(k, 2 * self.codelet.radix)
        return self.vector.constant(re), self.vector.constant(im)

    # ------------------------------------------------------------ rows of odd length

    def mirror(self) -> None:
        """A row of odd length whose other half has conjugate numbers: its conjugate, whose forward
        transform is what the row's inverse one is, as that is real.  ``along`` numbers follow the
        first one, whose imaginary part doesn't count."""
        f, lanes, rest = self.f, self.codelet.lanes, self.half
        re, _ = self.number(i64(0), 1)
        self.put((re, literal(self.codelet.elem, 0.0)), i64(0))
        with f.loop(i64(0), rest, lanes) as loop:
            low = self.plus(self.clamped(loop.index, rest), i64(1))
            re, im = self.number(low, lanes)
            self.put((re, self.vector.neg(im)), low)
            high = f.binary("sub", self.plus(self.times(rest, 2), i64(2 - lanes)), low)
            self.put(self.backwards((re, im)), high)
