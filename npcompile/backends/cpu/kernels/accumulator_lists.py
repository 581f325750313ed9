"""Lists of states (see :mod:`.accumulators`) carried through loops and kept in memory."""

from __future__ import annotations

from collections.abc import Sequence

from npcompile.backends.cpu.kernels.accumulators import State
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value


def groups(states: list[State], size: int) -> list[list[State]]:
    return [states[at : at + size] for at in range(0, len(states), size)]


def flatten(states: Sequence[State]) -> State:
    return [value for state in states for value in state]


def shaped(flat: State, like: Sequence[State]) -> list[State]:
    found, at = [], 0
    for state in like:
        found.append(flat[at : at + len(state)])
        at += len(state)
    return found


def save(f: LLVMFunction, values: Sequence[Value], rooms: Sequence[Value]) -> None:
    for value, room in zip(values, rooms, strict=True):
        f.store(value, room)


def restore(f: LLVMFunction, like: Sequence[Value], rooms: Sequence[Value]) -> list[Value]:
    return [f.load(room, v.elem, v.lanes) for v, room in zip(like, rooms, strict=True)]
