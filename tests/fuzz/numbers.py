"""Random programs on numbers: Python's and NumPy's side by side, integers that overflow, zeros as
divisors, NaN to integers, shifts, powers, conversions, loops with several exits, ``try``, regions
of ``np.errstate``, elements of arrays of every dtype.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tests.fuzz.framework import Grammar
from tests.fuzz.programs import DTYPES, Program, Writer, _try, calls, make

INTS = (0, 1, -1, 2, 3, 5, 7, -4, 10, 100, -128, 255, 256, 2**31, -(2**31), 2**53 + 1, 2**62,
        -(2**63), 2**63 - 1, 2**63, 2**64, -(2**70))
FLOATS = (0.0, -0.0, 1.0, 0.5, -2.5, 3.0, 0.1, -7.0, 1e10, 1e300, -1e308, 5e-324, math.inf,
          -math.inf, math.nan, 2.0**63, 2.0**31, 300.5, 1e19)
NUMPYS: tuple[Callable[[random.Random], Any], ...] = tuple(
    (lambda rng, dtype=dtype: element(dtype, rng))
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "int64", "uint64",
                  "float16", "float32", "float32", "float64", "float64", "complex64", "complex128",
                  "bool")
)
KINDS = ("int8", "uint8", "int16", "uint32", "int32", "int64", "uint64", "float16", "float32",
         "float64", "complex64", "bool_")


def element(dtype: str, rng: random.Random) -> Any:
    """A NumPy number, often at the ends of its range."""
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        ends = np.iinfo(kind)
        low, high = int(ends.min), int(ends.max)
        return kind.type(rng.choice([0, 1, 2, 3, 5, 7, low, high, low + 1, high - 1, high // 2]))
    if kind.kind == "b":
        return np.bool_(rng.random() < 0.5)
    if kind.kind == "c":
        return kind.type(complex(rng.randint(-3, 3) / 2, rng.randint(-3, 3)))
    with np.errstate(over="ignore"):
        return kind.type(rng.choice(FLOATS))


def value(kind: str, rng: random.Random) -> Any:
    """A number of a kind."""
    if kind == "int":
        return rng.choice(INTS[:10] if rng.random() < 0.7 else INTS)
    if kind == "float":
        return rng.choice(FLOATS[:9] if rng.random() < 0.6 else FLOATS)
    if kind == "bool":
        return rng.random() < 0.5
    if kind == "complex":
        return complex(rng.randint(-3, 3) / 2, rng.randint(-3, 3))
    return NUMPYS[int(kind)](rng)


@dataclass
class NumberProgram(Program):
    """Its numbers are of the same kinds in the first three calls, then of others."""

    def arguments(self, size: int, variant: int) -> dict[str, Any]:
        rng = random.Random(f"{self.seed} {variant}")
        found: dict[str, Any] = {}
        for name, spec in self.specs:
            if spec[0] == "array":
                found[name] = make(spec, size, np.random.default_rng([self.seed, variant]))
            else:
                kind = spec[0] if variant < 3 or rng.random() < 0.5 else _kind(rng)
                found[name] = value(kind, rng)
        return found


def _kind(rng: random.Random) -> str:
    return rng.choice(["int", "int", "int", "float", "float", "bool", "complex"]
                      + [str(k) for k in range(len(NUMPYS))])


@dataclass
class NumberWriter(Writer):
    """Writes one program."""

    helpers: ClassVar[str] = """
from math import *
import math
def collatz(n, limit=30):
    for k in range(limit):
        if n <= 1:
            return k
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    return -1
def power(base, n):
    result = 1
    while n > 0:
        if n & 1:
            result = result * base
        base = base * base
        n >>= 1
    return result
def real(function, v):  # those of complex numbers are right within an ulp
    return function(v.real if isinstance(v, (complex, np.complexfloating)) else v)
def clamp(v, low=-5, high=5):
    return low if v < low else high if v > high else v
"""
    depth: int = field(default=0)

    def scalars(self) -> list[str]:
        return self.names(lambda v: isinstance(v, (int, float, complex, np.generic)))

    def leaf(self) -> str:
        rng = self.rng
        roll = rng.random()
        if roll < 0.7:
            found = self.scalars()
            return rng.choice(found + found[-3:])
        if roll < 0.8:
            return f"a[{rng.choice(['0', '1', '-1', '2'])}]"
        if roll < 0.97:
            return rng.choice(["0", "1", "2", "3", "-1", "7", "0.5", "2.0", "-3", "0.1", "255",
                               "-2.5", "10", "1000"])
        return rng.choice(["2**40", "1e300", "2**63", "-2**31", "float('nan')", "float('inf')",
                           "True", "1j", "10**18"])

    def low_bits(self) -> str:
        """Whole numbers of which in the end, most often, only low bits count."""
        rng = self.rng
        made = f"int({self.leaf()})" if rng.random() < 0.8 else self.leaf()
        for _ in range(rng.randint(1, 4)):
            other = rng.choice(["3", "31", "1103515245", "2**61 + 7", "-5", f"int({self.leaf()})",
                                f"len(a[{self.leaf()}:])" if rng.random() < 0.2 else "12345"])
            made = rng.choice([f"({made} * {other})", f"({made} + {other})", f"({other} - {made})",
                               f"({made} ^ {other})", f"({made} << {rng.randint(0, 62)})",
                               f"(~{made})", f"({made} | {other})", f"({made} & {other})",
                               f"({made} >> 17)" if rng.random() < 0.3 else f"({made} * 33)",
                               f"np.int64({made})" if rng.random() < 0.2 else f"({made} + 1)"])
        mask = rng.choice(["0xFF", "0xFFFFFFFF", "0x7FFFFFFF", "2**63 - 1", "1", "-16"])
        return rng.choice([f"({made} & {mask})", f"({mask} & {made})", f"({made} % 2**32)",
                           f"({made} % 4096)", f"({made} % 1000003)", made])

    def expression(self, depth: int = 0) -> str:
        rng = self.rng
        roll = rng.random()
        x = self.leaf() if depth > 1 or rng.random() < 0.7 else self.expression(depth + 1)
        y = self.leaf() if depth > 0 or rng.random() < 0.8 else self.expression(depth + 1)
        if depth > 2 or roll < 0.05:
            return x
        if roll < 0.38:
            op = rng.choice(["+", "-", "*", "*", "/", "//", "%", "//", "%", "-", "+"])
            return f"({x} {op} {y})"
        if roll < 0.43:
            return self.low_bits()
        if roll < 0.46:
            op = rng.choice(["<<", ">>", "&", "|", "^"])
            return f"({x} {op} min({y}, 66))" if op == "<<" else f"({x} {op} {y})"
        if roll < 0.50:
            few = rng.choice(["0", "1", "2", "-1", "2.0", "0.5"])  # others are right within an ulp
            base = f"({x}).real" if few == "0.5" else x  # NumPy's root of z, but power of (z, 0.5)
            if rng.random() < 0.3:
                x, few = f"round({x})", rng.choice(["3", "5", "62"])
            return rng.choice([f"{x} ** {few}", f"2 ** min(({x}).real, 66)", f"pow({x}, {few})",
                               f"(-1) ** min(({x}).real, 9)", f"pow({x}, {few}, 7)",
                               f"np.power({base}, {few})", f"0 ** {x}"])
        if roll < 0.56:
            return rng.choice([f"divmod({x}, {y})[0]", f"divmod({x}, {y})[1]",
                               f"np.divmod({x}, {y})[1]", f"np.floor_divide({x}, {y})",
                               f"np.remainder({x}, {y})", f"np.fmod({x}, {y})",
                               f"math.fmod({x}, {y})", f"np.divide({x}, {y})"])
        if roll < 0.62:
            op = rng.choice(["<", "<=", "==", "!=", ">", ">="])
            return rng.choice([f"({x} {op} {y})", f"({x} {op} {y} < {self.leaf()})",
                               f"(0 <= {x} < {y})", f"(not {x})", f"({x} and {y})",
                               f"({x} or {y})", f"({x} if {y} else {self.leaf()})",
                               f"({x} is {y})" if rng.random() < 0.1 else f"({x} {op} {y})",
                               f"({x} in ({y}, 1, 2))", f"({x} not in [{y}, {self.leaf()}])",
                               f"(({x}, {y}) == ({self.leaf()}, {y}))",
                               f"([{x}, 1] != [{y}, {self.leaf()}])",
                               f"(({x} {op} {y}) is {rng.choice(['True', 'False'])})"])
        if roll < 0.76:
            return rng.choice([
                f"int({x})", f"float({x})", f"bool({x})", f"complex({x})", f"real(abs, {x})",
                f"-{x}", f"+{x}", f"~{x}", f"round({x})", f"round({x}, 1)", f"round({x}, -1)",
                f"min({x}, {y})", f"max({x}, {y}, 1)", f"sum(({x}, {y}))", f"math.floor({x})",
                f"math.ceil({x})", f"math.trunc({x})", f"math.gcd(int({x}), 6)",
                f"math.isnan({x})", f"math.isfinite({x})", f"math.copysign({x}, {y})",
                f"math.sqrt({x})", f"math.isqrt(abs(int({x})))", f"math.fabs({x})",
                f"math.ldexp({x}, 3)", f"math.frexp({x})[1]", f"math.modf({x})[0]",
                f"math.isclose({x}, {y})", f"clamp({x})", f"collatz({x})", f"power({x}, 3)",
                f"power({x}, int({y}) % 20)", f"clamp({x}, high={y})", f"math.hypot({x}, 0)",
                f"math.comb(7, int({x}) % 8)", f"math.factorial(int({x}) % 25)",
            ])
        if roll < 0.90:
            kind = rng.choice(KINDS)
            return rng.choice([
                f"np.{kind}({x})", f"np.{kind}({x})", f"np.array({x})[()]",
                f"real(np.abs, {x})", f"real(np.sqrt, {x})", f"np.sign({x})",
                f"np.isnan({x})", f"np.where({x} > 0, {x}, {y})",
                f"np.maximum({x}, {y})", f"np.minimum({x}, {y})", f"np.floor({x})",
                f"np.array([{x}, {y}]).sum()", f"np.full(3, {x})[1]", f"np.clip({x}, 0, 5)",
                f"np.negative({x})", f"np.square({x})", f"np.add({x}, {y})", f"np.rint({x})",
                f"np.multiply({x}, {y})", f"np.subtract({x}, {y})", f"np.round({x}, 1)",
                f"np.left_shift({x}, {y})", f"np.bitwise_and({x}, {y})", f"np.invert({x})",
                f"np.logical_xor({x}, {y})", f"np.equal({x}, {y})", f"np.conj({x})",
                f"np.real({x})", f"np.asarray({x}).astype(np.{kind})[()]", f"np.signbit({x})",
                f"np.isclose({x}, {y})", f"np.reciprocal({x})", f"np.copysign({x}, {y})",
                f"np.array([{x}, {y}], dtype=np.{kind})[0]", f"np.mod({x}, {y})",
                f"np.gcd({x}, {y})", f"np.float_power({x}, 2)", f"real(np.absolute, {x})",
            ])
        if roll < 0.95:
            return x + rng.choice([
                ".real", ".imag", ".conjugate()", ".is_integer()", ".item()", ".bit_length()",
                ".astype(np.int32)", ".dtype.itemsize", ".astype(float)", ".ndim", ".denominator",
                ".bit_count()", ".dtype.kind", ".size", ".sum()", ".round(1)", ".max()",
            ])
        i = rng.choice([x, f"int({x}) % 5", "0", "-1"])
        return rng.choice([
            f"a[{i}]", f"a[{i}:].sum()", f"(a[:{i}] > {y}).sum()", f"len(a[{i}:])",
            f"(a + {x}).sum()", f"(a * {x})[0]", f"({x} - a)[1]", f"(a // {x})[2]", "a.max()",
            f"(a % {x})[0]", f"(a == {x}).any()", f"(a < {x}).sum()", f"({x} // a)[1]",
            f"np.minimum(a, {x})[0]", f"a.sum() + {x}", f"np.where(a > {x}, a, {y})[1]",
            f"({x} ** a)[0]" if rng.random() < 0.1 else f"(a & {x})[1]",
            f"np.arange(min({x}, 999))[-1]",
            f"isinstance({x}, int)", f"type({x}) is float", f"(a + {x}).dtype.itemsize",
            f"np.float32({x}) + {y}", f"isinstance({x}, (float, np.floating))",
        ])

    def change(self) -> str:
        """A statement on one line."""
        rng = self.rng
        roll = rng.random()
        if roll < 0.55:
            return f"{self.fresh('s')} = {self.expression()}"
        if roll < 0.75:
            found = [n for n in self.scalars() if n not in ("_k",)]
            op = rng.choice(["+=", "-=", "*=", "//=", "%=", "/=", ">>=", "&=", "|=", "^="])
            return f"{rng.choice(found)} {op} {self.leaf()}"
        x, i = self.leaf(), rng.choice(["0", "1", "-1", "2", self.leaf()])
        return rng.choice([
            f"a[{i}] = {x}", f"a[{i}] += {x}", f"a[{i}] -= {x}", f"a[{i}] *= {x}", f"a += {x}",
            f"a[1:] = {x}", f"a[{i}] //= {x}", f"a *= {x}", f"a[a > {x}] = {self.leaf()}",
            f"a[{i}], a[0] = a[0], a[{i}]", f"a[:2] -= {x}", f"a[::-2] = {x}", f"a[...] %= {x}",
            f"a[:3] <<= {x}", f"a.fill({x})", f"a[a != {x}] += 1",
        ])

    def statement(self, depth: int) -> list[str]:
        rng = self.rng
        roll = rng.random()
        if depth > 1 or roll < 0.62:
            return [self.change()]
        body = [line for _ in range(rng.randint(1, 2)) for line in self.statement(depth + 1)]
        inner = ["    " + line for line in body]
        if roll < 0.72:
            name = rng.choice(self.scalars())
            step = rng.choice([f"{name} = {name} * {rng.choice(['2', '3', '-7', '1.5'])}",
                               f"{name} += {self.leaf()}", f"{name} = {name} // 2 + 1",
                               f"{name} = {name} * {name} % 1000003 + 1", f"{name} -= {name} / 3",
                               f"{name} = {name} * 31 + int(a[0])",
                               f"{name} = ({name} * 1103515245 + 12345) & 0x7FFFFFFF",
                               f"{name} ^= ({name} << 13) & 0x7FFFFFFF",
                               f"{name} = ({name} * 33 ^ int(a[_k % 3])) % 2**32"])
            head = rng.choice([f"for _k in range({rng.randint(0, 40)}):",
                               f"for _k in range(int({self.leaf()}) % 9):", "for _k in a:",
                               "for _k in range(5, -5, -3):", "for _k in (1, 2.5, True):"])
            leave = rng.choice([[], [f"    if {name} > {self.leaf()}: break"],
                                [f"    if {self.expression(2)}: continue"]])
            return [head, *leave, "    " + step, *(inner if rng.random() < 0.5 else []),
                    *(["else:", f"    {self.fresh('s')} = -1"] if rng.random() < 0.2 else [])]
        if roll < 0.78:
            count, name = self.fresh("n"), self.fresh("s")
            return [f"{count} = 0; {name} = {self.leaf()}",
                    f"while {name} {rng.choice(['<', '>', '!='])} {self.leaf()}:",
                    f"    {count} += 1",
                    f"    if {count} > {rng.randint(1, 70)}: break",
                    f"    {name} = {name} {rng.choice(['+', '*', '-', '//'])} {self.leaf()}",
                    *rng.choice([[], [f"    if {name} == 0: a[0] = 1; break"],
                                 [f"    if {name} % 2: continue", f"    {name} = {name} + 1"]])]
        if roll < 0.86:
            caught = rng.choice(["ZeroDivisionError", "OverflowError", "(ValueError, TypeError)",
                                 "Exception", "ArithmeticError", "IndexError", "Exception as e"])
            after = rng.choice([[], ["else:", f"    {self.fresh('s')} = 1"],
                                ["finally:", f"    {self.change()}"]])
            name = self.fresh("s")
            return ["try:", f"    {name} = {self.expression()}", *inner,
                    f"except {caught}:", f"    {name} = {rng.choice(['-1', 'a[0]', '0.5'])}",
                    *after]
        if roll < 0.92:
            how = rng.choice(["all='ignore'", "over='ignore'", "divide='raise'", "all='raise'",
                              "invalid='ignore', divide='ignore'", "over='raise'", "all='warn'"])
            return [f"with np.errstate({how}):", *inner]
        block = [f"if {self.expression(1)}:", *inner]
        if rng.random() < 0.5:
            block += ["else:", *("    " + line for line in self.statement(depth + 1))]
        return block

    def result(self) -> str:
        known = self.scalars()
        picked = [*self.rng.sample(known, min(len(known), self.rng.randint(1, 5))), "a"]
        text = ", ".join(picked[: self.rng.randint(1, 6)])
        form = self.rng.choice(["({},)", "({},)", "[{}]", "str([{}])", "{{'found': ({},)}}"])
        return form.format(text)


def written(seed: int) -> Program:
    """The program of a seed."""
    rng = random.Random(seed)
    names = "xyk"[: rng.randint(1, 3)]
    dtype = rng.choice([*DTYPES, "uint8", "int64", "int8", "uint32", "complex64"])
    specs: list[tuple[str, Any]] = [("a", ("array", dtype, 1, "c"))]
    specs += [(name, (_kind(rng),)) for name in names]
    program = NumberProgram(seed, "", specs)
    writer = NumberWriter(rng, program.arguments(7, 0))
    helpers: dict[str, Any] = {"np": np}
    exec(writer.helpers, helpers)
    for _ in range(rng.randint(2, 8)):
        if not _try(writer, helpers, writer.statement(0)):
            break
    body = "\n".join("    " + line for line in [*writer.lines, f"return {writer.result()}"])
    arguments = ", ".join(name for name, _ in specs)
    program.source = f"{writer.helpers}\ndef f({arguments}):\n{body}\n"
    return program


#: the numbers of the first calls are of the same kinds
SIZES = (7, 7, 5, 7, 6, 7, 5)
GRAMMAR = Grammar(lambda seed: calls(written(seed), SIZES))
