"""Which operations of a traced function can raise floating-point flags, and what NumPy calls them.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from npcompile.core.lines import file_of
from npcompile.core.records import replace
from npcompile.graph.ir import WRITES, CallSite, Const, Extern, Graph, Node, walk
from npcompile.graph.types import Array, Scalar, Type
from npcompile.ops.fp_errors import OF_SCALARS, is_known, of_finite, raises, record_of
from npcompile.runtime.entry.fp_warnings import CATEGORIES, Message

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
    able = [node for node in able if not _of_python(node)]
    if not able:
        return "", 0
    first = [n for n in able if category != "invalid" or of_finite(n)]
    node = (first or able)[0]
    name = _called(node)
    return f"scalar {name}" if _by_scalars(node)[0] else name, node.line


def messages(graph: Graph) -> tuple[Message, ...]:
    """The warnings of which flags leave no doubt, in the order in which NumPy gives them: one
    operation alone can raise the flag, at most once in a call, and what NumPy calls it is known.
    Before them, for each other flag, all warnings that it may stand for, if they are known."""
    inner = {node for nest in walk(graph.region) if nest.op != "if_"
             for region in nest.regions for node in walk(region)}
    operations = [(node, _letters(graph, node)) for node in walk(graph.region)]
    named = {node: None if node in graph.repeated else _name(graph, node)
             for node, found in operations if found}
    certain: list[tuple[Node, Message]] = []
    doubtful: list[Message] = []
    for category in CATEGORIES:
        able = [node for node, found in operations if category[0] in found]
        if None in map(named.get, able):
            continue
        rows = [_message(category, named[node], node.line) for node in able]
        if len(able) == 1 and able[0] not in inner:
            certain += zip(able, rows, strict=True)
        else:
            doubtful += [replace(row, certain=False) for row in dict.fromkeys(rows)]
    order = {node: k for k, (node, _) in enumerate(operations)}
    certain.sort(key=lambda found: order[found[0]])
    return (*doubtful, *[row for _, row in certain])


def _message(category: str, name: str | None, line: int) -> Message:
    text = f"{CATEGORIES[category]} encountered in {name}"
    return Message(category, text, file_of(line), int(line))


def _letters(graph: Graph, node: Node) -> str:
    """The audible flags that an operation can raise: all, if nothing is known of it."""
    types = [found.type for found in (node, *node.args)]
    inexact = any(isinstance(t, (Array, Scalar)) and t.dtype.kind in "fc" for t in types)
    found = raises(node)
    if found:
        less = graph.hushed.get(node, "") + _excluded(node)
        return "".join(letter for letter in found if letter not in less)
    return "" if is_known(node) or not (inexact or node.op == "host_call") else "doui"


def _excluded(node: Node) -> str:
    """The first letters of what an operation can't raise because an operand is a known number.
    Signaling NaNs, of which all are invalid, are not thought of."""
    if len(node.args) != 2 or getattr(node.type, "dtype", np.dtype(bool)).char not in "fd":
        return ""
    info = np.finfo(node.dtype)
    for place, arg in enumerate(node.args):
        if not isinstance(arg.attrs, Const) or not np.isfinite(arg.attrs.value):
            continue
        size = float(np.abs(arg.attrs.value))
        if node.op in ("add", "subtract"):
            return "oi" if size < info.max * info.eps / 8 else "i"
        if node.op == "multiply" and size:
            return "oi" if size <= 1 else "i"
        if node.op == "divide" and size:
            return "i" if not place else "dio" if size >= 1 else "di"
    return ""


def _name(graph: Graph, node: Node) -> str | None:
    """The name that NumPy gives an operation, if the program itself calls it at one place."""
    how = graph.called.get(node)
    if how is None or not file_of(node.line) or _of_python(node):
        return None
    scalar = set(_by_scalars(node)) if how == "operator" else {False}
    name = _called(node)
    return None if len(scalar) > 1 else f"scalar {name}" if scalar == {True} else name


def _of_python(node: Node) -> bool:
    """Whether an operation computes one of Python's own numbers."""
    return getattr(node.type, "origin", "np") == "py"


def _called(node: Node) -> str:
    """The name by which NumPy's warnings call an operation."""
    if isinstance(node.attrs, Extern):
        return node.attrs.name.rpartition(".")[2]
    return node.op.removeprefix(OF_SCALARS)


def _by_scalars(node: Node) -> list[bool]:
    """Whether NumPy's scalars compute it themselves: one of them takes the other.  The graph may
    allow several answers, of which the first is the most likely."""
    if node.op.startswith(OF_SCALARS):
        return [True]
    record = record_of(node)
    if record is None or not record.of_scalars or len(node.args) != 2:
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
    """The categories that only operations inside ``np.errstate`` that ignores them can raise, or
    Python's own numbers, which warn of nothing."""
    found = set()
    for category in CATEGORIES:
        able = [node for node, letters in operations if category[0] in letters]
        if able and all(category[0] in graph.hushed.get(node, "") or _of_python(node)
                        for node in able):
            found.add(category)
    return frozenset(found)


def ambiguous(graph: Graph, operations: Loud) -> bool:
    """Whether more than one operation, or one in several iterations or places, can raise a
    category, or NumPy's name for it is not known."""
    unheard = {category[0] for category in silent(graph, operations)}
    found = [letter for _, letters in operations for letter in letters if letter not in unheard]
    if len(found) != len(set(found)) or any(map(raises, graph.repeated)):
        return True
    if any(any(_by_scalars(node)) for node, _ in operations):
        return True  # a ufunc's name, where the program has called that
    loops = [node for node in walk(graph.region) if node.op in ("for_", "while_")]
    return any(raises(inner) for loop in loops for region in loop.regions
               for inner in walk(region))


def late(graph: Graph, operations: Loud) -> bool:
    """Whether something is written after an operation that may raise a flag, by another one: where
    that makes an exception, Python does not come to it."""
    able = {node for node, _ in operations}
    before: set[Node] = set()
    for node in walk(graph.region):
        if node.op in WRITES:
            value = node.args[1]
            own = {value, *value.args} if node in graph.outs else set()
            if before - own:
                return True
        elif node in able:
            before.add(node)
    return False


def repeatable(graph: Graph) -> bool:
    """Whether a call can be run again once its arguments are what they were: it calls nothing
    that has changed, or told, anything else."""
    return not any(isinstance(n.attrs, CallSite) and n.attrs.effect for n in walk(graph.region))


def marked(graph: Graph) -> bool:
    """Whether what it calls and others can tell says so when it happens (`core.effects`)."""
    return all(n.attrs.direct is None for n in walk(graph.region)
               if isinstance(n.attrs, CallSite) and n.attrs.effect)
