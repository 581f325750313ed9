"""Where CPython keeps which tools look at the program, from 3.12 on: a byte for each event with a
bit for each tool (PEP 669)."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from npcompile.runtime.unsafe.raw_memory import returned_address, snapshot

_STATE_BYTES = 1 << 19  # of an interpreter's state, which are searched


def address() -> int | None:
    """Finds where the bytes begin, by events that change no instruction and that no one hears."""
    monitoring: Any = vars(sys)["monitoring"]
    tool, events = _free_tool(), (monitoring.events.RAISE, monitoring.events.PY_UNWIND)
    if tool is None:
        return None
    start = returned_address("PyInterpreterState_Get")
    try:
        found = [_firsts(tool, event, start) for event in (*events, *events)]
    finally:
        monitoring.free_tool_id(tool)
    firsts = [first for first in set.intersection(*found) if first % 8 == 0]
    return start + firsts[0] if len(firsts) == 1 else None


def _free_tool() -> int | None:
    """Takes a number of a tool that no debugger or profiler has; None where all are taken."""
    monitoring: Any = vars(sys)["monitoring"]
    for tool in range(5, -1, -1):
        try:
            monitoring.use_tool_id(tool, "npcompile")
        except ValueError:  # somebody has it, or another thread has just taken it
            continue
        return tool
    return None


def _firsts(tool: int, event: int, start: int) -> set[int]:
    """Where the bytes of tools may begin: the byte of an event is among those that have the bit of
    a tool while it wants the event."""
    monitoring: Any = vars(sys)["monitoring"]
    held = []
    for wanted in (0, event, 0):
        monitoring.set_events(tool, wanted)
        held.append(np.frombuffer(snapshot(start, _STATE_BYTES), np.uint8))
    before, during, after = (part[: min(map(len, held))] for part in held)
    bit = 1 << tool
    same = (before == after) & (before & bit == 0) & (during == before | bit)
    return {int(k) - event.bit_length() + 1 for k in np.flatnonzero(same)}
