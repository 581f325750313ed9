"""The identity of numbers: which object Python sees for a number.

One that came from outside, and nobody changed, is handed on as the very object; one that the
program has computed is one new object wherever it is, as it would be without us.  Of others only
the run knows what they are: numbers that paths join or loops carry may be the one or the other, or
that of another variable.  They become new objects, so that Python goes on with such numbers in no
function that may look at which objects they are.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import CodeType
from typing import TYPE_CHECKING

from npcompile.frontend.bytecode import analyse
from npcompile.graph import ir
from npcompile.graph.ir import Const, Get, Items, Node, NumberOf, Param, StaticObject, Tree
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.texts import TextIterator
from npcompile.ops.record import OPERATORS
from npcompile.python.values import python_class
from npcompile.runtime.unsafe.object_memory import ExternalItem

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer

#: kinds of nodes, beside operators, that give a new object at each time
_NEW = frozenset({"read", "reduce", "extern", "size"})
#: what holds numbers that say where it stands
_PLACES = (
    ir.RANGE_ITERATOR,
    ir.ARRAY_ITERATOR,
    ir.LIST_ITERATOR,
    range,
    zip,
    enumerate,
    itertools.count,
    itertools.islice,
    ExternalItem,
    TextIterator,
)

_SMALL = range(-5, 257)  #: ints of which there is one object each


def origins(t: Tracer, number: Node) -> frozenset[Node] | None:
    """The objects that a number may be: parameters, constants, and what makes new ones; None where
    one node may stand for several objects, or it is not known."""
    found, seen, work = set(), set(), [number]
    iterations: dict[Node, tuple[Node, ...]] = {}  # what loops carry
    while work:
        node = work.pop()
        if node in seen:
            continue
        seen.add(node)
        joined = _joined(node, iterations)
        if joined is not None:
            work += joined
        elif isinstance(node.attrs, (Param, Const)) or (
            _is_new(node) and node not in t.builder.shared
        ):
            found.add(node)
        else:
            return None
    return frozenset(found)


def _joined(node: Node, iterations: dict[Node, tuple[Node, ...]]) -> Iterable[Node] | None:
    """The numbers among which a node selects, by path or iteration; None if it selects none."""
    if node.op == "where":
        return node.args[1:]
    if not isinstance(node.attrs, Get):
        return iterations.get(node)
    (whole,) = node.args
    if whole.op == "if_":
        return [region.results[node.attrs.index] for region in whole.regions]
    if whole.op not in ("for_", "while_"):
        return None
    (region,), first = whole.regions, -len(whole.args)
    carried = region.params[first:]
    iterations |= zip(carried, zip(whole.args, region.results[first:]))
    return iterations[carried[node.attrs.index]]


def _is_new(node: Node) -> bool:
    if node.op != "cast":
        return _makes_new(node.op)
    (arg,) = node.args
    other = python_class(arg) is not python_class(node)
    return other and (isinstance(arg.attrs, Param) or _makes_new(arg.op))


def _makes_new(op: str) -> bool:
    """Whether nodes of a kind give a new object at each time, unlike ``+x`` or ``n % m``."""
    known = PRIMITIVES.get(op) or OPERATORS.get(op)
    return op in _NEW if known is None else known.fresh


def given(t: Tracer, number: Node) -> Node:
    """The parameter that a number is, if it is one in any case; else the number."""
    if number.op in ("get", "where"):
        found = origins(t, number)
        if found is not None and len(found) == 1:
            (number,) = found
    return number


def identical(t: Tracer, left: Node, right: Node) -> bool | None:
    """``left is right`` of two numbers, where tracing tells."""
    one, other = origins(t, left), origins(t, right)
    if one is None or other is None or any(isinstance(n.attrs, Const) for n in one | other):
        return None
    if left is right:
        return True
    if left.type != right.type:
        return False
    outside = [{n for n in held if isinstance(n.attrs, Param)} for held in (one, other)]
    if len(one) == len(other) == 1 and all(outside):
        return t.inputs.one_object(*one, *other)
    apart = one.isdisjoint(other) and not all(outside) and left.dtype.kind not in "biu"
    return False if apart else None


def agree(t: Tracer, frame: ir.ResumeFrame) -> bool:
    """Whether Python has the objects that it would have without us where a frame goes on, or does
    not look at which they are."""
    if not compares(frame.code):
        return True
    leaves = [leaf for _, tree in frame.local for leaf in _seen(tree)]
    leaves += [leaf for tree in frame.stack for leaf in _seen(tree)]
    if any(isinstance(leaf, Items) for leaf in leaves):
        return False
    numbers = {leaf.node for leaf in leaves if isinstance(leaf, NumberOf)}
    found = [origins(t, number) for number in numbers if number.dtype.kind != "b"]
    statics = {leaf.value for leaf in leaves
               if isinstance(leaf, StaticObject) and type(leaf.value) in (float, complex)}
    objects: list[object] = list(statics)
    for held in found:
        if held is None or any(isinstance(node.attrs, Param) for node in held):
            return False
        objects += [_object(node) for node in held if _object(node) not in _SMALL]
    return len(objects) == len(set(objects))


def _object(node: Node) -> object:
    return node.attrs.value if isinstance(node.attrs, Const) else node


def _seen(tree: Tree) -> Iterator[Tree]:
    """The leaves that Python sees, and lists of unknown lengths."""
    if not isinstance(tree, Items) or tree.kind is ir.Columns:
        yield tree
        return
    for k, item in enumerate(tree.items):
        place = tree.kind in _PLACES or (tree.kind is ir.OneOf and not k)
        if isinstance(item, Items) or not place:
            yield from _seen(item)


@lru_cache(maxsize=1024)
def compares(code_object: CodeType) -> bool:
    """Whether something is compared by identity with what is no constant and no global name, or
    an attribute of such (``None``, classes, members of enumerations), here or in a function that
    is made here."""
    if any(isinstance(inner, CodeType) and compares(inner) for inner in code_object.co_consts):
        return True
    for body in analyse(code_object).blocks.values():
        for k, i in enumerate(body):
            if i.op != "IS_OP":
                continue
            right = k - 1
            while right > 0 and body[right].op == "LOAD_ATTR":
                right -= 1
            if right < 0 or body[right].op not in ("LOAD_CONST", "LOAD_GLOBAL"):
                return True
    return False
