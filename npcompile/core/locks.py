"""Locks that a fork leaves free."""

from __future__ import annotations

import os
import threading
from typing import Any


def lock() -> Any:
    """A lock that is free in a child process: a thread that held it is not there to let it go."""
    made: Any = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=made._at_fork_reinit)
    return made
