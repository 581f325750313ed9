"""Writes docs/coverage.md from the operator records: ``python tools/pages.py``."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import npcompile.special.library
import npcompile.tracing.tracer  # fills the records  # noqa: F401
from npcompile.graph.primitives import PRIMITIVES, REDUCTIONS
from npcompile.ops.record import OPERATORS, Op
from npcompile.tensors import functions, table

DOCS = Path(__file__).resolve().parent.parent / "docs"
HEAD = """# Coverage

Written by `tools/pages.py` from the operator records; do not edit.

{operators} operators stand for {names} names of NumPy, `math`, SciPy, torch and Python's builtins.
All of them lower to {primitives} primitives and {reductions} kinds of reduction.
"""


def names(op: Op) -> list[str]:
    """The public names of a record, shortest module first."""
    return sorted(alias.replace(":", ".") for alias in op.aliases)


def lowering(op: Op) -> str:
    if isinstance(op.lower, str):
        return f"primitive `{op.lower}`"
    return "program" if callable(op.lower) else "composition"


def bound(op: Op) -> str:
    """The error bound in ulp, per dtype where they differ."""
    inexact = {c: u for c, u in op.ulp.items() if u}
    results = {loop.partition("->")[2] for loop in op.signatures.split()}
    if not inexact:
        return "exact"
    if len(set(inexact.values())) == 1 and results <= set(inexact):
        return f"{next(iter(inexact.values())):g}"
    return ", ".join(f"`{c}` {u:g}" for c, u in inexact.items())


def coverage() -> str:
    """The page's text."""
    public = [op for op in OPERATORS.values() if op.aliases]
    families: dict[str, list[Op]] = defaultdict(list)
    for op in public:
        families[op.kind.name].append(op)
    lines = [
        HEAD.format(
            operators=len(public),
            names=sum(len(op.aliases) for op in public),
            primitives=len(PRIMITIVES),
            reductions=len(REDUCTIONS),
        )
    ]
    for family, ops in families.items():
        lines += ["", f"## {family}", "", "| operator | names | lowering | ulp | deterministic |"]
        lines.append("|---|---|---|---|---|")
        for op in sorted(ops, key=lambda op: op.name):
            shown = ", ".join(f"`{name}`" for name in names(op))
            lines.append(
                f"| {op.name} | {shown} | {lowering(op)} | {bound(op)} | {op.guarantee} |"
            )
    return "\n".join([*lines, *torch()]) + "\n"


def torch() -> list[str]:
    """What names of torch mean, of tensors without gradients on the CPU."""
    lines = ["", "## torch", "", "Functions and methods of tensors (`npcompile/tensors/table.py`); "
             "elementwise ones work in place, too.", "", "| operator | names | operands |"]
    lines.append("|---|---|---|")
    for record, rule, _, shown in table.ELEMENTWISE:
        lines.append(f"| {record} | {', '.join(f'`{name}`' for name in shown.split())} | {rule} |")
    meanings: dict[str, list[str]] = defaultdict(list)
    for path, meaning in functions.NAMED.items():
        meanings[str(meaning.__doc__).strip().splitlines()[0]].append(f"`{path}`")
    lines += ["", "| names | meaning |", "|---|---|"]
    lines += [f"| {', '.join(paths)} | {doc} |" for doc, paths in meanings.items()]
    return lines


if __name__ == "__main__":
    (DOCS / "coverage.md").write_text(coverage())
