"""How NumPy would lay arrays out: broadcasting, K order, coalescing.

The iterator's rules are NumPy's (NEP 10 and ``nditer``): axes of length 1 count as stride 0; two
axes keep their order unless an operand says otherwise and none says "keep"; the first operand
that has strides on both decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

from npcompile.core.errors import refuse
from npcompile.core.facts import Facts
from npcompile.core.sizes import Size, Unhinted, hint, is_known, lower_bound, poly
from npcompile.graph.types import c_strides


def broadcast_shapes(facts: Facts, *shapes: tuple[Size, ...]) -> tuple[Size, ...]:
    """NumPy's broadcasting of symbolic shapes; lengths not proved equal become guards,
    or checks where only the run can tell."""
    ndim = max(map(len, shapes), default=0)
    out: list[Size] = [1] * ndim
    for shape in shapes:
        for axis, size in enumerate(shape, ndim - len(shape)):
            have, size = facts.norm(out[axis]), facts.norm(size)
            if size == have or size == 1:
                continue
            if have == 1:
                out[axis] = size
            elif _value(size) == 1 and _value(have) != 1:
                facts.equal(size, 1)
            elif _value(have) == 1 and _value(size) != 1:
                facts.equal(have, 1)
                out[axis] = size
            elif facts.prove("==", have, size) is not False and _alike(have, size):
                facts.must("==", have, size)
                out[axis] = facts.norm(have)
            else:
                raise refuse("broadcast", f"shapes {shapes} don't match: Python raises")
    return tuple(out)


def _value(size: Size) -> int | None:
    """The size in the call at hand, None if only the run can tell."""
    try:
        return hint(size)
    except Unhinted:
        return None


def _alike(a: Size, b: Size) -> bool:
    """Whether two sizes are the same in the call at hand, or may be."""
    values = {_value(a), _value(b)}
    return len(values) == 1 or None in values


def broadcast_strides(
    facts: Facts, shape: tuple[Size, ...], strides: tuple[Size, ...], target: tuple[Size, ...]
) -> tuple[Size, ...]:
    """Strides of an operand over the broadcast shape: 0 along axes that it lacks or repeats."""
    lead = len(target) - len(shape)
    out: list[Size] = [0] * lead
    for size, stride, wide in zip(shape, strides, target[lead:], strict=True):
        size, wide = facts.norm(size), facts.norm(wide)
        repeated = size == 1 and wide != 1
        out.append(0 if repeated else stride)
    return tuple(out)


def magnitude(facts: Facts, stride: Size) -> Size:
    """The absolute value of a stride."""
    if isinstance(stride, int):
        return abs(stride)
    low = lower_bound(stride)
    if low is not None and low >= 0:
        return stride
    return stride if facts.at_most(0, stride) else -stride


def axis_order(
    facts: Facts, shape: tuple[Size, ...], operands: Sequence[tuple[Size, ...]],
    shapes: Sequence[tuple[Size, ...]] = (),
) -> tuple[int, ...]:
    """Axes from the slowest to the fastest, as ``nditer`` with order K sorts them.

    ``operands`` are the broadcast strides of each operand over ``shape``.  NumPy's ufuncs do
    without the iterator if all operands, these having the given ``shapes``, are one run of memory
    in the same order.
    """
    unit = [facts.norm(size) == 1 for size in shape]

    def keep(outer: int, inner: int) -> bool | None:
        """True: outer stays outside; False: swap; None: no operand says."""
        said: bool | None = None
        for strides in operands:
            a = 0 if unit[outer] else facts.norm(strides[outer])
            b = 0 if unit[inner] else facts.norm(strides[inner])
            if a == 0 or b == 0:
                continue
            if _reaches(facts, magnitude(facts, a), magnitude(facts, b)):
                return True
            said = False
        return said

    order = _sorted_axes(len(shape), keep)
    ordered = order == sorted(order) and (
        len(shape) < 3 or all(_descends(facts, strides, unit) for strides in operands))
    if not ordered:  # then axes of length 1 make a difference
        unit = _squeezed(facts, shape)
        order = _sorted_axes(len(shape), keep)
        if shapes and unit.count(False) < len(unit) and all(
                _same(facts, shapes[0], other) for other in shapes[1:]) and all(
                is_fortran(facts, shape, strides) for strides in operands):
            order = list(range(len(shape)))[::-1]
    return tuple(order)


def _descends(facts: Facts, strides: tuple[Size, ...], unit: Sequence[bool]) -> bool:
    """Whether no axis has longer strides than one before it, among those that have an order."""
    lengths = [
        magnitude(facts, stride) for stride, single in zip(strides, unit, strict=True)
        if not single and facts.norm(stride) != 0
    ]
    return all(_reaches(facts, outer, inner) for outer, inner in pairwise(lengths))


def _same(facts: Facts, one: tuple[Size, ...], other: tuple[Size, ...]) -> bool:
    """Whether two shapes are equal (asked, so it may guard)."""
    return len(one) == len(other) and all(map(facts.equal, one, other))


def is_fortran(facts: Facts, shape: tuple[Size, ...], strides: tuple[Size, ...]) -> bool:
    """Whether an array is Fortran contiguous and not C contiguous (asked, so it may guard)."""
    unit = _squeezed(facts, shape)
    return unit.count(False) > 1 and _is_run(facts, shape, strides, unit, fortran=True)


def _is_run(
    facts: Facts, shape: tuple[Size, ...], strides: tuple[Size, ...], unit: Sequence[bool],
    fortran: bool,
) -> bool:
    """Whether elements lie one after the other in an order of the axes, those of length 1 aside
    (asked, so it may guard)."""
    run: Size = 1
    axes = [axis for axis, single in enumerate(unit) if not single]
    for axis in axes if fortran else axes[::-1]:
        if not facts.equal(strides[axis], run):
            return False
        run = run * shape[axis]
    return True


def _sorted_axes(ndim: int, keep: Callable[[int, int], bool | None]) -> list[int]:
    """An insertion sort, from the fastest axis on, exactly as nditer does it."""
    order: list[int] = []
    for axis in reversed(range(ndim)):
        position = len(order)
        for k in range(len(order) - 1, -1, -1):
            verdict = keep(axis, order[k])
            if verdict is True:
                break
            if verdict is False:
                position = k
        order.insert(position, axis)
    return order[::-1]


def _squeezed(facts: Facts, shape: tuple[Size, ...]) -> list[bool]:
    """Which axes have length 1 (asked, so it may guard): these have no order."""
    return [facts.equal(size, 1) for size in shape]


def _reaches(facts: Facts, outer: Size, inner: Size) -> bool:
    """Whether one stride is at least as long as another.  A multiple is, unless an array is empty,
    and then nothing lies anywhere."""
    if not is_known(outer - inner):
        low = lower_bound(outer)
        if low is not None and low >= 0 and _divides(inner, outer):
            return True
    return facts.at_most(inner, outer)


def _divides(divisor: Size, size: Size) -> bool:
    """Whether each term of a size certainly is a multiple of another, of one term."""
    (atoms, factor), *more = poly(divisor).terms
    return not more and all(
        not coefficient % factor and not Counter(atoms) - Counter(term)
        for term, coefficient in poly(size).terms
    )


def fresh_strides(shape: tuple[Size, ...], order: Sequence[int]) -> tuple[Size, ...]:
    """Strides of a fresh array whose axes lie in memory in ``order``, slowest first."""
    strides: list[Size] = [0] * len(shape)
    packed = c_strides(tuple(shape[axis] for axis in order))
    for axis, stride in zip(order, packed, strict=True):
        strides[axis] = stride
    return tuple(strides)


def has_no_order(facts: Facts, shape: tuple[Size, ...], strides: tuple[Size, ...]) -> bool:
    """Whether NumPy gives stride 0 to all axes of an empty array: one with memory of its own."""
    norm = facts.norm
    return _is_dense(shape, strides) or _is_dense(
        tuple(map(norm, shape)), tuple(map(norm, strides)))


def k_strides(
    facts: Facts, shape: tuple[Size, ...], operands: Sequence[tuple[Size, ...]],
    shapes: Sequence[tuple[Size, ...]] = (),
) -> tuple[Size, ...]:
    """Strides that NumPy gives to a fresh result of operands with these broadcast strides."""
    return fresh_strides(shape, axis_order(facts, shape, operands, shapes))


def is_packed(facts: Facts, shape: tuple[Size, ...], strides: tuple[Size, ...]) -> bool:
    """Whether an array so laid out fills memory of its own: elements one after the other, in some
    order of its axes.  Axes of length 1 lie anywhere, and so do empty arrays."""
    norm = facts.norm  # it may know a size, and not a product of it
    return _fills(shape, strides) or _fills(tuple(map(norm, shape)), tuple(map(norm, strides)))


def is_packed_here(shape: tuple[Size, ...], strides: tuple[Size, ...]) -> bool:
    """The same in the call being traced; true if nothing is known of its sizes."""
    try:
        return _fills(tuple(map(hint, shape)), tuple(map(hint, strides)))
    except Unhinted:
        return True


def _fills(shape: tuple[Size, ...], strides: tuple[Size, ...]) -> bool:
    return 0 in shape or _is_dense(shape, strides)


def _is_dense(shape: tuple[Size, ...], strides: tuple[Size, ...]) -> bool:
    left = [axis for axis in zip(shape, strides) if axis[0] != 1]
    run: Size = 1
    while left:
        inner = next((axis for axis in left if axis[1] == run), None)
        if inner is None:
            return False
        left.remove(inner)
        run = run * inner[0]
    return True


def packed_strides(
    facts: Facts, shape: tuple[Size, ...], strides: tuple[Size, ...]
) -> tuple[Size, ...]:
    """These strides if an array of its own may have them, else those of a fresh copy.  What a
    view's strides say may be more than the memory of its elements, or less."""
    return strides if is_packed(facts, shape, strides) else k_strides(facts, shape, [strides])


def like_strides(
    facts: Facts, shape: tuple[Size, ...], strides: tuple[Size, ...],
    wanted: tuple[Size, ...] | None = None,
) -> tuple[Size, ...]:
    """Strides of a fresh array like another in order K, of its shape or a ``wanted`` one with as
    many axes: axes by the length of their strides, those of stride 0 too (results of operators,
    :func:`k_strides`, leave these where they are)."""
    made = shape if wanted is None else wanted
    if strides == c_strides(shape):
        return c_strides(made)
    ask_all_strides(facts, shape, strides)
    order = stride_order(facts, strides)
    if order != sorted(order):
        unit = _squeezed(facts, shape)
        if any(unit) and _is_run(facts, shape, strides, unit, fortran=False):
            return c_strides(made)
        if any(unit) and _is_run(facts, shape, strides, unit, fortran=True):
            order = list(range(len(shape)))[::-1]
    return fresh_strides(made, order)


def ask_all_strides(facts: Facts, shape: tuple[Size, ...], strides: tuple[Size, ...]) -> None:
    """Notes that an order of axes rests on their strides, of those of length 1 too."""
    if len(strides) > 1 and any(facts.prove("==", size, 1) is not False for size in shape):
        facts.rests_on_all_strides()


def stride_order(facts: Facts, strides: tuple[Size, ...]) -> list[int]:
    """Axes from the slowest to the fastest by the length of their strides, of equal ones the first
    is slower."""
    order: list[int] = []
    for axis in range(len(strides)):
        position = len(order)
        while position and facts.less(
            magnitude(facts, strides[order[position - 1]]), magnitude(facts, strides[axis])
        ):
            position -= 1
        order.insert(position, axis)
    return order


def coalesces(facts: Facts, outer: tuple[Size, Size], inner: tuple[Size, Size]) -> bool:
    """Whether two axes, (length, stride) each, are one run of memory (asked, so it may guard)."""
    return facts.equal(outer[1], inner[0] * inner[1])
