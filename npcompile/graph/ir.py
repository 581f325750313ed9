"""Language 1: the tensor graph.

::

    graph  ::= params, region, results, facts
    region ::= params, nodes in traced order, results
    node   ::= (op, args, attrs, type, line)               immutable; attrs are typed per op
    type   ::= Array(dtype, shape, strides) | Scalar(dtype, origin: py|np) | Tuple(types)
             | List(type) | Maybe(type) | Opaque | Nothing
    size   ::= int | symbol | affine expression (+ * // min max)   see npcompile.core.sizes

    op     ::= an operator record's name (npcompile.ops), a primitive (npcompile.graph.primitives),
               or one of:
      param   Param(index, name)          an argument, global, closure value or attribute
      const   Const(value)                a number
      size    SizeOf(size)                a size as a Python int
      cast                                to the dtype of the node's type
      copy                                a fresh array of the same values, laid out by its type
      full                                a fresh array of one value: args (scalar,)
      empty                               a fresh array of undefined contents
      iota                                0 .. n-1 along the only axis
      read    View                      a view on a version of an array: args (version,);
                                          of shape () and Scalar type: one element
      write   View                      the next version: args (version, value[, where mask])
      gather  View                      args (version, at): for each index of the view the
                                          element that is ``at`` (int64, broadcast) further on
      scatter Scatter                     the next version, with such elements written: args
                                          (version, value, at)
      pack    -                           args (value, mask): the elements where a mask holds, one
                                          after the other, in C order of the mask's axes
      reduce  Reduction                   args (array[, initial]); a running one gives the results
                                          of all that an axis has up to each element
      extern Extern                       one of npcompile.graph.routines, on whole arrays
      settle  Extern                      args that are computed by now; the errors in its spec that
                                          were raised since the last settle are forgotten
      host_call HostCall | Site           runs the real Python function, in order; the type of a
                                          Site's node is the Tuple of what it gives
      check   Check                       args (bool,): where false, leave for Python
      get     Get(index)                  one result of a node with several
      if_     args (pred,), two regions   results: those of the arm taken
      for_    Loop(start, stop, step, symbol): args = initial carried values; one region whose
                                          params are (index, *carried) and results the next carried
      while_  args = initial carried values; one region whose params are the carried values and
                                          results (again, *next carried)

Loops.  ``for_`` runs for the index in ``range(start, stop, step)``, maybe never; the sign of
``step`` is proved by the graph's facts.  Its index param is a Python int, and ``symbol`` stands for
it in every size inside the region: ``graph.bound[symbol]`` is the param.  ``while_`` runs its
region, then again while ``again`` (a bool) is true: at least once, the test comes last.  The type
of either node is the Tuple of the carried types, the same at start, as params and as results;
``get k`` is the k-th carried value after the last iteration (the initial one after none).  A
carried array is either the current version of a memory from outside, whose next value descends by
``write`` nodes from its own param (or is that param), or an array that each iteration makes anew.
Early exits of loops are carried numbers that an ``if_`` after the loop looks at.  Symbols that are
bound inside a region occur only there, and in regions within it.

An array that the program sees is a cell: successive versions of one memory.  A version is a node;
``write`` makes the next one.  Node order is memory order: a view read before a write in the list
sees what was there before it.  Effects are ``write``, ``scatter``, ``host_call``, ``check`` and
``settle``, in list order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice, repeat
from struct import pack
from types import CellType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from npcompile.core.records import field, record
from npcompile.core.sizes import Size, Symbol
from npcompile.graph.items import listed
from npcompile.graph.stubs import Stub
from npcompile.graph.types import Array, Calling, Nothing, Scalar, Type

if TYPE_CHECKING:
    from npcompile.core.facts import Facts

Number = Union[bool, int, float, complex, np.generic]


def identity(number: Number) -> tuple[object, ...]:
    """What tells a constant from all others: zeros and NaNs have signs, NaNs also payloads."""
    if isinstance(number, np.inexact):
        return type(number), number.tobytes()
    if isinstance(number, float):
        return type(number), pack("d", number)
    if isinstance(number, complex):
        return type(number), pack("dd", number.real, number.imag)
    return type(number), number


def integer(value: Number) -> int:
    """An integer or a bool as an int of Python's."""
    assert isinstance(value, (int, np.integer, np.bool_)), value
    return int(value)


@record
class Param:
    """``symbol`` is the size symbol bound to a Python int argument, if any."""

    index: int
    name: str
    symbol: Symbol | None = None


@record(eq=False)
class Const:
    value: Number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and identity(self.value) == identity(other.value)

    def __hash__(self) -> int:
        return hash(identity(self.value))


@record
class SizeOf:
    size: Size


@record
class Geometry:
    """A strided view of a version's memory; all in elements, relative to its first element."""

    offset: Size
    shape: tuple[Size, ...]
    strides: tuple[Size, ...]
    part: str = ""  # "real" or "imag": of complex memory, whose elements then count as pairs

    @property
    def steps(self) -> tuple[Size, ...]:
        """The strides in elements of what is seen, of which a complex number has two."""
        return tuple([2 * s for s in self.strides]) if self.part else self.strides


@record
class Scatter:
    """Writes to computed places.  They are written in C order of the view's indices, unless they
    are known to be ``distinct``.  ``combine`` names the primitive of old and new element that is
    written; empty: the new one."""

    geometry: Geometry
    combine: str = ""
    distinct: bool = False


@record
class Reduction:
    """``kind`` is a key of :data:`npcompile.graph.primitives.REDUCTIONS`.

    ``loop`` is the dtype the reduction runs in: where it differs from the operand's, the operand
    is cast in chunks of 8192 elements, which shows in the order of sums.
    """

    kind: str
    axes: tuple[int, ...]
    keepdims: bool
    loop: np.dtype
    running: bool = False  # over the only axis, in the order of its elements


@record
class Table:
    """A constant table for the primitive ``lookup``."""

    values: tuple[float, ...] | tuple[int, ...]


@record(eq=False)
class Subprogram:
    """A function of so many float64 numbers for the primitive ``call``; the program is one of
    :mod:`npcompile.graph.subprograms`.  ``registers``: how many it had better
    be given at a time; of more than two the lanes are sorted by the arms that they take.

    One with a ``body`` is an operator's program without branches, for backends that put calls in
    line: its operands are of the dtypes of the body's parameters.  ``names`` and ``tables`` name
    values and tables in it, ``doc`` says what it computes."""

    name: str
    operands: int
    program: Callable[..., Any]
    registers: int = 1
    body: Region | None = None
    names: dict[Node, str] = field(default_factory=dict)
    tables: dict[Table, str] = field(default_factory=dict)
    doc: str = ""


def keywords(attrs: Attrs, dtype: np.dtype) -> dict[str, Any]:
    """What the meaning of a primitive with attributes is told, beyond its operands."""
    if isinstance(attrs, Table):
        return {"table": np.asarray(attrs.values, dtype)}
    return {"subprogram": attrs} if isinstance(attrs, Subprogram) else {}


@record
class Extern:
    """``routine`` is a key of :data:`npcompile.graph.routines.ROUTINES`, ``name`` what NumPy calls
    the function.  A ``quiet`` one reports no floating-point exceptions."""

    routine: str
    name: str
    spec: str = ""
    quiet: bool = False


@record
class HostCall:
    """``path`` imports the function: ``"numpy:matmul"``. ``keywords`` name the last arguments;
    ``statics`` are (position or keyword, constant) arguments that are no nodes.
    ``out`` says that the result is written into a fresh array of the node's type by ``out=``."""

    path: str
    keywords: tuple[str, ...] = ()
    statics: tuple[tuple[int | str, Any], ...] = ()
    out: bool = False


@record(eq=False)
class Direct:
    """A call that needs no function of ours: ``function`` of ``arguments`` (the number of an
    operand, or an object), the last of which have ``names``, gives a number of class ``kind`` and
    never warns.  ``places`` are names, files and lines of the program's frames, innermost first,
    for the traceback if it raises."""

    function: Callable[..., Any]
    arguments: tuple[int | StaticObject, ...]
    names: tuple[str, ...]
    kind: type
    places: tuple[tuple[bytes, bytes, int], ...]


@record(eq=False, frozen=False)
class CallSite:
    """A call of any Python function at its place in the program.

    ``function`` takes the node's operands, boxed as the program sees them, and returns a tuple of
    the node's results, whose structure it has made sure of; ``stub`` is what it is made of.
    ``path`` names the library function.
    ``effect``: something outside could tell that it ran, or how often.  ``guarantee`` is what the
    deterministic modes may rely on.  ``direct`` is the same call for machine code, whose results
    are a bool (whether the number is of the kind), the object and the number.  ``made`` is the
    function once it was asked for.
    """

    path: str
    stub: Stub
    effect: bool = False
    guarantee: str = "none"
    direct: Direct | None = None
    made: Callable[..., tuple[Any, ...]] | None = None

    @property
    def function(self) -> Callable[..., tuple[Any, ...]]:
        self.made = self.made or self.stub.function()
        return self.made

    def __reduce__(self) -> tuple[Any, ...]:
        return CallSite, (self.path, self.stub, self.effect, self.guarantee, self.direct)


@record(eq=False)
class ResumeFrame:
    """One Python frame to go on in: ``offset`` is the bytecode's, ``local`` and ``stack`` give
    what each name and stack slot holds as result trees (:class:`SharedCell` the cells of
    variables).

    The innermost frame executes the instruction at ``offset`` again; the others wait in the call
    there, whose callee and arguments are popped; ``drops``: its result is dropped, what comes of
    the call is on the stack already.  ``owner`` is the source of the function that globals and
    closure belong to (None: the decorated one).
    """

    code: Any
    offset: int
    local: tuple[tuple[str, Tree], ...]
    stack: tuple[Tree, ...]
    owner: Any = None
    drops: bool = False


@record(eq=False)
class Resume:
    """Where Python goes on if a check fails: the innermost frame last. ``None`` frames: only a
    rerun from the start is possible (no effect has happened yet).  ``graph_breaks``: Python
    executes what can't be compiled there, and compiled code may go on after it.  ``restarts``: a
    rerun is right whatever has been written, since the caller uses nothing of it."""

    frames: tuple[ResumeFrame, ...] = ()
    graph_breaks: bool = False
    restarts: bool = False


@record
class Check:
    """``reason`` says in the user's terms what leaves compiled code."""

    reason: str
    resume: Resume


@record
class Get:
    index: int


@record
class Loop:
    """``range(start, stop, step)``; ``symbol`` is the index in sizes inside the region."""

    start: Size
    stop: Size
    step: Size
    symbol: Symbol


Attrs = Union[
    None, Param, Const, SizeOf, Geometry, Scatter, Reduction, Table, Subprogram, Extern, HostCall,
    CallSite, Check, Get, Loop,
]


@record(eq=False)
class Node:
    """One value; identity is by object (interning is the builder's)."""

    op: str
    args: tuple[Node, ...]
    attrs: Attrs
    type: Type
    line: int = 0
    regions: tuple[Region, ...] = ()

    def __repr__(self) -> str:  # not of its operands: as a tree, a graph is endless
        return f"{self.op} {self.type!r} (line {self.line})"

    @property
    def dtype(self) -> np.dtype:
        assert isinstance(self.type, (Array, Scalar)), self.type
        return self.type.dtype

    @property
    def scalar(self) -> Scalar:
        """The type of a number."""
        assert isinstance(self.type, Scalar), self.type
        return self.type

    @property
    def shape(self) -> tuple[Size, ...]:
        assert isinstance(self.type, (Array, Scalar)), self.type
        return self.type.shape


@record(eq=False, frozen=False)
class Region:
    """A sequence of nodes with parameters and results.  ``edge``, of a loop's region: where Python
    goes on if it is interrupted between two iterations; it holds values at the beginning of one.
    ``short``, of a ``while_``: it has a known few iterations."""

    params: list[Node] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    results: list[Node] = field(default_factory=list)
    edge: Resume | None = None
    short: bool = False

    def shorten(self) -> None:
        """From now on it is known that there are few iterations."""
        self.short = True

    def begins_with(self, params: list[Node]) -> None:
        """Gives the region its parameters."""
        self.params = params

    def ends_with(self, results: list[Node], edge: Resume | None = None) -> None:
        """Gives the region its results, and its edge if it has one."""
        self.results, self.edge = results, edge or self.edge

    def consists_of(self, nodes: list[Node]) -> None:
        """Gives the region other nodes."""
        self.nodes = nodes

    def goes_on_at(self, edge: Resume | None) -> None:
        """Says where Python goes on between two iterations; None: the loop is not interrupted."""
        self.edge = edge


# ------------------------------------------------------------------ results of a function


@record
class SameParam:
    """The very object that came in as a parameter."""

    index: int


@record
class NewArray:
    """A fresh array holding ``node``; equal ``cell`` numbers are one object."""

    cell: int
    node: Node


@record
class ViewOf:
    """A view; equal ``ident`` numbers are one object."""

    ident: int
    base: SameParam | NewArray
    geometry: Geometry
    dtype: np.dtype
    writeable: bool = True


@record
class NumberOf:
    """A scalar node, boxed by its type's origin; equal nonzero ``ident`` numbers are one object."""

    node: Node
    ident: int = 0


@record
class ObjectOf:
    """The Python object that an opaque node holds."""

    node: Node


@record(eq=False)
class StaticObject:
    """A constant Python object, returned as it is; ``source`` says how to find it again."""

    value: Any
    source: Any = None


@record
class Items:
    """A container: ``kind`` is tuple, list, dict, slice, a named tuple class, :class:`OneOf`, or
    the class of an instance whose attributes ``keys`` are the items; equal nonzero ``ident``
    numbers are one object."""

    kind: type
    items: tuple[Tree, ...]
    keys: tuple[Any, ...] = ()
    ident: int = 0


class OneOf:
    """The kind of an :class:`Items` that is one of several results: ``OneOf(k, *options)`` is
    option ``k``."""

    def __new__(cls, which: int, *options: Any) -> Any:
        return options[which]

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Any:
        return cls(*items)


class BoundMethod:
    """The kind of an :class:`Items` that is a function bound to its first argument."""

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Any:
        return MethodType(*items)


class SharedCell:
    """The kind of an :class:`Items` that is the cell of a variable which functions share; without
    an item it is unbound."""

    def __init__(self, items: Iterable[Any]) -> None:
        self.cell = CellType(*items)

    def settle(self, space: dict[str, Any]) -> CellType:
        """The cell, in which a function is one of Python's."""
        for held in take(self.cell):
            if isinstance(held, Defined):
                self.cell.cell_contents = held.function(space)
        return self.cell


class Defined:
    """The kind of an :class:`Items` that is a function which the program has made: its code,
    annotations, defaults, those by keyword, and cells; ``keys`` are how many there are of the first
    two, and the keywords."""

    def __init__(self, items: list[Any], keys: tuple[Any, ...]) -> None:
        self.code, *others = items
        noted, count, *names = keys
        self.annotations = dict(zip(others[:noted:2], others[1:noted:2]))
        self.defaults, others = tuple(others[noted : noted + count]), others[noted + count :]
        self.named = dict(zip(names, others))
        self.cells: list[SharedCell] = others[len(names) :]
        self.made: FunctionType | None = None

    def function(self, space: dict[str, Any]) -> FunctionType:
        """The one function, whose globals are these."""
        if self.made is None:
            closure = tuple([cell.settle(space) for cell in self.cells])
            made = FunctionType(self.code, space, None, self.defaults or None, closure)
            made.__kwdefaults__ = self.named or None
            made.__annotations__ = self.annotations
            self.made = made
        return self.made


def take(cell: CellType) -> tuple[Any, ...]:
    """What a cell holds, if anything."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


Tree = Union[SameParam, NewArray, ViewOf, NumberOf, ObjectOf, StaticObject, Items]


@record(eq=False, frozen=False)
class Graph:
    """A traced function.

    ``written`` holds the indices of parameters whose memory the graph writes; their final version
    is in ``finals``.  ``facts.guards`` are the predicates on sizes under which it is valid;
    ``bound`` gives the node of each symbol that is computed; ``hushed`` the first letters of the
    floating-point errors that nodes do not tell of; ``echoes`` are nodes whose errors others tell
    of, so that they are computed only for their values; ``repeated`` are those that stand for
    several of the program's, on other lines; ``called`` are ufuncs that the program itself calls,
    each at one place alone; ``outs`` are writes that a ufunc's own call makes; ``names`` are
    variables that hold nodes, for who reads what becomes of them.
    """

    name: str
    region: Region
    result: Tree
    facts: Facts
    finals: dict[int, Node] = field(default_factory=dict)
    bound: dict[Symbol, Node] = field(default_factory=dict)
    hushed: dict[Node, str] = field(default_factory=dict)
    echoes: set[Node] = field(default_factory=set)
    repeated: set[Node] = field(default_factory=set)
    called: dict[Node, Calling] = field(default_factory=dict)
    outs: set[Node] = field(default_factory=set)
    names: dict[Node, str] = field(default_factory=dict)

    @property
    def params(self) -> list[Node]:
        return self.region.params

    @property
    def written(self) -> set[int]:
        return set(self.finals)


WRITES = frozenset({"write", "scatter"})  # what makes the next version of an array
#: the grammar's own ops; operators of the same name stand for other functions
GRAMMAR = frozenset({
    "param", "const", "size", "cast", "copy", "full", "empty", "iota", "read", "write", "gather",
    "scatter", "pack", "reduce", "extern", "settle", "host_call", "check", "get", "if_", "for_",
    "while_",
})
EFFECTS = WRITES | {"host_call", "check", "settle"}


def walk(region: Region) -> Iterator[Node]:
    """All nodes of a region and of the regions in it."""
    for node in region.nodes:
        yield node
        for inner in node.regions:
            yield from walk(inner)


def leaves(tree: Tree) -> Iterator[Tree]:
    """The leaves of a result, left to right."""
    if isinstance(tree, Items):
        for item in tree.items:
            yield from leaves(item)
    else:
        yield tree


def result_nodes(tree: Tree) -> Iterator[Node]:
    """The nodes that a result needs."""
    for leaf in leaves(tree):
        if isinstance(leaf, (NewArray, NumberOf, ObjectOf)):
            yield leaf.node
        elif isinstance(leaf, ViewOf) and isinstance(leaf.base, NewArray):
            yield leaf.base.node


def trees(resume: Resume) -> Iterator[Tree]:
    """What the frames that Python goes on in hold."""
    for frame in resume.frames:
        yield from (tree for _, tree in frame.local)
        yield from frame.stack


def held(node: Node) -> Iterator[Node]:
    """The nodes that a check hands to Python, or a loop between two iterations."""
    for tree in handed(node):
        yield from result_nodes(tree)


def handed(node: Node) -> Iterator[Tree]:
    """What a check hands to Python, or a loop between two iterations."""
    if isinstance(node.attrs, Check):
        yield from trees(node.attrs.resume)
    for region in node.regions:
        if region.edge is not None:
            yield from trees(region.edge)


class Columns:
    """The kind of an :class:`Items` that is a list whose length the run finds: its items are one
    array for each number of an item, ``keys`` the type of an item."""


RANGE_ITERATOR, ARRAY_ITERATOR = type(iter(range(0))), type(iter(np.empty(0)))
LIST_ITERATOR: type = type(iter([]))


#: iterators that are made anew of their parts
_ADAPTERS: tuple[type, ...] = (repeat, count, islice)
#: iterators, see :func:`rest`
ITERATORS: tuple[type, ...] = (
    zip, enumerate, RANGE_ITERATOR, ARRAY_ITERATOR, np.ndindex, np.ndenumerate, type(iter(())),
    LIST_ITERATOR, np.flatiter, *_ADAPTERS,
)


def rest(kind: Any, items: list[Any]) -> Any:
    """The iterator that an :class:`Items` of an iterator class stands for: over the items of a
    tuple, or what is left of a range, an array, a ``zip``, an ``enumerate`` or indices; over a list
    that others may change, from a position on."""
    if kind in (zip, enumerate, *_ADAPTERS):
        return kind(*items)
    if kind in (np.ndindex, np.ndenumerate):
        first, held = items
        indices = kind(held)
        next(islice(indices, first, first), None)
        return indices
    if kind is RANGE_ITERATOR:
        return iter(range(*items))
    if kind is ARRAY_ITERATOR:
        return iter(items[0])
    if kind is np.flatiter:
        return items[0].flat
    if kind is LIST_ITERATOR:
        held, position = items
        made = iter(held)
        made.__setstate__(position)
        return made
    return iter(tuple(items))


def container(kind: Any, items: list[Any], keys: tuple[Any, ...]) -> Any:
    """The object that an :class:`Items` stands for."""
    if kind is dict:
        return dict(zip(keys, items, strict=True))
    if kind in (slice, range):
        return kind(*items)
    if kind is Columns:
        return listed(keys[0], iter(items))
    if kind is SharedCell:
        return SharedCell(items)
    if kind is Defined:
        return Defined(items, keys)
    if hasattr(kind, "_make"):  # a named tuple class
        return kind._make(items)
    if kind in ITERATORS:  # over what is left
        return rest(kind, items)
    if kind is list or issubclass(kind, tuple):
        return kind(items)
    made = object.__new__(kind)
    vars(made).update(zip(keys, items, strict=True))
    return made


def nothing() -> Nothing:
    return Nothing()
