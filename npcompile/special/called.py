"""Records of the functions of scipy.special that are subprograms; they raise no flags."""

from __future__ import annotations

from npcompile.ops.elementwise import ELEMENTWISE, Program, Ufunc, loops
from npcompile.ops.record import Domain, define
from npcompile.special import (
    beta_functions,
    distributions,
    elliptic,
    incomplete,
    polynomials,
    quantiles,
    zeta_functions,
)
from npcompile.special.derivatives import DERIVATIVES
from npcompile.special.pieces import in_double

#: name in scipy.special, operands, program, largest error in float64, where they are tested, doc
_ROWS: list[tuple[str, int, Program, float, tuple[Domain, ...], str]] = [
    ("gammainc", 2, incomplete.gammainc, 20.0, (Domain(0, 100), Domain(0, 100)),
     "The regularised lower incomplete gamma function."),
    ("gammaincc", 2, incomplete.gammaincc, 20.0, (Domain(0, 100), Domain(0, 100)),
     "The regularised upper incomplete gamma function."),
    ("betainc", 3, beta_functions.betainc, 100.0, (Domain(0, 50), Domain(0, 50), Domain(0, 1)),
     "The regularised incomplete beta function."),
    ("beta", 2, beta_functions.beta, 12.0, (Domain(0, 100), Domain(0, 100)), "The beta function."),
    ("betaln", 2, beta_functions.betaln, 8.0, (Domain(0, 1e8), Domain(0, 1e8)),
     "The logarithm of the beta function."),
    ("_zeta", 2, zeta_functions.hurwitz_zeta, 5.0, (Domain(1, 50), Domain(0, 100)),
     "Hurwitz's zeta function."),
    ("_riemann_zeta", 1, zeta_functions.riemann_zeta, 8.0, (Domain(-60, 60),),
     "Riemann's zeta function of real numbers."),
    ("chdtr", 2, distributions.chdtr, 20.0, (Domain(0, 100), Domain(0, 200)),
     "The chi-squared distribution function."),
    ("chdtrc", 2, distributions.chdtrc, 20.0, (Domain(0, 100), Domain(0, 200)),
     "One less the chi-squared distribution function."),
    ("gdtr", 3, distributions.gdtr, 60.0, (Domain(0, 10), Domain(0, 50), Domain(0, 20)),
     "The gamma distribution function."),
    ("gdtrc", 3, distributions.gdtrc, 60.0, (Domain(0, 10), Domain(0, 50), Domain(0, 20)),
     "One less the gamma distribution function."),
    ("pdtr", 2, distributions.pdtr, 20.0, (Domain(0, 100), Domain(0, 100)),
     "The Poisson distribution function."),
    ("pdtrc", 2, distributions.pdtrc, 20.0, (Domain(0, 100), Domain(0, 100)),
     "One less the Poisson distribution function."),
    ("fdtr", 3, distributions.fdtr, 60.0, (Domain(0, 50), Domain(0, 50), Domain(0, 20)),
     "The distribution function of quotients of variances."),
    ("fdtrc", 3, distributions.fdtrc, 60.0, (Domain(0, 50), Domain(0, 50), Domain(0, 20)),
     "One less the distribution function of quotients of variances."),
    ("stdtr", 2, distributions.stdtr, 40.0, (Domain(0, 100), Domain(-20, 20)),
     "Student's distribution function."),
    ("ellipk", 1, elliptic.ellipk, 4.0, (Domain(-10, 1),),
     "The complete elliptic integral of the first kind."),
    ("ellipkm1", 1, elliptic.ellipkm1, 4.0, (Domain(0, 2),),
     "The complete elliptic integral of the first kind, of 1 - p."),
    ("ellipe", 1, elliptic.ellipe, 4.0, (Domain(-10, 1),),
     "The complete elliptic integral of the second kind."),
    ("gammaincinv", 2, quantiles.gammaincinv, 100.0, (Domain(0, 50), Domain(0, 1)),
     "The inverse of gammainc."),
    ("gammainccinv", 2, quantiles.gammainccinv, 100.0, (Domain(0, 50), Domain(0, 1)),
     "The inverse of gammaincc."),
    ("chdtri", 2, quantiles.chdtri, 100.0, (Domain(0, 50), Domain(0, 1)), "The inverse of chdtrc."),
    ("betaincinv", 3, quantiles.betaincinv, 100.0, (Domain(0, 50), Domain(0, 50), Domain(0, 1)),
     "The inverse of betainc."),
]

#: polynomials of whole degree: name, program, whether it is shifted, doc
_POLYNOMIALS: list[tuple[str, polynomials.Program, bool, str]] = [
    ("eval_chebyt", polynomials.chebyshev_t, False, "Chebyshev's polynomial T."),
    ("eval_chebyu", polynomials.chebyshev_u, False, "Chebyshev's polynomial U."),
    ("eval_sh_chebyt", polynomials.chebyshev_t, True, "Chebyshev's polynomial T of 2*x - 1."),
    ("eval_sh_chebyu", polynomials.chebyshev_u, True, "Chebyshev's polynomial U of 2*x - 1."),
    ("eval_legendre", polynomials.legendre, False, "Legendre's polynomial."),
    ("eval_sh_legendre", polynomials.legendre, True, "Legendre's polynomial of 2*x - 1."),
    ("eval_laguerre", polynomials.laguerre, False, "Laguerre's polynomial."),
    ("eval_hermite", polynomials.hermite, False, "Hermite's polynomial of physics."),
    ("eval_hermitenorm", polynomials.hermite_monic, False, "Hermite's polynomial of statistics."),
]


def _path(name: str) -> str:
    return f"scipy.special{'._ufuncs' if name.startswith('_') else ''}:{name}"


for _name, _count, _program, _ulp, _domains, _doc in _ROWS:
    define(_name, ELEMENTWISE, loops("x" * _count + "->x", "fd"), aliases=(_path(_name),),
           reference=_path(_name), lower=in_double(_program), data=Ufunc(),
           ulp={"d": _ulp, "f": 0.51}, domains=_domains, doc=_doc,
           derivative=DERIVATIVES.get(_name))

for _name, _polynomial, _shifted, _doc in _POLYNOMIALS:
    define(_name, ELEMENTWISE, "ld->d", aliases=(_path(_name),), reference=_path(_name),
           lower=polynomials.of_degree(_polynomial, _shifted), data=Ufunc(), ulp={"d": 200.0},
           domains=(Domain(0, 30), Domain(-1, 1)), doc=_doc,
           derivative=polynomials.SLOPES.get(_name))
