"""``cfunc``: C functions of plain Python functions."""

from __future__ import annotations

import ctypes
import functools
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from npcompile.api import type_signatures
from npcompile.api.type_signatures import Kind
from npcompile.core.aside import aside, load
from npcompile.core.config import Config
from npcompile.core.errors import CompileError
from npcompile.core.sections import section
from npcompile.ops.arguments import followed
from npcompile.runtime.unsafe.raw_memory import keep_for_ever

if TYPE_CHECKING:
    from npcompile.runtime.ufuncs.c_functions import CFunction

_COMPILER = ("npcompile.runtime.versions.version_writer", "npcompile.tracing.retries",
             "npcompile.backends.cpu.body", "npcompile.runtime.ufuncs.c_functions")
_IGNORED = frozenset({"nopython", "locals", "error_model", "pipeline_class", "nogil"})
_FILTER = "intc(CPointer(float64), intp, CPointer(float64), voidptr)"
#: what SciPy's functions call: the signature, the names of its parameters, and the statements of a
#: function that calls the user's ``function``
CALLERS: dict[str, tuple[str, str, str]] = {
    "quad": ("float64(float64)", "x", "return function(x)"),
    "nquad": ("float64(intc, CPointer(float64))", "n, x", "return function(x[:n])"),
    "generic_filter": (
        _FILTER, "values, n, result, data", "result[0] = function(values[:n]); return 1"),
    "generic_filter1d": (
        "intc(CPointer(float64), intp, CPointer(float64), intp, voidptr)",
        "line, n, result, m, data", "function(line[:n], result[:m]); return 1"),
    "geometric_transform": (
        "intc(CPointer(intp), CPointer(float64), intc, intc, voidptr)",
        "at, found, n, m, data", "function(at[:n], found[:m]); return 1"),
}


def _calling(function: FunctionType, params: str, body: str) -> FunctionType:
    """The function that a function of SciPy's calls."""
    scope: dict[str, Any] = {"function": function}
    exec(f"def call({params}): {body}", scope)
    made: FunctionType = scope["call"]
    return made


class CFunc:
    """A plain function with a C function of the same meaning: see :func:`cfunc`."""

    #: the slot: as of ufuncs, see :class:`npcompile.api.vectorize.CoreUfunc`
    __slots__ = ("__dict__", "__weakref__", "_made")

    def __init__(
        self, function: FunctionType, called: FunctionType, signature: str, config: Config,
        fullgraph: bool,
    ) -> None:
        functools.update_wrapper(cast(Any, self), function)
        self.__wrapped__ = function
        self.signature = signature
        read = type_signatures.read(signature)
        self._params, self._result = read.params, read.result
        self._made = self._compiled(called, config)
        if fullgraph and self._made.refusal is not None:
            raise CompileError(f"{function.__qualname__}: {self._made.refusal}")

    @section
    def _compiled(self, called: FunctionType, config: Config) -> CFunction:
        load(*_COMPILER)
        from npcompile.runtime.ufuncs.c_functions import CFunction, CParam

        if self._result is None:
            raise TypeError(f"signature {self.signature!r} tells no result: 'void(...)' if none")
        params = [CParam(kind.dtype, kind.ndim, kind.pointer) for kind in self._params]
        if any(param.dtype is None and not param.pointer for param in params) or _is_array(
                self._result):
            raise TypeError(f"signature {self.signature!r} is not a C function's")
        result = self._result.dtype
        made = aside(lambda: CFunction(called, params, result, config))
        keep_for_ever(made)  # C code may call it at any time
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the plain function."""
        return self.__wrapped__(*args, **kwargs)

    @property
    def address(self) -> int:
        """The address of the C function, which is there for ever."""
        return self._made.address

    @functools.cached_property
    def ctypes(self) -> Any:
        """The C function as ctypes' function object."""
        made = self._made
        result = None if made.result is None else np.ctypeslib.as_ctypes_type(made.result)
        kinds = [kind for param in made.params for kind in param.ctypes]
        return ctypes.CFUNCTYPE(result, *kinds)(made.address)

    @property
    def low_level_callable(self) -> Any:
        """The C function as :class:`scipy.LowLevelCallable`."""
        from scipy import LowLevelCallable

        return LowLevelCallable(self.ctypes)

    @property
    def native_name(self) -> str:
        return self.__wrapped__.__qualname__

    def explain(self) -> str:
        """Says whether calls run machine code, and if not why."""
        refusal = self._made.refusal
        told = "machine code" if refusal is None else f"runs in Python: {refusal}"
        return f"{self.__wrapped__.__qualname__}: {told}"

    def __repr__(self) -> str:
        return f"<npcompile.cfunc {self.__wrapped__.__qualname__}: {self.signature}>"


def _is_array(kind: Kind) -> bool:
    return bool(kind.ndim or kind.pointer)


def cfunc(signature: Any, /, *, fullgraph: bool = False, cache: bool = True, **options: Any) -> Any:
    """Makes a C function of a plain function, which C code calls without Python.

    Parameters
    ----------
    signature
        The types, as ``"float64(float64, int32)"``: numbers, ``CPointer(float64)`` (an array of
        unknown length), ``float64[:]`` (a pointer and a length), ``voidptr`` (an int) and
        ``void``; numba's signatures do.  Or the name of the function of SciPy's that calls it:
        ``"quad"``, ``"nquad"``, ``"generic_filter"``, ``"generic_filter1d"``,
        ``"geometric_transform"``; the plain function then takes arrays and numbers.
    fullgraph
        Raise :class:`CompileError` if the function can't be compiled.  Else the C function calls
        the plain one, and ``explain()`` says why.
    cache
        Keep machine code on disk.
    options
        numba's options, which are not needed.

    Returns
    -------
    decorator
        Makes a :class:`CFunc` of a function: ``address``, ``ctypes`` and ``low_level_callable``
        are the C function, a call is one of the plain function.

    Notes
    -----
    Floats are Python's, so ``1 / x`` and ``math.exp(x)`` may raise.  An exception can't reach
    the caller through C code: :func:`sys.unraisablehook` tells of it, and the C function returns
    NaN, or 0 for an integer, which SciPy's filters take as a failure.  What compiled code can't
    do (an integer of more than 64 bits) is computed by the plain function.  Globals and closure
    variables may change at any time.

    Examples
    --------
    >>> import numpy as np
    >>> import npcompile
    >>> from scipy import integrate, ndimage
    >>> @npcompile.cfunc("float64(float64)")
    ... def bell(x):
    ...     return np.exp(-x * x)
    >>> round(integrate.quad(bell.low_level_callable, 0, 10)[0], 12)
    0.886226925453
    >>> @npcompile.cfunc("generic_filter")
    ... def spread(values):
    ...     return values.max() - values.min()
    >>> ndimage.generic_filter(np.array([0.0, 1.0, 5.0, 2.0]), spread.low_level_callable, 3)
    array([1., 5., 4., 3.])
    """
    unknown = options.keys() - _IGNORED
    if unknown:
        raise TypeError(f"cfunc has no option {min(unknown)!r}")
    config = Config(fullgraph=True, cache=cache, parallel=False)

    def decorate(function: Any) -> CFunc:
        plain = getattr(function, "__wrapped__", function)
        if not isinstance(plain, FunctionType):
            raise TypeError(f"cfunc compiles Python functions, not {type(function).__name__} "
                            "objects")
        if signature not in CALLERS:
            return CFunc(plain, plain, str(signature), config, fullgraph)
        types, params, body = CALLERS[signature]
        return CFunc(plain, _calling(plain, params, body), types, config, fullgraph)

    return decorate


@followed
def carray(pointer: Any, shape: Any, dtype: Any = None) -> Any:
    """The array that a pointer of a :func:`cfunc` leads to, as numba's function of this name.

    Parameters
    ----------
    pointer
        A parameter ``CPointer(...)``.
    shape
        A length, or a tuple of some.
    dtype
        The pointer's own.
    """
    if isinstance(shape, int):
        return pointer[:shape]
    if len(shape) == 1:
        return pointer[: shape[0]]
    count = 1
    for length in shape:
        count *= length
    return pointer[:count].reshape(shape)
