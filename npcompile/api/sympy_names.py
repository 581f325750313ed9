"""What SymPy's functions are called in NumPy and SciPy."""

from __future__ import annotations

#: by the name of SymPy's class: an expression in which ``{0}``, ``{1}``, ... are the arguments, and
#: ``{np}`` and ``{sp}`` NumPy and scipy.special; a name alone is NumPy's function
NAMES: dict[str, str] = {
    **{name: name for name in (
        "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sign", "floor")},
    **{name: f"arc{name[1:]}" for name in (
        "asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2")},
    "Abs": "abs", "ceiling": "ceil", "conjugate": "conj", "re": "real", "im": "imag",
    "arg": "angle", "sqrt": "sqrt", "cbrt": "cbrt", "exp2": "exp2", "log10": "log10",
    "log2": "log2", "log1p": "log1p", "expm1": "expm1", "hypot": "hypot", "Mod": "mod",
    "cot": "1 / {np}.tan({0})", "sec": "1 / {np}.cos({0})", "csc": "1 / {np}.sin({0})",
    "coth": "1 / {np}.tanh({0})", "sech": "1 / {np}.cosh({0})", "csch": "1 / {np}.sinh({0})",
    "acot": "{np}.arctan(1 / {0})", "asec": "{np}.arccos(1 / {0})",
    "acsc": "{np}.arcsin(1 / {0})", "acoth": "{np}.arctanh(1 / {0})",
    "asech": "{np}.arccosh(1 / {0})", "acsch": "{np}.arcsinh(1 / {0})",
    "Heaviside": "{np}.heaviside({0}, {1})", "frac": "{0} - {np}.floor({0})",
    "sinc": "{np}.sinc({0} / {np}.pi)", "LambertW": "{np}.real({sp}.lambertw({0}))",
    **{name: f"{{sp}}.{name}({{0}})" for name in (
        "gamma", "digamma", "erf", "erfc", "erfinv", "erfcinv", "factorial", "zeta")},
    "loggamma": "{sp}.gammaln({0})", "polygamma": "{sp}.polygamma({0}, {1})",
    "beta": "{sp}.beta({0}, {1})", "binomial": "{sp}.binom({0}, {1})",
    "RisingFactorial": "{sp}.poch({0}, {1})",
    "lowergamma": "{sp}.gamma({0}) * {sp}.gammainc({0}, {1})",
    "uppergamma": "{sp}.gamma({0}) * {sp}.gammaincc({0}, {1})",
    "besselj": "{sp}.jv({0}, {1})", "bessely": "{sp}.yv({0}, {1})",
    "besseli": "{sp}.iv({0}, {1})", "besselk": "{sp}.kv({0}, {1})",
    "airyai": "{sp}.airy({0})[0]", "airyaiprime": "{sp}.airy({0})[1]",
    "airybi": "{sp}.airy({0})[2]", "airybiprime": "{sp}.airy({0})[3]",
    "elliptic_k": "{sp}.ellipk({0})", "elliptic_e": "{sp}.ellipe({0})",
    "Ei": "{sp}.expi({0})", "expint": "{sp}.expn({0}, {1})", "E1": "{sp}.exp1({0})",
    "Si": "{sp}.sici({0})[0]", "Ci": "{sp}.sici({0})[1]",
    "Shi": "{sp}.shichi({0})[0]", "Chi": "{sp}.shichi({0})[1]",
    "fresnels": "{sp}.fresnel({0})[0]", "fresnelc": "{sp}.fresnel({0})[1]",
    "legendre": "{sp}.eval_legendre({0}, {1})", "hermite": "{sp}.eval_hermite({0}, {1})",
    "laguerre": "{sp}.eval_laguerre({0}, {1})", "chebyshevt": "{sp}.eval_chebyt({0}, {1})",
    "chebyshevu": "{sp}.eval_chebyu({0}, {1})", "gegenbauer": "{sp}.eval_gegenbauer({0}, {1}, {2})",
    "jacobi": "{sp}.eval_jacobi({0}, {1}, {2}, {3})",
}
#: relations and connectives: what stands between two arguments
BETWEEN: dict[str, str] = {
    "Equality": "==", "Unequality": "!=", "StrictLessThan": "<", "LessThan": "<=",
    "StrictGreaterThan": ">", "GreaterThan": ">=", "And": "&", "Or": "|", "Xor": "^",
}
#: constants
CONSTANTS: dict[str, str] = {
    "Pi": "3.141592653589793", "Exp1": "2.718281828459045", "ImaginaryUnit": "1j",
    "Infinity": "{np}.inf", "NegativeInfinity": "-{np}.inf", "NaN": "{np}.nan",
    "ComplexInfinity": "{np}.nan", "EulerGamma": "0.5772156649015329",
    "GoldenRatio": "1.618033988749895", "Catalan": "0.915965594177219",
    "BooleanTrue": "True", "BooleanFalse": "False",
}
