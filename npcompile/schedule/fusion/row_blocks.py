"""Kernels over the same rows become one parallel loop over blocks of rows.

A block of rows passes through all kernels of a group while it stays in the cache; temporaries that
only the group uses shrink to a block of a thread's own.  What is computed, and in which order
within a row, stays as it was: kernels are merely run on fewer rows at a time.

A *row* is an index along an axis that no reduction runs over, of the same extent in all kernels of
a group; a single axis that stands for rows and columns counts as rows of several elements.  Two
accesses of which one writes must meet only within a row: per row both advance by the same step,
and neither reaches as far as one step beyond the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from typing import TYPE_CHECKING

from npcompile.core.facts import Facts
from npcompile.core.paths import defer, import_path
from npcompile.core.records import field, record, replace
from npcompile.core.size_words import rows_words
from npcompile.core.sizes import Poly, Size, Symbol, Unhinted, largest, product, smallest, symbols
from npcompile.graph.types import INT
from npcompile.program.ir import (
    Alloc,
    Axis,
    AxisIndex,
    Bind,
    Buffer,
    Exit,
    For,
    Free,
    Index,
    Kernel,
    Load,
    Reduce,
    RoutineCall,
    SideExit,
    SizeValue,
    Statement,
    Store,
    Value,
)
from npcompile.schedule.memory.allocate import touched
from npcompile.schedule.memory.overlaps import Section, quotient, span, split

if TYPE_CHECKING:
    from npcompile.schedule.fusion import routine_rows, vector_rows
    from npcompile.schedule.fusion.routine_rows import RoutineByRows, RoutineTouch
else:
    defer(globals(), "npcompile.schedule.fusion", "routine_rows", "vector_rows")

#: what makes rows of routines, for those that have them
BY_ROWS = {
    "transform": "npcompile.schedule.fusion.transform_rows:by_rows",
    "product": "npcompile.schedule.fusion.product_rows:by_rows",
}
#: bytes that the rows of a block touch, so that the next block finds room beside it in the nearest
#: cache, and most that its least rows may
BLOCK = 3 << 13
ROW = 1 << 19
#: the same for blocks of rows that products read several times, until they have enough rows, and
#: for the least rows of these
HEAVY, ENOUGH, HEAVIEST = 3 << 17, 48, 1 << 20
#: the same for a row of at least so many, which leave all threads something to do
LONG, MANY = 1 << 22, 16
TOGETHER = 8  # rows that kernels may take at a time: many are a multiple of it
LONGEST = 64  #: kernels of one group
#: bytes of neighbours in memory that a block has at least where they belong to different rows
COLUMNS = 256


@record
class RowAccess:
    """One access of a kernel as rows: elements ``low`` to ``high`` of row 0 (None: unknown),
    ``step`` further in each row; ``count`` elements of a row.

    With a ``period`` this is so from each multiple of it on, and all rows lie within one.
    """

    buffer: Buffer
    step: Size
    low: Size | None
    high: Size | None
    count: Size
    writes: bool
    period: Size | None = None


@record
class RowMember:
    """A kernel of a group: ``axis`` runs over the rows, in each over ``width`` elements; or a
    routine that does the same for each row, and its check."""

    kernel: Kernel | RoutineCall
    axis: int
    width: Size
    touches: tuple[RowAccess, ...]
    routine: RoutineByRows | None = None
    check: SideExit | None = None


@record(frozen=False)
class Fusion:
    """The facts that fusion needs, and its products.

    ``uses`` counts the program's statements that touch a buffer, and what comes after it;
    ``inside`` are symbols that get their values in the program, ``exits`` what Python gets at its
    side exits.  ``front`` is to be run before
    everything; ``smaller`` are buffers that shrink, ``made`` new ones.
    """

    facts: Facts
    uses: Counter[Buffer]
    inside: Set[Symbol]
    exits: Sequence[Exit] = ()
    front: list[Statement] = field(default_factory=list)
    smaller: dict[Buffer, Buffer] = field(default_factory=dict)
    made: list[Buffer] = field(default_factory=list)
    rounds: bool = False  # whether products may round otherwise than a library's
    notes: list[str] = field(default_factory=list)
    swept: int = 0  # kernels of sweeps so far

    def sweeps(self, count: int) -> None:
        """Counts kernels of a sweep."""
        self.swept += count

    def bind(self, stem: str, size: Size, before: list[Statement]) -> Size:
        """A size that is computed once, as a symbol."""
        if isinstance(size, int):
            return size
        name = f"{stem}{len(self.made)}"
        buffer = Buffer(name, "scalar", INT)
        self.made.append(buffer)
        store = Store(buffer, Index(0, ()), 0)
        symbol = Symbol(name, low=1)
        before += [Kernel(name, (), (SizeValue(size),), (store,)), Bind(symbol, buffer)]
        return Poly((((symbol,), 1),))


def blocks(out: Fusion, body: Sequence[Statement]) -> list[Statement]:
    """A block's statements, groups of kernels among them as loops over blocks of rows."""
    return _Fuser(out, body).run()


class _Fuser:
    def __init__(self, out: Fusion, body: Sequence[Statement]) -> None:
        self.facts, self.out, self.body = out.facts, out, body
        self.members: dict[tuple[Kernel, Size], RowMember | None] = {}
        self.routines: dict[RoutineCall, RoutineByRows | None] = {}

    def run(self) -> list[Statement]:
        at, found = 0, list[Statement]()
        while at < len(self.body):
            group = self._group(at)
            if group is None:
                found.append(self.body[at])
                at += 1
            else:
                found += self._write(group)
                at = group.end
        return found

    # ------------------------------------------------------------------ finding groups

    def _group(self, at: int) -> FusedRows | None:
        """The group that begins with a statement, if it is worth while."""
        found: list[FusedRows] = []
        for rows in self._counts(at):
            group = self._grow(at, rows)
            several = [group, self._grow(at, rows, heavy=False)] if group.heavy else [group]
            found += [group for group in several if group.pays()]
        for group in sorted(found, key=lambda g: len(g.members), reverse=True):
            if self._small(group):
                return group
        return None

    def _counts(self, at: int) -> list[Size]:
        """Numbers of rows that a group might have: kept axes of the kernel and of the next."""
        found: dict[Size, None] = {}
        if not isinstance(self.body[at], (Kernel, RoutineCall)):
            return []
        for statement in self.body[at : at + 3]:
            routine = self._routine(statement)
            if routine is not None:
                found[routine.rows] = None
        for statement in self.body[at : at + 2]:
            if isinstance(statement, Kernel):
                reduced = reduced_axes(statement)
                for k, axis in enumerate(statement.axes):
                    if k not in reduced:
                        found[self.facts.norm(axis.extent)] = None
        return list(found)

    def _grow(self, at: int, rows: Size, heavy: bool = True) -> FusedRows:
        """The longest group from a statement on, with routines that are ``heavy`` or without.
        Numbers that it does not make come first."""
        group = FusedRows(self.facts, rows, at)
        for end, statement in enumerate(self.body[at : at + LONGEST], at + 1):
            if isinstance(statement, SideExit) and statement in group.checks:
                group.end = end if end == group.end + 1 else group.end
                continue
            if isinstance(statement, Kernel) and not statement.axes:
                if not group.may_follow(statement):
                    break
                group.numbers.append(statement)
                continue
            member = self._member(statement, rows, end, group, heavy)
            if member is None or not group.accepts(member):
                break
            group.add(member, end)
        del group.numbers[group.numbers_used :]
        return group

    def _member(self, statement: Statement, rows: Size, end: int, group: FusedRows, heavy: bool
                ) -> RowMember | None:
        if isinstance(statement, Kernel):
            key = statement, rows
            if key not in self.members:
                self.members[key] = as_rows(self.facts, statement, rows)
            return self.members[key]
        routine = self._routine(statement)
        if routine is None or routine.rows != rows:
            return None
        if routine.heavy and not (heavy and self._pays(routine, rows, end, group)):
            return None
        assert isinstance(statement, RoutineCall)
        check = None
        if routine.checked:
            check = routine_rows.check_of(statement, self.body[end : end + 1], self.out.exits)
        if routine.checked and check is None:
            return None
        touches = tuple([_touch(self.facts, touch) for touch in routine.touches()])
        return RowMember(statement, 0, 1, touches, routine, check)

    def _pays(self, routine: RoutineByRows, rows: Size, end: int, group: FusedRows) -> bool:
        """Whether a heavy routine should join a group, or begin one with the next kernel."""
        own = {touch.buffer for touch in routine.touches() if touch.step != 0}
        near = set(group.buffers())
        if not group.members:
            near.update(self._next_touched(end, rows, group))
        if own.isdisjoint(near) and not routine.alone:
            return False
        try:
            return routine.pays(self.facts)
        except Unhinted:
            return False

    def _next_touched(self, at: int, rows: Size, group: FusedRows) -> list[Buffer]:
        """What the next kernel of arrays touches, if it has such rows."""
        while at < len(self.body):
            statement = self.body[at]
            at += 1
            if not isinstance(statement, Kernel):
                break
            if statement.axes:
                member = self._member(statement, rows, at, group, True)
                return [] if member is None else touched(statement)
        return []

    def _routine(self, statement: Statement) -> RoutineByRows | None:
        if not isinstance(statement, RoutineCall):
            return None
        if statement not in self.routines:
            path = BY_ROWS.get(statement.routine.routine)
            self.routines[statement] = (
                import_path(path)(self.facts, statement, self.out.rounds) if path else None)
        return self.routines[statement]

    def _small(self, group: FusedRows) -> bool:
        """Whether a row stays in the cache; asked for the sizes at hand."""
        names = group.names
        try:
            small = self._fits(group)
        except Unhinted as unknown:
            self.out.notes.append(f"{names} stay apart: {unknown} is not known before the run")
            return False
        if not small:
            self.out.notes.append(f"{names} stay apart: a row of all that they touch is too large "
                                  f"for the cache")
        return small

    def _fits(self, group: FusedRows) -> bool:
        size, at_most = group.bytes * group.least, self.facts.at_most
        if group.heavy:
            return at_most(size, HEAVIEST)
        if at_most(size, ROW):
            return True
        return group.least == 1 and at_most(size, LONG) and at_most(MANY, group.rows)

    # ------------------------------------------------------------------ writing them

    def _write(self, group: FusedRows) -> list[Statement]:
        """The loop over blocks of a group, and what it needs before and after."""
        out: list[Statement] = list(group.numbers)
        block = self._block(group, out)
        private = {buffer: shrunk(buffer, axes, block) for buffer, axes in self._private(group)}
        self.out.smaller.update(private)
        found = {member.routine: self._prepared(member, out) for member in group.members
                 if member.routine is not None}
        around = vector_rows.Bands(self.out, group.rows, found, out) if group.summed else None
        start, stop = (0, group.rows) if around is None else around.bounds
        row = Symbol("row", 0, 0)
        at = Poly((((row,), 1),))
        count = smallest(block, stop - at)
        body: list[Statement] = []
        for member in group.members:
            routine = member.routine
            if routine is None:
                body.append(on_rows(member, at, count, private))
            elif around is not None and routine.summed is not None:
                body.append(around.member(routine, found[routine], at, count, private))
            else:
                body.append(routine.on_rows(found[routine], at, count, private))
        made, freed = map(Alloc, private.values()), map(Free, private.values())
        if around is None:
            out.append(For(row, 0, stop, block, (*made, *body, *freed), parallel=True))
        else:
            blocks = For(row, start, stop, block, tuple(body))
            out += around.loop((*made, *around.cleared(), blocks, *freed))
        small = f"; temporaries that hold one block: {len(private)}" if private else ""
        self.out.notes.append(f"{group.names} run together over blocks of "
                              f"{rows_words(group.rows)}{small}")
        return out

    def _prepared(self, member: RowMember, out: list[Statement]) -> Buffer | None:
        """What a routine finds before the loop."""
        assert member.routine is not None
        found = member.routine.prepared(f"entry{len(self.out.made)}")
        if found is not None:
            self.out.made.append(found)
        out += member.routine.before(found, member.check)
        return found

    def _block(self, group: FusedRows, out: list[Statement]) -> Size:
        """Rows of a block, as a symbol that is computed once if it is no constant."""
        fit = BLOCK // largest(group.bytes, 1)
        if group.heavy:
            fit = largest(fit, smallest(HEAVY // largest(group.bytes, 1), ENOUGH))
        fit = largest(fit, group.deep)
        fit = largest(fit // TOGETHER * TOGETHER, smallest(fit, TOGETHER - 1))
        size = largest(smallest(largest(fit, group.least), group.rows), 1)
        return self.out.bind("block", size, out)

    def _private(self, group: FusedRows) -> Iterator[tuple[Buffer, range]]:
        """Temporaries that only this group uses, and their axes that run over the rows."""
        own = Counter(b for member in group.members for b in set(touched(member.kernel)))
        for buffer in group.buffers():
            if buffer.kind == "temp" and own[buffer] == self.out.uses[buffer]:
                rank = len(buffer.shape)
                several = [range(axis + 1) for axis in range(1, rank)]
                for axes in (*[range(axis, axis + 1) for axis in range(rank)], *several):
                    if by_rows(self.facts, group, buffer, axes):
                        yield buffer, axes
                        break


def by_rows(facts: Facts, group: FusedRows, buffer: Buffer, axes: range) -> bool:
    """Whether rows of a group are those of a buffer along its slowest axes."""
    norm, prove = facts.norm, facts.prove
    shape, last = tuple(map(norm, buffer.shape)), axes[-1]
    row = norm(product((*shape[: axes[0]], *shape[last + 1 :])))
    strides = tuple(map(norm, buffer.strides))
    one = all(strides[k] == norm(strides[k + 1] * shape[k + 1]) for k in axes[:-1])
    return one and norm(product([shape[k] for k in axes])) == group.rows and (
        strides[last] == row) and all(
        t.step == row and t.low is not None and t.high is not None and t.period is None
        and bool(prove("<=", 0, t.low)) and bool(prove("<", t.high, row))
        for t in group.touches() if t.buffer is buffer
    )


def shrunk(buffer: Buffer, axes: range, block: Size) -> Buffer:
    """A buffer of which some axes are a block of rows."""
    first, last = axes[0], axes[-1]
    shape = (*buffer.shape[:first], block, *buffer.shape[last + 1 :])
    return replace(buffer, shape=shape, strides=buffer.strides[:first] + buffer.strides[last:])


class FusedRows:
    """Consecutive kernels over the same rows; ``numbers`` are kernels to be run before."""

    def __init__(self, facts: Facts, rows: Size, start: int) -> None:
        self.facts, self.rows = facts, rows
        self.start = self.end = start
        self.members: list[RowMember] = []
        self.numbers: list[Kernel] = []
        self.numbers_used = 0
        self._touches: dict[Buffer, dict[RowAccess, None]] = {}  # equal ones once

    def add(self, member: RowMember, end: int) -> None:
        self.members.append(member)
        self.numbers_used, self.end = len(self.numbers), end
        for touch in member.touches:
            self._touches.setdefault(touch.buffer, {})[touch] = None

    @property
    def checks(self) -> list[SideExit]:
        """Those that follow routines."""
        return [member.check for member in self.members if member.check is not None]

    @property
    def summed(self) -> set[Buffer]:
        """Results that are sums over rows: nothing in the loop may touch them."""
        return {m.routine.summed for m in self.members
                if m.routine is not None and m.routine.summed is not None}

    @property
    def routines(self) -> list[RoutineByRows]:
        return [member.routine for member in self.members if member.routine is not None]

    @property
    def heavy(self) -> bool:
        return any(routine.heavy for routine in self.routines)

    @property
    def deep(self) -> int:
        """Rows that a block has at least."""
        return max((routine.deep for routine in self.routines), default=0)

    @property
    def names(self) -> str:
        return ", ".join(m.kernel.name if isinstance(m.kernel, Kernel) else m.kernel.routine.name
                         for m in self.members)

    def touches(self) -> Iterator[RowAccess]:
        for touches in self._touches.values():
            yield from touches

    def buffers(self) -> list[Buffer]:
        return list(self._touches)

    def accepts(self, member: RowMember) -> bool:
        """Whether rows of a kernel depend on the same rows of the group only, and not on sums
        over rows."""
        summed = member.routine.summed if member.routine is not None else None
        if any(t.buffer in self.summed or t.buffer is summed for t in member.touches) or (
                summed is not None and (summed in self._touches or summed in self.summed)):
            return False
        if not self._same_bands(member):
            return False
        fresh = [t for t in member.touches if t not in self._touches.get(t.buffer, ())]
        return all(
            self._aligned(new, other)
            for new in fresh for other in (*self._touches.get(new.buffer, ()), *fresh)
            if new.buffer is other.buffer and (new.writes or other.writes)
        )

    def _same_bands(self, member: RowMember) -> bool:
        """Whether what adds rows does so by the same bands as the group."""
        bands = {self.facts.norm(m.routine.band) for m in (*self.members, member)
                 if isinstance(m.routine, routine_rows.SumByBands)}
        return len(bands) <= 1

    def _aligned(self, a: RowAccess, b: RowAccess) -> bool:
        if a.low is None or a.high is None or b.low is None or b.high is None:
            return False
        if a.step != b.step or a.period != b.period:
            return False
        prove = self.facts.prove
        step = a.step if prove("<", 0, a.step) else -a.step
        return bool(prove("<", a.high - b.low, step) and prove("<", b.high - a.low, step))

    def may_follow(self, number: Kernel) -> bool:
        """Whether a kernel of numbers may run before the group."""
        made = {t.buffer for t in self.touches() if t.writes} | self.summed
        read = {t.buffer for t in self.touches()}
        return not made & set(touched(number)) and not read & {s.buffer for s in number.stores}

    def pays(self) -> bool:
        """Whether a kernel passes its rows to another, or a routine needs no other."""
        return bool(self._shared()) or any(routine.alone for routine in self.routines)

    def _shared(self) -> list[Buffer]:
        """Buffers of more than a number a row that pass from one kernel to another."""
        users: dict[Buffer, set[Kernel | RoutineCall]] = {}
        for member in self.members:
            for touch in member.touches:
                if touch.count != 1 and touch.step != 0:
                    users.setdefault(touch.buffer, set()).add(member.kernel)
        return [buffer for buffer, kernels in users.items() if len(kernels) > 1]

    @property
    def least(self) -> int:
        """Rows that a block must have: columns of memory are read by whole cache lines."""
        sizes = [t.buffer.dtype.itemsize for t in self.touches() if t.step == 1 and t.count != 1]
        return max(COLUMNS // min(sizes) if sizes else 1, TOGETHER if self.heavy else 1)

    @property
    def bytes(self) -> Size:
        """The bytes that a row touches."""
        counts: dict[Buffer, Size] = {}
        for touch in self.touches():
            if touch.step != 0 and counts.get(touch.buffer, 1) == 1:
                counts[touch.buffer] = touch.count
        total: Size = 0
        for buffer, count in counts.items():
            total = total + count * buffer.dtype.itemsize
        return self.facts.norm(total)


def as_rows(
    facts: Facts, kernel: Kernel, rows: Size, loops: tuple[For, ...] = ()
) -> RowMember | None:
    """A kernel inside some loops as rows, if its steps can be told."""
    if kernel.in_order:
        return None
    counted = {v.axis for v in kernel.values if isinstance(v, AxisIndex)} | reduced_axes(kernel)
    for axis, along in enumerate(kernel.axes):
        extent = facts.norm(along.extent)
        width = quotient(extent, rows) if extent == rows or not isinstance(rows, int) else None
        if width is not None and axis not in counted:
            return RowMember(kernel, axis, width, tuple(touches(facts, kernel, axis, width, loops)))
    return None


def _touch(facts: Facts, touch: RoutineTouch) -> RowAccess:
    first = touch.first
    reach = None if first is None else span(facts, (first, (touch.count,), (touch.apart,)))
    low, high = (None, None) if reach is None else map(facts.norm, reach)
    step, count = facts.norm(touch.step), facts.norm(touch.count)
    return RowAccess(touch.buffer, step, low, high, count, touch.writes)


def touches(
    facts: Facts, kernel: Kernel, axis: int, width: Size, loops: tuple[For, ...] = ()
) -> Iterator[RowAccess]:
    """Yields the memory that a row of a kernel touches, in all iterations of the loops around it.
    """
    extents = [a.extent for a in kernel.axes]
    extents[axis] = width
    varies = {name for extent in extents for name in symbols(extent)}
    accesses = [(v.buffer, v.at, False, v.by) for v in kernel.values if isinstance(v, Load)]
    accesses += [(store.buffer, store.at, True, store.by) for store in kernel.stores]
    accesses += [(reduce.buffer, reduce.at, True, None) for reduce in kernel.reductions]
    for buffer, at, writes, by in accesses:
        steps = tuple(map(facts.norm, at.coefficients))
        inner = [0 if k == axis and width == 1 else s for k, s in enumerate(steps)]
        box = facts.norm(at.offset), tuple(extents), tuple(inner)
        named = varies | {name for step in steps for name in symbols(step)}
        turned = _in_turns(facts, box, loops, named) if by is None else None
        count = facts.norm(product([n for n, s in zip(extents, inner) if s != 0]))
        step = steps[axis] * width
        reach, period = span(facts, turned) if turned is not None else None, None
        if turned is not None and loops and width == 1:
            rows = facts.norm(kernel.axes[axis].extent)
            reach, period = _periodic(facts, turned, step, rows) or (reach, None)
        low, high = reach if reach is not None else (None, None)
        yield RowAccess(buffer, step, low, high, count, writes, period)


def _periodic(
    facts: Facts, box: Section, step: Size, rows: Size
) -> tuple[tuple[Size, Size], Size] | None:
    """The range that a section covers in each period, and the period, if all rows lie within one
    period."""
    offset, extents, steps = box
    for period in dict.fromkeys(s if facts.prove("<", 0, s) else -s for s in steps if s != 0):
        kept = [k for k, s in enumerate(steps) if quotient(s, period) is None]
        lengths, others = (tuple([x[k] for k in kept]) for x in (extents, steps))
        reach = span(facts, (split(offset, period)[1], lengths, others))
        if reach is not None and facts.prove("<=", 0, reach[0]) and facts.prove("<", 0, step) and (
            facts.prove("<", reach[1] + step * (rows - 1), period)
        ):
            return reach, period
    return None


def _in_turns(
    facts: Facts, box: Section, loops: tuple[For, ...], named: set[Symbol]
) -> Section | None:
    """The section that is covered in all iterations of loops, the outermost first; None if the
    iteration shifts it by no fixed distance."""
    offset, extents, steps = box
    for loop in reversed(loops):
        if loop.symbol in named or loop.step not in (1, -1):
            return None
        distance: Size = 0
        for atoms, coefficient in () if isinstance(offset, int) else offset.terms:
            if loop.symbol in atoms:
                rest = list(atoms)
                rest.remove(loop.symbol)
                distance = distance + (Poly(((tuple(rest), coefficient),)) if rest else coefficient)
        offset = offset - distance * Poly((((loop.symbol,), 1),))
        if loop.symbol in {name for size in (offset, distance) for name in symbols(size)}:
            return None
        offset = facts.norm(offset + distance * loop.start)
        extents = (*extents, facts.norm((loop.stop - loop.start) * loop.step))
        steps = (*steps, facts.norm(distance * loop.step))
    return offset, extents, steps


def reduced_axes(kernel: Kernel) -> set[int]:
    return {axis for reduce in kernel.reductions for axis in reduce.axes}


def on_rows(member: RowMember, start: Size, count: Size, private: dict[Buffer, Buffer]) -> Kernel:
    """A kernel on ``count`` rows from ``start`` on."""
    kernel, axis = member.kernel, member.axis
    assert isinstance(kernel, Kernel)
    axes = list(kernel.axes)
    axes[axis] = Axis(axes[axis].name, count * member.width)

    def moved(buffer: Buffer, at: Index) -> Index:
        if buffer in private:
            return at
        return replace(at, offset=at.offset + at.coefficients[axis] * member.width * start)

    def value(v: Value) -> Value:
        if isinstance(v, Load):
            return replace(v, buffer=private.get(v.buffer, v.buffer), at=moved(v.buffer, v.at))
        return v

    def store(s: Store) -> Store:
        return replace(s, buffer=private.get(s.buffer, s.buffer), at=moved(s.buffer, s.at))

    def reduce(r: Reduce) -> Reduce:
        return replace(r, buffer=private.get(r.buffer, r.buffer), at=moved(r.buffer, r.at))

    return replace(
        kernel,
        axes=tuple(axes),
        values=tuple(map(value, kernel.values)),
        stores=tuple(map(store, kernel.stores)),
        reductions=tuple(map(reduce, kernel.reductions)),
    )
