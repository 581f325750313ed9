"""Counts torch's names by what becomes of a call: ``python tools/torch_names.py`` writes the page.

Every public function of a namespace is called in a small function with some sets of arguments
that torch accepts: some of our own, and samples of torch's own tables.  The best outcome counts:
compiled, called in place between compiled kernels, executed by Python between compiled regions, or
left to Python with all that is around it.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from npcompile import jit  # noqa: E402
from tests.tensors import op_tables  # noqa: E402

PAGE = ROOT / "docs" / "torch_names.md"
NAMESPACES = ("torch", "torch.Tensor", "torch.fft", "torch.special", "torch.linalg",
              "torch.nn.functional")
OUTCOMES = ("compiled", "in place", "between", "Python")
MOST = 6
#: what changes how torch works: it is not called here
STATE = ("set_", "seed", "manual_seed", "use_deterministic", "fork", "init_")


def names(space: str) -> Iterator[tuple[str, Any]]:
    """The public functions of a namespace."""
    holder = _held(space)
    for name in dir(holder):
        held = getattr(holder, name)
        state = holder is torch and name.startswith(STATE)
        if not name.startswith("_") and callable(held) and not inspect.isclass(held) and not state:
            yield name, held


def _held(path: str) -> Any:
    found: Any = torch
    for name in path.split(".")[1:]:
        found = getattr(found, name)
    return found


def _tables(space: str, name: str) -> list[Any]:
    """The rows of torch's tables for a name."""
    prefix = space.removeprefix("torch").removeprefix(".")
    prefix = "" if prefix == "Tensor" else f"{prefix}." if prefix else ""
    wanted = {f"{prefix}{name}", f"{prefix}{name.rstrip('_')}", name.rstrip("_")}
    return [
        op for ops in op_tables.table().values() for op in ops
        if op.name in wanted or wanted & {a.name for a in op.aliases}
    ]


def _own(held: Any) -> Iterator[op_tables.Call]:
    """Calls with arguments that many functions take."""
    torch.manual_seed(0)
    x, y, v = torch.rand(4, 4), torch.rand(4, 4), torch.rand(6)
    i, b = torch.tensor([0, 2, 1]), torch.rand(4, 4) > 0.5
    z = torch.complex(x, y)
    for args in ((x,), (v,), (x, y), (v, v), ((x, y),), (x, 2), (v, 2), (x, 0.5), (x, 0, i), (i,),
                 (b,), (z,), (i, i), (x, b, y), (x, y, y), (x, 0, 1), (x, (2, 2)), (x, x[0]),
                 (x, x[0], x[1]), (x[None, None], x[None, None]), (x[None], x[None]), (5,), (2, 3),
                 (1, x)):
        call = op_tables.Call(held, args, {})
        if not call.tensors:  # a function that no tensor comes to runs in Python
            call.tensors, call.head = [x], "def f(t0):"
            call.text = f"{call.head}\n    return {call.call}"
        yield call


def calls(space: str, name: str, held: Any) -> Iterator[op_tables.Call]:
    """Sets of arguments for a function."""
    yield from _own(held)
    for op in _tables(space, name):
        for dtype in op_tables.DTYPES:
            if dtype in op.dtypes:
                for sample in op.sample_inputs("cpu", dtype):
                    yield op_tables.Call(held, (sample.input, *sample.args), sample.kwargs)


def outcome(call: op_tables.Call) -> str:
    """What becomes of one call; empty: torch does not accept it."""
    plain = call.function()
    if not call.tensors or op_tables.ran(plain, op_tables.copies(call.tensors))[1] is not None:
        return ""
    text = explained(plain, call.tensors)
    if text is None:
        around = call.amid().function()
        return "Python" if explained(around, [*call.tensors, torch.rand(4096)]) is None else (
            "between")
    _, _, listed = text.partition("library functions that are called:")
    return "in place" if ": torch." in listed.partition("Python takes over")[0] else "compiled"


def explained(plain: Any, tensors: list[Any]) -> str | None:
    """How a function is compiled; None: it is left to Python.  The first call may show what a
    function of torch's gives."""
    compiled = jit(plain)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            compiled(*op_tables.copies(tensors))
        info = compiled.cache_info()
        if not info.compiled or info.fallbacks > 1:
            return None
        return str(compiled.explain(*op_tables.copies(tensors)))


def best(space: str, name: str, held: Any) -> str:
    """The best outcome of a function's calls; empty: none fits."""
    found, tried = "", 0
    for call in calls(space, name, held):
        known = outcome(call)
        if known == "Python":  # torch gives a view of conjugates now and then
            known = outcome(call.used()) or known
        if known == "compiled":
            return known
        if known:
            found = min(filter(None, (found, known)), key=OUTCOMES.index, default="")
        tried += bool(known)
        if tried >= MOST:
            break
    return found


def main() -> None:
    """Counts, and writes the page."""
    warnings.simplefilter("ignore")
    lines = [
        "# Torch's names",
        "",
        "Written by `python tools/torch_names.py`.  Every public function is called in a small "
        "function,",
        "with samples of torch's own tables; the best outcome counts.  *compiled*: as kernels.  "
        "*in place*: torch's",
        "own function, called between compiled kernels.  *Between*: Python executes the statement, "
        "and what",
        "comes before and after it is compiled.  *Python*: all runs in Python.",
        "*untried*: no arguments fitted (metadata, quantisation, backends).",
        "",
        f"torch {torch.__version__.partition('+')[0]}",
        "",
        "| namespace | functions | compiled | in place | between | Python | untried |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    details: list[str] = []
    for space in NAMESPACES:
        groups: dict[str, list[str]] = {key: [] for key in (*OUTCOMES, "")}
        for name, held in names(space):
            groups[best(space, name, held)].append(name)
        counts = [len(found) for found in groups.values()]
        lines.append(f"| {space} | {sum(counts)} | {' | '.join(map(str, counts))} |")
        print(lines[-1], flush=True)
        for key in ("in place", "between", "Python"):
            if groups[key]:
                details += ["", f"**{space}, {key}**: " + " ".join(f"`{n}`" for n in groups[key])]
    PAGE.write_text("\n".join([*lines, *details]) + "\n")


if __name__ == "__main__":
    main()
