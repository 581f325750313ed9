"""What tells this processor from others, asked of itself: code for one runs on no other."""

from __future__ import annotations

import ctypes
import mmap
import platform
import sys
from functools import cache

from npcompile.runtime.unsafe.raw_memory import protect

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


@cache
def identity() -> tuple[int, ...] | None:
    """What CPUID says; None where it can't be asked: another system or kind of processor."""
    wide = sys.maxsize > 1 << 32  # the code above is for 64 bits, which not all programs are
    if sys.platform != "linux" or platform.machine() != "x86_64" or not wide:
        return None
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
