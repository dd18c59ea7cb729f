"""A small home for tests: six months of three sites; the storm grows, and in June a word is new."""

from __future__ import annotations

import atexit
import functools
import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest
import tidings

SITES = ("a.example", "b.example", "c.example")
QUIET = (
    "It was a quiet morning in the town, and nobody expected anything of it. The bakery on the corner opened at six, "
    "as it does every day, and sold its last loaf before noon. Angela Brook said: “We were early today.”"
)
#: Hits of `storm`: on three sites, on 2 + 4 + … + 12 days.
STORMS = 3 * 2 * 21


def documents():
    """The texts, as lines for an import."""
    for month in range(1, 7):
        for day in range(1, 13):
            for site in SITES:
                text = "The storm came from the sea. " if day <= 2 * month else ""
                if month == 6:
                    text += f"Then the heatdome arrived over the {site[0].upper()} hills. "
                date = f"2026-{month:02}-{2 * day:02}"
                yield {
                    "url": f"http://{site}/{date}",
                    "title": "News of the day",
                    "date": date,
                    "lang": "en",
                    "text": f"{text}{QUIET}\nNumber {month * 1000 + day * 10} of the paper, from {site}.",
                }


def texts(path: pathlib.Path) -> pathlib.Path:
    """A file of the texts."""
    path.write_text("".join(json.dumps(line) + "\n" for line in documents()), encoding="utf-8")
    return path


def more_texts(path: pathlib.Path) -> pathlib.Path:
    """A file with one text of a later day."""
    text = f"The storm came back. {QUIET}"
    line = {"url": "http://d.example/1", "title": "Later", "date": "2026-07-01", "lang": "en", "text": text}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return path


def new_home(folder: pathlib.Path) -> tidings.Home:
    """A home with the texts, cleaned, annotated and indexed."""
    home = tidings.Home.create(folder / "home", contact="mailto:tests@weather.example")
    home.import_(texts(folder / "weather.jsonl"), gate=False)
    home.run(["clean", "annotate", "compile"])
    return home


@functools.cache
def home() -> tidings.Home:
    """One home for all tests that only read it."""
    folder = tempfile.mkdtemp(prefix="tidings-weather-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return new_home(pathlib.Path(folder))


def needed(package: str):
    """A package that a test needs. Where no test may be skipped, a missing one is a failure."""
    try:
        return importlib.import_module(package)
    except ImportError:
        if os.environ.get("TIDINGS_TESTS") == "all":
            pytest.fail(f"{package} is missing, and TIDINGS_TESTS=all allows no skips")
        pytest.skip(f"{package} is missing")


def command(*arguments: str, **options) -> subprocess.Popen:
    """The command line of the package, with standard output as text."""
    words = [sys.executable, "-m", "tidings", *arguments]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, **options)


def output(*arguments: str) -> str:
    """What a command prints."""
    with command(*arguments) as process:
        text = process.communicate()[0]
    assert process.returncode == 0, text
    return text


class Served:
    """A server of a home on loopback."""

    def __init__(self, home: tidings.Home, *arguments: str) -> None:
        words = ["--home", home.path, "serve", "--port", "0", *arguments]
        # Standard input stays open as long as this process lives.
        self._process = command(*words, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        line = self._process.stdout.readline()
        assert "listening at " in line, line
        self.url = line.split()[-1].rstrip("/")

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate(timeout=60)


def admin_token(home: tidings.Home) -> str:
    """A token that shows everything."""
    made = output("--home", home.path, "--json", "token", "add", "--name", "tests", "--scope", "admin")
    return json.loads(made)["token"]
