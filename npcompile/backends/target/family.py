"""What a family of processors tells of itself, and the family of this machine."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal

from npcompile.core.paths import import_path
from npcompile.core.records import record


@record
class Target:
    """What to generate code for.

    ``width`` is a vector register's, in bytes; ``masks`` says that lanes are chosen by mask
    registers and that instructions may raise no flags; ``near`` is how many bytes caches hold that
    are faster than memory; ``family`` is the name of the processor's; ``saturates`` says that
    a number out of an integer type's range becomes the nearest one, and NaN 0, and not both the
    least; ``triple`` names a system, if it is not this one.
    """

    cpu: str
    features: str
    width: int
    masks: bool
    near: int
    family: str
    saturates: bool = False
    triple: str = ""

    @property
    def foresees(self) -> bool:
        """Whether reading in order is as fast unasked; on Zen 4, asking ahead is in the way."""
        return self.cpu.startswith("znver")


class TooFar(Exception):
    """An instruction has no room for a distance."""


#: the bits of an instruction or a word that lead to an address, for arrays of addresses and of
#: places where they are written
Field = Callable[[Any, Any], Any]


def absolute(aim: Any, at: Any) -> Any:
    """The address itself."""
    return aim


def distance(aim: Any, at: Any) -> Any:
    """How far it is to the address."""
    return aim - at


@record
class Relocation:
    """What object files ask to be written into code.

    ``goal`` is the *value* of a symbol, a *function* or a stub that jumps to it, or the *slot* that
    has the value; ``size`` is in bytes; ``within`` says that the bits join an instruction's others.
    """

    goal: Literal["value", "function", "slot"]
    size: int
    field: Field = distance
    within: bool = False


@record
class Trampoline:
    """Code that jumps to the address in a slot: its bytes, and what is written into it, with
    places and what to add."""

    code: bytes = b""
    written: tuple[tuple[int, int, Relocation], ...] = ()


#: what generated text may call, with the types of results and parameters
MACHINE_FUNCTIONS = {
    "npc.fp.save": ("void", "ptr"),
    "npc.fp.restore": ("void", "ptr"),
    "npc.spin": ("void", ""),
    "npc.streamed": ("void", ""),
    "npc.clock": ("i64", ""),
}


class Family:
    """Any processors, of which nothing is known: code is generated, but not run."""

    name = "plain"
    runs = False  #: whether calls may be machine code
    proven = False  #: whether all tests have run on such a machine itself
    saturates = False  #: what instructions do, see :class:`Target`
    orders_zeros = False  #: minimum and maximum are instructions, in which NaN wins and -0 < +0
    orders_quietly = True  #: comparisons of single numbers raise no flag for quiet NaN
    pairs_quietly = True  #: nor does LLVM's search for NaN in pairs of vectors
    second_linker = False  #: whether LLVM's newer linker has to be used
    elf = 0  #: its number in object files
    relocations: Mapping[int, Relocation] = {}  #: that may be in them, by type
    trampoline = Trampoline()
    cleans_instructions = False  #: what was written is not yet what instructions are read from
    options: tuple[str, ...] = ()  #: of LLVM, for the whole process
    keeps_vectors = ""  #: a feature without which functions change vector registers that they keep
    kernel_calls: Mapping[str, int] = {"futex": 0, "gettid": 0}  #: their numbers in Linux
    #: intrinsics that do what a machine function does
    intrinsics: Mapping[str, str] = {}
    #: the bodies of the other machine functions
    bodies: Mapping[str, str] = {
        "npc.fp.save": "  store i32 0, ptr %word\n  ret void",
        "npc.fp.restore": "  ret void",
        "npc.spin": "  ret void",
        "npc.streamed": "  fence seq_cst\n  ret void",
        "npc.clock": "  %now = call i64 @llvm.readcyclecounter()\n  ret i64 %now",
    }
    #: what these bodies call
    declarations: tuple[str, ...] = ("declare i64 @llvm.readcyclecounter()",)

    def chosen(self, request: str, cpu: str, have: Mapping[str, bool], features: str,
               near: int) -> Target:
        """The target for a capability of a processor that has these features; *scalar* vectors have
        one float64."""
        width = 8 if request == "scalar" else 16
        return Target(cpu, features, width, False, near, self.name, self.saturates)

    def spelled(self, text: str) -> str:
        """A module's text with this family's names for machine functions."""
        for name, intrinsic in self.intrinsics.items():
            text = text.replace(f"@{name}(", f"@{intrinsic}(")
        used = [name for name in self.bodies if f"@{name}(" in text]
        if not used:
            return text
        text = _DECLARED.sub("", text)
        lines = [line for line in self.declarations if line not in text]
        for name in used:
            result, parameter = MACHINE_FUNCTIONS[name]
            head = f"define internal {result} @{name}({parameter}{' %word' * bool(parameter)})"
            lines.append(f"{head} noinline {{\n{self.bodies[name]}\n}}")
        return "\n".join([text, *lines, ""])


_DECLARED = re.compile(
    r"^declare \w+ @(?:" + "|".join(map(re.escape, MACHINE_FUNCTIONS)) + r")\(.*\n?", re.MULTILINE)

_FAMILIES = {
    "x86-64": "npcompile.backends.target.x86_64:X86_64",
    "aarch64": "npcompile.backends.target.aarch64:AArch64",
    "plain": "npcompile.backends.target.family:Family",
}
#: what systems call the families' processors
_MACHINES = {"x86_64": "x86-64", "amd64": "x86-64", "aarch64": "aarch64", "arm64": "aarch64"}


@cache
def family(name: str) -> Family:
    """The family of this name."""
    found: Family = import_path(_FAMILIES[name])()
    return found


def families() -> tuple[str, ...]:
    """The names of all families."""
    return tuple(_FAMILIES)


def here() -> Family:
    """The family of this machine; the plain one where the system tells two stories."""
    wide = sys.maxsize > 1 << 32  # programs of 32 bits run on the same machines
    told = os.uname().machine if hasattr(os, "uname") else platform.machine()
    names = {platform.machine().lower(), told.lower()}
    found = {_MACHINES.get(name, "plain") for name in names}
    return family(found.pop() if wide and len(found) == 1 else "plain")
