"""Tables of coefficients: how scripts register them and how their modules are written.

A table is a function that computes values for the formats "d" and "f"; ``@table(family)`` registers
it.  Each family is one module of npcompile/special/coefficients.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath as mp
from minimax import Fit, log2_of

FOLDER = Path(__file__).parent.parent / "npcompile" / "special" / "coefficients"
BITS = {"d": 53, "f": 24}
SMALL = mp.mpf(10) ** -20
Rows = dict[str, Any]
Build = Callable[[], Rows]


@dataclass(frozen=True)
class Tables:
    """Rows of coefficients for a lookup, and their largest error."""

    coefficients: tuple[tuple[float, ...], ...]
    error: Any


#: family, then name, of each table
FAMILIES: dict[str, dict[str, Build]] = {}


def table(family: str) -> Callable[[Build], Build]:
    """Registers a function that computes one table of a family."""

    def register(build: Build) -> Build:
        FAMILIES.setdefault(family, {})[build.__name__.upper()] = build
        return build

    return register


def by_format(fit: Callable[[str, int], Any]) -> Rows:
    return {char: fit(char, bits) for char, bits in BITS.items()}


def _number(value: float) -> str:
    if isinstance(value, int):
        return hex(value)
    mantissa, exponent = value.hex().split("p")
    short = mantissa.rstrip("0").rstrip(".").removeprefix("0x").replace("-0x", "-")
    return f'_("{short}p{exponent}")'


def _text(value: Any, indent: int) -> str:
    """A value as Python source."""
    pad = " " * indent
    if isinstance(value, (tuple, list)):
        if any(isinstance(v, (tuple, list)) for v in value):
            inner = "".join(f"{pad}    {_text(v, indent + 4)},\n" for v in value)
        else:
            words = " ".join(f"{_number(v)}," for v in value)
            if len(words) < 86 - indent:
                return f"({words})"
            lines = textwrap.wrap(words, 95 - indent, break_on_hyphens=False)
            inner = "".join(f"{pad}    {line}\n" for line in lines)
        return f"(\n{inner}{pad})"
    return _number(value)


def section(name: str, build: Callable[[], Rows]) -> str:
    """One table of the module, errors in comments."""
    print(name)
    text = " ".join((build.__doc__ or "").split())
    lines = [*textwrap.wrap(text, 98, initial_indent="# ", subsequent_indent="# "),
             f"{name} = {{"]
    for char, value in build().items():
        if isinstance(value, (Fit, Tables)):
            print(f"  {char}: {len(value.coefficients)} coefficients, {log2_of(value.error)}")
            lines.append(f"    # largest error {log2_of(value.error)}")
            value = value.coefficients
        lines.append(f'    "{char}": {_text(value, 4)},')
    return "\n".join([*lines, "}"]) + "\n"


HEADER = '''"""Constants: {family}; made by tools/{script}.

Keys are dtype characters.  Each polynomial is given with the largest error of its machine
coefficients, weighted as the table says.
"""

# fmt: off
_ = float.fromhex

'''


def main(script: str, names: list[str]) -> None:
    """Computes the named tables (all by default) and writes the modules that hold them."""
    FOLDER.mkdir(exist_ok=True)
    for family, tables in FAMILIES.items():
        target = FOLDER / f"{family}.py"
        old = _sections(target) if names and target.exists() else {}
        if names and not set(names) & set(tables):
            continue
        parts = [
            old[name] if name not in names and name in old else section(name, build)
            for name, build in tables.items()
        ]
        target.write_text(HEADER.format(family=family, script=script) + "\n".join(parts))


def _sections(path: Path) -> dict[str, str]:
    """The tables of a module as they stand."""
    found = {}
    for part in path.read_text().split("# fmt: off")[1].split("\n\n")[1:]:
        words = [line.split(" = {")[0] for line in part.splitlines() if line.endswith("= {")]
        if words:
            found[words[0]] = part.strip("\n") + "\n"
    return found
