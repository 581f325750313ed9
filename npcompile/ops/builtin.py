"""Python's numeric builtins and the functions of :mod:`math`.

Results are Python's numbers.  What raises (a domain error, an overflow, an int wider than 64 bits)
is a check that leaves for Python, which then raises itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from npcompile.core.sizes import largest, smallest
from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, PY_BOOL, PY_FLOAT, PY_INT, Scalar
from npcompile.ops import python, python_numbers
from npcompile.ops.casting import number, to_int
from npcompile.ops.elementwise import as_node, composed, py_scalar, run
from npcompile.ops.integers import check_sign
from npcompile.ops.numerals import decimals
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.record import OPERATORS
from npcompile.ops.sizes import known_sizes

# ------------------------------------------------------------------ builtins


@composed("python.abs", "builtins:abs")
def abs_(ctx: Context, x: Operand, /) -> Operand:
    """``abs(x)``"""
    if not python.is_python(x):
        python.no_sequences(ctx, "abs", x)
        if not python.has_array(x):
            check_sign(ctx, "absolute", as_node(ctx, x, "abs"))
        return run(ctx, "absolute", x)
    node = as_node(ctx, x, "abs")
    if node.dtype.kind == "c":
        made = ctx.builder.map("absolute", (node,), np.float64, origin="py")
        finite = ctx.builder.map("isfinite", (made,), BOOL)
        ctx.builder.check(finite, "the magnitude of a complex number is not finite")
        return made
    if node.dtype.kind == "f":
        return ctx.builder.map("abs", (node,), node.dtype, origin="py")
    node = py_scalar(ctx, node, PY_INT)
    least = ctx.builder.const(python_numbers.MIN)
    python_numbers.check(ctx, "ne", node, least, python_numbers.WIDE)
    return ctx.builder.map("abs", (node,), node.dtype, origin="py")


@composed("python.divmod", "builtins:divmod")
def divmod_(ctx: Context, a: Operand, b: Operand, /) -> Operand:
    """``divmod(a, b)``"""
    if python.is_python(a) and python.is_python(b):
        return python.binary(ctx, "//", a, b), python.binary(ctx, "%", a, b)
    python.no_sequences(ctx, "divmod", a, b)
    return run(ctx, "divmod", a, b)


@composed("python.pow", "builtins:pow")
def pow_(ctx: Context, base: Operand, exp: Operand, mod: Operand = None) -> Operand:
    """``pow(base, exp)``"""
    if mod is not None:
        raise ctx.refuse("pow", "with a modulus")
    return python.binary(ctx, "**", base, exp)


@composed("python.round", "builtins:round")
def round_(ctx: Context, number: Operand, ndigits: Operand = None) -> Operand:
    """``round(number)``: an int; with digits a number of the same type."""
    if not isinstance(number, Node):
        raise ctx.refuse("round", "of an array: Python raises")
    node, own = number, python.is_python(number)
    kind = node.dtype.kind
    if kind == "c" or (kind == "b" and not own):
        raise ctx.refuse("round", f"of {node.dtype}: Python raises")
    if ndigits is not None and not own:
        return run(ctx, "round", node, ndigits)
    if kind in "biu":
        if ndigits is not None and not (type(ndigits) is int and ndigits >= 0):
            raise ctx.refuse("round", "of an int to tens")
        return to_int(ctx, node)
    if ndigits is not None:
        return decimals(ctx, node, ndigits)
    return to_int(ctx, ctx.builder.map("rint", (node,), node.dtype))


def _choose(ctx: Context, name: str, args: tuple[Operand, ...]) -> Operand:
    """The first of the smallest (largest), as Python's comparisons find it."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = tuple(args[0])
    if len(args) < 2 and not (args and isinstance(args[0], Node)):
        raise ctx.refuse(name, "of an array or of nothing")
    best = args[0]
    for x in args[1:]:
        best = _better(ctx, name, best, x)
    return best


def _better(ctx: Context, name: str, best: Operand, x: Operand) -> Operand:
    if any(isinstance(v, (ArrayRef, np.ndarray)) for v in (best, x)):
        raise ctx.refuse(name, "of arrays")
    sizes = known_sizes(best, x)
    if sizes is not None:
        return ctx.builder.size((smallest if name == "min" else largest)(*sizes))
    wins = python.compare(ctx, "<" if name == "min" else ">", x, best)
    if isinstance(wins, bool):
        return x if wins else best
    nodes = [as_node(ctx, v, name) for v in (x, best)]
    if not isinstance(wins, Node) or nodes[0].type != nodes[1].type:
        raise ctx.refuse(name, "of numbers of several types, or of arrays")
    type_ = nodes[0].type
    assert isinstance(type_, Scalar)
    return ctx.builder.map("where", (wins, *nodes), type_.dtype, origin=type_.origin)


@composed("python.min", "builtins:min")
def min_(ctx: Context, *args: Operand) -> Operand:
    """``min(a, b, ...)`` of numbers."""
    return _choose(ctx, "min", args)


@composed("python.max", "builtins:max")
def max_(ctx: Context, *args: Operand) -> Operand:
    """``max(a, b, ...)`` of numbers."""
    return _choose(ctx, "max", args)


# ------------------------------------------------------------------ math

Guard = Callable[[Context, Node], None]


def real(ctx: Context, x: Operand, what: str) -> Node:
    """A number as :mod:`math` takes it: as a Python float."""
    node = number(ctx, x, what)
    if node.dtype.kind == "c":
        raise ctx.refuse(what, "of a complex number: Python raises")
    return py_scalar(ctx, node, PY_FLOAT)


def _domain(low: float, high: float, closed: str) -> Guard:
    """Numbers outside the interval raise; NaN doesn't.  ``closed`` is of ``[] (] [) ()``."""
    def guard(ctx: Context, x: Node) -> None:
        b = ctx.builder
        below = b.map("lt" if closed[0] == "[" else "le", (x, b.const(low)), BOOL)
        above = b.map("lt" if closed[1] == "]" else "le", (b.const(high), x), BOOL)
        outside = b.map("bit_or", (below, above), BOOL)
        b.check(b.map("bit_not", (outside,), BOOL), "a math domain error")

    return guard


_INF = math.inf
_NO_INFINITY = _domain(-_INF, _INF, "()")
_AT_LEAST_0, _POSITIVE = _domain(0.0, _INF, "[]"), _domain(0.0, _INF, "(]")

#: name, the record that computes it, what must hold of the argument, whether it may overflow
_MATH: list[tuple[str, str, Guard | None, bool]] = [
    ("sqrt", "sqrt", _AT_LEAST_0, False),
    ("fabs", "abs", None, False),
    ("sin", "sin", _NO_INFINITY, False),
    ("cos", "cos", _NO_INFINITY, False),
    ("tan", "tan", _NO_INFINITY, False),
    ("asin", "arcsin", _domain(-1.0, 1.0, "[]"), False),
    ("acos", "arccos", _domain(-1.0, 1.0, "[]"), False),
    ("atan", "arctan", None, False),
    ("sinh", "sinh", None, True),
    ("cosh", "cosh", None, True),
    ("tanh", "tanh", None, False),
    ("asinh", "arcsinh", None, False),
    ("acosh", "arccosh", _domain(1.0, _INF, "[]"), False),
    ("atanh", "arctanh", _domain(-1.0, 1.0, "()"), False),
    ("exp", "exp", None, True),
    ("exp2", "exp2", None, True),
    ("expm1", "expm1", None, True),
    ("log1p", "log1p", _domain(-1.0, _INF, "(]"), False),
    ("log2", "log2", _POSITIVE, False),
    ("log10", "log10", _POSITIVE, False),
    ("cbrt", "cbrt", None, False),
    ("erf", "erf", None, False),
    ("erfc", "erfc", None, False),
    ("gamma", "gamma", _POSITIVE, True),
    ("lgamma", "gammaln", _POSITIVE, True),
]


def _math_node(ctx: Context, name: str, *args: Node) -> Node:
    if name not in OPERATORS and name != "abs":
        raise ctx.refuse(f"math.{name}", "is left to Python")
    return ctx.builder.map(name, args, np.float64, origin="py")


def _finite_or(ctx: Context, made: Node, *args: Node) -> None:
    """An infinite result of finite arguments is an OverflowError."""
    python_numbers.check_finite(ctx, made, *args)


def _unary(name: str, record: str, guard: Guard | None, overflows: bool) -> None:
    def function(ctx: Context, x: Operand, /) -> Operand:
        node = real(ctx, x, f"math.{name}")
        if guard is not None:
            guard(ctx, node)
        made = _math_node(ctx, record, node)
        if overflows:
            _finite_or(ctx, made, node)
        return made

    composed(f"math.{name}", f"math:{name}", doc=f"``math.{name}(x)``")(function)


for _row in _MATH:
    if hasattr(math, _row[0]):
        _unary(*_row)


@composed("math.log", "math:log")
def log(ctx: Context, x: Operand, base: Operand = None, /) -> Operand:
    """``math.log(x)``; with a base the quotient of two logarithms."""
    nodes = [real(ctx, v, "math.log") for v in (x, base) if v is not None]
    made = []
    for node in nodes:
        _POSITIVE(ctx, node)
        made.append(_math_node(ctx, "log", node))
    return made[0] if base is None else python.binary(ctx, "/", *made)


def _test(name: str) -> None:
    def function(ctx: Context, x: Operand, /) -> Operand:
        return ctx.builder.map(name, (real(ctx, x, name),), BOOL, origin="py")

    composed(f"math.{name}", f"math:{name}", doc=f"``math.{name}(x)``")(function)


def _to_whole(name: str) -> None:
    def function(ctx: Context, x: Operand, /) -> Operand:
        node = number(ctx, x, f"math.{name}")
        own = isinstance(node.type, Scalar) and node.type.origin == "py"
        if name == "trunc" and not own and (node.dtype != np.float64 or isinstance(x, ArrayRef)):
            raise ctx.refuse("math.trunc", "of this NumPy scalar: Python raises")
        if node.dtype.kind in "biu" and (own or node.dtype.itemsize < 8):
            return to_int(ctx, node)  # else by way of a float
        node = real(ctx, node, name)
        return to_int(ctx, ctx.builder.map(name, (node,), np.float64))

    composed(f"math.{name}", f"math:{name}", doc=f"``math.{name}(x)``: an int")(function)


for _name in ("isnan", "isinf", "isfinite"):
    _test(_name)
for _name in ("floor", "ceil", "trunc"):
    _to_whole(_name)


def _scaled(ctx: Context, x: Operand, /, *, name: str, factor: float) -> Operand:
    return ctx.builder.map("mul", (real(ctx, x, name), ctx.builder.const(factor)), np.float64,
                           origin="py")


for _name, _factor in (("degrees", 180.0 / math.pi), ("radians", math.pi / 180.0)):
    composed(f"math.{_name}", f"math:{_name}")(partial(_scaled, name=_name, factor=_factor))


@composed("math.copysign", "math:copysign")
def copysign(ctx: Context, x: Operand, y: Operand, /) -> Operand:
    """``math.copysign(x, y)``"""
    return _math_node(ctx, "copysign", real(ctx, x, "copysign"), real(ctx, y, "copysign"))


@composed("math.atan2", "math:atan2")
def atan2(ctx: Context, y: Operand, x: Operand, /) -> Operand:
    """``math.atan2(y, x)``"""
    return _math_node(ctx, "arctan2", real(ctx, y, "atan2"), real(ctx, x, "atan2"))


@composed("math.hypot", "math:hypot")
def hypot(ctx: Context, *coordinates: Operand) -> Operand:
    """``math.hypot(x, y)``"""
    if len(coordinates) != 2:
        raise ctx.refuse("math.hypot", "of other than two numbers")
    nodes = [real(ctx, x, "hypot") for x in coordinates]
    made = _math_node(ctx, "hypot", *nodes)
    _finite_or(ctx, made, *nodes)
    return made


@composed("math.fmod", "math:fmod")
def fmod(ctx: Context, x: Operand, y: Operand, /) -> Operand:
    """``math.fmod(x, y)``"""
    b = ctx.builder
    a, c = real(ctx, x, "fmod"), real(ctx, y, "fmod")
    _NO_INFINITY(ctx, a)
    python_numbers.check(ctx, "ne", c, b.const(0.0), "a math domain error")
    return _math_node(ctx, "fmod", a, c)


@composed("math.ldexp", "math:ldexp")
def ldexp(ctx: Context, x: Operand, i: Operand, /) -> Operand:
    """``math.ldexp(x, i)``"""
    a, n = real(ctx, x, "ldexp"), number(ctx, i, "ldexp")
    if n.type not in (PY_INT, PY_BOOL):
        raise ctx.refuse("math.ldexp", "by a number that is no Python int")
    made = _math_node(ctx, "ldexp", a, py_scalar(ctx, n, PY_INT))
    _finite_or(ctx, made, a)
    return made


@composed("math.pow", "math:pow")
def math_pow(ctx: Context, x: Operand, y: Operand, /) -> Operand:
    """``math.pow(x, y)``: always a float; what Python's ``**`` makes complex raises."""
    base, exponent = real(ctx, x, "pow"), real(ctx, y, "pow")
    return py_scalar(ctx, as_node(ctx, python.binary(ctx, "**", base, exponent), "pow"), PY_FLOAT)


@composed("math.frexp", "math:frexp")
def frexp(ctx: Context, x: Operand, /) -> Operand:
    """``math.frexp(x)``"""
    node = real(ctx, x, "frexp")
    exponent = ctx.builder.map("frexp.exponent", (node,), np.int32)
    return _math_node(ctx, "frexp.mantissa", node), py_scalar(ctx, exponent, PY_INT)


@composed("math.modf", "math:modf")
def modf(ctx: Context, x: Operand, /) -> Operand:
    """``math.modf(x)``"""
    node = real(ctx, x, "modf")
    return _math_node(ctx, "modf.fraction", node), _math_node(ctx, "modf.whole", node)
