"""Machines: all that differs between families of processors, one class for each family.

Generated text names no instruction, register or intrinsic of a family.  Where LLVM has no neutral
name, the text calls a *machine function*:

::

    void npc.fp.save(ptr word)      stores the flags and the control of floating point, 32 bits
    void npc.fp.restore(ptr word)   sets both
    void npc.spin()                 the thread waits for another one
    void npc.streamed()             stores around the cache come before all that follow
    i64 npc.clock()                 two to four in a nanosecond

Bits 0, 2, 3, 4 and 5 of the word are the flags invalid, divide, overflow, underflow and inexact;
bits 6 and up are the control, whose meaning only the family knows.  :meth:`Family.spelled` gives
these names what the family has for them.
"""

from npcompile.backends.target.family import (
    MACHINE_FUNCTIONS,
    Family,
    Relocation,
    Target,
    TooFar,
    families,
    family,
    here,
)

__all__ = ["MACHINE_FUNCTIONS", "Family", "Relocation", "Target", "TooFar", "families",
           "family", "here"]
