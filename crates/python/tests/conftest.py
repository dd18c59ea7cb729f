"""Shared fixtures: the command line, the pages of the repository, development data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


def run_tidings(*arguments: str, input: bytes = b"", env: dict[str, str] | None = None) -> bytes:
    """The output of the command line, which is inside the package."""
    command = [sys.executable, "-m", "tidings", *arguments]
    done = subprocess.run(command, input=input, capture_output=True, env={**os.environ, **(env or {})}, timeout=600)
    # 3: some lines or pages have no result.
    assert done.returncode in (0, 3), done.stderr.decode()
    return done.stdout


def filter_lines(rows: list[dict], *arguments: str) -> list[dict]:
    """The results of a filter of the command line."""
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return [json.loads(line) for line in run_tidings(*arguments, "--jsonl", input=lines.encode()).splitlines()]


@pytest.fixture(scope="session")
def pages() -> list[dict]:
    """The pages of the repository as requests of `tidings extract --jsonl`."""
    paths = sorted((REPOSITORY / "fixtures/pages").glob("*.html"))
    return [{"id": path.stem, "url": f"https://gazette.example/{path.stem}", "html": path.read_text()} for path in paths]


def skip(reason: str) -> None:
    """Skips a test, or fails where nothing may be skipped."""
    if os.environ.get("TIDINGS_TESTS") == "all":
        pytest.fail(f"{reason}, and TIDINGS_TESTS=all allows no skips")
    pytest.skip(reason)


def data(path: str) -> Path:
    """A file of the development data: in the folder that TIDINGS_DATA names, or in `shared` beside the repository."""
    named = os.environ.get("TIDINGS_DATA")
    if named == "none":
        pytest.skip(f"TIDINGS_DATA=none, so {path} is not compared")
    found = (Path(named) if named else REPOSITORY / "../shared") / path
    if not found.exists():
        skip(f"there are no development data at {found}; TIDINGS_DATA names their folder")
    return found


#: Pages taken of each set of the development data; all of them with TIDINGS_PYTHON_ALL=1.
SAMPLE = 12


@pytest.fixture(scope="session")
def development_pages() -> list[dict]:
    """A sample of the annotated pages as requests of `tidings extract --jsonl`."""
    import pyarrow

    rows = []
    for path in sorted(data("extract-dev").glob("*.jsonl.zst")):
        lines = pyarrow.input_stream(str(path), compression="zstd").read().splitlines()
        if os.environ.get("TIDINGS_PYTHON_ALL") != "1":
            lines = lines[:: max(1, len(lines) // SAMPLE)]
        for line in lines:
            row = json.loads(line)
            rows.append({name: row[name] for name in ("id", "url", "html") if name in row})
    return rows
