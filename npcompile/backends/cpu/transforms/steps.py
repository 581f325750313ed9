"""What codelets are told: the words of a step, which a plan fixes, and of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from npcompile.core.records import record

if TYPE_CHECKING:
    from npcompile.backends.cpu.transforms.codelets import Codelet

#: of a step: the function; which memory each end is (see PLACES) and how far in; its table; how
#: many lines there are and how long they are; the strides of both ends, and which word of the call
#: these are multiples of
STEP = ("function", "source", "source_at", "target", "target_at", "table", "lines", "along",
        "source_line", "source_point", "source_parts", "source_unit",
        "target_line", "target_point", "target_parts", "target_unit", "extra", "other")
#: of a call: 1, the number of neighbours that are transformed together, the strides of the user's
#: arrays along the transformed axis in bytes, scratch memory, and the scale
CALLS = ("one", "width", "source_stride", "target_stride", "scratch", "scale")
WORD = {name: k for k, name in enumerate(STEP)}
CALL = {name: k for k, name in enumerate(CALLS)}
PLACES = {"source": 0, "target": 1, "scratch": 2}


@record
class Step:
    """One step before it is put into memory; ``words`` are those of :data:`STEP` by name, but for
    the function and the table."""

    codelet: Codelet | str
    words: dict[str, int]
    table: np.ndarray | None = None
