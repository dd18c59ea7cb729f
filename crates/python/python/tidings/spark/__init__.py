"""Tidings on a cluster: the steps of the pipeline as DataFrames of Spark.

The same program runs on Spark (standalone, YARN, Kubernetes, Databricks) and on Sail, because only the DataFrame API
with ``mapInArrow`` and ``applyInArrow`` is used. Files are opened inside the tasks, so that HTML never passes through
the engine. No function depends on an order of rows, and rows are counted before anything is published.

>>> from tidings import spark as ts
>>> pages = ts.pages(spark, "s3://archive/pages/")             # a row for each file
>>> ts.clean(pages).write.parquet("s3://archive/cleaned")      # a row for each page
>>> cleaned = ts.withdraw_same_texts(spark.read.parquet("s3://archive/cleaned"))
>>> documents = ts.dedup(cleaned.where("language is not null"), work="s3://archive/work")
>>> ts.day_counts(documents, ["lemma", "2-gram"]).write.partitionBy("language").parquet("s3://archive/counts")

A home gets the documents that a cluster made, byte for byte as ``tidings clean`` writes them:

>>> ts.assemble(ts.clean_files(ts.pages(spark, "news"), ts.settings("news")), "news", work="s3://archive/frames")
"""

from __future__ import annotations

from ._counts import annotate, day_counts
from ._dedup import components, dedup
from ._home import AssembleError, assemble
from ._lines import lines_by_language, write_lines
from ._pages import clean, clean_files, pages, settings, withdraw_same_texts

__all__ = [
    "AssembleError",
    "annotate",
    "assemble",
    "clean",
    "clean_files",
    "components",
    "day_counts",
    "dedup",
    "lines_by_language",
    "pages",
    "settings",
    "withdraw_same_texts",
    "write_lines",
]
