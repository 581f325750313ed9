"""The table of operators as Triton code: bits on Triton's interpreter, and machine code."""

import numpy as np
import pytest

import npcompile
from npcompile.ops.record import OPERATORS
from tests.test_same_bits_operators import bits, calls, given, names, operands, parameters

pytest.importorskip("triton", reason="Triton is not installed: kernels for GPUs are not tested")
pytestmark = pytest.mark.usefixtures("machine_code")

#: Iterations to the last bit on the interpreter, or minutes of LLVM's time.
LONG = {
    "betaincinv", "betainccinv", "chdtri", "fdtri", "gammaincinv", "gammainccinv", "gdtrix",
    "beta", "betainc", "betaln", "binom", "fdtr", "fdtrc", "iv", "ive", "jv", "kv", "kve",
    "modstruve", "owens_t", "poch", "stdtr", "stdtrit", "yv",
}
CASES = [pytest.param(name, char, marks=[pytest.mark.slow] * (name in LONG))
         for char in "df" for name in names(char)]


@pytest.mark.parametrize("name, char", CASES)
def test_operator(name, char):
    count = operands(OPERATORS[name], char)
    texts, space = calls(count, [name], "")
    exec(f"def f({', '.join(parameters(count, [name]))}):\n    return {texts[0]}", space)
    samples = given(count, [name], char)
    on_device = npcompile.jit(space["f"], device="interpreter", fullgraph=True)
    lowered = on_device.lower(*samples)
    assert "libdevice" not in lowered.triton
    with np.errstate(all="ignore"):
        assert bits(on_device(*samples)) == bits(npcompile.jit(space["f"])(*samples))
