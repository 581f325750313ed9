"""Python's garbage collector and what compiling leaves behind."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from npcompile.core.collector import paused


class Cycle:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _running() -> Iterator[None]:
    assert gc.isenabled()
    yield
    assert gc.isenabled()


def _old(thing: object) -> bool:
    return any(found is thing for found in gc.get_objects(2))


def test_garbage_of_the_program_does_not_get_old() -> None:
    garbage = weakref.ref(Cycle())
    with paused():
        assert garbage() is None
        assert not gc.isenabled()


def test_what_is_left_counts_as_old_and_garbage_is_gone() -> None:
    with paused():
        left, garbage = [object()], weakref.ref(Cycle())
        assert garbage() is not None
    assert garbage() is None
    assert _old(left)


def test_nothing_frozen_thaws() -> None:
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with paused():
            left = [object()]
        assert gc.get_freeze_count() >= frozen > 0
        assert left
    finally:
        gc.unfreeze()


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        with paused():
            garbage = weakref.ref(Cycle())
        assert not gc.isenabled()
        assert garbage() is not None
    finally:
        gc.enable()
