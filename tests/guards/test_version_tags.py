"""Words that show changes of names, cells, functions and dictionaries."""

from __future__ import annotations

import builtins
import ctypes
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from npcompile import cfunc, jit, vectorize
from npcompile.guards import methods
from npcompile.guards.binding import WatchedWords
from npcompile.guards.sources import Attribute, Closure, Roots
from npcompile.program.ir import ParamResult
from npcompile.runtime.entry.executables import STALE
from npcompile.runtime.entry.state import LeafPlace, Signature
from npcompile.runtime.unsafe import version_tags
from npcompile.runtime.unsafe.layout import layout
from npcompile.runtime.unsafe.version_tags import Unwatchable, VersionTag
from tests.support.entry import Entry, array_leaf, leave, program


def unchanged(watched: Iterable[VersionTag]) -> bool:
    """What machine code does: it stops at the first word that differs."""
    return all(
        ctypes.c_uint64.from_address(word.address).value == word.expected for word in watched
    )


def namespace(source: str = "a = 1; b = 2; c = []") -> types.ModuleType:
    made = types.ModuleType("made")
    exec(source, vars(made))
    return made


def test_layout_is_known() -> None:
    assert layout() is not None


CHANGES: dict[str, tuple[Callable[[types.ModuleType], object], bool]] = {
    "nothing": (lambda m: None, True),
    "reading": (lambda m: (m.a, vars(m).get("zz"), list(vars(m))), True),
    "another name": (lambda m: setattr(m, "b", 7), True),
    "another name, often": (lambda m: [setattr(m, "b", k) for k in range(1000)], True),
    "through the dictionary": (lambda m: vars(m).__setitem__("b", 8), True),
    "contents": (lambda m: m.c.append(1), True),
    "the name": (lambda m: setattr(m, "a", 3), False),
    "the name, by update": (lambda m: vars(m).update(a=3), False),
    "deleted": (lambda m: delattr(m, "a"), False),
    "deleted and back": (lambda m: (delattr(m, "a"), setattr(m, "a", 1)), False),
    "shadows a builtin": (lambda m: setattr(m, "len", len), False),
    "new names": (lambda m: [setattr(m, f"x{k}", 0) for k in range(300)], False),
    "cleared": (lambda m: vars(m).clear(), False),
    "other kinds of keys": (lambda m: vars(m).__setitem__(3, 4), False),
}


@pytest.mark.parametrize("name", CHANGES)
def test_names(name: str) -> None:
    change, same = CHANGES[name]
    module = namespace()
    watched = version_tags.of_names(vars(module), ["a", "len"])
    assert len(watched) == 3 and unchanged(watched)
    change(module)
    assert unchanged(watched) is same
    again = version_tags.of_names(vars(module), ["a", "len"])
    assert unchanged(again)


def test_names_by_global_statement() -> None:
    module = namespace("a = 1; b = 2\ndef set_a(x):\n global a\n a = x\n"
                       "def set_b(x):\n global b\n b = x")
    for k in range(100):  # the specialised instructions, too
        watched = version_tags.of_names(vars(module), ["a"])
        module.set_b(k)
        assert unchanged(watched)
        module.set_a(k + 1000)
        assert not unchanged(watched)


def test_names_of_builtins_and_numpy() -> None:
    for module, name in ((builtins, "len"), (np, "sin"), (sys, "path")):
        watched = version_tags.of_names(vars(module), [name])
        assert len(watched) == 3 and unchanged(watched)


def test_names_of_bare_modules() -> None:
    """Without ``__builtins__``, as extension modules are."""
    module = types.ModuleType("bare")
    module.a = 1
    watched = version_tags.of_names(vars(module), ["a", "len"])
    assert len(watched) == 3 and unchanged(watched)
    module.a = 2
    assert not unchanged(watched)
    assert len(version_tags.of_names({}, ["a"])) == 2


def test_names_while_tracing() -> None:
    """A debugger may keep CPython from numbering the keys."""
    module = namespace()
    before = sys.gettrace()
    sys.settrace(lambda *args: None)
    try:
        watched = version_tags.of_names(vars(module), ["a"])
    finally:
        sys.settrace(before)
    assert unchanged(watched)
    module.a = 5
    assert not unchanged(watched)


def test_tables_without_a_version_fall_back() -> None:
    table: dict[Any, Any] = {"a": 1, 2: 3}
    watched = version_tags.of_names(table, ["a"])
    assert len(watched) == 3 and len(set(watched)) == 1 and unchanged(watched)
    assert version_tags.name_address(table, "a") is None
    table[2] = 4
    assert not unchanged(watched)


def test_dict() -> None:
    table = {"a": 1}
    watched = [version_tags.of_dict(table)]
    table.get("a")
    assert unchanged(watched)
    table["a"] = 2
    assert not unchanged(watched)


def test_cell() -> None:
    cell = types.CellType(1)
    watched = [version_tags.of_cell(cell)]
    assert unchanged(watched)
    cell.cell_contents = 1  # the same object
    assert unchanged(watched)
    cell.cell_contents = 2
    assert not unchanged(watched)
    watched = [version_tags.of_cell(cell)]
    del cell.cell_contents
    assert not unchanged(watched)
    assert unchanged([version_tags.of_cell(cell)])


def test_cell_of_a_running_function() -> None:
    x = [1]

    def inner() -> list[int]:
        return x

    watched = [version_tags.of_cell(inner.__closure__[0])]  # type: ignore[index]
    assert unchanged(watched)
    x = [2]
    assert not unchanged(watched) and inner() == [2]


def test_function() -> None:
    def f(a: int = 1, *, b: int = 2) -> int:
        return a + b

    def changed(change: Callable[[], object]) -> bool:
        watched = list(version_tags.of_function(f))
        assert unchanged(watched)
        change()
        return not unchanged(watched)

    assert not changed(lambda: setattr(f, "note", 1))
    assert not changed(lambda: setattr(f, "__doc__", "x"))
    assert changed(lambda: setattr(f, "__code__", f.__code__.replace(co_name="g")))
    assert changed(lambda: setattr(f, "__defaults__", (7,)))
    assert changed(lambda: f.__kwdefaults__.__setitem__("b", 3))
    assert changed(lambda: setattr(f, "__kwdefaults__", {"b": 4}))


# ------------------------------------------------------------------ in entries


def connect(entry: Entry, watched: list[VersionTag]) -> None:
    for k, word in enumerate(watched):
        entry.state.watch(k, word.address, word.expected)
    entry.state.keeps(watched)


def watching(watched: list[VersionTag], exit: Any = leave) -> Entry:
    leaf = array_leaf("x")
    signature = Signature.positional((leaf,), words=len(watched))
    entry = Entry(signature, program([leaf], ParamResult(0)), exit=exit)
    connect(entry, watched)
    return entry


def _plain(x):
    return x + 1


def _other(x):
    return x + 2


def _rebind(made: Any, function: Any) -> None:
    made.__wrapped__ = function


MADE: dict[str, Callable[[Any], Any]] = {
    "jit": jit, "vectorize": vectorize, "cfunc": cfunc("float64(float64)")}
REBOUND: dict[str, Callable[[Any], object]] = {
    "assigned": lambda made: _rebind(made, _other),
    "set": lambda made: object.__setattr__(made, "__wrapped__", _other),
    "in the dictionary": lambda made: vars(made).__setitem__("__wrapped__", _other),
    "updated": lambda made: vars(made).update(__wrapped__=_other),
    "deleted": lambda made: delattr(made, "__wrapped__"),
}


@pytest.mark.parametrize("how", REBOUND)
@pytest.mark.parametrize("kind", MADE)
def test_functions_in_compiled_ones(kind: str, how: str) -> None:
    """Machine code that calls one of npcompile's functions watches what is in it."""
    for _ in range(20):  # the specialised instructions, too
        _rebind(MADE[kind](_plain), _other)
    inner = MADE[kind](_plain)

    def outer(x):
        return inner(x)

    words = WatchedWords(Roots(outer, {}))
    words.source(Attribute(Closure("inner"), "__wrapped__"), True)
    watched = words.in_order()
    assert watched and unchanged(watched)
    inner(1.0)
    assert unchanged(watched)
    REBOUND[how](inner)
    assert not unchanged(watched)


def test_attributes_that_the_object_holds_itself_are_not_watched_by_the_dictionary() -> None:
    class Thing:
        pass

    thing = Thing()
    thing.name = 1
    try:
        watched = list(methods.attributes(thing))
    except Unwatchable:
        assert sys.version_info >= (3, 13)
    else:
        thing.name = 2
        assert not unchanged(watched)


@pytest.mark.parametrize("kind", MADE)
def test_what_a_compiled_function_calls_may_become_another(kind: str) -> None:
    inner = MADE[kind](_plain)

    @jit(fullgraph=True)
    def outer(x):
        return inner(x) * 2

    for _ in range(60):
        assert outer(1.0) == 4
    assert outer.cache_info().fallbacks < 5
    inner = MADE[kind](_other)
    assert outer(1.0) == 6
    _rebind(inner, _plain)
    assert outer(1.0) == 4


def test_a_change_is_noticed_and_costs_one_visit_to_python() -> None:
    module, visits = namespace(), []

    def again(function: Any, code: int, flags: int, what: Any, *args: Any) -> Any:
        visits.append(code)
        connect(entry, version_tags.of_names(vars(module), ["a"]))
        return function(*args)

    entry = watching(version_tags.of_names(vars(module), ["a"]), again)
    x = np.ones(2)
    for _ in range(3):
        assert entry(x) is x
    assert not visits
    module.other = 1
    for _ in range(3):
        assert entry(x) is x
    assert visits == [STALE]
    for k in range(3):
        module.other = k
        assert entry(x) is x
    assert visits == [STALE]
    module.a = 5
    assert entry(x) is x
    assert visits == [STALE, STALE]


def test_variables_are_read_at_each_call() -> None:
    """A global array, wherever the dictionary has it now."""
    module = namespace()
    module.a = first = np.ones(2)
    leaf = array_leaf("x")
    head = version_tags.of_names(vars(module), [])
    signature = Signature((leaf,), (LeafPlace("variable", 0),), 0, words=len(head))
    entry = Entry(signature, program([leaf], ParamResult(0)))
    connect(entry, head)
    address = version_tags.name_address(vars(module), "a")
    assert address is not None
    entry.state.refer(0, address)
    assert entry() is first
    module.a = second = np.ones(3)
    module.b = 5
    assert entry() is second
    module.a = "no array"
    assert entry()[0] == "python"
    del module.a
    assert entry()[:2] == ("exit", STALE)
    for k in range(1000):
        setattr(module, f"x{k}", k)  # the old table of keys is gone
    assert entry()[:2] == ("exit", STALE)


def test_variables_in_cells() -> None:
    leaf = array_leaf("x")
    cell = types.CellType()
    entry = Entry(
        Signature((leaf,), (LeafPlace("variable", 0),), 0), program([leaf], ParamResult(0))
    )
    entry.state.refer(0, version_tags.cell_address(cell))
    assert entry()[0] == "python"
    for n in range(3):
        cell.cell_contents = x = np.ones(n)
        assert entry() is x
    del cell.cell_contents
    assert entry()[0] == "python"
