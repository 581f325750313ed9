"""Names that come to mean another array from iteration to iteration: variables, and what lists,
objects and attributes hold.

The array must be out of sight then, but for names that are bound anew with it (``self.x = x``):
they are one array in the loop, and after it.  Arrays that change names have them back after two
iterations, whoever else sees them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from npcompile.core.sizes import Unhinted, hint, mod
from npcompile.ops.operands import ArrayRef, Storage
from npcompile.python import range_bounds
from npcompile.python.values import HeapObject, State, Value
from npcompile.tracing import carried_sizes
from npcompile.tracing.loop_effects import Retry, TypeMismatch, closed_over, same_contents
from npcompile.tracing.references import exclusive

if TYPE_CHECKING:
    from npcompile.tracing.loop_services import Attempt, Path

_WHY = "gives one name to different arrays"


@dataclass(slots=True, eq=False)
class Renamings:
    """``count`` is how many names of an array are bound anew; ``inside`` gives what an array is in
    the loop; ``following`` and ``after`` what that one is in the next iteration, and after the
    loop."""

    count: dict[ArrayRef, int] = field(default_factory=dict)
    inside: dict[ArrayRef, ArrayRef] = field(default_factory=dict)
    following: dict[ArrayRef, ArrayRef] = field(default_factory=dict)
    after: dict[ArrayRef, ArrayRef] = field(default_factory=dict)


def count(attempt: Attempt, state: State) -> None:
    """Counts the names of arrays that iterations bind anew."""
    held: list[tuple[Path, Value]] = [
        ((slot,), state.locals[slot]) for slot in attempt.slots & attempt.live
    ]
    for slot in closed_over(attempt.frame, attempt.body):
        obj = state.locals[slot]
        if isinstance(obj, HeapObject):
            held.append(((-1, slot), state.heap[obj]))
    for obj in attempt.changing(state):
        held += [(((obj, key),), item) for key, item in _held(state.heap[obj])]
    counts, mixed = attempt.names.count, attempt.loop_facts.mixed
    for path, value in held:
        if isinstance(value, ArrayRef) and path[0] in attempt.rebound and path not in mixed:
            counts[value] = counts.get(value, 0) + 1


def _held(contents: Any) -> Iterator[tuple[Any, Value]]:
    """Yields the values that a list, dictionary, instance or cell holds, with their index, key or
    attribute."""
    if isinstance(contents, dict):
        yield from contents.items()
    elif isinstance(contents, tuple):
        yield from enumerate(contents)
    else:
        yield None, contents


def enter(attempt: Attempt, value: ArrayRef, place: Any) -> ArrayRef:
    """Maps an array before the loop to the array inside it: itself, where names exist that
    iterations do not bind anew."""
    t, names = attempt.t, attempt.names
    count = names.count.get(value, 1)
    if not exclusive(t, attempt.frame, attempt.state, attempt.live, value, count):
        return value
    if place in attempt.loop_facts.varying:
        if count > 1:
            raise TypeMismatch(_WHY)
        made = attempt.made(*carried_sizes.enter(attempt, value), value.dtype)
        t.aliases.renames(made.storage, value.storage)
        return made
    if value not in names.inside:
        made = attempt.made(attempt.carry(t.version(value.storage)), value.geometry, value.dtype)
        names.inside[value], names.count[made] = made, count
        t.aliases.renames(made.storage, value.storage)
    return names.inside[value]


def match(
    attempt: Attempt, place: Any, first: ArrayRef, last: Value, back: State
) -> None:
    """Connects the loop's array ``first`` with the array that the next iteration begins with."""
    t, names = attempt.t, attempt.names
    if first.storage not in attempt.created:
        if first is not last:
            t.requests.columns_of_holders(attempt.state, first)
            attempt.mistrust(TypeMismatch(_WHY))  # if its other names are not bound anew, too
        return
    if not isinstance(last, ArrayRef) or names.following.setdefault(first, last) is not last:
        raise TypeMismatch(_WHY)
    if not exclusive(t, attempt.frame, back, attempt.live, last, names.count.get(first, 1)):
        raise TypeMismatch(_WHY)
    t.aliases.renames(first.storage, last.storage)
    version, param = t.version(last.storage), first.storage.first
    if param in attempt.varying:
        if not carried_sizes.rebind(attempt, param, first, last):
            raise TypeMismatch("changes the type or shape of an array")
        return
    if carried_sizes.shorter(t, first, last):
        attempt.loop_facts.varying.add(place)
        attempt.learn()
        return
    alike = (last.geometry, last.writeable) == (first.geometry, first.writeable)
    if version.type != param.type or not alike:
        raise TypeMismatch("changes the type or shape of an array")
    attempt.next[param] = version


def settle(attempt: Attempt, begin: State, back: State) -> None:
    """Gives up before another iteration is traced, where variables are known to be bound to other
    arrays whose first ones have names that stay."""
    new = frozenset(attempt.loop_facts.rebound) - attempt.rebound
    if not all(same_contents(held, back.heap.get(obj)) for obj, held in begin.heap.items()):
        return  # names in lists and objects may turn out to be bound anew, too
    attempt.rename(new)
    count(attempt, begin)
    for slot in sorted(new):
        value = attempt.state.locals[slot]
        if isinstance(value, ArrayRef) and not exclusive(
            attempt.t, attempt.frame, attempt.state, attempt.live, value,
            attempt.names.count.get(value, 1),
        ):
            attempt.t.requests.columns_of_holders(attempt.state, value)
            raise TypeMismatch(f"{_WHY} ({attempt.frame.code.names[slot]})")


def after(attempt: Attempt, value: ArrayRef) -> ArrayRef:
    """Maps an array that iterations bind anew to the array after the loop."""
    made = attempt.names.after.get(value)
    if made is None:
        storage = attempt.t.register(Storage(attempt.after(value.storage.first)))
        attempt.t.aliases.inherits(storage, value.storage)
        made = ArrayRef(storage, value.geometry, value.dtype, value.writeable)
        attempt.t.trees.own(made)
        attempt.names.after[value] = made
    return made


# ------------------------------------------------------------------ arrays that change names


def swaps(attempt: Attempt, begin: State, back: State) -> None:
    """Arrays that change names each iteration have theirs back after two: an iteration of the
    region is then two of the loop."""
    if attempt.loop_facts.pairs:
        return
    slots = sorted(attempt.slots & attempt.live)
    moved = _moved([(begin.locals[k], back.locals[k]) for k in slots])
    swapped = bool(moved) and all((b, a) in moved for a, b in moved)
    if not swapped:  # names beside variables may be bound anew where nobody else sees the array
        for obj, contents in begin.heap.items():
            pairs = zip(_held(contents), _held(back.heap.get(obj)))
            moved += _moved([(a, b) for (_, a), (_, b) in pairs])
        swapped = any((b, a) in moved and _seen(attempt, a) for a, b in moved)
    if swapped and even(attempt):
        attempt.loop_facts.swaps()
        raise Retry


def _moved(pairs: list[tuple[Value, Value]]) -> list[tuple[Value, Value]]:
    return [(a, b) for a, b in pairs if isinstance(a, ArrayRef) and a is not b]


def _seen(attempt: Attempt, array: Value) -> bool:
    """Whether an array that was there before the loop has other names."""
    assert isinstance(array, ArrayRef)
    t, state = attempt.t, attempt.state
    inside = array.storage in attempt.created
    return not inside and not exclusive(t, attempt.frame, state, attempt.live, array)


def even(attempt: Attempt) -> bool:
    """Whether the number of iterations is known to be even, by a guard if need be."""
    over = attempt.over
    if over is None or attempt.nonempty or over.step not in (1, -1):
        return False
    count = over.high - over.low + 1
    try:
        if hint(count) <= 0 or not range_bounds.small(attempt.t, over.start):
            return False
        if not attempt.t.facts.equal(mod(count, 2), 0):
            raise TypeMismatch("swaps arrays in an odd number of iterations")
    except Unhinted:
        return False
    return True
