"""Records of the elementary functions; their programs are in the modules beside this one."""

from __future__ import annotations

import numpy as np

from npcompile.ops.complexes import is_complex
from npcompile.ops.elementwise import (
    COMPLEX,
    Program,
    composed,
    lift,
    loops,
    part,
    run,
    ufunc,
)
from npcompile.ops.operands import Context, Operand
from npcompile.ops.powers import POWER_ERRORS
from npcompile.ops.record import SILENT, Domain, Errors
from npcompile.special.complex import (
    complex_exponential,
    complex_inverse,
    complex_logarithm,
    complex_powers,
)
from npcompile.special.elementary import (
    circular,
    exponential,
    hyperbolic,
    inverse_circular,
    inverse_hyperbolic,
    logarithm,
    powers,
    roots,
)
from npcompile.special.elementary_derivatives import DERIVATIVES

REALS = "efd"  # float16 is computed in float32 and rounded once
HUGE = 1e300

#: name, program, largest error in ulp, where it is tested, floating-point errors, doc
_UNARY: list[tuple[str, Program, float, Domain, Errors, str]] = [
    ("exp", exponential.exp, 0.75, Domain(-750, 715), Errors("ou", "oui"), "e**x"),
    ("exp2", exponential.exp2, 0.75, Domain(-1080, 1030), Errors("ou", "oui"), "2**x"),
    ("expm1", hyperbolic.expm1, 0.75, Domain(-50, 715), Errors("ou", "oui"), "e**x - 1"),
    ("log", logarithm.log, 0.75, Domain(-1, HUGE), Errors("dI"), "The natural logarithm."),
    ("log2", logarithm.log2, 0.75, Domain(-1, HUGE), Errors("dI"), "The logarithm to base 2."),
    ("log10", logarithm.log10, 0.75, Domain(-1, HUGE), Errors("dI"), "The logarithm to base 10."),
    ("log1p", logarithm.log1p, 0.75, Domain(-2, HUGE), Errors("dI"), "log(1 + x)"),
    ("sin", circular.sin, 0.75, Domain(-HUGE, HUGE), Errors("i", "oui"), "The sine."),
    ("cos", circular.cos, 0.75, Domain(-HUGE, HUGE), Errors("i", "oui"), "The cosine."),
    ("tan", circular.tan, 0.75, Domain(-HUGE, HUGE), Errors("i", "oui"), "The tangent."),
    ("sinh", hyperbolic.sinh, 1.0, Domain(-720, 720), Errors("ou", "oui"), "The hyperbolic sine."),
    ("cosh", hyperbolic.cosh, 1.0, Domain(-720, 720), Errors("ou", "oui"),
     "The hyperbolic cosine."),
    ("tanh", exponential.tanh, 0.75, Domain(-25, 25), Errors("", "oui"), "The hyperbolic tangent."),
    ("arctan", inverse_circular.arctan, 0.75, Domain(-HUGE, HUGE), Errors("", "doui"),
     "The inverse tangent."),
    ("arcsin", inverse_circular.arcsin, 1.0, Domain(-1.1, 1.1), Errors("I"), "The inverse sine."),
    ("arccos", inverse_circular.arccos, 1.0, Domain(-1.1, 1.1), Errors("I"), "The inverse cosine."),
    ("arcsinh", inverse_hyperbolic.arcsinh, 0.75, Domain(-HUGE, HUGE), SILENT,
     "The inverse hyperbolic sine."),
    ("arccosh", inverse_hyperbolic.arccosh, 0.75, Domain(0, HUGE), Errors("I"),
     "The inverse hyperbolic cosine."),
    ("arctanh", inverse_hyperbolic.arctanh, 1.0, Domain(-1.1, 1.1), Errors("dI", "doui"),
     "The inverse hyperbolic tangent."),
    ("cbrt", roots.cbrt, 0.75, Domain(-HUGE, HUGE), SILENT, "The cube root."),
]


def _bound(ulp: float) -> dict[str, float]:
    return dict.fromkeys(REALS, ulp)


#: programs for complex numbers, and their largest error in ulp of the result's modulus
_COMPLEX: dict[str, tuple[Program, float]] = {
    **{name: (getattr(complex_exponential, name), 4.0) for name in (
        "exp", "exp2", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: (getattr(complex_logarithm, name), 4.0) for name in (
        "log", "log2", "log10", "log1p")},
    **{name: (getattr(complex_inverse, name), 4.0) for name in (
        "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh")},
}


def _of_numbers(real: Program, complex_: Program) -> Program:
    """A program for real and one for complex operands."""
    return lambda *args: (complex_ if is_complex(args[0]) else real)(*args)


for _name, _program, _ulp, _domain, _errors, _doc in _UNARY:
    _signatures, _bounds = loops("x->x", REALS), _bound(_ulp)
    if _name in _COMPLEX:
        _signatures += " " + loops("x->x", COMPLEX)
        _program = _of_numbers(_program, _COMPLEX[_name][0])
        _bounds |= dict.fromkeys(COMPLEX, _COMPLEX[_name][1])
    ufunc(_name, _signatures, _program, ulp=_bounds, domains=(_domain,), errors=_errors,
          doc=_doc, derivative=DERIVATIVES[_name], fresh=True, eager=True)

_PAIRS: list[tuple[str, Program, Errors | None, str]] = [
    ("arctan2", inverse_circular.arctan2, None, "The angle of the point (x2, x1)."),
    ("hypot", roots.hypot, Errors("ou"), "sqrt(x1*x1 + x2*x2) without undue overflow."),
    ("logaddexp", inverse_hyperbolic.logaddexp, Errors("oi"),
     "log(exp(x1) + exp(x2)); near 0 the error is x1's or x2's."),
    ("logaddexp2", inverse_hyperbolic.logaddexp2, Errors("oi"),
     "log2(2**x1 + 2**x2); near 0 the error is x1's or x2's."),
]
for _name, _program, _told, _doc in _PAIRS:
    ufunc(_name, loops("xx->x", REALS), _program, ulp=_bound(1.0),
          domains=(Domain(-HUGE, HUGE), Domain(-HUGE, HUGE)), errors=_told, doc=_doc,
          derivative=DERIVATIVES.get(_name), eager=True)

part("sqrt.complex", loops("x->x", COMPLEX), "numpy:sqrt", complex_logarithm.csqrt,
     ulp=dict.fromkeys(COMPLEX, 2.0), doc="The square root of complex numbers.")
part("pow", loops("xx->x", REALS + COMPLEX), "numpy:power",
     _of_numbers(powers.power, complex_powers.power),
     ulp=_bound(1.0) | dict.fromkeys(COMPLEX, 8.0),
     domains=(Domain(-HUGE, HUGE), Domain(-400, 400)), derivative=DERIVATIVES["pow"],
     errors=POWER_ERRORS, doc="x1 ** x2 of floats, every exponent by one program.")
ufunc("float_power", "dd->d", powers.power, ulp={"d": 1.0},
      domains=(Domain(-HUGE, HUGE), Domain(-400, 400)), errors=POWER_ERRORS,
      doc="x1 ** x2 in float64.", eager=True)


@composed("sinc", "numpy:sinc")
def sinc(ctx: Context, x: Operand) -> Operand:
    """``sin(pi*x) / (pi*x)``."""
    scaled = run(ctx, "multiply", np.pi, x)
    found = lift(ctx, scaled, "sinc")
    if found.dtype.kind != "f":
        raise ctx.refuse("sinc", f"of {found.dtype} is left to Python")
    eps = found.dtype.type(np.finfo(found.dtype).eps)
    y = run(ctx, "where.choose", run(ctx, "not_equal", scaled, 0), scaled, eps)
    return run(ctx, "divide", run(ctx, "sin", y), y)
