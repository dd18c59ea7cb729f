#!/usr/bin/env python3
"""Measures tidings.spark on engines beside the command line. See README.md."""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "crates/python/python"
JOBS = Path(__file__).with_name("jobs.py")
#: Copies of the pages in the two homes, and pages in a file.
COPIES = (1, 4)
PAGES_OF_A_FILE = 120
DAYS = 5
PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    options = arguments()
    # Orphans of killed processes are counted, too.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    options.work.mkdir(parents=True, exist_ok=True)
    figures: dict = json.loads(options.out.read_text()) if options.out.exists() else {}
    figures.update(about(options))
    engines = {name: getattr(options, name) for name in ("sail", "spark") if getattr(options, name)}
    for step in options.steps.split(","):
        print(step, flush=True)
        figures.setdefault(step, {}).update(STEPS[step](options, engines))
        options.out.write_text(json.dumps(figures, indent=2) + "\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True, help="the development data")
    parser.add_argument("--work", type=Path, required=True, help="a folder for homes and results")
    parser.add_argument("--sail", help="the Python of an environment with pysail")
    parser.add_argument("--spark", help="the Python of an environment with pyspark")
    parser.add_argument("--out", type=Path, required=True, help="the file of results; steps that are in it stay")
    parser.add_argument("--steps", default="clean,kill,dedup,lines")
    parser.add_argument("--kills", type=int, default=3)
    return parser.parse_args()


def about(options: argparse.Namespace) -> dict:
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True)
    return {
        "commit": commit.stdout.strip(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, busy with other work",
        "command": "bench/cluster/measure.py",
        "profile": "quick",
    }


def run(command: list[str], **environment: str) -> tuple[dict, float]:
    """Runs a command; returns the JSON of its last line, and the CPU seconds of its process tree."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {**os.environ, "PYTHONPATH": str(PACKAGE), **environment}
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE)
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            break
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)} ended with {done.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    lines = done.stdout.decode().strip().splitlines()
    try:
        return json.loads(lines[-1]) if lines else {}, round(cpu, 2)
    except ValueError:
        return {}, round(cpu, 2)


def tidings(options: argparse.Namespace, *words: str) -> tuple[dict, float]:
    return run([options.sail or options.spark, "-m", "tidings", *words])


def job(python: str, engine: str, name: str, *words: str) -> tuple[dict, float]:
    return run([python, str(JOBS), engine, name, *words])


def development_pages(data: Path) -> list[dict]:
    import pyarrow

    pages = []
    for path in sorted((data / "extract-dev").glob("*.jsonl.zst")):
        for line in pyarrow.input_stream(str(path), compression="zstd").read().splitlines():
            row = json.loads(line)
            if row.get("html"):
                pages.append({"url": row.get("url") or "", "html": row["html"], "id": row["id"]})
    return pages


def home(options: argparse.Namespace, copies: int) -> Path:
    """A home with the pages of the development data, so many times with other addresses."""
    folder = options.work / f"home-{copies}"
    if (folder / "tidings.toml").exists():
        return folder
    tidings(options, "init", str(folder))
    pages = development_pages(options.data)
    number = 0
    for copy in range(copies):
        for start in range(0, len(pages), PAGES_OF_A_FILE):
            number += 1
            time = f"2026-03-{1 + number % DAYS:02}T12:00:00Z"
            source = options.work / f"pages-{number:05}.jsonl"
            with open(source, "w") as target:
                for page in pages[start : start + PAGES_OF_A_FILE]:
                    url = page["url"] or f"https://pages.example/{page['id']}"
                    url += f"{'&' if '?' in url else '?'}copy={copy}" if copy else ""
                    row = {"url": url, "final_url": url, "feed": "", "title": "", "status": 200, "seen": time,
                           "downloaded": time, "content_type": "text/html", "body": page["html"]}  # fmt: skip
                    target.write(json.dumps(row) + "\n")
            tidings(options, "--home", str(folder), "import", str(source), "--from", "pages")
            source.unlink()
    return folder


def uncleaned(options: argparse.Namespace, of: Path, name: str) -> Path:
    """A copy of a home without documents."""
    folder = options.work / name
    shutil.rmtree(folder, ignore_errors=True)
    tidings(options, "init", str(folder))
    shutil.copy(of / "tidings.toml", folder / "tidings.toml")
    shutil.copytree(of / "pages", folder / "pages", dirs_exist_ok=True, copy_function=os.link)
    return folder


def documents_digest(folder: Path) -> str:
    """A digest of the names and bytes of all documents, recipes and yields."""
    digest = hashlib.sha256()
    for path in sorted(path for path in (folder / "docs").rglob("*") if path.is_file()):
        digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def clean(options: argparse.Namespace, engines: dict[str, str]) -> dict:
    """The same home by the command line and by engines: bytes, and CPU at two sizes."""
    found: dict = {"command_line": {}, **{engine: {} for engine in engines}}
    for copies in COPIES:
        source = home(options, copies)
        one = uncleaned(options, source, f"one-{copies}")
        outcome, cpu = tidings(options, "--home", str(one), "clean", "--json")
        expected = documents_digest(one)
        found["command_line"][str(outcome["pages"])] = {"cpu_s": cpu, "documents": outcome["documents"]}
        for engine, python in engines.items():
            other = uncleaned(options, source, f"{engine}-{copies}")
            made, cpu = job(python, engine, "assemble", str(other), str(options.work / "frames"))
            same = documents_digest(other) == expected
            found[engine][str(made["pages"])] = {"cpu_s": cpu, "same_bytes": same}
            print(engine, made["pages"], cpu, same, flush=True)
    small, large = sorted(found["command_line"], key=int)
    per_page = lambda of: (of[large]["cpu_s"] - of[small]["cpu_s"]) / (int(large) - int(small)) * 1000
    base = per_page(found["command_line"])
    for name in found:
        found[name]["cpu_ms_per_page_beyond_start"] = round(per_page(found[name]), 3)
        found[name]["ratio_to_command_line"] = round(per_page(found[name]) / base, 2)
    return found


def kill(options: argparse.Namespace, engines: dict[str, str]) -> dict:
    """Executors of Spark killed with -9 in the map stage and in the shuffle stages."""
    found: dict = {"map": [], "shuffle": []}
    source = home(options, COPIES[-1])
    expected = documents_digest(options.work / f"one-{COPIES[-1]}")
    for number in range(options.kills):
        other = uncleaned(options, source, "killed")
        made, cpu = job(engines["spark"], "spark", "assemble-killed", str(other), str(options.work / "frames"))
        same = documents_digest(other) == expected
        found["map"].append({"pages": made["pages"], "killed": made["killed"], "same_bytes": same, "cpu_s": cpu})
        print("map", found["map"][-1], flush=True)
    lines = generated(options)
    for number in range(options.kills):
        made, cpu = job(engines["spark"], "spark", "dedup-killed", str(lines), str(options.work / "dedup"), str(number))
        found["shuffle"].append({**verdicts(options, lines, Path(made["out"])), "killed": made["killed"], "cpu_s": cpu})
        print("shuffle", found["shuffle"][-1], flush=True)
    return found


def generated(options: argparse.Namespace) -> Path:
    """The documents with planted copies of the development data."""
    folder = options.work / "generated"
    if not (folder / "docs.jsonl").exists():
        source = options.data / "text-dev/dedup"
        command = [sys.executable, str(source / "gen_dedup.py"), "--pool", str(source / "pool-dev.txt.xz")]
        folder.mkdir(exist_ok=True)
        subprocess.run(
            [*command, "--seed", "21", "--tokens", "1200000", "--months", "6", "--out", str(folder)], check=True
        )
    return folder / "docs.jsonl"


def verdicts(options: argparse.Namespace, lines: Path, made: Path) -> dict:
    """Compares the lines of an engine with those of `tidings dedup --marks`."""
    expected = options.work / "expected.jsonl"
    if not expected.exists():
        with open(lines, "rb") as source, open(expected, "wb") as out:
            command = [options.sail or options.spark, "-m", "tidings", "dedup", "--jsonl", "--marks"]
            subprocess.run(
                command, stdin=source, stdout=out, check=True, env={**os.environ, "PYTHONPATH": str(PACKAGE)}
            )
    ours, theirs = expected.read_text().splitlines(), made.read_text().splitlines()
    different = sum(one != other for one, other in zip(ours, theirs, strict=False)) + abs(len(ours) - len(theirs))
    return {"documents": len(ours), "different": different}


def dedup(options: argparse.Namespace, engines: dict[str, str]) -> dict:
    """Verdicts of engines, with rows fed in three random orders."""
    lines = generated(options)
    found: dict = {}
    for engine, python in engines.items():
        for seed in range(3 if engine == "sail" else 1):
            made, cpu = job(python, engine, "dedup", str(lines), str(options.work / "dedup"), str(seed))
            found.setdefault(engine, []).append({**verdicts(options, lines, Path(made["out"])), "cpu_s": cpu, "order": seed})
            print(engine, found[engine][-1], flush=True)
    return found


def lines(options: argparse.Namespace, engines: dict[str, str]) -> dict:
    """Lines of WET files made of the documents, by language."""
    folder = options.work / "wet"
    if not folder.exists():
        wet_files(options.work / f"one-{COPIES[-1]}", folder)
    one = options.work / "lines-one"
    shutil.rmtree(one, ignore_errors=True)
    _, cpu = tidings(options, "import", str(folder), "--lines", str(one), "--json")
    found: dict = {"command_line": {"cpu_s": cpu, **contents(one)}}
    for engine, python in engines.items():
        many = options.work / f"lines-{engine}"
        shutil.rmtree(many, ignore_errors=True)
        _, cpu = job(python, engine, "lines", str(folder), str(many), str(options.work / "lines-work"))
        found[engine] = {"cpu_s": cpu, **contents(many)}
        found[engine]["same"] = contents(many) == contents(one)
        print(engine, found[engine], flush=True)
    return found


def contents(folder: Path) -> dict:
    import pyarrow

    digest, count, languages = hashlib.sha256(), 0, 0
    for path in sorted(folder.glob("*.txt.zst")):
        text = pyarrow.input_stream(str(path), compression="zstd").read()
        digest.update(path.name.encode() + b"\0" + text)
        count += text.count(b"\n")
        languages += 1
    return {"lines": count, "languages": languages, "sha256": digest.hexdigest()}


def wet_files(home: Path, folder: Path) -> None:
    import gzip

    import pyarrow

    folder.mkdir()
    number = 0
    for path in sorted((home / "docs").glob("*/*.jsonl.zst")):
        if path.parent.name == "dropped":
            continue
        records = []
        for line in pyarrow.input_stream(str(path), compression="zstd").read().splitlines():
            if b'"url"' in line:
                document = json.loads(line)
                text = "\n".join(paragraph["text"] for paragraph in document["paragraphs"]).encode()
                head = (
                    f"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: {document['url']}\r\n"
                    f"WARC-Date: 2026-03-02T00:00:00Z\r\nContent-Length: {len(text)}\r\n\r\n"
                )
                records.append(gzip.compress(head.encode() + text + b"\r\n\r\n", 1))
        number += 1
        (folder / f"part-{number:04}.warc.wet.gz").write_bytes(b"".join(records))


STEPS = {"clean": clean, "kill": kill, "dedup": dedup, "lines": lines}

if __name__ == "__main__":
    main()
