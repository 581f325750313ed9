"""The functions of `numpy.fft`, with NumPy's signatures, by compiled transforms.

What no transform of ours takes is NumPy's own: objects, long doubles, float16, arrays of other
libraries, empty arrays, and every call that NumPy refuses.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from npcompile.core import config
from npcompile.core.errors import CompileError
from npcompile.core.surroundings import why
from npcompile.ops.record import OPERATORS, stands_for
from npcompile.runtime.transforms.arrays import OPPOSITE, transform, transform_of
from npcompile.runtime.transforms.called import rows

_TYPES = frozenset({bool, int, float, complex, list, tuple})


class _Else(Exception):
    """NumPy's function is to be called."""


class Flagged(Exception):
    """Floating-point errors that NumPy reports."""

    def __init__(self, result: np.ndarray) -> None:
        self.result = result


def _array(a: Any) -> Any:
    """An array of a native dtype that transforms have."""
    if type(a) is not np.ndarray:
        if type(a) not in _TYPES:
            raise _Else
        a = np.asarray(a)
    if a.dtype.char not in "fdFD" or not a.dtype.isnative or not a.flags.aligned:
        kind = a.dtype.kind
        if kind not in "biufc" or a.dtype.char in "egG":
            raise _Else
        a = a.astype(np.result_type(a.dtype, 1.0).newbyteorder("="))
    return a


def _one(
    kind: str, inverse: bool, a: Any, n: Any, axis: Any, norm: Any, out: Any, in_place: bool = False
) -> tuple[Any, bool]:
    """One transform, and whether it raised floating-point errors that NumPy reports; raises
    :class:`_Else` for what is NumPy's.  ``in_place``: ``out`` may be the array itself."""
    if type(a) is np.ndarray and n is None and out is None and norm in OPPOSITE:
        char, last = a.dtype.char, (-1, a.ndim - 1)
        in_order = a.flags.carray and a.dtype.isnative
        if char in _READ[kind] and axis in last and a.ndim and a.size and in_order:
            return _rows(kind, inverse, a, norm or "backward", char)
    given, a, axis = a, _array(a), _index(axis)
    if not -a.ndim <= axis < a.ndim or norm not in OPPOSITE or a.size == 0:
        raise _Else
    axis %= a.ndim
    if kind == "r2c" and a.dtype.kind == "c":
        raise _Else
    if n is None:
        n = a.shape[axis] if kind != "c2r" else 2 * (a.shape[axis] - 1)
    n = _index(n)
    if n < 1:
        raise _Else
    if kind != "r2c" and a.dtype.kind != "c":
        a = a.astype(np.result_type(a.dtype, 1j))
    what = transform_of(kind, n, inverse, norm, a.dtype.char)
    shape = (*a.shape[:axis], what.points[1], *a.shape[axis + 1 :])
    dtype = _RESULTS[kind][a.dtype.char]
    if out is None:
        out = np.empty_like(given if isinstance(given, np.ndarray) else a, dtype, shape=shape)
    elif not _takes(out, shape, dtype):
        raise _Else
    elif not in_place and np.may_share_memory(a, out):
        a = a.copy()
    raised = transform(what, a, axis, out) & _ERRORS
    return out, bool(raised and raised & _seen())


def _told(made: Any, raised: bool) -> Any:
    """The result of a function; raises :class:`Flagged` where NumPy is to report errors."""
    if raised:
        raise Flagged(made)
    return made


#: the dtypes that are read as they are, where results have a length of their own only by NumPy's n
_READ = {"c2c": "FD", "r2c": "fd", "c2r": ""}


def _rows(
    kind: str, inverse: bool, a: np.ndarray, norm: str, char: str
) -> tuple[np.ndarray, bool]:
    """A transform along the last axis of an array in C order."""
    n = a.shape[-1]
    shape = a.shape if kind == "c2c" else (*a.shape[:-1], n // 2 + 1)
    made: Any = np.empty(shape, _RESULTS[kind][char])
    raised = rows("ic2c" if inverse else kind, norm, char)(a, made, n)
    if raised < 0:
        raise _Else
    return made, bool(raised & _ERRORS and raised & _seen())


def _takes(out: Any, shape: tuple[int, ...], dtype: Any) -> bool:
    """Whether an array takes results as they are."""
    return (type(out) is np.ndarray and out.shape == shape and out.dtype == dtype
            and out.dtype.isnative and out.flags.writeable and out.flags.aligned)


#: floating-point flags of the processor, by the names that NumPy has for them
_FLAGS = {"invalid": 1, "divide": 4, "over": 8, "under": 16}

_ERRORS = sum(_FLAGS.values())


def _seen() -> int:
    """The flags that NumPy would report now."""
    return sum(_FLAGS[name] for name, how in np.geterr().items() if how != "ignore")


def _index(number: Any) -> int:
    try:
        return operator.index(number)
    except TypeError:
        raise _Else from None


_RESULTS: dict[str, dict[str, type]] = {"c2c": {"F": np.complex64, "D": np.complex128},
            "r2c": {"f": np.complex64, "d": np.complex128},
            "c2r": {"F": np.float32, "D": np.float64}}


# ------------------------------------------------------------------ NumPy's functions


#: calls of a function after which a compiled one is worth its making
_PATIENCE = 16
#: of functions that are compiled: the dtypes of arrays, and the least number of axes
_COMPILED = {"fft": ("FD", 1), "ifft": ("FD", 1), "rfft": ("fd", 1), "irfft": ("FD", 1),
             "fft2": ("FD", 2), "ifft2": ("FD", 2), "rfft2": ("fd", 2), "fftn": ("FD", 1),
             "ifftn": ("FD", 1), "rfftn": ("fd", 1)}
#: that have an axis
_ALONG = ("fft", "ifft", "rfft", "irfft")


class Compiled:
    """A function of an array and perhaps an axis under `jit`, for plain arrays: its entry takes an
    eighth of the time that the way through Python takes.  The bits are the same."""

    def __init__(self, name: str) -> None:
        self._name, self._left = name, _PATIENCE
        self._chars, self._axes = _COMPILED.get(name, ("", 0))
        self._along = name in _ALONG
        self.call: Callable[..., Any] = self._make

    def takes(self, a: Any, options: dict[str, Any]) -> bool:
        """Whether this call goes there."""
        if type(a) is not np.ndarray or a.dtype.char not in self._chars:
            return False
        if self._left:
            self._left -= 1
            return False
        axis: Any = -1
        if options:
            axis = options.get("axis")
            if not self._along or type(axis) is not int or len(options) > 1:
                return False
            if not -a.ndim <= axis < a.ndim:
                return False
        return bool(a.ndim >= self._axes and a.shape[axis] > 1 and a.size and a.flags.behaved
                    and a.dtype.isnative)

    def give_up(self) -> None:
        """No call goes there any more."""
        self._chars = ""

    def _make(self, a: np.ndarray, **options: Any) -> Any:
        from npcompile.api.jit import jit

        self.call = jit(getattr(_Plain, self._name), fullgraph=True)
        return self.call(a, **options)


class _Plain:
    """The functions as `jit` follows them."""

    @staticmethod
    def fft(a: np.ndarray, axis: int = -1) -> Any:
        return np.fft.fft(a, axis=axis)

    @staticmethod
    def ifft(a: np.ndarray, axis: int = -1) -> Any:
        return np.fft.ifft(a, axis=axis)

    @staticmethod
    def rfft(a: np.ndarray, axis: int = -1) -> Any:
        return np.fft.rfft(a, axis=axis)

    @staticmethod
    def irfft(a: np.ndarray, axis: int = -1) -> Any:
        return np.fft.irfft(a, axis=axis)

    @staticmethod
    def fft2(a: np.ndarray) -> Any:
        return np.fft.fft2(a)

    @staticmethod
    def ifft2(a: np.ndarray) -> Any:
        return np.fft.ifft2(a)

    @staticmethod
    def rfft2(a: np.ndarray) -> Any:
        return np.fft.rfft2(a)

    @staticmethod
    def fftn(a: np.ndarray) -> Any:
        return np.fft.fftn(a)

    @staticmethod
    def ifftn(a: np.ndarray) -> Any:
        return np.fft.ifftn(a)

    @staticmethod
    def rfftn(a: np.ndarray) -> Any:
        return np.fft.rfftn(a)


def _like(theirs: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Makes a function the stand-in of one of NumPy's, which takes what ours does not."""

    def made(ours: Callable[..., Any]) -> Any:
        compiled = Compiled(theirs.__name__)

        @wraps(theirs)
        def function(*args: Any, **kwargs: Any) -> Any:
            if len(args) == 1 and compiled.takes(args[0], kwargs):
                try:
                    return compiled.call(args[0], **kwargs)
                except CompileError:
                    compiled.give_up()
            if config.disabled():
                return theirs(*args, **kwargs)
            try:
                return ours(*args, **kwargs)
            except Flagged as flagged:
                theirs(*args, **kwargs)  # warns or raises, as NumPy is asked to
                return flagged.result
            except _Else:
                pass
            except Exception as error:
                if why(error) is None:
                    raise
            return theirs(*args, **kwargs)

        stands_for(function, OPERATORS[f"fft.{theirs.__name__}"])
        return function

    return made


@_like(np.fft.fft)
def fft(
    a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None
) -> Any:
    return _told(*_one("c2c", False, a, n, axis, norm, out))


@_like(np.fft.ifft)
def ifft(
    a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None
) -> Any:
    return _told(*_one("c2c", True, a, n, axis, norm, out))


@_like(np.fft.rfft)
def rfft(
    a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None
) -> Any:
    return _told(*_one("r2c", False, a, n, axis, norm, out))


@_like(np.fft.irfft)
def irfft(
    a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None
) -> Any:
    return _told(*_one("c2r", True, a, n, axis, norm, out))


@_like(np.fft.hfft)
def hfft(
    a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None
) -> Any:
    return _told(*_one("c2r", True, np.conjugate(_array(a)), n, axis, _opposite(norm), None))


@_like(np.fft.ihfft)
def ihfft(
    a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None
) -> Any:
    made, raised = _one("r2c", False, a, n, axis, _opposite(norm), out)
    return _told(np.conjugate(made, out=made), raised)


@_like(np.fft.fftn)
def fftn(
    a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None
) -> Any:
    return _several(_array(a), False, s, axes, norm, out)


@_like(np.fft.ifftn)
def ifftn(
    a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None
) -> Any:
    return _several(_array(a), True, s, axes, norm, out)


@_like(np.fft.fft2)
def fft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None
) -> Any:
    return _several(_array(a), False, s, axes, norm, out)


@_like(np.fft.ifft2)
def ifft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None
) -> Any:
    return _several(_array(a), True, s, axes, norm, None)


@_like(np.fft.rfftn)
def rfftn(
    a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None
) -> Any:
    return _real_several(_array(a), s, axes, norm, out)


@_like(np.fft.rfft2)
def rfft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None
) -> Any:
    return _real_several(_array(a), s, axes, norm, out)


@_like(np.fft.irfftn)
def irfftn(
    a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None
) -> Any:
    return _real_inverse(_array(a), s, axes, norm, out)


@_like(np.fft.irfft2)
def irfft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None
) -> Any:
    return _real_inverse(_array(a), s, axes, norm, None)


def _opposite(norm: Any) -> str:
    if norm not in OPPOSITE:
        raise _Else
    return OPPOSITE[norm]


def _stages(a: np.ndarray, s: Any, axes: Any, halved: bool = False) -> list[tuple[int, int]]:
    """Lengths and axes of transforms along several axes."""
    if axes is None:
        if s is not None:  # NumPy warns of it
            raise _Else
        axes = range(a.ndim)
    axes = [_index(axis) for axis in _sequence(axes)]
    if not axes or not all(-a.ndim <= axis < a.ndim for axis in axes):
        raise _Else
    lengths = [a.shape[axis] for axis in axes]
    if halved:
        lengths[-1] = 2 * (lengths[-1] - 1)
    if s is not None:
        given = [_index(n) for n in _sequence(s)]
        if len(given) != len(axes):
            raise _Else
        lengths = [a.shape[axis] if n == -1 else n for n, axis in zip(given, axes)]
    return list(zip(lengths, axes))


def _sequence(items: Any) -> Sequence[Any]:
    if not isinstance(items, (tuple, list, range)):
        raise _Else
    return items


def _several(
    a: np.ndarray, inverse: bool, s: Any, axes: Any, norm: Any, out: Any
) -> Any:
    made, raised = _along("c2c", inverse, a, _stages(a, s, axes)[::-1], norm)
    return _told(_into(made, out), raised)


def _along(
    kind: str, inverse: bool, a: np.ndarray, stages: list[tuple[int, int]], norm: Any
) -> tuple[Any, bool]:
    """A transform of a kind along the first axis given, complex ones along the others, which may
    take the place of what they read."""
    made, any_raised = a, False
    for k, (n, axis) in enumerate(stages):
        fresh = None if k == 0 or made.shape[axis] != n else made
        this = kind if k == 0 else "c2c"
        made, raised = _one(this, inverse, made, n, axis, norm, fresh, k > 0)
        any_raised |= raised
    return made, any_raised


def _real_several(a: np.ndarray, s: Any, axes: Any, norm: Any, out: Any) -> Any:
    made, raised = _along("r2c", False, a, _stages(a, s, axes)[::-1], norm)
    return _told(_into(made, out), raised)


def _real_inverse(a: np.ndarray, s: Any, axes: Any, norm: Any, out: Any) -> Any:
    *first, last = _stages(a, s, axes, halved=True)
    a, before = _along("c2c", True, a, first, norm)
    made, raised = _one("c2r", True, a, *last, norm, None)
    return _told(_into(made, out), before or raised)


def _into(made: np.ndarray, out: Any) -> Any:
    if out is None:
        return made
    if not _takes(out, made.shape, made.dtype):
        raise _Else
    out[...] = made
    return out
