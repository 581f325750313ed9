"""``vectorize`` and ``guvectorize``: ufuncs of plain Python functions."""

from __future__ import annotations

import ctypes
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from npcompile.api import type_signatures
from npcompile.core import config as configuration
from npcompile.core import logs
from npcompile.core.aside import aside, load
from npcompile.core.config import Config
from npcompile.core.errors import CompileError, Refusal, Refused
from npcompile.core.locks import lock
from npcompile.core.sections import inside, section
from npcompile.core.unseen import unseen
from npcompile.runtime.unsafe import raw_memory, ufunc_objects
from npcompile.runtime.unsafe.native_callables import CallableBase

if TYPE_CHECKING:
    from npcompile.runtime.ufuncs.call_code import DirectCall
    from npcompile.runtime.ufuncs.core_layouts import CoreLayout, LoopKind
    from npcompile.runtime.ufuncs.traced_loops import (
        LoopTypes,
        PlainLoop,
        TracedLoop,
        TracedNumber,
    )

_lock = lock()
_COMPILER = ("npcompile.runtime.versions.version_writer", "npcompile.tracing.retries",
             "npcompile.backends.cpu.body", "npcompile.runtime.ufuncs.traced_loops")
#: identities of reductions, as NumPy's ``PyUFunc_FromFuncAndData...`` names them
_NO_IDENTITY, _REORDERABLE, _IDENTITY_VALUE = -1, -2, -3
#: the dtypes of Python's numbers, where no operand has another
_PYTHON = {bool: np.dtype(bool), int: np.dtype(np.int64), float: np.dtype(np.float64),
           complex: np.dtype(np.complex128)}
#: options of numba's that say nothing here
_IGNORED = frozenset({"nopython", "forceobj", "locals", "boundscheck", "writable_args", "looplift",
                      "error_model", "inline", "nogil"})

class _Variant:
    """A true ufunc with one loop: what runs for operands of some dtypes."""

    def __init__(self, owner: CoreUfunc, kind: LoopKind, lengths: Mapping[str, int]) -> None:
        self.kind = kind
        self.loop = _loop(owner, kind, lengths)
        self.waiting, self.tell = self.loop.steps.waiting, self.loop.steps.tell
        self.functions = (ctypes.c_void_p * 1)(self.loop.address)
        self.data = (ctypes.c_void_p * 1)(self.loop.data)
        self.types = bytes(dtype.num for dtype in kind.dtypes)
        self.texts = [owner.__name__.encode(), (owner.__doc__ or "").encode()]
        layout = kind.layout
        text = None if layout.scalar else str(layout).encode()
        self.texts += [text] if text else []
        identity = {None: _NO_IDENTITY, "reorderable": _REORDERABLE}
        number = identity.get(owner.identity, _IDENTITY_VALUE)
        raw_memory.keep_for_ever(self)  # ufuncs refer to their tables for ever
        self.ufunc: np.ufunc = ufunc_objects.constructor()(
            self.functions, self.data, self.types, 1, len(layout.inputs), len(layout.outputs),
            number, *self.texts[:2], 0, text,
            owner.identity if number == _IDENTITY_VALUE else None)

    @property
    def result(self) -> np.dtype:
        return self.kind.dtypes[-1]

    def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """A call of the ufunc or of a method of it: the first exception is the plain function's,
        if that has raised one."""
        try:
            result = function(*args, **kwargs)
        except BaseException:
            self.tell()
            raise
        if self.waiting[0]:
            self.tell()
        return result


def _loop(
    owner: CoreUfunc, kind: LoopKind, lengths: Mapping[str, int]
) -> TracedLoop | PlainLoop:
    """The compiled loop, or one that calls the plain function."""
    from npcompile.runtime.ufuncs.traced_loops import PlainLoop, TracedLoop

    function, config = owner.__wrapped__, owner.config
    if configuration.disabled():
        return PlainLoop(function, kind, Refusal("disabled", "NPCOMPILE_DISABLE is set"))
    try:
        return aside(lambda: TracedLoop(function, kind, lengths, config))
    except Refused as refused:
        if owner.fullgraph:
            raise CompileError(f"{owner.__qualname__}: {refused.refusal}") from None
        text = f"{owner.__qualname__}: {refused.refusal}"
        logs.log("exits", lambda: text)
        return PlainLoop(function, kind, refused.refusal)


class CoreUfunc(CallableBase):
    """What :class:`Vectorized` and :class:`GUVectorized` have in common."""

    __name__: str
    __qualname__: str
    inlined = False  #: a call is no call of the plain function
    of_numbers = False  #: the plain function takes numbers and returns one
    #: with a slot, objects leave their other attributes to the dictionary, whose version then tells
    #: callers in machine code that these are the same
    __slots__ = ("__dict__", "__weakref__", "layout")

    def __init__(
        self,
        function: FunctionType,
        layout: CoreLayout,
        declared: Sequence[LoopKind],
        config: Config,
        identity: Any = None,
        fullgraph: bool = False,
    ) -> None:
        functools.update_wrapper(cast(Any, self), function)
        self.__wrapped__ = function
        self.layout, self.declared, self.config = layout, tuple(declared), config
        self.identity, self.fullgraph = identity, fullgraph
        self.nin, self.nout = len(layout.inputs), len(layout.outputs)
        self.nargs = self.nin + self.nout
        self._variants: dict[tuple[LoopKind, tuple[int, ...]], _Variant] = {}

    @property
    def signature(self) -> str | None:
        """The layout, as NumPy's gufuncs tell it; None for functions of numbers."""
        return None if self.layout.returns else str(self.layout)

    @property
    def types(self) -> list[str]:
        """The dtypes of the loops that were asked for or used, as NumPy's ufuncs tell them."""
        kinds = dict.fromkeys([*self.declared, *[kind for kind, _ in list(self._variants)]])
        chars = [[dtype.char for dtype in kind.dtypes] for kind in kinds]
        return [f"{''.join(c[: self.nin])}->{''.join(c[self.nin :])}" for c in chars]

    @property
    def ntypes(self) -> int:
        return len(self.types)

    def explain(self) -> str:
        """Says for each loop in use whether it is compiled, and if not why."""
        lines = []
        for (kind, _), variant in list(self._variants.items()):
            refusal = variant.loop.refusal
            told = "machine code" if refusal is None else f"runs in Python: {refusal}"
            lines.append(f"  {', '.join(dtype.name for dtype in kind.dtypes)}: {told}")
        return "\n".join([f"{self.__qualname__}, its loops:", *dict.fromkeys(lines)])

    def _variant(self, kind: LoopKind, lengths: Mapping[str, int]) -> _Variant:
        """The ufunc for operands of a kind, compiled if there is none yet."""
        name = kind, tuple(lengths.values())
        found = self._variants.get(name)
        if found is None or not found.loop.stands():
            found = self._make(kind, lengths)
            if len(self._variants) > _MANY:
                self._variants.clear()
            self._variants[name] = found
        return found

    @section
    def _make(self, kind: LoopKind, lengths: Mapping[str, int]) -> _Variant:
        load(*_COMPILER)
        with _lock:
            for (known, _), variant in list(self._variants.items()):
                if known == kind and variant.loop.stands() and variant.loop.fits(lengths):
                    return variant
            return _Variant(self, kind, lengths)

    def _declared_kind(self, dtypes: Sequence[np.dtype]) -> LoopKind:
        """The first signature that operands can be cast to safely, as NumPy looks for a loop."""
        for kind in self.declared:
            if all(map(np.can_cast, dtypes, kind.dtypes)):
                return kind
        told = ", ".join(map(str, dtypes))
        raise TypeError(f"ufunc '{self.__name__}' did not contain a loop with signature matching "
                        f"types ({told}); it has {self.types}")

    def __repr__(self) -> str:
        return f"<npcompile.{type(self).__name__.lower()} '{self.__name__}'>"

    def __reduce__(self) -> Any:
        module = inspect.getmodule(self.__wrapped__)
        found: Any = module
        for name in self.__qualname__.split("."):
            found = getattr(found, name, None)
        if found is self:
            return self.__qualname__
        return type(self), (self.__wrapped__, self.layout, self.declared, self.config,
                            self.identity, self.fullgraph)


_MANY = 256  # variants of one function
_DIRECT = 8  # those of which machine code takes calls


class Vectorized(CoreUfunc):
    """A ufunc of a plain function of numbers: see :func:`vectorize`."""

    of_numbers = True

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._known: dict[tuple[Any, ...], _Known] = {}
        self._direct: list[tuple[tuple[Any, ...], DirectCall]] = []
        self._python = self.__call__  # which machine code may call as long as there is this object

    @unseen
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        kinds = tuple([x.dtype if type(x) is np.ndarray else _kind_of(x)
                       for x in args[: self.nin]])
        found = self._known.get(kinds)
        if found is None or not found[0].loop.stands():
            found = self._resolve(kinds, args, kwargs)
        if found is None:
            return self._element_by_element(args, kwargs)
        variant, weak = found
        if variant.loop.refusal is not None and self._is_plain(args, kwargs):
            return self._plainly(args[: self.nin], variant.result, *args[self.nin:], **kwargs)
        if weak is not None:
            args = (*[x if to is None else to(x) for x, to in zip(args, weak)], *args[self.nin:])
        return variant.run(variant.ufunc, *args, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "otypes":
            raise AttributeError("the dtype of results is what the function returns; "
                                 "`npcompile.vectorize(function, otypes=...)` takes another")
        super().__setattr__(name, value)

    def _is_plain(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        """Whether a call is of numbers and NumPy's own arrays alone, and no signature or option
        says what dtype results have."""
        return not self.declared and kwargs.keys() <= {"out"} and all(
            type(x) in (np.ndarray, *_PYTHON) or isinstance(x, np.generic)
            for x in (*args, *kwargs.values()))

    def _plainly(self, args: tuple[Any, ...], expected: np.dtype, out: Any = None) -> Any:
        """A call of a function that is not compiled: what it returns this time says what dtype the
        results have; where it isn't called, it is the one expected."""
        dtypes = _dtypes(tuple(map(_kind_of, args)))
        numbers = list(map(np.asarray, args, dtypes))
        found = [self.__wrapped__(*given) for given in np.broadcast(*numbers)]
        dtype = _common(found) or expected
        ways: Any = [*[["readonly"]] * self.nin, ["writeonly", "allocate"]]
        room: Any = np.nditer([*numbers, None], ["zerosize_ok"], ways, [*dtypes, dtype])
        result = room.operands[-1]  # laid out as NumPy does
        result[...] = np.fromiter(found, dtype, len(found)).reshape(result.shape)
        if out is None:
            return result[()]
        np.copyto(out, result, "same_kind")
        return out

    def _element_by_element(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """A call on objects that are no numbers, by keywords or without what has a default, or of a
        function that returns no number."""
        if (kwargs or len(args) != self.nin) and not self._takes(args, kwargs):
            raise TypeError(f"ufunc '{self.__name__}' has no loop for these operands: they are "
                            "taken without out=, where= and other options only")
        return np.vectorize(self.__wrapped__)(*args, **kwargs)

    def _takes(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        """Whether the plain function could be called so."""
        try:
            inspect.signature(self.__wrapped__).bind(*args, **kwargs)
        except TypeError:
            return False
        return True

    def _resolve(
        self, kinds: tuple[Any, ...], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> _Known | None:
        """The loop for operands of some kinds, and what makes its numbers of Python's; None if
        there can be none."""
        if len(kinds) < self.nin or len(args) > self.nargs:
            if self._takes(args, kwargs):
                return None
            raise TypeError(f"{self.__name__}() takes from {self.nin} to {self.nargs} positional "
                            f"arguments but {len(args)} were given")
        dtypes = _dtypes(kinds)
        weak = tuple([dtype.type if isinstance(kind, type) else None
                      for kind, dtype in zip(kinds, dtypes)])
        kind = self._kind(dtypes)
        if kind is None:
            return None
        found = self._variant(kind, _NO_LENGTHS), weak if any(weak) else None
        with _lock:
            if len(self._known) > _MANY:
                self._known.clear()
            self._known[kinds] = found
            if not any(weak):
                self._serve(kinds, found[0])
        return found

    def _serve(self, kinds: tuple[np.dtype, ...], variant: _Variant) -> None:
        """Has machine code take calls on arrays of some dtypes."""
        from npcompile.runtime.ufuncs import call_code

        watch = variant.loop.watch
        if watch is None or not call_code.supported():
            return
        call = call_code.DirectCall(variant.ufunc, kinds, watch, ctypes.addressof(variant.waiting),
                                    variant.tell, self._python)
        rest = [pair for pair in self._direct if pair[0] != kinds][: _DIRECT - 1]
        self._direct = [(kinds, call), *rest]
        for (_, one), (_, following) in pairwise(self._direct):
            one.before(following)
        self._direct[-1][1].before(None)
        call.serves(self)

    def _kind(self, dtypes: tuple[np.dtype, ...]) -> LoopKind | None:
        from npcompile.runtime.ufuncs.core_layouts import LoopKind

        if self.declared:
            return self._declared_kind(dtypes)
        result = self._result_dtype(dtypes)
        return None if result is None else LoopKind(self.layout, (*dtypes, result))

    def _result_dtype(self, dtypes: tuple[np.dtype, ...]) -> np.dtype | None:
        """The dtype of results: what tracing finds, else that of what the function returns for
        ones."""
        if any(dtype.char not in _SUPPORTED for dtype in dtypes):
            return None
        try:
            if configuration.disabled() or inside():
                raise Refused(Refusal("function", "is not compiled now"))
            return self._traced(dtypes).dtype
        except Refused:
            found = self.__wrapped__(*[dtype.type(1) for dtype in dtypes])
            dtype = np.asarray(found).dtype
            return dtype if dtype.char in _SUPPORTED and np.ndim(found) == 0 else None

    def loop_types(self, kinds: tuple[Any, ...]) -> LoopTypes:
        """The loop for operands of some kinds: dtypes, or classes of Python's numbers.

        Raises
        ------
        Refused
            If a loop over the plain function may do something else than the ufunc.
        TypeError
            If no signature fits.
        """
        from npcompile.runtime.ufuncs.traced_loops import LoopTypes

        given = _dtypes(kinds)
        declared = self._declared_kind(given).dtypes if self.declared else None
        operands = declared[:-1] if declared else given
        if any(dtype.char not in _SUPPORTED for dtype in declared or given):
            raise Refused(Refusal("function", "of what is no number"))
        found = self._traced(operands)
        if not found.pure:
            raise Refused(Refusal("function", "does more than to compute a number"))
        result = declared[-1] if declared else found.dtype
        return LoopTypes(given, operands, result, found.reads)

    @section
    def _traced(self, dtypes: tuple[np.dtype, ...]) -> TracedNumber:
        load(*_COMPILER)
        from npcompile.runtime.ufuncs.traced_loops import traced_number

        return aside(lambda: traced_number(self.__wrapped__, dtypes, self.config))

    # ------------------------------------------------------------------ NumPy's methods

    def _of(self, *operands: Any) -> _Variant:
        return self._of_dtypes(_dtypes(tuple(map(_kind_of, operands))))

    def _of_dtypes(self, dtypes: tuple[np.dtype, ...]) -> _Variant:
        kind = self._kind(dtypes)
        if kind is None:
            told = ", ".join(map(str, dtypes))
            raise TypeError(f"ufunc '{self.__name__}' has no loop for {told}")
        return self._variant(kind, _NO_LENGTHS)

    def _folding(self, array: Any, dtype: Any) -> _Variant:
        """The loop of a reduction: its result is an operand of the next step."""
        if self.nin != 2:
            raise ValueError(f"reductions are of functions of two numbers, not of {self.nin}")
        kept = np.dtype(dtype) if dtype is not None else np.asarray(array).dtype
        for _ in range(_PROMOTIONS):
            variant = self._of_dtypes((kept, kept))
            if variant.result == kept:
                return variant
            kept = variant.result
        raise TypeError(f"reductions by {self.__name__} have no dtype that stays")

    def reduce(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None,
               **kwargs: Any) -> Any:
        """Folds an array along axes, as :meth:`numpy.ufunc.reduce` does."""
        variant = self._folding(array, dtype)
        return variant.run(variant.ufunc.reduce, array, axis, variant.result, out, **kwargs)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """All partial results of a fold, as :meth:`numpy.ufunc.accumulate` gives them."""
        variant = self._folding(array, dtype)
        return variant.run(variant.ufunc.accumulate, array, axis, variant.result, out)

    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None,
                 out: Any = None) -> Any:
        """Folds slices of an array, as :meth:`numpy.ufunc.reduceat` does."""
        variant = self._folding(array, dtype)
        return variant.run(variant.ufunc.reduceat, array, indices, axis, variant.result, out)

    def outer(self, a: Any, b: Any, /, **kwargs: Any) -> Any:
        """The function of all pairs of numbers of two arrays: :meth:`numpy.ufunc.outer`."""
        variant = self._of(a, b)
        return variant.run(variant.ufunc.outer, a, b, **kwargs)

    def at(self, a: Any, indices: Any, b: Any = None, /) -> None:
        """Applies the function to elements in place, one by one: :meth:`numpy.ufunc.at`."""
        rest = () if b is None else (b,)
        variant = self._of(a, *rest)
        variant.run(variant.ufunc.at, a, indices, *rest)


_Known = tuple[_Variant, tuple[Any, ...] | None]
_NO_LENGTHS: dict[str, int] = {}
_PROMOTIONS = 4
_SUPPORTED = frozenset("?bBhHiIlLqQefdFD")


def _kind_of(operand: Any) -> Any:
    """The dtype of an operand; the class of Python's numbers."""
    kind = type(operand)
    if kind in _PYTHON:
        return kind
    found = getattr(operand, "dtype", None)
    return found if isinstance(found, np.dtype) else np.asarray(operand).dtype


def _dtypes(kinds: tuple[Any, ...]) -> tuple[np.dtype, ...]:
    """The dtypes that Python's numbers have beside the other operands, by NumPy's rules."""
    known = [kind for kind in kinds if not isinstance(kind, type)]
    found = []
    for kind in kinds:
        if not isinstance(kind, type):
            found.append(kind if kind.isnative else kind.newbyteorder("="))
        else:
            found.append(np.result_type(*known, kind()) if known else _PYTHON[kind])
    return tuple(found)


def _common(found: Sequence[Any]) -> np.dtype | None:
    """The dtype that holds some numbers, by NumPy's rules; None if there is none, or something is
    no number."""
    kinds = {getattr(x, "dtype", type(x)) for x in found}
    if not kinds or any(isinstance(kind, type) and kind not in _PYTHON for kind in kinds):
        return None
    dtype = np.result_type(*[kind() if isinstance(kind, type) else kind for kind in kinds])
    return dtype if dtype.char in _SUPPORTED else None


class GUVectorized(CoreUfunc):
    """A gufunc of a plain function of arrays: see :func:`guvectorize`."""

    @unseen
    def __call__(self, /, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        if len(args) < self.nin or len(args) > self.nargs:
            raise TypeError(f"{self.__name__}() takes from {self.nin} to {self.nargs} positional "
                            f"arguments but {len(args)} were given")
        outs = args[self.nin:] or (() if out is None else out if isinstance(out, tuple) else (out,))
        kind = self._gkind(args, outs)
        operands = [_laid_out(x, dtype, len(axes))
                    for x, dtype, axes in zip(args, kind.dtypes, self.layout.inputs)]
        usual = not kwargs.keys() & {"axes", "axis"}
        shapes = [np.shape(x) for x in operands]
        lengths = self.layout.lengths(shapes) if usual else None
        if lengths is None:  # NumPy finds what is wrong, or where the axes are
            lengths = dict.fromkeys(self.layout.names, 2)
        variant = self._variant(kind, lengths)
        given = {"out": outs} if outs else {}
        return variant.run(variant.ufunc, *operands, **given, **kwargs)

    def _gkind(self, args: tuple[Any, ...], outs: tuple[Any, ...]) -> LoopKind:
        from npcompile.runtime.ufuncs.core_layouts import LoopKind

        dtypes = _dtypes(tuple(map(_kind_of, args[: self.nin])))
        if self.declared:
            return self._declared_kind(dtypes)
        if len(outs) != self.nout:
            raise TypeError(f"{self.__name__}: without signatures the dtypes of results are those "
                            "of out=, which is missing")
        results = [_kind_of(out).newbyteorder("=") for out in outs]  # NumPy swaps bytes
        return LoopKind(self.layout, (*dtypes, *results))


def _laid_out(operand: Any, dtype: np.dtype, ndim: int) -> Any:
    """An operand whose core axes lie in memory as compiled code wants them."""
    array = np.asarray(operand)
    if array.dtype != dtype or not array.dtype.isnative:
        if not np.can_cast(array.dtype, dtype, "same_kind"):
            raise TypeError(f"Cannot cast from {array.dtype!r} to {dtype!r} with casting rule "
                            "'same_kind'")
        return np.array(array, dtype, order="C")
    if array.flags.c_contiguous or not ndim or array.ndim < ndim:
        return array
    core = array[(0,) * (array.ndim - ndim)] if array.size else array
    return array if core.flags.c_contiguous else np.ascontiguousarray(array)


# ------------------------------------------------------------------ decorators


def vectorize(
    ftylist_or_function: Any = (), /, otypes: Any = None, doc: Any = None, excluded: Any = None,
    cache: bool = True, signature: Any = None, *, identity: Any = None, target: str = "cpu",
    fullgraph: bool = False, fastmath: bool = False, **options: Any,
) -> Any:
    """Makes a compiled ufunc of a plain function of numbers.

    The function is called as it would be on NumPy's scalars, element by element: with
    broadcasting, ``out=``, ``where=`` and the methods ``reduce``, ``accumulate``, ``reduceat``,
    ``outer`` and ``at`` of :class:`numpy.ufunc`, on threads where that pays.  Without signatures
    there is a loop for each combination of dtypes, compiled when it is first used.  numba's
    decorator of this name can be replaced by it.

    Parameters
    ----------
    ftylist_or_function
        The function; or its signatures, as ``["float64(float64, float64)"]``: operands are cast
        to the first one to which that is safe.  Left out, the result is a decorator.
    identity
        Of reductions over nothing: a number, ``"reorderable"`` or None.
    target
        ``"cpu"`` or ``"parallel"``, which are the same.
    fullgraph
        Raise :class:`CompileError` for functions that can't be compiled.  Else the plain function
        is called for each element, and ``explain()`` says why.
    cache
        Keep machine code on disk.
    otypes, doc, excluded, signature
        With one of them the result is a :class:`numpy.vectorize`.
    fastmath, options
        numba's options, which are not needed.

    Returns
    -------
    Vectorized
        The ufunc, or a decorator that makes one.

    Notes
    -----
    *Results* are the plain function's on NumPy's scalars, in its precision: NaN, signed zeros and
    exceptions, of which the first one in the order of elements is raised.  Elements for which the
    compiled code can't go on (an integer that overflows, ``math.exp(1000.0)``) are computed by the
    plain function, which warns, wraps or raises as it does in Python.  *Floating-point errors*
    are told as NumPy's ufuncs do: one warning in a call, with the function's name, and
    ``np.errstate`` governs them; Python's own floats tell none.  *Dtypes* of results are what
    :func:`numpy.result_type` gives for all that the function may return.  Python's numbers beside
    arrays have the dtype that NumPy's promotion gives them.  Functions of texts and other objects,
    and with several results, are called by :class:`numpy.vectorize`.  Globals and closure
    variables may change at any time.

    Examples
    --------
    >>> import numpy as np
    >>> import npcompile
    >>> @npcompile.vectorize
    ... def clipped(x, high):
    ...     return high if x > high else x
    >>> clipped(np.array([1.0, 5.0, 3.0]), 2.5)
    array([1. , 2.5, 2.5])
    >>> @npcompile.vectorize(["int64(int64, int64)"], identity=0)
    ... def bits_of_either(a, b):
    ...     return a | b
    >>> bits_of_either.reduce(np.array([1, 4, 5]))
    np.int64(5)
    """
    given = ftylist_or_function
    numpys = {"otypes": otypes, "doc": doc, "excluded": excluded, "signature": signature}
    asked = {name: value for name, value in numpys.items() if value is not None}
    plain = callable(given) and isinstance(_unwrapped(given), FunctionType)
    if asked or (callable(given) and not plain):
        return np.vectorize(given, **asked) if callable(given) else np.vectorize(**asked)
    signatures = [] if plain else type_signatures.read_all(given)
    config = _config("vectorize", target, cache, fastmath, options)

    def decorate(function: Any) -> Vectorized:
        from npcompile.runtime.ufuncs.core_layouts import CoreLayout

        found = _plain(function, "vectorize")
        layout = CoreLayout.of_numbers(_count(found))
        kinds = [_loop_kind(signature, layout) for signature in signatures]
        return Vectorized(found, layout, kinds, config, identity, fullgraph)

    return decorate(given) if plain else decorate


def guvectorize(*args: Any, identity: Any = None, target: str = "cpu", fullgraph: bool = False,
                cache: bool = True, fastmath: bool = False, **options: Any) -> Any:
    """Makes a compiled generalized ufunc of a plain function of arrays.

    The function takes arrays of the layout's core axes and writes its last arguments; an operand
    without core axes is a number, a result without them an array of one element.  The other axes
    are broadcast.  numba's decorator of this name can be replaced by it.

    Parameters
    ----------
    args
        Signatures, as ``["void(float64[:], float64, float64[:])"]``, and a layout, as
        ``"(n),()->(n)"``.  Without signatures the dtypes are those of a call's operands, and of
        its ``out=``, which must be given.
    identity, target, fullgraph, cache, fastmath, options
        See :func:`vectorize`.

    Returns
    -------
    decorator
        Makes a :class:`GUVectorized` of a function.

    Notes
    -----
    Results, exceptions and warnings: see :func:`vectorize`.  What the function does not write
    keeps what is there.  It must not change its operands.

    Examples
    --------
    >>> import numpy as np
    >>> import npcompile
    >>> @npcompile.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()")
    ... def distance(a, b, out):
    ...     total = 0.0
    ...     for k in range(len(a)):
    ...         total += (a[k] - b[k]) ** 2
    ...     out[0] = total ** 0.5
    >>> distance(np.array([[0.0, 0.0], [1.0, 2.0]]), np.array([3.0, 4.0]))
    array([5.        , 2.82842712])
    """
    if not 1 <= len(args) <= 2:
        raise TypeError("guvectorize takes a layout, or signatures and a layout")
    from npcompile.runtime.ufuncs.core_layouts import CoreLayout

    layout = CoreLayout.read(args[-1])
    signatures = type_signatures.read_all(args[0]) if len(args) == 2 else []
    kinds = [_loop_kind(signature, layout) for signature in signatures]
    config = _config("guvectorize", target, cache, fastmath, options)

    def decorate(function: Any) -> CoreUfunc:
        plain = _plain(function, "guvectorize")
        if _count(plain) != len(layout.operands):
            raise ValueError(f"{plain.__qualname__} takes {_count(plain)} arguments, the layout "
                             f"{layout} has {len(layout.operands)}")
        return GUVectorized(plain, layout, kinds, config, identity, fullgraph)

    return decorate


def _unwrapped(function: Any) -> Any:
    return getattr(function, "__wrapped__", function)


def _plain(function: Any, decorator: str) -> FunctionType:
    found = _unwrapped(function)
    if not isinstance(found, FunctionType):
        raise TypeError(f"{decorator} compiles Python functions, not {type(function).__name__} "
                        "objects")
    return found


def _count(function: FunctionType) -> int:
    """How many arguments a function takes, which are given by position."""
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
               for p in inspect.signature(function).parameters.values())


def _config(decorator: str, target: str, cache: bool, fastmath: bool,
            options: Mapping[str, Any]) -> Config:
    unknown = options.keys() - _IGNORED
    if unknown:
        raise TypeError(f"{decorator} has no option {min(unknown)!r}")
    if target not in ("cpu", "parallel"):
        raise ValueError(f"target is 'cpu' or 'parallel', not {target!r}")
    return Config(fullgraph=True, cache=cache, fastmath=fastmath)


def _loop_kind(signature: type_signatures.TypeSignature, layout: CoreLayout) -> LoopKind:
    """The operands that a signature tells of."""
    from npcompile.runtime.ufuncs.core_layouts import LoopKind

    kinds = list(signature.params)
    if layout.returns and signature.result is not None:
        kinds.append(signature.result)
    wanted = [len(axes) for axes in layout.inputs]
    wanted += [len(axes) or not layout.returns for axes in layout.outputs]
    if [kind.ndim for kind in kinds] != wanted or any(kind.pointer for kind in kinds):
        raise TypeError(f"signature {signature} is not one of a function with layout {layout}")
    dtypes = tuple([kind.dtype for kind in kinds if kind.dtype is not None])
    if len(dtypes) != len(layout.operands):
        raise TypeError(f"signature {signature} tells no dtype of a result")
    return LoopKind(layout, dtypes)
