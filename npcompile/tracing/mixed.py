"""How a loop carries a value that depends on the path: which of several kinds it is of, and one
number for each dtype among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Union

from npcompile.core.records import record
from npcompile.graph.ir import Node
from npcompile.graph.types import PY_INT, Scalar
from npcompile.tracing import selectors
from npcompile.tracing.bodies import Again, Unlike
from npcompile.tracing.escapes import as_number, carrier, retyped
from npcompile.tracing.joins import OPTIONS
from npcompile.tracing.selectors import same
from npcompile.tracing.values import Either, Marker, Static, Value

if TYPE_CHECKING:
    from npcompile.tracing.attempts import Attempt, Path
    from npcompile.tracing.tracer import Tracer

Kind = Union[Scalar, Value]  # the type of a number, or a value that stays the same


def options(value: Value) -> tuple[Value, ...]:
    return value.options if isinstance(value, Either) else (value,)


def kinds(t: Tracer, value: Value) -> tuple[Kind, ...]:
    """The kinds of a value's options."""
    numbers = [(option, as_number(t, option)) for option in options(value)]
    return tuple(x if number is None else number.scalar for x, number in numbers)


def _place(found: Sequence[Kind], kind: Kind) -> int:
    """Where a kind is among others, or -1."""
    for k, other in enumerate(found):
        if isinstance(kind, Scalar) or isinstance(other, Scalar):
            if kind == other:
                return k
        elif same(kind, other):
            return k
    return -1


def joined(first: Sequence[Kind], second: Sequence[Kind]) -> tuple[Kind, ...]:
    """All the kinds, each once."""
    found = list(first)
    found += [kind for kind in second if _place(first, kind) < 0]
    return tuple(found)


@record(eq=False)
class Mixed:
    """A value of one of several kinds."""

    kinds: tuple[Kind, ...]

    @property
    def carried(self) -> list[Scalar]:
        """The types of the numbers that are carried: one for each dtype."""
        types = [kind for kind in self.kinds if isinstance(kind, Scalar)]
        return [
            found[0] if len(found) == 1 else Scalar(dtype, "np")
            for dtype in dict.fromkeys(type_.dtype for type_ in types)
            for found in [[type_ for type_ in types if type_.dtype == dtype]]
        ]

    def split(self, t: Tracer, value: Value) -> tuple[Node, list[Node | None]] | None:
        """Which kind a value is of, and its numbers; None if it is of another kind."""
        places = [_place(self.kinds, kind) for kind in kinds(t, value)]
        if -1 in places or len(self.kinds) > OPTIONS:
            return None
        if isinstance(value, Either):
            which = selectors.recoded(t, value, tuple(places))
        else:
            which = t.builder.const(places[0])
        numbers = [number for option in options(value)
                   if (number := as_number(t, option)) is not None]
        return which, [
            next((self._of(t, node, type_) for node in numbers if node.dtype == type_.dtype), None)
            for type_ in self.carried
        ]

    @staticmethod
    def _of(t: Tracer, node: Node, type_: Scalar) -> Node:
        base = carrier(node)
        return base if base.type == type_ else retyped(t, node, type_)

    def whole(self, t: Tracer, which: Node, numbers: Sequence[Node]) -> Either:
        """The value of a kind that ``which`` tells, with these numbers."""
        of = {node.dtype: node for node in numbers}
        t.undecided = True
        return Either(which, tuple(range(len(self.kinds))), tuple(
            retyped(t, of[kind.dtype], kind) if isinstance(kind, Scalar) else kind
            for kind in self.kinds
        ))


# ---------------------------------------------------------------------- in an attempt at a loop


def enter(attempt: Attempt, value: Value, path: Path) -> Either:
    """What stands for a value of several kinds inside the loop."""
    t = attempt.t
    mixed = Mixed(joined(attempt.knowledge.mixed.get(path, ()), kinds(t, value)))
    parts = mixed.split(t, value)
    if parts is None:
        raise Unlike("gives one name to too many different things")
    which, *params = t.builder.param(PY_INT), *map(t.builder.param, mixed.carried)
    attempt.carried.update(zip((which, *params), (parts[0], *parts[1])))
    with t.builder.inside(attempt.region):
        made = mixed.whole(t, which, params)
    attempt.mixed[made] = mixed, [which, *params]
    return made


def match(attempt: Attempt, path: Path, first: Either, last: Value) -> None:
    """Which kind a value is of in the next turn, and its numbers."""
    mixed, (which, *params) = attempt.mixed[first]
    parts = mixed.split(attempt.t, last)
    if parts is None:
        widen(attempt, path, first, last, "changes the kind of a variable")
        return
    attempt.next[which] = parts[0]
    attempt.next.update(
        (param, param if number is None else number) for param, number in zip(params, parts[1])
    )


def widen(attempt: Attempt, path: Path, first: Value, last: Value, why: str) -> None:
    """A variable holds values of several kinds.  What only the first turn changes is none of
    that: that turn is followed on its own, unless it changes only whose number it is."""
    knowledge = attempt.knowledge
    known, found = kinds(attempt.t, first), kinds(attempt.t, last)
    lasting = all(isinstance(kind, (Scalar, Static, Marker)) for kind in found)
    if not lasting:
        raise Unlike(why)
    if not attempt.followed and not isinstance(last, Either):
        if knowledge.parting or not _one_dtype((*known, *found)):
            raise Unlike(why)
        knowledge.early.add(path)
    knowledge.mixed[path] = joined(knowledge.mixed.get(path, known), found)
    attempt.learned = True


def _one_dtype(found: Sequence[Kind]) -> bool:
    dtypes = {kind.dtype for kind in found if isinstance(kind, Scalar)}
    return len(dtypes) == 1 and all(isinstance(kind, Scalar) for kind in found)


def parts(attempt: Attempt) -> None:
    """Values that only the first turn finds to be Python's make a turn's paths part: that turn is
    to be followed on its own."""
    knowledge = attempt.knowledge
    for path in knowledge.early:
        knowledge.mixed.pop(path, None)
    knowledge.early.clear()
    knowledge.parting = True
    if attempt.followed:
        raise Again
    raise Unlike("parts by the kind of a variable")
