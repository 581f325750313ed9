"""Transforms of arrays along one axis, by compiled codelets.

Rows whose numbers are neighbours are read and written where they lie, and so are columns that are
neighbours; other arrays, rows that are padded and numbers of other types are copied first.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from npcompile.backends.cpu.transforms.formats import NumberFormat, TransformLayout
from npcompile.backends.cpu.transforms.steps import FEW, MANY, MUCH
from npcompile.core.records import record
from npcompile.fft.plans import Passes, Plan, plan
from npcompile.runtime.transforms.prepared import Job, prepared, register

#: how many neighbours are transformed together
_BLOCKS = {"rows": 1, "columns": 32, "lanes": 256}

_ELEM = {"f": "float", "F": "float", "d": "double", "D": "double"}


@record
class Transform:
    """``kind`` is c2c, r2c or c2r; ``n`` the length of the (real) row; ``inverse`` its sign;
    ``wide``: float32 numbers are computed with in float64."""

    kind: str
    n: int
    inverse: bool
    scale: float
    wide: bool

    @property
    def points(self) -> tuple[int, int]:
        """How many numbers of a row are read and written."""
        half = self.n // 2 + 1
        return half if self.kind == "c2r" else self.n, half if self.kind == "r2c" else self.n

    @property
    def odd(self) -> bool:
        """Whether rows are real and have no half."""
        return self.kind != "c2c" and self.n % 2 == 1

    @property
    def has_lanes(self) -> bool:
        """Whether rows of few points are transformed in lanes."""
        plan = self.plan
        return isinstance(plan, Passes) and len(plan.radices) == 1 and not self.odd

    @property
    def has_columns(self) -> bool:
        """Whether neighbouring columns are transformed together."""
        return isinstance(self.plan, Passes) and not self.odd

    @property
    def plan(self) -> Plan:
        return plan(self.n if self.kind == "c2c" or self.odd else self.n // 2)


#: how an inverse transform is scaled, by the name that NumPy has for it
OPPOSITE = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def transform_of(kind: str, n: int, inverse: bool, norm: str | None, char: str,
                 rule: str = "numpy") -> Transform:
    """What a library does: NumPy computes in float64 where results are not scaled."""
    scaled = OPPOSITE[norm] if inverse else norm
    if scaled in (None, "backward"):
        return Transform(kind, n, inverse, 1.0, rule == "numpy" and char in "fF")
    real: Any = np.dtype(char.lower()).type if rule == "numpy" else np.float64
    scale = np.reciprocal(np.sqrt(n, dtype=real) if scaled == "ortho" else real(n))
    return Transform(kind, n, inverse, float(scale), False)


def transform(what: Transform, a: np.ndarray, axis: int, out: np.ndarray) -> int:
    """Fills ``out``, which is ``a`` itself or shares no memory with it; both have dtypes of the
    kind.  The floating-point flags that this raised."""
    read = what.points[0]
    if a.shape[axis] < read:
        a = _padded(a, axis, read)
    if not (_in_rows(a, axis) and _in_rows(out, axis)):
        if what.has_columns:
            flags = _columns(what, a, axis, out)
            if flags is not None:
                return flags
        if not _in_rows(a, axis):
            a = np.moveaxis(np.ascontiguousarray(np.moveaxis(a, axis, -1)), -1, axis)
        if not _in_rows(out, axis):
            rows = np.moveaxis(out, axis, -1)
            made = np.empty(rows.shape, out.dtype)
            flags = _rows(what, a, axis, np.moveaxis(made, -1, axis))
            rows[...] = made
            return flags
    return _rows(what, a, axis, out)


def _padded(a: np.ndarray, axis: int, n: int) -> np.ndarray:
    """A copy with zeros behind each row."""
    shape = [*a.shape[:axis], *a.shape[axis + 1 :]]
    made = np.zeros((*shape, n), a.dtype)
    made[..., : a.shape[axis]] = np.moveaxis(a, axis, -1)
    return np.moveaxis(made, -1, axis)


def _in_rows(a: np.ndarray, axis: int) -> bool:
    """Whether the numbers of a row are neighbours."""
    return a.strides[axis] == a.itemsize or a.shape[axis] == 1


@cache
def _layout(
    what: Transform, source: str, target: str, register: int, way: str
) -> TransformLayout:
    """Real rows are read and written in pairs, too, but those of odd length; in columns, too."""
    swapped = what.inverse and what.kind == "c2c"
    layouts = ["swapped" if swapped else "pairs"] * 2
    columns = way == "columns"
    if what.odd or (columns and what.kind != "c2c"):
        layouts[what.kind == "c2r"] = "real" if what.odd else "rows"
    read, written = (NumberFormat(layout, _ELEM[char])
                     for layout, char in zip(layouts, (source, target)))
    elem = "double" if what.wide else _ELEM[source]
    return TransformLayout(what.kind, read, written, elem, register, _BLOCKS[way], columns,
                           what.scale != 1.0)


def job(what: Transform, source: str, target: str, way: str) -> Job | None:
    """A frame for arrays of dtypes that lie in a way; None for what is copied first."""
    if way == "columns" and not what.has_columns:
        return None
    if way == "lanes" and not what.has_lanes:
        way = "rows"
    layout = _layout(what, source, target, register(), way)
    return Job(prepared(what.plan, layout), what.scale)


def _job(what: Transform, a: np.ndarray, out: np.ndarray, way: str) -> Job:
    made = job(what, a.dtype.char, out.dtype.char, way)
    assert made is not None
    made.set(source=a.ctypes.data, target=out.ctypes.data)
    return made


def _rows(what: Transform, a: np.ndarray, axis: int, out: np.ndarray) -> int:
    axes = _batch(a, out, axis)
    (total, si, ti), (outer, so, to), *rest = [*axes[::-1], (1, 0, 0), (1, 0, 0)]
    # in lanes, the last block begins in the one before, which must not be written yet
    many = what.n <= FEW and total >= MANY and out is not a
    frame = _job(what, a, out, "lanes" if many else "rows")
    block = min(frame.prepared.block, max(1, total // frame.prepared.lanes * frame.prepared.lanes))
    inner = -(-total // block)
    frame.set(inner=inner, block=block, total=total, source_inner=si, target_inner=ti,
              source_outer=so, target_outer=to, source_stride=si, target_stride=ti)
    return _each(frame, [x for x in rest if x[0] > 1], inner * outer, what.n * total * outer)


def _columns(what: Transform, a: np.ndarray, axis: int, out: np.ndarray) -> int | None:
    """Transforms neighbouring columns together; None if there are too few."""
    axes = _batch(a, out, axis)
    beside = [x for x in axes if x[1:] == (a.itemsize, out.itemsize)]
    frame = _job(what, a, out, "columns") if beside else None
    if frame is None or beside[0][0] < frame.prepared.lanes:
        return None
    (total, si, ti), lanes = beside[0], frame.prepared.lanes
    axes.remove(beside[0])
    if out is a and total % lanes:  # the last block begins in the one before
        a = a.copy(order="K")  # with the strides that the frame has
        frame.set(source=a.ctypes.data)
    (outer, so, to), *rest = [*axes[::-1], (1, 0, 0)]
    block = min(frame.prepared.block, total // lanes * lanes)
    inner = -(-total // block)
    frame.set(inner=inner, block=block, total=total, source_inner=si, target_inner=ti,
            source_outer=so, target_outer=to, source_stride=a.strides[axis],
            target_stride=out.strides[axis])
    return _each(frame, [x for x in rest if x[0] > 1], inner * outer, what.n * total * outer)


def _each(frame: Job, axes: list[tuple[int, int, int]], units: int, numbers: int) -> int:
    """Runs a frame for each place along further axes; the flags that this raised."""
    if not axes:
        return frame.run(units, numbers >= MUCH)
    (count, source, target), *rest = axes
    flags = 0
    for _ in range(count):
        flags |= _each(frame, rest, units, numbers)
        frame.move(source, target)
    frame.move(-count * source, -count * target)
    return flags


def _batch(a: np.ndarray, out: np.ndarray, axis: int) -> list[tuple[int, int, int]]:
    """The other axes, the outermost first: length and strides; neighbours that can be one are."""
    found: list[tuple[int, int, int]] = []
    for k in sorted(range(a.ndim), key=lambda k: -abs(out.strides[k])):
        count, source, target = out.shape[k], a.strides[k], out.strides[k]
        if k == axis or count == 1:
            continue
        if found and found[-1][1:] == (count * source, count * target):
            found[-1] = (found[-1][0] * count, source, target)
        else:
            found.append((count, source, target))
    return found
