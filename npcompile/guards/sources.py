"""Where a traced value comes from: how to find it again at each call, and how to guard it.

::

    source ::= Arg(name) | Global(name) | ClosureCell(function source, name)
             | Attribute(source, name) | Item(source, key) | Memory(source) | Codes(source)
             | Address(source) | Words(name)
    guard  ::= source is object | source == value | type(source) is class | len(source) == n
             | code of function source is code
"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeGuard

from npcompile.core.records import field, record

if TYPE_CHECKING:
    from npcompile.core.errors import Refusal
    from npcompile.graph.ir import Graph
    from npcompile.graph.types import Array, Opaque, Scalar


@record
class Arg:
    """A bound argument of the decorated function, by parameter name; ``position`` is its place
    among the parameters.  ``*args`` and ``**kwargs`` are one argument each."""

    name: str
    position: int


@record
class Global:
    """A global name (or builtin) of ``owner``'s module; None: the decorated function's."""

    name: str
    owner: Source | None = None


@record
class Closure:
    """The contents of a closure cell of ``owner`` (None: the decorated function)."""

    name: str
    owner: Source | None = None


@record
class Attribute:
    base: Source
    name: str


@record
class Item:
    base: Source
    key: Any


@record
class TensorMemory:
    """The memory of a torch tensor as an array, or the image of an array of CuPy's."""

    base: Source


@record
class Codes:
    """The code points of a string, or the numbers in a bytes object, as an array."""

    base: Source


@record
class AddressOf:
    """Where an object lies, as an int."""

    base: Source


@record
class ObjectWords:
    """An array by which programs read objects, see
    :mod:`npcompile.runtime.unsafe.object_memory`."""

    name: str


@record
class Default:
    """A default value of ``owner``: of the parameter ``name``."""

    name: str
    owner: Source | None = None


Source = (
    Arg
    | Global
    | Closure
    | Attribute
    | Item
    | TensorMemory
    | Codes
    | AddressOf
    | ObjectWords
    | Default
)


def is_given(source: Source | None) -> TypeGuard[Source]:
    """Whether it is an argument or found in one."""
    while isinstance(source, (Attribute, Item, TensorMemory, Codes, AddressOf)):
        source = source.base
    return isinstance(source, Arg)


@record(eq=False)
class Guard:
    """``kind``: ``is`` (identity), ``equal`` (same type and ==), ``type`` (class identity),
    ``length``, ``most`` (it is no longer than that), ``keys`` (of a dict, in order), ``code`` (a
    function's code object and defaults), ``flags`` (its class has none of them);
    ``same`` and ``apart``: identity with what another source holds; ``present`` and ``absent``:
    whether there is an attribute."""

    source: Source
    kind: str
    value: Any


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


def defaults(function: FunctionType) -> dict[str, Any]:
    """The default values of a function's parameters, by name."""
    values, code = function.__defaults__ or (), function.__code__
    names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    return dict(zip(names, values)) | (function.__kwdefaults__ or {})
