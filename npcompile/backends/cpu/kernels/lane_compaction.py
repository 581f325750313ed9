"""Subprograms of many vectors of doubles, whose lanes are sorted by the arms that they take.

An arm of a choice outside of loops runs on registers that are full of lanes which take it: what
it needs is packed into rooms on the stack, and its results go back to their lanes.  So numbers
that need different algorithms cost little more than each alone.  Numbers with the operands of the
first one, such as lanes beyond the end of a row repeat, take what that one gets.
"""

from __future__ import annotations

from collections.abc import Iterator

from npcompile.backends.cpu.kernels.subprogram_bodies import VectorArm, operation
from npcompile.backends.cpu.llvm import scalar
from npcompile.backends.cpu.llvm.scalar import Parts
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, literal, vector_literal
from npcompile.backends.target import Target
from npcompile.backends.target.x86_64 import instruction
from npcompile.graph.ir import Const, Get, Node, Region, Subprogram

Registers = list[Parts]  # a value, as many times as there are registers


def captured(region: Region) -> list[Node]:
    """What a region needs from outside."""
    needed: dict[Node, None] = {}
    inside: set[Node] = set()

    def walk(part: Region) -> None:
        inside.update(part.params)
        for node in part.nodes:
            needed.update(dict.fromkeys(node.args))
            inside.add(node)
            for nested in node.regions:
                walk(nested)
        needed.update(dict.fromkeys(part.results))

    walk(region)
    return [node for node in needed if node not in inside and not isinstance(node.attrs, Const)]


def divide(f: LLVMFunction, value: Value, lanes: int) -> list[Value]:
    """A vector's parts of so many lanes."""
    return [f.shuffle(value, value, range(first, first + lanes))
            for first in range(0, value.lanes, lanes)]


def join(f: LLVMFunction, parts: list[Value]) -> Value:
    """A vector of all lanes of some, a power of two of them."""
    while len(parts) > 1:
        parts = [f.shuffle(a, b, range(2 * a.lanes)) for a, b in zip(parts[::2], parts[1::2])]
    return parts[0]


class Packed:
    """Writes the body of a subprogram for so many lanes, in registers."""

    def __init__(self, f: LLVMFunction, target: Target, lanes: int) -> None:
        self.f, self.target, self.lanes = f, target, target.width // 8
        self.count = lanes // self.lanes
        self.values: dict[Node, Registers] = {}
        self.several: dict[Node, list[Registers]] = {}
        self.fresh: list[Value] = []  # lanes that are not as the first one

    def whole(self, region: Region, params: list[Value]) -> Value:
        """The results, for operands of all lanes."""
        f, lanes = self.f, self.lanes
        for node, param in zip(region.params, params, strict=True):
            self.values[node] = [(part,) for part in divide(f, param, lanes)]
        self.fresh = list(self._fresh(region.params))
        for node in region.nodes:
            self.node(node)
        found = [part for (part,) in self.registers(region.results[0])]
        first = f.splat(f.extract(found[0], 0), lanes)
        return join(f, [f.select(mask, part, first)
                        for mask, part in zip(self.fresh, found, strict=True)])

    def _fresh(self, params: list[Node]) -> Iterator[Value]:
        f, lanes = self.f, self.lanes
        bits = [[f.bitcast(part, "i64") for (part,) in self.values[node]] for node in params]
        firsts = [f.splat(f.extract(registers[0], 0), lanes) for registers in bits]
        for k in range(self.count):
            mask = vector_literal("i1", [k == 0 and lane == 0 for lane in range(lanes)])
            for registers, first in zip(bits, firsts, strict=True):
                mask = f.binary("or", mask, f.icmp("ne", registers[k], first))
            yield mask

    def registers(self, node: Node) -> Registers:
        if isinstance(node.attrs, Const):
            return [scalar.constant(node.attrs.value, node.dtype, self.lanes)] * self.count
        return self.values[node]

    def node(self, node: Node) -> None:
        match node.op:
            case "const":
                pass
            case "if_":
                self.choose(node)
            case "get":
                assert isinstance(node.attrs, Get)
                self.values[node] = self.several[node.args[0]][node.attrs.index]
            case "call":
                self.call(node)
            case _:
                args = [self.registers(a) for a in node.args]
                self.values[node] = [operation(self.f, self.target, node, [a[k] for a in args])
                                     for k in range(self.count)]

    def call(self, node: Node) -> None:
        """A subprogram of all lanes, or of each register."""
        assert isinstance(node.attrs, Subprogram)
        args = [[part for (part,) in self.registers(a)] for a in node.args]
        if self.count != node.attrs.registers:
            self.values[node] = [operation(self.f, self.target, node, [(a[k],) for a in args])
                                 for k in range(self.count)]
            return
        whole: list[Parts] = [(join(self.f, registers),) for registers in args]
        found, = operation(self.f, self.target, node, whole)
        self.values[node] = [(part,) for part in divide(self.f, found, self.lanes)]

    def choose(self, node: Node) -> None:
        f = self.f
        condition = [part for (part,) in self.registers(node.args[0])]
        yes, no = node.regions
        found = [self.registers(r) if not no.nodes else self._zeros(r) for r in no.results]
        for arm, masks in ((no, map(f.negate, condition)), (yes, iter(condition))):
            if arm.nodes:
                taken = [f.binary("and", a, b) for a, b in zip(masks, self.fresh, strict=True)]
                found = self.run(arm, taken, found)
            else:
                found = [[(f.select(mask, a, b),) for mask, (a,), (b,) in zip(
                    masks, self.registers(r), before, strict=True)]
                    for r, before in zip(arm.results, found, strict=True)]
        self.several[node] = found

    def _zeros(self, node: Node) -> Registers:
        return [scalar.constant(0, node.dtype, self.lanes)] * self.count

    def run(self, arm: Region, taken: list[Value], others: list[Registers]) -> list[Registers]:
        """An arm's results in lanes that take it, ``others`` elsewhere."""
        f = self.f
        places, total = self._places(taken)
        some, after, before = f.name_for("some"), f.name_for("after"), f.block
        f.branch(f.icmp("ne", total, i64(0)), some, after)
        f.label(some)
        rooms = self._run(arm, taken, places, total)
        found = [
            [one.unpack(mask, place, part)
             for mask, place, (part,) in zip(taken, places, registers, strict=True)]
            for one, registers in zip(rooms, others, strict=True)
        ]
        last = f.block
        f.jump(after)
        f.label(after)
        return [
            [(f.phi(part.elem, part.lanes, (part, before), (new, last)),)
             for (part,), new in zip(old, registers, strict=True)]
            for old, registers in zip(others, found, strict=True)
        ]

    def _run(self, arm: Region, taken: list[Value], places: list[Value],
             total: Value) -> list[_PackedRoom]:
        """An arm's packed results."""
        f, lanes = self.f, self.lanes
        given = captured(arm)
        rooms = [[_PackedRoom(f, part, self.count * lanes) for part in self.values[node][0]]
                 for node in given]
        for node, room in zip(given, rooms, strict=True):
            for mask, place, parts in zip(taken, places, self.values[node], strict=True):
                for one, part in zip(room, parts, strict=True):
                    one.pack(part, mask, place)
        inside = VectorArm(f, self.target, lanes)
        back: list[_PackedRoom] = []
        with f.loop(i64(0), total, lanes, rolled=True) as loop:
            left = f.splat(f.binary("sub", total, loop.index), lanes)
            valid = f.icmp("slt", vector_literal("i64", range(lanes)), left)
            for node, room in zip(given, rooms, strict=True):
                inside.values[node] = tuple([one.among(valid, loop.index) for one in room])
            inside.region(arm)
            for result in map(inside.value, arm.results):
                back.append(_PackedRoom(f, result, self.count * lanes))
                back[-1].store(result, loop.index)
        return back

    def _places(self, taken: list[Value]) -> tuple[list[Value], Value]:
        """Where the lanes of each register begin that are taken, and how many there are."""
        f, places = self.f, [i64(0)]
        for mask in taken:
            word = f.op(f"bitcast {mask.typed} to i{self.lanes}", f"i{self.lanes}")
            number = f.convert("zext", f.intrinsic("ctpop", word), "i64")
            places.append(f.binary("add", places[-1], number))
        return places[:-1], places[-1]


class _PackedRoom:
    """Room on the stack for packed lanes of a value, a register more than there can be."""

    def __init__(self, f: LLVMFunction, like: Value, count: int) -> None:
        self.f, self.elem, self.lanes = f, like.elem, like.lanes
        self.stored = "i64" if like.elem == "i1" else like.elem
        self.room = f.alloca(self.stored, count + like.lanes)

    def _at(self, place: Value) -> Value:
        return self.f.offset(self.room, self.stored, place)

    def _load(self, place: Value) -> Value:
        return self.f.load(self._at(place), self.stored, self.lanes, 8)

    def _narrow(self, value: Value) -> Value:
        if self.elem == self.stored:
            return value
        return self.f.icmp("ne", value, literal(self.stored, 0, self.lanes))

    def store(self, value: Value, place: Value) -> None:
        if self.elem != self.stored:
            value = self.f.convert("zext", value, self.stored)
        self.f.store(value, self._at(place), 8)

    def pack(self, value: Value, mask: Value, place: Value) -> None:
        """Stores some lanes from a place on."""
        if self.elem != self.stored:
            value = self.f.convert("zext", value, self.stored)
        rest = literal(self.stored, 0, self.lanes)
        name = instruction("pack", value.suffix)
        packed = self.f.call(name, (self.stored, self.lanes), value, rest, mask)
        self.f.store(packed, self._at(place), 8)

    def among(self, valid: Value, place: Value) -> Value:
        """A register; the first lane is valid, and stands for those that are not."""
        value = self._load(place)
        first = self.f.splat(self.f.extract(value, 0), self.lanes)
        return self._narrow(self.f.select(valid, value, first))

    def unpack(self, mask: Value, place: Value, others: Value) -> Value:
        """Lanes from a place on, where the mask holds."""
        value = self._load(place)
        none = literal(self.stored, 0, self.lanes)
        name = instruction("unpack", value.suffix)
        spread = self.f.call(name, (self.stored, self.lanes), value, none, mask)
        return self.f.select(mask, self._narrow(spread), others)
