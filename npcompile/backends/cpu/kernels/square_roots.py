"""Which square roots and quotients of float64 are computed by products: where the divider would
hold up all else.  Their code is in :mod:`.square_root_code`."""

from __future__ import annotations

import numpy as np

from npcompile.backends.cpu.llvm.text import REGISTER, LLVMFunction, Value
from npcompile.backends.target import Target
from npcompile.program.ir import Apply, Kernel, Load

#: what the divider and products take for a register, as times of an operation
COSTS = {"sqrt": (36, 17), "div": (24, 17)}
LINE = 11  # the same for 64 bytes of the last cache or memory, at their fastest
GAIN = 0.9  # of the time at most


def by_products(kernel: Kernel, target: Target, lanes: int, varies: list[bool],
                divisors: frozenset[int]) -> frozenset[int]:
    """The square roots and quotients of a kernel, if products are faster than the divider, which
    works beside them."""
    if not target.masks or lanes % REGISTER or kernel.reductions or kernel.in_order:
        return frozenset()
    slow = frozenset(
        p for p, v in enumerate(kernel.values)
        if isinstance(v, Apply) and varies[p] and v.op in COSTS and v.dtype == np.float64
        and v.args[-1] not in divisors
    )
    products, divider = _times(kernel, varies, slow)
    return slow if products <= GAIN * divider else frozenset()


def _times(kernel: Kernel, varies: list[bool], slow: frozenset[int]) -> tuple[int, int]:
    """What all operations take for a register by products, and what the divider takes."""
    moving = [v.op for p, v in enumerate(kernel.values) if isinstance(v, Apply) and varies[p]]
    costs = [COSTS[v.op] for p, v in enumerate(kernel.values) if p in slow and isinstance(v, Apply)]
    return len(moving) - len(costs) + sum(c for _, c in costs), sum(c for c, _ in costs)


def in_turns(kernel: Kernel, varies: list[bool], slow: frozenset[int]) -> bool:
    """Whether the divider is done with every other register before products are with both."""
    products, divider = _times(kernel, varies, slow)
    return divider < 2 * products


def hidden(kernel: Kernel, slow: frozenset[int]) -> bool:
    """Whether the divider is done before what a vector loads and stores has gone to the last cache
    or memory, so that products gain nothing there."""
    _, divider = _times(kernel, [True] * len(kernel.values), slow)
    loaded = {v.buffer for v in kernel.values if isinstance(v, Load) and v.at.coefficients[-1] != 0}
    touched = sum(b.dtype.itemsize for b in loaded | {s.buffer for s in kernel.stores})
    return divider <= LINE * touched * REGISTER // 64


def apply(f: LLVMFunction, op: str, operands: list[Value], in_turns: bool) -> Value:
    """``sqrt(x)`` or ``a / b`` in each lane; ``in_turns``: see :func:`in_turns`."""
    from npcompile.backends.cpu.kernels import square_root_code  # few kernels have one

    return square_root_code.apply(f, op, operands, in_turns)
