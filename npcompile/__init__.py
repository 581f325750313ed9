"""npcompile: compiles existing NumPy functions to machine code, unmodified and at once.

>>> import numpy as np
>>> from npcompile import jit
>>> @jit
... def norm(x, y):
...     return np.sqrt(x * x + y * y)
>>> norm(np.array([3.0, 5.0]), np.array([4.0, 12.0]))
array([ 5., 13.])

Every public name of NumPy is here too, so that ``import npcompile as np`` is all that a file needs
to write ``@np.jit``; ``from npcompile import *`` gives NumPy's names only.

>>> import npcompile
>>> npcompile.add is np.add
True
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from npcompile.core import submodules

if TYPE_CHECKING:
    from numpy import *  # noqa: F403  every name of NumPy's is one of ours

    from npcompile import special as special
    from npcompile.api.cfunc import carray as carray
    from npcompile.api.cfunc import cfunc as cfunc
    from npcompile.api.determinism import deterministic as deterministic
    from npcompile.api.determinism import (
        use_deterministic_algorithms as use_deterministic_algorithms,
    )
    from npcompile.api.jit import Jit as Jit
    from npcompile.api.jit import jit as jit
    from npcompile.api.lambdify import lambdify as lambdify
    from npcompile.api.profiler import profiler as profiler
    from npcompile.api.vectorize import guvectorize as guvectorize
    from npcompile.api.vectorize import (  # type: ignore[assignment]  # NumPy has one, too
        vectorize as vectorize,
    )
    from npcompile.commands.notebook import load_ipython_extension as load_ipython_extension
    from npcompile.core.errors import CheckError as CheckError
    from npcompile.core.errors import CompileError as CompileError
    from npcompile.core.errors import DeterminismError as DeterminismError
    from npcompile.core.logs import set_logs as set_logs
    from npcompile.core.parallel import prange as prange
    from npcompile.runtime.threads.pool import get_num_threads as get_num_threads
    from npcompile.runtime.threads.pool import set_num_threads as set_num_threads
else:
    __version__ = "0.1.0"

#: where the public names live; each is imported when it is first used
_HOMES = {
    "CheckError": "core.errors",
    "CompileError": "core.errors",
    "DeterminismError": "core.errors",
    "Jit": "api.jit",
    "carray": "api.cfunc",
    "cfunc": "api.cfunc",
    "deterministic": "api.determinism",
    "get_num_threads": "runtime.threads.pool",
    "guvectorize": "api.vectorize",
    "jit": "api.jit",
    "lambdify": "api.lambdify",
    "load_ipython_extension": "commands.notebook",
    "profiler": "api.profiler",
    "prange": "core.parallel",
    "set_logs": "core.logs",
    "set_num_threads": "runtime.threads.pool",
    "show_config": "api.system",
    "show_runtime": "api.system",
    "use_deterministic_algorithms": "api.determinism",
    "vectorize": "api.vectorize",
}


submodules.install(__name__)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "__all__":
            return _all(sys._getframe(1).f_globals.get("__name__"))
        found = globals()[name] = _found(name)
        return found


def _all(asker: Any) -> list[str]:
    """The names that ``from npcompile import *`` gives, which are NumPy's; to ``help(npcompile)``
    the names of npcompile's own."""
    import numpy

    if asker == "pydoc":
        return sorted({*_HOMES})
    return [name for name in numpy.__all__ if name != "__version__"]


def _found(name: str) -> Any:
    home = _HOMES.get(name)
    if home is not None:
        return getattr(importlib.import_module(f"npcompile.{home}"), name)
    if name in ("fft", "linalg", "special"):
        return importlib.import_module(f"npcompile.{name}")
    import numpy

    found = _of_numpy(name)
    if isinstance(found, numpy.ufunc) and found.__name__ in (
            importlib.import_module("npcompile.ops.index").EAGER):
        return importlib.import_module("npcompile.api.namespaces").of_numpy(found.__name__)
    return found


def _of_numpy(name: str) -> Any:
    import numpy

    if name in ("__array_api_version__", "__array_namespace_info__"):
        return getattr(numpy, name)
    if name in numpy.__all__ or (not name.startswith("_") and name in dir(numpy)):
        return getattr(numpy, name)
    raise AttributeError(f"module 'npcompile' has no attribute {name!r}")


def __dir__() -> list[str]:
    import numpy

    return sorted({*globals(), *_HOMES, "special", *numpy.__all__})
