"""Runs kernel programs on the CPU backend without an entry: fills the frame from Python."""

import ctypes

import numpy as np

from npcompile.backends import cpu
from npcompile.backends.cpu.llvm.frame import FrameLayout
from npcompile.core.records import replace
from npcompile.core.sizes import Poly, Symbol, symbol
from npcompile.program.ir import (
    Alloc,
    Apply,
    Axis,
    Buffer,
    BufferResult,
    Constant,
    Index,
    ItemsResult,
    Kernel,
    Load,
    Program,
    ScalarResult,
    Store,
)
from npcompile.runtime.memory import recycled

TARGETS = [t for t in dict.fromkeys(map(cpu.target, ("default", "avx2"))) if t.width >= 32]


class Runner:
    """A compiled program; call it with arrays and numbers."""

    def __init__(self, program, target=None, **options):
        self.program, self.frame = program, FrameLayout(program)
        target = target if target is not None else cpu.target()
        numbers = [ScalarResult(b, "np") for b in program.buffers if b.kind == "scalar"]
        of = replace(program, result=ItemsResult(tuple, (program.result, *numbers)))
        emitted = cpu.emit(of, self.frame, target, **options)
        self.text = emitted.text
        self.code = cpu.compile(emitted.text, target, emitted.optimise)
        self.keep = [self.prepare(o) for o in emitted.objects]
        objects = {f"obj.{n}": id(o) for n, o in enumerate(self.keep)}
        recycled.ensure()
        self.loaded = cpu.load(self.code, objects)
        self.body = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(self.loaded["body"])

    def prepare(self, what):
        return what

    def __call__(self, *params):
        """Status and the arrays or numbers of result and scalar buffers."""
        words = self.fill(params)
        status = self.body(words.ctypes.data)
        return status, self.results(words)

    def fill(self, params):
        words, program = np.zeros(max(1, self.frame.size), np.int64), self.program
        for buffer, param in zip(program.params, params, strict=True):
            if buffer.kind == "scalar":
                at = 8 * self.frame.number(buffer)
                bits = np.array(param, buffer.dtype).tobytes()
                words.view(np.uint8)[at : at + len(bits)] = np.frombuffer(bits, np.uint8)
                continue
            words[self.frame.data(buffer)] = param.__array_interface__["data"][0]
            words[self.frame.object(buffer)] = id(param)
            strides = [s // param.itemsize for s in param.strides]
            for size, value in zip((*buffer.shape, *buffer.strides), (*param.shape, *strides)):
                if isinstance(size, Poly) and isinstance(name := size.terms[0][0][0], Symbol):
                    words[self.frame.symbol(name)] = value
        for index, name in program.int_symbols.items():
            words[self.frame.symbol(name)] = int(params[index])
        return words

    def results(self, words):
        found = {}
        for buffer in self.program.buffers:
            if buffer.kind == "scalar":
                at = 8 * self.frame.number(buffer)
                raw = words.view(np.uint8)[at : at + buffer.dtype.itemsize]
                found[buffer.name] = raw.view(buffer.dtype)[0]
            elif buffer.kind == "result" and words[self.frame.object(buffer)]:
                address = int(words[self.frame.object(buffer)])
                made = ctypes.cast(address, ctypes.py_object).value
                ctypes.pythonapi.Py_DecRef(ctypes.c_void_p(address))
                found[buffer.name] = made
        return found


def program(params, buffers, *body, result=None, **fields):
    if result is None:
        last = buffers[-1]
        result = ScalarResult(last, "np") if last.kind == "scalar" else BufferResult(last)
    return Program("test", list(params), list(buffers), tuple(body), result, [], **fields)


def vector(name, dtype, n, kind="param", index=0, stride=1):
    return Buffer(name, kind, np.dtype(dtype), (n,), (stride,), index)


def elementwise(op, dtypes, result, table=None, stride=1, out_stride=1):
    """``out[i] = op(a[i], b[i], ...)`` over symbolic n."""
    n = symbol("n", 5, 0)
    params = [vector(f"p{k}", d, n, index=k, stride=stride) for k, d in enumerate(dtypes)]
    out = vector("out", result, n, "param", len(params), stride=out_stride)
    at, to = Index(0, (stride,)), Index(0, (out_stride,))
    values = [Load(b, at, b.dtype) for b in params]
    values.append(Apply(op, tuple(range(len(params))), np.dtype(result), table))
    kernel = Kernel("k", (Axis("i", n),), tuple(values), (Store(out, to, len(params)),))
    return program([*params, out], [], kernel, result=BufferResult(out))


def together(op, signatures, table=None):
    """One kernel for several dtypes of an operator: the operands of each, then the results."""
    n = symbol("n", 5, 0)
    params, outs, values, stores = [], [], [], []
    for dtypes, result in signatures:
        first, at = len(values), Index(0, (1,))
        for dtype in dtypes:
            params.append(vector(f"p{len(params)}", dtype, n, index=len(params)))
            values.append(Load(params[-1], at, params[-1].dtype))
        args = tuple(range(first, len(values)))
        values.append(Apply(op, args, np.dtype(result), table))
        outs.append((result, len(values) - 1))
    for result, value in outs:
        params.append(vector(f"p{len(params)}", result, n, index=len(params)))
        stores.append(Store(params[-1], Index(0, (1,)), value))
    kernel = Kernel("k", (Axis("i", n),), tuple(values), tuple(stores))
    return program(params, [], kernel, result=BufferResult(params[-1]))


__all__ = ["TARGETS", "Alloc", "Constant", "Runner", "elementwise", "program", "vector"]


def pointwise(op, dtypes, result, table=None):
    """The same of single elements: a kernel without axes."""
    params = [Buffer(f"p{k}", "param", np.dtype(d), (), (), k) for k, d in enumerate(dtypes)]
    out = Buffer("out", "param", np.dtype(result), (), (), len(params))
    values = [Load(b, Index(0, ()), b.dtype) for b in params]
    values.append(Apply(op, tuple(range(len(params))), np.dtype(result), table))
    kernel = Kernel("k", (), tuple(values), (Store(out, Index(0, ()), len(params)),))
    return program([*params, out], [], kernel, result=BufferResult(out))


_libm = ctypes.CDLL("libm.so.6")
FLAGS = {"invalid value": 1, "divide by zero": 4, "overflow": 8, "underflow": 16}


def raised(run):
    """The floating-point flags that a call raises in the machine."""
    _libm.feclearexcept(63)
    run()
    return _libm.fetestexcept(sum(FLAGS.values()))


def announced(run):
    """The result of a NumPy expression and the flags that it reports."""
    seen = set()
    with np.errstate(all="call", call=lambda kind, _: seen.add(kind)):
        result = run()
    return result, sum(FLAGS[kind] for kind in seen)
