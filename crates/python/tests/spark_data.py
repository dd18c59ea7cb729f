"""Homes, archives and documents for the tests of ``tidings.spark``."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

from conftest import REPOSITORY, run_tidings

ARTICLE = (
    "<p>It rained for three days, and on the fourth the river came into the town.</p>"
    "<p>People carried their chairs upstairs, and waited for the water to leave the houses again.</p>"
    "<p>The mayor said that the dam had held, and that the school would open again on Monday morning.</p>"
)


def home_with_pages(home: Path, days: int = 3, copies: int = 2) -> Path:
    """A home with several files of pages a day: articles, walls, revisions, and pages without text."""
    run_tidings("init", str(home))
    fixtures = sorted((REPOSITORY / "fixtures/pages").glob("*.html"))
    for copy in range(copies):
        lines = []
        for day in range(1, days + 1):
            time = f"2026-03-{day:02}T{10 + copy}:00:00Z"
            for number, path in enumerate(fixtures):
                url = f"https://gazette{number % 3}.example/{day}/{copy}/{path.stem}"
                lines.append(page(url, path.read_text(), time))
            for wall in range(2):
                title = f"Parliament votes on budget {'x' * (2 * copy + wall + 1)}"
                lines.append(page(f"https://wall.example/{day}/{copy}/{wall}", ARTICLE, time, title))
            lines.append(page(f"https://gazette0.example/{day}/{copy}/empty", "<html></html>", time))
        source = home.parent / f"pages-{copy}.jsonl"
        source.write_text("".join(json.dumps(line) + "\n" for line in lines))
        run_tidings("--home", str(home), "import", str(source), "--from", "pages")
    return home


def page(url: str, html: str, time: str, title: str = "") -> dict:
    return {
        "url": url, "final_url": url, "feed": "https://gazette.example/feed", "title": title, "status": 200,
        "seen": time, "downloaded": time, "content_type": "text/html", "body": html,
    }  # fmt: skip


def copied(home: Path, to: Path) -> Path:
    """The same home on another machine: settings and pages."""
    import shutil

    run_tidings("init", str(to))
    shutil.copytree(home / "pages", to / "pages", dirs_exist_ok=True)
    shutil.copy(home / "tidings.toml", to / "tidings.toml")
    return to


WORDS = {
    "en": "the river rose again during the night and fire brigade had to close two of roads while people waited".split(),
    "de": "der Fluss ist in der Nacht über die Ufer getreten und die Feuerwehr hat zwei Straßen gesperrt weil Wasser".split(),
    "fr": "la rivière est sortie de son lit pendant la nuit et les pompiers ont fermé deux routes dans la ville".split(),
}


def wet_files(folder: Path, files: int = 5) -> list[Path]:
    """WET files with lines in three languages, of which many occur again."""
    random_ = random.Random(5)
    folder.mkdir()
    pool: list[str] = []
    paths = []
    for number in range(files):
        records = []
        for record in range(12):
            lines = []
            for _ in range(random_.randint(1, 12)):
                if pool and random_.random() < 0.3:
                    lines.append(random_.choice(pool))
                    continue
                words = WORDS[random_.choice(list(WORDS))]
                lines.append(" ".join(random_.choice(words) for _ in range(random_.randint(4, 40))))
                pool.append(lines[-1])
            text = "\n".join(lines).encode()
            head = (
                f"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: https://e.example/{number}/{record}\r\n"
                f"WARC-Date: 2026-03-02T00:00:00Z\r\nContent-Length: {len(text)}\r\n\r\n"
            )
            records.append(head.encode() + text + b"\r\n\r\n")
        path = folder / f"part-{number:02}.warc.wet.gz"
        path.write_bytes(b"".join(gzip.compress(record) for record in records))
        paths.append(path)
    return paths


def documents(number: int = 400, seed: int = 11) -> list[dict]:
    """Documents with copied, edited and repeated paragraphs."""
    random_ = random.Random(seed)
    vocabulary = [f"w{n}" for n in range(3000)]
    pool: list[list[str]] = []
    made = []
    for at in range(number):
        paragraphs = []
        for _ in range(random_.randint(1, 5)):
            if pool and random_.random() < 0.25:
                words = list(random_.choice(pool))
                if random_.random() < 0.5:
                    words[random_.randrange(len(words))] = "edited"
            else:
                words = [random_.choice(vocabulary) for _ in range(random_.randint(1, 50))]
                pool.append(words)
            paragraphs.append(" ".join(words))
        day = f"2026-03-{1 + at * 28 // number:02}"
        made.append({"id": f"d{at}", "date": day, "site": f"s{at % 5}.example", "paragraphs": paragraphs})
    return made
