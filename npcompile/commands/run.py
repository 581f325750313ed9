"""``npcompile run script.py``: runs an unmodified script with its functions compiled.

Each function and method that the script's module defines with ``def`` gets one more decorator,
below its own ones, before the script runs; generators, coroutines and methods such as ``__init__``
stay as they are.  When the script ends, a report on the standard error output says what became of
each function that was called.
"""

from __future__ import annotations

import argparse
import ast
import linecache
import logging
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from types import CodeType, ModuleType, TracebackType
from typing import Any

from npcompile import Jit, jit
from npcompile.api.explain import history

#: the decorator's name in the script, which no source text can hold
NAME = "npcompile.jit"
#: functions that a report names
SHOWN = 40


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument(
        "--compare", action="store_true", help="run the script plain first, and say the time won")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")


def main(options: argparse.Namespace) -> int:
    """Runs a script; the exit status is the script's."""
    path = Path(options.script)
    try:
        code, made = instrumented(path)
    except (OSError, SyntaxError) as error:
        print(f"npcompile run: {error}", file=sys.stderr)
        return 2
    plain = timed_plain(path, options.arguments) if options.compare else None
    functions: list[Jit[..., Any]] = []

    def compiled(function: Callable[..., Any]) -> Any:
        found = jit(function)
        functions.append(found)
        return found

    logging.getLogger("npcompile").setLevel(logging.ERROR)  # the report at the end says it all
    begun = perf_counter()
    status = run(code, path, options.arguments, compiled)
    seconds = perf_counter() - begun
    print("\n".join(report(functions, made, seconds, plain)), file=sys.stderr)
    return status


# ------------------------------------------------------------------ the script


def instrumented(path: Path) -> tuple[CodeType, int]:
    """The code of a script whose functions are decorated, and how many these are."""
    tree = ast.parse(path.read_bytes(), str(path))
    found = decorate(tree)
    return compile(tree, str(path), "exec", dont_inherit=True), found


def decorate(tree: ast.Module) -> int:
    """Gives the functions of a module one more decorator, and returns how many these are."""
    found = 0
    for node in functions_of(tree.body):
        place = {"lineno": node.lineno, "col_offset": node.col_offset,
                 "end_lineno": node.lineno, "end_col_offset": node.col_offset}
        node.decorator_list.append(ast.Name(NAME, ast.Load(), **place))
        found += 1
    return found


def functions_of(body: list[ast.stmt]) -> Iterator[ast.FunctionDef]:
    """The functions and methods that statements of a module define, those below ``if`` and ``try``
    too."""
    for node in body:
        if isinstance(node, ast.FunctionDef):
            if not generates(node):
                yield node
        elif isinstance(node, ast.ClassDef):
            yield from (method for method in functions_of(node.body)
                        if not (method.name.startswith("_") and method.name.endswith("_")))
        elif not isinstance(node, ast.AsyncFunctionDef):
            for part in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                for field in ("body", "orelse", "finalbody"):
                    yield from functions_of(getattr(part, field, []))


def generates(function: ast.FunctionDef) -> bool:
    """Whether a function is a generator."""
    left: list[ast.AST] = list(function.body)
    while left:
        node = left.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            left += ast.iter_child_nodes(node)
    return False


def run(
    code: CodeType, path: Path, arguments: list[str], compiled: Callable[..., Any]
) -> int:
    """Runs a script as ``__main__`` and returns its exit status."""
    module = ModuleType("__main__")
    vars(module).update(__file__=str(path), __builtins__=__builtins__, **{NAME: compiled})
    saved = sys.argv, sys.path[:], sys.modules["__main__"]
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.resolve().parent))
    sys.modules["__main__"] = module
    linecache.checkcache()
    try:
        exec(code, vars(module))
    except SystemExit as end:
        return exit_status(end)
    except BaseException as error:
        shown = of_script(error.__traceback__, str(path))
        traceback.print_exception(type(error), error, shown)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    finally:
        sys.argv, sys.path[:], sys.modules["__main__"] = saved
    return 0


def exit_status(end: SystemExit) -> int:
    """The exit status that Python gives a process for an exception."""
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    print(end.code, file=sys.stderr)
    return 1


def of_script(trace: TracebackType | None, name: str) -> TracebackType | None:
    """A traceback from the script's own first frame on."""
    found = trace
    while found is not None and found.tb_frame.f_code.co_filename != name:
        found = found.tb_next
    return found or trace


def timed_plain(path: Path, arguments: list[str]) -> float:
    """The seconds that the plain script takes in a process of its own, its output thrown away."""
    begun = perf_counter()
    subprocess.run(
        [sys.executable, str(path), *arguments], check=False,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return perf_counter() - begun


# ------------------------------------------------------------------ the report


def report(
    functions: list[Jit[..., Any]], made: int, seconds: float, plain: float | None
) -> Iterator[str]:
    """The lines of a report: each function that was called, and the time won."""
    called: list[Jit[..., Any]] = []
    others: list[Jit[..., Any]] = []
    for function in functions:
        info = function.cache_info()
        (called if info.compiled or info.fallbacks else others).append(function)
    yield f"npcompile: {made} functions, {len(called)} called, {seconds:.2f} s"
    for function in called[:SHOWN]:
        yield from (f"  {line}" for line in str(history(function._dispatcher)).splitlines())
    if len(called) > SHOWN:
        yield f"  and {len(called) - SHOWN} more"
    if others:
        names = ", ".join(function.__qualname__ for function in others[:SHOWN])
        yield f"compiled in the functions that call them, or not called: {names}"
    if plain is not None:
        times = plain / seconds
        yield f"plain Python: {plain:.2f} s; compiled: {seconds:.2f} s ({times:.2f} times)"
