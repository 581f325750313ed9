"""What tells this processor from others, asked of itself: code for one runs on no other."""

from __future__ import annotations

import ctypes
import mmap
import sys
from functools import cache

from npcompile.backends.target import here
from npcompile.runtime.unsafe.raw_memory import has, protect

#: void ask(uint32 leaf, uint32 part, uint32 *answer): CPUID, whose answer is eax, ebx, ecx, edx
_ASK = bytes.fromhex(
    "53 4989d0 89f8 89f1"  # push rbx; mov r8, rdx; mov eax, edi; mov ecx, esi
    "0fa2 418900 41895804"  # cpuid; mov [r8], eax; mov [r8+4], ebx
    "41894808 4189500c 5bc3"  # mov [r8+8], ecx; mov [r8+12], edx; pop rbx; ret
)
#: void enabled(uint32 *answer): XGETBV, which registers the system keeps
_ENABLED = bytes.fromhex("31c9 0f01d0 8907 895704 c3")  # xor ecx, ecx; xgetbv; store eax, edx; ret
_OSXSAVE = 1 << 27  # of leaf 1's ecx: there is XGETBV
#: leaves and parts that LLVM looks at, and which registers: others number processors or tell sizes
_LEAVES = (
    (0, 0, "abcd"), (1, 0, "acd"), (7, 0, "abcd"), (7, 1, "abcd"), (13, 1, "a"), (20, 0, "b"),
    (25, 0, "b"), (30, 1, "a"), (36, 0, "b"),
    (0x80000000, 0, "abcd"), (0x80000001, 0, "bcd"), (0x80000008, 0, "b"),
)


#: keys of the kernel's notes to a process: what the processor's features are
_HWCAPS = (16, 26)


@cache
def identity() -> tuple[int, ...] | None:
    """What the processor says of itself, or the kernel of it; None where neither can be asked:
    another system or kind of processor."""
    if sys.platform != "linux":
        return None
    known = {"x86-64": _cpuid, "aarch64": _features}.get(here().name)
    return known() if known is not None else None


def _features() -> tuple[int, ...] | None:
    """The features that the kernel names, and the processor's number."""
    if not has("getauxval"):
        return None
    note = ctypes.PYFUNCTYPE(ctypes.c_ulong, ctypes.c_ulong)(("getauxval", ctypes.pythonapi))
    try:
        with open("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1") as file:
            number = int(file.read(), 16)
    except (OSError, ValueError):  # emulators have none
        number = 0
    return number, *map(note, _HWCAPS)


def _cpuid() -> tuple[int, ...] | None:
    """What CPUID says."""
    size, parts = mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE
    memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, parts)
    memory[: len(_ASK)], memory[64 : 64 + len(_ENABLED)] = _ASK, _ENABLED
    held = ctypes.c_char.from_buffer(memory)
    start, word, code = ctypes.addressof(held), ctypes.c_uint32, mmap.PROT_READ | mmap.PROT_EXEC
    if not protect(start, size, code):
        return None
    answer = (word * 4)()
    ask = ctypes.PYFUNCTYPE(None, word, word, ctypes.c_void_p)(start)
    found: list[int] = []
    limits = {0: 0, 0x80000000: 0}  # the last leaf of each kind, which its first one tells
    for leaf, part, registers in _LEAVES:
        kind = leaf & 0x80000000
        if leaf in limits or leaf <= limits[kind]:
            ask(leaf, part, ctypes.addressof(answer))
            if leaf in limits:
                limits[leaf] = answer[0]
            found += [answer["abcd".index(r)] for r in registers]
            if leaf == 1 and answer[2] & _OSXSAVE:
                ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(start + 64)(ctypes.addressof(answer))
                found += answer[:2]
    return tuple(found)
