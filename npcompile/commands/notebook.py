"""``%%npcompile``: a notebook's cell with its functions compiled, and where its time goes."""

from __future__ import annotations

import ast
import linecache
from itertools import count
from typing import Any

from npcompile import jit, profiler
from npcompile.commands.run import NAME, decorate

_cells = count(1)


def load_ipython_extension(shell: Any) -> None:
    """Registers the magic; ``%load_ext npcompile`` calls it."""

    def npcompile(line: str, cell: str) -> Any:
        """Runs a cell with its functions compiled and shows their profiles."""
        return run(cell, shell.user_ns)

    shell.register_magic_function(npcompile, "cell", "npcompile")


def run(cell: str, names: dict[str, Any]) -> Any:
    """Runs a cell in a namespace, shows the profiles of the functions that it defines and calls,
    and returns the value of its last expression."""
    file = f"<npcompile cell {next(_cells)}>"
    linecache.cache[file] = len(cell), None, cell.splitlines(keepends=True), file
    tree = ast.parse(cell, file)
    decorate(tree)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    before = NAME in names
    names[NAME] = jit
    value = None
    try:
        with profiler() as found:
            exec(compile(tree, file, "exec", dont_inherit=True), names)
            if isinstance(last, ast.Expr):
                body = ast.Expression(last.value)
                value = eval(compile(body, file, "eval", dont_inherit=True), names)
    finally:
        if not before:
            del names[NAME]
    _display(found)
    return value


def _display(found: profiler) -> None:
    try:
        from IPython.display import display
    except ImportError:
        print(found)
    else:
        display(found)
