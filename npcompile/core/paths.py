"""Objects of modules by name."""

from __future__ import annotations

import sys
from typing import Any


def import_path(path: str) -> Any:
    """The object at ``"package.module:attribute.attribute"``."""
    module, _, names = path.partition(":")
    __import__(module)
    found: Any = sys.modules[module]
    for name in names.split("."):
        found = getattr(found, name)
    return found


def loaded(path: str) -> Any:
    """The object at a path if its module is imported already, else None."""
    module, _, names = path.partition(":")
    found: Any = sys.modules.get(module)
    for name in names.split("."):
        found = getattr(found, name, None)
    return found
