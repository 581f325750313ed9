"""Reductions as Triton functions, in the order that language 2 defines.

The value that is reduced is a function of its own.  Three forms use it: *columns*, where each lane
takes one kept index and walks over the reduced ones; *rows*, where lanes lie along the reduced
axes, for what may be combined in any order; and *runs*, pairwise sums: a slot for each leaf of the
tree of a run, 8 lanes in each slot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from npcompile.backends.gpu import casts, scalar
from npcompile.backends.gpu.kernels import Body
from npcompile.backends.gpu.scalar import Parts, ScalarText
from npcompile.backends.gpu.source import BASE, FunctionWriter, Grid, KernelSource, LaneBlock
from npcompile.core.errors import refuse
from npcompile.core.records import record, replace
from npcompile.core.sizes import Size, largest, product
from npcompile.graph.primitives import REDUCTIONS
from npcompile.program.ir import Buffer, Kernel, Load, Reduce

WIDTH = 1024  #: lanes of a program
FIRST = "tl.program_id(0).to(tl.int64) * ROWS"  #: the first row of a program


def reduction(kernel: Kernel, reduce: Reduce, given: frozenset[Buffer],
              stage: str = "") -> KernelSource:
    """The Triton function of one reduction of a kernel; the name of a ``stage`` says that it does
    the rows from ``BASE`` on.

    Raises
    ------
    Refused
        There is no Triton code for it (yet).
    """
    if any(isinstance(v, Load) and v.buffer is reduce.buffer for v in kernel.values):
        raise refuse("reduction", "reads what it writes")
    form = ReductionForm(kernel, reduce, given, stage or kernel.name, (BASE,) * bool(stage))
    positions = reduce.kind in ("argmin", "argmax")
    along = len(kernel.axes) - 1 in reduce.axes and not positions
    if reduce.running and along and not in_any_order(reduce) and len(kernel.axes) == 1:
        raise refuse("scan", "numbers that are rounded one after the other have no GPU kernel")
    if along and in_any_order(reduce):
        return form.running() if reduce.running else form.rows()
    if along and reduce.kind == "sum" and not reduce.running:
        return form.runs()
    if positions:
        return form.positions()
    if stage:
        raise refuse("reduction", "that walks along rows is no stage of a kernel")
    return form.columns()


@record
class ReducedRows:
    """Some kept indices in each program, beside ``WIDTH`` lanes along the reduced axes."""

    kept: tuple[Size, ...]
    reduced: tuple[Size, ...]

    def launch(self, size: Callable[[Size], int]) -> tuple[int, dict[str, int]]:
        kept, length = prod(map(size, self.kept)), prod(map(size, self.reduced))
        width = min(WIDTH, power(length))
        rows = min(WIDTH // width, power(kept))
        return -(-kept // rows), {"ROWS": rows, "LEVELS": width.bit_length() - 1}


@record
class Runs:
    """Some kept indices in each program, beside the leaves of a run's tree."""

    kept: tuple[Size, ...]
    run: Size
    chunk: Size
    lanes: int

    def launch(self, size: Callable[[Size], int]) -> tuple[int, dict[str, int]]:
        kept, length = prod(map(size, self.kept)), size(self.run)
        depth = height(min(length, size(self.chunk) or length), self.lanes)
        rows = max(1, min(WIDTH // (self.lanes << depth), power(kept)))
        return -(-kept // rows), {"ROWS": rows, "DEPTH": depth, "LANES": self.lanes}


def in_any_order(reduce: Reduce) -> bool:
    """Whether it is all the same in which order numbers are combined."""
    return reduce.dtype.kind not in "fc" or reduce.kind in ("min", "max")


def height(length: int, lanes: int) -> int:
    """The forks from the root of a pairwise sum's tree to its lowest leaf: that of its larger
    half, again and again."""
    depth = 0
    while length > 16 * lanes:
        length = larger_half(length, lanes)
        depth += 1
    return depth


def larger_half(length: int, lanes: int) -> int:
    return length - ((length // 2) & -lanes)


def power(length: int) -> int:
    """The least power of two that is not less."""
    return 1 << max(0, length - 1).bit_length()


class ReductionForm:
    """One reduction being written: ``kept`` and ``reduced`` are axes of the kernel."""

    def __init__(self, kernel: Kernel, reduce: Reduce, given: frozenset[Buffer],
                 name: str, first: tuple[str, ...] = ()) -> None:
        self.reduce, self.dtype = reduce, reduce.dtype
        self.name, self.first = name, first
        self.kernel = replace(kernel, stores=(), reductions=(reduce,))
        self.kept = [a for a in range(len(kernel.axes)) if a not in reduce.axes]
        ordered = reduce.kind.startswith("arg")
        self.reduced = list(reduce.axes) if ordered else sorted(reduce.axes)
        self.extents = [axis.extent for axis in kernel.axes]
        value = Body(self.kernel, given, FunctionWriter(f"{self.name}_value"))
        value.axes = [value.w.fresh(axis.name) for axis in kernel.axes]
        self.axes = list(value.axes)
        value.w.taken.add("live")
        value.values("live")
        parts = [part.text if part.value is None else scalar.typed(part)
                 for part in value.terms[reduce.value]]
        value.w.line(f"return {', '.join(parts)}")
        function = value.w.function(first=[*value.axes, "live"])
        self.before = (*value.library.parts, function)
        self.w = FunctionWriter(self.name, set(value.w.taken), dict(value.w.parameters))
        self.body = Body(self.kernel, given, self.w)
        self.body.names_no_indices()
        self.body.comment()
        self.names = list(value.w.parameters.values())
        self.parts = len(parts)

    def at(self, axes: Sequence[int]) -> tuple[Size, ...]:
        return tuple([self.extents[axis] for axis in axes])

    def call(self, live: str, aside: Mapping[int, str] | str = "",
             at: Mapping[int, str] | None = None) -> str:
        """The value at the indices that have the axes' names; ``aside`` makes room for the
        dimensions that some of them (or all kept ones) lack, ``at`` are other names."""
        if isinstance(aside, str):
            aside = dict.fromkeys(self.kept, aside)
        names = [(at or {}).get(axis, name) for axis, name in enumerate(self.axes)]
        axes = [name + aside.get(axis, "") for axis, name in enumerate(names)]
        return f"{self.name}_value({', '.join([*axes, live, *self.names])})"

    def split(self, axes: Sequence[int], lane: str) -> None:
        """Names the index of each axis, given that of all of them."""
        for k, axis in enumerate(axes):
            inner = product(self.at(axes[k + 1 :]))
            text = lane if inner == 1 else f"{lane} // {self.w.factor(inner)}"
            if k:
                text += f" % {self.w.factor(self.extents[axis])}"
            self.w.line(f"{self.axes[axis]} = {text}")

    def spread(self, names: Sequence[str], live: str, convert: str = "") -> None:
        """A number that is the same everywhere becomes one in each lane."""
        for name in names:
            self.w.line(f"{name} = tl.where({live}, {name}{convert}, 0)")

    def names_of(self, stem: str) -> list[str]:
        """One name, or two of a complex number."""
        return [stem] if self.parts == 1 else [f"{stem}_real", f"{stem}_imag"]

    def combined(self, left: Sequence[str], right: Sequence[str]) -> list[str]:
        if self.operation == "mul" and self.parts == 2:
            (a, b), (c, d) = left, right
            return [f"{a} * {c} - {b} * {d}", f"{a} * {d} + {b} * {c}"]
        return [self._combined(self.operation, a, b) for a, b in zip(left, right)]

    def _combined(self, operation: str, left: str, right: str) -> str:
        half = self.half
        if half == np.float16 and operation == "mul":  # rounded after each step
            return f"({left}.to(tl.float32) * {right}.to(tl.float32)).to(tl.float16)"
        return scalar.apply(
            operation, [(ScalarText(left, half),), (ScalarText(right, half),)], half
        )[0].text

    @property
    def operation(self) -> str:
        """The primitive that combines two numbers."""
        return REDUCTIONS[self.reduce.kind][0]

    @property
    def lanes(self) -> int:
        """Of a pairwise sum's leaves: numbers that are added side by side."""
        return 4 if self.parts == 2 else 8

    @property
    def half(self) -> np.dtype[Any]:
        kind, unit = self.dtype.kind, self.dtype.itemsize
        return np.dtype(f"f{unit // 2}") if kind == "c" else self.dtype

    @property
    def neutral(self) -> str:
        """What leaves every number as it is, with a type of its own."""
        return scalar.typed(scalar.constant(neutral(self.operation, self.dtype), self.dtype))

    def initial(self) -> Parts:
        start = self.reduce.initial
        assert start is not None
        if self.dtype.kind != "c":
            return (scalar.constant(start, self.dtype),)
        whole = complex(start)
        return scalar.constant(whole.real, self.half), scalar.constant(whole.imag, self.half)

    def store(self, names: Sequence[str], live: str, aside: str = "") -> None:
        """Stores what the kept indices have; of a running reduction, all indices: ``aside`` as in
        :meth:`call`."""
        at, buffer = self.reduce.at, self.reduce.buffer
        others = self.axes if self.reduce.running else ["0"] * len(self.axes)
        self.body.axes = [name + aside if axis in self.kept else others[axis]
                          for axis, name in enumerate(self.axes)]
        for name, part in zip(names, [at.part] if at.part else ["real", "imag"]):
            pointer = self.body.address(buffer, at, None, part)
            text = casts.cast((ScalarText(name, self.half),), self.half, buffer.dtype)[0].text \
                if buffer.dtype.kind != "c" else name
            if buffer.dtype.kind == "b":
                text = f"({text}).to(tl.uint8)"
            spread = "" if self.kept else " + lane * 0"
            self.w.line(f"tl.store({pointer}{spread}, {text}, {live})")

    # ------------------------------------------------------------------ forms

    def columns(self) -> KernelSource:
        """Each lane walks over the reduced indices in order."""
        w, reduce = self.w, self.reduce
        first = reduce.initial is None
        w.line("lane = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)")
        length = w.size(product(self.at(self.reduced)))
        some = f" & ({length} > 0)" if reduce.running else ""  # others have an element if `first`
        w.line(f"live = (lane < {w.size(product(self.at(self.kept)))}){some}")
        self.split(self.kept, "lane")
        total = self.names_of("total")
        if first:
            for axis in self.reduced:
                w.line(f"{self.axes[axis]} = lane * 0")
            w.line(f"{', '.join(total)} = {self.call('live')}")
            self.spread(total, "live")
            if reduce.running:
                self.store(total, "live")
        else:
            for name, part in zip(total, self.initial()):
                w.line(f"{name} = tl.full((BLOCK,), {part.text}, {scalar.register(self.half)})")
        w.line(f"for step in range({int(first)}, {length}):")
        w.nest()
        w.line("at = lane * 0 + step")
        self.split(self.reduced, "at")
        value = self.names_of("value")
        w.line(f"{', '.join(value)} = {self.call('live')}")
        for name, text in zip(total, self.combined(total, value)):
            w.line(f"{name} = {text}")
        if reduce.running:
            self.store(total, "live")
        w.leave()
        if not reduce.running:
            self.store(total, "live")
        grid = LaneBlock((product(self.at(self.kept)),), 128)
        return self.source(grid, ["BLOCK"], "one lane for each result, which takes the numbers of "
                           "its own in order")

    def rows(self) -> KernelSource:
        """Lanes lie along the reduced axes; what they hold is combined at the end."""
        w = self.w
        self.rows_of_kept()
        self.along_row("0", w.size(product(self.at(self.reduced))), self.value_in_row)
        self.finish()
        grid = ReducedRows(self.at(self.kept), self.at(self.reduced))
        return self.source(grid, ["ROWS", "LEVELS"], "ROWS results in each program, 2**LEVELS "
                           "lanes for each")

    def source(self, grid: Grid, constants: list[str], how: str) -> KernelSource:
        """The function; ``how`` it goes through the numbers."""
        kind = f"running {self.reduce.kind}" if self.reduce.running else self.reduce.kind
        count = self.w.product(self.at(self.kept))
        above = [f"{kind} of {self.w.product(self.at(self.reduced))} numbers for each of "
                 f"{count} results:" if self.kept else
                 f"{kind} of {self.w.product(self.at(self.reduced))} numbers:", how]
        return self.w.source(grid, constants, self.before, self.first, above)

    def value_in_row(self) -> str:
        """What is reduced, at a place in each row."""
        self.split(self.reduced, "at")
        return self.call("live", "[:, None]")

    def along_row(self, begin: str, end: str, value: Callable[[], str]) -> None:
        """The total of each row from one place on to another."""
        w = self.w
        w.line("WIDTH: tl.constexpr = 1 << LEVELS")
        w.line(f"total = tl.broadcast_to({self.neutral}, (ROWS, WIDTH))")
        self.blocks(begin, end)
        w.line(f"value = {value()}")
        w.line(f"total = tl.where(live, {self.combined(['total'], ['value'])[0]}, total)")
        w.leave()
        w.line(f'total = npc.collapse(total, "{self.operation}")')

    def blocks(self, begin: str, end: str) -> None:
        """Opens a loop over the places in each row, ``WIDTH`` at a time."""
        self.w.line(f"for begin in range({begin}, {end}, WIDTH):")
        self.w.nest()
        self.w.line("at = begin + tl.arange(0, WIDTH).to(tl.int64)[None, :]")
        self.w.line(f"live = row[:, None] & (at < {end})")

    def finish(self) -> None:
        """Stores the totals of rows."""
        if self.reduce.initial is not None:
            start = scalar.typed(self.initial()[0])
            self.w.line(f"first = tl.broadcast_to({start}, (ROWS,))")
            self.w.line(f"total = {self.combined(['first'], ['total'])[0]}")
        self.store(["total"], "row")

    def rows_of_kept(self, first: str = FIRST) -> None:
        self.w.line(f"lane = {BASE if self.first else first} + tl.arange(0, ROWS)")
        self.w.line(f"row = lane < {self.w.size(product(self.at(self.kept)))}")
        self.split(self.kept, "lane")

    def positions(self) -> KernelSource:
        """The place of the best of each row."""
        self.rows_of_kept()
        self.best("0", self.w.size(product(self.at(self.reduced))))
        self.store(["found"], "row")
        grid = ReducedRows(self.at(self.kept), self.at(self.reduced))
        return self.source(grid, ["ROWS", "LEVELS"], "ROWS results in each program, 2**LEVELS "
                           "lanes for each; the first of equals counts")

    def best(self, begin: str, end: str, among: str = "at") -> None:
        """Each lane keeps the first of the least or largest elements, or the first NaN; then the
        best of all lanes is found.  ``among`` are the places that count."""
        w, least = self.w, self.reduce.kind == "argmin"
        if self.parts == 2:
            raise refuse(self.reduce.kind, "of complex numbers has no GPU kernel")
        w.line("WIDTH: tl.constexpr = 1 << LEVELS")
        zero = scalar.typed(scalar.constant(0, self.dtype))
        w.line(f"best = tl.broadcast_to({zero}, (ROWS, WIDTH))")
        w.line("found = tl.full((ROWS, WIDTH), -1, tl.int64)")
        self.blocks(begin, end)
        w.line(f"at = {among} + found * 0")
        w.line(f"value = {self.value_in_row()}")
        w.line(f"better = live & npc.is_better(value, at, best, found, {least})")
        w.line("best = tl.where(better, value, best)")
        w.line("found = tl.where(better, at, found)")
        w.leave()
        w.line(f"found = npc.first_of_best(best, found, {least})")

    def running(self) -> KernelSource:
        """Blocks of each row, one after the other, by what may be combined in any order."""
        self.rows_of_kept()
        end = self.w.size(product(self.at(self.reduced)))
        self.scan("0", end, self.value_in_row, f"tl.broadcast_to({self.neutral}, (ROWS,))",
                  lambda: self.store(["whole"], "live", "[:, None]"))
        grid = ReducedRows(self.at(self.kept), self.at(self.reduced))
        return self.source(grid, ["ROWS", "LEVELS"], "ROWS rows in each program, 2**LEVELS lanes "
                           "along each, block after block")

    def scan(self, begin: str, end: str, value: Callable[[], str], before: str,
             put: Callable[[], None]) -> None:
        """What is combined up to each place from one on to another, with what stands ``before``
        them: ``whole``, which ``put`` stores."""
        w = self.w
        w.line("WIDTH: tl.constexpr = 1 << LEVELS")
        w.line(f"total = {before}")
        self.blocks(begin, end)
        w.line(f"value = tl.where(live, {value()}, {self.neutral})")
        w.line("earlier = total[:, None]")
        w.line(f'value, part = npc.scan(value, "{self.operation}"), npc.collapse(value, '
               f'"{self.operation}")')
        w.line(f"whole = {self.combined(['earlier'], ['value'])[0]}")
        put()
        w.line(f"total = {self.combined(['total'], ['part'])[0]}")
        w.leave()

    def runs(self) -> KernelSource:
        """Runs along the last axis are summed pairwise, their sums added in order."""
        w, reduce = self.w, self.reduce
        outer, inner = self.reduced[:-1], self.reduced[-1]
        length = self.extents[inner]
        piece = reduce.chunk if reduce.chunk != 0 else largest(length, 1)
        kind = scalar.register(self.half)
        total = self.names_of("total")
        self.rows_of_kept()
        start = self.initial() if reduce.initial is not None else [ScalarText("0", self.half)] * 2
        for name, number in zip(total, start):
            w.line(f"{name} = tl.full((ROWS,), {number.text}, {kind})")
        if outer:
            w.line(f"for run in range(0, {w.size(product(self.at(outer)))}):")
            w.nest()
            w.line("at = lane * 0 + run")
            self.split(outer, "at")
        w.line(f"for begin in range(0, {w.size(length)}, {w.size(piece)}):")
        w.nest()
        w.line(f"count = tl.minimum({w.size(piece)} + begin * 0, {w.size(length)} - begin)")
        w.line("start, size = npc.leaves(count, DEPTH, LANES)")
        for name, whole in zip(total, self.leaves(outer, inner)):
            text = f"{name} + {whole}"
            if self.half == np.float16:
                text = f"({name}.to(tl.float32) + {whole}).to(tl.float16)"
                whole = f"{whole}.to(tl.float16)"
            if reduce.initial is None:
                later = "run + begin > 0" if outer else "begin > 0"
                text = f"tl.where({later}, {text}, {whole})"
            w.line(f"{name} = {text}")
        w.leave_all()
        self.store(total, "row")
        grid = Runs(self.at(self.kept), length, reduce.chunk, self.lanes)
        return self.source(grid, ["ROWS", "DEPTH", "LANES"], "pairwise, in NumPy's order: ROWS "
                           "results in each program, beside the leaves of a tree of DEPTH levels")

    def leaves(self, outer: Sequence[int], inner: int) -> list[str]:
        """The sums of trees: of each leaf in lanes, which are folded, and what is left one by one;
        then of all leaves."""
        w = self.w
        parts, values = self.names_of("part"), self.names_of("value")
        wide = ".to(tl.float32)" if self.half == np.float16 else ""
        aside = dict.fromkeys((*self.kept, *outer), "[:, None, None]")
        w.line("whole = size - size % LANES")
        w.line("place = (begin + start)[None, :, None] + tl.arange(0, LANES)[None, None, :]")
        w.line("live = row[:, None, None] & (whole > 0)[None, :, None] & (tl.arange(0, LANES) "
               ">= 0)[None, None, :]")
        w.line(f"{', '.join(parts)} = {self.call('live', aside, {inner: 'place'})}")
        self.spread(parts, "live", wide)
        w.line("for step in range(LANES, tl.minimum(count, 16 * LANES), LANES):")
        w.nest()
        w.line("more = live & (step < whole)[None, :, None]")
        w.line(f"{', '.join(values)} = {self.call('more', aside, {inner: 'place + step'})}")
        for part, value in zip(parts, values):
            w.line(f"{part} = tl.where(more, {part} + {value}{wide}, {part})")
        w.leave()
        levels = self.lanes.bit_length() - 1
        for part in parts:
            folded = f'npc.fold({part}, "add", ROWS << DEPTH, {levels})'
            w.line(f"{part.replace('part', 'leaf')} = {folded}.reshape(ROWS, 1 << DEPTH)")
        parts = [part.replace("part", "leaf") for part in parts]
        aside = dict.fromkeys((*self.kept, *outer), "[:, None]")
        w.line("rest = (begin + start + whole)[None, :]")
        w.line("for step in range(0, tl.minimum(count, LANES - 1)):")
        w.nest()
        w.line("left = row[:, None] & (whole + step < size)[None, :]")
        others = [value.replace("value", "other") for value in values]
        w.line(f"{', '.join(others)} = {self.call('left', aside, {inner: 'rest + step'})}")
        w.line("only = left & ((whole + step) == 0)[None, :]")
        for part, other in zip(parts, others):
            w.line(f"{part} = tl.where(left, {part} + {other}{wide}, {part})")
            w.line(f"{part} = tl.where(only, {other}{wide}, {part})")
        w.leave()
        return self.joined(parts)

    def joined(self, parts: Sequence[str]) -> list[str]:
        """The sums of parts that follow one another in a tree."""
        sums = self.names_of("sum")
        for whole, part in zip(sums, parts):
            self.w.line(f"{whole} = npc.tree({part}, size > 0, ROWS, DEPTH)")
        return sums


def neutral(operation: str, dtype: np.dtype[Any]) -> Any:
    """What leaves every number as it is."""
    if operation in ("minimum", "maximum"):
        if dtype.kind == "f":
            return np.inf if operation == "minimum" else -np.inf
        if dtype.kind == "b":
            return operation == "minimum"
        limits = np.iinfo(dtype)
        return limits.max if operation == "minimum" else limits.min
    identity = {"add": 0, "mul": 1, "bit_and": -1, "bit_or": 0, "bit_xor": 0}[operation]
    return dtype.type(np.int64(identity)) if dtype.kind != "u" else np.array(identity).astype(dtype)
