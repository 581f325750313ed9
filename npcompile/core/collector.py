"""Python's garbage collector while much is made at once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

FEW = 1000  # frozen objects: CPython 3.12 starts with some hundred, a program freezes all it has


@contextmanager
def paused(littered: bool = True) -> Iterator[None]:
    """Nothing is collected meanwhile: what a compiler makes lives until it is done, and looking
    through it, and through all that the program has, takes a tenth of the time.

    What it leaves lives as long as the compiled function: once its garbage is gone, it counts as
    old, so that nobody looks through it again soon.  What the program itself has made lately is
    collected before, or it would count as old, too.  What leaves hardly any garbage is not
    ``littered``.
    """
    if not gc.isenabled():
        yield
        return
    gc.collect(1)
    gc.disable()
    try:
        yield
    finally:
        if littered:
            gc.collect(0)
        if gc.get_freeze_count() < FEW:  # else what somebody has frozen would thaw
            gc.freeze()
            gc.unfreeze()
        gc.enable()


_running = False


def collecting() -> bool:
    """Whether a collection is under way: what goes now may be part of a cycle, whose other objects
    go too."""
    return _running


def _told(phase: str, info: dict[str, Any]) -> None:
    global _running
    _running = phase == "start"


gc.callbacks.append(_told)
