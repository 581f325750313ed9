"""``np.einsum`` of one and two operands, and the products that are generalised ufuncs."""

from __future__ import annotations

import numpy as np

from npcompile.core.sizes import Size, product
from npcompile.graph import layout
from npcompile.graph.types import SUPPORTED, Array
from npcompile.ops import arguments, views
from npcompile.ops.arguments import as_array, program
from npcompile.ops.contraction import batched, contract
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.record import OPERATORS

EINSUM = arguments.program_kind("einsum")


@program(EINSUM, "einsum", guarantee="none")
def einsum(ctx: Context, subscripts: Operand, *operands: Operand,
           optimize: Operand = False) -> Operand:
    """Sums of products, told by the letters of axes."""
    if not isinstance(subscripts, str) or arguments.static(optimize) is not False:
        raise ctx.refuse("einsum", "subscripts that are no string, or optimize=")
    words, out = _parsed(ctx, subscripts, len(operands))
    refs = [as_array(ctx, x) for x in operands]
    sizes = _sizes(ctx, words, refs)
    if len(refs) == 1:
        return _one(ctx, refs[0], words[0], out)
    if any(len(set(word)) < len(word) for word in words):
        raise ctx.refuse("einsum", "a diagonal of one of several operands")
    (a, b), (left, right) = refs, words
    summed = [c for c in left if c in right and c not in out]
    if set(left + right) - set(out) - set(summed):
        raise ctx.refuse("einsum", "a sum over an axis of one operand alone")
    dtype = np.result_type(a.dtype, b.dtype)
    if dtype.char not in SUPPORTED:
        raise ctx.refuse("einsum", f"dtype {dtype}")
    kind = Array(dtype, tuple(sizes[c] for c in out), _strides(ctx, refs, words, out, sizes))
    if not summed:
        return _products(ctx, refs, words, out, kind)
    if len(summed) > 1:
        a, left = _joined(ctx, a, left, summed)
        b, right = _joined(ctx, b, right, summed)
    return contract(ctx, "einsum", f"{left},{right}->{out}", a, b, kind, quiet=True)


def _parsed(ctx: Context, subscripts: str, count: int) -> tuple[list[str], str]:
    """The letters of each operand and of the result."""
    text = subscripts.replace(" ", "")
    head, arrow, out = text.partition("->")
    words = head.split(",")
    letters = head.replace(",", "") + out
    if len(words) != count or count > 2 or not all(c.isascii() and c.isalpha() for c in letters):
        raise ctx.refuse("einsum", "of more than two operands, or with an ellipsis")
    if not arrow:
        everything = "".join(words)
        out = "".join(sorted(c for c in set(everything) if everything.count(c) == 1))
    if len(set(out)) < len(out) or not set(out) <= set("".join(words)):
        raise ctx.refuse("einsum", "letters of the result: Python raises")
    return words, out


def _sizes(ctx: Context, words: list[str], refs: list[ArrayRef]) -> dict[str, Size]:
    sizes: dict[str, Size] = {}
    for word, ref in zip(words, refs, strict=True):
        if len(word) != ref.ndim:
            raise ctx.refuse("einsum", "as many letters as axes: Python raises")
        for letter, n in zip(word, ref.shape):
            if not ctx.facts.equal(sizes.setdefault(letter, n), n):
                raise ctx.refuse("einsum", "axes of one letter that differ")
    return sizes


def _strides(ctx: Context, refs: list[ArrayRef], words: list[str], out: str,
             sizes: dict[str, Size]) -> tuple[Size, ...]:
    """The result's, as the iterator over all letters lays it out (order K)."""
    letters = out + "".join(sorted(set("".join(words)) - set(out)))
    shape = tuple(sizes[c] for c in letters)
    steps = [tuple(dict(zip(word, ref.strides)).get(c, 0) for c in letters)
             for word, ref in zip(words, refs, strict=True)]
    order = layout.axis_order(ctx.facts, shape, steps)
    return layout.fresh_strides(shape[: len(out)], [k for k in order if k < len(out)])


def _one(ctx: Context, ref: ArrayRef, word: str, out: str) -> Operand:
    """A view: axes permuted, or a diagonal."""
    if set(word) != set(out):
        raise ctx.refuse("einsum", "sums of one operand")
    steps = {c: sum(s for d, s in zip(word, ref.strides) if d == c) for c in out}
    shape = dict(zip(word, ref.shape))
    return arguments.view(ref, [shape[c] for c in out], [steps[c] for c in out])


def _products(ctx: Context, refs: list[ArrayRef], words: list[str], out: str,
              kind: Array) -> Operand:
    """Each element by each, nothing summed."""
    if kind.dtype.kind == "c":
        raise ctx.refuse("einsum", "products of complex numbers without a sum")
    wide = [
        arguments.view(ref, [n if c in word else 1 for c, n in zip(out, kind.shape)],
                       [dict(zip(word, ref.strides)).get(c, 0) for c in out])
        for ref, word in zip(refs, words, strict=True)
    ]
    times = OPERATORS["multiply"]
    found = times.kind.call(times, ctx, tuple(wide), {})
    if not out or found.type == kind:
        return found
    return ctx.new(ctx.builder.emit("copy", (ctx.read(found),), None, kind))


def _joined(ctx: Context, ref: ArrayRef, word: str, summed: list[str]) -> tuple[ArrayRef, str]:
    """Several letters as one axis, the last."""
    kept = [c for c in word if c not in summed]
    ordered = views.permuted(ref, [word.index(c) for c in (*kept, *summed)])
    shape = ordered.shape[: len(kept)]
    length = product(ordered.shape[len(kept) :])
    return views.reshaped(ctx, ordered, (*shape, length)), "".join(kept) + summed[0]


# ------------------------------------------------------------------ generalised ufuncs


def _gufunc(ctx: Context, name: str, operands: tuple[Operand, Operand], cores: tuple[str, str],
            out: str) -> Operand:
    """A product over the axis k of arrays whose last axes are told by letters."""
    refs = [as_array(ctx, x) for x in operands]
    if any(ref.ndim < len(core) for ref, core in zip(refs, cores)):
        raise ctx.refuse(name, "of too few axes: Python raises")
    lengths = [ref.shape[ref.ndim - len(core) + core.index("k")]
               for ref, core in zip(refs, cores)]
    if not ctx.facts.equal(*lengths):
        raise ctx.refuse(name, "lengths differ: Python raises")
    if any(ref.dtype.kind == "c" for ref in refs) or refs[0].dtype != refs[1].dtype:
        raise ctx.refuse(name, "of complex numbers or different dtypes")
    batch = layout.broadcast_shapes(
        ctx.facts, *(ref.shape[: ref.ndim - len(core)] for ref, core in zip(refs, cores)))
    wide = [views.broadcast(ctx, ref, (*batch, *ref.shape[ref.ndim - len(core) :]))
            for ref, core in zip(refs, cores)]
    letters = "abcdefgh"[: len(batch)]
    sizes = {c: n for ref, core in zip(refs, cores)
             for c, n in zip(core, ref.shape[ref.ndim - len(core) :])}
    spec = f"{letters}{cores[0]},{letters}{cores[1]}->{letters}{out}"
    kind = batched(ctx, refs[0].dtype, batch, tuple(sizes[c] for c in out), wide)
    return contract(ctx, name, spec, wide[0], wide[1], kind)


@program(EINSUM, "vecdot", "numpy:linalg.vecdot", guarantee="none")
def vecdot(ctx: Context, x1: Operand, x2: Operand, /) -> Operand:
    """Dot products along the last axis."""
    return _gufunc(ctx, "vecdot", (x1, x2), ("k", "k"), "")


@program(EINSUM, "matvec", guarantee="none")
def matvec(ctx: Context, x1: Operand, x2: Operand, /) -> Operand:
    """Matrices times vectors."""
    return _gufunc(ctx, "matvec", (x1, x2), ("mk", "k"), "m")


@program(EINSUM, "vecmat", guarantee="none")
def vecmat(ctx: Context, x1: Operand, x2: Operand, /) -> Operand:
    """Vectors times matrices."""
    return _gufunc(ctx, "vecmat", (x1, x2), ("k", "km"), "m")
