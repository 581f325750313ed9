"""Chooses the kernels that run together.

Loops go inside blocks of rows where they can; what reads neighbouring rows sweeps; the other
kernels over the same rows share a loop over blocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from npcompile.core.facts import Facts
from npcompile.program.ir import Buffer, Exit, For, Statement, with_blocks
from npcompile.schedule.fusion.interchange import interchange
from npcompile.schedule.fusion.row_blocks import Fusion, blocks
from npcompile.schedule.fusion.skewing import sweeps
from npcompile.schedule.memory.allocate import bound, uses


def fuse(
    facts: Facts, body: Sequence[Statement], kept: Sequence[Buffer], together: bool,
    exits: Sequence[Exit] = (), rounds: bool = False,
) -> tuple[list[Statement], Fusion]:
    """A program's statements with kernels that run together; ``kept`` is needed after it,
    ``exits`` are what Python gets at its side exits; ``rounds``: products may round otherwise than
    a library's.

    Unless ``together`` every kernel runs over its whole space, for a device with many lanes.
    """
    out = Fusion(facts, uses(body) + Counter(kept), bound(body), exits, rounds=rounds)
    if not together:
        return list(body), out
    found = _block(out, body)
    return [*out.front, *found], out


def _block(out: Fusion, body: Sequence[Statement]) -> list[Statement]:
    found: list[Statement] = []
    for statement in body:
        turned = interchange(out, statement) if isinstance(statement, For) else None
        if turned is not None:
            found += turned
            continue
        found.append(with_blocks(statement, lambda inner: tuple(_block(out, inner))))
    swept = sweeps(out, found)
    out.uses.update(uses(swept) - uses(found))  # what sweeps compute or copy before them
    return blocks(out, swept)
