"""Conversions between dtypes, as :mod:`npcompile.backends.cpu.llvm.casts` has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.backends.gpu.scalar import Parts, ScalarText, constant, register, typed


def cast(parts: Parts, source: np.dtype[Any], to: np.dtype[Any]) -> Parts:
    """``astype``, unsafe casting."""
    if source == to:
        return parts
    if to.kind == "c":
        half = np.dtype(f"f{to.itemsize // 2}")
        if source.kind == "c":
            return tuple(_real(part, half) for part in parts)
        return _real(parts[0], half), constant(0.0, half)
    if source.kind != "c":
        return (_real(parts[0], to),)
    if to.kind != "b":
        return (_real(parts[0], to),)
    truth = [_real(part, to) for part in parts]
    return (ScalarText(f"{truth[0].operand} | {truth[1].operand}", to, False),)


def _real(term: ScalarText, to: np.dtype[Any]) -> ScalarText:
    source = term.dtype
    if source == to:
        return term
    if to.kind == "b":
        text = typed(term) if term.value is not None else term.operand
        return ScalarText(f"{text} != 0", to, False)
    if source.kind == "f" and to.kind in "iu":
        return _to_integer(term, to)
    text = typed(term) if term.value is not None else term.operand
    return ScalarText(f"{text}.to({register(to)})", to)


def _to_integer(term: ScalarText, to: np.dtype[Any]) -> ScalarText:
    """Out of range, Triton's own conversion is the machine's."""
    half = term.dtype == np.float16
    wide = _real(term, np.dtype(np.float32)) if half else term
    if to.itemsize < 4 or to == np.int32:
        return ScalarText(f"npc.to_int32({typed(wide)}).to({register(to)})", to)
    if to == np.uint32:
        name = "npc.to_int64" if half else "npc.to_uint32"
        return ScalarText(f"{name}({typed(wide)}).to(tl.uint32)", to)
    return ScalarText(f"npc.to_{'u' * (to.kind == 'u')}int64({typed(wide)})", to)
