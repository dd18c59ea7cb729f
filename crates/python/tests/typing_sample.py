"""A program that uses the package as its types promise; mypy checks it strictly (test_typing.py)."""

from __future__ import annotations

import datetime
from typing import Any, assert_type

import tidings


def texts(html: str) -> None:
    assert_type(tidings.extract(html, "https://gazette.example/", include_links=True), str | None)
    document = tidings.bare_extraction(html.encode(), favor_recall=True)
    assert_type(document, tidings.Document | None)
    if document is not None:
        assert_type(document.language, str | None)
        assert_type(document.declared_language, str | None)
        assert_type(document.authors, list[str])
        assert_type(document.as_dict(), dict[str, Any])
    assert_type(tidings.bare_extraction(html, as_dict=True), dict[str, Any] | None)
    guess = tidings.identify(html, declared="en")
    assert_type(guess.score, float)
    assert_type(tidings.tokenize(html, "en"), list[list[str]])
    assert_type(tidings.tag(html)[0][0].lemma, str)
    masked = tidings.mask(html, rules=["email"])
    assert_type(masked.found[0].start, int)
    assert_type(tidings.find_feeds(html, "https://gazette.example/")[0].title, str | None)
    assert_type(tidings.parse_feed(html.encode()).entries[0].categories, list[str])
    verdict = tidings.Deduper(scope="30d").judge({"paragraphs": [html]}, id="a")
    assert_type(verdict.share, float)
    assert_type(verdict.paragraphs[0].of, str | None)


def tables(table: object) -> None:
    for made in (
        tidings.extract_batch(table, preset="recall", threads=2),
        tidings.identify_batch(table, declared="en"),
        tidings.tokenize_batch(table, lang="en"),
        tidings.tag_batch(table),
        tidings.clean_batch(table, home="news"),
    ):
        assert_type(made, tidings.Table)
        assert_type(made.columns, list[str])


def questions() -> None:
    corpus = tidings.Corpus("news", time_limit=5.0).en
    assert_type(corpus, tidings.Corpus)
    lines = corpus.concordance("storm", filter="date>=2026", size=20, fields=["date", "title"])
    for line in lines:
        assert_type(line["node"][0]["word"], str)
    assert_type(len(lines), int)
    assert_type(lines[0]["document"], str)
    assert_type(lines[:2][0]["position"], int)
    assert_type(corpus.timeline("storm", by="week")[0]["hits"], int | None)
    assert_type(corpus.new_words(since=datetime.date(2026, 1, 1))[0]["value"], str)
    assert_type(corpus.trends(by="quarter", direction="rising").about, dict[str, Any])
    assert_type(corpus.colloc("storm", measure="log-dice").is_exact, bool)
    assert_type(tidings.Corpus("https://corpora.example", token="t", lang="en").languages, list[str])


def pipelines() -> None:
    home = tidings.Home.create("news", contact="https://www.example.org/", feeds=["https://gazette.example/feed"])

    def show(event: tidings.Progress) -> None:
        assert_type(event.done, int)
        assert_type(event.stage, str | None)

    assert_type(home.add_feeds("https://gazette.example/feed", topic="politics"), list[str])
    assert_type(home.run(["clean", "annotate"], progress=show, time_limit=60), dict[str, Any])
    try:
        home.run()
    except tidings.RunError as error:
        assert_type(error.outcome, dict[str, Any])
    assert_type(home.export("out", "parquet", from_=datetime.date(2026, 1, 1)), dict[str, Any])
    assert_type(home.corpus.count("storm").hits, Any)
