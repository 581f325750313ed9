"""Elementwise functions of tensors: our records on operands that torch's promotion has cast.

::

    rule ::= same      operands and result have the common dtype
           | number    the same, and no operand is bool
           | real      the same, of floats
           | integer   the same, of integers
           | float     so they have, but integers become the default dtype
           | bool      operands have the common dtype, the result is bool
    with ``c`` behind ``|``: complex numbers, too; with ``h``: float16, of which every number has
    given torch's bits
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from npcompile.core.errors import Refused
from npcompile.core.records import record
from npcompile.core.sizes import Size
from npcompile.graph import layout
from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, Array, Scalar, c_strides
from npcompile.ops import arguments
from npcompile.ops.arguments import element, is_number
from npcompile.ops.elementwise import py_scalar, run
from npcompile.ops.operands import ArrayRef, Context, Operand, Tensor
from npcompile.tensors.promotion import DEFAULT, result_dtype

HALF = np.dtype(np.float16)

_COMPILED = {"real": "f", "integer": "iu"}


def _is_bool(x: Operand) -> bool:
    dtype = x.memory.dtype if isinstance(x, Tensor) else arguments.operand_dtype(x)
    return bool(dtype == BOOL)


@record
class Elementwise:
    """``record`` names our operator, ``parameters`` are torch's."""

    record: str
    rule: str
    parameters: tuple[str, ...]

    def __call__(self, ctx: Context, *args: Operand, **kwargs: Operand) -> Operand:
        return self.of(ctx, *self.operands(ctx, args, kwargs))

    def operands(
        self, ctx: Context, args: tuple[Operand, ...], kwargs: dict[str, Operand]
    ) -> list[Operand]:
        """The operands in order; other options are torch's."""
        names = self.parameters
        given = {**dict(zip(names, args)), **kwargs}
        if len(args) > len(names) or set(given) != set(names) or len(given) < len(
            args) + len(kwargs):
            raise ctx.refuse(self.record, "options of torch's, or arguments that don't fit")
        return [given[name] for name in names]

    def of(self, ctx: Context, *operands: Operand) -> Tensor:
        """The result for operands in order."""
        if not any(isinstance(x, Tensor) for x in operands):
            raise ctx.refuse(self.record, "of no tensor: Python raises")
        truth = self.rule.startswith("bool")
        return call(ctx, self.record, operands, self.dtype(ctx, operands), truth)

    def dtype(self, ctx: Context, operands: Sequence[Operand]) -> np.dtype:
        """The dtype that operands are cast to."""
        common = result_dtype(ctx, operands, self.record)
        rule, _, more = self.rule.partition("|")
        if common == HALF and "h" not in more:
            raise ctx.refuse(self.record, "of float16, by torch")
        if common.kind not in _COMPILED.get(rule, "biuf") + more or (
            rule == "number" and any(_is_bool(x) for x in operands)
        ):
            raise ctx.refuse(self.record, f"of {common}, by torch")
        return DEFAULT if rule == "float" and common.kind in "biu" else common


def call(
    ctx: Context, record: str, operands: Sequence[Operand], dtype: np.dtype, truth: bool = False
) -> Tensor:
    """A record on operands cast to one dtype."""
    result = run(ctx, record, *(cast(ctx, x, dtype) for x in operands))
    if not isinstance(result, (ArrayRef, Node)) or result.dtype != (BOOL if truth else dtype):
        raise ctx.refuse(record, f"of tensors of {dtype}")
    if isinstance(result, Node):
        return point(ctx, result)
    full = [x.memory for x in operands if isinstance(x, Tensor) and x.memory.ndim]
    return Tensor(laid_out(ctx, result, result_strides(ctx, result.shape, full)))


def point(ctx: Context, number: Node) -> Tensor:
    """A tensor without axes."""
    return Tensor(ctx.new(ctx.builder.full((), number)))


def cast(ctx: Context, x: Operand, dtype: np.dtype) -> Operand:
    """An operand of a dtype: an array, or a number of NumPy's."""
    if not isinstance(x, Tensor):
        return number(ctx, x, dtype)
    refuse_rounding_twice(ctx, x.memory.dtype, dtype)
    if x.memory.ndim == 0:
        if dtype == HALF != x.memory.dtype:
            raise ctx.refuse("tensor", "without axes that torch rounds to float16, or does not")
        node = element(ctx, x.memory)
        if node.dtype.kind == "c" and dtype.kind != "c":
            raise ctx.refuse("cast", f"{node.dtype} to {dtype}")
        return node if node.dtype == dtype else py_scalar(ctx, node, Scalar(dtype, "np"))
    if x.memory.dtype == dtype:
        return x.memory
    if x.memory.dtype.kind == "c" and dtype.kind not in "cb":
        raise ctx.refuse("cast", f"{x.memory.dtype} to {dtype}")
    return ctx.new(ctx.builder.cast(ctx.read(x.memory), dtype))


def number(ctx: Context, x: Operand, dtype: np.dtype) -> Node:
    """A number as NumPy's of a dtype; integers must fit, and numbers for float16 be among its."""
    if dtype == HALF and not _is_half(arguments.static(x)):
        raise ctx.refuse("number", "that is rounded to float16, or not, by torch")
    if dtype.kind in "iu":
        if not is_number(x) or arguments.operand_dtype(x).kind not in "biu":
            raise ctx.refuse("number", "a float where torch wants an integer")
        node = arguments.scalar_to(ctx, x, dtype)
    else:
        node = arguments.number(ctx, x)
    if node.dtype.kind == "c" and dtype.kind != "c":
        raise ctx.refuse("number", "a complex number where torch wants a real one")
    return py_scalar(ctx, node, Scalar(dtype, "np"))


def refuse_rounding_twice(ctx: Context, have: np.dtype, want: np.dtype) -> None:
    """Refuses a cast that torch makes by way of float32."""
    if want == HALF and have.kind in "fc" and have.itemsize > 4:
        raise ctx.refuse("cast", f"{have} to float16, which torch rounds twice")


def _is_half(x: Operand) -> bool:
    """Whether a constant is a number of float16."""
    with np.errstate(all="ignore"):
        return isinstance(x, (int, float)) and abs(x) < 65504 and float(np.float16(x)) == x


# ------------------------------------------------------------------ layout


def result_strides(
    ctx: Context, shape: tuple[Size, ...], operands: Sequence[ArrayRef]
) -> tuple[Size, ...]:
    """How torch lays out a result: axes lie in memory as the first operand that tells has them."""
    facts = ctx.facts
    packed = c_strides(shape)
    proved = all(
        all(facts.prove("==", a, b) for a, b in zip(x.strides, c_strides(x.shape)))
        for x in operands
    )
    if proved or len(shape) < 2:
        return packed
    steps = [layout.broadcast_strides(facts, x.shape, x.strides, shape) for x in operands]
    order = list(range(len(shape)))[::-1]  # fastest first

    def compared(first: int, second: int) -> int:
        for strides in steps:
            a, b = facts.norm(strides[first]), facts.norm(strides[second])
            if facts.equal(a, 0) or facts.equal(b, 0):
                continue
            if not facts.equal(a, b):
                return -1 if facts.less(a, b) else 1
            if facts.less(shape[second], shape[first]):
                return 1
        return 0

    for k in range(1, len(order)):
        at = k
        for before in range(k - 1, -1, -1):
            said = compared(order[before], order[at])
            if said > 0:
                order[before], order[at] = order[at], order[before]
                at = before
            elif said < 0:
                break
    return layout.fresh_strides(shape, order[::-1])


def laid_out(ctx: Context, ref: ArrayRef, strides: tuple[Size, ...]) -> ArrayRef:
    """A fresh array with these strides."""
    norm = ctx.facts.norm
    if all(norm(a) == norm(b) for a, b in zip(ref.strides, strides, strict=True)):
        return ref
    kind = Array(ref.dtype, ref.shape, strides)
    return ctx.new(ctx.builder.emit("copy", (ctx.read(ref),), None, kind))


# ------------------------------------------------------------------ in place


def store(ctx: Context, target: Tensor, value: Tensor, what: str) -> Tensor:
    """``target.copy_(value)`` for what an operation in place computes."""
    have, want = value.memory, target.memory
    kinds = "biufc"
    if kinds.index(have.dtype.kind) > kinds.index(want.dtype.kind) and not (
        have.dtype.kind in "iu" and want.dtype.kind in "iu"
    ):
        raise ctx.refuse(what, f"of {have.dtype} into {want.dtype}")
    if len(have.shape) > len(want.shape):
        raise ctx.refuse(what, "of another shape: Python raises")
    writes(ctx, target, (), what)
    refuse_rounding_twice(ctx, have.dtype, want.dtype)
    try:
        wide = layout.broadcast_shapes(ctx.facts, have.shape, want.shape)
    except Refused:
        raise ctx.refuse(what, "of another shape: Python raises") from None
    if not all(map(ctx.facts.equal, wide, want.shape)):
        raise ctx.refuse(what, "of another shape: Python raises")
    ctx.write(want, ctx.builder.cast(ctx.read(have), want.dtype))
    return target


def writes(ctx: Context, target: Tensor, sources: Sequence[Operand], what: str) -> None:
    """Refuses to write where torch refuses, or does not say in which order it reads and writes:
    elements that share memory with one another or with those that are read."""
    ref = target.memory
    if not ref.writeable:
        raise ctx.refuse(what, "into the memory of a read-only array")
    for n, step in zip(ref.shape, ref.strides):
        still = ctx.facts.prove("==", step, 0) is not False and ctx.facts.equal(step, 0)
        if still and not ctx.facts.equal(n, 1):
            raise ctx.refuse(what, "several elements lie in one place: Python raises")
    for x in sources:
        if (
            isinstance(x, Tensor)
            and x.memory.storage is ref.storage
            and not same(ctx, ref, x.memory)
        ):
            raise ctx.refuse(what, "reads elements that it may write")


def same(ctx: Context, one: ArrayRef, other: ArrayRef) -> bool:
    """Whether views of one memory are the same elements in the same order."""
    a, b, facts = one.geometry, other.geometry, ctx.facts
    alike = a.shape == b.shape and a.strides == b.strides
    return alike and facts.prove("==", a.offset, b.offset) is True


def in_place(name: str, plain: Callable[..., Operand]) -> Callable[..., Operand]:
    """``Tensor.name_``: computes and writes into its first operand."""

    def call(ctx: Context, input: Operand, *args: Operand, **kwargs: Operand) -> Operand:
        if not isinstance(input, Tensor):
            raise ctx.refuse(f"{name}_", "of no tensor: Python raises")
        writes(ctx, input, (*args, *kwargs.values()), name)
        made = plain(ctx, input, *args, **kwargs)
        assert isinstance(made, Tensor)
        return store(ctx, input, made, name)

    return call
