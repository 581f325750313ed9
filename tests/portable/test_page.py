"""The page of sums: the same bits for every width of registers and on every machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.portable import page

ROOT = Path(page.__file__).parents[2]
CAPABILITIES = ("default", "avx2", "scalar")


def output(capability: str, *arguments: str) -> str:
    environment = {**os.environ, "NPCOMPILE_CPU_CAPABILITY": capability, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", "tests.portable.page", *arguments], text=True,
                          env=environment, capture_output=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_a_sample_of_the_page(capability: str) -> None:
    """Another part of the page for each."""
    seed = str(CAPABILITIES.index(capability))
    assert output(capability, "25", seed) == "25 lines, 0 differ\n"


@pytest.mark.slow
@pytest.mark.parametrize("capability", CAPABILITIES)
def test_the_page(capability: str) -> None:
    assert output(capability) == f"{len(page.committed())} lines, 0 differ\n"


def test_the_page_has_every_family_of_functions() -> None:
    names = page.committed()
    assert len(names) >= 300 and len(set(names.values())) > 0.7 * len(names)
    for name in ("exp d", "gammaln d", "sum d axis=0", "cumsum f axis=1", "stencil", "sort",
                 "matmul D 64", "fft 97", "rng.normal(0.5, 2.0, 501)", "cast d to i"):
        assert name in names


def test_a_wrong_sum_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"stencil": page.committed()["stencil"], "Newton": "0"}
    monkeypatch.setattr(page, "committed", lambda: names)
    assert page.changed(list(names)) == ["Newton"]
