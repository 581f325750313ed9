"""Machine code takes attributes of classes and modules from where they were, until they change."""

from __future__ import annotations

import enum
import sys
import types
from typing import Any

import numpy as np
import pytest

from npcompile import jit


class Base:
    scale = 2.0
    table = np.arange(4.0)


class Settings(Base):
    shift = 1.0


class Meta(type):
    @property
    def factor(cls) -> float:
        return cls._factor

    def __getattr__(cls, name: str) -> float:
        return 7.0


class Special(metaclass=Meta):
    _factor = 3.0


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


settings = types.ModuleType("settings")
settings.__dict__["step"] = 0.5


def affine(x: Any) -> Any:
    return x * Settings.scale + Settings.shift + Settings.table


def stepped(x: Any) -> Any:
    return x * settings.step


def special(x: Any) -> Any:
    return x * Special.factor + Special.other


def colour(x: Any) -> Any:
    return Colour.RED if x > 1 else Colour.BLUE


def direct(function: Any) -> bool:
    return all(v.direct for v in function._dispatcher.versions)


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    return monkeypatch


def test_attributes_of_classes(changed: pytest.MonkeyPatch) -> None:
    compiled, x = jit(affine), np.ones(4)
    changes: list[Any] = [
        lambda: None,
        lambda: changed.setattr(Settings, "shift", 5.0),
        lambda: changed.setattr(Base, "scale", -1.0),
        lambda: changed.setattr(Settings, "scale", 9.0, raising=False),  # hides that of Base
        lambda: changed.setattr(Base, "table", np.full(4, 0.5)),
        lambda: changed.setattr(Settings, "shift", 3),
        lambda: Base.table.__setitem__(1, 8.0),
        lambda: changed.setattr(Settings, "table", 2.0, raising=False),
    ]
    for change in changes:
        change()
        for _ in range(3):
            np.testing.assert_array_equal(compiled(x), affine(x), strict=True)
    changed.delattr(Settings, "shift")
    with pytest.raises(AttributeError, match="shift"):
        compiled(x)
    changed.undo()
    np.testing.assert_array_equal(compiled(x), affine(x), strict=True)
    assert direct(compiled)


def test_attributes_of_modules(changed: pytest.MonkeyPatch) -> None:
    compiled, x = jit(stepped), np.ones(4)
    for step in (0.5, 0.25, 3, 1j, 0.5):
        changed.setitem(settings.__dict__, "step", step)
        np.testing.assert_array_equal(compiled(x), stepped(x), strict=True)
        assert compiled(2.0) == stepped(2.0)
    assert direct(compiled)


class Computing(types.ModuleType):
    shared = 2.0

    @property
    def factor(self) -> float:
        return settings.__dict__["step"]


computing = Computing("computing")


def lazy(x: Any) -> Any:
    return x * settings.lazy


def factor(x: Any) -> Any:
    return x * computing.factor


def shared(x: Any) -> Any:
    return x * computing.shared


def test_attributes_that_modules_compute(changed: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        if name != "lazy":
            raise AttributeError(name)
        return settings.__dict__["step"]

    changed.setitem(settings.__dict__, "__getattr__", missing)
    x = np.ones(4)
    for function in (lazy, factor, shared):
        compiled = jit(function)
        for step in (0.5, 0.25, 3, 1j):
            changed.setitem(settings.__dict__, "step", step)
            changed.setattr(Computing, "shared", step)
            for _ in range(2):
                np.testing.assert_array_equal(compiled(x), function(x), strict=True)
        if function is lazy:  # kept for a time
            changed.setitem(settings.__dict__, "lazy", 8.0)
            np.testing.assert_array_equal(compiled(x), function(x), strict=True)
            np.testing.assert_array_equal(compiled(x), function(x), strict=True)
            changed.delitem(settings.__dict__, "lazy")
            for step in (0.5, 0.25, 3):
                changed.setitem(settings.__dict__, "step", step)
                np.testing.assert_array_equal(compiled(x), function(x), strict=True)


def test_code_of_metaclasses_is_asked(changed: pytest.MonkeyPatch) -> None:
    compiled, x = jit(special), np.ones(4)
    for factor in (3.0, 4.0):
        changed.setattr(Special, "_factor", factor)
        np.testing.assert_array_equal(compiled(x), special(x))
    changed.setattr(Special, "other", 1.0, raising=False)
    np.testing.assert_array_equal(compiled(x), special(x))
    changed.setattr(Meta, "other", property(lambda cls: 2.0), raising=False)
    np.testing.assert_array_equal(compiled(x), special(x))


def test_members_of_enumerations() -> None:
    compiled = jit(colour)
    for x in (0.5, 1.5, 0.5):
        assert compiled(x) is colour(x)


def test_references_are_not_kept() -> None:
    compiled, x = jit(affine), np.ones(4)
    for k in range(50):
        Settings.shift = float(k) + 0.5
        compiled(x)
    table = Base.table
    before = sys.getrefcount(table)
    for _ in range(1000):
        compiled(x)
    assert sys.getrefcount(table) == before
    Settings.shift = 1.0
