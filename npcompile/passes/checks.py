"""Fewer checks: what has been checked on the way holds, and neighbours become one.

Two checks are neighbours if nothing but pure values that raise no flag lies between them and Python
goes on at the same place, with the same values: then it makes no difference which of them fails.
Checks that a computation with constants stays within 64 bits, step by step, are one check of the
number that it begins with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from npcompile.graph.ir import Check, Const, Graph, Node, Region, ResumeFrame, integer
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.types import BOOL, INT, PY_INT, Scalar

LOW, HIGH = -(2**63), 2**63 - 1
_INTEGERS = frozenset({"add", "sub", "mul"})  # of integers they raise no flag


def merge_checks(graph: Graph) -> Graph:
    """The graph with fewer checks; its regions are changed, those of an earlier pass."""
    _merge(graph.region, set())
    return graph


def _merge(region: Region, passed: set[Node]) -> None:
    nodes: list[Node] = []
    last: Node | None = None  # a check with only pure values after it
    chains: dict[Node, _Chain] = {}
    for node in region.nodes:
        if node.op == "check":
            condition = node.args[0]
            if condition in passed:
                continue
            passed.add(condition)
            if last is not None and _alike(last, node):
                nodes.remove(last)
                both = _both(last.args[0], condition, chains)
                node = Node("check", (both[-1],), last.attrs, node.type, last.line)
                nodes += both
            last = node
        elif not _quiet(node):
            last = None
            for inner in node.regions:
                _merge(inner, set(passed))
        nodes.append(node)
    region.consists_of(nodes)


class _Chain(NamedTuple):
    """Checked steps of a computation with constants: each is ``times * of + plus``, and the checks
    hold where ``of`` is within bounds."""

    of: Node
    low: int
    high: int
    step: Node  # the last one's ``_overflows``
    times: int
    plus: int


def _both(one: Node, other: Node, chains: dict[Node, _Chain]) -> list[Node]:
    """The nodes, the last one what holds if both conditions do."""

    def made(op: str, *args: Node) -> Node:
        return Node(op, args, None, Scalar(BOOL, "np"), other.line)

    first = chains.get(one) or _step(one, None)
    chain = None if first is None else _step(other, first)
    if first is None or chain is None or chain.of is not first.of:
        return [made("bit_and", one, other)]
    ends = max(first.low, chain.low, LOW), min(first.high, chain.high, HIGH)
    if ends[0] > ends[1]:
        return [made("bit_and", one, other)]
    chain = chain._replace(low=ends[0], high=ends[1])
    low, high = (Node("const", (), Const(np.int64(end)), PY_INT, other.line) for end in ends)
    inside = made("le", low, chain.of), made("le", chain.of, high)
    both = made("bit_and", *inside)
    chains[both] = chain
    return [low, high, *inside, both]


def _step(condition: Node, before: _Chain | None) -> _Chain | None:
    """What a condition says, if that is that such a step stays within 64 bits."""
    if condition.op != "bit_not" or not condition.args[0].op.endswith("_overflows"):
        return None
    step = condition.args[0]
    op = step.op.partition("_")[0]
    number, constant = step.args
    if op != "sub" and isinstance(number.attrs, Const):
        number, constant = constant, number
    if not isinstance(constant.attrs, Const) or number.dtype != INT:
        return None
    of, times, plus = number, 1, 0
    if before is not None and (f"{number.op}_overflows", number.args) == (
            before.step.op, before.step.args):
        of, times, plus = before.of, before.times, before.plus
    by = integer(constant.attrs.value)
    if op == "mul":
        times, plus = times * by, plus * by
    else:
        plus += by if op == "add" else -by
    if times == 0:
        return None
    ends = LOW - plus, HIGH - plus
    bottom, top = ends if times > 0 else (-ends[1], -ends[0])
    size = abs(times)
    return _Chain(of, -(-bottom // size), top // size, step, times, plus)


def _quiet(node: Node) -> bool:
    """Whether a node may as well be computed where the check before it has failed."""
    if node.op in ("const", "size"):
        return True
    if not isinstance(node.type, Scalar) or node.op not in ("cast", *PRIMITIVES):
        return False
    if node.op == "cast" or node.op in _INTEGERS:
        return all(x.dtype.kind in "biu" for x in (*node.args, node))
    return not PRIMITIVES[node.op].flags


def _alike(one: Node, other: Node) -> bool:
    a, b = one.attrs, other.attrs
    assert isinstance(a, Check) and isinstance(b, Check)
    frames = a.resume.frames, b.resume.frames
    return (a.reason == b.reason and len(frames[0]) == len(frames[1])
            and all(map(_same, *frames)))


def _same(a: ResumeFrame, b: ResumeFrame) -> bool:
    return a.code is b.code and (a.offset, a.local, a.stack, a.owner, a.drops) == (
        b.offset, b.local, b.stack, b.owner, b.drops)
