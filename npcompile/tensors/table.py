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
    ("add", "same|ch", _TWO, "plain_add"),
    ("subtract", "number|ch", _TWO, "plain_sub"),
]

# record, rule, parameters, names
ELEMENTWISE: list[tuple[str, str, tuple[str, ...], str]] = [
    ("multiply", "same|ch", _TWO, "mul multiply __mul__"),
    ("divide", "float|ch", _TWO, "true_divide __truediv__"),
    ("maximum", "same|h", _TWO, "maximum"),
    ("minimum", "same|h", _TWO, "minimum"),
    ("fmax", "same|h", _TWO, "fmax"),
    ("fmin", "same|h", _TWO, "fmin"),
    ("negative", "number|ch", _ONE, "neg negative"),
    ("floor", "number|h", _ONE, "floor"),
    ("ceil", "number|h", _ONE, "ceil"),
    ("trunc", "number|h", _ONE, "trunc fix"),
    ("rint", "real|h", _ONE, "round"),
    ("fmod", "real|h", _TWO, "fmod"),
    ("bitwise_and", "same", _TWO, "bitwise_and"),
    ("bitwise_or", "same", _TWO, "bitwise_or"),
    ("bitwise_xor", "same", _TWO, "bitwise_xor"),
    ("invert", "same", _ONE, "bitwise_not"),
    ("less", "bool|h", _TWO, "lt less"),
    ("less_equal", "bool|h", _TWO, "le less_equal"),
    ("greater", "bool|h", _TWO, "gt greater"),
    ("greater_equal", "bool|h", _TWO, "ge greater_equal"),
    ("equal", "bool|ch", _TWO, "eq"),
    ("not_equal", "bool|ch", _TWO, "ne not_equal"),
    ("isnan", "bool|ch", _ONE, "isnan"),
    ("isinf", "bool|ch", _ONE, "isinf"),
    ("isfinite", "bool|ch", _ONE, "isfinite"),
    ("signbit", "bool|h", _ONE, "signbit"),
    ("logical_not", "bool|ch", _ONE, "logical_not"),
    ("logical_and", "bool|ch", _TWO, "logical_and"),
    ("logical_or", "bool|ch", _TWO, "logical_or"),
    ("logical_xor", "bool|ch", _TWO, "logical_xor"),
    ("sqrt", "float|ch", _ONE, "sqrt"),
    ("reciprocal", "float|ch", _ONE, "reciprocal"),
    ("exp", "float|ch", _ONE, "exp"),
    ("exp2", "float|h", _ONE, "exp2"),
    ("expm1", "float|h", _ONE, "expm1"),
    ("log", "float|ch", _ONE, "log"),
    ("log2", "float|ch", _ONE, "log2"),
    ("log10", "float|ch", _ONE, "log10"),
    ("log1p", "float|h", _ONE, "log1p"),
    ("sin", "float|c", _ONE, "sin"),
    ("cos", "float|ch", _ONE, "cos"),
    ("tan", "float|ch", _ONE, "tan"),
    ("sinh", "float|ch", _ONE, "sinh"),
    ("cosh", "float|ch", _ONE, "cosh"),
    ("tanh", "float|ch", _ONE, "tanh"),
    ("arcsin", "float|c", _ONE, "asin arcsin"),
    ("arccos", "float|ch", _ONE, "acos arccos"),
    ("arctan", "float|ch", _ONE, "atan arctan"),
    ("arcsinh", "float|c", _ONE, "asinh arcsinh"),
    ("arccosh", "float|ch", _ONE, "acosh arccosh"),
    ("arctanh", "float|ch", _ONE, "atanh arctanh"),
    ("arctan2", "float", _TWO, "atan2 arctan2"),
    ("hypot", "real", _TWO, "hypot"),
    ("logaddexp", "real", _TWO, "logaddexp"),
    ("copysign", "float|h", _TWO, "copysign"),
    ("deg2rad", "float|h", _ONE, "deg2rad"),
    ("rad2deg", "float|h", _ONE, "rad2deg"),
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
    ("isposinf", "bool|h", _ONE, "isposinf"),
    ("isneginf", "bool|h", _ONE, "isneginf"),
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
