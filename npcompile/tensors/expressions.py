"""Compositions: functions of torch's written with its own operators and methods.

A composition is a function in Python of :class:`TensorExpr` and constants.  Its parameters are
torch's; ``dtypes`` are the kinds of dtype that its tensors may have, so that torch itself says what
it thinks of others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from npcompile.core.errors import Refused
from npcompile.core.sizes import Size
from npcompile.graph.ir import Node
from npcompile.ops import python
from npcompile.ops.arguments import signature, static
from npcompile.ops.operands import Context, Operand, Tensor
from npcompile.tensors.elementwise import HALF
from npcompile.tensors.tensor_functions import MEANINGS, enter_names

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: torch's names of Python's operators
OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "&": "bitwise_and", "|": "bitwise_or",
    "^": "bitwise_xor", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne",
    "@": "matmul", "**": "pow", "//": "floor_divide", "%": "remainder",
    "<<": "bitwise_left_shift", ">>": "bitwise_right_shift",
}
UNARY = {"-": "neg", "+": "positive", "~": "bitwise_not"}


class TensorExpr:
    """A tensor, or a number that only the run knows, in a composition."""

    __slots__ = ("ctx", "operand")

    def __init__(self, ctx: Context, operand: Operand) -> None:
        self.ctx, self.operand = ctx, operand

    # ------------------------------------------------------------------ of tensors

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def shape(self) -> tuple[Size, ...]:
        """The lengths of the axes; of a number, none."""
        found: tuple[Size, ...] = (
            self.operand.memory.shape if isinstance(self.operand, Tensor) else ())
        return found

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""
        held = self.operand.memory if isinstance(self.operand, Tensor) else self.operand
        return np.dtype(held.dtype)

    def refuse(self, reason: str) -> Refused:
        """Makes the refusal that leaves a call to torch."""
        return self.ctx.refuse("torch", reason)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        meaning = MEANINGS.get(f"Tensor.{name}") or MEANINGS[name]

        def called(*args: Any, **kwargs: Any) -> Any:
            given = {key: plain(value) for key, value in kwargs.items()}
            return wrapped(self.ctx, meaning(self.ctx, self.operand, *map(plain, args), **given))

        return called

    def do(self, path: str, *args: Any, **kwargs: Any) -> Any:
        """``torch.path(self, ...)``"""
        given = {key: plain(value) for key, value in kwargs.items()}
        meaning = MEANINGS[path]
        return wrapped(self.ctx, meaning(self.ctx, self.operand, *map(plain, args), **given))

    def do_pair(self, path: str, left: Any, right: Any) -> Any:
        """``torch.path(left, right)``, either of which may be a number."""
        meaning = MEANINGS[path]
        return wrapped(self.ctx, meaning(self.ctx, plain(left), plain(right)))

    # ------------------------------------------------------------------ operators

    def _binary(self, symbol: str, left: Any, right: Any) -> Any:
        pair = plain(left), plain(right)
        if not any(isinstance(x, Tensor) for x in pair):
            return wrapped(self.ctx, python.binary(self.ctx, symbol, *pair))
        meaning = MEANINGS[OPERATORS[symbol]]
        return wrapped(self.ctx, meaning(self.ctx, *pair))

    def __add__(self, other: Any) -> Any:
        return self._binary("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._binary("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return self._binary("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._binary("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return self._binary("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._binary("*", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._binary("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._binary("/", other, self)

    def __pow__(self, other: Any) -> Any:
        return self._binary("**", self, other)

    def __and__(self, other: Any) -> Any:
        return self._binary("&", self, other)

    def __or__(self, other: Any) -> Any:
        return self._binary("|", self, other)

    def __lt__(self, other: Any) -> Any:
        return self._binary("<", self, other)

    def __le__(self, other: Any) -> Any:
        return self._binary("<=", self, other)

    def __gt__(self, other: Any) -> Any:
        return self._binary(">", self, other)

    def __ge__(self, other: Any) -> Any:
        return self._binary(">=", self, other)

    def __eq__(self, other: object) -> Any:
        return self._binary("==", self, other)

    def __ne__(self, other: object) -> Any:
        return self._binary("!=", self, other)

    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Any:
        return self * -1 if not isinstance(self.operand, Tensor) else self.do("neg")

    def __invert__(self) -> Any:
        return self.do("bitwise_not")

    def __matmul__(self, other: Any) -> Any:
        return self._binary("@", self, other)

    def __bool__(self) -> bool:
        raise self.refuse("an option that only the run knows")


def wrapped(ctx: Context, value: Operand) -> Any:
    """An operand for a composition: constants are Python's own."""
    known = static(value)
    if isinstance(known, (Tensor, Node)):
        return TensorExpr(ctx, known)
    if isinstance(known, (tuple, list)):
        items = [wrapped(ctx, item) for item in known]
        return items if type(known) is list else tuple(items)
    return known


def plain(value: Any) -> Operand:
    """What a composition gives, as an operand."""
    if isinstance(value, TensorExpr):
        return value.operand
    if hasattr(value, "_fields"):
        return type(value)(tuple(map(plain, value)))
    if isinstance(value, (tuple, list)):
        return type(value)(map(plain, value))
    return value


def _kinds(value: Any) -> set[str]:
    """The kinds of dtype of the tensors in a value; that of float16 is ``h``."""
    if isinstance(value, TensorExpr) and isinstance(value.operand, Tensor):
        return {"h" if value.dtype == HALF else value.dtype.kind}
    if isinstance(value, (tuple, list)):
        return set().union(*map(_kinds, value))
    return set()


def composition(
    *paths: str, dtypes: str = "f", method: bool = True
) -> Callable[[_Function], _Function]:
    """Enters a composition under paths; a path without a dot is a ``method``, too."""

    def enter(function: _Function) -> _Function:
        def called(ctx: Context, *args: Operand, **kwargs: Operand) -> Operand:
            try:
                bound = signature(function).bind(*args, **kwargs)
            except TypeError as error:
                raise ctx.refuse(paths[0], str(error)) from None
            given = [wrapped(ctx, x) for x in bound.args]
            named = {key: wrapped(ctx, x) for key, x in bound.kwargs.items()}
            kinds = set().union(*map(_kinds, (*given, *named.values())))
            if not kinds <= set(dtypes):
                raise ctx.refuse(paths[0], "of tensors of a dtype that torch has rules for")
            return plain(function(*given, **named))

        enter_names(called, paths, method)
        return function

    return enter
