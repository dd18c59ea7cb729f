"""Documents → sentences of tokens, and counts by day and site."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from .. import _tidings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TOKENS = "array<array<struct<form:string,lemma:string,upos:string,feats:string,space:boolean>>>"
ANNOTATED = f"doc string, url string, site string, day string, language string, sentences {TOKENS}, error string"
COUNTS = "kind string, language string, day string, site string, value string, count bigint"
#: Documents that are annotated at a time.
BATCH_ROWS = 64
#: Values that a task collects before it passes them on.
MAX_VALUES = 2_000_000


def annotate(documents: DataFrame) -> DataFrame:
    """Splits documents into sentences of words with lemmas, tags and features, as ``tidings annotate`` does.

    Args:
        documents: Rows with the column ``line``, a line of ``docs/``: of ``clean`` or ``dedup``. Paragraphs and sentences
            that ``dedup`` marked as duplicates are left out.

    Returns:
        A row for each document: ``doc`` (its id), ``url``, ``site``, ``day`` (of publication, else of download),
        ``language``, ``sentences`` and ``error``.
    """
    return documents.select("line").mapInArrow(_annotated, ANNOTATED)


def _parts(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for start in range(0, len(batch), BATCH_ROWS):
            yield batch.slice(start, BATCH_ROWS)


def _annotated(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in _parts(batches):
        yield from pa.table(_tidings.annotate_lines(batch)).to_batches()


def day_counts(documents: DataFrame, count: Sequence[str] = ("word", "lemma")) -> DataFrame:
    """Counts words, lemmas and n-grams by language, day and site.

    Args:
        documents: Rows with the column ``line``, a line of ``docs/``: of ``clean`` or ``dedup``.
        count: What is counted: ``word``, ``lemma``, and ``2-gram`` to ``9-gram`` of words within sentences.

    Returns:
        Rows of ``kind``, ``language``, ``day`` (of publication, else of download), ``site``, ``value`` and ``count``.
    """
    from pyspark.sql import functions as F

    kinds = [count] if isinstance(count, str) else list(count)
    _tidings.DayCounter(kinds)  # A kind that cannot be counted is an error at once.
    parts = documents.select("line").mapInArrow(functools.partial(_counted, kinds=kinds), COUNTS)
    summed = parts.groupBy("kind", "language", "day", "site", "value").agg(F.sum("count").alias("count"))
    return summed.select("kind", "language", "day", "site", "value", "count")


def _counted(batches: Iterable[pa.RecordBatch], *, kinds: list[str]) -> Iterator[pa.RecordBatch]:
    counter = _tidings.DayCounter(kinds)
    for batch in _parts(batches):
        if counter.add(batch) >= MAX_VALUES:
            yield from pa.table(counter.take()).to_batches()
    yield from pa.table(counter.take()).to_batches()
