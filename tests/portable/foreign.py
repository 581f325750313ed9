"""Objects for systems on which nobody has run anything: what is compiled, and what it imports.

    python -m tests.portable.foreign [COUNT SEED]

Compiles the modules of the corpus, of the table of operators and of the runtime for macOS and
Windows, all or a sample, and prints the names that the objects import.
"""

from __future__ import annotations

import random
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.programs import PROGRAMS
from npcompile import jit
from npcompile.backends import cpu
from npcompile.backends.cpu.loader.compile import compile
from npcompile.backends.cpu.transforms import walker
from npcompile.backends.target import Target, family
from npcompile.runtime.entry import interrupts
from npcompile.runtime.memory import plain_code
from npcompile.runtime.threads import worker_code
from npcompile.runtime.versions import forwarding, native
from tests.portable import page

#: systems, the families of their processors and some such processor
SYSTEMS = {
    "aarch64-apple-darwin": ("aarch64", "apple-m1"),
    "x86_64-apple-darwin": ("x86-64", "haswell"),
    "x86_64-pc-windows-msvc": ("x86-64", "haswell"),
}
#: functions of C, the compiler's helpers among them, and of threads that the libraries of macOS and
#: of Windows have
_LIBRARIES = {
    "darwin": frozenset({
        "memcpy", "memset", "memmove", "bzero", "memset_pattern4", "memset_pattern8",
        "memset_pattern16", "fmod", "fmodf", "__udivti3", "__divti3", "__umodti3", "__modti3",
        "__extendhfsf2", "__truncsfhf2", "__truncdfhf2", "malloc", "free", "aligned_alloc",
        "pthread_attr_destroy", "pthread_attr_init", "pthread_attr_setstacksize",
        "pthread_cond_init", "pthread_cond_signal", "pthread_cond_wait", "pthread_create",
        "pthread_join", "pthread_mutex_init", "pthread_mutex_lock", "pthread_mutex_unlock",
        "pthread_sigmask", "sched_yield"}),
    "windows": frozenset({
        "memcpy", "memset", "memmove", "__chkstk", "fmod", "fmodf", "_fltused", "malloc", "free",
        "_aligned_malloc", "_aligned_free", "CreateThread", "WaitForSingleObject", "CloseHandle",
        "SwitchToThread", "WaitOnAddress", "WakeByAddressSingle"}),
}
#: names of Python's and of NumPy's C interface, and those that this library gives itself
_GIVEN = re.compile(r"_?Py|npc_|\w+\.")


def target_of(triple: str) -> Target:
    name, processor = SYSTEMS[triple]
    width = 32 if name == "x86-64" else 16
    return Target(processor, "", width, False, 8 << 20, name, family(name).saturates, triple)


class _Compiled(BaseException):
    """The module is compiled; it is not loaded."""


def module(function: Callable[..., Any], arguments: tuple[Any, ...], target: Target) -> bytes:
    """What a function's first call would load on another system; empty if Python runs it."""
    made: list[bytes] = []

    def compiled(text: str, of: Target, optimise: tuple[str, ...], *rest: Any) -> Any:
        made.append(compile(text, of, optimise))
        raise _Compiled

    with (mock.patch.object(native, "machine_code", compiled),
          mock.patch.object(cpu, "target", lambda *request: target),
          np.errstate(all="ignore"), warnings.catch_warnings()):
        warnings.simplefilter("ignore")
        with suppress(_Compiled):
            jit(function, cache=False)(*arguments)
    return made[0] if made else b""


def own(target: Target) -> Iterator[bytes]:
    """The modules of the runtime."""
    with mock.patch.object(interrupts, "target", lambda: target):
        system, name = ("windows", "nt") if "windows" in target.triple else ("posix", "posix")
        texts = [worker_code.text(system, family(target.family)), plain_code.text(name),
                 interrupts.poll(), walker.text(target.width), forwarding._text()]
    for text in texts:
        yield compile(text, target)


def functions() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Functions and arguments of the corpus and of the table of operators."""
    found: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        name: (program.function, program.arguments(program.small))
        for name, program in PROGRAMS.items()}
    return found | {name: (line[0], tuple(line[1])) for name, line in page.elementwise()}


def objects(code: bytes) -> tuple[list[str], list[bytes]]:
    """The names that a module needs by its text, and its object files."""
    end = 8 + int.from_bytes(code[4:8], "little")
    _, needs, lengths = [line.split() for line in code[8:end].decode().split("\n")]
    found = []
    for length in map(int, lengths):
        found.append(code[end : end + length])
        end += length
    return needs, found


def outside(file: bytes) -> tuple[set[str], set[str]]:
    """The names that an object file imports, and those that it has for other files."""
    def number(at: int, size: int = 4) -> int:
        return int.from_bytes(file[at : at + size], "little")

    def text(at: int) -> str:
        return file[at : file.index(b"\0", at)].decode()

    found: tuple[set[str], set[str]] = set(), set()
    if file[:4] == b"\xcf\xfa\xed\xfe":  # Mach-O: load commands, among them one of symbols
        at = 32
        for _ in range(number(16)):
            if number(at) == 2:
                first, count, texts = (number(at + k) for k in (8, 12, 16))
                for k in range(first, first + 16 * count, 16):
                    if file[k + 4] & 1:
                        name = text(texts + number(k)).removeprefix("_")
                        found[file[k + 4] & 0x0E != 0].add(name)
            at += number(at + 4)
        return found
    first, count = number(8), number(12)  # COFF: symbols, then texts
    texts, k = first + 18 * count, 0
    while k < count:
        at = first + 18 * k
        if file[at + 16] == 2:
            name = text(texts + number(at + 4)) if number(at) == 0 else (
                file[at : at + 8].rstrip(b"\0").decode())
            found[number(at + 12, 2) != 0].add(name)
        k += 1 + file[at + 17]
    return found


def imports(code: bytes, triple: str) -> tuple[set[str], set[str]]:
    """The names that a module imports: those that somebody has on that system, and others."""
    needs, files = objects(code)
    seen = [outside(file) for file in files]
    names = set[str]().union(*(asked for asked, _ in seen))
    names -= set[str]().union(*(given for _, given in seen))
    known = _LIBRARIES["darwin" if "darwin" in triple else "windows"]
    known |= {name for name in needs if _GIVEN.match(name)}
    return names & known, names - known


def main() -> None:
    all_functions = functions()
    names = sorted(all_functions)
    if sys.argv[1:]:
        names = random.Random(int(sys.argv[2])).sample(names, int(sys.argv[1]))
    for triple in SYSTEMS:
        target, known, unknown, python = target_of(triple), set[str](), set[str](), 0
        codes = [module(*all_functions[name], target) for name in names]
        for code in (*own(target), *filter(None, codes)):
            asked, others = imports(code, triple)
            known |= asked
            unknown |= others
        python = codes.count(b"")
        print(f"{triple}: {len(codes) - python} modules, {python} left to Python")
        print(f"  {len(known)} names that are there: {' '.join(sorted(known))}")
        print(f"  {len(unknown)} names that nobody has: {' '.join(sorted(unknown))}")


if __name__ == "__main__":
    main()
