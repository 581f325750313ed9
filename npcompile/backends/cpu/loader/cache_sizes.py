"""How many bytes the caches hold that are faster than memory."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

USUAL = 32 << 20  # where the system doesn't tell
#: A last cache of more is shared by a whole processor of a server, and its other users: a part of
#: it is what one process has, and no faster than memory (on Sapphire Rapids both give 57 GB/s).
WHOLE = 100 << 20
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def near(levels: dict[int, int], processors: int) -> int:
    """The last cache's bytes; where that is not near, half as many again as the others hold."""
    last = levels.get(3, USUAL)
    if last <= WHOLE or 2 not in levels:
        return min(last, WHOLE)
    return levels[2] * processors * 3 // 2


@cache
def near_here() -> int:
    """The same for this machine."""
    return near(levels(Path("/sys/devices/system/cpu/cpu0/cache")), os.cpu_count() or 1)


def levels(folder: Path) -> dict[int, int]:
    """The bytes of one processor's caches for data, by level."""
    found = {}
    try:
        names = [name for name in os.listdir(folder) if name.startswith("index")]
    except OSError:  # a system without, or one that does not let us look
        names = []
    for name in names:
        try:
            level, kind, size = (_read(f"{folder}/{name}/{what}")
                                 for what in ("level", "type", "size"))
            if kind != "Instruction":
                found[int(level)] = int(size[:-1]) * UNITS[size[-1]]
        except (OSError, ValueError, KeyError, IndexError):  # a system that tells less
            continue
    return found


def _read(path: str) -> str:
    with open(path, "rb", buffering=0) as file:
        return file.read().decode().strip()
