"""The types of the package: right for a program that uses it, and equal to what the module has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tidings

TESTS = Path(__file__).resolve().parent
PACKAGE = Path(tidings.__file__).resolve().parent
SETTINGS = str(TESTS.parent / "pyproject.toml")


def check(folder: Path, *arguments: str) -> None:
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent), "MYPY_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-m", *arguments]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("program", ["typing_sample.py", "typing_mistakes.py"])
def test_programs_have_the_types_that_they_expect(tmp_path, program):
    check(tmp_path, "mypy", "--config-file", SETTINGS, "--python-version", "3.11", str(TESTS / program))


def test_the_package_is_typed_strictly(tmp_path):
    check(tmp_path, "mypy", "--config-file", SETTINGS, "-p", "tidings")


def test_stubs_equal_the_module(tmp_path):
    # What only the steps of engines use needs no stub.
    check(tmp_path, "mypy.stubtest", "--mypy-config-file", SETTINGS, "--ignore-missing-stub", "tidings._tidings")
