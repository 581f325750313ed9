"""In words: for which calls a version is valid, and what another version would not take."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from npcompile.core.facts import Facts
from npcompile.core.sizes import Poly, Predicate, symbols
from npcompile.graph.types import Array, Opaque, Scalar
from npcompile.guards.kinds import ClassGuard, FlagsGuard, Guard
from npcompile.guards.sources import Codes, Leaf, TensorMemory

#: a variable, with items and attributes: ``xs[0].grid``
_NAME = r"(?<![\w.\]])([A-Za-z_]\w*(?:\[[^\[\]]*\]|\.[A-Za-z_]\w*)*)"


def conditions(trace: Any) -> list[str]:
    """The conditions on calls under which a trace is valid."""
    bound = {s.name for p in trace.predicates for s in symbols(p.right - p.left)}
    texts = {leaf.source.told(): "string or bytes"
             for leaf in trace.leaves if isinstance(leaf.source, Codes)}
    for guard in trace.guards:
        if isinstance(guard, ClassGuard) and guard.source.told() in texts:
            texts[guard.source.told()] = guard.value.__name__
    found = [*_leaves(trace.leaves, bound, texts), *_guards(_more(trace.guards, trace.leaves)),
             *(_sizes(predicate, texts) for predicate in _telling(trace.predicates))]
    return list(dict.fromkeys(found))


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
    text = re.sub(rf"{_NAME}\.(\d+)\b", r"\1.shape[\2]", text)
    return re.sub(r"(?<!\w)\(([\w.]+(?:\[\d+\])?)\)", r"\1", text)  # (n) // (2)


def _sizes(predicate: Predicate, texts: Collection[str]) -> str:
    """A condition on sizes; a string has a length, and large bounds are powers of two."""
    text = readable(_predicate(predicate))
    for name in texts:
        text = text.replace(f"{name}.shape[0]", f"len({name})")
    return re.sub(r"\b\d{6,}\b", lambda found: _power(int(found[0])), text)


def _power(number: int) -> str:
    """A large number as a power of two, where it is one or nearly so."""
    for rest, more in ((number, ""), (number - 1, " + 1"), (number + 1, " - 1")):
        if rest & (rest - 1) == 0:
            return f"2**{rest.bit_length() - 1}{more}"
    return str(number)


def _more(guards: Sequence[Guard], leaves: Sequence[Leaf]) -> list[Guard]:
    """The guards that say more than what the inputs are."""
    inputs = {leaf.source.told() for leaf in leaves if not isinstance(leaf.type, Opaque)}
    return [guard for guard in guards if not (
        isinstance(guard, (ClassGuard, FlagsGuard)) and guard.source.told() in inputs)]


def _leaves(
    leaves: Collection[Leaf], bound: Collection[str], texts: Mapping[str, str]
) -> list[str]:
    """What the inputs are, once where the object of a number or string is one, too."""
    told = {leaf.source.told() for leaf in leaves if isinstance(leaf.type, Scalar)} | {*texts}
    return [_leaf(leaf, bound, texts) for leaf in leaves
            if not (isinstance(leaf.type, Opaque) and leaf.source.told() in told)]


def _leaf(leaf: Leaf, bound: Collection[str], texts: Mapping[str, str]) -> str:
    """What an input is; of the numbers that are ``bound``, conditions say more."""
    if isinstance(leaf.source, Codes):
        name = leaf.source.told()
        return f"{name} is {_a(texts[name])} (any value)"
    if isinstance(leaf.type, Array):
        layout = "C-contiguous" if leaf.contiguous else "strided"
        axes = f"{leaf.type.ndim} ax{'i' if leaf.type.ndim == 1 else 'e'}s"
        kind = "tensor" if isinstance(leaf.source, TensorMemory) else "array"
        return f"{leaf.source.told()} is a {layout} {leaf.type.dtype} {kind} of {axes}"
    if isinstance(leaf.type, Opaque):
        return f"{leaf.source.told()} is {_a(leaf.type.python_type.__name__)}"
    python = leaf.type.origin == "py"
    kind = leaf.type.python_type.__name__ if python else f"np.{leaf.type.dtype}"
    value = "" if leaf.source.told() in bound else " (any value)"
    return f"{leaf.source.told()} is {_a(kind)}{value}"


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
        return [_guard(guard) for guard in guards]
    names = dict.fromkeys(guard.source.told() for guard in named)
    others = [_guard(guard) for guard in guards if not guard.is_name]
    same = "name the same objects" if len(names) > 1 else "names the same object"
    return [*others, f"{', '.join(names)} {same} as now"]


def _guard(guard: Guard) -> str:
    if isinstance(guard, ClassGuard):
        return f"{guard.source.told()} is {_a(guard.value.__name__)}"
    return guard.text()


def _a(kind: str) -> str:
    """A noun with its article."""
    return f"an {kind}" if kind[0] in "aeiouAEIOU" else f"a {kind}"
