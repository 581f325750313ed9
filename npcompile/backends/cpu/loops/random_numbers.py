"""One random number of NumPy's generators, without a call of Python's.

Functions that ``draw.*`` names (`npcompile.runtime.random.draws`) step the generator's state if
they may, and say whether they did.  If not, NumPy is called, as it is for parameters that it
refuses.
"""

from __future__ import annotations

from npcompile.backends.cpu.llvm.sizes import Slots
from npcompile.backends.cpu.llvm.text import Value, literal
from npcompile.backends.cpu.loader.symbols import DRAW
from npcompile.core.records import record
from npcompile.graph.ir import CallSite, Direct, StaticObject
from npcompile.program.ir import Call, View

PREFIX = "numpy.random.Generator."
GIVES = {"uniform": "double", "normal": "double", "int64": "i64"}
Given = View | float | int

#: methods of generators: what is drawn, and the two parameters if they are not given
METHODS: dict[str, tuple[str, dict[str, float | int]]] = {
    "random": ("uniform", {"": 0.0, " ": 1.0}),
    "uniform": ("uniform", {"low": 0.0, "high": 1.0}),
    "standard_normal": ("normal", {"": -0.0, " ": 1.0}),
    "normal": ("normal", {"loc": 0.0, "scale": 1.0}),
    "integers": ("int64", {"low": 0, "high": 0}),
}


@record(eq=False)
class Draw:
    """What is drawn, and its two parameters."""

    kind: str
    given: tuple[Given, ...]


def draw(path: str, site: Direct, inputs: tuple[View, ...]) -> Draw | None:
    """A call as a draw; None if it is another one."""
    kind, parameters = METHODS.get(path.removeprefix(PREFIX), ("", {}))
    if not kind or not path.startswith(PREFIX) or site.kind.__name__ not in ("float", "int64"):
        return None
    split = len(site.arguments) - len(site.names)
    names = (*list(parameters)[: split - 1], *site.names)
    numbers = [_number(kind, a, inputs) for a in site.arguments[1:]]
    if len(names) != len(numbers) or not set(names) <= {*parameters} - {"", " "}:
        return None
    if None in numbers:
        return None
    given: dict[str, Given | None] = dict(zip(names, numbers, strict=True))
    if names == ("low",) and kind == "int64":  # of which there are so many
        given = {"low": 0, "high": given["low"]}
    both = tuple([found for name, usual in parameters.items()
                  if (found := given.get(name, usual)) is not None])
    return Draw(kind, both)


def is_drawn(call: Call) -> bool:
    """Whether a call draws a number, which takes no longer than an operation on numbers."""
    site = call.function
    return (isinstance(site, CallSite) and site.direct is not None
            and draw(site.path, site.direct, call.inputs) is not None)


def _number(kind: str, argument: int | StaticObject, inputs: tuple[View, ...]) -> Given | None:
    """A number that is given, if it is of a type that the functions take."""
    if isinstance(argument, int):
        view = inputs[argument]
        types = ("int64",) if kind == "int64" else ("int64", "float64")
        return view if view.buffer.kind == "scalar" and view.dtype.name in types else None
    value = argument.value
    if type(value) is int:
        return value if -(1 << 63) <= value < 1 << 63 else None
    return value if type(value) is float and kind != "int64" else None


def attempt(slots: Slots, wanted: Draw, generator: Value, place: Value) -> Value:
    """Draws into a place, if it can be; whether it was."""
    given = [_value(slots, GIVES[wanted.kind], number) for number in wanted.given]
    return slots.f.call(f"{DRAW}.{wanted.kind}", ("i1", 1), generator, place, *given)


def _value(slots: Slots, elem: str, given: Given) -> Value:
    if not isinstance(given, View):
        return literal(elem, given if elem == "i64" else float(given))
    (value,) = slots.number(given.buffer)
    return slots.f.convert("sitofp", value, elem) if value.elem != elem else value
