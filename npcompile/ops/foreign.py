"""Functions without a record that compiled code may call as they are, and what is known of them.

A *pure* function gives a result and does nothing else: if it is sure to end, it is tried out on
small operands while tracing, to see what its result looks like (:mod:`.trials`); else its first
real call shows that.  A *draw* is tried out on a throw-away generator.  An
*effect* can't be tried out: its result is known by the table.
"""

from __future__ import annotations

import logging
import random
import re
import sys
import time
import warnings
from collections.abc import Callable
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any

import numpy as np

from npcompile.core.records import record
from npcompile.ops import trials
from npcompile.ops.record import Guarantee
from npcompile.ops.repeatable import is_repeatable


@record
class Foreign:
    """How a function may be called.

    ``trial`` is called to find out what the result looks like; without one it is None, unless the
    first real call is ``observed`` for that.
    ``effect``: something outside could tell that it was called.  ``keeps``: it may keep its
    operands, and gets copies of arrays.  ``writes``: it changes its first operand, an array.
    ``quiet``: it never warns.  ``trusting``: its C code takes on trust that operands are of one
    size, and that something in them is not zero, and crashes where that is not so.  ``varies``: the
    result's dtype depends on numbers.
    """

    path: str
    trial: Callable[..., Any] | None
    effect: bool = False
    guarantee: Guarantee = "none"
    keeps: bool = False
    writes: bool = False
    quiet: bool = False
    trusting: bool = False
    observed: bool = False

    @property
    def varies(self) -> bool:
        return self.path in _VARYING


GENERATORS = (np.random.Generator, np.random.RandomState)
_CALLS = (FunctionType, BuiltinMethodType, type(np.median), np.ufunc, type(np.random.default_rng))

_PURE_MODULES = (
    "numpy", "numpy.linalg", "numpy.fft", "numpy.polynomial", "numpy.lib", "scipy.linalg",
    "scipy.fft", "scipy.ndimage", "scipy.signal", "scipy.interpolate", "scipy.special",
    "scipy.stats", "scipy.spatial", "scipy.integrate", "scipy.optimize", "scipy.cluster",
)
_OTHER_MODULES = (
    "numpy.lib.npyio", "numpy.lib._npyio_impl", "numpy.lib.format", "numpy.lib.introspect",
    "numpy.linalg.lapack_lite",
)
#: what reads files or memory, changes how NumPy works, or gives no arrays
_NOT_PURE = frozenset({
    "add_docstring", "add_newdoc", "set_default_printstyle", "geterr", "fromstring",
    "save", "savez", "savez_compressed", "savetxt", "load", "loadtxt", "genfromtxt", "fromfile",
    "fromregex", "frombuffer", "from_dlpack", "fromiter", "fromfunction", "memmap", "seterr",
    "seterrcall", "setbufsize", "getbufsize", "set_printoptions", "get_printoptions",
    "printoptions", "errstate", "show_config", "show_runtime", "info", "test", "get_include",
    "vectorize", "frompyfunc", "piecewise", "apply_along_axis", "apply_over_axes",
    "nested_iters", "may_share_memory", "shares_memory", "byte_bounds", "set_numeric_ops",
    "set_workers", "set_backend", "set_global_backend", "register_backend", "skip_backend",
    "empty", "empty_like", "isfortran", "require", "asarray", "asanyarray", "ascontiguousarray",
    "asfortranarray",
})
#: FITPACK's, which read as far as knots and coefficients say that go together: not to be tried out
_TRUSTING = frozenset({
    "splev", "splint", "sproot", "spalde", "splder", "splantider", "insert", "bisplev",
})
_WRITING = frozenset({"put", "place", "copyto", "putmask", "fill_diagonal", "put_along_axis"})
#: real or complex, as the numbers have it
_VARYING = frozenset({
    "numpy.linalg.eig", "numpy.linalg.eigvals", "numpy.roots", "numpy.real_if_close",
    "scipy.linalg.sqrtm", "scipy.linalg.logm", "scipy.linalg.fractional_matrix_power",
})
_UFUNC_METHODS = frozenset({"outer", "reduce", "accumulate", "reduceat"})
_ARRAY_METHODS = frozenset({
    "argpartition", "searchsorted", "choose", "compress", "cumsum", "cumprod", "dot", "repeat",
    "take", "trace", "round", "sum", "mean", "std", "var", "prod", "tobytes", "tolist", "nonzero",
    "argsort",
})
_WRITING_METHODS = frozenset({"sort", "partition", "put", "fill"})
#: what the classes of ``numpy.random`` do beside drawing
_NOT_DRAWS = frozenset({
    "get_state", "set_state", "bit_generator", "spawn", "__getstate__", "__setstate__",
    "__reduce__", "_bit_generator", "_poisson_lam_max", "tomaxint",
})
_QUIET = frozenset({
    "random", "normal", "standard_normal", "uniform", "exponential", "standard_exponential",
    "integers", "randint", "rand", "randn", "random_sample", "gauss", "expovariate",
})
_CLASSES = {
    np.random.RandomState, np.random.SeedSequence, np.random.Generator, np.random.PCG64,
    np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64,
}
_CLOCKS = frozenset({
    time.time, time.time_ns, time.perf_counter, time.perf_counter_ns, time.monotonic,
    time.monotonic_ns, time.process_time, time.process_time_ns, time.thread_time,
})
_TELLING = frozenset({
    warnings.warn, logging.debug, logging.info, logging.warning, logging.error, logging.critical,
})
_LOGGER = frozenset(
    getattr(logging.Logger, name) for name in ("debug", "info", "warning", "error", "critical")
)


def find(function: Any) -> Foreign | None:
    """What is known of a function; None if compiled code must not call it."""
    try:
        return _effect(function) or _random(function) or _pure(function)
    except TypeError:  # it has no hash
        return None


def _effect(function: Any) -> Foreign | None:
    name = getattr(function, "__name__", "")
    module = getattr(function, "__module__", None)
    if function is print:
        return Foreign("print", None, effect=True, guarantee="machine")
    if function is time.sleep:
        return Foreign("time.sleep", None, effect=True, guarantee="machine")
    if isinstance(function, (FunctionType, BuiltinMethodType)):
        if function in _CLOCKS:
            return Foreign(f"time.{name}", function, effect=True)
        if function in _TELLING or function in _LOGGER:
            return Foreign(f"{module}.{name}", None, True, "machine", keeps=True)
    return None


def _random(function: Any) -> Foreign | None:
    """Draws from generators, by their methods and by the functions of ``numpy.random``."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if isinstance(function, (MethodType, BuiltinMethodType)):
        if isinstance(owner, np.random.RandomState) and owner is _global_state():
            trial = getattr(np.random.RandomState(0), name, None)
            return _drawing(f"numpy.random.{name}", name, trial)
        if owner is getattr(random, "_inst", None) and owner is not None:
            trial = getattr(random.Random(0), name, None)
            plain = name in ("random", "uniform", "gauss", "normalvariate", "randint",
                             "randrange", "expovariate", "seed")
            return _drawing(f"random.{name}", name, trial) if plain else None
    if function is np.random.seed:
        return Foreign("numpy.random.seed", None, True, "machine", keeps=True)
    if function is np.random.default_rng or function in _CLASSES:
        path = f"numpy.random.{name}"
        return Foreign(path, function, guarantee="machine", keeps=True)
    for kind in GENERATORS:
        if name and getattr(kind, name, None) is function:
            return _drawing(f"numpy.random.{kind.__name__}.{name}", name, function)
    return None


def _global_state() -> Any:
    return getattr(np.random.seed, "__self__", None) or getattr(np.random.rand, "__self__", None)


def _drawing(path: str, name: str, trial: Callable[..., Any] | None) -> Foreign | None:
    if trial is None or name in _NOT_DRAWS or name.startswith("_"):
        return None
    return Foreign(path, trial, True, "machine", writes=name == "shuffle", quiet=name in _QUIET)


def _pure(function: Any) -> Foreign | None:
    if function in _TEXTS or function is indexed:
        return Foreign(function.__name__, function, guarantee="portable")
    name = getattr(function, "__name__", "")
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        known = name in _UFUNC_METHODS
        return Foreign(f"numpy.{owner.__name__}.{name}", function) if known else None
    if getattr(np.ndarray, name, None) is function:
        if name in _ARRAY_METHODS:
            return Foreign(f"numpy.ndarray.{name}", function)
        writes = name in _WRITING_METHODS
        return Foreign(f"numpy.ndarray.{name}", function, writes=True) if writes else None
    if type(function).__name__ == "fortran":
        return _fortran(function)
    module = getattr(function, "__module__", None) or _module_of(function)
    multimethod = type(function).__module__ == "uarray"  # scipy.fft's, which look for a backend
    if not (multimethod or isinstance(function, _CALLS)):
        return None
    if not isinstance(module, str) or not _listed(module):
        return None
    if name in _NOT_PURE or name.startswith("_"):
        return None
    if module.startswith("scipy.interpolate._fitpack") and name in _TRUSTING:
        return None
    if "<locals>" in getattr(function, "__qualname__", ""):  # a closure, which may keep something
        return None
    if not (isinstance(function, np.ufunc) or _exported(function, module)):
        return None  # a helper of the library's, which may trust its arguments blindly
    trusting = module.startswith("scipy.ndimage")  # footprints and structures
    made = trials.trial(function, module, name)
    guarantee: Guarantee = "machine" if is_repeatable(module, name) else "none"
    return Foreign(f"{module}.{name}", made, writes=name in _WRITING, trusting=trusting,
                   observed=made is None, guarantee=guarantee)


def _fortran(function: Any) -> Foreign | None:
    """A routine of LAPACK or BLAS that changes no operand unless ``overwrite_...`` says so."""
    name, text = function.__name__.removeprefix("function "), function.__doc__
    for module in ("scipy.linalg.lapack", "scipy.linalg.blas"):
        if getattr(sys.modules.get(module), name, None) is function:
            given, _, results = text.partition("\nReturns\n")
            arrays = set(_PARAMETER.findall(given)) & set(_PARAMETER.findall(results))
            shared = arrays | set(_STORAGE.findall(results))
            if all(f"\noverwrite_{a} : {_UNLESS_ASKED}" in given for a in shared):
                return Foreign(f"{module}.{name}", function)
    return None


#: what f2py writes of arrays that are operands or results, and of results in an operand's memory
_PARAMETER = re.compile(r"^(\w+) : .*rank-", re.MULTILINE)
_UNLESS_ASKED = "input int, optional\n    Default: 0"
_STORAGE = re.compile(r"\band (\w+) storage$", re.MULTILINE)


def _module_of(function: Any) -> str | None:
    """Ufuncs don't say where they are from."""
    name = getattr(function, "__name__", "")
    if isinstance(function, np.ufunc):
        return "numpy" if getattr(np, name, None) is function else "scipy.special"
    return None


def _listed(module: str) -> bool:
    if ".tests." in module:
        return False
    for other in _OTHER_MODULES:
        if module == other or module.startswith(other + "."):
            return False
    return any(module == m or (module.startswith(m + ".") and m != "numpy") for m in _PURE_MODULES)


def _exported(function: Any, module: str) -> bool:
    """Whether users can find a function under a public name, or it is a method in Python.

    What a user's decorator makes of a library's function looks like that (``functools.wraps``).
    """
    path = getattr(function, "__qualname__", function.__name__)
    if isinstance(function, FunctionType):
        home = str(function.__globals__.get("__name__")).partition(".")[0]
        if home not in ("numpy", "scipy"):
            return False
        if "." in path:
            return True
    public = module.partition("._")[0]
    return any(
        getattr(found, "__dict__", {}).get(path) is function
        for name, found in list(sys.modules.items())
        if (name == public or name.startswith(public + ".")) and "._" not in name
    )


def concatenated(*parts: str) -> str:
    """What an f-string makes of its parts."""
    return "".join(parts)


def format_str(value: object, spec: str = "") -> str:
    """``f"{value!s:spec}"``."""
    return format(str(value), spec)


def format_repr(value: object, spec: str = "") -> str:
    """``f"{value!r:spec}"``."""
    return format(repr(value), spec)


def format_ascii(value: object, spec: str = "") -> str:
    """``f"{value!a:spec}"``."""
    return format(ascii(value), spec)


_TEXTS = frozenset({str, repr, ascii, format, concatenated, format_str, format_repr, format_ascii})


def indexed(trick: Any, key: Any) -> Any:
    """``np.mgrid[key]`` and its like."""
    return trick[key]


#: how users write what stands under the names of these functions
TOLD = {"concatenated": 'f"..."', "format_str": 'f"{...!s}"', "format_repr": 'f"{...!r}"',
        "format_ascii": 'f"{...!a}"', "indexed": "np.r_[...] or the like"}

#: objects that make arrays of slices and parts
INDEX_TRICKS = tuple(type(trick) for trick in (np.mgrid, np.ogrid, np.r_, np.c_))
