"""The GPU backend: kernels of a program as Triton code, launched from the host.

A GPU raises no floating-point exceptions: programs on one warn of nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from npcompile.backends.gpu.cuda import Cuda, Keep
from npcompile.backends.gpu.driver import Launched, flatten, is_hosts, lower
from npcompile.backends.gpu.interpreter import Interpreter
from npcompile.backends.gpu.mirror import Device
from npcompile.backends.reference import ReferenceExecutable
from npcompile.program.ir import Program

DEVICES: dict[str, Callable[[Keep], Device]] = {"interpreter": Interpreter, "cuda": Cuda}


def load(program: Program, device: str, keep: Keep) -> ReferenceExecutable:
    """The program as a function, with kernels on one of :data:`DEVICES`; ``keep`` makes machine
    code, or has it."""
    module, where = lower(program), _device(device, keep)

    def run(params: Sequence[Any], flags: set[str] | None = None) -> tuple[int, Any]:
        return Launched(module, where).run(params)

    return run


@cache
def _device(name: str, keep: Keep) -> Device:
    """The one device of a name, with the kernels that it has loaded."""
    return DEVICES[name](keep)


def places(program: Program) -> list[str]:
    """What a device does of a program, and what is left to the host."""
    module = lower(program)
    joined = [f"{', '.join(k.name for k in group.kernels)} are one kernel where rows are short"
              for group in module.groups.values()]
    left = [f"{kernel.name} runs on the host: {why}" for kernel, why in module.refused.items()]
    calls = any(is_hosts(statement) for statement in flatten(program.body))
    copied = ["arrays of library calls are copied from the device and back"]
    return [f"{len(module.sources)} kernels on the device", *joined, *left, *copied * calls]


def code(program: Program) -> str:
    """The Triton code of a program's kernels."""
    return lower(program).text
