"""Memory in use over many calls of each function.

    python crates/python/tests/leaks.py --calls 1000000 --out leaks.json

calls each function of the package that often, and fails if the memory in use grows. ``test_stability.py`` does the same
with a few calls.
"""

from __future__ import annotations

import argparse
import functools
import gc
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pyarrow

import tidings

#: Growth that is no leak: caches and fragments of the allocator. A million calls that lose 17 bytes each exceed it.
GROWTH_BYTES = 16 << 20

PAGE = (
    '<html lang="en"><head><title>Rain</title><link rel=alternate type="application/rss+xml" href="/feed"></head><body>'
    "<article><h1>Rain</h1><p>It rained for three days, and on the fourth the river came into the town.</p>"
    "<p>Write to jane@example.org; people carried their chairs upstairs and waited.</p></article></body></html>"
)
TEXT = "It rained for three days, and on the fourth the river came into the town. Write to jane@example.org."
FEED = "<rss><channel><title>G</title><item><title>A</title><link>/a</link></item></channel></rss>"
TABLE = pyarrow.table({"id": [1, 2], "html": [PAGE, None], "text": [TEXT, None]})
LINES = pyarrow.array(['{"url": "http://e.org/a", "body": "' + PAGE.replace('"', '\\"') + '"}', "no page"])


def raises(kind: type[Exception], function: Callable, *arguments: object) -> None:
    """Calls a function that must fail."""
    try:
        function(*arguments)
    except kind:
        return
    raise AssertionError("no error")


@functools.cache
def corpus() -> tidings.Corpus:
    import weather

    return tidings.Corpus(weather.home().path)


@functools.cache
def deduper() -> tidings.Deduper:
    return tidings.Deduper(memory_mib=1)


#: A call of each function, with the share of the calls that it gets: those that start threads, make folders or search a
#: corpus take longer than the work that could leak.
CALLABLES: dict[str, tuple[Callable[[], object], float]] = {
    "extract": (lambda: tidings.extract(PAGE, "http://e.org/a", output_format="markdown", with_metadata=True), 1),
    "extract_bytes": (lambda: tidings.extract(PAGE.encode()), 1),
    "bare_extraction": (lambda: tidings.bare_extraction(PAGE, "http://e.org/a").as_dict(), 1),
    "identify": (lambda: tidings.identify(TEXT), 1),
    "tokenize": (lambda: tidings.tokenize(TEXT, "en"), 1),
    "tag": (lambda: tidings.tag(TEXT, "en"), 1),
    "mask": (lambda: tidings.mask(TEXT), 1),
    "find_feeds": (lambda: tidings.find_feeds(PAGE, "http://e.org/"), 1),
    "parse_feed": (lambda: tidings.parse_feed(FEED), 1),
    "Deduper.judge": (lambda: deduper().judge(TEXT), 1),
    "extract_batch": (lambda: pyarrow.table(tidings.extract_batch(TABLE, threads=1)), 1),
    "identify_batch": (lambda: tidings.identify_batch(TABLE, threads=1), 1),
    "tokenize_batch": (lambda: tidings.tokenize_batch(TABLE, threads=1), 1),
    "tag_batch": (lambda: tidings.tag_batch(TABLE, threads=1), 1),
    "clean_batch": (lambda: tidings.clean_batch(LINES, threads=1), 1),
    "type_error": (lambda: raises(TypeError, tidings.extract, 1), 1),
    "value_error": (lambda: raises(ValueError, tidings.parse_feed, "none"), 1),
    "Corpus.count": (lambda: corpus().count("storm"), 1),
    "Deduper": (lambda: tidings.Deduper(memory_mib=1).judge(TEXT), 0.1),
    "extract_batch_threads": (lambda: tidings.extract_batch(TABLE, threads=2), 0.1),
    "Corpus.concordance": (lambda: list(corpus().concordance("storm", context=2)), 0.01),
    "Corpus.concordance_closed": (lambda: next(iter(corpus().concordance("storm", context=2))), 0.01),
    "Corpus.timeline_table": (lambda: pyarrow.table(corpus().timeline("storm")), 0.01),
    "Corpus.error": (lambda: raises(ValueError, corpus().count, "["), 0.1),
    "Corpus": (lambda: tidings.Corpus(corpus().source).en.count("storm"), 0.01),
}


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def measure(name: str, calls: int) -> dict[str, float]:
    """Calls a function and returns the number of calls, their CPU time and the growth of the memory in use."""
    call, share = CALLABLES[name]
    calls = max(100, round(calls * share))
    for _ in range(max(100, min(calls // 10, 10_000))):
        call()
    gc.collect()
    before, start = resident_bytes(), time.process_time()
    for _ in range(calls):
        call()
    gc.collect()
    grown = resident_bytes() - before
    return {"calls": calls, "cpu_s": round(time.process_time() - start, 2), "growth_kib": round(grown / 1024)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=10_000, help="calls of each function [default: 10000]")
    parser.add_argument("--out", type=Path, help="file for the results; functions that it has are not called again")
    parser.add_argument("names", nargs="*", help="functions to call [default: all]")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", tidings.CutOffWarning)
    results = json.loads(arguments.out.read_text()) if arguments.out and arguments.out.exists() else {}
    for name in arguments.names or CALLABLES:
        if name in results:
            continue
        results[name] = measure(name, arguments.calls)
        print(f"{name:26} {results[name]}", flush=True)
        if arguments.out:
            arguments.out.write_text(json.dumps(results, indent=2) + "\n")
    grown = [name for name, measured in results.items() if measured["growth_kib"] * 1024 > GROWTH_BYTES]
    if grown:
        sys.exit(f"memory grows: {', '.join(grown)}")


if __name__ == "__main__":
    main()
