"""Objects of modules by name.

A table that names a module leaves its import to whoever first needs it: few functions need more
than a part of the compiler.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from npcompile.core.aside import load


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


def defer(namespace: dict[str, Any], package: str, *names: str) -> None:
    """Gives modules of a package their names in a namespace; each is imported when it is first
    used.  Type checkers get the same modules from an import statement.

    >>> from typing import TYPE_CHECKING
    >>> if TYPE_CHECKING:
    ...     from npcompile.graph import show
    ... else:
    ...     defer(globals(), "npcompile.graph", "show")
    >>> type(show).__name__, callable(show.show), type(show).__name__
    ('_Deferred', True, 'module')
    """
    for name in names:
        namespace[name] = _Deferred(namespace, package, name)


class _Deferred:
    """Stands in for a module until it is first used."""

    def __init__(self, namespace: dict[str, Any], package: str, name: str) -> None:
        self._place = namespace, package, name

    def __getattr__(self, attribute: str) -> Any:
        namespace, package, name = self._place
        full = f"{package}.{name}"
        load(full)  # refused inside an import of ours, for which that thread would wait
        module = import_module(full)
        if namespace.get(name) is self:
            namespace[name] = module
        return getattr(module, attribute)
