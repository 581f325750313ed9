"""What runs an algorithm on small matrices: instructions on vectors, one matrix in each lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from npcompile.backends.cpu.linalg import lane_blocks
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, literal, type_text
from npcompile.linalg.small.numbers import (
    Index,
    Iteration,
    LaneBuilder,
    LaneMask,
    LaneNumber,
    MatrixAccess,
)

#: turns of a loop that are written one after the other, and elements that are kept in registers
UNROLLED, IN_REGISTERS = 4, 16
_EXPONENT = 0x7FF << 52
_INTRINSICS = frozenset({"fma", "sqrt", "fabs", "copysign"})


class LaneEmitter(LaneBuilder):
    """Writes an algorithm into a function."""

    def __init__(self, f: LLVMFunction, lanes: int) -> None:
        self.f, self.lanes = f, lanes
        self._failed: list[Value] = []
        self._room: Value | None = None  # what failed inside loops, or before them

    # ------------------------------------------------------------------ operations

    def emit(self, op: str, *values: Value) -> Value:
        f, a = self.f, values[0]
        if op in _INTRINSICS:
            return f.intrinsic(op, *values)
        if op == "select":
            return f.select(*values)
        if op == "not":
            return f.negate(a)
        if op == "fneg":
            return f.op(f"fneg {a.typed}", a.elem, a.lanes)
        if op.startswith("fcmp"):
            return f.op(f"{op} {a.typed}, {values[1].text}", "i1", a.lanes)
        if op == "power":
            bits = f.binary("and", f.bitcast(a, "i64"), literal("i64", _EXPONENT, a.lanes))
            return f.bitcast(bits, "double")
        if op == "log":
            return self._by_lanes("log", a)
        return f.binary(op, *values)

    def _by_lanes(self, name: str, a: Value) -> Value:
        """A function of the C library, lane by lane."""
        f, found = self.f, a
        for lane in range(a.lanes):
            value = f.call(name, ("double", 1), f.extract(a, lane))
            if a.lanes == 1:
                return value
            text = f"insertelement {found.typed}, {value.typed}, i64 {lane}"
            found = f.op(text, "double", a.lanes)
        return found

    def constant(self, number: float) -> LaneNumber:
        return LaneNumber(self, literal("double", number, self.lanes))

    def unit(self, i: Index, j: Index) -> LaneNumber:
        if isinstance(i, int) and isinstance(j, int):
            return self.constant(float(i == j))
        i, j = (i64(x) if isinstance(x, int) else x for x in (i, j))
        one = self.f.select(self.f.icmp("eq", i, j), literal("double", 1.0), literal("double", 0.0))
        return LaneNumber(self, self.f.splat(one, self.lanes))

    # ------------------------------------------------------------------ failing

    def fail(self, where: LaneMask) -> None:
        self._failed.append(where.value)

    def failed(self) -> Value:
        """The lanes that have failed."""
        self._keep()
        assert self._room is not None
        found = self.f.load(self._room, "i64", self.lanes, 64)
        return self.f.icmp("ne", found, literal("i64", 0, self.lanes))

    def _keep(self) -> None:
        """Notes in memory which lanes have failed: what is known before a loop is not what its
        turns find."""
        f, zero = self.f, literal("i64", 0, self.lanes)
        if self._room is None:
            self._room = f.alloca("i64", self.lanes)
            f.store(zero, self._room, 64)
        if self._failed:
            mask = self._failed[0]
            for other in self._failed[1:]:
                mask = f.binary("or", mask, other)
            before = f.load(self._room, "i64", self.lanes, 64)
            now = f.select(mask, literal("i64", -1, self.lanes), before)
            f.store(now, self._room, 64)
            self._failed.clear()

    # ------------------------------------------------------------------ loops

    def each(self, count: int, body: Callable[[Index], None]) -> None:
        if count <= UNROLLED:
            for index in range(count):
                body(index)
            return
        self._keep()
        with self.f.loop(i64(0), i64(count)) as running:
            body(running.index)
            self._keep()

    def settle(self, state: Sequence[LaneNumber], most: int, iteration: Iteration
               ) -> list[LaneNumber]:
        f = self.f
        self._keep()
        active = literal("i1", True, self.lanes)
        with f.cycle([*[x.value for x in state], active, i64(0)]) as running:
            *values, active, count = running.carried
            found, again = iteration([LaneNumber(self, value) for value in values])
            self._keep()
            kept = [f.select(active, x.value, value) for x, value in zip(found, values)]
            active, count = f.binary("and", active, again.value), f.binary("add", count, i64(1))
            running.goes_on([*kept, active, count])
            running.repeats(f.binary("and", self.any(active), f.icmp("slt", count, i64(most))))
        self.fail(LaneMask(self, active))
        return [LaneNumber(self, value) for value in kept]

    def any(self, mask: Value) -> Value:
        """Whether a condition holds in some lane."""
        if mask.lanes == 1:
            return mask
        bits = self.f.op(f"bitcast {mask.typed} to i{mask.lanes}", f"i{mask.lanes}")
        return self.f.icmp("ne", bits, literal(f"i{mask.lanes}", 0))


class LaneMatrix(MatrixAccess):
    """An operand or result: vectors, in registers or in memory of the function's own, and records
    of ``elem`` in memory of others."""

    def __init__(self, k: LaneEmitter, rows: int, columns: int, elem: str) -> None:
        super().__init__(rows, columns)
        self.k, self.elem, self.count = k, elem, rows * columns
        in_registers = self.count <= IN_REGISTERS and columns <= UNROLLED
        self._room = None if in_registers else k.f.alloca("double", self.count * k.lanes)
        self._values: dict[int, Value] = {}

    # ------------------------------------------------------------------ vectors

    def __getitem__(self, at: tuple[Index, Index]) -> LaneNumber:
        i, j = at
        if self._room is None:
            return LaneNumber(self.k, self._values[i * self.columns + j])
        return LaneNumber(self.k, self._load(self._place(i, j)))

    def __setitem__(self, at: tuple[Index, Index], value: LaneNumber) -> None:
        i, j = at
        if self._room is None:
            self._values[i * self.columns + j] = value.value
        else:
            self._store(self._place(i, j), value.value)

    def _place(self, i: Index, j: Index) -> Value:
        if isinstance(i, int) and isinstance(j, int):
            return i64(i * self.columns + j)
        assert isinstance(i, int)
        return self.k.f.binary("add", i64(i * self.columns), j)

    def _vector(self, at: Value) -> Value:
        assert self._room is not None
        return self.k.f.offset(self._room, type_text("double", self.k.lanes), at)

    def _load(self, at: Value) -> Value:
        return self.k.f.load(self._vector(at), "double", self.k.lanes, 8 * self.k.lanes)

    def _store(self, at: Value, value: Value) -> None:
        self.k.f.store(value, self._vector(at), 8 * self.k.lanes)

    # ------------------------------------------------------------------ records

    def read(self, pointer: Value, stride: Value) -> None:
        """Loads a record for each lane."""
        def block(start: Value, size: int, known: int | None) -> None:
            where = f.offset(pointer, self.elem, start)
            vectors = lane_blocks.load(f, where, stride, self.elem, size, k.lanes)
            for j, vector in enumerate(vectors):
                if self.elem != "double":
                    vector = f.convert("fpext", vector, "double")
                if known is None or self._room is not None:
                    self._store(f.binary("add", start, i64(j)), vector)
                else:
                    self._values[known + j] = vector

        k, f = self.k, self.k.f
        self._blocks(block)

    def write(self, pointer: Value, stride: Value) -> None:
        """Stores a record for each lane; a lane fails if a number is infinite or NaN."""
        def block(start: Value, size: int, known: int | None) -> None:
            vectors = []
            for j in range(size):
                if known is None or self._room is not None:
                    vector = self._load(f.binary("add", start, i64(j)))
                else:
                    vector = self._values[known + j]
                if self.elem != "double":
                    vector = f.convert("fptrunc", vector, self.elem)
                vectors.append(vector)
            self._check(vectors)
            where = f.offset(pointer, self.elem, start)
            lane_blocks.store(f, vectors, where, stride)

        f = self.k.f
        self._blocks(block)

    def _check(self, vectors: list[Value]) -> None:
        f, zero = self.k.f, literal(self.elem, 0.0, self.k.lanes)
        found = zero
        for vector in vectors:
            found = f.intrinsic("fma", vector, zero, found)
        bad = f.op(f"fcmp uno {found.typed}, {found.text}", "i1", found.lanes)
        self.k.fail(LaneMask(self.k, bad))

    def _blocks(self, block: Callable[[Value, int, int | None], None]) -> None:
        """Calls ``block`` with the place and size of each; the place is a number if known."""
        lanes = self.k.lanes
        whole = self.count // lanes * lanes if self._room is not None else 0
        if whole <= lanes:
            whole = 0
        if whole:
            self.k._keep()
            with self.k.f.loop(i64(0), i64(whole), lanes) as running:
                block(running.index, lanes, None)
                self.k._keep()
        for start, size in lane_blocks.blocks(self.count - whole, lanes):
            block(i64(whole + start), size, whole + start)
