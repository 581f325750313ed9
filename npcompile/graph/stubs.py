"""Functions of our own that run a few lines of Python at their place in the user's program.

Their frames have the program's files, lines, names and globals, so that warnings and tracebacks
say what they say without us.  A :class:`Stub` is what such a function is made of, and says so in
any process; the function itself belongs to one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Any

from npcompile.core.records import record


@record(eq=False)
class Globals:
    """The globals of a user's function."""

    names: dict[str, Any]


@record(eq=False)
class FramePlace:
    """A frame of the program: where it is and what it is called."""

    file: str
    name: str
    qualname: str
    line: int
    space: Globals


@record(eq=False)
class Stub:
    """``lines`` over ``count`` operands ``a0``, ``a1``, ... and named ``constants``, in frames like
    those of ``places``, outermost first."""

    lines: tuple[str, ...]
    count: int
    constants: Mapping[str, Any]
    places: tuple[FramePlace, ...]

    def function(self) -> Callable[..., Any]:
        """The function, made anew."""
        names = ", ".join(f"a{k}" for k in range(self.count))
        made = _function(self.places[-1], names, self.lines, self.constants)
        for place in reversed(self.places[:-1]):
            made = _function(place, "*a", ("return f(*a)",), {"f": made})
        return made


def _function(
    place: FramePlace, names: str, lines: tuple[str, ...], constants: Mapping[str, Any]
) -> Callable[..., Any]:
    text = [f"def make({', '.join(constants)}):", f" def made({names}):"]
    tree = ast.parse("\n".join([*text, *(f"  {line}" for line in lines), " return made"]))
    line = ast.Pass(lineno=place.line, end_lineno=place.line, col_offset=-1, end_col_offset=-1)
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr, ast.arg, ast.keyword)):
            ast.copy_location(node, line)
    module = compile(tree, place.file, "exec")
    outer = next(c for c in module.co_consts if isinstance(c, CodeType))
    make = FunctionType(outer, place.space.names)
    made: FunctionType = make(**constants)
    code = made.__code__.replace(co_name=place.name, co_qualname=place.qualname)
    return FunctionType(code, place.space.names, made.__name__, None, made.__closure__)
