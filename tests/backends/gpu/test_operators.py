"""The table of operators as Triton code: bits on Triton's interpreter, and machine code."""

import numpy as np
import pytest

import npcompile
from npcompile.ops.record import OPERATORS
from tests.backends.cpu.test_operators_and_vectors import (
    bits,
    calls,
    given,
    names,
    operands,
    parameters,
)

pytest.importorskip("triton", reason="Triton is not installed: kernels for GPUs are not tested")

from npcompile.backends import gpu
from npcompile.backends.gpu import kernels
from npcompile.backends.gpu.interpreter import Interpreter
from tests.support.gpu import read

#: Iterations to the last bit: up to a minute each on the interpreter, and seconds to compile.
ITERATED = {
    "betaincinv", "betainccinv", "chdtri", "fdtri", "gammaincinv", "gammainccinv", "gdtrix",
    "stdtrit",
}


def operators(long=()):
    """Operators of floats with their dtypes; some take long."""
    return [pytest.param(name, char, marks=[pytest.mark.slow] * (name in long))
            for char in "df" for name in names(char)]


def function(name, char):
    """A function that calls the operator, and its operands."""
    count = operands(OPERATORS[name], char)
    texts, space = calls(count, [name], "")
    exec(f"def f({', '.join(parameters(count, [name]))}):\n    return {texts[0]}", space)
    return space["f"], given(count, [name], char)


@pytest.mark.parametrize("name, char", operators(ITERATED))
def test_bits(name, char, monkeypatch):
    monkeypatch.setattr(kernels, "LONG", 1 << 20)  # all points in one program
    f, samples = function(name, char)
    on_device = npcompile.jit(f, device="interpreter", fullgraph=True)
    assert "libdevice" not in on_device.lower(*samples).triton
    with np.errstate(all="ignore"):
        assert bits(on_device(*samples)) == bits(npcompile.jit(f)(*samples))


class Idle(Interpreter):
    """Runs nothing."""

    def __init__(self):
        self.launches = []

    def launch(self, source, programs, args, constants):
        self.launches.append((source, constants))


@pytest.mark.parametrize("name, char", operators())
def test_machine_code(name, char, monkeypatch):
    device = Idle()
    monkeypatch.setattr(gpu, "_device", lambda name, keep: device)
    f, samples = function(name, char)
    npcompile.jit(f, device="interpreter", fullgraph=True)(*samples)
    assert device.launches
    read(device.launches, one=name in ITERATED)
