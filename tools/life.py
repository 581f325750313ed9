"""Renders docs/life_of_a_call.md: the text of each stage is made by the compiler itself.

The bytecode is that of CPython 3.11, so the page is written and tested there.  The machine code is
for one fixed target, so the page is the same on every machine.
"""

from __future__ import annotations

import dis
import re
import sys
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any
from unittest import mock

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import life_examples  # noqa: E402

from npcompile import jit, passes  # noqa: E402
from npcompile.backends import cpu  # noqa: E402
from npcompile.backends.cpu.llvm.frame import FrameLayout  # noqa: E402
from npcompile.graph.ir import Graph  # noqa: E402
from npcompile.graph.show import show as show_graph  # noqa: E402
from npcompile.program.ir import Program  # noqa: E402
from npcompile.program.show import show as show_program  # noqa: E402
from npcompile.runtime.entry.entry_code import emit_entry  # noqa: E402
from npcompile.runtime.versions import lowering, resume  # noqa: E402
from npcompile.schedule import schedule  # noqa: E402

#: a processor with AVX2: registers of 32 bytes, caches of 32 MiB
TARGET = cpu.Target("haswell", "", 32, False, 32 << 20, "x86-64")
OPTIONS = {"cache": False, "parallel": False, "deterministic": False}
_METADATA = re.compile(r", !(alias\.scope|noalias|range|prof|llvm\.loop) !\d+")


class Stages:
    """The stages of compiling one call, each as text."""

    def __init__(self, function: FunctionType, *args: Any) -> None:
        self.function = function
        dispatcher = jit(function, **OPTIONS)._dispatcher
        self.trace = dispatcher.follow(dispatcher.served.parameters.demand(args, {}))
        self.config, self.compiler = dispatcher.served.config, dispatcher.served.compiler

    @property
    def bytecode(self) -> str:
        return instructions(self.function.__code__)

    @property
    def graph(self) -> str:
        return shown(self.trace.graph)

    @property
    def guards(self) -> str:
        leaves = [f"leaf   {leaf.source.name}: {_kind(leaf.type)}" for leaf in self.trace.leaves]
        guards = [f"guard  {guard.text()}" for guard in self.trace.guards]
        return "\n".join([*leaves, *guards])

    @cached_property
    def passed(self) -> tuple[Graph, list[str]]:
        """The graph after all passes, and the names of the passes that changed its text."""
        graph, changed = self.trace.graph, []
        for step in passes.PASSES:
            if step.where(graph, self.config):
                before = shown(graph)
                graph = step.run(graph)
                changed += [step.name] if shown(graph) != before else []
        return graph, changed

    @property
    def passes(self) -> str:
        graph, changed = self.passed
        return f"{shown(graph)}\n(changed by the passes {', '.join(changed)})"

    @cached_property
    def program(self) -> Program:
        return schedule(self.passed[0], self.config)

    @cached_property
    def body(self) -> str:
        return cpu.emit(self.program, FrameLayout(self.program), TARGET).text

    @cached_property
    def entry(self) -> str:
        outline = lowering.outline(self.trace, self.config)
        wires, _ = self.compiler.wires(outline)
        repeats = outline.repeatable, outline.ambiguous or outline.late
        frame = FrameLayout(self.program)
        return emit_entry(wires.signature, self.program, frame, *repeats, outline.silent)


def shown(graph: Graph) -> str:
    """A graph's text with short lines."""
    text = show_graph(graph).replace(", shape=(), strides=(), part=''", "")
    return re.sub(r"  +(# line \d+)$", r"  \1", text, flags=re.M)


def _kind(type_: Any) -> str:
    return f"a {type_.python_type.__name__}" if hasattr(type_, "python_type") else repr(type_)


def between(text: str, first: str, last: str) -> str:
    """The lines from the first that contains ``first`` to the first after it with ``last``."""
    lines = text.splitlines()
    begin = next(k for k, line in enumerate(lines) if first in line)
    end = next(k for k in range(begin, len(lines)) if last in lines[k])
    before, after = ["..."] * (begin > 0), ["..."] * (end + 1 < len(lines))
    return "\n".join([*before, *lines[begin : end + 1], *after])


def instructions(code: CodeType, jump: str = "") -> str:
    """Bytecode as text, or only up to a ``jump`` and the instruction that it leads to."""
    lines, target = [], None
    for found in dis.get_instructions(code):
        skipped = target is not None and found.offset < target
        if skipped or found.opname in ("CACHE", "PRECALL", "NOP", "RESUME"):
            continue
        told = found.argrepr or ("" if found.arg is None else str(found.arg))
        lines.append(f"{found.offset:>4} {found.opname:<17} {told}".rstrip())
        if target is not None:
            return "\n".join([*lines, " ..."])
        if found.opname == jump:
            target = found.argval
    return "\n".join(lines)


def blocks(text: str, function: str, *marks: str) -> str:
    """The basic blocks of a function in LLVM text that first contain the ``marks``."""
    found = re.search(rf"^(define [^\n]*@{function}\(.*?)\n(.*?)^\}}", text, re.M | re.S)
    assert found is not None
    head, inside = found.groups()
    parts = re.split(r"(?m)^(?=\w+:\n)", _METADATA.sub("", inside))
    kept = {next(part for part in parts if mark in part) for mark in marks}
    shown = [part.rstrip() if part in kept else "  ..." for part in parts if part]
    once = [line for k, line in enumerate(shown) if k == 0 or not line == shown[k - 1] == "  ..."]
    return "\n".join([head, *once, "}"])


def side_exit() -> dict[str, str]:
    """What Python gets when ``tally`` leaves compiled code, and the function that goes on."""
    compiled = jit(life_examples.tally, **OPTIONS)
    compiled(np.zeros(4), np.array([1, 2, 3]))
    made: list[tuple[Any, FunctionType]] = []
    prepare, raised = resume.prepare, ""

    def prepared(frames: Any, first: Any = None) -> FunctionType:
        held = "\n".join([*(f"{name:<8} {value!r}" for name, value in frames[0].local.items()),
                          *(f"stack    {_told(value)}" for value in frames[0].stack)])
        made.append((held, prepare(frames, first)))
        return made[0][1]

    with mock.patch.object(resume, "prepare", prepared):
        try:
            compiled(np.zeros(4), np.array([1, 9, 3]))
        except IndexError as error:
            raised = f"IndexError: {error}"
    held, function = made[0]
    return {"tally.exit": held, "tally.resume": instructions(function.__code__, "JUMP_FORWARD"),
            "tally.error": raised}


def _told(value: Any) -> str:
    """An object as text, an iterator by what it still gives."""
    if hasattr(value, "__reduce__") and hasattr(value, "__next__"):
        return f"iterator at item {value.__reduce__()[2]} of {value.__reduce__()[1][0]!r}"
    return repr(value)


def graph_break(*args: Any) -> dict[str, str]:
    """What Python executes at the graph break of ``tag``, and what is compiled after it."""
    compiled = jit(life_examples.tag, **OPTIONS)
    codes: list[CodeType] = []
    statement = resume._statement

    def written(*parts: Any) -> CodeType:
        codes.append(statement(*parts))
        return codes[-1]

    with mock.patch.object(resume, "_statement", written):
        compiled(*args)
    regions = compiled._dispatcher.regions
    assert regions is not None
    ((place, rest),) = regions.continuations.items()
    (version,) = rest.versions
    assert version.trace.graph is not None
    return {"tag.statement": between(instructions(codes[0]), "UNPACK", "RETURN"),
            "tag.rest": shown(version.trace.graph), "tag.place": repr(place),
            "tag.explain": between(str(compiled.explain()), "tag", "changed")}


def page() -> str:
    """The page's text."""
    line = Stages(life_examples.line, np.arange(5.0))
    tally = Stages(life_examples.tally, np.zeros(4), np.array([1, 2, 3]))
    names = ["b", "a"]
    tag = Stages(life_examples.tag, np.ones(200_000), names)
    examples = (HERE / "life_examples.py").read_text().splitlines()
    texts = {"examples": "\n".join(
        f"{k:>2}  {text}".rstrip() for k, text in enumerate(examples, 1) if text and k > 4)}
    for stages in (line, tally, tag):
        of = stages.function.__name__
        texts |= {f"{of}.{name}": getattr(stages, name)
                  for name in ("bytecode", "graph", "guards", "passes")}
        texts[f"{of}.program"] = re.sub(r"  +# line", "  # line", show_program(stages.program))
    texts |= {
        "line.kernel": blocks(line.body, "k0", "fmul"),
        "line.entry": blocks(line.entry, "entry", "@PyArray_Type", "@body"),
        "line.passes": between(texts["line.passes"], "mul(", "mul("),
        "tally.graph": between(tally.graph, "for_", "yield"),
        "tag.program": between(texts["tag.program"], "program", "store r1"),
        "tally.bytecode": between(tally.bytecode, "FOR_ITER", "JUMP_BACKWARD"),
        "tally.program": between(texts["tally.program"], "kernel k2", "store counts"),
        "tag.bytecode": between(tag.bytecode, "LOAD_FAST         names", "POP_TOP"),
        "tally.passes": between(texts["tally.passes"], "where(", "check("),
        "tally.body": blocks(tally.body, "body", "icmp sle", "store i64 0, ptr %room",
                             "fadd"),
    }
    texts |= side_exit() | graph_break(np.ones(200_000), names)
    template = (HERE / "life_of_a_call.md").read_text()
    return re.sub(r"\{\{([\w.]+)\}\}", lambda found: texts[found[1]], template)
