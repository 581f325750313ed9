"""The knowledge about a loop that one attempt to trace it hands to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npcompile.core.records import field, record

if TYPE_CHECKING:
    from npcompile.core.errors import Refused
    from npcompile.python.values import HeapObject


@record(eq=False, frozen=False)
class LoopFacts:
    """What earlier attempts found out about a loop.

    ``rebound`` are variables that hold another array from iteration to iteration, ``varying`` those
    that hold shorter ones, ``borrowed`` those that come to hold a list out of another list;
    ``mixed`` gives the kinds of values that a variable, or an item of its tuple, holds (see
    :mod:`.carried_unions`); ``changed`` are lists, dictionaries and instances whose contents
    change; ``writes``: an iteration writes what the caller can see, so its checks must know where
    Python goes on; ``pairs``: arrays swap names, and an iteration of the region is two of the loop;
    ``early`` are the paths that got several kinds before the first iteration was tried on its own,
    which is not done again if ``parting``; ``refused`` is why it can't be a region.
    """

    rebound: set[Any] = field(default_factory=set)
    varying: set[Any] = field(default_factory=set)
    borrowed: set[Any] = field(default_factory=set)
    mixed: dict[tuple[Any, ...], tuple[Any, ...]] = field(default_factory=dict)
    changed: set[HeapObject] = field(default_factory=set)
    writes: bool = False
    pairs: bool = False
    early: set[tuple[Any, ...]] = field(default_factory=set)
    parting: bool = False
    refused: list[Refused] = field(default_factory=list)

    def sees_write(self) -> None:
        """An iteration writes what the caller can see."""
        self.writes = True

    def swaps(self) -> None:
        """Arrays swap names from iteration to iteration."""
        self.pairs = True

    def parts(self) -> None:
        """The first iteration is not followed on its own again."""
        self.parting = True
