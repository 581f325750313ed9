"""Random programs about where elements lie: chains of views, copies in an order, ``*_like``,
``out=`` and writes through views, over arguments of every layout: both orders, axes of length 1 and
0, 0-d, strided, reversed, repeated, with new axes, overlapping one another.

Strides, flags and what shares memory are compared beside values, dtypes and mutated arguments.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tests.fuzz import framework, programs
from tests.fuzz.framework import Grammar
from tests.fuzz.programs import Program, Writer, _try

KINDS = ("float64", "float64", "float64", "float32", "int64", "uint8", "complex128", "bool")
#: shapes, of which ``n`` is the size of a call
SHAPES = (("n",), ("n",), (1,), ("n", 3), ("n", 3), ("n", "n"), (1, "n"), ("n", 1), (2, "n", 3),
          ("n", 1, 3), (1, 1, "n"), ("n", 2, 1), (), (0, 3), ("n", 0), ("n", 0, 2), (2, 1, 2, 3))
#: what a caller may have made of an array
MADE = ("v", "v", "v", "np.asfortranarray(v)", "np.asfortranarray(v)", "v[::-1]", "v[..., ::-1]",
        "v[::2]", "v[..., ::2]", "v[..., :1]", "v[:1]", "v.T", "np.asfortranarray(v)[..., :1]",
        "np.asfortranarray(v)[:1]", "v[None]", "v[..., None]", "v[:, None]", "v.swapaxes(0, -1)",
        "np.broadcast_to(v, (2, *v.shape))", "v[1:]", "v[..., ::-2]", "np.moveaxis(v, 0, -1)",
        "np.repeat(v, 2, -1)[..., ::2]", "np.asfortranarray(v)[::2]", "np.array(v)[..., 1:]",
        "np.asfortranarray(v)[None]", "np.broadcast_to(v[..., :1], v.shape)", "v.T[::-1]")
ALIASES = ("v", "v[::-1]", "v[1:]", "v.T", "v[...]", "v.ravel()", "v.reshape(-1)", "v[None]",
           "v[..., :1]", "v[:1]")


@dataclass
class LayoutProgram(Program):
    """Its arguments are made of an array of some shape."""

    def arguments(self, size: int, variant: int) -> dict[str, Any]:
        rng = np.random.default_rng([self.seed, variant])
        found: dict[str, Any] = {}
        for name, (kind, *spec) in self.specs:
            if kind == "number":
                found[name] = spec[0]
            elif kind == "view":
                found[name] = eval(spec[1], {"v": found[spec[0]], "np": np})
            else:
                dtype, shape, text = spec
                sizes = tuple(size if n == "n" else n for n in shape)
                data = np.array(rng.integers(-4, 9, sizes), order="C").astype(dtype)
                found[name] = eval(text, {"v": data, "np": np})
        return found


class LayoutWriter(Writer):
    """Writes one program."""

    helpers: ClassVar[str] = "\nimport numpy as np\n"

    def names(self, test: Any) -> list[str]:
        return [n for n, v in self.env.items() if n[0] not in "_ns" and test(v)]

    def arrays(self, ndim: int | None = None) -> list[str]:
        return self.names(
            lambda v: type(v) is np.ndarray and (ndim is None or v.ndim == ndim) and v.size < 999)

    def pick(self, *options: Any) -> Any:
        return self.rng.choice(options)

    def number(self) -> str:
        return self.pick("2", "1", "x", "3", "x")

    def axis(self, ndim: int) -> int:
        return self.rng.randrange(-ndim, ndim) if ndim else 0

    def order(self) -> str:
        return self.pick("'C'", "'F'", "'A'", "'K'", "'F'")

    # ------------------------------------------------------------------ expressions

    def key(self, ndim: int) -> str:
        parts = [self.pick(":", ":", "::-1", "1:", ":-1", "::2", "::-2", ":1", "-1:", "1:2", ":0",
                           "0", "-1", "None", "1:-1", ":n", "n:")
                 for _ in range(self.rng.randint(1, max(ndim, 1)))]
        if sum(p not in ("None", "...") for p in parts) < ndim and self.rng.random() < 0.3:
            parts.insert(self.rng.randint(0, len(parts)), "...")
        return "[" + ", ".join(parts) + "]"

    def view(self, name: str) -> str:
        """One step, which is a view if it can be."""
        value = self.env[name]
        ndim, i = value.ndim, self.axis(value.ndim)
        j, axes = self.axis(ndim), list(range(ndim))
        self.rng.shuffle(axes)
        shape = [*value.shape]
        self.rng.shuffle(shape)
        size, k = value.size, self.rng.choice([1, 2, 3])
        order = self.pick("", "", ", order='F'", ", order='A'")
        sizes = self.pick(*[s for s in (
            tuple(shape), (-1,), (-1, 1), (1, -1), (size, 1), (1, *shape), (*shape, 1), (k, -1),
            (-1, k), (1, -1, 1), (k, 1, -1), f"({name}.shape[-1], -1)", f"{name}.shape[::-1]",
            f"(len({name}), -1)", f"(-1, *{name}.shape[1:])") if s])
        return self.pick(
            *[f"{name}{self.key(ndim)}"] * 5, f"{name}.T", f"{name}.T",
            f"{name}.swapaxes({i}, {j})",
            f"np.transpose({name}, {tuple(axes)})", f"np.moveaxis({name}, {i}, {j})",
            f"np.rollaxis({name}, {i})", f"{name}.squeeze()", f"np.squeeze({name}, {i})",
            f"np.expand_dims({name}, {self.axis(ndim + 1)})", f"{name}[..., None]",
            f"{name}[None]", *[f"{name}.reshape({sizes}{order})"] * 3,
            f"np.reshape({name}, {sizes}{order})", f"{name}.ravel({self.pick('', self.order())})",
            f"np.ravel({name}{order})", f"np.broadcast_to({name}, ({k}, *{name}.shape))",
            f"np.broadcast_to({name}[..., :1], {name}.shape)", f"np.flip({name}, {i})",
            f"np.flip({name})", f"np.atleast_2d({name})", f"np.atleast_3d({name})", f"{name}.real",
            f"{name}.imag", f"np.array_split({name}, 2, axis={i})[{self.pick(0, 1)}]",
            f"np.rot90({name})", f"np.asarray({name}{order})", f"np.diagonal({name})",
            f"{name}.view()", f"{name}.view(np.{self.pick('uint8', 'int64', 'float32')})",
            f"np.fliplr({name})", f"{name}.mT",
            f"np.broadcast_arrays({name}, {self.mate(name)})[0]",
            f"np.lib.stride_tricks.sliding_window_view({name}, 2, axis={i})", f"{name}[...]",
            f"np.ascontiguousarray({name})", f"np.asfortranarray({name})", f"{name}[()]",
            f"np.split({name}, [1, 2], axis={i})[{self.pick(0, 1, 2)}]", f"{name}.diagonal()",
        )

    def mate(self, name: str) -> str:
        """An array that broadcasts with another."""
        shape = self.env[name].shape

        def fits(value: Any) -> bool:
            try:
                return len(np.broadcast_shapes(value.shape, shape)) <= 4
            except ValueError:
                return False

        return self.rng.choice([n for n in self.arrays() if fits(self.env[n])] or [name])

    def fresh_array(self, name: str) -> str:
        """One step that makes an array, whose layout follows from its operands'."""
        value, other = self.env[name], self.mate(name)
        i, order = self.axis(value.ndim), self.order()
        kind = self.pick("float", "np.float32", "np.int64", f"{name}.dtype", "complex")
        keep = self.pick("", ", keepdims=True")
        alike = self.rng.choice([n for n in self.arrays() if self.env[n].ndim == value.ndim])
        like = self.pick("zeros", "ones", "zeros")
        return self.pick(
            *[f"np.{like}_like({name}{self.pick('', '', ', order=' + order)})"] * 3,
            f"np.full_like({name}, x, dtype={kind})", f"np.zeros_like({name}, dtype={kind})",
            f"np.ones_like({name}, shape={name}.shape[::-1])", f"{name}.copy()",
            f"{name}.copy('K')",
            f"{name}.copy({order})", f"np.copy({name})", f"np.array({name})",
            f"np.array({name}, order={order})", f"np.array({name}, ndmin=3)",
            f"np.asarray({name}, dtype={kind})", f"{name}.astype({kind})",
            f"{name}.astype({kind}, order={order})", f"{name}.astype({name}.dtype, copy=False)",
            f"np.array({name}, dtype={kind}, order={order})", f"{name}.flatten({order})",
            *[f"({name} {self.pick('+', '*', '-')} {other})"] * 3, f"-{name}", f"({name} * x)",
            f"np.where({name} > x, {name}, {other})",
            f"np.concatenate([{name}, {alike}], axis={i})",
            f"np.concatenate([{name}, {name}], axis={i})", f"np.stack([{name}, {alike}], axis={i})",
            f"np.stack([{name}, {name}], axis=-1)", f"np.vstack([{name}, {name}])",
            f"np.hstack([{name}, {alike}])", f"np.dstack([{name}, {name}])",
            f"{name}.sum(axis={i}{keep})", f"{name}.max(axis={i}{keep})",
            f"np.cumsum({name}, axis={i})", f"np.sort({name}, axis={i})", f"np.round({name}, 1)",
            f"np.argsort({name}, axis={i})", f"np.take({name}, [0], axis={i})",
            f"np.tile({name}, 2)", f"np.repeat({name}, 2, axis={i})",
            f"np.roll({name}, 1, axis={i})",
            f"np.pad({name}, 1)", f"np.diff({name}, axis={i})", f"np.clip({name}, -1, x)",
            f"np.nan_to_num({name})", f"np.add({name}, {other}, order={order})",
            f"abs({name}.real)",
            f"np.conj({name})", f"{name}[{name} > x]", f"{name}[[0, -1]]", f"{name}[..., [0]]",
            f"np.append({name}, {alike}, axis={i})", f"np.flipud({name}) + {name}",
            f"np.mean({name}, axis={i}{keep})", f"np.column_stack([{name}, {name}])",
            f"np.insert({name}, 0, x, axis={i})", f"np.einsum('...ij->...ji', {name})",
            f"np.multiply.outer({name}, {name}[:1])", f"{name}.T @ {name}", f"np.triu({name})",
            f"np.delete({name}, 0, axis={i})", f"np.square({name})", f"({name} > {other})",
            f"np.nonzero({name})[0]", f"np.cross({name}, {name})", f"np.gradient({name}, axis={i})",
            f"np.require({name}, requirements={self.pick(['C'], ['F'], ['O'])})",
        )

    # ------------------------------------------------------------------ statements

    def statement(self, depth: int) -> list[str]:
        rng, name = self.rng, self.pick_array()
        roll = rng.random()
        if roll < 0.42:
            return [f"{self.fresh()} = {self.view(name)}"]
        if roll < 0.72:
            return [f"{self.fresh()} = {self.fresh_array(name)}"]
        if roll < 0.9 or depth:
            return self.write(name)
        if roll < 0.95:
            return [f"{self.fresh('s')} = " + self.question(name)]
        head = self.pick(f"for _i in range({rng.randint(1, 3)}):", f"if {name}.sum() > x:",
                         f"for _i in range(len({name})):")
        return [head, *("    " + line for line in self.statement(depth + 1))]

    def write(self, name: str) -> list[str]:
        """A change through a view, or a result in memory that is there."""
        other, x, ndim = self.mate(name), self.number(), self.env[name].ndim
        fn = self.pick("add", "multiply", "subtract", "maximum")
        i = self.axis(ndim)
        return [self.pick(
            f"{name} {self.pick('+=', '*=', '-=')} {self.pick(other, x)}",
            f"{name}{self.key(ndim)} {self.pick('+=', '=', '*=')} {self.pick(x, name, other)}",
            f"{name}{self.key(ndim)} {self.pick('+=', '=', '*=')} {name}{self.key(ndim)}",
            f"{name}[...] = {other}", f"np.{fn}({name}, {other}, out={name})",
            f"np.{fn}({name}[1:], {name}[:-1], out={name}[1:])", f"np.copyto({name}, {other})",
            f"np.{fn}({name}, {x}, out={name}[::-1])", f"np.{fn}({name}, {name}.T, out={name})",
            f"{self.fresh()} = np.{fn}({name}, {x}, out={name}.T)", f"{name}.fill({x})",
            f"{name}.sort(axis={i})", f"{name}.T[...] = {other}", f"{name}.ravel()[:1] = {x}",
            f"{name}.reshape(-1)[::2] = {x}", f"{name}.sum(axis={i}, out={name}[0])",
            f"{self.fresh()} = np.{fn}({name}, {other}, out=np.empty_like({name}))",
            f"{name}[{name} > {x}] = {x}", f"np.cumsum({name}, axis={i}, out={name})",
            f"{name}.real = {x}", f"{name}.shape = {tuple(reversed(self.env[name].shape))}",
            f"{name}[::-1] = {name}", f"{name}[[0, -1]] = {name}[[-1, 0]]", f"{name} **= 2",
        )]

    def question(self, name: str) -> str:
        other = self.pick_array()
        return self.pick(
            f"{name}.strides", f"{name}.flags.c_contiguous", f"{name}.flags['F_CONTIGUOUS']",
            f"{name}.flags.writeable", f"np.shares_memory({name}, {other})",
            f"{name}.base is {other}",
            f"np.may_share_memory({name}, {other})", f"np.isfortran({name})", f"{name} is {other}",
            f"{name}.flags.owndata", f"{name}.nbytes", f"{name}.T.strides", f"{name}.shape",
            f"{name}[::2].strides[0]", f"{name}.flags.contiguous", f"{name}.base is None",
        )

    def result(self) -> str:
        known = [n for n in self.env if n[0] in "vs"] or ["a"]
        picked = [*known[-3:], self.rng.choice(known)]
        return ", ".join(picked) if self.rng.random() < 0.8 else picked[-1]


def write(seed: int) -> Program:
    """The program of a seed."""
    rng = random.Random(seed)
    specs: list[tuple[str, Any]] = []
    for k in range(rng.randint(1, 3)):
        shape, text = rng.choice(SHAPES), rng.choice(MADE)
        specs.append(("abc"[k], ("array", rng.choice(KINDS), shape, text)))
    if rng.random() < 0.15:
        specs.append(("o", ("view", "a", rng.choice(ALIASES))))
    specs += [("x", ("number", rng.choice([2, 0.5, 1]))), ("n", ("number", rng.choice([1, 2, 3])))]
    program = LayoutProgram(seed, "", specs)
    try:
        env = program.arguments(5, 0)
    except (ValueError, IndexError):  # what is made of some shapes does not exist
        return write(seed + 10**9)
    writer = LayoutWriter(rng, env)
    helpers: dict[str, Any] = {"np": np}
    for _ in range(rng.randint(2, 8)):
        if not _try(writer, helpers, writer.statement(0)):
            program.ends_in_error = True
            break
    text = "\n".join("    " + line for line in [*writer.lines, f"return {writer.result()}"])
    names = ", ".join(name for name, _ in specs)
    program.source = f"{writer.helpers}\ndef f({names}):\n{text}\n"
    return program


def calls(program: Program) -> framework.Program:
    """The program with its calls; the arguments of some sizes do not exist."""
    made = programs.calls(program, (5, 5, 1, 2, 8))

    def arguments(call: int, space: dict[str, Any]) -> Any:
        try:
            return made.args(call, space)
        except (ValueError, IndexError):
            return None

    # as_strided keeps objects between; NumPy 2.5 deprecates a.shape = n
    policy = {"bases": "sliding_window_view" not in program.source,
              "ignored": ("DeprecationWarning",)}
    return replace(made, args=arguments, policy=policy)


GRAMMAR = Grammar(lambda seed: calls(write(seed)))
