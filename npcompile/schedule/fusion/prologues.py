"""Far rows of what a sweep makes itself are computed before it.

``np.roll(u * v, 1, 0)``: the first row of the result reads the last one of a product that the sweep
has not come to yet.  So that row of the product is computed before the sweep as well, by the same
operations from the same numbers, into memory of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from npcompile.core.facts import Facts
from npcompile.core.records import field, record, replace
from npcompile.core.sizes import Size
from npcompile.program.ir import Axis, Buffer, Index, Kernel, Load, Store, Value
from npcompile.schedule.fusion.row_blocks import Fusion
from npcompile.schedule.fusion.row_kernels import (
    SkewedGroup,
    SkewedMember,
    Strides,
    one_store,
    row_of,
    written,
)
from npcompile.schedule.fusion.saved_rows import new_buffer

MOST = 8  # rows that one member may need


@record(frozen=False)
class Ahead:
    """The kernels that compute rows of what a group's members write."""

    out: Fusion
    group: SkewedGroup
    strides: Strides
    kernels: list[Kernel] = field(default_factory=list)

    @property
    def facts(self) -> Facts:
        return self.out.facts

    def accepts(self, pieces: Sequence[SkewedMember], end: int) -> bool:
        """Adds members to the group if they can follow the others from row to row."""
        count = len(self.out.made)
        found = [member for piece in pieces if (member := self._member(piece)) is not None]
        if len(found) == len(pieces) and self.group.accepts(found, end):
            return True
        self.kernels.clear()
        del self.out.made[count:]
        return False

    def taken(self) -> list[Kernel]:
        """The kernels for the members that were added last."""
        taken, self.kernels = self.kernels, []
        return taken

    def _member(self, new: SkewedMember) -> SkewedMember | None:
        """A member that reads such rows in place of what the members before it write; None if that
        can't be."""
        made = frozenset[Buffer]().union(*map(written, self.group.members)) & new.still
        if not made:
            return new
        kernel = self._reader(new.kernel, made, len(self.group.members))
        return None if kernel is None else replace(new, kernel=kernel, still=new.still - made)

    def _reader(self, kernel: Kernel, made: frozenset[Buffer], end: int) -> Kernel | None:
        """A kernel that reads rows of ``made``, by the first members of the group, elsewhere."""
        values: list[Value] = []
        for value in kernel.values:
            if isinstance(value, Load) and value.buffer in made:
                row = None if value.by is not None or value.at.part else self._row(kernel, value.at,
                                                                                 value.buffer)
                copy = None if row is None else self._compute(value.buffer, row, end)
                if row is None or copy is None:
                    return None
                stride = self.strides[value.buffer]
                at = replace(value.at, offset=self.facts.norm(value.at.offset - row * stride))
                value = Load(copy, at, value.dtype)
            values.append(value)
        return replace(kernel, values=tuple(values))

    def _row(self, kernel: Kernel, at: Index, buffer: Buffer) -> Size | None:
        """The row that all iterations of a kernel read."""
        extents = tuple([self.facts.norm(axis.extent) for axis in kernel.axes])
        return row_of(self.facts, at, extents, self.strides.get(buffer))

    def _compute(self, buffer: Buffer, row: Size, end: int) -> Buffer | None:
        """A copy of a row as the first members leave it, if one of them computes all of it."""
        makers = [k for k in range(end) if buffer in written(self.group.members[k])]
        if len(makers) != 1 or len(self.kernels) >= MOST:
            return None
        member, stride = self.group.members[makers[0]], self.strides[buffer]
        stores = [store for store in member.kernel.stores if store.buffer is buffer]
        if member.axis is None or len(stores) != 1 or not self._has(member, row):
            return None
        kernel = _on_row(one_store(member.kernel, stores[0]), member, row)
        (store,) = kernel.stores
        at = replace(store.at, offset=self.facts.norm(store.at.offset - row * stride))
        if store.mask is not None or store.by is not None or not self._is_whole(kernel, at, stride):
            return None
        before = self.group.members[: makers[0]]
        made = frozenset[Buffer]().union(*map(written, before))
        reader = self._reader(kernel, made, makers[0])
        if reader is None:
            return None
        copy = new_buffer(self.out, "far", buffer.dtype, (stride,))
        self.kernels.append(replace(reader, stores=(Store(copy, at, store.value),)))
        return copy

    def _has(self, member: SkewedMember, row: Size) -> bool:
        prove = self.facts.prove
        return bool(prove("<=", member.start, row) and prove("<", row, member.stop))

    def _is_whole(self, kernel: Kernel, at: Index, stride: Size) -> bool:
        """Whether a kernel stores to each element of a row once."""
        if at.offset != 0 or at.part:
            return False
        step: Size = 1
        axes: Sequence[tuple[Axis, Size]] = list(zip(kernel.axes, at.coefficients, strict=True))
        for axis, coefficient in reversed(axes):
            if axis.extent != 1:
                if self.facts.norm(coefficient) != step:
                    return False
                step = self.facts.norm(step * axis.extent)
        return step == self.facts.norm(stride)


def _on_row(kernel: Kernel, member: SkewedMember, row: Size) -> Kernel:
    """A member's kernel for one of its rows."""
    axis = member.axis
    assert axis is not None
    axes = list(kernel.axes)
    axes[axis] = Axis(axes[axis].name, member.width)

    def moved(at: Index) -> Index:
        distance = at.coefficients[axis] * member.width * (row - member.start)
        return replace(at, offset=at.offset + distance)

    values = tuple([
        replace(v, at=moved(v.at)) if isinstance(v, Load) else v for v in kernel.values
    ])
    stores = tuple([replace(store, at=moved(store.at)) for store in kernel.stores])
    return replace(kernel, name="ahead", axes=tuple(axes), values=values, stores=stores)
