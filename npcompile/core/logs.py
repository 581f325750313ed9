"""``NPCOMPILE_LOGS="trace,exits,..."`` and :func:`set_logs`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

TOPICS = ("trace", "exits", "guards", "recompiles", "fusion", "kernels", "cache")
_on: frozenset[str] = frozenset()


def set_logs(*topics: str) -> None:
    """Chooses what is logged to standard error; no topics: nothing.

    Parameters
    ----------
    *topics
        Any of ``trace exits guards recompiles fusion kernels cache`` or ``all``.

    Raises
    ------
    ValueError
        If a topic is not one of these.
    """
    global _on
    chosen = set(TOPICS) if "all" in topics else set(topics)
    unknown = chosen - set(TOPICS)
    if unknown:
        raise ValueError(f"log topics are {', '.join(TOPICS)}; not {', '.join(sorted(unknown))}")
    _on = frozenset(chosen)


def log(topic: str, text: Callable[[], str]) -> None:
    """Writes a line if the topic is on."""
    if topic in _on:
        print(f"npcompile[{topic}] {text()}", file=sys.stderr)


set_logs(*filter(None, os.environ.get("NPCOMPILE_LOGS", "").replace(" ", "").split(",")))
