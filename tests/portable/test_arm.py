"""The tests on an emulated machine are left out, by name, where there is no emulator."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools/dev.py"


def test_without_an_emulator(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": str(tmp_path), "NPCOMPILE_ARM": str(tmp_path / "arm")}
    done = subprocess.run([sys.executable, str(TOOL), "test-arm", "sample"], text=True,
                          env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "64-bit ARM is not tested: no emulator here" in done.stdout
