"""The slow half of dispatch: guards are tested, and sources read, by Python.

The text of one small function per trace is generated, so that a call that can't take the
machine-code entry alone (keywords, containers, attributes) still costs a microsecond or two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from npcompile.core.paths import defer
from npcompile.guards.sources import ABSENT, Leaf, Source
from npcompile.runtime.unsafe.version_tags import class_version

if TYPE_CHECKING:
    from npcompile.guards import class_hooks
    from npcompile.guards.kinds import Guard
else:
    defer(globals(), "npcompile.guards", "class_hooks")

Match = Callable[[dict[str, Any], FunctionType], "tuple[Any, ...] | None"]


def matcher(guards: Sequence[Guard], leaves: Sequence[Leaf]) -> Match:
    """A function of (bound arguments, function) that gives the leaves' values, or None if a guard
    fails."""
    w = Expressions()  # in the order in which it is written, the function runs
    tests = [guard.test(w) for guard in guards]
    tests += [f"{w.constant(unchanged(kind))}()" for kind in classes(guards)]
    values = [w.source(leaf.source) for leaf in leaves]
    body = [
        "def match(b, f):",
        "    try:",
        f"        if not ({' and '.join(tests) or 'True'}): return None",
        f"        return ({''.join(value + ', ' for value in values)})",
        f"    except ({', '.join(error.__name__ for error in ABSENT)}):",
        "        return None",
    ]
    exec("\n".join(body), w.scope)
    found: Match = w.scope["match"]
    return found


def classes(guards: Sequence[Guard]) -> list[type]:
    """The classes of users that a trace rests on."""
    found = {id(kind): kind for kind in (guard.rests_on for guard in guards) if kind is not None}
    return [kind for kind in found.values() if class_hooks.of_user(kind)]


def unchanged(kind: type) -> Callable[[], bool]:
    """Whether a class still has what it has now, so far as that tells what code it runs."""
    was, version, seen = class_hooks.looks(kind), class_version(kind), 0

    def same() -> bool:
        nonlocal seen
        if version is not None and version.value == seen != 0:
            return True
        getattr(kind, "__init__")  # noqa: B009 -- a look-up makes CPython number the class
        now = 0 if version is None else version.value
        if class_hooks.looks(kind) != was:
            return False
        seen = now
        return True

    return same


class Expressions:
    """Writes Python expressions over ``b`` (bound arguments) and ``f`` (function).

    What a source holds is looked up once: the first expression with it names it."""

    def __init__(self) -> None:
        self.scope: dict[str, Any] = {"same_constant": same_constant}
        self._named: dict[Source, str] = {}

    def constant(self, value: Any) -> str:
        """The name of an object."""
        name = f"c{len(self.scope)}"
        self.scope[name] = value
        return name

    def source(self, source: Source | None) -> str:
        """The value of a source; the function for None."""
        if source is None:
            return "f"
        if source in self._named:
            return self._named[source]
        text = source.expression(self)
        name = self._named[source] = f"v{len(self._named)}"
        return f"({name} := {text})"


def same_constant(a: Any, b: Any) -> bool:
    """Whether two constants can stand for one another: same types, same values, same signs of
    zeros, same order."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, (tuple, frozenset)):
        return len(a) == len(b) and all(map(same_constant, a, b))
    if isinstance(a, float):
        return bool(a.hex() == b.hex())
    if isinstance(a, (complex, range)):
        names = ("real", "imag") if isinstance(a, complex) else ("start", "stop", "step")
        return all(same_constant(getattr(a, name), getattr(b, name)) for name in names)
    return bool(a == b)
