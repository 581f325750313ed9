"""Submodules that NumPy has and npcompile has not are NumPy's own.

``from npcompile.random import default_rng`` is ``from numpy.random import default_rng``.  Nothing
of NumPy's is imported before that is asked for.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any


class Finder:
    """Finds NumPy's submodules below a package of ours, or those below NumPy's.

    The package's own submodules come first, so the finder for these stands last in
    ``sys.meta_path``.  Whatever is below one of NumPy's (``npcompile.polynomial.chebyshev``) would
    be found there as a second copy, so the finder for it stands first.
    """

    def __init__(self, package: str, below: bool) -> None:
        self.package, self.below = package, below

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if not name.startswith(self.package + "."):
            return None
        parent, _, last = name.rpartition(".")
        above = sys.modules[parent].__name__
        if self.below:
            if not above.startswith("numpy."):
                return None
        elif above != self.package or last.startswith("_"):
            return None
        from importlib.machinery import ModuleSpec
        from importlib.util import find_spec

        theirs = f"{above if self.below else 'numpy'}.{last}"
        loader: Any = Loader(theirs)
        return ModuleSpec(name, loader) if find_spec(theirs) else None


class Loader:
    """Loads a module of NumPy's in the place of one of ours."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_module(self, spec: Any) -> Any:
        return None

    def exec_module(self, module: Any) -> None:
        """The import statement takes what it finds in ``sys.modules`` afterwards, so NumPy's module
        keeps its own name and specification."""
        sys.modules[module.__name__] = importlib.import_module(self.name)


#: modules of ours that are imported right after one of another library's was
COMPANIONS = {"threadpoolctl": "npcompile.runtime.threads.threadpools"}


class CompanionFinder:
    """Has modules of other libraries loaded together with ours; each once."""

    def __init__(self) -> None:
        self.left = dict(COMPANIONS)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        companion = self.left.pop(name, None)
        if companion is None:
            return None
        from importlib.util import find_spec, spec_from_file_location

        spec = find_spec(name)
        if spec is None or spec.origin is None:
            return spec
        loader: Any = CompanionLoader(spec.loader, companion)
        return spec_from_file_location(name, spec.origin, loader=loader)


class CompanionLoader:
    """Loads a module as its own loader does, then one of ours."""

    def __init__(self, loader: Any, companion: str) -> None:
        self.loader, self.companion = loader, companion

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: Any) -> Any:
        return self.loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        self.loader.exec_module(module)
        importlib.import_module(self.companion)


def install(package: str) -> None:
    """Has the submodules of a package found, and the modules that go with other libraries'."""
    finders: list[Any] = sys.meta_path
    finders.insert(0, Finder(package, below=True))
    finders.insert(0, CompanionFinder())
    for name, companion in COMPANIONS.items():
        if name in sys.modules:
            importlib.import_module(companion)
    finders.append(Finder(package, below=False))
