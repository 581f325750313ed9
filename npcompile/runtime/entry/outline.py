"""The outline of a trace: all that calls need to know of it once its code is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from npcompile.core.records import record

if TYPE_CHECKING:
    from npcompile.core.config import Deterministic
    from npcompile.core.errors import Refusal
    from npcompile.core.sizes import Predicate, Size, Symbol
    from npcompile.graph.ir import Graph
    from npcompile.guards.kinds import Guard
    from npcompile.guards.sources import Leaf, Source
    from npcompile.runtime.entry.fp_warnings import Message


Price = tuple[tuple["Size", float], ...]


@record(eq=False, frozen=False)
class Outline:
    """Valid while ``guards`` and ``predicates`` hold; ``symbols[i]`` stands for the integer
    ``leaves[i]`` in sizes, if that is one; ``written`` are the leaves whose memory is written.

    ``suspects``: for each category of floating-point flags the name and line of the operation that
    is most likely to have raised it; ``ambiguous``: there may be another one; ``late``: it writes
    after that.  ``messages`` are the warnings of categories that leave no doubt.
    ``repeatable``, ``lasting``, ``marked``, ``exact``: see
    :mod:`npcompile.runtime.versions.fp_attribution` and
    :mod:`~npcompile.runtime.entry.executables`. ``tensors`` are the torch tensors whose memory is
    written. ``unpromised``: by deterministic mode, the operators that can't keep its promise.
    ``heavy``: it has loops or large arrays; ``price``: microseconds that NumPy would take for it
    (``numpy_cost.py``), for each of some sizes.  ``silent``: floating-point errors that only
    ``np.errstate`` hides in it.  ``graph_breaks``: places where Python executes what can't be
    compiled. ``graph`` is None if the trace was another process's.
    """

    leaves: list[Leaf]
    guards: list[Guard]
    notes: list[str]
    predicates: list[Predicate]
    symbols: tuple[Symbol | None, ...]
    written: frozenset[int]
    suspects: dict[str, tuple[str, int]]
    ambiguous: bool
    late: bool
    messages: tuple[Message, ...]
    repeatable: bool
    lasting: bool
    marked: bool
    exact: bool
    unpromised: dict[Deterministic, list[str]]
    heavy: bool
    price: Price
    silent: frozenset[str]
    graph_breaks: Mapping[int, Refusal]
    tensors: tuple[Source, ...]
    graph: Graph | None = None
