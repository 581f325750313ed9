"""Codelets: one pass of a transform over its points, in straight-line code.

::

    void codelet(void *source, void *target, const int64_t *step, const int64_t *call)

``step`` holds what the plan says of the pass and ``call`` what one call does (:mod:`.steps`).  The
real and imaginary parts lie apart in scratch memory and in registers; only arrays of the user have
them in pairs.  A lane's arithmetic is the same whatever lies in the other lanes, so the bits don't
depend on the width of registers, nor on which axis is transformed.  Where a loop does not divide
into vectors, the last one begins earlier and computes some points again.
"""

from __future__ import annotations

from npcompile.backends.cpu.llvm.text import LLVMFunction, LLVMModule, Value, i64, literal, poison
from npcompile.backends.cpu.transforms.formats import GRID, ROWS, SIZE, Codelet, NumberFormat
from npcompile.backends.cpu.transforms.steps import CALL, WORD
from npcompile.fft.butterflies import ComplexArithmetic

Pair = tuple[Value, Value]


class VectorArithmetic:
    """Arithmetic on vectors."""

    def __init__(self, f: LLVMFunction, elem: str, lanes: int) -> None:
        self.f, self.elem, self.lanes = f, elem, lanes

    def add(self, a: Value, b: Value) -> Value:
        return self.f.binary("fadd", a, b)

    def sub(self, a: Value, b: Value) -> Value:
        return self.f.binary("fsub", a, b)

    def mul(self, a: Value, b: Value) -> Value:
        return self.f.binary("fmul", a, b)

    def neg(self, a: Value) -> Value:
        return self.f.op(f"fneg {a.typed}", a.elem, a.lanes)

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        return self.f.intrinsic("fma", a, b, c)

    def constant(self, number: float) -> Value:
        return literal(self.elem, number, self.lanes)


class CodeletWriter:
    """Writes the module of a codelet."""

    def __init__(self, codelet: Codelet) -> None:
        params = [("ptr", name) for name in ("source", "target", "step", "call")]
        self.f = LLVMFunction(LLVMModule(), f'"{codelet.name}"', "void", params, internal=False)
        self.codelet = codelet
        self.size = SIZE[codelet.elem]
        self.source, self.target, self.step, self.call = self.f.params
        self.vector = VectorArithmetic(self.f, codelet.elem, codelet.lanes)
        self.math = ComplexArithmetic(self.vector)

    # ------------------------------------------------------------ words and places

    def word(self, name: str) -> Value:
        return self.f.load(self.f.offset(self.step, "i64", i64(WORD[name])), "i64")

    def of_call(self, name: str) -> Value:
        return self.f.load(self.f.offset(self.call, "i64", i64(CALL[name])), "i64")

    def unit(self, name: str) -> Value:
        """What the strides of an end are multiples of: a word of the call."""
        return self.f.load(self.f.offset(self.call, "i64", self.word(name)), "i64")

    def times(self, a: Value, b: Value | int) -> Value:
        return self.f.binary("mul", a, i64(b) if isinstance(b, int) else b)

    def plus(self, a: Value, b: Value) -> Value:
        return self.f.binary("add", a, b)

    def strides(self, end: str) -> tuple[Value, Value, Value]:
        """From line to line, from operand to operand, and from real to imaginary parts."""
        unit, parts = self.unit(f"{end}_unit"), self.word(f"{end}_parts")
        form = self.codelet.source if end == "source" else self.codelet.target
        return (self.times(self.word(f"{end}_line"), unit),
                self.times(self.word(f"{end}_point"), unit),
                self.times(parts, unit) if form.layout in ROWS else parts)

    def at(self, pointer: Value, away: Value) -> Value:
        return self.f.offset(pointer, "i8", away)

    def clamped(self, index: Value, count: Value) -> Value:
        """Where a vector begins that must end before ``count``."""
        last = self.f.binary("sub", count, i64(self.codelet.lanes))
        return self.f.call("llvm.smin.i64", ("i64", 1), index, last)

    # ------------------------------------------------------------ numbers in memory

    def read(self, form: NumberFormat, pointer: Value, parts: Value, lanes: int) -> Pair:
        f, size = self.f, SIZE[form.elem]
        if form.layout in ("split", *ROWS):
            re, im = (self.widened(f.load(pointer, form.elem, lanes, size)),
                      self.widened(f.load(self.at(pointer, parts), form.elem, lanes, size)))
            return (im, re) if form.layout == "turned" else (re, im)
        if form.layout == "real":
            zero = literal(self.codelet.elem, 0.0, lanes)
            return self.widened(f.load(pointer, form.elem, lanes, size)), zero
        both = f.load(pointer, form.elem, 2 * lanes, size)
        nothing = poison(form.elem, 2 * lanes)
        re, im = (self.widened(f.shuffle(both, nothing, range(k, 2 * lanes, 2))) for k in (0, 1))
        return (im, re) if form.layout == "swapped" else (re, im)

    def write(self, form: NumberFormat, value: Pair, pointer: Value, parts: Value) -> None:
        f, size = self.f, SIZE[form.elem]
        re, im = (self.narrowed(part, form.elem) for part in value)
        if form.layout in ("swapped", "turned"):
            re, im = im, re
        if form.layout == "real":
            f.store(re, pointer, size)
        elif form.layout in ("split", *ROWS) or re.lanes == 1:
            f.store(re, pointer, size)
            apart = i64(size) if form.layout in ("pairs", "swapped") else parts
            f.store(im, self.at(pointer, apart), size)
        else:
            order = [k + part for k in range(re.lanes) for part in (0, re.lanes)]
            f.store(f.shuffle(re, im, order), pointer, size)

    def widened(self, value: Value) -> Value:
        same = value.elem == self.codelet.elem
        return value if same else self.f.convert("fpext", value, self.codelet.elem)

    def narrowed(self, value: Value, elem: str) -> Value:
        return value if value.elem == elem else self.f.convert("fptrunc", value, elem)

    def scale_of_call(self) -> Value:
        f = self.f
        number = f.load(f.offset(self.call, "i64", i64(CALL["scale"])), "double")
        if self.codelet.elem == "float":
            number = f.convert("fptrunc", number, "float")
        return number

    def scaled(self, values: list[Pair], scale: Value | None) -> list[Pair]:
        if scale is None:
            return values
        by = self.f.splat(scale, values[0][0].lanes)
        return [(self.vector.mul(re, by), self.vector.mul(im, by)) for re, im in values]

    # ------------------------------------------------------------ shapes

    def text(self) -> str:
        """The module."""
        getattr(self, self.codelet.shape)()
        self.f.do("ret void")
        return self.f.module.text()

    def lines(self) -> None:
        """Any number of lines, along which neighbours lie in lanes."""
        f, codelet, radix = self.f, self.codelet, self.codelet.radix
        along = self.times(self.word("along"), self.of_call("width"))
        from_line, from_point, from_parts = self.strides("source")
        to_line, to_point, to_parts = self.strides("target")
        table = self.f.load(f.offset(self.step, "i64", i64(WORD["table"])), "ptr")
        scale = self.scale_of_call() if codelet.scaled else None
        with f.loop(i64(0), self.word("lines")) as line:
            source = self.at(self.source, self.times(line.index, from_line))
            target = self.at(self.target, self.times(line.index, to_line))
            factors = self.line_factors(table, line.index) if codelet.factors else []
            with f.loop(i64(0), along, codelet.lanes) as loop:
                index = self.clamped(loop.index, along)
                place = self.at(source, self.times(index, codelet.source.bytes))
                x = self.points(place, from_point, from_parts)
                y = self.math.transform(x)
                y[1:] = [self.math.mul(v, w) for v, w in zip(y[1:], factors)] or y[1:]
                if codelet.grid:
                    y = self.on_grid(y, table, line.index, index)
                place = self.at(target, self.times(index, codelet.target.bytes))
                for k, value in enumerate(self.scaled(y, scale)):
                    self.write(codelet.target, value, place, to_parts)
                    if k < radix - 1:
                        place = self.at(place, to_point)

    def points(self, place: Value, stride: Value, parts: Value) -> list[Pair]:
        found = []
        for k in range(self.codelet.radix):
            found.append(self.read(self.codelet.source, place, parts, self.codelet.lanes))
            if k < self.codelet.radix - 1:
                place = self.at(place, stride)
        return found

    def line_factors(self, table: Value, line: Value) -> list[Pair]:
        f, elem, count = self.f, self.codelet.elem, self.codelet.radix - 1
        row = f.offset(table, elem, self.times(line, 2 * count))

        def number(k: int) -> Value:
            return f.splat(f.load(f.offset(row, elem, i64(k)), elem), self.codelet.lanes)

        return [(number(2 * k), number(2 * k + 1)) for k in range(count)]

    def on_grid(self, y: list[Pair], table: Value, line: Value, index: Value) -> list[Pair]:
        """Products with ``w**(row column)``: a factor for every :data:`GRID` columns, and one for
        those between, whatever is in a vector.  ``lines`` rows lie between two results."""
        f, elem, lanes = self.f, self.codelet.elem, self.codelet.lanes
        column = self.plus(self.of_call("first"), index)
        block, within = (f.binary("sdiv", column, i64(GRID)), f.binary("and", column,
                                                                       i64(GRID - 1)))
        between, row, found = self.at(table, self.word("other")), line, []
        blocks, rows = self.word("extra"), self.word("lines")
        for value in y:
            place = f.offset(table, elem, self.times(self.plus(self.times(row, blocks), block), 2))
            w = [f.splat(f.load(f.offset(place, elem, i64(k)), elem), lanes) for k in (0, 1)]
            place = f.offset(between, elem, self.plus(self.times(row, 2 * GRID), within))
            v = [f.load(f.offset(place, elem, i64(k)), elem, lanes, self.size) for k in (0, GRID)]
            found.append(self.math.mul(value, self.math.mul((w[0], w[1]), (v[0], v[1]))))
            row = self.plus(row, rows)
        return found

    def transpose(self) -> None:
        """Rows to columns: ``along`` numbers of each neighbour, of which so many as there are in a
        vector are read at once."""
        f, codelet, lanes = self.f, self.codelet, self.codelet.lanes
        from_line, _, from_parts = self.strides("source")
        _, to_point, to_parts = self.strides("target")
        scale = self.scale_of_call() if codelet.scaled else None
        with f.loop(i64(0), self.word("along"), lanes) as loop:
            index = self.clamped(loop.index, self.word("along"))
            place = self.at(self.source, self.times(index, codelet.source.bytes))
            rows = []
            for _ in range(lanes):
                rows.append(self.read(codelet.source, place, from_parts, lanes))
                place = self.at(place, from_line)
            transposed = [interleaved_lanes(f, [row[part] for row in rows]) for part in (0, 1)]
            place = self.at(self.target, self.times(index, to_point))
            for re, im in zip(*transposed, strict=True):
                self.write(codelet.target, self.scaled([(re, im)], scale)[0], place, to_parts)
                place = self.at(place, to_point)

    def first(self) -> None:
        """Neighbouring points in lanes; point ``k`` of transform ``p`` goes to ``radix p + k``.
        The factors of a vector lie one after the other."""
        f, codelet, radix, lanes = self.f, self.codelet, self.codelet.radix, self.codelet.lanes
        along = self.word("along")
        _, from_point, from_parts = self.strides("source")
        to_parts = self.word("target_parts")
        bytes_ = 2 * (radix - 1) * lanes * self.size
        start = f.load(f.offset(self.step, "i64", i64(WORD["table"])), "ptr")
        with f.loop(i64(0), along, lanes) as loop:
            index = self.clamped(loop.index, along)
            table = self.at(start, self.times(loop.index, bytes_ // lanes))
            place = self.at(self.source, self.times(index, codelet.source.bytes))
            y = self.math.transform(self.points(place, from_point, from_parts))

            def factor(k: int) -> Value:
                place = f.offset(table, "i8", i64(k * lanes * self.size))
                return f.load(place, codelet.elem, lanes, self.size)

            y[1:] = [self.math.mul(v, (factor(2 * k), factor(2 * k + 1)))
                     for k, v in enumerate(y[1:])]
            target = self.at(self.target, self.times(index, radix * self.size))
            transposed = [interleaved_lanes(f, [v[part] for v in y]) for part in (0, 1)]
            for k, value in enumerate(zip(*transposed, strict=True)):
                away = f.offset(target, "i8", i64(k * lanes * self.size))
                self.write(codelet.target, value, away, to_parts)

    def whole(self) -> None:
        """Rows of few points in lanes, so many at a time."""
        f, codelet, lanes = self.f, self.codelet, self.codelet.lanes
        width = self.of_call("width")
        strides = [self.unit(f"{end}_unit") for end in ("source", "target")]
        scale = self.scale_of_call() if codelet.scaled else None
        with f.loop(i64(0), width, lanes) as loop:
            index = self.clamped(loop.index, width)
            source, target = (self.at(pointer, self.times(index, stride)) for pointer, stride
                              in zip((self.source, self.target), strides))
            parts = self.columns(source, strides[0], 2 * self.row_numbers())
            swap = codelet.source.layout == "swapped"
            y = self.scaled(self.of_row(
                [(parts[k + swap], parts[k + 1 - swap]) for k in range(0, len(parts), 2)]), scale)
            swap = codelet.target.layout == "swapped"
            self.store_columns([v[part ^ swap] for v in y for part in (0, 1)], target, strides[1])

    def row_numbers(self) -> int:
        """How many pairs of a row are read."""
        return self.codelet.radix

    def of_row(self, x: list[Pair]) -> list[Pair]:
        """The results for the numbers of a row."""
        return self.math.transform(x)

    def columns(self, source: Value, stride: Value, total: int) -> list[Value]:
        """The columns of a row for each lane.  Memory is read row by row."""
        f, elem, lanes = self.f, self.codelet.source.elem, self.codelet.lanes
        size, blocks = SIZE[elem], _blocks(total, lanes)
        self.ask(source, stride, total * size, False)
        rows = [[self.widened(f.load(f.offset(row, elem, i64(block.start)), elem, len(block), size))
                 for block in blocks] for row in self.rows(source, stride)]
        found: list[Value] = [rows[0][0]] * total
        for k, block in enumerate(blocks):
            columns = interleaved_lanes(f, [row[k] for row in rows])
            while len(columns) > len(block):  # a column is in several vectors, each behind another
                columns = [f.shuffle(a, b, range(2 * a.lanes))
                           for a, b in zip(columns[::2], columns[1::2])]
            found[block.start : block.stop] = columns
        return found

    def store_columns(self, columns: list[Value], target: Value, stride: Value) -> None:
        """Writes row by row."""
        f, elem, lanes = self.f, self.codelet.target.elem, self.codelet.lanes
        blocks = _blocks(len(columns), lanes)
        self.ask(target, stride, len(columns) * SIZE[elem], True)
        vectors = [interleaved_lanes(f, columns[block.start : block.stop]) for block in blocks]
        for k, row in enumerate(self.rows(target, stride)):
            for block, of in zip(blocks, vectors):
                several = lanes // len(block)  # rows in a vector
                first = k % several * len(block)
                part = of[k // several]
                if several > 1:
                    part = f.shuffle(part, part, range(first, first + len(block)))
                place = f.offset(row, elem, i64(block.start))
                f.store(self.narrowed(part, elem), place, SIZE[elem])

    def ask(self, pointer: Value, stride: Value, length: int, written: bool) -> None:
        """Asks for the rows after the next ones."""
        ahead = self.at(pointer, self.times(stride, 2 * self.codelet.lanes))
        for row in self.rows(ahead, stride):
            for line in range(0, length, 64):
                self.f.prefetch(self.f.offset(row, "i8", i64(line)), written=written)

    def rows(self, pointer: Value, stride: Value) -> list[Value]:
        found = [pointer]
        for _ in range(self.codelet.lanes - 1):
            found.append(self.at(found[-1], stride))
        return found


# ------------------------------------------------------------------ vectors transposed round


def _zipped(f: LLVMFunction, a: Value, b: Value) -> tuple[Value, Value]:
    lanes, half = a.lanes, a.lanes // 2
    order = [k + part for k in range(lanes) for part in (0, lanes)]
    return f.shuffle(a, b, order[:lanes]), f.shuffle(a, b, order[2 * half:])


_LEAST = 16  # bytes of a register


def _opaque(f: LLVMFunction, a: Value) -> Value:
    """The same vector, which LLVM may not look through: over chains of exchanges of lanes it thinks
    for longer than over all arithmetic, to no end.  What fills no register it may look through."""
    if a.lanes * SIZE[a.elem] < _LEAST:
        return a
    return f.opaque(a)


def interleaved_lanes(f: LLVMFunction, vectors: list[Value]) -> list[Value]:
    """Vectors of the sequence that has lane 0 of all vectors, then lane 1 of all, and so on."""
    if vectors[0].lanes == 1:
        return vectors
    rows = [[v] for v in vectors]
    while len(rows) > 1 and len(rows) % 2 == 0:
        half = len(rows) // 2
        rows = [[_opaque(f, z) for a, b in zip(rows[k], rows[k + half]) for z in _zipped(f, a, b)]
                for k in range(half)]
    return rows[0] if len(rows) == 1 else _interleaved(f, rows)


def _interleaved(f: LLVMFunction, rows: list[list[Value]]) -> list[Value]:
    """The same for an odd number of sequences of vectors."""
    count, lanes = len(rows), rows[0][0].lanes
    found = []
    for v in range(count * len(rows[0])):
        picks = [divmod(v * lanes + k, count) for k in range(lanes)]  # (place, row) of each lane
        result: Value | None = None
        for place, row in dict.fromkeys((place // lanes, row) for place, row in picks):
            vector = rows[row][place]
            mine = [(p // lanes, r) == (place, row) for p, r in picks]
            if result is None:
                result = f.shuffle(vector, vector, [p % lanes for p, _ in picks])
            else:
                result = f.shuffle(result, vector, [
                    lanes + p % lanes if own else k
                    for k, (own, (p, _)) in enumerate(zip(mine, picks))])
        assert result is not None
        found.append(result)
    return found


def _blocks(columns: int, lanes: int) -> list[range]:
    """Stretches of columns that are transposed together; the last may overlap the one before."""
    width = min(lanes, 1 << (columns.bit_length() - 1))
    starts = [*range(0, columns - width, width), columns - width]
    return [range(start, start + width) for start in starts]
