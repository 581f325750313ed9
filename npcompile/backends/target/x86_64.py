"""Processors of Intel and AMD with 64 bits."""

from __future__ import annotations

from collections.abc import Mapping

from npcompile.backends.target.family import Family, Relocation, Target, Trampoline, absolute

_AVX2 = "+avx2,+fma,+bmi,+bmi2,+lzcnt,+popcnt,+f16c"
_AVX512 = ("avx512f", "avx512dq", "avx512bw", "avx512vl")


class X86_64(Family):
    """AVX-512, AVX2 or neither."""

    name = "x86-64"
    runs = proven = True
    orders_quietly = False
    elf = 62
    relocations: Mapping[int, Relocation] = {
        1: Relocation("value", 8, absolute),
        2: Relocation("value", 4),
        4: Relocation("function", 4),
        **dict.fromkeys((9, 41, 42), Relocation("slot", 4)),
    }
    trampoline = Trampoline(bytes.fromhex("ff25 00000000 0000"), ((2, -4, Relocation("slot", 4)),))
    # a short loop on two lines of the cache takes up to half as long again
    options = ("-x86-experimental-pref-innermost-loop-alignment=6",)
    keeps_vectors = "-vzeroupper"
    kernel_calls: Mapping[str, int] = {"futex": 202, "gettid": 186}
    intrinsics: Mapping[str, str] = {
        "npc.fp.save": "llvm.x86.sse.stmxcsr",  # the word is MXCSR
        "npc.fp.restore": "llvm.x86.sse.ldmxcsr",
        "npc.spin": "llvm.x86.sse2.pause",
        "npc.streamed": "llvm.x86.sse.sfence",
        "npc.clock": "llvm.readcyclecounter",
    }
    bodies: Mapping[str, str] = {}
    declarations = ()

    def chosen(self, request: str, cpu: str, have: Mapping[str, bool], features: str,
               near: int) -> Target:
        if request == "scalar":
            return super().chosen(request, cpu, have, features, near)
        wide = all(have.get(name) for name in _AVX512)
        if wide and request != "avx2":
            return Target(cpu, features, 64, True, near, self.name)
        if have.get("avx2"):
            return Target("haswell", _AVX2, 32, False, near, self.name)
        return Target(cpu, features, 16, False, near, self.name)

#: vector instructions without a neutral name; ``k`` is the type of lanes, ``b`` a register's bits
_INSTRUCTIONS = {
    "scale": "avx512.mask.scalef.p{k}.{b}",
    "extreme": "avx512.mask.range.p{k}.{b}",
    "inverse": "avx512.rcp14.p{k}.{b}",
    "inverse_root": "avx512.rsqrt14.p{k}.{b}",
    "fma": "avx512.vfmadd.p{k}.{b}",
    "subnormal": "avx512.fpclass.p{k}.{b}",
    "compare": "avx512.mask.cmp.s{k}",
    "silent_min": "avx512.mask.min.s{k}.round",
    "silent_max": "avx512.mask.max.s{k}.round",
    "permute": "avx512.permvar.{k}f.{b}",
    "permute_two": "avx512.vpermi2var.p{k}.{b}",
    "pack": "avx512.mask.compress.{k}",
    "unpack": "avx512.mask.expand.{k}",
}

#: no instruction; what is computed from the register stays behind it
IN_PLACE = 'asm sideeffect "", "=v,0"'


def instruction(name: str, kind: str, bits: int = 512) -> str:
    """The intrinsic for an instruction of machines with mask registers."""
    return f"llvm.x86.{_INSTRUCTIONS[name].format(k=kind, b=bits)}"


def ordered(name: str, kind: str) -> str:
    """The intrinsic for ``min`` and ``max`` of machines without them: the second number where one
    is NaN, which raises a flag."""
    return f"llvm.x86.sse{'2' * (kind == 'd')}.{name}.s{kind}"
