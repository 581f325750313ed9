"""``f.lower(*args)``: the stages of compiling, each as text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from npcompile.core.records import replace
from npcompile.graph.show import show as show_graph
from npcompile.program.ir import Program
from npcompile.program.show import show as show_program
from npcompile.runtime.entry.executables import Executable
from npcompile.runtime.versions.dispatch import Dispatcher


@dataclass(frozen=True, repr=False)
class Lowered:
    """``graph`` (as traced), ``program`` (kernels), ``llvm``, ``asm`` and ``triton`` are texts."""

    executable: Executable
    graph: str
    for_gpu: Callable[[], Program] | None = None  # makes another program, if this is the host's

    def __repr__(self) -> str:
        return "<stages of a compiled call: .graph .program .llvm .asm .triton>"

    def _repr_html_(self) -> str:
        """The stages that are short, to be unfolded."""
        stages = {"graph": self.graph, "program": self.program, "llvm": self.llvm}
        return "".join(
            f"<details><summary>{name}, {len(text.splitlines())} lines</summary>"
            f"<pre>{escape(text)}</pre></details>" for name, text in stages.items()
        )

    @property
    def program(self) -> str:
        """The kernel program."""
        return show_program(self.executable.program)

    @property
    def llvm(self) -> str:
        """LLVM's intermediate language; empty for the reference backend."""
        return self.executable.text

    @property
    def asm(self) -> str:
        """Machine code of this machine, as assembler text."""
        if not self.executable.text:
            return ""
        from npcompile.backends.cpu.loader.compile import assembly

        return assembly(self.executable.text, optimise=self.executable.optimise)

    @property
    def triton(self) -> str:
        """Triton code of the kernels, with the user's lines, as for a GPU."""
        from npcompile.backends.gpu import code

        program = self.for_gpu() if self.for_gpu is not None else self.executable.program
        return code(program)


def lower(
    owner: object, dispatcher: Dispatcher, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Lowered:
    """Compiles for these arguments (without running) and shows the stages.

    The dispatcher serves other functions when its ``owner`` is gone.

    Raises
    ------
    CompileError
        If the function can't be compiled for them.
    TypeError
        If the function does not take them.
    """
    from npcompile.core.errors import CompileError, Refused

    bound = dispatcher.served.parameters.demand(args, kwargs)
    try:
        version, _ = dispatcher.compile(bound, whole=True)
    except Refused as refused:
        name = dispatcher.served.name
        raise CompileError(f"{name}: {refused.refusal}") from None
    assert version.trace.graph is not None
    host = dispatcher.served.config.capabilities.host_memory
    again = _for_gpu(owner, dispatcher, bound) if host else None
    return Lowered(version.executable, show_graph(version.trace.graph), again)


def _for_gpu(
    owner: object, dispatcher: Dispatcher, bound: dict[str, Any]
) -> Callable[[], Program]:
    """What makes the program that a GPU would run."""
    from npcompile.runtime.entry.executables import Stopwatch
    from npcompile.runtime.versions.lowering import lower

    config = replace(dispatcher.served.config, device="cuda")

    def made(owner: object = owner) -> Program:
        return lower(dispatcher.follow(bound), config, Stopwatch())

    return made
