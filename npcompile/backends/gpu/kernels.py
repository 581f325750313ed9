"""Kernels without reductions as Triton functions: one lane for each point of the space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from npcompile.backends.gpu import casts, scalar
from npcompile.backends.gpu.scalar import Parts, ScalarText
from npcompile.backends.gpu.source import (
    BASE,
    COMMON,
    INLINE,
    DeviceMemory,
    FunctionWriter,
    Given,
    KernelSource,
    LaneBlock,
    Whole,
    request,
    title,
)
from npcompile.backends.gpu.triton_subprograms import SubprogramLibrary, has_lanes
from npcompile.core.errors import refuse
from npcompile.core.sizes import Size, poly, product
from npcompile.frontend.statements import statement_at
from npcompile.graph.ir import Subprogram, Table
from npcompile.program.ir import (
    Apply,
    Axis,
    AxisIndex,
    Buffer,
    Constant,
    Index,
    Kernel,
    Load,
    SizeValue,
    Store,
    Value,
)

LONG = 150  # lines: what is longer has one point a thread, for the time to compile it


def pointwise(kernel: Kernel, given: frozenset[Buffer]) -> KernelSource:
    """The Triton function of a kernel without reductions.

    Parameters
    ----------
    kernel
        One whose iterations may run in any order.
    given
        The numbers that the host knows when the kernel is launched: they go by value.

    Raises
    ------
    Refused
        There is no Triton code for it (yet).
    """
    body = Body(kernel, given, FunctionWriter(kernel.name, set(COMMON)))
    w, axes = body.w, merge(kernel)
    points = w.product([axis.extent for axis in kernel.axes])
    w.line(f"{BASE} = tl.program_id(0).to(tl.int64) * BLOCK")
    front = len(w.lines)
    w.line(f"lane = {BASE} + tl.arange(0, BLOCK)")
    extents = body.spread(axes)
    if any(isinstance(v, Apply) and isinstance(v.attrs, Subprogram) and has_lanes(v.attrs)
           for v in kernel.values):
        _in_turns(body, front, points)
    else:
        _lanes(body, points)
    long = len(w.used()) + body.library.lines > LONG
    grid = LaneBlock(extents, 128 if long else 1024)
    return w.source(grid, ["BLOCK", *grid.long], body.library.parts,
                    above=[f"one lane for each of {points} elements, {grid.block} in each program"])


def _lanes(body: Body, points: str) -> None:
    """What each lane computes and stores."""
    body.w.line(f"live = lane < {points}")
    body.values("live")
    for store in body.kernel.stores:
        body.store(store, "live")


def _in_turns(body: Body, front: int, points: str) -> None:
    """The same in a loop, of as many iterations as there are blocks for each program: one.

    The loop carries the addresses.  For any address that is computed beside its access, Triton
    looks for a layout in all that depends on what is accessed there, once for each operation: half
    a minute of compile time for the inverse of an incomplete beta function.
    """
    w, body.places = body.w, {}
    begin = len(w.lines)
    w.nest()
    _lanes(body, points)
    w.line(f"{BASE} += tl.num_programs(0).to(tl.int64) * BLOCK")
    w.leave()
    iteration = w.lines[begin:]
    places = [f"    {name} = {text}" for text, name in body.places.items()]
    again = [f"    {line}" for line in (*w.lines[front:begin], *places)]
    w.lines[begin:] = [*places, f"    while {BASE} < {points}:", *iteration, *again]


class Body:
    """The values of a kernel, written where the index of each axis has a name."""

    def __init__(self, kernel: Kernel, given: frozenset[Buffer], writer: FunctionWriter) -> None:
        self.kernel, self.given, self.w = kernel, given, writer
        self.axes = [""] * len(kernel.axes)  # text of each axis' index
        self.terms: list[Parts] = [()] * len(kernel.values)
        self.uses = Counter(_used(kernel))
        self.library = SubprogramLibrary()
        self.w.taken.update(v.attrs.name for v in kernel.values
                            if isinstance(v, Apply) and isinstance(v.attrs, Subprogram))
        self.varying: set[int] = set()  # values that are not the same in all lanes
        self.places: dict[str, str] | None = None  # names of addresses that a loop carries
        #: names of what several accesses add to an address, where axes keep their index
        self.indices: dict[str, str] | None = {}
        self.accesses = Counter(_accesses(kernel))

    def names_no_indices(self) -> None:
        """Writes each index where it is used: axes do not keep theirs."""
        self.indices = None

    def comment(self) -> None:
        """The statements that the kernel comes from."""
        for line in sorted(set(self.kernel.lines)):
            self.say(line)

    def say(self, line: int) -> None:
        """The statement that the next lines come from."""
        if line:
            self.w.comment(statement_at(line))

    def spread(self, groups: Sequence[Sequence[int]]) -> tuple[Size, ...]:
        """Names the index of each axis in each lane; the extents of groups of axes, which have one
        index.  One division for all lanes, and a carry in each, is quicker than many divisions."""
        extents = tuple([product([self.kernel.axes[a].extent for a in g]) for g in groups])
        for axis in (axis for group in groups for axis in group[:-1]):
            self.axes[axis] = "0"
        if len(groups) == 1:
            self.axes[groups[0][-1]] = "lane"
        if len(groups) > 1:
            names = [self.kernel.axes[group[-1]].name for group in groups]
            whole = names[0]
            for name, length in zip(names[1:], extents[1:]):
                whole = f"{whole} * {self.w.factor(length)} + {name}"
                whole = f"({whole})" if name != names[-1] else whole
            self.w.line(f"# lane = {whole}")
        rest, more = BASE, "tl.arange(0, BLOCK)"
        for k in reversed(range(1, len(groups))):
            name = self.axes[groups[k][-1]] = self.w.fresh(self.kernel.axes[groups[k][-1]].name)
            extent = self.w.size(extents[k])
            self.w.line(f"rest, more, {name} = npc.divide({rest}, {more}, {extent}, LONG_{k})")
            rest, more = "rest", "more"
        if len(groups) > 1:
            name = self.axes[groups[0][-1]] = self.w.fresh(self.kernel.axes[groups[0][-1]].name)
            self.w.line(f"{name} = rest + more")
        return extents

    def place(self, groups: Sequence[Sequence[int]], lane: str) -> None:
        """Names the index of each axis, given that of the whole space."""
        extents = [product([self.kernel.axes[a].extent for a in group]) for group in groups]
        for k, group in enumerate(groups):
            inner = product(extents[k + 1 :])
            text = lane if inner == 1 else f"{lane} // {self.w.factor(inner)}"
            if k:
                text = f"{text} % {self.w.factor(extents[k])}"
            name = lane
            if text != lane:
                name = self.w.fresh(self.kernel.axes[group[-1]].name)
                self.w.line(f"{name} = {text}")
            for axis in group:
                self.axes[axis] = "0"
            self.axes[group[-1]] = name

    # ------------------------------------------------------------------ values

    def values(self, live: str) -> None:
        """Writes all values: first what is loaded from known places, then in order."""
        values = self.kernel.values
        early = [k for k, v in enumerate(values) if isinstance(v, Load) and v.by is None]
        for number in (*early, *(k for k in range(len(values)) if k not in set(early))):
            value = values[number]
            self.terms[number] = self.value(number, value, live)
            match value:
                case Load(_, at, _, by):
                    varies = self.varies(at, by)
                case Apply(_, args):
                    varies = not self.varying.isdisjoint(args)
                case _:
                    varies = isinstance(value, AxisIndex)
            if varies:
                self.varying.add(number)

    def value(self, number: int, value: Value, live: str) -> Parts:
        match value:
            case Load(buffer, at, dtype, by):
                return self.load(buffer, at, dtype, by, live)
            case Constant(constant, dtype) if dtype.kind == "c":
                half = np.dtype(f"f{dtype.itemsize // 2}")
                whole = complex(constant)
                return scalar.constant(whole.real, half), scalar.constant(whole.imag, half)
            case Constant(constant, dtype):
                return (scalar.constant(constant, dtype),)
            case AxisIndex(axis):
                return (ScalarText(f"({self.axes[axis]}).to(tl.int64)", value.dtype),)
            case SizeValue(size):
                name = self.w.parameter(Whole(size)) if not isinstance(size, int) else None
                return (ScalarText(name or f"tl.full((), {size}, tl.int64)", value.dtype),)
            case Apply():
                return self.named(number, self.apply(value, live))

    def apply(self, value: Apply, live: str) -> Parts:
        operands = [self.terms[a] for a in value.args]
        if value.op == "cast":
            return casts.cast(operands[0], self.kernel.values[value.args[0]].dtype, value.dtype)
        if isinstance(value.attrs, Subprogram):
            args = [parts[0] for parts in operands]
            return (ScalarText(self.library.call(value.attrs, args, live, self.w), value.dtype),)
        if isinstance(value.attrs, Table):
            tables, place = self.w.table(value.attrs, value.dtype)
            return (scalar.lookup(tables, place, value.attrs, operands[0][0], value.dtype),)
        if value.op not in scalar.KNOWN:
            raise refuse(value.op, "has no Triton code")
        return scalar.apply(value.op, operands, value.dtype)

    def named(self, number: int, parts: Parts) -> Parts:
        """A value that is used once stays an expression; others, and those that the user has in a
        variable, get a name."""
        value = self.kernel.values[number]
        assert isinstance(value, Apply)
        once = self.uses[number] <= 1 and all(len(part.text) < INLINE for part in parts)
        if all(part.value is not None or part.text.isidentifier() for part in parts):
            return parts
        if once and not value.name:
            return parts
        self.say(value.line)
        called = isinstance(value.attrs, Subprogram) and value.attrs.name.rpartition("_")[0]
        stem = value.name or called or request(value.op)
        ends = [""] if len(parts) == 1 else ["_real", "_imag"]
        return tuple([part if part.value is not None else self.assign(part, stem + end)
                      for part, end in zip(parts, ends)])

    def assign(self, term: ScalarText, request: str) -> ScalarText:
        return ScalarText(self.w.let(request, term.text), term.dtype)

    # ------------------------------------------------------------------ memory

    def load(self, buffer: Buffer, at: Index, dtype: np.dtype[Any], by: int | None,
             live: str) -> Parts:
        whole = buffer.dtype
        parts = [at.part] if at.part else ["real", "imag"] if whole.kind == "c" else [""]
        half = np.dtype(f"f{whole.itemsize // 2}") if whole.kind == "c" else dtype
        if buffer in self.given:
            terms = [ScalarText(self.w.parameter(Given(buffer, part)), half) for part in parts]
            return tuple(self._truth(term, dtype) for term in terms)
        found = []
        for part in parts:
            pointer = self.address(buffer, at, by, part)
            varies = self.varies(at, by)
            text = f"tl.load({pointer}, {live}, 0)" if varies else f"tl.load({pointer})"
            name = title(buffer) + self.shifted(buffer, at) + f"_{part}" * bool(part)
            found.append(self.assign(self._truth(ScalarText(text, half), dtype), name))
        return tuple(found)

    def shifted(self, buffer: Buffer, at: Index) -> str:
        """Where in a buffer of which several elements are loaded one is, for its name: how far it
        is from the first along each axis."""
        others = {v.at.offset for v in self.kernel.values
                  if isinstance(v, Load) and v.buffer is buffer}
        steps = found_in(at.offset, buffer.strides) if len(others) > 1 else None
        return "".join(f"_{step}" for step in steps or ())

    def _truth(self, term: ScalarText, dtype: np.dtype[Any]) -> ScalarText:
        return ScalarText(f"{term.text} != 0", dtype, False) if dtype.kind == "b" else term

    def address(self, buffer: Buffer, at: Index, by: int | None, part: str) -> str:
        unit = 2 if buffer.dtype.kind == "c" else 1
        more = [] if by is None else [self.terms[by][0].operand]
        index = self.index(at, unit) + self.w.index(at.offset, (), (), unit, more)
        text = self.w.parameter(DeviceMemory(buffer)) + index + " + 1" * (part == "imag")
        if self.places is None or not self.varies(at) or by is not None:
            return text
        if text not in self.places:
            self.places[text] = self.w.fresh(f"{buffer.name}_place")
        return self.places[text]

    def index(self, at: Index, unit: int) -> str:
        """What the axes add to an address; it gets a name if other accesses add it, too."""
        text = self.w.index(0, at.coefficients, self.axes, unit)
        alone = self.accesses[at.coefficients] + unit <= 2
        if self.indices is None or self.places is not None or alone or text.count(" ") < 4:
            return text
        if text not in self.indices:
            self.indices[text] = self.w.let("index", text.removeprefix(" + "))
        return f" + {self.indices[text]}"

    def varies(self, at: Index, by: int | None = None) -> bool:
        """Whether lanes have places of their own."""
        return any(c != 0 for c in at.coefficients) or (by is not None and by in self.varying)

    def store(self, store: Store, live: str) -> None:
        buffer, parts = store.buffer, self.terms[store.value]
        names = [store.at.part] if store.at.part else ["real", "imag"]
        where = live
        if store.mask is not None:
            where = f"{live} & {self.terms[store.mask][0].operand}"
        spread = "" if self.varies(store.at, store.by) else " + lane * 0"
        for name, part in zip(names, parts):
            pointer = self.address(buffer, store.at, store.by, name) + spread
            text = part.text
            if buffer.dtype.kind == "b":
                truth = part.operand if part.value is None else scalar.typed(part)
                text = f"{truth}.to(tl.uint8)"
            elif part.value is not None:
                text = scalar.typed(part)
            stored = self.kernel.values[store.value]
            last = max(self.kernel.lines, default=0)
            self.say(stored.line if isinstance(stored, Apply) else last)
            self.w.line(f"tl.store({pointer}, {text}, {where})")


def _used(kernel: Kernel) -> list[int]:
    found = [a for value in kernel.values if isinstance(value, Apply) for a in value.args]
    found += [v.by for v in kernel.values if isinstance(v, Load) and v.by is not None]
    for store in kernel.stores:
        found += [v for v in (store.value, store.mask, store.by) if v is not None]
    return found + [reduce.value for reduce in kernel.reductions]


def found_in(offset: Size, strides: Sequence[Size]) -> list[int] | None:
    """An offset as so many steps along each axis, none of them backwards; None: it is none."""
    left, steps = poly(offset), [0] * len(strides)
    for k, stride in enumerate(map(poly, strides)):
        if len(stride.terms) == 1:
            ((atoms, unit),) = stride.terms
            count = dict(left.terms).get(atoms, 0)
            if count > 0 and count % unit == 0:
                steps[k] = count // unit
                left = poly(left - steps[k] * stride)
    return None if left.terms else steps


def _accesses(kernel: Kernel) -> list[tuple[Size, ...]]:
    """How each access depends on the axes."""
    places = [v.at for v in kernel.values if isinstance(v, Load)]
    return [at.coefficients for at in (*places, *[store.at for store in kernel.stores])]


def merge(kernel: Kernel, among: Sequence[int] | None = None) -> list[list[int]]:
    """Groups of neighbouring axes that every access runs through as if they were one.

    Such a group is indexed by its last axis; the others then count 0.
    """
    places = [v.at for v in kernel.values if isinstance(v, Load)]
    places += [store.at for store in kernel.stores] + [r.at for r in kernel.reductions]
    counted = {v.axis for v in kernel.values if isinstance(v, AxisIndex)}
    groups: list[list[int]] = []
    for axis in range(len(kernel.axes)) if among is None else among:
        if groups and _runs_on(kernel.axes, places, counted, groups[-1][-1], axis):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    return groups


def _runs_on(axes: Sequence[Axis], places: Sequence[Index], counted: set[int], outer: int,
             inner: int) -> bool:
    if outer in counted or inner in counted or inner != outer + 1:
        return False

    def step(at: Index, axis: int) -> Size:
        return at.coefficients[axis] if at.coefficients else 0

    extent = axes[inner].extent
    return all(step(at, outer) == step(at, inner) * extent for at in places)
