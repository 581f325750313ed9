"""Records of the functions of scipy.special that are subprograms; they raise no flags."""

from __future__ import annotations

import numpy as np

from npcompile.core.reported import reported
from npcompile.graph.expression import Expr
from npcompile.graph.ir import Const, Node
from npcompile.ops.elementwise import ELEMENTWISE, Program, Ufunc, loops
from npcompile.ops.operands import Context
from npcompile.ops.record import Domain, define
from npcompile.special.bessel import bessel_orders, bessel_real, bessel_waves, struve_functions
from npcompile.special.complex import voigt
from npcompile.special.elementary.piecewise import in_double
from npcompile.special.error import owen
from npcompile.special.gamma_functions import (
    beta_functions,
    combinatorics,
    incomplete_gamma,
    zeta_functions,
)
from npcompile.special.integrals import (
    carlson,
    carlson_third,
    elliptic,
    elliptic_incomplete,
    integral_functions,
    omega,
    parametric_polynomials,
    polynomials,
)
from npcompile.special.special_derivatives import DERIVATIVES
from npcompile.special.statistics import distributions, quantiles, transforms

_BETA = (Domain(0, 50), Domain(0, 50), Domain(0, 1))
_BINOMIAL = (Domain(0, 50), Domain(0, 100), Domain(0, 1))

#: name in scipy.special, operands (l: a whole number, L: one beside floats of any
#: format), program, largest error in float64, where they are tested, doc
_ROWS: list[tuple[str, str, Program, float, tuple[Domain, ...], str]] = [
    ("gammainc", "xx", incomplete_gamma.gammainc, 12.0, (Domain(0, 100), Domain(0, 100)),
     "The regularised lower incomplete gamma function."),
    ("gammaincc", "xx", incomplete_gamma.gammaincc, 12.0, (Domain(0, 100), Domain(0, 100)),
     "The regularised upper incomplete gamma function."),
    ("betainc", "xxx", beta_functions.betainc, 60.0, (Domain(0, 50), Domain(0, 50), Domain(0, 1)),
     "The regularised incomplete beta function."),
    ("beta", "xx", beta_functions.beta, 12.0, (Domain(0, 100), Domain(0, 100)),
     "The beta function."),
    ("betaln", "xx", beta_functions.betaln, 8.0, (Domain(0, 1e8), Domain(0, 1e8)),
     "The logarithm of the beta function."),
    ("_zeta", "xx", zeta_functions.hurwitz_zeta, 3.0, (Domain(1, 50), Domain(0, 100)),
     "Hurwitz's zeta function."),
    ("_riemann_zeta", "x", zeta_functions.riemann_zeta, 8.0, (Domain(-60, 60),),
     "Riemann's zeta function of real numbers."),
    ("chdtr", "xx", distributions.chdtr, 20.0, (Domain(0, 100), Domain(0, 200)),
     "The chi-squared distribution function."),
    ("chdtrc", "xx", distributions.chdtrc, 20.0, (Domain(0, 100), Domain(0, 200)),
     "One less the chi-squared distribution function."),
    ("gdtr", "xxx", distributions.gdtr, 60.0, (Domain(0, 10), Domain(0, 50), Domain(0, 20)),
     "The gamma distribution function."),
    ("gdtrc", "xxx", distributions.gdtrc, 60.0, (Domain(0, 10), Domain(0, 50), Domain(0, 20)),
     "One less the gamma distribution function."),
    ("pdtr", "xx", distributions.pdtr, 20.0, (Domain(0, 100), Domain(0, 100)),
     "The Poisson distribution function."),
    ("pdtrc", "xx", distributions.pdtrc, 20.0, (Domain(0, 100), Domain(0, 100)),
     "One less the Poisson distribution function."),
    ("fdtr", "xxx", distributions.fdtr, 60.0, (Domain(0, 50), Domain(0, 50), Domain(0, 20)),
     "The distribution function of quotients of variances."),
    ("fdtrc", "xxx", distributions.fdtrc, 60.0, (Domain(0, 50), Domain(0, 50), Domain(0, 20)),
     "One less the distribution function of quotients of variances."),
    ("stdtr", "xx", distributions.stdtr, 40.0, (Domain(0, 100), Domain(-20, 20)),
     "Student's distribution function."),
    ("ellipk", "x", elliptic.ellipk, 4.0, (Domain(-10, 1),),
     "The complete elliptic integral of the first kind."),
    ("ellipkm1", "x", elliptic.ellipkm1, 4.0, (Domain(0, 2),),
     "The complete elliptic integral of the first kind, of 1 - p."),
    ("ellipe", "x", elliptic.ellipe, 4.0, (Domain(-10, 1),),
     "The complete elliptic integral of the second kind."),
    ("gammaincinv", "xx", quantiles.gammaincinv, 100.0, (Domain(0, 50), Domain(0, 1)),
     "The inverse of gammainc."),
    ("gammainccinv", "xx", quantiles.gammainccinv, 100.0, (Domain(0, 50), Domain(0, 1)),
     "The inverse of gammaincc."),
    ("chdtri", "xx", quantiles.chdtri, 100.0, (Domain(0, 50), Domain(0, 1)),
     "The inverse of chdtrc."),
    ("betaincinv", "xxx", quantiles.betaincinv, 100.0, (Domain(0, 50), Domain(0, 50), Domain(0, 1)),
     "The inverse of betainc."),
    ("betainccinv", "xxx", quantiles.betainccinv, 100.0, _BETA, "The inverse of betaincc."),
    ("bdtr", "xlx", distributions.bdtr, 20.0, _BINOMIAL, "The binomial distribution function."),
    ("bdtrc", "xlx", distributions.bdtrc, 20.0, _BINOMIAL,
     "One less the binomial distribution function."),
    ("bdtri", "xlx", quantiles.bdtri, 20.0, _BINOMIAL,
     "The inverse of bdtr in the probability of an event."),
    ("nbdtr", "llx", distributions.nbdtr, 20.0, _BINOMIAL,
     "The negative binomial distribution function."),
    ("nbdtrc", "llx", distributions.nbdtrc, 20.0, _BINOMIAL,
     "One less the negative binomial distribution function."),
    ("nbdtri", "llx", quantiles.nbdtri, 20.0, _BINOMIAL,
     "The inverse of nbdtr in the probability of an event."),
    ("pdtri", "lx", quantiles.pdtri, 20.0, (Domain(0, 100), Domain(0, 1)),
     "The inverse of pdtr in the mean."),
    ("gdtrix", "xxx", quantiles.gdtrix, 100.0, (Domain(0, 10), Domain(0, 50), Domain(0, 1)),
     "The inverse of gdtr."),
    ("fdtri", "xxx", quantiles.fdtri, 100.0, _BETA, "The inverse of fdtr."),
    ("stdtrit", "xx", quantiles.stdtrit, 100.0, (Domain(0, 100), Domain(0, 1)),
     "The inverse of stdtr."),
    ("binom", "xx", combinatorics.binom, 20.0, (Domain(0, 100), Domain(0, 100)),
     "The binomial coefficient."),
    ("poch", "xx", combinatorics.poch, 12.0, (Domain(0, 50), Domain(0, 50)),
     "A rising factorial, gamma(a + m) / gamma(a)."),
    ("gammasgn", "x", combinatorics.gammasgn, 0.5, (Domain(-20, 20),), "The sign of gamma."),
    ("boxcox", "xx", transforms.boxcox, 4.0, (Domain(0, 100), Domain(-3, 3)),
     "Box's and Cox's transform."),
    ("boxcox1p", "xx", transforms.boxcox1p, 4.0, (Domain(-1, 100), Domain(-3, 3)),
     "boxcox of 1 + x."),
    ("inv_boxcox", "xx", transforms.inv_boxcox, 4.0, (Domain(-2, 50), Domain(-3, 3)),
     "The inverse of boxcox."),
    ("inv_boxcox1p", "xx", transforms.inv_boxcox1p, 4.0, (Domain(-2, 50), Domain(-3, 3)),
     "The inverse of boxcox1p."),
    ("huber", "xx", transforms.huber, 2.0, (Domain(0, 10), Domain(-20, 20)), "Huber's loss."),
    ("pseudo_huber", "xx", transforms.pseudo_huber, 4.0, (Domain(0, 10), Domain(-20, 20)),
     "A smooth form of Huber's loss."),
    ("rel_entr", "xx", transforms.rel_entr, 3.0, (Domain(0, 10), Domain(0, 10)), "x * log(x / y)"),
    ("kl_div", "xx", transforms.kl_div, 4.0, (Domain(0, 10), Domain(0, 10)),
     "x * log(x / y) - x + y"),
    ("exprel", "x", transforms.exprel, 2.5, (Domain(-700, 700),), "(e**x - 1) / x"),
    ("cosm1", "x", transforms.cosm1, 2.5, (Domain(-10, 10),), "cos(x) - 1"),
    ("powm1", "xx", transforms.powm1, 2.0, (Domain(0, 10), Domain(-10, 10)), "x**y - 1"),
    ("expi", "x", integral_functions.expi, 4.0, (Domain(-50, 700),),
     "The exponential integral Ei."),
    ("expn", "lx", integral_functions.expn, 12.0, (Domain(0, 50), Domain(0, 50)),
     "The exponential integral of whole order."),
    ("zetac", "x", zeta_functions.zetac, 8.0, (Domain(-30, 60),), "zeta(x) - 1"),
    ("spence", "x", integral_functions.spence, 4.0, (Domain(0, 50),), "The dilogarithm."),
    ("elliprf", "xxx", carlson.elliprf, 2.0, (Domain(0, 50),) * 3,
     "Carlson's symmetric elliptic integral of the first kind."),
    ("elliprc", "xx", carlson.elliprc, 4.0, (Domain(0, 50),) * 2,
     "Carlson's degenerate elliptic integral."),
    ("elliprd", "xxx", carlson.elliprd, 2.0, (Domain(0, 50),) * 3,
     "Carlson's elliptic integral of the second kind."),
    ("elliprg", "xxx", carlson.elliprg, 4.0, (Domain(0, 50),) * 3,
     "Carlson's symmetric elliptic integral of the second kind."),
    ("elliprj", "xxxx", carlson_third.elliprj, 6.0, (Domain(0, 50),) * 4,
     "Carlson's elliptic integral of the third kind."),
    ("modstruve", "xx", struve_functions.modstruve, 40.0, (Domain(0, 20), Domain(0, 50)),
     "The modified Struve function L."),
    ("ellipkinc", "xx", elliptic_incomplete.ellipkinc, 6.0, (Domain(-10, 10), Domain(-10, 1)),
     "The incomplete elliptic integral of the first kind."),
    ("ellipeinc", "xx", elliptic_incomplete.ellipeinc, 6.0, (Domain(-10, 10), Domain(-10, 1)),
     "The incomplete elliptic integral of the second kind."),
    ("agm", "xx", elliptic_incomplete.agm, 4.0, (Domain(0, 50), Domain(0, 50)),
     "The mean of arithmetic and geometric means."),
    ("yn", "lx", bessel_orders.yn, 30.0, (Domain(0, 20), Domain(0, 50)),
     "The Bessel function Y of whole order."),
    ("kn", "lx", bessel_orders.kn, 8.0, (Domain(0, 20), Domain(0, 50)),
     "The modified Bessel function K of whole order."),
    ("_spherical_jn", "Lx", bessel_orders.spherical_jn, 8.0, (Domain(0, 20), Domain(-50, 50)),
     "The spherical Bessel function j."),
    ("_spherical_yn", "Lx", bessel_orders.spherical_yn, 8.0, (Domain(0, 20), Domain(-50, 50)),
     "The spherical Bessel function y."),
    ("_spherical_in", "Lx", bessel_orders.spherical_in, 16.0, (Domain(0, 20), Domain(-50, 50)),
     "The modified spherical Bessel function i."),
    ("_spherical_kn", "Lx", bessel_orders.spherical_kn, 8.0, (Domain(0, 20), Domain(0, 50)),
     "The modified spherical Bessel function k."),
    ("eval_genlaguerre", "lxx", parametric_polynomials.genlaguerre, 4.0,
     (Domain(0, 30), Domain(0, 5), Domain(0, 20)), "The generalised Laguerre polynomial."),
    ("eval_gegenbauer", "lxx", parametric_polynomials.gegenbauer, 4.0,
     (Domain(0, 30), Domain(0, 5), Domain(-1, 1)), "Gegenbauer's polynomial."),
    ("owens_t", "xx", owen.owens_t, 8.0, (Domain(-5, 5), Domain(-5, 5)), "Owen's T function."),
    ("voigt_profile", "xxx", voigt.voigt_profile, 40.0,
     (Domain(-20, 20), Domain(0, 5), Domain(0, 5)), "Voigt's profile."),
    ("wrightomega", "x", omega.wrightomega, 1.0, (Domain(-700, 1e6),),
     "Wright's omega, the solution of w + log(w) = x."),
]

#: Bessel functions: name in scipy.special, other names, program for orders that are whole numbers
#: and known while tracing, program, largest error, doc
_OF_ANY_ORDER: list[tuple[str, tuple[str, ...], Program, Program, float, str]] = [
    ("jv", ("jn", "jve"), bessel_orders.jn, bessel_waves.jv_of_real, 30.0,
     "The Bessel function J."),
    ("yv", ("yve",), bessel_orders.yn, bessel_waves.yv_of_real, 30.0, "The Bessel function Y."),
    ("iv", (), bessel_orders.iv_of_whole, bessel_real.iv_of_real, 20.0,
     "The modified Bessel function I."),
    ("kv", (), bessel_orders.kn, bessel_real.kv_of_real, 10.0, "The modified Bessel function K."),
    ("ive", (), bessel_orders.scaled_iv_of_whole, bessel_real.ive_of_real, 20.0,
     "exp(-abs(x)) * iv(v, x)"),
    ("kve", (), bessel_orders.scaled_kn, bessel_real.kve_of_real, 10.0, "exp(x) * kv(v, x)"),
]

#: polynomials of whole degree: name, program, whether it is shifted, doc
_POLYNOMIALS: list[tuple[str, polynomials.Program, bool, str]] = [
    ("eval_chebyt", polynomials.chebyshev_t, False, "Chebyshev's polynomial T."),
    ("eval_chebyu", polynomials.chebyshev_u, False, "Chebyshev's polynomial U."),
    ("eval_sh_chebyt", polynomials.chebyshev_t, True, "Chebyshev's polynomial T of 2*x - 1."),
    ("eval_sh_chebyu", polynomials.chebyshev_u, True, "Chebyshev's polynomial U of 2*x - 1."),
    ("eval_chebyc", polynomials.chebyshev_c, False, "Chebyshev's polynomial C."),
    ("eval_chebys", polynomials.chebyshev_s, False, "Chebyshev's polynomial S."),
    ("eval_legendre", polynomials.legendre, False, "Legendre's polynomial."),
    ("eval_sh_legendre", polynomials.legendre, True, "Legendre's polynomial of 2*x - 1."),
    ("eval_laguerre", polynomials.laguerre, False, "Laguerre's polynomial."),
    ("eval_hermite", polynomials.hermite, False, "Hermite's polynomial of physics."),
    ("eval_hermitenorm", polynomials.hermite_monic, False, "Hermite's polynomial of statistics."),
]


def _path(name: str) -> str:
    return f"scipy.special{'._ufuncs' if name.startswith('_') else ''}:{name}"


for _name, _operands, _program, _ulp, _domains, _doc in _ROWS:
    _loops = loops(_operands.lower() + "->x", "d" if "l" in _operands else "fd")
    define(_name, ELEMENTWISE, _loops, aliases=(_path(_name),), reference=_path(_name),
           lower=in_double(_program), data=Ufunc(), ulp={"d": _ulp, "f": 0.51},
           domains=_domains, doc=_doc,
           derivative=DERIVATIVES.get(_name))



def _is_whole(order: Node) -> bool:
    """Whether an order is known, whole and small."""
    given = order.attrs
    value = float(np.real(given.value)) if isinstance(given, Const) else np.nan
    return abs(value) <= 1000 and value.is_integer()


def _by_order(whole: Program, general: Program) -> Program:
    def program(v: Expr, x: Expr) -> Expr:
        found: Expr = (whole if _is_whole(v.node) else general)(v, x)
        return found

    return program


def _known_degree(ctx: Context, operands: tuple[Node, ...]) -> None:
    """Refuses degrees that are not known or negative."""
    given = operands[0].attrs
    if not isinstance(given, Const) or not 0 <= np.real(given.value) <= 10000:
        raise ctx.refuse("a Jacobi polynomial", "of a degree that is not known in the program")


define("eval_jacobi", ELEMENTWISE, "lddd->d", aliases=(_path("eval_jacobi"),),
       reference=_path("eval_jacobi"), lower=parametric_polynomials.jacobi,
       data=Ufunc(prepare=_known_degree, eager=False), ulp={"d": 200.0},
       domains=(Domain(0, 30), Domain(0, 5), Domain(0, 5), Domain(-1, 1)),
       doc="Jacobi's polynomial of whole degree.")


for _name, _names, _whole, _general, _ulp, _doc in _OF_ANY_ORDER:
    define(_name, ELEMENTWISE, loops("xx->x", "fd"), aliases=tuple(map(_path, (_name, *_names))),
           reference=_path(_name), lower=in_double(_by_order(_whole, _general)),
           data=Ufunc(), ulp={"d": _ulp, "f": 0.51},
           domains=(Domain(0, 20), Domain(0, 50)), doc=_doc)



def _real_argument(ctx: Context, operands: tuple[Node, ...]) -> None:
    """Refuses arguments that are not known to be real."""
    z = operands[1]
    given = z.attrs.value if isinstance(z.attrs, Const) else 1j
    number = np.imag(given) == 0.0 and not np.signbit(np.imag(given))
    if not number and not (z.op == "cast" and z.args[0].dtype.kind != "c"):
        raise ctx.refuse("Hankel's function", "of a complex argument")


for _kind, _sign in ((1, 1.0), (2, -1.0)):
    for _end in ("", "e"):
        _name = f"hankel{_kind}{_end}"
        define(_name, ELEMENTWISE, "fF->F dD->D", aliases=(_path(_name),), reference=_path(_name),
               lower=bessel_waves.hankel(_sign, bool(_end)),
               data=Ufunc(prepare=_real_argument, eager=False), ulp={"D": 60.0, "F": 2.0},
               domains=(Domain(0, 20), Domain(0, 50)),
               doc=f"Hankel's function of a real argument{', scaled' * bool(_end)}.")


def _usual_tolerance(ctx: Context, operands: tuple[Node, ...]) -> None:
    given = operands[2].attrs
    if not isinstance(given, Const) or given.value != 1e-8:
        raise ctx.refuse("lambertw", "with a tolerance")


define("_lambertw", ELEMENTWISE, "Dld->D", aliases=(_path("_lambertw"),),
       reference=_path("_lambertw"), lower=omega.lambertw,
       data=Ufunc(prepare=_usual_tolerance, eager=False), ulp={"D": 200.0},
       doc="Lambert's W.")

for _name, _polynomial, _shifted, _doc in _POLYNOMIALS:
    define(_name, ELEMENTWISE, "ld->d", aliases=(_path(_name),), reference=_path(_name),
           lower=polynomials.of_degree(_polynomial, _shifted), data=Ufunc(), ulp={"d": 200.0},
           domains=(Domain(0, 30), Domain(-1, 1)), doc=_doc,
           derivative=polynomials.SLOPES.get(_name))

reported.watch()  # SciPy may be told to report errors, which compiled code does not find
