"""What codelets are told: the words of a step, which a plan fixes, and of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from npcompile.core.records import record

if TYPE_CHECKING:
    from npcompile.backends.cpu.transforms.formats import Codelet
    from npcompile.backends.cpu.transforms.lowering import Lowering

#: of a step: the function; which memory each end is (see PLACES) and how far in; its table; how
#: many lines there are and how long they are; the strides of both ends, and which word of the call
#: these are multiples of
STEP = ("function", "source", "source_at", "target", "target_at", "table", "lines", "along",
        "source_line", "source_point", "source_parts", "source_unit",
        "target_line", "target_point", "target_parts", "target_unit", "extra", "other")
#: of a call: 1, the number of neighbours that are transformed together, the strides of the user's
#: arrays along the transformed axis in bytes, the first neighbour, and the scale
CALLS = ("one", "width", "source_stride", "target_stride", "first", "scale")
#: words of a frame: the steps; both arrays; units are numbered along an outer axis and an inner
#: one of ``total`` neighbours, ``block`` in a unit, ``inner`` units; strides in bytes; least number
#: of neighbours in a vector
FRAME = ("steps", "source", "target", "inner", "source_outer", "target_outer", "source_inner",
         "target_inner", "source_stride", "target_stride", "scratch", "block", "total", "lanes",
         "scale")
PART = {name: k for k, name in enumerate(FRAME)}
WORD = {name: k for k, name in enumerate(STEP)}
CALL = {name: k for k, name in enumerate(CALLS)}
#: numbers that are worth waking threads for
MUCH = 1 << 17
PLACES = {"source": 0, "target": 1, "scratch": 2}


@record
class PassStep:
    """One step before it is put into memory; ``words`` are those of :data:`STEP` by name, but for
    the function and the table.  One without a codelet repeats the steps ``inner`` in a frame."""

    codelet: Codelet | None
    words: dict[str, int]
    table: np.ndarray | None = None
    inner: Lowering | None = None
    frame: dict[str, int] | None = None


#: rows that are worth lanes of their own where they have few points, and how many these are
MANY, FEW = 64, 32
#: what compiled programs are told of a length: the length, how arrays lie (ways of :data:`WAYS`), a
#: frame, the sizes of numbers at both ends, whether Python runs it, and the
#: entry for rows that are fewer than lanes
ENTRY = ("n", "way", *FRAME, "source_size", "target_size", "slow", "single")
#: one row after the other, neighbouring columns in lanes, rows of few points in lanes
WAYS = ("rows", "columns", "lanes")
#: entries of a kind of transform that are found at once, by its length
ENTRIES = 64
#: what Python's functions tell machine code: the entry or the flags, the class of an exception, the
#: thread to raise it in
TOLD = ("found", "error", "thread")


def transform_name(spec: str, dtype: np.dtype) -> str:
    """What programs call a kind of transform: without blanks."""
    return f"transform_{spec.replace(' ', '_')}.{dtype.name}"
