"""Records side by side in memory, and vectors that hold one element of each: loads and stores that
iteration blocks of elements in registers.

A block is ``c`` elements of each of ``w`` records, ``c`` a power of two: ``w / c`` runs of ``c``
elements make a vector, and each group of ``c`` vectors is transposed by exchanges of halves, then
quarters, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator

from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, poison


def blocks(count: int, most: int) -> Iterator[tuple[int, int]]:
    """Where blocks begin, and how many elements they have, of records of ``count`` elements."""
    start, size = 0, most
    while start < count:
        while size > count - start:
            size //= 2
        yield start, size
        start += size


def load(f: LLVMFunction, pointer: Value, stride: Value, elem: str, size: int, lanes: int
         ) -> list[Value]:
    """Some elements of each record; the records are ``stride`` elements apart."""
    runs = [f.load(where, elem, size, _align(elem)) for where in _records(f, pointer, stride,
                                                                       elem, lanes)]
    vectors = [_joined(f, runs[i::size], size) for i in range(size)]
    return _transposed(f, vectors, size)


def store(f: LLVMFunction, vectors: list[Value], pointer: Value, stride: Value) -> None:
    """Stores elements of each record."""
    size, lanes, elem = len(vectors), vectors[0].lanes, vectors[0].elem
    transposed = _transposed(f, vectors, size)
    for record, where in enumerate(_records(f, pointer, stride, elem, lanes)):
        vector, group = transposed[record % size], record // size
        first = group * size
        part = vector if size == lanes else f.shuffle(vector, vector, range(first, first + size))
        f.store(part, where, _align(elem))


def _align(elem: str) -> int:
    return 8 if elem == "double" else 4


def _records(f: LLVMFunction, pointer: Value, stride: Value, elem: str, count: int) -> list[Value]:
    found = [pointer]
    for _ in range(count - 1):
        found.append(f.offset(found[-1], elem, stride))
    return found


def _joined(f: LLVMFunction, runs: list[Value], size: int) -> Value:
    """Runs of elements side by side."""
    if size == 1 and len(runs) > 1:
        found = poison(runs[0].elem, len(runs))
        for lane, run in enumerate(runs):
            text = f"insertelement {found.typed}, {run.typed}, i64 {lane}"
            found = f.op(text, run.elem, len(runs))
        return found
    while len(runs) > 1:
        lanes = range(2 * runs[0].lanes)
        runs = [f.shuffle(a, b, lanes) for a, b in zip(runs[::2], runs[1::2])]
    return runs[0]


def _transposed(f: LLVMFunction, vectors: list[Value], size: int) -> list[Value]:
    """LaneEmitter of groups of ``size`` lanes, each group transposed."""
    lanes, half = vectors[0].lanes, 1
    while half < size:
        found = list(vectors)
        for i in range(size):
            if not i & half:
                a, b = vectors[i], vectors[i | half]
                low = [lane if not lane & half else lanes + (lane ^ half) for lane in range(lanes)]
                high = [lane | half if not lane & half else lanes + lane for lane in range(lanes)]
                found[i], found[i | half] = f.shuffle(a, b, low), f.shuffle(a, b, high)
        vectors, half = found, 2 * half
    return vectors


__all__ = ["blocks", "i64", "load", "store"]
