"""Records of the elementary functions; their programs are in the modules beside this one."""

from __future__ import annotations

from npcompile.ops.elementwise import ELEMENTWISE, Program, Ufunc, loops, part, ufunc
from npcompile.ops.record import Domain, define
from npcompile.special import circular, error, exponential, inverse, logarithm, powers, roots

REALS = "efd"  # float16 is computed in float32 and rounded once
HUGE = 1e300

#: name, program, largest error in ulp, where it is tested, doc
_UNARY: list[tuple[str, Program, float, Domain, str]] = [
    ("exp", exponential.exp, 0.75, Domain(-750, 715), "e**x"),
    ("exp2", exponential.exp2, 0.75, Domain(-1080, 1030), "2**x"),
    ("expm1", exponential.expm1, 0.75, Domain(-50, 715), "e**x - 1"),
    ("log", logarithm.log, 0.75, Domain(-1, HUGE), "The natural logarithm."),
    ("log2", logarithm.log2, 0.75, Domain(-1, HUGE), "The logarithm to base 2."),
    ("log10", logarithm.log10, 0.75, Domain(-1, HUGE), "The logarithm to base 10."),
    ("log1p", logarithm.log1p, 0.75, Domain(-2, HUGE), "log(1 + x)"),
    ("sin", circular.sin, 0.75, Domain(-HUGE, HUGE), "The sine."),
    ("cos", circular.cos, 0.75, Domain(-HUGE, HUGE), "The cosine."),
    ("tan", circular.tan, 0.75, Domain(-HUGE, HUGE), "The tangent."),
    ("sinh", exponential.sinh, 1.0, Domain(-720, 720), "The hyperbolic sine."),
    ("cosh", exponential.cosh, 1.0, Domain(-720, 720), "The hyperbolic cosine."),
    ("tanh", exponential.tanh, 0.75, Domain(-25, 25), "The hyperbolic tangent."),
    ("arctan", inverse.arctan, 0.75, Domain(-HUGE, HUGE), "The inverse tangent."),
    ("arcsin", inverse.arcsin, 1.0, Domain(-1.1, 1.1), "The inverse sine."),
    ("arccos", inverse.arccos, 1.0, Domain(-1.1, 1.1), "The inverse cosine."),
    ("cbrt", roots.cbrt, 0.75, Domain(-HUGE, HUGE), "The cube root."),
]


def _bound(ulp: float) -> dict[str, float]:
    return dict.fromkeys(REALS, ulp)


for _name, _program, _ulp, _domain, _doc in _UNARY:
    ufunc(_name, loops("x->x", REALS), _program, ulp=_bound(_ulp), domains=(_domain,), doc=_doc)

for _name, _program, _doc in (
    ("arctan2", inverse.arctan2, "The angle of the point (x2, x1)."),
    ("hypot", roots.hypot, "sqrt(x1*x1 + x2*x2) without undue overflow."),
):
    ufunc(_name, loops("xx->x", REALS), _program, ulp=_bound(1.0),
          domains=(Domain(-HUGE, HUGE), Domain(-HUGE, HUGE)), doc=_doc)

define("erf", ELEMENTWISE, loops("x->x", "fd"), aliases=("scipy.special:erf",),
       reference="scipy.special:erf", lower=error.erf, data=Ufunc(), ulp=_bound(0.75),
       domains=(Domain(-7, 7),), doc="The error function.")
part("pow", loops("xx->x", REALS), "numpy:power", powers.power, ulp=_bound(1.0),
     domains=(Domain(-HUGE, HUGE), Domain(-400, 400)),
     doc="x1 ** x2 of floats, every exponent by one program.")
