"""How a traced function's leaves and guards are wired to a machine-code entry.

A version is *direct* if a call's own arguments, the words of globals and closure cells, and object
identity are all that its entry needs to look at, and what a few steps from the arguments find
(attributes of plain objects, items of lists, tuples and dictionaries).  Other versions are called
through Python, with their leaves as arguments.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from npcompile.core.records import record
from npcompile.guards.binding import Steps, WatchedWords
from npcompile.guards.matching import classes
from npcompile.guards.sources import Roots, Source, is_given
from npcompile.runtime.entry.outline import Outline
from npcompile.runtime.entry.state import EntryState, LeafPlace, Signature
from npcompile.runtime.unsafe import version_tags
from npcompile.runtime.unsafe.version_tags import Unwatchable, VersionTag


@record
class Wiring:
    """A signature, the objects that arguments must be and that steps need, and how to find words
    and variables."""

    signature: Signature
    same: tuple[Any, ...]
    looked: tuple[Any, ...]
    words: Callable[[], list[VersionTag]]
    variables: Callable[[EntryState], None]

    def connect(self, state: EntryState, holds: Callable[[], bool] = lambda: True) -> bool:
        """Points a state at the words and variables as they are now; False: they don't fit.

        ``holds`` tests the guards once more: another thread may have changed something since.
        One thread at a time may connect a state.
        """
        if state.holds():
            return True
        try:
            found = self.words()
        except Unwatchable:
            return False
        if len(found) != self.signature.words:
            return False
        if state.watches(found):
            return True
        before = state.watched  # what only that holds is freed at the end: it may run any code
        state.suspend()
        self.variables(state)
        for k in reversed(range(len(found))):  # the first one vouches for all
            state.watch(k, found[k].address, found[k].expected)
        state.keeps(found)
        held = holds()
        if not held:
            state.suspend()
        del before
        return held


def direct(traced: Outline, function: types.FunctionType, names: Sequence[str]) -> Wiring | None:
    """The wiring of a function of positional parameters ``names``, or None if it needs Python."""
    if traced.tensors:  # which autograd must be told of
        return None
    code = function.__code__
    try:
        steps = Steps(traced.guards, names, traced.leaves)
        roots = Roots(function, {}, steps.methods)
        places, variables = _places(traced, roots, steps)
        for guard in traced.guards:
            if is_given(guard.source):
                guard.step(steps)
        others = [guard for guard in traced.guards if not is_given(guard.source)]
        sources = [leaf.source for leaf in traced.leaves if not is_given(leaf.source)]
        kinds = classes(traced.guards)

        def gather() -> list[VersionTag]:
            words = WatchedWords(roots)
            for guard in others:
                guard.watch(words)
            for source in sources:
                words.source(source, False)
            found = [*words.in_order(), *map(version_tags.of_class, kinds)]
            found += [word for m in steps.methods.values() for word in m.words()]
            return [*found, version_tags.of_code(function, code)]

        count = len(gather())
    except Unwatchable:
        return None
    signature = Signature(
        tuple(traced.leaves), places, len(names), same=tuple(k for k, _ in steps.same),
        words=count, steps=tuple(steps.steps),
    )
    objects = tuple(value for _, value in steps.same), tuple(steps.objects)
    return Wiring(signature, *objects, gather, variables)


def leafwise(traced: Outline) -> Wiring:
    """The wiring of an entry whose arguments are the leaves."""
    return Wiring(Signature.positional(tuple(traced.leaves)), (), (), list, lambda state: None)


def _places(
    traced: Outline, roots: Roots, steps: Steps
) -> tuple[tuple[LeafPlace, ...], Callable[[EntryState], None]]:
    places: list[LeafPlace] = []
    held: list[Source] = []
    for leaf in traced.leaves:
        kind, index = leaf.source.leaf_place(steps)
        if kind == "variable":
            index = len(held)
            held.append(leaf.source)
        places.append(LeafPlace(kind, index))

    def variables(state: EntryState) -> None:
        for k, source in enumerate(held):
            address = source.address(roots)
            if address is not None:
                state.refer(k, address)
            else:
                state.hold(k, roots.value(source))

    return tuple(places), variables
