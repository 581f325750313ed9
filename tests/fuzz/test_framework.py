"""Random programs are compared, shrunk and counted; every module here is a grammar."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests import fuzz
from tests.fuzz import framework
from tests.fuzz.framework import Grammar, Program, Rules, Way, campaign, run, shrunk

SOURCE = """
def f(x, log):
    y = x * 2.0
    total = 0.0
    for k in range(3):
        if k > 0:
            total = total + (y - k).sum()
            log.append(k)
    z = np.sqrt(y + 1.0)
    return z, total
"""


def program(seed: int = 1, source: str = SOURCE) -> Program:
    return Program(source, lambda call, space: [np.arange(3.0) + call, []], seed)


def forgetful(function: Any) -> Any:
    """A compiler that loses what is appended to lists."""
    return lambda x, log: function(x, list(log))


def test_a_program_runs_in_all_ways() -> None:
    counts: Counter[str] = Counter()
    assert run(program(), framework.BOTH, counts) == ""
    assert counts["calls"] == 8 and counts["compiled"] == 1


def test_a_difference_is_found_and_the_program_shrinks() -> None:
    ways = {"forgetful": Way(forgetful)}
    text = run(program(), ways, Counter())
    assert text.startswith("call 0, forgetful: argument 1[0]")
    small = shrunk(program(), lambda p: run(p, ways, Counter()))
    lines = small.source.splitlines()
    assert len(lines) <= 4 and any("log.append" in line for line in lines)


def test_globals_are_compared() -> None:
    source = "SEEN = []\ndef f(x, log):\n    SEEN.append(x.sum())\n    return x + 1.0\n"
    apart: list[Any] = []

    def unseen(function: Any) -> Any:
        def g(x: Any, log: Any) -> Any:
            kept = list(function.__globals__["SEEN"])
            result = function(x, log)
            function.__globals__["SEEN"][:] = kept
            return result
        apart.append(g)
        return g

    assert "world['SEEN']" in run(program(1, source), {"unseen": Way(unseen)}, Counter())
    assert run(program(1, source), framework.BOTH, Counter()) == ""


def test_a_campaign_prints_the_first_differences(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = Grammar(program, {"forgetful": Way(forgetful)})
    assert campaign(wrong, 5, 2) == 2
    text = capsys.readouterr().out
    assert "seed 5, call 0, forgetful" in text and "2 programs, 2 differ" in text
    assert campaign(Grammar(program), 5, 1) == 0


def test_rules_indent_and_end() -> None:
    rules = Rules({
        "block": ["{line}", (2.0, "{line}\n{block}")],
        "line": ["x = {number}", "for i in range(3):\n    {block}"],
        "number": ["1", "({number} + {number})"],
    })
    for seed in range(200):
        compile(rules.text(random.Random(seed), "block"), "text", "exec")


def test_modules_beside_the_framework_are_grammars() -> None:
    there = {path.stem for path in fuzz.HERE.glob("*.py") if not path.stem.startswith("test_")}
    assert there - {*fuzz.APART} == {*fuzz.names()}


@pytest.mark.parametrize("name", fuzz.names())
def test_every_module_is_a_grammar(name: str) -> None:
    if name == "tensors":
        pytest.importorskip("torch", reason="random functions of tensors need torch")
    assert isinstance(fuzz.grammar(name), Grammar)
    assert fuzz.about(name)
