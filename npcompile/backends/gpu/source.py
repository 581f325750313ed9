"""Text of Triton functions: names, sizes, indices, and what a launch must pass."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Protocol, Union

import numpy as np

from npcompile.core.records import field, record
from npcompile.core.sizes import Poly, Size, Symbol, poly, product
from npcompile.graph.ir import Table
from npcompile.program.ir import Buffer


@record
class DeviceMemory:
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


@record(eq=False, frozen=False)
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


Parameter = Union[DeviceMemory, Given, Whole, Tables, Between]


class Grid(Protocol):
    """How many programs a launch has."""

    def launch(self, size: Callable[[Size], int]) -> tuple[int, dict[str, int]]:
        """The number of programs and the values of the function's constants, for sizes."""
        ...


@record
class LaneBlock:
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

    def steps(self, size: Callable[[Size], int]) -> list[KernelLaunch]:
        """The launches for sizes; none: one program does it."""
        ...


@record
class KernelLaunch:
    """One launch of a chain; ``room``: the bytes that it leaves for the next."""

    source: KernelSource
    programs: int
    constants: dict[str, int]
    room: int = 0


class _None:
    """Of a kernel in a chain, which tells its launches itself."""

    def launch(self, size: Callable[[Size], int]) -> tuple[int, dict[str, int]]:
        raise TypeError("it is launched by its chain")


NONE: Grid = _None()


@record
class KernelSource:
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


INLINE = 80  #: characters of an expression that is written inside another one
WIDE = 96  #: of a line that lists parameters

BASE = "base"  #: the first row of a program, where a function is only a stage of a kernel

#: what functions have in their scope
SCOPE = frozenset({"tl", "npc", "triton", *dir(builtins)})
#: names in kernels with a lane for each element
COMMON = SCOPE | {BASE, "lane", "live", "rest", "more"}
#: names that other forms of kernels use themselves
OWN = COMMON | frozenset({
    "row", "at", "step", "run", "begin", "count",
    "start", "size", "whole", "only", "left", "place", "best", "better", "found",
    "first", "piece", "slot", "end", "earlier", "holds", "chosen",
} | {f"{stem}{part}" for stem in ("total", "part", "leaf", "sum", "value", "other")
     for part in ("", "_real", "_imag")})


@record(frozen=False)
class FunctionWriter:
    """Lines of one function, the names in it and its parameters."""

    name: str
    taken: set[str] = field(default_factory=lambda: set(OWN))
    parameters: dict[Parameter, str] = field(default_factory=dict)
    tables: dict[np.dtype[Any], Tables] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    values: set[str] = field(default_factory=set)  # names without which nothing else happens
    indent: int = 1
    said: str = ""  # by the last comment

    def nest(self) -> None:
        """Begins the body of a loop."""
        self.indent += 1

    def leave(self) -> None:
        """Ends the body of a loop."""
        self.indent -= 1

    def leave_all(self) -> None:
        """Ends the bodies of all loops."""
        self.indent = 1

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def fresh(self, request: str) -> str:
        """A name like the request that nothing has yet; constants alone are in capitals."""
        letters = [c if c.isascii() else unicodedata.name(c, "letter").split()[-1] for c in request]
        stem = re.sub(r"\W", "_", "".join(letters)).strip("_") or "value"
        stem = stem.lower() if stem.isupper() else stem
        if not stem[:1].isalpha() or keyword.iskeyword(stem):
            stem = f"v_{stem}"
        return self._free(stem)

    def constant(self, request: str) -> str:
        """A name in capitals."""
        return self._free(request.upper())

    def _free(self, stem: str) -> str:
        name, number = stem, 1
        while name in self.taken:
            name, number = f"{stem}_{number}", number + 1
        self.taken.add(name)
        return name

    def comment(self, text: str) -> None:
        """Says where the next lines come from, if it is not known yet."""
        if text != self.said:
            self.said = text
            self.line(f"# {text}")

    def let(self, request: str, text: str) -> str:
        """Names what has no effect; a function does without it if nothing uses it."""
        name = self.fresh(request)
        self.values.add(name)
        self.line(f"{name} = {text}")
        return name

    def used(self) -> list[str]:
        """The lines without those that name what is not used, and comments on nothing; uses
        follow."""
        found: list[str] = []
        words: set[str] = set()
        for line in reversed(self.lines):
            name, _, text = line.strip().partition(" = ")
            if name.startswith("#"):
                if found and not found[-1].strip().startswith("#"):
                    found.append(line)
                continue
            if text and name in self.values and name not in words:
                continue
            words.update(re.findall(r"\w+", line))
            found.append(line)
        return found[::-1]

    def parameter(self, wanted: Parameter) -> str:
        """The name under which the function gets something."""
        name = self.parameters.get(wanted)
        if name is None:
            name = self.parameters[wanted] = self.fresh(_request(wanted))
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

    def product(self, sizes: Sequence[Size]) -> str:
        """A product as the user would write it: its factors stand apart."""
        whole = product(tuple(sizes))
        if isinstance(whole, int) or whole == 0 or len(poly(whole).terms) == 1:
            return self.size(whole)
        return " * ".join(self.factor(n) for n in sizes if n != 1) if len(sizes) > 1 \
            else self.size(whole)

    def factor(self, size: Size) -> str:
        """A size as an operand of ``* // %``."""
        text = self.size(size)
        return f"({text})" if " " in text or text.startswith("-") else text

    def function(self, first: Sequence[str] = (), last: Sequence[str] = (),
                 title: str = "", above: Sequence[str] = ()) -> str:
        """The text; parameters stand between the ``first`` names and the ``last``.  ``title`` says
        what it computes, comments stand ``above`` it."""
        names = [*first, *self.parameters.values(), *last]
        head = wrapped(f"def {self.name}(", names, "):")
        doc = [f'    """{title}"""'] * bool(title)
        said = [f"# {line}" for line in above]
        return "\n".join([*said, "@triton.jit", *head, *doc, *self.used()]) + "\n"

    def source(self, grid: Grid, constants: Sequence[str], before: tuple[str, ...] = (),
               first: Sequence[str] = (), above: Sequence[str] = ()) -> KernelSource:
        text = self.function(first, [f"{name}: tl.constexpr" for name in constants], above=above)
        given = tuple((name, parameter) for parameter, name in self.parameters.items())
        parts = (*before, text)
        return KernelSource(self.name, "\n\n".join(parts), given, grid, tuple(constants), parts)


def wrapped(head: str, items: Sequence[str], tail: str) -> list[str]:
    """A list in brackets, on as many lines as it needs."""
    lines, line = [], head
    for k, item in enumerate(items):
        piece = item + (", " if k + 1 < len(items) else "")
        if len(line + piece.rstrip()) + len(tail) > WIDE and line != head:
            lines.append(line.rstrip())
            line = " " * len(head)
        line += piece
    return [*lines, line + tail]


#: names of values that the user has not named, by what they are
_REQUESTS = {
    "add": "total", "sub": "difference", "mul": "product", "div": "quotient", "sqrt": "root",
    "where": "chosen", "rare": "chosen", "minimum": "least", "maximum": "most", "abs": "magnitude",
    "neg": "negative", "lt": "is_less", "le": "is_less", "eq": "is_equal", "ne": "differs",
    "bit_and": "both", "bit_or": "either", "bit_not": "opposite", "fma": "fused", "rint": "nearest",
    "floor": "below", "ceil": "above", "trunc": "whole_part", "to_bits": "bits", "shl": "shifted",
    "shr": "shifted", "lookup": "entry", "cast": "converted", "from_bits": "number",
    "copysign": "signed",
}


def request(op: str) -> str:
    """A name for the result of a primitive."""
    return _REQUESTS.get(op, "value")


def title(buffer: Buffer) -> str:
    """What the user calls a buffer, or what it is."""
    known = {"result": "result", "temp": "temporary", "owned": "temporary", "scalar": "number"}
    return buffer.title or (known.get(buffer.kind, buffer.name) if buffer.index < 0
                            else buffer.name)


def _request(parameter: Parameter) -> str:
    match parameter:
        case DeviceMemory(buffer):
            return f"{title(buffer)}_ptr"
        case Given(buffer, part):
            return f"{title(buffer)}_{part}" if part else title(buffer)
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
