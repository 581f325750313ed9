"""Random programs with library functions that have no record, draws, prints, and what no compiler
can follow, between statements that are compiled.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import ClassVar
from unittest.mock import patch

from npcompile.tracing import graph_breaks
from tests.fuzz.framework import Grammar
from tests.fuzz.programs import HELPERS, Writer, calls, write

MORE = '''
STORE = {"calls": 0}
def unknown(v):
    STORE["calls"] += 1
    return eval("v * 2", {"v": v})
def changes(v):
    v[:1] = eval("1")
    return len(v)
'''


class HostWriter(Writer):
    """Writes one program."""

    helpers: ClassVar[str] = HELPERS + MORE

    def array(self, depth: int = 0) -> str:
        if depth < 2 and self.rng.random() < 0.25:
            return self.library(self.pick_array())
        return super().array(depth)

    def library(self, name: str) -> str:
        """A function without a record."""
        rng = self.rng
        ndim, kind = self.env[name].ndim, self.env[name].dtype.kind
        axis = rng.choice([rng.randrange(ndim), -1])
        choices = [
            f"np.roll({name}, 2, {axis}) + np.trapezoid({name})",
            f"np.rot90({name})" if ndim > 1 else f"np.tile({name}, 2)",
            f"np.diff({name}, axis={axis})",
            f"np.kron({name}, {name})" if ndim == 1 else f"np.cov({name}[0])",
            f"np.argsort({name}, axis={axis}, kind='stable')", f"np.unique({name})",
            f"np.append({name}, {name})", f"np.delete({name}, 1, axis={axis})",
            f"np.cumsum({name}, axis={axis})", f"np.repeat({name}, 2, axis={axis})",
            f"np.flatnonzero({name})", f"np.setdiff1d({name}, {name}.ravel()[:2])",
            f"np.partition({name}, 1, axis={axis})", f"np.insert({name}, 1, 3, axis={axis})",
            f"np.array_split({name}, 2)[0] * 1", f"np.argwhere({name})",
        ]
        if kind in "fiu":
            choices += [
                f"np.median({name}, axis={axis})", f"np.percentile({name}, 30, axis={axis})",
                f"np.gradient({name}, axis={axis})", f"np.histogram({name}, bins=4)[0]",
                f"np.histogram2d({name}.ravel(), {name}.ravel(), bins=3)[0]",
                f"np.linalg.eig(np.eye(3) * 2 + np.outer({name}.ravel()[:3], [1, 2, 3]))[1].real",
                f"np.unwrap({name}, axis={axis})", f"np.quantile({name}, [0.1, 0.9])",
                f"np.interp({name}, [0.0, 1.0, 4.0], [2.0, 3.0, -1.0])",
                f"np.nanmedian({name}, axis={axis})", f"np.ediff1d({name})",
            ]
        return rng.choice(choices)

    def draw(self) -> str:
        rng, name = self.rng, self.pick_array()
        return rng.choice([
            f"g.random({name}.shape)", f"g.normal(size={name}.shape[0])", "g.normal()",
            f"g.integers(0, 9, {name}.size)", "g.random()", f"g.permutation({name})",
            f"g.choice({name}.ravel(), 3)", "np.random.rand(3)", f"g.uniform(-1, 1, {name}.shape)",
            "g.integers(5)", "g.normal(1, 0.5)", "g.uniform(-2, high=3.5)", "g.standard_normal()",
            "g.integers(-3, high=9)", f"np.random.normal(size={name}.shape[-1:])",
        ])

    def statement(self, depth: int) -> list[str]:
        rng, target = self.rng, self.pick_array()
        if "g" not in self.env:
            return ["g = np.random.default_rng(5); np.random.seed(7)"]
        roll = rng.random()
        if roll < 0.1:
            return [f"{self.fresh()} = {self.draw()}"]
        if roll < 0.16:
            return [rng.choice([
                f"print('here', {target}.shape, {self.number()})", f"print({target}, sep='')",
                f"print(f'{{{self.number()}}} and {{{target}.size:5d}}')",
                f"print(f'{{{target}.argmax()!r:>4}}', {target}[0])",
            ])]
        if roll < 0.2:
            return [rng.choice([
                f"g.shuffle({target})", f"np.put({target}, [0, 1], 1)", f"{target}.sort(axis=-1)",
                f"np.fill_diagonal({target}, 2)", f"np.copyto({target}, {self.like(target)})",
            ])]
        if roll < 0.24 and depth < 1:
            body = [line for _ in range(rng.randint(1, 3)) for line in self.statement(depth + 1)]
            head = rng.choice([
                f"for i{depth} in range({rng.choice(['len', 'np.ndim'])}({target})):",
                f"for i{depth} in range({rng.randint(1, 70)}):", f"for q{depth} in {target}:",
                f"for i{depth}, q{depth} in enumerate({target}):",
                f"if {target}.ravel()[0] > {self.number()}:",
            ])
            return [head, *("    " + line for line in body)]
        if roll < 0.3:
            return [rng.choice([
                f"{self.fresh()} = unknown({target})", f"{self.fresh('s')} = changes({target})",
                f"STORE[{self.number()}] = 1", f"{self.fresh()} = unknown({self.number()})",
                f"{self.fresh()} = [unknown(q) for q in ({target}, 1)][0]",
            ])]
        return super().statement(depth)


@contextlib.contextmanager
def worth_the_way(seed: int) -> Iterator[None]:
    """Continuations are compiled for small arrays, too."""
    with patch.object(graph_breaks, "MANY", 0):
        yield


GRAMMAR = Grammar(lambda seed: calls(write(seed, HostWriter)), setting=worth_the_way)
