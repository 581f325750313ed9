"""How many processors this process is granted."""

from __future__ import annotations

import os
from pathlib import Path


def granted_processors() -> int:
    """Processors this process may run on, and no more than its control group's quota."""
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    try:
        groups = Path("/proc/self/cgroup").read_text()
    except OSError:
        return count
    return max(1, min(count, *_quotas(groups, Path("/sys/fs/cgroup")), count))


def _quotas(groups: str, root: Path) -> list[int]:
    """The quotas of a control group and those above it, rounded up to whole processors."""
    found = []
    for entry in groups.splitlines():
        _, controllers, path = entry.split(":", 2)
        if controllers == "":
            tops, read = [root], _quota_v2
        elif "cpu" in controllers.split(","):
            tops, read = [root / "cpu", root / controllers], _quota_v1
        else:
            continue
        for top in tops:
            at = top / path.lstrip("/")
            found += [q for q in map(read, (at, *at.parents)) if q]
    return found


def _quota_v2(folder: Path) -> int | None:
    words = _words(folder / "cpu.max")
    return _processors(*words) if len(words) == 2 else None


def _quota_v1(folder: Path) -> int | None:
    words = _words(folder / "cpu.cfs_quota_us") + _words(folder / "cpu.cfs_period_us")
    return _processors(*words) if len(words) == 2 else None


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:  # no such control group here, or no such limit
        return []


def _processors(quota: str, period: str) -> int | None:
    if not (quota.isdigit() and period.isdigit() and int(period)):
        return None  # "max" or -1: no limit
    return -(-int(quota) // int(period))
