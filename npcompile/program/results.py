"""Buffers and results of programs: what calls of machine code that is there already need.

The grammar is at the head of ``ir.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np

from npcompile.core.records import record
from npcompile.core.sizes import Size, product
from npcompile.graph.types import c_strides

if TYPE_CHECKING:
    from npcompile.graph.ir import Geometry


@record(eq=False)
class Buffer:
    """Memory: ``kind`` says who owns it.

    ``param``: the array of parameter ``index``, 0-d ones too; ``result``: becomes a NumPy
    array of the caller's; ``temp``: ours; ``owned``: ours, but the memory of a NumPy array, which
    a called function may keep or has made; ``scalar``: one number in the frame (parameter
    ``index`` if that is not negative); ``object``: a Python object (parameter likewise).
    Strides count elements and address element (0, ..., 0) at offset 0.  ``title`` is the user's
    variable that holds it, for readers.
    """

    name: str
    kind: Literal["param", "result", "temp", "owned", "scalar", "object"]
    dtype: np.dtype
    shape: tuple[Size, ...] = ()
    strides: tuple[Size, ...] = ()
    index: int = -1
    title: str = ""


@record
class ParamResult:
    """The very object that came in."""

    index: int


@record
class BufferResult:
    """The array of a result buffer (one object per buffer)."""

    buffer: Buffer


@record
class ViewResult:
    """A view of a parameter or of a result buffer; equal ``ident`` is one object."""

    ident: int
    base: ParamResult | BufferResult
    geometry: Geometry
    dtype: np.dtype
    writeable: bool = True

    @property
    def filled(self) -> Size:
        """0 if all strides are: NumPy gives such to an empty array of its own, and so to views of
        it, but not where these are of another shape (``reshape``)."""
        if isinstance(self.base, ParamResult):
            return 1
        shape, geometry = self.base.buffer.shape, self.geometry
        reshaped = len(shape) != len(geometry.shape) and geometry.strides == c_strides(
            geometry.shape
        )
        return 1 if reshaped else product(shape)

    @property
    def sizes(self) -> tuple[Size, ...]:
        """All that the view's place and form are computed from."""
        geometry = self.geometry
        return (geometry.offset, *geometry.shape, *geometry.strides, self.filled)


@record
class ScalarResult:
    """A rank-0 buffer boxed as a Python (``py``) or NumPy (``np``) number; equal nonzero ``ident``
    numbers are one object."""

    buffer: Buffer
    origin: str
    ident: int = 0


@record
class ObjectResult:
    """The Python object that an object buffer holds."""

    buffer: Buffer


@record(eq=False)
class StaticResult:
    value: object
    source: object = None


@record
class ItemsResult:
    kind: type
    items: tuple[Result, ...]
    keys: tuple[object, ...] = ()
    ident: int = 0


Result = (
    ParamResult | BufferResult | ViewResult | ScalarResult | ObjectResult | StaticResult
    | ItemsResult
)


def result_buffers(result: Result) -> Iterator[Buffer]:
    """The buffers that a result is made of."""
    match result:
        case BufferResult(buffer) | ScalarResult(buffer, _) | ObjectResult(buffer):
            yield buffer
        case ViewResult(_, base, _, _):
            yield from result_buffers(base)
        case ItemsResult(_, items):
            for item in items:
                yield from result_buffers(item)
