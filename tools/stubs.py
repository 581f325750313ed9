"""Writes the stub of ``npcompile.special``: all public functions of the installed SciPy.

``python tools/stubs.py``; names that the present stub has and this SciPy has not are kept.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np

import npcompile

STUB = Path(npcompile.__file__).parent / "special" / "__init__.pyi"
_HEAD = '''\
# ruff: noqa: E501
"""Types of `npcompile.special`, written by ``tools/stubs.py``."""

from typing import Any

import numpy as np

'''


def line(name: str, thing: Any) -> str:
    """The stub's line of one name."""
    if isinstance(thing, np.ufunc):
        return f"{name}: np.ufunc"
    if isinstance(thing, type) and issubclass(thing, BaseException):
        base = next(b for b in thing.__mro__ if b.__module__ == "builtins")
        return f"class {name}({base.__name__}): ..."
    parts, stands = [], False
    for parameter in inspect.signature(thing).parameters.values():
        default = "" if parameter.default is parameter.empty else " = ..."
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        if parameter.kind is parameter.KEYWORD_ONLY and not stands:
            parts.append("*")
        stands |= bool(star) or parameter.kind is parameter.KEYWORD_ONLY
        parts.append(f"{star}{parameter.name}: Any{default}")
    return f"def {name}({', '.join(parts)}) -> Any: ..."


def known() -> dict[str, str]:
    """The lines of the present stub by name."""
    text = STUB.read_text() if STUB.exists() else ""
    found = re.findall(r"^((?:def |class )?(\w+)(?:[(:]).*)$", text, re.MULTILINE)
    return {name: whole for whole, name in found}


def stub() -> str:
    """The stub's text."""
    import scipy.special

    names = sorted({*scipy.special.__all__} - {"test"})
    lines = known() | {name: line(name, getattr(scipy.special, name)) for name in names}
    return _HEAD + "".join(f"{lines[name]}\n" for name in sorted(lines))


if __name__ == "__main__":
    STUB.write_text(stub())
