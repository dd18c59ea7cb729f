"""Adapters for datatrove, Scrapy and spaCy, each tested with the package itself."""

import json
from pathlib import Path

import pytest
import tidings

for package in ("datatrove", "regex", "orjson", "scrapy", "spacy"):
    pytest.importorskip(package)

PAGES = Path(__file__).resolve().parents[3] / "fixtures" / "pages"
GAZETTE = (PAGES / "gazette.html").read_text(encoding="utf-8")
EMPTY = "<html><head><title>Login</title></head><body></body></html>"


# datatrove


def documents(*texts):
    from datatrove.data import Document

    return [
        Document(text=text, id=str(number), metadata={"url": f"https://a.example/{number}"})
        for number, text in enumerate(texts)
    ]


def test_the_extractor_of_datatrove_replaces_html_by_text_and_adds_metadata():
    from tidings.datatrove import TidingsExtractor

    step = TidingsExtractor()
    (kept,) = list(step.run(documents(GAZETTE, EMPTY)))
    assert kept.text == tidings.bare_extraction(GAZETTE, url="https://a.example/0").text
    assert kept.text.startswith("After two years without a crossing")
    assert kept.metadata["title"] == "Ferry service to return in spring, council says"
    assert kept.metadata["author"] == "Maren Holt"
    assert kept.metadata["date"] == "2024-02-29"
    assert kept.metadata["url"] == "https://a.example/0"
    assert {
        name: stat.total for name, stat in step.stats.stats.items() if name in ("total", "dropped", "forwarded")
    } == {
        "total": 2,
        "dropped": 1,
        "forwarded": 1,
    }


def test_metadata_of_the_reader_stays():
    from tidings.datatrove import TidingsExtractor

    (page,) = documents(GAZETTE)
    page.metadata["title"] = "from the reader"
    (kept,) = list(TidingsExtractor().run([page]))
    assert kept.metadata["title"] == "from the reader"
    (page,) = documents(GAZETTE)
    (kept,) = list(TidingsExtractor(with_metadata=False).run([page]))
    assert set(kept.metadata) == {"url"}


def test_the_language_filter_of_datatrove_drops_other_languages_with_a_reason():
    from tidings.datatrove import LanguageFilter

    german = "Nach zwei Jahren ohne Fähre hat der Rat der Stadt einen neuen Betreiber für die Insel gefunden."
    english = "After two years without a crossing, the town council has found a new operator for the ferry."
    step = LanguageFilter("de")
    (kept,) = list(step.run(documents(german, english)))
    assert kept.text == german
    assert kept.metadata["language"] == "de" and 0.5 <= kept.metadata["language_score"] <= 1
    assert step.stats.stats["dropped_other_language"].total == 1
    strict = LanguageFilter(["de"], min_score=1.1)
    assert list(strict.run(documents(german))) == []
    assert strict.stats.stats["dropped_low_language_score"].total == 1


def test_a_pipeline_of_datatrove_runs_from_a_reader_to_a_writer(tmp_path):
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter
    from tidings.datatrove import LanguageFilter, TidingsExtractor

    pages = tmp_path / "pages"
    pages.mkdir()
    lines = [
        {"id": "1", "text": GAZETTE, "url": "https://a.example/1"},
        {"id": "2", "text": EMPTY, "url": "https://a.example/2"},
    ]
    (pages / "one.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    steps = [
        JsonlReader(str(pages)),
        TidingsExtractor(),
        LanguageFilter("en"),
        JsonlWriter(str(tmp_path / "texts"), compression=None),
    ]
    LocalPipelineExecutor(steps, logging_dir=str(tmp_path / "logs")).run()
    (written,) = [
        json.loads(line) for file in (tmp_path / "texts").glob("*.jsonl") for line in file.read_text().splitlines()
    ]
    assert written["id"] == "1" and written["metadata"]["language"] == "en"


@pytest.fixture
def home(tmp_path):
    from conftest import run_tidings
    from spark_data import home_with_pages

    home = home_with_pages(tmp_path / "news")
    for stage in ("clean", "dedup", "annotate"):
        run_tidings("--home", str(home), stage)
    return home


def done_ranks(logs):
    return sorted(path.name for path in (logs / "completions").iterdir())


def test_ranks_of_datatrove_clean_a_home_as_one_machine_does(home, tmp_path):
    from conftest import run_tidings
    from datatrove.executor import LocalPipelineExecutor
    from spark_data import copied
    from tidings.datatrove import HomeStage

    other = copied(home, tmp_path / "other")
    for stage, rank, tasks in (("clean", None, 4), ("dedup", 0, 1), ("annotate", None, 4)):
        logs = tmp_path / "logs" / stage
        executor = LocalPipelineExecutor(
            [HomeStage(other, stage, rank)], tasks=tasks, workers=min(tasks, 2), logging_dir=str(logs)
        )
        executor.run()
        assert done_ranks(logs) == [f"{rank:05}" for rank in range(tasks)]
    digests = [run_tidings("--home", str(each), "digest", "--tree") for each in (home, other)]
    assert digests[0] == digests[1] and b"text" in digests[0]
    # A second start finds the markers and does nothing.
    (marker := tmp_path / "logs/clean/completions/00001").unlink()
    LocalPipelineExecutor([HomeStage(other, "clean")], tasks=4, workers=2, logging_dir=str(tmp_path / "logs/clean")).run()
    assert marker.exists()
    with pytest.raises(ValueError, match="'fetch' is no stage"):
        HomeStage(other, "fetch")


def test_a_rank_that_fails_leaves_no_marker(tmp_path):
    from datatrove.executor import LocalPipelineExecutor
    from tidings.datatrove import HomeStage

    logs = tmp_path / "logs"
    with pytest.raises(RuntimeError, match="tidings clean of rank 0 ended"):
        LocalPipelineExecutor([HomeStage(tmp_path / "none", "clean")], tasks=1, logging_dir=str(logs)).run()
    assert not list(logs.glob("completions/*"))


def test_the_reader_of_datatrove_gives_the_documents_of_a_home(home, tmp_path):
    import pyarrow
    from tidings import _tidings
    from tidings.datatrove import PagesReader

    expected = {}
    for path in (home / "docs").glob("*/*.jsonl.zst"):
        if path.parent.name != "dropped":
            for line in pyarrow.input_stream(str(path), compression="zstd").read().splitlines():
                if b'"url"' in line:
                    document = json.loads(line)
                    expected[document["id"]] = "\n".join(paragraph["text"] for paragraph in document["paragraphs"])
    reader = PagesReader(str(home / "pages"), settings=_tidings.clean_settings(str(home)))
    found = {}
    for rank in range(2):
        found.update({document.id: document for document in reader.run(rank=rank, world_size=2)})
    assert expected.items() <= {id: document.text for id, document in found.items()}.items()
    document = next(document for document in found.values() if document.metadata["site"] == "gazette0.example")
    assert document.metadata["file"].endswith(".jsonl.zst") and document.metadata["language"]
    assert reader.stats.stats["dropped_no-text"].total >= 6


# Scrapy


def response(body, kind="text/html; charset=utf-8"):
    from scrapy.http import HtmlResponse, Response

    as_type = HtmlResponse if kind.startswith("text/html") else Response
    return as_type("https://gazette.example/ferry", headers={"Content-Type": kind}, body=body)


@pytest.fixture
def crawler():
    from scrapy.spiders import Spider
    from scrapy.utils.test import get_crawler

    return get_crawler(Spider, {"TIDINGS_LANGUAGES": ["en"], "TIDINGS_OPTIONS": {"favor_precision": True}})


def dropped(crawler):
    return {
        name.rpartition("/")[2]: count
        for name, count in crawler.stats.get_stats().items()
        if name.startswith("tidings/")
    }


def test_the_item_pipeline_of_scrapy_fills_text_and_metadata(crawler):
    from tidings.scrapy import TidingsPipeline

    pipeline = TidingsPipeline.from_crawler(crawler)
    item = pipeline.process_item({"url": "https://gazette.example/ferry", "response": response(GAZETTE.encode())})
    assert "response" not in item
    assert item["text"].startswith("After two years") and item["author"] == "Maren Holt"
    assert item["language"] == "en" and item["date"] == "2024-02-29"
    assert pipeline.process_item({"html": GAZETTE, "title": "my own"})["title"] == "my own"
    assert dropped(crawler) == {}


def test_items_with_declared_fields_get_only_those(crawler):
    import scrapy
    from tidings.scrapy import TidingsPipeline

    class Article(scrapy.Item):
        response = scrapy.Field()
        text = scrapy.Field()

    item = TidingsPipeline.from_crawler(crawler).process_item(Article(response=response(GAZETTE.encode())))
    assert set(item) == {"text"}


@pytest.mark.parametrize(
    "item, reason",
    [
        ({"response": lambda: response(EMPTY.encode())}, "no-text"),
        ({"response": lambda: response(b"%PDF", "application/pdf")}, "not-html"),
        ({"url": "https://a.example"}, "no-page"),
    ],
)
def test_pages_without_text_are_dropped_with_a_reason(crawler, item, reason):
    from scrapy.exceptions import DropItem
    from tidings.scrapy import TidingsPipeline

    made = {name: value() if callable(value) else value for name, value in item.items()}
    with pytest.raises(DropItem):
        TidingsPipeline.from_crawler(crawler).process_item(made)
    assert dropped(crawler) == {reason: 1}


def test_pages_in_other_languages_are_dropped(crawler):
    from scrapy.exceptions import DropItem
    from tidings.scrapy import TidingsPipeline

    text = "<p>Nach zwei Jahren ohne Fähre hat der Rat der Stadt einen neuen Betreiber für die Insel gefunden. " * 4
    page = f"<html><body><article><h1>Fähre</h1>{text}</article></body></html>"
    with pytest.raises(DropItem, match="is in de"):
        TidingsPipeline.from_crawler(crawler).process_item({"html": page, "url": "https://a.example/de"})
    assert dropped(crawler) == {"other-language": 1}


# The port of the site stands in for PORT.
SPIDER = """
import scrapy

class Spider(scrapy.Spider):
    name = "pages"
    start_urls = ["http://127.0.0.1:PORT/page.html", "http://127.0.0.1:PORT/login.html"]
    custom_settings = {
        "ITEM_PIPELINES": {"tidings.scrapy.TidingsPipeline": 300},
        "ROBOTSTXT_OBEY": False, "TELNETCONSOLE_ENABLED": False, "LOG_LEVEL": "WARNING",
    }

    def parse(self, response):
        yield {"url": response.url, "response": response}
"""


def test_a_crawl_of_scrapy_writes_items_with_text(tmp_path):
    import functools
    import http.server
    import subprocess
    import sys
    import threading

    site = tmp_path / "site"
    site.mkdir()
    (site / "page.html").write_text(GAZETTE, encoding="utf-8")
    (site / "login.html").write_text(EMPTY)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        spider = tmp_path / "spider.py"
        spider.write_text(SPIDER.replace("PORT", str(server.server_port)))
        command = [sys.executable, "-m", "scrapy", "runspider", str(spider), "-O", str(tmp_path / "items.json")]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
        server.shutdown()
    assert ran.returncode == 0, ran.stderr
    (item,) = json.loads((tmp_path / "items.json").read_text())
    assert item["title"] == "Ferry service to return in spring, council says"
    assert "has no text" in ran.stderr and "Deprecat" not in ran.stderr


# spaCy

TEXT = "Storms closed two bridges. Nobody was hurt."


def test_a_document_of_spacy_has_words_lemmas_tags_features_and_sentences():
    import spacy
    from tidings.spacy import to_doc

    tagged = tidings.tag(TEXT, lang="en")
    doc = to_doc(tagged, spacy.blank("en").vocab)
    assert doc.text.strip() == TEXT
    flat = [token for sentence in tagged for token in sentence]
    assert [token.text for token in doc] == [token.word for token in flat]
    assert [token.lemma_ for token in doc] == [token.lemma for token in flat]
    assert [token.pos_ for token in doc] == [token.tag for token in flat]
    assert [str(token.morph) for token in doc] == [token.feats or "" for token in flat]
    assert [sentence.text for sentence in doc.sents] == ["Storms closed two bridges.", "Nobody was hurt."]
    assert doc[0].morph.get("Number") == ["Plur"]


def test_a_docbin_keeps_every_layer_on_disk(tmp_path):
    import spacy
    from spacy.tokens import DocBin
    from tidings.spacy import to_doc, to_docbin

    vocab = spacy.blank("en").vocab
    texts = [tidings.tag(TEXT, lang="en"), tidings.tag("The ferry returns in spring.", lang="en")]
    to_docbin(texts, vocab).to_disk(tmp_path / "texts.spacy")
    read = list(DocBin().from_disk(tmp_path / "texts.spacy").get_docs(spacy.blank("en").vocab))
    for doc, tagged in zip(read, texts, strict=True):
        made = to_doc(tagged, vocab)
        assert [(t.text, t.whitespace_, t.lemma_, t.pos_, str(t.morph), t.is_sent_start) for t in doc] == [
            (t.text, t.whitespace_, t.lemma_, t.pos_, str(t.morph), t.is_sent_start) for t in made
        ]


def test_a_language_without_tags_gives_a_document_without_tags():
    import spacy
    from tidings.spacy import to_doc

    # There is no model of Esperanto.
    tagged = tidings.tag("La urba konsilio elektis novan kompanion. La pramo revenos printempe.", lang="eo")
    doc = to_doc(tagged, spacy.blank("xx").vocab)
    assert len(list(doc.sents)) == 2 and all(token.pos_ == "" for token in doc)
