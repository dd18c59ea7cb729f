"""Models of the package ``tidings-models``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = "import os, tidings; print(os.environ.get('TIDINGS_MODELS', ''))"


def run_python(*arguments: str, **environment: str) -> str:
    """The output of Python with further variables of the environment."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def install(folder: Path, pack: Path) -> str:
    """Lays out the package with one model; returns a search path of Python with it."""
    package = folder / "tidings_models"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "xx.tags").write_bytes(pack.read_bytes())
    return os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])


def test_installed_models_are_found_and_a_choice_of_the_user_is_kept(tmp_path: Path, repository: Path) -> None:
    path = install(tmp_path, repository / "crates/annotate/models/cy.tags")
    assert run_python("-c", PROGRAM, PYTHONPATH=path).strip() == str(tmp_path / "tidings_models")
    assert run_python("-c", PROGRAM, PYTHONPATH=path, TIDINGS_MODELS="elsewhere").strip() == "elsewhere"
    rows = json.loads(run_python("-m", "tidings", "models", "--lang", "cy", "--json", PYTHONPATH=path))
    assert [row["language"] for row in rows] == ["cy"]


def test_a_damaged_model_is_reported_and_others_are_used(tmp_path: Path) -> None:
    (tmp_path / "cy.tags").write_bytes(b"tidings-tags 2\n")
    command = [sys.executable, "-m", "tidings", "models", "--lang", "de"]
    environment = {**os.environ, "TIDINGS_MODELS": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "cy.tags" in done.stderr and "install it again" in done.stderr
