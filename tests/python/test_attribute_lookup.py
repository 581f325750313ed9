"""What objects and classes are asked for: attributes that come and go, classes that answer by code
of their own, subclasses of text and enumerations, the state of the interpreter."""

from __future__ import annotations

import collections
import enum
import sys
import typing
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from npcompile import jit
from tests.fuzz import operator_methods
from tests.fuzz.framework import checked
from tests.support import oracle

#: a function, its arguments, and what happens between its calls
Case = tuple[Callable[..., Any], tuple[Any, ...], list[Callable[[], Any]]]
CASES: list[Callable[[], Case]] = []
STATE = [1.0]


def case(made: Callable[[], Case]) -> Callable[[], Case]:
    CASES.append(made)
    return made


@case
def attribute_of_a_class_comes_and_goes() -> Case:
    class C:
        pass

    def f(c: Any) -> Any:
        return hasattr(c, "x"), hasattr(C, "x"), getattr(c, "x", 2.0), getattr(C, "x", 3.0)

    c = C()
    return f, (c,), [lambda: setattr(C, "x", 1.0), lambda: setattr(c, "x", 4.0),
                     lambda: delattr(C, "x"), lambda: delattr(c, "x")]


@case
def attribute_of_the_class_of_an_object_that_is_made() -> Case:
    class C:
        def __init__(self, y: float) -> None:
            self.y = y

    def f(y: float) -> Any:
        return hasattr(C(y), "x"), hasattr(C(y), "y"), getattr(C(y), "x", 2.0)

    return f, (1.5,), [lambda: setattr(C, "x", 1.0), lambda: delattr(C, "x")]


@case
def slot_that_is_empty() -> Case:
    class C:
        __slots__ = ("x",)

    def f(c: Any) -> Any:
        return hasattr(c, "x"), getattr(c, "x", 2.0)

    c: Any = C()
    return f, (c,), [lambda: setattr(c, "x", 3.0), lambda: delattr(c, "x")]


@case
def property_that_raises() -> Case:
    class C:
        @property
        def x(self) -> float:
            if STATE[0] > 1:
                raise AttributeError
            return STATE[0]

    def f(c: Any) -> Any:
        return hasattr(c, "x"), getattr(c, "x", 2.0)

    return f, (C(),), [lambda: STATE.__setitem__(0, 2.0), lambda: STATE.__setitem__(0, 0.5)]


@case
def text_of_a_class_with_attributes() -> Case:
    class Text(str):
        x: float

        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = str.__hash__

    def f(s: Any) -> Any:
        return s.x + 1.0, s == "b", s != "a"

    s = Text("a")
    s.x = 1.0
    return f, (s,), [lambda: setattr(s, "x", 5.0)]


@case
def attributes_and_properties_of_members() -> Case:
    class E(enum.Enum):
        A = 1

        def __init__(self, value: int) -> None:
            self.k = 2.0

        @property
        def g(self) -> float:
            return STATE[0]

        def h(self) -> float:
            return STATE[0] * 2

    def f(e: Any) -> Any:
        return e.k + 1.0, e.g + 1.0, e.h(), e.value, e.name

    return f, (E.A,), [lambda: setattr(E.A, "k", 5.0), lambda: STATE.__setitem__(0, 7.0)]


@case
def members_that_are_text() -> Case:
    class E(str, enum.Enum):  # noqa: UP042
        A = "a"
        B = "b"

    def f(e: Any, x: float) -> Any:
        return e == "a", "b" != e, e in ("a", "c"), e == E.A, e == None, e == x  # noqa: E711, SIM300

    return f, (E.A, 1.5), []


@case
def equal_to_none() -> Case:
    class C:
        def __eq__(self, other: object) -> bool:
            return STATE[0] > 0

        __hash__ = None  # type: ignore[assignment]

    class D:
        def __init__(self) -> None:
            self.x = 1.0

        def __eq__(self, other: Any) -> bool:
            return bool(self.x == other.x)

    def f(c: Any, d: Any, x: float) -> Any:
        first = c == None, None != c, c == "a", x == None  # noqa: E711, SIM300
        return first, d == None  # noqa: E711

    return f, (C(), D(), 1.5), []


@case
def classes_that_answer_for_objects() -> Case:
    class Meta(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return bool(getattr(instance, "ok", True))

    class C(metaclass=Meta):
        pass

    class D:
        ok = True

    def f(x: float, d: Any) -> Any:
        return isinstance(x, C), isinstance(d, C), isinstance(d, (int, C))

    d = D()
    return f, (1.5, d), [lambda: setattr(d, "ok", False)]


@case
def objects_that_name_another_class() -> Case:
    class C:
        @property
        def __class__(self) -> Any:
            return float

    def f(c: Any) -> Any:
        return isinstance(c, float), isinstance(c, (int, C)), type(c) is C

    return f, (C(),), []


@case
def stand_ins() -> Case:
    class C:
        x = 1.0

    held = C()

    def f(p: Any) -> Any:
        return isinstance(p, C), type(p) is C, hasattr(p, "x"), hasattr(p, "y"), p.x + held.x

    return f, (weakref.proxy(held),), [lambda: setattr(held, "y", 1.0)]


@case
def objects_of_pythons_own_classes() -> Case:
    def f(v: Any, d: Any, s: str, x: float) -> Any:
        asked = hasattr(v, "shape"), hasattr(d, "keys"), hasattr(s, "upper"), hasattr(x, "ndim")
        return asked, getattr(v, "shape", 2.0), hasattr(len, "x")

    return f, ([1.0], {"a": 1.0}, "s", 1.5), []


@case
def protocols() -> Case:
    @typing.runtime_checkable
    class HasX(typing.Protocol):
        x: float

    class C:
        def __init__(self) -> None:
            self.x = 1.0

    def f(c: Any, n: float) -> Any:
        return isinstance(c, HasX), isinstance(n, int | float), isinstance(c, HasX | float)

    c = C()
    return f, (c, 1.5), [lambda: delattr(c, "x")]


@case
def state_of_the_interpreter() -> Case:
    usual, name = sys.stdout, "npcompile_of_no_use"
    sys.modules.pop(name, None)

    def f() -> Any:
        return len(sys.argv), name in sys.modules, sys.stdout is sys.__stdout__

    def away() -> None:
        sys.stdout = sys.__stderr__

    def back() -> None:
        sys.stdout = usual

    return f, (), [lambda: sys.argv.append("x"), lambda: sys.argv.pop(), away, back,
                   lambda: sys.modules.__setitem__(name, sys), lambda: sys.modules.pop(name)]


@case
def tuples_with_fields_of_their_own() -> Case:
    class P(collections.namedtuple("P", "x y")):
        @property
        def x(self) -> float:  # type: ignore[override]
            return 5.0

    def f(p: Any) -> Any:
        return p.x + p[0], isinstance(p, tuple)

    return f, (P(1.0, 2.0),), []


@case
def attributes_made_when_asked() -> Case:
    class P:
        def __init__(self) -> None:
            self.known: Any = None
            self.asked: list[str] = []

        def __getattr__(self, name: str) -> Any:
            self.asked.append(name)
            if name in self.known:
                return 1.0
            raise AttributeError(name)

    p = P()

    def f(x: float) -> Any:
        return hasattr(p, "known"), p.asked, x * 2

    return f, (1.5,), []


@case
def special_methods_of_a_class_that_come_and_go() -> Case:
    class Base:
        pass

    class C(Base):
        k = 2.0

        def __init__(self, x: float) -> None:
            self.x = x

        def double(self) -> float:
            return self.x * 2

    def f(c: Any, y: float) -> Any:
        made = C(y)
        equal = c == None, c == c  # noqa: E711
        return c.x + y, bool(c), equal, c.double(), c.k, made.x, bool(made), made.double()

    kind: Any = C
    own_init = C.__init__
    return f, (C(1.5), 2.5), [
        lambda: setattr(C, "double", lambda self: self.x * 3),
        lambda: setattr(C, "__eq__", lambda self, other: False),
        lambda: setattr(Base, "__bool__", lambda self: False),
        lambda: setattr(C, "k", 3.0), lambda: setattr(C, "k", "text"),
        lambda: setattr(C, "x", property(lambda self: 7.0, lambda self, value: None)),
        lambda: delattr(C, "x"), lambda: delattr(Base, "__bool__"), lambda: delattr(C, "__eq__"),
        lambda: setattr(C, "__getattribute__", lambda self, name: 4.0),
        lambda: delattr(C, "__getattribute__"),
        lambda: setattr(C, "__init__", lambda self, x: setattr(self, "x", x + 1)),
        lambda: setattr(C, "__init__", own_init),
        lambda: setattr(C, "__new__", lambda cls, x: object.__new__(cls)),
        lambda: setattr(kind, "__bases__", (type("Other", (Base,), {"__len__": lambda self: 0}),)),
    ]


@pytest.mark.parametrize("first", range(0, 20, 10))
def test_random_answers(first: int) -> None:
    checked(operator_methods.GRAMMAR, range(first, first + 10))


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("first", range(1000, 2000, 200))
def test_many_random_answers(first: int) -> None:
    checked(operator_methods.GRAMMAR, range(first, first + 200))


def observed(made: Callable[[], Case], wrap: Callable[[Any], Any]) -> list[oracle.Outcome]:
    """What two calls give, and one after each thing that happens."""
    STATE[0] = 1.0
    function, args, events = made()
    called, found = wrap(function), []
    for event in (None, None, *events):
        if event is not None:
            event()
        found.append(oracle.observe(called, *args))
    return found


@pytest.mark.parametrize("made", CASES, ids=lambda made: made.__name__)
def test_as_in_python(made: Callable[[], Case]) -> None:
    for got, want in zip(observed(made, jit), observed(made, lambda f: f), strict=True):
        oracle.check(got, want)
