"""How many processors this process is granted, and how many of them are its share.

Processes that work side by side are each granted all processors, and would keep them busy many
times over.  Whoever starts them says how many threads each may have by ``OMP_NUM_THREADS`` (joblib,
Dask and batch systems do), which NumPy's own libraries also heed.  The workers of `multiprocessing`
and of `concurrent.futures` are told nothing: each takes one processor.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

MAX_THREADS = 256  #: nobody uses more


def granted_processors() -> int:
    """Processors this process may run on, and no more than its control group's quota."""
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    groups = _read("/proc/self/cgroup")
    return max(1, min(count, *_quotas(groups, "/sys/fs/cgroup"), count))


def shared_processors() -> int:
    """The processors that this process may keep busy."""
    granted = granted_processors()
    first = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()  # one number a level
    if first.isdigit() and int(first):
        return min(granted, int(first))
    return 1 if _is_worker() else granted


def _is_worker() -> bool:
    """Whether `multiprocessing` has started this process."""
    loaded = sys.modules.get("multiprocessing.process")
    return loaded is not None and loaded.parent_process() is not None


def _quotas(groups: str, root: str) -> list[int]:
    """The quotas of a control group and those above it, rounded up to whole processors."""
    found = []
    for entry in groups.splitlines():
        _, controllers, path = entry.split(":", 2)
        if controllers == "":
            tops, read = [root], _quota_v2
        elif "cpu" in controllers.split(","):
            tops, read = [f"{root}/cpu", f"{root}/{controllers}"], _quota_v1
        else:
            continue
        found += [q for top in tops for q in map(read, _upwards(top, path)) if q]
    return found


def _upwards(top: str, path: str) -> Iterator[str]:
    """The folder of a control group and those above it."""
    names = [name for name in path.split("/") if name]
    for count in range(len(names), -1, -1):
        yield "/".join([top, *names[:count]])


def _quota_v2(folder: str) -> int | None:
    words = _read(f"{folder}/cpu.max").split()
    return _processors(*words) if len(words) == 2 else None


def _quota_v1(folder: str) -> int | None:
    words = [_read(f"{folder}/cpu.cfs_{what}_us").strip() for what in ("quota", "period")]
    return _processors(*words) if all(words) else None


def _read(path: str) -> str:
    """A small file; empty: there is no such control group here, or no such limit."""
    try:
        opened = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return ""
    try:
        return os.read(opened, 1 << 16).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
    finally:
        os.close(opened)


def _processors(quota: str, period: str) -> int | None:
    if not (quota.isdigit() and period.isdigit() and int(period)):
        return None  # "max" or -1: no limit
    return -(-int(quota) // int(period))
