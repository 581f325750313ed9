"""What arguments of operators mean: operands as nodes, arrays, sizes, axes, shapes, dtypes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Sequence
from functools import cache
from typing import Any, TypeVar

import numpy as np

from npcompile.core.sizes import Predicate, Size, hint, is_known, product
from npcompile.graph.builder import Builder
from npcompile.graph.ir import Const, Geometry, Node, SizeOf, Table
from npcompile.graph.types import BOOL, FLOAT, SUPPORTED, Array, Scalar, contiguous
from npcompile.ops.bits import as_dtype
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.record import OPERATORS, Op, OperatorFamily, define

LARGEST_LIST = 1024  # items of a list that becomes an array and are written one by one
NUMBERS = (bool, int, float, complex, np.number, np.bool_)


@cache
def signature(function: Callable[..., Any]) -> inspect.Signature:
    """A function's parameters."""
    return inspect.signature(function)


def call_program(
    op: Op, ctx: Context, args: tuple[Operand, ...], kwargs: dict[str, Operand]
) -> Operand:
    """Calls ``op.lower``, whose parameters are NumPy's; arguments that don't fit are Python's."""
    assert callable(op.lower)
    return call_with(op.lower, (), op, ctx, args, kwargs)


def call_with(function: Callable[..., Operand], first: tuple[Op, ...], op: Op, ctx: Context,
              args: tuple[Operand, ...], kwargs: dict[str, Operand]) -> Operand:
    """Calls a function of ``first``, the context and NumPy's parameters likewise."""
    given = {k: v for k, v in kwargs.items() if v is not np._NoValue}
    try:
        bound = signature(function).bind(*first, ctx, *args, **given)
    except TypeError as error:
        raise ctx.refuse(op.name, str(error)) from None
    out = bound.arguments.get("out")
    if isinstance(out, ArrayRef) and out.ndim == 0 and args and is_number(args[0]):
        raise ctx.refuse(op.name, "out= for a number: NumPy's own are returned as numbers")
    return function(*bound.args, **bound.kwargs)


def program_kind(name: str) -> OperatorFamily:
    """A kind whose records carry their own program."""
    return OperatorFamily(name, call_program)


def _followed(
    op: Op, ctx: Context, args: tuple[Operand, ...], kwargs: dict[str, Operand]
) -> Operand:
    raise ctx.refuse(op.name, "is a function in Python, which only calls of the program follow")


#: records whose ``lower`` is Python that is traced in the place of the library's function: what it
#: gives may depend on data in kind and shape, as branches may make it
FOLLOWED = OperatorFamily("function in Python", _followed)

#: functions in Python that these, and records' ``deterministic`` ones, call
followed_functions: set[Callable[..., Any]] = set()

Program = TypeVar("Program", bound=Callable[..., Any])


def program(
    kind: OperatorFamily, *aliases: str, doc: str = "", **fields: Any
) -> Callable[[Program], Program]:
    """Adds the decorated function as the record of NumPy's functions of these names; an alias
    with a colon is a full path.  ``doc``: of a function without a docstring of its own."""

    def add(function: Program) -> Program:
        paths = tuple(a if ":" in a else f"numpy:{a}" for a in aliases)
        text = (function.__doc__ or doc).strip().splitlines()[0]
        name = paths[0].removeprefix("numpy:")
        define(name, kind, aliases=paths, reference=paths[0], lower=function, doc=text, **fields)
        return function

    return add


def no_call(count: int, names: Container[str]) -> bool:
    """Says of each call that lists are no arrays in it: the function writes them, or asks for an
    array's attributes."""
    return False


def followed(function: Program) -> Program:
    """Has calls of a function of ours, which is no record, followed."""
    followed_functions.add(function)
    return function


# ------------------------------------------------------------------ numbers and arrays


def static(operand: Operand) -> Any:
    """A constant node's value; any other operand as it is."""
    if isinstance(operand, Node) and isinstance(operand.attrs, Const):
        return operand.attrs.value
    if isinstance(operand, Node) and isinstance(operand.attrs, SizeOf):
        size = operand.attrs.size
        return size if isinstance(size, int) else operand
    return operand


def is_number(operand: Operand) -> bool:
    return isinstance(operand, NUMBERS) or (
        isinstance(operand, Node) and isinstance(operand.type, Scalar)
    )


def is_weak(operand: Operand) -> bool:
    """Whether it is a number of Python's own."""
    if isinstance(operand, Node):
        return isinstance(operand.type, Scalar) and operand.type.origin == "py"
    return type(operand) in (bool, int, float, complex)


def number(ctx: Context, operand: Operand) -> Node:
    """A scalar operand as a node."""
    if isinstance(operand, Node):
        return operand
    if not isinstance(operand, NUMBERS):
        raise ctx.refuse("argument", f"{type(operand).__name__} is no number")
    if np.asarray(operand).dtype.char not in SUPPORTED:
        raise ctx.refuse("number", f"{operand!r} is wider than 64 bits")
    return ctx.builder.const(operand)


def contents(ctx: Context, operand: Operand) -> Node:
    """A number's node, or what an array (or a list of operands) holds now."""
    if isinstance(operand, ArrayRef):
        return ctx.read(operand)
    if isinstance(operand, (list, tuple)):
        return ctx.read(as_array(ctx, operand))
    return number(ctx, operand)


def apply(ctx: Context, name: str, *operands: Operand) -> Node:
    """The contents of the result of another operator; array nodes are operands, too."""
    given = tuple(
        ctx.new(x) if isinstance(x, Node) and isinstance(x.type, Array) else x for x in operands
    )
    op = OPERATORS[name]
    return contents(ctx, op.kind.call(op, ctx, given, {}))


def geometry(shape: tuple[Size, ...], strides: tuple[Size, ...]) -> Geometry:
    """A view at the first element."""
    return Geometry(0, shape, strides)


def whole(ref: ArrayRef) -> ArrayRef:
    """All the memory that an array is a view on."""
    kind = ref.storage.type
    return ArrayRef(ref.storage, Geometry(0, kind.shape, kind.strides), kind.dtype)


def element(ctx: Context, ref: ArrayRef) -> Node:
    """The only element of an array of shape (), as a NumPy scalar."""
    found = ctx.builder.element(ctx.read(whole(ref)), ref.geometry)
    return as_dtype(ctx.builder, found, ref.dtype)


def view(
    ref: ArrayRef, shape: Sequence[Size], strides: Sequence[Size], offset: Size = 0
) -> ArrayRef:
    """Another view on the same memory; ``offset`` counts from the array's first element."""
    geometry = Geometry(
        ref.geometry.offset + offset, tuple(shape), tuple(strides), ref.geometry.part
    )
    return ArrayRef(ref.storage, geometry, ref.dtype, ref.writeable)


def operand_dtype(operand: Operand) -> np.dtype[Any]:
    """The dtype that ``np.asarray`` gives to an array or a number."""
    if isinstance(operand, (ArrayRef, Node)):
        return operand.dtype
    found: np.dtype[Any] = np.asarray(operand).dtype
    return found


def an_array(ctx: Context, operand: Operand, what: str) -> ArrayRef:
    """An operand of a function of NumPy's that asks for attributes which only arrays have."""
    if not isinstance(operand, ArrayRef):
        raise ctx.refuse(what, "of what is no array: Python may raise")
    return operand


#: constants of a list from which on they are a table in memory
MANY_CONSTANTS = 32


def as_array(ctx: Context, operand: Operand, dtype: np.dtype[Any] | None = None) -> ArrayRef:
    """``np.asarray``: an array as it is; numbers and nested lists of operands as fresh arrays."""
    if isinstance(operand, ArrayRef):
        if dtype is None or dtype == operand.dtype:
            return operand
        return ctx.new(converted(ctx, operand, dtype))
    shape, leaves = _nest(ctx, operand)
    if dtype is None:
        dtype = np.result_type(*map(operand_dtype, leaves)) if leaves else FLOAT
    if not shape:
        return ctx.new(ctx.builder.full((), scalar_to(ctx, leaves[0], dtype)))
    kind = contiguous(dtype, shape)
    made = ctx.builder.emit("empty", (), None, kind)
    rank = leaves[0].ndim if leaves and isinstance(leaves[0], ArrayRef) else 0
    inner, strides = shape[len(shape) - rank :], kind.strides[len(shape) - rank :]
    items = [converted(ctx, leaf, dtype) if isinstance(leaf, ArrayRef)
             else scalar_to(ctx, leaf, dtype) for leaf in leaves]
    known = {k: item.attrs.value for k, item in enumerate(items) if isinstance(item.attrs, Const)}
    if len(items) - len(known) > LARGEST_LIST:
        raise ctx.refuse("list", f"an array of a list of more than {LARGEST_LIST} items")
    if len(known) < MANY_CONSTANTS:
        known = {}
    else:
        table = _table(ctx.builder, [known.get(k, 0) for k in range(len(items))], dtype)
        made = ctx.builder.write(made, table, Geometry(0, (len(items),), (1,)))
    for position, item in enumerate(items):
        if position not in known:
            target = Geometry(product(inner) * position, inner, strides)
            made = ctx.builder.write(made, item, target)
    return ctx.new(made)


def _table(builder: Builder, numbers: list[Any], dtype: np.dtype[Any]) -> Node:
    """Constants as one array: looked up, rather than written one by one."""
    values = np.array(numbers, dtype)
    if dtype.kind == "c":
        parts = [_table(builder, part.tolist(), part.dtype) for part in (values.real, values.imag)]
        return builder.map("complex", parts, dtype)
    held = np.dtype(np.float64 if dtype.kind == "f" else np.int64)
    rest = (1 << (len(numbers) - 1).bit_length()) - len(numbers)  # whole powers of two
    table = Table((*values.astype(held).tolist(), *[0] * rest))
    made = builder.emit("lookup", (builder.iota(len(numbers)),), table,
                        contiguous(held, (len(numbers),)))
    return builder.cast(made, dtype)


def _nest(ctx: Context, operand: Operand) -> tuple[tuple[Size, ...], list[Operand]]:
    """The shape of nested sequences, and the numbers or arrays that they end in."""
    if isinstance(operand, ArrayRef):
        return operand.shape, [operand]
    if not isinstance(operand, (list, tuple)):
        number(ctx, operand)
        return (), [operand]
    if not operand:
        return (0,), []
    nested = [_nest(ctx, item) for item in operand]
    first = nested[0][0]
    for shape, leaves in nested:
        same = len(shape) == len(first) and all(map(ctx.facts.equal, shape, first))
        if not same or len(leaves) != len(nested[0][1]):
            raise ctx.refuse("list", "items of unlike shapes: Python raises")
    if any(isinstance(leaf, ArrayRef) for _, leaves in nested for leaf in leaves):
        ranks = {getattr(leaf, "ndim", 0) for _, leaves in nested for leaf in leaves}
        if len(ranks) > 1:
            raise ctx.refuse("list", "arrays and numbers side by side")
    return (len(operand), *first), [leaf for _, leaves in nested for leaf in leaves]


# ------------------------------------------------------------------ assignment


def converted(ctx: Context, ref: ArrayRef, dtype: np.dtype[Any]) -> Node:
    """An array's contents, cast as an assignment casts them."""
    if ref.dtype.kind == "c" and dtype.kind not in "cb":
        raise ctx.refuse("assignment", "complex to real warns")
    return ctx.builder.cast(ctx.read(ref), dtype)


def scalar_to(ctx: Context, operand: Operand, dtype: np.dtype[Any]) -> Node:
    """A number as an element of an array, as ``array[i] = number`` converts it.

    NumPy goes through Python's ``int()`` and ``float()`` here: a number that does not fit an
    integer type raises, and integers become float32 by way of float64.
    """
    node = number(ctx, operand)
    source = node.dtype
    if source.kind == "c" and dtype.kind not in "cb":
        raise ctx.refuse("assignment", "a complex number into an array that is not complex")
    if dtype.kind in "iu" and source.kind in "fiu" and not np.can_cast(source, dtype):
        _check_fits(ctx, node, dtype)
    elif dtype.char in "efF" and source.kind in "iu":
        node = ctx.builder.cast(node, FLOAT)
    return ctx.builder.cast(node, dtype)


def _check_fits(ctx: Context, node: Node, dtype: np.dtype[Any]) -> None:
    """Leaves where ``int(number)`` is out of range, or the number is NaN or infinite."""
    target, builder = np.iinfo(dtype), ctx.builder
    limits: list[tuple[str, int | float, bool]] = [("le", target.min, True)]
    if node.dtype.kind == "f":
        node = builder.cast(node, FLOAT)
        low: int | float = float(target.min - 1)  # above it, numbers truncate to the minimum
        limits = [("le" if dtype.itemsize == 8 and target.min else "lt", low, True)]
        # machine code converts larger ones with a flag, int() without: Python does it
        limits.append(("lt", float(min(int(target.max) + 1, 2**63)), False))
    else:
        limits.append(("le", target.max, False))
    for op, limit, is_low in limits:
        if node.dtype.kind != "f":
            source = np.iinfo(node.dtype)
            if not source.min <= limit <= source.max:
                continue
        bound = builder.const(node.dtype.type(limit))
        pair = (bound, node) if is_low else (node, bound)
        builder.check(builder.map(op, pair, BOOL), f"the number does not fit {dtype}")


# ------------------------------------------------------------------ sizes and axes


def require(ctx: Context, op: str, left: Size, right: Size, reason: str) -> None:
    """``left op right`` from here on: proved, guarded, or checked at run time."""
    holds = ctx.facts.prove(op, left, right)
    if holds is None and is_known(left - right):
        holds = ctx.facts.ask(op, left, right)
    elif holds is None and op in ("<", "<=") and ctx.facts.ensure(op, left, right):
        holds = True
    if holds is False:
        raise ctx.refuse("index", f"{reason}: Python raises")
    if holds is None:
        ctx.builder.require(Predicate(op, left, right), reason)


def integer(ctx: Context, operand: Operand, what: str) -> Size:
    """A Python or NumPy integer as a size."""
    if isinstance(operand, ArrayRef) and operand.ndim == 0 and operand.dtype.kind in "iu":
        operand = element(ctx, operand)
    if isinstance(operand, Node) and operand.dtype.kind in "iu" and operand.dtype.char not in "QL":
        found = static(operand)
        return ctx.builder.size_of(operand) if isinstance(found, Node) else int(found)
    if isinstance(operand, (int, np.integer)) and not isinstance(operand, bool):
        return int(operand)
    raise ctx.refuse(what, f"{_described(operand)} is no 64-bit integer")


def _described(operand: Operand) -> str:
    """The kind of an operand in the user's terms."""
    if isinstance(operand, ArrayRef):
        return "an array"
    if not isinstance(operand, Node):
        return type(operand).__name__
    if isinstance(operand.type, Scalar) and operand.type.origin == "py":
        return operand.type.python_type.__name__
    return operand.dtype.name


def length(ctx: Context, operand: Operand, what: str) -> Size:
    """The length of a new axis, which must not be negative."""
    size = integer(ctx, operand, what)
    require(ctx, "<=", 0, size, f"{what}: a negative length")
    return size


def pinned(ctx: Context, size: Size) -> int:
    """The number that a size is in this call, and has to be in every call of the version."""
    n = hint(size)
    if not ctx.facts.ask("==", size, n):
        raise ctx.refuse("size", "which is another number than it was")
    return n


def shape_of(ctx: Context, operand: Operand, what: str) -> tuple[Size, ...]:
    """A shape argument: an integer or a sequence of them."""
    if isinstance(operand, (list, tuple)):
        return tuple(length(ctx, item, what) for item in operand)
    return (length(ctx, operand, what),)


def static_int(ctx: Context, operand: Operand, what: str) -> int:
    """An integer that must be known while tracing."""
    found = static(operand)
    if isinstance(found, (int, np.integer)) and not isinstance(found, bool):
        return int(found)
    raise ctx.refuse(what, "an argument that must be a constant integer")


def axis_in(ctx: Context, operand: Operand, ndim: int, what: str) -> int:
    """One axis, counted from the front."""
    axis = static_int(ctx, operand, what)
    if not -ndim <= axis < ndim:
        raise ctx.refuse(what, f"axis {axis} is out of bounds: Python raises")
    return axis % ndim


def axes_in(ctx: Context, operand: Operand, ndim: int, what: str) -> tuple[int, ...]:
    """One axis or several, without repetition, in the order given."""
    many = operand if isinstance(operand, (list, tuple)) else (operand,)
    axes = tuple(axis_in(ctx, item, ndim, what) for item in many)
    if len(set(axes)) < len(axes):
        raise ctx.refuse(what, "an axis is repeated: Python raises")
    return axes


def dtype_of(ctx: Context, operand: Operand, what: str) -> np.dtype[Any]:
    """A dtype argument."""
    if isinstance(operand, (tuple, list, dict)):
        raise ctx.refuse(what, "a dtype of parts")
    try:
        dtype = np.dtype(operand)
    except TypeError:
        raise ctx.refuse(what, f"{operand!r} is no dtype") from None
    if dtype.char not in SUPPORTED or not dtype.isnative or operand is None:
        raise ctx.refuse(what, f"dtype {dtype} is left to Python")
    return dtype


def truth(ctx: Context, operand: Operand, what: str) -> bool:
    """An option that must be known while tracing."""
    found = static(operand)
    if isinstance(found, (bool, np.bool_, int)):
        return bool(found)
    raise ctx.refuse(what, "an option that must be a constant")
