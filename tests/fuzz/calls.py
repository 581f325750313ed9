"""Random functions called in many ways: arguments of other dtypes and layouts, by keyword or left
out; with ``try``, closures, dicts and lists as state, early returns out of nested loops, slices
changed under masks, writes that add up.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from tests.fuzz import framework, programs
from tests.fuzz.edge_cases import EdgeWriter
from tests.fuzz.framework import Call, Grammar
from tests.fuzz.programs import (
    DTYPES,
    HELPERS,
    Program,
    write,
)

MORE = '''
from functools import wraps
def scaling(k):
    def scaled(v):
        return v * k
    return scaled
TWICE, THRICE = scaling(2), scaling(3)
TABLE = {TWICE: 1.0, THRICE: 2.0}
def doubled(function):
    @wraps(function)
    def wrapper(v):
        return function(v) * 2
    return wrapper
SQUARE, TURN = doubled(np.square), doubled(np.conjugate)
def counter(start=0):
    total = start
    def add(v, times=1):
        nonlocal total
        total += times
        return v * total
    return add
def first_above(v, limit):
    for row in range(len(v)):
        for k in range(2):
            if v[row].sum() > limit + k:
                return row, k
    return -1, None
def safe(u, v):
    try:
        return u + v
    except ValueError:
        return u * 0
def record(state, key, v):
    state[key] = state.get(key, 0) + v.sum()
    return state
def fill(v, *values, start=0, **rest):
    for k, value in enumerate(values):
        v[start + k] = value
    return v, rest
def walk(v, depth):
    if depth == 0 or len(v) < 2:
        return v
    return walk(v[1:], depth - 1) * 2
'''
RETURN = "pass  # return "  #: a return while the program is written


class CallWriter(EdgeWriter):
    """Writes one program."""

    helpers: ClassVar[str] = HELPERS + MORE
    ranks: ClassVar[tuple[int, ...]] = (1, 1, 1, 2, 2, 3)

    def statement(self, depth: int) -> list[str]:
        if depth or self.rng.random() < 0.4:
            return super().statement(depth)
        kind = self.rng.choice([self.tries, self.tries, self.closures, self.states, self.updates,
                                self.updates, self.leaves, self.views])
        return kind(self.pick_array())

    def tries(self, target: str) -> list[str]:
        """Exceptions that are caught, and what is done nevertheless."""
        rng, name, other = self.rng, self.fresh(), self.pick_array()
        k = rng.choice([0, 1, 3, 9, -12])
        body = rng.choice([
            [f"{name} = {target}[{k}]"], [f"{name} = {target} + {other}"],
            [f"{name} = {target} * 2", f"if {target}.sum() > {k}:", "    raise ValueError('high')"],
            [f"{target}[{k}] = 1", f"{name} = {target} - 1"],
            [f"{target} += {other}", f"{name} = {target}"],
            [f"{name} = {target} @ {other}"], [f"{name} = {{'a': {target}}}['{rng.choice('ab')}']"],
            [f"{name} = {target}.reshape(2, -1)"], [f"{name} = 7 // int({target}.any())"],
        ])
        caught = rng.choice(["IndexError", "ValueError", "(KeyError, TypeError, IndexError)",
                             "Exception", "Exception as e", "ArithmeticError"])
        block = ["try:", *("    " + line for line in body), f"except {caught}:"]
        block.append(f"    {name} = {rng.choice([target + '[:1]', other, '0', 'np.zeros(3)'])}")
        if rng.random() < 0.3:
            block += ["else:", f"    {target}[:1] += 1"]
        if rng.random() < 0.3:
            block += ["finally:", f"    {self.fresh('s')} = {target}.size"]
        return block

    def closures(self, target: str) -> list[str]:
        """Functions within the function."""
        rng, name, other = self.rng, self.fresh(), self.same(target)
        add = self.fresh("f")
        return rng.choice([
            [f"def {add}(z, w={self.number()}):", f"    return z + w * {other}",
             f"{name} = {add}({target})", f"{self.fresh()} = {add}({other}, w=2)"],
            [f"{add} = counter({rng.randint(0, 2)})",
             f"{name} = {add}({target}) + {add}({other}, times=2)"],
            [f"{add} = lambda *q: q[0] - q[-1]", f"{name} = {add}({target}, {other})"],
            [f"{name} = walk({target}, {rng.randint(0, 3)})"],
            [f"{name}, _r = fill({target}, {self.number()}, 2, start={rng.randint(0, 2)}, w=3)"],
            [f"{name} = safe({target}, {self.pick_array()})"],
            [f"{self.fresh('s')}, _k = first_above({target}, {rng.randint(-3, 9)})"],
            [f"{name} = SQUARE({target}) + TURN({target})"],
            [f"{add} = TWICE if {other}.sum() > {self.number()} else THRICE",
             f"{name} = {add}({target}) + TABLE[{add}]"],
            [f"{add} = TWICE if len({other}) % 2 else SQUARE",
             f"{name} = {add}({target}) + ({add} is TWICE)"],
        ])

    def states(self, target: str) -> list[str]:
        """Dicts and lists that loops change."""
        rng, name, other = self.rng, self.fresh(), self.same(target)
        few = rng.randint(0, 3)
        return rng.choice([
            [f"_d = {{'n': 0, 'last': {target}}}", f"for _q in range({few}):", "    _d['n'] += _q",
             "    _d['last'] = _d['last'] + _q", f"{self.fresh('s')} = _d['n']",
             f"{name} = _d['last']"],
            ["_l = []", f"for _q in range(len({target})):", f"    _l.append({target}[_q] * 2)",
             f"{name} = np.array(_l)"],
            ["_l = []", f"for _q in {target}:", f"    if _q.sum() > {rng.randint(-2, 2)}:",
             "        _l.append(_q.sum())", f"{self.fresh('s')} = len(_l)",
             f"{name} = np.array(_l)"],
            [f"_l = [{target}, {other}]", f"while len(_l) < {few + 1}:",
             "    _l.append(_l[-1] + _l[-2])", f"{name} = _l.pop()"],
            [f"_d = record(record({{}}, 'a', {target}), '{rng.choice('ab')}', {other})",
             f"{self.fresh('s')} = _d['a']"],
            [f"_u, *_v = {target}, {other}, 3", f"{name} = _v[0] if len(_v) > 1 else _u"],
        ])

    def updates(self, target: str) -> list[str]:
        """Parts of an array that change, by each other."""
        rng, other, x = self.rng, self.same(target), self.number()
        op = rng.choice(["+", "-", "*", "/", "//", "%"])
        name = self.fresh()
        return rng.choice([
            [f"{target}[{other} > {x}] {op}= {rng.choice(['2', '0.5', x])}"],
            [f"{target}[1:][{other}[1:] > {x}] = {x}"],
            [f"{target}[1:] {op}= {target}[:-1]"], [f"{target}[::-1][:-1] {op}= {target}[1:]"],
            [f"{target}[...] = {target}[::-1]"], [f"{target}[::2] = {target}[::2][::-1]"],
            [f"{name} = {target}[::-1]", f"{name}[1:] {op}= {name}[:-1]"],
            [f"{name} = {target}[1:-1]", f"{name} {op}= {x}", f"{name}[{name} > 1] = 0"],
            [f"np.{rng.choice(['add', 'subtract', 'maximum', 'multiply'])}.at({target}, "
             f"np.arange(len({target})) // 2, {rng.choice([x, other])})"],
            [f"np.add({target}[1:], {target}[:-1], out={target}[1:])"],
            [f"np.multiply({target}, 2, out={target}, where={other} > {x})"],
            [f"{target}.T[...] {op}= 2"], [f"{target}[None][0, 1:] {op}= {x}"],
            [f"{target}, {other} = {other}, {target}", f"{target}[:1] = 5"],
        ])

    def leaves(self, target: str) -> list[str]:
        """Early returns out of nested loops."""
        rng = self.rng
        limit = rng.randint(-5, 30)
        test = rng.choice([f"{target}[_i].sum() > {limit} + _j", f"_i * _j > {limit}",
                           f"{target}[_i - _j].any() and {limit} < _i"])
        result = rng.choice([f"{target}, _i, _j", f"{target}[_i:]", "_i", f"{target}"])
        change = rng.choice([[], [f"        {target}[_i] += 1"], [f"        {target}[0] = _j"]])
        return [f"for _i in range(len({target})):", f"    for _j in range({rng.randint(1, 3)}):",
                *change, f"        if {test}:", f"            {RETURN}{result}"]

    def views(self, target: str) -> list[str]:
        """Views of views."""
        rng, name = self.rng, self.fresh()
        steps = "".join(rng.choice(["[::-1]", "[1:]", "[::2]", ".T", "[:-1]", "[..., ::-1]",
                                    ".reshape(-1)", "[None]", ".real", "[...]"])
                        for _ in range(rng.randint(1, 4)))
        return [f"{name} = {target}{steps}", *rng.choice([
            [], [f"{name} += 1"], [f"{name}[:1] = 0"], [f"{name}[...] = {name}[::-1]"]])]


def alternative(program: Program, rng: random.Random) -> Program:
    """The same function with arguments of other types, or that share memory."""
    specs: list[tuple[str, Any]] = []
    viewed = {spec[1] for _, spec in program.specs if spec[0] == "view"}
    for name, spec in program.specs:
        if spec[0] == "array" and specs and specs[0][1][0] == "array" and rng.random() < 0.15:
            view = rng.choice(["v", "v", "v[::-1]", "v[1:]", "v[:1]", "v.T", "v[...]"])
            spec = ("view", specs[0][0], view)
        elif spec[0] == "array" and name not in viewed and specs and rng.random() < 0.08:
            spec = ("number", rng.choice([2.0, np.float32(0.5), 3, (1.5, 2), None, np.array(2.0)]))
        elif spec[0] == "array" and rng.random() < 0.7:
            layout = rng.choice(CallWriter.layouts)
            spec = ("array", rng.choice(DTYPES), spec[2], layout)
        elif spec[0] == "number" and rng.random() < 0.7:
            spec = ("number", rng.choice([1, 2.5, -2, np.float32(0.5), np.int8(3), True, 0]))
        specs.append((name, spec))
    return replace(program, specs=specs)


def written(seed: int, kind: type[CallWriter] = CallWriter) -> Program:
    """The program of a seed; its numbers have defaults."""
    program = write(seed, kind)
    arrays = [name for name, spec in program.specs if spec[0] != "number"]
    numbers = [f"{name}={spec[1]!r}" for name, spec in program.specs if spec[0] == "number"]
    head, _, body = program.source.partition("\ndef f(")
    body = body.partition("\n")[2].replace(RETURN, "return ")
    if numbers and seed % 2:
        numbers.insert(seed % len(numbers), "*")
    names = ", ".join([*arrays, *numbers])
    program.source = f"{head}\ndef f({names}):\n{body}"
    return program


def calls(program: Program) -> framework.Program:
    """The program with calls of several kinds of arguments, each given in several ways."""
    rng = random.Random(program.seed)
    others = [program, program, *(alternative(program, rng) for _ in range(3)), program]

    def arguments(variant: int, space: dict[str, Any]) -> Call:
        how = random.Random(program.seed + variant // 2)
        return given(others[variant].arguments((7, 7, 7, 4, 7, 12)[variant], variant), how)

    return replace(programs.calls(program), args=arguments, calls=len(others))


def given(arguments: dict[str, Any], rng: random.Random) -> Call:
    """Some arguments by keyword, and some left out."""
    positional, named = [], {}
    for name, value in arguments.items():
        if isinstance(value, np.ndarray) and not named and rng.random() < 0.8:
            positional.append(value)
        elif isinstance(value, np.ndarray) or rng.random() < 0.7:
            named[name] = value
    return Call(positional, named)


GRAMMAR = Grammar(lambda seed: calls(written(seed)))
