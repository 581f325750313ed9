"""The GPU backend: kernels of a program as Triton code, launched from the host.

A GPU raises no floating-point exceptions: programs on one warn of nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from npcompile.backends.gpu.driver import Device, Launched, lower
from npcompile.backends.gpu.interpreter import Interpreter
from npcompile.backends.reference import Executable
from npcompile.program.ir import Program


def load(program: Program, device: str) -> Executable:
    """The program as a function, with kernels on a device: ``"interpreter"`` is Triton's."""
    module, where = lower(program), _device(device)

    def run(params: Sequence[Any], flags: set[str] | None = None) -> tuple[int, Any]:
        return Launched(module, where).run(params)

    return run


def _device(name: str) -> Device:
    if name != "interpreter":
        raise ValueError(f"device is 'cpu' or 'interpreter', not {name!r}")
    return Interpreter()
