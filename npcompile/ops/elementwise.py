"""The kinds ELEMENTWISE (NumPy's ufuncs) and COMPOSED (functions made of other operators).

A ufunc call is the same for all of them: find the loop as NumPy does (``resolve_dtypes``, with
Python numbers weak), cast the operands to it, emit one node named after the record, then write
``out=`` or wrap the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.errors import Refused
from npcompile.core.paths import defer
from npcompile.core.records import record
from npcompile.core.sizes import Size
from npcompile.graph.expression import Expr, cast
from npcompile.graph.ir import Const, Geometry, Node
from npcompile.graph.layout import broadcast_shapes
from npcompile.graph.types import PYTHON, SUPPORTED, Array, Scalar
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.record import OPERATORS, Op, OperatorFamily, define

if TYPE_CHECKING:
    from npcompile.ops import arguments
else:
    defer(globals(), "npcompile.ops", "arguments")

HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)
WHOLE = Geometry(0, (), ())
INTS, FLOATS, COMPLEX = "bBhHiIlLqQ", "efd", "FD"
NUMBERS = INTS + FLOATS + COMPLEX
# NumPy's loops of floats that clear all flags at their end, with those of the casts before them
_FORGETTING = frozenset(
    ("absolute", "clip.loop", "fmax", "fmin", "maximum", "minimum", "negative", "sign", "tanh")
)

Program = Callable[..., Any]
Dtypes = tuple[np.dtype, ...]


@record
class Ufunc:
    """What the kind needs beyond the record.

    ``parts`` names one record per output, where there are several.  ``prepare`` sees the operands
    of the loop before the node is made, to put checks on them or to refuse.  ``half`` is the
    program of float16, if that is another one.  ``eager``: whether the record makes loops of a
    ufunc, too, which know no operand.
    """

    parts: tuple[str, ...] = ()
    compares: bool = False
    prepare: Callable[[Context, tuple[Node, ...]], None] | None = None
    half: Program | None = None
    eager: bool = True


# ------------------------------------------------------------------ records


def loops(pattern: str, chars: str) -> str:
    """``loops("xx->?", "fd")`` is ``"ff->? dd->?"``."""
    return " ".join(pattern.replace("x", char) for char in chars)


def halves(program: Program, of_halves: Program | None = None) -> Program:
    """The program, or another one, with float16 operands computed in float32 and rounded once, as
    NumPy does."""

    def run(*args: Expr) -> Any:
        half = any(a.dtype == HALF for a in args)
        wide = [cast(a, SINGLE) if a.dtype == HALF else a for a in args]
        result = (of_halves if half and of_halves else program)(*wide)
        if half and result.dtype == SINGLE:
            result = cast(result, HALF)
        same = any(result.node is a.node for a in args)
        if same and isinstance(result.node.type, Array):
            result = result.scope.emit("copy", (result.node,), result.dtype)
        return result

    return run


def ufunc(name: str, signatures: str, program: Program | None, *, aliases: tuple[str, ...] = (),
          data: Ufunc | None = None, **fields: Any) -> Op:
    """Defines the record of NumPy's ufunc of this name, and of its method ``outer``."""
    if len(signatures.partition("->")[0]) == 2:
        define(f"{name}.outer", COMPOSED, reference=f"numpy:{name}.outer",
               lower=partial(_outer, name=name), doc=f"{name} of all pairs.")
    data = data or Ufunc()
    return define(
        name, ELEMENTWISE, signatures, aliases=(f"numpy:{name}", *aliases),
        reference=fields.pop("reference", f"numpy:{name}"),
        lower=halves(program, data.half) if program else None, data=data, **fields,
    )


def _outer(ctx: Context, a: Operand, b: Operand, *, name: str, **kwargs: Operand) -> Operand:
    """Axes of length 1 behind those of ``a``, one for each of ``b``'s.  No number is weak here."""
    a, b = (arguments.as_array(ctx, x)
            if isinstance(x, (list, tuple)) or arguments.is_weak(x) else x for x in (a, b))
    if isinstance(a, ArrayRef) and isinstance(b, ArrayRef):
        pad = b.ndim
        a = arguments.view(a, (*a.shape, *(1,) * pad), (*a.strides, *(0,) * pad))
    return run(ctx, name, a, b, **kwargs)


def part(name: str, signatures: str, reference: str, program: Program, **fields: Any) -> Op:
    """Defines a record that no function of NumPy's stands for: only other operators use it."""
    return define(name, ELEMENTWISE, signatures, reference=reference, lower=halves(program),
                  data=Ufunc(), **fields)


@cache
def _signatures(text: str) -> frozenset[tuple[str, ...]]:
    """Loops as tuples of dtype strings (``l`` and ``q`` are the same there)."""
    return frozenset(
        tuple(np.dtype(char).str for char in loop.replace("->", "")) for loop in text.split()
    )


# ------------------------------------------------------------------ operands


@record
class Input:
    """An operand: ``like`` is what ``resolve_dtypes`` is told (a dtype, or int, float or complex
    for a Python number); ``value`` its node or, if static and weak, the number."""

    like: np.dtype | type
    value: Any

    @property
    def weak(self) -> bool:
        return isinstance(self.like, type)

    @property
    def sample(self) -> Any:
        """What stands for it in ``np.result_type``: a dtype, or a Python number."""
        return self.like(0) if isinstance(self.like, type) else self.like

    @property
    def dtype(self) -> np.dtype:
        """The dtype that ``np.asarray`` gives it."""
        return PYTHON[self.like].dtype if isinstance(self.like, type) else self.like


def lift(ctx: Context, x: Operand, what: str) -> Input:
    """An operand as an input of an elementwise operator."""
    if isinstance(x, (list, tuple)):
        x = arguments.as_array(ctx, x)
    if isinstance(x, ArrayRef):
        _supported(ctx, x.dtype, what)
        return Input(x.dtype, contents(ctx, x))
    if isinstance(x, Node) and isinstance(x.type, Scalar):
        if x.type.origin == "py" and x.dtype.kind != "b":
            value = x.attrs.value if isinstance(x.attrs, Const) else x
            return Input(x.type.python_type, value)
        return Input(x.dtype, x)
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x[()]
    if isinstance(x, (bool, np.generic)):
        number = np.bool_(x) if isinstance(x, bool) else x
        _supported(ctx, number.dtype, what)
        return Input(number.dtype, ctx.builder.const(number))
    if type(x) in (int, float, complex):
        return Input(type(x), x)
    raise ctx.refuse(what, f"an operand of type {type(x).__name__} is left to Python")


def _supported(ctx: Context, dtype: np.dtype, what: str) -> None:
    if dtype.char not in SUPPORTED or not dtype.isnative:
        raise ctx.refuse(what, f"dtype {dtype} is left to Python")


def contents(ctx: Context, ref: ArrayRef) -> Node:
    """The contents of an array now; of a 0-d one as a NumPy scalar."""
    version = ctx.read(ref)
    return version if ref.ndim else ctx.builder.element(version, WHOLE)


def scalar_array(ctx: Context, node: Node) -> Node:
    """A scalar as a 0-d array."""
    return node if isinstance(node.type, Array) else ctx.builder.full((), node)


def laid_out(ctx: Context, node: Node, source: Node, strides: tuple[Size, ...]) -> Node:
    """What is made of an array, in memory of its own with these strides."""
    if node is not source and isinstance(node.type, Array) and node.type.strides == strides:
        return node
    return ctx.builder.emit("copy", (node,), None, Array(node.dtype, node.shape, strides))


def as_node(ctx: Context, x: Operand, what: str) -> Node:
    """An operand as a node; Python numbers keep being Python's."""
    found = x if isinstance(x, bool) else lift(ctx, x, what).value
    return found if isinstance(found, Node) else ctx.builder.const(found)


def to_loop(ctx: Context, x: Input, dtype: np.dtype, what: str) -> Node:
    """An input cast to the dtype of its loop.

    A Python int must fit an integer loop; to floats it goes through float64, as NumPy takes it.
    """
    b = ctx.builder
    if not x.weak:
        node: Node = x.value
        if node.dtype.kind == "c" and dtype.kind not in "cb":
            raise ctx.refuse(what, "complex numbers in a loop of real ones: NumPy warns")
        return node if node.dtype == dtype else b.cast(node, dtype)
    if isinstance(x.value, Node):
        return _traced_weak(ctx, x.value, dtype, what)
    value = x.value
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        if not info.min <= value <= info.max:
            raise ctx.refuse(what, f"{value} is out of bounds for {dtype}: Python raises")
        return b.const(dtype.type(value))
    try:
        wide = np.complex128(value) if dtype.kind == "c" else np.float64(value)
    except OverflowError:
        raise ctx.refuse(what, "an int is too large for a float: Python raises") from None
    with np.errstate(all="ignore"):
        narrow = wide.astype(dtype)
    if np.isfinite(wide) and not np.isfinite(narrow):
        raise ctx.refuse(what, f"{value} overflows {dtype}: NumPy warns")
    return b.const(narrow)


def _traced_weak(ctx: Context, node: Node, dtype: np.dtype, what: str) -> Node:
    b = ctx.builder
    if node.dtype == dtype:
        whose = node.op == "cast" and node.args[0].type == Scalar(dtype, "np")
        return node.args[0] if whose else node
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        why = f"{what}: a Python int out of bounds"
        if info.min > -(2**63):
            b.check(b.map("le", (b.const(int(info.min)), node), np.bool_), why)
        if info.max < 2**63 - 1:
            b.check(b.map("le", (node, b.const(int(info.max))), np.bool_), why)
    elif node.dtype.kind == "i" and dtype.kind in "fc":
        node = b.cast(node, np.float64)
    return b.cast(node, dtype)


# ------------------------------------------------------------------ calls


@lru_cache(maxsize=4096)
def _resolve(function: np.ufunc, likes: tuple[Any, ...], signature: tuple[Any, ...] | None,
             casting: str) -> Dtypes | None:
    """The loop that NumPy takes, or None where it raises.

    Dtypes come as characters: ``l`` and ``q`` are equal dtypes with scalar types of their own.
    """
    options: dict[str, Any] = {"casting": casting}
    if signature is not None:
        options["signature"] = signature
    try:
        dtypes = tuple(np.dtype(x) if isinstance(x, str) else x for x in likes)
        found = function.resolve_dtypes(dtypes, **options)
    except TypeError:
        return None
    return tuple(found)


@cache
def ufunc_of(op: Op) -> np.ufunc | None:
    """The ufunc that a record stands for; None for a record that only operators use."""
    found = None if op.reference.startswith("npcompile") else op.oracle()
    return found if isinstance(found, np.ufunc) else None


def find_loop(ctx: Context, op: Op, inputs: Sequence[Input], outs: Sequence[ArrayRef | None],
              dtype: Any, casting: str) -> Dtypes:
    """The dtypes of the loop for these operands; refuses what is not compiled."""
    function = ufunc_of(op)
    assert function is not None
    likes: list[Any] = [x.like for x in inputs]
    if all(x.weak for x in inputs) or (op.data.compares and _mixed_ints(inputs)):
        likes = [PYTHON[x].dtype if isinstance(x, type) else x for x in likes]
    likes += [ref.dtype if ref is not None else None for ref in outs]
    signature = None
    if dtype is not None:
        signature = (None,) * function.nin + (np.dtype(dtype),) * function.nout
    keys = tuple(x.char if isinstance(x, np.dtype) else x for x in likes)
    found = _resolve(function, keys, signature, casting)
    if found is None:
        raise ctx.refuse(op.name, f"NumPy has no loop for {_show(likes)}: Python raises")
    if tuple(d.str for d in found) not in _signatures(op.signatures):
        raise ctx.refuse(op.name, f"not compiled for {_show(likes)}")
    return found


def _mixed_ints(inputs: Sequence[Input]) -> bool:
    """Whether an integer is compared with a Python int that may be out of its range: NumPy gives
    the mathematically right answer, which a comparison in int64 gives too."""
    for x, y in (inputs, inputs[::-1]):
        if x.like is int and isinstance(y.like, np.dtype) and y.like.kind in "iu":
            info = np.iinfo(y.like)
            return isinstance(x.value, Node) or not info.min <= x.value <= info.max
    return False


def _show(likes: Sequence[Any]) -> str:
    return ", ".join(getattr(x, "name", None) or x.__name__ for x in likes if x is not None)


def call_ufunc(op: Op, ctx: Context, args: tuple[Operand, ...],
               kwargs: dict[str, Operand]) -> Operand:
    """One call of a ufunc: what NumPy would return."""
    function = ufunc_of(op)
    if function is None:
        return apply_record(op, ctx, args)
    options = dict(kwargs)
    outs = _outs(ctx, op, function, args[function.nin :], options.pop("out", None))
    mask = options.pop("where", True)
    dtype, casting = options.pop("dtype", None), options.pop("casting", "same_kind")
    if options.pop("order", "K") != "K" or options.pop("subok", True) is not True or options:
        raise ctx.refuse(op.name, "its order=, subok= and signature= are left to Python")
    if len(args) < function.nin:
        raise ctx.refuse(op.name, "too few arguments: Python raises")
    inputs = [lift(ctx, x, op.name) for x in args[: function.nin]]
    found = find_loop(ctx, op, inputs, outs, dtype, casting)
    nodes = tuple(
        to_loop(ctx, x, d, op.name) for x, d in zip(inputs, found[: function.nin])
    )
    plain = given(inputs, nodes)
    if op.name == "multiply" and found[-1].kind == "c":
        _refuse_overlaps(ctx, args[: function.nin], outs)
    if op.name == "square" and found[-1].kind == "c":
        _refuse_without_axes(ctx, args[0], mask is not True or outs != [None])
    if mask is not True:
        nodes = _harmless(ctx, op, function, nodes, mask)
    results = emit(op, ctx, nodes, found[function.nin :], plain)
    return _deliver(ctx, op, results, outs, mask)


def _refuse_without_axes(ctx: Context, operand: Operand, in_array: bool) -> None:
    """From 2.4 on NumPy fuses a complex number's square where it reads or writes an array."""
    from npcompile.core.releases import numpy_before

    in_array = not operand.ndim if isinstance(operand, ArrayRef) else in_array
    if in_array and not numpy_before(2, 4):
        raise ctx.refuse("square", "of a complex array without axes, which rounds in its own way")


def _refuse_overlaps(ctx: Context, operands: Sequence[Operand],
                     outs: Sequence[ArrayRef | None]) -> None:
    """NumPy's loop for products of complex numbers rounds each of the four products where it
    writes to what it reads, but for the same several elements."""
    for out in outs:
        for x in operands:
            if out is None or not isinstance(x, ArrayRef) or out.storage is not x.storage:
                continue
            if x.geometry != out.geometry or all(ctx.facts.equal(size, 1) for size in out.shape):
                raise ctx.refuse("multiply", "complex numbers in place: NumPy rounds otherwise")


def _harmless(ctx: Context, op: Op, function: np.ufunc, nodes: tuple[Node, ...],
              mask: Operand) -> tuple[Node, ...]:
    """Operands with which nothing raises a flag where the mask does not hold: NumPy computes
    nothing there."""
    number = _quiet(function, tuple(node.dtype for node in nodes))
    if number is None:
        return nodes
    where = _mask(ctx, op.name, mask)
    return tuple([
        ctx.builder.map("where", (where, node, ctx.builder.const(
            node.dtype.type(number), Scalar(node.dtype, "np"))), node.dtype)
        for node in nodes
    ])


@cache
def _quiet(function: np.ufunc, dtypes: Dtypes) -> float | None:
    """A number of which a loop raises no flags; None: it raises none of any."""
    if not any(dtype.kind in "fc" for dtype in dtypes) and not _flags(function, dtypes, 0):
        return None
    return next((number for number in (1, 0.5, 0) if not _flags(function, dtypes, number)), None)


def _flags(function: np.ufunc, dtypes: Dtypes, number: float) -> bool:
    try:
        with np.errstate(all="raise"):
            function(*(dtype.type(number) for dtype in dtypes))
    except FloatingPointError:
        return True
    return False


def apply_record(op: Op, ctx: Context, args: tuple[Operand, ...]) -> Operand:
    """A record that is no ufunc of NumPy's: its operands have a loop's dtypes already."""
    nodes = tuple(as_node(ctx, x, op.name) for x in args)
    chars = tuple(n.dtype.str for n in nodes)
    for loop in sorted(_signatures(op.signatures)):
        if loop[: len(chars)] == chars:
            return wrap(ctx, emit(op, ctx, nodes, tuple(map(np.dtype, loop[len(chars) :])))[0])
    raise ctx.refuse(op.name, f"not compiled for {', '.join(n.dtype.name for n in nodes)}")


def given(inputs: Sequence[Input], nodes: Sequence[Node]) -> list[Node]:
    """The operands whose layouts decide: as they were before they were cast to a loop's dtypes."""
    return [node if x.weak else x.value for x, node in zip(inputs, nodes, strict=True)]


def emit(op: Op, ctx: Context, nodes: tuple[Node, ...], dtypes: Dtypes,
         given: Sequence[Node] = ()) -> list[Node]:
    """The nodes of an operator's outputs."""
    if op.data.prepare is not None:
        op.data.prepare(ctx, nodes)
    names = op.data.parts or (op.name,)
    found = [ctx.builder.map(name, nodes, d, given=given, single=len(names) == 1)
             for name, d in zip(names, dtypes, strict=True)]
    if ctx.builder.calling and not op.data.parts:
        ctx.builder.calls[found[0]] = ctx.builder.calling
    return found


def wrap(ctx: Context, node: Node) -> Operand:
    """A result as NumPy returns it: an array object, or a scalar."""
    if isinstance(node.type, Array):
        return ctx.new(node)
    return py_scalar(ctx, node, Scalar(node.dtype, "np"))


def _outs(ctx: Context, op: Op, function: np.ufunc, positional: tuple[Operand, ...],
          keyword: Operand) -> list[ArrayRef | None]:
    named = keyword if isinstance(keyword, tuple) else () if keyword is None else (keyword,)
    given = list(positional or named)
    if positional and op.name in ("maximum", "minimum"):
        raise ctx.refuse(op.name, "of three arguments: NumPy warns")
    outs: list[ArrayRef | None] = []
    for out in given + [None] * (function.nout - len(given)):
        if out is not None and not (isinstance(out, ArrayRef) and out.writeable):
            raise ctx.refuse(op.name, "out= is no writeable array: Python raises")
        outs.append(out)
    if len(outs) > function.nout:
        raise ctx.refuse(op.name, "too many outputs: Python raises")
    if outs.count(None) not in (0, len(outs)):
        raise ctx.refuse(op.name, "out= for some of its results")
    return outs


def _deliver(ctx: Context, op: Op, results: list[Node], outs: Sequence[ArrayRef | None],
             mask: Operand) -> Operand:
    """Writes what has an ``out``, wraps the rest."""
    delivered: list[Operand] = []
    for node, out in zip(results, outs, strict=True):
        if out is None:
            if mask is not True:
                raise ctx.refuse(op.name, "where= without out= leaves undefined values")
            delivered.append(wrap(ctx, node))
        else:
            if mask is not True:
                _take_in(ctx, op, out, node.dtype)
            store(ctx, op.name, out, node, mask)
            if ctx.builder.calling:
                ctx.builder.outs.add(ctx.builder.region.nodes[-1])
            delivered.append(out)
    return delivered[0] if len(delivered) == 1 else tuple(delivered)


def _take_in(ctx: Context, op: Op, out: ArrayRef, dtype: np.dtype) -> None:
    """Under ``where=`` NumPy converts all that ``out`` holds to its loop's dtype, and warns."""
    kinds = out.dtype.kind, dtype.kind
    if kinds in (("f", "i"), ("f", "u"), ("c", "i"), ("c", "u"), ("c", "f")):
        raise ctx.refuse(op.name, "where= with out= of a kind that its loop hasn't: NumPy warns")
    if kinds == ("f", "f") and op.name in _FORGETTING:
        if out.dtype.itemsize > dtype.itemsize:
            raise ctx.refuse(op.name, "where= with a wider out=: NumPy warns if nothing is chosen")
        return
    if out.dtype != dtype and dtype.kind != "b":
        taken = ctx.builder.cast(ctx.read(out), dtype)
        ctx.builder.repeated.add(taken)  # Python says which operation warns


def store(ctx: Context, what: str, out: ArrayRef, node: Node, mask: Operand = True) -> None:
    """``out[...] = node`` where ``mask`` holds; refuses shapes that NumPy refuses."""
    where: Node | None = None
    shapes = [out.shape, node.shape]
    if mask is not True:
        where = _mask(ctx, what, mask)
        shapes.append(where.shape)
    try:
        fits = broadcast_shapes(ctx.facts, *shapes)
        fits_out = len(fits) == out.ndim and all(map(ctx.facts.equal, fits, out.shape))
    except Refused:
        fits_out = False
    if not fits_out:
        raise ctx.refuse(what, "out= has not the shape of the result: Python raises")
    if node.dtype.kind == "c" and out.dtype.kind not in "cb":
        raise ctx.refuse(what, "complex numbers into real ones: NumPy warns")
    ctx.write(out, ctx.builder.cast(node, out.dtype), where)


def _mask(ctx: Context, what: str, mask: Operand) -> Node:
    where = as_node(ctx, mask, what)
    if where.dtype != np.bool_:
        raise ctx.refuse(what, "where= is no array of bool: Python raises")
    return where


ELEMENTWISE = OperatorFamily("elementwise", call_ufunc)


# ------------------------------------------------------------------ functions of other operators


COMPOSED = OperatorFamily("composed", lambda *call: arguments.call_program(*call))


def composed(
    name: str, *aliases: str, doc: str = "", **fields: Any
) -> Callable[[Program], Program]:
    """Defines the record of a function that is made of other operators, with its signature;
    ``doc``: of a function without a docstring of its own."""

    def decorate(program: Program) -> Program:
        text = (program.__doc__ or doc).strip().partition("\n")[0]
        define(name, COMPOSED, aliases=aliases, reference=fields.pop("reference", aliases[0]),
               lower=program, doc=text, **fields)
        return program

    return decorate


def run(ctx: Context, name: str, *args: Operand, **kwargs: Operand) -> Operand:
    """Calls an operator by its record's name."""
    op = OPERATORS[name]
    return op.kind.call(op, ctx, args, kwargs)


def py_scalar(ctx: Context, node: Node, type_: Scalar) -> Node:
    """A scalar with the dtype and origin of ``type_``."""
    if node.type == type_:
        return node
    if node.op == "const" and isinstance(node.attrs, Const):
        value: Any = np.asarray(node.attrs.value).astype(type_.dtype)[()]
        return ctx.builder.const(value.item() if type_.origin == "py" else value, type_)
    return ctx.builder.emit("cast", (node,), None, type_)
