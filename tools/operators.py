"""Writes npcompile/ops/index.py from the records' definitions: ``python tools/operators.py``."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import textwrap
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
INDEX = ROOT / "npcompile" / "ops" / "index.py"
ROOMS = ("ops", "special", "fft", "linalg")
HEAD = '''"""Where each operator's record is defined, and the functions that it stands for.

Written by ``tools/operators.py`` from the definitions; do not edit.  A module is followed by the
names without a function of their own, by those that stand for NumPy's function of that name (after
``numpy:``, or ``eager:`` where npcompile's namespace has a ufunc of it), and by the other names,
each with its functions' paths, after ``-`` and with commas between them.
"""

INDEX = """
'''
TAIL = '''"""

#: the module of each name, and the name of each function's path
MODULES: dict[str, str] = {}
ALIASES: dict[str, str] = {}
#: the names of the ufuncs in npcompile's namespace
EAGER: set[str] = set()


def _read() -> None:
    module = ""
    for line in INDEX.strip().splitlines():
        words = line.split()
        if line.startswith("npcompile."):
            module, *names = words
        elif words[0] in ("numpy:", "eager:"):
            names = words[1:]
            EAGER.update(names if words[0] == "eager:" else ())
            ALIASES.update({f"numpy:{name}": name for name in names})
        else:
            names = []
            for text in line.partition("- ")[2].split(","):
                name, *paths = text.split()
                names.append(name)
                ALIASES.update(dict.fromkeys(paths, name))
        MODULES.update(dict.fromkeys(names, module))


_read()
'''


def index() -> str:
    """The text of the index.  Each definition is attributed to the module that executes it, so
    this works only in a process that hasn't imported the operators."""
    sys.path.insert(0, str(ROOT))
    if not INDEX.exists():
        INDEX.write_text(HEAD + TAIL)
    from npcompile.ops import record

    defined: dict[str, list[record.Op]] = defaultdict(list)
    define = record.define

    def attributed(name: str, *args: Any, **fields: Any) -> record.Op:
        frame: Any = sys._getframe(1)
        while frame.f_code.co_name != "<module>":
            frame = frame.f_back
        made = define(name, *args, **fields)
        defined[frame.f_globals["__name__"]].append(made)
        return made

    record.define = attributed
    for room in ROOMS:
        package = importlib.import_module(f"npcompile.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    modules = sorted(defined, key=lambda name: (ROOMS.index(name.split(".")[1]), name))
    return HEAD + "".join(_lines(module, defined[module]) for module in modules) + TAIL


def _lines(module: str, ops: list[Any]) -> str:
    plain = [op for op in ops if op.aliases == (f"numpy:{op.name}",)]
    parts = _wrapped([op for op in ops if not op.aliases], 96 - len(module))
    lines = [f"{module} {part}".rstrip() for part in parts or [""]]
    for eager, label in ((False, "numpy"), (True, "eager")):
        chosen = [op for op in plain if op.eager is eager]
        lines += [f"  {label}: {part}" for part in _wrapped(chosen, 88)]
    named = [" ".join((op.name, *op.aliases)) for op in ops if op.aliases and op not in plain]
    lines += [f"  - {part}" for part in _packed(named, 93)]
    return "".join(f"{line}\n" for line in lines)


def _wrapped(ops: list[Any], width: int) -> list[str]:
    return textwrap.wrap(" ".join(op.name for op in ops), width, break_long_words=False,
                         break_on_hyphens=False)


def _packed(texts: list[str], width: int) -> list[str]:
    """Lines of texts with commas between them, none of which is divided."""
    lines: list[str] = []
    for text in texts:
        if lines and len(lines[-1]) + len(text) + 2 <= width:
            lines[-1] += f", {text}"
        else:
            lines.append(text)
    return lines


if __name__ == "__main__":
    if "--show" in sys.argv:
        print(index(), end="")
    else:
        INDEX.write_text(index())
