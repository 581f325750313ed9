"""Random programs at the edges of what arrays are: arguments that overlap, are read-only, empty,
0-d, unaligned, repeated or in the other byte order; views by branch; writes to computed places;
casts that are refused; integers that overflow; narrow dtypes side by side.
"""

from __future__ import annotations

import random
from typing import Any, ClassVar

import numpy as np

from tests.fuzz.framework import Grammar
from tests.fuzz.programs import Writer, calls, write

VIEWS = ("v[1:]", "v[:-1]", "v[::-1]", "v[::2]", "v", "v[:]", "v[1:-1]", "v.T", "v[:0]")
KINDS = ("np.float16", "np.complex64", "np.int8", "np.uint8", "np.float32", "np.uint32", "bool")


class EdgeWriter(Writer):
    """Writes one program."""

    layouts: ClassVar[tuple[str, ...]] = (
        "c", "c", "c", "c", "c", "strided", "reversed", "fortran", "readonly", "empty", "swapped",
        "repeated", "unaligned",
    )
    ranks: ClassVar[tuple[int, ...]] = (1, 1, 1, 2, 2, 3, 0)

    @classmethod
    def more(cls, rng: random.Random, specs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """An argument that shares memory with the first; one that has axes."""
        if not any(spec[0] == "array" and spec[2] for _, spec in specs):
            return [("e", ("array", "float64", 1, "c"))]
        if rng.random() < 0.3 and specs[0][1][2]:
            return [("o", ("view", specs[0][0], rng.choice(VIEWS)))]
        return []

    def number(self) -> str:
        flat = self.names(lambda v: type(v) is np.ndarray and v.ndim == 0)
        if flat and self.rng.random() < 0.4:
            return self.rng.choice(flat)
        return super().number()

    def statement(self, depth: int) -> list[str]:
        if self.rng.random() < 0.55:
            return super().statement(depth)
        return self.rng.choice([self.places, self.branches, self.casts, self.choices, self.numbers,
                                self.keywords])(self.pick_array())

    def same(self, target: str) -> str:
        """An array of the target's shape."""
        shape = self.env[target].shape
        return self.rng.choice([n for n in self.arrays() if self.env[n].shape == shape])

    def places(self, target: str) -> list[str]:
        """Writes to places that the run finds, of what is there already."""
        other, rng = self.same(target), self.rng
        at = self.fresh("n")
        found = rng.choice([
            f"np.argsort({target}.ravel(), kind='stable')", f"np.arange({target}.size)[::-1]",
            f"np.arange({target}.size) * 2 % max({target}.size, 1)",
            f"np.nonzero({target}.ravel())[0]",
        ])
        return [f"{at} = {found}", rng.choice([
            f"{target}.put({at}, {other})", f"np.put({target}, {at}, {self.number()})",
            f"{target}[{at} % len({target})] = {target}[0]",
            f"{target}[np.arange(len({target}))[::-1]] = {other}",
            f"{target}[np.arange(len({target}))[::-1]] += {other}",
            f"np.add.at({target}, np.arange(len({target})) // 2, {other})",
            f"{self.fresh()} = {other}.take({at})", f"{target}.flat[{at}[:2]] = 1",
            f"np.place({target}, {other} > 0, {target}.ravel()[::-1])",
            f"np.copyto({target}, {other}[::-1], where={other} > 1)",
            f"{target}[{other} > 0] = {target}[{other} > 0][::-1]",
        ])]

    def branches(self, target: str) -> list[str]:
        """Names of views that depend on the path."""
        rng, name, other = self.rng, self.fresh(), self.same(target)
        test = rng.choice([f"{target}.sum() > {rng.randint(-3, 3)}", f"{target}.ndim > 1",
                           f"len({other}) > 5", f"{other}.any()"])
        one, two = (f"{rng.choice([target, other])}{self.index(target)}" for _ in range(2))
        use = rng.choice([f"{name} += 1", f"{name}[...] = 2", f"{name} = {name} * 2",
                          f"{self.fresh('s')} = {name}.sum()", f"{name}[:1] = 0"])
        if rng.random() < 0.5:
            return [f"{name} = {one} if {test} else {two}", use]
        return [f"if {test}:", f"    {name} = {one}", "else:", f"    {name} = {two}", use]

    def casts(self, target: str) -> list[str]:
        """Operators in place whose result does not fit, casts, and dtypes side by side."""
        kind, rng = self.rng.choice(KINDS), self.rng
        return [rng.choice([
            f"{target} += {self.number()}", f"{target}[::2] /= 2", f"{target}[1:] *= 1.5",
            f"{target}[...] -= {kind}(1)", f"{self.fresh()} = {target}.astype({kind})",
            f"{self.fresh()} = {target} * {kind}(1)", f"{self.fresh()} = {target} + 300",
            f"{self.fresh()} = {target}.astype({kind}) / {target}",
            f"np.add({target}, {self.like(target)}, out={target}, casting='unsafe')",
            f"{self.fresh()} = np.power({target}, {kind}(2))", f"{target} //= 2", f"{target} **= 2",
            f"{target} <<= 1", f"{target} &= 3", f"{self.fresh()} = {target}.view(np.uint8)",
            f"{self.fresh()} = {target}.real", f"{target}.imag = 1",
            f"np.multiply.at({target}.real, [0, 0, -1], 2)",
        ])]

    def choices(self, target: str) -> list[str]:
        """Values by condition."""
        rng, other = self.rng, self.same(target)
        return [rng.choice([
            f"{self.fresh()} = np.where({target} > 0, {other}, np.where({other} < 1, {target}, 0))",
            f"{self.fresh()} = np.where({target} > {self.number()}, {self.number()}, {other})",
            f"{self.fresh()} = np.select([{target} > 1, {other} < 0], [{target}, 2], -1)",
            f"{self.fresh()} = np.clip({target}, -1, {other})",
            f"{self.fresh()} = np.where({target})[0]",
            f"{self.fresh()} = np.nan_to_num({target} / {other})",
            f"{self.fresh()} = np.choose(({target} > 0) * 1, [{target}, {other}])",
        ])]

    def numbers(self, target: str) -> list[str]:
        """NumPy's numbers that overflow, and elements."""
        rng, name, kind = self.rng, self.fresh("s"), self.rng.choice(KINDS)
        zero = ", ".join("0" * self.env[target].ndim)
        return [rng.choice([
            f"{name} = {kind}(100) * {kind}(3)", f"{name} = {target}[{zero}] * {target}[{zero}]",
            f"{name} = {kind}({target}[{zero}])", f"{name} = -{target}[{zero}]",
            f"{name} = {target}[{zero}] // {kind}(0)", f"{name} = {target}.sum(dtype={kind})",
            f"{name} = {target}[{zero}] * 2", f"{name} = abs({target}[{zero}])",
            f"{name} = np.array({target}[{zero}])", f"{name} = {target}.item(0)",
            f"{name} = {target}[{zero}] + {self.number()}", f"{name} = 2 ** {target}.ndim",
            f"{name} = {target}[{zero}] % {self.number()}", f"{name} = {target}.prod()",
        ])]

    def keywords(self, target: str) -> list[str]:
        """Arguments by keyword."""
        rng, name = self.rng, self.fresh()
        axis = rng.randrange(-1, self.env[target].ndim)
        return [rng.choice([
            f"{name} = {target}.sum(axis={axis}, keepdims=True)",
            f"{name} = np.add.reduce({target}, axis={axis}, initial=1)",
            f"{name} = np.add({target}, 1, where={target} > 0, out=np.zeros_like({target}))",
            f"{name} = np.max({target}, axis={axis}, initial=-3, where={target} < 1)",
            f"{name} = {target}.mean(axis={axis}, dtype=np.float32)",
            f"{name} = np.cumsum({target}, axis={axis})",
            f"{name} = np.sort({target}, axis={axis})",
            f"{name} = np.concatenate([{target}, {target}], axis={axis})",
            f"{name} = np.stack([{target}, {target}], axis={axis})",
            f"{name} = np.full_like({target}, 3, dtype={rng.choice(KINDS)})",
            f"{name} = np.empty_like({target}, order='F'); {name}[...] = {target}",
            f"{name} = np.moveaxis({target}, 0, {axis})", f"{name} = {target}.swapaxes(0, {axis})",
            f"{name} = np.flip({target}, {axis})", f"{name} = np.ravel({target}, order='F')",
            f"{name} = {target}.reshape({target}.shape[::-1], order='F')",
        ])]


GRAMMAR = Grammar(lambda seed: calls(write(seed, EdgeWriter)))
