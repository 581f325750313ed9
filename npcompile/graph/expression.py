"""Programs over primitives, written as arithmetic.

A *program* is a Python function of :class:`Expr` operands.  Applied to nodes it appends primitive
nodes to a builder and gives the result's node::

    def softplus(x):
        return log1p(exp(-abs(x))) + where(x > 0, x, 0.0)

    node = apply(softplus, builder, [x_node])

Programs have no branches: every lane runs every operation, so a program gives the same bits for
any number of lanes.  What only rare lanes need goes through :func:`rare`.  Python numbers become
constants of the other operand's dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union

import numpy as np

from npcompile.graph import layout
from npcompile.graph.builder import Builder
from npcompile.graph.ir import Attrs, Node, Table
from npcompile.graph.types import BOOL, Array, Scalar, Type

_INTS: dict[int, np.dtype] = {2: np.dtype(np.int16), 4: np.dtype(np.int32), 8: np.dtype(np.int64)}
_FLOATS: dict[int, np.dtype] = {
    2: np.dtype(np.float16), 4: np.dtype(np.float32), 8: np.dtype(np.float64)
}
_COMPLEX: dict[int, np.dtype] = {4: np.dtype(np.complex64), 8: np.dtype(np.complex128)}
#: one type object per dtype, so that types can be compared by identity
_SCALARS = {np.dtype(char): Scalar(np.dtype(char), "np") for char in "?bBhHiIqQlLefdFD"}

Value = Union["Expr", bool, int, float]


class ExpressionScope:
    """Where the nodes of one program go, and the layout that they get.

    The whole operator's result has NumPy's layout for *all* operands together; so has every step
    of the program that is as large, whichever operands it happens to combine.
    """

    __slots__ = ("_constants", "_types", "_unique", "builder", "shape", "strides")

    def __init__(
        self, builder: Builder, nodes: Sequence[Node], whole: Type | None = None
    ) -> None:
        self.builder = builder
        if whole is None:
            whole = builder.map_type(nodes, BOOL)
        self.shape = whole.shape if isinstance(whole, Array) else ()
        self.strides = whole.strides if isinstance(whole, Array) else ()
        self._types: dict[tuple[object, ...], Type] = {}
        self._unique: dict[Type, Type] = {}
        self._constants: dict[tuple[float | str, np.dtype], Expr] = {}

    def emit(self, op: str, args: tuple[Node, ...], dtype: np.dtype, attrs: Attrs = None) -> Expr:
        """A node whose operands are broadcast."""
        key = (dtype, *[id(a.type) for a in args])
        type_ = self._types.get(key)
        if type_ is None:
            type_ = self._types[key] = self._broadcast([a.type for a in args], dtype)
        return Expr(self, self.builder.emit(op, args, attrs, type_))

    def _broadcast(self, types: list[Type], dtype: np.dtype) -> Type:
        arrays = [t for t in types if isinstance(t, Array)]
        made: Type
        if not arrays:
            made = _SCALARS[dtype]
        elif any(a.shape == self.shape for a in arrays):
            made = Array(dtype, self.shape, self.strides)
        else:
            facts = self.builder.facts
            shape = layout.broadcast_shapes(facts, *(a.shape for a in arrays))
            if shape == self.shape:
                made = Array(dtype, shape, self.strides)
            else:
                wide = [
                    layout.broadcast_strides(facts, a.shape, a.strides, shape) for a in arrays
                ]
                made = Array(dtype, shape, layout.k_strides(facts, shape, wide))
        return self._unique.setdefault(made, made)

    def constant(self, value: bool | int | float, dtype: np.dtype) -> Expr:
        """A number of a dtype."""
        key = (value or str(value), dtype)  # 0.0 and -0.0 are equal
        found = self._constants.get(key)
        if found is None:
            found = Expr(self, self.builder.const(dtype.type(value), _SCALARS[dtype]))
            self._constants[key] = found
        return found


class Expr:
    """One value of a program: a node and the scope that makes the next ones."""

    __slots__ = ("node", "scope")

    def __init__(self, scope: ExpressionScope, node: Node) -> None:
        self.scope = scope
        self.node = node

    @property
    def dtype(self) -> np.dtype:
        return self.node.dtype

    @property
    def builder(self) -> Builder:
        return self.scope.builder

    def _binary(self, op: str, other: Value, swap: bool = False) -> Expr:
        dtype = self.node.dtype
        right = other.node if isinstance(other, Expr) else self.scope.constant(other, dtype).node
        args = (right, self.node) if swap else (self.node, right)
        return self.scope.emit(op, args, dtype)

    def _compare(self, op: str, other: Value, swap: bool = False) -> Expr:
        node = self.node
        right = other.node if isinstance(other, Expr) else self.scope.constant(
            other, node.dtype).node
        return self.scope.emit(op, (right, node) if swap else (node, right), BOOL)

    def _unary(self, op: str) -> Expr:
        return self.scope.emit(op, (self.node,), self.node.dtype)

    def __add__(self, other: Value) -> Expr:
        return self._binary("add", other)

    def __radd__(self, other: Value) -> Expr:
        return self._binary("add", other, True)

    def __sub__(self, other: Value) -> Expr:
        return self._binary("sub", other)

    def __rsub__(self, other: Value) -> Expr:
        return self._binary("sub", other, True)

    def __mul__(self, other: Value) -> Expr:
        return self._binary("mul", other)

    def __rmul__(self, other: Value) -> Expr:
        return self._binary("mul", other, True)

    def __truediv__(self, other: Value) -> Expr:
        return self._binary("div", other)

    def __rtruediv__(self, other: Value) -> Expr:
        return self._binary("div", other, True)

    def __neg__(self) -> Expr:
        return self._unary("neg")

    def __abs__(self) -> Expr:
        return self._unary("abs")

    def __lt__(self, other: Value) -> Expr:
        return self._compare("lt", other)

    def __le__(self, other: Value) -> Expr:
        return self._compare("le", other)

    def __gt__(self, other: Value) -> Expr:
        return self._compare("lt", other, True)

    def __ge__(self, other: Value) -> Expr:
        return self._compare("le", other, True)

    # comparisons are values of the program, not answers: no object can promise both
    def __eq__(self, other: Value) -> Expr:  # type: ignore[override]
        return self._compare("eq", other)

    def __ne__(self, other: Value) -> Expr:  # type: ignore[override]
        return self._compare("ne", other)

    def __and__(self, other: Value) -> Expr:
        return self._binary("bit_and", other)

    def __or__(self, other: Value) -> Expr:
        return self._binary("bit_or", other)

    def __xor__(self, other: Value) -> Expr:
        return self._binary("bit_xor", other)

    def __invert__(self) -> Expr:
        return self._unary("bit_not")

    def __lshift__(self, other: Value) -> Expr:
        return self._binary("shl", other)

    def __rshift__(self, other: Value) -> Expr:
        return self._binary("shr", other)

    def __bool__(self) -> bool:
        raise TypeError("a program has no branches: use where or rare")


Program = Callable[..., Any]


def apply(
    program: Program, builder: Builder, nodes: Sequence[Node], whole: Type | None = None
) -> Node | tuple[Node | None, ...]:
    """Runs a program on nodes: the node of its result, or of each where it returns a tuple.

    ``whole`` is the result's type if that is known already.
    """
    scope = ExpressionScope(builder, nodes, whole)
    result = program(*[Expr(scope, node) for node in nodes])
    if isinstance(result, tuple):
        return tuple(None if part is None else part.node for part in result)
    node: Node = result.node
    return node


def const(value: bool | int | float, like: Expr, dtype: np.dtype | None = None) -> Expr:
    """A number of ``like``'s dtype (or the given one)."""
    return like.scope.constant(value, like.node.dtype if dtype is None else dtype)


def _lift(values: tuple[Value, ...]) -> tuple[Expr, tuple[Node, ...]]:
    """The first expression among values, and all as nodes of its dtype."""
    for first in values:
        if isinstance(first, Expr):
            break
    else:
        raise TypeError("a program's operation needs an expression")
    scope, dtype = first.scope, first.node.dtype
    return first, tuple([
        v.node if isinstance(v, Expr) else scope.constant(v, dtype).node for v in values
    ])


def fma(a: Value, b: Value, c: Value) -> Expr:
    """``a * b + c``, rounded once."""
    first, nodes = _lift((a, b, c))
    return first.scope.emit("fma", nodes, first.node.dtype)


def where(condition: Expr, a: Value, b: Value) -> Expr:
    """``a`` where the condition holds, else ``b``; at least one must be an expression."""
    first, nodes = _lift((a, b))
    return first.scope.emit("where", (condition.node, *nodes), first.node.dtype)


def rare(condition: Expr, slow: Value, fast: Expr) -> Expr:
    """``where``, but few lanes are expected to need ``slow``: a backend may skip what only
    ``slow`` uses when no lane does.  So that flags are right either way, ``slow`` must be
    harmless on the other lanes: compute it from operands masked by ``where``."""
    first, nodes = _lift((slow, fast))
    return first.scope.emit("rare", (condition.node, *nodes), first.node.dtype)


def sqrt(x: Expr) -> Expr:
    return x._unary("sqrt")


def floor(x: Expr) -> Expr:
    return x._unary("floor")


def ceil(x: Expr) -> Expr:
    return x._unary("ceil")


def trunc(x: Expr) -> Expr:
    return x._unary("trunc")


def rint(x: Expr) -> Expr:
    return x._unary("rint")


def copysign(a: Value, b: Value) -> Expr:
    """The magnitude of ``a`` with the sign of ``b``."""
    first, nodes = _lift((a, b))
    return first.scope.emit("copysign", nodes, first.node.dtype)


def fmod(a: Value, b: Value) -> Expr:
    first, nodes = _lift((a, b))
    return first.scope.emit("fmod", nodes, first.node.dtype)


def minimum(a: Value, b: Value) -> Expr:
    first, nodes = _lift((a, b))
    return first.scope.emit("minimum", nodes, first.node.dtype)


def maximum(a: Value, b: Value) -> Expr:
    first, nodes = _lift((a, b))
    return first.scope.emit("maximum", nodes, first.node.dtype)


def ldexp(x: Expr, n: Expr) -> Expr:
    """``x * 2**n``, rounded once; ``n`` is an integer expression."""
    return x.scope.emit("ldexp", (x.node, n.node), x.node.dtype)


def to_bits(x: Expr) -> Expr:
    """The signed integer of the same bits."""
    return x.scope.emit("to_bits", (x.node,), _INTS[x.node.dtype.itemsize])


def from_bits(i: Expr) -> Expr:
    """The float of the same bits."""
    return i.scope.emit("from_bits", (i.node,), _FLOATS[i.node.dtype.itemsize])


def cast(x: Expr, dtype: np.dtype | type | str) -> Expr:
    """``x.astype(dtype)``."""
    target: np.dtype = np.dtype(dtype)
    if x.node.dtype == target:
        return x
    if x.node.op == "const":
        return Expr(x.scope, x.scope.builder.cast(x.node, target))
    return x.scope.emit("cast", (x.node,), target)


def lookup(index: Expr, values: Sequence[float],
           dtype: np.dtype | type | str = np.float64) -> Expr:
    """``values[index & (len(values) - 1)]``; the length is a power of two."""
    assert len(values) & (len(values) - 1) == 0, len(values)
    return index.scope.emit("lookup", (index.node,), np.dtype(dtype), Table(tuple(values)))


def real(z: Expr) -> Expr:
    return z.scope.emit("real", (z.node,), np.dtype(z.node.dtype.char.lower()))


def imag(z: Expr) -> Expr:
    return z.scope.emit("imag", (z.node,), np.dtype(z.node.dtype.char.lower()))


def complex_(re: Value, im: Value) -> Expr:
    """The complex number of two real parts."""
    first, nodes = _lift((re, im))
    return first.scope.emit("complex", nodes, _COMPLEX[first.node.dtype.itemsize])


def poly(x: Expr, coefficients: Sequence[Value]) -> Expr:
    """``coefficients[0] + coefficients[1] * x + ...`` by Estrin's scheme: fused pairs, then pairs
    of pairs in powers of ``x`` (Muller, Elementary Functions, 3rd ed., section 4.4)."""
    terms: list[Value] = list(coefficients)
    power = x
    while len(terms) > 1:
        odd = terms.pop() if len(terms) % 2 else None
        terms = [fma(terms[i + 1], power, terms[i]) for i in range(0, len(terms), 2)]
        if odd is not None:
            terms.append(odd)
        if len(terms) > 1:
            power = power * power
    only = terms[0]
    return only if isinstance(only, Expr) else x.scope.constant(only, x.node.dtype)


def horner(x: Expr, coefficients: Sequence[Value]) -> Expr:
    """The same by Horner's scheme: fewer operations, but each waits for the one before."""
    *rest, last = coefficients
    value = last if isinstance(last, Expr) else x.scope.constant(last, x.node.dtype)
    for c in reversed(rest):
        value = fma(value, x, c)
    return value


def lean_poly(x: Expr, coefficients: Sequence[float]) -> Expr:
    """The same by few operations: Horner's scheme, beyond six coefficients in ``x * x``, for even
    and for odd powers, which is one operation more and half the waiting (Knuth, TAOCP vol. 2,
    section 4.6.4)."""
    if len(coefficients) <= 6:
        return horner(x, coefficients)
    square = x * x
    return fma(horner(square, coefficients[1::2]), x, horner(square, coefficients[::2]))
