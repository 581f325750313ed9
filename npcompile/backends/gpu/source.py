"""Text of Triton functions: names, sizes, indices, and what a launch must pass."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Protocol, Union

import numpy as np

from npcompile.core.records import record
from npcompile.core.sizes import Poly, Size, Symbol
from npcompile.graph.ir import Table
from npcompile.program.ir import Buffer


@record
class Memory:
    """The memory of a buffer; complex elements are pairs, bools are bytes."""

    buffer: Buffer


@record
class Given:
    """A number that the host knows, by value; ``part`` of a complex one."""

    buffer: Buffer
    part: str = ""


@record
class Whole:
    """A size, by value."""

    size: Size


@dataclass(slots=True, eq=False)
class Tables:
    """The memory of all tables of constants of a function, one after the other."""

    dtype: np.dtype[Any]
    name: str
    values: list[float | int] = field(default_factory=list)
    places: dict[Table, int] = field(default_factory=dict)

    def place(self, table: Table) -> int:
        """Where a table begins."""
        if table not in self.places:
            self.places[table] = len(self.values)
            self.values.extend(table.values)
        return self.places[table]


@record
class Between:
    """Memory from one kernel of a chain to the next: what this one reads, or (``out``) writes."""

    dtype: np.dtype[Any]
    out: bool


Parameter = Union[Memory, Given, Whole, Tables, Between]


class Grid(Protocol):
    """How many programs a launch has."""

    def launch(self, size: Callable[[Size], int]) -> tuple[int, dict[str, int]]:
        """The number of programs and the values of the function's constants, for sizes."""
        ...


@record
class Lanes:
    """A lane for each point of a space; constants say which axes are as long as a block."""

    extents: tuple[Size, ...]
    block: int

    @property
    def long(self) -> list[str]:
        return [f"LONG_{k}" for k in range(1, len(self.extents))]

    def launch(self, size: Callable[[Size], int]) -> tuple[int, dict[str, int]]:
        extents = list(map(size, self.extents))
        long = [int(extent >= self.block) for extent in extents[1:]]
        return -(-prod(extents) // self.block), {"BLOCK": self.block} | dict(zip(self.long, long))


class Chain(Protocol):
    """Kernels one after the other that do what one program would take too long for."""

    def steps(self, size: Callable[[Size], int]) -> list[Step]:
        """The launches for sizes; none: one program does it."""
        ...


@record
class Step:
    """One launch of a chain; ``room``: the bytes that it leaves for the next."""

    source: Source
    programs: int
    constants: dict[str, int]
    room: int = 0


class _None:
    """Of a kernel in a chain, which tells its launches itself."""

    def launch(self, size: Callable[[Size], int]) -> tuple[int, dict[str, int]]:
        raise TypeError("it is launched by its chain")


NONE: Grid = _None()


@record
class Source:
    """A kernel as Triton code: a function ``name`` of ``parameters`` in order, each with its name,
    and of the ``constants`` that its ``grid`` tells.  ``parts`` of the text are functions, itself
    the last."""

    name: str
    text: str
    parameters: tuple[tuple[str, Parameter], ...]
    grid: Grid
    constants: tuple[str, ...]
    parts: tuple[str, ...]
    long: Chain | None = None


BASE = "base"  #: the first row of a program, where a function is only a stage of a kernel

#: modules in the scope of a kernel, and names that the forms of kernels use themselves
OWN = frozenset({
    BASE, "tl", "npc", "triton", "lane", "live", "row", "at", "step", "run", "begin", "count",
    "start", "size", "whole", "more", "only", "left", "place", "rest", "best", "better", "found",
    "first", "piece", "slot", "end", "earlier", "holds", "chosen",
} | {f"{stem}{part}" for stem in ("total", "part", "leaf", "sum", "value", "other")
     for part in ("", "_real", "_imag")})


@dataclass(slots=True)
class Writer:
    """Lines of one function, the names in it and its parameters."""

    name: str
    taken: set[str] = field(default_factory=lambda: set(OWN))
    parameters: dict[Parameter, str] = field(default_factory=dict)
    tables: dict[np.dtype[Any], Tables] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    values: set[str] = field(default_factory=set)  # names without which nothing else happens
    indent: int = 1

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def fresh(self, wish: str) -> str:
        """A name like the wish that nothing has yet."""
        stem = re.sub(r"\W", "_", wish)
        if not stem[:1].isalpha() or keyword.iskeyword(stem):
            stem = f"v_{stem}"
        name, number = stem, 1
        while name in self.taken:
            name, number = f"{stem}_{number}", number + 1
        self.taken.add(name)
        return name

    def let(self, wish: str, text: str) -> str:
        """Names what has no effect; a function does without it if nothing uses it."""
        name = self.fresh(wish)
        self.values.add(name)
        self.line(f"{name} = {text}")
        return name

    def used(self) -> list[str]:
        """The lines without those that name what is not used; uses follow."""
        found: list[str] = []
        words: set[str] = set()
        for line in reversed(self.lines):
            name, _, text = line.strip().partition(" = ")
            if text and name in self.values and name not in words:
                continue
            words.update(re.findall(r"\w+", line))
            found.append(line)
        return found[::-1]

    def parameter(self, wanted: Parameter) -> str:
        """The name under which the function gets something."""
        name = self.parameters.get(wanted)
        if name is None:
            name = self.parameters[wanted] = self.fresh(_wish(wanted))
        return name

    def table(self, table: Table, dtype: np.dtype[Any]) -> tuple[str, int]:
        """The tables of constants, and where in them one begins."""
        tables = self.tables.setdefault(dtype, Tables(dtype, f"{self.name}_tables"))
        place = tables.place(table)
        return self.parameter(tables), place

    def size(self, size: Size) -> str:
        """A size; what Triton would round otherwise is computed by the host."""
        if isinstance(size, int):
            return str(size)
        if any(not isinstance(atom, Symbol) for atoms, _ in size.terms for atom in atoms):
            return self.parameter(Whole(size))
        terms = []
        for atoms, coefficient in size.terms:
            names = [self.parameter(Whole(Poly((((atom,), 1),)))) for atom in atoms]
            factors = [str(abs(coefficient))] * (abs(coefficient) != 1 or not names) + names
            terms.append("-" * (coefficient < 0) + " * ".join(factors))
        return " + ".join(terms).replace("+ -", "- ")

    def index(self, offset: Size, steps: Sequence[Size], axes: Sequence[str], unit: int = 1,
              more: Sequence[str] = ()) -> str:
        """``unit * (offset + steps . axes + more)`` as the end of a sum of pointer and index."""
        terms = [f" + {name}" if unit == 1 else f" + {unit} * {name}" for name in more]
        for step, axis in zip(steps, axes):
            step = step * unit
            if step == 1:
                terms.append(f" + {axis}")
            elif step != 0:
                terms.append(f" + {axis} * {self.factor(step)}")
        offset = offset * unit
        if offset != 0:
            terms.append(f" + {self.size(offset)}")
        return "".join(terms).replace("+ -", "- ")

    def factor(self, size: Size) -> str:
        """A size as an operand of ``* // %``."""
        text = self.size(size)
        return f"({text})" if " " in text or text.startswith("-") else text

    def function(self, first: Sequence[str] = (), last: Sequence[str] = ()) -> str:
        """The text; parameters stand between the ``first`` names and the ``last``."""
        names = [*first, *self.parameters.values(), *last]
        head = f"@triton.jit\ndef {self.name}({', '.join(names)}):"
        return "\n".join([head, *self.used()]) + "\n"

    def source(self, grid: Grid, constants: Sequence[str], before: tuple[str, ...] = (),
               first: Sequence[str] = ()) -> Source:
        text = self.function(first, [f"{name}: tl.constexpr" for name in constants])
        given = tuple((name, parameter) for parameter, name in self.parameters.items())
        parts = (*before, text)
        return Source(self.name, "\n\n".join(parts), given, grid, tuple(constants), parts)


def _wish(parameter: Parameter) -> str:
    match parameter:
        case Memory(buffer):
            return buffer.name
        case Given(buffer, part):
            return f"{buffer.name}_{part}" if part else buffer.name
        case Tables(name=name):
            return name
        case Between(_, out):
            return "more_sums" if out else "sums"
        case Whole(size):
            text = repr(size)
            axis = re.fullmatch(r"(\w+)\.(s?)(\d+)", text)
            if axis:
                return f"{axis[1]}_{'stride' if axis[2] else 'shape'}{axis[3]}"
            return text if text.isidentifier() else "size"
