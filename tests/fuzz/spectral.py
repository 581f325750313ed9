"""Random spectral programs: transforms of rows, columns and several axes between array operations,
casts, batches of small equations and products.

Plain Python calls the functions of ``npcompile.fft`` and ``npcompile.linalg`` one by one, compiled
code fuses them with what stands around: both give the same bits, for rows of all kinds of lengths,
on one to three threads.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import npcompile
from npcompile.runtime.threads.pool import get_num_threads, set_num_threads
from tests.fuzz.framework import Grammar, Program

LENGTHS = (1, 2, 3, 5, 8, 9, 15, 16, 17, 30, 31, 34, 64, 100, 128)
CHARS = "ddDDfF"


class Writer:
    """Writes the program of a seed over complex arrays ``z``, real ones ``x``, and a row ``k``."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.names = {"z": ["a"], "x": ["b"]}
        lines = ["def f(a, b, k, E):"]
        lines += ["    " + self.statement(number) for number in range(self.rng.randint(2, 7))]
        results = [*self.names["z"][-2:], *self.names["x"][-2:]]
        self.source = "\n".join([*lines, f"    return {', '.join(results)}"]) + "\n"

    def pick(self, *options: str) -> str:
        return self.rng.choice(options)

    def of(self, kind: str) -> str:
        return self.rng.choice(self.names[kind])

    def norm(self) -> str:
        return self.pick("", "", "", ", norm='ortho'", ", norm='forward'")

    def complex_value(self) -> str:
        z, x, axis = self.of("z"), self.of("x"), self.pick("", "", "", ", axis=0", ", axis=-1")
        match self.rng.randint(0, 12):
            case 0 | 1 | 2:
                return f"F.{self.pick('fft', 'ifft')}({self.pick(z, z, x)}{axis}{self.norm()})"
            case 3:
                n = self.pick("a.shape[-1]", "2 * a.shape[-1]", "12")
                return f"F.fft({self.pick(z, x)}, {n}{self.norm()})[..., :a.shape[-1]]"
            case 4:
                return f"F.{self.pick('fft2', 'ifft2')}({z}{self.norm()})"
            case 5:
                return f"{z} * {self.pick('k', '1j', '0.5', x)}"
            case 6:
                return f"{z} {self.pick('+', '-')} {self.pick(self.of('z'), x)}"
            case 7:
                return f"F.rfft({x}{self.norm()})[..., :1] * {z}"
            case 8:
                return self.of_lengths(z)
            case 9:
                return f"{z}.astype({self.pick('a.dtype', repr('F'), repr('D'))})"
            case 10:
                return self.solved(z, x)
            case 11:
                return f"N.matmul({z}, {self.pick('E', 'E * 1j', 'E.T')})[..., :1] * {z}"
            case _:
                return f"{z}.conj()"

    def real_value(self) -> str:
        z, x = self.of("z"), self.of("x")
        match self.rng.randint(0, 10):
            case 7:
                change = self.pick("", " * 0.5")
                return f"F.irfft2(F.rfft2({x}{self.norm()}){change}, {x}.shape[-2:])"
            case 8:
                cast = self.pick("'f'", "'d'", "b.dtype", "'e'")
                return f"{x}.astype({cast})"
            case 9:
                return f"F.ifft(({x} * 8).astype({self.pick(repr('h'), repr('q'))})).real"
            case 10:
                return self.solved(x, x)
            case 6:
                return f"F.irfft(F.rfft({x}, axis=0{self.norm()}) * k, {x}.shape[0], axis=0)"
            case 0 | 1:
                change = self.pick("", "", " * 0.5", " * k[:1]")
                return f"F.irfft(F.rfft({x}){change}, {x}.shape[-1]{self.norm()})"
            case 2:
                return f"{z}.{self.pick('real', 'imag')}{self.pick('', ' * 2', '.copy()')}"
            case 3:
                return f"{x} {self.pick('+', '-', '*')} {self.pick(self.of('x'), 'k', '1.5')}"
            case 4:
                return f"F.hfft({z})[..., :1] * {x}"
            case _:
                return f"F.ifft({self.pick('k', '1j')} * F.fft({x})).real"

    def of_lengths(self, z: str) -> str:
        """A transform of two axes that are padded or cut, as many numbers as there were or one."""
        rows, columns = "a.shape[-2]", "a.shape[-1]"
        s = (self.pick(rows, f"2 * {rows}", f"{rows} + 3", "1"),
             self.pick(columns, f"2 * {columns}", f"{columns} + 1", "1"))
        name = self.pick("fft2", "ifft2", "fftn", "ifftn")
        axes = ", axes=(-2, -1)" if name[-1] == "n" else self.pick("", ", axes=(-2, -1)")
        made = f"F.{name}({z}, s=({', '.join(s)}){axes}{self.norm()})"
        return f"{made}[..., :{rows}, :{columns}]"

    def solved(self, a: str, b: str) -> str:
        """Equations of two numbers for each row, far from singular ones."""
        matrices = f"{a}[..., :1, None] * E[:2, :2] + 9 * np.eye(2, dtype=b.dtype)"
        match self.rng.randint(0, 2):
            case 0:
                return f"L.inv({matrices})[..., 0, :1] * {b}"
            case 1:
                return f"L.det({matrices})[..., None] * {b}"
        return f"L.solve({matrices}, {b}[..., :1, None] * E[:2, :1])[..., :1, 0] * {a}"

    def statement(self, number: int) -> str:
        if self.rng.random() < 0.12:
            name = self.of("x")
            return f"{name}[{self.pick('0', '1:', '..., :1')}] {self.pick('=', '+=')} 0.25"
        kind = self.pick("z", "z", "x")
        name = self.pick(f"{kind}{number}", f"{kind}{number}", self.of(kind))
        value = self.complex_value() if kind == "z" else self.real_value()
        if name not in self.names[kind]:
            self.names[kind].append(name)
        return f"{name} = {value}"


def arguments(rng: random.Random, char: str, axes: int) -> list[Any]:
    rows = rng.choice((12, 12, 12, 80))  # many rows of few points are computed together
    shape = (*[rng.randint(1, rows) for _ in range(axes - 1)], rng.choice(LENGTHS[1:]))
    numbers = np.random.default_rng(rng.randrange(1 << 30))

    def made(shape: tuple[int, ...], char: str) -> Any:
        return (numbers.random(shape) - 0.5).astype(char)

    real = char.lower()
    a = (made(shape, real) + 1j * made(shape, real)).astype(char.upper())
    return [a, made(shape, real), made(shape[-1:], real), made((shape[-1], shape[-1]), real)]


def program(seed: int) -> Program:
    rng = random.Random(~seed)
    char, axes = rng.choice(CHARS), rng.choice((2, 2, 2, 3))
    calls = [arguments(rng, char, axes) for _ in range(3)]
    return Program(Writer(seed).source, lambda call, space: [x.copy() for x in calls[call]], seed,
                   space={"F": npcompile.fft, "L": npcompile.linalg, "N": npcompile}, calls=3,
                   policy={"warnings": ""})


@contextmanager
def setting(seed: int) -> Iterator[None]:
    before = get_num_threads()
    set_num_threads(1 + seed % 3)
    try:
        yield
    finally:
        set_num_threads(before)


GRAMMAR = Grammar(program, setting=setting)
