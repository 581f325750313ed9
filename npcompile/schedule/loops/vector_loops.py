"""Loops over elements that are kernels: their iterations don't need each other.

Such a loop computes, iteration by iteration, elements of arrays, or sums of integers, from elements
of its own iteration and from what is the same in all.  Branches become choices.  Where there are
enough iterations, a kernel does the work, in lanes; else the loop does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from npcompile.core.records import field, record, replace
from npcompile.core.sizes import Poly, Size, Symbol, substitute, symbols
from npcompile.graph.types import BOOL, INT
from npcompile.program.ir import (
    Apply,
    Axis,
    AxisIndex,
    Buffer,
    Constant,
    For,
    If,
    Index,
    Kernel,
    Load,
    Reduce,
    SizeValue,
    Statement,
    Store,
    Value,
    with_blocks,
)
from npcompile.program.quiet import quiet
from npcompile.schedule.memory.allocate import touched

MANY = 16  # iterations from which on a kernel is worth its call
#: operations of which ones raise no floating-point flags, and what each may cost in an arm that
#: is computed where it is not taken: at most BLENDED together
AT_ONES = {"add": 1, "sub": 1, "mul": 1, "fma": 1, "div": 4, "sqrt": 4}
BLENDED = 12
UNROLLED, MOST_VALUES = 16, 160  # iterations of an inner loop, and values of the kernel then
HERE = Index(0, ())
ALL = Index(0, (0,))
_ZERO, _ONE = (Constant(np.int64(number), INT) for number in (0, 1))


#: values and stores of a kernel, and for each number that the loop adds to what an iteration adds
Outcome = tuple[tuple[Value, ...], tuple[Store, ...], dict[Buffer, int]]


class NotVectorizable(Exception):
    """The iterations of a loop need each other, or more than a kernel can do."""


@record(frozen=False)
class Raised:
    """Statements with such loops as kernels, and the buffers that they need."""

    whole: Counter[Buffer]  # how often each buffer is touched
    made: list[Buffer] = field(default_factory=list)

    def block(self, body: Sequence[Statement]) -> tuple[Statement, ...]:
        return tuple(made for statement in body for made in self._statement(statement))

    def _statement(self, statement: Statement) -> list[Statement]:
        match statement:
            case For(parallel=False, step=1):
                try:
                    return self._kernel(statement)
                except NotVectorizable:
                    return [with_blocks(statement, self.block)]
            case For(parallel=True):
                return [statement]
        return [with_blocks(statement, self.block)]

    def _number(self, dtype: np.dtype) -> Buffer:
        made = Buffer(f"n{len(self.made)}", "scalar", dtype)
        self.made.append(made)
        return made

    def _kernel(self, loop: For) -> list[Statement]:
        """A kernel, or the loop if there are few iterations."""
        iteration = _LaneIteration(loop, self.whole)
        iteration.block(loop.body)
        values, stores, sums = iteration.results()
        extent = loop.stop - loop.start
        parts = {buffer: self._number(INT) for buffer in sums}
        folds = tuple(Reduce("sum", (0,), value, parts[buffer], ALL, INT, 0)
                      for buffer, value in sums.items())
        lines = tuple(sorted({n for s in loop.body if isinstance(s, Kernel) for n in s.lines}))
        kernel = Kernel("lanes", (Axis("i", extent),), values, stores, folds, lines)
        body: list[Statement] = [kernel]
        body += [_add(buffer, part) for buffer, part in parts.items()]
        many = self._number(BOOL)
        test = (SizeValue(extent), Constant(np.int64(MANY), INT), Apply("lt", (1, 0), BOOL))
        return [Kernel("turns", (), test, (Store(many, HERE, 2),)),
                If(many, tuple(body), (replace(loop, edge=None),))]


def is_choice(choice: If) -> bool:
    """Whether it is between such a kernel and the loop for few iterations."""
    first = choice.then[0] if choice.then else None
    return isinstance(first, Kernel) and first.name == "lanes" and bool(choice.orelse)


def _add(buffer: Buffer, part: Buffer) -> Kernel:
    values = (Load(buffer, HERE, INT), Load(part, HERE, INT), Apply("add", (0, 1), INT))
    return Kernel("sum", (), values, (Store(buffer, HERE, 2),))


class _LaneIteration:
    """One iteration, executed on values of a kernel along the loop."""

    def __init__(self, loop: For, whole: Counter[Buffer]) -> None:
        self.loop, self.whole = loop, whole
        self.iteration: Size = Poly((((loop.symbol,), 1),))
        self.values: list[Value] = []
        self.known: dict[Value, int] = {}
        self.numbers: dict[Buffer, int] = {}  # what the iteration has computed
        self.before: dict[Buffer, int] = {}  # what was there before the iteration
        self.stores: dict[Buffer, Store] = {}
        self.loads: dict[Buffer, set[Index]] = {}
        self.mask: int | None = None
        self.blended = 0  # what operations cost of which lanes compute with ones
        self.inner: dict[Symbol, Size] = {}  # the indices of inner loops

    # ------------------------------------------------------------------ execution

    def block(self, body: Sequence[Statement]) -> None:
        for statement in body:
            match statement:
                case Kernel(axes=(), reductions=()):
                    self.kernel(statement)
                case If():
                    self.choose(statement)
                case For(start=int(), stop=int(), step=int()):
                    self.unroll(statement)
                case _:
                    raise NotVectorizable

    def unroll(self, loop: For) -> None:
        """The iterations of an inner loop, one after the other."""
        assert isinstance(loop.start, int) and isinstance(loop.stop, int)
        assert isinstance(loop.step, int)
        indices = range(loop.start, loop.stop, loop.step)
        if len(indices) > UNROLLED or loop.parallel or loop.folds or loop.edge is not None:
            raise NotVectorizable
        for index in indices:
            self.inner[loop.symbol] = index
            self.block(loop.body)
            if len(self.values) > MOST_VALUES:
                raise NotVectorizable
        self.inner.pop(loop.symbol, None)

    def kernel(self, kernel: Kernel) -> None:
        place: list[int] = []
        for value in kernel.values:
            if self.mask is None or isinstance(value, Load) or quiet(kernel.values, value):
                place.append(self.value(value, place))
            else:
                place.append(self.blend(value, place))
        for store in kernel.stores:
            if store.mask is not None or store.by is not None or store.packed or store.at.part:
                raise NotVectorizable
            if store.buffer.kind == "scalar":
                self.numbers[store.buffer] = place[store.value]
            else:
                self.store(store, place[store.value])

    def blend(self, value: Value, place: list[int]) -> int:
        """An operation that may raise floating-point flags: lanes that don't take the arm compute
        it of ones."""
        assert self.mask is not None
        if not isinstance(value, Apply) or value.op not in AT_ONES or value.dtype.char not in "fd":
            raise NotVectorizable
        self.blended += AT_ONES[value.op]
        if self.blended > BLENDED:
            raise NotVectorizable
        args = []
        for operand in (place[a] for a in value.args):
            dtype = self.values[operand].dtype
            one = self.add(Constant(dtype.type(1), dtype))
            args.append(self.add(Apply("where", (self.mask, operand, one), dtype)))
        return self.add(replace(value, args=tuple(args)))

    def value(self, value: Value, place: list[int]) -> int:
        match value:
            case Load(buffer, at, dtype, by):
                if by is not None or at.part or dtype != buffer.dtype or dtype.kind == "c":
                    raise NotVectorizable
                return self.load(buffer, at)
            case SizeValue(size):
                return self.size(size)
            case Apply(op, args):
                if op == "rare":
                    raise NotVectorizable
                return self.add(replace(value, args=tuple([place[a] for a in args])))
        return self.add(value)

    def add(self, value: Value) -> int:
        if value not in self.known:
            self.known[value] = len(self.values)
            self.values.append(value)
        return self.known[value]

    def load(self, buffer: Buffer, at: Index) -> int:
        if buffer.kind == "scalar":
            if buffer in self.numbers:
                return self.numbers[buffer]
            return self.before.setdefault(buffer, self.add(Load(buffer, ALL, buffer.dtype)))
        if buffer in self.stores or self.mask is not None:
            raise NotVectorizable
        where = self.index(at)
        self.loads.setdefault(buffer, set()).add(where)
        return self.add(Load(buffer, where, buffer.dtype))

    def store(self, store: Store, value: int) -> None:
        where = self.index(store.at)
        step = where.coefficients[0]
        known = isinstance(step, int) and step != 0
        if store.buffer in self.stores or not (known or step in store.buffer.strides):
            raise NotVectorizable
        self.stores[store.buffer] = Store(store.buffer, where, value, self.mask)

    def choose(self, choice: If) -> None:
        condition = self.load(choice.condition, HERE)
        outer, numbers = self.mask, self.numbers
        ends = []
        for arm, taken in ((choice.then, True), (choice.orelse, False)):
            self.numbers = dict(numbers)
            self.mask = self.both(outer, condition if taken else self.negated(condition))
            self.block(arm)
            ends.append(self.numbers)
        self.mask, self.numbers = outer, numbers
        inside = Counter(touched(choice))
        for buffer in dict.fromkeys([*ends[0], *ends[1]]):
            if inside[buffer] < self.whole[buffer]:  # known outside
                yes, no = (end[buffer] if buffer in end else self.load(buffer, HERE)
                           for end in ends)
                self.numbers[buffer] = self.chosen(condition, yes, no)

    def chosen(self, condition: int, yes: int, no: int) -> int:
        if yes == no:
            return yes
        return self.add(Apply("where", (condition, yes, no), self.values[yes].dtype))

    def negated(self, condition: int) -> int:
        return self.add(Apply("bit_not", (condition,), BOOL))

    def both(self, one: int | None, other: int) -> int:
        return other if one is None else self.add(Apply("bit_and", (one, other), BOOL))

    # ------------------------------------------------------------------ addresses

    def step(self, size: Size) -> Size:
        """The difference of a size from one iteration to the next."""
        size = substitute(size, self.inner)
        step = substitute(size, {self.loop.symbol: self.iteration + 1}) - size
        if self.loop.symbol in symbols(step):
            raise NotVectorizable
        return step

    def index(self, at: Index) -> Index:
        offset = substitute(at.offset, self.inner)
        first = substitute(offset, {self.loop.symbol: self.loop.start})
        return Index(first, (self.step(offset),))

    def size(self, size: Size) -> int:
        size = substitute(size, self.inner)
        step = self.step(size)
        first = self.add(SizeValue(substitute(size, {self.loop.symbol: self.loop.start})))
        if step == 0:
            return first
        index = self.add(AxisIndex(0))
        if step != 1:
            index = self.add(Apply("mul", (index, self.add(SizeValue(step))), INT))
        return self.add(Apply("add", (first, index), INT))

    # ------------------------------------------------------------------ what comes out

    def results(self) -> Outcome:
        changed = {self.before[b] for b, v in self.numbers.items() if self.before.get(b, v) != v}
        inside = Counter(touched(self.loop))
        sums: dict[Buffer, int] = {}
        for buffer, value in self.numbers.items():
            if inside[buffer] < self.whole[buffer] and value != self.before.get(buffer):
                if buffer not in self.before or buffer.dtype != INT:
                    raise NotVectorizable
                sums[buffer] = self.added(value, self.before[buffer], changed)
        outputs = [*sums.values(), *(store.value for store in self.stores.values())]
        outputs += [store.mask for store in self.stores.values() if store.mask is not None]
        needed = self.needed(outputs)
        if needed & changed or bool(sums) == bool(self.stores):
            raise NotVectorizable
        for buffer, store in self.stores.items():
            if not self.loads.get(buffer, set()) <= {store.at}:
                raise NotVectorizable
        for position, made in enumerate(self.values):
            if isinstance(made, Apply) and position not in needed and not quiet(self.values, made):
                raise NotVectorizable  # it is computed for its flags
        return self.pruned(needed, sums)

    def added(self, value: int, before: int, changed: set[int]) -> int:
        """The value that an iteration adds to the number of the iteration before."""
        if value == before:
            return self.add(_ZERO)
        made = self.values[value]
        if isinstance(made, Apply) and made.op == "where":
            condition, yes, no = made.args
            return self.counted(condition, self.added(yes, before, changed),
                                self.added(no, before, changed))
        if isinstance(made, Apply) and made.op == "cast" and made.dtype == INT:
            return self.added(made.args[0], before, changed)
        if isinstance(made, Apply) and made.op in ("add", "sub"):
            left, right = made.args
            if made.op == "add" and self.needed([right]) & changed:
                left, right = right, left
            rest = self.added(left, before, changed)
            if made.op == "add" and self.values[rest] == _ZERO:
                return right
            return self.add(Apply(made.op, (rest, right), INT))
        raise NotVectorizable

    def counted(self, condition: int, yes: int, no: int) -> int:
        """A choice; that of 1 and 0 is the condition as a number."""
        if self.values[yes] == _ZERO:
            condition, yes, no = self.negated(condition), no, yes
        bools = self.truth(yes)
        if bools is None or self.values[no] != _ZERO:
            return self.chosen(condition, yes, no)
        if self.values[yes] != _ONE:
            condition = self.both(bools, condition)
        return self.add(Apply("cast", (condition,), INT))

    def truth(self, number: int) -> int | None:
        """The bools that a number counts."""
        made = self.values[number]
        if made == _ONE:
            return number
        if isinstance(made, Apply) and made.op == "cast":
            (bools,) = made.args
            return bools if self.values[bools].dtype == BOOL else None
        return None

    def needed(self, outputs: Iterable[int]) -> set[int]:
        found: set[int] = set()
        stack = list(outputs)
        while stack:
            position = stack.pop()
            if position not in found:
                found.add(position)
                value = self.values[position]
                stack += value.args if isinstance(value, Apply) else ()
        return found

    def pruned(self, needed: set[int], sums: dict[Buffer, int]) -> Outcome:
        new = {old: k for k, old in enumerate(sorted(needed))}
        values = tuple([
            replace(v, args=tuple([new[a] for a in v.args])) if isinstance(v, Apply) else v
            for v in (self.values[old] for old in sorted(needed))
        ])
        stores = tuple([
            replace(s, value=new[s.value], mask=None if s.mask is None else new[s.mask])
            for s in self.stores.values()
        ])
        return values, stores, {buffer: new[value] for buffer, value in sums.items()}
