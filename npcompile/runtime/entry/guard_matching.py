"""The slow half of dispatch, in Python: read a trace's sources, test its guards and leaf types.

The text of one small function per trace is generated, so that a call that can't take the
machine-code entry alone (keywords, containers, attributes) still costs a microsecond or two.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from npcompile.core.sizes import Size, Symbol, evaluate, lone_symbol
from npcompile.graph.types import Array, Opaque, Scalar
from npcompile.guards.class_hooks import looks, of_user
from npcompile.guards.sources import (
    AddressOf,
    Arg,
    Attribute,
    Closure,
    Codes,
    Default,
    Global,
    Guard,
    Item,
    Leaf,
    ObjectWords,
    Source,
    TensorMemory,
    defaults,
)
from npcompile.runtime.entry.outline import Outline
from npcompile.runtime.unsafe.version_tags import class_version

Match = Callable[[dict[str, Any], FunctionType], "tuple[Any, ...] | None"]


def global_of(function: FunctionType, name: str) -> Any:
    """A global or builtin as ``function`` sees it."""
    found = function.__globals__.get(name, _MISSING)
    return getattr(builtins, name) if found is _MISSING else found


def closure_of(function: FunctionType, name: str) -> Any:
    """The contents of one of ``function``'s closure cells."""
    cells = function.__closure__ or ()
    return cells[function.__code__.co_freevars.index(name)].cell_contents


def default_of(function: FunctionType, name: str) -> Any:
    """The default value of a parameter."""
    return defaults(function)[name]


_MISSING = object()
#: what looking up a source raises where it leads to nothing
ABSENT = (KeyError, AttributeError, IndexError, TypeError, ValueError)


# few calls are of tensors, strings or lists, so what reads them is imported by the first of these


def _lend() -> Callable[[Any], Any]:
    from npcompile.tensors.tensor_memory import lend

    return lend


def _codes() -> Callable[[Any], Any]:
    from npcompile.graph.texts import codes

    return codes


def words_of(name: str) -> Any:
    """An array by which programs read objects."""
    from npcompile.runtime.unsafe.object_memory import words

    return words(name)


def matcher(trace: Outline) -> Match:
    """A function of (bound arguments, function) that gives the leaves' values, or None if a
    static guard fails."""
    writer = _GuardWriter()  # in the order in which it is written, the function runs
    tests = [writer.guard(guard) for guard in trace.guards]
    tests += [f"{writer.constant(unchanged(kind))}()" for kind in classes(trace)]
    leaves = [writer.source(leaf.source) for leaf in trace.leaves]
    body = [
        "def match(b, f):",
        "    try:",
        f"        if not ({' and '.join(tests) or 'True'}): return None",
        f"        return ({''.join(leaf + ', ' for leaf in leaves)})",
        f"    except ({', '.join(error.__name__ for error in ABSENT)}):",
        "        return None",
    ]
    scope = writer.scope
    exec("\n".join(body), scope)
    found: Match = scope["match"]
    return found


def classes(trace: Outline) -> list[type]:
    """The classes of users that a trace rests on."""
    found = [g.value if isinstance(g.value, type) else type(g.value)
             for g in trace.guards if g.kind in ("type", "is")]
    return [kind for kind in {id(kind): kind for kind in found}.values() if of_user(kind)]


def unchanged(kind: type) -> Callable[[], bool]:
    """Whether a class still has what it has now, so far as that tells what code it runs."""
    was, version, seen = looks(kind), class_version(kind), 0

    def same() -> bool:
        nonlocal seen
        if version is not None and version.value == seen != 0:
            return True
        getattr(kind, "__init__")  # noqa: B009 -- a look-up makes CPython number the class
        now = 0 if version is None else version.value
        if looks(kind) != was:
            return False
        seen = now
        return True

    return same


_TESTS = {
    "is": "{} is {}",
    "equal": "S({}, {})",
    "type": "type({}) is {}",
    "flags": "not type({}).__flags__ & {}",
    "length": "len({}) == {}",
    "most": "len({}) <= {}",
    "keys": "S(tuple({}), {})",
    "code": "P({}, {})",
    "same": "{} is {}",
    "apart": "{} is not {}",
    "present": "hasattr({}, {})",
    "absent": "not hasattr({}, {})",
}


#: guards on lengths
LENGTHS = ("length", "most")
#: guards of two sources
RELATIONS = ("same", "apart")
#: guards on whether there is an attribute
EXISTENCE = ("present", "absent")


def parts_of(function: FunctionType) -> tuple[Any, ...]:
    """The parts of a function that determine its behaviour, apart from globals and closure."""
    return (function.__code__, function.__defaults__, function.__kwdefaults__)


def same_parts(function: FunctionType, parts: tuple[Any, ...]) -> bool:
    """Whether a function still consists of these very objects."""
    code, defaults, named = parts
    return (function.__code__ is code and function.__defaults__ is defaults
            and function.__kwdefaults__ is named)


class _GuardWriter:
    """Writes sources and guards as Python expressions over ``b`` (bound) and ``f`` (function).

    What a source holds is looked up once: the first expression with it names it."""

    def __init__(self) -> None:
        self.named: dict[Source, str] = {}
        self.scope: dict[str, Any] = {
            "G": global_of, "C": closure_of, "D": default_of, "S": same_constant, "P": same_parts,
            "A": id,
        }

    def constant(self, value: Any) -> str:
        name = f"c{len(self.scope)}"
        self.scope[name] = value
        return name

    def source(self, source: Source | None) -> str:
        if source is None:
            return "f"
        if isinstance(source, ObjectWords):
            return self.constant(words_of(source.name))
        if source in self.named:
            return self.named[source]
        text = self._looked_up(source)
        name = self.named[source] = f"v{len(self.named)}"
        return f"({name} := {text})"

    def _looked_up(self, source: Source) -> str:
        match source:
            case Arg(name):
                return f"b[{name!r}]"
            case Global(name, owner):
                return f"G({self.source(owner)}, {name!r})"
            case Closure(name, owner):
                return f"C({self.source(owner)}, {name!r})"
            case Default(name, owner):
                return f"D({self.source(owner)}, {name!r})"
            case Attribute(base, name):
                return f"{self.source(base)}.{name}"
            case Item(base, key):
                return f"{self.source(base)}[{self.constant(key)}]"
            case TensorMemory(base):
                return f"{self.constant(_lend())}({self.source(base)})"
            case Codes(base):
                return f"{self.constant(_codes())}({self.source(base)})"
            case AddressOf(base):
                return f"A({self.source(base)})"
        raise AssertionError(source)

    def guard(self, guard: Guard) -> str:
        if guard.kind in RELATIONS:
            return _TESTS[guard.kind].format(self.source(guard.source), self.source(guard.value))
        if guard.kind in EXISTENCE:
            assert isinstance(guard.source, Attribute)
            base = self.source(guard.source.base)
            return _TESTS[guard.kind].format(base, repr(guard.source.name))
        wanted = parts_of(guard.value) if guard.kind == "code" else guard.value
        return _TESTS[guard.kind].format(self.source(guard.source), self.constant(wanted))


def fetch(source: Source | None, bound: dict[str, Any], function: FunctionType) -> Any:
    """Evaluates a source for the arguments of a call."""
    match source:
        case None:
            return function
        case Arg(name):
            return bound[name]
        case Global(name, owner):
            return global_of(fetch(owner, bound, function), name)
        case Closure(name, owner):
            return closure_of(fetch(owner, bound, function), name)
        case Default(name, owner):
            return default_of(fetch(owner, bound, function), name)
        case Attribute(base, name):
            return getattr(fetch(base, bound, function), name)
        case Item(base, key):
            return fetch(base, bound, function)[key]
        case TensorMemory(base):
            return _lend()(fetch(base, bound, function))
        case Codes(base):
            return _codes()(fetch(base, bound, function))
        case AddressOf(base):
            return id(fetch(base, bound, function))
        case ObjectWords(name):
            return words_of(name)


def written(
    tensors: tuple[Source, ...], bound: dict[str, Any], function: FunctionType
) -> None:
    """Tells autograd that a call has changed some tensors."""
    for source in tensors:
        from npcompile.tensors import tensor_memory

        tensor_memory.written(fetch(source, bound, function))


def same_constant(a: Any, b: Any) -> bool:
    """Whether two constants can stand for one another: same types, same values, same signs of
    zeros, same order."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, (tuple, frozenset)):
        return len(a) == len(b) and all(map(same_constant, a, b))
    if isinstance(a, float):
        return bool(a.hex() == b.hex())
    if isinstance(a, (complex, range)):
        names = ("real", "imag") if isinstance(a, complex) else ("start", "stop", "step")
        return all(same_constant(getattr(a, name), getattr(b, name)) for name in names)
    return bool(a == b)


# ------------------------------------------------------------------ leaves


def accepts(trace: Outline, values: tuple[Any, ...]) -> bool:
    """Whether leaf values have the types, layouts and sizes that the trace is valid for."""
    if not all(map(_leaf, trace.leaves, values)) or _conflicts(trace, values):
        return False
    known = bind_sizes(trace, values)
    return known is not None and all(guard.holds(known.__getitem__) for guard in trace.predicates)


def overlaps(trace: Outline, values: tuple[Any, ...]) -> bool:
    """Whether leaf values have the types and layouts, but one that is written is read-only or
    shares memory: every version would be left."""
    return all(map(_leaf, trace.leaves, values)) and _conflicts(trace, values)


def _conflicts(trace: Outline, values: tuple[Any, ...]) -> bool:
    if not trace.written:
        return False
    others = {k: value for k, (leaf, value) in enumerate(zip(trace.leaves, values))
              if not isinstance(leaf.source, ObjectWords)}
    return any(_conflict(others, index) for index in trace.written)


def _leaf(leaf: Leaf, value: Any) -> bool:
    kind = leaf.type
    if isinstance(kind, Opaque):
        return type(value) is kind.python_type
    if isinstance(kind, Scalar):
        if type(value) is not (kind.python_type if kind.origin == "py" else kind.dtype.type):
            return False
        return type(value) is not int or -(2**63) <= value < 2**63
    assert isinstance(kind, Array)
    return bool(
        type(value) is np.ndarray
        and value.dtype == kind.dtype
        and value.dtype.isnative
        and value.ndim == kind.ndim
        and value.flags.aligned
        and (value.flags.c_contiguous or not leaf.contiguous)
        and not any(s % value.dtype.itemsize for s in value.strides)
    )


def bind_sizes(trace: Outline, values: tuple[Any, ...]) -> dict[Symbol, int] | None:
    """The symbols' values in a call, or None if a fixed length or stride differs."""
    known: dict[Symbol, int] = {}
    pairs: list[tuple[Size, int]] = []
    for name, leaf, value in zip(trace.symbols, trace.leaves, values):
        if name is not None:
            known[name] = int(value)
        if isinstance(leaf.type, Array):
            pairs += zip(leaf.type.shape, value.shape)
            if not leaf.contiguous:
                unit = value.dtype.itemsize
                pairs += [(size, s // unit) for size, s in zip(leaf.type.strides, value.strides)]
    for size, actual in pairs:
        name = lone_symbol(size)
        if name is not None:
            known.setdefault(name, actual)
    if any(evaluate(size, known.__getitem__) != actual for size, actual in pairs):
        return None
    return known


def _conflict(values: dict[int, Any], written: int) -> bool:
    """Whether a written array is read-only or shares memory with another parameter."""
    target = values[written]
    return not target.flags.writeable or any(
        index != written and isinstance(other, np.ndarray) and np.may_share_memory(target, other)
        for index, other in values.items()
    )
