"""One compiled version of a function, as the dispatcher keeps it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from threading import get_ident
from types import FunctionType
from typing import TYPE_CHECKING, Any

from npcompile.core import effects, logs
from npcompile.core.paths import defer
from npcompile.core.records import field, record
from npcompile.core.reported import reported
from npcompile.core.sizes import Symbol, evaluate
from npcompile.core.unseen import unseen
from npcompile.guards.matching import Match
from npcompile.runtime.entry import fp_messages, guard_binding, leaf_matching
from npcompile.runtime.entry.executables import Executable
from npcompile.runtime.entry.outline import Outline
from npcompile.runtime.versions.native import Native

if TYPE_CHECKING:
    from npcompile.runtime.versions import tiering
    from npcompile.runtime.versions.tiering import TierProfile
else:
    defer(globals(), "npcompile.runtime.versions", "tiering")

if TYPE_CHECKING:
    from npcompile.runtime.versions.backoff import Backoff

#: after so many versions a function stays in Python for what none of them serves
VERSION_LIMIT = 64
#: calls that leave compiled code before it is tried whether Python is faster, and at most so many
#: before it is tried again
EXITS, MOST_EXITS = 32, 1024
#: lengths that nobody knows before a call
UNKNOWN = 64
#: calls whose sizes are so many times as large are unlike each other
ALIKE = 4
#: so many of them, the latest, go to the next function of the same code
HEIRLOOMS = 16


Wires = Callable[[Outline], tuple[guard_binding.Wiring, bool]]


@record(eq=False, frozen=False)
class Version:
    """One compiled version of a function.  ``direct``: its entry takes the call's own arguments,
    otherwise the leaves that ``match`` finds.

    ``cautious``: it writes into arguments, several of its operations can raise the same
    floating-point flag, and the last run raised one (or there was none): the next run keeps copies
    of what it writes, so that Python can run instead and warn at the very lines.

    ``lasting``: it has other effects that last (a generator is drawn from), and can't run again
    where they have happened since its thread has ``seen`` (by threads).
    ``heavy``: it has loops or large arrays;
    ``adrift``: it was made for an earlier function of the same code, and its entry does not watch
    this one's variables yet, or those have changed.  ``trial``: whether Python is faster has to be
    found out, or is; ``noted``: calls that left it or that its entry did not take, ``patience``:
    how many of them before the next trial; ``seconds``: what the last run took; ``backoff``: its
    calls that Python ran again.
    """

    trace: Outline
    executable: Executable
    match: Match
    direct: bool
    cautious: bool = False
    lasting: bool = False
    heavy: bool = False
    adrift: bool = False
    trial: TierProfile | None = None
    seen: dict[int, int] = field(default_factory=lambda: {get_ident(): effects.latest()})
    noted: int = 0
    patience: int = EXITS
    calls: int = 0
    seconds: float = 0.0
    exits: Counter[str] = field(default_factory=Counter)
    backoff: Backoff | None = None

    def price(self, leaves: tuple[Any, ...]) -> float:
        """Microseconds that NumPy would take for a call, estimated without a clock.  Sizes that
        only the run can tell are as in the call that was traced, if that was not much smaller."""
        known = leaf_matching.bind_sizes(self.trace, leaves) or {}
        grown = any(value > ALIKE * (symbol.hint or 1) for symbol, value in known.items())

        def value(symbol: Symbol) -> int:
            if symbol in known:
                return known[symbol]
            return UNKNOWN if grown or symbol.hint is None else symbol.hint

        try:
            return sum([cost * evaluate(size, value) for size, cost in self.trace.price])
        except ZeroDivisionError:
            return 0.0

    def note(self) -> bool:
        """Counts a call that left it or that its entry did not take; True: it shall be tried."""
        self.noted += 1
        if self.noted < self.patience or self.trial is not None:
            return False
        self.noted, self.patience = 0, min(2 * self.patience, MOST_EXITS)
        return True

    def try_out(self) -> None:
        """Has the next calls take turns with the plain function."""
        self.trial = tiering.TierProfile(self.heavy)

    def ran_again(self, left: int) -> bool:
        """Counts a call that Python runs again from its start; True: each call is watched now."""
        if self.backoff is None:
            from npcompile.runtime.versions.backoff import Backoff  # few calls are run again

            self.backoff = Backoff()
        return self.backoff.ran_again(left)

    @property
    def watched(self) -> Backoff | None:
        """What watches each call of it, if anything does."""
        return self.backoff if self.backoff is not None and self.backoff.watching else None

    def keep(self) -> None:
        """Nobody finds out any more whether Python is faster."""
        self.trial = None

    def called(self, seconds: float = 0.0) -> None:
        """Counts a call that it served, and notes the time of that run."""
        self.calls += 1
        self.seconds = seconds

    def untimed(self) -> None:
        """The next run has no time yet."""
        self.seconds = 0.0

    def doubt(self, cautious: bool) -> None:
        """Whether the next run keeps copies of what it writes."""
        self.cautious = cautious

    def anchor(self) -> None:
        """Its entry watches this function's variables, as they are now."""
        self.adrift = False

    def drift(self) -> bool:
        """Takes its entry away from calls if what it watches has changed; True: it has."""
        made = self.executable
        stale = self.direct and isinstance(made, Native) and not made.state.holds()
        drifts = stale and not self.adrift
        self.adrift |= stale
        return drifts

    def lasts(self) -> bool:
        """Whether its other effects may have happened in this thread's last run."""
        here, now = get_ident(), effects.latest()
        before, self.seen[here] = self.seen.get(here), now
        return self.lasting and not (self.trace.marked and before == now)

    def connect(self, bound: dict[str, Any], function: FunctionType) -> bool:
        """Looks anew at what the entry watches; after ``match`` has said that all is well."""
        made = self.executable
        return not isinstance(made, Native) or made.wiring.connect(
            made.state, lambda: self.match(bound, function) is not None
        )

    def tell(self, function: FunctionType) -> None:
        """Its entry warns as this function does from now on."""
        if isinstance(self.executable, Native):
            self.executable.state.tell(fp_messages.table(self.trace, function))

    def release(self) -> bool:
        """Lets go of what belongs to its function; False: it could serve no other one."""
        if not all(guard.lasts for guard in self.trace.guards):
            return False
        if self.direct and isinstance(self.executable, Native):
            self.adrift = True
            self.executable.state.release()
            self.executable.wire(guard_binding.leafwise(self.trace))
        return True

    def rewire(self, wires: Wires, function: FunctionType) -> bool:
        """Whether its entry could be wired to another function of the same code, or need not be."""
        made = self.executable
        self.calls = 0
        self.exits.clear()
        if not self.direct or not isinstance(made, Native):
            return True
        wired, direct = wires(self.trace)
        if not direct or not wired.signature.like(made.state.signature):
            return False
        made.wire(wired)
        self.tell(function)
        return True

    def save(self, leaves: tuple[Any, ...]) -> list[tuple[Any, Any]]:
        """The arrays that it writes, each with a copy; of what is none it finds out itself."""
        found = [leaves[k] for k in sorted(self.trace.written)]
        return [(leaf, leaf.copy()) for leaf in found if hasattr(leaf, "copy")]

    def installable(self, modes: bool) -> bool:
        """Whether calls may go to its entry directly, while deterministic modes are in force.
        Special functions, whose errors SciPy may be asked to report, are in none that is exact."""
        return (
            self.direct
            and not self.cautious
            and not self.adrift
            and self.trial is None
            and (modes or self.watched is None)
            and isinstance(self.executable, Native)
            and not (modes and self.trace.unpromised["portable"])
            and not (reported and not self.trace.exact)
        )

    @property
    def bare(self) -> bool:
        """Whether its entry looks at arguments of plain kinds only."""
        return self.direct and isinstance(self.executable, Native) and self.executable.bare

    def precede(self, following: int) -> int:
        """Puts its entry before the one at an address; its own address."""
        assert isinstance(self.executable, Native)
        self.executable.state.precede(following)
        return self.executable.address

    @unseen
    def run(self, args: tuple[Any, ...], leaves: tuple[Any, ...]) -> Any:
        """The result, or ``MISS``; raises :class:`Left` if leaves were passed."""
        return self.executable(args if self.direct else leaves)

    def log(self, name: str) -> None:
        """Logs the stages, guards, fusion and kernels of this version."""

        def kernels() -> str:
            from npcompile.program.show import show

            return f"{name}:\n{show(made.program)}"

        def valid() -> list[str]:
            from npcompile.guards.descriptions import conditions

            return conditions(traced)

        traced, made = self.trace, self.executable
        spent = ", ".join(f"{stage} {ms:.1f} ms" for stage, ms in made.times.items())
        logs.log("trace", lambda: f"{name}: {len(traced.leaves)} inputs; {spent}")
        logs.log("guards", lambda: f"{name}: " + "; ".join(valid()))
        logs.log("fusion", lambda: f"{name}: " + "; ".join(made.program.notes))
        logs.log("kernels", kernels)
