"""The entry: the machine code that a call of a compiled function runs first.

``define ptr @entry(ptr %callable, ptr %args, i64 %nargsf, ptr %kwnames)`` has CPython's vectorcall
signature (PEP 590).  In order:

1. guards: the number of arguments, types, dtypes, layouts, sizes, predicates.  Where one fails the
   *next* entry is tried, after the last one ``python(function, *args, **kwargs)`` takes the call
   (at once, if the function is ``alone``);
2. watched words that are not what they were, and written arrays that overlap other arrays, are
   left to Python: exit code :data:`STALE` or :data:`OVERLAP`;
3. floating-point flags are cleared, ``@body(frame)`` runs, flags are read;
4. results are boxed and returned.  A failed check leaves with its number as exit code; flags that
   ``np.errstate`` does not ignore, and whose warnings are not known
   (:mod:`npcompile.runtime.entry.fp_messages`), leave with :data:`FLAGS` and the finished result,
   or, where the journal can make all arguments what they were, with :data:`UNDONE`; likewise where
   memory has run out, with :data:`SHORT`.

Leaving calls ``exit(function, code, flags, what, *args, **kwargs)``, whose result or exception is
the call's: ``what`` is the address of the frame for a failed check (alive during the call, results
are released after it), the result for :data:`FLAGS`, else 0.  ``flags`` are the bits
of :mod:`npcompile.runtime.entry.helpers`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

from npcompile.backends.cpu.llvm.frame import DONE, RAISED, SHORT, FrameLayout
from npcompile.core.paths import defer
from npcompile.core.sizes import Poly, Symbol
from npcompile.graph.types import Array, Opaque, Scalar
from npcompile.guards.sources import ObjectWords
from npcompile.program.ir import Buffer, Call, Program, flat
from npcompile.program.stored import stores
from npcompile.runtime.entry.boxing import HOLDING, Boxing, without_objects
from npcompile.runtime.entry.executables import FLAGS, OVERLAP, STALE, UNDONE
from npcompile.runtime.entry.function_writer import METADATA, Writer
from npcompile.runtime.entry.guard_code import DL_TENSOR, ArrayValue, Guards
from npcompile.runtime.entry.helpers import ALL_FLAGS, CONSTANTS, NAMES
from npcompile.runtime.entry.state import ALONE, EXIT, NEXT, PYTHON, TABLE, Signature
from npcompile.runtime.unsafe.layout import Layout, layout

if TYPE_CHECKING:
    from npcompile.runtime.entry import journal
else:
    defer(globals(), "npcompile.runtime.entry", "journal")

FEW = 8  #: slots that are cleared one by one
_ARGUMENTS = "(ptr %callable, ptr %args, i64 %nargsf, ptr %kwnames)"
_ROOM = (  # the frame is zeroed where that matters, the rest is written before it is read
    "%fpstate = alloca i32",
    "%overflow = alloca i32",
    "%root = alloca ptr",  # the outermost tuple of a result under construction
    "%pending = alloca ptr",  # an object that nothing else owns yet
)


#: releases what steps have read
_DROP = """\
define internal void @npc.drop(ptr %reads, i64 %count) optnone noinline {
start:
  br label %next
next:
  %k = phi i64 [0, %start], [%k.next, %next]
  %at = getelementptr ptr, ptr %reads, i64 %k
  %thing = load ptr, ptr %at
  call void @Py_DecRef(ptr %thing)
  %k.next = add i64 %k, 1
  %more = icmp ult i64 %k.next, %count
  br i1 %more, label %next, label %done
done:
  ret void
}"""


def emit_entry(
    signature: Signature,
    program: Program,
    frame: FrameLayout,
    repeatable: bool = False,
    needed: bool = False,
    silent: frozenset[str] = frozenset(),
) -> str:
    """The text of ``@entry``, to be combined with that of ``@body``.

    It refers to ``@npc.state``, the address of a
    :class:`~npcompile.runtime.entry.state.EntryState`, and to ``@kind.N``, the class of leaf N.
    ``repeatable``: it can run again, if written arguments are what they were; which it keeps where
    flags make that ``needed``.  ``silent`` names floating-point errors
    that nobody is to hear of.
    """
    where = layout()
    if where is None:
        raise RuntimeError("this Python's objects have an unknown layout")
    return _Entry(signature, program, frame, where, repeatable, needed, silent).text()


class _StepCode:
    """What guards and sources write their steps with; ``unread``: the label where an exception is
    dropped."""

    def __init__(self, writer: Writer, where: Layout, signature: Signature) -> None:
        self._writer, self._layout, self._signature = writer, where, signature
        self._known = self._read = 0

    def place(self, place: int) -> str:
        """An argument, or what a step has read."""
        return _placed(self._writer, place)

    def known(self) -> str:
        """The object that the step needs."""
        self._known += 1
        slot = self._signature.step(self._known - 1)
        return self._writer.load("ptr", self._writer.data("npc.state"), 8 * slot)

    def read(self, name: str, thing: str) -> None:
        """Reads with a function of CPython's, of the thing and the object that is known."""
        w = self._writer
        found = w.call("ptr", name, ("ptr", thing), ("ptr", self.known()))
        w.store("ptr", found, "%reads", 8 * self._read)
        self._read += 1
        w.require(w.add("icmp ne", "ptr", found, "null"), "unread")

    def call(self, type_: str, name: str, *args: tuple[str, str | int]) -> str:
        """Calls a function of CPython's."""
        return self._writer.call(type_, name, *args)

    def class_of(self, thing: str) -> str:
        """The class of an object."""
        return self._writer.load("ptr", thing, self._layout.type)

    def flags_of(self, kind: str, number: int) -> str:
        """Those of some flags that a class has."""
        flags = self._writer.load("i64", kind, self._layout.type_flags)
        return self._writer.add("and", "i64", flags, number)

    def require(
        self, relation: str, type_: str, left: str, right: str | int, otherwise: str = "miss"
    ) -> None:
        """Goes on where a relation holds, else to a label."""
        w = self._writer
        w.require(w.add(f"icmp {relation}", type_, left, right), otherwise)


def _placed(w: Writer, place: int) -> str:
    """An argument, or what a step has read."""
    table, index = ("%args", place) if place >= 0 else ("%reads", ~place)
    return w.load("ptr", table, 8 * index)


class _Entry:
    """Writes one entry."""

    def __init__(
        self,
        signature: Signature,
        program: Program,
        frame: FrameLayout,
        where: Layout,
        repeatable: bool,
        needed: bool,
        silent: frozenset[str],
    ) -> None:
        self.writer = Writer()
        self.signature = signature
        self.program = program
        self.frame = frame
        self.layout = where
        self.guards = Guards(self.writer, where, "miss")
        self.boxing = Boxing(self.writer, where, signature, program, frame)
        self.heard = ALL_FLAGS & ~sum(flag for flag, name in NAMES.items() if name in silent)
        self.arrays: dict[int, ArrayValue] = {}
        self.extents: dict[int, tuple[str, str]] = {}
        self.repeatable = repeatable
        self.needed = needed or stores(program.result)
        self.calls = any(isinstance(statement, Call) for statement in flat(program.body))
        kept = repeatable and (needed or self.calls) and program.written
        self.journal = journal.Journal(self.writer) if kept else None
        self.borrowed: list[str] = []  # arrays that no caller keeps alive
        self.lent = [f"%lent.{k}" for k, p in enumerate(signature.places) if p.kind == "lent"]
        self.bare = without_objects(signature, program)
        self.reads = sum(step.reads for step in signature.steps)
        self.quiet = ""  # whether torch is in no mode
        self.status = self.raised = ""  # what the body returned, and the flags it left

    def text(self) -> str:
        for slot in self.lent:
            self.writer.store("ptr", "null", slot)
        if self.reads:
            self._clear_words("%reads", self.reads)
        self._call_shape()
        self._words()
        self._steps()
        if self.lent:
            self.quiet = self.writer.call("i32", "tensor.quiet")
        for index in range(len(self.signature.leaves)):
            self._leaf(index)
        self.guards.sizes(self.program.guards)
        self._overlaps()
        if self.journal is not None:
            self.journal.save([self._extent(k) for k in sorted(self.program.written)])
        self._run()
        self._finish()
        self._ways_out()
        w = self.writer
        frame = f"%frame = alloca [{max(self.frame.size, 1)} x i64], align 16"
        saved = () if self.journal is None else (self.journal.room,)
        lent = [f"{slot} = alloca ptr" for slot in self.lent]
        lent += [f"%dl.{k} = alloca [{DL_TENSOR} x i8], align 8" for k in sorted(self.bare)]
        lent += [f"%reads = alloca [{self.reads} x ptr]"] if self.reads else []
        room = [f"  {line}" for line in (frame, *_ROOM, *lent, *saved, *self.boxing.room)]
        # optnone: half the time to compile, and an entry's own time is all loads and branches
        head = f"define ptr @entry{_ARGUMENTS} nounwind optnone noinline {{\nstart:"
        outside = [*w.outside.values(), *([_DROP] if self.reads else []), *self.boxing.functions]
        return "\n".join([*outside, *CONSTANTS, head, *room, *w.lines, "}", METADATA])

    def _state(self, slot: int) -> str:
        return self.writer.load("ptr", self.writer.data("npc.state"), 8 * slot)

    # ---------------------------------------------------------- guards

    def _call_shape(self) -> None:
        """The number of arguments, the keywords, and the arguments that must be given objects."""
        w, s, at = self.writer, self.signature, self.layout
        count = w.add("and", "i64", "%nargsf", 2**63 - 1)
        named = "ne" if not s.keywords else "eq"
        w.refuse(
            [
                w.add("icmp ne", "i64", count, s.count),
                w.add(f"icmp {named}", "ptr", "%kwnames", "null"),
            ],
            "miss",
        )
        if s.keywords:
            size = w.load("i64", "%kwnames", at.tuple_size)
            w.refuse([w.add("icmp ne", "i64", size, len(s.keywords))], "miss")
        wrong = []
        for k in range(len(s.keywords)):  # names are interned
            name = w.load("ptr", "%kwnames", at.tuple_items + 8 * k)
            wrong.append(w.add("icmp ne", "ptr", name, self._state(s.object(len(s.same) + k))))
        for k, position in enumerate(s.same):
            thing = w.load("ptr", "%args", 8 * position)
            wrong.append(w.add("icmp ne", "ptr", thing, self._state(s.object(k))))
        w.refuse(wrong, "miss")

    def _steps(self) -> None:
        """Reads what arguments lead to, each object owned by its slot at once, and tests it."""
        code = _StepCode(self.writer, self.layout, self.signature)
        for step in self.signature.steps:
            step.by.emit(code, code.place(step.place), step.number)

    def _leaf(self, index: int) -> None:
        """Tests one leaf and stores what it is into the frame."""
        w, leaf = self.writer, self.signature.leaves[index]
        buffer, place = self.program.params[index], self.signature.places[index]
        if place.kind == "address":
            thing = _placed(w, place.index)
            address = w.let(f"ptrtoint ptr {thing} to i64")
            w.store("i64", address, "%frame", 8 * self.frame.number(buffer))
            return
        if place.kind == "read":
            thing = w.load("ptr", "%reads", 8 * place.index)
        elif place.kind in ("argument", "lent"):
            thing = w.load("ptr", "%args", 8 * place.index)
        else:
            thing = w.load("ptr", self._state(self.signature.variable(place.index)))
            w.require(w.add("icmp ne", "ptr", thing, "null"), "miss")
        if isinstance(leaf.type, Opaque):
            self.guards.is_instance(thing, f"kind.{index}")
            w.store("ptr", thing, "%frame", 8 * self.frame.object(buffer))
            if place.kind not in ("argument", "read"):
                self.borrowed.append(thing)
            return
        if isinstance(leaf.type, Scalar):
            bits = self.guards.number(thing, leaf.type)
            for k, word in enumerate(bits):
                w.store("i64", word, "%frame", 8 * (self.frame.number(buffer) + k))
            if index in self.program.int_symbols:
                self.guards.measure(_size(self.program.int_symbols[index]), bits[0])
            return
        if index in self.bare:
            self.arrays[index] = array = self._borrowed(index, thing)
            w.store("ptr", array.data, "%frame", 8 * self.frame.data(buffer))
            w.store("ptr", "null", "%frame", 8 * self.frame.object(buffer))
            return
        if place.kind == "lent":
            thing = self._memory(thing, f"%lent.{index}")
        written = index in self.program.written
        array = self.guards.array(thing, leaf.type, leaf.contiguous, written)
        if not isinstance(leaf.source, ObjectWords):  # whose memory nobody writes to
            self.arrays[index] = array
        w.store("ptr", array.data, "%frame", 8 * self.frame.data(buffer))
        w.store("ptr", thing, "%frame", 8 * self.frame.object(buffer))
        if place.kind == "variable":
            self.borrowed.append(thing)

    def _memory(self, tensor: str, slot: str) -> str:
        """The array over a tensor's memory, owned by a slot; None if it can't be lent."""
        w = self.writer
        array = w.call("ptr", "tensor.lend", ("ptr", tensor), ("i32", self.quiet))
        w.store("ptr", array, slot)
        w.require(w.add("icmp ne", "ptr", array, "null"), "unlent")
        return array

    def _borrowed(self, index: int, tensor: str) -> ArrayValue:
        """The memory of a tensor of which no array is made: Python needs one after an exit."""
        w, leaf, place = self.writer, self.signature.leaves[index], f"%dl.{index}"
        assert isinstance(leaf.type, Array)
        told = w.call("i32", "tensor.view", ("ptr", tensor), ("i32", self.quiet), ("ptr", place))
        w.require(w.add("icmp ne", "i32", told, 0), "miss")
        return self.guards.tensor(place, leaf.type, leaf.contiguous)

    def _arrays_of_tensors(self) -> None:
        """Makes the arrays that Python needs to go on."""
        w = self.writer
        for index in sorted(self.bare):
            thing = w.load("ptr", "%args", 8 * self.signature.places[index].index)
            args = (("ptr", thing), ("i32", self.quiet))
            array = w.call("ptr", "tensor.lend", *args)
            w.store("ptr", array, f"%lent.{index}")
            w.store("ptr", array, "%frame", 8 * self.frame.object(self.program.params[index]))
            w.require(w.add("icmp ne", "ptr", array, "null"), "raised")

    def _overlaps(self) -> None:
        """Written arrays have memory of their own, each element too."""
        written = [k for k in self.arrays if k in self.program.written]
        found = [c for k in written for c in self.guards.shares(self.arrays[k])]
        if written and len(self.arrays) > 1:
            found += [
                self.guards.meets(self._extent(one), self._extent(other))
                for one, other in combinations(self.arrays, 2)
                if one in written or other in written
            ]
        self.writer.refuse(found, "overlap")

    def _extent(self, index: int) -> tuple[str, str]:
        if index not in self.extents:
            self.extents[index] = self.guards.extent(self.arrays[index])
        return self.extents[index]

    def _words(self) -> None:
        """Compares the words in their order: the first ones vouch for the addresses of others."""
        w, count = self.writer, self.signature.words
        if not count:
            return
        before, loop, on, after = (w.name("L") for _ in range(4))
        first = w.at(w.data("npc.state"), 8 * self.signature.word(0))
        w.goto(before)
        w.label(before)
        w.goto(loop)
        w.label(loop)
        w.do(f"%word = phi i64 [0, %{before}], [%word.next, %{on}]")
        pair = w.let(f"getelementptr [2 x i64], ptr {first}, i64 %word")
        found = w.load("i64", w.load("ptr", pair))
        w.branch(w.add("icmp eq", "i64", found, w.load("i64", pair, 8)), on, "stale")
        w.label(on)
        w.do("%word.next = add i64 %word, 1")
        w.branch(w.add("icmp ult", "i64", "%word.next", count), loop, after)
        w.label(after)

    # ---------------------------------------------------------- the run

    def _run(self) -> None:
        w = self.writer
        for name, value in self.guards.symbols.items():
            if name in self.frame:
                w.store("i64", value, "%frame", 8 * self.frame.symbol(name))
        self._clear_slots()
        for thing in self.borrowed:
            w.call("void", "Py_IncRef", ("ptr", thing))
        with w.unlikely(w.add("icmp ne", "i32", self._raised(), 0)):
            self._clear()
        self.status = w.let("call i64 @body(ptr %frame) noinline")
        self.raised = self._raised()
        left = w.add("icmp ne", "i64", self.status, DONE)
        signalled = w.add("icmp ne", "i32", self.raised, 0)
        w.do("br label %ran")
        w.label("ran")
        w.branch(w.any([left, signalled]), "odd", "box", likely=False)

    def _clear_slots(self) -> None:
        w, (first, count) = self.writer, self.frame.cleared
        self._clear_words(w.at("%frame", 8 * first), count)

    def _clear_words(self, place: str, count: int) -> None:
        w = self.writer
        if count > FEW:
            sizes = (("i64", 8 * count), ("i1", "false"))
            w.call("void", "llvm.memset.p0.i64", ("ptr", place), ("i8", 0), *sizes)
            return
        for slot in range(count):
            w.store("ptr", "null", place, 8 * slot)

    def _raised(self) -> str:
        """The floating-point flags that count; NumPy clears them before each loop, too."""
        w = self.writer
        w.call("void", "npc.fp.save", ("ptr", "%fpstate"))
        return w.add("and", "i32", w.load("i32", "%fpstate"), self.heard)

    def _clear(self) -> None:
        w = self.writer
        w.store("i32", w.add("and", "i32", w.load("i32", "%fpstate"), ~ALL_FLAGS), "%fpstate")
        w.call("void", "npc.fp.restore", ("ptr", "%fpstate"))

    def _heard(self) -> str:
        """The flags that somebody is to hear of; they are cleared."""
        return self.writer.call("i32", "npc_heard", ("i32", self.raised))

    def _finish(self) -> None:
        """Boxes the result."""
        w = self.writer
        w.label("odd")
        self._tell()
        if self.journal is not None:
            self._again(self.journal.kept, self.journal.restore)
            self._undo(self.journal.kept, self.journal.restore)
        elif self.repeatable and not self.program.written:
            self._again("true", lambda: None)
            if self.calls or stores(self.program.result):
                self._undo("true", lambda: None)
        w.branch(w.add("icmp eq", "i64", self.status, DONE), "signalled", "left")
        w.label("signalled")
        heard = self._heard()
        w.goto("box")
        w.label("box")
        flags = w.let(f"phi i32 [{heard}, %signalled], [0, %ran], [0, %telling]")
        result = self.boxing.emit()
        self._release(self.boxing.left_over)
        w.refuse([w.add("icmp ne", "i32", flags, 0)], "flagged")
        w.do(f"ret ptr {result}")
        w.label("flagged")
        w.do(f"ret ptr {self._exit('object', FLAGS, flags, f'ptr {result}')}")

    def _tell(self) -> None:
        """Warns where flags leave no doubt; what does leaves its flags."""
        w = self.writer
        on, some, rest = w.name("L"), w.name("L"), w.name("L")
        w.branch(w.add("icmp eq", "i64", self.status, DONE), "telling", on)
        w.label("telling")
        args = (("ptr", self._state(TABLE)), ("i32", self.raised))
        left = w.call("i32", "npc_warn", *args)
        w.branch(w.add("icmp eq", "i32", left, 0), "box", some)
        w.label(some)
        w.branch(w.add("icmp eq", "i32", left, -1), "raised", rest, likely=False)
        w.label(rest)
        w.goto(on)
        w.label(on)
        self.raised = w.let(f"phi i32 [{self.raised}, %odd], [{left}, %{rest}]")

    def _again(self, kept: str, restore: Callable[[], None]) -> None:
        """Where memory has run out, Python runs the call from its start, if nothing was changed or
        what was is ``kept``."""
        w, short, on = self.writer, self.writer.name("L"), self.writer.name("L")
        found = w.add("icmp eq", "i64", self.status, SHORT)
        w.branch(w.add("and", "i1", kept, found), short, on, likely=False)
        w.label(short)
        restore()
        self._clear()
        self._release([b for b in self.program.buffers if b.kind in HOLDING])
        w.do(f"ret ptr {self._exit('address', SHORT, 0, 'i64 0')}")
        w.label(on)

    def _undo(self, kept: str, restore: Callable[[], None]) -> None:
        """Emits the exit that undoes the call: if nothing was changed, or the changes are ``kept``
        in the journal, and a flag that counts was raised.  A call that raised is undone too: Python
        raises its exception again, after the statements before it."""
        w = self.writer
        on, ask, some, error, undo = (w.name("L") for _ in range(5))
        failed = able = w.add("icmp eq", "i64", self.status, RAISED)
        if self.needed:
            able = w.any([failed, w.add("icmp ne", "i32", self.raised, 0)])
        w.branch(w.add("and", "i1", kept, able), ask, on, likely=False)
        w.label(ask)
        heard = self._heard()
        w.branch(w.any([failed, w.add("icmp ne", "i32", heard, 0)]), some, on)
        w.label(some)
        w.branch(failed, error, undo, likely=False)
        w.label(error)  # not an interrupt
        exception = w.load("ptr", w.data("PyExc_Exception"))
        common = w.call("i32", "PyErr_ExceptionMatches", ("ptr", exception))
        w.require(w.add("icmp ne", "i32", common, 0), on)
        w.branch(w.add("icmp ne", "i32", w.call("i32", "npc_comes_again"), 0), undo, on)
        w.label(undo)
        restore()
        self._release([b for b in self.program.buffers if b.kind in HOLDING])
        w.do(f"ret ptr {self._exit('address', UNDONE, heard, 'i64 0')}")
        w.label(on)

    def _release(self, results: list[Buffer]) -> None:
        w = self.writer
        for buffer in results:
            thing = w.load("ptr", "%frame", 8 * self.frame.object(buffer))
            w.call("void", "Py_DecRef", ("ptr", thing))
        for thing in self.borrowed:
            w.call("void", "Py_DecRef", ("ptr", thing))
        self._give_back()

    def _give_back(self) -> None:
        w = self.writer
        for slot in self.lent:
            w.call("void", "Py_DecRef", ("ptr", w.load("ptr", slot)))
        if self.reads:
            w.outside["Py_DecRef"] = "declare void @Py_DecRef(ptr)"
            w.do(f"call void @npc.drop(ptr %reads, i64 {self.reads})")

    # ---------------------------------------------------------- ways out

    def _exit(self, format_: str, code: int | str, flags: int | str, what: str) -> str:
        """Emits a call of ``exit``; its result is the call's."""
        return self._call(EXIT, format_, f"i64 {code}, i32 {flags}, {what}, ")

    def _call(self, slot: int, format_: str, more: str = "") -> str:
        w = self.writer
        w.outside["PyObject_CallFunction"] = "declare ptr @PyObject_CallFunction(ptr, ptr, ...)"
        return w.let(
            f"call ptr (ptr, ptr, ...) @PyObject_CallFunction(ptr {self._state(slot)}, "
            f"ptr @npc.format.{format_}, ptr %callable, {more}"
            "ptr %args, i64 %nargsf, ptr %kwnames)"
        )

    def _ways_out(self) -> None:
        w = self.writer
        for label, code in (("overlap", OVERLAP), ("stale", STALE)):
            w.label(label)
            self._give_back()
            w.do(f"ret ptr {self._exit('address', code, 0, 'i64 0')}")
        w.label("left")
        w.branch(w.add("icmp eq", "i64", self.status, SHORT), "short", "given")
        w.label("short")
        w.call("ptr", "PyErr_NoMemory")
        w.goto("raised")
        w.label("given")
        w.branch(w.add("icmp eq", "i64", self.status, RAISED), "raised", "check")
        everything = [b for b in self.program.buffers if b.kind in HOLDING]
        w.label("check")
        self._arrays_of_tensors()
        self._clear()  # else NumPy's casts would report them as their own
        left = self._exit("address", self.status, self.raised, "ptr %frame")
        self._release(everything)
        w.do(f"ret ptr {left}")
        w.label("failed")  # while boxing
        for slot in ("%root", "%pending"):
            w.call("void", "Py_DecRef", ("ptr", w.load("ptr", slot)))
        w.goto("raised")
        w.label("raised")
        self._release(everything)
        w.do("ret ptr null")
        if self.lent:
            w.label("unlent")
            self._give_back()
            w.do("ret ptr null")
        if self.signature.steps:
            w.label("unread")
            w.call("void", "PyErr_Clear")
            w.goto("miss")
        w.label("miss")
        self._give_back()
        following = self._state(NEXT)
        alone = w.add("icmp eq", "ptr", "%callable", self._state(ALONE))
        last = w.any([w.add("icmp eq", "ptr", following, "null"), alone])
        w.branch(last, "python", "next")
        w.label("next")
        w.do(f"ret ptr {w.let(f'tail call ptr {following}{_ARGUMENTS}')}")
        w.label("python")
        w.do(f"ret ptr {self._call(PYTHON, 'call')}")


def _size(name: Symbol) -> Poly:
    return Poly((((name,), 1),))
