"""Random programs with library functions that have no record, draws, prints, and what no compiler
can follow, between statements that are compiled.

``python -m tests.fuzz.external_calls SEED COUNT`` runs programs and prints the first
difference; with ``--loops`` those of :mod:`tests.fuzz.control_flow`, with calls of an unknown
function at random places.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from typing import Any, ClassVar

import numpy as np

from npcompile import jit
from npcompile.tracing import graph_breaks
from tests.fuzz import control_flow
from tests.fuzz.programs import HELPERS, Writer, main

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


# ------------------------------------------------------------------ loops with unknown calls

PROBES = ("probe(k)", "x = probe(y)", "probe(a)", "probe(c)", "i = probe(i)", "c[1] = probe(x)",
          "if probe(m) > 1: k += 1", "probe(k + m * 2)", "y = probe(y) + b[0]", "changed(a)")


def probed(seed: int) -> str:
    """A program with loops, and some lines more."""
    rng = random.Random(seed)
    *head, text = control_flow.write(seed).partition("def f(")
    lines = text.split("\n")
    for _ in range(rng.randint(1, 3)):
        places = [k for k, line in enumerate(lines) if k > 1 and line.strip()]
        k = rng.choice(places)
        indent = lines[k][: len(lines[k]) - len(lines[k].lstrip())]
        if not lines[k].lstrip().startswith(("else", "elif")):
            lines.insert(k, indent + rng.choice(PROBES))
    return "".join(head) + "\n".join(lines)


def _scope(source: str, seed: int) -> tuple[Any, list[str]]:
    """A program's function, and what its unknown calls have seen."""
    seen: list[str] = []

    def probe(value: Any) -> Any:
        seen.append(repr(value))
        return eval("value", {"value": value})

    def changed(a: Any) -> None:
        a[0] = eval("0.25")
        seen.append(repr(a))

    scope: dict[str, Any] = {"np": np, "probe": probe, "changed": changed}
    exec(compile(source, f"<loops {seed}>", "exec"), scope)
    return scope["f"], seen


def check_probed(seed: int, counts: Counter[str]) -> str:
    """Runs one program compiled and plain; what differs, or an empty string."""
    source = probed(seed)
    plain, theirs_seen = _scope(source, seed)
    function, seen = _scope(source, seed)
    compiled = jit(function, cache=False)
    for q in (0, 1, 2, 3, 6, 2**62):
        for _ in range(2):
            mine, theirs = control_flow.arguments(q), control_flow.arguments(q)
            seen.clear()
            theirs_seen.clear()
            want = control_flow._outcome(plain, *theirs)
            got = control_flow._outcome(compiled, *mine)
            same = control_flow.alike(got, want) and all(map(control_flow.alike, mine, theirs))
            if not same or seen != theirs_seen:
                return (f"seed {seed}, call {q}: {got}, {mine}, {seen}\n  instead of {want}, "
                        f"{theirs}, {theirs_seen}\n{source}")
            counts["runs"] += 1
    counts["compiled"] += compiled.cache_info().compiled > 0
    parts = compiled._dispatcher.regions
    if parts is not None:
        counts["places"] += len(parts.continuations)
        counts["stretches"] += sum(len(c.versions) for c in parts.continuations.values())
    return ""


def main_loops() -> None:
    os.environ.setdefault("NPCOMPILE_STRICT", "1")
    first, count = int(sys.argv[1]), int(sys.argv[2])
    counts: Counter[str] = Counter()
    for seed in range(first, first + count):
        text = check_probed(seed, counts)
        if text:
            counts["differ"] += 1
            print(text.replace(control_flow.HELPERS, "")[:3000])
    print(f"{count} programs", dict(counts))


if __name__ == "__main__":
    graph_breaks.MANY = 0  # as if small arrays were worth the way
    np.set_printoptions(precision=4)
    main_loops() if "--loops" in sys.argv else main(HostWriter)
