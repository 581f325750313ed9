"""A loop nest in the making: values and stores over one space of indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Union

import numpy as np

from npcompile.core.facts import Facts
from npcompile.core.paths import defer
from npcompile.core.records import field, record, replace
from npcompile.core.sizes import Size
from npcompile.graph.ir import Node, Number
from npcompile.program.ir import (
    Apply,
    Axis,
    AxisIndex,
    Constant,
    Index,
    Kernel,
    Load,
    Reduce,
    SizeValue,
    Store,
    Value,
)
from npcompile.schedule.memory.memories import BufferView, Footprint, Memory, weight
from npcompile.schedule.walk.demand import MOST, code

if TYPE_CHECKING:
    from npcompile.schedule.memory import overlaps
else:
    defer(globals(), "npcompile.schedule.memory", "overlaps")

#: for each axis of a value, the axis of the nest that it runs along; None: its only element
AxisMap = tuple["int | None", ...]
STORES = 64  #: of one nest, each of which is compared with all later accesses
NAMES = "ijklmnopqrstuvwxyz"


@record
class Fetch:
    """A load whose memory is not yet a buffer."""

    access: Footprint
    dtype: np.dtype


@record
class Put:
    """A store; ``loud``: its value may raise floating-point flags that nothing else raises."""

    access: Footprint
    value: int
    mask: int | None = None
    packed: bool = False
    loud: bool = False


@record
class PendingReduction:
    """A reduction in the making."""

    kind: str
    access: Footprint
    value: int
    dtype: np.dtype
    initial: Number | None
    chunk: Size
    running: bool = False


Draft = Union[Fetch, Constant, AxisIndex, SizeValue, Apply]


@record(eq=False, frozen=False)
class Nest:
    """``order`` (slowest first) and ``groups`` of axes that become one are given for reductions,
    and whether other reduced axes may be joined; other nests are free to choose.  ``ordered`` ones
    run their indices one after the other."""

    extents: tuple[Size, ...]
    reduced: tuple[int, ...] = ()
    order: tuple[int, ...] | None = None
    groups: tuple[tuple[int, ...], ...] = ()
    joins: bool = False
    ordered: bool = False
    values: list[Draft] = field(default_factory=list)
    puts: list[Put] = field(default_factory=list)
    folds: list[PendingReduction] = field(default_factory=list)
    known: dict[tuple[Node, AxisMap], int] = field(default_factory=dict)
    lines: set[int] = field(default_factory=set)
    cost: int = 0
    _interned: dict[Draft, int] = field(default_factory=dict)

    # ------------------------------------------------------------------ building

    def value(self, draft: Draft) -> int:
        """The number of a value; equal ones are one."""
        found = self._interned.get(draft)
        if found is None:
            found = self._interned[draft] = len(self.values)
            self.values.append(draft)
            self.cost += code(draft.op) if isinstance(draft, Apply) else 0
        return found

    def access(self, place: BufferView, axes: AxisMap, by: int | None = None) -> Footprint:
        """The elements of a place that the nest's indices meet, or that are a value further on."""
        steps: list[Size] = [0] * len(self.extents)
        for axis, stride in zip(axes, place.strides, strict=True):
            if axis is not None:
                steps[axis] = steps[axis] + stride
        return Footprint(place.memory, place.offset, tuple(steps), place.part, by)

    def load(self, access: Footprint, dtype: np.dtype) -> int:
        """A load, or the value that this very nest has just stored there."""
        for put in reversed(self.puts):
            if put.access == access and put.mask is None:
                return put.value
        return self.value(Fetch(access, dtype))

    # ------------------------------------------------------------------ questions

    def stores_to(self, memory: Memory) -> bool:
        return any(put.access.memory is memory for put in self.puts) or any(
            fold.access.memory is memory for fold in self.folds
        )

    def has_room(self, cost: int) -> bool:
        """Whether so much more work leaves the kernel quickly compiled."""
        return self.cost + cost <= MOST and len(self.puts) < STORES

    def accepts(self, facts: Facts, loads: list[Footprint], stores: list[Footprint]) -> bool:
        """Whether statements with these accesses may run inside, after what is there."""
        mine = [value.access for value in self.values if isinstance(value, Fetch)]
        folded = {fold.access.memory for fold in self.folds}
        for load in loads:
            if load.memory in folded:
                return False
            for put in self.puts:
                stale = put.access == load and put.mask is not None
                if stale or overlaps.conflict(facts, self.extents, load, put.access):
                    return False
        return not any(
            overlaps.conflict(facts, self.extents, store, other)
            for store in stores
            for other in (*mine, *loads, *(put.access for put in self.puts))
        )

    # ------------------------------------------------------------------ finishing

    def prune(self, wanted: set[Memory]) -> None:
        """Drops stores into temporaries that nobody reads, and values that nobody uses."""
        kept = [
            put for put in self.puts
            if put.access.memory.kind in ("param", "result") or put.access.memory in wanted
        ]
        used = self._used(kept)
        loud = [put for put in self.puts if put.loud and put.value not in used]
        if loud:
            kept = [put for put in self.puts if put in kept or put in loud]
            used = self._used(kept)
        self.puts = kept
        new = {old: k for k, old in enumerate(sorted(used))}
        self.values = [_renumbered(self.values[old], new) for old in new]
        self.puts = [
            replace(p, access=_moved(p.access, new), value=new[p.value],
                    mask=None if p.mask is None else new[p.mask])
            for p in self.puts
        ]
        self.folds = [replace(f, value=new[f.value]) for f in self.folds]

    def _used(self, puts: Sequence[Put]) -> set[int]:
        """The values that some stores and the reductions need."""
        used = {put.value for put in puts} | {fold.value for fold in self.folds}
        used |= {at for put in puts for at in (put.mask, put.access.by) if at is not None}
        for position in range(len(self.values) - 1, -1, -1):
            value = self.values[position]
            if position in used and isinstance(value, Apply):
                used.update(value.args)
            elif position in used and isinstance(value, Fetch) and value.access.by is not None:
                used.add(value.access.by)
        return used

    def memories(self) -> set[Memory]:
        """All memories that it touches."""
        loads = {v.access.memory for v in self.values if isinstance(v, Fetch)}
        stores = {put.access.memory for put in self.puts}
        return loads | stores | {fold.access.memory for fold in self.folds}

    def kernel(self, name: str) -> Kernel:
        """The finished kernel, its axes in memory order, runs of memory as single axes."""
        order = self.order if self.order is not None else self._memory_order()
        loops = self._loops(order)
        values = tuple([self._value(v, loops) for v in self.values])
        stores = tuple([
            Store(p.access.memory.final(), _index(p.access, loops), p.value, p.mask,
                  p.access.by, p.packed)
            for p in self.puts
        ])
        reduced = tuple(k for k, loop in enumerate(loops) if loop[-1] in self.reduced)
        folds = tuple([
            Reduce(f.kind, reduced, f.value, f.access.memory.final(), _index(f.access, loops),
                   f.dtype, f.initial, f.chunk, f.running)
            for f in self.folds
        ])
        axes = tuple([Axis(NAMES[k], self._extent(loop)) for k, loop in enumerate(loops)])
        lines = tuple(sorted(self.lines - {0}))
        return Kernel(name, axes, values, stores, folds, lines, self.ordered)

    def _extent(self, loop: tuple[int, ...]) -> Size:
        total: Size = 1
        for axis in loop:
            total = total * self.extents[axis]
        return total

    def _accesses(self) -> list[Footprint]:
        loads = [v.access for v in self.values if isinstance(v, Fetch)]
        return loads + [put.access for put in self.puts] + [fold.access for fold in self.folds]

    def _memory_order(self) -> tuple[int, ...]:
        if not self.puts or len(self.extents) < 2:
            return tuple(range(len(self.extents)))
        steps = self.puts[-1].access.steps
        return tuple(sorted(range(len(steps)), key=lambda k: weight(steps[k]), reverse=True))

    def _loops(self, order: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Groups of axes, slowest first, each of which is one loop."""
        counted = {v.axis for v in self.values if isinstance(v, AxisIndex)}
        given = {axis: group for group in self.groups for axis in group}
        loops: list[tuple[int, ...]] = []
        for axis in order:
            if isinstance(self.extents[axis], int) and self.extents[axis] == 1 and (
                axis not in given and axis not in counted and axis not in self.reduced
            ):
                continue
            if loops and axis not in counted and not counted & set(loops[-1]):
                previous = loops[-1]
                if previous[-1] in given.get(axis, ()) or self._joins(previous[-1], axis):
                    loops[-1] = (*previous, axis)
                    continue
            loops.append((axis,))
        return loops

    def _joins(self, outer: int, inner: int) -> bool:
        reduced = (outer in self.reduced, inner in self.reduced)
        if any(reduced) and not (all(reduced) and self.joins):
            return False
        extent = self.extents[inner]
        return all(a.steps[outer] == a.steps[inner] * extent for a in self._accesses())

    def _value(self, draft: Draft, loops: list[tuple[int, ...]]) -> Value:
        if isinstance(draft, Fetch):
            return Load(draft.access.memory.final(), _index(draft.access, loops), draft.dtype,
                        draft.access.by)
        if isinstance(draft, AxisIndex):
            if (draft.axis,) in loops:
                return AxisIndex(loops.index((draft.axis,)))
            assert self.extents[draft.axis] == 1  # which orders of reductions leave out
            return Constant(0, draft.dtype)
        return draft


def _renumbered(value: Draft, new: dict[int, int]) -> Draft:
    """A value whose operands have other numbers."""
    if isinstance(value, Apply):
        return Apply(value.op, tuple([new[a] for a in value.args]), value.dtype, value.attrs,
                     value.line, value.name)
    if isinstance(value, Fetch):
        return Fetch(_moved(value.access, new), value.dtype)
    return value


def _moved(access: Footprint, new: dict[int, int]) -> Footprint:
    return access if access.by is None else replace(access, by=new[access.by])


def _index(access: Footprint, loops: list[tuple[int, ...]]) -> Index:
    return Index(access.offset, tuple([access.steps[loop[-1]] for loop in loops]), access.part)
