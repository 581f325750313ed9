"""Sums, products, quotients, powers and signs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.paths import defer
from npcompile.graph.expression import (
    Expr,
    cast,
    complex_,
    const,
    copysign,
    floor,
    fmod,
    from_bits,
    ldexp,
    rare,
    sqrt,
    to_bits,
    trunc,
    where,
)
from npcompile.graph.ir import Const, Node, Reduction
from npcompile.graph.types import BOOL, Array, Scalar
from npcompile.ops.elementwise import (
    COMPLEX,
    FLOATS,
    INTS,
    NUMBERS,
    Program,
    Ufunc,
    loops,
    part,
    ufunc,
)
from npcompile.ops.operands import Context
from npcompile.ops.record import OPERATORS, SILENT, Errors

if TYPE_CHECKING:
    from npcompile.ops import complexes
else:
    defer(globals(), "npcompile.ops", "complexes")

REAL = INTS + FLOATS


def primitive(name: str, *args: Expr, dtype: np.dtype | None = None) -> Expr:
    """A primitive that has no function in :mod:`npcompile.graph.expression`."""
    first = args[0]
    return first.scope.emit(name, tuple(a.node for a in args), dtype or first.dtype)


def by_kind(**programs: Program | str) -> Program:
    """The program for the kind (``b i u f c``) of the first operand; ``iu`` names both.  One given
    by its name is a function of :mod:`npcompile.ops.complexes`."""
    table = {kind: program for kinds, program in programs.items() for kind in kinds}

    def run(*args: Expr) -> Any:
        program = table[args[0].dtype.kind]
        return (getattr(complexes, program) if isinstance(program, str) else program)(*args)

    return run


# ------------------------------------------------------------------ + - * /



def _no_reversed_singles(ctx: Context, nodes: tuple[Node, ...]) -> None:
    """NumPy doesn't fuse products of complex64 arrays that run backwards."""
    for node in nodes:
        if isinstance(node.type, Array) and node.dtype == np.complex64:
            for stride in node.type.strides:
                if not ctx.facts.at_most(0, stride):
                    raise ctx.refuse("complex product", "of complex64 with negative strides")


ufunc("add", loops("xx->x", "?" + NUMBERS),
      by_kind(b=lambda x, y: x | y, iuf=lambda x, y: x + y, c="cadd"),
      errors=Errors("oi"), of_scalars=True,
      doc="The sum.", fresh=True)
ufunc("subtract", loops("xx->x", NUMBERS),
      by_kind(iuf=lambda x, y: x - y, c="csub"), errors=Errors("oi"), of_scalars=True,
      doc="The difference.", fresh=True)
ufunc("multiply", loops("xx->x", "?" + NUMBERS),
      by_kind(b=lambda x, y: x & y, iuf=lambda x, y: x * y, c="cmul"),
      data=Ufunc(prepare=_no_reversed_singles), errors=Errors("oui"), of_scalars=True,
      doc="The product.", fresh=True)
ufunc("divide", loops("xx->x", FLOATS + COMPLEX),
      by_kind(f=lambda x, y: x / y, c="cdiv"),
      errors=Errors("douI", integers="doui"), of_scalars=True,
      doc="The quotient, correctly rounded.", fresh=True)
ufunc("negative", loops("x->x", NUMBERS), by_kind(iuf=lambda x: -x, c="cneg"), errors=SILENT,
      doc="-x", fresh=True)
ufunc("positive", loops("x->x", NUMBERS), lambda x: x, errors=SILENT, doc="A copy.")
ufunc("square", loops("x->x", NUMBERS),
      by_kind(iuf=lambda x: x * x, c="csquare"),
      data=Ufunc(prepare=_no_reversed_singles), errors=Errors("oui"), doc="x * x")
ufunc("reciprocal", loops("x->x", FLOATS + COMPLEX),
      by_kind(f=lambda x: 1.0 / x, c="creciprocal"), errors=Errors("doui"), doc="1 / x")


def elsewhere(name: str) -> Program:
    """The program of a record that belongs to the special functions."""

    def run(*args: Expr) -> Expr:
        program = OPERATORS[name].lower
        assert callable(program)
        found: Expr = program(*args)
        return found

    return run


ufunc("sqrt", loops("x->x", FLOATS + COMPLEX), by_kind(f=sqrt, c=elsewhere("sqrt.complex")),
      ulp=dict.fromkeys(COMPLEX, 2.0), errors=Errors("I", "ui"),
      doc="The square root; of reals correctly rounded.", fresh=True, eager=True)


# ------------------------------------------------------------------ // %


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


# ------------------------------------------------------------------ magnitude and sign


hypot = elsewhere("hypot")


def _needs_hypot(ctx: Context, nodes: tuple[Node, ...]) -> None:
    if nodes[0].dtype.kind == "c" and "hypot" not in OPERATORS:
        raise ctx.refuse("absolute", "of complex numbers needs hypot")


ufunc("absolute", loops("x->x", "?" + REAL) + " F->f D->d",
      by_kind(bu=lambda x: x, i=abs, f=abs, c=lambda z: hypot(*complexes.parts(z))),
      data=Ufunc(prepare=_needs_hypot), ulp={"f": 1.0, "d": 1.0}, errors=Errors(complexes="ou"),
      doc="The magnitude.", eager=True)
ufunc("fabs", loops("x->x", FLOATS), abs, errors=SILENT, doc="The magnitude, as a float.")


def _sign(x: Expr) -> Expr:
    return where(x > 0, 1.0, where(x < 0, -1.0, where(x == 0, 0.0, x)))


def _complex_sign(z: Expr) -> Expr:
    """``z / abs(z)``; of infinities the nearest axis, NaN of two."""
    (a, b), size = complexes.parts(z), hypot(*complexes.parts(z))
    endless, nothing = size == float("inf"), size == 0
    safe = where(endless | nothing, 1.0, size)
    ends = [where(abs(x) == float("inf"), copysign(1.0, x), 0.0) for x in (a, b)]
    both = (ends[0] != 0) & (ends[1] != 0)
    ends = [where(both, float("nan"), x) for x in ends]
    tame = [where(endless | nothing, 0.0, x) / safe for x in (a, b)]
    re, im = (where(endless, end, x) for end, x in zip(ends, tame))
    nan = size != size
    return complex_(where(nan, size, re), where(nan, size, im))


ufunc("sign", loops("x->x", NUMBERS),
      by_kind(u=lambda x: where(x > 0, const(1, x), 0), f=_sign, c=_complex_sign,
              i=lambda x: where(x > 0, const(1, x), where(x < 0, const(-1, x), 0))),
      ulp=dict.fromkeys(COMPLEX, 2.0), errors=Errors(complexes="oui"),
      doc="-1, 0 or 1; NaN of NaN.", eager=True)
ufunc("copysign", loops("xx->x", FLOATS), copysign, errors=SILENT,
      doc="Magnitude of x1, sign of x2.")
ufunc("signbit", loops("x->?", FLOATS), lambda x: to_bits(x) < 0, errors=SILENT,
      doc="Whether the sign is set.")


def _heaviside(x: Expr, at_zero: Expr) -> Expr:
    return where(x == 0, at_zero, where(x < 0, 0.0, where(x > 0, 1.0, x)))


ufunc("heaviside", loops("xx->x", FLOATS), _heaviside, doc="The step function.")


def _angle_scale(numerator: str) -> Program:
    """Constants computed in the operand's own precision, as NumPy does."""

    def run(x: Expr) -> Expr:
        kind: Any = x.dtype.type
        pi, half_turn = kind(np.pi), kind(180)
        scaled: Expr = x * (pi / half_turn if numerator == "pi" else half_turn / pi)
        return scaled

    return run


for _name, _numerator, _errors in (("deg2rad", "pi", "u"), ("radians", "pi", "u"),
                                   ("rad2deg", "180", "ou"), ("degrees", "180", "ou")):
    ufunc(_name, loops("x->x", FLOATS), _angle_scale(_numerator), errors=Errors(_errors),
          doc="Angles, converted.")


# ------------------------------------------------------------------ powers

FAST_EXPONENTS = (-1.0, 0.0, 0.5, 1.0, 2.0)


def static_value(node: Node) -> Any:
    """The number of a constant, else None."""
    return node.attrs.value if isinstance(node.attrs, Const) and node.op == "const" else None


def _check_exponents(ctx: Context, nodes: tuple[Node, ...]) -> None:
    """Negative powers of integers raise; float powers that aren't exact need ``pow``."""
    base, exponent = nodes
    value = static_value(exponent)
    if base.dtype.kind == "i":
        if value is not None and value < 0:
            raise ctx.refuse("power", "an integer to a negative power: Python raises")
        if value is None:
            _check_not_negative(ctx, exponent)
    elif base.dtype.kind == "f" and value not in FAST_EXPONENTS and "pow" not in OPERATORS:
        raise ctx.refuse("power", "of floats needs pow")
    elif base.dtype == np.float16 and value == 0.5:
        raise ctx.refuse("power", "of float16 by 0.5: NumPy's depends on how it is called")


def _check_not_negative(ctx: Context, exponent: Node) -> None:
    b = ctx.builder
    good = b.map("le", (b.const(exponent.dtype.type(0)), exponent), np.bool_)
    if isinstance(good.type, Array):
        axes = tuple(range(good.type.ndim))
        good = b.emit("reduce", (good,), Reduction("all", axes, False, BOOL), Scalar(BOOL, "np"))
    b.check(good, "power: an integer to a negative power raises")


def _int_power(base: Expr, exponent: Expr) -> Expr:
    """Square and multiply over the exponent's bits; products wrap."""
    value = static_value(exponent.node)
    bits = exponent.dtype.itemsize * 8 if value is None else int(value).bit_length()
    result: Expr | None = None
    for bit in range(bits):
        if value is None:
            chosen = ((exponent >> bit) & 1) != 0
            result = where(chosen, base, 1) if result is None else where(
                chosen, result * base, result)
        elif int(value) >> bit & 1:
            result = base if result is None else result * base
        if bit + 1 < bits:
            base = base * base
    return const(1, base) if result is None else result


pow_ = elsewhere("pow")


def _float_power(base: Expr, exponent: Expr) -> Expr:
    value = static_value(exponent.node)
    if value == -1.0:
        return 1.0 / base
    if value == 0.0:
        return const(1.0, base)
    if value in (0.5, 1.0, 2.0):
        chosen: Expr = sqrt(base) if value == 0.5 else base if value == 1.0 else base * base
        return chosen
    found: Expr = pow_(base, exponent)
    if isinstance(exponent.node.type, Scalar):
        # NumPy takes the root where one exponent serves all elements; they differ at two points
        root = exponent == 0.5
        found = where(root & (base == 0), base, found)
        found = where(root & (base == float("-inf")), float("nan"), found)
    return found


def _of_exponent(node: Node) -> str | None:
    """The errors that floats to a known power report."""
    exponent = static_value(node.args[-1])
    if node.dtype.kind != "f" or exponent is None or not (value := complex(exponent).real) >= 0:
        return None
    return "ou" if value.is_integer() else "oui"


POWER_ERRORS = Errors("douI", of_node=_of_exponent)

ufunc("power", loops("xx->x", NUMBERS), by_kind(iu=_int_power, f=_float_power, c=pow_),
      data=Ufunc(prepare=_check_exponents), ulp={"e": 1.0, "f": 1.0, "d": 1.0, "F": 8.0, "D": 8.0},
      errors=POWER_ERRORS, of_scalars=True,
      doc="x1 ** x2; exponents -1, 0, 0.5, 1 and 2 are exact.", fresh=True, eager=True)

part("scalar_power", loops("xx->x", FLOATS), "operator:pow", pow_,
     ulp={"e": 1.0, "f": 1.0, "d": 1.0}, errors=POWER_ERRORS,
     doc="x1 ** x2 of scalars: always pow.", fresh=True)

# ------------------------------------------------------------------ floats taken apart

ufunc("ldexp", " ".join(f"{f}{i}->{f}" for f in FLOATS for i in "il"), ldexp,
      errors=Errors("ou"), doc="x1 * 2**x2, rounded once.")


def modf_fraction(x: Any) -> Any:
    """The reference of ``modf.fraction``."""
    return np.modf(x)[0]


def modf_whole(x: Any) -> Any:
    """The reference of ``modf.whole``."""
    return np.modf(x)[1]


def frexp_mantissa(x: Any) -> Any:
    """The reference of ``frexp.mantissa``."""
    return np.frexp(x)[0]


def frexp_exponent(x: Any) -> Any:
    """The reference of ``frexp.exponent``."""
    return np.frexp(x)[1]


def _fraction(x: Expr) -> Expr:
    endless = abs(x) == float("inf")
    finite = where(endless, 0.0, x)
    return copysign(finite - trunc(finite), x)


_HERE = "npcompile.ops.arithmetic"
part("modf.fraction", loops("x->x", FLOATS), f"{_HERE}:modf_fraction", _fraction)
part("modf.whole", loops("x->x", FLOATS), f"{_HERE}:modf_whole", trunc)
ufunc("modf", loops("x->xx", FLOATS), None, data=Ufunc(("modf.fraction", "modf.whole")),
      doc="Fractional and integral part.")


def _frexp_parts(x: Expr) -> tuple[Expr, Expr, Expr]:
    """Whether x is finite and not 0, the bits of x scaled out of the subnormals, its exponent."""
    digits, bias = (52, 1023) if x.dtype.itemsize == 8 else (23, 127)
    ordinary = (x != 0) & (abs(x) < float("inf"))
    small = abs(x) < float(np.finfo(x.dtype).tiny)
    bits = to_bits(where(small, where(small, x, 0.0) * 2.0**64, x))
    raw = (bits >> digits) & (2 * bias + 1)
    return ordinary, bits, raw - (bias - 1) - where(small, const(64, bits), 0)


def _mantissa(x: Expr) -> Expr:
    digits, bias = (52, 1023) if x.dtype.itemsize == 8 else (23, 127)
    ordinary, bits, _ = _frexp_parts(x)
    kept = bits & ~((2 * bias + 1) << digits)
    return where(ordinary, from_bits(kept | ((bias - 1) << digits)), x)


def _exponent(x: Expr) -> Expr:
    ordinary, _, exponent = _frexp_parts(x)
    return cast(where(ordinary, exponent, 0), np.int32)


part("frexp.mantissa", loops("x->x", FLOATS), f"{_HERE}:frexp_mantissa", _mantissa)
part("frexp.exponent", loops("x->i", FLOATS), f"{_HERE}:frexp_exponent", _exponent)
ufunc("frexp", loops("x->xi", FLOATS), None, data=Ufunc(("frexp.mantissa", "frexp.exponent")),
      doc="Mantissa in [0.5, 1) and exponent of 2.")
