"""Operator records: importing this room fills :data:`npcompile.ops.record.OPERATORS`."""

from npcompile.ops import (
    arithmetic,
    bitwise,
    builtin,
    casting,
    comparison,
    complexes,
    contraction,
    creation,
    joining,
    queries,
    ranges,
    reductions,
    rounding,
    selection,
    statistics,
    views,
)

__all__ = [
    "arithmetic",
    "bitwise",
    "builtin",
    "casting",
    "comparison",
    "complexes",
    "contraction",
    "creation",
    "joining",
    "queries",
    "ranges",
    "reductions",
    "rounding",
    "selection",
    "statistics",
    "views",
]
