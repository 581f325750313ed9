"""Kernels as Triton code, without a GPU: bits on Triton's interpreter, machine code that is read.

Only a GPU can tell how fast they are, and whether its own instructions round as they should.
"""

import re

import numpy as np
import pytest

import npcompile
from npcompile.graph.primitives import PRIMITIVES
from npcompile.program.interpret import interpret
from tests.random_programs import difference, write
from tests.random_programs import run as outcome
from tests.support_cpu_backend import elementwise, same
from tests.test_cpu_backend_primitives import meaning, operands, report, signatures, tables
from tests.test_cpu_backend_reductions import reduction, sample

pytest.importorskip("triton", reason="Triton is not installed: kernels for GPUs are not tested")

from npcompile.backends.gpu.compile import translate
from npcompile.backends.gpu.driver import Launched, lower
from npcompile.backends.gpu.interpreter import Interpreter

CAPABILITIES = (80, 90, 120)
rng = np.random.default_rng(5)


class Recorder(Interpreter):
    """Remembers what is launched."""

    def __init__(self):
        self.launches = []

    def launch(self, source, programs, args, constants):
        self.launches.append((source, constants))
        super().launch(source, programs, args, constants)


def launched(program, *params):
    """What is left to the host, and the launches, of a run that changes the parameters."""
    module, device = lower(program), Recorder()
    Launched(module, device).run(params)
    return list(module.refused.values()), device.launches


# ------------------------------------------------------------------ kernels by themselves


@pytest.mark.parametrize("name", [n for n in PRIMITIVES if n not in ("rare", "call")])
def test_primitive(name):
    for chars, result in signatures(name):
        table = tables(name)[-1]
        columns = operands(name, chars)
        if name in ("fma", "fmod"):
            columns = [column[::3].copy() for column in columns]
        expected = np.asarray(meaning(name, columns, table)[0]).astype(result)
        out = np.zeros(len(columns[0]), result)
        refused, _ = launched(elementwise(name, chars, result, table), *columns, out)
        assert not refused
        assert same(out, expected), report(name, chars, columns, out, expected)


@pytest.mark.parametrize("dtype", "fdFDe")
def test_long_sums_have_numpys_bits(dtype):
    program = reduction("sum", dtype, 1, (0,))
    for n in (0, 1, 5, 8, 9, 64, 127, 128, 129, 257, 1000, 4100, 70_001):
        a, out = sample(dtype, n), np.zeros((), dtype)
        refused, _ = launched(program, a, out)
        assert not refused
        assert same(out, a.sum(dtype=dtype)), n


@pytest.mark.parametrize("kind", ["sum", "prod", "min", "max", "argmin", "argmax"])
@pytest.mark.parametrize("dtype", "fdlBh")
@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 2), (0, 1, 2)])
def test_reductions(kind, dtype, axes):
    a = sample(dtype, (3, 17, 6))
    if a.dtype.kind == "f" and kind != "sum":
        a[2, 3, 4] = np.nan
    program = reduction(kind, dtype, 3, axes)
    kept = tuple(n for k, n in enumerate(a.shape) if k not in axes)
    want = np.zeros(kept, program.params[1].dtype)
    got = want.copy()
    interpret(program, [a, want])
    refused, _ = launched(program, a, got)
    assert not refused
    assert same(got, want)


# ------------------------------------------------------------------ whole functions


FUNCTIONS = {
    "stencil": lambda u, k: 0.25 * k * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]),
    "normalise": lambda u, k: (u - u.mean(1, keepdims=True)) / (u.std(1, keepdims=True) + k),
    "softmax": lambda u, k: np.exp(u - u.max(1, keepdims=True)) / k,
    "outer": lambda u, k: u[0][:, None] * u[1][None, :] - u.T[:1, :1] * k,
    "views": lambda u, k: (u[::-1, ::2].T + k, u.reshape(-1)[3::7], u.astype(np.int8) // 3),
    "complex": lambda u, k: (u + 1j * k) * (u - 2j) / (1 + abs(u)),
    "gather": lambda u, k: u[np.array([3, 0, -1])] + u[:, np.arange(4)].sum() * k,
    "float32": lambda u, k: (u.astype(np.float32) * np.float32(0.1)).sum(0) / np.float32(3),
    "exp": lambda u, k: np.exp(u * k),
    "log": lambda u, k: np.log(abs(u) + 1),
    "sin": lambda u, k: np.sin(u * 40),
    "tanh": lambda u, k: np.tanh(u),
    "erf": lambda u, k: npcompile.special.erf(u),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_the_bits_of_the_cpu(name):
    function = FUNCTIONS[name]
    args = rng.standard_normal((9, 40)), 0.75
    want = npcompile.jit(function, fullgraph=True)(*args)
    got = npcompile.jit(function, fullgraph=True, device="interpreter")(*args)
    pairs = zip(got, want) if isinstance(want, tuple) else [(got, want)]
    for one, other in pairs:
        assert same(one, other)


def test_mutation_and_loops():
    def relax(u, n):
        for _ in range(n):
            u[1:-1] += 0.25 * (u[:-2] - 2 * u[1:-1] + u[2:])
            if u.max() < 0.5:
                break
        return u.sum()

    plain, compiled = rng.random(50), None
    compiled = plain.copy()
    want = relax(plain, 12)
    f = npcompile.jit(relax, device="interpreter", fullgraph=True)
    assert f(compiled, 12) == want
    assert same(compiled, plain)


@pytest.mark.parametrize("first", range(30_000, 30_200, 25))
def test_random_programs(first):
    captured = 0
    for seed in range(first, first + 25):
        program = write(seed)
        compiled = npcompile.jit(program.function(), device="interpreter")
        signs = not any(name in program.source for name in ("max", "min", "clip", "ptp"))
        for variant, size in enumerate((7, 12)):
            want = outcome(program.function(), program.arguments(size, variant))
            got = outcome(compiled, program.arguments(size, variant))
            text = difference(got, want, signs)
            # a GPU has no floating-point flags
            assert not text or text.startswith("warnings"), f"seed {seed}: {text}"
        captured += compiled.cache_info().compiled > 0
    assert captured > 0.7 * 25


def test_the_code_reads_well():
    def step(u, k):
        return u[1:-1] + k * (u[:-2] - 2 * u[1:-1] + u[2:])

    text = npcompile.jit(step, device="interpreter").lower(np.ones(9), 0.5).triton
    assert "# line" in text
    assert "return u[1:-1] + k * (u[:-2] - 2 * u[1:-1] + u[2:])" in text
    assert "u_at_1 = tl.load(u + lane" in text


# ------------------------------------------------------------------ machine code


def launches(function, *args):
    compiled = npcompile.jit(function, device="interpreter", fullgraph=True)
    return launched(compiled.lower(*args).executable.program, *args)[1]


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_kernels_compile(name, capability):
    for source, constants in launches(FUNCTIONS[name], rng.standard_normal((9, 40)), 0.75):
        cubin = translate(source, constants, capability)
        assert cubin.code[:4] == b"\x7fELF"
        (head,) = re.findall(r"\.entry (\w+)\((.*?)\)", cubin.ptx, re.S)
        widths = re.findall(r"\.param \.(\w+)", head[1])
        assert head[0] == cubin.entry
        assert len(widths) == len(source.parameters) + 2  # and two pointers to scratch memory


def test_no_contraction():
    """Products and sums stay apart; quotients and roots are rounded correctly."""
    def poly(x, y):
        return x * y + 1, np.sqrt(x) / y

    for dtype, suffix in ((np.float64, "f64"), (np.float32, "f32")):
        x = np.ones(100, dtype)
        texts = [translate(*launch, 90).ptx for launch in launches(poly, x, x)]
        assert not re.search(r"\bfma\.", "".join(texts))
        assert re.search(rf"div\.rn\.{suffix}", "".join(texts))
        assert re.search(rf"sqrt\.rn\.{suffix}", "".join(texts))
