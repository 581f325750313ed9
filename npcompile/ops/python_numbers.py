"""Python's operators on its own numbers: 64-bit ints with checks, floats, complex numbers.

Division by zero and overflow leave for Python, which raises or goes on with longer ints.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from npcompile.core.paths import defer
from npcompile.core.sizes import Unhinted
from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, PY_BOOL, PY_COMPLEX, PY_FLOAT, PY_INT, Scalar
from npcompile.ops.elementwise import as_node, py_scalar
from npcompile.ops.operands import Context, Operand
from npcompile.ops.record import OPERATORS

if TYPE_CHECKING:
    from npcompile.ops import sizes
else:
    defer(globals(), "npcompile.ops", "sizes")

EXACT = 2**53  # integers up to here are floats
MIN = -(2**63)
MAX = 2**63 - 1
WIDE = "a Python int wider than 64 bits"  # what a check says then


def kind_of(x: Operand) -> str:
    """``b i f c`` of a Python number."""
    return x.dtype.kind if isinstance(x, Node) else np.asarray(x).dtype.kind if type(
        x) is not int else "i"


def root(ctx: Context, base: Node) -> Node:
    """``pow(base, 0.5)``: as ``sqrt``, but +0.0 of -0.0 and inf of -inf."""
    b, dtype = ctx.builder, base.dtype
    origin = base.type.origin if isinstance(base.type, Scalar) else "np"
    zero, inf = b.const(dtype.type(0)), b.const(dtype.type(np.inf))
    endless = b.map("eq", (b.map("abs", (base,), dtype), inf), BOOL)
    finite = b.map("where", (endless, zero, base), dtype)
    root = b.map("add", (b.map("sqrt", (finite,), dtype), zero), dtype)
    return b.map("where", (endless, inf, root), dtype, origin=origin)


def binary(ctx: Context, symbol: str, a: Operand, b: Operand) -> Operand:
    kinds = {kind_of(a), kind_of(b)}
    if symbol in ("&", "|", "^") and kinds == {"b"}:
        return _emit(ctx, _BITS[symbol], PY_BOOL, a, b)
    if "c" in kinds:
        table, type_ = _COMPLEX, PY_COMPLEX
    elif "f" in kinds:
        table, type_ = _FLOAT, PY_FLOAT
    else:
        table, type_ = _INT, PY_INT
    rule = table.get(symbol)
    if rule is None:
        raise ctx.refuse(symbol, "of these Python numbers is left to Python")
    if type_ is PY_INT:
        folded = sizes.fold_sizes(ctx, symbol, a, b)
        if folded is not None:
            return folded
    return rule(ctx, _convert(ctx, a, type_), _convert(ctx, b, type_))


def _convert(ctx: Context, x: Operand, type_: Scalar) -> Node:
    """A Python number as one of a wider type; the conversions round as Python's do."""
    if not isinstance(x, Node):
        try:
            return ctx.builder.const(type_.python_type(x), type_)
        except OverflowError:
            raise ctx.refuse("int", "too large for a float: Python raises") from None
    return py_scalar(ctx, x, type_)


def _emit(ctx: Context, op: str, type_: Scalar, *args: Operand) -> Node:
    nodes = [x if isinstance(x, Node) else ctx.builder.const(x) for x in args]
    return ctx.builder.map(op, nodes, type_.dtype, origin=type_.origin)


def check(ctx: Context, op: str, x: Node, y: Node, reason: str) -> None:
    """Goes on in Python unless ``x op y``; decided now where both are constants."""
    left, right = sizes.known(x), sizes.known(y)
    if left is not None and right is not None:
        if getattr(operator, op)(left, right):
            return
        raise ctx.refuse(reason, "always: Python raises or needs longer ints")
    ctx.builder.check(ctx.builder.map(op, (x, y), BOOL), reason)


def _not_zero(ctx: Context, y: Node) -> None:
    zero = ctx.builder.const(y.dtype.type(0).item())
    name = "not_equal" if y.dtype.kind == "c" else "ne"
    if sizes.known(y) is not None or name == "ne":
        check(ctx, "ne", y, zero, "division by zero")
    else:
        ctx.builder.check(ctx.builder.map(name, (y, zero), BOOL), "division by zero")


def _checked(op: str, overflows: str) -> Callable[[Context, Node, Node], Node]:
    def rule(ctx: Context, x: Node, y: Node) -> Node:
        b = ctx.builder
        wraps = b.map(overflows, (x, y), BOOL)
        b.check(b.map("bit_not", (wraps,), BOOL), WIDE)
        return _emit(ctx, op, PY_INT, x, y)

    return rule


def _int_floor(ctx: Context, x: Node, y: Node) -> Node:
    _not_zero(ctx, y)
    b = ctx.builder
    divisor = sizes.known(y)
    if divisor is None or divisor == -1:
        wraps = b.map("bit_and", (b.map("eq", (x, b.const(MIN)), BOOL),
                                  b.map("eq", (y, b.const(-1)), BOOL)), BOOL)
        b.check(b.map("bit_not", (wraps,), BOOL), WIDE)
    return _emit(ctx, "int_div", PY_INT, x, y)


def _int_mod(ctx: Context, x: Node, y: Node) -> Node:
    _not_zero(ctx, y)
    return _emit(ctx, "int_mod", PY_INT, x, y)


def _exact_float(ctx: Context, x: Node) -> Node:
    """An int as a float, where that is exact."""
    b = ctx.builder
    value = sizes.known(x)
    if value is None:
        low, high = b.const(-EXACT), b.const(EXACT)
        check(ctx, "le", low, x, "an int beyond 2**53 as a float")
        check(ctx, "le", x, high, "an int beyond 2**53 as a float")
    elif int(float(value)) != value:
        raise ctx.refuse("int", f"{value} is no float")
    return py_scalar(ctx, x, PY_FLOAT)


def _int_divide(ctx: Context, x: Node, y: Node) -> Node:
    _not_zero(ctx, y)
    return _emit(ctx, "div", PY_FLOAT, _exact_float(ctx, x), _exact_float(ctx, y))


def _int_power(ctx: Context, x: Node, y: Node) -> Node:
    exponent = sizes.known(y)
    if exponent is None or not -1 <= exponent <= 64:
        raise ctx.refuse("**", "of ints by an exponent that is not known or large")
    if exponent == -1:
        return _int_divide(ctx, ctx.builder.const(1), x)
    result, multiply = None, _checked("mul", "mul_overflows")
    for bit in reversed(range(exponent.bit_length())):
        if result is not None:
            result = multiply(ctx, result, result)
        if exponent >> bit & 1:
            result = x if result is None else multiply(ctx, result, x)
    return ctx.builder.const(1) if result is None else result


def _shift_left(ctx: Context, x: Node, n: Node) -> Node:
    b = ctx.builder
    check(ctx, "le", b.const(0), n, "a negative shift count")
    check(ctx, "lt", n, b.const(63), WIDE)
    shifted = _emit(ctx, "shl", PY_INT, x, n)
    back = _emit(ctx, "shr", PY_INT, shifted, n)
    b.check(b.map("eq", (back, x), BOOL), WIDE)
    return shifted


def _shift_right(ctx: Context, x: Node, n: Node) -> Node:
    check(ctx, "le", ctx.builder.const(0), n, "a negative shift count")
    return _emit(ctx, "shr", PY_INT, x, n)


def _plain(op: str, type_: Scalar) -> Callable[[Context, Node, Node], Node]:
    return lambda ctx, x, y: _emit(ctx, op, type_, x, y)


_BITS = {"&": "bit_and", "|": "bit_or", "^": "bit_xor"}
Rule = Callable[[Context, Node, Node], Node]
_INT: dict[str, Rule] = {
    "+": _checked("add", "add_overflows"),
    "-": _checked("sub", "sub_overflows"),
    "*": _checked("mul", "mul_overflows"),
    "/": _int_divide,
    "//": _int_floor,
    "%": _int_mod,
    "**": _int_power,
    "<<": _shift_left,
    ">>": _shift_right,
    **{symbol: _plain(op, PY_INT) for symbol, op in _BITS.items()},
}


def _dividing(op: str, type_: Scalar) -> Rule:
    def rule(ctx: Context, x: Node, y: Node) -> Node:
        _not_zero(ctx, y)
        return _emit(ctx, op, type_, x, y)

    return rule


def _float_power(ctx: Context, x: Node, y: Node) -> Node:
    """Exact exponents; ``pow`` for the others.  What raises or is complex leaves."""
    b = ctx.builder
    exponent = sizes.known(y)
    if exponent == 0:
        return b.const(1.0)
    if exponent == 1:
        return x
    if exponent == -1:
        _not_zero(ctx, x)
        made = _emit(ctx, "div", PY_FLOAT, b.const(1.0), x)
    elif exponent == 2:
        made = _emit(ctx, "mul", PY_FLOAT, x, x)
    elif exponent == 0.5:
        ordinary = b.map("bit_not", (b.map("lt", (x, b.const(0.0)), BOOL),), BOOL)
        b.check(ordinary, "a negative number to the power 0.5 is complex")
        return root(ctx, x)
    else:
        return _general_power(ctx, x, y)
    check_finite(ctx, made, x)
    return made


def _general_power(ctx: Context, x: Node, y: Node) -> Node:
    """Positive bases, so that nothing is complex and no zero is divided by."""
    b = ctx.builder
    if "pow" not in OPERATORS:
        raise ctx.refuse("**", "of floats needs pow")
    exponent = sizes.known(y)
    if exponent is None or not float(exponent).is_integer():
        b.check(b.map("le", (b.const(0.0), x), BOOL), "a negative number to a fractional power")
    if exponent is None or exponent < 0:
        zero = b.map("eq", (x, b.const(0.0)), BOOL)
        falling = b.map("lt", (y, b.const(0.0)), BOOL)
        raises = b.map("bit_and", (zero, falling), BOOL)
        b.check(b.map("bit_not", (raises,), BOOL), "0.0 to a negative power")
    made = _emit(ctx, "scalar_power", PY_FLOAT, x, y)
    check_finite(ctx, made, x, y)
    return made


def check_finite(ctx: Context, made: Node, *operands: Node) -> None:
    """An infinite result of finite operands is an OverflowError in Python."""
    b = ctx.builder
    overflows = _infinite(ctx, made)
    fine = b.map("bit_not", (overflows,), BOOL)
    unknown = [x for x in operands if sizes.known(x) is None]
    if unknown:
        ends = [_infinite(ctx, x) for x in unknown]
        infinite = reduce(lambda one, other: b.map("bit_or", (one, other), BOOL), ends)
        fine = b.map("rare", (overflows, infinite, fine), BOOL)
    b.check(fine, "a float power that overflows")


def _infinite(ctx: Context, x: Node) -> Node:
    """Whether a float is larger than any number: in the register where it is."""
    b = ctx.builder
    return b.map("lt", (b.const(sys.float_info.max), b.map("abs", (x,), x.dtype)), BOOL)


def _complex_power(ctx: Context, x: Node, y: Node) -> Node:
    """CPython's products for small whole exponents that are known."""
    exponent = sizes.known(y)
    whole = exponent is not None and exponent.imag == 0 and exponent.real.is_integer()
    if not whole or abs(exponent.real) > 100:
        raise ctx.refuse("**", "of complex numbers by an exponent that is not whole and known")
    b, n = ctx.builder, int(exponent.real)
    one = _emit(ctx, "cast", PY_COMPLEX, b.const(1.0))
    made, factor = one, x
    for bit in range(abs(n).bit_length()):
        if abs(n) >> bit & 1:
            made = _emit(ctx, "scalar_multiply", PY_COMPLEX, made, factor)
        factor = _emit(ctx, "scalar_multiply", PY_COMPLEX, factor, factor)
    if n < 0:
        _not_zero(ctx, made)
        made = _emit(ctx, "python_divide", PY_COMPLEX, one, made)
    finite = b.map("isinf", (made,), BOOL)
    b.check(b.map("bit_not", (finite,), BOOL), "a complex power that overflows")
    return made


def _complex_operation(name: str) -> Rule:
    return lambda ctx, x, y: _emit(ctx, name, PY_COMPLEX, x, y)


_FLOAT: dict[str, Rule] = {
    "+": _plain("add", PY_FLOAT),
    "-": _plain("sub", PY_FLOAT),
    "*": _plain("mul", PY_FLOAT),
    "/": _dividing("div", PY_FLOAT),
    "//": _dividing("floor_divide", PY_FLOAT),
    "%": _dividing("remainder", PY_FLOAT),
    "**": _float_power,
}
_COMPLEX: dict[str, Rule] = {
    "+": _complex_operation("add"),
    "-": _complex_operation("subtract"),
    "*": _complex_operation("scalar_multiply"),
    "/": _dividing("python_divide", PY_COMPLEX),
    "**": _complex_power,
}


def unary(ctx: Context, symbol: str, a: Operand) -> Operand:
    b = ctx.builder
    node = _convert(ctx, a, PY_INT) if kind_of(a) == "b" else as_node(ctx, a, symbol)
    if symbol == "+":
        return node
    kind = node.dtype.kind
    if symbol == "~":
        if kind != "i":
            raise ctx.refuse("~", "of a float: Python raises")
        return _emit(ctx, "bit_not", PY_INT, node)
    if kind == "i":
        size = sizes.size_of(node)
        if size is not None and sizes.bounded(ctx, size):
            return b.size(-size)
        b.check(b.map("ne", (node, b.const(MIN)), BOOL), WIDE)
    op = "negative" if kind == "c" else "neg"
    return _emit(ctx, op, {"i": PY_INT, "f": PY_FLOAT, "c": PY_COMPLEX}[kind], node)


_ORDERED = {"<": ("lt", False), "<=": ("le", False), ">": ("lt", True), ">=": ("le", True),
            "==": ("eq", False), "!=": ("ne", False)}


def compare(ctx: Context, symbol: str, a: Operand, b: Operand) -> Operand:
    op, swap = _ORDERED[symbol]
    kinds = {kind_of(a), kind_of(b)}
    if swap:
        a, b = b, a
    if "c" in kinds:
        if symbol not in ("==", "!="):
            raise ctx.refuse(symbol, "of complex numbers: Python raises")
        name = {"==": "equal", "!=": "not_equal"}[symbol]
        return _emit(ctx, name, PY_BOOL, *(_convert(ctx, _exact(ctx, x), PY_COMPLEX)
                                          for x in (a, b)))
    if "f" in kinds:
        return _emit(ctx, op, PY_BOOL, *(_convert(ctx, _exact(ctx, x), PY_FLOAT)
                                        for x in (a, b)))
    both = sizes.known_sizes(a, b)
    if both is not None:
        try:
            return ctx.facts.ask({"lt": "<", "le": "<=", "eq": "==", "ne": "!="}[op], *both)
        except Unhinted:
            pass
    wide = [x for x in (a, b) if not isinstance(x, Node) and not MIN <= x <= MAX]
    if wide:
        for traced in (x for x in (a, b) if isinstance(x, Node)):
            _emit(ctx, "eq", PY_BOOL, traced, traced)  # the answer rests on all of the number
        return _beyond(op, a, b)
    return _emit(ctx, op, PY_BOOL, _convert(ctx, a, PY_INT), _convert(ctx, b, PY_INT))


def _beyond(op: str, a: Operand, b: Operand) -> bool:
    """A comparison with a constant that is wider than any traced int."""
    if op in ("eq", "ne"):
        return op == "ne"
    return bool(a < 0) if not isinstance(a, Node) else bool(b > 0)


def _exact(ctx: Context, x: Operand) -> Operand:
    """Python compares ints and floats exactly; so do floats, where the int is one."""
    if kind_of(x) != "i":
        return x
    if not isinstance(x, Node):
        try:
            if int(float(x)) == x:
                return float(x)
        except OverflowError:
            pass
        raise ctx.refuse("comparison", f"the int {x} is no float")
    return _exact_float(ctx, x)
