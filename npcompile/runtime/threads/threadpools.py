"""threadpoolctl sees the thread pool: imported when that library is, and never else.

A controller of threadpoolctl belongs to a shared library that is loaded.  The pool is machine code
that no file holds, so the controller is found by NumPy's library, which is always there.
"""

from __future__ import annotations

import sys
from typing import Any


def register() -> None:
    """Makes the pool known, to the versions of threadpoolctl that take further controllers."""
    library: Any = sys.modules.get("threadpoolctl")
    if not hasattr(library, "register"):
        return
    base: Any = library.LibController

    class PoolController(base):  # type: ignore[misc]
        """The number of threads of compiled functions."""

        user_api = internal_api = "npcompile"
        filename_prefixes = ("_multiarray_umath",)

        def get_num_threads(self) -> int:
            from npcompile.runtime.threads import pool

            return pool.get_num_threads()

        def set_num_threads(self, num_threads: int) -> None:
            from npcompile.runtime.threads import pool
            from npcompile.runtime.threads.processors import MAX_THREADS

            pool.set_num_threads(min(max(int(num_threads), 1), MAX_THREADS))

        def get_version(self) -> str:
            from npcompile import __version__

            return __version__

    library.register(PoolController)


register()
