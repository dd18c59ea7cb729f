"""Functions of single texts equal the filters of the command line."""

from __future__ import annotations

import base64
import doctest
import json
import pickle
import sys
import threading

import pytest
from conftest import filter_lines, run_tidings

import tidings
from tidings import _text

TEXTS = [
    ("en", "It rained for three days. On the fourth, Dr. Miller's dog came home; it was wet."),
    ("de", "Es hat den ganzen Tag geregnet, und am 3. Mai soll es schneien. Die Straßen waren leer."),
    ("fr", "Il a plu pendant trois jours, et l'eau du fleuve a envahi la ville. Il y a 10 000 mots."),
    ("ja", "昨日は一日中雨が降りました。明日は雪になるでしょう。"),
    ("xx", "Rain."),
    ("en", ""),
    ("en", "a\u0000b \u202e \U0001f327\ufe0f zero\u200bwidth\n\nline"),
]


def test_examples_of_the_docstrings():
    assert doctest.testmod(_text).failed == 0
    assert doctest.testmod(tidings).failed == 0


def test_identify_equals_the_filter():
    rows = [{"id": number, "text": text} for number, (_, text) in enumerate(TEXTS)]
    for row, expected in zip(rows, filter_lines(rows, "lang"), strict=True):
        guess = tidings.identify(row["text"])
        assert (guess.lang, guess.score) == (expected["lang"], expected["score"])
    hinted = [{"id": 1, "text": "Stol je velik.", "declared": "hr", "tld": "hr"}]
    guess = tidings.identify("Stol je velik.", declared="hr", tld="hr")
    assert guess == (filter_lines(hinted, "lang")[0]["lang"], filter_lines(hinted, "lang")[0]["score"])


def test_tokenize_equals_the_filter():
    rows = [{"id": number, "lang": lang, "text": text} for number, (lang, text) in enumerate(TEXTS)]
    expected = filter_lines(rows, "tokenize")
    assert [tidings.tokenize(text, lang) for lang, text in TEXTS] == [row["sentences"] for row in expected]
    without = filter_lines([{"text": text} for _, text in TEXTS], "tokenize")
    assert [tidings.tokenize(text) for _, text in TEXTS] == [row["sentences"] for row in without]


def test_tag_equals_the_filter():
    rows = [{"id": number, "text": text} for number, (_, text) in enumerate(TEXTS)]
    rows += [{"id": number, "text": text, "lang": lang} for number, (lang, text) in enumerate(TEXTS)]
    for row, expected in zip(rows, filter_lines(rows, "tag"), strict=True):
        sentences = tidings.tag(row["text"], row.get("lang"))
        written = [[(t["form"], t["lemma"], t["upos"], t.get("feats", ""), t["space"]) for t in s] for s in expected["sentences"]]
        assert sentences == written
    assert sentences[0] == [] or isinstance(sentences[0][0], tidings.Token)


def test_parse_feed_equals_the_filter(repository):
    bodies = [path.read_bytes() for path in sorted((repository / "fixtures/feeds").rglob("*")) if path.is_file()]
    bodies = [body for body in bodies if len(body) < 1 << 20][:60] + [b"<html>no feed</html>", b"", "{}".encode()]
    url = "https://gazette.example/feed"
    rows = [{"id": n, "url": url, "body_base64": base64.b64encode(body).decode()} for n, body in enumerate(bodies)]
    feeds = 0
    for body, expected in zip(bodies, filter_lines(rows, "feed"), strict=True):
        if "error" in expected:
            with pytest.raises(ValueError) as error:
                tidings.parse_feed(body, url)
            assert str(error.value) == expected["error"]
            continue
        feed = tidings.parse_feed(body, url)
        assert (feed.format, feed.title, feed.language) == (expected["format"], expected["title"], expected["language"])
        assert [entry._asdict() for entry in feed.entries] == expected["entries"]
        feeds += 1
    assert feeds > 10


def test_a_feed_given_as_text_is_not_decoded_again():
    body = '<?xml version="1.0" encoding="iso-8859-1"?><rss><channel><title>Zürich €</title></channel></rss>'
    assert tidings.parse_feed(body).title == "Zürich €"
    json_feed = {"version": "https://jsonfeed.org/version/1", "title": "Gazette", "items": [{"id": "1", "title": "A"}]}
    assert tidings.parse_feed(json.dumps(json_feed)).format == "json"


def test_find_feeds_of_a_page_given_as_text_or_bytes():
    page = '<a href="/rss.xml">RSS</a><link rel=alternate type="application/atom+xml" href="atom" title="Nachrichten">'
    found = tidings.find_feeds(page, "https://gazette.example/news/")
    assert [feed.url for feed in found] == ["https://gazette.example/news/atom", "https://gazette.example/rss.xml"]
    assert (found[0].title, found[0].media_type, found[0].evidence) == ("Nachrichten", "application/atom+xml", "declared")
    assert tidings.find_feeds(page.encode(), "https://gazette.example/news/") == found
    assert tidings.find_feeds("") == []


def test_find_feeds_of_an_address_needs_a_contact(monkeypatch):
    monkeypatch.delenv("TIDINGS_FETCH_CONTACT", raising=False)
    with pytest.raises(tidings.TidingsError, match="TIDINGS_FETCH_CONTACT"):
        tidings.find_feeds("https://gazette.example/")


def test_mask_names_what_it_replaces_by_characters():
    text = "Größe 1: schreib an jürgen@example.org oder +49 30 901820."
    masked = tidings.mask(text)
    assert "[EMAIL]" in masked and "[PHONE]" in masked
    assert [text[match.start : match.end] for match in masked.found][1] == "+49 30 901820"
    assert tidings.mask(text, rules=["phone"]).count("[") == 1
    assert pickle.loads(pickle.dumps(masked)).found == masked.found
    assert isinstance(masked, str)
    with pytest.raises(ValueError, match="known rules"):
        tidings.mask(text, rules=["name"])


def test_the_deduper_equals_the_filter():
    rain = "The river came into the town on Monday night, and people carried their chairs upstairs."
    documents = [
        {"id": "a", "paragraphs": [rain, "Only here."], "date": "2026-03-01", "site": "a.example"},
        {"id": "b", "paragraphs": ["Something else happened.", rain], "date": "2026-03-02", "site": "b.example"},
        {"id": "c", "paragraphs": [rain.upper()], "date": "2026-03-03", "site": "a.example"},
        {"id": "d", "paragraphs": [], "date": "2026-03-04", "site": "a.example"},
    ]
    for rule in ("tidings", "onion", "now"):
        for scope in ("all", "site", "30d", "month"):
            deduper = tidings.Deduper(rule, scope)
            expected = filter_lines(documents, "dedup", "--marks", "--preset", rule, "--scope", scope)
            for document, marked in zip(documents, expected, strict=True):
                marks = [_written(mark) for mark in deduper.judge(document).paragraphs]
                assert marks == marked["marks"], (rule, scope, document["id"])


def _written(mark: tidings.Mark) -> dict:
    fields = mark._asdict()
    fields["share"] = round(fields["share"], 3)
    return {name: value for name, value in fields.items() if name == "kept" or value}


def test_the_deduper_takes_texts_paragraphs_and_documents(pages):
    document = tidings.bare_extraction(pages[0]["html"], pages[0]["url"])
    deduper = tidings.Deduper()
    assert deduper.judge(document).kept
    again = deduper.judge(document.paragraphs, id="again")
    assert not again.kept and again.share == 1.0 and again.paragraphs[0].of == document.url
    assert not deduper.judge(document.text).kept
    with pytest.raises(ValueError, match="requires `date`"):
        tidings.Deduper(scope="30d").judge("Rain.")
    with pytest.raises(ValueError, match="known rules"):
        tidings.Deduper("none")
    with pytest.raises(ValueError, match="unknown scope"):
        tidings.Deduper(scope="year")
    with pytest.raises(TypeError):
        deduper.judge({"paragraphs": [object()]})


def test_a_panic_is_an_internal_error():
    with pytest.raises(tidings.InternalError, match="please report it"):
        tidings._tidings._panic()
    assert issubclass(tidings.InternalError, RuntimeError)


def test_texts_above_the_limit_are_rejected():
    long = "a" * ((64 << 20) + 1)
    for function in (tidings.extract, tidings.identify, tidings.tokenize, tidings.tag, tidings.mask, tidings.find_feeds):
        with pytest.raises(ValueError, match="64 MiB"):
            function(long)


def test_lone_surrogates_are_a_value_error():
    for function in (tidings.extract, tidings.identify, tidings.tokenize, tidings.tag, tidings.mask):
        with pytest.raises(ValueError):
            function("\ud800")


def test_the_interpreter_lock_is_free_during_work(pages):
    """Another thread goes on while pages are extracted."""
    html = max((page["html"] for page in pages), key=len)
    big = html + "<p>It rained again, and the river rose over the bridge in the evening.</p>" * 3000
    ticks = 0
    at_work = threading.Event()
    done = threading.Event()

    def tick():
        nonlocal ticks
        while not done.is_set():
            if at_work.is_set():
                ticks += 1

    ticker = threading.Thread(target=tick)
    ticker.start()
    most = 0
    for _ in range(5):
        before = ticks
        at_work.set()
        tidings.extract(big)
        at_work.clear()
        most = max(most, ticks - before)
    done.set()
    ticker.join()
    # With the lock held, the other thread could not count more than once in a call.
    assert most > 100


def test_threads_get_the_same_results(pages):
    expected = [tidings.extract(page["html"], page["url"]) for page in pages]
    results: list[list] = [[] for _ in range(4)]

    def work(into):
        into.extend([tidings.extract(page["html"], page["url"]) for page in pages])

    threads = [threading.Thread(target=work, args=(into,)) for into in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result == expected for result in results)


def test_the_command_line_is_inside():
    assert run_tidings("--version").decode().split()[1] == tidings.__version__


def test_work_releases_the_interpreter_lock():
    page = "<html><body><article>" + "<p>It rained for three days, and the river rose.</p>" * 20_000
    called, ended, seen = threading.Event(), threading.Event(), []

    def work():
        called.set()
        assert tidings.extract(page)
        ended.set()

    # A thread that runs Python code never has to give up the lock here: others run only if it is released.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        called.wait()
        seen.append(ended.is_set())
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert seen == [False] and ended.is_set()
