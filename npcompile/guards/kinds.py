"""The kinds of guards: conditions on values from outside under which a trace is right.

::

    guard ::= value is object | value == constant | type(value) is class | len(value) == n | ...

A guard is a source, what its value is compared with, and a class, which is all that there is to a
kind: the test in Python (``form`` or ``test``) and in machine code (``step`` and ``emit``), the
words of memory that change when a guard on globals may fail (``watch``), the sentence (``text``),
and what of the value other processes find by the source (``recorded``).  Where there is no test in
machine code, Python tests at each call: slower, but right.
"""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.records import record
from npcompile.guards.sources import Attribute, Source
from npcompile.runtime.unsafe.version_tags import Unwatchable

if TYPE_CHECKING:
    from npcompile.guards.binding import Steps, WatchedWords
    from npcompile.guards.matching import Expressions

_EQUAL = 2  # Py_EQ
_CONTAINERS = (list, tuple, dict)
_PLAIN = (int, str, bytes)  # where == is :func:`.matching.same_constant`
#: constants that are one object, so that ``==`` is ``is``
_SINGLE = (type(None), bool, type(Ellipsis), type(NotImplemented))
_LASTING = (
    ModuleType, type, BuiltinFunctionType, np.ufunc, np.dtype, type(None), type(Ellipsis), str,
    bytes, bool, int, float, complex,
)


class Guard:
    """A condition on the value of a source; ``value`` is what it is compared with."""

    __slots__ = ()
    source: Source
    value: Any = None
    form = ""  # the test as Python text over the source's value and ``value``
    #: as what another process finds ``value`` by the source (``version_lookup.py``), ``"value"`` or
    #: ``"type"``; nothing: it is data
    recorded = ""
    needs_object = False  # whether :meth:`emit` looks for an object of the entry's state

    def test(self, w: Expressions) -> str:
        """A Python expression that is true where the guard holds."""
        return self.form.format(w.source(self.source), w.constant(self.value))

    def step(self, steps: Steps) -> None:
        """Adds the machine code's test of what an argument leads to."""
        raise Unwatchable("what only Python can compare")

    @classmethod
    def emit(cls, code: Any, thing: str, number: int) -> None:
        """Writes the test in machine code, see :class:`npcompile.guards.binding.AccessStep`."""
        raise NotImplementedError

    def watch(self, words: WatchedWords) -> None:
        """Adds the words that change when the guard may no longer hold."""
        words.held(self.source)

    def text(self) -> str:
        """The guard as a sentence."""
        text = getattr(self.value, "__name__", None) or repr(self.value)
        return f"{self.source.told()} is {text if len(text) < 60 else text[:57] + '...'}"

    @property
    def is_name(self) -> bool:
        """Whether it says that a name stands for a module, a function or a class."""
        return False

    @property
    def held_class(self) -> Any:
        """The class of the object that it was made for."""
        return type(self.value)

    @property
    def rests_on(self) -> type | None:
        """The class that must stay what it is."""
        return None

    @property
    def lasts(self) -> bool:
        """Whether it may hold for other functions of the same code, and keeps nothing of this
        one's alive."""
        return True


@record(eq=False)
class IdentityGuard(Guard):
    """The value is this very object."""

    source: Source
    value: Any
    form = "{} is {}"
    recorded = "value"
    needs_object = True

    def step(self, steps: Steps) -> None:
        steps.identical(self.source, self.value)

    @classmethod
    def emit(cls, code: Any, thing: str, number: int) -> None:
        code.require("eq", "ptr", thing, code.known())

    @property
    def is_name(self) -> bool:
        return callable(self.value) or isinstance(self.value, ModuleType)

    @property
    def rests_on(self) -> type | None:
        kind: type = self.value if isinstance(self.value, type) else type(self.value)
        return kind

    @property
    def lasts(self) -> bool:
        if isinstance(self.value, FunctionType):
            return not self.value.__closure__
        return isinstance(self.value, _LASTING)


@record(eq=False)
class EqualityGuard(Guard):
    """The value has the same type and is equal, see :func:`.matching.same_constant`."""

    source: Source
    value: Any
    form = "same_constant({}, {})"
    needs_object = True

    def step(self, steps: Steps) -> None:
        if isinstance(self.value, _SINGLE):
            steps.identical(self.source, self.value)
        elif type(self.value) in _PLAIN:
            place = steps.place(self.source)
            steps.class_at(place, type(self.value))
            steps.add(EqualityGuard, place, self.value)
        else:
            raise Unwatchable("what only Python can compare")

    @classmethod
    def emit(cls, code: Any, thing: str, number: int) -> None:
        args = (("ptr", thing), ("ptr", code.known()), ("i32", _EQUAL))
        same = code.call("i32", "PyObject_RichCompareBool", *args)
        code.require("eq", "i32", same, 1, "unread")

    def watch(self, words: WatchedWords) -> None:
        if isinstance(words.held(self.source), (list, dict, set)):
            raise Unwatchable("a container that may change")


@record(eq=False)
class ClassGuard(Guard):
    """The value is of this very class."""

    source: Source
    value: Any
    form = "type({}) is {}"
    recorded = "type"
    needs_object = True

    def step(self, steps: Steps) -> None:
        if not steps.is_leaf(self.source):  # whose own test says as much
            steps.of_class(self.source)

    @classmethod
    def emit(cls, code: Any, thing: str, number: int) -> None:
        code.require("eq", "ptr", code.class_of(thing), code.known())

    def watch(self, words: WatchedWords) -> None:
        words.class_held(self.source)

    def text(self) -> str:
        return f"{self.source.told()} is a {self.value.__name__}"

    @property
    def held_class(self) -> Any:
        return self.value

    @property
    def rests_on(self) -> Any:
        return self.value


@record(eq=False)
class FlagsGuard(Guard):
    """The value's class has none of these flags."""

    source: Source
    value: Any
    form = "not type({}).__flags__ & {}"

    def step(self, steps: Steps) -> None:
        steps.compare(FlagsGuard, steps.place(self.source), self.value)

    @classmethod
    def emit(cls, code: Any, thing: str, number: int) -> None:
        code.require("eq", "i64", code.flags_of(code.class_of(thing), number), 0)

    def watch(self, words: WatchedWords) -> None:
        words.class_held(self.source)

    def text(self) -> str:
        return f"{self.source.told()} is a number, a string, an array or None"


class SizeGuard(Guard):
    """A guard on how long a container is."""

    __slots__ = ()
    relation = ""  # of the length to the value, in LLVM's words

    def step(self, steps: Steps) -> None:
        if steps.class_of(self.source) not in _CONTAINERS:
            raise Unwatchable("what only Python can compare")
        steps.compare(type(self), steps.of_class(self.source), self.value)

    @classmethod
    def emit(cls, code: Any, thing: str, number: int) -> None:
        size = code.call("i64", "PyObject_Size", ("ptr", thing))
        code.require(cls.relation, "i64", size, number, "unread")

    def watch(self, words: WatchedWords) -> None:
        if type(words.held(self.source)) is not tuple:
            raise Unwatchable("a container that may change")


@record(eq=False)
class LengthGuard(SizeGuard):
    """The value has so many items."""

    source: Source
    value: Any
    form = "len({}) == {}"
    relation = "eq"

    def text(self) -> str:
        return f"{self.source.told()} has the length {self.value!r}"


@record(eq=False)
class LongestGuard(SizeGuard):
    """The value has at most so many items."""

    source: Source
    value: Any
    form = "len({}) <= {}"
    relation = "sle"

    def text(self) -> str:
        return f"{self.source.told()} has at most {self.value} items"


@record(eq=False)
class KeysGuard(Guard):
    """A dictionary has these keys, in this order."""

    source: Source
    value: Any
    form = "same_constant(tuple({}), {})"

    def watch(self, words: WatchedWords) -> None:
        raise Unwatchable("a container that may change")

    def text(self) -> str:
        return f"{self.source.told()} has the keys {self.value!r}"


@record(eq=False)
class FunctionGuard(Guard):
    """A function has this one's code and defaults."""

    source: Source
    value: Any
    recorded = "value"

    def test(self, w: Expressions) -> str:
        args = w.source(self.source), w.constant(_parts(self.value))
        return f"{w.constant(_has_parts)}({', '.join(args)})"

    def step(self, steps: Steps) -> None:
        steps.method(self.source, self.value)

    def watch(self, words: WatchedWords) -> None:
        words.function(words.held(self.source))

    def text(self) -> str:
        return f"{self.source.told()} is the same function"


class RelationGuard(Guard):
    """A guard on the values of two sources."""

    __slots__ = ()
    relation, word = "", ""  # of their addresses, in LLVM's words and in Python's

    def test(self, w: Expressions) -> str:
        return f"{w.source(self.source)} {self.word} {w.source(self.value)}"

    def text(self) -> str:
        return f"{self.source.told()} {self.word} {self.value.told()}"

    def step(self, steps: Steps) -> None:
        steps.compare(type(self), steps.place(self.source), steps.place(self.value))

    @classmethod
    def emit(cls, code: Any, thing: str, number: int) -> None:
        code.require(cls.relation, "ptr", thing, code.place(number))

    def watch(self, words: WatchedWords) -> None:
        raise Unwatchable("objects that are compared with each other")


@record(eq=False)
class SameGuard(RelationGuard):
    """Two sources hold one object; ``value`` is the other source."""

    source: Source
    value: Source
    relation, word = "eq", "is"


@record(eq=False)
class ApartGuard(RelationGuard):
    """Two sources hold different objects; ``value`` is the other source."""

    source: Source
    value: Source
    relation, word = "ne", "is not"


@record(eq=False)
class PresenceGuard(Guard):
    """There is an attribute, or (not ``value``) there is none."""

    source: Attribute
    value: bool

    def test(self, w: Expressions) -> str:
        found = f"hasattr({w.source(self.source.base)}, {self.source.name!r})"
        return found if self.value else f"not {found}"

    def watch(self, words: WatchedWords) -> None:
        raise Unwatchable("attributes that may come and go")

    def text(self) -> str:
        has = "has" if self.value else "does not have"
        return f"{self.source.base.told()} {has} an attribute {self.source.name}"


def _parts(function: FunctionType) -> tuple[Any, ...]:
    """The parts of a function that determine its behaviour, apart from globals and closure."""
    return (function.__code__, function.__defaults__, function.__kwdefaults__)


def _has_parts(function: FunctionType, parts: tuple[Any, ...]) -> bool:
    """Whether a function still consists of these very objects."""
    code, defaults, named = parts
    return (function.__code__ is code and function.__defaults__ is defaults
            and function.__kwdefaults__ is named)
