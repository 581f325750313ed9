"""Where each value of a kernel is computed: at the innermost loop that it depends on.

A :class:`NestPlan` gives the order of the loops and the axis that vector lanes run along.  A
:class:`LoopScope` is the inside of some of the loops: it holds what was computed so far, and
entering the next loop gives a new scope with all that depends on its index.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from npcompile.backends.cpu.kernels import fp_barriers
from npcompile.backends.cpu.llvm import access, register_shift, scalar
from npcompile.backends.cpu.llvm.access import Address, ElementAddress, Lanes
from npcompile.backends.cpu.llvm.scalar import Parts, component
from npcompile.backends.cpu.llvm.sizes import SizeEmitter, Slots
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, literal, vector_literal
from npcompile.core.paths import defer
from npcompile.core.records import field, record, replace
from npcompile.core.sizes import Size, product
from npcompile.program.ir import (
    Apply,
    AxisIndex,
    Buffer,
    Constant,
    Index,
    Kernel,
    Load,
    SizeValue,
    Store,
)

if TYPE_CHECKING:
    from npcompile.backends.cpu.kernels import branched_updates, quotients, square_roots
    from npcompile.backends.cpu.kernels.quotients import Divisor
    from npcompile.backends.cpu.llvm import intrinsics, stencil_rows
    from npcompile.backends.target import Target
else:
    defer(globals(), "npcompile.backends.cpu.kernels", "branched_updates", "quotients",
          "square_roots")
    defer(globals(), "npcompile.backends.cpu.llvm", "intrinsics", "stencil_rows")

LINE = 64  # bytes that memory is read by
AHEAD = 4096  # bytes that are asked for before they are loaded (1 KB comes too late on Zen 5)
ROWS = 2  # bits of the rows that one of a stencil's is asked for before it is read
WRITTEN_AHEAD = 8192  # bytes that are asked for before they are stored
WRITTEN_FROM = 8 << 20  # bytes that a kernel touches from which on they are
FAR = 1 << 18  # bytes beyond which nothing is: what is needed sooner would leave the near caches
SIMPLE = 4  # operations of a kernel that are quickly done one by one


HEAVY = 24  # operations on vectors from which on a second copy costs more than rooms do
EACH = 8  # operations that a room must save
PIECES = 8  # of a range, that threads take one after the other, at most
ALL_ONES = i64(-1)


class NestPlan:
    """Loop order, lanes, and the depth of each value (how many loops it is inside of)."""

    def __init__(self, kernel: Kernel, target: Target, order: tuple[int, ...],
                 lane_axis: int = -1, lanes: int = 1) -> None:
        self.kernel, self.target = kernel, target
        self.total = product([axis.extent for axis in kernel.axes])  # elements of all runs of it
        self.ahead: tuple[Size | None, ...] = (None,) * len(kernel.values)  # see kernels.Part
        self.fresh = self.alone = True  # see there
        self.rows = stencil_rows.fresh_rows(kernel) if len(kernel.axes) > 1 else {}
        self.order, self.lane_axis, self.lanes = order, lane_axis, lanes
        self.axes_of: list[frozenset[int]] = []
        for value in kernel.values:
            self.axes_of.append(self._axes(value))
        position = {axis: depth for depth, axis in enumerate(order, 1)}
        self.depth = [max((position[a] for a in axes), default=0) for axes in self.axes_of]
        self.owner = self._owners()
        # what is computed together, by depth and owner
        self.units: dict[tuple[int, int | None], list[branched_updates.Unit]] = {}
        alone: list[branched_updates.Unit] = [(position,) for position in range(len(kernel.values))]
        for unit in branched_updates.units(kernel) if not order and not self.owner else alone:
            key = self.depth[unit[0]], self.owner.get(unit[0])
            self.units.setdefault(key, []).append(unit)
        self.widened = self._widened()
        self.unsure = fp_barriers.unsure(kernel)
        self.divisors: frozenset[int] = frozenset()
        self.products: frozenset[int] = frozenset()  # values that are computed by products
        self.in_turns = False  # with the divider
        if lanes > 1 and target.width >= 32:  # which have fused multiplication
            varies = [self.vector(position) for position in range(len(kernel.values))]
            self.divisors = divisors(kernel, varies)
            if any(isinstance(v, Apply) and v.op in ("sqrt", "div") for v in kernel.values):
                known = self.divisors
                self.products = square_roots.by_products(kernel, target, lanes, varies, known)
                self.in_turns = square_roots.in_turns(kernel, varies, self.products)
        self.runs = register_shift.runs(kernel, target, lane_axis, lanes)
        places = [(v.buffer, v.at) for v in kernel.values if isinstance(v, Load)]
        places += [(s.buffer, s.at) for s in kernel.stores]
        places += [(r.buffer, r.at) for r in kernel.reductions]
        # what accesses share, and the constant of the first: others are told from that one
        self.accesses: dict[Address, int] = {}
        for buffer, at in places:
            self.accesses.setdefault(*access.split(buffer, at))

    def touched(self) -> int:
        """Bytes that are read and written for an element.

        Each array counts once; those that are repeated along an axis are taken to be small.
        """
        stored = [store.buffer for store in self.kernel.stores]
        read = {
            v.buffer for v in self.kernel.values
            if isinstance(v, Load) and all(c != 0 for c in v.at.coefficients)
        }
        return sum(buffer.dtype.itemsize for buffer in (*stored, *read))

    def _axes(self, value: object) -> frozenset[int]:
        match value:
            case Load(buffer, at, _, by):
                if self.kernel.ordered and any(s.buffer is buffer for s in self.kernel.stores):
                    return frozenset(range(len(self.kernel.axes)))  # what was stored before
                own = frozenset(a for a, c in enumerate(at.coefficients) if c != 0)
                return own if by is None else own | self.axes_of[by]
            case AxisIndex(axis):
                return frozenset((axis,))
            case Apply(_, args):
                return frozenset().union(*(self.axes_of[a] for a in args))
        return frozenset()

    def vector(self, value: int) -> bool:
        """Whether a value differs between lanes."""
        return self.lane_axis in self.axes_of[value]

    def _widened(self) -> frozenset[int]:
        """Values that are the same in all lanes and meet one that is not."""
        found: set[int] = set()
        for position, value in enumerate(self.kernel.values):
            if isinstance(value, Apply) and self.vector(position):
                found.update(a for a in value.args if not self.vector(a))
        for store in self.kernel.stores:
            found.update(v for v in (store.value, store.mask, store.by) if v is not None)
        found.update(reduce.value for reduce in self.kernel.reductions)
        return frozenset(v for v in found if not self.vector(v))

    def _owners(self) -> dict[int, int]:
        """Values that only the seldom chosen operand of a ``rare`` needs, and that ``rare``."""
        return owners(self.kernel, self.depth)

    def sizes(self) -> list[Size]:
        """All sizes that loops and addresses need."""
        found: list[Size] = [self.total, *(axis.extent for axis in self.kernel.axes)]
        for address in self.accesses:
            found += address.coefficients
        found += [self.rows[position] * value.buffer.dtype.itemsize
                  for position, value in enumerate(self.kernel.values)
                  if isinstance(value, Load) and position in self.rows]
        found += [reduce.chunk for reduce in self.kernel.reductions]
        found += [far * value.buffer.dtype.itemsize
                  for value, far in zip(self.kernel.values, self.ahead, strict=True)
                  if isinstance(value, Load) and far is not None]
        found += [store.buffer.shape[0] for store in self.kernel.stores if store.packed]
        return found


@record
class LoopScope:
    """The inside of the first ``depth`` loops of a plan; ``waits``: for memory, so that it does not
    matter how long the divider takes; ``loaded``: what neighbours are put together from, None where
    each vector had better come from memory."""

    plan: NestPlan
    f: LLVMFunction
    slots: Slots
    sizes: SizeEmitter
    depth: int = 0
    lanes: Lanes = access.ALL
    index: dict[int, Value] = field(default_factory=dict)
    pointers: dict[Address, Value] = field(default_factory=dict)
    values: dict[int, Parts] = field(default_factory=dict)
    wide: dict[int, Parts] = field(default_factory=dict)
    divisors: dict[int, Divisor] = field(default_factory=dict)
    loaded: register_shift.Loaded | None = field(default_factory=dict)
    waits: bool = False

    @staticmethod
    def outermost(plan: NestPlan, f: LLVMFunction, slots: Slots) -> LoopScope:
        """Outside of all loops: reads sizes, base addresses and numbers from the frame."""
        sizes = SizeEmitter(slots)
        for size in plan.sizes():
            sizes(size)
        # without loops, an element is found by one index: see _element
        some = plan.accesses if plan.order else {}
        pointers = {
            address: slots.place(address.buffer, address.offset + first)
            for address, first in some.items()
        }
        scope = LoopScope(plan, f, slots, sizes, pointers=pointers)
        scope._evaluate()
        return scope

    def extent(self, axis: int) -> Value:
        return self.sizes(self.plan.kernel.axes[axis].extent)

    def enter(self, index: Value, lanes: int = 1, valid: Value | None = None,
              distances: Mapping[Size, Value] | None = None) -> LoopScope:
        """The next loop at an index; along the lane axis ``index`` is the first lane's, and only
        the first ``valid`` lanes count if given.  ``distances``: products of it with steps."""
        axis = self.plan.order[self.depth]
        inside = self.lanes
        if axis == self.plan.lane_axis:
            mask = None if valid is None else self.first_lanes(lanes, valid)
            inside = Lanes(lanes, mask, valid)
        pointers = dict(self.pointers)
        for address, pointer in self.pointers.items():
            step = address.coefficients[axis]
            if step != 0:
                unit = access.element_type(address.buffer.dtype)
                if distances is not None and step in distances:
                    distance = distances[step]
                else:
                    distance = index if step == 1 else self.f.binary("mul", index, self.sizes(step))
                pointers[address] = self.f.offset(pointer, unit, distance)
        scope = replace(self, depth=self.depth + 1, lanes=inside, pointers=pointers,
                        index={**self.index, axis: index}, values=dict(self.values),
                        wide=dict(self.wide), divisors=dict(self.divisors),
                        loaded=None if self.loaded is None else {})
        scope._evaluate()
        return scope

    def first(self, buffer: Buffer, at: Index, index: Value) -> Value:
        """The address of an element of contiguous ones, at an index of the next loop."""
        place = self._across(buffer, at)
        return self.f.offset(place.pointer, access.element_type(buffer.dtype), index)

    def steps(self) -> list[Size]:
        """How far the elements of the next loop are apart, where that is not known."""
        axis = self.plan.order[self.depth]
        found = dict.fromkeys(address.coefficients[axis] for address in self.pointers)
        return [step for step in found if not isinstance(step, int)]

    def first_lanes(self, lanes: int, valid: Value) -> Value:
        f, bits = self.f, f"i{lanes}"
        if self.plan.target.masks and lanes > 16:  # in one mask register; some lane is valid
            none = f.binary("sub", literal("i64", lanes),
                            f.intrinsic("smin", valid, literal("i64", lanes)))
            if lanes != 64:
                none = f.convert("trunc" if lanes < 64 else "zext", none, bits)
            mask = f.binary("lshr", literal(bits, -1), none)
            return f.op(f"bitcast {mask.typed} to <{lanes} x i1>", "i1", lanes)
        numbers = vector_literal("i64", range(lanes))
        return self.f.icmp("slt", numbers, self.f.splat(valid, lanes))

    # ------------------------------------------------------------------ values

    def _evaluate(self, owner: int | None = None) -> None:
        """Computes the values of this depth, or those that belong to a ``rare``."""
        for unit in self.plan.units.get((self.depth, owner), ()):
            position = unit[0]
            value = self.plan.kernel.values[position]
            if len(unit) > 1:
                self._update(unit)
                continue
            rare = isinstance(value, Apply) and value.op == "rare"
            parts = self._rare(position) if rare else self._value(position, value)
            self.values[position] = parts
            if position in self.plan.unsure:
                for part in parts:
                    self.f.use(part)
            if position in self.plan.widened:
                self.wide[position] = tuple(self.f.splat(p, self.plan.lanes) for p in parts)
            if position in self.plan.divisors:
                self.divisors[position] = quotients.divisor(
                    self.f, value.dtype, parts[0], self.plan.lanes)

    def _update(self, unit: branched_updates.Unit) -> None:
        """Choices that one condition decides, by a branch."""
        f, chosen = self.f, [self.plan.kernel.values[position] for position in unit]
        condition, *_ = [value.args[0] for value in chosen if isinstance(value, Apply)]
        before, taken, after = f.block, f.name_for("taken"), f.name_for("after")
        if branched_updates.seldom(self.plan.kernel, unit):
            f.branch(f.negate(self.values[condition][0]), after, taken, likely=True)
        else:
            f.branch(self.values[condition][0], taken, after)
        f.label(taken)
        f.jump(after)
        f.label(after)
        for position, value in zip(unit, chosen, strict=True):
            assert isinstance(value, Apply)
            yes, no = (self.values[arg] for arg in value.args[1:])
            self.values[position] = tuple([
                f.phi(a.elem, 1, (a, taken), (b, before)) for a, b in zip(yes, no, strict=True)
            ])

    def _rare(self, position: int) -> Parts:
        """A ``where`` that computes its first choice only if some lane takes it."""
        value = self.plan.kernel.values[position]
        assert isinstance(value, Apply)
        if (self.depth, position) not in self.plan.units:
            return self._value(position, value)
        f, count = self.f, self.lanes.count if self.plan.vector(position) else 1
        usual = self.operand(value.args[2], count)
        some = scalar.any_lane(f, self.operand(value.args[0], count)[0])
        before, seldom, after = f.block, f.name_for("seldom"), f.name_for("after")
        f.branch(f.negate(some), after, seldom, likely=count == 1)
        f.label(seldom)
        self._evaluate(position)
        chosen = self.operand(value.args[1], 1) if count == 1 else self._value(position, value)
        last = f.block
        f.jump(after)
        f.label(after)
        return tuple(
            f.phi(u.elem, u.lanes, (u, before), (c, last))
            for u, c in zip(usual, chosen, strict=True)
        )

    def _value(self, position: int, value: object) -> Parts:
        count = self.lanes.count if self.plan.vector(position) else 1
        if isinstance(value, Apply):
            return self._applied(position, value, count)
        match value:
            case Load(buffer, at, _) if self.slots.holds(buffer):
                parts = self.slots.number(buffer)
                return tuple(parts[k] for k in access.parts(buffer.dtype, at.part))
            case Load(buffer, at, _, by):
                lanes = self.lanes if self.plan.vector(position) else access.ALL
                place = self.place(buffer, at, by)
                run = self.plan.runs.get(position)
                if run and self.loaded is not None and lanes == Lanes(self.plan.lanes):
                    return (register_shift.load(self.f, self.loaded, *run, place, lanes),)
                return access.load(self.f, place, lanes)
            case Constant(number, dtype):
                return scalar.constant(number, dtype)
            case AxisIndex(axis):
                return (self._axis_index(axis, count),)
            case SizeValue(size):
                return (self.sizes(size),)
        raise AssertionError(value)

    def _applied(self, position: int, value: Apply, count: int) -> Parts:
        match value:
            case Apply("div", (a, b)) if count == self.plan.lanes and b in self.divisors:
                width = self.plan.target.width
                return (quotients.divide(self.f, self.operand(a, count)[0], self.divisors[b],
                                         width),)
            case Apply(op, args) if position in self.plan.products and self._many(count):
                numbers = [self.operand(arg, count)[0] for arg in args]
                return (square_roots.apply(self.f, op, numbers, in_turns=self.plan.in_turns),)
            case Apply("where", args) if not self.plan.order and branched_updates.by_order(
                    self.plan.kernel.values, value):
                return (self._by_order(args),)
            case Apply("where", args) if not self.plan.order and branched_updates.from_the_end(
                    self.plan.kernel.values, value):
                return (self._from_the_end(args),)
            case Apply("where", (condition, a, b), dtype) if (
                    not self.plan.order and self.values[a][0].elem in ("double", "float")):
                mask = (self._mask(condition),)
                return scalar.apply(self.f, self.plan.target, "where", [dtype],
                                    [mask, self.values[a], self.values[b]], dtype)
        operands = [self.operand(a, count) for a in value.args]
        dtypes = [self.plan.kernel.values[a].dtype for a in value.args]
        return scalar.apply(self.f, self.plan.target, value.op, dtypes, operands, value.dtype,
                            value.attrs)

    def _many(self, count: int) -> bool:
        """Whether this is computed for whole vectors, one after the other."""
        return count == self.plan.lanes and self.lanes.mask is None and not self.waits

    def _by_order(self, args: tuple[int, ...]) -> Value:
        condition = self.plan.kernel.values[args[0]]
        assert isinstance(condition, Apply)
        (yes,), (no,) = self.values[args[1]], self.values[args[2]]
        smallest = condition.args[0] == args[1]
        return intrinsics.chosen_by_order(self.f, self.plan.target, smallest, yes, no)

    def _from_the_end(self, args: tuple[int, ...]) -> Value:
        """An index by a branch, which is foretold: memory need not wait for what is chosen."""
        f, ((negative,), (counted,), (index,)) = self.f, (self.values[arg] for arg in args)
        before, seldom, after = f.block, f.name_for("seldom"), f.name_for("after")
        f.branch(f.negate(negative), after, seldom, likely=True)
        f.label(seldom)
        f.jump(after)
        f.label(after)
        return f.phi(index.elem, 1, (index, before), (counted, seldom))

    def _mask(self, position: int) -> Value:
        """What a choice between two floats depends on: in a mask register at once, where a
        comparison of floats can put it there."""
        bit, condition = self.values[position][0], self.plan.kernel.values[position]
        if not self.plan.target.masks or bit.lanes > 1 or not bit.text.startswith("%"):
            return bit
        if isinstance(condition, Apply) and condition.op in ("lt", "le", "eq", "ne"):
            a, b = (self.values[arg] for arg in condition.args)
            if len(a) == 1 and a[0].elem in ("double", "float"):
                return intrinsics.compared(self.f, condition.op, a[0], b[0])
        return intrinsics.whole_register(self.f, bit)

    def operand(self, position: int, count: int) -> Parts:
        """A value with this many lanes."""
        parts = self.values[position]
        if parts[0].lanes == count:
            return parts
        if count == self.plan.lanes and position in self.wide:
            return self.wide[position]
        return tuple(self.f.splat(part, count) for part in parts)

    def _axis_index(self, axis: int, count: int) -> Value:
        index = self.index[axis]
        if count == 1:
            return index
        first = self.f.splat(index, count)
        each = self.f.binary("add", first, vector_literal("i64", range(count)))
        return each if self.lanes.mask is None else self.f.select(self.lanes.mask, each, first)

    # ------------------------------------------------------------------ memory

    def _element(self, buffer: Buffer, at: Index, whole: bool) -> ElementAddress:
        """One element, by one index: so that LLVM sees which one the iteration before has
        stored."""
        address, constant = access.split(buffer, at)
        pointer, offset = self.slots.row(buffer, address.offset)
        if at.offset != 0:
            index = self.sizes(offset)
            if constant:
                index = self.f.binary("add", index, literal("i64", constant))
            unit = access.element_type(buffer.dtype)
            whole = whole and offset == address.offset
            pointer = self.f.offset(pointer, unit, index, inside=whole)
        return ElementAddress(
            pointer, buffer.dtype, at.part, literal("i64", 0), self.slots.notes(buffer)
        )

    def place(self, buffer: Buffer, at: Index, by: int | None = None) -> ElementAddress:
        if self.plan.order:
            place = self._across(buffer, at)
        else:
            place = self._element(buffer, at, by is None)
        return place if by is None else access.further(self.f, place, self.values[by][0])

    def _across(self, buffer: Buffer, at: Index) -> ElementAddress:
        address, constant = access.split(buffer, at)
        pointer = self.pointers[address]
        constant -= self.plan.accesses[address]
        if constant:
            unit = access.element_type(buffer.dtype)
            pointer = self.f.offset(pointer, unit, literal("i64", constant))
        axis = self.plan.lane_axis
        step: Size = at.coefficients[axis] if axis >= 0 else 0
        return ElementAddress(
            pointer, buffer.dtype, at.part, self.sizes(step), self.slots.notes(buffer)
        )

    def ask_ahead(self, usual: int | Value, near: bool = False) -> None:
        """Asks for what the next iteration loads, else for what is loaded so many bytes later (0:
        for nothing), or for other rows if several iterations read the same, into the second cache
        or into the first (``near``); for elements near each other once."""
        asked: set[Address] = set()
        for position, load in enumerate(self.plan.kernel.values):
            if not isinstance(load, Load) or load.by is not None or load.at.coefficients[-1] != 1:
                continue
            far, row = self.plan.ahead[position], self.plan.rows.get(position)
            address, _ = access.split(load.buffer, load.at)
            if address in asked or (far is None and (usual == 0 or row == 0)):
                continue
            asked.add(address)
            size = load.buffer.dtype.itemsize
            if far is not None:
                if far != 0:
                    self._ask(load, self._distance(far * size))
            elif row is not None:
                ahead = self.f.binary("shl", self.sizes(row * size), i64(ROWS))
                self._ask(load, ahead if near else self._rows_ahead(row * size), near)
            else:
                self._ask(load, i64(usual) if isinstance(usual, int) else usual)

    def _ask(self, load: Load, distance: Value, near: bool = True) -> None:
        place = self.f.offset(self.place(load.buffer, load.at).pointer, "i8", distance)
        for line in range(0, self.plan.lanes * load.buffer.dtype.itemsize, LINE):
            self.f.prefetch(self.f.offset(place, "i8", i64(line)), near)

    def written_ahead(self) -> Value | None:
        """How many bytes before they are stored lines had better be asked for, if the kernel is
        called in turns and loads only what others have loaded: iterations store long after each
        other, so processors don't foresee it, and wait for each line that is not in a near
        cache."""
        if self.plan.fresh or self.plan.total == 0:
            return None
        most = i64(WRITTEN_FROM // self.plan.touched())
        far = self.f.icmp("slt", most, self.sizes(self.plan.total))
        return self.f.select(far, i64(WRITTEN_AHEAD), i64(0))

    def ask_to_write(self, distance: Value) -> None:
        """Asks for what is stored so many bytes later."""
        for store in self.plan.kernel.stores:
            if store.by is None and store.mask is None and store.at.coefficients[-1] == 1:
                place = self.f.offset(self.place(store.buffer, store.at).pointer, "i8", distance)
                for line in range(0, self.plan.lanes * store.buffer.dtype.itemsize, LINE):
                    self.f.prefetch(self.f.offset(place, "i8", i64(line)), written=True)

    def _distance(self, far: Size) -> Value:
        """Bytes to the next iteration's, or none if that is far away."""
        return self.f.select(self.f.icmp("ule", self.sizes(far), i64(FAR)), self.sizes(far), i64(0))

    def _rows_ahead(self, row: Size) -> Value:
        """Bytes to a row some iterations later, which are fewer the longer it is."""
        f, one = self.f, self.sizes(row)
        some = f.binary("shl", one, i64(ROWS))
        few = f.select(f.icmp("ule", one, i64(FAR)), one, i64(AHEAD))
        return f.select(f.icmp("ule", some, i64(FAR // 2)), some, few)

    def store(self, store: Store, streaming: bool = False, past: Value | None = None) -> None:
        if self.slots.holds(store.buffer) and store.mask is None and not store.at.part:
            self.slots.set_number(store.buffer, self.values[store.value])
            return
        place = self.place(store.buffer, store.at, store.by)
        axis = self.plan.lane_axis
        by_lane = store.by is not None and self.plan.vector(store.by)
        moves = by_lane or (axis >= 0 and store.at.coefficients[axis] != 0)
        lanes = self.lanes if moves else access.ALL
        values = self.operand(store.value, self.lanes.count)
        if not moves:
            values = tuple(self.f.extract(part, 0) for part in values)
        if store.mask is not None:
            (chosen,) = self.operand(store.mask, self.lanes.count)
            chosen = chosen if moves else self.f.extract(chosen, 0)
            if lanes.mask is not None:
                chosen = self.f.binary("and", chosen, lanes.mask)
            lanes = Lanes(lanes.count, chosen)
        width = self.plan.target.width if streaming else 0
        access.store(self.f, place, values, lanes, width, past)

    def stores(self, streaming: bool = False, past: Value | None = None) -> None:
        """``streaming``: whole vectors go past the cache; ``past``: whether masked ones do."""
        for store in self.plan.kernel.stores:
            if not store.packed:
                self.store(store, streaming, past)

    def pack(self, count: Value, many: Value = ALL_ONES) -> Value:
        """Packs the elements of this scope behind ``count`` that are there; how many then are.
        Unless ``many`` has ones, most vectors have none."""
        f, lanes, packed = self.f, self.lanes, [s for s in self.plan.kernel.stores if s.packed]
        assert packed[0].mask is not None
        (mask,) = self.operand(packed[0].mask, lanes.count)
        if lanes.mask is not None:
            mask = f.binary("and", mask, lanes.mask)

        def put() -> None:
            for store in packed:
                place = access.further(f, self.place(store.buffer, store.at), count)
                access.pack(f, place, self.operand(store.value, lanes.count), mask,
                            self.plan.target.masks)

        if lanes.count == 1:
            put()
            return f.binary("add", count, f.convert("zext", mask, "i64"))
        bits = f.op(f"bitcast {mask.typed} to i{lanes.count}", f"i{lanes.count}")
        if bits.elem != "i64":
            many = f.convert("trunc", many, bits.elem)
        with f.when(f.icmp("ne", f.binary("or", bits, many), literal(bits.elem, 0))):
            put()
        more = f.intrinsic("ctpop", bits)
        more = more if more.elem == "i64" else f.convert("zext", more, "i64")
        return f.binary("add", count, more)


def owners(kernel: Kernel, depth: Sequence[int] = ()) -> dict[int, int]:
    """Values that only the seldom chosen operand of a ``rare`` needs, and that ``rare``; only those
    of its depth if depths are given."""
    values = kernel.values
    rares = {k: v for k, v in enumerate(values) if isinstance(v, Apply) and v.op == "rare"}
    if not rares:
        return {}
    uses: list[list[tuple[int, int]]] = [[] for _ in values]
    for user, using in enumerate(values):
        if isinstance(using, Apply):
            for place, arg in enumerate(using.args):
                uses[arg].append((user, place))
    pinned = {v for s in kernel.stores for v in (s.value, s.mask, s.by)}
    pinned |= {v.by for v in values if isinstance(v, Load)}
    pinned |= {reduce.value for reduce in kernel.reductions}
    owner: dict[int, int] = {}
    for rare, value in rares.items():
        inside: set[int] = set()
        waiting, seen = [-value.args[1]], set(value.args[1:2])
        while waiting:  # the last one first, whose users are all known then
            p = -heappop(waiting)
            own = values[p]
            if (p not in pinned and isinstance(own, Apply)
                    and (not depth or depth[p] == depth[rare])
                    and all(u in inside or (u, k) == (rare, 1) for u, k in uses[p])):
                inside.add(p)
                owner.setdefault(p, rare)  # an inner rare came first
                for arg in own.args:
                    if arg not in seen:
                        seen.add(arg)
                        heappush(waiting, -arg)
    return owner


def widest(kernel: Kernel, but: Container[int] = ()) -> int:
    """Bytes of the widest part in registers that differs between lanes, float16 being computed
    with as float32; ``but`` are values that are not computed, others seldom are."""
    sizes, seldom = [1], owners(kernel)
    for position, value in enumerate(kernel.values):
        part = component(value.dtype)
        if (not isinstance(value, (Constant, SizeValue)) and part.kind != "b"
                and position not in but and position not in seldom):
            sizes.append(max(part.itemsize, 4) if part.kind == "f" else part.itemsize)
    return max(sizes)


def narrow_memory(kernel: Kernel) -> bool:
    """Whether elements of one or two bytes are loaded or stored."""
    dtypes: list[np.dtype] = [v.dtype for v in kernel.values if isinstance(v, Load)]
    dtypes += [s.buffer.dtype for s in kernel.stores]
    dtypes += [r.buffer.dtype for r in kernel.reductions]
    return any(component(dtype).itemsize < 4 for dtype in dtypes)


def one_by_one(kernel: Kernel) -> bool:
    """Whether lanes along the last axis are no gain: elements of one or two bytes stand apart, and
    little is done with each."""
    places: list[Load | Store] = [v for v in kernel.values if isinstance(v, Load)]
    places += kernel.stores
    return sum(isinstance(v, Apply) for v in kernel.values) <= SIMPLE and any(
        p.by is None and component(p.buffer.dtype).itemsize < 4
        and p.at.coefficients[-1] not in (-1, 0, 1) for p in places
    )


def masks_tail(plan: NestPlan) -> bool:
    """Whether the machine has masked accesses for all that the kernel touches."""
    return plan.lanes > 1 and (plan.target.masks or not narrow_memory(plan.kernel))


def pads(plan: NestPlan) -> bool:
    """Whether a kernel's rows had better be computed as :mod:`.tails` does, and can be: it reads
    and writes nothing but whole elements one after the other."""
    kernel, axis = plan.kernel, plan.lane_axis
    moving = [p for p, value in enumerate(kernel.values) if plan.vector(p)]
    loads = [v for v in (kernel.values[p] for p in moving) if isinstance(v, Load)]
    operations = sum(isinstance(kernel.values[p], Apply) for p in moving)
    places: list[Load | Store] = [*loads, *kernel.stores]
    return (
        masks_tail(plan)
        and not kernel.in_order
        and operations >= max(HEAVY, EACH * len(places))
        and not any(isinstance(kernel.values[p], AxisIndex) for p in moving)
        and all(p.by is None and p.at.coefficients[axis] == 1 for p in places)
        and all(s.mask is None and not s.at.part for s in kernel.stores)
        and all(plan.accesses[address] == constant
                for address, constant in (access.split(p.buffer, p.at) for p in places))
    )


def divisors(kernel: Kernel, varies: list[bool]) -> frozenset[int]:
    """The values that are the same in all lanes and divide one that is not."""
    return frozenset(
        v.args[1] for v in kernel.values
        if isinstance(v, Apply) and v.op == "div" and v.dtype.char in "fd"
        and varies[v.args[0]] and not varies[v.args[1]]
    )
