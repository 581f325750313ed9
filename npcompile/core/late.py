"""The one late-bound slot: how a room's namespace is filled by api, which lies above it."""

from __future__ import annotations

import importlib
from typing import Any

_BUILDER = "npcompile.api.namespaces"


def built(function: str, *args: str) -> Any:
    """What ``npcompile.api.namespaces.<function>(*args)`` gives."""
    return getattr(importlib.import_module(_BUILDER), function)(*args)
