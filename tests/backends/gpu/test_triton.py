"""Kernels as Triton code, without a GPU: bits on Triton's interpreter, machine code that is read.

All that is launched here is compiled as well (``machine_code``), for three generations; where one
kind of kernel comes in many dtypes, and of random programs, each for one of them, in the slow run
for all.

Only a GPU can tell how fast they are, and whether its own instructions round as they should.
"""

import copy
import ctypes
import importlib.util
import itertools
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.special

import npcompile
from benchmarks.programs import PROGRAMS
from npcompile.demo import data, selftest
from npcompile.demo import run as demo
from npcompile.demo.selftest import FUNCTIONS
from npcompile.graph.ir import Subprogram
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.subprograms import repeat
from npcompile.program.interpret import interpret
from npcompile.runtime.versions.interpreted import made
from tests.backends.cpu.test_primitives import meaning, operands, report, signatures, tables
from tests.backends.cpu.test_reductions import reduction, sample
from tests.fuzz import programs
from tests.fuzz.framework import Grammar, checked, jitted
from tests.support.cpu_backend import elementwise, together

pytest.importorskip("triton", reason="Triton is not installed: kernels for GPUs are not tested")

from dataclasses import replace

from npcompile.backends import gpu
from npcompile.backends.gpu import chains, cuda, packing, rows
from npcompile.backends.gpu.compile import assemblies, assembly, identity, translate
from npcompile.backends.gpu.cuda import Cuda
from npcompile.backends.gpu.driver import Launched, lower
from npcompile.backends.gpu.interpreter import Interpreter
from tests.support import oracle

pytestmark = pytest.mark.usefixtures("machine_code")
rng = np.random.default_rng(5)


class Recorder(Interpreter):
    """Remembers what is launched."""

    def __init__(self):
        self.launches = []

    def launch(self, source, programs, args, constants):
        self.launches.append((source, constants))
        super().launch(source, programs, args, constants)


def each(dtypes):
    """A name with each of its dtypes."""
    return [(name, dtype) for name, chars in dtypes.items() for dtype in chars]


def launched(program, *params):
    """What is left to the host, and the launches, of a run that changes the parameters."""
    module, device = lower(program), Recorder()
    Launched(module, device).run(params)
    return list(module.refused.values()), device.launches


# ------------------------------------------------------------------ kernels by themselves


@pytest.mark.parametrize("name", [n for n in PRIMITIVES if n not in ("rare", "call")])
def test_primitive(name):
    table, cases = tables(name)[-1], list(signatures(name))
    columns = [operands(name, chars) for chars, _ in cases]
    n = max(len(column[0]) for column in columns)
    columns = [[np.resize(a, n) for a in column] for column in columns]
    outs = [np.zeros(n, result) for _, result in cases]
    refused, _ = launched(together(name, cases, table), *itertools.chain(*columns), *outs)
    assert not refused
    for (chars, result), column, out in zip(cases, columns, outs, strict=True):
        expected = np.asarray(meaning(name, column, table)[0]).astype(result)
        assert oracle.elements(out, expected), report(name, chars, column, out, expected)


@pytest.mark.parametrize("dtype", "fdFDe")
def test_long_sums_have_numpys_bits(dtype):
    program = reduction("sum", dtype, 1, (0,))
    for n in (0, 1, 5, 8, 9, 64, 127, 128, 129, 257, 1000, 4100, 70_001):
        a, out = sample(dtype, n), np.zeros((), dtype)
        refused, _ = launched(program, a, out)
        assert not refused
        assert oracle.elements(out, a.sum(dtype=dtype)), n


@pytest.mark.one_generation
@pytest.mark.parametrize("kind, dtype", each({
    "sum": "fDelB", "max": "felB?", "argmin": "felB?", "argmax": "felB?",
}))
def test_reductions_that_are_too_long_for_one_program(kind, dtype, monkeypatch):
    for name, small in (("LONG", 256), ("PIECE", 200), ("JOINED", 2)):
        monkeypatch.setattr(chains, name, small)
    for shape in ((257,), (2, 1025)):
        last = len(shape) - 1
        program = reduction(kind, dtype, len(shape), (last,))
        a = sample(dtype, shape)
        want = np.zeros(shape[:-1], program.params[1].dtype)
        got = want.copy()
        interpret(program, [a, want])
        refused, launches = launched(program, a, got)
        assert not refused and len(launches) > 1
        assert oracle.elements(got, want), shape


def test_reductions_of_long_arrays():
    def f(x, n):
        return x.sum(), x.max(), x.argmin(), np.cumsum(n), np.logical_or.accumulate(x > 2), x[x > 0]

    x, n = rng.standard_normal(70_000), np.arange(70_000)
    got = npcompile.jit(f, device="interpreter", fullgraph=True)(x, n)
    assert all(map(oracle.elements, got, f(x, n)))


RUNNING = {
    "cumsum": lambda a: np.cumsum(a, -1),
    "along the first axis": lambda a: np.cumsum(a, 0),
    "cumprod": lambda a: np.cumprod(a, -1, dtype=a.dtype),
    "maximum": lambda a: np.maximum.accumulate(a[..., ::-1], -1),
    "minimum": lambda a: np.minimum.accumulate(a, -1),
}


@pytest.mark.one_generation
@pytest.mark.parametrize("name, dtype", [("cumsum", "D"), *each(dict.fromkeys(RUNNING, "dfelbB?"))])
def test_running_reductions(name, dtype, monkeypatch):
    compiled = npcompile.jit(RUNNING[name], device="interpreter", fullgraph=True)
    for long in (1 << 16, 64):
        monkeypatch.setattr(chains, "LONG", long)
        for shape in ((2, 130), (40, 5), (2, 0), *[(150,), (1,)][: 2 * (dtype == "d")]):
            a = sample(dtype, shape)
            if dtype in "df" and shape[0] == 40:
                a[7, 3:] = np.nan, -0.0
            with np.errstate(all="ignore"):
                assert oracle.elements(compiled(a), RUNNING[name](a)), shape
            if dtype in "lbB?" or name in ("maximum", "minimum"):
                assert "runs on the host" not in "\n".join(compiled.explain(a).notes)
        compiled.clear_cache()


PACKED = {
    "mask": lambda a: a[a > 0],
    "several": lambda a: (a[a != 0] * 2, np.nonzero(a), a[a != 0].sum()),
    "views": lambda a: (a.T[a.T > 1], a[..., ::-2][a[..., ::-2] > 0]),
    "all and none": lambda a: (a[a == a], a[a != a]),
    "indices": lambda a: np.flatnonzero(a.real > 0),
}


def flat(result):
    """The arrays of a result."""
    return [a for item in result for a in flat(item)] if isinstance(result, tuple) else [result]


@pytest.mark.one_generation
@pytest.mark.parametrize("dtype", "flB?D")
@pytest.mark.parametrize("name", PACKED)
def test_packing(name, dtype, monkeypatch):
    """In one program, and in pieces of two turns."""
    compiled = npcompile.jit(PACKED[name], device="interpreter", fullgraph=True)
    for long, width in ((1 << 13, 1 << 10), (64, 32)):
        monkeypatch.setattr(packing, "LONG", long)
        monkeypatch.setattr(packing, "WIDTH", width)
        for shape in ((4, 2, 30), (2, 0, 3), *[(150,), (1,)][: 2 * (dtype == "f")]):
            a = sample(dtype, shape)
            assert all(map(oracle.elements, flat(compiled(a)), flat(PACKED[name](a)))), shape
            assert "runs on the host" not in "\n".join(compiled.explain(a).notes)
        compiled.clear_cache()


@pytest.mark.one_generation
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
    assert oracle.elements(got, want)


# ------------------------------------------------------------------ whole functions


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_the_bits_of_the_cpu(name, monkeypatch):
    monkeypatch.setattr(selftest, "FUNCTIONS", {name: selftest.FUNCTIONS[name]})
    assert [agree for _, agree, _ in selftest.run("interpreter", 9, 40)] == [True]


def rows_of(function, *args):
    """How many kernels the device runs; the bits are the CPU's."""
    found = launches(function, *args)
    theirs, ours = copy.deepcopy(args), copy.deepcopy(args)
    want = npcompile.jit(function)(*theirs)
    got = npcompile.jit(function, device="interpreter")(*ours)
    assert selftest.same(got, want) and selftest.same(ours, theirs)
    return len(found)


def test_row_wise_functions_are_one_kernel(monkeypatch):
    u, k = selftest.arguments(21, 300)
    assert rows_of(selftest.normalise, u, k) == 1
    assert rows_of(selftest.softmax, u, k) == 1

    def in_place(u):
        u -= u.mean((1, 2), keepdims=True)
        u /= np.sqrt((u * u).sum((1, 2), keepdims=True))
        return u.max((1, 2))

    assert rows_of(in_place, u.reshape(7, 3, -1).copy()) == 1
    monkeypatch.setattr(rows, "LONGEST", 299)
    assert rows_of(selftest.normalise, u, k) == 5


def test_products_are_the_devices(monkeypatch):
    """Nothing goes to the host and back between kernels and products."""
    downloads = []
    download = Interpreter.download
    monkeypatch.setattr(Interpreter, "download",
                        lambda self, *args: downloads.append(args) or download(self, *args))
    rng = np.random.default_rng(3)
    for dtype in (np.float64, np.float32, np.complex128, np.int64):
        a, b = (100 * rng.standard_normal((2, 5, 5)) for _ in "ab")
        a, b = a.astype(dtype), b.astype(dtype)

        def chain(a, b):
            return ((a * 2) @ b.transpose(0, 2, 1)[::-1] + 1) @ a[0, :, 1:3]

        downloads.clear()
        got = npcompile.jit(chain, device="interpreter", fullgraph=True)(a, b)
        np.testing.assert_allclose(got, chain(a, b), 1e-4 if dtype == np.float32 else 1e-12)
        assert got.dtype == dtype and len(downloads) == 1


def test_rows_that_need_others_stay_apart():
    u = selftest.arguments(21, 30)[0]
    assert rows_of(lambda u: u - u.mean(1)[::-1, None], u) > 1
    assert rows_of(lambda u: u / u.sum(1).max(), u) > 1
    assert rows_of(lambda u: np.exp(u).sum(1)[np.argsort(u[:, 0])] + u.sum(1), u) > 1

    def shifted(u):
        v = np.exp(u)
        return (v[1:] - v[:-1]).sum(1) + v[1:, 0]

    assert rows_of(shifted, u) > 1


@pytest.mark.one_generation
@pytest.mark.parametrize("first", range(30_000, 30_200, 25))
def test_random_programs(first):
    def write(seed):
        program = programs.write(seed)
        signs = not any(name in program.source for name in ("max", "min", "clip", "ptp"))
        # a GPU has no floating-point flags
        return replace(programs.calls(program, (7, 12)), policy={"signs": signs, "warnings": ""})

    ways = {"gpu": jitted(device="interpreter")}
    counts = checked(Grammar(write, ways), range(first, first + 25))
    assert counts["compiled"] > 0.7 * 25


@pytest.mark.parametrize("shape", [(3, 2000), (700, 5), (2, 3, 1100), (40, 9, 7), (2, 1500, 2)])
def test_indices_of_axes(shape):
    """Rows that are longer than a block's lanes, and shorter."""
    u = np.arange(float(np.prod(shape))).reshape(shape)
    f = npcompile.jit(lambda u: u[..., ::-1][1:] * 2, device="interpreter", fullgraph=True)
    assert np.array_equal(f(u), u[..., ::-1][1:] * 2)


def test_numbers_of_a_loop_change_at_once():
    """In a subprogram's loop: none is the next value of another before all are computed."""
    def fibonacci(n):
        def step(k, a, b, c):
            return k + 1.0 < n, k + 1.0, a + b, a, b

        return repeat(step, n * 0.0, n * 0.0 + 1.0, n * 0.0, n * 0.0)[3]

    n, out = np.arange(2.0, 22.0), np.zeros(20)
    program = elementwise("call", "d", "d", Subprogram("fibonacci", 1, fibonacci))
    refused, _ = launched(program, n, out)
    assert not refused
    assert out[:6].tolist() == [1, 1, 2, 3, 5, 8] and out[-1] == 6765


def test_the_code_reads_well():
    def step(u, k):
        return u[1:-1] + k * (u[:-2] - 2 * u[1:-1] + u[2:])

    text = npcompile.jit(step).lower(np.ones(9), 0.5).triton
    first = step.__code__.co_firstlineno
    assert text == f"""\
# one lane for each of u_shape0 - 2 elements, 1024 in each program
@triton.jit
def step_k0(u_shape0, k, u_ptr, result_ptr, BLOCK: tl.constexpr):
    base = tl.program_id(0).to(tl.int64) * BLOCK
    lane = base + tl.arange(0, BLOCK)
    live = lane < u_shape0 - 2
    u_1 = tl.load(u_ptr + lane + 1, live, 0)
    u_0 = tl.load(u_ptr + lane, live, 0)
    u_2 = tl.load(u_ptr + lane + 2, live, 0)
    # line {first + 1}: return u[1:-1] + k * (u[:-2] - 2 * u[1:-1] + u[2:])
    tl.store(result_ptr + lane, u_1 + k * (u_0 - 2.0 * u_1 + u_2), live)
"""


def test_values_have_the_names_of_variables():
    """Statements stand as such; several lines of one are shown as one."""
    def wave(x, damping):
        phase = (
            2.0 * x
            + 1.0
        )
        decay = np.exp(-damping * x)
        lane = decay * np.tanh(phase)  # a name that the kernel has, too
        return lane, lane * lane

    text = npcompile.jit(wave).lower(np.ones(9), 0.5).triton
    *functions, kernel = text.split("\n\n\n")
    first = wave.__code__.co_firstlineno
    assert kernel == f"""\
# one lane for each of x_shape0 elements, 1024 in each program
@triton.jit
def wave_k1(x_shape0, x_ptr, number, exp_f64_tables, tanh_f64_tables, lane_ptr, result_ptr,
            BLOCK: tl.constexpr):
    base = tl.program_id(0).to(tl.int64) * BLOCK
    lane = base + tl.arange(0, BLOCK)
    live = lane < x_shape0
    x = tl.load(x_ptr + lane, live, 0)
    # line {first + 1}: phase = ( 2.0 * x + 1.0 )
    phase = 2.0 * x + 1.0
    # line {first + 5}: decay = np.exp(-damping * x)
    decay = exp_f64(number * x, exp_f64_tables)
    # line {first + 6}: lane = decay * np.tanh(phase) # a name that the kernel has, too
    lane_1 = decay * tanh_f64(phase, tanh_f64_tables)
    tl.store(lane_ptr + lane, lane_1, live)
    # line {first + 7}: return lane, lane * lane
    tl.store(result_ptr + lane, lane_1 * lane_1, live)
"""
    assert [re.search(r"def (\w+)", part)[1] for part in functions] == ["exp_f64", "tanh_f64"]
    assert '"""e**x"""' in functions[0] and "polynomial_by_" in functions[0]


@pytest.mark.parametrize("name", ["black_scholes_prices", "gray_scott", "layer_norm_gelu"])
def test_statements_and_functions_are_found_again(name):
    """Each statement that kernels come from is told, and elementary functions are calls."""
    program = PROGRAMS[name]
    lowered = npcompile.jit(program.function).lower(*program.arguments(program.small))
    text = lowered.triton
    told = {int(line) for line in re.findall(r"# line (\d+): ", text)}
    assert len(told) > 3
    kernels = [part for part in text.split("\n\n\n") if "# line" in part]
    assert not any("lookup(" in part or "npc.fma" in part for part in kernels)
    names = {name for part in kernels for name in re.findall(r"(?m)^ +(\w+) = ", part)}
    assert names & set(program.function.__code__.co_varnames)


def test_names_and_comments_are_not_in_the_key():
    """The same code of other variables is the same machine code, whatever is between."""
    def one(u, k):
        v = np.exp(u) * k
        return v - u

    def other(speed, factor):  # as above
        faster = np.exp(speed) * factor

        return faster - speed

    def another(u, k):
        v = np.exp(u) * k
        return u - v

    keys = [identity(source, constants, 90, frozenset(name for name, _ in source.parameters))
            for function in (one, other, another)
            for source, constants in launches(function, np.ones(9), 2.0)]
    assert keys[0] == keys[1] != keys[2]


def test_names_that_python_or_the_kernel_has():
    def f(x, BLOCK):
        tl = x + BLOCK
        range = tl * tl
        live = range * 0.5 + range
        exp_f64 = live * live
        return np.exp(exp_f64) + exp_f64 + np.exp(live)

    x = np.linspace(-1, 1, 9)
    assert oracle.elements(npcompile.jit(f, device="interpreter")(x, 0.5), npcompile.jit(f)(x, 0.5))


def test_the_code_says_nothing_in_vain():
    """What is added to several addresses has a name, constants are literals and are folded."""
    def step(u):
        return 0.5 * (u[1:, 1:] + u[:-1, :-1]), np.roll(u, 1, 0), np.power(np.exp(u), 3.0)

    text = npcompile.jit(step, device="interpreter").lower(np.ones((9, 9))).triton
    assert "index = i * u_shape1 + j\n" in text
    assert "u_1_1 = tl.load(u_ptr + index + u_shape1 + 1, live, 0)" in text
    assert "(u_shape0 - 1) * (u_shape1 - 1)" in text  # not multiplied out
    assert "<< 52" in text and "npc.fma(" in text and "tl.fma(" not in text
    assert not re.search(r"npc\.sh[lr]|[&|^] (tl\.full\(\(\), )?(True|False)", text)
    for part in text.split("\n\n\n"):
        for name in re.findall(r"(?m)^ +(\w+) = ", part):
            assert len(re.findall(rf"\b{name}\b", part)) > 1, f"{name} is not used"


# ------------------------------------------------------------------ machine code


def launches(function, *args):
    compiled = npcompile.jit(function, device="interpreter", fullgraph=True)
    return launched(compiled.lower(*args).executable.program, *args)[1]


def test_explain_says_what_the_host_does():
    def f(u):
        v = np.linalg.inv(u) @ u
        return np.cumsum(v / v.sum(1, keepdims=True))

    notes = "\n".join(npcompile.jit(f, device="interpreter").explain(np.eye(5)).notes)
    assert "kernels on the device" in notes and "are one kernel" in notes
    assert "runs on the host" in notes and "copied from the device" in notes


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


# ------------------------------------------------------------------ launches


class StubDriver:
    """CuPy's names, as far as launches use them, over memory of the host."""

    def __init__(self):
        self.launched, self.stream, self.permitted = [], [], []
        stub = self

        class Piece:
            def __init__(self, nbytes):
                self.bytes = np.zeros(nbytes, np.uint8)
                self.ptr = self.bytes.ctypes.data

            def copy_from_host_async(self, address, nbytes):
                stub.stream.append("copy")
                ctypes.memmove(self.ptr, address, nbytes)

            def copy_to_host_async(self, address, nbytes):
                stub.stream.append("copy")
                ctypes.memmove(address, self.ptr, nbytes)

        class Module:
            def load(self, code):
                assert code[:4] == b"\x7fELF"

            def get_function(self, name):
                return Function(name)

        class Function:
            __slots__ = ("name", "ptr")  # like CuPy's: without other attributes

            def __init__(self, name):
                self.name, self.ptr = name, 4096

            def __call__(self, grid, block, args, shared_mem):
                stub.stream.append("launch")
                stub.launched.append((self.name, grid, block, args, shared_mem))

        waiting = SimpleNamespace(synchronize=lambda: stub.stream.append("wait"))
        self.cuda = SimpleNamespace(
            alloc=Piece, Device=lambda: SimpleNamespace(compute_capability="90"),
            function=SimpleNamespace(Module=Module), get_current_stream=lambda: waiting,
            driver=SimpleNamespace(funcSetAttribute=lambda *args: stub.permitted.append(args)),
        )


WIDTHS = {"u64": 8, "u32": 4, "u16": 2, "u8": 1, "b8": 1, "f64": 8, "f32": 4, "b16": 2, "b64": 8}


@pytest.mark.parametrize("function, args", [
    (lambda x, a, n, flag: np.where(flag, x * a + n, x), (np.ones(70), 0.5, 3, True)),
    (lambda x, a: x * a, (np.ones((3, 4), np.float32), np.float32(2))),
    (lambda x, c: (x * c).sum(), (np.ones((3, 4), np.complex64), 1j)),
    (lambda x: x[::-1, 0] + np.int16(1), (np.ones((3, 4), np.int16),)),
])
def test_arguments_of_a_launch_have_the_layout_of_the_machine_code(function, args, monkeypatch):
    stub = StubDriver()
    device, texts = Cuda(made, stub), {}

    def translated(*args):
        cubin = translate(*args)
        texts[cubin.code] = cubin.ptx
        return cubin

    monkeypatch.setattr(cuda, "translate", translated)
    monkeypatch.setattr(gpu, "_device", lambda name, keep: device)
    npcompile.jit(function, device="interpreter", fullgraph=True)(*args)
    assert stub.launched
    cubins = {cubin.entry: cubin for cubin, _ in device._kernels.values()}
    for name, grid, block, given, shared in stub.launched:
        cubin = cubins[name]
        (head,) = re.findall(rf"\.entry {name}\((.*?)\)", texts[cubin.code], re.S)
        widths = [WIDTHS[kind] for kind in re.findall(r"\.param \.(\w+)", head)]
        assert [arg.itemsize for arg in given] == widths
        assert grid == (1,) and block == (32 * cubin.warps,) and shared == cubin.shared


def test_copies_take_their_turn_on_the_stream(monkeypatch):
    """And shared memory beyond what every kernel may have is asked for."""
    stub = StubDriver()
    monkeypatch.setattr(cuda, "STATIC", -1)
    monkeypatch.setattr(gpu, "_device", lambda name, keep: Cuda(made, stub))
    npcompile.jit(lambda x: x * 2, device="interpreter", fullgraph=True)(np.ones(70))
    assert stub.stream == ["copy", "wait", "launch", "copy", "wait"]
    assert stub.permitted == [(4096, 8, stub.launched[0][4])]


def test_cubins_are_kept(monkeypatch):
    """A second process neither compiles nor imports Triton."""
    (source, constants), = launches(lambda x: x * 2, np.ones(64))
    store = {}

    def keep(key, make):
        return store[key] if key in store else store.setdefault(key, make())

    def kernel(keep, sixteens):
        return Cuda(keep, StubDriver()).cubin(source, constants, sixteens)

    def refuse(key, make):
        return store[key]

    every = frozenset(name for name, _ in source.parameters)
    first = kernel(keep, every)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "triton", None)  # importing it raises
        assert kernel(refuse, every) == first and first.code[:4] == b"\x7fELF"
    with pytest.raises(KeyError):  # what is not known to be aligned is other code
        kernel(refuse, frozenset())


def test_aligned_memory_is_read_16_bytes_at_a_time():
    (source, constants), = launches(lambda x: x * 2, np.ones(4096))
    every = {name for name, _ in source.parameters}
    assert "ld.global.v2.b64" in translate(source, constants, 90, every).ptx
    assert "ld.global.v2.b64" not in translate(source, constants, 90).ptx


@pytest.mark.parametrize("function", [
    lambda x: x[::-1] * 2 + 1, lambda x: x.sum(), lambda x: np.cumsum(x > 0), lambda x: x[x > 0],
    lambda x: x / np.exp(x).max(), lambda x: scipy.special.gammainc(x, x),
])
def test_what_is_made_once_for_all_gpus_is_what_each_makes(function):
    for source, constants in launches(function, np.ones(3000)):
        every = frozenset(name for name, _ in source.parameters)
        targets = [(80, frozenset()), (90, every), (120, frozenset())]
        together = assemblies(source, constants, targets)
        assert together == [assembly(source, constants, *target) for target in targets]


def without_gpu():
    """Why nothing can run on a GPU here."""
    try:
        cuda.driver()
    except RuntimeError as error:
        return str(error)
    return ""


@pytest.mark.skipif(bool(without_gpu()), reason=f"only a GPU can tell: {without_gpu()}")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_gpu_has_the_bits_of_the_cpu(name):
    for shape in ((9, 40), (300, 1000)):
        ours, theirs = selftest.arguments(*shape), selftest.arguments(*shape)
        got = npcompile.jit(FUNCTIONS[name], device="cuda", fullgraph=True)(*ours)
        assert selftest.same(got, npcompile.jit(FUNCTIONS[name])(*theirs))
        assert selftest.same(ours[0], theirs[0])


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_kernels_of_one_generation_for_all():
    """And operators that are iterated."""
    command = [sys.executable, "-m", "pytest", "-m", "not slow",
               "-k", "one_generation or test_machine_code", str(Path(__file__).parents[2])]
    environment = {**os.environ, "NPCOMPILE_TEST_GENERATIONS": "all"}
    environment.pop("PYTEST_XDIST_WORKER", None)  # a run of its own
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_selftest_says_what_is_missing():
    if not without_gpu():
        pytest.skip("there is a GPU")
    with pytest.raises(SystemExit, match="npcompile: device='cuda' needs"):
        selftest.main("cuda", 9, 40)


def test_without_a_gpu_there_is_an_error_at_once():
    if importlib.util.find_spec("cupy"):
        pytest.skip("CuPy is installed")
    with pytest.raises(RuntimeError, match=r"npcompile\[gpu\]"):
        npcompile.jit(lambda x: x, device="cuda")
    with pytest.raises(ValueError, match="'tpu'"):
        npcompile.jit(lambda x: x, device="tpu")


@pytest.mark.parametrize("device, have, wrong", [
    ("cuda", {"cupy": "13.6.0", "triton": "3.9.0"}, "cupy is 13.6.0"),
    ("cuda", {"cupy": "14.0.1", "triton": "3.5.1"}, "triton is 3.5.1"),
    ("interpreter", {"triton": "3.5.1"}, "triton is 3.5.1"),
    ("interpreter", {"cupy": "14.0.1"}, "triton not found"),
])
def test_a_library_that_is_too_old_is_an_error_at_once(device, have, wrong, monkeypatch):
    monkeypatch.setattr(cuda, "find_spec", have.get)
    monkeypatch.setattr(cuda, "installed", have.__getitem__)
    with pytest.raises(RuntimeError, match=rf"{device}.*npcompile\[gpu\].*\({wrong}\)"):
        npcompile.jit(lambda x: x, device=device)


@pytest.mark.parametrize("text", ["3.6.0", "3.9", "4.0.0rc1", "3.10.0+git1"])
def test_versions_that_are_served(text):
    assert cuda.release(text) >= cuda.OLDEST["triton"] > cuda.release("3.5.9")


def test_programs_of_the_corpus_are_kernels_as_a_whole():
    names = ["jacobi_2d", "heat_3d", "fdtd_2d", "gray_scott", "softmax_rows", "layer_norm_gelu",
             "bilateral_filter", "black_scholes_prices", "game_of_life", "max_pooling",
             "burgers_2d", "sobel_edges"]
    for name in names:
        program = PROGRAMS[name]
        compiled = npcompile.jit(program.function, device="interpreter", fullgraph=True)
        lowered = compiled.lower(*program.arguments(program.small)).executable.program
        assert not lower(lowered).refused, name


def test_functions_of_the_demo_are_kernels_as_a_whole():
    pytest.importorskip("matplotlib", reason="the demo's data come with matplotlib")
    for case in demo.cases(data.load()):
        compiled = npcompile.jit(case.function, device="interpreter", fullgraph=True)
        assert not lower(compiled.lower(*case.args).executable.program).refused
