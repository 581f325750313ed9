"""What containers hold that are arguments of a call."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any

from npcompile.runtime.entry.leaf_matching import CONTAINERS

#: so many objects are looked at
REACH = 256


def reached(bound: Mapping[str, Any]) -> list[Any]:
    """Arguments, and what the containers among them hold, and what these hold; where that is more
    than ``REACH`` objects, as many of them or more."""
    found = list(bound.values())
    for value in found:  # which grows
        if type(value) in CONTAINERS and len(found) < REACH:
            found += islice(held(value), REACH)
    return found


def held(container: Any) -> Collection[Any]:
    """What a container gives to who reads its items."""
    items: Collection[Any] = container.values() if type(container) is dict else container
    return items
