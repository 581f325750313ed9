"""Subprograms as functions of vectors of doubles.

::

    <8 x double> @subprogram.NAME.8(<8 x double>, ...)

There is one for a register, and on AVX-512 one for as many as the subprogram asks for.  The flags
are as before when a subprogram returns.
"""

from __future__ import annotations

from npcompile.backends.cpu.kernels.lane_compaction import Packed
from npcompile.backends.cpu.kernels.subprogram_bodies import VectorArm
from npcompile.backends.cpu.llvm.text import LLVMFunction, LLVMModule, Value, type_text
from npcompile.backends.cpu.loader.symbols import SUBPROGRAM
from npcompile.backends.target import Target
from npcompile.graph.ir import Subprogram
from npcompile.graph.subprograms import region_of


def emit(what: Subprogram, target: Target, lanes: int) -> str:
    """The module of a subprogram for so many lanes."""
    module, vector = LLVMModule(), type_text("double", lanes)
    params = [(vector, f"x{k}") for k in range(what.operands)]
    outer = LLVMFunction(
        module, f"{SUBPROGRAM}.{what.name}.{lanes}", vector, params, internal=False
    )
    # a call, which nothing is moved across, between saving and restoring flags
    word = outer.alloca("i32")
    outer.run("npc.fp.save", word)
    given = ", ".join(p.typed for p in outer.params)
    found = outer.op(f"call {vector} @inside({given})", "double", lanes)
    outer.run("npc.fp.restore", word)
    outer.do(f"ret {found.typed}")
    inside = LLVMFunction(module, "inside", vector, params)
    values = [Value(p.text, "double", lanes) for p in inside.params]
    sorts = 8 * lanes > 2 * target.width
    body = Packed(inside, target, lanes) if sorts else VectorArm(inside, target, lanes)
    inside.do(f"ret {body.whole(region_of(what), values).typed}")
    return module.text()
