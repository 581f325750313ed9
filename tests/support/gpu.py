"""What tests launch on Triton's interpreter, as machine code for three generations of GPUs."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from npcompile.backends.gpu.compile import Cubin, assemble, assemblies, identity
from npcompile.backends.gpu.interpreter import Interpreter
from npcompile.backends.gpu.source import KernelSource

#: sm_80, sm_90 and sm_120
CAPABILITIES = (80, 90, 120)
#: ``all`` or ``one``: what all tests compile their kernels for
ASKED = os.environ.get("NPCOMPILE_TEST_GENERATIONS", "")

Kernel = tuple[KernelSource, dict[str, int]]


def claimed(kernel: str) -> bool:
    """Whether the caller is the first of this run's processes with this kernel, which is its to
    compile then."""
    folder = Path(os.environ["NPCOMPILE_TEST_RUN"], "kernels")
    folder.mkdir(exist_ok=True)
    try:
        (folder / kernel).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def generations(kernel: str, one: bool) -> tuple[int, ...]:
    """What a kernel is compiled for: all, or ``one``, which its digest chooses."""
    if ASKED == "one" or (one and ASKED != "all"):
        return (CAPABILITIES[int(kernel, 16) % len(CAPABILITIES)],)
    return CAPABILITIES


def read(kernels: Iterable[Kernel], one: bool = False) -> None:
    """Compiles kernels and reads their PTX, each once a run.  For one generation memory and sizes
    are known to be aligned, as they are in most launches."""
    texts: dict[int, list[str]] = {}
    launched = {(id(source), *constants.items()): (source, constants)
                for source, constants in kernels}
    for source, constants in launched.values():
        key = repr(identity(source, constants, 0, frozenset()))
        digest = hashlib.sha256(key.encode()).hexdigest()
        every = frozenset(name for name, _ in source.parameters)
        targets = [(c, every if c == 90 else frozenset()) for c in generations(digest, one)
                   if claimed(f"{digest}.{c}")]
        for target, found in zip(targets, assemblies(source, constants, targets)):
            check(source, found)
            several = texts.setdefault(target[0], [])
            several.append(renamed(found, f"_{len(several)}"))
    for capability, several in texts.items():
        assert assemble(joined(several), capability)[:4] == b"\x7fELF"


def check(source: KernelSource, found: Cubin) -> None:
    """Nothing is contracted or approximate, and the parameters are those that a launch passes."""
    (head,) = re.findall(r"\.entry (\w+)\((.*?)\)", found.ptx, re.S)
    widths = re.findall(r"\.param \.(\w+)", head[1])
    assert head[0] == found.entry
    assert len(widths) == len(source.parameters) + 2  # and two pointers to scratch memory
    if not re.search(r"\bfma\(|fmod|floor_quotient", source.text):
        assert not re.search(r"\bfma\.", found.ptx)
        assert not re.search(r"\b(div\.(full|approx)|sqrt\.approx|rcp)\b", found.ptx)


def renamed(found: Cubin, suffix: str) -> str:
    """The PTX of a kernel with other names of it and of its constants."""
    names = [found.entry, *re.findall(r"(?m)^\.global .*?([\w$]+)\[", found.ptx)]
    of = "|".join(map(re.escape, names))
    return re.sub(rf"(?<![\w$])({of})(?![\w$])|\b{found.entry}(?=_param_)",
                  lambda m: m[0] + suffix, found.ptx)


def joined(texts: Sequence[str]) -> str:
    """Several kernels as one text: the assembler takes longer to start than for a kernel."""
    head = r"(?m)^\.(version|target|address_size|extern) .*$"
    declared = dict.fromkeys(m[0] for text in texts for m in re.finditer(head, text))
    return "\n".join([*declared, *(re.sub(head, "", text) for text in texts)])


@contextmanager
def reading(monkeypatch: pytest.MonkeyPatch, one: bool = False) -> Iterator[None]:
    """Reads the machine code of every kernel that is launched inside."""
    found: list[Kernel] = []
    launch = Interpreter.launch

    def noted(self, source, programs, args, constants):
        found.append((source, constants))
        launch(self, source, programs, args, constants)

    monkeypatch.setattr(Interpreter, "launch", noted)
    yield
    read(found, one)
