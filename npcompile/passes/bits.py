"""What each bit of an integer is made of: affine forms over the field of two elements.

A form is an ``int`` whose lowest bit is the constant and whose other bits say which of the
variables (bits of other integers) are added to it.  An integer is the forms of its bits, lowest
first.  Sums are exclusive or; a product of two forms is a form only if one of them is a constant
or both are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from npcompile.graph.ir import Node

Forms = list[int]


class NotAffine(Exception):
    """A bit is more than a sum of bits."""


def width(dtype: np.dtype) -> int:
    return 1 if dtype.kind == "b" else 8 * dtype.itemsize


def constant(value: int, dtype: np.dtype) -> Forms:
    return [value >> k & 1 for k in range(width(dtype))]


def _product(a: int, b: int) -> int:
    if a > 1 and b > 1 and a != b:
        raise NotAffine
    return a if b == 1 or a == b else b if a == 1 else 0


def _number(forms: Forms) -> int:
    """A count, which must be a constant."""
    if any(form > 1 for form in forms):
        raise NotAffine
    return sum(form << k for k, form in enumerate(forms))


def _and(node: Node, a: Forms, b: Forms) -> Forms:
    return [_product(x, y) for x, y in zip(a, b, strict=True)]


def _or(node: Node, a: Forms, b: Forms) -> Forms:
    return [x ^ y ^ _product(x, y) for x, y in zip(a, b, strict=True)]


def _xor(node: Node, a: Forms, b: Forms) -> Forms:
    return [x ^ y for x, y in zip(a, b, strict=True)]


def _not(node: Node, a: Forms) -> Forms:
    return [x ^ 1 for x in a]


def _left(node: Node, a: Forms, n: Forms) -> Forms:
    count = min(_number(n), len(a))
    return [0] * count + a[: len(a) - count]


def _right(node: Node, a: Forms, n: Forms) -> Forms:
    count = min(_number(n), len(a))
    return a[count:] + [a[-1] if node.dtype.kind == "i" else 0] * count


def _where(node: Node, c: Forms, a: Forms, b: Forms) -> Forms:
    return [y ^ _product(c[0], x ^ y) for x, y in zip(a, b, strict=True)]


def _unlike(node: Node, a: Forms, b: Forms) -> Forms:
    """Whether any bit differs: of several forms that would be a product."""
    found = {x ^ y for x, y in zip(a, b, strict=True)} - {0}
    if len(found) > 1 and 1 not in found:
        raise NotAffine
    return [1 if 1 in found else found.pop() if found else 0]


def _alike(node: Node, a: Forms, b: Forms) -> Forms:
    return [_unlike(node, a, b)[0] ^ 1]


def _cast(node: Node, a: Forms) -> Forms:
    if node.dtype.kind == "b":
        return _unlike(node, a, [0] * len(a))
    fill = a[-1] if node.args[0].dtype.kind == "i" else 0
    return (a + [fill] * width(node.dtype))[: width(node.dtype)]


_RULES: dict[str, Callable[..., Forms]] = {
    "bit_and": _and,
    "bit_or": _or,
    "bit_xor": _xor,
    "bit_not": _not,
    "shl": _left,
    "shr": _right,
    "where": _where,
    "ne": _unlike,
    "eq": _alike,
    "cast": _cast,
}


def forms(op: str, node: Node, args: Sequence[Forms]) -> Forms:
    """The bits of an operation on integers and bools, which gives a node, by its operands'.

    Raises
    ------
    NotAffine
        They are no sums, or not known to be.
    """
    rule = _RULES.get(op)
    if rule is None:
        raise NotAffine
    return rule(node, *args)
