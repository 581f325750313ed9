"""What compiled functions read beside their arguments where no caller has guards of its own.

Globals and closures are constants of the code of ufuncs' loops and C functions, as words of a block
of memory, which also says what must be at some addresses as long as the code is right.
"""

from __future__ import annotations

import ctypes
from types import FunctionType
from typing import Any

import numpy as np

from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, literal
from npcompile.core.errors import refuse
from npcompile.core.locks import lock
from npcompile.core.records import record
from npcompile.core.sizes import Symbol, symbols
from npcompile.graph.types import PYTHON, Array, Opaque, Scalar
from npcompile.guards.binding import WatchedWords
from npcompile.guards.sources import Roots
from npcompile.runtime.ufuncs.call_code import Watch
from npcompile.runtime.ufuncs.lowered import CALLED, LoweredFunction
from npcompile.runtime.unsafe import version_tags
from npcompile.runtime.unsafe.version_tags import Unwatchable, VersionTag

_WORD = 2**64 - 1
HEAD = 3  #: words before the constants: the address of Python's function, STALE and RUNNING
STALE = 1  #: the word that is 1 once something has changed that the code relies on
RUNNING = 2  #: the word that counts the runs, without the GIL too, that may read captured arrays

_lock = lock()  # one thread at a time puts other constants in the place of those before


class Captured:
    """What a lowered function reads beside its arguments, and the block of memory with it.

    Parameters
    ----------
    lowered
        The function's program.
    function
        What was traced.
    """

    def __init__(self, lowered: LoweredFunction, function: FunctionType) -> None:
        self.lowered, self.function = lowered, function
        self.values = lowered.match({}, function) or ()
        self.symbols = dict(self._lengths(self.values))
        self.slots: list[int] = []  #: of the frame
        self.words = self._words(self.values)  #: what belongs there
        self.watched = watched(lowered, function)
        self.state: Any = None
        self.unchanged: Watch
        self._arrays = any(isinstance(lowered.trace.leaves[k].type, Array)
                           for k in lowered.constants)
        self._replaced: list[Any] = []  # values and watched words that a run may still read

    def _lengths(self, values: tuple[Any, ...]) -> list[tuple[Symbol, int]]:
        """The symbols that constants give a value."""
        found: list[tuple[Symbol, int]] = []
        lowered = self.lowered
        for k, value in zip(lowered.constants, values):
            leaf = lowered.trace.leaves[k]
            if k in lowered.program.int_symbols:
                found.append((lowered.program.int_symbols[k], int(value)))
            if isinstance(leaf.type, Array):
                found += [(name, length) for size, length in zip(leaf.type.shape, value.shape)
                          for name in symbols(size)]
        return found

    def _words(self, values: tuple[Any, ...]) -> list[int]:
        """What belongs into the slots, which are listed the first time."""
        slots, words, lowered = [], [], self.lowered
        for k, value in zip(lowered.constants, values):
            buffer, leaf = lowered.program.params[k], lowered.trace.leaves[k]
            if isinstance(leaf.type, Scalar):
                first = lowered.frame.number(buffer)
                bits = leaf.type.dtype.type(value).tobytes().ljust(16, b"\0")
                slots += [first, first + 1]
                words += np.frombuffer(bits, np.uint64).tolist()
            elif isinstance(leaf.type, Array) and leaf.contiguous and value.flags.c_contiguous:
                slots.append(lowered.frame.data(buffer))
                words.append(value.ctypes.data)
            elif not _is_number(leaf.type):  # which only Python would have taken
                raise refuse("function", f"reads {leaf.source.told()}, which is no number or array")
        for name, number in self.symbols.items():
            if name in lowered.frame:
                slots.append(lowered.frame.symbol(name))
                words.append(number & _WORD)
        self.slots = self.slots or slots
        return words

    @property
    def size(self) -> int:
        """How many words the block has."""
        return HEAD + len(self.slots) + 2 * len(self.watched or ())

    def install(self, python: int, more: int = 0) -> None:
        """Makes the block, with so many words more at its end; ``python``: the address of what
        computes in Python."""
        self.state = (ctypes.c_uint64 * (self.size + more))(python, 1, 0, *self.words)
        self._watch(watched(self.lowered, self.function))
        pairs = self.address + 8 * (HEAD + len(self.slots))
        self.unchanged = Watch(self.address + 8 * STALE, pairs, len(self.watched or ()))

    @property
    def address(self) -> int:
        return ctypes.addressof(self.state)

    def _watch(self, found: list[VersionTag] | None) -> None:
        """Has machine code compare these words of memory; it may be at that on another thread."""
        if found is None or len(found) != len(self.watched or ()):
            return
        before, first = self.watched, HEAD + len(self.slots)
        if found:  # the first word is not what it should be before all others are there
            self.state[first + 1] = found[0].expected ^ 1
        for k in reversed(range(len(found))):
            self.state[first + 2 * k] = found[k].address
            self.state[first + 2 * k + 1] = found[k].expected ^ (k == 0)
        if found:
            self.state[first + 1] = found[0].expected
        self.watched = found  # which keeps objects, so that their addresses stay theirs
        self.state[STALE] = 0
        del before

    def stands(self) -> bool:
        """Whether the code is right for globals and closures as they are now; numbers and arrays
        that are others of the same kind take the place of those before."""
        if self.unchanged():
            return True
        with _lock:
            return self._renewed()

    def _renewed(self) -> bool:
        """Looks at everything anew; whether the code is right for it."""
        found = watched(self.lowered, self.function)  # before it is made sure what is there
        now = self.lowered.match({}, self.function)
        if now is None or not all(map(_alike, now, self.values)) or (
                self.symbols != dict(self._lengths(now))):
            self.state[STALE] = 1
            if self.watched:  # the first word is never what it should be
                self.state[HEAD + len(self.slots) + 1] = self.watched[0].expected ^ 1
            return False
        if not self.state[RUNNING]:  # no run began before the last time
            self._replaced.clear()
        self._replaced.append((self.values, self.watched))
        for k, word in enumerate(self._words(now), HEAD):
            self.state[k] = word
        self.values = now
        self._watch(found)  # not before the constants are there
        return True

    # ------------------------------------------------------------------ machine code

    def count(self, f: LLVMFunction, block: Value, by: int) -> None:
        """Writes what counts a run that begins (1) or ends (-1), if it may read arrays: these are
        kept until it has ended, whatever other threads put in their place."""
        if self._arrays:
            place = f.offset(block, "i64", i64(RUNNING))
            f.op(f"atomicrmw add {place.typed}, i64 {by} seq_cst", "i64")

    def fill(self, f: LLVMFunction, frame: Value, block: Value) -> None:
        """Writes what stores the constants into a frame."""
        for k, slot in enumerate(self.slots, HEAD):
            word = f.load(f.offset(block, "i64", i64(k)), "i64")
            f.store(word, f.offset(frame, "i64", i64(slot)))

    def stale(self, f: LLVMFunction, block: Value) -> Value:
        """Writes what tells whether something has changed, and notes it in the block.  The words
        are compared one after the other: the first ones say whether there are the others."""
        if not self.watched:
            return literal("i1", False)
        changed, after = f.name_for("changed"), f.name_for("after")
        for k in range(HEAD + len(self.slots), self.size, 2):
            address = f.load(f.offset(block, "ptr", i64(k)), "ptr")
            expected = f.load(f.offset(block, "i64", i64(k + 1)), "i64")
            following = f.name_for("same")
            f.branch(f.icmp("eq", f.load(address, "i64"), expected), following, changed, True)
            f.label(following)
        f.jump(after)
        unchanged = f.block
        f.label(changed)
        f.store(i64(1), f.offset(block, "i64", i64(STALE)))
        f.jump(after)
        f.label(after)
        return f.phi("i1", 1, (literal("i1", False), unchanged), (literal("i1", True), changed))


def _alike(now: Any, before: Any) -> bool:
    """Whether one constant can take the place of another."""
    if type(now) is not type(before):
        return False
    return not isinstance(now, np.ndarray) or (
        now.dtype == before.dtype and now.flags.c_contiguous and now.flags.aligned)


def _is_number(kind: Opaque | Array | Scalar) -> bool:
    """Whether it is the kind of a number's object."""
    return isinstance(kind, Opaque) and (
        kind.python_type in PYTHON or issubclass(kind.python_type, np.generic))


@record(eq=False)
class _FixedFunction:
    """A function whose name no program can bind to another object."""

    function: Any  # for a type checker, functions in attributes are methods


def watched(lowered: LoweredFunction, function: FunctionType) -> list[VersionTag] | None:
    """The words of memory that change when a guard may not hold any more; None if there are
    none for some guard."""
    called = _FixedFunction(function.__globals__["function"])
    words = WatchedWords(Roots(function, {}, {CALLED: called}))
    try:
        words.add(next(version_tags.of_function(called.function)))  # its code: all arguments are
        for guard in lowered.guards:  # given, so that its defaults don't matter
            if guard.source != CALLED:
                guard.watch(words)
        for k in lowered.constants:
            words.source(lowered.trace.leaves[k].source, True)
        return words.in_order()
    except Unwatchable:
        return None
