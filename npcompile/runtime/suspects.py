"""Which operations of a traced function can raise floating-point flags, and what NumPy calls them.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from npcompile.core.records import replace
from npcompile.graph.categories import OF_SCALARS, raises
from npcompile.graph.ir import Extern, Graph, Node, Site, walk
from npcompile.graph.types import Scalar, Type
from npcompile.runtime.flags import CATEGORIES

#: what NumPy's scalars compute by themselves, and call so
_OPERATORS = frozenset(
    ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "divmod", "power"]
)
#: invalid for some finite numbers; others only for infinite ones and NaN
_NOT_OF_ALL = frozenset(
    ["divide", "floor_divide", "remainder", "divmod", "fmod", "power", "pow", "float_power", "sqrt",
     "arcsin", "arccos", "arccosh", "arctanh", "log", "log2", "log10", "log1p", "cast", "astype"]
)

Loud = list[tuple[Node, str]]


def loud(graph: Graph) -> Loud:
    """The operations of a traced graph that can raise flags, and the first letters of those."""
    return [(node, letters) for node in walk(graph.region) if (letters := raises(node))]


def audible(graph: Graph, operations: Loud) -> Loud:
    """The same without what ``np.errstate`` ignores."""
    found = [(node, "".join(letter for letter in letters
                            if letter not in graph.hushed.get(node, "")))
             for node, letters in operations]
    return [(node, letters) for node, letters in found if letters]


def candidate(operations: Loud, category: str) -> tuple[str, int]:
    """Name and line of the likeliest operation to raise a category: the first that can, one that
    finds finite numbers invalid if there is any.  Without a name if it can only be one of Python's
    numbers, which warn of nothing."""
    able = [node for node, letters in operations if category[0] in letters and node.line]
    if not able:
        return "compiled code", 0
    able = [n for n in able if getattr(n.type, "origin", "np") != "py"]
    if not able:
        return "", 0
    first = [n for n in able if category != "invalid" or n.op in _NOT_OF_ALL]
    node = (first or able)[0]
    name = _called(node)
    return f"scalar {name}" if _by_scalars(node)[0] else name, node.line


def _called(node: Node) -> str:
    """What NumPy's warnings call an operation."""
    if isinstance(node.attrs, Extern):
        return node.attrs.name.rpartition(".")[2]
    return node.op.removeprefix(OF_SCALARS)


def _by_scalars(node: Node) -> list[bool]:
    """Whether NumPy's scalars compute it themselves: one of them takes the other.  The graph may
    allow several answers, of which the first is the most likely."""
    if node.op.startswith(OF_SCALARS):
        return [True]
    if node.op not in _OPERATORS or len(node.args) != 2:
        return [False]
    found = [_one_takes(left, right) for left, right in product(*map(_origins, node.args))]
    return list(dict.fromkeys(found))


def _origins(node: Node) -> list[Type]:
    """The types of which an operand may have been before it was brought to the loop's dtype."""
    found = [node.type]
    while node.op == "cast":
        node = node.args[0]
        found.insert(0, node.type)
    if node.op == "const" and isinstance(node.type, Scalar):
        found.insert(0, replace(node.type, origin="py"))
    return found


def _one_takes(left: Type, right: Type) -> bool:
    if not (isinstance(left, Scalar) and isinstance(right, Scalar)):
        return False
    if left.origin == "np" and left.dtype.kind == "b":  # bools have no arithmetic
        return False
    return _takes(left, right) or _takes(right, left)


def _takes(own: Scalar, other: Scalar) -> bool:
    """Whether the operators of a NumPy scalar compute with another number."""
    if own.origin == "py" or own.dtype.kind == "b":
        return False
    if other.origin == "py":
        return own.dtype.kind in {"f": "fc", "c": "c"}.get(other.dtype.kind, "iufc")
    return np.can_cast(other.dtype, own.dtype)


def silent(graph: Graph, operations: Loud) -> frozenset[str]:
    """The categories that only operations inside ``np.errstate`` that ignores them can raise."""
    found = set()
    for category in CATEGORIES:
        able = [node for node, letters in operations if category[0] in letters]
        if able and all(category[0] in graph.hushed.get(node, "") for node in able):
            found.add(category)
    return frozenset(found)


def ambiguous(graph: Graph, operations: Loud) -> bool:
    """Whether more than one operation, or one in several turns or places, can raise a category, or
    NumPy's name for it is not known."""
    found = [letter for _, letters in operations for letter in letters]
    if len(found) != len(set(found)) or any(map(raises, graph.repeated)):
        return True
    if any(any(_by_scalars(node)) for node, _ in operations):
        return True  # a ufunc's name, where the program has called that
    loops = [node for node in walk(graph.region) if node.op in ("for_", "while_")]
    return any(raises(inner) for loop in loops for region in loop.regions
               for inner in walk(region))


def repeatable(graph: Graph) -> bool:
    """Whether a call can be run again once its arguments are what they were: it calls nothing
    that has changed, or told, anything else."""
    return not any(isinstance(n.attrs, Site) and n.attrs.effect for n in walk(graph.region))


def marked(graph: Graph) -> bool:
    """Whether what it calls and others can tell says so when it happens (`core.effects`)."""
    return all(n.attrs.direct is None for n in walk(graph.region)
               if isinstance(n.attrs, Site) and n.attrs.effect)
