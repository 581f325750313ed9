"""Kernels that read neighbouring rows of what others wrote sweep over the rows together.

A *row* is an index along one axis, counted by the row stride of the arrays.  Members of a group
advance side by side through blocks of rows, each by its *lag* behind the first, so that all that it
reads of the members before is written and nothing is overwritten that they still need; what one
member leaves in the cache the next one finds there.

Here groups are found; ``rolling`` writes those whose temporaries need to hold a few rows only, and
``cuts`` the others.  Every row is computed from the same numbers as without all this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from npcompile.core.facts import Facts
from npcompile.core.records import replace
from npcompile.core.sizes import Predicate, Size, product
from npcompile.program.ir import Apply, AxisIndex, Buffer, Kernel, Load, Statement
from npcompile.schedule.fusion import ring_buffers
from npcompile.schedule.fusion.array_cuts import Cuts
from npcompile.schedule.fusion.prologues import Ahead
from npcompile.schedule.fusion.row_blocks import Fusion
from npcompile.schedule.fusion.row_kernels import (
    RowReach,
    SkewedGroup,
    SkewedMember,
    Strides,
    accesses,
    one_store,
    rows_between,
    uses,
)
from npcompile.schedule.fusion.saved_rows import far_rows
from npcompile.schedule.memory.allocate import touched
from npcompile.schedule.memory.overlaps import quotient, span, split
from npcompile.schedule.memory.renamed_buffers import renamed_kernel

SWEPT = 128  #: kernels of one function that sweep, each of which is compiled for several cases
LONGEST = 64  #: kernels of one sweep
#: kernels as rows, by what :func:`_member` looks at; groups that begin elsewhere ask again
Known = dict[tuple[Kernel, tuple[Size | None, ...]], list[SkewedMember]]


def sweeps(out: Fusion, body: Sequence[Statement]) -> list[Statement]:
    """A block's statements, groups of kernels among them as sweeps."""
    found: list[Statement] = []
    at, known = 0, Known()
    while at < len(body):
        swept = _sweep(out, _run(body, at), known) if out.swept < SWEPT else None
        if swept is None:
            found.append(body[at])
            at += 1
        else:
            found += swept[0]
            at += swept[1]
            out.sweeps(swept[1])
    return found


def _run(body: Sequence[Statement], at: int) -> list[Kernel]:
    """The kernels from a statement on that might sweep."""
    run = []
    for statement in body[at : at + LONGEST]:
        if not isinstance(statement, Kernel) or statement.reductions:
            break
        run.append(statement)
    return run


def _sweep(
    out: Fusion, run: Sequence[Kernel], known: Known
) -> tuple[list[Statement], int] | None:
    """The longest group that begins with a kernel as a sweep, if that is worth while, and of how
    many kernels it is.  Kernels are divided where all temporaries can be views then."""
    if len(run) < 2 or not run[0].axes:
        return None
    group = _grow(out, run, known)
    found = ring_buffers.write(out, group)
    if found is not None:
        return found, group.end
    if any(member.whole is not member.kernel for member in group.members):
        group = _grow(out, run, known, divide=False)
    if not group.useful:
        return None
    group = _thrifty(out, group)
    far_rows(out, group)
    return Cuts(out, group).write(), group.end


# ------------------------------------------------------------------ finding groups


def _thrifty(out: Fusion, group: SkewedGroup) -> SkewedGroup:
    """The group with fewer temporaries, if it stays as large."""
    found = _grow(out, _share(out, group), {})
    if len(found.members) < len(group.members):
        return group
    return replace(found, numbers=group.numbers, end=group.end)


def _grow(out: Fusion, run: Sequence[Kernel], known: Known, divide: bool = True) -> SkewedGroup:
    """The longest group that begins with the first kernel; ``divide``: of parts of kernels, too."""
    facts, strides = out.facts, _strides(out.facts, run)
    group, waiting = SkewedGroup(), list[Kernel]()
    ahead = Ahead(out, group, strides)
    for end, kernel in enumerate(run, 1):
        if not kernel.axes:
            if not group.may_follow(kernel):
                break
            waiting.append(kernel)
            continue
        key = kernel, tuple([strides.get(buffer) for buffer, _, _ in accesses(kernel)])
        if key not in known:
            known[key] = _pieces(facts, kernel, strides)
        pieces = known[key]
        whole = len(pieces) == 1 or divide
        if not (pieces and whole and ahead.accepts(pieces, end)):
            break
        group.follows((*waiting, *ahead.taken()))
        waiting.clear()
    return group


def _share(out: Fusion, group: SkewedGroup) -> list[Kernel]:
    """The kernels of a group with one temporary for several that are not needed at the same time,
    as nobody else uses them; in a sweep all would be there at once.  What is computed before the
    sweep is needed from its begin on."""
    run, count = [member.kernel for member in group.members], uses(group)
    early = {store.buffer for number in group.numbers for store in number.stores}
    used = [set(touched(kernel)) for kernel in run]
    last = {buffer: k for k, buffers in enumerate(used) for buffer in buffers}
    idle: dict[object, list[Buffer]] = {}
    instead: dict[Buffer, Buffer] = {}
    found = []
    for k, (kernel, buffers) in enumerate(zip(run, used, strict=True)):
        own = [b for b in touched(kernel)
               if b.kind == "temp" and b not in early and count[b] == out.uses[b]]
        for buffer in dict.fromkeys(own):
            if buffer not in instead:
                free = idle.get((buffer.dtype, buffer.shape, buffer.strides))
                instead[buffer] = free.pop() if free else buffer
        found.append(renamed_kernel(kernel, instead))
        for buffer in buffers & instead.keys():
            if last[buffer] == k:
                key = buffer.dtype, buffer.shape, buffer.strides
                idle.setdefault(key, []).append(instead[buffer])
    return found


def _strides(facts: Facts, run: Sequence[Kernel]) -> Strides:
    """How far apart the rows of each buffer are: as kernels of several axes step along the first;
    of what only kernels of one axis touch as what they touch beside it, as its own rows, or element
    by element."""
    found: dict[Buffer, Size] = {}
    for kernel in run:
        if len(kernel.axes) > 1:
            for buffer, at, _ in accesses(kernel):
                step = facts.norm(at.coefficients[0])
                if step != 0:
                    found.setdefault(buffer, step)
    for kernel in run:
        if len(kernel.axes) == 1:
            steps = {buffer: facts.norm(at.coefficients[0]) for buffer, at, _ in accesses(kernel)}
            wide = [found[b] for b, step in steps.items() if b in found and step == 1]
            wide = wide or _whole_rows(facts, kernel, steps)
            for buffer, step in steps.items():
                if step != 0:
                    found.setdefault(buffer, wide[0] if wide and step == 1 else step)
    return found


def _whole_rows(facts: Facts, kernel: Kernel, steps: Mapping[Buffer, Size]) -> list[Size]:
    """How far apart the rows are of what a kernel of one axis touches, if it has whole ones."""
    rows = [facts.norm(b.strides[0]) for b, step in steps.items() if step == 1 and b.shape[1:]]
    return [row for row in rows
            if row not in (0, 1) and split(facts.norm(kernel.axes[0].extent), row)[1] == 0]


def _pieces(facts: Facts, kernel: Kernel, strides: Strides) -> list[SkewedMember]:
    """A kernel as a member, or what it stores as one each; none if neither can be."""
    whole = _member(facts, kernel, strides)
    if whole is not None:
        return [whole]
    pieces = [_member(facts, piece, strides) for piece in _divided(kernel)]
    found = [piece for piece in pieces if piece is not None]
    return [replace(piece, whole=kernel) for piece in found] if len(found) == len(pieces) else []


def _divided(kernel: Kernel) -> list[Kernel]:
    """A kernel for each of its stores, if that computes nothing twice and from the same memory."""
    loaded = {v.buffer for v in kernel.values if isinstance(v, Load)}
    pieces = [one_store(kernel, store) for store in kernel.stores]
    count = sum(isinstance(v, Apply) for piece in pieces for v in piece.values)
    once = count == sum(isinstance(v, Apply) for v in kernel.values)
    free = loaded.isdisjoint(store.buffer for store in kernel.stores)
    return pieces if len(pieces) > 1 and once and free else []


def _member(facts: Facts, kernel: Kernel, strides: Strides) -> SkewedMember | None:
    """A kernel as rows, along the first axis that allows it."""
    if kernel.in_order or any(s.buffer.kind == "scalar" or s.by is not None for s in kernel.stores):
        return None
    counted = {v.axis for v in kernel.values if isinstance(v, AxisIndex)}
    with _some_rows(facts, kernel, strides):
        for axis in (*(k for k in range(len(kernel.axes)) if k not in counted), None):
            found = _along(facts, kernel, axis, strides)
            if found is not None:
                return found
    return None


@contextmanager
def _some_rows(facts: Facts, kernel: Kernel, strides: Strides) -> Iterator[None]:
    """Where a kernel has elements: else it does nothing, whatever is found of it."""
    used = {strides.get(buffer, 1) for buffer, _, _ in accesses(kernel)}
    before = facts.mark()
    if not all(facts.prove("<", 0, stride) for stride in used):
        extents = [facts.norm(axis.extent) for axis in kernel.axes]
        for k in range(len(extents)):
            facts.learn(Predicate("<", 0, product(extents[k:])))
    yield
    facts.undo(before)


def _along(facts: Facts, kernel: Kernel, axis: int | None, strides: Strides) -> SkewedMember | None:
    width, rows = _width(facts, kernel, axis, strides), None
    if width is None:
        return None
    extents = [facts.norm(a.extent) for a in kernel.axes]
    if axis is not None:
        rows, rest = split(extents[axis], width)
        if rest != 0:
            return None
        extents[axis] = width
    still = {v.buffer for v in kernel.values if isinstance(v, Load) and v.by is not None}
    touches, base = list[RowReach](), None
    for buffer, at, writes in sorted(accesses(kernel), key=lambda access: not access[2]):
        steps = tuple(map(facts.norm, at.coefficients))
        if axis is not None and width == 1:
            steps = tuple([0 if k == axis else step for k, step in enumerate(steps)])
        reach = span(facts, (facts.norm(at.offset), tuple(extents), steps))
        stride = strides.get(buffer)
        moves = axis is None or at.coefficients[axis] != 0
        found = None
        if moves and reach is not None and stride is not None and facts.prove("<", 0, stride):
            found = rows_between(facts, reach, stride)
        if found is None or (base is not None and found[0] != base):
            if writes:
                return None
            still.add(buffer)
            continue
        base, first, last = found
        touches.append(RowReach(buffer, first, last, writes))
    if base is None or not facts.prove("<=", 0, base):
        return None
    shift = next((touch.first for touch in touches if touch.writes), 0)
    if facts.prove("<=", 0, base + shift):  # a row of it is the one that it writes
        base = base + shift
        touches = [replace(t, first=t.first - shift, last=t.last - shift) for t in touches]
    stop = base + (1 if rows is None else rows)
    return SkewedMember(kernel, kernel, axis, width, base, stop, tuple(dict.fromkeys(touches)),
                  frozenset(still))


def _width(facts: Facts, kernel: Kernel, axis: int | None, strides: Strides) -> Size | None:
    """Elements of an axis that are one row for all that the kernel touches."""
    if axis is None:
        return 1
    widths: dict[Size, None] = {}
    for buffer, at, writes in accesses(kernel):
        step = facts.norm(at.coefficients[axis])
        if step == 0 and not writes:
            continue
        stride = strides.get(buffer, 0)
        if stride == 0 or step == 0:
            return None
        width = stride if step == 1 else quotient(stride, step)
        if width is None or facts.prove("<=", width, 0):  # backwards through the rows
            return None
        widths[width] = None
    return next(iter(widths)) if len(widths) == 1 else None
