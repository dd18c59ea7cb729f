"""``tidings.spark`` on an engine: the same answers as the command line on one machine.

TIDINGS_ENGINE is ``sail`` or ``spark``; .ci/spark runs the tests on both.
"""

from __future__ import annotations

import collections
import contextlib
import html
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pyspark")
pa = pytest.importorskip("pyarrow")

import spark_engines as engines
from conftest import run_tidings
from spark_data import copied, documents, home_with_pages, wet_files
from tidings import spark as ts
from tidings.spark import _files

import tidings

ENGINE = os.environ.get("TIDINGS_ENGINE", "sail")
if ENGINE == "sail":
    pytest.importorskip("pysail")


@pytest.fixture(scope="session")
def engine():
    """A session, and its cluster if there are processes to kill."""
    with contextlib.ExitStack() as stack:
        if ENGINE == "sail":
            yield stack.enter_context(engines.sail()), None
        else:
            yield stack.enter_context(engines.spark())


@pytest.fixture
def spark(engine):
    return engine[0]


@pytest.fixture(scope="session")
def home(tmp_path_factory) -> Path:
    """A home that one machine has cleaned."""
    home = home_with_pages(tmp_path_factory.mktemp("one") / "news")
    run_tidings("--home", str(home), "clean")
    return home


def lines_of(home: Path) -> dict[str, list[bytes]]:
    """The lines of the documents of a home by partition."""
    found: dict[str, list[bytes]] = {}
    for path in sorted((home / "docs").rglob("*.jsonl.zst")):
        lines = pa.input_stream(str(path), compression="zstd").read().splitlines()
        found.setdefault(path.relative_to(home / "docs").parts[0], []).extend(lines)
    return {name: [line for line in lines if b'"url"' in line] for name, lines in found.items()}


def rows_of(frame) -> list[dict]:
    return [row.asDict() for row in frame.collect()]


# Documents


def test_cleaned_rows_are_the_lines_of_a_home(spark, home, tmp_path):
    ts.clean(ts.pages(spark, home), ts.settings(home)).write.parquet(str(tmp_path / "cleaned"))
    saved = spark.read.parquet(str(tmp_path / "cleaned"))
    rows = rows_of(ts.withdraw_same_texts(saved))
    assert all(row["error"] is None for row in rows)
    assert sum(row["reason"] == "same-text" for row in rows) == 12
    made = collections.defaultdict(list)
    for row in sorted(rows, key=lambda row: (row["position"], row["number"])):
        assert row["day"] == row["path"].split("/")[-2]
        made[row["language"] or "dropped"].append(row["line"].encode())
    expected = lines_of(home)
    # `clean` writes withdrawn documents behind the other dropped pages of their file.
    assert {name: sorted(lines) for name, lines in made.items()} == {
        name: sorted(lines) for name, lines in expected.items()
    }
    assert {name: lines for name, lines in made.items() if name != "dropped"} == {
        name: lines for name, lines in expected.items() if name != "dropped"
    }


def test_archives_give_the_documents_of_an_import(spark, home, tmp_path):
    archive = tmp_path / "pages.warc.gz"
    run_tidings("--home", str(home), "export", "--format", "warc", str(archive))
    wet = wet_files(tmp_path / "wet", 2)
    other = tmp_path / "other"
    run_tidings("init", str(other))
    run_tidings("--home", str(other), "import", str(archive), *map(str, wet))
    run_tidings("--home", str(other), "clean")
    rows = rows_of(ts.clean(ts.pages(spark, [archive, *wet])))
    found = {json.loads(row["line"])["id"]: row["line"].encode() for row in rows if row["language"]}
    lines = [line for name, lines in lines_of(other).items() if name != "dropped" for line in lines]
    expected = {json.loads(line)["id"]: line for line in lines}
    # Walls are withdrawn by all pages of a day.
    assert len(expected) > 10 and expected.items() <= found.items()


def compare_homes(one: Path, other: Path) -> None:
    """Documents, recipes and yields are the same bytes, and so is the digest."""
    names = sorted(path.relative_to(one) for path in (one / "docs").rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(other) for path in (other / "docs").rglob("*") if path.is_file())
    for name in names:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    digests = [run_tidings("--home", str(home), "digest", "--stage", "docs") for home in (one, other)]
    assert digests[0] == digests[1]


def test_an_assembled_home_has_the_bytes_of_one_machine(spark, home, tmp_path):
    other = copied(home, tmp_path / "other")
    cleaned = ts.clean_files(ts.pages(spark, other), ts.settings(other))
    outcome = ts.assemble(cleaned, other, work=tmp_path / "frames")
    assert outcome["done"] and outcome["days"] == 3 and outcome["dropped"]["same-text"] == 12
    compare_homes(home, other)
    # There is nothing left to clean, and the stages after it go on from there.
    assert json.loads(run_tidings("--home", str(other), "clean", "--json"))["pages"] == 0
    for each in (home, other):
        run_tidings("--home", str(each), "dedup")
    digests = [run_tidings("--home", str(each), "digest", "--stage", "seen") for each in (home, other)]
    assert digests[0] == digests[1]


def test_nothing_of_a_day_is_published_if_a_file_or_line_is_missing(spark, home, tmp_path):
    import pyarrow.parquet as pq

    other = copied(home, tmp_path / "other")
    cleaned = ts.clean_files(ts.pages(spark, other), ts.settings(other))
    cleaned.write.parquet(str(tmp_path / "frames"))
    rows = pq.read_table(tmp_path / "frames").to_pylist()

    def fails(changed: list[dict], message: str) -> None:
        folder = tmp_path / "changed"
        folder.mkdir(exist_ok=True)
        pq.write_table(pa.Table.from_pylist(changed), folder / "part.parquet")
        with pytest.raises(tidings.TidingsError, match=message):
            ts.assemble(folder, other)
        assert not list((other / "docs").rglob("2026-03-01.json*"))

    first = min(row["file"] for row in rows)
    of_first = [row for row in rows if row["file"] == first]
    fails([row for row in rows if row["file"] != first], "1 of 2 files are missing")
    fails(rows + of_first, "twice")
    documents = next(row for row in of_first if row["partition"] == "en")
    fails([row for row in rows if row is not documents], "lines arrived")
    fails([{**row, "lines": row["lines"] + (row is documents)} for row in rows], "lines")
    torn = [{**row, "frames": row["frames"][:-3]} if row is documents else row for row in rows]
    fails(torn, "damaged")
    (other / "tidings.toml").write_text('[clean]\npreset = "precision"\n')
    fails(rows, "other settings")


# Buckets


@pytest.fixture
def bucket() -> Iterator[str]:
    """The URI of a bucket on a server of S3 in this process, with credentials and address in place of {}."""
    moto = pytest.importorskip("moto.server")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"s3://test:secret@{{}}?region=us-east-1&scheme=http&endpoint_override={host}:{port}&allow_bucket_creation=true"
    finally:
        server.stop()


def put(uri: str, content: bytes = b"") -> None:
    """Writes an object, or makes a bucket where the path has no slash."""
    system, path = _files.file_system(uri)
    if "/" not in path:
        system.create_dir(path)
        return
    with system.open_output_stream(path, compression=None) as out:
        out.write(content)


def test_files_of_a_bucket_are_named_with_their_options(bucket):
    put(bucket.format("archive"))
    names = ["pages/2026-03-01/a.jsonl.zst", "pages/2026-03-02/b.jsonl.zst", "pages/deep/2026-03-03/c.jsonl.zst", "x"]
    for name in names:
        put(bucket.format(f"archive/{name}"), name.encode())

    def found(path: str) -> list[str]:
        uris = _files.expand(bucket.format(path))
        for uri in uris:
            with _files.opened(uri) as local:
                assert bucket.format(f"archive/{Path(local).read_text()}") == uri
        return [_files.without_options(uri).partition("archive/")[2] for uri in uris]

    assert found("archive") == names
    assert found("archive/pages/") == names[:3] == found("archive/pages/**/*.zst")
    assert found("archive/pages/*/*.jsonl.zst") == names[:2]
    assert found("archive/pages/2026-03-01/a.jsonl.zst") == names[:1]
    with pytest.raises(FileNotFoundError, match="no files at s3://archive/none"):
        _files.expand(bucket.format("archive/none/*.zst"))


def test_pages_of_a_bucket_give_the_documents_of_the_folder(spark, home, bucket):
    put(bucket.format("news"))
    for path in sorted((home / "pages").rglob("*.jsonl.zst")):
        put(bucket.format(f"news/{path.relative_to(home)}"), path.read_bytes())
    lines = []
    for pages in (ts.pages(spark, home), ts.pages(spark, bucket.format("news/pages/"))):
        rows = rows_of(ts.clean(pages, ts.settings(home)))
        lines.append(sorted((row["day"], row["number"], row["line"]) for row in rows))
    assert lines[0] == lines[1] and len(lines[0]) > 10


# Lines


def test_lines_by_language_are_those_of_one_machine(spark, tmp_path):
    wet = wet_files(tmp_path / "wet")
    run_tidings("import", *map(str, wet), "--lines", str(tmp_path / "one"), "--min-chars", "60")
    found = ts.lines_by_language(ts.pages(spark, tmp_path / "wet"), min_chars=60)
    counts = ts.write_lines(found, tmp_path / "many", work=tmp_path / "work")
    texts = {}
    for folder in ("one", "many"):
        paths = sorted((tmp_path / folder).glob("*.txt.zst"))
        texts[folder] = {path.name: pa.input_stream(str(path), compression="zstd").read() for path in paths}
    assert texts["one"] == texts["many"] and len(texts["one"]) >= 3
    assert counts == {name.split(".")[0]: text.count(b"\n") for name, text in texts["one"].items()}


# Counts


def test_sentences_and_counts_are_those_of_the_corpus(spark, home, tmp_path):
    single = copied(home, tmp_path / "single")
    (single / "tidings.toml").write_text('[annotate]\nduplicates = "keep"\n')
    for stage in ("clean", "annotate"):
        run_tidings("--home", str(single), stage)
    words, lemmas, tokens = collections.Counter(), collections.Counter(), 0
    for path in (single / "text").glob("*/*.zst"):
        for line in pa.input_stream(str(path), compression="zstd").read().decode().splitlines():
            columns = [html.unescape(value) for value in line.split("\t")]
            if len(columns) > 2:
                words[columns[0]] += 1
                lemmas[columns[1]] += 1
                tokens += 1
    assert tokens > 1000
    ts.clean(ts.pages(spark, single), ts.settings(single)).write.parquet(str(tmp_path / "cleaned"))
    cleaned = ts.withdraw_same_texts(spark.read.parquet(str(tmp_path / "cleaned"))).where("language is not null")
    rows = rows_of(ts.day_counts(cleaned, ["word", "lemma", "2-gram"]))
    found = collections.defaultdict(collections.Counter)
    for row in rows:
        found[row["kind"]][row["value"]] += row["count"]
    assert found["word"] == words and found["lemma"] == lemmas
    keys = [(row["kind"], row["language"], row["day"], row["site"], row["value"]) for row in rows]
    assert len(set(keys)) == len(keys) and {row["site"] for row in rows} >= {"gazette0.example", "gazette1.example"}
    annotated = rows_of(ts.annotate(cleaned))
    assert all(row["error"] is None for row in annotated)
    sentences = [sentence for row in annotated for sentence in row["sentences"]]
    assert sum(map(len, sentences)) == tokens
    assert found["2-gram"].total() == sum(len(sentence) - 1 for sentence in sentences)
    with pytest.raises(ValueError, match="cannot count `letter`"):
        ts.day_counts(cleaned, ["letter"])


# Duplicates


def dedup_of_one_machine(lines: list[str], *options: str) -> list[str]:
    text = "".join(line + "\n" for line in lines).encode()
    return run_tidings("dedup", "--jsonl", *options, input=text).decode().splitlines()


def shuffled_frame(spark, lines: list[str], tmp_path: Path):
    """Documents in any order, as rows that were saved."""
    import pyarrow.parquet as pq

    rows = [{"position": at // 50, "number": at % 50, "line": line} for at, line in enumerate(lines)]
    random.Random(3).shuffle(rows)
    folder = tmp_path / "documents"
    folder.mkdir()
    for part in range(4):
        pq.write_table(pa.Table.from_pylist(rows[part::4]), folder / f"{part}.parquet")
    return spark.read.parquet(str(folder))


@pytest.mark.parametrize("scope, marks", [("all", True), ("site", False), ("3d", True)])
def test_verdicts_are_those_of_one_machine(spark, tmp_path, scope, marks):
    lines = [json.dumps(document) for document in documents()]
    lines.insert(7, "not a document")
    expected = dedup_of_one_machine(lines, "--scope", scope, *(["--marks"] if marks else []))
    judged = ts.dedup(
        shuffled_frame(spark, lines, tmp_path), work=tmp_path / "work", scope=scope, marks=marks, buckets=3
    )
    rows = sorted(rows_of(judged), key=lambda row: (row["position"], row["number"]))
    assert [row["line"] for row in rows] == expected
    assert marks is False or sum('"kept":false' in line for line in expected) > 50


def test_rows_that_do_not_differ_in_their_order_are_an_error(spark, tmp_path):
    frame = shuffled_frame(spark, [json.dumps(document) for document in documents(20)], tmp_path)
    with pytest.raises(tidings.TidingsError, match="have the same position"):
        ts.dedup(frame, work=tmp_path / "work", order=["position"])


def test_components_of_paths_stars_and_cycles(spark, tmp_path):
    path = [(at, at + 1) for at in range(0, 60)]
    star = [(100, at) for at in range(101, 130)]
    cycle = [(200 + at, 200 + (at + 1) % 17) for at in range(17)]
    edges = path + star + cycle
    random.Random(1).shuffle(edges)
    found = ts.components(spark.createDataFrame(edges, "a bigint, b bigint"), work=tmp_path / "work")
    labels = {row["node"]: row["label"] for row in rows_of(found)}
    expected = {at: 0 for at in range(61)} | {at: 100 for at in range(100, 130)} | {at: 200 for at in range(200, 217)}
    assert labels == expected


# Executors that die


@pytest.mark.skipif(ENGINE != "spark", reason="Sail has no processes to kill")
def test_an_executor_that_dies_in_the_map_changes_nothing(engine, home, tmp_path):
    session, cluster = engine
    other = copied(home, tmp_path / "other")
    cleaned = ts.clean_files(ts.pages(session, other), ts.settings(other))
    with engines.Killer(session, cluster, engines.in_the_middle(4)) as killer:
        ts.assemble(cleaned, other, work=tmp_path / "frames")
    assert killer.killed
    compare_homes(home, other)


@pytest.mark.skipif(ENGINE != "spark", reason="Sail has no processes to kill")
def test_an_executor_that_dies_in_the_shuffle_changes_nothing(engine, tmp_path):
    session, cluster = engine
    lines = [json.dumps(document) for document in documents()]
    frame = shuffled_frame(session, lines, tmp_path)
    with engines.Killer(session, cluster, engines.after_stages(6)) as killer:
        judged = ts.dedup(frame, work=tmp_path / "work", buckets=3)
    assert killer.killed
    rows = sorted(rows_of(judged), key=lambda row: (row["position"], row["number"]))
    assert [row["line"] for row in rows] == dedup_of_one_machine(lines, "--marks")
