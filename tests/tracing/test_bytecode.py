"""Decoded bytecode agrees with ``dis``; blocks, loops and liveness are what they should be."""

from __future__ import annotations

import dis
import inspect
import json.decoder
import random
import textwrap
from types import CodeType

import pytest

from npcompile.frontend import bytecode
from npcompile.frontend.bytecode import analyse


def codes(module):
    work = [compile(inspect.getsource(module), module.__file__, "exec")]
    while work:
        code = work.pop()
        yield code
        work += [c for c in code.co_consts if isinstance(c, CodeType)]


@pytest.mark.parametrize("module", [random, textwrap, json.decoder], ids=lambda m: m.__name__)
def test_instructions_are_those_of_dis(module):
    for code in codes(module):
        found = bytecode._decode(code)
        bytecode._targets(found)
        mine = {i.after: i for i in found}
        expected = [i for i in dis.get_instructions(code)
                    if i.opname not in ("CACHE", "EXTENDED_ARG", "PRECALL", "KW_NAMES")]
        assert [i.op for i in found] == [i.opname for i in expected]
        for one, other in zip(found, expected):
            assert one.arg == (other.arg or 0) and one.at == other.offset
            assert one.offset <= one.at < one.after
            if one.jumps and one.op != "FOR_ITER":
                assert one.target == other.argval
        assert len(mine) == len(found)
        table = dis._parse_exception_table(code)  # type: ignore[attr-defined]
        assert [(p.start, p.end, p.handler) for p in bytecode._exception_table(code)] == [
            (e.start, e.end, e.target) for e in table
        ]
        assert analyse(code).names == tuple(
            code._varname_from_oparg(k) for k in range(len(analyse(code).names))
        )


def test_every_jump_starts_a_block():
    for code in codes(random):
        found = analyse(code)
        for block, targets in found.successors.items():
            assert all(t in found.blocks for t in targets), (code, block)
        assert found.reducible


def test_loops_and_dominators():
    def f(n):
        for i in range(n):
            while i > 3:
                i -= 1
                if i == 5:
                    break
        return n

    found = analyse(f.__code__)
    assert len(found.loops) == 2
    outer, inner = sorted(found.loops.values(), key=len, reverse=True)
    assert inner < outer
    assert found.dominated[found.entry] == set(found.order)
    for header, body in found.loops.items():
        assert body <= found.dominated[header]


def test_liveness_sees_handlers():
    def f(x, spare):
        a = 1
        try:
            b = x + 1
        except ValueError:
            b = a
        return b

    found = analyse(f.__code__)
    protected = next(
        b for b, body in found.blocks.items() if body and found.handlers(
            body[0].offset, body[-1].after) and b in found.order
    )
    names = {found.names[k] for k in found.live[protected]}
    assert "spare" not in names and "x" in names
    calls = [i for i in found.blocks[protected] if i.op == "BINARY_OP"]
    live = {found.names[k] for k in found.live_at(protected, calls[0].offset)}
    assert "a" in live and "spare" not in live


def test_blocks_that_certainly_raise():
    def f(x):
        if x:
            raise ValueError(f"no {x}")
        if x > 1:
            for k in x:
                raise KeyError(k)
        return x

    found = analyse(f.__code__)
    ends = {found.blocks[b][-1].op for b in found.raises if found.blocks[b]}
    assert ends == {"RAISE_VARARGS"} and found.entry not in found.raises
