"""Which floating-point errors NumPy's operations can raise, by their first letters: divide, over,
under, invalid."""

from __future__ import annotations

from npcompile.graph.ir import Const, Extern, Node, Number, Reduction
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.routines import ROUTINES
from npcompile.graph.types import Array, Scalar

#: stands beside categories of which a function of NumPy's never tells
UNTOLD = "*"

#: which categories NumPy's loops of floats can raise, by first letter
_RAISES = {
    **dict.fromkeys(["add", "subtract", "logaddexp", "logaddexp2"], "oi"),
    **dict.fromkeys(["multiply", "square"], "oui"),
    **dict.fromkeys(["divide", "reciprocal", "power", "pow", "float_power"], "doui"),
    **dict.fromkeys(["floor_divide", "divmod"], "doui"),
    **dict.fromkeys(["remainder", "fmod", "sqrt", "arcsin", "arccos", "arccosh"], "i"),
    **dict.fromkeys(["exp", "exp2", "expm1", "sinh", "cosh", "hypot"], "ou"),
    **dict.fromkeys(["log", "log2", "log10", "log1p", "arctanh"], "di"),
    **dict.fromkeys(["sin", "cos", "tan"], "i"),
    **dict.fromkeys(["cast", "astype"], "oi"),
    "reduce": "oui",
    **dict.fromkeys(["ldexp", "degrees", "rad2deg", "spacing", "nextafter"], "ou"),
    **dict.fromkeys(["radians", "deg2rad"], "u"),
}
#: those of complex numbers, where they can raise others
_OF_COMPLEX = {
    **dict.fromkeys(["greater", "greater_equal", "less", "less_equal"], "i"),
    **dict.fromkeys(["exp", "exp2", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh"], "oui"),
    **dict.fromkeys(["arctan", "arctanh"], "doui"),
    "absolute": "ou",
    "sign": "oui",
    "sqrt": "ui",
}
#: those of integers; unsigned ones don't overflow
_OF_INTEGERS = {"floor_divide": "do", "divmod": "do", "remainder": "d", "fmod": "d"}
#: what operators are called that compute otherwise than NumPy's ufuncs
OF_SCALARS = "scalar_"
_POWERS = frozenset(["power", "pow", "float_power"])


def raises(node: Node) -> str:
    """The first letters of the categories that an operation can raise on its dtype."""
    kind = node.args[0].type if node.args else node.type
    if not isinstance(kind, (Array, Scalar)):
        return ""
    if node.op == "cast":
        assert isinstance(node.type, (Array, Scalar))
        width, other = (t.dtype.itemsize >> (t.dtype.kind == "c") for t in (node.type, kind))
        narrower = node.type.dtype.kind in "iu" or (node.type.dtype.kind != "b" and width < other)
        return _RAISES["cast"] if kind.dtype.kind in "fc" and narrower else ""
    if isinstance(node.attrs, Extern):
        loud = kind.dtype.kind in "fc" and not node.attrs.quiet
        return "oui" if loud and ROUTINES[node.attrs.routine].flags else ""
    if isinstance(node.attrs, Reduction) and node.attrs.kind not in ("sum", "prod"):
        return ""
    if kind.dtype.kind in "iub" and node.op != "divide":
        letters = _OF_INTEGERS.get(node.op, "")
        return letters if kind.dtype.kind == "i" else letters[:1]
    more = _OF_COMPLEX if kind.dtype.kind == "c" else {}
    name = node.op.removeprefix(OF_SCALARS)
    if name in _POWERS and kind.dtype.kind == "f" and isinstance(node.args[-1].attrs, Const):
        return _of_power(node.args[-1].attrs.value)
    found = more.get(name) or _RAISES.get(name)
    if found is None and kind.dtype.kind in "fc" and name in PRIMITIVES:
        return PRIMITIVES[name].flags
    return found or ""


def _of_power(exponent: Number) -> str:
    """What a float to a power that is known can raise."""
    value = complex(exponent).real
    if not value >= 0:
        return _RAISES["power"]
    return "ou" if value.is_integer() else "oui"
