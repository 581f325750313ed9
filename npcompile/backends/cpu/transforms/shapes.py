"""Codelets by the shapes in their names."""

from __future__ import annotations

from npcompile.backends.cpu.transforms.codelets import CodeletWriter
from npcompile.backends.cpu.transforms.convolutions import ConvolutionWriter
from npcompile.backends.cpu.transforms.formats import parse
from npcompile.backends.cpu.transforms.reals import RealWriter

WRITERS: dict[str, type[CodeletWriter]] = {
    **dict.fromkeys(("first", "lines", "whole", "transpose"), CodeletWriter),
    **dict.fromkeys(("behind", "before", "mirror", "behind_columns",
                    "before_columns", "whole_r2c", "whole_c2r"), RealWriter),
    **dict.fromkeys(("product", "copy", "gather", "scatter"), ConvolutionWriter),
}


def written(name: str) -> str:
    """The module of the codelet of a name."""
    codelet = parse(name)
    return WRITERS[codelet.shape](codelet).text()
