"""Memory stays flat over many calls, and wrong arguments never end the interpreter."""

from __future__ import annotations

import os
import random
import sys
import warnings

import leaks
import pyarrow
import pytest
import weather
from leaks import FEED, PAGE, TABLE
from tidings._questions import QUESTIONS

import tidings

#: Calls of each function: a few in CI; `leaks.py --calls 1000000` for a release.
CALLS = int(os.environ.get("TIDINGS_PYTHON_CALLS", "400"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory in use is read from /proc")
@pytest.mark.parametrize("name", leaks.CALLABLES)
def test_memory_stays_flat(name):
    measured = leaks.measure(name, CALLS)
    assert measured["growth_kib"] * 1024 < leaks.GROWTH_BYTES, measured


def test_every_function_is_called_for_leaks_and_with_wrong_arguments():
    functions = {name for name in tidings.__all__ if callable(getattr(tidings, name)) and name[0].islower()}
    assert functions <= leaks.CALLABLES.keys()
    assert functions <= FUNCTIONS.keys() | {"find_feeds"}


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


@pytest.mark.parametrize("method", QUESTIONS)
def test_wrong_arguments_of_questions_are_exceptions(method):
    chance = random.Random(method)
    corpus = tidings.Corpus(weather.home(), time_limit=0.2)
    keywords = list(QUESTIONS[method].parameters)
    texts = ["storm", "[", '[lemma="storm"]', "date>=2026-03", "site", "2026-06", "month", "PER", "0" * 32]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tidings.CutOffWarning)
        for _ in range(60):
            arguments = {
                keyword: chance.choice(texts) if chance.random() < 0.6 else random_value(chance)
                for keyword in keywords
                if chance.random() < 0.5
            }
            _raises_or_not(lambda: repr(getattr(corpus, method)(**arguments)))


def test_wrong_arguments_of_homes_and_corpora_are_exceptions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chance = random.Random(11)
    home = tidings.Home.create(tmp_path / "home")

    def value():
        while True:
            drawn = random_value(chance)
            # An import of the root folder would read the whole disk.
            if not (isinstance(drawn, (str, bytes)) and os.path.isdir(drawn or "/")):
                return drawn

    calls = [
        lambda: tidings.Home(value()),
        lambda: tidings.Corpus(value(), token=value(), lang=value(), time_limit=value()),
        lambda: home.add_feeds(value(), **{"topic": value()}),
        lambda: home.why(value()),
        lambda: home.remove(value(), value(), dry_run=True, exports=value()),
        lambda: home.export(value(), chance.choice(["jsonl", value()]), filter=value(), cql=value(), from_=value()),
        lambda: home.import_(value(), value(), date=value(), lang=value(), min_chars=value(), columns=value()),
        lambda: home.run(value(), time_limit=value()),
    ]
    for call in calls:
        for _ in range(40):
            _raises_or_not(call)
    assert home.status()["done"]
