"""The spec of a transform's ``extern`` node, apart from the routines, of which versions that come
from disk need no more."""

from __future__ import annotations

from typing import Any

from npcompile.core.records import record


@record
class TransformSpec:
    """``kind`` is c2c, ic2c (the inverse), r2c or c2r, along an axis; ``norm`` is NumPy's name of
    how results are scaled; ``last`` says whether the length of a real result is even or odd.
    ``rule`` is ``numpy``, which computes with float32 numbers in float64 where results are not
    scaled, or ``scipy``, which computes in the numbers' own format."""

    kind: str
    axis: int
    norm: str
    last: str
    rule: str

    def __str__(self) -> str:
        return f"{self.kind} {self.axis} {self.norm} {self.last} {self.rule}"

    @property
    def inverse(self) -> bool:
        return self.kind in ("ic2c", "c2r")

    def length(self, shape: tuple[Any, ...]) -> Any:
        """The transform's length, by the operand's shape."""
        n = shape[self.axis]
        return 2 * (n - 1) + (self.last == "odd") if self.kind == "c2r" else n


def transform_spec(spec: str) -> TransformSpec:
    """``"c2c 0 backward even numpy"`` by its parts."""
    kind, axis, norm, last, rule = spec.split(" ")
    return TransformSpec(kind, int(axis), norm, last, rule)
