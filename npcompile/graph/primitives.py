"""The primitives: all that a backend must know, each with its meaning in NumPy.

Every elementwise operator is one of these or a program over them (``lower`` in its record).
Operands of a primitive have the dtypes of its signature exactly: casts are nodes.  Signatures are
written by *class*: ``f`` any real float, ``i`` any integer, ``b`` bool, ``n`` any of ``f i``,
``a`` any dtype, ``c`` complex; the same letter is the same dtype throughout a row, ``*`` is any
number of the operand before it.
float16 is stored only: arithmetic on it is done in float32 by explicit casts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.paths import import_path
from npcompile.core.records import record
from npcompile.graph.types import Array, Scalar

if TYPE_CHECKING:
    from npcompile.graph.ir import Node


@record
class Primitive:
    """``computed_by`` is NumPy's function, or the name of one in :mod:`.primitive_meanings`;
    ``flags`` are the floating-point exceptions that the machine instruction may raise as NumPy
    would: d(ivide) o(verflow) u(nderflow) i(nvalid).
    ``fresh``: where a program computes it of numbers, it gets a new object each time."""

    name: str
    signature: str
    computed_by: Callable[..., Any] | str
    doc: str
    flags: str = ""
    fresh: bool = False

    @property
    def meaning(self) -> Callable[..., Any]:
        """Its function of NumPy arrays or scalars."""
        if callable(self.computed_by):
            return self.computed_by
        found: Callable[..., Any] = import_path(f"{_MEANINGS}:{self.computed_by}")
        return found


#: functions that few processes need: compiled code computes what they say
_MEANINGS = "npcompile.graph.primitive_meanings"

_ROWS: list[tuple[Any, ...]] = [
    ("add", "nn->n", np.add, "sum; integers wrap", "oi", True),
    ("sub", "nn->n", np.subtract, "difference; integers wrap", "oi", True),
    ("mul", "nn->n", np.multiply, "product; integers wrap", "oui", True),
    ("div", "ff->f", np.divide, "correctly rounded quotient", "doui", True),
    ("neg", "n->n", np.negative, "negation; integers wrap", "", True),
    ("abs", "n->n", np.absolute, "magnitude; MIN wraps", ""),
    ("sqrt", "f->f", np.sqrt, "correctly rounded square root", "i", True),
    ("fma", "fff->f", "fma", "a*b + c, rounded once", "oui"),
    ("floor", "f->f", np.floor, "largest integer not above", ""),
    ("ceil", "f->f", np.ceil, "smallest integer not below", ""),
    ("trunc", "f->f", np.trunc, "integer part", ""),
    ("rint", "f->f", np.rint, "nearest integer, ties to even", ""),
    ("copysign", "ff->f", np.copysign, "magnitude of a, sign of b", ""),
    ("ldexp", "fi->f", np.ldexp, "a * 2**n, rounded once", "ou"),
    ("fmod", "ff->f", np.fmod, "remainder of truncated division", "i"),
    ("floor_quotient", "ff->f", "floor_quotient", "a / b rounded down; NaN where b or the quotient "
     "is not moderate", "doui"),
    ("minimum", "nn->n", "minimum", "IEEE minimum: NaN wins, -0 < +0", ""),
    ("maximum", "nn->n", "maximum", "IEEE maximum: NaN wins, -0 < +0", ""),
    ("int_div", "ii->i", np.floor_divide, "// rounding down; by 0: 0; MIN // -1: MIN", "d"),
    ("int_mod", "ii->i", np.remainder, "% with b's sign; by 0: 0", "d"),
    ("bit_and", "ii->i", np.bitwise_and, "also of bools", ""),
    ("bit_or", "ii->i", np.bitwise_or, "also of bools", ""),
    ("bit_xor", "ii->i", np.bitwise_xor, "also of bools", ""),
    ("bit_not", "i->i", np.invert, "also of bools", ""),
    ("shl", "ii->i", "shift_left", "0 if the count is not in 0 .. width-1", ""),
    ("shr", "ii->i", np.right_shift, "sign fill; count not in 0 .. width-1: 0 or -1", ""),
    ("lt", "nn->b", np.less, "a < b; false with NaN, quietly", ""),
    ("le", "nn->b", np.less_equal, "a <= b; false with NaN, quietly", ""),
    ("eq", "aa->b", np.equal, "a == b", ""),
    ("ne", "aa->b", np.not_equal, "a != b", ""),
    ("where", "baa->a", np.where, "b ? a1 : a2, both computed", ""),
    ("rare", "baa->a", np.where, "where, and few lanes are true: what only a1 needs may be "
     "skipped when none is; computed for every lane it raises no flag", ""),
    ("popcount", "i->i", np.bitwise_count, "number of ones of |a|", ""),
    ("to_bits", "f->i", "bits_of", "the signed integer of the same bits", ""),
    ("from_bits", "i->f", "float_of", "the float of the same bits", ""),
    ("lookup", "i->n", "lookup", "table[i & (len - 1)] of floats or int64, len a power of two", ""),
    ("call", "f*->f", "call", "a subprogram of so many float64 numbers", ""),
    ("complex", "ff->c", "complex", "from real and imaginary part", ""),
    ("real", "c->f", np.real, "real part", ""),
    ("imag", "c->f", np.imag, "imaginary part", ""),
    ("add_overflows", "ii->b", "add_overflows", "the exact int64 sum does not fit", ""),
    ("sub_overflows", "ii->b", "sub_overflows", "the exact difference does not fit", ""),
    ("mul_overflows", "ii->b", "mul_overflows", "the exact product does not fit", ""),
]

PRIMITIVES: dict[str, Primitive] = {
    name: Primitive(name, signature, computed_by, doc, flags, *fresh)
    for name, signature, computed_by, doc, flags, *fresh in _ROWS
}

#: kinds of reduction: the binary operation and its identity (None: the first element)
REDUCTIONS: dict[str, tuple[str, int | None]] = {
    "sum": ("add", 0),  # in the canonical order; everything else runs sequentially
    "prod": ("mul", 1),
    "min": ("minimum", None),
    "max": ("maximum", None),
    "all": ("bit_and", 1),
    "any": ("bit_or", 0),
    "bit_and": ("bit_and", -1),
    "bit_or": ("bit_or", 0),
    "bit_xor": ("bit_xor", 0),
    "argmin": ("argmin", None),  # index of the first minimum; the first NaN wins
    "argmax": ("argmax", None),
}


def raises(node: Node) -> bool:
    """Whether a node may raise flags by itself; Python's own numbers raise exceptions instead."""
    type_ = node.type
    if not isinstance(type_, (Array, Scalar)) or getattr(type_, "origin", "np") == "py":
        return False
    if node.op == "cast":
        return node.args[0].dtype.kind in "fc"
    primitive = PRIMITIVES.get(node.op)
    return primitive is not None and bool(primitive.flags)
