"""Tests keep machine code in a folder of their own."""

from __future__ import annotations

import os
import tempfile

# before anything of npcompile is imported, and for the processes that tests start
FOLDER = os.path.join(tempfile.gettempdir(), f"npcompile-tests-{os.getuid()}")
os.environ.setdefault("NPCOMPILE_CACHE_DIR", FOLDER)
os.environ.setdefault("NPCOMPILE_STRICT", "1")
