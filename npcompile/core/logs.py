"""Loggers ``npcompile.<topic>``, shown by ``NPCOMPILE_LOGS="trace,exits"`` and :func:`set_logs`.

A program that uses `logging` chooses as it does for other libraries::

    logging.getLogger("npcompile.recompiles").setLevel(logging.INFO)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

TOPICS = ("trace", "exits", "guards", "recompiles", "fusion", "kernels", "cache")
#: numbers of `logging`'s levels
DEBUG, INFO, WARNING = 10, 20, 30
_LEVELS = {"recompiles": INFO}
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
    """Logs a line, if the topic is on or the program wants it."""
    shown = topic in _on
    # who has not imported `logging` has not asked for anything
    logger: Any = _logger(topic) if "logging" in sys.modules else None
    heard = logger is not None and logger.isEnabledFor(_LEVELS.get(topic, DEBUG))
    if not (shown or heard):
        return
    line = text()
    if shown:
        print(f"npcompile[{topic}] {line}", file=sys.stderr)
    if heard:
        logger.log(_LEVELS.get(topic, DEBUG), "%s", line)


def warn(topic: str, text: str) -> None:
    """Logs a warning, which a program without handlers sees on standard error."""
    _logger(topic).warning("%s", text)


@cache
def _logger(topic: str) -> Any:
    import logging

    return logging.getLogger(f"npcompile.{topic}")


set_logs(*filter(None, os.environ.get("NPCOMPILE_LOGS", "").replace(" ", "").split(",")))
