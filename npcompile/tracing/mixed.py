"""How a loop carries a value that depends on the path: which of several kinds it is of, one number
for each dtype among them, and one array that nobody else holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Union

import numpy as np

from npcompile.core.records import record
from npcompile.graph.ir import Node, Region, Window
from npcompile.graph.types import PY_INT, Scalar, Type
from npcompile.ops.operands import ArrayRef, Cell
from npcompile.tracing import selectors
from npcompile.tracing.bodies import Again, Unlike
from npcompile.tracing.escapes import as_number, carrier, retyped
from npcompile.tracing.joins import OPTIONS
from npcompile.tracing.references import exclusive, reached
from npcompile.tracing.selectors import same
from npcompile.tracing.values import Either, Marker, State, Static, Value

if TYPE_CHECKING:
    from npcompile.tracing.attempts import Attempt, Path
    from npcompile.tracing.tracer import Tracer


@record
class Made:
    """An array that one variable alone holds: it may be another one from turn to turn."""

    type: Type
    window: Window
    dtype: np.dtype


#: the type of a number, an array that may be another one, or a value that stays the same
Kind = Union[Scalar, Made, Value]


def options(value: Value) -> tuple[Value, ...]:
    return value.options if isinstance(value, Either) else (value,)


def kinds(attempt: Attempt, state: State, value: Value) -> tuple[Kind, ...]:
    """The kinds of a value's options."""
    return tuple([_kind(attempt, state, option) for option in options(value)])


def _kind(attempt: Attempt, state: State, value: Value) -> Kind:
    number = as_number(attempt.t, value)
    if number is not None:
        return number.scalar
    return _kind_of_array(attempt, state, value) if isinstance(value, ArrayRef) else value


def _kind_of_array(attempt: Attempt, state: State, array: ArrayRef) -> Kind:
    """Of one that was there before the loop and that others hold too, itself."""
    t, frame, before = attempt.t, attempt.frame, attempt.state
    was_there = any(v is array for v in reached((*before.locals, *before.stack), before))
    where = before if was_there else state
    if exclusive(t, frame, where, attempt.live, array) and array.writeable is True:
        return Made(t.version(array.cell).type, array.window, array.dtype)
    if not was_there:
        raise Unlike("gives one name to different arrays")
    return array


def _place(found: Sequence[Kind], kind: Kind) -> int:
    """Where a kind is among others, or -1."""
    for k, other in enumerate(found):
        if isinstance(kind, (Scalar, Made)) or isinstance(other, (Scalar, Made)):
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

    @property
    def made(self) -> Made | None:
        """What is known of the array that is carried."""
        return next((kind for kind in self.kinds if isinstance(kind, Made)), None)

    def split(self, attempt: Attempt, state: State, value: Value) -> Parts | None:
        """What is carried for a value; None if it is of another kind."""
        t, found = attempt.t, kinds(attempt, state, value)
        places = [_place(self.kinds, kind) for kind in found]
        several = sum(isinstance(kind, Made) for kind in self.kinds) > 1
        if -1 in places or several or len(self.kinds) > OPTIONS:
            return None
        if isinstance(value, Either):
            which = selectors.recoded(t, value, tuple(places))
        else:
            which = t.builder.const(places[0])
        numbers = [number for option in options(value)
                   if (number := as_number(t, option)) is not None]
        carried = [
            next((self._of(t, node, type_) for node in numbers if node.dtype == type_.dtype), None)
            for type_ in self.carried
        ]
        arrays = [k for k, kind in enumerate(found) if isinstance(kind, Made)]
        return Parts(which, carried, _version(t, value, arrays) if arrays else None)

    @staticmethod
    def _of(t: Tracer, node: Node, type_: Scalar) -> Node:
        base = carrier(node)
        return base if base.type == type_ else retyped(t, node, type_)

    def whole(self, t: Tracer, which: Node, numbers: Sequence[Node],
              array: ArrayRef | None) -> Either:
        """The value of a kind that ``which`` tells, with these numbers and this array."""
        of = {node.dtype: node for node in numbers}
        t.undecided = True

        def option(kind: Kind) -> Value:
            if isinstance(kind, Made):
                assert array is not None
                return array
            return retyped(t, of[kind.dtype], kind) if isinstance(kind, Scalar) else kind

        return Either(which, tuple(range(len(self.kinds))), tuple(map(option, self.kinds)))


@record(eq=False)
class Parts:
    """What a loop carries for a value: which kind it is of, a number of each type and the version
    of an array; None: it has none."""

    which: Node
    numbers: list[Node | None]
    version: Node | None


def _version(t: Tracer, value: Value, arrays: Sequence[int]) -> Node:
    """What the options at these places hold that are arrays."""
    held = options(value)
    versions = [t.version(a.cell) for k in arrays if isinstance(a := held[k], ArrayRef)]
    found = versions[-1]
    if isinstance(value, Either):
        for k, version in zip(arrays[:-1], versions[:-1], strict=True):
            taken = selectors.selects(t, value.which, value.codes[k])
            arms = Region(results=[version]), Region(results=[found])
            (found,) = t.builder.if_(taken, *arms)
    return found


# ---------------------------------------------------------------------- in an attempt at a loop


def enter(attempt: Attempt, value: Value, path: Path) -> Either:
    """What stands for a value of several kinds inside the loop."""
    t, before = attempt.t, attempt.state
    known = [kind for kind in attempt.knowledge.mixed.get(path, ()) if _lasts(before, kind)]
    mixed = Mixed(joined(known, kinds(attempt, before, value)))
    parts = mixed.split(attempt, before, value)
    if parts is None:
        raise Unlike("gives one name to too many different things")
    which, *params = t.builder.param(PY_INT), *map(t.builder.param, mixed.carried)
    attempt.carried.update(zip((which, *params), (parts.which, *parts.numbers)))
    array = None
    with t.builder.inside(attempt.region):
        if mixed.made is not None:
            version = t.builder.param(mixed.made.type)
            attempt.carried[version] = parts.version
            array = attempt.made(version, mixed.made.window, mixed.made.dtype)
        made = mixed.whole(t, which, params, array)
    attempt.mixed[made] = mixed, [which, *params], array
    return made


def _lasts(before: State, kind: Kind) -> bool:
    """Whether a kind that an attempt has met means something in the next one: what that one's
    turns or those of a loop around them had in hand is gone."""
    if isinstance(kind, (Scalar, Made, Static, Marker)):
        return True
    return any(kind is held for held in reached((*before.locals, *before.stack), before))


def after(attempt: Attempt, value: Either) -> Either:
    """What stands after the loop for a value of several kinds in it."""
    t, (mixed, params, array) = attempt.t, attempt.mixed[value]
    which, *numbers = map(attempt.after, params)
    if array is not None:
        cell = t.register(Cell(attempt.after(array.cell.first)))
        array = ArrayRef(cell, array.window, array.dtype)
        t.trees.own(array)
    return mixed.whole(t, which, numbers, array)


def match(attempt: Attempt, path: Path, first: Either, last: Value, back: State) -> None:
    """Which kind a value is of in the next turn, and its numbers."""
    mixed, (which, *params), array = attempt.mixed[first]
    parts = mixed.split(attempt, back, last)
    if parts is None:
        widen(attempt, path, first, last, back, "changes the kind of a variable")
        return
    attempt.next[which] = parts.which
    attempt.next.update(
        (param, param if number is None else number)
        for param, number in zip(params, parts.numbers)
    )
    if array is not None:
        param = array.cell.first
        attempt.next[param] = param if parts.version is None else parts.version


def widen(attempt: Attempt, path: Path, first: Value, last: Value, back: State,
          why: str) -> None:
    """A variable holds values of several kinds.  What only the first turn changes is none of
    that: that turn is followed on its own, unless it changes only whose number it is."""
    knowledge = attempt.knowledge
    known, found = (kinds(attempt, back, value) for value in (first, last))
    shapes = [kind.window.shape for kind in (*known, *found) if isinstance(kind, (Made, ArrayRef))]
    lasting = all(isinstance(kind, (Scalar, Made, ArrayRef, Static, Marker)) for kind in found)
    if not lasting or len(dict.fromkeys(shapes)) > 1:
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
