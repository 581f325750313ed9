"""How the numbers of a transform lie in memory, and the names of codelets: all that is needed of
codelets where they are not written."""

from __future__ import annotations

from npcompile.core.records import record

SIZE = {"double": 8, "float": 4}
GRID = 16  # columns to a factor
ROWS = ("rows", "turned")  # layouts of real columns


@record
class NumberFormat:
    """How numbers lie in memory: ``split`` (their parts apart), ``pairs``, ``swapped`` (pairs,
    whose first part is taken for the imaginary one), ``real`` (without imaginary parts) or ``rows``
    (real parts in one row of an array, imaginary ones in the next; ``turned``: the other way)."""

    layout: str
    elem: str

    @property
    def bytes(self) -> int:
        """From one number to the next."""
        return SIZE[self.elem] * (2 if self.layout in ("pairs", "swapped") else 1)


@record
class Codelet:
    """``shape``: ``first`` has neighbouring points in its lanes and transposes its results,
    ``lines`` have whatever lies next to each other, ``whole`` has rows in its lanes; see
    :mod:`.reals` and :mod:`.convolutions` for others.
    ``factors``: results are multiplied by twiddle factors, one for each line; ``scaled``: by a
    number of the call; ``grid``: by the factors between the columns and rows of a long transform.
    """

    shape: str
    radix: int
    elem: str
    lanes: int
    source: NumberFormat
    target: NumberFormat
    factors: bool = False
    scaled: bool = False
    grid: bool = False

    @property
    def name(self) -> str:
        chosen = (self.factors, self.scaled, self.grid)
        marks = "".join(mark for mark, there in zip("tsg", chosen) if there)
        return ".".join(map(str, (
            "fft", self.shape, self.radix, self.elem, self.lanes, self.source.layout,
            self.source.elem, self.target.layout, self.target.elem, f"m{marks}")))


def parse(name: str) -> Codelet:
    """The codelet that a name stands for."""
    _, shape, radix, elem, lanes, *rest = name.split(".")
    forms = NumberFormat(*rest[:2]), NumberFormat(*rest[2:4])
    return Codelet(shape, int(radix), elem, int(lanes), *forms,
                   *(mark in rest[4][1:] for mark in "tsg"))


@record
class TransformLayout:
    """What a lowering is for: ``kind`` is c2c, r2c or c2r; ``source`` and ``target`` are how both
    ends lie in memory, pairs for real rows of even length, too; ``elem`` is the format of the
    arithmetic; ``register`` has so many bytes.  ``columns``: neighbours lie in lanes, up to
    ``block`` of them; without it a ``block`` of rows, which have few points, lies in lanes.
    ``scaled``: results are multiplied by a number of the call."""

    kind: str
    source: NumberFormat
    target: NumberFormat
    elem: str
    register: int
    block: int = 1
    columns: bool = False
    scaled: bool = False

    def lanes(self, extent: int) -> int:
        """Numbers in a vector, at most ``extent`` of them."""
        most = max(1, min(self.register // SIZE[self.elem], extent))
        return 1 << (most.bit_length() - 1)
