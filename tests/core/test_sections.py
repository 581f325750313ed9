"""Code that may interrupt the compiler finds out that it does."""

from __future__ import annotations

import _thread
import sys
from types import SimpleNamespace

import pytest

from npcompile.core import aside, sections


def test_a_thread_of_the_compiler_is_in_a_section_from_its_first_instruction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A garbage collection there may call functions whose locks the waiting thread holds."""
    found = []

    def get_ident() -> int:
        if sys._getframe(1).f_code is aside._Task.__call__.__code__:
            found.append(sections.inside())
        return _thread.get_ident()

    watched = SimpleNamespace(**{**vars(_thread), "get_ident": get_ident})
    monkeypatch.setattr(aside, "_thread", watched)
    assert sections.section(lambda: aside.aside(lambda: 3))() == 3
    assert found == [True]
