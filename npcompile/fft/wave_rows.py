"""Cosine and sine transforms of the rows of arrays, by Fourier transforms and one pass before or
behind.

Types II and III reorder the points so that a real transform of the same length serves (Makhoul, A
fast cosine transform in one and two dimensions, 1980); type IV takes pairs of points for complex
numbers, half as many; type I extends the row to a symmetric one.  Sine transforms are cosine
transforms of rows whose order or signs are changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.core.records import record
from npcompile.core.sizes import Size, floordiv
from npcompile.fft import records
from npcompile.graph.types import INT, PY_FLOAT
from npcompile.ops import arguments, views
from npcompile.ops.arguments import as_array
from npcompile.ops.complexes import half_window
from npcompile.ops.creation import filled
from npcompile.ops.elementwise import py_scalar, run
from npcompile.ops.indexing import setitem
from npcompile.ops.joining import joined
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.ranges import arange
from npcompile.ops.selection import BACK, cut

ODD, EVEN = slice(1, None, 2), slice(None, None, 2)


@record
class Wave:
    """A transform before it is scaled: ``sine``, and its type.  ``ends`` is whether a row's ends
    are scaled by the root of 2 to make it orthogonal."""

    sine: bool
    type: int
    ends: bool


class WaveRows:
    """Arithmetic on the rows of arrays."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def cut(self, x: ArrayRef, *items: slice) -> ArrayRef:
        for item in items:
            x = cut(self.ctx, x, x.ndim - 1, item)
        return x

    def op(self, name: str, *operands: Operand) -> ArrayRef:
        found = run(self.ctx, name, *operands)
        assert isinstance(found, ArrayRef)
        return found

    def joined(self, *parts: ArrayRef) -> ArrayRef:
        return joined(self.ctx, "dct", list(parts), parts[0].ndim - 1)

    def number(self, size: Size) -> Operand:
        return size if isinstance(size, int) else self.ctx.builder.size(size)

    def zeros(self, like: ArrayRef) -> ArrayRef:
        """A column of zeros."""
        return filled(self.ctx, (*like.shape[:-1], 1), 0, like.dtype)

    def changed(self, x: ArrayRef, part: slice) -> ArrayRef:
        """A copy with other signs of some columns."""
        made = views.copied(self.ctx, x)
        setitem(self.ctx, self.cut(made, part), Ellipsis, self.op("negative", self.cut(x, part)))
        return made

    def factors(self, count: Size, first: int, step: int, whole: Size, like: ArrayRef
                ) -> tuple[ArrayRef, ArrayRef]:
        """Cosines and sines of ``pi (first + step k) / whole``, in the format of an array."""
        k = self.op("multiply", arange(self.ctx, 0, self.number(count), None, INT), step)
        angle = self.op("multiply", self.op("add", k, first), math.pi)
        angle = self.op("divide", angle, self.number(whole))
        cosine, sine = (as_array(self.ctx, self.op(name, angle), like.dtype)
                        for name in ("cos", "sin"))
        return cosine, sine

    def transform(self, kind: str, x: ArrayRef, n: Operand = None) -> ArrayRef:
        """Without a scale."""
        norm = "forward" if kind == "c2r" else "backward"
        return records.transform(self.ctx, "dct", kind, x, n, -1, norm, "scipy")

    def parts(self, z: ArrayRef) -> tuple[Any, Any]:
        return half_window(z, "real"), half_window(z, "imag")

    # ------------------------------------------------------------ cosines

    def cosine1(self, x: ArrayRef) -> ArrayRef:
        arguments.require(self.ctx, "<", 1, x.shape[-1], "a cosine transform of one point")
        row = self.joined(x, self.cut(x, slice(1, -1), BACK))
        return half_window(self.transform("r2c", row), "real")

    def cosine2(self, x: ArrayRef) -> ArrayRef:
        n = x.shape[-1]
        half = floordiv(n, 2)
        row = self.joined(self.cut(x, EVEN), self.cut(x, ODD, BACK))
        re, im = self.parts(self.transform("r2c", row))
        c, s = self.factors(half + 1, 0, 1, n * 2, x)
        low = self.op("add", self.op("multiply", re, c), self.op("multiply", im, s))
        high = self.op("subtract", self.op("multiply", re, s), self.op("multiply", im, c))
        high = self.cut(high, slice(1, self.number(n - half)), BACK)
        return self.op("multiply", self.joined(low, high), 2)

    def cosine3(self, x: ArrayRef) -> ArrayRef:
        n = x.shape[-1]
        half = floordiv(n, 2)
        back = self.joined(self.zeros(x), self.cut(x, BACK, slice(0, self.number(half))))
        x = self.cut(x, slice(0, self.number(half + 1)))
        c, s = self.factors(half + 1, 0, 1, n * 2, x)
        parts = (self.op("add", self.op("multiply", x, c), self.op("multiply", back, s)),
                 self.op("subtract", self.op("multiply", x, s), self.op("multiply", back, c)))
        made = self.transform("c2r", self.complex(*parts), self.number(n))
        out = filled(self.ctx, made.shape, None, made.dtype)
        setitem(self.ctx, self.cut(out, EVEN), Ellipsis,
                self.cut(made, slice(0, self.number(n - half))))
        setitem(self.ctx, self.cut(out, ODD), Ellipsis,
                self.cut(made, BACK, slice(0, self.number(half))))
        return out

    def complex(self, re: ArrayRef, im: ArrayRef) -> ArrayRef:
        node = self.ctx.builder.map("complex", [self.ctx.read(re), self.ctx.read(im)],
                                    np.dtype("F" if re.dtype.char == "f" else "D"))
        return self.ctx.new(node)

    def cosine4(self, x: ArrayRef) -> ArrayRef:
        n = x.shape[-1]
        if not records.is_even(self.ctx, n):
            return self.odd_cosine4(x)
        half = floordiv(n, 2)
        c, s = self.factors(half, 1, 8, n * 8, x)  # the same before and behind

        def turned(re: ArrayRef, im: ArrayRef) -> tuple[ArrayRef, ArrayRef]:
            return (self.op("add", self.op("multiply", re, c), self.op("multiply", im, s)),
                    self.op("subtract", self.op("multiply", im, c), self.op("multiply", re, s)))

        row = self.complex(*turned(self.cut(x, EVEN), self.cut(x, BACK, EVEN)))
        re, im = turned(*self.parts(self.transform("c2c", row)))
        out = filled(self.ctx, x.shape, None, x.dtype)
        setitem(self.ctx, self.cut(out, EVEN), Ellipsis, self.op("multiply", re, 2))
        setitem(self.ctx, self.cut(out, BACK, EVEN), Ellipsis, self.op("multiply", im, -2))
        return out

    def odd_cosine4(self, x: ArrayRef) -> ArrayRef:
        """Half of every other result of type II for a row of twice the length."""
        row = self.joined(x, self.op("negative", self.cut(x, BACK)))
        return self.op("multiply", self.cut(self.cosine2(row), ODD), 0.5)

    # ------------------------------------------------------------ sines

    def sine1(self, x: ArrayRef) -> ArrayRef:
        zero = self.zeros(x)
        row = self.joined(zero, x, zero, self.op("negative", self.cut(x, BACK)))
        _, im = self.parts(self.transform("r2c", row))
        return self.op("negative", self.cut(im, slice(1, self.number(x.shape[-1] + 1))))

    def sine2(self, x: ArrayRef) -> ArrayRef:
        return self.cut(self.cosine2(self.changed(x, ODD)), BACK)

    def sine3(self, x: ArrayRef) -> ArrayRef:
        return self.changed(self.cosine3(self.cut(x, BACK)), ODD)

    def sine4(self, x: ArrayRef) -> ArrayRef:
        return self.changed(self.cosine4(self.cut(x, BACK)), ODD)

    # ------------------------------------------------------------ scales

    def wave(self, which: Wave, x: ArrayRef, norm: str) -> ArrayRef:
        name = f"{'sine' if which.sine else 'cosine'}{which.type}"
        compute: Callable[[ArrayRef], ArrayRef] = getattr(self, name)
        root = math.sqrt(2)
        x = self.ends(which, x, {1: root, 3: root})
        return self.ends(which, self.scaled(which, compute(x), norm), {1: 1 / root, 2: 1 / root})

    def ends(self, which: Wave, x: ArrayRef, factors: dict[int, float]) -> ArrayRef:
        """The ends of rows times a number, where they are to be."""
        if not which.ends or which.type not in factors or (which.sine and which.type == 1):
            return x
        made = views.copied(self.ctx, x)
        first, last = slice(0, 1), slice(-1, None)
        for end in [first, last] if which.type == 1 else [last if which.sine else first]:
            scaled = self.op("multiply", self.cut(x, end), factors[which.type])
            setitem(self.ctx, self.cut(made, end), Ellipsis, scaled)
        return made

    def scaled(self, which: Wave, x: ArrayRef, norm: str) -> ArrayRef:
        if norm == "backward":
            return x
        more = 0 if which.type > 1 else 1 if which.sine else -1
        whole = run(self.ctx, "multiply", self.number(x.shape[-1] + more), 2.0)
        if norm == "ortho":
            whole = run(self.ctx, "sqrt", whole)
        scale = run(self.ctx, "divide", 1.0, whole)
        return self.op("multiply", x, py_scalar(self.ctx, arguments.number(self.ctx, scale),
                                                PY_FLOAT))
