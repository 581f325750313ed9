"""Where a traced value comes from: a source finds the value again at each call.

::

    source ::= Arg(name) | Global(name) | Closure(name) | Default(name)   of a function, which has
             | Attribute(source, name) | Item(source, key)                a source as well
             | TensorMemory(source) | Codes(source) | AddressOf(source) | ObjectWords(name)

A class of sources says how its value is computed from what it is found in (``of``), how it is
written as Python text (``expression``) and as the user knows it (``text``), and which words of
memory change with it (``watch``) or which instructions read it (``read`` and ``emit``).  Whatever a
class leaves out is read by Python, at each call.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

from npcompile.core.records import field, record
from npcompile.runtime.unsafe import version_tags
from npcompile.runtime.unsafe.version_tags import Unwatchable

if TYPE_CHECKING:
    from npcompile.core.errors import Refusal
    from npcompile.graph.ir import Graph
    from npcompile.graph.types import Array, Opaque, Scalar
    from npcompile.guards.binding import Steps, WatchedWords
    from npcompile.guards.kinds import Guard
    from npcompile.guards.matching import Expressions

#: what reading a source raises where it leads to nothing
ABSENT = (KeyError, AttributeError, IndexError, TypeError, ValueError)
_MISSING = object()


@record(eq=False)
class Roots:
    """What sources begin at: the called function and its bound arguments, and functions that
    objects have by their classes, if they are looked up there and not in the objects."""

    function: types.FunctionType
    arguments: Mapping[str, Any]
    methods: Mapping[Source | None, Any] = field(default_factory=dict)

    def value(self, source: Source | None) -> Any:
        """What a source holds; the function itself for None."""
        if source is None:
            return self.function
        if source in self.methods:
            return self.methods[source].function
        return source.fetch(self)


class Source:
    """A place from which a value of the trace was read."""

    __slots__ = ()
    base: Source | None = None  # what it is read from, if that is data and no function
    needs_object = True  # whether :meth:`emit` looks for an object of the entry's state

    @property
    def root(self) -> Source:
        """The source at which this one begins."""
        found = self
        while found.base is not None:
            found = found.base
        return found

    def of(self, base: Any) -> Any:
        """The value, computed from that of ``base``, or of the function that ``owner`` leads to."""
        raise NotImplementedError

    def fetch(self, roots: Roots) -> Any:
        """The value in a call."""
        return self.of(roots.value(self.base))

    def text(self) -> str:
        """The source as the user would write it."""
        raise NotImplementedError

    def told(self) -> str:
        """The source in a sentence."""
        return self.text()

    def expression(self, w: Expressions) -> str:
        """A Python expression for the value."""
        return f"{w.constant(self.of)}({w.source(self.base)})"

    def watch(self, words: WatchedWords, value: bool) -> None:
        """Adds the words that change with the value, or (not ``value``) with its address."""
        raise Unwatchable("an item of a container")

    def address(self, roots: Roots) -> int | None:
        """Where a pointer to the value lies; None: nowhere that lasts."""
        return None

    def read(self, steps: Steps) -> None:
        """Adds a step that reads the value from an argument."""
        raise Unwatchable("what only Python can read")

    @classmethod
    def emit(cls, code: Any, thing: str, number: int) -> None:
        """Writes the step in machine code, see :class:`npcompile.guards.binding.AccessStep`."""
        raise NotImplementedError

    def leaf_place(self, steps: Steps) -> tuple[str, int]:
        """The kind of place where an entry finds the value, and its index there; a variable's is
        yet to be chosen."""
        if isinstance(self.root, Arg):
            return "read", ~steps.place(self)
        return "variable", -1


@record
class Arg(Source):
    """A bound argument of the decorated function, by parameter name; ``position`` is its place
    among the parameters.  ``*args`` and ``**kwargs`` are one argument each."""

    name: str
    position: int

    def fetch(self, roots: Roots) -> Any:
        return roots.arguments[self.name]

    def text(self) -> str:
        return self.name

    def expression(self, w: Expressions) -> str:
        return f"b[{self.name!r}]"

    def leaf_place(self, steps: Steps) -> tuple[str, int]:
        return "argument", self.position


class FunctionSource(Source):
    """What a function holds under a name; ``owner`` None: the decorated function."""

    __slots__ = ()
    name: str
    owner: Source | None

    def fetch(self, roots: Roots) -> Any:
        return self.of(roots.value(self.owner))

    def text(self) -> str:
        return self.name

    def expression(self, w: Expressions) -> str:
        return f"{w.constant(self.of)}({w.source(self.owner)})"


@record
class Global(FunctionSource):
    """A global name (or builtin) of ``owner``'s module."""

    name: str
    owner: Source | None = None

    def of(self, base: Any) -> Any:
        found = base.__globals__.get(self.name, _MISSING)
        return getattr(builtins, self.name) if found is _MISSING else found

    def watch(self, words: WatchedWords, value: bool) -> None:
        table = words.held(self.owner).__globals__
        words.names(table, self.name if value else None)
        if value and self.name not in table:
            words.names(vars(builtins), self.name)

    def address(self, roots: Roots) -> int | None:
        return version_tags.name_address(roots.value(self.owner).__globals__, self.name)


@record
class Closure(FunctionSource):
    """The contents of a closure cell of ``owner``."""

    name: str
    owner: Source | None = None

    def of(self, base: Any) -> Any:
        return self._cell(base).cell_contents

    def watch(self, words: WatchedWords, value: bool) -> None:
        function = words.held(self.owner)
        if value:
            words.add(version_tags.of_cell(self._cell(function)))

    def address(self, roots: Roots) -> int | None:
        return version_tags.cell_address(self._cell(roots.value(self.owner)))

    def _cell(self, function: Any) -> types.CellType:
        cell: types.CellType = function.__closure__[function.__code__.co_freevars.index(self.name)]
        return cell


@record
class Default(FunctionSource):
    """A default value of ``owner``: of the parameter ``name``."""

    name: str
    owner: Source | None = None

    def of(self, base: Any) -> Any:
        return defaults(base)[self.name]

    def told(self) -> str:
        return f"the default of {self.name}"

    def watch(self, words: WatchedWords, value: bool) -> None:
        words.function(words.held(self.owner))


@record
class Attribute(Source):
    """An attribute of an object."""

    base: Source
    name: str

    def of(self, base: Any) -> Any:
        return getattr(base, self.name)

    def text(self) -> str:
        return f"{self.base.text()}.{self.name}"

    def told(self) -> str:
        return f"{self.base.told()}.{self.name}"

    def expression(self, w: Expressions) -> str:
        return f"{w.source(self.base)}.{self.name}"

    def watch(self, words: WatchedWords, value: bool) -> None:
        thing = words.held(self.base)
        if not isinstance(thing, types.ModuleType):
            words.class_attribute(thing, self.name)
        elif type(thing) is types.ModuleType and self.name in vars(thing):
            words.names(vars(thing), self.name)
        else:
            raise Unwatchable("an attribute that a module's code gives")

    def read(self, steps: Steps) -> None:
        steps.read_attribute(self.base, self.name)

    @classmethod
    def emit(cls, code: Any, thing: str, number: int) -> None:
        code.read("PyObject_GetAttr", thing)


@record
class Item(Source):
    """An item of a container."""

    base: Source
    key: Any

    def of(self, base: Any) -> Any:
        return base[self.key]

    def text(self) -> str:
        return f"{self.base.text()}[{self.key!r}]"

    def told(self) -> str:
        if isinstance(self.base, Attribute) and self.base.name == "__dict__":
            return f"{self.base.base.told()}.{self.key}"
        return f"{self.base.told()}[{self.key!r}]"

    def expression(self, w: Expressions) -> str:
        return f"{w.source(self.base)}[{w.constant(self.key)}]"

    def watch(self, words: WatchedWords, value: bool) -> None:
        if type(words.held(self.base)) is not tuple:  # while that is the same one, its items are
            raise Unwatchable("an item of a container")

    def read(self, steps: Steps) -> None:
        steps.read_item(self.base, self.key)

    @classmethod
    def emit(cls, code: Any, thing: str, number: int) -> None:
        code.read("PyObject_GetItem", thing)


class DerivedSource(Source):
    """A value that is computed from an object, whose name it has."""

    __slots__ = ()
    base: Source

    def text(self) -> str:
        return self.base.text()

    def told(self) -> str:
        return self.base.told()


@record
class TensorMemory(DerivedSource):
    """The memory of a torch tensor as an array, or the image of an array of CuPy's."""

    base: Source

    def of(self, base: Any) -> Any:
        from npcompile.tensors.tensor_memory import lend  # few calls are of tensors

        return lend(base)

    def leaf_place(self, steps: Steps) -> tuple[str, int]:
        if isinstance(self.base, Arg):
            return "lent", self.base.position
        return Source.leaf_place(self, steps)


@record
class Codes(DerivedSource):
    """The code points of a string, or the numbers in a bytes object, as an array."""

    base: Source

    def of(self, base: Any) -> Any:
        from npcompile.graph.texts import codes  # few calls are of strings

        return codes(base)


@record
class AddressOf(DerivedSource):
    """Where an object lies, as an int."""

    base: Source

    def of(self, base: Any) -> Any:
        return id(base)

    def leaf_place(self, steps: Steps) -> tuple[str, int]:
        return "address", steps.place(self.base)


@record
class ObjectWords(Source):
    """An array by which programs read objects, see
    :mod:`npcompile.runtime.unsafe.object_memory`."""

    name: str

    def fetch(self, roots: Roots) -> Any:
        return self._words()

    def text(self) -> str:
        return self.name

    def expression(self, w: Expressions) -> str:
        return w.constant(self._words())

    def watch(self, words: WatchedWords, value: bool) -> None:
        """Nothing changes it."""

    def _words(self) -> Any:
        from npcompile.runtime.unsafe.object_memory import words  # few calls are of lists

        return words(self.name)


def is_given(source: Source | None) -> TypeGuard[Source]:
    """Whether it is an argument or found in one."""
    return source is not None and isinstance(source.root, Arg)


@record
class Leaf:
    """One parameter of the graph: an array, a number or an object, and where it comes from.

    ``contiguous``: an array that must be C-contiguous (its strides follow from its shape);
    otherwise every stride that is no lone symbol must equal what ``type.strides`` says.
    """

    source: Source
    type: Array | Scalar | Opaque
    contiguous: bool = True


@record(eq=False, frozen=False)
class Trace:
    """A traced function: ``graph.params[i]`` is ``leaves[i]``; valid while ``guards`` hold.

    ``code`` is the code object of the decorated function; ``graph_breaks`` says where Python
    executes what can't be compiled, and why; ``device``: arrays are CuPy's.
    """

    graph: Graph
    leaves: list[Leaf]
    guards: list[Guard]
    notes: list[str]
    code: Any = None
    graph_breaks: Mapping[int, Refusal] = field(default_factory=dict)
    device: bool = False


def defaults(function: types.FunctionType) -> dict[str, Any]:
    """The default values of a function's parameters, by name."""
    values, code = function.__defaults__ or (), function.__code__
    names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    return dict(zip(names, values)) | (function.__kwdefaults__ or {})
