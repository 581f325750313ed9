"""Writes the pages that follow from the sources: ``python tools/pages.py``.

They are docs/coverage.md, docs/modules.md and, on Python 3.11, docs/life_of_a_call.md.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path

from npcompile.graph.primitives import PRIMITIVES, REDUCTIONS
from npcompile.ops.record import OPERATORS, Op
from npcompile.tensors import table, tensor_functions

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
HEAD = """# Coverage

Written by `tools/pages.py` from the operator records; do not edit.

{operators} operators stand for {names} names of NumPy, `math`, SciPy, torch and Python's builtins.
All of them lower to {primitives} primitives and {reductions} kinds of reduction.
The column *ulp* has the bound of each result's error; *parts*: what is composed of other operators
is as accurate as these.
"""
MODULES = """# Where things are

Written by `tools/pages.py` from the first lines of the modules, in the order in which data flows
([architecture](ARCHITECTURE.md)); do not edit.
"""
ROOMS = (
    "core", "frontend", "backends/target", "runtime/unsafe", "graph", "program", "ops",
    "special/coefficients",
    "special/arithmetic", "special/elementary", "special/error", "special/gamma_functions",
    "special/integrals", "special/complex", "special/bessel", "special/statistics", "special",
    "fft", "linalg", "linalg/small", "guards", "tensors", "python/polyfills", "python", "tracing",
    "tracing/polyfills", "passes", "schedule/memory", "schedule/walk", "schedule/fusion",
    "schedule/loops", "schedule", "backends/cpu/loader", "backends/cpu/llvm",
    "backends/cpu/transforms", "backends/cpu/linalg", "backends/cpu/kernels", "backends/cpu/loops",
    "backends/cpu/parallel", "backends/cpu", "backends/reference", "backends/gpu", "runtime/cache",
    "runtime/entry", "runtime/memory", "runtime/random", "runtime/threads", "runtime/transforms",
    "runtime/versions", "runtime/ufuncs", "runtime", "api", "demo", "commands",
)


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
        return "parts" if lowering(op) == "composition" else "exact"
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
    for path, meaning in tensor_functions.NAMED.items():
        meanings[str(meaning.__doc__).strip().splitlines()[0]].append(f"`{path}`")
    lines += ["", "| names | meaning |", "|---|---|"]
    lines += [f"| {', '.join(paths)} | {doc} |" for doc, paths in meanings.items()]
    return lines


def modules() -> str:
    """What each module is about, room by room."""
    lines = [MODULES]
    for room in ROOMS:
        lines += ["", f"## {room}", "", "| module | |", "|---|---|"]
        for path in sorted((ROOT / "npcompile" / room).glob("*.py")):
            doc = ast.get_docstring(ast.parse(path.read_text()))
            if doc:
                first = doc.partition("\n\n")[0].replace("\n", " ").replace("``", "`")
                first = re.sub(r":\w+:`~?", "`", first)
                lines.append(f"| {path.stem} | {first} |")
    return "\n".join(lines) + "\n"


def life_of_a_call() -> str:
    """Three functions through all stages (:mod:`tools.life`)."""
    sys.path.insert(0, str(ROOT / "tools"))
    import life

    return str(life.page())


PAGES = {"coverage.md": coverage, "modules.md": modules, "life_of_a_call.md": life_of_a_call}

if __name__ == "__main__":
    for name, text in PAGES.items():
        if name != "life_of_a_call.md" or sys.version_info[:2] == (3, 11):
            (DOCS / name).write_text(text())
