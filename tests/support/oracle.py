"""The one comparison of calls: everything that a caller can see of them, and the first difference.

`observe` calls a function and gives an `Outcome`: the result, the exception and the lines that it
passed, warnings, printed text, and what has become of the arguments.  `difference` names the first
fact in which two outcomes, or two values, differ; a `Policy` says what need not be equal.  Facts of
a value are its type, its numbers bit by bit (one NaN is as good as another), dtype, shape, strides
and flags of arrays, the order of containers, attributes of objects, which objects are one object,
and which arrays share memory, and where.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import enum
import functools
import io
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

import npcompile
from npcompile import jit

Fact = tuple[str, Any]
Function = Callable[..., Any]

BACKENDS = ("cpu", "reference")
OURS = str(Path(npcompile.__file__).parent)
LIBRARIES = str(Path(np.__file__).parents[1])  # where NumPy and its friends are installed
NAMES = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, np.ufunc)
SINGLE = (str, bytes, type(None), type(NotImplemented), range, slice, type(...), type, np.dtype,
          types.ModuleType)
PLAIN = (int, float, complex, str, bytes, np.generic)
SHARED = (int, np.bool_, *SINGLE)  # of which Python itself keeps one object for many
CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque, np.ndarray)
LAYOUT = ("__weaklistoffset__", "__dictoffset__", "__vectorcalloffset__")  # addresses of a partial
ITERATORS = tuple(
    type(iter(x)) for x in ([], (), range(0), "", "é", b"", {}, {}.items(), {}.values()))


@dataclass(frozen=True)
class Policy:
    """What is compared; the default is everything but the bits of NaNs."""

    signs: bool = True  # of zeros
    nans: bool = False  # the bits of NaNs
    close: tuple[float, float] | None = None  # the relative and absolute error that floats may have
    strides: str = "all"  # "long": of axes with several elements; "": none
    flags: bool = True  # of arrays: writeable, contiguous
    sharing: bool = True  # who shares memory with whom
    lines: bool = True  # the lines that an exception has passed
    warnings: str = "lines"  # "all": how often and when; "messages", "categories"; "": none
    bases: bool = True  # of which of the arrays before a view is one
    ignored: tuple[str, ...] = ()  # categories of warnings
    numbers: bool = False  # which floats, complex numbers and NumPy's numbers are one object


DEFAULT = Policy()
EXACT = Policy(nans=True)
# what the meaning of graphs and programs leaves to those who hand the arrays out
MEANING = Policy(strides="long", flags=False, bases=False)


# ------------------------------------------------------------------ facts of values


@dataclass(frozen=True, eq=False)
class Elements:
    """The elements of an array or a number, as they were when they were looked at."""

    array: np.ndarray

    def agree(self, other: Elements, policy: Policy) -> bool:
        """Whether dtype, shape and numbers are equal, as far as the policy asks."""
        a, b = self.array, other.array
        return a.dtype == b.dtype and a.shape == b.shape and _numbers_agree(a, b, policy)

    def __repr__(self) -> str:
        return f"{self.array.dtype} {self.array!r}"


def _numbers_agree(a: np.ndarray, b: np.ndarray, policy: Policy) -> bool:
    if a.dtype.kind == "c":
        return _numbers_agree(a.real, b.real, policy) and _numbers_agree(a.imag, b.imag, policy)
    if a.dtype.kind not in "f":
        return a.tobytes() == b.tobytes()
    if policy.nans and a.tobytes() != b.tobytes():
        return False
    nan = np.isnan(a)
    if not np.array_equal(nan, np.isnan(b)):
        return False
    a, b = a[~nan], b[~nan]
    if policy.close is not None:
        return bool(np.allclose(a, b, *policy.close))
    return np.array_equal(a, b) and (
        not policy.signs or np.array_equal(np.signbit(a), np.signbit(b)))


@dataclass
class Portrait:
    """Collects the facts of values, each with the path that leads there."""

    facts: list[Fact] = field(default_factory=list)
    known: dict[int, tuple[int, Any]] = field(default_factory=dict)  # and keeps the objects alive
    singles: dict[int, tuple[int, Any]] = field(default_factory=dict)  # numbers
    arrays: list[np.ndarray] = field(default_factory=list)

    def add(self, path: str, value: Any) -> None:
        """Adds the facts of a value, or that it is an object that was met before."""
        value = getattr(value, "__wrapped__", value) if type(value) is npcompile.Jit else value
        kind = type(value)
        if kind.__name__ == "Tensor" and "torch" in sys.modules:
            self._tensor(path, value)
            return
        number = self.known.get(id(value))
        if number is not None:
            self.facts.append((path, (kind.__qualname__, "the object", number[0])))
            return
        plain = kind.__module__ in ("builtins", "numpy")
        single = self._single(path, value)
        if single and plain:
            return
        if not issubclass(kind, tuple):  # which tuples are one is not told
            self.known[id(value)] = len(self.known), value
        if not single:
            self.facts.append((path, kind.__qualname__))
            self._parts(path, value)
        elif not issubclass(kind, enum.Enum):
            self._attributes(path, value)

    def _single(self, path: str, value: Any) -> bool:
        """Adds the one fact of a value that has no parts but attributes."""
        kind = type(value)
        if issubclass(kind, enum.Enum):
            fact: Any = value._name_
        elif issubclass(kind, int):
            fact = int.__int__(value)
        elif issubclass(kind, np.generic) and not issubclass(kind, np.void):
            fact = Elements(np.array(value))
        elif issubclass(kind, (float, complex)):
            read = float.__float__ if issubclass(kind, float) else complex.__complex__
            fact = Elements(np.array(read(value)))
        elif issubclass(kind, SINGLE):
            fact = next(base for base in kind.__mro__ if base in SINGLE or base is type).__repr__(
                value)
        else:
            return False
        self.facts.append((path, (kind.__qualname__, fact)))
        if not issubclass(kind, SHARED):
            number = self.singles.setdefault(id(value), (len(self.singles), value))[0]
            self.facts.append((path, ("is the single object", number)))
        return True

    def _parts(self, path: str, value: Any) -> None:
        kind = type(value)  # what ``__class__`` says is another thing
        if issubclass(kind, np.ndarray):
            self._array(path, value)
        elif issubclass(kind, dict):
            self._dict(path, value)
        elif issubclass(kind, (set, frozenset)):
            self._set(path, value)
        elif issubclass(kind, (list, tuple, collections.deque)):
            base = next(b for b in (list, tuple, collections.deque) if issubclass(kind, b))
            for k, item in enumerate(base.__iter__(value)):
                self.add(f"{path}[{k}]", item)
            if issubclass(kind, collections.deque):
                self.facts.append((path, ("maxlen", value.maxlen)))
        elif issubclass(kind, (bytearray, memoryview)):
            self.facts.append((path, bytes(value)))
        elif issubclass(kind, NAMES):
            self.facts.append((path, value.__name__))
            return
        elif issubclass(kind, functools.partial):
            self.add(f"{path}.partial", [value.func, value.args, value.keywords])
        elif issubclass(kind, BaseException):
            self.add(f"{path}.args", value.args)
        elif issubclass(kind, np.random.Generator):
            self.add(f"{path}.state", value.bit_generator.state)
            return
        elif issubclass(kind, functools._lru_cache_wrapper):
            self.facts.append((path, tuple(value.cache_info())))
        elif issubclass(kind, ITERATORS):
            self.add(f"{path}.rest", value.__reduce__()[1:])
            return
        self._attributes(path, value)

    def _dict(self, path: str, value: dict[Any, Any]) -> None:
        ordered = issubclass(type(value), collections.OrderedDict)
        for k, (key, item) in enumerate(value.items() if ordered else dict.items(value)):
            name = f"[{key!r:.40}]" if type(key) in (str, int) else f"[key {k}]"
            self.add(f"{path}.keys()[{k}]", key)
            self.add(path + name, item)
        if issubclass(type(value), collections.defaultdict):
            self.add(f"{path}.default_factory", value.default_factory)

    def _attributes(self, path: str, value: Any) -> None:
        """Attributes in slots and in the dictionary; no code of the class runs."""
        before = len(self.facts)
        for name in dir(type(value)):
            slot = getattr(type(value), name, None)
            if isinstance(slot, types.MemberDescriptorType) and name not in LAYOUT:
                with contextlib.suppress(AttributeError):
                    self.add(f"{path}.{name}", slot.__get__(value))
        with contextlib.suppress(AttributeError, TypeError):
            for name, item in list(object.__getattribute__(value, "__dict__").items()):
                self.add(f"{path}.{name}", item)
        show = type(value).__repr__
        builtin = show is not object.__repr__ and not isinstance(show, types.FunctionType)
        if builtin and len(self.facts) == before and not issubclass(type(value), CONTAINERS):
            text = repr(value)  # of fractions, dates, patterns
            self.facts.append((path, "" if " at 0x" in text else text))

    def _array(self, path: str, value: np.ndarray) -> None:
        self.arrays.append(value)
        if value.dtype.kind == "O":
            self.facts.append((path, ("shape", value.shape)))
            for k, item in enumerate(np.asarray(value).ravel().tolist()):
                self.add(f"{path}.flat[{k}]", item)
        else:
            plain = np.array(value.data if issubclass(type(value), np.ma.MaskedArray) else value)
            self.facts.append((path, Elements(plain)))
        if issubclass(type(value), np.ma.MaskedArray):
            self.facts.append((path, ("mask", Elements(np.ma.getmaskarray(value)))))
        flags = value.flags.writeable, value.flags.c_contiguous
        if value.size:
            self.facts.append((path, ("strides", value.shape, value.strides)))
        base = self.known.get(id(value.base)) if value.base is not None else None
        self.facts.append((path, ("is a view of", base and base[0])))
        self.facts += [(path, ("writeable, contiguous", flags)),
                       (path, ("shares memory with", *self._shared(value)))]

    def _shared(self, array: np.ndarray) -> list[tuple[int, int]]:
        """Which arrays it shares memory with, and how far from their beginnings."""
        start = array.__array_interface__["data"][0]
        return [
            (k, start - other.__array_interface__["data"][0])
            for k, other in enumerate(self.arrays[:-1])
            if array.size and np.may_share_memory(array, other)
        ]

    def _set(self, path: str, value: Any) -> None:
        """Items in their order; sorted, where it follows from places in memory."""
        items = list((set if issubclass(type(value), set) else frozenset).__iter__(value))
        if all(issubclass(type(item), PLAIN) for item in items):
            for k, item in enumerate(items):
                self.add(f"{path}.item {k}", item)
            return
        drawn = []
        for item in items:
            portrait = Portrait()
            portrait.add("", item)
            drawn.append(repr(portrait.facts))
        self.facts += [(path, text) for text in sorted(drawn)]

    def _tensor(self, path: str, value: Any) -> None:
        known = self.known.get(id(value))
        if known is not None:
            self.facts.append((path, ("Tensor", "the object", known[0])))
            return
        self.known[id(value)] = len(self.known), value
        told = type(value).__qualname__, str(value.dtype), str(value.device), value.requires_grad
        self.facts.append((path, told))
        self._array(path, value.detach().cpu().numpy())


def facts(value: Any, where: str = "value") -> list[Fact]:
    """The facts of a value as it is now."""
    portrait = Portrait()
    portrait.add(where, value)
    return portrait.facts


# ------------------------------------------------------------------ outcomes of calls


@dataclass
class Outcome:
    """All that a caller can see of a call."""

    facts: list[Fact]  # of the arguments, the result and the exception
    result: Any = None
    error: Exception | None = None
    passed: list[tuple[str, int | None]] = field(default_factory=list)  # functions and lines
    warned: list[tuple[str, str, int, str]] = field(default_factory=list)  # in their order
    printed: str = ""
    arguments: tuple[Any, ...] = ()


def observe(
    function: Function, *args: Any, world: Callable[[], Any] = lambda: None, **named: Any
) -> Outcome:
    """Calls a function and keeps everything visible; ``world``: what else it may have changed."""
    result: Any = None
    error: Exception | None = None
    with contextlib.redirect_stdout(io.StringIO()) as text, warnings.catch_warnings(
            record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*args, **named)
        except Exception as raised:  # compared, whatever it is
            error = raised
    portrait = Portrait()
    for k, value in enumerate(args):
        portrait.add(f"argument {k}", value)
    for name, value in named.items():
        portrait.add(f"argument {name}", value)
    portrait.add("world", world())
    portrait.add("result", result)
    portrait.add("exception", error)
    warned = [(w.category.__name__, str(w.message), w.lineno, w.filename) for w in caught]
    return Outcome(portrait.facts, result, error, passed(error), warned, text.getvalue(), args)


def passed(error: Exception | None) -> list[tuple[str, int | None]]:
    """The functions and lines that an exception has passed, of users' code.

    CPython 3.11 gives an UnboundLocalError a line that depends on how often the function has run.
    """
    if error is None or isinstance(error, UnboundLocalError):
        return []
    away = (OURS, LIBRARIES, __file__)
    return [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)
            if not frame.filename.startswith(away)]


def difference(got: Any, want: Any, policy: Policy = DEFAULT, **changes: Any) -> str:
    """The first difference between two outcomes or two values, or an empty string."""
    policy = replace(policy, **changes)
    if not isinstance(want, Outcome):
        return _facts_differ(facts(got), facts(want), policy)
    if (type(got.error), str(got.error)) != (type(want.error), str(want.error)):
        return f"exception {got.error!r} instead of {want.error!r}"
    text = _facts_differ(got.facts, want.facts, policy)
    if not text and policy.lines and got.passed != want.passed:
        text = f"the exception passed {got.passed} instead of {want.passed}"
    if not text and got.printed != want.printed:
        text = f"printed {got.printed!r} instead of {want.printed!r}"
    if not text:
        ours, theirs = _warnings(got, policy), _warnings(want, policy)
        if ours != theirs:
            text = f"warnings {sorted(ours)} instead of {sorted(theirs)}"
    return text


def _warnings(outcome: Outcome, policy: Policy) -> Iterable[Any]:
    """Which warnings there were; how often is not promised: docs/differences.md."""
    warned = [row for row in outcome.warned if row[0] not in policy.ignored]
    match policy.warnings:
        case "all":
            return warned
        case "lines":
            return set(warned)
        case "messages":
            return {(category, text) for category, text, *_ in warned}
        case "categories":
            return {(category, text.split(" encountered")[0]) for category, text, *_ in warned}
    return set()


def _facts_differ(got: list[Fact], want: list[Fact], policy: Policy) -> str:
    nothing = ("", "nothing")
    for (path, ours), (place, theirs) in zip_longest(got, want, fillvalue=nothing):
        if path != place:
            return f"{place or path}: {ours!r} at {path} instead of {theirs!r}"
        if not _fact_agrees(ours, theirs, policy):
            return f"{path}: {ours!r} instead of {theirs!r}"
    return ""


def _fact_agrees(ours: Any, theirs: Any, policy: Policy) -> bool:
    if isinstance(ours, Elements) and isinstance(theirs, Elements):
        return ours.agree(theirs, policy)
    if not isinstance(theirs, tuple) or not isinstance(ours, tuple):
        return bool(ours == theirs)
    match theirs[0]:
        case "is the single object" if not policy.numbers:
            return ours[0] == theirs[0]
        case "shares memory with" if not policy.sharing:
            return ours[0] == theirs[0]
        case "is a view of" if not policy.bases:
            return ours[0] == theirs[0]
        case "strides" if policy.strides != "all" and ours[0] == theirs[0]:
            pairs = zip(ours[1], ours[2], theirs[2], strict=True)
            return not policy.strides or all(n == 1 or s == t for n, s, t in pairs)
        case "writeable, contiguous" if not policy.flags:
            return ours[0] == theirs[0]
        case "writeable, contiguous" if not policy.strides and ours[0] == theirs[0]:
            return bool(ours[1][0] == theirs[1][0])
    return len(ours) == len(theirs) and all(
        x.agree(y, policy) if isinstance(x, Elements) and isinstance(y, Elements) else x == y
        for x, y in zip(ours, theirs))


def same(got: Any, want: Any, policy: Policy = DEFAULT, **changes: Any) -> bool:
    """Whether two values are equal in all that can be seen of them."""
    return not difference(got, want, policy, **changes)


def check(got: Any, want: Any, policy: Policy = DEFAULT, **changes: Any) -> None:
    """Asserts that two values or outcomes are equal in all that can be seen of them."""
    text = difference(got, want, policy, **changes)
    assert not text, text


def equal_elements(
    got: np.ndarray, want: np.ndarray, rtol: float = 0, atol: Any = 0, signs: bool = True
) -> np.ndarray:
    """Which elements are equal, but for rounding; NaNs are, zeros of unlike ``signs`` are not."""
    with np.errstate(all="ignore"):
        near = (got == want) | (np.abs(got - want) <= rtol * np.abs(want) + atol)
    if signs:
        near &= np.signbit(got) == np.signbit(want)
    return near | (np.isnan(got) & np.isnan(want))


def elements(got: Any, want: Any, policy: Policy = DEFAULT, **changes: Any) -> bool:
    """Whether the numbers are equal, with their dtype and shape, wherever they lie."""
    ours, theirs = Elements(np.asarray(got)), Elements(np.asarray(want))
    return ours.agree(theirs, replace(policy, **changes))


def bits(value: Any) -> bytes:
    """The bytes of numbers, in which all NaNs are one: for digests."""
    array = np.array(value)
    if array.dtype.kind in "fc":
        parts = np.ascontiguousarray(array).view(array.real.dtype)
        parts[np.isnan(parts)] = np.nan
        return parts.tobytes()
    return array.tobytes()


# ------------------------------------------------------------------ compiled and plain


def unlike(
    compiled: Function, plain: Function, *args: Any, policy: Policy = DEFAULT, **changes: Any
) -> str:
    """What differs between calls of two functions with copies of the arguments."""
    got, want = (observe(call, *copy.deepcopy(args)) for call in (compiled, plain))
    text = difference(got, want, policy, **changes)
    return text and f"{text}\n  with {args!r:.500}"


def check_calls(compiled: Function, plain: Function, *args: Any, **changes: Any) -> None:
    """Asserts that calls of two functions with copies of the arguments are alike."""
    text = unlike(compiled, plain, *args, **changes)
    assert not text, text


def check_made(
    compiled: Function, plain: Function, make: Callable[[], Iterable[Any]], **changes: Any
) -> Outcome:
    """Asserts that calls of two functions with new arguments are alike; the first's outcome."""
    got, want = (observe(call, *make()) for call in (compiled, plain))
    check(got, want, **changes)
    return got


def as_python(function: Function, *args: Any, compiled: bool | None = None) -> Any:
    """Asserts that two calls are like Python's; ``compiled``: whether machine code ran them."""
    made = jit(function)
    for _ in range(2):
        check_calls(made, function, *args)
    assert compiled is None or bool(made.cache_info().refused) != compiled
    return made


def alike(
    function: Function, *calls: tuple[Any, ...], captured: bool = True,
    backends: Iterable[str] = BACKENDS, times: int = 1, **changes: Any
) -> Any:
    """Asserts that compiled calls are like plain ones, on each backend; the last jitted function.

    ``captured``: the function is compiled whole.
    """
    compiled: Any = None
    for backend in backends:
        compiled = jit(function, backend=backend, fullgraph=captured)
        views = {} if backend == "cpu" else {"bases": False}  # the reference has views of views
        for args in calls:
            for _ in range(times):
                text = unlike(compiled, function, *args, **views, **changes)
                assert not text, f"{backend}: {text}"
    return compiled


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No warnings of floating-point errors."""
    with np.errstate(all="ignore"):
        yield
