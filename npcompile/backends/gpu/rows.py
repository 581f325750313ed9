"""Row-wise functions as one kernel: sums of a row, and what is computed from them, in one program.

Kernels over the same rows become *stages* of one Triton function.  A program has some rows of its
own and runs the stages one after the other, so that a row is read from the device's memory once.
This is allowed where nothing that a stage writes is touched by another program: such a buffer is
accessed as a whole, each element by the row that it stands in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from npcompile.backends.gpu.kernels import Body
from npcompile.backends.gpu.source import BASE, FunctionWriter, Grid, KernelSource, wrapped
from npcompile.backends.gpu.triton_reductions import FIRST, WIDTH, power, reduction
from npcompile.core.records import record
from npcompile.core.sizes import Size, product
from npcompile.program.ir import Alloc, Buffer, Free, Index, Kernel, Load, Statement, with_blocks

LONGEST = 1 << 14  #: numbers in a row: longer ones are better spread over the device


@record
class Lines:
    """Some rows in each program, beside lanes along them."""

    rows: tuple[Size, ...]
    length: Size

    def launch(self, size: Callable[[Size], int]) -> tuple[int, dict[str, int]]:
        count, width = size(product(self.rows)), min(WIDTH, power(size(self.length)))
        rows = min(WIDTH // width, power(count))
        return -(-count // rows), {"ROWS": rows, "WIDTH": width}


@record
class Stages:
    """As many rows in each program as every stage can take; other constants are a stage's own."""

    rows: tuple[Size, ...]
    stages: tuple[Grid, ...]

    def launch(self, size: Callable[[Size], int]) -> tuple[int, dict[str, int]]:
        found = [stage.launch(size)[1] for stage in self.stages]
        rows = min(constants["ROWS"] for constants in found)
        own = {own_name(name, k): value for k, constants in enumerate(found)
               for name, value in constants.items() if name != "ROWS"}
        return -(-size(product(self.rows)) // rows), {"ROWS": rows} | own


@record
class RowGroup:
    """Kernels over the same rows, one after the other, and all of them as one."""

    kernels: tuple[Kernel, ...]
    source: KernelSource
    lengths: tuple[Size, ...]

    def suits(self, size: Callable[[Size], int]) -> bool:
        """Whether the rows are short enough."""
        return max(map(size, self.lengths)) <= LONGEST


def own_name(constant: str, stage: int) -> str:
    return f"{constant}_{stage}"


def group(kernels: Sequence[Kernel], given: frozenset[Buffer]) -> RowGroup:
    """The kernels as stages of one.

    Raises
    ------
    Refused
        There is no Triton code for one of them (yet).
    """
    rank = _rank(kernels)
    stages: list[KernelSource] = []
    for kernel in kernels:
        for k, reduce in enumerate(kernel.reductions):
            name = f"{kernel.name}_{reduce.kind}" + (f"_{k}" if k else "")
            stages.append(reduction(kernel, reduce, given, name))
        if kernel.stores:
            stages.append(_stores(kernel, rank, given))
    extents = tuple([axis.extent for axis in kernels[0].axes[:rank]])
    lengths = tuple([product([axis.extent for axis in k.axes[rank:]]) for k in kernels])
    name = f"{kernels[0].name}_to_{kernels[-1].name.rpartition('_')[2]}"
    return RowGroup(tuple(kernels), _joined(name, stages, extents), lengths)


def _joined(name: str, stages: Sequence[KernelSource], rows: tuple[Size, ...]) -> KernelSource:
    """One function that calls the stages; what one has written the next one may read."""
    w = FunctionWriter(name)
    w.line(f"{BASE} = {FIRST}")
    own: list[str] = []
    for k, stage in enumerate(stages):
        if k:
            w.line("tl.debug_barrier()  # all threads have stored")
        given = [w.parameter(parameter) for _, parameter in stage.parameters]
        constants = [c if c == "ROWS" else own_name(c, k) for c in stage.constants]
        own += constants[1:]
        call = wrapped(f"{stage.name}(", [BASE, *given, *constants], ")")
        for line in call:
            w.line(line)
    texts = dict.fromkeys(part for stage in stages for part in stage.parts)
    grid = Stages(rows, tuple([stage.grid for stage in stages]))
    above = ["ROWS rows in each program, which does all that is computed of them"]
    return w.source(grid, ["ROWS", *own], tuple(texts), above=above)


def _stores(kernel: Kernel, rank: int, given: frozenset[Buffer]) -> KernelSource:
    """What a kernel stores, row by row."""
    body = Body(kernel, given, FunctionWriter(f"{kernel.name}_rows"))
    body.comment()
    w, rows = body.w, tuple([axis.extent for axis in kernel.axes[:rank]])
    length = product([axis.extent for axis in kernel.axes[rank:]])
    w.line(f"lane = {BASE} + tl.arange(0, ROWS)")
    w.line(f"row = lane < {w.size(product(rows))}")
    body.place([[axis] for axis in range(rank)], "lane")
    live = "row"
    if rank < len(kernel.axes):
        live = "live"
        for axis in range(rank):
            body.axes[axis] += "[:, None]"
        w.line(f"for start in range(0, {w.size(length)}, WIDTH):")
        w.nest()
        w.line("at = start + tl.arange(0, WIDTH).to(tl.int64)[None, :]")
        w.line(f"live = row[:, None] & (at < {w.size(length)})")
        body.place([[axis] for axis in range(rank, len(kernel.axes))], "at")
    body.values(live)
    for store in kernel.stores:
        body.store(store, live)
    return w.source(Lines(rows, length), ["ROWS", "WIDTH"], body.library.parts, [BASE])


# ------------------------------------------------------------------ which kernels


def arranged(body: Sequence[Statement], groups: list[list[Kernel]]) -> tuple[Statement, ...]:
    """A block whose memory is made before, and freed after, groups of row-wise kernels, which are
    added to ``groups``."""
    found: list[Statement] = []
    rest = list(body)
    while rest:
        kernels = _group(rest)
        if not kernels:
            found.append(_inside(rest.pop(0), groups))
            continue
        end = rest.index(kernels[-1]) + 1
        part, rest = rest[:end], rest[end:]
        found += [s for s in part if isinstance(s, Alloc)]
        found += kernels
        found += [s for s in part if isinstance(s, Free)]
        groups.append(kernels)
    return tuple(found)


def _inside(statement: Statement, groups: list[list[Kernel]]) -> Statement:
    return with_blocks(statement, lambda body: arranged(body, groups))


def _group(body: Sequence[Statement]) -> list[Kernel]:
    """The longest group of kernels that begins with the first statement; empty if there is none."""
    kernels: list[Kernel] = []
    if not body or not isinstance(body[0], Kernel):
        return kernels
    for statement in body:
        if isinstance(statement, Kernel) and statement.axes:
            kernels.append(statement)
        elif not isinstance(statement, (Alloc, Free)):
            break
    while len(kernels) > 1 and not _fits(kernels):
        kernels.pop()
    return kernels if len(kernels) > 1 else []


def _rank(kernels: Sequence[Kernel]) -> int:
    """How many axes tell the row: those that the first reduction keeps."""
    return next((len(k.axes) - len(r.axes) for k in kernels for r in k.reductions), 0)


def _fits(kernels: Sequence[Kernel]) -> bool:
    """Whether kernels are stages of one: at least one of them reduces rows."""
    rank = _rank(kernels)
    rows = [axis.extent for axis in kernels[0].axes[:rank]]
    if not rank or any([a.extent for a in k.axes[:rank]] != rows or k.in_order for k in kernels):
        return False
    for kernel in kernels:
        last = list(range(rank, len(kernel.axes)))
        if any(sorted(r.axes) != last or r.running for r in kernel.reductions):
            return False
    return all(_apart(kernels, rank, buffer) for buffer in {b for k in kernels for b in _writes(k)})


def _apart(kernels: Sequence[Kernel], rank: int, buffer: Buffer) -> bool:
    """Whether each row of a buffer is touched by one program only."""
    places = [(k, at, by) for k in kernels for b, at, by in _accesses(k) if b is buffer]
    rows = {at.coefficients[:rank] for _, at, _ in places}
    return len(places) == 1 or (len(rows) == 1 and all(
        _whole(kernel, rank, at, by) for kernel, at, by in places
    ))


def _writes(kernel: Kernel) -> list[Buffer]:
    return [s.buffer for s in kernel.stores] + [r.buffer for r in kernel.reductions]


def _accesses(kernel: Kernel) -> Iterator[tuple[Buffer, Index, int | None]]:
    for value in kernel.values:
        if isinstance(value, Load):
            yield value.buffer, value.at, value.by
    for store in kernel.stores:
        yield store.buffer, store.at, store.by
    for reduce in kernel.reductions:
        yield reduce.buffer, reduce.at, None


def _whole(kernel: Kernel, rank: int, at: Index, by: int | None) -> bool:
    """Whether an access runs through memory without gaps in the order of the axes, so that the
    place tells the row; it need not depend on where in the row it is."""
    if by is not None or at.offset != 0:
        return False
    step: Size = 1
    for axis in reversed(range(len(kernel.axes))):
        coefficient = at.coefficients[axis]
        if coefficient == 0 and step == 1 and axis >= rank:
            continue
        if coefficient != step:
            return False
        step = step * kernel.axes[axis].extent
    return True
