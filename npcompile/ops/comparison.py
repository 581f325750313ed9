"""Comparisons, logic, extrema and conditional functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.graph.expression import Expr, cast, maximum, minimum, where
from npcompile.graph.ir import Node
from npcompile.graph.layout import like_strides
from npcompile.graph.types import Array, Scalar
from npcompile.ops import complexes as cx
from npcompile.ops import finding
from npcompile.ops.arguments import static
from npcompile.ops.arithmetic import by_kind
from npcompile.ops.complexes import is_complex
from npcompile.ops.elementwise import (
    NUMBERS,
    Input,
    Program,
    Ufunc,
    as_node,
    composed,
    given,
    laid_out,
    lift,
    loops,
    part,
    py_scalar,
    run,
    scalar_array,
    store,
    to_loop,
    ufunc,
    wrap,
)
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.record import SILENT, Errors

# ------------------------------------------------------------------ comparisons


def _mixed(same: Program, signed_first: Program, unsigned_first: Program) -> Program:
    """int64 against uint64 has loops of its own, which compare the true values."""

    def run(x: Expr, y: Expr) -> Expr:
        if x.dtype == y.dtype:
            found: Expr = same(x, y)
        elif x.dtype.kind == "i":
            found = signed_first(x < 0, cast(x, np.uint64), y)
        else:
            found = unsigned_first(y < 0, x, cast(y, np.uint64))
        return found

    return run


_LESS = by_kind(b=lambda x, y: ~x & y, iuf=lambda x, y: x < y, c=cx.ordered(cx.cless))
_LESS_EQUAL = by_kind(b=lambda x, y: ~x | y, iuf=lambda x, y: x <= y,
                      c=cx.ordered(cx.cless_equal))
_EQUAL = by_kind(biuf=lambda x, y: x == y, c=cx.cequal)
_UNEQUAL = by_kind(biuf=lambda x, y: x != y, c=lambda x, y: ~cx.cequal(x, y))

_ORDERED = Errors(complexes="i")
_COMPARISONS: list[tuple[str, Program, Program, Program, Errors]] = [
    # name, one dtype; with n: the signed operand is negative, and both as uint64
    ("less", _LESS, lambda n, x, y: n | (x < y), lambda n, x, y: ~n & (x < y), _ORDERED),
    ("less_equal", _LESS_EQUAL, lambda n, x, y: n | (x <= y), lambda n, x, y: ~n & (x <= y),
     _ORDERED),
    ("greater", lambda x, y: _LESS(y, x), lambda n, x, y: ~n & (x > y),
     lambda n, x, y: n | (x > y), _ORDERED),
    ("greater_equal", lambda x, y: _LESS_EQUAL(y, x), lambda n, x, y: ~n & (x >= y),
     lambda n, x, y: n | (x >= y), _ORDERED),
    ("equal", _EQUAL, lambda n, x, y: ~n & (x == y), lambda n, x, y: ~n & (x == y), SILENT),
    ("not_equal", _UNEQUAL, lambda n, x, y: n | (x != y), lambda n, x, y: n | (x != y), SILENT),
]
for _name, _same, _signed, _unsigned, _errors in _COMPARISONS:
    ufunc(_name, loops("xx->?", "?" + NUMBERS) + " qQ->? Qq->?",
          _mixed(_same, _signed, _unsigned), data=Ufunc(compares=True), errors=_errors,
          doc=f"x1 {_name.replace('_', ' or ')} x2, elementwise.")

# ------------------------------------------------------------------ logic


def nonzero(x: Expr) -> Expr:
    """The truth of a number."""
    if x.dtype.kind == "b":
        return x
    return cx.cnonzero(x) if is_complex(x) else x != 0


_PAIRS = loops("xx->?", "?" + NUMBERS)
_TESTS = loops("x->?", "?" + NUMBERS)
ufunc("logical_and", _PAIRS, lambda x, y: nonzero(x) & nonzero(y), errors=SILENT,
      doc="Both are true.")
ufunc("logical_or", _PAIRS, lambda x, y: nonzero(x) | nonzero(y), errors=SILENT, doc="One is true.")
ufunc("logical_xor", _PAIRS, lambda x, y: nonzero(x) ^ nonzero(y), errors=SILENT,
      doc="Exactly one is true.")
ufunc("logical_not", _TESTS, lambda x: ~nonzero(x), errors=SILENT, doc="Is false.")


def _each_part(test: Program, joint: Program) -> Program:
    return lambda x: joint(*map(test, cx.parts(x))) if is_complex(x) else test(x)


_INF = float("inf")
ufunc("isnan", _TESTS, _each_part(lambda x: x != x, lambda a, b: a | b), errors=SILENT,
      doc="Is NaN.")
ufunc("isinf", _TESTS,
      by_kind(biu=lambda x: x != x, f=lambda x: abs(x) == _INF,
              c=_each_part(lambda x: abs(x) == _INF, lambda a, b: a | b)), errors=SILENT,
      doc="Is infinite.")
ufunc("isfinite", _TESTS,
      by_kind(biu=lambda x: x == x, f=lambda x: abs(x) < _INF,
              c=_each_part(lambda x: abs(x) < _INF, lambda a, b: a & b)),
      errors=SILENT, doc="Is neither infinite nor NaN.")

def _infinity(name: str, negative: bool) -> None:
    def test(ctx: Context, x: Operand, out: Operand = None) -> Operand:
        sign = run(ctx, "signbit", x)
        if not negative:
            sign = run(ctx, "logical_not", sign)
        return run(ctx, "logical_and", run(ctx, "isinf", x), sign, out=out)

    composed(name, f"numpy:{name}",
             doc=f"Is {'negative' if negative else 'positive'} infinity.")(test)


_infinity("isposinf", False)
_infinity("isneginf", True)

# ------------------------------------------------------------------ extrema

def _first(before: Program) -> Program:
    """The first operand if it comes before the other or is NaN."""
    return lambda x, y: where(before(x, y) | (x != x), x, y)


_EXTREMA = loops("xx->x", "?" + NUMBERS)
# of equal floats, which only signs of zeros tell apart, NumPy takes the second, but of float16 the
# first
_larger, _smaller = _first(lambda x, y: y < x), _first(_LESS)
for _name, _ordered in (("maximum", maximum), ("minimum", minimum)):
    part(f"{_name}.ordered", loops("xx->x", "fd"), f"npcompile.graph.primitive_meanings:{_name}",
         _ordered, errors=SILENT, doc=f"The {_name} where a machine's loops have -0 < +0.")
ufunc("maximum", _EXTREMA,
      by_kind(b=lambda x, y: x | y, iu=maximum, f=_larger,
              c=lambda x, y: where(cx.cnan(x) | cx.cless_equal(y, x), x, y)),
      data=Ufunc(half=_first(lambda x, y: y <= x)), errors=SILENT, doc="The larger; NaN wins.")
ufunc("minimum", _EXTREMA,
      by_kind(b=lambda x, y: x & y, iu=minimum, f=_smaller,
              c=lambda x, y: where(cx.cnan(x) | cx.cless_equal(x, y), x, y)),
      data=Ufunc(half=_first(_LESS_EQUAL)), errors=SILENT, doc="The smaller; NaN wins.")
ufunc("fmax", _EXTREMA,
      by_kind(b=lambda x, y: x | y, iu=maximum,
              f=lambda x, y: where(x != x, y, where(y != y, x, maximum(x, y))),
              c=lambda x, y: where(cx.cnan(y) | cx.cless_equal(y, x), x, y)),
      errors=SILENT, doc="The larger; numbers win over NaN.")
ufunc("fmin", _EXTREMA,
      by_kind(b=lambda x, y: x & y, iu=minimum,
              f=lambda x, y: where(x != x, y, where(y != y, x, minimum(x, y))),
              c=lambda x, y: where(cx.cnan(y) | cx.cless_equal(x, y), x, y)),
      errors=SILENT, doc="The smaller; numbers win over NaN.")


def _float_clip(x: Expr, low: Expr, high: Expr) -> Expr:
    """NumPy keeps what is equal to a bound if both bounds are numbers."""
    if any(isinstance(bound.node.type, Array) for bound in (low, high)):
        bounded: Expr = _smaller(_larger(x, low), high)
        return bounded
    return _keeping_clip(x, low, high)


def _keeping_clip(x: Expr, low: Expr, high: Expr) -> Expr:
    raised = where((x < low) | (low != low), low, x)
    return where((high < raised) | (high != high), high, raised)


def _complex_clip(x: Expr, low: Expr, high: Expr) -> Expr:
    """In lexicographic order, of which NaN takes part as NumPy's loop has it."""

    def below(x: Expr, y: Expr) -> Expr:
        (a, b), (c, d) = cx.parts(x), cx.parts(y)
        return (a < c) | ((a == c) & (b < d))

    raised = where(cx.cnan(x) | below(low, x), x, low)
    return where(cx.cnan(raised) | below(raised, high), raised, high)


ufunc("clip.loop", loops("xxx->x", NUMBERS),
      by_kind(iu=lambda x, low, high: minimum(maximum(x, low), high), f=_float_clip,
              c=_complex_clip),
      data=Ufunc(half=_keeping_clip),
      reference="numpy._core.umath:clip", doc="min(max(x, low), high)")


_UNSET: Any = object()


@composed("clip.function", "numpy:clip")
def clip_function(ctx: Context, a: Operand, a_min: Operand = _UNSET, a_max: Operand = _UNSET,
                  out: Operand = None, **kwargs: Operand) -> Operand:
    """Numbers cut to a range, given by position or by keywords."""
    given = {k: v for k, v in (("a_min", a_min), ("a_max", a_max)) if v is not _UNSET}
    if len(given) == 1 or (given and kwargs.keys() & {"min", "max"}):
        raise ctx.refuse("clip", "one bound by position, or both ways: Python raises")
    return clip(ctx, a, **given, out=out, **kwargs)


@composed("clip", "numpy:ndarray.clip", reference="numpy:clip", of_numbers=True)
def clip(ctx: Context, a: Operand, a_min: Operand = None, a_max: Operand = None,
         out: Operand = None, *, min: Operand = _UNSET, max: Operand = _UNSET,
         **kwargs: Operand) -> Operand:
    """Numbers cut to a range."""
    source = lift(ctx, a, "clip")
    if source.weak:  # becomes an array first
        a = to_loop(ctx, source, source.dtype, "clip")
        a = py_scalar(ctx, a, Scalar(a.dtype, "np"))
    low = _bound(ctx, a, a_min if min is _UNSET else min, "min")
    high = _bound(ctx, a, a_max if max is _UNSET else max, "max")
    if low is None and high is None:
        return run(ctx, "positive", a, out=out, **kwargs)
    if low is None:
        return run(ctx, "minimum", a, high, out=out, **kwargs)
    if high is None:
        return run(ctx, "maximum", a, low, out=out, **kwargs)
    return run(ctx, "clip.loop", a, low, high, out=out, **kwargs)


def _bound(ctx: Context, a: Operand, bound: Operand, which: str) -> Operand:
    """A bound; None for a Python int that is no bound for an integer dtype."""
    like = lift(ctx, a, "clip").like
    if type(bound) is not int or like is float or like is complex:
        return bound
    dtype = np.dtype(like)
    if dtype.kind not in "iu":
        return bound
    info = np.iinfo(dtype)
    idle = bound <= info.min if which == "min" else bound >= info.max
    return None if idle else bound


# ------------------------------------------------------------------ where, nan_to_num


def _truth_of(ctx: Context, x: Operand) -> Node:
    node = as_node(ctx, x, "where")
    b = ctx.builder
    if node.dtype.kind == "b":
        return node
    if node.dtype.kind == "c":
        raise ctx.refuse("where", "a complex condition")
    return b.map("ne", (node, b.const(node.dtype.type(0))), np.bool_)


def _common(x: Input, y: Input) -> np.dtype:
    """The dtype of two values, as ``np.result_type`` finds it."""
    if x.weak and y.weak:
        return np.result_type(x.dtype, y.dtype)
    return np.result_type(*(i.like(0) if isinstance(i.like, type) else i.like for i in (x, y)))


@composed("where.choose", "numpy:where", reference="numpy:where")
def where_(ctx: Context, condition: Operand, x: Operand = None, y: Operand = None) -> Operand:
    """Elements of x where the condition holds, of y elsewhere."""
    if x is None or y is None:
        if x is not y:
            raise ctx.refuse("where", "of two arguments: Python raises")
        return finding.nonzero(ctx, condition)
    left, right = lift(ctx, x, "where"), lift(ctx, y, "where")
    dtype = _common(left, right)
    truth, values = _truth_of(ctx, condition), [to_loop(ctx, v, dtype, "where")
                                                for v in (left, right)]
    plain = [truth, *given((left, right), values)]
    made = ctx.builder.map("where", (truth, *values), dtype, given=plain)
    return ctx.new(scalar_array(ctx, made))


@composed("nan_to_num", "numpy:nan_to_num")
def nan_to_num(ctx: Context, x: Operand, copy: Operand = True, nan: Operand = 0.0,
               posinf: Operand = None, neginf: Operand = None) -> Operand:
    """NaN and infinities replaced by numbers."""
    source = lift(ctx, x, "nan_to_num")
    copy = static(copy)
    if not isinstance(copy, bool):
        raise ctx.refuse("nan_to_num", "copy= must be known while tracing")
    dtype = source.dtype
    node = to_loop(ctx, source, dtype, "nan_to_num")
    made = _numbers_only(ctx, node, nan, posinf, neginf) if dtype.kind in "fc" else node
    if not copy and isinstance(x, ArrayRef):
        if not x.ndim or not x.writeable:
            raise ctx.refuse("nan_to_num", "copy=False of a 0-d or read-only array")
        if made is not node:
            store(ctx, "nan_to_num", x, made)
        return x
    if isinstance(node.type, Array):
        made = laid_out(ctx, made, node, like_strides(ctx.facts, node.shape, node.type.strides))
    return wrap(ctx, made)


def _numbers_only(ctx: Context, node: Node, nan: Operand, posinf: Operand,
                  neginf: Operand) -> Node:
    b = ctx.builder
    if node.dtype.kind == "c":
        kind = np.dtype(node.dtype.char.lower())
        parts = [b.map(p, (node,), kind) for p in ("real", "imag")]
        fixed = [_numbers_only(ctx, p, nan, posinf, neginf) for p in parts]
        return b.map("complex", fixed, node.dtype)
    info = np.finfo(node.dtype)
    values = [nan, info.max if posinf is None else posinf, info.min if neginf is None else neginf]
    if any(isinstance(v, ArrayRef) or np.iscomplexobj(v) for v in values):
        raise ctx.refuse("nan_to_num", "replacements that are no real numbers")
    chosen = [to_loop(ctx, lift(ctx, v, "nan_to_num"), node.dtype, "nan_to_num") for v in values]
    inf = [b.const(node.dtype.type(v)) for v in (np.inf, -np.inf)]
    tests = [b.map("isnan", (node,), np.bool_), b.map("eq", (node, inf[0]), np.bool_),
             b.map("eq", (node, inf[1]), np.bool_)]
    for test, value in zip(tests, chosen, strict=True):
        node = b.map("where", (test, value, node), node.dtype)
    return node
