"""Each class of sources and guards says alike in Python, in generated Python and in machine code
what it stands for; a new kind of guard is one class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.core.records import record
from npcompile.guards import kinds, sources
from npcompile.guards.binding import AccessStep, Steps
from npcompile.guards.kinds import Guard
from npcompile.guards.matching import Expressions, matcher
from npcompile.guards.sources import (
    Arg,
    Attribute,
    Closure,
    Codes,
    Default,
    Global,
    Item,
    Leaf,
    ObjectWords,
    Roots,
    Source,
    TensorMemory,
)
from npcompile.runtime.unsafe.version_tags import Unwatchable
from npcompile.runtime.versions.dispatch import Dispatcher
from npcompile.tracing.inputs import Inputs

SCALE = 3.0


class Holder:
    def __init__(self, value: Any) -> None:
        self.value = value

    def method(self) -> float:
        return SCALE


def made(offset: float) -> Any:
    def inner(x: Any, k: float = 2.5, *, j: float = 1.5) -> Any:
        return x * SCALE + offset + k + j + len(())

    return inner


FUNCTION = made(7.0)
HELD = Holder([1.0, "text"])
GIVEN = {"a": HELD, "d": {"k": 4.0}, "s": "abc", "f": FUNCTION}
A, D, S, F = (Arg(name, k) for k, name in enumerate(GIVEN))
SOURCES = {
    A: HELD,
    Attribute(A, "value"): HELD.value,
    Item(Attribute(A, "value"), 1): "text",
    Item(D, "k"): 4.0,
    Global("SCALE"): SCALE,
    Global("len"): len,
    Global("SCALE", F): SCALE,
    Closure("offset"): 7.0,
    Default("k"): 2.5,
    Default("j", F): 1.5,
    sources.AddressOf(A): id(HELD),
}


def all_classes(base: type) -> set[type]:
    """The records among the classes that inherit from one."""
    found = set()
    for kind in base.__subclasses__():
        found |= all_classes(kind) | ({kind} if "__record__" in vars(kind) else set())
    return {kind for kind in found if kind.__module__.startswith("npcompile.")}


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.text())
def test_a_source_is_fetched_as_its_expression_says(source: Source) -> None:
    wanted = SOURCES[source]
    assert Roots(FUNCTION, GIVEN).value(source) is wanted or source == sources.AddressOf(A)
    w = Expressions()
    found = eval(w.source(source), {**w.scope, "b": GIVEN, "f": FUNCTION})
    assert found == wanted


def test_arrays_are_fetched_as_their_expressions_say() -> None:
    for source in (Codes(S), ObjectWords("classes")):
        w = Expressions()
        text = w.source(source)
        found = eval(text, {**w.scope, "b": GIVEN, "f": FUNCTION})
        assert np.array_equal(found, Roots(FUNCTION, GIVEN).value(source))
    tested = {type(source) for source in SOURCES} | {Codes, ObjectWords, TensorMemory}
    assert all_classes(Source) == tested, "a class of sources without a test"


#: for each class of guards: one that holds, one that does not, and the sentence of the first
GUARDS = [
    (kinds.IdentityGuard(A, HELD), kinds.IdentityGuard(A, None), "a is <"),
    (kinds.EqualityGuard(S, "abc"), kinds.EqualityGuard(S, "abd"), "s is 'abc'"),
    (kinds.ClassGuard(A, Holder), kinds.ClassGuard(A, dict), "a is a Holder"),
    (kinds.FlagsGuard(Item(D, "k"), 1 << 9), kinds.FlagsGuard(A, 1 << 9), "d['k'] is a number, "),
    (kinds.LengthGuard(D, 1), kinds.LengthGuard(D, 2), "d has the length 1"),
    (kinds.LongestGuard(D, 1), kinds.LongestGuard(D, 0), "d has at most 1 items"),
    (kinds.KeysGuard(D, ("k",)), kinds.KeysGuard(D, ("j",)), "d has the keys ('k',)"),
    (kinds.FunctionGuard(F, made(8.0)), kinds.FunctionGuard(F, all_classes), "f is the same"),
    (kinds.SameGuard(A, A), kinds.SameGuard(A, D), "a is a"),
    (kinds.ApartGuard(A, D), kinds.ApartGuard(A, A), "a is not d"),
    (kinds.PresenceGuard(Attribute(A, "value"), True),
     kinds.PresenceGuard(Attribute(A, "value"), False), "a has an attribute value"),
]


@pytest.mark.parametrize(("holds", "fails", "text"), GUARDS, ids=lambda x: type(x).__name__)
def test_a_guard_is_tested_and_told(holds: Guard, fails: Guard, text: str) -> None:
    if isinstance(holds, kinds.FunctionGuard):  # another function of the same code and defaults
        holds.value.__defaults__ = FUNCTION.__defaults__
        holds.value.__kwdefaults__ = FUNCTION.__kwdefaults__
    leaves = [Leaf(Item(D, "k"), None)]
    assert matcher([holds], leaves)(GIVEN, FUNCTION) == (4.0,)
    assert matcher([fails], leaves)(GIVEN, FUNCTION) is None
    assert holds.text().startswith(text)


def test_every_class_of_guards_is_tested() -> None:
    assert all_classes(Guard) == {type(holds) for holds, _, _ in GUARDS}


def test_what_has_no_step_is_left_to_python() -> None:
    steps = Steps([kinds.ClassGuard(D, dict)], list(GIVEN), [])
    for guard in (kinds.KeysGuard(D, ("k",)), kinds.EqualityGuard(D, (1.0,)),
                  kinds.LengthGuard(A, 3), GUARDS[-1][0]):
        with pytest.raises(Unwatchable):
            guard.step(steps)
    kinds.LengthGuard(D, 1).step(steps)
    assert steps.steps == [AccessStep(kinds.ClassGuard, 1), AccessStep(kinds.LengthGuard, 1, 1)]


@record(eq=False)
class TruthGuard(Guard):
    """The value is true, or (not ``value``) is not: a kind of guard that only this test has."""

    source: Source
    value: bool

    def test(self, w: Expressions) -> str:
        return f"bool({w.source(self.source)}) is {self.value}"

    def step(self, steps: Steps) -> None:
        steps.compare(TruthGuard, steps.place(self.source), int(self.value))

    @classmethod
    def emit(cls, code: Any, thing: str, number: int) -> None:
        code.require("eq", "i32", code.call("i32", "PyObject_IsTrue", ("ptr", thing)), number)

    def text(self) -> str:
        return f"{self.source.told()} is {'' if self.value else 'not '}true"


def test_a_new_kind_of_guard_is_one_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here, every number is guarded: calls with 0 get a version of their own."""
    lift = Inputs.lift

    def lifted(self: Inputs, value: Any, source: Source) -> Any:
        if type(value) is int and isinstance(source, Arg):
            self.guard(TruthGuard(source, bool(value)))
        return lift(self, value, source)

    monkeypatch.setattr(Inputs, "lift", lifted)
    f = jit(lambda x, n: x * n + 1, cache=False, fullgraph=True)
    x = np.arange(4.0)
    for n in (3, 5, 0, 7, 0):
        assert np.array_equal(f(x, n), x * n + 1)
    assert f.cache_info() == (2, 0, 0)
    with monkeypatch.context() as patch:
        patch.delattr(Dispatcher, "call")  # machine code tests it
        assert f(x, 9)[1] == 10 and f(x, 0)[1] == 1
    assert "n is true" in f.explain(x, 3).guards and "n is not true" in f.explain(x, 0).guards
