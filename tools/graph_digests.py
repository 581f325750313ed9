"""Digests of the graphs and guards of all corpus programs, and of random ones, traced directly:
``graph_digests.py OUT``, and ``graph_digests.py OUT BEFORE`` tells which differ.  Eight seconds.

Run with ``PYTHONHASHSEED=0``."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.programs import PROGRAMS
from npcompile.core.config import Config
from npcompile.graph.show import show
from npcompile.tracing.retries import trace
from tests.fuzz import programs as random_programs

RANDOM = range(5000, 5300)


def digest(function: Any, bound: dict[str, Any]) -> str:
    try:
        found = trace(function, bound, Config())
        text = "" if found.graph is None else show(found.graph) + repr(found.guards)
    except Exception as error:
        text = f"{type(error).__name__} {error}"
    text = re.sub(r"/[\w./+-]*/", "/", text)  # folders of files that guards name
    return hashlib.sha1(re.sub(r"0x[0-9a-f]+", "", text).encode()).hexdigest()[:12]


def main(out: str, before: str = "") -> None:
    warnings.simplefilter("ignore")
    found = {}
    for name, program in PROGRAMS.items():
        bound = inspect.signature(program.function).bind(*program.arguments(program.small, 1))
        bound.apply_defaults()
        found[name] = digest(program.function, dict(bound.arguments))
    for seed in RANDOM:
        random_program = random_programs.write(seed)
        found[str(seed)] = digest(random_program.function(), random_program.arguments(7, 0))
    Path(out).write_text(json.dumps(found, indent=1))
    if before:
        old = json.loads(Path(before).read_text())
        differ = [name for name in old if old[name] != found.get(name)]
        print(f"{len(found)} graphs, {len(differ)} differ", *differ)


if __name__ == "__main__":
    main(*sys.argv[1:])
