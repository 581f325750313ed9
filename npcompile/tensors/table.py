"""Torch's names: one row per operator, which says what record of ours it is.

::

    row  ::= record: rule, parameters, names       names in torch, torch.Tensor, torch.special
    rule ::= see npcompile.tensors.elementwise

A name in ``torch.Tensor`` with an underscore at its end works in place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from npcompile.tensors import composed, creation, shapes, tensor_reductions
from npcompile.tensors.elementwise import Elementwise, in_place
from npcompile.tensors.tensor_functions import NAMED

Function = Callable[..., Any]

FILLING = (composed, creation, tensor_reductions, shapes)  # they enter their functions in NAMED

_ONE, _TWO = ("input",), ("input", "other")

# record, rule, parameters, names
ELEMENTWISE: list[tuple[str, str, tuple[str, ...], str]] = [
    ("add", "same", _TWO, "add __add__"),
    ("subtract", "number", _TWO, "sub subtract __sub__"),
    ("multiply", "same", _TWO, "mul multiply __mul__"),
    ("divide", "float", _TWO, "div divide true_divide __truediv__"),
    ("maximum", "same", _TWO, "maximum"),
    ("minimum", "same", _TWO, "minimum"),
    ("fmax", "same", _TWO, "fmax"),
    ("fmin", "same", _TWO, "fmin"),
    ("negative", "number", _ONE, "neg negative"),
    ("absolute", "number", _ONE, "abs absolute"),
    ("floor", "number", _ONE, "floor"),
    ("ceil", "number", _ONE, "ceil"),
    ("trunc", "number", _ONE, "trunc fix"),
    ("rint", "real", _ONE, "round"),
    ("fmod", "real", _TWO, "fmod"),
    ("bitwise_and", "same", _TWO, "bitwise_and"),
    ("bitwise_or", "same", _TWO, "bitwise_or"),
    ("bitwise_xor", "same", _TWO, "bitwise_xor"),
    ("invert", "same", _ONE, "bitwise_not"),
    ("less", "bool", _TWO, "lt less"),
    ("less_equal", "bool", _TWO, "le less_equal"),
    ("greater", "bool", _TWO, "gt greater"),
    ("greater_equal", "bool", _TWO, "ge greater_equal"),
    ("equal", "bool", _TWO, "eq"),
    ("not_equal", "bool", _TWO, "ne not_equal"),
    ("isnan", "bool", _ONE, "isnan"),
    ("isinf", "bool", _ONE, "isinf"),
    ("isfinite", "bool", _ONE, "isfinite"),
    ("signbit", "bool", _ONE, "signbit"),
    ("logical_not", "bool", _ONE, "logical_not"),
    ("logical_and", "bool", _TWO, "logical_and"),
    ("logical_or", "bool", _TWO, "logical_or"),
    ("logical_xor", "bool", _TWO, "logical_xor"),
    ("sqrt", "float", _ONE, "sqrt"),
    ("reciprocal", "float", _ONE, "reciprocal"),
    ("exp", "float", _ONE, "exp"),
    ("exp2", "float", _ONE, "exp2"),
    ("expm1", "float", _ONE, "expm1"),
    ("log", "float", _ONE, "log"),
    ("log2", "float", _ONE, "log2"),
    ("log10", "float", _ONE, "log10"),
    ("log1p", "float", _ONE, "log1p"),
    ("sin", "float", _ONE, "sin"),
    ("cos", "float", _ONE, "cos"),
    ("tan", "float", _ONE, "tan"),
    ("sinh", "float", _ONE, "sinh"),
    ("cosh", "float", _ONE, "cosh"),
    ("tanh", "float", _ONE, "tanh"),
    ("arcsin", "float", _ONE, "asin arcsin"),
    ("arccos", "float", _ONE, "acos arccos"),
    ("arctan", "float", _ONE, "atan arctan"),
    ("arcsinh", "float", _ONE, "asinh arcsinh"),
    ("arccosh", "float", _ONE, "acosh arccosh"),
    ("arctanh", "float", _ONE, "atanh arctanh"),
    ("arctan2", "float", _TWO, "atan2 arctan2"),
    ("hypot", "real", _TWO, "hypot"),
    ("logaddexp", "real", _TWO, "logaddexp"),
    ("copysign", "float", _TWO, "copysign"),
    ("deg2rad", "float", _ONE, "deg2rad"),
    ("rad2deg", "float", _ONE, "rad2deg"),
    ("expit", "float", _ONE, "sigmoid expit"),
    ("logit", "float", _ONE, "logit"),
    ("erf", "float", _ONE, "erf"),
    ("erfc", "float", _ONE, "erfc"),
    ("erfinv", "float", _ONE, "erfinv"),
    ("erfcx", "float", _ONE, "erfcx"),
    ("ndtr", "float", _ONE, "ndtr"),
    ("log_ndtr", "float", _ONE, "log_ndtr"),
    ("ndtri", "float", _ONE, "ndtri"),
    ("entr", "float", _ONE, "entr"),
    ("xlogy", "float", _TWO, "xlogy"),
    ("xlog1py", "float", _TWO, "xlog1py"),
    ("gammaln", "float", _ONE, "lgamma gammaln"),
    ("psi", "float", _ONE, "digamma psi"),
    ("i0", "float", _ONE, "i0 modified_bessel_i0"),
    ("i0e", "float", _ONE, "i0e"),
    ("i1", "float", _ONE, "i1 modified_bessel_i1"),
    ("i1e", "float", _ONE, "i1e"),
    ("k0", "float", _ONE, "modified_bessel_k0"),
    ("k0e", "float", _ONE, "scaled_modified_bessel_k0"),
    ("k1", "float", _ONE, "modified_bessel_k1"),
    ("k1e", "float", _ONE, "scaled_modified_bessel_k1"),
    ("airy.0", "float", _ONE, "airy_ai"),
    ("j0", "float", _ONE, "bessel_j0"),
    ("j1", "float", _ONE, "bessel_j1"),
    ("y0", "float", _ONE, "bessel_y0"),
    ("y1", "float", _ONE, "bessel_y1"),
    ("sinc", "float", _ONE, "sinc"),
    ("gammainc", "real", _TWO, "gammainc igamma"),
    ("gammaincc", "real", _TWO, "gammaincc igammac"),
]


_IN_PLACE = ("clamp", "clip", "pow", "relu", "floor_divide", "remainder", "square", "rsqrt", "sign")


@cache
def rows() -> dict[str, Function]:
    """What each path under ``torch`` means."""
    found: dict[str, Function] = {}
    for record, rule, parameters, names in ELEMENTWISE:
        plain = Elementwise(record, rule, parameters)
        for name in names.split():
            for place in ("", "special.", "nn.functional.", "Tensor."):
                found[f"{place}{name}"] = plain
            found[f"Tensor.{name}_"] = in_place(name, plain)
    found.update(NAMED)
    found.update({f"Tensor.{name}_": in_place(name, NAMED[name]) for name in _IN_PLACE})
    return found


@cache
def _by_identity() -> dict[int, tuple[Any, Function]]:
    torch = sys.modules["torch"]
    found: dict[int, tuple[Any, Function]] = {}
    for path, meaning in rows().items():
        held: Any = torch
        for name in path.split("."):
            held = getattr(held, name, None)
        if held is not None:
            found[id(held)] = (held, meaning)
    return found


def resolve(function: Any) -> Function | None:
    """What a function of torch's means, or None."""
    if not hasattr(sys.modules.get("torch"), "Tensor"):
        return None
    found = _by_identity().get(id(function))
    return found[1] if found is not None and found[0] is function else None


#: what Python's operators are
OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "&": "bitwise_and", "|": "bitwise_or",
    "^": "bitwise_xor", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne",
    "@": "matmul", "**": "pow", "//": "floor_divide", "%": "remainder",
}
UNARY = {"-": "neg", "+": "positive", "~": "bitwise_not"}
