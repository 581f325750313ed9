"""Elements next to each other in a row, for several values of a kernel: a stencil's.

Vectors that begin a few elements apart cross lines of the cache, all but one, and are loaded in
two steps.  So those that begin within a register of each other are put together in registers, out
of the first of them and the last register of the last one.  Nothing is read that was not before.
"""

from __future__ import annotations

from collections.abc import Iterable

from npcompile.backends.cpu.llvm import access
from npcompile.backends.cpu.llvm.access import Address, ElementAddress, Lanes
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64
from npcompile.backends.target import Target
from npcompile.core.records import record
from npcompile.program.ir import Kernel, Load


@record
class ShiftedLoads:
    """Loads that differ in a constant, from the first to the last; lanes of a register."""

    address: Address
    first: int
    last: int
    register: int


Loaded = dict[ShiftedLoads, tuple[Value, Value]]  # the first vector and the last one


def runs(
    kernel: Kernel, target: Target, axis: int, lanes: int
) -> dict[int, tuple[ShiftedLoads, int]]:
    """The loads worth putting together of those with lanes along an axis, with their constants.
    Machines without AVX-512 have no one instruction for it."""
    if not target.masks or axis < 0:
        return {}
    found: dict[Address, dict[int, int]] = {}
    for position, value in enumerate(kernel.values):
        if (isinstance(value, Load) and value.by is None and value.at.coefficients[axis] == 1
                and value.buffer.dtype.kind != "c" and value.buffer.dtype.itemsize >= 4):
            address, constant = access.split(value.buffer, value.at)
            found.setdefault(address, {})[position] = constant
    made = {}
    for address, constants in found.items():
        register = target.width // address.buffer.dtype.itemsize
        count = lanes // register  # registers of a vector
        for near in _clusters(constants.values(), register):
            if lanes % register == 0 and count * len(near) > count + 1:
                run = ShiftedLoads(address, near[0], near[-1], register)
                made.update({p: (run, c) for p, c in constants.items() if c in near})
    return made


def beside(kernel: Kernel, made: dict[int, tuple[ShiftedLoads, int]]) -> list[Load]:
    """The loads that stand alone beside others that are put together, if all are of one array."""
    alone = [value for position, value in enumerate(kernel.values)
             if isinstance(value, Load) and position not in made and value.by is None
             and value.at.coefficients[-1] == 1]
    arrays = {(run.address.buffer, run.address.coefficients) for run, _ in made.values()}
    arrays |= {(load.buffer, load.at.coefficients) for load in alone}
    return alone if len(arrays) == 1 else []


def _clusters(constants: Iterable[int], register: int) -> list[list[int]]:
    """Constants in groups that lie within a register: where sizes are known, other rows are only
    further away."""
    found: list[list[int]] = []
    for constant in sorted(set(constants)):
        if found and constant - found[-1][0] <= register:
            found[-1].append(constant)
        else:
            found.append([constant])
    return found


def load(
    f: LLVMFunction,
    loaded: Loaded,
    run: ShiftedLoads,
    constant: int,
    place: ElementAddress,
    lanes: Lanes,
) -> Value:
    """The vector at a constant, which is at ``place``."""
    if run not in loaded:
        ends = [access.further(f, place, i64(end - constant)) for end in (run.first, run.last)]
        (first,), (last,) = [access.load(f, end, lanes) for end in ends]
        loaded[run] = first, last
    first, last = loaded[run]
    if constant == run.first:
        return first
    count, shift, back = first.lanes, constant - run.first, constant - run.last
    whole = count if back else count - run.register  # lanes that had better come from the first
    lane_of = [
        lane + shift if lane < whole and lane + shift < count else count + lane + back
        for lane in range(count)
    ]
    return f.shuffle(first, last, lane_of)
