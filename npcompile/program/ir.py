"""Language 2: the kernel program.

::

    program ::= buffers, statements, result
    stmt    ::= Alloc b | Free b | Swap a b             temporaries of one shape and layout
              | Kernel(axes; values; stores; reduction)
              | Bind symbol := scalar buffer          a computed integer becomes a size
              | Check(scalar buffer, reason, exit; block)     the block runs if the check fails
              | Library(routine, views in, buffers out)       see npcompile.graph.routines
              | Call(host function, buffers in, buffers out)   objects too, if it is a Site
              | For(symbol, start, stop, step; block; parallel?) | While(block, scalar)
              | If(scalar; block, block)
    kernel  ::= axes (name, extent), slowest first
                values  in order, each  Load(buffer, index) | Const | AxisIndex | SizeValue
                                      | Apply(primitive or "cast", operands, dtype)
                stores  (buffer, index, value, mask?)      or one reduction into a buffer
    index   ::= affine: offset + sum(coefficient[axis] * axis), in elements; a load or store may
                add an earlier int64 value to it (``by``: a gather, a scatter)

Reads and writes of one buffer keep statement order; that order is memory order.  A number is a
buffer of kind scalar, loaded and stored at index 0.  Within a kernel every axis that no reduction
runs over is parallel: iterations may run in any order and side by side.  Kernels know nothing of a
device.  So may the iterations of a parallel For: what is allocated inside is an iteration's own,
and so are numbers that are made there.  It calls nothing; where a check of it fails Python runs the
function from the start, whatever other iterations have done.  Its ``folds`` are int64 numbers (and
bools) that iterations only add to (``sum``), or take the ``max``, ``min``, ``and``, ``or`` of: in
whichever order. One with ``failed``, a bool, leaves by making it true, whatever its iterations have
done till then. A ``rolled`` For is not worth unrolling.

The iterations of an ``ordered`` kernel run one after the other, the last axis varying fastest, each
with its loads before its stores.  ``packed`` stores put the elements whose mask holds one after the
other, in that same order.

Order of a reduction (the canonical order of sums, NumPy >= 2.3): kept axes and reduced axes stand
in the kernel's axis order, slowest first.  For each kept index the accumulator starts as
``initial`` (or the first element) and runs over the reduced axes, the last varying fastest.  Kind
``sum`` of floats and complex, where the kernel's *last* axis is reduced: each run along that axis
is summed pairwise (in pieces of ``chunk`` elements, if given) and the run's sum is added to the
accumulator.  Everything else accumulates element by element.  So does a ``running`` reduction, the
only one of its kernel: it starts with the first element of its only axis and stores the accumulator
for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, Union

import numpy as np

from npcompile.core.lines import in_words
from npcompile.core.records import field, record, replace
from npcompile.core.sizes import Predicate, Size, Symbol
from npcompile.graph.ir import (
    CallSite,
    Extern,
    Geometry,
    HostCall,
    Number,
    Subprogram,
    Table,
    identity,
)
from npcompile.graph.types import INT
from npcompile.program.results import Buffer as Buffer
from npcompile.program.results import BufferResult as BufferResult
from npcompile.program.results import ItemsResult as ItemsResult
from npcompile.program.results import ObjectResult as ObjectResult
from npcompile.program.results import ParamResult as ParamResult
from npcompile.program.results import Result as Result
from npcompile.program.results import ScalarResult as ScalarResult
from npcompile.program.results import StaticResult as StaticResult
from npcompile.program.results import ViewResult as ViewResult


@record
class Index:
    """``offset + sum(coefficients[k] * axis k)``, in elements of the buffer's dtype.

    ``part`` reads or writes one half of complex elements.
    """

    offset: Size
    coefficients: tuple[Size, ...]
    part: str = ""


@record
class Load:
    """``buffer[at]``, or ``buffer[at + values[by]]`` if given."""

    buffer: Buffer
    at: Index
    dtype: np.dtype
    by: int | None = None


@record(eq=False)
class Constant:
    value: Number
    dtype: np.dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return (*identity(self.value), self.dtype)


@record
class AxisIndex:
    """The index along a kernel axis, int64."""

    axis: int
    dtype: np.dtype = INT


@record
class SizeValue:
    """A size, int64."""

    size: Size
    dtype: np.dtype = INT


@record
class Apply:
    """A primitive over earlier values (by position); ``cast`` converts to ``dtype``.  ``line`` and
    ``name`` are the user's line that it comes from and variable that holds it, for readers."""

    op: str
    args: tuple[int, ...]
    dtype: np.dtype
    attrs: Table | Subprogram | None = None
    line: int = field(default=0, compare=False)
    name: str = field(default="", compare=False)


Value = Union[Load, Constant, AxisIndex, SizeValue, Apply]


@record
class Store:
    """``buffer[at] = values[value]``, where ``values[mask]`` if given; ``by`` as in a load.

    Packed, it is ``buffer[at + k] = values[value]`` for the k-th element whose mask holds.
    """

    buffer: Buffer
    at: Index
    value: int
    mask: int | None = None
    by: int | None = None
    packed: bool = False


@record
class Reduce:
    """Reduces ``values[value]`` over ``axes`` into ``buffer`` (indexed by the kept axes; the
    coefficients of reduced axes are 0, but for a ``running`` reduction).  ``initial`` is the
    accumulator's start, ``None``: the first element.  ``kind`` is a key of ``REDUCTIONS``; argmin
    and argmax count along the axes in row-major order of the reduced axes as listed.
    """

    kind: str
    axes: tuple[int, ...]
    value: int
    buffer: Buffer
    at: Index
    dtype: np.dtype
    initial: Number | None = None
    chunk: Size = 0
    running: bool = False


@record
class Axis:
    name: str
    extent: Size


@record(eq=False)
class Kernel:
    """One loop nest.  ``lines`` are the user's lines that it came from, for messages."""

    name: str
    axes: tuple[Axis, ...]
    values: tuple[Value, ...]
    stores: tuple[Store, ...] = ()
    reductions: tuple[Reduce, ...] = ()
    lines: tuple[int, ...] = ()
    ordered: bool = False

    @property
    def written(self) -> list[Buffer]:
        """The buffers that it stores to."""
        return [s.buffer for s in self.stores] + [r.buffer for r in self.reductions]

    @property
    def in_order(self) -> bool:
        """Whether its iterations depend on those before them."""
        return self.ordered or any(store.packed for store in self.stores)


@record
class Alloc:
    buffer: Buffer


@record
class Free:
    buffer: Buffer


@record
class Swap:
    """Two temporaries exchange their memories."""

    first: Buffer
    second: Buffer


@record(eq=False)
class Bind:
    symbol: Symbol
    buffer: Buffer


@record(eq=False)
class SideExit:
    """Leave for Python where the bool scalar is false; ``number`` indexes ``program.resumes``.

    ``leaving`` runs only then: it makes what Python needs to go on.
    """

    buffer: Buffer
    reason: str
    number: int
    leaving: tuple[Statement, ...] = ()


@record
class View:
    """A buffer seen through a view, as an operand of a call; ``origin``: of a number."""

    buffer: Buffer
    geometry: Geometry
    dtype: np.dtype
    origin: str = "np"


@record(eq=False)
class RoutineCall:
    """Runs a routine of :data:`npcompile.graph.routines.ROUTINES`; no output is an input, but for
    sums that are added to.  ``sizes`` are its operands behind ``inputs``; with ``into`` its only
    result goes to a part of the output."""

    routine: Extern
    inputs: tuple[View, ...]
    outputs: tuple[Buffer, ...]
    line: int = 0
    sizes: tuple[Size, ...] = ()
    into: Geometry | None = None


@record(eq=False)
class Call:
    """Runs a Python function.  ``outputs`` of a HostCall are written by ``out=`` or copied into; an
    ``owned`` one takes a fresh result as it is.  Those of a Site take the items of its result:
    arrays and objects as they are."""

    function: HostCall | CallSite
    inputs: tuple[View, ...]
    outputs: tuple[Buffer, ...]
    line: int = 0


@record(eq=False)
class Edge:
    """Where a loop may be left between two iterations, as by a check that fails: ``number`` and
    ``leaving`` are those of a :class:`SideExit`.  They see the state in which an iteration
    begins."""

    number: int
    leaving: tuple[Statement, ...] = ()


#: why a loop is left at an edge
INTERRUPTED = "a signal handler raises"


@record(eq=False)
class For:
    symbol: Symbol
    start: Size
    stop: Size
    step: Size
    body: tuple[Statement, ...]
    parallel: bool = False
    line: int = 0
    folds: tuple[tuple[Buffer, str], ...] = ()
    failed: Buffer | None = None
    rolled: bool = False
    edge: Edge | None = None


@record(eq=False)
class While:
    """Do-while: runs ``body``, goes on while the scalar is true; ``short``: for a known few
    iterations."""

    body: tuple[Statement, ...]
    again: Buffer
    edge: Edge | None = None
    short: bool = False


@record(eq=False)
class If:
    condition: Buffer
    then: tuple[Statement, ...]
    orelse: tuple[Statement, ...]


Statement = Union[Alloc, Free, Swap, Kernel, Bind, SideExit, RoutineCall, Call, For, While, If]
S = TypeVar("S", bound=Statement)


def blocks(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """The blocks that run inside a statement; what a side exit does is none."""
    match statement:
        case For() | While():
            return (statement.body,)
        case If():
            return statement.then, statement.orelse
    return ()


def with_blocks(
    statement: S, change: Callable[[tuple[Statement, ...]], tuple[Statement, ...]]
) -> S:
    """The statement with each of its blocks changed; a pass writes only the cases of its own.

    >>> loop = For(Symbol("k"), 0, 3, 1, (Free(Buffer("x", "temp", INT)),))
    >>> with_blocks(loop, lambda body: ()).body
    ()
    """
    match statement:
        case For() | While():
            return replace(statement, body=change(statement.body))
        case If():
            then, orelse = change(statement.then), change(statement.orelse)
            return replace(statement, then=then, orelse=orelse)
    return statement


def flat(body: Iterable[Statement]) -> Iterator[Statement]:
    """Statements and those in their blocks."""
    for statement in body:
        yield statement
        for block in blocks(statement):
            yield from flat(block)


def branches(body: Iterable[Statement]) -> Iterator[Statement]:
    """Statements with those of branches in place of these."""
    for statement in body:
        if isinstance(statement, If):
            yield from branches((*statement.then, *statement.orelse))
        else:
            yield statement


# ------------------------------------------------------------------ leaving


@record(eq=False)
class Suspended:
    """One Python frame to go on in: :class:`npcompile.graph.ir.ResumeFrame`, with results."""

    code: Any
    offset: int
    local: tuple[tuple[str, Result], ...]
    stack: tuple[Result, ...]
    owner: Any = None
    drops: bool = False


@record(eq=False)
class Exit:
    """Where Python goes on if a check fails, the innermost frame last.  Without frames it runs
    the function from the start: nothing that a caller can see has happened yet.  ``graph_breaks``:
    as in :class:`npcompile.graph.ir.Resume`.  ``line`` is the user's."""

    reason: str = ""
    frames: tuple[Suspended, ...] = ()
    graph_breaks: bool = False
    line: int = field(default=0, compare=False)

    def told(self, here: str) -> str:
        """The reason and its line, for readers of the file ``here``."""
        if self.graph_breaks or not self.line:  # what pauses says itself where it stands
            return self.reason
        return f"{in_words(self.line, here)}: {self.reason}"

    def held(self) -> Iterator[Result]:
        """What the frames hold: for each its variables, then its stack."""
        for frame in self.frames:
            yield from (result for _, result in frame.local)
            yield from frame.stack


@record(eq=False, frozen=False)
class Program:
    """A scheduled function.

    ``params`` are the buffers of the parameters in order; ``guards`` the predicates on sizes under
    which the program is valid; ``written`` the parameters that it writes; ``resumes`` what the
    checks refer to.
    """

    name: str
    params: list[Buffer]
    buffers: list[Buffer]
    body: tuple[Statement, ...]
    result: Result
    guards: list[Predicate]
    written: frozenset[int] = frozenset()
    int_symbols: dict[int, Symbol] = field(default_factory=dict)
    resumes: list[Exit] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # fusions made and refused, for explain()
