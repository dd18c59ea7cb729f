"""A home of ``tidings demo``, made once for all tests that need one."""

import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest


@functools.cache
def make(folder: Path) -> Path:
    home = folder / "demo"
    command = [sys.executable, "-m", "tidings", "--quiet", "demo", "--no-serve", str(home)]
    subprocess.run(command, check=True, capture_output=True, timeout=1800)
    return home


@pytest.fixture(scope="session")
def demo(tmp_path_factory) -> Path:
    """The home that TIDINGS_DEMO names, or a new one."""
    given = os.environ.get("TIDINGS_DEMO")
    return Path(given) if given else make(tmp_path_factory.getbasetemp())
