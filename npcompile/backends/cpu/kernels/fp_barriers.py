"""Values that LLVM might find not to matter, though computing them raises floating-point flags.

Arithmetic on floats is never folded away, as long as its result is used; of what a number is turned
into by a comparison or a conversion, LLVM may see that it makes no difference: ``(a / b > 0) *
0``.  Such a number gets a use of its own.
"""

from __future__ import annotations

from npcompile.graph.primitives import PRIMITIVES
from npcompile.program.ir import Apply, Constant, Kernel, Load, Value

#: operations on integers whose results always depend on the operand that is no constant
_FAITHFUL = frozenset({"add", "sub", "bit_xor", "neg", "bit_not", "cast", "eq", "ne", "from_bits"})
_ARMS = frozenset({"where", "rare"})
_LOGIC = frozenset({"bit_and", "bit_or", "bit_not"})
_COMPARISONS = frozenset({"lt", "le", "eq", "ne"})


def unsure(kernel: Kernel) -> frozenset[int]:
    """The positions of values that may raise flags and are not sure to be computed."""
    return _Sure(kernel).unsure()


class _Sure:
    """Which values are sure to be computed, from the last to the first."""

    def __init__(self, kernel: Kernel) -> None:
        self.values = kernel.values
        last = {store.buffer: store for store in kernel.stores}  # they may hide those before them
        values = {s.value for s in last.values() if not s.packed}  # those only where one is kept
        self.sure = values.union(v for s in last.values() for v in (s.mask, s.by) if v is not None)
        self.sure |= {reduce.value for reduce in kernel.reductions}
        self.sure |= {v.by for v in kernel.values if isinstance(v, Load) and v.by is not None}
        self.uses = [0] * len(kernel.values)
        for value in kernel.values:
            for arg in value.args if isinstance(value, Apply) else ():
                self.uses[arg] += 1

    def unsure(self) -> frozenset[int]:
        found = set()
        for position in range(len(self.values) - 1, -1, -1):
            value = self.values[position]
            if not isinstance(value, Apply):
                continue
            if position not in self.sure and _raises(value, self.values):
                found.add(position)
                self.sure.add(position)
            if position in self.sure:
                self.sure.update(a for a in value.args if self._matters(value, a))
        return frozenset(found)

    def _matters(self, value: Apply, arg: int) -> bool:
        """Whether LLVM can't see that an operand makes no difference."""
        others = [self.values[a] for a in value.args if a != arg]
        constants = [other.value for other in others if isinstance(other, Constant)]
        if value.op in _ARMS:
            if arg != value.args[0]:
                return len(others) > 1 and self._open(value.args[0]) and not self._joins(arg)
            return len(others) > 1 and not (len(constants) > 1 and constants[0] == constants[1])
        if self.values[arg].dtype.kind in "fc":
            return value.op != "copysign" and (value.dtype.kind in "fc" or self.uses[arg] == 1)
        if self.uses[arg] > 1 or value.args.count(arg) > 1:
            return False
        if not constants:
            return value.op in _FAITHFUL or all(self._free(a) for a in value.args if a != arg)
        return not self._narrow(arg) and (
            value.op in _FAITHFUL or constants[0] not in (0, 1, -1))

    def _free(self, position: int) -> bool:
        """Whether LLVM knows nothing of a number, as it does of the integer ``a - a``."""
        value = self.values[position]
        while isinstance(value, Apply) and len(value.args) == 1:
            position = value.args[0]
            value = self.values[position]
        if isinstance(value, Apply):
            return value.dtype.kind in "fc" or (value.dtype.kind == "b" and self._open(position))
        return isinstance(value, Load)

    def _joins(self, position: int) -> bool:
        """Whether it may become one masked instruction with the choice that it is an arm of, which
        computes it only where it is chosen."""
        value = self.values[position]
        return isinstance(value, Apply) and _raises(value, self.values)

    def _open(self, position: int) -> bool:
        """Whether a condition is not known to LLVM."""
        value = self.values[position]
        if not isinstance(value, Apply):
            return isinstance(value, Load)
        if value.op in _LOGIC:
            return len(set(value.args)) == len(value.args) and all(map(self._open, value.args))
        return value.op in _COMPARISONS and value.args[0] != value.args[1] and all(
            isinstance(self.values[a], Constant) or self._free(a) for a in value.args)

    def _narrow(self, position: int) -> bool:
        """Whether it is a bool, or a number made of one."""
        value = self.values[position]
        while isinstance(value, Apply) and value.op == "cast" and value.dtype.kind in "iu":
            position = value.args[0]
            value = self.values[position]
        return value.dtype.kind == "b"


def _raises(value: Apply, values: tuple[Value, ...]) -> bool:
    if value.op == "cast":
        return values[value.args[0]].dtype.kind in "fc"
    kind = values[value.args[-1]].dtype.kind
    return kind in "fc" and bool(PRIMITIVES[value.op].flags)
