"""Primitives as Triton expressions.

One row per primitive.  Triton's own operators are used where they mean what the primitive means;
``npc`` are the functions of :mod:`npcompile.backends.gpu.device`.  Known traps: ``-x`` is ``0 - x``
(no -0), ``/`` and ``tl.sqrt`` of float32 are approximate, integer ``//`` and ``%`` round towards 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from npcompile.core.records import record
from npcompile.graph.ir import Number, Table
from npcompile.graph.primitives import PRIMITIVES

#: Triton's names of dtypes in registers
REGISTERS = {
    "?": "tl.int1", "b": "tl.int8", "h": "tl.int16", "i": "tl.int32", "l": "tl.int64",
    "q": "tl.int64", "B": "tl.uint8", "H": "tl.uint16", "I": "tl.uint32", "L": "tl.uint64",
    "Q": "tl.uint64", "e": "tl.float16", "f": "tl.float32", "d": "tl.float64",
}
BITS: dict[int, np.dtype[Any]] = {
    2: np.dtype(np.int16), 4: np.dtype(np.int32), 8: np.dtype(np.int64),
}


@record
class ScalarText:
    """The text of one real number in each lane; ``value`` if it is a constant."""

    text: str
    dtype: np.dtype[Any]
    simple: bool = True  # needs no parentheses whatever is done with it
    value: Number | None = None
    sign: str = ""  # of the operation that it is

    @property
    def operand(self) -> str:
        return self.text if self.simple else f"({self.text})"

    def beside(self, sign: str, right: bool = False) -> str:
        """The text as an operand of an infix operation, in parentheses if it needs them."""
        mine, other = BINDS.get(self.sign, 0), BINDS[sign]
        enough = mine > other or (mine == other > 0 and not right)
        enough = enough and (other >= BINDS["+"] or mine == other or mine > BINDS["*"])
        return self.text if self.simple or enough else f"({self.text})"


#: how tightly operations of Python bind
BINDS = {"minus": 7, "*": 6, "/": 6, "+": 5, "-": 5, "<<": 4, ">>": 4, "&": 3, "^": 2, "|": 1,
         "<": 0, "<=": 0, "==": 0, "!=": 0}

Parts = tuple[ScalarText, ...]
Rule = Callable[..., ScalarText]
_CLASS = {"f": 0, "i": 1, "u": 1, "b": 2}


def register(dtype: np.dtype[Any]) -> str:
    """Triton's name of a real dtype."""
    return REGISTERS[dtype.char]


def constant(value: Number, dtype: np.dtype[Any]) -> ScalarText:
    """A number as Triton code; a bare literal takes the type of the operand beside it."""
    number = dtype.type(value)
    if dtype.kind == "b":
        return ScalarText(str(bool(number)), dtype, True, bool(number))
    if dtype.kind in "iu":
        return ScalarText(str(int(number)), dtype, int(number) >= 0, int(number), "minus")
    bits = BITS[dtype.itemsize]
    if np.isnan(number) or (number == 0 and np.signbit(number)):
        whole = int(np.asarray(number).view(bits))
        cast = f".to({register(dtype)}, bitcast=True)"
        return ScalarText(f"tl.full((), {whole}, {register(bits)}){cast}", dtype)
    if np.isinf(number):
        return ScalarText(f'float("{number}")', dtype, True, float(number))
    text = repr(float(str(number)))
    if dtype.type(float(text)) != number:
        text = repr(float(number))
    return ScalarText(text, dtype, number >= 0, float(number), "minus")


def typed(term: ScalarText) -> str:
    """The term as a Triton value with a type of its own."""
    if term.value is None:
        return term.text
    return f"tl.full((), {term.text}, {register(term.dtype)})"


def apply(op: str, operands: list[Parts], dtype: np.dtype[Any]) -> Parts:
    """The terms of a primitive's result: two if it is complex."""
    if op in _PARTWISE:
        return _PARTWISE[op](dtype, *operands)
    terms = [parts[0] for parts in operands]
    if all(term.value is not None for term in terms):
        return (constant(_computed(op, terms), dtype),)
    rule = _RULES[op]
    if isinstance(rule, tuple):
        rule = rule[_CLASS[terms[0].dtype.kind]]
    return (rule(dtype, *terms),)


def _computed(op: str, terms: Sequence[ScalarText]) -> Any:
    """The result of constants."""
    with np.errstate(all="ignore"):
        return PRIMITIVES[op].meaning(*[term.dtype.type(term.value) for term in terms])


def call(function: str, terms: Sequence[ScalarText], dtype: np.dtype[Any]) -> ScalarText:
    return ScalarText(f"{function}({', '.join(map(typed, terms))})", dtype)


def lookup(tables: str, place: int | str, numbers: Table, index: ScalarText,
           dtype: np.dtype[Any]) -> ScalarText:
    """An element of the table that begins at a place of others, whose length is a power of two."""
    last = len(numbers.values) - 1
    return ScalarText(f"npc.lookup({tables}, {index.operand} & {last}, {place})", dtype)


def _call(function: str) -> Rule:
    return lambda dtype, *terms: call(function, terms, dtype)


def _infix(sign: str) -> Rule:
    def rule(dtype: np.dtype[Any], a: ScalarText, b: ScalarText) -> ScalarText:
        return infix(sign, a, b, dtype)

    return rule


def infix(sign: str, a: ScalarText, b: ScalarText, dtype: np.dtype[Any]) -> ScalarText:
    """One of Python's operations."""
    return ScalarText(f"{a.beside(sign)} {sign} {b.beside(sign, True)}", dtype, False, sign=sign)


def _logic(sign: str, decides: bool) -> Rule:
    """And, or: one value of an operand decides, the other leaves what stands beside it."""
    def rule(dtype: np.dtype[Any], a: ScalarText, b: ScalarText) -> ScalarText:
        for one, other in ((a, b), (b, a)):
            if one.value is not None:
                return one if bool(one.value) == decides else other
        return infix(sign, a, b, dtype)

    return rule


_AND, _OR = _logic("&", False), _logic("|", True)


def _exclusive_or(dtype: np.dtype[Any], a: ScalarText, b: ScalarText) -> ScalarText:
    """Of bools."""
    for one, other in ((a, b), (b, a)):
        if one.value is not None:
            return call("npc.bit_not", [other], dtype) if one.value else other
    return infix("^", a, b, dtype)


def _shift(sign: str, function: str) -> Rule:
    """By a constant that is less than the width, Triton's own."""
    def rule(dtype: np.dtype[Any], a: ScalarText, n: ScalarText) -> ScalarText:
        if n.text in map(str, range(8 * dtype.itemsize)):
            return infix(sign, a, n, dtype)
        return call(function, [a, n], dtype)

    return rule


def _rounded(float32: Rule, float64: Rule) -> Rule:
    """Of what is correctly rounded in float64 only by Triton's ordinary operator."""
    return lambda dtype, *terms: (float32 if dtype.itemsize == 4 else float64)(dtype, *terms)


def _bitcast(term: ScalarText, to: np.dtype[Any]) -> ScalarText:
    text = typed(term) if term.value is not None else term.operand
    return ScalarText(f"{text}.to({register(to)}, bitcast=True)", to)


def _fma(dtype: np.dtype[Any], *terms: ScalarText) -> ScalarText:
    """A bare literal takes the type of the others."""
    return ScalarText(f"npc.fma({', '.join(term.text for term in terms)})", dtype)


def _popcount(dtype: np.dtype[Any], a: ScalarText) -> ScalarText:
    return ScalarText(f"npc.popcount({typed(a)}).to({register(dtype)})", dtype)


#: of floats, integers and bools, or of any
_RULES: dict[str, tuple[Rule, Rule, Rule] | Rule] = {
    "add": (_infix("+"), _infix("+"), _OR),
    "sub": (_infix("-"), _infix("-"), _exclusive_or),
    "mul": (_infix("*"), _infix("*"), _AND),
    "div": _rounded(_call("tl.div_rn"), _infix("/")),
    "neg": _call("npc.negative"),
    "abs": _call("npc.absolute"),
    "sqrt": _rounded(_call("tl.sqrt_rn"), _call("tl.sqrt")),
    "fma": _fma,
    "floor": _call("tl.floor"),
    "ceil": _call("tl.ceil"),
    "trunc": _call("npc.trunc"),
    "rint": _call("npc.rint"),
    "copysign": _call("npc.copysign"),
    "ldexp": _call("npc.ldexp"),
    "fmod": _call("npc.fmod"),
    "floor_quotient": _call("npc.floor_quotient"),
    "minimum": (_call("npc.minimum"), _call("tl.minimum"), _AND),
    "maximum": (_call("npc.maximum"), _call("tl.maximum"), _OR),
    "int_div": _call("npc.int_div"),
    "int_mod": _call("npc.int_mod"),
    "bit_and": (_infix("&"), _infix("&"), _AND),
    "bit_or": (_infix("|"), _infix("|"), _OR),
    "bit_xor": (_infix("^"), _infix("^"), _exclusive_or),
    "bit_not": _call("npc.bit_not"),
    "shl": _shift("<<", "npc.shl"),
    "shr": _shift(">>", "npc.shr"),
    "lt": (_infix("<"), _infix("<"), _call("npc.bool_less")),
    "le": (_infix("<="), _infix("<="), _call("npc.bool_less_equal")),
    "popcount": _popcount,
    "to_bits": lambda dtype, a: _bitcast(a, BITS[a.dtype.itemsize]),
    "from_bits": lambda dtype, a: _bitcast(a, np.dtype(f"f{a.dtype.itemsize}")),
    "add_overflows": _call("npc.add_overflows"),
    "sub_overflows": _call("npc.sub_overflows"),
    "mul_overflows": _call("npc.mul_overflows"),
}


def _equality(op: str, infix: str, join: str) -> Callable[..., Parts]:
    def rule(dtype: np.dtype[Any], a: Parts, b: Parts) -> Parts:
        texts = []
        for pair in zip(a, b, strict=True):
            if any(term.value is None for term in pair):
                texts.append(f"{pair[0].operand} {infix} {pair[1].operand}")
            elif bool(_computed(op, pair)) == (op == "ne"):  # decides
                return (constant(op == "ne", dtype),)
        if not texts:
            return (constant(op == "eq", dtype),)
        if len(texts) == 1:
            return (ScalarText(texts[0], dtype, False, sign=infix),)
        return (ScalarText(f" {join} ".join(f"({t})" for t in texts), dtype, False, sign=join),)

    return rule


def _where(dtype: np.dtype[Any], mask: Parts, a: Parts, b: Parts) -> Parts:
    if mask[0].value is not None:
        return a if mask[0].value else b
    return tuple(choice(mask[0], x, y) for x, y in zip(a, b, strict=True))


def choice(mask: ScalarText, x: ScalarText, y: ScalarText) -> ScalarText:
    """``x`` where the mask holds; a bare literal takes the type of the number beside it."""
    if x == y:
        return x
    texts = [typed(x) if y.value is not None else x.text, y.text]
    return ScalarText(f"tl.where({mask.text}, {', '.join(texts)})", x.dtype)


_PARTWISE: dict[str, Callable[..., Parts]] = {
    "eq": _equality("eq", "==", "&"),
    "ne": _equality("ne", "!=", "|"),
    "where": _where,
    "rare": _where,
    "complex": lambda dtype, re, im: (*re, *im),
    "real": lambda dtype, a: (a[0],),
    "imag": lambda dtype, a: (a[1],),
}

#: what has a rule; ``lookup`` reads a table in memory and ``cast`` has rules of its own
KNOWN = frozenset(_RULES) | frozenset(_PARTWISE) | {"lookup", "cast"}
