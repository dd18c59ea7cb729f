"""Pages → documents: one row for each page, or the frames of whole files for a home."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .. import _tidings
from . import _files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Rows of a batch, at most. Engines copy batches several times.
BATCH_ROWS = 256
#: Entries with the same text from which on it is no article, as in ``tidings clean``.
SAME_TEXT_LIMIT = _tidings.SAME_TEXT_LIMIT

#: The partition of summaries in the rows of clean_files().
SUMMARY = ""

PAGES = "path string, file string, day string, position bigint"
CLEANED = (
    "path string, position bigint, number bigint, day string, url string, language string, reason string, "
    "line string, same_text string, entry string, dropped string, error string"
)
FRAMES = "file string, day string, partition string, lines bigint, frames binary, summary string"
FRAMES_ARROW = pa.schema(
    {
        "file": pa.string(),
        "day": pa.string(),
        "partition": pa.string(),
        "lines": pa.int64(),
        "frames": pa.binary(),
        "summary": pa.string(),
    }
)

#: A file of pages of a home, and its day.
KEY = re.compile(r"pages/(\d{4}-\d\d-\d\d)/[^/]+\.jsonl\.zst$")


def settings(home: str | os.PathLike[str] | None = None) -> str:
    """The settings and takedowns of a home as text for ``clean`` and ``clean_files``; without a home, the defaults.

    Tasks need nothing of the home but this text and the files of pages.
    """
    return _tidings.clean_settings(None if home is None else os.fspath(home))


def pages(
    spark: SparkSession,
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    partitions: int | None = None,
) -> DataFrame:
    """Files of pages: of homes, web archives (WARC, WACZ, WET), JSON lines of pages or texts.

    A row is a path, and its file is opened inside a task: with pyarrow, or with fsspec where pyarrow has no such file
    system. The workers need access and credentials.

    Args:
        spark: The session.
        paths: Homes, files, folders and patterns, also as URIs such as ``s3://bucket/folder``.
        partitions: Tasks; one for each file, at most 10,000, by default. Files differ in size, so have several times as
            many tasks as cores.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    files = _files.expand([_pages_of(os.fspath(path)) for path in given])
    rows = []
    for position, path in enumerate(files):
        key = KEY.search(_files.without_options(path))
        rows.append((path, key.group(0) if key else path, key.group(1) if key else "", position))
    frame = spark.createDataFrame(rows, PAGES)
    return frame.repartition(partitions or min(len(rows), 10_000))


def _pages_of(path: str) -> str:
    """The folder of pages of a home; else the path."""
    is_home = not _files.is_remote(path) and os.path.isfile(os.path.join(_files.local(path), "tidings.toml"))
    return os.path.join(_files.local(path), "pages") + "/*/*.jsonl.zst" if is_home else path


def clean(
    pages: DataFrame, settings: str | None = None, *, format: str | None = None, downloaded: str = ""
) -> DataFrame:
    """Extracts, identifies, masks and judges each page, as ``tidings clean`` does.

    A row for each page: its file (``path``, ``position``) and ``number`` in it, the ``day`` of download, ``url``,
    ``language``, ``reason`` (why it is dropped), and ``line``: the line of ``docs/``, or of ``docs/dropped``. ``error``
    tells why a page could not be read. Documents with ``same_text`` may be consent walls or error pages, which only all
    pages of a day show: save the rows, then call ``withdraw_same_texts``.

    Args:
        pages: Rows of ``pages``.
        settings: What ``settings`` returned for a home; the default settings if absent.
        format: The format of the files, as of ``tidings import``; detected by default.
        downloaded: The time of download of pages and texts without one, such as ``2026-03-01T00:00:00Z``.
    """
    text = settings if settings is not None else _tidings.clean_settings(None)
    rows = functools.partial(_cleaned, settings=text, format=format, downloaded=downloaded)
    return pages.mapInArrow(rows, CLEANED)


def _cleaned(
    batches: Iterable[pa.RecordBatch], *, settings: str, format: str | None, downloaded: str
) -> Iterator[pa.RecordBatch]:
    for row in _rows(batches):
        with _files.opened(row["path"]) as path:
            rows = _tidings.PageFile(path, settings, format, downloaded)
            while (found := rows.next(BATCH_ROWS)) is not None:
                (batch,) = pa.table(found).to_batches()
                yield _with_file(batch, row)


def _with_file(batch: pa.RecordBatch, row: dict[str, Any]) -> pa.RecordBatch:
    """The rows of a file with its name, its position, and its day if it is a file of a home."""
    columns = {name: batch.column(name) for name in batch.schema.names}
    if row["day"]:
        columns["day"] = pa.array([row["day"]] * len(batch), pa.string())
    first = {
        "path": pa.array([row["path"]] * len(batch), pa.string()),
        "position": pa.array([row["position"]] * len(batch), pa.int64()),
    }
    return pa.RecordBatch.from_pydict({**first, **columns})


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    for batch in batches:
        yield from batch.to_pylist()


def withdraw_same_texts(cleaned: DataFrame) -> DataFrame:
    """Drops the texts that stand under several addresses of a site on one day: consent walls, login pages, soft 404s.

    Takes saved rows of ``clean``: they are read twice. Returns them without the columns that were needed for this.
    """
    from pyspark.sql import functions as F

    suspects = cleaned.where(F.col("same_text").isNotNull())
    entries = suspects.groupBy("day", "same_text").agg(F.countDistinct("entry").alias("entries"))
    walls = entries.where(F.col("entries") >= SAME_TEXT_LIMIT).select("day", "same_text", F.lit(True).alias("wall"))
    joined = cleaned.join(F.broadcast(walls), ["day", "same_text"], "left")
    is_wall = F.coalesce(F.col("wall"), F.lit(False))
    kept = [name for name in cleaned.columns if name not in ("same_text", "entry", "dropped", "error")]
    changed = {
        "language": F.when(is_wall, F.lit(None)).otherwise(F.col("language")),
        "reason": F.when(is_wall, F.lit("same-text")).otherwise(F.col("reason")),
        "line": F.when(is_wall, F.col("dropped")).otherwise(F.col("line")),
    }
    columns = [changed[name].alias(name) if name in changed else F.col(name) for name in kept]
    return joined.select(*columns, "error")


def clean_files(pages: DataFrame, settings: str) -> DataFrame:
    """Cleans the files of pages of a home, for ``assemble``.

    Each file is cleaned and compressed in one task, without a shuffle. Its rows have the compressed lines of a language
    (``partition``, ``lines``, ``frames``), and one row the ``summary`` of the file.

    Args:
        pages: Rows of ``pages`` with files of a home: their paths end like ``pages/2026-03-01/NAME.jsonl.zst``.
        settings: What ``settings`` returned for the home.
    """
    return pages.mapInArrow(functools.partial(_framed, settings=settings), FRAMES)


def _framed(batches: Iterable[pa.RecordBatch], *, settings: str) -> Iterator[pa.RecordBatch]:
    cleaner = _tidings.FileCleaner(settings)
    for row in _rows(batches):
        if not row["day"]:
            message = f"{row['path']} is no file of pages of a home (pages/DAY/NAME.jsonl.zst); use clean()"
            raise ValueError(message)
        with _files.opened(row["path"]) as path:
            summary, parts = cleaner.clean(path, row["file"])
        head = {"file": row["file"], "day": row["day"]}
        rows = [{**head, "partition": name, "lines": lines, "frames": frames} for name, lines, frames in parts]
        rows.append({**head, "partition": SUMMARY, "lines": 0, "summary": summary})
        yield pa.RecordBatch.from_pylist(rows, FRAMES_ARROW)
