"""Processors of ARM's architecture with 64 bits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from npcompile.backends.target.family import (
    Family,
    Field,
    Relocation,
    TooFar,
    Trampoline,
    absolute,
)

#: in FPSR the flags divide, overflow, underflow and inexact are one bit lower than in the word
_LOWER = 0b11110
#: FPCR has rounding and treatment of subnormal numbers and NaN above this bit
_CONTROL = -1 << 6

# Flags and control are two registers.  A write to the second one is slow, and rarely a change.
_SAVE = f"""\
  %status = call i64 @llvm.aarch64.get.fpsr()
  %control = call i64 @llvm.aarch64.get.fpcr()
  %invalid = and i64 %status, 1
  %others = and i64 %status, {_LOWER}
  %higher = shl i64 %others, 1
  %flags = or i64 %invalid, %higher
  %above = and i64 %control, {_CONTROL}
  %both = or i64 %flags, %above
  %narrow = trunc i64 %both to i32
  store i32 %narrow, ptr %word
  ret void"""

_RESTORE = f"""\
  %narrow = load i32, ptr %word
  %both = zext i32 %narrow to i64
  %invalid = and i64 %both, 1
  %higher = lshr i64 %both, 1
  %others = and i64 %higher, {_LOWER}
  %flags = or i64 %invalid, %others
  %status = call i64 @llvm.aarch64.get.fpsr()
  %rest = and i64 %status, -32
  %new = or i64 %rest, %flags
  call void @llvm.aarch64.set.fpsr(i64 %new)
  %control = call i64 @llvm.aarch64.get.fpcr()
  %below = and i64 %control, {~_CONTROL}
  %above = and i64 %both, {_CONTROL}
  %wanted = or i64 %above, %below
  %changes = icmp ne i64 %control, %wanted
  br i1 %changes, label %set, label %done
set:
  call void @llvm.aarch64.set.fpcr(i64 %wanted)
  br label %done
done:
  ret void"""

# The counter has a frequency of its own, from 24 MHz to 1 GHz: ticks are brought to 2.4 GHz.
_TICKS = """\
  %hertz = call i64 @llvm.read_volatile_register.i64(metadata !{!"CNTFRQ_EL0"})
  %least = call i64 @llvm.umax.i64(i64 %hertz, i64 1)
  %each = udiv i64 2400000000, %least
  %unit = call i64 @llvm.umax.i64(i64 %each, i64 1)
  %count = call i64 @llvm.read_volatile_register.i64(metadata !{!"CNTVCT_EL0"})
  %now = mul i64 %count, %unit
  ret i64 %now"""


_PAGE = 12  # bits of an address within what one instruction calls a page


def _page(aim: Any, at: Any) -> Any:
    """How many pages it is to an address, in the instruction that finds a page."""
    pages = (aim >> _PAGE) - (at >> _PAGE)
    if ((pages < -(1 << 20)) | (pages >= 1 << 20)).any():
        raise TooFar
    return (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5


def _within_page(unit: int) -> Field:
    """Where in its page an address is, in an instruction that accesses so many bytes."""
    def field(aim: Any, at: Any) -> Any:
        rest = aim & ((1 << _PAGE) - 1)
        if (rest % unit).any():
            raise TooFar
        return rest // unit << 10

    return field


def _branch(aim: Any, at: Any) -> Any:
    """How many instructions it is to a function, in a jump or a call."""
    steps = (aim - at) >> 2
    if ((steps < -(1 << 25)) | (steps >= 1 << 25)).any():
        raise TooFar
    return steps & 0x3FFFFFF


_PAGE_OF_SLOT = Relocation("slot", 4, _page, True)
_IN_SLOTS_PAGE = Relocation("slot", 4, _within_page(8), True)


class AArch64(Family):
    """NEON, whose registers have 16 bytes."""

    name = "aarch64"
    runs = True
    saturates = True
    orders_zeros = True
    pairs_quietly = False
    elf = 183
    relocations: Mapping[int, Relocation] = {
        257: Relocation("value", 8, absolute),
        260: Relocation("value", 8),
        261: Relocation("value", 4),
        275: Relocation("value", 4, _page, True),
        277: Relocation("value", 4, _within_page(1), True),
        278: Relocation("value", 4, _within_page(1), True),
        284: Relocation("value", 4, _within_page(2), True),
        285: Relocation("value", 4, _within_page(4), True),
        286: Relocation("value", 4, _within_page(8), True),
        299: Relocation("value", 4, _within_page(16), True),
        **dict.fromkeys((282, 283), Relocation("function", 4, _branch, True)),
        311: _PAGE_OF_SLOT,
        312: _IN_SLOTS_PAGE,
    }
    # adrp x16, page; ldr x16, [x16, place]; br x16; nop
    trampoline = Trampoline(bytes.fromhex("10000090 100240f9 00021fd6 1f2003d5"),
                ((0, 0, _PAGE_OF_SLOT), (4, 0, _IN_SLOTS_PAGE)))
    cleans_instructions = True
    second_linker = True  # the older one stops the process where data is too far away
    kernel_calls: Mapping[str, int] = {"futex": 98, "gettid": 178}
    bodies: Mapping[str, str] = {
        "npc.fp.save": _SAVE,
        "npc.fp.restore": _RESTORE,
        # an instruction that empties the pipeline takes about as long as a pause should
        "npc.spin": "  call void @llvm.aarch64.isb(i32 15)\n  ret void",
        "npc.streamed": "  fence seq_cst\n  ret void",
        "npc.clock": _TICKS,
    }
    declarations = (
        "declare i64 @llvm.aarch64.get.fpsr()",
        "declare i64 @llvm.aarch64.get.fpcr()",
        "declare void @llvm.aarch64.set.fpsr(i64)",
        "declare void @llvm.aarch64.set.fpcr(i64)",
        "declare void @llvm.aarch64.isb(i32)",
        "declare i64 @llvm.read_volatile_register.i64(metadata)",
        "declare i64 @llvm.umax.i64(i64, i64)",
    )

