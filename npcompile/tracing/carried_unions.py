"""How a loop carries a value that depends on the path: which of several kinds it is of, one number
for each dtype among them, and one array that nobody else holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Union

import numpy as np

from npcompile.core.records import record
from npcompile.graph.ir import Geometry, Node, Region
from npcompile.graph.types import PY_INT, Scalar, Type
from npcompile.ops.operands import ArrayRef, Storage
from npcompile.python.values import Marker, State, Static, TaggedUnion, Value
from npcompile.tracing import selectors
from npcompile.tracing.escapes import as_number, carrier, retyped
from npcompile.tracing.joins import OPTIONS
from npcompile.tracing.loop_effects import Retry, TypeMismatch
from npcompile.tracing.references import exclusive, reached
from npcompile.tracing.selectors import same

if TYPE_CHECKING:
    from npcompile.tracing.loop_services import Attempt, Path
    from npcompile.tracing.services import Tracer


@record
class OwnedArray:
    """An array that one variable alone holds: it may be another one from iteration to iteration."""

    type: Type
    geometry: Geometry
    dtype: np.dtype


#: the type of a number, an array that may be another one, or a value that stays the same
Kind = Union[Scalar, OwnedArray, Value]


def options(value: Value) -> tuple[Value, ...]:
    return value.options if isinstance(value, TaggedUnion) else (value,)


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
        return OwnedArray(t.version(array.storage).type, array.geometry, array.dtype)
    if not was_there:
        raise TypeMismatch("gives one name to different arrays")
    return array


def _place(found: Sequence[Kind], kind: Kind) -> int:
    """Where a kind is among others, or -1."""
    for k, other in enumerate(found):
        if isinstance(kind, (Scalar, OwnedArray)) or isinstance(other, (Scalar, OwnedArray)):
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
    def made(self) -> OwnedArray | None:
        """The kind of the carried array, if one of the kinds is an array that the loop owns."""
        return next((kind for kind in self.kinds if isinstance(kind, OwnedArray)), None)

    def split(self, attempt: Attempt, state: State, value: Value) -> CarriedUnion | None:
        """Splits a value into its loop-carried parts; None if it is of another kind."""
        t, found = attempt.t, kinds(attempt, state, value)
        places = [_place(self.kinds, kind) for kind in found]
        several = sum(isinstance(kind, OwnedArray) for kind in self.kinds) > 1
        if -1 in places or several or len(self.kinds) > OPTIONS:
            return None
        if isinstance(value, TaggedUnion):
            tag = selectors.recoded(t, value, tuple(places))
        else:
            tag = t.builder.const(places[0])
        numbers = [number for option in options(value)
                   if (number := as_number(t, option)) is not None]
        carried = [
            next((self._of(t, node, type_) for node in numbers if node.dtype == type_.dtype), None)
            for type_ in self.carried
        ]
        arrays = [k for k, kind in enumerate(found) if isinstance(kind, OwnedArray)]
        return CarriedUnion(tag, carried, _version(t, value, arrays) if arrays else None)

    @staticmethod
    def _of(t: Tracer, node: Node, type_: Scalar) -> Node:
        base = carrier(node)
        return base if base.type == type_ else retyped(t, node, type_)

    def whole(self, t: Tracer, tag: Node, numbers: Sequence[Node],
              array: ArrayRef | None) -> TaggedUnion:
        """The value of a kind that ``tag`` tells, with these numbers and this array."""
        of = {node.dtype: node for node in numbers}
        t.sees_union()

        def option(kind: Kind) -> Value:
            if isinstance(kind, OwnedArray):
                assert array is not None
                return array
            return retyped(t, of[kind.dtype], kind) if isinstance(kind, Scalar) else kind

        return TaggedUnion(tag, tuple(range(len(self.kinds))), tuple(map(option, self.kinds)))


@record(eq=False)
class CarriedUnion:
    """The loop-carried parts of a tagged union: the tag, one number for each dtype, and the version
    of an array (None: it has none)."""

    tag: Node
    numbers: list[Node | None]
    version: Node | None


def _version(t: Tracer, value: Value, arrays: Sequence[int]) -> Node:
    """Selects, by the tag, the version of the storage of the options that are arrays."""
    held = options(value)
    versions = [t.version(a.storage) for k in arrays if isinstance(a := held[k], ArrayRef)]
    found = versions[-1]
    if isinstance(value, TaggedUnion):
        for k, version in zip(arrays[:-1], versions[:-1], strict=True):
            taken = selectors.selects(t, value.tag, value.codes[k])
            arms = Region(results=[version]), Region(results=[found])
            (found,) = t.builder.if_(taken, *arms)
    return found


# ---------------------------------------------------------------------- in an attempt at a loop


def enter(attempt: Attempt, value: Value, path: Path) -> TaggedUnion:
    """Maps a value of several kinds before the loop to a tagged union of loop parameters (the entry
    phi)."""
    t, before = attempt.t, attempt.state
    known = [kind for kind in attempt.loop_facts.mixed.get(path, ()) if _lasts(before, kind)]
    mixed = Mixed(joined(known, kinds(attempt, before, value)))
    parts = mixed.split(attempt, before, value)
    if parts is None:
        raise TypeMismatch("gives one name to too many different things")
    tag, *params = t.builder.param(PY_INT), *map(t.builder.param, mixed.carried)
    attempt.carried.update(zip((tag, *params), (parts.tag, *parts.numbers)))
    array = None
    with t.builder.inside(attempt.region):
        if mixed.made is not None:
            version = t.builder.param(mixed.made.type)
            attempt.carried[version] = parts.version
            array = attempt.made(version, mixed.made.geometry, mixed.made.dtype)
        made = mixed.whole(t, tag, params, array)
    attempt.mixed[made] = mixed, [tag, *params], array
    return made


def _lasts(before: State, kind: Kind) -> bool:
    """Whether a kind that an attempt has met means something in the next one: what that one's
    iterations or those of a loop around them had in hand is gone."""
    if isinstance(kind, (Scalar, OwnedArray, Static, Marker)):
        return True
    return any(kind is held for held in reached((*before.locals, *before.stack), before))


def after(attempt: Attempt, value: TaggedUnion) -> TaggedUnion:
    """Maps a tagged union inside the loop to its value after the loop (the exit phi)."""
    t, (mixed, params, array) = attempt.t, attempt.mixed[value]
    tag, *numbers = map(attempt.after, params)
    if array is not None:
        storage = t.register(Storage(attempt.after(array.storage.first)))
        array = ArrayRef(storage, array.geometry, array.dtype)
        t.trees.own(array)
    return mixed.whole(t, tag, numbers, array)


def match(attempt: Attempt, path: Path, first: TaggedUnion, last: Value, back: State) -> None:
    """Which kind a value is of in the next iteration, and its numbers."""
    mixed, (tag, *params), array = attempt.mixed[first]
    parts = mixed.split(attempt, back, last)
    if parts is None:
        widen(attempt, path, first, last, back, "changes the kind of a variable")
        return
    attempt.next[tag] = parts.tag
    attempt.next.update(
        (param, param if number is None else number)
        for param, number in zip(params, parts.numbers)
    )
    if array is not None:
        param = array.storage.first
        attempt.next[param] = param if parts.version is None else parts.version


def widen(attempt: Attempt, path: Path, first: Value, last: Value, back: State,
          why: str) -> None:
    """A variable holds values of several kinds.  What only the first iteration changes is none of
    that: that iteration is followed on its own, unless it changes only whose number it is."""
    loop_facts = attempt.loop_facts
    known, found = (kinds(attempt, back, value) for value in (first, last))
    shapes = [
        kind.geometry.shape for kind in (*known, *found) if isinstance(kind, (OwnedArray, ArrayRef))
    ]
    lasting = all(
        isinstance(kind, (Scalar, OwnedArray, ArrayRef, Static, Marker)) for kind in found
    )
    if not lasting or len(dict.fromkeys(shapes)) > 1:
        raise TypeMismatch(why)
    if not attempt.followed and not isinstance(last, TaggedUnion):
        if loop_facts.parting or not _one_dtype((*known, *found)):
            raise TypeMismatch(why)
        loop_facts.early.add(path)
    loop_facts.mixed[path] = joined(loop_facts.mixed.get(path, known), found)
    attempt.learn()


def _one_dtype(found: Sequence[Kind]) -> bool:
    dtypes = {kind.dtype for kind in found if isinstance(kind, Scalar)}
    return len(dtypes) == 1 and all(isinstance(kind, Scalar) for kind in found)


def parts(attempt: Attempt) -> None:
    """Values that only the first iteration finds to be Python's make an iteration's paths part:
    that iteration is to be followed on its own."""
    loop_facts = attempt.loop_facts
    for path in loop_facts.early:
        loop_facts.mixed.pop(path, None)
    loop_facts.early.clear()
    loop_facts.parts()
    if attempt.followed:
        raise Retry
    raise TypeMismatch("parts by the kind of a variable")
