"""``f.report(*args)``: a page about one call."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npcompile.api.explain import Explanation, explain
from npcompile.api.pages import fragment, page
from npcompile.api.profile import Profile, profile
from npcompile.runtime.versions.dispatch import Dispatcher

_LINE = re.compile(r"\bline (\d+)(?! of )\b")


@dataclass(frozen=True)
class Report:
    """A page: the source with times and reasons, steps, graph, memory, the explanation in words."""

    profile: Profile
    explanation: Explanation

    def __str__(self) -> str:
        return page(self.profile, self.remarks, str(self.explanation))

    def __repr__(self) -> str:
        return f"<report on {self.profile.name}: save(path) writes it>"

    def _repr_html_(self) -> str:
        return fragment(self.profile, self.remarks)

    @property
    def remarks(self) -> dict[int, str]:
        """For lines that Python executes, why."""
        told = list(self.explanation.graph_breaks)
        if self.explanation.refusal is not None:
            told.append(str(self.explanation.refusal))
        found: dict[int, str] = {}
        for text in told:
            place = _LINE.search(text)
            if place is not None:
                found[int(place[1])] = text
        return found

    def save(self, path: str | Path) -> None:
        """Writes the page."""
        Path(path).write_text(str(self), encoding="utf-8")


def report(dispatcher: Dispatcher, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Report:
    """The report on a call on copies of its arguments.

    Raises
    ------
    Exception
        What the call raises.
    """
    found = profile(dispatcher, args, kwargs)
    return Report(found, explain(dispatcher, args, kwargs))
