"""Records of the functions of scipy.special that are compiled; they raise no flags."""

from __future__ import annotations

from functools import partial

from npcompile.core.reported import reported
from npcompile.ops.complexes import is_complex
from npcompile.ops.elementwise import COMPLEX, ELEMENTWISE, Program, Ufunc, loops
from npcompile.ops.record import Domain, define
from npcompile.special.bessel import bessel_integer
from npcompile.special.complex import faddeeva
from npcompile.special.elementary import (
    exponential,
    hyperbolic,
    inverse_hyperbolic,
    logarithm,
    roots,
)
from npcompile.special.elementary.piecewise import in_double
from npcompile.special.error import error_function, normal, probability
from npcompile.special.gamma_functions import gamma_function
from npcompile.special.integrals import dawson, integral_functions
from npcompile.special.special_derivatives import DERIVATIVES

HUGE = 1e300

#: name in scipy.special, operands, program, largest error in ulp, where it is tested, doc
_SCIPY: list[tuple[str, int, Program, float, Domain, str]] = [
    ("expit", 1, probability.expit, 1.0, Domain(-750, 50), "1 / (1 + e**-x)"),
    ("logit", 1, inverse_hyperbolic.logit, 1.0, Domain(-0.1, 1.1), "log(x / (1 - x))"),
    ("log_expit", 1, probability.log_expit, 1.0, Domain(-HUGE, 750), "log(expit(x))"),
    ("xlogy", 2, probability.xlogy, 1.0, Domain(-HUGE, HUGE), "x * log(y), 0 where x is"),
    ("xlog1py", 2, probability.xlog1py, 1.0, Domain(-HUGE, HUGE), "x * log1p(y), 0 where x is"),
    ("exp2", 1, partial(exponential.exp2, quiet=True), 0.75, Domain(-1080, 1030), "2**x"),
    ("expm1", 1, partial(hyperbolic.expm1, quiet=True), 0.75, Domain(-50, 715), "e**x - 1"),
    ("log1p", 1, partial(logarithm.log1p, quiet=True), 0.75, Domain(-2, HUGE), "log(1 + x)"),
    ("cbrt", 1, roots.cbrt, 0.75, Domain(-HUGE, HUGE), "The cube root."),
]
_NUMPYS = frozenset({"exp2", "expm1", "log1p", "cbrt"})  # NumPy has functions of these names

#: functions of one operand that are computed in float64 whatever the format: name, other names,
#: program, largest error in float64, where it is tested, doc
_DOUBLE: list[tuple[str, tuple[str, ...], Program, float, Domain, str]] = [
    ("entr", (), probability.entr, 1.0, Domain(-1, HUGE), "-x * log(x)"),
    ("exp10", (), exponential.exp10, 1.0, Domain(-330, 310), "10**x"),
    ("erf", (), error_function.erf, 0.75, Domain(-7, 7), "The error function."),
    ("erfc", (), probability.erfc, 0.75, Domain(-7, 28), "1 - erf(x)"),
    ("ndtr", (), probability.ndtr, 1.0, Domain(-39, 9), "The normal distribution function."),
    ("gammaln", (), gamma_function.gammaln, 0.75, Domain(0, HUGE), "log(abs(gamma(x)))"),
    ("gamma", (), gamma_function.gamma, 3.0, Domain(-170, 171), "The gamma function."),
    ("rgamma", (), gamma_function.rgamma, 3.0, Domain(-170, 171), "1 / gamma(x)"),
    ("psi", ("digamma",), gamma_function.digamma, 2.0, Domain(0, HUGE), "The digamma function."),
    ("erfinv", (), normal.erfinv, 0.51, Domain(-1, 1), "The inverse of erf."),
    ("erfcinv", (), normal.erfcinv, 0.51, Domain(0, 2), "The inverse of erfc."),
    ("ndtri", (), normal.ndtri, 0.51, Domain(0, 1), "The inverse of ndtr."),
    ("erfcx", (), normal.erfcx, 2.0, Domain(-26, HUGE), "exp(x*x) * erfc(x)"),
    ("log_ndtr", (), normal.log_ndtr, 3.0, Domain(-1e150, 30), "log(ndtr(x))"),
    ("i0", (), bessel_integer.i0, 3.0, Domain(-700, 700), "Modified Bessel function I of order 0."),
    ("i0e", (), bessel_integer.i0e, 3.0, Domain(-HUGE, HUGE), "exp(-abs(x)) * i0(x)"),
    ("i1", (), bessel_integer.i1, 4.0, Domain(-700, 700), "Modified Bessel function I of order 1."),
    ("i1e", (), bessel_integer.i1e, 3.5, Domain(-HUGE, HUGE), "exp(-abs(x)) * i1(x)"),
    ("k0", (), bessel_integer.k0, 3.0, Domain(0, 700), "Modified Bessel function K of order 0."),
    ("k0e", (), bessel_integer.k0e, 3.0, Domain(0, HUGE), "exp(x) * k0(x)"),
    ("k1", (), bessel_integer.k1, 3.0, Domain(0, 700), "Modified Bessel function K of order 1."),
    ("k1e", (), bessel_integer.k1e, 3.0, Domain(0, HUGE), "exp(x) * k1(x)"),
    ("j0", (), bessel_integer.j0, 3.0, Domain(-1e4, 1e4), "Bessel function J of order 0."),
    ("j1", (), bessel_integer.j1, 4.0, Domain(-1e4, 1e4), "Bessel function J of order 1."),
    ("y0", (), bessel_integer.y0, 3.5, Domain(0, 1e4), "Bessel function Y of order 0."),
    ("y1", (), bessel_integer.y1, 4.0, Domain(0, 1e4), "Bessel function Y of order 1."),
    ("dawsn", (), dawson.dawsn, 3.0, Domain(-HUGE, HUGE), "Dawson's integral."),
    ("erfi", (), integral_functions.erfi, 4.0, Domain(-26, 26), "The imaginary error function."),
    ("exp1", (), dawson.exp1, 2.5, Domain(0, 700), "The exponential integral E1."),
]

#: programs for complex numbers, and their largest error in ulp of the result's modulus
_COMPLEX: dict[str, tuple[Program, float]] = {
    "erf": (faddeeva.erf, 16.0), "erfc": (faddeeva.erfc, 16.0), "erfcx": (faddeeva.erfcx, 16.0),
    "erfi": (faddeeva.erfi, 16.0), "ndtr": (faddeeva.ndtr, 16.0), "dawsn": (faddeeva.dawsn, 16.0),
}


def _of_numbers(real: Program, complex_: Program) -> Program:
    """A program for real and one for complex operands."""
    return lambda *args: (complex_ if is_complex(args[0]) else real)(*args)


#: programs for float32, in float64
_SINGLE: dict[str, Program] = {
    "erfc": probability.single_erfc, "ndtr": probability.single_ndtr,
    **{name: partial(program, middle=normal.single_middle) for name, program in (
        ("erfinv", normal.erfinv), ("erfcinv", normal.erfcinv), ("ndtri", normal.ndtri))},
}


def _by_format(name: str, double: Program) -> Program:
    """A program for each format; erf has one in float32 itself."""
    if name == "erf":
        return lambda x: (double if x.dtype.char == "d" else error_function.single_erf)(x)
    return in_double(double, _SINGLE.get(name))


def _define(name: str, operands: int, program: Program, names: tuple[str, ...],
            ulp: dict[str, float], domains: tuple[Domain, ...], doc: str) -> None:
    signatures = loops("x" * operands + "->x", "fd")
    if name in _COMPLEX:
        signatures += " " + loops("x->x", COMPLEX)
        program = _of_numbers(program, _COMPLEX[name][0])
        ulp = {**ulp, "D": _COMPLEX[name][1], "F": 1.0}
    define(f"special.{name}" if name in _NUMPYS else name, ELEMENTWISE, signatures,
           aliases=tuple(f"scipy.special:{alias}" for alias in (name, *names)),
           reference=f"scipy.special:{name}", lower=program, data=Ufunc(),
           ulp=ulp, domains=domains, doc=doc, derivative=DERIVATIVES.get(name))


for _name, _count, _program, _ulp, _domain, _doc in _SCIPY:
    _define(_name, _count, _program, (), dict.fromkeys("fd", _ulp),
            (_domain,) * _count, _doc)
for _name, _names, _program, _ulp, _domain, _doc in _DOUBLE:
    _define(_name, 1, _by_format(_name, _program), _names, {"d": _ulp, "f": 0.51}, (_domain,),
            _doc)

define("wofz", ELEMENTWISE, loops("x->x", COMPLEX), aliases=("scipy.special:wofz",),
       reference="scipy.special:wofz", lower=faddeeva.wofz, data=Ufunc(),
       ulp={"D": 16.0, "F": 1.0}, doc="Faddeeva's function, exp(-z*z) * erfc(-1j*z).")

reported.watch()  # SciPy may be told to report errors, which compiled code does not find
