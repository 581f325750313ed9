r"""Values of the compiler as text and back: data only, of known classes, refused if anything else.

::

    text ::= node ("\n" node)*     parts come before what they are parts of; the last is the value
    node ::= tag rest              ``rest`` is text, or the numbers of earlier nodes

    N T F E       None, True, False, Ellipsis       ( [ { <    tuple, list, dict, frozenset
    i f c         int, float, complex               : R        slice, range
    s S b         str, escaped str, bytes           d n a      dtype, number and array of NumPy's
    @ g           object by module and name, attribute of one       h    class of an iterator
    r o           object of a class of this package: of arguments, of a dictionary
    p             functools.partial                 w          what is read from its source

Reading makes objects of classes of this package and calls nothing else.  Objects with names are
looked up in modules that are loaded; only modules of this package are imported for them.

>>> text = PlainEncoder().text(([1, "a\nb"], 0.5))
>>> text.split("\n")
['i1', 'Sa\\nb', '[0 1', 'f000000000000e03f', '(2 3']
>>> read(text)
([1, 'a\nb'], 0.5)
"""

from __future__ import annotations

import struct
import sys
import types
from collections.abc import Callable
from functools import partial
from importlib import import_module
from types import MethodDescriptorType, ModuleType
from typing import Any

import numpy as np

from npcompile.core.records import field_names
from npcompile.core.sections import from_handler

_PACKAGE = "npcompile."
_BITS = struct.Struct("<d")
_SAMPLES: tuple[Any, ...] = (range(0), [], (), "", b"", {}, set(), np.empty(0))
#: classes that no module has, by their names
_HIDDEN = {type(made).__name__: type(iter(made)) for made in _SAMPLES}
_HIDDEN_NAMES = {found: name for name, found in _HIDDEN.items()}
_TYPES = {found: name for name, found in vars(types).items() if isinstance(found, type)}
#: modules in which ufuncs may be found
_UFUNCS = ("numpy", "numpy._core.umath", "scipy.special", "npcompile")


class Invalid(ValueError):
    """A text is not what a :class:`PlainEncoder` writes."""


class Unwritable(TypeError):
    """A value is not data, or is one process's."""


# ------------------------------------------------------------------ writing


def _text(value: str) -> str:
    plain = not ("\n" in value or "\0" in value) and value.isascii()
    return "s" + value if plain else "S" + value.encode("unicode_escape").decode("ascii")


_ATOMS: dict[type, Callable[[Any], str]] = {
    type(None): lambda v: "N",
    type(...): lambda v: "E",
    bool: lambda v: "T" if v else "F",
    int: lambda v: f"i{v:x}",  # Python limits the digits of decimals
    float: lambda v: f"f{_BITS.pack(v).hex()}",
    complex: lambda v: f"c{_BITS.pack(v.real).hex()}{_BITS.pack(v.imag).hex()}",
    str: _text,
    bytes: lambda v: f"b{v.hex()}",
}
_MANY: dict[type, str] = {tuple: "(", list: "[", frozenset: "<"}


class PlainEncoder:
    """Writes values; what is found in another way in another process is left to :meth:`elsewhere`
    and :meth:`name`."""

    def __init__(self) -> None:
        self._nodes: list[str] = []
        self._atoms: dict[str, int] = {}
        self._known: dict[int, int] = {}
        self._alive: list[Any] = []  # so that no two of these objects have one address

    def text(self, value: Any) -> str:
        """The text of a value.

        Raises
        ------
        Unwritable
            If it is not data, or is one process's.
        """
        try:
            self._node(value)
        except RecursionError as error:
            raise Unwritable("nested too deeply") from error
        return "\n".join(self._nodes)

    def elsewhere(self, value: Any) -> Any:
        """An object to pass to ``seen`` of :func:`read` in place of the value; None: the value
        itself is written."""
        return None

    def name(self, value: Any) -> str | None:
        """``module:name`` of a function, class or other object; None if it has none."""
        if isinstance(value, np.ufunc):
            called = str(value.__name__)
            return next((f"{m}:{called}" for m in _UFUNCS
                         if getattr(sys.modules.get(m), called, None) is value), None)
        module, name = (getattr(value, n, None) for n in ("__module__", "__qualname__"))
        return f"{module}:{name}" if isinstance(name, str) else None

    def _node(self, value: Any) -> int:
        found = self._known.get(id(value))
        if found is not None:
            return found
        instead = self.elsewhere(value)
        atom = _ATOMS.get(type(value)) if instead is None else None
        if atom is not None:
            return self._atom(atom(value))
        made = f"w{self._node(instead)}" if instead is not None else self._compound(value)
        self._nodes.append(made)
        self._alive.append(value)
        self._known[id(value)] = len(self._nodes) - 1
        return len(self._nodes) - 1

    def _atom(self, text: str) -> int:
        number = self._atoms.get(text)
        if number is None:
            self._nodes.append(text)
            number = self._atoms[text] = len(self._nodes) - 1
        return number

    def _parts(self, *parts: Any) -> str:
        return " ".join([str(self._node(part)) for part in parts])

    def _compound(self, value: Any) -> str:
        kind = type(value)
        if kind in _MANY:
            return _MANY[kind] + self._parts(*value)
        if kind is dict:
            return "{" + self._parts(*(part for item in value.items() for part in item))
        if kind in (slice, range):
            tag = ":" if kind is slice else "R"
            return tag + self._parts(value.start, value.stop, value.step)
        if isinstance(value, np.dtype):
            return self._dtype(value)
        if isinstance(value, np.generic) or kind is np.ndarray:
            return self._numbers(value)
        if kind is partial:
            return "p" + self._parts(value.func, value.args, value.keywords)
        if kind.__module__.startswith(_PACKAGE) and not isinstance(value, (type, np.ufunc)):
            return self._ours(value)
        return self._named(value)

    def _dtype(self, value: np.dtype[Any]) -> str:
        for name in (value.char, value.str):
            if value.names is None and np.dtype(name) == value and np.dtype(name).num == value.num:
                return f"d{name}"
        raise Unwritable(f"dtype {value}")

    def _numbers(self, value: Any) -> str:
        if value.dtype.hasobject:
            raise Unwritable("an array of objects")
        array = np.asarray(value)
        if not array.flags.c_contiguous:
            raise Unwritable("an array that is not contiguous")
        tag = "a" if type(value) is np.ndarray else "n"
        return f"{tag}{self._parts(array.dtype, array.shape)} {array.tobytes().hex()}"

    def _ours(self, value: Any) -> str:
        kind = type(value)
        if "__reduce__" in vars(kind):
            reduced = value.__reduce__()
            if isinstance(reduced, str):
                return self._checked(value, f"{kind.__module__}:{reduced}")
            made, parts = reduced
            return "r" + self._parts(made, *parts)
        if "__record__" in vars(kind):
            return "r" + self._parts(kind, *(getattr(value, f) for f in field_names(value) or ()))
        if kind.__bases__ == (object,) and hasattr(value, "__dict__"):
            return "o" + self._parts(kind, vars(value))
        raise Unwritable(f"a {kind.__name__}")

    def _named(self, value: Any) -> str:
        if isinstance(value, type) and value in _HIDDEN_NAMES:
            return f"h{_HIDDEN_NAMES[value]}"
        owner = getattr(value, "__self__", None)
        if isinstance(value, MethodDescriptorType):
            owner = value.__objclass__
        if isinstance(owner, (type, np.ufunc)) and self.name(owner) is not None:
            if getattr(owner, value.__name__, None) != value:
                raise Unwritable(f"{value!r}")
            return f"g{self._node(owner)} {value.__name__}"
        if isinstance(value, type) and value in _TYPES:
            return f"@types:{_TYPES[value]}"
        return self._checked(value, self.name(value))

    def _checked(self, value: Any, name: str | None) -> str:
        """The node of an object that is found under its name."""
        try:
            found = name is not None and _found(name) is value
        except (Invalid, AttributeError):
            found = False
        if not found:
            raise Unwritable(f"a {type(value).__name__} without a name")
        return f"@{name}"


# ------------------------------------------------------------------ reading


def read(text: str, seen: Callable[[Any], Any] | None = None) -> Any:
    """The value of a text; ``seen`` gives what a :class:`PlainEncoder` has found elsewhere.

    Raises
    ------
    Invalid
        If the text is not what a writer writes, or names what is not here.
    """
    made: list[Any] = []
    try:
        for node in text.split("\n"):
            tag, rest = node[0], node[1:]
            if tag == "w":
                assert seen is not None
                made.append(seen(_at(made, rest)))
            else:
                made.append(_READ[tag](made, rest))
        return made[-1]
    except Exception as error:  # whatever a text that nobody has written leads to
        from npcompile.runtime.cache.tracers import from_tracer  # few texts are invalid

        if isinstance(error, Invalid) or from_handler(error) or from_tracer(error, _PACKAGE):
            raise
        raise Invalid(f"no value in this form: {error!r}") from None


def _at(made: list[Any], number: str) -> Any:
    if not number.isdecimal():
        raise Invalid(f"no number of a node: {number!r}")
    return made[int(number)]


def _several(made: list[Any], rest: str) -> list[Any]:
    if "-" in rest:
        raise Invalid(f"no numbers of nodes: {rest!r}")
    return [made[number] for number in map(int, rest.split())]


def _pairs(made: list[Any], rest: str) -> dict[Any, Any]:
    parts = _several(made, rest)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _object(made: list[Any], rest: str) -> Any:
    kind, *parts = _several(made, rest)
    _own(kind)
    if "__record__" in vars(kind) and "__reduce__" not in vars(kind):
        if len(parts) != len(kind.__match_args__):
            raise Invalid(f"{len(parts)} parts of a {kind.__name__}")
    elif "__reduce__" not in vars(kind):
        raise Invalid(f"a {kind.__name__} is not made of parts")
    return kind(*parts)


def _filled(made: list[Any], rest: str) -> Any:
    kind, state = _several(made, rest)
    _own(kind)
    if "__record__" in vars(kind) or type(state) is not dict:
        raise Invalid(f"no state of a {kind.__name__}")
    value = object.__new__(kind)
    value.__dict__.update(state)
    return value


def _own(kind: Any) -> None:
    if not isinstance(kind, type) or not kind.__module__.startswith(_PACKAGE):
        raise Invalid(f"{kind!r} is no class of this package")


def _numbers(made: list[Any], rest: str) -> Any:
    dtype, shape, data = rest.split(" ")
    flat = np.frombuffer(bytearray.fromhex(data), _at(made, dtype))
    return flat.reshape(_at(made, shape))


def _attribute(made: list[Any], rest: str) -> Any:
    owner, name = rest.split(" ")
    holder = _at(made, owner)
    if not isinstance(holder, (type, np.ufunc)):
        raise Invalid(f"an attribute of {holder!r}")
    return getattr(holder, name)


def _partial(made: list[Any], rest: str) -> Any:
    function, args, keywords = _several(made, rest)
    return partial(function, *args, **keywords)


def _floats(rest: str) -> list[float]:
    return [value for (value,) in _BITS.iter_unpack(bytes.fromhex(rest))]


def _found(path: str) -> Any:
    """An object of a module that is loaded, or of one of this package."""
    module, _, names = path.partition(":")
    held: Any = sys.modules.get(module)
    if held is None and module.startswith(_PACKAGE):
        held = import_module(module)
    if not isinstance(held, ModuleType):
        raise Invalid(f"{module} is not loaded")
    for name in names.split("."):
        held = getattr(held, name)
    return held


_READ: dict[str, Callable[[list[Any], str], Any]] = {
    "N": lambda made, rest: None,
    "E": lambda made, rest: ...,
    "T": lambda made, rest: True,
    "F": lambda made, rest: False,
    "i": lambda made, rest: int(rest, 16),
    "f": lambda made, rest: _BITS.unpack(bytes.fromhex(rest))[0],
    "c": lambda made, rest: complex(*_floats(rest)),
    "s": lambda made, rest: rest,
    "S": lambda made, rest: rest.encode("ascii").decode("unicode_escape"),
    "b": lambda made, rest: bytes.fromhex(rest),
    "(": lambda made, rest: tuple(_several(made, rest)),
    "[": lambda made, rest: _several(made, rest),
    "{": _pairs,
    "<": lambda made, rest: frozenset(_several(made, rest)),
    ":": lambda made, rest: slice(*_several(made, rest)),
    "R": lambda made, rest: range(*_several(made, rest)),
    "d": lambda made, rest: np.dtype(rest),
    "n": lambda made, rest: _numbers(made, rest)[()],
    "a": _numbers,
    "@": lambda made, rest: _found(rest),
    "g": _attribute,
    "h": lambda made, rest: _HIDDEN[rest],
    "r": _object,
    "o": _filled,
    "p": _partial,
}
