"""An attempt at a loop, as the modules see it that treat one kind of what iterations carry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from npcompile.core.sizes import Size
from npcompile.graph.ir import Geometry, Node, Region
from npcompile.ops.operands import ArrayRef, Storage

if TYPE_CHECKING:
    from npcompile.python.values import (
        Frame,
        HeapObject,
        Object,
        State,
        TaggedUnion,
        Value,
    )
    from npcompile.tracing.carried_aliases import Renamings
    from npcompile.tracing.carried_sizes import Varying
    from npcompile.tracing.carried_unions import Mixed
    from npcompile.tracing.loop_effects import TypeMismatch
    from npcompile.tracing.loop_facts import LoopFacts
    from npcompile.tracing.services import Tracer
    from npcompile.tracing.trip_counts import Iterations

#: a variable (-1: of a closure cell, which comes next), or a list, dictionary or instance with an
#: index, key or attribute; then positions in tuples
Path = tuple[Any, ...]


class Attempt(Protocol):
    """One attempt at a loop: ``over`` is what a ``for`` runs over."""

    t: Tracer
    frame: Frame
    state: State
    loop_facts: LoopFacts
    over: Iterations | None
    body: set[int]
    live: set[int]
    slots: set[int]
    region: Region
    carried: dict[Node, Node | None]
    next: dict[Node, Node]
    followed: int
    mixed: dict[TaggedUnion, tuple[Mixed, list[Node], ArrayRef | None]]
    created: set[Storage | HeapObject | Object]
    nonempty: bool
    index: Node
    varying: dict[Node, Varying]

    @property
    def rebound(self) -> frozenset[Any]: ...
    @property
    def names(self) -> Renamings: ...
    def changing(self, state: State) -> list[HeapObject]: ...
    def carry(self, init: Node) -> Node: ...
    def made(self, version: Node, geometry: Geometry, dtype: np.dtype) -> ArrayRef: ...
    def learn(self) -> None: ...
    def mistrust(self, doubt: TypeMismatch) -> None: ...
    def rename(self, new: frozenset[Any]) -> None: ...
    def store(self, version: Node, geometry: Geometry, most: Size) -> Node: ...
    def enter(self, value: Value, path: Path) -> Value: ...
    def after(self, param: Node) -> Node: ...
