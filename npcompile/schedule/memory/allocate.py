"""When the memory of a program is taken and given back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set

from npcompile.core.records import replace
from npcompile.core.sizes import Symbol, symbols
from npcompile.program.ir import (
    Alloc,
    Bind,
    Buffer,
    Call,
    For,
    Free,
    If,
    Kernel,
    Load,
    RoutineCall,
    SideExit,
    Statement,
    Swap,
    While,
    blocks,
    flat,
)


def touched(statement: Statement) -> list[Buffer]:
    """The buffers that a statement touches, but those that it makes and frees itself."""
    match statement:
        case Kernel():
            loads = [v.buffer for v in statement.values if isinstance(v, Load)]
            stores = [store.buffer for store in statement.stores]
            return loads + stores + [reduce.buffer for reduce in statement.reductions]
        case RoutineCall() | Call():
            return [view.buffer for view in statement.inputs] + list(statement.outputs)
        case SideExit():
            return [statement.buffer, *_inside(statement.leaving)]
        case Bind():
            return [statement.buffer]
        case Swap(first, second):
            return [first, second]
        case For(failed=failed):
            own = [] if failed is None else [failed]
            return [*_inside(statement.body), *own, *at_edge(statement)]
        case While():
            return [*_inside(statement.body), statement.again, *at_edge(statement)]
        case If():
            return [statement.condition, *_inside(statement.then), *_inside(statement.orelse)]
    return []


def at_edge(loop: For | While) -> list[Buffer]:
    """The arrays that are there before a loop and that are touched where it is left between two
    iterations."""
    touches = () if loop.edge is None else _inside(loop.edge.leaving)
    return [buffer for buffer in touches if buffer.kind != "scalar"]


def uses(body: Sequence[Statement]) -> Counter[Buffer]:
    """How many statements touch each buffer, those of blocks counted one by one."""
    found: Counter[Buffer] = Counter()
    for statement in body:
        match statement:
            case For():
                found += uses(statement.body)
                found.update(at_edge(statement))
            case While():
                found += uses(statement.body)
                found[statement.again] += 1
                found.update(at_edge(statement))
            case If():
                found += uses((*statement.then, *statement.orelse))
                found[statement.condition] += 1
            case _:
                found.update(set(touched(statement)))
    return found


def loaded(kernel: Kernel) -> list[Buffer]:
    return [v.buffer for v in kernel.values if isinstance(v, Load)]


def reads(body: Iterable[Statement]) -> Counter[Buffer]:
    """How often statements read each number."""
    found: Counter[Buffer] = Counter()
    for statement in flat(body):
        match statement:
            case Kernel():
                found.update(loaded(statement))
            case Bind(_, buffer) | SideExit(buffer, leaving=()) | If(buffer) | While(again=buffer):
                found[buffer] += 1
            case SideExit(buffer, leaving=leaving):
                found[buffer] += 1
                found.update(reads(leaving))
            case RoutineCall() | Call():
                found.update(view.buffer for view in statement.inputs)
    return found


def _inside(body: tuple[Statement, ...]) -> list[Buffer]:
    own = {s.buffer for s in body if isinstance(s, Alloc)}
    return [b for statement in body for b in touched(statement) if b not in own]


def allocate(
    body: Sequence[Statement], results: Sequence[Buffer] = (), known: Set[Buffer] = frozenset(),
    arms: bool = True,
) -> tuple[Statement, ...]:
    """Allocates each buffer just before its first use and frees it just after its last.

    What only one statement with a block uses is made inside it; not in each iteration of a loop, if
    its size is known before.  ``known`` is there already; ``results`` are made even if nothing is
    stored.  ``arms``: what is needed after a branch, or before it, is made, or freed, in both arms.
    """
    return _Block(arms).write(body, results, known)


class _Block:
    """Writes blocks; see :func:`allocate`."""

    def __init__(self, arms: bool) -> None:
        self.arms = arms

    def write(
        self, body: Sequence[Statement], results: Sequence[Buffer], known: Set[Buffer],
        left: Set[Buffer] = frozenset(),
    ) -> tuple[Statement, ...]:
        """``left`` is known, and freed here."""
        uses = [list(dict.fromkeys(touched(statement))) for statement in body]
        count = Counter(buffer for buffers in uses for buffer in buffers)
        last = {buffer: k for k, buffers in enumerate(uses) for buffer in buffers}
        made = {s.buffer for s in body if isinstance(s, Alloc)}
        given = set().union(*map(adopted, body))
        seen = made | known
        out: list[Statement] = [Free(b) for b in left if b not in last]
        for k, (statement, buffers) in enumerate(zip(body, uses)):
            mine = [
                b for b in buffers
                if b not in seen and b.kind in ("temp", "result", "owned") and b not in given
                and not (count[b] == 1 and b not in results and _is_inner(statement, b))
            ]
            gone = [b for b in buffers if last[b] == k and b.kind in ("temp", "owned")
                    and (b not in known or b in left) and b not in results]
            begun, ended = self._in_arms(statement, mine, [b for b in gone if b in seen])
            out += [Alloc(b) for b in mine if b not in begun]
            before = seen | (set(mine) - set(begun))
            seen = seen | set(mine)
            if isinstance(statement, Call):
                before = seen = seen | adopted(statement)
            out.append(self._nested(statement, before, begun, ended))
            out += [Free(b) for b in gone if b in seen and b not in ended]
        return (*out, *[Alloc(b) for b in results if b not in seen])

    def _in_arms(
        self, statement: Statement, mine: list[Buffer], gone: list[Buffer]
    ) -> tuple[list[Buffer], list[Buffer]]:
        """The temporaries of a branch that its arms allocate themselves, and those that they free.
        """
        if not self.arms or not isinstance(statement, If):
            return [], []
        begun, ended = ([b for b in some if b.kind == "temp"] for some in (mine, gone))
        return [b for b in begun if b not in gone], ended

    def _nested(
        self, statement: Statement, known: Set[Buffer], begun: list[Buffer], ended: list[Buffer]
    ) -> Statement:
        match statement:
            case SideExit() if statement.leaving:
                return replace(statement, leaving=self.write(statement.leaving, (), known))
            case If():
                then, other = (self.write(arm, begun, known, dict.fromkeys(ended).keys())
                               for arm in (statement.then, statement.orelse))
                return replace(statement, then=then, orelse=other)
            case While() | For(parallel=False):
                return replace(statement, body=self.write(statement.body, (), known))
        return statement


def adopted(statement: Statement) -> set[Buffer]:
    """The buffers that are given to a statement, or inside it, by calls that make them."""
    match statement:
        case Call():
            return {b for b in statement.outputs if b.kind == "owned"}
    return {b for block in blocks(statement) for inner in block for b in adopted(inner)}


def _is_inner(statement: Statement, buffer: Buffer) -> bool:
    """Whether a buffer that only this statement touches is made inside its blocks."""
    match statement:
        case SideExit() | If():
            return True
        case For() | While():
            sizes = (*buffer.shape, *buffer.strides)
            return not _bound(statement).isdisjoint(name for s in sizes for name in symbols(s))
    return False


def bound(body: Sequence[Statement]) -> set[Symbol]:
    """The symbols that get their values in some statements."""
    return set[Symbol]().union(*map(_bound, body))


def _bound(statement: Statement) -> set[Symbol]:
    """The symbols that get their values in a statement."""
    own = {statement.symbol} if isinstance(statement, (Bind, For)) else set()
    return own.union(*map(bound, blocks(statement)))
