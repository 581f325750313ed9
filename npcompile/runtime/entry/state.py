"""The words that one compiled function shares with Python: all that changes after it is loaded.

::

    slot      holds
    next      the next entry to try (0: none, Python takes the call)
    python    called as python(function, *args, **kwargs) where no entry takes the call
    exit      called as exit(function, code, flags, what, *args, **kwargs), see runtime.entry
    build     makes containers of a flat tuple of results
    alone     the function whose calls no other entry may take
    table     the warnings that floating-point flags stand for (0: unknown), see runtime.messages
    words     pairs (address, expected): the word at the address must be the expected one
    variables addresses of PyObject* variables that are read as arguments (cells, held objects)
    held      PyObject* variables of our own
    objects   arguments that must be these, keyword names, constant results
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from npcompile.core.records import record
from npcompile.core.unseen import forget_frames, unseen
from npcompile.guards.binding import AccessStep
from npcompile.guards.sources import Leaf
from npcompile.runtime.entry.fp_messages import MessageTable
from npcompile.runtime.entry.helpers import errstate
from npcompile.runtime.unsafe import raw_memory
from npcompile.runtime.unsafe.version_tags import VersionTag

_ARGUMENTS_OFFSET = 1 << 63  # PY_VECTORCALL_ARGUMENTS_OFFSET
NEXT, PYTHON, EXIT, BUILD, ALONE, TABLE, WORDS = range(7)
_NEVER = 0xA5A5A5A5A5A5A5A5  # neither an address nor a version


@record
class LeafPlace:
    """The place of a leaf: an argument (keywords count on), the memory that a tensor lends, a
    variable of the state, an object that a step has read; or the address of the object at such a
    place."""

    kind: str  # "argument", "lent", "variable", "read" or "address"
    index: int


@record
class Signature:
    """The form of the calls that an entry takes.

    ``leaves[i]``, the program's parameter i, is found at ``places[i]``.  A call has ``count``
    positional arguments and then ``keywords`` in this order; arguments at the positions ``same``
    must be given objects; ``words`` is the number of words to compare; ``steps`` lead from
    arguments to what they hold.
    """

    leaves: tuple[Leaf, ...]
    places: tuple[LeafPlace, ...]
    count: int
    keywords: tuple[str, ...] = ()
    same: tuple[int, ...] = ()
    words: int = 0
    steps: tuple[AccessStep, ...] = ()

    @staticmethod
    def positional(leaves: tuple[Leaf, ...], words: int = 0) -> Signature:
        """The arguments are the leaves."""
        places = tuple(LeafPlace("argument", k) for k in range(len(leaves)))
        return Signature(leaves, places, len(leaves), words=words)

    def like(self, other: Signature) -> bool:
        """Whether code that was written for another one can be connected as this one."""
        both = ((s.places, s.count, s.keywords, s.same, s.words, s.steps) for s in (self, other))
        return next(both) == next(both)

    @property
    def looked(self) -> int:
        """The number of objects that steps need."""
        return sum(step.by.needs_object for step in self.steps)

    @property
    def variables(self) -> int:
        return 1 + max((p.index for p in self.places if p.kind == "variable"), default=-1)

    def word(self, k: int) -> int:
        """The slot of the address of word k; its expected value comes after it."""
        return WORDS + 2 * k

    def variable(self, k: int) -> int:
        return self.word(self.words) + k

    def held(self, k: int) -> int:
        return self.variable(self.variables) + k

    def object(self, k: int) -> int:
        """The slot of object k: first those of ``same``, then keyword names, then those of
        steps, then constants."""
        return self.held(self.variables) + k

    def step(self, k: int) -> int:
        """The slot of the k-th object that steps need."""
        return self.object(len(self.same) + len(self.keywords) + k)

    def constant(self, k: int) -> int:
        return self.step(self.looked + k)


def _arguments(args: int, nargsf: int, kwnames: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a vectorcall, from the words that it passes (PEP 590)."""
    count = nargsf & ~_ARGUMENTS_OFFSET
    names = raw_memory.object_at(kwnames) if kwnames else ()
    total = count + len(names)
    if not total:
        return (), {}
    values = raw_memory.objects(args, total)
    return tuple(values[:count]), dict(zip(names, values[count:]))


def spread(python: Callable[..., Any]) -> Callable[..., Any]:
    """``python(function, *args, **kwargs)``, to be called with the words of a vectorcall."""

    @unseen
    def call(function: Any, *words: int) -> Any:
        try:
            args, kwargs = _arguments(*words)
            return python(function, *args, **kwargs)
        except BaseException as error:
            forget_frames(error)
            raise

    return call


def _spread_exit(exit: Callable[..., Any]) -> Callable[..., Any]:
    @unseen
    def call(function: Any, code: int, flags: int, what: Any, *words: int) -> Any:
        try:
            args, kwargs = _arguments(*words)
            return exit(function, code, flags, what, *args, **kwargs)
        except BaseException as error:
            forget_frames(error)
            raise

    return call


class EntryState:
    """The words of one entry, ``@npc.state`` in its text.

    It must live as long as the code; it keeps alive what it points to.

    Parameters
    ----------
    signature
        What the entry was written for.
    python, exit
        See :mod:`npcompile.runtime.entry.entry_code`.
    same
        The objects that the arguments at ``signature.same`` must be.
    looked
        The objects that ``signature.steps`` need.
    constants
        ``boxing.constants(program.result)``.
    build
        ``boxing.builder(program.result)``.
    """

    def __init__(
        self,
        signature: Signature,
        python: Callable[..., Any],
        exit: Callable[..., Any],
        same: tuple[Any, ...] = (),
        constants: tuple[Any, ...] = (),
        build: Callable[[tuple[Any, ...]], Any] | None = None,
        looked: tuple[Any, ...] = (),
    ) -> None:
        errstate()  # names what the code needs, which may come from a cache
        self.signature = signature
        objects = (*same, *signature.keywords, *looked, *constants)
        self._slots = (ctypes.c_uint64 * (signature.object(0) + len(objects)))()
        self._kept: dict[int, Any] = {}
        self.watched: list[VersionTag] | None = None
        self._keep(PYTHON, spread(python))
        self._keep(EXIT, _spread_exit(exit))
        self._keep(BUILD, build)
        for k, thing in enumerate(objects):
            self._keep(signature.object(k), thing)
        for k in range(signature.variables):  # empty as yet
            self.refer(k, self.address + 8 * signature.held(k))
        for k in range(signature.words):  # compares a word with itself
            self.watch(k, self.address + 8 * signature.word(k) + 8, 0)

    @property
    def address(self) -> int:
        return ctypes.addressof(self._slots)

    def _keep(self, slot: int, thing: Any) -> None:
        old = self._kept.get(slot)
        self._kept[slot] = thing
        self._slots[slot] = id(thing)
        del old  # not before nobody can find it

    @property
    def next(self) -> int:
        return int(self._slots[NEXT])

    def precede(self, address: int) -> None:
        """Calls that it does not take go on to the entry at an address."""
        self._slots[NEXT] = address

    @property
    def alone(self) -> Any:
        return self._kept.get(ALONE)

    @alone.setter
    def alone(self, function: Any) -> None:
        self._keep(ALONE, function)

    def tell(self, table: MessageTable | None) -> None:
        """From now on floating-point flags stand for these warnings."""
        self._slots[TABLE] = 0
        self._kept[TABLE] = table
        self._slots[TABLE] = 0 if table is None else table.address

    def watch(self, k: int, address: int, expected: int) -> None:
        """The word at an address must be ``expected`` from now on.

        Who calls this keeps alive what makes the word unique, in ``watched`` for instance.  An
        entry that another thread runs meanwhile finds that the word does not hold.
        """
        slot = self.signature.word(k)
        self._slots[slot + 1] = _NEVER
        self._slots[slot] = address
        self._slots[slot + 1] = expected

    def keeps(self, watched: list[VersionTag]) -> None:
        """Keeps the objects whose words are watched, so that their addresses stay theirs."""
        self.watched = watched

    def suspend(self) -> None:
        """No call passes the words before word 0 is set anew."""
        if self.signature.words:
            self._slots[self.signature.word(0) + 1] = _NEVER

    def release(self) -> None:
        """Lets go of what is watched and held; the entry must not run before it is connected."""
        self.suspend()
        self.tell(None)
        for k in range(self.signature.variables):
            self.hold(k, None)
        self.watched = None

    def holds(self) -> bool:
        """Whether all words are what they must be, as the entry would find."""
        if self.watched is None:
            return False
        slots = map(self.signature.word, range(self.signature.words))
        return all(
            raw_memory.word(self._slots[k]) == self._slots[k + 1]
            for k in slots
        )

    def watches(self, words: list[VersionTag]) -> bool:
        """Whether these are the words that are watched now."""
        now = self.watched
        slot = self.signature.word(0)
        if now is None or (words and self._slots[slot + 1] == _NEVER):
            return False
        return all(
            (a.address, a.expected) == (b.address, b.expected)
            for a, b in zip(now, words, strict=True)
        )

    def hold(self, k: int, thing: Any) -> None:
        """Variable k is this object."""
        slot = self.signature.held(k)
        self._keep(slot, thing)
        self.refer(k, self.address + 8 * slot)

    def refer(self, k: int, address: int) -> None:
        """Variable k is whatever the PyObject* at an address is at each call."""
        self._slots[self.signature.variable(k)] = address
