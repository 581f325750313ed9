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

from npcompile.tensors import (
    arithmetic,
    arrangements,
    composed,
    creation,
    derived,
    indexing,
    matrices,
    networks,
    parts,
    selections,
    shapes,
    tensor_reductions,
    transforms,
)
from npcompile.tensors.elementwise import Elementwise, in_place
from npcompile.tensors.tensor_functions import MEANINGS, NAMED

Function = Callable[..., Any]

#: they enter their functions in NAMED
FILLING = (
    composed, creation, tensor_reductions, shapes, selections, arrangements, transforms, matrices,
    arithmetic, networks, parts, indexing,
    derived,
)

_ONE, _TWO = ("input",), ("input", "other")

#: of which compositions are made
_PLAIN = [
    ("add", "same|c", _TWO, "plain_add"),
    ("subtract", "number|c", _TWO, "plain_sub"),
]

# record, rule, parameters, names
ELEMENTWISE: list[tuple[str, str, tuple[str, ...], str]] = [
    ("multiply", "same|c", _TWO, "mul multiply __mul__"),
    ("divide", "float|c", _TWO, "true_divide __truediv__"),
    ("maximum", "same", _TWO, "maximum"),
    ("minimum", "same", _TWO, "minimum"),
    ("fmax", "same", _TWO, "fmax"),
    ("fmin", "same", _TWO, "fmin"),
    ("negative", "number|c", _ONE, "neg negative"),
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
    ("equal", "bool|c", _TWO, "eq"),
    ("not_equal", "bool|c", _TWO, "ne not_equal"),
    ("isnan", "bool|c", _ONE, "isnan"),
    ("isinf", "bool|c", _ONE, "isinf"),
    ("isfinite", "bool|c", _ONE, "isfinite"),
    ("signbit", "bool", _ONE, "signbit"),
    ("logical_not", "bool|c", _ONE, "logical_not"),
    ("logical_and", "bool|c", _TWO, "logical_and"),
    ("logical_or", "bool|c", _TWO, "logical_or"),
    ("logical_xor", "bool|c", _TWO, "logical_xor"),
    ("sqrt", "float|c", _ONE, "sqrt"),
    ("reciprocal", "float|c", _ONE, "reciprocal"),
    ("exp", "float|c", _ONE, "exp"),
    ("exp2", "float", _ONE, "exp2"),
    ("expm1", "float", _ONE, "expm1"),
    ("log", "float|c", _ONE, "log"),
    ("log2", "float|c", _ONE, "log2"),
    ("log10", "float|c", _ONE, "log10"),
    ("log1p", "float", _ONE, "log1p"),
    ("sin", "float|c", _ONE, "sin"),
    ("cos", "float|c", _ONE, "cos"),
    ("tan", "float|c", _ONE, "tan"),
    ("sinh", "float|c", _ONE, "sinh"),
    ("cosh", "float|c", _ONE, "cosh"),
    ("tanh", "float|c", _ONE, "tanh"),
    ("arcsin", "float|c", _ONE, "asin arcsin"),
    ("arccos", "float|c", _ONE, "acos arccos"),
    ("arctan", "float|c", _ONE, "atan arctan"),
    ("arcsinh", "float|c", _ONE, "asinh arcsinh"),
    ("arccosh", "float|c", _ONE, "acosh arccosh"),
    ("arctanh", "float|c", _ONE, "atanh arctanh"),
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
    ("heaviside", "same", _TWO, "heaviside"),
    ("logaddexp2", "real", _TWO, "logaddexp2"),
    ("nextafter", "real", _TWO, "nextafter"),
    ("isposinf", "bool", _ONE, "isposinf"),
    ("isneginf", "bool", _ONE, "isneginf"),
    ("left_shift", "integer", _TWO, "bitwise_left_shift __lshift__"),
    ("right_shift", "integer", _TWO, "bitwise_right_shift __rshift__"),
]


#: whose forms in place change the tensor's shape, not its elements
_VIEWS = frozenset({
    "t", "transpose", "swapaxes", "swapdims", "squeeze", "unsqueeze", "detach", "fill", "zero",
    "copy",
})


@cache
def rows() -> dict[str, Function]:
    """What each path under ``torch`` means."""
    found: dict[str, Function] = {}
    for record, rule, parameters, names in (*_PLAIN, *ELEMENTWISE):
        plain = Elementwise(record, rule, parameters)
        for name in names.split():
            for place in ("", "special.", "nn.functional.", "Tensor."):
                found[f"{place}{name}"] = plain
    found.update(NAMED)
    torch = sys.modules["torch"]
    holders = {"Tensor": torch.Tensor, "": torch, "nn.functional": torch.nn.functional}
    for path in list(found):
        space, _, name = path.rpartition(".")
        holder = holders.get(space)
        if name not in _VIEWS and f"{path}_" not in found and hasattr(holder, f"{name}_"):
            found[f"{path}_"] = in_place(name, found[path])
    MEANINGS.update(found)
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
