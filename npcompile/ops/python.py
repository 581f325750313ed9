"""What Python's operators mean for traced operands.

Python's own numbers follow Python (64-bit ints with checks, division by zero leaves); NumPy's
scalars and arrays follow NumPy.  Where both operands are sizes the result is a size, so that
shapes stay symbolic.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.paths import defer
from npcompile.core.sizes import Unhinted, is_known, product
from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, FLOAT, PY_BOOL, PY_COMPLEX, PY_FLOAT, PY_INT, Scalar
from npcompile.ops.elementwise import WHOLE, as_node, lift, py_scalar, run
from npcompile.ops.fp_errors import UNTOLD
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.record import OPERATORS

if TYPE_CHECKING:
    from npcompile.ops import integers, sizes
else:
    defer(globals(), "npcompile.ops", "integers", "sizes")

UFUNCS = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "floor_divide",
    "%": "remainder", "**": "power", "@": "matmul", "&": "bitwise_and", "|": "bitwise_or",
    "^": "bitwise_xor", "<<": "left_shift", ">>": "right_shift",
    "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
    "==": "equal", "!=": "not_equal",
}
UNARY = {"-": "negative", "+": "positive", "~": "invert"}
EXACT = 2**53  # integers up to here are floats
EXACT_POWERS = (-1.0, 0.0, 1.0, 2.0)
MIN, MAX = -(2**63), 2**63 - 1
WIDE = "a Python int wider than 64 bits"  # what a check says then


def is_python(x: Operand) -> bool:
    """Whether an operand is a number of Python's own."""
    if isinstance(x, Node):
        return isinstance(x.type, Scalar) and x.type.origin == "py"
    return type(x) in (bool, int, float, complex)


def _as_python(ctx: Context, a: Operand, b: Operand) -> Operand:
    """Python's complex numbers take an np.float64, which is a float, for one of Python's."""
    if is_python(a) and _kind(a) == "c":
        if type(b) is np.float64:
            return float(b)
        if isinstance(b, Node) and b.type == Scalar(FLOAT, "np"):
            return py_scalar(ctx, b, PY_FLOAT)
    return b


def _kind(x: Operand) -> str:
    """``b i f c`` of a Python number."""
    return x.dtype.kind if isinstance(x, Node) else np.asarray(x).dtype.kind if type(
        x) is not int else "i"


# ------------------------------------------------------------------ entry points


def binary(ctx: Context, symbol: str, a: Operand, b: Operand) -> Operand:
    """``a symbol b`` where at least one operand is traced.

    Parameters
    ----------
    symbol
        One of ``+ - * / // % ** @ & | ^ << >>``.
    """
    b = _as_python(ctx, a, b)
    if is_python(a) and is_python(b):
        return _python_binary(ctx, symbol, a, b)
    for x in (a, b):
        if isinstance(x, (str, bytes, dict, set)) or x is None:
            raise ctx.refuse(symbol, f"an operand of type {type(x).__name__} is left to Python")
    no_sequences(ctx, symbol, a, b)
    if symbol not in UFUNCS or UFUNCS[symbol] not in OPERATORS:
        raise ctx.refuse(symbol, "the operator is left to Python")
    if not has_array(a, b):
        found = _scalar_binary(ctx, symbol, a, b)
        if found is not None:
            return found
    elif symbol == "**":
        name, args = _array_power(ctx, a, b)
        return run(ctx, name, *args)
    return run(ctx, UFUNCS[symbol], a, b)


def _array_power(ctx: Context, a: Operand, b: Operand) -> tuple[str, tuple[Operand, ...]]:
    """The ufunc that ``a ** b`` of arrays is: some exponents of Python's have their own."""
    kind = a.dtype.kind if isinstance(a, ArrayRef) else ""
    exponent = _exponent(ctx, b, kind) if is_python(b) else None
    if kind == "b" and is_python(b) and exponent is None:
        raise ctx.refuse("**", "of bool by an int that decides the dtype")
    if type(exponent) is int and exponent == 2 and kind:
        if kind == "c" and isinstance(a, ArrayRef) and not a.ndim:
            raise ctx.refuse("**", "of a complex array without axes, which rounds in its own way")
        return "square", (a,)
    if type(exponent) is int and exponent == -1 and kind in ("f", "c"):
        return "reciprocal", (a,)
    if type(exponent) is float and exponent == 0.5 and kind in ("f", "c"):
        return "sqrt", (a,)
    return "power", (a, b)


def _exponent(ctx: Context, x: Operand, kind: str) -> Any:
    """A Python exponent if it is known; if not, it is asked whether it is one of those that have
    a function of their own."""
    size = ctx.builder.known_size(x) if isinstance(x, Node) and sizes.known(x) is None else None
    if kind in ("f", "c") and size is not None and is_known(size):
        for whole in (2, -1):
            if ctx.facts.ask("==", size, whole):
                return whole
    elif kind == "c" and isinstance(x, Node) and sizes.known(x) is None:
        specials = {"i": (2, -1), "f": (0.5,)}.get(x.dtype.kind, ())
        for special in specials:
            check(ctx, "ne", x, ctx.builder.const(special), "an exponent with its own function")
    return sizes.known(x)


def no_sequences(ctx: Context, symbol: str, *operands: Operand) -> None:
    """Python's own lists and tuples are operands of NumPy's only beside an array."""
    if any(isinstance(x, (list, tuple)) for x in operands) and not any(
        isinstance(x, (ArrayRef, np.ndarray)) for x in operands
    ):
        raise ctx.refuse(symbol, "of a sequence is left to Python")


def inplace(ctx: Context, symbol: str, a: Operand, b: Operand) -> Operand:
    """``a symbol= b``: arrays are written in place, numbers are bound anew."""
    if not isinstance(a, ArrayRef):
        return binary(ctx, symbol, a, b)
    if symbol == "@":
        raise ctx.refuse("@=", "left to Python")
    if not a.writeable:
        raise ctx.refuse(f"{symbol}=", "the array is read-only: Python raises")
    name, args = _array_power(ctx, a, b) if symbol == "**" else (UFUNCS[symbol], (a, b))
    return run(ctx, name, *args, out=a)


def unary(ctx: Context, symbol: str, a: Operand) -> Operand:
    """``-a``, ``+a``, ``~a`` or ``not a``."""
    if symbol == "not":
        found = truth(ctx, a)
        if isinstance(found, bool):
            return not found
        return ctx.builder.map("bit_not", (found,), BOOL, origin="py")
    if is_python(a):
        return _python_unary(ctx, symbol, a)
    no_sequences(ctx, symbol, a)
    if symbol == "-" and not has_array(a):
        integers.check_sign(ctx, "negative", as_node(ctx, a, symbol))
    return run(ctx, UNARY[symbol], a)


def compare(ctx: Context, symbol: str, a: Operand, b: Operand) -> Operand:
    """``a symbol b``, one of ``< <= > >= == !=``."""
    b = _as_python(ctx, a, b)
    if is_python(a) and is_python(b):
        return _python_compare(ctx, symbol, a, b)
    no_sequences(ctx, symbol, a, b)
    untold = not has_array(a, b) and _complex_takes(ctx, symbol, a, b)
    with ctx.builder.hush("i" + UNTOLD if untold else ""):
        return run(ctx, UFUNCS[symbol], a, b)


def _complex_takes(ctx: Context, symbol: str, a: Operand, b: Operand) -> bool:
    """Whether a complex number of NumPy's compares itself, which tells of no NaN; ufuncs do."""
    samples = [lift(ctx, x, symbol).sample for x in (a, b)]
    dtype = np.result_type(*samples)
    return bool(dtype.kind == "c" and dtype in samples)  # those of Python's are no dtypes


def truth(ctx: Context, a: Operand) -> bool | Node:
    """``bool(a)``: known, or a traced Python bool."""
    if isinstance(a, ArrayRef):
        if not ctx.facts.equal(product(a.shape), 1):
            raise ctx.refuse("truth", "of an array whose size is not 1: Python raises")
        node = ctx.builder.element(ctx.read(a), WHOLE)
    elif isinstance(a, Node) and isinstance(a.type, Scalar):
        node = a
    else:
        return bool(a)
    held = sizes.known(node)
    if held is not None:
        return bool(held)
    size = sizes.size_of(node)
    if size is not None:
        try:
            return ctx.facts.ask("!=", size, 0)
        except Unhinted:
            pass
    if node.dtype.kind == "b":
        return py_scalar(ctx, node, PY_BOOL)
    zero = ctx.builder.const(node.dtype.type(0))
    name = "not_equal" if node.dtype.kind == "c" else "ne"
    return ctx.builder.map(name, (node, zero), BOOL, origin="py")


def has_array(*operands: Operand) -> bool:
    return any(isinstance(x, (ArrayRef, np.ndarray, list, tuple)) for x in operands)


# ------------------------------------------------------------------ NumPy's scalars


def _scalar_binary(ctx: Context, symbol: str, a: Operand, b: Operand) -> Operand | None:
    """Where the operators of NumPy's scalars differ from its ufuncs; None where they don't."""
    left, right = lift(ctx, a, symbol), lift(ctx, b, symbol)
    dtype = np.result_type(left.sample, right.sample)
    if dtype.kind == "c" and symbol in ("*", "**"):
        if symbol == "**":
            return run(ctx, "power", a, b)
        nodes = [n if isinstance(n, Node) else ctx.builder.const(n)
                 for n in (left.value, right.value)]
        return run(ctx, "scalar_multiply", *(_as(ctx, n, dtype) for n in nodes))
    if symbol == "**" and dtype.kind == "f":
        return _scalar_power(ctx, a, b, dtype)
    nodes = [as_node(ctx, x, symbol) for x in (a, b)]
    integers.check_overflow(ctx, symbol, nodes[0], nodes[1], dtype)
    return None


def _scalar_power(ctx: Context, a: Operand, b: Operand, dtype: np.dtype) -> Operand:
    """``pow`` of the C library: no fast path for the root, which differs at -0.0 and -inf."""
    base, exponent = (_as(ctx, as_node(ctx, x, "**"), dtype) for x in (a, b))
    value = sizes.known(exponent)
    if value is not None and float(value) == 0.5:
        return _root(ctx, base)
    if value is not None and float(value) in EXACT_POWERS:
        return run(ctx, "power", base, exponent)
    if "pow" not in OPERATORS:
        raise ctx.refuse("**", "of floats needs pow")
    return run(ctx, "scalar_power", base, exponent)


def _as(ctx: Context, node: Node, dtype: np.dtype) -> Node:
    return node if node.type == Scalar(dtype, "np") else ctx.builder.cast(node, dtype)


def _root(ctx: Context, base: Node) -> Node:
    """``pow(base, 0.5)``: as ``sqrt``, but +0.0 of -0.0 and inf of -inf."""
    b, dtype = ctx.builder, base.dtype
    origin = base.type.origin if isinstance(base.type, Scalar) else "np"
    zero, inf = b.const(dtype.type(0)), b.const(dtype.type(np.inf))
    endless = b.map("eq", (b.map("abs", (base,), dtype), inf), BOOL)
    finite = b.map("where", (endless, zero, base), dtype)
    root = b.map("add", (b.map("sqrt", (finite,), dtype), zero), dtype)
    return b.map("where", (endless, inf, root), dtype, origin=origin)


# ------------------------------------------------------------------ Python's numbers


def _python_binary(ctx: Context, symbol: str, a: Operand, b: Operand) -> Operand:
    kinds = {_kind(a), _kind(b)}
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


# ---- ints


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

# ---- floats and complex


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
        return _root(ctx, x)
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


def _python_unary(ctx: Context, symbol: str, a: Operand) -> Operand:
    b = ctx.builder
    node = _convert(ctx, a, PY_INT) if _kind(a) == "b" else as_node(ctx, a, symbol)
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


def _python_compare(ctx: Context, symbol: str, a: Operand, b: Operand) -> Operand:
    op, swap = _ORDERED[symbol]
    kinds = {_kind(a), _kind(b)}
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
    if _kind(x) != "i":
        return x
    if not isinstance(x, Node):
        try:
            if int(float(x)) == x:
                return float(x)
        except OverflowError:
            pass
        raise ctx.refuse("comparison", f"the int {x} is no float")
    return _exact_float(ctx, x)
