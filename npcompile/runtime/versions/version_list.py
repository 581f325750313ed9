"""The versions of one function: which of them serves a call, and in which order they are tried."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from npcompile.core import logs
from npcompile.core.errors import Refusal
from npcompile.runtime.entry import executables, leaf_matching
from npcompile.runtime.versions.served import Served
from npcompile.runtime.versions.version import HEIRLOOMS, Version

#: why no version serves a call that has the right types
OVERLAP = Refusal("arguments", "arrays that overlap and are written, or may not be")


class Versions:
    """Finds the version that serves a call; entries are tried in the order of ``found``, but those
    of whole functions first."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self.found: list[Version] = []
        self._outdated = False  # whether the first entry has found that what it watches has changed

    # ------------------------------------------------------------------ finding

    def match(
        self, version: Version, bound: dict[str, Any]
    ) -> tuple[Any, ...] | Refusal | None:
        """The leaves of a call that a version serves; None, or a refusal if no other one would
        either."""
        leaves = version.match(bound, self._served.function)
        if leaves is None or not version.direct:
            return leaves  # an entry that is not direct gets all that it relies on
        if not leaf_matching.accepts(version.trace, leaves):
            # what its entry would find out, after all that it watches is looked up
            return OVERLAP if leaf_matching.overlaps(version.trace, leaves) else None
        with self._served.lock:
            return leaves if self._connect(version, bound) else None

    def serving(
        self, bound: dict[str, Any], but: Sequence[Version] = ()
    ) -> tuple[Version, tuple[Any, ...]] | None:
        """The version, none of some, that serves these arguments, and their leaves."""
        for version in self.found:
            if version in but:
                continue
            leaves = version.match(bound, self._served.function)
            if leaves is None or not leaf_matching.accepts(version.trace, leaves):
                continue
            if self._connect(version, bound):
                return version, leaves
        return None

    def _connect(self, version: Version, bound: dict[str, Any]) -> bool:
        connected = version.connect(bound, self._served.function)
        if connected and (version.adrift or self._outdated):
            version.anchor()
            self._outdated = False
            if version in self.found:  # else another thread has withdrawn it
                self._order([version, *(v for v in self.found if v is not version)])
        return connected

    # ------------------------------------------------------------------ changes

    def add(self, version: Version, instead: Sequence[Version] = ()) -> None:
        """Puts a version first, in the place of some others."""
        for old in instead:
            executables.retire(old.executable)
        others = [v for v in self.found if v not in instead]
        self._order([version, *others])
        logs.log("recompiles", lambda: self._told(version, others))

    def _told(self, version: Version, others: Sequence[Version]) -> str:
        """Says why a version was compiled."""
        from npcompile.guards.descriptions import difference

        code = self._served.function.__code__
        why = difference(version.trace, [other.trace for other in others])
        place = f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}"
        return f"{self._served.name} ({place}), version {len(others) + 1}: {why}"

    def _order(self, versions: list[Version]) -> None:
        self.found = sorted(versions, key=lambda v: bool(v.trace.graph_breaks))
        self._served.changed()

    def prefer(self, version: Version) -> None:
        """Tries a version first, from Python."""
        with self._served.lock:
            self.found = sorted(self.found, key=lambda v: v is not version)

    def withdraw(self, version: Version) -> None:
        """Forgets one version."""
        with self._served.lock:
            if version in self.found:
                self.found = [v for v in self.found if v is not version]
                executables.retire(version.executable)
                self._served.changed()

    def clear(self) -> None:
        """Forgets all versions."""
        for version in self.found:
            executables.retire(version.executable)
        self.found = []

    def outdate(self) -> None:
        """An entry has found that what it watches has changed: if the call is of other arguments,
        nobody will look at it anew."""
        self._outdated = True

    def drift(self) -> None:
        """Takes away the entries that watch what has changed, until they serve a call again."""
        if not self._outdated:
            return
        with self._served.lock:
            self._outdated = False
            if [version for version in self.found if version.drift()]:
                self._served.changed()

    # ------------------------------------------------------------------ functions made again

    def release(self) -> None:
        """Lets go of all that belongs to the function."""
        self.found = [v for v in self.found if v.release()]

    def adopt(self) -> None:
        """Serves another function of the same code."""
        wires, function = self._served.compiler.wires, self._served.function
        self.found = [v for v in self.found if v.rewire(wires, function)][:HEIRLOOMS]

    # ------------------------------------------------------------------ entries

    def installable(self, modes: bool, few: bool) -> list[Version]:
        """The versions that calls may go to directly, while deterministic modes are in force;
        ``few``: those with graph breaks are none of them, as calls may be Python's because they do
        little."""
        return [
            v for v in self.found if v.installable(modes) and not (few and v.trace.graph_breaks)
        ]

    @property
    def exact(self) -> bool:
        """Whether every version so far must agree with NumPy bit for bit."""
        return all(v.trace.exact for v in self.found)
