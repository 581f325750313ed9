"""Data classes that are quickly made."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from npcompile.core.records import field, field_names, record, replace


@record
class Point:
    """A point."""

    x: int
    y: float = 0.0
    notes: list[str] = field(default_factory=list)

    @property
    def sum(self) -> float:
        return self.x + self.y


@record
class Alone:
    value: Any


@record(eq=False)
class Thing:
    name: str


@record(eq=False, frozen=False)
class Open:
    count: int = field(default=1, compare=False)


@record
class Nothing:
    pass


def test_fields() -> None:
    assert Point(1) == Point(1, 0.0, []) == Point(x=1)
    assert Point(1, 2.0).sum == 3.0
    assert Point(1).notes is not Point(1).notes
    assert repr(Point(1, 2.0)) == "Point(x=1, y=2.0, notes=[])"
    assert (Point.__doc__, Point.__name__, Point.__module__) == ("A point.", "Point", __name__)
    assert not hasattr(Point(1), "__dict__")
    assert field_names(Point(1)) == ("x", "y", "notes")
    assert field_names(1) is None
    opened = Open()
    opened.count += 1
    assert (opened.count, Open().count) == (2, 1)
    match Point(3, 4.0):
        case Point(x, y):
            assert (x, y) == (3, 4.0)
    without: Any = Point
    with pytest.raises(TypeError, match="x"):
        without()


def test_equality() -> None:
    nan = float("nan")
    assert Alone(nan) == Alone(nan)
    assert Alone(1) != Alone(2)
    assert Alone(1) != 1
    assert hash(Alone("a")) == hash(Alone("a"))
    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(Nothing())
    assert Thing("a") != Thing("a")
    assert len({Thing("a"), Thing("a")}) == 2


def test_copies() -> None:
    point = Point(1, 2.0)
    assert replace(point, y=5.0) == Point(1, 5.0)
    assert replace(point) is not point
    for made in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
        assert made == point
        assert type(made) is Point
    with pytest.raises(AssertionError):
        replace(point, z=1)
