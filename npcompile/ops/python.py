"""What Python's operators mean for traced operands.

Python's own numbers follow Python (64-bit ints with checks, division by zero leaves); NumPy's
scalars and arrays follow NumPy.  Where both operands are sizes the result is a size, so that
shapes stay symbolic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.paths import defer
from npcompile.core.sizes import Unhinted, is_known, product
from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, FLOAT, PY_BOOL, PY_FLOAT, Scalar
from npcompile.ops.elementwise import WHOLE, as_node, lift, py_scalar, run
from npcompile.ops.fp_errors import UNTOLD
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.record import OPERATORS

if TYPE_CHECKING:
    from npcompile.ops import integers, python_numbers, sizes
else:
    defer(globals(), "npcompile.ops", "integers", "python_numbers", "sizes")

UFUNCS = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "floor_divide",
    "%": "remainder", "**": "power", "@": "matmul", "&": "bitwise_and", "|": "bitwise_or",
    "^": "bitwise_xor", "<<": "left_shift", ">>": "right_shift",
    "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
    "==": "equal", "!=": "not_equal",
}
UNARY = {"-": "negative", "+": "positive", "~": "invert"}
EXACT_POWERS = (-1.0, 0.0, 1.0, 2.0)


def is_python(x: Operand) -> bool:
    """Whether an operand is a number of Python's own."""
    if isinstance(x, Node):
        return isinstance(x.type, Scalar) and x.type.origin == "py"
    return type(x) in (bool, int, float, complex)


def _as_python(ctx: Context, a: Operand, b: Operand) -> Operand:
    """Python's complex numbers take an np.float64, which is a float, for one of Python's."""
    if is_python(a) and python_numbers.kind_of(a) == "c":
        if type(b) is np.float64:
            return float(b)
        if isinstance(b, Node) and b.type == Scalar(FLOAT, "np"):
            return py_scalar(ctx, b, PY_FLOAT)
    return b


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
        return python_numbers.binary(ctx, symbol, a, b)
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
            reason = "an exponent with its own function"
            python_numbers.check(ctx, "ne", x, ctx.builder.const(special), reason)
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
        return python_numbers.unary(ctx, symbol, a)
    no_sequences(ctx, symbol, a)
    if symbol == "-" and not has_array(a):
        integers.check_sign(ctx, "negative", as_node(ctx, a, symbol))
    return run(ctx, UNARY[symbol], a)


def compare(ctx: Context, symbol: str, a: Operand, b: Operand) -> Operand:
    """``a symbol b``, one of ``< <= > >= == !=``."""
    b = _as_python(ctx, a, b)
    if is_python(a) and is_python(b):
        return python_numbers.compare(ctx, symbol, a, b)
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
        return python_numbers.root(ctx, base)
    if value is not None and float(value) in EXACT_POWERS:
        return run(ctx, "power", base, exponent)
    if "pow" not in OPERATORS:
        raise ctx.refuse("**", "of floats needs pow")
    return run(ctx, "scalar_power", base, exponent)


def _as(ctx: Context, node: Node, dtype: np.dtype) -> Node:
    return node if node.type == Scalar(dtype, "np") else ctx.builder.cast(node, dtype)
