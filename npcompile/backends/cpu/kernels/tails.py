"""Rows of much work by one copy of the code, whole vectors and what is left of them.

The rest of a row is copied to rooms on the stack that hold a whole vector, where the lanes behind
it repeat its first element; the same loop then runs once more over these, and the results are
copied back.  So there is half as much code to compile, for some copies a row.
"""

from __future__ import annotations

from collections.abc import Iterable

from npcompile.backends.cpu.kernels.scope import AHEAD, LoopScope
from npcompile.backends.cpu.llvm.access import Address, element_type, load_where, split, store_where
from npcompile.backends.cpu.llvm.scalar import component, memory
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, poison
from npcompile.core.records import replace
from npcompile.program.ir import Load


def row(scope: LoopScope, begin: Value, end: Value, first: Value, stop: Value) -> None:
    """A row of a kernel that :func:`.scope.pads`; vectors begin before ``stop``, the first one is
    ``first`` elements before the second."""
    f, plan, lanes = scope.f, scope.plan, scope.plan.lanes
    kernel, of = plan.kernel, plan.vector
    loaded = dict.fromkeys(split(v.buffer, v.at)[0] for p, v in enumerate(kernel.values)
                           if isinstance(v, Load) and of(p))
    stored = dict.fromkeys(split(s.buffer, s.at)[0] for s in kernel.stores)
    rooms = {address: _PaddedRoom(f, address, lanes) for address in (loaded | stored)}
    there = [scope.pointers[address] for address in rooms]
    with f.cycle([begin, stop, first, i64(0), *there]) as running:
        start, until, second, _, *pointers = running.carried
        inside = replace(scope, pointers={**scope.pointers,
                                          **dict(zip(rooms, pointers, strict=True))})
        with f.loop(start, until, lanes, first=second) as loop:
            vector = inside.enter(loop.index, lanes)
            vector.ask_ahead(AHEAD)
            vector.stores()
        at = loop.end
        left = f.binary("sub", end, at)
        running.repeats(f.icmp("slt", at, end))
        with f.when(running.again):
            masks = _masks(scope, rooms.values(), left)
            for address in loaded:
                rooms[address].fill(scope, at, masks)
        back = f.binary("sub", i64(0), at)  # so that the same index finds the rooms
        moved = [f.offset(room.place, room.unit, back) for room in rooms.values()]
        running.goes_on([at, f.binary("add", at, i64(1)), i64(lanes), left, *moved])
    start, _, _, left, *_ = running.carried
    with f.when(f.icmp("slt", i64(0), left)):
        masks = _masks(scope, rooms.values(), left)
        for address in stored:
            rooms[address].empty(scope, start, masks)


class _PaddedRoom:
    """Room for a vector of the elements at an address."""

    def __init__(self, f: LLVMFunction, address: Address, lanes: int) -> None:
        self.address, dtype = address, address.buffer.dtype
        self.unit = element_type(dtype)
        self.per = 2 if dtype.kind == "c" else 1  # numbers of an element
        self.elem = memory(component(dtype))
        self.size, self.count = component(dtype).itemsize, self.per * lanes
        self.place = f.alloca(self.elem, self.count)

    def fill(self, scope: LoopScope, index: Value, masks: dict[int, Value]) -> None:
        f = scope.f
        source = f.offset(scope.pointers[self.address], self.unit, index)
        one = f.load(source, self.elem, self.per, self.size)
        if self.per == 1:
            one = f.splat(one, self.count)
        else:
            one = f.shuffle(one, poison(self.elem, self.per), [0, 1] * (self.count // 2))
        whole = load_where(f, masks[self.count], source, one, self.size)
        f.store(whole, self.place)

    def empty(self, scope: LoopScope, index: Value, masks: dict[int, Value]) -> None:
        f = scope.f
        target = f.offset(scope.pointers[self.address], self.unit, index)
        whole = f.load(self.place, self.elem, self.count)
        store_where(f, masks[self.count], whole, target, self.size)


def _masks(scope: LoopScope, rooms: Iterable[_PaddedRoom], left: Value) -> dict[int, Value]:
    """Which numbers of a room count, by how many there are."""
    f, lanes = scope.f, scope.plan.lanes
    twice = f.binary("add", left, left)
    counts = dict.fromkeys(room.count for room in rooms)
    return {n: scope.first_lanes(n, left if n == lanes else twice) for n in counts}
