"""Sizes are integers' arithmetic: beside Python's own numbers, and polynomials beside SymPy's."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import sympy
from hypothesis import given
from hypothesis import strategies as st

from npcompile.core import sizes

NAMES = ("n", "m", "k")
SIZES = dict(zip(NAMES, map(sizes.symbol, NAMES)))
PROVEN = {name: sympy.Symbol(name, integer=True) for name in NAMES}
#: a name, with sizes, with Python's integers
OPERATIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (operator.add, operator.add),
    "sub": (operator.sub, operator.sub),
    "mul": (operator.mul, operator.mul),
    "floordiv": (sizes.floordiv, operator.floordiv),
    "mod": (sizes.mod, operator.mod),
    "min": (sizes.smallest, min),
    "max": (sizes.largest, max),
}
RING = ("add", "sub", "mul")

Tree = Any  # int | name | (operation, Tree, Tree)


def trees(operations: tuple[str, ...]) -> st.SearchStrategy[Tree]:
    leaves = st.sampled_from(NAMES) | st.integers(-9, 9)
    return st.recursive(
        leaves, lambda inner: st.tuples(st.sampled_from(operations), inner, inner), max_leaves=9)


def made(tree: Tree, of: dict[str, Any], which: int) -> Any:
    """The value of a tree; ``which`` of the two columns of ``OPERATIONS`` computes it."""
    if isinstance(tree, tuple):
        name, left, right = tree
        return OPERATIONS[name][which](made(left, of, which), made(right, of, which))
    return of[tree] if isinstance(tree, str) else tree


@given(trees(RING), trees(RING))
def test_polynomials_are_equal_where_sympy_says_so(left: Tree, right: Tree) -> None:
    same = sympy.expand(made(left, PROVEN, 1) - made(right, PROVEN, 1)) == 0
    assert (made(left, SIZES, 0) == made(right, SIZES, 0)) is bool(same)


@given(trees(RING))
def test_polynomials_have_the_terms_that_sympy_expands(tree: Tree) -> None:
    found = sizes.poly(made(tree, SIZES, 0))
    total = sum((c * sympy.prod([PROVEN[a.name] for a in atoms]) for atoms, c in found.terms),
                start=sympy.Integer(0))
    expanded = sympy.expand(made(tree, PROVEN, 1))
    assert sympy.expand(total - expanded) == 0
    assert len([c for _, c in found.terms if c]) == len(sympy.Add.make_args(expanded)) - (
        expanded == 0)


@given(trees(tuple(OPERATIONS)), st.lists(st.integers(-40, 40), min_size=3, max_size=3))
def test_sizes_are_the_numbers_that_python_computes(tree: Tree, numbers: list[int]) -> None:
    values = dict(zip(NAMES, numbers))
    try:
        expected = made(tree, values, 1)
    except ZeroDivisionError:
        return
    size = made(tree, SIZES, 0)
    assert sizes.evaluate(size, lambda symbol: values[symbol.name]) == expected
    atoms = {SIZES[name].terms[0][0][0]: value for name, value in values.items()}
    assert sizes.substitute(size, atoms) == expected
