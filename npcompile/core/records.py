"""Data classes that are quickly made, both the classes and their objects.

A :func:`record` is to a type checker what ``@dataclass(frozen=True)`` is.  When it runs it does
not watch over its fields, which would make objects five times as slow to create; its
``__init__`` is a template with other names or, where there is none, written when the first object
is made: most of a compiler's classes are not used by most functions that it compiles.  A class
takes 10 to 25 us to make, a data class 300 to 1000.

>>> @record
... class Point:
...     x: int
...     y: int = 0
>>> Point(1)
Point(x=1, y=0)
>>> replace(Point(1), y=2) == Point(1, 2)
True
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import get_annotations
from operator import attrgetter
from reprlib import recursive_repr
from types import FunctionType
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")
_MISSING: Any = object()


class _Field:
    """What is said of a field beyond its type."""

    def __init__(self, default: Any, factory: Any, compare: bool) -> None:
        self.default, self.factory, self.compare = default, factory, compare


@overload
def field(*, default: T, compare: bool = True) -> T: ...
@overload
def field(*, default_factory: Callable[[], T], compare: bool = True) -> T: ...


def field(
    *, default: Any = _MISSING, default_factory: Any = None, compare: bool = True
) -> Any:
    """A field of a record with a default value, or with what makes one for each object."""
    return _Field(default, default_factory, compare)


@overload
def record(made: type[T], /) -> type[T]: ...
@overload
def record(*, eq: bool = True, frozen: bool = True) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(made: Any = None, /, *, eq: bool = True, frozen: bool = True) -> Any:
    """A class of the annotated fields, in slots; ``eq``: equal where all fields are (but those that
    are not to be compared), else by identity; ``frozen``: fields stay what they are, which type
    checkers watch over."""
    return _record(made, eq) if made is not None else lambda named: _record(named, eq)


def field_names(value: object) -> tuple[str, ...] | None:
    """The fields of an object of a record or of a data class; None for anything else."""
    kind: Any = type(value)
    ours = hasattr(kind, "__record__") or hasattr(kind, "__dataclass_fields__")
    return kind.__match_args__ if ours else None


def replace(value: T, /, **changes: Any) -> T:
    """A copy of a record or a data class with other values in some fields."""
    fields = field_names(value)
    assert fields is not None, value
    made = type(value)(*[changes.pop(n) if n in changes else getattr(value, n) for n in fields])
    assert not changes, changes
    return made


def _record(named: type, eq: bool) -> type:
    notes = get_annotations(named)
    fields = tuple([name for name in notes if not str(notes[name]).startswith("ClassVar")])
    left_out = {*fields, "__dict__", "__weakref__"}
    body = {k: v for k, v in named.__dict__.items() if k not in left_out}
    given = {k: v for k, v in named.__dict__.items() if k in fields}
    body |= {"__slots__": fields, "__match_args__": fields, "__record__": True,
             "__qualname__": named.__qualname__}
    methods: dict[str, Any] = {"__repr__": _shown}
    if eq:
        read = _reader(tuple([f for f in fields if getattr(given.get(f), "compare", True)]))
        methods |= {"__eq__": _equal(read), "__hash__": lambda self: hash(read(self))}
    for name, method in methods.items():
        body.setdefault(name, method)

    def first(self: Any, *args: Any, **kwargs: Any) -> None:
        written = _init(fields, given)
        type.__setattr__(made, "__init__", written)
        written(self, *args, **kwargs)

    body["__init__"] = _from_template(fields, given) or first
    made = type(named)(named.__name__, named.__bases__, body)
    return made


def _1(self: Any, a: Any) -> None:
    self.a = a


def _2(self: Any, a: Any, b: Any) -> None:
    self.a = a
    self.b = b


def _3(self: Any, a: Any, b: Any, c: Any) -> None:
    self.a = a
    self.b = b
    self.c = c


def _4(self: Any, a: Any, b: Any, c: Any, d: Any) -> None:
    self.a = a
    self.b = b
    self.c = c
    self.d = d


def _5(self: Any, a: Any, b: Any, c: Any, d: Any, e: Any) -> None:
    self.a = a
    self.b = b
    self.c = c
    self.d = d
    self.e = e


_TEMPLATES = {len(made.__code__.co_names): made.__code__ for made in (_1, _2, _3, _4, _5)}


def _from_template(fields: tuple[str, ...], given: dict[str, Any]) -> Callable[..., None] | None:
    """An ``__init__`` that need not be compiled: that of as many fields, with their names."""
    template = _TEMPLATES.get(len(fields))
    values = [v.default if isinstance(v, _Field) else v for v in given.values()]
    last = tuple(given) == fields[len(fields) - len(given) :]
    if template is None or not last or any(v is _MISSING for v in values):
        return None
    code = template.replace(co_name="__init__", co_qualname="__init__",
                            co_varnames=("self", *fields), co_names=fields)
    return FunctionType(code, {}, "__init__", tuple(values))


def _init(fields: tuple[str, ...], given: dict[str, Any]) -> Callable[..., None]:
    """An ``__init__``; ``given`` are values of fields or what makes them."""
    params, lines = ["self"], []
    known: dict[str, Any] = {"MISSING": _MISSING}
    for name in fields:
        value: Any = given.get(name, _MISSING)
        if isinstance(value, _Field) and value.factory is not None:
            known[f"make_{name}"] = value.factory
            params.append(f"{name}=MISSING")
            lines.append(f" self.{name} = make_{name}() if {name} is MISSING else {name}")
            continue
        if isinstance(value, _Field):
            value = value.default
        if value is not _MISSING:
            known[f"default_{name}"] = value
        params.append(name if value is _MISSING else f"{name}=default_{name}")
        lines.append(f" self.{name} = {name}")
    source = f"def __init__({', '.join(params)}):\n" + "\n".join(lines or [" pass"])
    space: dict[str, Any] = {}
    exec(source, known, space)
    made: Callable[..., None] = space["__init__"]
    return made


def _reader(fields: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """What gives the values of the fields."""
    if len(fields) > 1:
        return attrgetter(*fields)
    if not fields:
        return lambda self: ()
    (read,) = map(attrgetter, fields)
    return lambda self: (read(self),)


def _equal(read: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, object], bool]:
    def equal(self: Any, other: object) -> bool:
        return read(self) == read(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


@recursive_repr()
def _shown(self: Any) -> str:
    values = [f"{name}={getattr(self, name)!r}" for name in type(self).__match_args__]
    return f"{type(self).__qualname__}({', '.join(values)})"
