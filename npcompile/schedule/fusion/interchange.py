"""Loops around kernels whose rows don't depend on each other go inside a loop over the rows.

``for j: a[:, j] = f(a[:, j - 1])`` runs for a block of rows from the first to the last ``j``,
while what one iteration leaves to the next stays in the cache, and blocks run side by side on
threads. What is computed, and in which order within a row, stays as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from npcompile.core.facts import Facts
from npcompile.core.lines import in_words
from npcompile.core.records import replace
from npcompile.core.size_words import rows_words
from npcompile.core.sizes import Poly, Size, Symbol, floordiv, largest, smallest, symbols
from npcompile.program.ir import (
    Alloc,
    Buffer,
    For,
    Free,
    Kernel,
    Load,
    Statement,
)
from npcompile.schedule.fusion.row_blocks import (
    FusedRows,
    Fusion,
    RowMember,
    as_rows,
    by_rows,
    on_rows,
    reduced_axes,
    touches,
)
from npcompile.schedule.memory.allocate import bound, touched
from npcompile.schedule.memory.overlaps import in_turn

BYTES = 1 << 16  # that the rows of a block touch in one iteration
LINE = 64
LEAST, BLOCKS = 128, 8  # rows of a block, unless they are long, and blocks for threads to share


def interchange(out: Fusion, loop: For) -> list[Statement] | None:
    """What becomes of a loop, if its kernels allow it."""
    facts, uses = out.facts, out.uses
    inside = list(_flat(loop.body))
    if loop.parallel or not all(isinstance(s, (Kernel, For)) for s in inside):
        return None
    kernels = [s for s in inside if isinstance(s, Kernel)]
    own = Counter(b for kernel in kernels for b in set(touched(kernel)))
    first = next((kernel for kernel in kernels if kernel.axes), None)
    if first is None or not _numbers_stay(inside, own, uses):
        return None
    kept = [k for k in range(len(first.axes)) if k not in reduced_axes(first)]
    iterations = bound([loop])
    for rows in dict.fromkeys(facts.norm(first.axes[k].extent) for k in kept):
        if not iterations.isdisjoint(symbols(rows)):
            continue
        group = FusedRows(facts, rows, 0)
        members: dict[Kernel, RowMember] = {}
        if _grow(facts, group, members, (loop,)) and not _is_read(kernels, group):
            private = {b: k for b in group.buffers() if b.kind == "temp" and own[b] == uses[b]
                       for k in range(len(b.shape)) if by_rows(facts, group, b, range(k, k + 1))}
            return _write(facts, loop, group, members, private, out)
    return None


def _flat(body: Sequence[Statement]) -> Iterator[Statement]:
    for statement in body:
        yield statement
        if isinstance(statement, For):
            yield from _flat(statement.body)


def _numbers_stay(
    inside: list[Statement], own: Counter[Buffer], uses: Mapping[Buffer, int]
) -> bool:
    """Whether kernels without axes make numbers only, before they are read, and these are used
    nowhere else."""
    made = {s.buffer for k in inside if isinstance(k, Kernel) for s in k.stores
            if s.buffer.kind == "scalar"}
    known: set[Buffer] = set()
    for kernel in inside:
        if isinstance(kernel, Kernel):
            if not kernel.axes and any(s.buffer.kind != "scalar" for s in kernel.stores):
                return False
            read = {v.buffer for v in kernel.values if isinstance(v, Load)}
            read |= {reduce.buffer for reduce in kernel.reductions}
            if not made.isdisjoint(read - known):
                return False
            known |= {store.buffer for store in kernel.stores}
    return all(own[buffer] == uses[buffer] for buffer in made)


def _grow(
    facts: Facts, group: FusedRows, members: dict[Kernel, RowMember], loops: tuple[For, ...]
) -> bool:
    """Adds the kernels of the innermost loop; false if a row of one depends on others."""
    with in_turn(facts, loops[-1].start, loops[-1].stop, loops[-1].step):
        return _grow_in_turn(facts, group, members, loops)


def _grow_in_turn(
    facts: Facts, group: FusedRows, members: dict[Kernel, RowMember], loops: tuple[For, ...]
) -> bool:
    for statement in loops[-1].body:
        if isinstance(statement, For):
            if statement.parallel or not _grow(facts, group, members, (*loops, statement)):
                return False
        elif isinstance(statement, Kernel) and statement.axes:
            member = as_rows(facts, statement, group.rows, loops)
            if member is None or not group.accepts(member):
                return False
            group.add(member, 0)
            members[statement] = member
    return True


def _is_read(kernels: list[Kernel], group: FusedRows) -> bool:
    """Whether numbers are computed from arrays that the group changes."""
    changed = {touch.buffer for touch in group.touches() if touch.writes}
    return any(
        isinstance(v, Load) and v.buffer in changed
        for kernel in kernels if not kernel.axes for v in kernel.values
    )


def _write(facts: Facts, loop: For, group: FusedRows, members: dict[Kernel, RowMember],
           private: dict[Buffer, int], out: Fusion) -> list[Statement]:
    before: list[Statement] = []
    rows = group.rows
    share = largest(floordiv(rows + BLOCKS - 1, BLOCKS), LEAST)
    fit = largest(floordiv(BYTES, largest(_step_bytes(facts, members), 1)), 1)
    block = out.bind("turn", largest(smallest(smallest(fit, share), rows), 1), before)
    name = Symbol("row", 0, 0)
    start = Poly((((name,), 1),))
    count = smallest(block, rows - start)
    smaller = {
        buffer: replace(buffer, shape=(*buffer.shape[:k], block, *buffer.shape[k + 1 :]))
        for buffer, k in private.items()
    }
    out.smaller.update(smaller)

    def moved(body: Sequence[Statement]) -> tuple[Statement, ...]:
        found: list[Statement] = []
        for s in body:
            if isinstance(s, For):
                found.append(replace(s, body=moved(s.body), edge=None))
            elif isinstance(s, Kernel) and s in members:
                found.append(on_rows(members[s], start, count, smaller))
            else:
                found.append(s)
        return tuple(found)

    body = [*map(Alloc, smaller.values()), *moved((loop,)), *map(Free, smaller.values())]
    where = f" in {in_words(loop.line)}" if loop.line else ""
    out.notes.append(f"the loop{where} runs whole for each block of {rows_words(rows)}")
    return [*before, For(name, 0, rows, block, tuple(body), parallel=True)]


def _step_bytes(facts: Facts, members: dict[Kernel, RowMember]) -> Size:
    """The bytes that a row touches in one iteration, counted in cache lines where rows are apart.
    """
    found: dict[Buffer, Size] = {}
    for kernel, member in members.items():
        for touch in touches(facts, kernel, member.axis, member.width):
            size = touch.count * touch.buffer.dtype.itemsize
            if touch.step not in (0, 1) and isinstance(size, int):
                size = max(size, LINE)
            if touch.step != 0:
                found[touch.buffer] = size
    total: Size = 0
    for size in found.values():
        total = total + size
    return total

