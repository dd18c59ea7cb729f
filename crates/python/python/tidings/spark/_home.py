"""Homes from files that a cluster cleaned."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import dataset

from .. import _tidings
from . import _files
from ._pages import SUMMARY

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class AssembleError(_tidings.TidingsError):
    """Rows of files are missing or came twice. Nothing of their day was published."""


def assemble(
    cleaned: DataFrame | str | os.PathLike[str],
    home: str | os.PathLike[str],
    work: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Publishes the documents of a home from files that ``clean_files`` cleaned.

    Runs on the machine of the home. The rows are saved first and read day by day. The days that ``tidings clean`` would
    clean are assembled, with the bytes that it would write: ``tidings digest`` gives the same on both. Each file must be
    there once, cleaned with the settings of the home, with a line for each of its pages; else it is an error, and
    nothing of its day is published. ``tidings dedup`` and the stages after it do the rest.

    Args:
        cleaned: Rows of ``clean_files``, or the path or URI of such rows that were saved as Parquet.
        home: The home.
        work: The folder for the rows; needed for a DataFrame. What is there is replaced.

    Returns:
        The outcome: days, pages, documents, languages, dropped pages, and days that are left.
    """
    if not isinstance(cleaned, (str, os.PathLike)):
        if work is None:
            raise TypeError("assemble() saves the rows first: give it work=, a folder that workers and home can reach")
        work = os.fspath(work)
        cleaned.write.mode("overwrite").partitionBy("day").parquet(work)
        cleaned = work
    saved = _open(os.fspath(cleaned))
    assembler = _tidings.Assembler(os.fspath(home))
    try:
        for day, files in assembler.due():
            _assemble_day(assembler, saved, day, files)
        outcome: dict[str, Any] = json.loads(assembler.finish())
    finally:
        assembler.close()
    return outcome


def _open(path: str) -> dataset.Dataset:
    by_day = dataset.partitioning(pa.schema({"day": pa.string()}), flavor="hive")
    if not _files.is_remote(path):
        return dataset.dataset(_files.local(path), format="parquet", partitioning=by_day)
    system, inside = _files.file_system(path)
    return dataset.dataset(inside, filesystem=system, format="parquet", partitioning=by_day)


def _assemble_day(assembler: Any, saved: dataset.Dataset, day: str, files: list[str]) -> None:
    rows = saved.to_table(filter=dataset.field("day") == day, columns=["file", "partition", "lines", "frames", "summary"])
    names = list(zip(rows["file"].to_pylist(), rows["partition"].to_pylist(), strict=True))
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        file, partition = twice[0]
        raise AssembleError(f"{day}: the rows of {file} ({partition or 'summary'}) are there twice; clean it again")
    summaries = {file: at for at, (file, partition) in enumerate(names) if partition == SUMMARY}
    missing = [file for file in files if file not in summaries]
    if missing:
        raise AssembleError(f"{day}: {len(missing)} of {len(files)} files are missing, such as {missing[0]}; clean them")
    others = set(summaries) - set(files)
    if others:
        raise AssembleError(f"{day}: {min(others)} is not in the home; it has {len(files)} files of pages of that day")
    parts: dict[str, list[int]] = {}
    for at, (file, partition) in enumerate(names):
        if partition != SUMMARY:
            parts.setdefault(file, []).append(at)
    assembler.begin(day)
    for file in files:
        frames = [(names[at][1], rows["lines"][at].as_py(), rows["frames"][at].as_py()) for at in parts.get(file, [])]
        assembler.add(rows["summary"][summaries[file]].as_py(), frames)
    assembler.publish()
