"""``npcompile run script.py``: runs an unmodified script with its functions compiled.

Each function and method that the script's module defines with ``def`` gets one more decorator,
below its own ones, before the script runs; generators, coroutines and methods such as ``__init__``
stay as they are.  When the process ends, after the script's threads and its functions of
``atexit``, a report on the standard error output says what became of each function that was called.
"""

from __future__ import annotations

import argparse
import ast
import atexit
import builtins
import contextlib
import copyreg
import linecache
import logging
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from time import perf_counter
from types import CodeType, ModuleType, TracebackType
from typing import Any

from npcompile import Jit, jit
from npcompile.api.explain import history
from npcompile.api.pickling import found

#: the decorator's name in the script, which no source text can hold
NAME = "npcompile.jit"
#: functions that a report names
SHOWN = 40


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument(
        "--compare", action="store_true", help="run the script plain first, and say the time won")
    parser.add_argument("--plain", type=int, help=argparse.SUPPRESS)
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")


def main(options: argparse.Namespace) -> int:
    """Runs a script; it ends the process as it would under ``python``."""
    path = os.path.join(os.getcwd(), options.script)
    try:
        tree = ast.parse(Path(path).read_bytes(), path)
        made = 0 if options.plain else decorate(tree)
        code = compile(tree, path, "exec", dont_inherit=True)
    except OSError as error:
        print(f"npcompile run: {error}", file=sys.stderr)
        return 2
    except SyntaxError as error:
        traceback.print_exception(type(error), error, None)
        return 1
    plain = timed_plain(options.script, options.arguments) if options.compare else None
    script = partial(run, code, options.script, path, options.arguments)
    if options.plain:
        script(jit, lambda seconds: os.write(options.plain, f"{seconds}".encode()))
        return 0
    functions: list[Jit[..., Any]] = []

    def compiled(function: Callable[..., Any]) -> Any:
        functions.append(jit(function))
        return functions[-1]

    def ended(seconds: float) -> None:
        spent.append(seconds)

    def tell() -> None:
        if sys.stdout is not None:
            sys.stdout.flush()
        print("\n".join(report(functions, made, spent[0], plain)), file=sys.stderr, flush=True)
        if interrupted:  # python ends a process by the signal, but not one of its option -m
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.raise_signal(signal.SIGINT)

    spent: list[float] = []
    interrupted: list[KeyboardInterrupt] = []
    logging.getLogger("npcompile").setLevel(logging.ERROR)  # the report at the end says it all
    atexit.register(tell)
    copyreg.pickle(Jit, by_name)
    try:
        script(compiled, ended)
    except KeyboardInterrupt as error:
        interrupted.append(error)
        raise
    return 0


def by_name(function: Jit[..., Any]) -> Any:
    """Pickles a function of the script by its name, as in other processes the script is plain."""
    name = function.__qualname__
    same = found(function.__module__, name) is function
    return name if same else function.__reduce_ex__(4)


# ------------------------------------------------------------------ the script


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
    code: CodeType, name: str, path: str, arguments: list[str], compiled: Callable[..., Any],
    ended: Callable[[float], object],
) -> None:
    """Runs a script as ``__main__``; ``ended`` gets the seconds.

    Raises
    ------
    BaseException
        What the script raises.
    """
    module = ModuleType("__main__")
    vars(module).update(
        __file__=path, __builtins__=builtins, __annotations__={}, __cached__=None,
        __loader__=SourceFileLoader("__main__", path))
    vars(builtins)[NAME] = compiled
    sys.argv[:] = [name, *arguments]
    sys.path[:1] = [str(Path(path).resolve().parent)]  # in the place of the command's folder
    sys.modules["__main__"] = module
    linecache.checkcache()
    begun = perf_counter()
    try:
        exec(code, vars(module))
    except BaseException:
        sys.excepthook = partial(shown, sys.excepthook, path)
        raise
    finally:
        ended(perf_counter() - begun)


def shown(
    hook: Callable[..., object], path: str, kind: type[BaseException], error: BaseException,
    trace: TracebackType | None,
) -> None:
    """Has an exception shown from the script's own first frame on."""
    found = trace
    while found is not None and found.tb_frame.f_code.co_filename != path:
        found = found.tb_next
    found = found or trace
    hook(kind, error.with_traceback(found), found)


def timed_plain(name: str, arguments: list[str]) -> tuple[float, int]:
    """The seconds that the plain script takes in a process of its own, and that one's exit status.

    Its output is thrown away.  It reads the standard input only if that can be read again.
    """
    reading, writing = os.pipe()
    again = None
    with contextlib.suppress(OSError):  # it is a terminal or a pipe
        again = os.lseek(0, 0, os.SEEK_CUR)
    done = subprocess.run(
        [sys.executable, "-m", "npcompile", "run", f"--plain={writing}", name, *arguments],
        check=False, pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL if again is None else None)
    if again is not None:
        os.lseek(0, again, os.SEEK_SET)
    os.close(writing)
    with open(reading) as told:
        return float(told.read() or "nan"), done.returncode


# ------------------------------------------------------------------ the report


def report(
    functions: list[Jit[..., Any]], made: int, seconds: float, plain: tuple[float, int] | None
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
        before, status = plain
        failed = f" (exit status {status})" * bool(status)
        yield (f"plain Python: {before:.2f} s{failed}; compiled: {seconds:.2f} s, of which "
               f"{compiling(functions):.2f} s compiling ({before / seconds:.2f} times as fast)")


def compiling(functions: list[Jit[..., Any]]) -> float:
    """The seconds that it took to compile some functions, or to find them on disk."""
    return sum(sum(version.executable.times.values()) for function in functions
               for version in function._dispatcher.versions) / 1e3
