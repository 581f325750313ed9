"""``lambdify``: compiled functions of SymPy's expressions.

An expression becomes the text of a Python function, with a line for each common subexpression,
and this function is compiled.  SymPy is imported by nothing else of npcompile's.
"""

from __future__ import annotations

import keyword
import linecache
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from types import FunctionType
from typing import Any

import numpy as np
import scipy.special

from npcompile.api.jit import Jit
from npcompile.api.sympy_names import BETWEEN, CONSTANTS, NAMES
from npcompile.api.vectorize import vectorize
from npcompile.core.config import from_environment
from npcompile.core.records import replace

try:
    import sympy
except ImportError as error:
    raise ImportError("lambdify needs SymPy: pip install 'npcompile[symbolic]'") from error

_SUM, _PRODUCT, _UNARY, _POWER, _ATOM = range(1, 6)  # how tightly a text is bound
_PRODUCTS = 32  # the largest integer power that is written as products
_SCOPE = {"np": "np", "sp": "sp"}
_numbers = count(1)


class ExpressionWriter:
    """Writes expressions of SymPy's as Python; ``names`` are those of symbols, ``bind`` gives the
    value of a text a name."""

    def __init__(self, names: dict[Any, str], bind: Callable[[str], str]) -> None:
        self.names, self.bind = names, bind

    def text(self, expression: Any, tightly: int = 0) -> str:
        """The expression, in parentheses if it is bound less tightly than asked for."""
        text, bound = self.bound(expression)
        return text if bound >= tightly else f"({text})"

    def bound(self, e: Any) -> tuple[str, int]:
        """The text of an expression, and how tightly it is bound."""
        if e in self.names:
            return self.names[e], _ATOM
        kind = type(e).__name__
        if e.is_Integer:
            return str(int(e)), _UNARY if e < 0 else _ATOM
        if e.is_Rational:
            return f"{int(e.p)} / {int(e.q)}", _PRODUCT
        if e.is_Float:
            return repr(float(e)), _UNARY if e < 0 else _ATOM
        if kind in CONSTANTS:
            return CONSTANTS[kind].format(**_SCOPE), _UNARY
        if e.is_Add:
            return self.sum(e), _SUM
        if e.is_Mul:
            return self.product(e)
        if e.is_Pow:
            return self.power(*e.as_base_exp()), _PRODUCT
        return self.call(e, kind), _ATOM

    def sum(self, e: Any) -> str:
        text = ""
        for term in e.args:
            negative = term.could_extract_minus_sign()
            one = self.text(-term if negative else term, _PRODUCT)
            text += (f" - {one}" if text else f"-{one}") if negative else (
                f" + {one}" if text else one)
        return text

    def product(self, e: Any) -> tuple[str, int]:
        coefficient, rest = e.as_coeff_Mul()
        if coefficient.is_negative:
            return f"-{self.text(-e, _PRODUCT)}", _UNARY if rest.is_Symbol else _PRODUCT
        above, below = [], []
        for factor in sympy.Mul.make_args(e):
            if factor.is_Rational and factor.q != 1:
                above += [str(factor.p)] if factor.p != 1 else []
                below.append(str(factor.q))
            elif factor.is_Pow and factor.exp.is_number and factor.exp.is_negative:
                below.append(self.text(1 / factor, _UNARY))
            else:
                above.append(self.text(factor, _UNARY))
        text = " * ".join(above or ["1"])
        if not below:
            return text, _PRODUCT
        return f"np.divide({text}, {' * '.join(below)})", _ATOM  # which raises nothing

    def power(self, base: Any, exponent: Any) -> str:
        if base is sympy.E:
            return f"np.exp({self.text(exponent)})"
        if exponent.is_number and exponent.is_negative:
            return f"np.divide(1, {self.text(base ** -exponent)})"
        if exponent == sympy.S.Half:
            return f"np.sqrt({self.text(base)})"
        if exponent.is_Integer and 2 <= exponent <= _PRODUCTS:
            known = self.names.get(base)
            return self.products(known or self.bind(self.text(base)), int(exponent))
        if exponent.is_Rational and exponent.q == 2 and exponent.p == 3:
            return f"{self.text(base, _UNARY)} * np.sqrt({self.text(base)})"
        return f"{self.text(base, _ATOM)} ** {self.text(exponent, _ATOM)}"

    def products(self, name: str, exponent: int) -> str:
        """An integer power as products, of which equal ones are computed once."""
        if exponent == 1:
            return name
        half = self.products(name, exponent // 2)
        text = f"{half} * {half}" if exponent < 4 else f"({half}) * ({half})"
        return f"{text} * {name}" if exponent % 2 else text

    def call(self, e: Any, kind: str) -> str:
        if kind in BETWEEN:
            between = f" {BETWEEN[kind]} ".join(self.text(a, _ATOM) for a in e.args)
            return f"({between})"
        if kind == "Not":
            return f"np.logical_not({self.text(e.args[0])})"
        if kind in ("Min", "Max"):
            return self.extreme("np.minimum" if kind == "Min" else "np.maximum", e.args)
        if kind == "Piecewise":
            return self.choice(e.args)
        if kind == "ITE":
            return f"np.where({', '.join(map(self.text, e.args))})"
        form = NAMES.get(kind)
        if form is None:
            raise TypeError(f"lambdify does not know SymPy's {kind}")
        args = [self.text(arg) for arg in e.args]
        if "{" not in form:
            return f"np.{form}({', '.join(args)})"
        return f"({form.format(*[self.text(arg, _ATOM) for arg in e.args], **_SCOPE)})"

    def extreme(self, name: str, args: Sequence[Any]) -> str:
        text = self.text(args[0])
        for arg in args[1:]:
            text = f"{name}({text}, {self.text(arg)})"
        return text

    def choice(self, pieces: Sequence[Any]) -> str:
        value, condition = pieces[0].args
        if condition == sympy.true:
            return self.text(value)
        rest = self.choice(pieces[1:]) if len(pieces) > 1 else "np.nan"
        return f"np.where({self.text(condition)}, {self.text(value)}, {rest})"


class SourceWriter:
    """Writes the function of some arguments that computes expressions."""

    def __init__(self, args: Any, cse: bool) -> None:
        self.cse = cse
        self.taken: set[str] = {"np", "sp"}
        self.replaced: dict[Any, Any] = {}
        self.names: dict[Any, str] = {}
        self.lines: list[str] = []
        single = isinstance(args, sympy.Basic) and not isinstance(args, sympy.Tuple)
        self.params = [self.param(arg) for arg in ([args] if single else args)]
        self.numbers = list(self.names.values())

    def name(self, wanted: str) -> str:
        """A name that is not taken yet."""
        plain = "".join(c if c.isalnum() and c.isascii() else "_" for c in wanted)
        if not plain.isidentifier() or keyword.iskeyword(plain):
            plain = f"_{plain}"
        found = next(n for k in count() if (n := f"{plain}_{k}" if k else plain) not in self.taken)
        self.taken.add(found)
        return found

    def param(self, arg: Any) -> str:
        """The name of a parameter; one of several symbols is unpacked."""
        if isinstance(arg, (sympy.MatrixBase, Sequence, sympy.Tuple)) and not isinstance(arg, str):
            whole = self.name("values")
            for k, inner in enumerate(arg):
                column = isinstance(arg, sympy.MatrixBase) and arg.shape[1] == 1
                place = f"{k}, 0" if column else str(k)
                if isinstance(arg, sympy.MatrixBase) and not column:
                    place = ", ".join(map(str, divmod(k, arg.shape[1])))
                self.lines.append(f"{self.param(inner)} = {whole}[{place}]")
            return whole
        arg = sympy.sympify(arg)
        symbol = arg if arg.is_Symbol else sympy.Dummy()
        if symbol is not arg:  # q(t), or its derivative
            self.replaced[arg] = symbol
        self.names[symbol] = self.name(str(arg))
        return self.names[symbol]

    def write(self, expression: Any) -> str:
        """The text of the function."""
        shape = self.shape(expression)
        flat = [e.xreplace(self.replaced) for e in self.flat(expression)]
        temporaries = (sympy.Dummy(f"t{k}") for k in count())
        common, results = sympy.cse(flat, symbols=temporaries, order="none") if self.cse else (
            (), flat)
        writer = ExpressionWriter(self.names, self.bind)
        for symbol, value in common:
            text = writer.text(value)
            self.names[symbol] = self.name(symbol.name)
            self.lines.append(f"{self.names[symbol]} = {text}")
        texts = iter([writer.text(e) for e in results])
        if shape is None:
            self.lines.append(f"return {self.nested(expression, texts)}")
        else:
            self.matrix(shape, list(texts), any(e.has(sympy.I) for e in flat))
        body = "\n    ".join(self.lines)
        return f"def _lambdified({', '.join(self.params)}):\n    {body}\n"

    def bind(self, text: str) -> str:
        """A new name of a value."""
        name = self.name("p")
        self.lines.append(f"{name} = {text}")
        return name

    def shape(self, expression: Any) -> tuple[int, ...] | None:
        if isinstance(expression, (sympy.MatrixBase, sympy.NDimArray)):
            return tuple(map(int, expression.shape))
        return None

    def flat(self, expression: Any) -> Iterable[Any]:
        if isinstance(expression, (list, tuple, sympy.Tuple)):
            return [inner for item in expression for inner in self.flat(item)]
        if isinstance(expression, sympy.MatrixBase):
            return list(expression)
        if isinstance(expression, sympy.NDimArray):
            return list(sympy.flatten(expression))
        return [sympy.sympify(expression)]

    def nested(self, expression: Any, texts: Any) -> str:
        if isinstance(expression, (list, tuple, sympy.Tuple)):
            inner = [self.nested(item, texts) for item in expression]
            if isinstance(expression, list):
                return f"[{', '.join(inner)}]"
            return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
        shape = self.shape(expression)
        if shape is not None:
            raise TypeError("lambdify takes a matrix alone, not in a list")
        return str(next(texts))

    def matrix(self, shape: tuple[int, ...], texts: list[str], complex_: bool) -> None:
        """Statements that fill an array, whose last axes are those of the arguments."""
        given = ", ".join(f"np.shape({name})" for name in self.numbers)
        kind = "np.complex128" if complex_ else "np.float64"
        out = self.name("out")
        self.lines.append(f"{out} = np.empty({shape!r} + np.broadcast_shapes({given}), {kind})")
        for place, text in zip(np.ndindex(shape), texts, strict=True):
            self.lines.append(f"{out}[{', '.join(map(str, place))}] = {text}")
        self.lines.append(f"return {out}")


def lambdify(args: Any, expr: Any, *, cse: bool = True, ufunc: bool = False) -> Any:
    """Makes a compiled function of an expression of SymPy's.

    Parameters
    ----------
    args
        Symbols, functions such as ``q(t)``, or sequences and matrices of them, which are one
        argument each.
    expr
        An expression, a matrix or an array, or lists and tuples of expressions.
    cse
        Compute common subexpressions once.
    ufunc
        Make a ufunc (:func:`npcompile.vectorize`) of one expression.

    Returns
    -------
    function
        Takes numbers or arrays, which are broadcast.  A matrix is an array, with the axes of the
        arguments behind its own.  ``function.source`` is the text of the plain function.

    Notes
    -----
    Functions are NumPy's and SciPy's, by the table in :mod:`npcompile.api.sympy_names`; their
    accuracy is that of compiled functions.  Integer powers are products.  A division by zero gives
    NumPy's infinity and warning for Python's numbers, too.  The extra ``symbolic`` installs SymPy.

    Examples
    --------
    >>> import sympy
    >>> import npcompile
    >>> x, y = sympy.symbols("x y")
    >>> f = npcompile.lambdify((x, y), sympy.sin(x) ** 2 + sympy.sqrt(y) * sympy.sin(x))
    >>> round(float(f(1.0, 4.0)), 12)
    2.391015387889
    >>> jacobian = npcompile.lambdify((x, y), sympy.Matrix([x * y, x + y]).jacobian([x, y]))
    >>> jacobian(2.0, 3.0)
    array([[3., 2.],
           [1., 1.]])
    """
    source = SourceWriter(args, cse).write(expr)
    file = f"<npcompile.lambdify {next(_numbers)}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    scope: dict[str, Any] = {"np": np, "sp": scipy.special, "__name__": "lambdified"}
    exec(compile(source, file, "exec"), scope)
    plain: FunctionType = scope["_lambdified"]
    vars(plain)["source"] = source  # which what wraps it takes over
    if ufunc:
        return vectorize(plain)
    return Jit(plain, replace(from_environment(), thorough=True))
