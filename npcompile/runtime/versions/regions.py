"""Functions that run in regions: Python between pieces of compiled code.

A compiled region pauses before what it can't do.  Python executes the rest of that statement, and
what comes after it is compiled as a function of the variables and the value stack, once for each
place and kind of values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache, partial
from time import perf_counter
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from npcompile.core.config import Config
from npcompile.core.records import record
from npcompile.core.unseen import unseen
from npcompile.frontend.bytecode import RETURN, accesses, analyse
from npcompile.graph.ir import ARRAY_ITERATOR, RANGE_ITERATOR
from npcompile.guards.class_hooks import may_finalize
from npcompile.program.ir import Exit
from npcompile.python.values import UNBOUND
from npcompile.runtime.entry.executables import Left
from npcompile.runtime.unsafe.parameters import Parameters
from npcompile.runtime.versions import resume
from npcompile.runtime.versions.dispatch import Dispatcher
from npcompile.runtime.versions.exits import Exits
from npcompile.runtime.versions.policy import PAUSE, Bucket
from npcompile.runtime.versions.resume import Activation
from npcompile.runtime.versions.served import Served
from npcompile.runtime.versions.version import Version
from npcompile.tracing import observed_results
from npcompile.tracing.graph_breaks import ResumePoint, Slot, statement_end

#: places in one function where compiled code goes on
PLACES = 16
#: versions of what comes after one place; where a list gets longer there would be ever more
CONTINUED = 8
#: times that a call pauses at one place although there is little to do between
ITERATIONS = 8
#: times after which such a call counts as one that Python had better run
IDLE = 2


@record
class GraphBreak:
    """Where compiled code stands, before an instruction that it can't follow; ``heavy``: there was
    much to do before.  ``seconds``: what it took to make Python's objects of its variables.
    ``withdraw``: called once Python has executed it, if that shows how to follow it."""

    offset: int
    local: dict[str, Any]
    stack: list[Any]
    heavy: bool
    seconds: float
    withdraw: Callable[[], None] | None = None

    def executed(self) -> None:
        """Python has executed what stood here."""
        if self.withdraw is not None and observed_results.noted(self.stack):
            self.withdraw()


class ContinuationParameters(Parameters):
    """The parameters of a continuation."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.positional, self.plain = names, True

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        return dict(zip(self.positional, args, strict=True))


@unseen
class ServedRest(Served):
    """The rest of a function from one place on."""

    start: ResumePoint
    limit = CONTINUED

    def whole(self, function: FunctionType) -> tuple[Callable[..., Any], Parameters]:
        """What runs in Python in the place of compiled code, and its parameters."""
        count = sum(map(_count, self.start.stack))
        names = *self.start.names, *(f".{k}" for k in range(count))
        return self._plain, ContinuationParameters(names)

    def _plain(self, /, *args: Any, **kwargs: Any) -> Any:
        """All that comes, in Python."""
        start = self.start
        held = iter(args)
        local = {name: next(held) for name in start.names}
        stack = [_folded(slot, held) for slot in start.stack]
        frame = Activation.of(self.function, start.offset, local, stack, code=self.code)
        return resume.prepare([frame])()


@unseen
class RestExits(Exits):
    """The exits of the rest of a function, whose graph breaks its caller goes on from."""

    def graph_break(self, version: Version, left: Left, way_out: Exit) -> Any:
        return broken_off(version, left, way_out, partial(self.versions.withdraw, version))


def broken_off(
    version: Version, left: Left, way_out: Exit, withdraw: Callable[[], None]
) -> GraphBreak:
    """Makes the graph break at which a compiled region ended; ``withdraw`` forgets its version."""
    (frame,) = way_out.frames
    held = iter(left.held)
    local = {name: next(held) for name, _ in frame.local}
    bound = {name: value for name, value in local.items() if value is not UNBOUND}
    stack = list(held)
    if not version.trace.graph_breaks[frame.offset].provisional:
        return GraphBreak(frame.offset, bound, stack, version.heavy, left.seconds)
    stack = observed_results.observers(stack)
    return GraphBreak(frame.offset, bound, stack, version.heavy, left.seconds, withdraw)


class Continuations:
    """The continuations of one function."""

    def __init__(self, function: FunctionType, config: Config, bucket: Bucket) -> None:
        self.function, self.config, self.bucket = function, config, bucket
        self.code = function.__code__  # calls that have begun go on with it if there is other code
        self.continuations: dict[ResumePoint, Dispatcher] = {}
        self.rests: Counter[str] = Counter()  # why Python went on to the end
        self._idle = False  # a call did little between its graph breaks
        self._price = 0.0  # microseconds that NumPy would have taken after its first pause
        self._visits = 0  # how many graph breaks it had
        self.broken_off = 0  # so often
        self.outside = 0.0  # seconds outside of machine code
        self._ran = 0.0  # the price of the last region

    def all(self) -> list[Dispatcher]:
        """Those of now: another thread may add one meanwhile."""
        return list(self.continuations.values())

    def release(self) -> None:
        """Lets go of the function, which is no more."""
        self.rests.clear()
        for continuation in self.all():
            continuation.release()
        del self.function

    def adopt(self, function: FunctionType) -> None:
        """Serves another function of the same code."""
        self.function = function
        for continuation in self.all():
            continuation.adopt(function, lambda: None)

    def idled(self, exact: bool, price: Callable[[], float]) -> bool:
        """Whether the last call did little between its graph breaks; ``exact``: a clock tells
        better how little; ``price``: gives that of what it did before the first."""
        idle, self._idle = self._idle, False
        return idle or (not exact and self._visits * PAUSE > self._price + price())

    @unseen
    def go(self, place: GraphBreak) -> Any:
        """Runs everything from a graph break on."""
        visits: Counter[int] = Counter()
        price = 0.0
        while True:
            end, depth = statement_end(self.code, place.offset)
            visits[place.offset] += 1
            self.broken_off += 1
            self.outside += place.seconds
            self._visits, self._price = visits.total(), price
            self._idle |= visits[place.offset] > IDLE and not place.heavy
            if visits[place.offset] > ITERATIONS and not place.heavy:
                self.rests["there is little to do between graph breaks"] += 1
                end = RETURN
            if end == RETURN:
                try:
                    return self._rest(place.offset, place.local, place.stack)
                finally:
                    place.executed()
            begun = perf_counter()
            local, stack = self._statement(place, end, depth)
            self.outside += perf_counter() - begun
            place.executed()
            assigned = _assigned(self.code)
            if any(may_finalize(held) for name, held in local.items() if name in assigned):
                self.rests["a variable holds an object with a finalizer"] += 1
                return self._rest(end, local, stack)
            found = self._after(end, self._live(end, local), stack)
            price += self._ran
            if not isinstance(found, GraphBreak):
                self._price = price
                return found
            place = found

    @unseen
    def _rest(self, offset: int, local: dict[str, Any], stack: list[Any]) -> Any:
        begun = perf_counter()
        try:
            frame = Activation.of(self.function, offset, local, stack, code=self.code)
            return resume.prepare([frame])()
        finally:
            self.outside += perf_counter() - begun

    @unseen
    def _statement(
        self, place: GraphBreak, end: int, depth: int
    ) -> tuple[dict[str, Any], list[Any]]:
        """Lets Python execute the statement at a graph break; all variables after it."""
        code = analyse(self.code, end)
        bound = dict.fromkeys(place.local)
        within = [
            i for body in analyse(self.code).blocks.values() for i in body
            if place.offset <= i.offset < end
        ]
        for i in within:
            bound.update(dict.fromkeys(code.names[k] for k in accesses(i)[1]))
        deleted = {code.names[i.arg] for i in within if i.op == "DELETE_FAST"}
        own = set(self.code.co_varnames)
        kept = tuple(name for name in bound if name in own and name not in deleted)
        frame = Activation.of(
            self.function, place.offset, place.local, place.stack, code=self.code)
        return resume.execute(frame, end, kept, depth)

    def _live(self, end: int, local: dict[str, Any]) -> dict[str, Any]:
        """The variables that what comes after a statement reads."""
        code = analyse(self.code, end)
        live = {code.names[k] for k in code.live[code.entry]}
        return {name: held for name, held in local.items() if name in live}

    @unseen
    def _after(self, end: int, local: dict[str, Any], stack: list[Any]) -> Any:
        """Compiled code goes on after a statement, if it can."""
        if self.function.__code__ is not self.code:
            self.rests["the function has got other code"] += 1
            return self._rest(end, local, stack)
        slots: list[Slot] = []
        args = list(local.values())
        for value in stack:
            slot = None if any(value is held for held in args) else _unfolded(value, args)
            if slot is None:
                self.rests["a loop runs over something that can't be taken apart"] += 1
                return self._rest(end, local, stack)
            slots.append(slot)
        start = ResumePoint(end, tuple(local), tuple(slots))
        continuation = self.continuations.get(start)
        if continuation is None:
            if len(self.continuations) >= PLACES:
                self.rests[f"more than {PLACES} places to go on"] += 1
                return self._rest(end, local, stack)
            rest = ServedRest(self.function, self.config, lambda: None, start)
            made = Dispatcher(rest, self.bucket, RestExits)
            continuation = self.continuations.setdefault(start, made)
        self._ran = 0.0
        found = continuation.call(*args)
        self._ran = continuation.ran
        return found


@lru_cache(maxsize=1024)
def _assigned(code_object: CodeType) -> frozenset[str]:
    """The variables that a function assigns; arguments live until the call returns."""
    code = analyse(code_object)
    return frozenset(code.names[k] for body in code.blocks.values() for i in body
                     for k in accesses(i)[1])


# ------------------------------------------------------------------ iterators


def _unfolded(value: Any, args: list[Any]) -> Slot | None:
    """Describes a stack slot and adds its parts to ``args``; None if it cannot be taken apart."""
    if not hasattr(value, "__next__"):
        args.append(value)
        return "value"
    kind = type(value)
    if kind not in (RANGE_ITERATOR, ARRAY_ITERATOR, type(iter(())), enumerate, zip):
        return None
    _, parts, *state = value.__reduce__()
    if kind is enumerate:
        inner = _unfolded(parts[0], args)
        args.append(parts[1])
        return None if inner in (None, "value") else ("enumerate", inner)
    if kind is zip:
        slots = [_unfolded(part, args) for part in parts]
        usable = slots and not state and None not in slots and "value" not in slots
        return ("zip", *slots) if usable else None
    position = state[0] if state and state[0] else 0
    rest = parts[0][position:]
    if isinstance(rest, range):
        args += [rest.start, rest.stop, rest.step]
        return "range"
    if isinstance(rest, tuple):
        args.append(rest)
        return "items"
    if type(rest) is not np.ndarray:
        return None
    args.append(rest)
    return "array"


def _folded(slot: Slot, held: Any) -> Any:
    """The iterator that stands for its parts."""
    match slot:
        case "value":
            return next(held)
        case "range":
            return iter(range(next(held), next(held), next(held)))
        case "array" | "items":
            return iter(next(held))
        case ("enumerate", inner):
            return enumerate(_folded(inner, held), next(held))
        case ("zip", *inner):
            return zip(*[_folded(part, held) for part in inner])
    raise AssertionError(slot)


def _count(slot: Slot) -> int:
    """How many arguments a slot has."""
    if isinstance(slot, tuple):
        return sum([_count(part) for part in slot[1:]]) + int(slot[0] == "enumerate")
    return 3 if slot == "range" else 1
