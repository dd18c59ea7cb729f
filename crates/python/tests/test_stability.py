"""Memory stays flat over many calls, and wrong arguments never end the interpreter."""

from __future__ import annotations

import gc
import os
import random
import sys
from pathlib import Path

import pyarrow
import pytest

import tidings

#: Calls of each function: a few in CI, a million for a release (TIDINGS_PYTHON_CALLS=1000000).
CALLS = int(os.environ.get("TIDINGS_PYTHON_CALLS", "400"))
#: Growth that is no leak: caches and fragments of the allocator.
GROWTH_BYTES = 24 << 20

PAGE = (
    '<html lang="en"><head><title>Rain</title><link rel=alternate type="application/rss+xml" href="/feed"></head><body>'
    "<article><h1>Rain</h1><p>It rained for three days, and on the fourth the river came into the town.</p>"
    "<p>Write to jane@example.org; people carried their chairs upstairs and waited.</p></article></body></html>"
)
TEXT = "It rained for three days, and on the fourth the river came into the town. Write to jane@example.org."
FEED = "<rss><channel><title>G</title><item><title>A</title><link>/a</link></item></channel></rss>"
TABLE = pyarrow.table({"id": [1, 2], "html": [PAGE, None], "text": [TEXT, None]})
LINES = pyarrow.array(['{"url": "http://e.org/a", "body": "' + PAGE.replace('"', '\\"') + '"}', "no page"])

CALLABLES = {
    "extract": lambda: tidings.extract(PAGE, "http://e.org/a", output_format="markdown", with_metadata=True),
    "extract_bytes": lambda: tidings.extract(PAGE.encode()),
    "bare_extraction": lambda: tidings.bare_extraction(PAGE, "http://e.org/a").as_dict(),
    "identify": lambda: tidings.identify(TEXT),
    "tokenize": lambda: tidings.tokenize(TEXT, "en"),
    "tag": lambda: tidings.tag(TEXT, "en"),
    "mask": lambda: tidings.mask(TEXT),
    "find_feeds": lambda: tidings.find_feeds(PAGE, "http://e.org/"),
    "parse_feed": lambda: tidings.parse_feed(FEED),
    "Deduper": lambda: tidings.Deduper(memory_mib=1).judge(TEXT),
    "extract_batch": lambda: pyarrow.table(tidings.extract_batch(TABLE, threads=1)),
    "extract_batch_threads": lambda: tidings.extract_batch(TABLE, threads=2),
    "identify_batch": lambda: tidings.identify_batch(TABLE, threads=1),
    "tokenize_batch": lambda: tidings.tokenize_batch(TABLE, threads=1),
    "tag_batch": lambda: tidings.tag_batch(TABLE, threads=1),
    "clean_batch": lambda: tidings.clean_batch(LINES, threads=1),
    "type_error": lambda: _raises(TypeError, tidings.extract, 1),
    "value_error": lambda: _raises(ValueError, tidings.parse_feed, "none"),
}


def _raises(kind, function, *arguments):
    try:
        function(*arguments)
    except kind:
        return
    raise AssertionError("no error")


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory in use is read from /proc")
@pytest.mark.parametrize("name", CALLABLES)
def test_memory_stays_flat(name):
    call = CALLABLES[name]
    # Starting threads and making folders takes longer than the work.
    calls = max(200, CALLS // 10) if name in ("extract_batch_threads", "Deduper") else CALLS
    for _ in range(max(100, calls // 10)):
        call()
    gc.collect()
    before = resident_bytes()
    for _ in range(calls):
        call()
    gc.collect()
    assert resident_bytes() - before < GROWTH_BYTES


class Odd:
    """An object whose every method fails."""

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __len__(self):
        return -1

    def __iter__(self):
        raise RuntimeError("iter")

    def __bool__(self):
        raise RuntimeError("bool")


class FalseArrow:
    """An object that promises Arrow and gives something else."""

    def __init__(self, value):
        self.value = value

    def __arrow_c_array__(self, requested_schema=None):
        return self.value

    def __arrow_c_stream__(self, requested_schema=None):
        return self.value


def random_value(random: random.Random, depth: int = 0):
    simple = [
        lambda: None,
        lambda: random.choice([True, False]),
        lambda: random.choice([0, 1, -1, 7, 2**31, 2**64, -(2**70)]),
        lambda: random.choice([0.5, float("nan"), float("inf")]),
        lambda: "".join(random.choice("<>&a é\u0000\u200b雨\U0001f327'\"/=\n") for _ in range(random.randrange(60))),
        lambda: random.choice(["en", "de", "und", "txt", "xml", "markdown", "balanced", "all", "30d", "\ud800", PAGE, FEED]),
        lambda: bytes(random.randrange(256) for _ in range(random.randrange(60))),
        lambda: PAGE.encode("utf-16"),
        lambda: bytearray(b"<p>\xff"),
        lambda: memoryview(b"<p>"),
        object,
        Odd,
        lambda: FalseArrow(random.choice([None, (), (1, 2), 7])),
        lambda: pyarrow.array(random.choice([[], ["a", None], [b"\xff"], [1], [[1]], [None]])),
        lambda: TABLE,
        lambda: TABLE.slice(1, 1),
        lambda: pyarrow.table({"html": pyarrow.array([{"a": 1}])}),
        lambda: pyarrow.table({"line": ["{}"], "text": [b"\xff"]}),
        lambda: type("Str", (str,), {})("<p>text"),
        lambda: (lambda *_: None),
    ]
    nested = [
        lambda: [random_value(random, depth + 1) for _ in range(random.randrange(4))],
        lambda: {str(n): random_value(random, depth + 1) for n in range(random.randrange(4))},
        lambda: {"paragraphs": random_value(random, depth + 1), "date": random_value(random, depth + 1)},
        lambda: {"a", 1},
    ]
    return random.choice(simple + (nested if depth < 2 else []))()


FUNCTIONS = {
    name: (getattr(tidings, name), keywords)
    for name, keywords in {
        "extract": ["url", "record_id", "fast", "favor_precision", "include_comments", "output_format", "target_language",
                    "include_tables", "include_formatting", "include_links", "with_metadata", "url_blacklist",
                    "author_blacklist", "prune_xpath", "config"],
        "bare_extraction": ["url", "as_dict", "output_format", "target_language", "author_blacklist"],
        "identify": ["declared", "tld"],
        "tokenize": ["lang"],
        "tag": ["lang"],
        "mask": ["rules"],
        "parse_feed": ["url", "content_type"],
        "Deduper": ["scope", "memory_mib"],
        "extract_batch": ["preset", "comments", "threads"],
        "identify_batch": ["declared", "tld", "threads"],
        "tokenize_batch": ["lang", "threads"],
        "tag_batch": ["lang", "threads"],
        "clean_batch": ["home", "threads"],
    }.items()
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_arguments_are_exceptions(name):
    function, keywords = FUNCTIONS[name]
    chance = random.Random(name)
    for _ in range(400):
        arguments = {keyword: random_value(chance) for keyword in keywords if chance.random() < 0.4}
        # Threads are started only if asked for.
        if isinstance(arguments.get("threads"), int) and arguments["threads"] > 16:
            arguments["threads"] = 3
        try:
            result = function(random_value(chance), **arguments)
        except Exception as error:
            assert not isinstance(error, tidings.InternalError), (name, arguments)
            continue
        if name == "Deduper":
            _raises_or_not(result.judge, random_value(chance))


def _raises_or_not(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        assert not isinstance(error, tidings.InternalError), arguments


def test_wrong_arguments_of_the_deduper_are_exceptions():
    chance = random.Random(7)
    deduper = tidings.Deduper(memory_mib=1)
    for _ in range(600):
        _raises_or_not(deduper.judge, random_value(chance))
    assert deduper.judge("The river came into the town on Monday night.").words == 9


def test_find_feeds_never_fails_on_a_page():
    chance = random.Random(3)
    for _ in range(400):
        page = random_value(chance)
        if isinstance(page, str) and page.startswith("http"):
            continue
        _raises_or_not(tidings.find_feeds, page, random_value(chance))
