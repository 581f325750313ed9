"""Python's operators on ints that are sizes: shapes stay symbolic."""

from __future__ import annotations

from typing import Any

from npcompile.core.sizes import (
    INDEX,
    Poly,
    Size,
    Unhinted,
    floordiv,
    hint,
    lower_bound,
    mod,
    symbols,
)
from npcompile.graph.ir import Const, Node, SizeOf
from npcompile.ops.operands import Context, Operand


def known(x: Operand) -> Any:
    """The value of a static Python number, else None."""
    if isinstance(x, Node):
        return x.attrs.value if isinstance(x.attrs, Const) else None
    return x


def size_of(x: Operand) -> Size | None:
    """The size that an operand stands for, if it is one."""
    if isinstance(x, Node) and isinstance(x.attrs, SizeOf):
        return x.attrs.size
    return None


def known_sizes(a: Operand, b: Operand) -> tuple[Size, Size] | None:
    """Two sizes, one of which may be a number."""
    found: list[Size] = []
    for x in (a, b):
        size = size_of(x)
        if size is None:
            value = known(x)
            if type(value) is not int:
                return None
            size = value
        found.append(size)
    return (found[0], found[1]) if any(isinstance(s, Poly) for s in found) else None


def _small(size: Size) -> bool:
    """Whether a size stays within 64 bits while each of its symbols stays within 32."""
    terms = size.terms if isinstance(size, Poly) else (((), size),)
    return sum(abs(c) << 31 * len(atoms) for atoms, c in terms) < 2**63


def bounded(ctx: Context, size: Size) -> bool:
    """Whether a size stays far below 64 bits though the run computes some of it."""
    if not isinstance(size, Poly):
        return True
    computed = [Poly((((name,), 1),)) for name in symbols(size) if name in ctx.builder.bound]
    ensure = ctx.facts.ensure
    return not computed or (
        all(len(atoms) < 2 or abs(c) <= 2 for atoms, c in size.terms)
        and all(ensure("<=", -INDEX, n) and ensure("<=", n, INDEX) for n in computed)
    )


def fold_sizes(ctx: Context, symbol: str, a: Operand, b: Operand) -> Operand | None:
    """What an operator gives for two sizes, where that is a size too."""
    sizes = known_sizes(a, b)
    if sizes is None or symbol not in ("+", "-", "*", "//", "%"):
        return None
    x, y = map(ctx.facts.norm, sizes)
    if symbol in ("//", "%"):
        if not _positive(ctx, y):
            return None
        made = (floordiv if symbol == "//" else mod)(x, y)
    else:
        made = x + y if symbol == "+" else x - y if symbol == "-" else x * y
    return ctx.builder.size(made) if _small(made) and bounded(ctx, made) else None


def _positive(ctx: Context, size: Size) -> bool:
    if isinstance(size, int):
        return size > 0
    low = lower_bound(size)
    if low is not None and low > 0:
        return True
    try:
        hint(size)
    except Unhinted:
        return False
    return ctx.facts.ask("<", 0, size)
