"""What a signal handler raises while a transform is prepared, inside a call from machine code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import npcompile.fft
from npcompile import jit
from npcompile.backends.cpu.transforms.steps import ENTRY
from npcompile.runtime.transforms.called import TransformKind

X = np.random.default_rng(0).standard_normal((3, 46))


@pytest.mark.parametrize("method", ["make", "run"])
@pytest.mark.parametrize("way", ["compiled", "eager"])
def test_it_is_raised_when_the_machine_code_has_returned(
    way: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*args: Any) -> Any:
        raise KeyboardInterrupt

    def slow(self: TransformKind, n: int, way: int) -> Any:
        words, job = made(self, n, way)
        words[ENTRY.index("slow")] = 1
        return words, job

    made = TransformKind.make
    f = jit(lambda x: np.fft.rfft(x) * 2) if way == "compiled" else npcompile.fft.rfft
    length = 43 if method == "make" else 41  # nobody else transforms so many points
    for n in (length, length - 4):
        x = X[:, :n].copy() if way == "compiled" else X[:, : n - 8].copy()
        with monkeypatch.context() as patch:
            if method == "run":
                patch.setattr(TransformKind, "make", slow)
            patch.setattr(TransformKind, method, interrupted)
            for _ in range(3):
                with pytest.raises(KeyboardInterrupt):
                    f(x)
        if method == "make":
            np.testing.assert_allclose(f(x), np.fft.rfft(x) * (1 + (way == "compiled")))
