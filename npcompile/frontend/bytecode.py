"""Bytecode of CPython 3.11 to 3.13: instructions, blocks, dominators, loops, liveness.

``co_code`` is walked by hand, which is an order of magnitude faster than ``dis``.  What is found
about a code object is kept as long as the code object lives.
"""

from __future__ import annotations

import opcode
from collections.abc import Iterator
from itertools import pairwise
from types import CodeType
from weakref import WeakKeyDictionary

from npcompile.core.lines import SourceLine
from npcompile.core.records import record, replace
from npcompile.frontend.opcode_numbers import VERSION as VERSION

RETURN = -1  #: the target of an exit that leaves the function
GENERATORS = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR
COPY = 1 << 24  #: a block at ``offset + k * COPY`` is a copy of the one at ``offset``
NEXT = -(1 << 40)  #: the target of an exit that goes on after the instruction at hand

_JUMPS = frozenset(opcode.hasjrel)
_UNCONDITIONAL = frozenset({"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})
ENDS = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"})
_RAISES = frozenset({"RAISE_VARARGS", "RERAISE"})
_SKIPPED = frozenset({"NOP", "RESUME", "PRECALL"})
_CACHE, _EXTENDED = opcode.opmap["CACHE"], opcode.opmap["EXTENDED_ARG"]


@record(eq=False, frozen=False)
class Instruction:
    """One instruction with its prefixes; ``after`` is the offset of the next one.

    ``offset`` is that of the first prefix, ``at`` that of the instruction proper.  ``keywords``
    is the index of the constant that names a call's last arguments (3.11, 3.12: KW_NAMES is
    merged into the CALL, so that the pair can be executed again).  ``reads`` are locals that it may
    read unseen, as ``super()`` does.
    """

    op: str
    arg: int
    offset: int
    at: int
    after: int
    line: int
    target: int = RETURN
    jumps: bool = False
    keywords: int = -1
    reads: tuple[int, ...] = ()

    @property
    def following(self) -> int:
        """The offset of the next instruction, in a copy of its block too."""
        return self.after % COPY


def broken_off(offset: int) -> int:
    """The target of an exit that lets Python execute the instruction at an offset."""
    return RETURN - 1 - offset


_SEEING = frozenset({"locals", "eval", "exec"})
_SEEING_ALONE = frozenset({"vars", "dir"})  # where they get no argument


@record
class Protected:
    """Code from ``start`` to ``end`` whose exceptions go to ``handler``."""

    start: int
    end: int
    handler: int


def _lines(code: CodeType) -> dict[int, int]:
    """The line of each offset."""
    lines: dict[int, int] = {}
    last = SourceLine(code.co_firstlineno, code.co_filename)
    for start, end, line in code.co_lines():
        if line is not None and line != last:
            last = SourceLine(line, code.co_filename)
        for offset in range(start, end, 2):
            lines[offset] = last
    return lines


def _read_by_super(code: CodeType) -> tuple[int, ...]:
    """The locals that ``super()`` reads in a method: the first, and the class that it is of."""
    if "__class__" not in code.co_freevars or not code.co_argcount:
        return ()
    return 0, tuple(_local_names(code)).index("__class__")


def _decode(code: CodeType) -> list[Instruction]:
    raw, lines, names = code.co_code, _lines(code), opcode.opname
    head = SourceLine(code.co_firstlineno, code.co_filename)
    found: list[Instruction] = []
    start, extended, keywords, of_super = -1, 0, -1, _read_by_super(code)
    for offset in range(0, len(raw), 2):
        number, arg = raw[offset], raw[offset + 1] | extended
        if number == _CACHE:
            if start < 0:  # else it belongs to a prefix (PRECALL)
                found[-1].after = offset + 2
            continue
        if start < 0:
            start = offset
        if number == _EXTENDED:
            extended = arg << 8
            continue
        name, extended = names[number], 0
        if name == "KW_NAMES":
            keywords = arg
            continue
        if name == "PRECALL":
            continue
        line = lines.get(offset, head)
        instruction = Instruction(name, arg, start, offset, offset + 2, line)
        instruction.jumps = number in _JUMPS
        if name == "CALL":
            instruction.keywords, keywords = keywords, -1
            instruction.reads = of_super if not arg else ()
        found.append(instruction)
        start = -1
    return found


def _instructions(code: CodeType) -> list[Instruction]:
    """The instructions of a code object with the targets of their jumps."""
    order = _decode(code)
    _targets(order)
    return order


def _targets(order: list[Instruction]) -> None:
    at = {i.offset: k for k, i in enumerate(order)}
    for i in order:
        if i.jumps:
            i.target = i.after + (-2 if "BACKWARD" in i.op else 2) * i.arg
    if VERSION >= (3, 12):
        # an exhausted FOR_ITER: the iterator is popped here, its END_FOR (; POP_TOP) is skipped
        for i in order:
            if i.op == "FOR_ITER":
                place = at[i.target] + (1 if VERSION < (3, 13) else 2)
                i.target = order[place].offset


def _varint(table: Iterator[int]) -> int:
    byte = next(table)
    value = byte & 63
    while byte & 64:
        byte = next(table)
        value = value << 6 | byte & 63
    return value


def _exception_table(code: CodeType) -> list[Protected]:
    table = iter(code.co_exceptiontable)
    found: list[Protected] = []
    while True:
        try:
            start = _varint(table) * 2
        except StopIteration:
            return found
        length, handler, _ = _varint(table) * 2, _varint(table) * 2, _varint(table)
        found.append(Protected(start, start + length, handler))


_ONE_READ = frozenset({"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_AND_CLEAR", "LOAD_DEREF",
                       "STORE_DEREF", "LOAD_CLOSURE", "MAKE_CELL"})


def accesses(i: Instruction) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Indices of the locals that an instruction reads, then those that it writes."""
    if i.op in _ONE_READ:
        return (i.arg,), ((i.arg,) if i.op == "LOAD_FAST_AND_CLEAR" else ())
    if i.op == "DELETE_FAST":
        return (i.arg,), (i.arg,)
    if i.op == "STORE_FAST":
        return (), (i.arg,)
    high, low = i.arg >> 4, i.arg & 15
    if i.op == "LOAD_FAST_LOAD_FAST":
        return (high, low), ()
    if i.op == "STORE_FAST_STORE_FAST":
        return (), (high, low)
    if i.op == "STORE_FAST_LOAD_FAST":
        return ((low,) if low != high else ()), (high,)
    return i.reads, ()


#: what the handler of an inlined comprehension consists of
_GIVING_BACK = frozenset({"SWAP", "POP_TOP", "STORE_FAST", "STORE_FAST_STORE_FAST"})


class Code:
    """All that control flow needs to know of a code object.

    ``blocks`` maps the offset of a block to its instructions, ``successors`` to the offsets that
    it may go to; ``order`` numbers the blocks reached without exceptions in reverse post-order;
    ``dominated`` maps a block to those it dominates; ``loops`` a header to its natural loop;
    ``live`` a block to the locals that are read from there on; ``raises`` holds the blocks from
    which every path raises.

    With a ``start`` it is the code from that offset on.  Inside loops, the iterations that are
    under way there are copies of the loops' blocks, so that each loop is still entered at its
    header.  ``known``: the instructions, if they were decoded before.
    """

    def __init__(
        self, code: CodeType, start: int | None = None, known: list[Instruction] | None = None
    ) -> None:
        self.code = code
        instructions = self.instructions = known or _instructions(code)
        self.protected = _exception_table(code)
        self.entry = instructions[0].offset
        self.names = tuple(_local_names(code))
        self.seeing = _seeing(code, instructions)
        self._split(instructions, start)
        if start is not None:
            self._begin(start)
        self._order()
        self._dominators()
        self._natural_loops()
        self._liveness()
        self._raising()
        self.handling = self._inside_handlers()

    # ------------------------------------------------------------------ blocks

    def _split(self, order: list[Instruction], begin: int | None) -> None:
        leaders = {self.entry, *(p.handler for p in self.protected)}
        if begin is not None:
            leaders.add(begin)
        for i in order:
            if i.jumps:
                leaders.update((i.target, i.after))
                if i.op == "FOR_ITER":
                    leaders.add(i.offset)
            elif i.op in ENDS:
                leaders.add(i.after)
        self.blocks: dict[int, list[Instruction]] = {}
        self.successors: dict[int, tuple[int, ...]] = {}
        block: list[Instruction] = []
        for i in order:
            if i.offset in leaders:
                block = self.blocks[i.offset] = []
                start = i.offset
            if i.op not in _SKIPPED:
                block.append(i)
            if i.op in ENDS:
                self.successors[start] = ()
            elif i.jumps:
                self.successors[start] = (
                    (i.target,) if i.op in _UNCONDITIONAL else (i.after, i.target)
                )
            else:
                self.successors[start] = (i.after,)

    def _begin(self, start: int) -> None:
        """Makes ``start`` the entry: what is left of an iteration of each loop around it is
        copied."""
        self._order()
        self._dominators()
        self._natural_loops()
        around = sorted(
            ((header, body) for header, body in self.loops.items()
             if start in body and header != start),
            key=lambda loop: len(loop[1]),
        )

        def place(block: int, level: int) -> int:
            for k, (header, body) in enumerate(around[level:], level):
                if block in body and block != header:
                    return block + (k + 1) * COPY
            return block

        self.entry = place(start, 0)
        work = [self.entry]
        while work:
            copied = work.pop()
            level, block = divmod(copied, COPY)
            if not level or copied in self.blocks:
                continue
            there = {b: place(b, level - 1) for b in self.successors[block]}
            body = list(self.blocks[block])
            if body and body[-1].jumps:
                last = body.pop()
                target = there.get(last.target, last.target)
                after = there.get(last.after, last.after)
                body.append(replace(last, after=after, target=target))
            self.blocks[copied] = body
            self.successors[copied] = tuple(there.values())
            work += there.values()

    def _order(self) -> None:
        post: list[int] = []
        seen = {self.entry}
        stack = [(self.entry, iter(self.successors[self.entry]))]
        while stack:
            block, pending = stack[-1]
            step = next((t for t in pending if t not in seen), None)
            if step is None:
                post.append(block)
                stack.pop()
            else:
                seen.add(step)
                stack.append((step, iter(self.successors[step])))
        self.order = {block: k for k, block in enumerate(reversed(post))}
        self.predecessors: dict[int, list[int]] = {block: [] for block in self.order}
        for block in self.order:
            for target in self.successors[block]:
                self.predecessors[target].append(block)

    def _dominators(self) -> None:
        # Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm (2001)
        order, immediate = self.order, {self.entry: self.entry}

        def common(a: int, b: int) -> int:
            while a != b:
                while order[a] > order[b]:
                    a = immediate[a]
                while order[b] > order[a]:
                    b = immediate[b]
            return a

        changed = True
        while changed:
            changed = False
            for block in list(order)[1:]:
                new = -1
                for p in self.predecessors[block]:
                    if p in immediate:
                        new = p if new < 0 else common(new, p)
                if immediate.get(block) != new:
                    immediate[block] = new
                    changed = True
        self.dominated: dict[int, set[int]] = {block: {block} for block in order}
        for block in reversed(list(order)[1:]):
            self.dominated[immediate[block]] |= self.dominated[block]

    def _natural_loops(self) -> None:
        self.loops: dict[int, set[int]] = {}
        self.reducible = True
        for block in self.order:
            for header in self.successors[block]:
                if self.order[header] > self.order[block]:
                    continue
                if block not in self.dominated[header]:
                    self.reducible = False
                    continue
                body, work = self.loops.setdefault(header, {header}), [block]
                while work:
                    inside = work.pop()
                    if inside not in body:
                        body.add(inside)
                        work += self.predecessors[inside]

    # ------------------------------------------------------------------ what is needed, what raises

    def handlers(self, start: int, end: int) -> list[int]:
        """Handlers of exceptions raised between two offsets."""
        return [p.handler for p in self.protected if p.start < end and start < p.end]

    def catches(self, start: int, end: int) -> bool:
        """Whether the program does anything about exceptions raised between two offsets: more than
        an inlined comprehension, which gives names back and raises again."""
        for handler in self.handlers(start, end):
            *body, last = self.blocks[handler]
            if last.op != "RERAISE" or not all(i.op in _GIVING_BACK for i in body):
                return True
            if self.catches(handler, last.following):
                return True
        return False

    def _liveness(self) -> None:
        caught = {block: self._handlers_of(block) for block in self.blocks}
        edges = {block: (*self.successors[block], *caught[block]) for block in self.blocks}
        assigned = {block: self._assigned(body) for block, body in self.blocks.items()}
        read = {block: self._before(body, set()) for block, body in self.blocks.items()}
        self.live: dict[int, set[int]] = {block: set() for block in (*self.blocks, RETURN)}
        self._live_at: dict[tuple[int, int], set[int]] = {}
        changed = True
        while changed:
            changed = False
            for block in reversed(self.blocks):
                live: set[int] = set()
                for target in edges[block]:
                    live |= self.live[target]
                live -= assigned[block]
                live = live.union(read[block], *(self.live[h] for h in caught[block]))
                if live != self.live[block]:
                    self.live[block] = live
                    changed = True

    def _handlers_of(self, block: int) -> list[int]:
        body = self.blocks[block]
        return self.handlers(body[0].offset, body[-1].following) if body else []

    @staticmethod
    def _before(instructions: list[Instruction], live: set[int]) -> set[int]:
        live = set(live)
        for i in reversed(instructions):
            reads, writes = accesses(i)
            live.difference_update(writes)
            live.update(reads)
        return live

    @staticmethod
    def _assigned(instructions: list[Instruction]) -> set[int]:
        return {k for i in instructions for k in accesses(i)[1]}

    def live_at(self, block: int, offset: int) -> set[int]:
        """Locals that are read from the instruction at ``offset`` of ``block`` on."""
        found = self._live_at.get((block, offset))
        if found is None:
            found = self._live_at[block, offset] = self._live_from(block, offset)
        return found

    def _live_from(self, block: int, offset: int) -> set[int]:
        after: set[int] = set()
        for target in (*self.successors[block], *self._handlers_of(block)):
            after |= self.live[target]
        rest = [i for i in self.blocks[block] if i.offset >= offset]
        caught = [self.live[h] for h in self._handlers_of(block)]
        return self._before(rest, after).union(*caught)

    def graph_break(self, block: int, i: Instruction) -> int:
        """The target of an exit that lets Python execute an instruction of a block."""
        self.live[broken_off(i.offset)] = self.live_at(block, i.offset)
        return broken_off(i.offset)

    def _inside_handlers(self) -> set[int]:
        """The instructions that run while an exception is being handled: what is being handled
        is no part of a value stack."""
        found: set[int] = set()
        work = [p.handler for p in self.protected]
        seen: set[int] = set()
        while work:
            block = work.pop()
            if block in seen or block not in self.blocks:
                continue
            seen.add(block)
            for i in self.blocks[block]:
                found.add(i.offset)
                if i.op == "POP_EXCEPT":
                    break
            else:
                work += self.successors[block]
        return found

    def _raising(self) -> None:
        self.raises: set[int] = set()
        changed = True
        while changed:
            changed = False
            for block in reversed(self.order):
                body, following = self.blocks[block], self.successors[block]
                certain = bool(body) and body[-1].op in _RAISES
                certain = certain or (bool(following) and all(t in self.raises for t in following))
                if certain and block not in self.raises:
                    self.raises.add(block)
                    changed = True


def _seeing(code: CodeType, order: list[Instruction]) -> list[str]:
    """What is called that looks at all variables; Python goes on with what is needed later."""
    names = (_SEEING | _SEEING_ALONE).intersection(code.co_names)
    spread = any(i.op == "CALL_FUNCTION_EX" for i in order)  # which may be of nothing
    found = []
    for i, following in pairwise(order) if names else ():
        name = code.co_names[i.arg >> 1] if i.op == "LOAD_GLOBAL" else ""
        called_with = i.arg & 1 and not spread and (following.op, following.arg) != ("CALL", 0)
        if name in _SEEING or (name in _SEEING_ALONE and not called_with):
            found.append(name)
    return found


def _local_names(code: CodeType) -> Iterator[str]:
    """Names of the fast locals by index: variables, then cells that are no arguments, then free
    variables."""
    yield from code.co_varnames
    yield from (name for name in code.co_cellvars if name not in code.co_varnames)
    yield from code.co_freevars


_KNOWN: WeakKeyDictionary[CodeType, dict[int | None, Code]] = WeakKeyDictionary()


def analyse(code: CodeType, start: int | None = None) -> Code:
    """What is known about a code object, or about what comes from an offset on; found once."""
    known = _KNOWN.setdefault(code, {})
    found = known.get(start)
    if found is None:
        decoded = next((other.instructions for other in list(known.values())), None)
        found = known[start] = Code(code, start, decoded)
    return found
