"""What tests launch on Triton's interpreter, as machine code for three generations of GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from npcompile.backends.gpu.compile import identity, translate
from npcompile.backends.gpu.interpreter import Interpreter
from npcompile.backends.gpu.source import Source

#: sm_80, sm_90 and sm_120
CAPABILITIES = (80, 90, 120)

_known: set[object] = set()


def read(source: Source, constants: dict[str, int], capability: int) -> None:
    """Compiles a kernel and reads its PTX: nothing is contracted or approximate, and the parameters
    are those that a launch passes.  For one generation memory and sizes are known to be aligned,
    as they are in most launches."""
    aligned = {name for name, _ in source.parameters} if capability == 90 else frozenset()
    cubin = translate(source, constants, capability, aligned)
    assert cubin.code[:4] == b"\x7fELF"
    (head,) = re.findall(r"\.entry (\w+)\((.*?)\)", cubin.ptx, re.S)
    widths = re.findall(r"\.param \.(\w+)", head[1])
    assert head[0] == cubin.entry
    assert len(widths) == len(source.parameters) + 2  # and two pointers to scratch memory
    if "fma(" not in source.text and "fmod" not in source.text:
        assert not re.search(r"\bfma\.", cubin.ptx)
        assert not re.search(r"\b(div\.(full|approx)|sqrt\.approx|rcp)\b", cubin.ptx)


@contextmanager
def reading(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Reads the machine code of every kernel that is launched inside, each once a process."""
    found: list[tuple[Source, dict[str, int]]] = []
    launch = Interpreter.launch

    def noted(self, source, programs, args, constants):
        found.append((source, constants))
        launch(self, source, programs, args, constants)

    monkeypatch.setattr(Interpreter, "launch", noted)
    yield
    for source, constants in found:
        for capability in CAPABILITIES:
            key = identity(source, constants, capability, frozenset())
            if key not in _known:
                _known.add(key)
                read(source, constants, capability)
