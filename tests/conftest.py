"""Tests keep machine code in a folder of their own, and take their time on a busy machine."""

from __future__ import annotations

import os
import tempfile

import pytest
from hypothesis import HealthCheck, settings

# before anything of npcompile is imported, and for the processes that tests start
FOLDER = os.path.join(tempfile.gettempdir(), f"npcompile-tests-{os.getuid()}")
os.environ.setdefault("NPCOMPILE_CACHE_DIR", FOLDER)
os.environ.setdefault("NPCOMPILE_STRICT", "1")

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture(scope="session", autouse=True)
def run_folder(tmp_path_factory):
    """A folder that all processes of a run have."""
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    os.environ["NPCOMPILE_TEST_RUN"] = str(folder)


@pytest.fixture
def machine_code(request, monkeypatch):
    """Every kernel that the test launches also becomes machine code of GPUs, which is read."""
    from tests.support.gpu import reading

    with reading(monkeypatch, request.node.get_closest_marker("one_generation") is not None):
        yield
