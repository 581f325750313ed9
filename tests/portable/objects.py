"""Objects that LLVM writes here and those that another machine's writes for this one.

    python -m tests.portable.objects

Emulated processes have a faster machine's LLVM do their work (``tools/arm_compiler.py``), which is
right as long as these are equal.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from npcompile import jit


def _array(x: Any) -> Any:
    return np.exp(-x * x).sum(axis=0) + x[3] // 2


def _loop(x: Any) -> Any:
    total, last = 0.0, 0.1
    for value in x:
        last = last * 0.75 + value / (1.0 + last * last)
        if last > 1.5:
            last = np.sin(last)
        total += last
    return total


FUNCTIONS = ((_array, np.ones((5, 7))), (_loop, np.ones(9)))


def main() -> None:
    module = importlib.import_module("npcompile.backends.cpu.loader.compile")
    if not hasattr(module.compile, "own"):
        raise SystemExit("no other machine's compiler is asked")
    of, unequal = module.target(), []
    for function, x in FUNCTIONS:
        found = jit(function, cache=False).lower(x).executable
        asked, own = (compile(found.text, of, found.optimise)
                      for compile in (module.compile, module.compile.own))
        if asked != own:
            unequal.append(function.__name__)
    print(f"{len(FUNCTIONS)} functions, {len(unequal)} differ", *unequal)
    raise SystemExit(bool(unequal))


if __name__ == "__main__":
    main()
