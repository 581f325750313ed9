"""In words: for which calls a version is valid, and what another version would not take."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from npcompile.core.facts import Facts
from npcompile.core.sizes import Poly, Predicate, symbols
from npcompile.graph.types import Array, Opaque, Scalar
from npcompile.guards.sources import Codes, Leaf, TensorMemory

if TYPE_CHECKING:
    from npcompile.guards.kinds import Guard

#: a variable, with items and attributes: ``xs[0].grid``
_NAME = r"(?<![\w.\]])([A-Za-z_]\w*(?:\[[^\[\]]*\]|\.[A-Za-z_]\w*)*)"


def conditions(trace: Any) -> list[str]:
    """The conditions on calls under which a trace is valid."""
    bound = {s.name for p in trace.predicates for s in symbols(p.right - p.left)}
    return [*_leaves(trace.leaves, bound), *_guards(trace.guards),
            *(readable(_predicate(p)) for p in _telling(trace.predicates))]


def difference(trace: Any, others: Sequence[Any]) -> str:
    """Why none of the others took the call that a trace was made for: what it is valid for, and
    the one that is most like it is not."""
    mine = conditions(trace)
    known = [conditions(other) for other in others]
    if not known:
        return "the first call"
    nearest = max(known, key=lambda theirs: len({*theirs} & {*mine}))
    new = [text for text in mine if text not in nearest]
    old = {_subject(text): text for text in nearest if text not in mine}
    told = []
    for text in new:
        before = old.get(_subject(text), "")
        told.append(text + (f" (not {before.partition(' is ')[2]})" if before else ""))
    return "; ".join(told[:_TOLD]) or "what it reads has changed"


_TOLD = 3  #: differences that are told, at most


def _subject(text: str) -> str:
    return text.partition(" is ")[0]


def readable(text: str) -> str:
    """Names of sizes as a NumPy user writes them: ``x.shape[0]`` for the symbol ``x.0``."""
    text = re.sub(rf"{_NAME}\.s(\d+)\b", r"\1.strides[\2]", text)
    return re.sub(rf"{_NAME}\.(\d+)\b", r"\1.shape[\2]", text)


def _leaves(leaves: Collection[Leaf], bound: Collection[str]) -> list[str]:
    """What the inputs are, once where the object of a number is one, too."""
    numbers = {leaf.source for leaf in leaves if isinstance(leaf.type, Scalar)}
    return [_leaf(leaf, bound) for leaf in leaves
            if not (isinstance(leaf.type, Opaque) and leaf.source in numbers)]


def _leaf(leaf: Leaf, bound: Collection[str]) -> str:
    """What an input is; of the numbers that are ``bound``, conditions say more."""
    if isinstance(leaf.source, Codes):
        return f"{leaf.source.told()} is a string or bytes (any value)"
    if isinstance(leaf.type, Array):
        layout = "C-contiguous" if leaf.contiguous else "strided"
        axes = f"{leaf.type.ndim} ax{'i' if leaf.type.ndim == 1 else 'e'}s"
        kind = "tensor" if isinstance(leaf.source, TensorMemory) else "array"
        return f"{leaf.source.told()} is a {layout} {leaf.type.dtype} {kind} of {axes}"
    if isinstance(leaf.type, Opaque):
        return f"{leaf.source.told()} is a {leaf.type.python_type.__name__}"
    python = leaf.type.origin == "py"
    kind = leaf.type.python_type.__name__ if python else f"np.{leaf.type.dtype}"
    value = "" if leaf.source.told() in bound else " (any value)"
    return f"{leaf.source.told()} is {'an' if kind[0] in 'aeiou' else 'a'} {kind}{value}"


def _predicate(predicate: Predicate) -> str:
    """A condition on sizes with nothing on both sides: ``n >= 2`` for ``1 <= n - 1``."""
    gap = predicate.right - predicate.left
    if not isinstance(gap, Poly):
        return repr(predicate)
    at_most, at_least = ("<=", ">=") if predicate.op in ("<", "<=") else (predicate.op,) * 2
    constant = sum(c for atoms, c in gap.terms if not atoms) - (predicate.op == "<")
    more = Poly(tuple((atoms, c) for atoms, c in gap.terms if atoms and c > 0))
    less = Poly(tuple((atoms, -c) for atoms, c in gap.terms if atoms and c < 0))
    if not less.terms:
        return f"{more!r} {at_least} {-constant}"
    most = more + constant if more.terms else constant
    return f"{less!r} {at_most} {most!r}"


def _telling(predicates: Sequence[Predicate]) -> list[Predicate]:
    """Those that do not follow from the others."""
    kept = list(predicates)
    for one in predicates:
        facts = Facts()
        for other in kept:
            if other is not one:
                facts.learn(other)
        if facts.prove(one.op, one.left, one.right):
            kept.remove(one)
    return kept


def _guards(guards: Sequence[Guard]) -> list[str]:
    """One for each, but modules, functions and classes that names stand for are one together."""
    named = [guard for guard in guards if guard.is_name]
    if len(named) < 2:
        return [guard.text() for guard in guards]
    names = dict.fromkeys(guard.source.told() for guard in named)
    others = [guard.text() for guard in guards if not guard.is_name]
    return [*others, f"{', '.join(names)} name the same objects as now"]
