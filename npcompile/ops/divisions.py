"""Quotients rounded down, and remainders."""

from __future__ import annotations

from npcompile.graph.expression import Expr, copysign, floor, fmod, rare, where
from npcompile.ops.arithmetic import REAL, by_kind, primitive
from npcompile.ops.elementwise import Ufunc, loops, ufunc
from npcompile.ops.record import Errors


def _float_remainder(a: Expr, b: Expr) -> Expr:
    """CPython's and NumPy's: the sign of ``b``, -0.0 and 0.0 too; NaN for ``b == 0``."""
    rest = fmod(a, b)
    moved = where((b < 0) != (rest < 0), rest + b, rest)
    return where(b == 0, rest, where(rest == 0, copysign(0.0, b), moved))


def _float_floor_divide(a: Expr, b: Expr) -> Expr:
    """npy_floor_divide and CPython's float_floor_div: the quotient of ``a - a % b``."""
    down = primitive("floor_quotient", a, b)
    far = down != down
    return rare(far, _far_floor_divide(a, b, far), down)


def _far_floor_divide(a: Expr, b: Expr, far: Expr) -> Expr:
    """The same for any quotient.  Division by 0 sets the flags of ``a / b`` and no others."""
    quotient = a / b
    some = far & (b != 0)
    dividend, divisor = where(some, a, 0.0), where(some, b, 1.0)
    rest = fmod(dividend, divisor)
    exact = (dividend - rest) / divisor
    exact = where((rest != 0) & ((divisor < 0) != (rest < 0)), exact - 1.0, exact)
    down = floor(exact)
    down = where(exact - down > 0.5, down + 1.0, down)
    snapped = where(exact == 0, copysign(0.0, quotient), down)
    return where(b == 0, quotient, snapped)


def _int_fmod(a: Expr, b: Expr) -> Expr:
    """The sign of ``a``, as C has it; 0 for ``b == 0``."""
    rest = primitive("int_mod", a, b)
    if a.dtype.kind == "u":
        return rest
    return where((rest != 0) & ((a < 0) != (b < 0)), rest - b, rest)


def _int_divide(a: Expr, b: Expr) -> Expr:
    return primitive("int_div", a, b)


def _int_remainder(a: Expr, b: Expr) -> Expr:
    return primitive("int_mod", a, b)


ufunc("floor_divide", loops("xx->x", REAL), by_kind(iu=_int_divide, f=_float_floor_divide),
      errors=Errors("douI", integers="do"), of_scalars=True,
      doc="The quotient rounded down; of integers by 0: 0.")
ufunc("remainder", loops("xx->x", REAL), by_kind(iu=_int_remainder, f=_float_remainder),
      errors=Errors("I", integers="d"), of_scalars=True,
      doc="The remainder with the divisor's sign.")
ufunc("fmod", loops("xx->x", REAL), by_kind(iu=_int_fmod, f=fmod),
      errors=Errors("I", integers="d"), doc="The remainder with the dividend's sign.")
ufunc("divmod", loops("xx->xx", REAL), None, data=Ufunc(("floor_divide", "remainder")),
      errors=Errors("douI", integers="do"), of_scalars=True, doc="floor_divide and remainder.")
