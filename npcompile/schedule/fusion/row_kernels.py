"""Kernels as rows of a sweep: what each touches beside a row, and how far it follows others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache

from npcompile.core.facts import Facts
from npcompile.core.records import field, record, replace
from npcompile.core.sizes import Poly, Size, Symbol, largest
from npcompile.program.ir import (
    Apply,
    Axis,
    AxisIndex,
    Buffer,
    For,
    Index,
    Kernel,
    Load,
    Statement,
    Store,
    Value,
)
from npcompile.schedule.memory.allocate import touched
from npcompile.schedule.memory.overlaps import span, split

FARTHEST = 8  # rows that a member may lag, or leave at the edge of a part

Strides = Mapping[Buffer, Size]


@record
class RowReach:
    """Row ``i`` of a kernel touches rows ``i + first`` to ``i + last`` of a buffer."""

    buffer: Buffer
    first: int
    last: int
    writes: bool


@record(eq=False)
class SkewedMember:
    """A kernel whose rows ``start`` to ``stop`` run along ``axis``, ``width`` elements of it each;
    None: it has one row.  ``still`` are buffers that it reads somewhere else than in its rows;
    ``whole`` is the kernel that it is a part of."""

    kernel: Kernel
    whole: Kernel
    axis: int | None
    width: Size
    start: Size
    stop: Size
    touches: tuple[RowReach, ...]
    still: frozenset[Buffer]


@record(frozen=False)
class SkewedGroup:
    """Consecutive members with their lags and edges; ``numbers`` are kernels to be run before."""

    members: list[SkewedMember] = field(default_factory=list)
    lags: list[int] = field(default_factory=list)
    edges: list[int] = field(default_factory=list)
    numbers: list[Kernel] = field(default_factory=list)
    end: int = 0

    def told(self) -> str:
        """In words, for ``explain``."""
        names, lag = ", ".join(m.kernel.name for m in self.members), max(self.lags)
        behind = f", each up to {lag} rows behind the one before" if lag else ""
        return f"{names} sweep over the rows together{behind}"

    def follows(self, numbers: Sequence[Kernel]) -> None:
        """Adds kernels that are to be run before."""
        self.numbers += numbers

    def accepts(self, pieces: Sequence[SkewedMember], end: int) -> bool:
        """Adds members if they can follow the others from row to row."""
        count = len(self.members)
        if all(map(self._accepts, pieces)):
            self.end = end
            return True
        del self.members[count:], self.lags[count:], self.edges[count:]
        return False

    def _accepts(self, new: SkewedMember) -> bool:
        lag = edge = 0
        for other, its_lag, its_edge in zip(self.members, self.lags, self.edges, strict=True):
            far = written(new) & other.still
            if not written(other).isdisjoint(new.still) or not may_copy(other, far):
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
        return True

    def may_follow(self, number: Kernel) -> bool:
        """Whether a kernel of numbers may run before the group."""
        made = {b for member in self.members for b in written(member)}
        read = {v.buffer for m in self.members for v in m.kernel.values if isinstance(v, Load)}
        loads = {v.buffer for v in number.values if isinstance(v, Load)}
        stores = {store.buffer for store in number.stores}
        return made.isdisjoint(loads | stores) and read.isdisjoint(stores)

    @property
    def useful(self) -> bool:
        """Whether members read each other's neighbouring rows."""
        times: dict[Buffer, tuple[set[int], set[int]]] = {}  # of reading and writing a row
        for member, lag in zip(self.members, self.lags, strict=True):
            for touch in member.touches:
                both = times.setdefault(touch.buffer, (set(), set()))
                both[touch.writes].update((lag - touch.first, lag - touch.last))
        return any(read and wrote and len(read | wrote) > 1 for read, wrote in times.values())


def may_copy(member: SkewedMember, far: Set[Buffer]) -> bool:
    """Whether a member may read copies of some buffers: it has a single row, or reads none."""
    return not far or (member.stop - member.start == 1 and not any(
        isinstance(v, Load) and v.by is not None and v.buffer in far for v in member.kernel.values
    ))


def written(member: SkewedMember) -> frozenset[Buffer]:
    return frozenset(touch.buffer for touch in member.touches if touch.writes)


@lru_cache(maxsize=128)  # groups that begin at each of some kernels look at the same ones
def accesses(kernel: Kernel) -> tuple[tuple[Buffer, Index, bool], ...]:
    """Of arrays, by indices that are known: (buffer, index, written)."""
    loads = [v for v in kernel.values if isinstance(v, Load)]
    reads = [(v.buffer, v.at, False) for v in loads if v.buffer.kind != "scalar" and v.by is None]
    return (*reads, *((store.buffer, store.at, True) for store in kernel.stores))


def uses(group: SkewedGroup) -> Counter[Buffer]:
    """How many of a program's kernels touch each buffer."""
    found: dict[Buffer, set[Kernel]] = {}
    for member in group.members:
        for buffer in touched(member.whole):
            found.setdefault(buffer, set()).add(member.whole)
    return Counter({buffer: len(kernels) for buffer, kernels in found.items()})


def one_store(kernel: Kernel, store: Store) -> Kernel:
    """A kernel that does only one of a kernel's stores."""
    used = {k for k in (store.value, store.mask, store.by) if k is not None}
    for position in range(len(kernel.values) - 1, -1, -1):
        value = kernel.values[position]
        if position in used and isinstance(value, Apply):
            used.update(value.args)
        elif position in used and isinstance(value, Load) and value.by is not None:
            used.add(value.by)
    new = {old: k for k, old in enumerate(sorted(used))}

    def moved(value: Value) -> Value:
        if isinstance(value, Apply):
            return replace(value, args=tuple([new[arg] for arg in value.args]))
        if isinstance(value, Load) and value.by is not None:
            return replace(value, by=new[value.by])
        return value

    only = replace(store, value=new[store.value],
                   mask=None if store.mask is None else new[store.mask],
                   by=None if store.by is None else new[store.by])
    values = tuple([moved(kernel.values[old]) for old in new])
    return replace(kernel, values=values, stores=(only,))


def row_strides(facts: Facts, group: SkewedGroup) -> dict[Buffer, Size]:
    """How many elements the rows of what a group touches are apart."""
    found: dict[Buffer, Size] = {}
    for member in group.members:
        for buffer, at, _ in accesses(member.kernel):
            if member.axis is not None:
                found[buffer] = facts.norm(at.coefficients[member.axis] * member.width)
    return found


def row_bytes(facts: Facts, group: SkewedGroup) -> dict[Buffer, Size]:
    """The same in bytes."""
    strides = row_strides(facts, group)
    return {b: facts.norm(stride * b.dtype.itemsize) for b, stride in strides.items()}


@record
class RingBuffer:
    """A buffer that holds some rows of another one, ``stride`` elements each, from ``first`` on."""

    buffer: Buffer
    first: Size
    stride: Size


def some_rows(member: SkewedMember, geometries: Mapping[Buffer, RingBuffer]) -> RowRange:
    """A kernel on some rows, whose first and number are symbols."""
    low, count = Symbol("low"), Symbol("count", low=0)
    first, rows = (Poly((((name,), 1),)) for name in (low, count))
    kernel, axis = member.kernel, member.axis
    axes = list(kernel.axes)
    if axis is None:
        axes.insert(0, Axis("r", rows))
    else:
        axes[axis] = Axis(axes[axis].name, rows * member.width)

    def moved(buffer: Buffer, at: Index) -> Index:
        offset = at.offset
        if buffer in geometries:
            offset = offset - geometries[buffer].first * geometries[buffer].stride
        if axis is None:
            return replace(at, offset=offset, coefficients=(0, *at.coefficients))
        distance = at.coefficients[axis] * member.width * (first - member.start)
        return replace(at, offset=offset + distance)

    def now(buffer: Buffer) -> Buffer:
        return geometries[buffer].buffer if buffer in geometries else buffer

    def value(v: Value) -> Value:
        if isinstance(v, Load):
            return replace(v, buffer=now(v.buffer), at=moved(v.buffer, v.at))
        if isinstance(v, AxisIndex) and axis is None:
            return replace(v, axis=v.axis + 1)
        return v

    stores = tuple([
        replace(s, buffer=now(s.buffer), at=moved(s.buffer, s.at)) for s in kernel.stores
    ])
    values = tuple(map(value, kernel.values))
    return RowRange(replace(kernel, axes=tuple(axes), values=values, stores=stores), low, count)


@record(eq=False)
class RowRange:
    """A kernel on ``count`` rows from ``low`` on."""

    kernel: Kernel
    low: Symbol
    count: Symbol

    def rows(self, low: Size, high: Size) -> Statement:
        """The kernel on rows ``low`` to ``high``: loops of one iteration give symbols their
        values."""
        first = Poly((((self.low,), 1),))
        count = largest(high - first, 0)
        run = For(self.count, count, count + 1, 1, (self.kernel,))
        return For(self.low, low, low + 1, 1, (run,))


def row_of(
    facts: Facts, at: Index, extents: tuple[Size, ...], stride: Size | None
) -> Size | None:
    """The row that some iterations access, if it is one."""
    steps = tuple(map(facts.norm, at.coefficients))
    reach = span(facts, (facts.norm(at.offset), extents, steps))
    if reach is None or stride is None or not facts.prove("<", 0, stride):
        return None
    found = rows_between(facts, reach, stride)
    return found[0] + found[1] if found is not None and found[1] == found[2] else None


def rows_between(
    facts: Facts, reach: tuple[Size, Size], stride: Size
) -> tuple[Size, int, int] | None:
    """The rows that a region of elements lies in: a size, and the first and last relative to
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
