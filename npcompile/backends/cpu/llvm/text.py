"""Writes LLVM IR as text: values with types, literals, blocks, loops, declarations.

A :class:`Value` is an SSA name or a literal of ``lanes`` elements; one lane is a plain scalar.
Nothing here knows of kernels.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from npcompile.core.records import record

Literal = bool | int | float

REGISTER = 8  #: numbers of float64 in the widest register, AVX-512's
_SUFFIX = {"double": "f64", "float": "f32", "half": "f16", "ptr": "p0"}
FLOATS = frozenset({"double", "float", "half"})
_ARITHMETIC = frozenset({"fadd", "fsub", "fmul", "fdiv"})
LIKELY = 1
MEMORIES = 1000  # the first number of metadata on memories
TOLD = 64  #: memories that are told apart: LLVM is given a list of all others for each
ROLLED = MEMORIES + 3 * TOLD  # the first number of metadata on loops, of which there may be many
COUNT = ", !range !2"  # says of a loaded i64 that it is not negative
METADATA = (
    "!0 = !{i32 1}",
    f'!{LIKELY} = !{{!"branch_weights", i32 2000, i32 1}}',
    f"!2 = !{{i64 0, i64 {2**63 - 1}}}",
)


_NAME = re.compile(r"%\w+")  # of a value or a block
_MADE = re.compile(r"^  (%\w+) = ", re.MULTILINE)


def type_text(elem: str, lanes: int = 1) -> str:
    """``double`` or ``<8 x double>``."""
    return elem if lanes == 1 else f"<{lanes} x {elem}>"


@record
class Value:
    """``text`` names it in the code."""

    text: str
    elem: str
    lanes: int = 1

    @property
    def type(self) -> str:
        return self.elem if self.lanes == 1 else f"<{self.lanes} x {self.elem}>"

    @property
    def typed(self) -> str:
        """As an operand: ``double %x``."""
        if self.lanes == 1:
            return f"{self.elem} {self.text}"
        return f"<{self.lanes} x {self.elem}> {self.text}"

    @property
    def suffix(self) -> str:
        """As intrinsics are named: ``v8f64``."""
        short = _SUFFIX.get(self.elem, self.elem)
        return short if self.lanes == 1 else f"v{self.lanes}{short}"


def number_text(elem: str, number: Literal) -> str:
    """A scalar literal, floats by their bits."""
    if elem == "double":
        return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
    if elem == "float":  # written as the double of the same value
        bits = struct.pack("<d", struct.unpack("<f", struct.pack("<f", number))[0])
        return f"0x{struct.unpack('<Q', bits)[0]:016X}"
    if elem == "half":
        return f"0xH{struct.unpack('<H', struct.pack('<e', number))[0]:04X}"
    if elem == "i1":
        return "true" if number else "false"
    width = int(elem[1:])
    wrapped = int(number) & ((1 << width) - 1)
    return str(wrapped - (1 << width) if wrapped >> (width - 1) else wrapped)


def known_integer(value: Value) -> int | None:
    """The integer that a literal has in every lane, or None for what only the run can tell."""
    text = value.text
    if text.startswith("splat "):
        text = text.rpartition(" ")[2].rstrip(")")
    return int(text) if text.lstrip("-").isdigit() else None


def known_float(value: Value) -> float | None:
    """The double or float that a literal has in every lane, or None."""
    text = value.text.removeprefix("splat (").rstrip(")").rpartition(" ")[2]
    if value.elem not in ("double", "float") or not text.startswith("0x") or "," in value.text:
        return None
    number: float = struct.unpack("<d", struct.pack("<Q", int(text, 16)))[0]
    return number


def literal(elem: str, number: Literal, lanes: int = 1) -> Value:
    """A constant, the same in every lane."""
    text = number_text(elem, number)
    return Value(text if lanes == 1 else f"splat ({elem} {text})", elem, lanes)


def vector_literal(elem: str, numbers: Sequence[Literal]) -> Value:
    """A constant with a number per lane."""
    if len(numbers) == 1:
        return literal(elem, numbers[0])
    items = ", ".join(f"{elem} {number_text(elem, n)}" for n in numbers)
    return Value(f"<{items}>", elem, len(numbers))


def poison(elem: str, lanes: int = 1) -> Value:
    return Value("poison", elem, lanes)


@lru_cache(4096)  # most literals of a kernel
def i64(number: int) -> Value:
    return literal("i64", number)


class LLVMModule:
    """Functions and what they refer to; ``exported`` is the name of one that others call."""

    def __init__(self, exported: str = "") -> None:
        self.exported = exported
        self.functions: list[LLVMFunction] = []
        self.declarations: dict[str, str] = {}
        self._tables: dict[tuple[str, tuple[Literal, ...]], str] = {}
        self._texts: dict[str, LLVMFunction] = {}
        self.written: dict[object, Any] = {}  # what is there already, by what it was made of
        self._memories: dict[object, int] = {}
        self._rolled = 0  # loops that stay as they are
        self.hasty = False  # whether functions begun now are to be compiled in haste

    def declare(self, name: str, result: str, params: Sequence[str]) -> None:
        self.declarations.setdefault(name, f"declare {result} @{name}({', '.join(params)})")

    def extern(self, name: str) -> Value:
        """The address of something outside, known by name."""
        self.declarations.setdefault(name, f"@{name} = external global i8")
        return Value(f"@{name}", "ptr")

    def table(self, elem: str, numbers: tuple[Literal, ...]) -> Value:
        """The address of a constant table."""
        name = self._tables.setdefault((elem, numbers), f"table.{len(self._tables)}")
        return Value(f"@{name}", "ptr")

    def shared(self, function: LLVMFunction) -> str:
        """The name of a finished function, or of one before that does the same."""
        text = function.text().replace(f"@{function.name}(", "@(", 1)
        found = self._texts.setdefault(text, function)
        if found is not function:
            self.functions.remove(function)
        return found.name

    @contextmanager
    def in_haste(self, hasty: bool) -> Iterator[None]:
        """Functions that are begun inside are compiled in haste."""
        before, self.hasty = self.hasty, hasty
        yield
        self.hasty = before

    def memory(self, key: object) -> str:
        """What says of a load or store that it touches this memory and no other one; only the first
        memories of a module are told apart."""
        if key not in self._memories and len(self._memories) == TOLD:
            return ""
        at = self._memories.setdefault(key, MEMORIES + 3 * len(self._memories))
        return f", !alias.scope !{at + 1}, !noalias !{at + 2}"

    def rolled(self) -> str:
        """What says of the branch back of a loop that it is not worth unrolling."""
        self._rolled += 1
        return f", !llvm.loop !{ROLLED + self._rolled}"

    def _loops(self) -> Iterator[str]:
        if self._rolled:
            yield f'!{ROLLED} = !{{!"llvm.loop.unroll.runtime.disable"}}'
        for at in range(ROLLED + 1, ROLLED + 1 + self._rolled):
            yield f"!{at} = distinct !{{!{at}, !{ROLLED}}}"

    def _scopes(self) -> Iterator[str]:
        if self._memories:
            yield f"!{MEMORIES - 1} = distinct !{{!{MEMORIES - 1}}}"
        for at in self._memories.values():
            others = ", ".join(f"!{other}" for other in self._memories.values() if other != at)
            yield f"!{at} = distinct !{{!{at}, !{MEMORIES - 1}}}"
            yield f"!{at + 1} = !{{!{at}}}"
            yield f"!{at + 2} = !{{{others}}}"

    def text(self) -> str:
        tables = [
            f"@{name} = private constant [{len(numbers)} x {elem}] "
            f"[{', '.join(f'{elem} {number_text(elem, n)}' for n in numbers)}], align 64"
            for (elem, numbers), name in self._tables.items()
        ]
        bodies = [function.text() for function in self.functions]
        return "\n".join([*self.declarations.values(), *tables, *bodies, *METADATA,
                          *self._scopes(), *self._loops(), ""])


class LLVMLoop:
    """A running loop: ``index``, the ``carried`` values of this iteration, and ``next``.
    After it ``end`` is the first index that it did not reach."""

    def __init__(self, index: Value, carried: list[Value]) -> None:
        self.index = index
        self.carried = carried
        self.next = list(carried)
        self.results: list[Value] = []  # after the loop: the last iteration's
        self.end = index

    def goes_on(self, following: Sequence[Value]) -> None:
        """Gives the next iteration its carried values."""
        self.next = list(following)


class Cycle:
    """A running do-while: the ``carried`` values of this iteration, ``next``, and whether there is
    ``again`` one."""

    def __init__(self, carried: list[Value]) -> None:
        self.carried = carried
        self.next = list(carried)
        self.again = literal("i1", False)

    def goes_on(self, following: Sequence[Value]) -> None:
        """Gives the next iteration its carried values."""
        self.next = list(following)

    def repeats(self, again: Value) -> None:
        """Says whether there is another iteration."""
        self.again = again


class LLVMFunction:
    """One function, written from top to bottom."""

    def __init__(self, module: LLVMModule, name: str, result: str,
                 params: Sequence[tuple[str, str]], internal: bool = True) -> None:
        self.module = module
        self.name = name
        self.params = [Value(f"%{param}", elem) for elem, param in params]
        signature = ", ".join(value.typed for value in self.params)
        linkage = "internal " if internal and name != module.exported else ""
        self._head = f"define {linkage}{result} @{name}({signature}) nounwind"
        self.hasty = module.hasty  # to be compiled in haste rather than well
        self._asks = False  # for memory ahead
        self._allocas: list[str] = []
        self._lines: list[str] = []
        self._first: list[str] = []  # at entry
        self._count = self._words = 0
        self._outlined = 0  # lines that are in functions of their own
        self._values = {value.text: value for value in self.params}
        self.block = "entry"
        self.strict = False  # whether floating-point operations stay where they are written
        module.functions.append(self)

    def hurry(self, hasty: bool) -> None:
        """Is to be compiled in haste, or not."""
        self.hasty = hasty

    @contextmanager
    def in_order(self) -> Iterator[None]:
        """Floating-point operations that are written inside stay where they are."""
        self.strict = True
        try:
            yield
        finally:
            self.strict = False

    def text(self) -> str:
        words = [f"  %words = alloca [{self._words} x i64], align 64"] if self._words else []
        rooms = [*self._allocas, *words]
        # processors forget what is asked for at an address in rbp: as if it were the stack's
        head = self._head + (' "frame-pointer"="all"' if self._asks else "")
        head += " optnone noinline {" if self.hasty else " {"
        return "\n".join([head, "entry:", *rooms, *self._first, *self._lines, "}"])

    # ------------------------------------------------------------ instructions

    def __len__(self) -> int:
        return len(self._lines) + self._outlined

    def _value(self, name: str, elem: str, lanes: int = 1) -> Value:
        value = self._values[name] = Value(name, elem, lanes)
        return value

    def name_for(self, stem: str = "v") -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def do(self, text: str) -> None:
        """An instruction without a result."""
        self._lines.append("  " + text)

    def op(self, text: str, elem: str, lanes: int = 1) -> Value:
        """An instruction with a result."""
        self._count += 1
        name = f"%v{self._count}"
        self._lines.append(f"  {name} = {text}")
        return self._value(name, elem, lanes)

    def binary(self, op: str, a: Value, b: Value) -> Value:
        if self.strict and op in _ARITHMETIC:
            return self._constrained(op, a.elem, (a, b))
        return self.op(f"{op} {a.type} {a.text}, {b.text}", a.elem, a.lanes)

    def _constrained(self, op: str, elem: str, args: tuple[Value, ...]) -> Value:
        """A floating-point operation that happens where it is written, with its flags."""
        result = Value("", elem, args[0].lanes)
        types = [result.suffix] + ([args[0].suffix] if op.startswith("fp") else [])
        how = () if op == "fptosi" else ('metadata !"round.tonearest"',)
        return self.call(f"llvm.experimental.constrained.{op}.{'.'.join(types)}",
                         (elem, result.lanes), *args, *how, 'metadata !"fpexcept.strict"')

    def convert(self, op: str, a: Value, elem: str) -> Value:
        """``zext``, ``trunc``, ``sitofp``, ... to another element type."""
        if self.strict and op in ("fptosi", "fptrunc"):
            return self._constrained(op, elem, (a,))
        return self.op(f"{op} {a.typed} to {type_text(elem, a.lanes)}", elem, a.lanes)

    def icmp(self, how: str, a: Value, b: Value) -> Value:
        return self.op(f"icmp {how} {a.type} {a.text}, {b.text}", "i1", a.lanes)

    def negate(self, mask: Value) -> Value:
        return self.binary("xor", mask, literal("i1", True, mask.lanes))

    def select(self, mask: Value, a: Value, b: Value) -> Value:
        return self.op(f"select {mask.typed}, {a.typed}, {b.typed}", a.elem, a.lanes)

    def call(self, name: str, result: tuple[str, int], *args: Value | str) -> Value:
        """Calls and declares; a string argument is metadata or an immediate, written as it is."""
        typed = [a if isinstance(a, str) else a.typed for a in args]
        params = [a.partition(" ")[0] if isinstance(a, str) else a.type for a in args]
        self.module.declare(name, type_text(*result), params)
        return self.op(f"call {type_text(*result)} @{name}({', '.join(typed)})", *result)

    def run(self, name: str, *args: Value) -> None:
        """Calls a function without a result."""
        self.module.declare(name, "void", [a.type for a in args])
        self.do(f"call void @{name}({', '.join(a.typed for a in args)})")

    def run_here(self, name: str, *args: Value) -> None:
        """Calls a function of this module without a result."""
        self.do(f"call void @{name}({', '.join(a.typed for a in args)})")

    def intrinsic(self, name: str, *args: Value) -> Value:
        """``llvm.<name>`` of the type of its operands."""
        a = args[0]
        if self.strict and name in ("sqrt", "fma"):
            return self._constrained(name, a.elem, args)
        return self.call(f"llvm.{name}.{a.suffix}", (a.elem, a.lanes), *args)

    def opaque(self, value: Value) -> Value:
        """The same float, of which LLVM knows nothing: it must not compute with constants itself,
        because then no flag is raised."""
        return self.intrinsic("arithmetic.fence", value)

    def use(self, value: Value) -> None:
        """Uses a value for nothing, so that it is computed."""
        self.module.declare("llvm.fake.use", "void", ["..."])
        self.do(f"call void (...) @llvm.fake.use({value.typed})")

    def splat(self, value: Value, lanes: int) -> Value:
        """One number in every lane."""
        if lanes == 1 or value.lanes == lanes:
            return value
        if not value.text.startswith("%"):
            return Value(f"splat ({value.typed})", value.elem, lanes)
        kind = type_text(value.elem, lanes)
        one = self.op(f"insertelement {kind} poison, {value.typed}, i64 0", value.elem, lanes)
        zeros = f"<{lanes} x i32> zeroinitializer"
        return self.op(f"shufflevector {kind} {one.text}, {kind} poison, {zeros}",
                       value.elem, lanes)

    def shuffle(self, a: Value, b: Value, lanes: Sequence[int]) -> Value:
        """Lanes picked from ``a`` and then ``b``; the result of one lane is a scalar."""
        if len(lanes) == 1:
            source, lane = (a, lanes[0]) if lanes[0] < a.lanes else (b, lanes[0] - a.lanes)
            return self.extract(source, lane)
        if a.lanes == 1:
            made = poison(a.elem, len(lanes))
            for k, lane in enumerate(lanes):
                text = f"insertelement {made.typed}, {(b if lane else a).typed}, i64 {k}"
                made = self.op(text, a.elem, len(lanes))
            return made
        picks = ", ".join(f"i32 {lane}" for lane in lanes)
        return self.op(f"shufflevector {a.typed}, {b.typed}, <{len(lanes)} x i32> <{picks}>",
                       a.elem, len(lanes))

    def halves(self, a: Value) -> tuple[Value, Value]:
        """The lower and the upper lanes."""
        unused, middle = poison(a.elem, a.lanes), a.lanes // 2
        return (self.shuffle(a, unused, range(middle)),
                self.shuffle(a, unused, range(middle, a.lanes)))

    def extract(self, a: Value, lane: int) -> Value:
        if a.lanes == 1:
            return a
        return self.op(f"extractelement {a.typed}, i64 {lane}", a.elem)

    def bitcast(self, a: Value, elem: str) -> Value:
        return self.convert("bitcast", a, elem)

    # ------------------------------------------------------------ memory

    def offset(self, pointer: Value, elem: str, index: Value, inside: bool = False) -> Value:
        """``pointer + index`` elements; a vector of indices gives a vector of pointers.
        ``inside``: it is in the same piece of memory."""
        how = "getelementptr inbounds" if inside else "getelementptr"
        text = f"{how} {elem}, ptr {pointer.text}, {index.typed}"
        return self.op(text, "ptr", index.lanes)

    def frozen(self, pointer: Value) -> Value:
        """The same pointer, which LLVM looks at as something that it doesn't know."""
        return self.op(f"freeze ptr {pointer.text}", "ptr", 1)

    def load(self, pointer: Value, elem: str, lanes: int = 1, align: int | None = None,
             notes: str = "") -> Value:
        where = f", align {align}" if align else ""
        text = f"load {type_text(elem, lanes)}, ptr {pointer.text}{where}{notes}"
        return self.op(text, elem, lanes)

    def store(self, value: Value, pointer: Value, align: int | None = None,
              streaming: bool = False, notes: str = "") -> None:
        """``notes`` is metadata."""
        where = f", align {align}" if align else ""
        hint = ", !nontemporal !0" if streaming else ""
        self.do(f"store {value.typed}, ptr {pointer.text}{where}{hint}{notes}")

    def prefetch(self, pointer: Value, near: bool = True, written: bool = False) -> None:
        """Asks for the line of memory at an address, which may be nobody's, to be read or written
        soon; ``near``: into the nearest cache, not only into the second one."""
        self._asks = True
        self.module.declare("llvm.prefetch.p0", "void", ["ptr", "i32", "i32", "i32"])
        how = f"i32 {int(written)}, i32 {3 if near else 2}, i32 1"
        self.do(f"call void @llvm.prefetch.p0({pointer.typed}, {how})")

    def alloca(self, elem: str, count: int = 1) -> Value:
        """Room on the stack, made once at entry."""
        name = "%" + self.name_for("room")
        self._allocas.append(f"  {name} = alloca [{count} x {elem}], align 64")
        return self._value(name, "ptr")

    def words(self, count: int) -> Value:
        """Room on the stack for what one call is given, the same for all calls."""
        self._words = max(self._words, count)
        return self._value("%words", "ptr")

    # ------------------------------------------------------------ blocks

    def label(self, name: str) -> None:
        self._lines.append(f"{name}:")
        self.block = name

    def jump(self, name: str) -> None:
        self.do(f"br label %{name}")

    def branch(self, condition: Value, yes: str, no: str, likely: bool = False) -> None:
        """``likely``: the condition holds nearly always."""
        weights = f", !prof !{LIKELY}" if likely else ""
        self.do(f"br {condition.typed}, label %{yes}, label %{no}{weights}")

    def phi(self, elem: str, lanes: int, *sources: tuple[Value, str]) -> Value:
        arms = ", ".join(f"[{value.text}, %{block}]" for value, block in sources)
        return self.op(f"phi {type_text(elem, lanes)} {arms}", elem, lanes)

    @contextmanager
    def at_entry(self) -> Iterator[None]:
        """What is written inside (without branches) runs at the function's entry."""
        lines, self._lines = self._lines, self._first
        yield
        self._lines = lines

    def outline(self, name: str, write: Callable[[], None]) -> Value:
        """Calls a new function that is compiled in haste, and gives the i64 that it returns.
        ``write`` writes its blocks; the values of this function that they read are passed."""
        lines, block = self._lines, self.block
        self._lines, self.block = [], "entry"
        write()
        inside, self._lines, self.block = self._lines, lines, block
        self._outlined += len(inside)
        text = "\n".join(inside)
        read = dict.fromkeys(_NAME.findall(text))
        for made in _MADE.findall(text):
            del read[made]
        passed = [self._values[name] for name in read if name in self._values]
        function = LLVMFunction(self.module, name, "i64", [(v.type, v.text[1:]) for v in passed])
        function._lines, function.hasty = inside, True
        arguments = ", ".join(value.typed for value in passed)
        return self.op(f"call i64 @{name}({arguments})", "i64")

    @contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        """What is written inside runs only if the condition holds."""
        yes, after = self.name_for("then"), self.name_for("after")
        self.branch(condition, yes, after)
        self.label(yes)
        yield
        self.jump(after)
        self.label(after)

    @contextmanager
    def either(self, condition: Value) -> Iterator[Callable[[], None]]:
        """What is written first runs if the condition holds, what is written after a call of the
        function given if not."""
        yes, no, after = (self.name_for(stem) for stem in ("then", "else", "after"))

        def others() -> None:
            self.jump(after)
            self.label(no)

        self.branch(condition, yes, no)
        self.label(yes)
        yield others
        self.jump(after)
        self.label(after)

    @contextmanager
    def loop(self, start: Value, stop: Value, step: Value | int = 1,
             carried: Sequence[Value] = (), first: Value | None = None,
             rolled: bool = False) -> Iterator[LLVMLoop]:
        """``for index in range(start, stop, step)``, ``step`` positive, with carried values.
        ``first``: the step after the first iteration, if it is another one; ``rolled``: it is not
        worth unrolling."""
        body, after, before = self.name_for("loop"), self.name_for("after"), self.block
        self.branch(self.icmp("slt", start, stop), body, after)
        self.label(body)
        place = len(self._lines)
        running = LLVMLoop(
            self._value("%" + self.name_for("i"), "i64"),
            [self._value("%" + self.name_for("c"), v.elem, v.lanes) for v in carried],
        )
        yield running
        width = i64(step) if isinstance(step, int) else step
        rows = [(running.index, start, Value("", "i64"))]
        if first is not None:
            rows.append((self._value("%" + self.name_for("step"), "i64"), first, width))
            width = rows[-1][0]
        how = "add nsw" if step == 1 else "add"  # the index is less than stop
        following = self.binary(how, running.index, width)
        again, latch = self.icmp("slt", following, stop), self.block
        self.do(f"br {again.typed}, label %{body}, label %{after}"
                + (self.module.rolled() if rolled else ""))
        rows[0] = (running.index, start, following)
        rows += zip(running.carried, carried, running.next, strict=True)
        self._lines[place:place] = [
            f"  {name.text} = phi {name.type} [{first.text}, %{before}], [{then.text}, %{latch}]"
            for name, first, then in rows
        ]
        self.label(after)
        running.results = [
            self.phi(v.elem, v.lanes, (v, before), (then, latch))
            for v, then in zip(carried, running.next, strict=True)
        ]
        if first is not None:
            running.end = self.phi("i64", 1, (start, before), (following, latch))

    @contextmanager
    def cycle(self, carried: Sequence[Value]) -> Iterator[Cycle]:
        """Runs what is written inside, then again while the ``again`` that it sets holds."""
        body, after, before = self.name_for("while"), self.name_for("after"), self.block
        self.jump(body)
        self.label(body)
        place = len(self._lines)
        running = Cycle(
            [self._value("%" + self.name_for("c"), v.elem, v.lanes) for v in carried])
        yield running
        latch = self.block
        self.branch(running.again, body, after)
        self._lines[place:place] = [
            f"  {name.text} = phi {name.type} [{first.text}, %{before}], [{then.text}, %{latch}]"
            for name, first, then in zip(running.carried, carried, running.next, strict=True)
        ]
        self.label(after)
