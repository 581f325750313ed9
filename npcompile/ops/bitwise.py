"""Bits of integers."""

from __future__ import annotations

from npcompile.graph.expression import Expr, cast
from npcompile.ops.arithmetic import primitive
from npcompile.ops.elementwise import INTS, loops, ufunc

_BITS = loops("xx->x", "?" + INTS)

ufunc("bitwise_and", _BITS, lambda x, y: x & y, doc="x1 & x2")
ufunc("bitwise_or", _BITS, lambda x, y: x | y, doc="x1 | x2")
ufunc("bitwise_xor", _BITS, lambda x, y: x ^ y, doc="x1 ^ x2")
ufunc("invert", loops("x->x", "?" + INTS), lambda x: ~x, doc="~x")
ufunc("left_shift", loops("xx->x", INTS), lambda x, n: x << n,
      doc="x1 << x2; 0 if all bits leave.")
ufunc("right_shift", loops("xx->x", INTS), lambda x, n: x >> n,
      doc="x1 >> x2; the sign if all bits leave.")


def _bitwise_count(x: Expr) -> Expr:
    return cast(primitive("popcount", x), "B")


ufunc("bitwise_count", loops("x->B", INTS), _bitwise_count, doc="Number of ones of |x|.")
