"""Random programs of linear algebra: products, factorisations and equations of single matrices and
batches between array operations.

Compiled code and NumPy round differently, and signs of factors are nobody's promise: programs
compute what does not depend on signs, of matrices far from singular ones, and results are compared
within a tolerance.  Now and then a matrix has a row of zeros or a NaN: NumPy decides.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from npcompile.runtime.threads.pool import get_num_threads, set_num_threads
from tests.fuzz.framework import Grammar, Program

ROWS = (1, 2, 3, 4, 5, 7, 8, 9, 12, 33)
BATCHES = (0, 1, 2, 5, 9, 17)
CHARS = "dddffDF"


class Writer:
    """Writes the program of a seed over square matrices ``m``, batches of them ``b``, vectors ``v``
    and numbers ``s``."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.names = {"m": ["a"], "b": ["c"], "v": ["x"], "s": ["0.5"]}
        lines = ["def f(a, c, x):", "    n = a.shape[0]"]
        lines += ["    " + self.statement(number) for number in range(self.rng.randint(2, 6))]
        results = [name for kind in "mbvs" for name in self.names[kind][-2:]]
        self.source = "\n".join([*lines, f"    return {', '.join(results)}"]) + "\n"

    def pick(self, *options: str) -> str:
        return self.rng.choice(options)

    def of(self, kind: str) -> str:
        return self.rng.choice(self.names[kind])

    def bounded(self, name: str) -> str:
        """A matrix whose numbers are below 1."""
        return f"({name} / (1 + np.abs({name}).max(initial=0)))"

    def regular(self, name: str) -> str:
        return f"({self.bounded(name)} + (n + 1) * np.eye(n))"

    def hermitian(self, name: str) -> str:
        return f"({self.bounded(name)} + {self.adjoint(self.bounded(name))})"

    def adjoint(self, text: str) -> str:
        return f"{text}.swapaxes(-1, -2).conj()"

    def definite(self, name: str) -> str:
        return f"({self.bounded(name)} @ {self.adjoint(self.bounded(name))} + n * np.eye(n))"

    def matrices(self, kind: str) -> str:
        """A single one (``m``) or a batch (``b``)."""
        a, b = self.of(kind), self.of(self.pick(kind, "m"))
        match self.rng.randint(0, 16):
            case 0:
                return f"np.linalg.inv({self.pick(a, *[self.regular(a)] * 7)})"
            case 1:
                return f"np.linalg.solve({self.regular(a)}, {b})"
            case 2:
                how = self.pick("", ", upper=True")
                return f"np.linalg.cholesky({self.definite(a)}{how})"
            case 3:
                return f"np.matmul(*np.linalg.qr({a}{self.pick('', ', mode=' + repr('complete'))}))"
            case 4:
                return (f"(lambda w, u: (u * w[..., None, :]) @ {self.adjoint('u')})"
                        f"(*np.linalg.eigh({self.hermitian(a)}{self.pick('', ', ' + repr('U'))}))")
            case 5:
                full = self.pick("", "full_matrices=False")
                given = f"{a}, {full}" if full else a
                return f"(lambda u, s, t: (u * s[..., None, :]) @ t)(*np.linalg.svd({given}))"
            case 6:
                return f"{a}.swapaxes(-1, -2)"
            case 7:
                return f"{a} {self.pick('+', '-', '*')} {b}"
            case 8:
                return f"np.linalg.pinv({self.regular(a)})"
            case 9:
                return f"{self.bounded(a)} * {self.of('s')}"
            case 10:
                return f"sl.inv({self.regular(a)})"
            case 11:
                return f"sl.solve({self.regular(a)}, {b})"
            case 12:
                return f"sl.cholesky({self.definite(a)}{self.pick('', ', lower=True')})"
            case 13:
                return f"(lambda p, l, u: p @ l @ u)(*sl.lu({self.regular(a)}))"
            case _:
                return f"{self.bounded(a)} @ {self.bounded(b)}"

    def matrix(self) -> str:
        a, v = self.of("m"), self.of("v")
        match self.rng.randint(0, 10):
            case 0:
                return f"np.outer({v}, {v})"
            case 1:
                return f"np.linalg.multi_dot([{a}, {self.of('m')}, {self.bounded(a)}])"
            case 2:
                return f"np.linalg.matrix_power({self.bounded(a)}, {self.pick('2', '3', '0')})"
            case 3:
                return f"sl.solve({self.regular(a)}, {self.of('m')})"
            case 4:
                return f"sl.solve_triangular(np.tril({self.regular(a)}), {a}, lower=True)"
            case 5:
                return f"sl.cho_solve(sl.cho_factor({self.definite(a)}), {self.of('m')})"
            case 6:  # many rows
                rows = f"np.tile({self.bounded(a)}, ({self.pick('40', '300', '1600')}, 1))"
                made = f"{rows} - {v}[0]" if self.rng.random() < 0.5 else f"{rows} * 0.5"
                return f"(lambda t: t.T @ t / len(t))({made})"
        return self.matrices("m")

    def vector(self) -> str:
        a, v = self.of("m"), self.of("v")
        match self.rng.randint(0, 9):
            case 0:
                return f"np.linalg.solve({self.regular(a)}, {v})"
            case 1:
                return f"{v} @ {self.bounded(a)}"
            case 2:
                return f"np.linalg.eigvalsh({self.hermitian(a)}){self.pick('', ' * 2')}"
            case 3:
                return f"np.linalg.svd({a}, compute_uv=False)"
            case 4:
                return f"sl.lu_solve(sl.lu_factor({self.regular(a)}), {v})"
            case 5:
                return f"{self.bounded(a)}.T @ ({self.bounded(a)} @ {v})"
            case 6:
                return f"np.diagonal({a}) + {v}"
            case 7:  # reads the matrix once
                scale = f"(1 + np.abs({a}).max(initial=0)) ** 2"
                return f"{self.pick(f'{a}.T @ ({a} @ {v})', f'({a} @ {v}) @ {a}')} / {scale}"
        return f"{self.bounded(a)} @ {v}"

    def number(self) -> str:
        a, b = self.bounded(self.of("m")), self.of("b")
        match self.rng.randint(0, 8):
            case 0:
                return f"np.linalg.det({a})"
            case 1:
                return f"np.linalg.slogdet({self.regular(self.of('m'))})[1]"
            case 2:
                order = self.pick("", ", 1", ", np.inf", ", 2", ", 'fro'", ", 'nuc'")
                return f"np.linalg.norm({a}{order})"
            case 3:
                return f"np.linalg.cond({self.regular(self.of('m'))})"
            case 4:
                return f"np.linalg.det({self.bounded(b)}).sum()" if b != "c" else f"np.trace({a})"
            case 5:
                return f"np.vdot({self.of('v')}, {self.of('v')})"
            case 6:
                return f"np.linalg.slogdet({self.definite(b)})[1].sum()" if b != "c" else "2.0"
            case 7:
                return f"np.einsum('ij,ij->', {a}, {a})"
        return f"{self.of('v')} @ {self.of('v')}"

    def statement(self, number: int) -> str:
        kind = self.pick("m", "m", "b", "b", "v", "v", "s")
        if kind == "m" and self.rng.random() < 0.08:
            return f"{self.of('m')}[0] {self.pick('*=', '-=')} {self.pick('2', '2', '0')}"
        made = {"m": self.matrix, "b": lambda: self.matrices("b"), "v": self.vector,
                "s": self.number}[kind]()
        name = f"{kind}{number}"
        self.names[kind].append(name)
        return f"{name} = {made}"


def laid_out(rng: random.Random, a: Any) -> Any:
    """The same numbers in some order in memory."""
    match rng.randint(0, 4):
        case 0:
            return np.asfortranarray(a)
        case 1:
            room = np.zeros((*a.shape[:-1], 2 * a.shape[-1]), a.dtype)
            room[..., ::2] = a
            return room[..., ::2]
        case 2:
            return a[..., ::-1]
    return a


def arguments(rng: random.Random, char: str) -> list[Any]:
    n, count = rng.choice(ROWS), rng.choice(BATCHES)
    numbers = np.random.default_rng(rng.randrange(1 << 30))

    def made(shape: tuple[int, ...]) -> Any:
        found: Any = numbers.random(shape) - 0.5
        if char in "FD":
            found = found + 1j * (numbers.random(shape) - 0.5)
        if found.size and rng.random() < 0.05:
            found.flat[rng.randrange(found.size)] = np.nan  # LAPACK may never end of infinities
        return laid_out(rng, found.astype(char))

    return [made((n, n)), made((count, n, n)), made((n,))]


def program(seed: int) -> Program:
    import scipy.linalg

    rng = random.Random(~seed)
    char = rng.choice(CHARS)
    calls = [arguments(rng, char) for _ in range(2)]
    error = 2e-3 if char in "fF" else 1e-8
    return Program(Writer(seed).source, lambda call, space: [x.copy("K") for x in calls[call]],
                   seed, space={"sl": scipy.linalg}, calls=2,
                   policy={"warnings": "", "close": (error, error)})


@contextmanager
def setting(seed: int) -> Iterator[None]:
    before = get_num_threads()
    set_num_threads(1 + seed % 3)
    try:
        yield
    finally:
        set_num_threads(before)


GRAMMAR = Grammar(program, setting=setting)
