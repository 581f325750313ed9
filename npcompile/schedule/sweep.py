"""Kernels that read neighbouring rows of what others wrote sweep over the rows together.

A *row* is an index along one axis, counted by the row stride of the arrays.  Members of a group
advance side by side through blocks of rows, each by its *lag* behind the first, so that all that it
reads of the members before is written and nothing is overwritten that they still need; what one
member leaves in the cache the next one finds there.

For threads the rows are cut into parts.  In a first parallel loop each part is swept as far as it
depends on itself only: a member begins by its *edge* after the part's first row, and ends by its
lag before the last.  What is left around each cut is computed in a second one (split tiling:
Krishnamoorthy et al., Effective automatic parallelization of stencil computations, PLDI 2007).
Every row is computed once, from the same numbers as without all this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from npcompile.core.facts import Facts
from npcompile.core.records import record, replace
from npcompile.core.sizes import Poly, Size, Symbol, floordiv, largest, smallest, symbols
from npcompile.program.ir import (
    Axis,
    AxisIndex,
    Buffer,
    For,
    Index,
    Kernel,
    Load,
    Statement,
    Value,
)
from npcompile.schedule.allocate import touched
from npcompile.schedule.memory import quotient, span, split
from npcompile.schedule.rows import Fusion

BLOCK = 1 << 16  # bytes that the rows of a block touch
PARTS = 12  # at most, for threads to share
FARTHEST = 8  # rows that a member may lag, or leave at the edge of a part

Strides = Mapping[Buffer, Size]


@record
class Touch:
    """Row ``i`` of a kernel touches rows ``i + first`` to ``i + last`` of a buffer."""

    buffer: Buffer
    first: int
    last: int
    writes: bool


@record(eq=False)
class Member:
    """A kernel whose rows ``start`` to ``stop`` run along ``axis``, ``width`` elements of it each;
    None: it has one row.  ``still`` are buffers that it reads somewhere else than in its rows."""

    kernel: Kernel
    axis: int | None
    width: Size
    start: Size
    stop: Size
    touches: tuple[Touch, ...]
    still: frozenset[Buffer]


@dataclass
class Group:
    """Consecutive members with their lags and edges; ``numbers`` are kernels to be run before."""

    members: list[Member] = field(default_factory=list)
    lags: list[int] = field(default_factory=list)
    edges: list[int] = field(default_factory=list)
    numbers: list[Kernel] = field(default_factory=list)
    end: int = 0

    def accepts(self, new: Member, end: int) -> bool:
        """Adds a member if it can follow the others from row to row."""
        lag = edge = 0
        for other, its_lag, its_edge in zip(self.members, self.lags, self.edges, strict=True):
            if not _written(other).isdisjoint(new.still) or not _written(new).isdisjoint(
                other.still
            ):
                return False
            for before in other.touches:
                for after in new.touches:
                    if before.buffer is after.buffer and (before.writes or after.writes):
                        lag = max(lag, its_lag + after.last - before.first)
                        edge = max(edge, its_edge + before.last - after.first)
        if max(lag, edge) > FARTHEST:
            return False
        self.members.append(new)
        self.lags.append(lag)
        self.edges.append(edge)
        self.end = end
        return True

    def may_follow(self, number: Kernel) -> bool:
        """Whether a kernel of numbers may run before the group."""
        made = {b for member in self.members for b in _written(member)}
        read = {v.buffer for m in self.members for v in m.kernel.values if isinstance(v, Load)}
        loads = {v.buffer for v in number.values if isinstance(v, Load)}
        stores = {store.buffer for store in number.stores}
        return made.isdisjoint(loads | stores) and read.isdisjoint(stores)

    @property
    def useful(self) -> bool:
        """Whether members read each other's neighbouring rows."""
        return len(self.members) > 1 and any((*self.lags, *self.edges))


def _written(member: Member) -> frozenset[Buffer]:
    return frozenset(touch.buffer for touch in member.touches if touch.writes)


def sweeps(out: Fusion, body: Sequence[Statement]) -> list[Statement]:
    """A block's statements, groups of kernels among them as sweeps."""
    found: list[Statement] = []
    at, known = 0, Known()
    while at < len(body):
        group = _group(out, body, at, known)
        if group is None:
            found.append(body[at])
            at += 1
        else:
            found += _Writer(out, group).write()
            at = group.end
    return found


# ------------------------------------------------------------------ finding groups


#: kernels as rows, by what :func:`_member` looks at; groups that begin elsewhere ask again
Known = dict[tuple[Kernel, tuple[Size | None, ...]], Member | None]


def _group(out: Fusion, body: Sequence[Statement], at: int, known: Known) -> Group | None:
    """The longest group that begins with a statement, if it is worth while."""
    run = []
    for statement in body[at:]:
        if not isinstance(statement, Kernel) or statement.reductions:
            break
        run.append(statement)
    if len(run) < 2 or not run[0].axes:
        return None
    group = _grow(out.facts, run, known)
    if not group.useful:
        return None
    group.end += at
    thrifty = _grow(out.facts, _share(out, [m.kernel for m in group.members]), known)
    if len(thrifty.members) == len(group.members):
        thrifty.numbers, thrifty.end = group.numbers, group.end
        return thrifty
    return group


def _grow(facts: Facts, run: Sequence[Kernel], known: Known) -> Group:
    strides = _strides(facts, run)
    group, waiting = Group(), list[Kernel]()
    for end, kernel in enumerate(run, 1):
        if not kernel.axes:
            if not group.may_follow(kernel):
                break
            waiting.append(kernel)
            continue
        key = kernel, tuple([strides.get(buffer) for buffer, _, _ in _accesses(kernel)])
        if key not in known:
            known[key] = _member(facts, kernel, strides)
        member = known[key]
        if member is None or not group.accepts(member, end):
            break
        group.numbers += waiting
        waiting.clear()
    return group


def _share(out: Fusion, run: Sequence[Kernel]) -> list[Kernel]:
    """The kernels with one temporary for several that are not needed at the same time, as nobody
    else uses them; in a sweep all would be there at once."""
    used = [set(touched(kernel)) for kernel in run]
    count = Counter(buffer for buffers in used for buffer in buffers)
    last = {buffer: k for k, buffers in enumerate(used) for buffer in buffers}
    idle: dict[object, list[Buffer]] = {}
    instead: dict[Buffer, Buffer] = {}
    found = []
    for k, (kernel, buffers) in enumerate(zip(run, used, strict=True)):
        own = [b for b in touched(kernel) if b.kind == "temp" and count[b] == out.uses[b]]
        for buffer in dict.fromkeys(own):
            if buffer not in instead:
                free = idle.get((buffer.dtype, buffer.shape, buffer.strides))
                instead[buffer] = free.pop() if free else buffer
        found.append(_with_buffers(kernel, instead))
        for buffer in buffers & instead.keys():
            if last[buffer] == k:
                key = buffer.dtype, buffer.shape, buffer.strides
                idle.setdefault(key, []).append(instead[buffer])
    return found


def _with_buffers(kernel: Kernel, instead: Mapping[Buffer, Buffer]) -> Kernel:
    values = tuple([
        replace(v, buffer=instead.get(v.buffer, v.buffer)) if isinstance(v, Load) else v
        for v in kernel.values
    ])
    stores = tuple([replace(s, buffer=instead.get(s.buffer, s.buffer)) for s in kernel.stores])
    return replace(kernel, values=values, stores=stores)


def _accesses(kernel: Kernel) -> Iterator[tuple[Buffer, Index, bool]]:
    """Of arrays, by indices that are known: (buffer, index, written)."""
    for value in kernel.values:
        if isinstance(value, Load) and value.buffer.kind != "scalar" and value.by is None:
            yield value.buffer, value.at, False
    for store in kernel.stores:
        yield store.buffer, store.at, True


def _strides(facts: Facts, run: Sequence[Kernel]) -> Strides:
    """How far apart the rows of each buffer are: as kernels of several axes step along the first;
    of what only kernels of one axis touch as what they touch beside it, or element by element."""
    found: dict[Buffer, Size] = {}
    for kernel in run:
        if len(kernel.axes) > 1:
            for buffer, at, _ in _accesses(kernel):
                step = facts.norm(at.coefficients[0])
                if step != 0:
                    found.setdefault(buffer, step)
    for kernel in run:
        if len(kernel.axes) == 1:
            steps = {buffer: facts.norm(at.coefficients[0]) for buffer, at, _ in _accesses(kernel)}
            wide = [found[b] for b, step in steps.items() if b in found and step == 1]
            for buffer, step in steps.items():
                if step != 0:
                    found.setdefault(buffer, wide[0] if wide and step == 1 else step)
    return found


def _member(facts: Facts, kernel: Kernel, strides: Strides) -> Member | None:
    """A kernel as rows, along the first axis that allows it."""
    if kernel.in_order or any(s.buffer.kind == "scalar" or s.by is not None for s in kernel.stores):
        return None
    counted = {v.axis for v in kernel.values if isinstance(v, AxisIndex)}
    for axis in (*(k for k in range(len(kernel.axes)) if k not in counted), None):
        found = _along(facts, kernel, axis, strides)
        if found is not None:
            return found
    return None


def _along(facts: Facts, kernel: Kernel, axis: int | None, strides: Strides) -> Member | None:
    width, rows = _width(facts, kernel, axis, strides), None
    if width is None:
        return None
    extents = [facts.norm(a.extent) for a in kernel.axes]
    if axis is not None:
        rows, rest = split(extents[axis], width)
        if rest != 0:
            return None
        extents[axis] = width
    still = {v.buffer for v in kernel.values if isinstance(v, Load) and v.by is not None}
    touches, base = list[Touch](), None
    for buffer, at, writes in _accesses(kernel):
        steps = tuple(map(facts.norm, at.coefficients))
        if axis is not None and width == 1:
            steps = tuple([0 if k == axis else step for k, step in enumerate(steps)])
        reach = span(facts, (facts.norm(at.offset), tuple(extents), steps))
        stride = strides.get(buffer)
        moves = axis is None or at.coefficients[axis] != 0
        found = None
        if moves and reach is not None and stride is not None and facts.prove("<", 0, stride):
            found = _rows(facts, reach, stride)
        if found is None or (base is not None and found[0] != base):
            if writes:
                return None
            still.add(buffer)
            continue
        base, first, last = found
        touches.append(Touch(buffer, first, last, writes))
    if base is None or not facts.prove("<=", 0, base):
        return None
    stop = base + (1 if rows is None else rows)
    return Member(kernel, axis, width, base, stop, tuple(dict.fromkeys(touches)),
                  frozenset(still))


def _width(facts: Facts, kernel: Kernel, axis: int | None, strides: Strides) -> Size | None:
    """Elements of an axis that are one row for all that the kernel touches."""
    if axis is None:
        return 1
    widths: dict[Size, None] = {}
    for buffer, at, writes in _accesses(kernel):
        step = facts.norm(at.coefficients[axis])
        if step == 0 and not writes:
            continue
        stride = strides.get(buffer, 0)
        if stride == 0 or step == 0:
            return None
        width = stride if step == 1 else quotient(stride, step)
        if width is None or facts.prove("<=", width, 0):  # backwards through the rows
            return None
        widths[width] = None
    return next(iter(widths)) if len(widths) == 1 else None


def _rows(facts: Facts, reach: tuple[Size, Size], stride: Size) -> tuple[Size, int, int] | None:
    """The rows that a stretch of elements lies in: a size, and the first and last relative to
    it."""
    low, below = split(reach[0], stride)
    high, above = split(reach[1], stride)
    base, first = _constant(low)
    other, last = _constant(high)
    if base != other:
        return None
    firsts = [k for k in (0, -1, -2) if facts.prove("<=", stride * k, below)]
    lasts = [k for k in (-1, 0, 1) if facts.prove("<", above, stride * (k + 1))]
    if not firsts or not lasts:
        return None
    return base, first + firsts[0], last + lasts[0]


def _constant(size: Size) -> tuple[Size, int]:
    """A size as one without a constant and the constant."""
    constant = size if isinstance(size, int) else sum(c for atoms, c in size.terms if not atoms)
    return size - constant, constant


# ------------------------------------------------------------------ writing them


class _Writer:
    """Writes the two loops of a group; see the head of the module."""

    def __init__(self, out: Fusion, group: Group) -> None:
        self.facts, self.group, self.out = out.facts, group, out
        sizes = [size for m in group.members for size in (m.start, m.stop)]
        sizes += self._row_bytes().values()
        outer = {name for size in sizes for name in symbols(size)}
        self.early: list[Statement] = out.front if outer.isdisjoint(out.inside) else []
        self.here = [] if self.early is out.front else self.early

    def write(self) -> list[Statement]:
        group = self.group
        height: Size = 0
        for member, lag in zip(group.members, group.lags, strict=True):
            height = largest(height, member.stop + lag)
        total: Size = 0
        for size in self._row_bytes().values():
            total = total + size
        farthest = max(group.lags) + max(group.edges) + 1
        block = self.out.bind("block", largest(floordiv(BLOCK, largest(total, 1)), 1), self.early)
        least = 4 * farthest + 2 * block
        fit = smallest(largest(floordiv(height, least), 1), PARTS)
        parts = self.out.bind("parts", fit, self.early)
        width = self.out.bind("width", largest(floordiv(height + parts - 1, parts), 1), self.early)
        inner = [self._inner(member) for member in group.members]
        names = ", ".join(m.kernel.name for m in group.members)
        self.out.notes.append(f"{names} sweep over the rows together, up to {max(group.lags)} "
                              "rows behind each other")
        first = self._parts(inner, parts, width, block)
        return [*group.numbers, *self.here, first, self._cuts(inner, parts, width)]

    def _row_bytes(self) -> dict[Buffer, Size]:
        found: dict[Buffer, Size] = {}
        for member in self.group.members:
            for buffer, at, _ in _accesses(member.kernel):
                if member.axis is not None:
                    row = at.coefficients[member.axis] * member.width
                    found[buffer] = self.facts.norm(row * buffer.dtype.itemsize)
        return found

    def _parts(self, inner: list[Inner], parts: Size, width: Size, block: Size) -> For:
        """Each part as far as it depends on itself only."""
        part, step = Symbol("part", low=0), Symbol("step", low=0)
        p, t = (Poly((((name,), 1),)) for name in (part, step))
        body: list[Statement] = []
        for member, lag, edge, made in self._all(inner):
            begin, at = p * width, p * width + t * block - lag
            low = largest(largest(at, begin + edge * smallest(p, 1)), member.start)
            high = smallest(smallest(at + block, begin + width - lag), member.stop)
            body.append(made.rows(low, high))
        steps = floordiv(width + block - 1, block)
        return For(part, 0, parts, 1, (For(step, 0, steps, 1, tuple(body)),), parallel=True)

    def _cuts(self, inner: list[Inner], parts: Size, width: Size) -> For:
        """What is left around each cut between parts."""
        cut = Symbol("cut", low=1)
        at = Poly((((cut,), 1),)) * width
        body = [
            made.rows(largest(at - lag, member.start), smallest(at + edge, member.stop))
            for member, lag, edge, made in self._all(inner) if lag or edge
        ]
        return For(cut, 1, parts, 1, tuple(body), parallel=True)

    def _all(self, inner: list[Inner]) -> Iterator[tuple[Member, int, int, Inner]]:
        group = self.group
        return zip(group.members, group.lags, group.edges, inner, strict=True)

    def _inner(self, member: Member) -> Inner:
        """A kernel on some rows, whose first and number are symbols."""
        low, count = Symbol("low"), Symbol("count", low=0)
        first, rows = (Poly((((name,), 1),)) for name in (low, count))
        kernel, axis = member.kernel, member.axis
        axes = list(kernel.axes)
        if axis is None:
            axes.insert(0, Axis("r", rows))
        else:
            axes[axis] = Axis(axes[axis].name, rows * member.width)

        def moved(at: Index) -> Index:
            if axis is None:
                return replace(at, coefficients=(0, *at.coefficients))
            distance = at.coefficients[axis] * member.width * (first - member.start)
            return replace(at, offset=at.offset + distance)

        def value(v: Value) -> Value:
            if isinstance(v, Load):
                return replace(v, at=moved(v.at))
            if isinstance(v, AxisIndex) and axis is None:
                return replace(v, axis=v.axis + 1)
            return v

        stores = tuple([replace(store, at=moved(store.at)) for store in kernel.stores])
        values = tuple(map(value, kernel.values))
        return Inner(replace(kernel, axes=tuple(axes), values=values, stores=stores), low, count)


@record(eq=False)
class Inner:
    """A kernel on ``count`` rows from ``low`` on."""

    kernel: Kernel
    low: Symbol
    count: Symbol

    def rows(self, low: Size, high: Size) -> Statement:
        """The kernel on rows ``low`` to ``high``: loops of one turn give symbols their values."""
        first = Poly((((self.low,), 1),))
        count = largest(high - first, 0)
        run = For(self.count, count, count + 1, 1, (self.kernel,))
        return For(self.low, low, low + 1, 1, (run,))
