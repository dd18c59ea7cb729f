"""Batches equal the filters of the command line, for all Arrow libraries and any number of threads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pytest
from conftest import filter_lines, run_tidings
from test_text import TEXTS

import tidings


def rows_of(table) -> list[dict]:
    return pyarrow.table(table).to_pylist()


def compare_extract(pages, **arguments):
    flags = ["--comments"] if arguments.get("comments") else []
    expected = filter_lines(pages, "extract", *flags)
    table = tidings.extract_batch(pyarrow.Table.from_pylist(pages), **arguments)
    assert set(table.columns) == {*expected[0], "declared_language", "reason", "error"}
    for row, line in zip(rows_of(table), expected, strict=True):
        assert row.pop("error") is None
        # JSON leaves out what is missing.
        for name in ("reason", "declared_language"):
            assert row.pop(name) == line.pop(name, None)
        licence = row["licence"]
        row["licence"] = licence and {name: value for name, value in licence.items() if value}
        assert row == line


def test_extract_equals_the_filter(pages):
    for threads in (1, 2, 7):
        compare_extract(pages, threads=threads)
    compare_extract(pages, comments=True)


def test_development_pages_equal_the_filters(development_pages):
    compare_extract(development_pages)
    texts = tidings.extract_batch(pyarrow.Table.from_pylist(development_pages)).to_arrow().select(["id", "text"])
    texts = texts.to_pylist()
    compare_identify(texts)
    compare_tokenize(texts)
    compare_tag(texts[::8])


def compare_identify(rows):
    expected = filter_lines(rows, "lang")
    got = rows_of(tidings.identify_batch(pyarrow.Table.from_pylist(rows)))
    assert [(row["id"], row["lang"], row["score"]) for row in got] == [(r["id"], r["lang"], r["score"]) for r in expected]


def compare_tokenize(rows):
    expected = filter_lines(rows, "tokenize")
    got = rows_of(tidings.tokenize_batch(pyarrow.Table.from_pylist(rows)))
    assert [row["sentences"] for row in got] == [row["sentences"] for row in expected]


def compare_tag(rows):
    expected = filter_lines(rows, "tag")
    for row, line in zip(rows_of(tidings.tag_batch(pyarrow.Table.from_pylist(rows))), expected, strict=True):
        for token in (token for sentence in row["sentences"] for token in sentence):
            if not token["feats"]:
                del token["feats"]
        assert (row["lang"], row["sentences"]) == (line["lang"], line["sentences"])


def test_texts_equal_the_filters():
    rows = [{"id": number, "text": text} for number, (_, text) in enumerate(TEXTS)]
    with_languages = [{"id": number, "text": text, "lang": lang} for number, (lang, text) in enumerate(TEXTS)]
    compare_identify(rows)
    for rows in (rows, with_languages):
        compare_tokenize(rows)
        compare_tag(rows)
    hinted = [{"id": 1, "text": "Stol je velik.", "declared": "hr"}, {"id": 2, "text": "Stol je velik.", "declared": None}]
    table = pyarrow.Table.from_pylist(hinted)
    expected = [row["lang"] for row in filter_lines([hinted[0], {"text": "Stol je velik."}], "lang", "--declared", "bs")]
    assert [row["lang"] for row in rows_of(tidings.identify_batch(table, declared="bs"))] == expected


def test_any_arrow_library_gives_the_same(pages):
    table = pyarrow.Table.from_pylist(pages)
    expected = rows_of(tidings.extract_batch(table))
    reader = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=1))
    dictionary = table.set_column(1, "url", table["url"].dictionary_encode())
    large = table.cast(pyarrow.schema([(name, pyarrow.large_string()) for name in table.column_names]))
    views = table.cast(pyarrow.schema([(name, pyarrow.string_view()) for name in table.column_names]))
    inputs = [
        table.to_batches()[0],
        reader,
        dictionary,
        large,
        views,
        table.to_struct_array(),
        polars.DataFrame(table),
        pandas.DataFrame(pages),
        duckdb.from_arrow(table),
    ]
    for input in inputs:
        assert [row | {"id": str(row["id"])} for row in rows_of(tidings.extract_batch(input))] == expected, type(input)
    as_bytes = table.set_column(2, "html", table["html"].cast(pyarrow.binary()))
    assert [row["text"] for row in rows_of(tidings.extract_batch(as_bytes))] == [row["text"] for row in expected]


def test_results_go_to_any_library(pages):
    table = tidings.extract_batch(pyarrow.Table.from_pylist(pages))
    assert len(table) == len(pages) and repr(table).startswith(f"Table({len(pages)} rows: id, url, text")
    texts = [row["text"] for row in rows_of(table)]
    assert polars.DataFrame(table)["text"].to_list() == texts == table.to_polars()["text"].to_list()
    assert table.to_pandas()["text"].tolist() == texts
    assert [row[0] for row in duckdb.from_arrow(table.to_arrow()).query("t", "select text from t").fetchall()] == texts
    assert table.to_arrow().schema.field("authors").type == pyarrow.list_(pyarrow.string())


def test_a_column_alone_is_enough(pages):
    html = pyarrow.array([page["html"] for page in pages])
    expected = [tidings.extract(page["html"], include_comments=False) for page in pages]
    assert [row["text"] or None for row in rows_of(tidings.extract_batch(html))] == expected
    assert rows_of(tidings.identify_batch(polars.Series(["Es regnet seit gestern.", ""])))[1]["lang"] == "und"
    assert rows_of(tidings.tokenize_batch(pyarrow.chunked_array([["Rain."], ["Snow."]])))[1]["sentences"] == [["Snow", "."]]


def test_bad_rows_get_an_error_and_the_others_a_result():
    rows = [{"id": 1, "text": "It rained."}, {"id": 2, "text": None}, {"id": 3, "text": "It snowed."}]
    table = pyarrow.Table.from_pylist(rows)
    for function, column in [(tidings.identify_batch, "lang"), (tidings.tokenize_batch, "sentences"),
                             (tidings.tag_batch, "sentences")]:  # fmt: skip
        got = rows_of(function(table))
        assert [row["id"] for row in got] == [1, 2, 3]
        assert [row["error"] for row in got] == [None, "text is missing", None]
        assert [row[column] is None for row in got] == [False, True, False]
    got = rows_of(tidings.extract_batch(pyarrow.table({"html": [None, "<p>"], "url": [None, None]})))
    assert [row["error"] for row in got] == ["html is missing", None]
    assert (got[0]["text"], got[1]["text"], got[1]["reason"]) == (None, "", "no-text")
    got = rows_of(tidings.identify_batch(pyarrow.array([b"\xff\xfe", b"rain"])))
    assert got[0]["error"] == "the text is not valid UTF-8" and got[1]["error"] is None


def test_empty_tables_have_columns():
    empty = pyarrow.table({"id": pyarrow.array([], pyarrow.int64()), "text": pyarrow.array([], pyarrow.string())})
    table = tidings.tag_batch(empty)
    assert (len(table), table.columns) == (0, ["id", "lang", "sentences", "error"])
    assert pyarrow.table(table).num_rows == 0
    assert len(tidings.clean_batch(pyarrow.array([], pyarrow.string()))) == 0


def test_wrong_input_is_an_error_of_the_caller():
    with pytest.raises(TypeError, match="__arrow_c_stream__"):
        tidings.extract_batch(["<p>"])
    with pytest.raises(ValueError, match="column `html` is missing; the columns are: a, b"):
        tidings.extract_batch(pyarrow.table({"a": [1], "b": [2]}))
    with pytest.raises(TypeError, match="column `text` has type Int64"):
        tidings.tag_batch(pyarrow.table({"text": [1]}))
    with pytest.raises(ValueError, match="threads must be"):
        tidings.tag_batch(pyarrow.array(["a"]), threads=0)
    with pytest.raises(ValueError, match="known presets"):
        tidings.extract_batch(pyarrow.array(["a"]), preset="best")


def test_cleaned_lines_equal_docs_to_the_byte(tmp_path, pages):
    home = tmp_path / "news"
    run_tidings("init", str(home))
    saved = tmp_path / "saved"
    saved.mkdir()
    for page in pages:
        (saved / f"{page['id']}.html").write_text(page["html"])
    (saved / "empty.html").write_text("<html><body></body></html>")
    run_tidings("--home", str(home), "import", str(saved))
    run_tidings("--home", str(home), "clean")
    compare_cleaned(home)


def test_development_pages_are_cleaned_to_the_byte(tmp_path, development_pages):
    home, saved = tmp_path / "news", tmp_path / "pages.jsonl"
    run_tidings("init", str(home))
    response = {"downloaded": "2026-03-01T10:00:00Z", "status": 200, "content_type": "text/html; charset=utf-8"}
    lines = ({"url": page["url"], **response, "body": page["html"]} for page in development_pages)
    saved.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    run_tidings("--home", str(home), "import", "--from", "pages", str(saved))
    run_tidings("--home", str(home), "clean")
    compare_cleaned(home)


def compare_cleaned(home: Path):
    """Cleans the pages of a home and compares the lines of each language with its documents."""
    days: dict[str, list[bytes]] = {}
    for path in sorted((home / "pages").rglob("*.jsonl.zst")):
        lines = content(path)
        days.setdefault(path.relative_to(home / "pages").as_posix()[:10].replace("/", "-"), []).extend(lines)
    made: dict[str, list[bytes]] = {}
    for lines in days.values():
        table = tidings.clean_batch(pyarrow.array(lines, pyarrow.binary()), home=home)
        for row in rows_of(table):
            assert row["error"] is None and (row["language"] is None) == (row["reason"] is not None)
            made.setdefault(row["language"] or "dropped", []).append(row["line"].encode())
    documents: dict[str, list[bytes]] = {}
    for path in sorted((home / "docs").rglob("*.jsonl.zst")):
        documents.setdefault(path.relative_to(home / "docs").parts[0], []).extend(content(path))
    assert documents and documents == {name: lines for name, lines in made.items() if name in documents}
    assert sum(map(len, made.values())) == sum(map(len, days.values()))


def content(path: Path) -> list[bytes]:
    """The lines of a file of frames without its header."""
    lines = pyarrow.input_stream(str(path), compression="zstd").read().splitlines()
    return [line for line in lines if b'"url"' in line]


def test_pages_that_are_none_get_an_error():
    empty = '{"url": "http://e.org/a", "status": 200, "content_type": "text/html", "body": ""}'
    got = rows_of(tidings.clean_batch(pyarrow.array([empty, "no json", None])))
    assert got[0]["reason"] == "no-text" and got[1]["error"].startswith("not a page") and got[2]["error"] == "line is missing"
    with pytest.raises((tidings.TidingsError, OSError)):
        tidings.clean_batch(pyarrow.array(["{}"]), home="/no/such/home")


def test_import_is_quick_and_needs_no_other_package():
    program = (
        "import sys, time; start = time.process_time(); import tidings; cpu = time.process_time() - start;"
        "import json; print(json.dumps([cpu, [n for n in ('numpy', 'pyarrow', 'pandas', 'polars') if n in sys.modules]]))"
    )
    cpu, modules = json.loads(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)
    assert modules == []
    # The bar is 0.1 s; a build without optimisation and a busy machine take longer.
    assert cpu < 1.0
