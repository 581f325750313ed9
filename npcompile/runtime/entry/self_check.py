"""A few functions of machine code and their results, before anything is compiled on a machine that
the tests have not run on."""

from __future__ import annotations

import ctypes
from functools import cache

from npcompile.core.errors import Refusal
from npcompile.core.surroundings import Unusable
from npcompile.runtime.unsafe.layout import proven

#: the quotient's flags; a sum of vectors through memory; the first of two that counts
_TEXT = """
declare void @npc.fp.save(ptr)
declare void @npc.fp.restore(ptr)
declare i64 @npc.clock()
declare void @npc.spin()

define i32 @divide(double %a, double %b, ptr %result) {
  %word = alloca i32
  call void @npc.fp.save(ptr %word)
  %before = load i32, ptr %word
  %clear = and i32 %before, -64
  store i32 %clear, ptr %word
  call void @npc.fp.restore(ptr %word)
  call void @quotient(double %a, double %b, ptr %result)
  call void @npc.fp.save(ptr %word)
  %after = load i32, ptr %word
  store i32 %before, ptr %word
  call void @npc.fp.restore(ptr %word)
  %flags = and i32 %after, 31
  ret i32 %flags
}

define internal void @quotient(double %a, double %b, ptr %result) noinline {
  %c = fdiv double %a, %b
  store double %c, ptr %result
  ret void
}

define double @product(ptr %numbers) {
  %x = load <4 x double>, ptr %numbers, align 8
  %z = call <4 x double> @llvm.fma.v4f64(<4 x double> %x, <4 x double> %x, <4 x double> %x)
  store <4 x double> %z, ptr %numbers, align 8
  %last = extractelement <4 x double> %z, i64 3
  ret double %last
}
declare <4 x double> @llvm.fma.v4f64(<4 x double>, <4 x double>, <4 x double>)

define i64 @count(ptr %place) {
  %first = call i64 @npc.clock()
  call void @npc.spin()
  %old = atomicrmw add ptr %place, i64 5 seq_cst
  %pair = cmpxchg ptr %place, i64 12, i64 20 acq_rel monotonic
  %new = load atomic i64, ptr %place acquire, align 8
  %last = call i64 @npc.clock()
  %passed = sub i64 %last, %first
  %back = icmp slt i64 %passed, 0
  %result = select i1 %back, i64 -1, i64 %new
  ret i64 %result
}
"""
_INFINITY = float("inf")
#: dividends, divisors, quotients and the flags that are raised besides inexact
_QUOTIENTS = ((6.0, 3.0, 2.0, 0), (1.0, 0.0, _INFINITY, 4), (1e300, 1e-300, _INFINITY, 8),
              (1e-300, 1e300, 0.0, 16))


def require() -> None:
    """Raises :class:`Unusable` if machine code does not do what it should."""
    found = "" if proven() else difference()
    if found:
        raise Unusable(Refusal("machine", f"machine code fails its check: {found}"))


@cache
def difference() -> str:
    """The first result that is wrong; empty if all are right."""
    from npcompile.backends.cpu.loader.compile import load
    from npcompile.runtime.cache.disk import own

    code = load(own("self check", lambda: _TEXT))
    number, address = ctypes.c_double, ctypes.c_void_p
    divide = ctypes.PYFUNCTYPE(ctypes.c_int, number, number, address)(code["divide"])
    result = number()
    for a, b, quotient, flags in _QUOTIENTS:
        raised = divide(a, b, ctypes.addressof(result))
        if (raised, result.value) != (flags, quotient):
            return f"{a} / {b} is {result.value} with flags {raised}"
    numbers = (number * 4)(1.0, 2.0, 3.0, 0.5)
    last = ctypes.PYFUNCTYPE(number, address)(code["product"])(ctypes.addressof(numbers))
    if [last, *numbers] != [0.75, 2.0, 6.0, 12.0, 0.75]:
        return f"products are {list(numbers)}"
    place = ctypes.c_int64(7)
    count = ctypes.PYFUNCTYPE(ctypes.c_int64, address)(code["count"])(ctypes.addressof(place))
    return "" if count == place.value == 20 else f"a counter is {count}"
