"""What a ufunc's loop works on: the core axes of its operands, and their dtypes.

>>> layout = CoreLayout.read("(m,n),(n)->(m)")
>>> layout.inputs, layout.outputs, layout.names
((('m', 'n'), ('n',)), (('m',),), ('m', 'n'))
>>> str(layout)
'(m,n),(n)->(m)'
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from npcompile.core.records import record

Axes = tuple[str, ...]
_OPERAND = re.compile(r"\(([^()]*)\)")
_WHOLE = re.compile(r"\([^()]*\)(,\([^()]*\))*->\([^()]*\)(,\([^()]*\))*")


@record
class CoreLayout:
    """The core axes of each operand, by their names; ``returns``: the function returns its result,
    a number, and does not write it into an array."""

    inputs: tuple[Axes, ...]
    outputs: tuple[Axes, ...]
    returns: bool = False

    @staticmethod
    def read(text: str) -> CoreLayout:
        """The layout that a text such as ``"(m,n),(n)->(m)"`` describes.

        Raises
        ------
        ValueError
            If it is no such text, or an output has an axis that no input has.
        """
        plain = text.replace(" ", "")
        if not _WHOLE.fullmatch(plain):
            raise ValueError(f"layout {text!r} is not like '(m,n),(n)->(m)'")
        before, after = (
            tuple(tuple(filter(None, axes.split(","))) for axes in _OPERAND.findall(part))
            for part in plain.split("->"))
        unknown = {name for axes in after for name in axes} - {n for axes in before for n in axes}
        if unknown:
            raise ValueError(f"layout {text!r}: no input has the axis {min(unknown)!r}")
        return CoreLayout(before, after)

    @staticmethod
    def of_numbers(count: int) -> CoreLayout:
        """That of a function of so many numbers, which returns one."""
        return CoreLayout(((),) * count, ((),), True)

    @property
    def operands(self) -> tuple[Axes, ...]:
        return self.inputs + self.outputs

    @property
    def names(self) -> Axes:
        """The names of core axes, in the order of NumPy's list of their lengths."""
        return tuple(dict.fromkeys(name for axes in self.operands for name in axes))

    @property
    def scalar(self) -> bool:
        """Whether no operand has core axes."""
        return not self.names

    def shapes(self, lengths: Mapping[str, int]) -> list[tuple[int, ...]]:
        """The core shapes of operands for some lengths of axes."""
        return [tuple(lengths[name] for name in axes) for axes in self.operands]

    def lengths(self, shapes: Sequence[tuple[int, ...]]) -> dict[str, int] | None:
        """The lengths of core axes for arrays of such shapes; None where NumPy has to object."""
        found: dict[str, int] = {}
        for axes, shape in zip(self.inputs, shapes):
            if len(shape) < len(axes):
                return None
            for name, length in zip(axes, shape[len(shape) - len(axes):]):
                if found.setdefault(name, length) != length:
                    return None
        return found

    def __str__(self) -> str:
        inputs, outputs = (",".join(f"({','.join(axes)})" for axes in part)
                           for part in (self.inputs, self.outputs))
        return f"{inputs}->{outputs}"


@record
class LoopKind:
    """A layout with the dtypes of its operands."""

    layout: CoreLayout
    dtypes: tuple[np.dtype, ...]

    def samples(self, count: int, lengths: Mapping[str, int]) -> list[np.ndarray]:
        """Arrays like those that ``count`` steps of a loop work on."""
        return [np.ones((count, *shape), dtype)
                for shape, dtype in zip(self.layout.shapes(lengths), self.dtypes, strict=True)]
