"""CPU time of extraction in Python beside the command line and Trafilatura; see README.md."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import resource
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pyarrow
import trafilatura

import tidings

BATCH = 64
#: The smallest of several runs counts: other programs only add to it. The ways take turns, so that each has runs in the
#: quietest moment of the machine.
RUNS = 5


BARS = {
    "batch_to_filter": "≤ 1.05",
    "page_by_page_to_filter": "≤ 1.10",
    "trafilatura_to_page_by_page": "≥ 8, at a higher F",
    "import": "≤ 0.1 CPU s",
    "most_cores": "2",
}


def machine() -> str:
    info = Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*:\s*(.*)$", info, re.MULTILINE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    name = model.group(1) if model else platform.machine()
    return f"{os.cpu_count()} x {name}, {memory:.0f} GiB, Linux {platform.release()}"


def pages_of(shared: Path, limit: int | None) -> list[dict]:
    rows = []
    for path in sorted((shared / "extract-dev").glob("*.jsonl.zst")):
        rows += map(json.loads, pyarrow.input_stream(str(path), compression="zstd").read().splitlines())
    return rows if limit is None else rows[:: max(1, len(rows) // limit)]


def cpu(work) -> tuple[float, object]:
    """The CPU time of this process, and the result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def cpu_of_program(arguments: list[str], input: bytes) -> tuple[float, bytes]:
    """The CPU time of a program, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(arguments, input=input, capture_output=True, check=False).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, output


def least(*ways):
    """The smallest CPU time of each way, with the result of that run."""
    rounds = [[way() for way in ways] for _ in range(RUNS)]
    return [min(runs, key=lambda measured: measured[0]) for runs in zip(*rounds)]


def shingles(text: str) -> Counter:
    words = re.findall(r"[\u3040-\u30ff\u4e00-\u9fff]|\w+", text)
    return Counter(zip(words, words[1:], words[2:], words[3:]))


def scored(pages: int, precision: float, recall: float) -> dict:
    f = 2 * precision * recall / (precision + recall)
    return {"pages": pages, "precision": round(precision, 4), "recall": round(recall, 4), "f": round(f, 4)}


def text_score(pages: list[tuple[dict, str]]) -> dict | None:
    """Precision and recall of 4-grams, averaged over the pages with an annotated text, and F of the two."""
    precision, recall = [], []
    for gold, text in pages:
        if gold.get("text"):
            wanted, got = shingles(gold["text"]), shingles(text)
            common = sum((wanted & got).values())
            precision.append(common / max(1, sum(got.values())))
            recall.append(common / max(1, sum(wanted.values())))
    count = len(precision)
    return scored(count, sum(precision) / count, sum(recall) / count) if count else None


def segment_score(pages: list[tuple[dict, str]]) -> dict | None:
    """Precision and recall of annotated segments, summed over the pages whose text is annotated by segments only."""
    found = missed = leaked = count = 0
    for gold, text in pages:
        if "with" in gold and "text" not in gold:
            count += 1
            squashed = " ".join(text.split())
            hits = sum(" ".join(segment.split()) in squashed for segment in gold["with"])
            found, missed = found + hits, missed + len(gold["with"]) - hits
            leaked += sum(" ".join(segment.split()) in squashed for segment in gold.get("without", []))
    return scored(count, found / (found + leaked), found / (found + missed)) if count else None


def scores(pages: list[dict], texts: list[str | None]) -> dict:
    """The score of each development set, and of all pages with an annotated text."""
    sets: dict[str, list[tuple[dict, str]]] = {}
    for page, text in zip(pages, texts):
        sets.setdefault(page["id"].partition("/")[0], []).append((page["gold"], text or ""))
    found = {name: text_score(rows) or segment_score(rows) for name, rows in sorted(sets.items())}
    whole = text_score([row for rows in sets.values() for row in rows])
    return {"all": whole, **{name: score for name, score in found.items() if score}}


def cores_at_once(pages: list[dict], threads: int) -> dict:
    """The cores on which threads of `extract` run at the same moment, looked at while they work."""
    todo = iter(pages)
    take = threading.Lock()

    def work():
        while True:
            with take:
                page = next(todo, None)
            if page is None:
                return
            tidings.extract(page["html"], url=page["url"])

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    looks: Counter = Counter()
    while any(worker.is_alive() for worker in workers):
        running = set()
        for worker in workers:
            try:
                fields = Path(f"/proc/self/task/{worker.native_id}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            # proc_pid_stat(5): the state, and the processor that the thread ran on last.
            if fields[0] == "R":
                running.add(fields[36])
        looks[len(running)] += 1
        time.sleep(0.002)
    return {"threads": threads, "looks": sum(looks.values()), "most_cores": max(looks), "looks_by_cores": dict(sorted(looks.items()))}


def measure(pages: list[dict], cli: list[str]) -> dict:
    requests = [{"id": page["id"], "url": page["url"], "html": page["html"]} for page in pages]
    lines = "".join(json.dumps(request, ensure_ascii=False) + "\n" for request in requests).encode()
    table = pyarrow.Table.from_pylist(requests)
    batches = table.to_batches(max_chunksize=BATCH)

    def in_batches():
        return [pyarrow.table(tidings.extract_batch(batch, threads=1)) for batch in batches]

    def page_by_page(extract, **arguments):
        return [extract(page["html"], url=page["url"], **arguments) for page in pages]

    # The first call loads the model.
    tidings.extract("<p>It rained.</p>")
    command = [*cli, "extract", "--jsonl", "--threads", "1"]
    (start, _), (filtered, output), (batch, tables), (single, texts) = least(
        lambda: cpu_of_program(command, b""),
        lambda: cpu_of_program(command, lines),
        lambda: cpu(in_batches),
        lambda: cpu(lambda: page_by_page(tidings.extract, include_comments=False)),
    )
    filtered -= start
    peer, peer_texts = cpu(lambda: page_by_page(trafilatura.extract, include_comments=False))
    expected = [json.loads(line)["text"] or None for line in output.splitlines()]
    batched = [text or None for part in tables for text in part["text"].to_pylist()]
    program = "import time; a = time.process_time(); import tidings; print(time.process_time() - a)"
    imports = [float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(5)]
    return {
        "pages": len(pages),
        "html_bytes": sum(len(page["html"].encode()) for page in pages),
        "texts_equal_to_the_filter": {"batch": batched == expected, "page_by_page": texts == expected},
        "cpu_s": {
            "filter": round(filtered, 3),
            "filter_start": round(start, 3),
            "batch": round(batch, 3),
            "page_by_page": round(single, 3),
            "trafilatura": round(peer, 3),
            "import": round(min(imports), 4),
        },
        "ratio": {
            "batch_to_filter": round(batch / filtered, 3),
            "page_by_page_to_filter": round(single / filtered, 3),
            "trafilatura_to_page_by_page": round(peer / single, 2),
        },
        "cores_at_once": cores_at_once(pages, 4),
        "score": {"tidings": scores(pages, texts), "trafilatura": scores(pages, peer_texts)},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, required=True, help="folder with extract-dev/")
    parser.add_argument("--pages", type=int, help="number of pages [default: all]")
    parser.add_argument("--cli", help="the program tidings [default: the one inside the package]")
    parser.add_argument("--profile", default="release", help="profile that the wheel was built with")
    parser.add_argument("--conditions", default="nothing else runs", help="what else the machine does")
    parser.add_argument("--add", action="append", default=[], metavar="NAME=FILE", help="further results to include")
    parser.add_argument("--out", type=Path, help="file for the results")
    arguments = parser.parse_args()
    cli = [arguments.cli] if arguments.cli else [sys.executable, "-m", "tidings"]
    results = {
        "benchmark": "bench/python/measure.py",
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "build": f"wheel, profile {arguments.profile}",
        "conditions": arguments.conditions,
        "unit": "CPU seconds, user and system, one thread; the smallest of five runs, one run of Trafilatura",
        "bars": BARS,
        "tidings": tidings.__version__,
        "trafilatura": trafilatura.__version__,
        "python": sys.version.split()[0],
        "cores": os.cpu_count(),
        **measure(pages_of(arguments.shared, arguments.pages), cli),
    }
    for name, _, path in (given.partition("=") for given in arguments.add):
        results[name] = json.loads(Path(path).read_text())
    text = json.dumps(results, indent=2) + "\n"
    print(text, end="")
    if arguments.out:
        arguments.out.write_text(text)


if __name__ == "__main__":
    main()
