"""A seeded sample of the calls in torch's own tables of operators.

``python -m tests.tensors.op_tables`` tries all of them.
"""

from __future__ import annotations

import random

import pytest

from tests.tensors import op_tables

#: operators in one test, and tests
EACH, TESTS = 5, 6


def _names() -> list[str]:
    from npcompile.tensors import table

    known = {path.removeprefix("Tensor.") for path in table.rows()}
    return sorted((set(op_tables.table()) & known) - op_tables.UNSURE)


@pytest.mark.parametrize("part", range(TESTS))
def test_samples(part: int) -> None:
    chosen = random.Random(1).sample(_names(), EACH * TESTS)[part::TESTS]
    compiled = 0
    for name in chosen:
        for text, found, why in op_tables.tries(name, 1, seed=part):
            assert not found, f"{text}\n{found}"
            compiled += not why
    assert compiled > 3


def test_every_name_is_torchs() -> None:
    """A path of the table that torch does not know is one of ours, of which others are made."""
    import torch

    from npcompile.tensors.tensor_functions import NAMED

    def known(path: str) -> bool:
        held = torch
        for name in path.split("."):
            held = getattr(held, name, None)
        return held is not None

    own = {"plain_complex", "special.plain_polygamma", "__matmul__"}
    paths = {path for path in NAMED if not path.startswith("Tensor.")}
    assert {path for path in paths if not known(path)} <= own
