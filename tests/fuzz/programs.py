"""Random NumPy functions: views, mutation, loops, branches that raise, inlined helpers.

Programs are made by running them: each candidate statement is executed on sample inputs, and kept
if it works (or, seldom, where it ends the program by raising).  So every program is valid Python
that does something, and its variables have known types while it is written.

"""

from __future__ import annotations

import contextlib
import io
import random
import re
import warnings
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tests.fuzz import framework
from tests.fuzz.framework import Grammar

HELPERS = '''
def scale(v, factor=2.0):
    return v * factor
def shift(v, *, by=1):
    out = np.zeros_like(v)
    out[by:] = v[:-by] if by else v
    return out
def bump(v, amount):
    v[0] += amount
    return v
def pair(u, v):
    return u + v, u - v
class Box:
    def __init__(self, gain, data):
        self.gain = gain
        self.data = data
    def apply(self, v):
        return v * self.gain + self.data[0]
'''

FLOATS = ("float64", "float64", "float64", "float32")
#: here NumPy's own choice between 0.0 and -0.0 depends on its vector loops
EXTREMA = re.compile(r"\b(nan)?(max|min|ptp|fmin|fmax)\(|imum\.|accumulate")
DTYPES = (*FLOATS, "int64", "int32", "uint8", "bool", "float16", "complex128", "int8", "uint64")


@dataclass
class Program:
    """A function's source and the makers of its arguments."""

    seed: int
    source: str
    specs: list[tuple[str, Any]]  # argument name, how to make it
    ends_in_error: bool = False

    def arguments(self, size: int, variant: int) -> dict[str, Any]:
        """Fresh arguments; ``variant`` changes the numbers, the layout only with the seed."""
        rng = np.random.default_rng([self.seed, variant])
        found: dict[str, Any] = {}
        for name, spec in self.specs:
            if spec[0] == "view":  # of an argument before it
                found[name] = eval(spec[2], {"v": found[spec[1]]})
            else:
                found[name] = make(spec, size, rng)
        return found

    def function(self) -> Any:
        scope: dict[str, Any] = {"np": np}
        exec(compile(self.source, f"<program {self.seed}>", "exec"), scope)
        return scope["f"]


def make(spec: Any, size: int, rng: np.random.Generator) -> Any:
    """An argument from its description."""
    kind, *rest = spec
    if kind == "number":
        return rest[0].copy() if isinstance(rest[0], np.ndarray) else rest[0]
    dtype, ndim, layout = rest
    layout = layout if ndim > (layout == "single") else "c"
    shape = (size, 3)[:ndim] if ndim < 3 else (size, 2, 3)
    shape = (0, *shape[1:]) if layout == "empty" else shape
    full = tuple(2 * n for n in shape) if layout == "strided" else shape
    if dtype == "bool":
        data = rng.random(full) < 0.5
    elif np.dtype(dtype).kind in "iu":
        data = rng.integers(0 if dtype[0] == "u" else -9, 10, full)
    elif np.dtype(dtype).kind == "c":
        data = rng.integers(-8, 9, full) / 4 + 1j * rng.integers(-8, 9, full) / 4
    else:
        data = rng.standard_normal(full) * 3
    array = np.asarray(data, order="C").astype(dtype)
    if layout == "strided":
        return array[tuple(slice(None, None, 2) for _ in shape)]
    if layout == "reversed":
        return array[::-1]
    if layout == "fortran":
        return np.asfortranarray(array)
    if layout == "single":  # an axis of length 1, in order F
        array = np.asfortranarray(array[:, :1])
        return array[:, :, ::2] if ndim > 2 else array
    if layout == "swapped":
        return array.astype(array.dtype.newbyteorder())
    if layout == "repeated":
        return np.broadcast_to(array[:1], shape)
    if layout == "unaligned":
        room = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(shape)
        room[...] = array
        return room
    array.flags.writeable = layout != "readonly"
    return array


@dataclass
class Writer:
    """Writes one program."""

    rng: random.Random
    env: dict[str, Any]
    lines: list[str] = field(default_factory=list)
    count: int = 0
    helpers: ClassVar[str] = HELPERS
    layouts: ClassVar[tuple[str, ...]] = (
        "c", "c", "c", "strided", "reversed", "fortran", "single")
    ranks: ClassVar[tuple[int, ...]] = (1, 1, 2, 2, 3)

    @classmethod
    def more(cls, rng: random.Random, specs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """Further arguments."""
        return []

    def fresh(self, prefix: str = "v") -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def names(self, test: Any) -> list[str]:
        return [n for n, v in self.env.items() if not n.startswith("_") and test(v)]

    def arrays(self, ndim: int | None = None) -> list[str]:
        return self.names(
            lambda v: type(v) is np.ndarray and v.ndim > 0 and (ndim is None or v.ndim == ndim)
        )

    def pick_array(self) -> str:
        return self.rng.choice(self.arrays())

    def like(self, name: str) -> str:
        """An operand that may broadcast with an array, or a number."""
        shape = self.env[name].shape
        if self.rng.random() < 0.35:
            return self.number()
        fits = [n for n in self.arrays() if self.env[n].shape in (shape, shape[1:], shape[-1:])]
        return self.rng.choice(fits or [name])

    def number(self) -> str:
        scalars = self.names(lambda v: isinstance(v, (int, float, np.generic)))
        if scalars and self.rng.random() < 0.5:
            return self.rng.choice(scalars)
        return self.rng.choice(["2", "0.5", "-1", "3.0", "1.25", "0", "7", "-0.0"])

    # ------------------------------------------------------------------ expressions

    def array(self, depth: int = 0) -> str:
        rng = self.rng
        name = self.pick_array()
        roll = rng.random()
        if depth > 2 or roll < 0.12:
            return name
        if roll < 0.17:
            return self.product()
        if roll < 0.5:
            op = rng.choice(["+", "-", "*", "+", "*", "/", "//", "%", "-"])
            left = self.array(depth + 1) if rng.random() < 0.4 else name
            return f"({left} {op} {self.like(name)})"
        if roll < 0.58:
            op = rng.choice(["<", "<=", ">", ">=", "==", "!="])
            return f"({name} {op} {self.like(name)})"
        if roll < 0.66:
            if self.env[name].dtype.kind == "c":
                return f"np.conj({name})"
            fn = rng.choice(  # magnitude and sign of complex numbers are right within an ulp or two
                ["np.abs", "-", "np.square", "np.sign", "np.floor", "np.rint", "np.isnan", "~",
                 "np.logical_not", "np.ceil", "np.trunc", "np.isfinite", "np.signbit"]
            )
            inner = self.array(depth + 1)
            return f"{fn}({inner}.real)" if fn in ("np.abs", "np.sign") else f"{fn}({inner})"
        if roll < 0.72:
            fn = rng.choice(["np.minimum", "np.maximum", "np.fmin", "np.fmax", "np.copysign"])
            return f"{fn}({name}, {self.like(name)})"
        if roll < 0.77:
            other = self.like(name)
            return f"np.where({name} > {self.number()}, {name}, {other})"
        if roll < 0.80 and self.env[name].dtype.kind != "c":
            return f"np.sqrt(np.abs({name}))"
        if roll < 0.83:
            return f"{name}{self.chosen(name)}"
        if roll < 0.86:
            return f"{name}{self.index(name)}"
        if roll < 0.90:
            dtype = rng.choice(["np.float32", "np.float64", "np.int32", "np.int64", "bool"])
            return f"{name}.astype({dtype})"
        if roll < 0.94:
            fn = rng.choice(["np.zeros_like", "np.ones_like", "np.copy"])
            return f"{fn}({name})"
        return self.reduction(name)

    def product(self) -> str:
        """A product of matrices or vectors, or a function of a square matrix: BLAS and LAPACK give
        NumPy's own bits."""
        rng = self.rng
        ends = [""] + [".T"] * 2 + ["[0]", "[:, 0]", "[::2]", "[..., ::-1]"]
        left, right = (self.pick_array() + rng.choice(ends) for _ in range(2))
        if rng.random() < 0.3:
            return f"({left} @ {right} @ {self.pick_array()})"
        if rng.random() < 0.6:
            return f"({left} @ {right})"
        square = f"({left} @ {left}.T + 2 * np.eye(3))"
        if rng.random() < 0.5:
            return f"np.linalg.solve({square}, {right})"
        functions = ["inv", "det", "cholesky", "eigvalsh", "norm", "matrix_rank", "pinv"]
        return f"np.linalg.{rng.choice(functions)}({square})"

    def reduction(self, name: str) -> str:
        """A reduction over one axis or several, or a function that makes an array of arrays."""
        rng = self.rng
        ndim = self.env[name].ndim
        axis = rng.choice([rng.randrange(ndim), -1, rng.randrange(ndim)])
        roll = rng.random()
        if roll < 0.55:
            fn = rng.choice(["sum", "max", "min", "mean", "prod", "any", "all", "argmax", "argmin"])
            keep = ", keepdims=True" if rng.random() < 0.4 else ""
            return f"{name}.{fn}(axis={axis}{keep})"
        if roll < 0.61:
            fn = rng.choice(["var", "std", "nansum", "nanmax", "ptp"])
            return f"np.{fn}({name}, axis={axis})"
        if roll < 0.615 and self.env[name].dtype.kind in "iuf":
            return rng.choice([
                f"np.searchsorted(np.linspace(-2.0, 3.0, 9), {name})",
                f"np.interp({name}, np.arange(-3.0, 4.0), np.arange(7) ** 2)",
                f"np.histogram({name}, 5, (-2, 7))[0]",
            ])
        if roll < 0.65:
            fn = rng.choice(["cumsum", "cumprod", "nancumsum", "maximum.accumulate",
                             "logical_or.accumulate", "cumulative_sum"])
            return f"np.{fn}({name}, axis={axis})"
        if roll < 0.72 and ndim > 1:
            return f"{name}.sum(axis={rng.choice(['(0, 1)', '(-1, 0)', '(1,)'])})"
        if roll < 0.84:
            return rng.choice([
                f"np.concatenate([{name}, {name}])", f"np.stack([{name}, {name}], axis={axis})",
                f"np.broadcast_to({name}, (2,) + {name}.shape)", f"np.flip({name}, {axis})",
                f"np.swapaxes({name}, 0, {axis})", f"np.expand_dims({name}, {axis})",
            ])
        if roll < 0.92:
            return rng.choice([
                f"np.arange({name}.shape[0])", f"np.zeros({name}.shape[0] + 1)",
                f"np.full({name}.shape, 1.5)", f"np.linspace(0.0, 1.0, {name}.shape[0])",
                f"np.eye({name}.shape[0])", f"np.ones_like({name}, dtype=float)",
            ])
        return rng.choice([
            f"np.clip({name}, -1, 2)", f"np.round({name}, 1)", f"np.nan_to_num({name})",
            f"{name}.real", f"np.float32(0.5) * {name}", f"np.logical_and({name}, {name} > 0)",
            f"({name} > 0) & ({name} < 2)", f"{name} ** 2", f"np.add.reduce({name})",
        ])

    def indices(self, length: int) -> str:
        """An array of integers that are indices of an axis (but for a few)."""
        rng = self.rng
        found = self.names(lambda v: type(v) is np.ndarray and v.dtype.kind in "iu" and v.ndim == 1)
        roll = rng.random()
        if found and roll < 0.25:
            return f"({rng.choice(found)} % {length})"
        if roll < 0.6:
            picked = [rng.randrange(-length, length) for _ in range(rng.choice([0, 1, 3, 5]))]
            dtype = rng.choice(["int64", "int64", "int32", "uint8", "int8"])
            return f"np.array({[abs(k) for k in picked]}, dtype=np.{dtype})"
        if roll < 0.75:
            return f"(np.arange({rng.randint(1, 9)}) % {length})"
        if roll < 0.78:
            return f"np.array([0, {length + rng.randint(-1, 2)}])"
        return f"np.array({[rng.randrange(-length, length) for _ in range(4)]})"

    def chosen(self, name: str) -> str:
        """A key with a mask, arrays of integers, or ends that only the run knows."""
        rng = self.rng
        value = self.env[name]
        length = value.shape[0] or 1
        roll = rng.random()
        if roll < 0.3:
            return f"[{name} {rng.choice(['>', '<=', '!='])} {self.number()}]"
        if roll < 0.4 and value.ndim > 1:
            return f"[{name}[:, 0] > {self.number()}]"
        if roll < 0.7:
            rest = rng.choice(["", "", ", 0", ", 1:", ", ::-1", ", None"]) if value.ndim > 1 else ""
            return f"[{self.indices(length)}{rest}]"
        if roll < 0.8 and value.ndim > 1:
            key = self.indices(value.shape[1] or 1)
            return rng.choice([f"[:, {key}]", f"[0, {key}]", f"[::-1, {key}]", f"[..., {key}]"])
        if roll < 0.85 and value.ndim > 1:
            return f"[{self.indices(length)}[:, None], {self.indices(value.shape[1] or 1)}]"
        count = f"int(({name} > {self.number()}).sum())"
        return rng.choice([f"[:{count}]", f"[{count}:]", f"[::{count} + 1]", f"[:-{count} - 1]"])

    def scalar(self) -> str:
        rng = self.rng
        name = self.pick_array()
        roll = rng.random()
        if roll < 0.45:
            fn = rng.choice(["sum", "max", "min", "mean", "std", "var", "any", "all", "argmax"])
            return f"{name}.{fn}()"
        if roll < 0.6:
            index = ", ".join(rng.choice(["0", "-1", "1"]) for _ in range(self.env[name].ndim))
            return f"{name}[{index}]"
        if roll < 0.7:
            return f"{name}.shape[{rng.randrange(self.env[name].ndim)}]"
        op = rng.choice(["+", "-", "*", "/", "//", "%", "<", "=="])
        if roll < 0.92:
            return f"({self.number()} {op} {self.number()})"
        if roll < 0.96:
            return f"({name}[0] @ {self.pick_array()}[0])"
        return f"float({name}.sum())"

    def index(self, name: str) -> str:
        ndim = self.env[name].ndim
        parts = [
            self.rng.choice([":", ":", "1:", ":-1", "::2", "::-1", "1:-1", "2:", "-3:"])
            for _ in range(self.rng.randint(1, ndim))
        ]
        if len(parts) == ndim and ndim > 1 and self.rng.random() < 0.3:
            parts[self.rng.randrange(ndim)] = self.rng.choice(["0", "-1", "1"])
        if self.rng.random() < 0.1:
            parts.insert(self.rng.randrange(len(parts) + 1), "None")
        return "[" + ", ".join(parts) + "]"

    # ------------------------------------------------------------------ statements

    def statement(self, depth: int) -> list[str]:
        rng = self.rng
        roll = rng.random()
        target = self.pick_array()
        if roll < 0.30:
            return [f"{self.fresh()} = {self.array()}"]
        if roll < 0.38:
            return [f"{self.fresh('s')} = {self.scalar()}"]
        if roll < 0.46:
            return [f"{self.fresh()} = {target}{self.index(target)}"]
        if roll < 0.56:
            op = rng.choice(["+=", "-=", "*=", "="])
            return [f"{target}{self.index(target)} {op} {self.array(1)}"]
        if roll < 0.63:
            return [f"{target} {rng.choice(['+=', '-=', '*=', '/='])} {self.like(target)}"]
        if roll < 0.67:
            where = rng.choice(["0", "-1", "1"])
            return [f"{target}[{where}] = {self.number()}"]
        if roll < 0.69:
            return [f"{target}[{target} > {self.number()}] = {self.number()}"]
        if roll < 0.70:
            return self.lengths()
        if roll < 0.71:
            op, key = rng.choice(["=", "+=", "*="]), self.chosen(target)
            return [f"{target}{key} {op} {self.number()}", f"{target}{key} {op} {target}{key}",
                    f"{self.fresh()} = {target}{key}"][rng.randrange(3) :][:1]
        if roll < 0.75:
            return [f"np.{rng.choice(['add', 'multiply', 'subtract', 'maximum'])}"
                    f"({target}, {self.like(target)}, out={target})"]
        if roll < 0.80:
            views = [".T", ".ravel()", ".reshape(-1)", "[None]", "[..., ::-1]", ".copy()"]
            view = rng.choice(views)
            return [f"{self.fresh()} = {target}{view}"]
        if roll < 0.88:
            return [rng.choice([
                f"{self.fresh()} = scale({target})",
                f"{self.fresh()} = scale({target}, factor={self.number()})",
                f"{self.fresh()} = shift({target}, by={rng.randint(0, 2)})",
                f"{self.fresh()} = bump({target}, {self.number()})",
                f"{self.fresh()}, {self.fresh()} = pair({target}, {self.like(target)})",
                f"{self.fresh()} = Box({self.number()}, {target}).apply({target})",
                f"{self.fresh()} = sum([{target}, {self.like(target)}, {target}])",
                f"{self.fresh()} = [q * 2 for q in ({target}, {self.like(target)})][0]",
                f"{self.fresh()} = (lambda z, w=2: z + w)({target})",
            ])]
        if roll < 0.93 and depth < 2:
            kind = rng.choice([
                f"for i{depth} in range({rng.randint(0, 3)}):",
                f"for q{depth} in ({target}, {self.pick_array()}):",
                f"if {target}.ndim > 1:", f"if len({target}) > {rng.randint(1, 9)}:",
                f"for i{depth}, q{depth} in enumerate([1, 2.5]):",
            ])
            body = [line for _ in range(rng.randint(1, 2)) for line in self.statement(depth + 1)]
            block = [kind, *("    " + line for line in body)]
            if kind.startswith("if") and rng.random() < 0.5:
                block += ["else:", *("    " + line for line in self.statement(depth + 1))]
            return block
        if roll < 0.945:
            numbers = self.names(lambda v: type(v) in (int, float))
            if numbers:
                n = rng.choice(numbers)
                return [rng.choice([
                    f"{n} = {n} {rng.choice(['+', '-', '*'])} {rng.choice(['1', '3', '0.5'])}",
                    f"{n} += {rng.choice(['2', '-1', '1.5'])}",
                    f"{self.fresh('s')} = {n} if {n} > 1 else -{n}",
                    f"{self.fresh('s')} = min({n}, {self.number()}, 2)",
                    f"{self.fresh('s')} = int({n}) + len({target})",
                    f"{self.fresh('s')} = abs({n}) // 2",
                ])]
        if roll < 0.975:
            test = rng.choice([
                f"({target} > {rng.randint(0, 12)}).any()",
                f"{target}.sum() < {rng.randint(-40, 0)}",
                f"not np.isfinite({target}).all()", f"{target}.max() > {rng.randint(5, 12)}",
            ])
            return [f"if {test}:", f"    raise ValueError('limit of {target}')"]
        return [f"assert {target}.min() > {rng.randint(-30, -5)}, 'too small'"]

    def lengths(self) -> list[str]:
        """Statements after which an array has a length that a branch or the last turn gave it."""
        rng, name, target = self.rng, self.fresh(), self.pick_array()
        few = f"{name} {rng.choice(['>', '<', '<=', '!='])} {self.number()}"
        mask = f"({few})" if self.env[target].ndim == 1 else f"({few})[:, 0]"
        body = rng.choice([
            [f"{name} = {name}[{mask}]"], [f"{name} = {name} * 2 - 1", f"{name} = {name}[{mask}]"],
            [f"{name} = {name}[{mask}] + 1", f"s = {name}.sum()"],
        ])
        if self.env[target].ndim > 2:
            return [f"{name} = {target} + 0"]
        count = f"int(({target} > {self.number()}).sum())"
        head = rng.choice([
            [f"for k_ in range({rng.randint(0, 4)}):"], [f"for k_ in range({count}):"],
            ["k_ = 0", f"while k_ < {count} and len({name}) > 1:", "    k_ += 1"],
            [f"if {count} > {rng.randint(0, 5)}:"],
        ])
        if head[0].startswith("for") and rng.random() < 0.3:
            body = [f"if len({name}) < 2:", "    break", *body]
        block = [f"{name} = {target} + 0", *head, *("    " + line for line in body)]
        if head[0].startswith("if") and rng.random() < 0.5:
            block += ["else:", f"    {name} = {name}[::-1]" if rng.random() < 0.3
                      else f"    {name} = {name}[{name[:]} > 1] * 2"
                      if self.env[target].ndim == 1 else f"    {name} = {name}[1:] * 2"]
        return block

    def result(self) -> str:
        rng = self.rng
        known = [n for n, v in self.env.items() if not n.startswith("_") and (
            isinstance(v, (int, float, complex, np.generic, np.ndarray)))]
        recent = known[-4:]
        picked = [rng.choice(rng.choice((known, recent, recent))) for _ in range(rng.randint(1, 4))]
        roll = rng.random()
        if len(picked) == 1 or roll < 0.2:
            return picked[0] if roll < 0.85 else f"{picked[0]}, {picked[0]}"
        if roll < 0.85:
            return ", ".join(picked)
        if roll < 0.93:
            return "[" + ", ".join(picked) + "]"
        return "{" + ", ".join(f"'{k}': {n}" for k, n in enumerate(picked)) + "}"


def write(seed: int, kind: type[Writer] = Writer) -> Program:
    """The program of a seed."""
    rng = random.Random(seed)
    specs: list[tuple[str, Any]] = []
    for k in range(rng.randint(1, 3)):
        dtype = rng.choice(DTYPES if rng.random() < 0.5 else FLOATS)
        layout = rng.choice(kind.layouts)
        specs.append(("abc"[k], ("array", dtype, rng.choice(kind.ranks), layout)))
    if rng.random() < 0.6:
        specs.append(("x", ("number", rng.choice([0.5, 2.0, -3.25, 0.0]))))
    if rng.random() < 0.5:
        specs.append(("k", ("number", rng.choice([1, 2, 3, -1, 0]))))
    if rng.random() < 0.15:
        specs.append(("t", ("number", rng.choice([np.float32(1.5), np.int64(3), np.float64(-2)]))))
    specs += kind.more(rng, specs)
    program = Program(seed, "", specs)
    env = program.arguments(7, 0)
    helpers: dict[str, Any] = {"np": np}
    exec(kind.helpers, helpers)
    writer = kind(rng, env)
    for _ in range(rng.randint(2, 9)):
        if not _try(writer, helpers, writer.statement(0)):
            program.ends_in_error = True
            break
    names = ", ".join(name for name, _ in specs)
    body = [*writer.lines, f"return {writer.result()}"]
    text = "\n".join("    " + line for line in body)
    program.source = f"{kind.helpers}\ndef f({names}):\n{text}\n"
    return program


def _try(writer: Writer, helpers: dict[str, Any], lines: list[str]) -> bool:
    """Runs a statement on the sample; keeps it if it works.  False: it ends the program."""
    env = {k: (v.copy() if isinstance(v, np.ndarray) else v) for k, v in writer.env.items()}
    scope = {**helpers, **writer.env}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            exec("\n".join(lines), scope)
        except (ValueError, AssertionError) as error:
            if "limit of" in str(error) or "too small" in str(error) or writer.rng.random() < 0.05:
                writer.lines += lines
                return False
            return _undo(writer, env)
        except Exception:
            return _undo(writer, env)
    writer.env = {k: v for k, v in scope.items() if k not in helpers and not k.startswith("_")}
    writer.lines += lines
    return True


def _undo(writer: Writer, saved: dict[str, Any]) -> bool:
    for name, value in saved.items():
        if isinstance(value, np.ndarray) and writer.env[name].flags.writeable:
            writer.env[name][...] = value
    return True


# ------------------------------------------------------------------ running


def policy(program: Program) -> dict[str, Any]:
    """What the calls of a program need not have in common with Python's.

    The lines of warnings are a guess where a call that has drawn random numbers can't be run again
    (docs/decisions/0002-floating-point-flags.md).
    """
    drawn = "g = np.random" in program.source
    return {"signs": not EXTREMA.search(program.source),
            "warnings": "categories" if drawn else "lines"}


def calls(program: Program, sizes: tuple[int, ...] = (7, 7, 12, 4)) -> framework.Program:
    """The program with its calls, on arrays of several sizes."""
    head, _, body = program.source.rpartition("\ndef f(")
    return framework.Program(
        f"def f({body}", lambda call, space: list(program.arguments(sizes[call], call).values()),
        program.seed, head, calls=len(sizes), policy=policy(program))


GRAMMAR = Grammar(lambda seed: calls(write(seed)))
