"""Lines by language from WET files, as OSCAR is made."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import dataset

from .. import _tidings
from . import _files
from ._pages import _rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LINES = "position bigint, number bigint, language string, hash bigint, line string"
PACKED = "language string, position bigint, lines bigint, frames binary"


def lines_by_language(pages: DataFrame, *, min_chars: int = 100) -> DataFrame:
    """The distinct lines of WET files and JSON lines with a ``text``, each with its ``language``.

    Of equal lines, the first in the order of files (``position``) and lines (``number``) is kept: these are the lines
    that ``tidings import --lines`` writes, if its memory is large enough to remember all of them.

    Args:
        pages: Rows of ``pages``.
        min_chars: The minimum length of a line in characters.
    """
    from pyspark.sql import functions as F

    lines = pages.mapInArrow(functools.partial(_lines, min_chars=min_chars), LINES)
    first = F.min(F.struct("position", "number", "language", "line")).alias("first")
    kept = lines.groupBy("hash").agg(first)
    return kept.select("first.language", "first.position", "first.number", "first.line")


def _lines(batches: Iterable[pa.RecordBatch], *, min_chars: int) -> Iterator[pa.RecordBatch]:
    for row in _rows(batches):
        with _files.opened(row["path"]) as path:
            lines = _tidings.LinesFile(path, min_chars)
            while (found := lines.next()) is not None:
                table = pa.table(found)
                position = pa.array([row["position"]] * len(table), pa.int64())
                yield from table.add_column(0, "position", position).to_batches()


def write_lines(
    lines: DataFrame, folder: str | os.PathLike[str], *, work: str | os.PathLike[str]
) -> dict[str, int]:
    """Writes lines by language to ``LANG.txt.zst`` in a local folder; returns the number of lines of each language.

    The lines are in the order of ``tidings import --lines``. They are compressed in the tasks and joined here.

    Args:
        lines: Rows of ``lines_by_language``.
        folder: The folder; files in it with the names of languages are replaced.
        work: A folder for the compressed lines that workers and this machine can reach; what is there is replaced.
    """
    work = os.fspath(work)
    packed = lines.groupBy("language", "position").applyInArrow(_packed, PACKED)
    packed.write.mode("overwrite").parquet(work)
    system, inside = _files.file_system(work) if _files.is_remote(work) else (None, _files.local(work))
    saved = dataset.dataset(inside, filesystem=system, format="parquet")
    heads = saved.to_table(columns=["language", "position", "lines"]).to_pylist()
    if len({(row["language"], row["position"]) for row in heads}) != len(heads):
        raise _tidings.TidingsError("lines of one file and language were divided; run again")
    os.makedirs(folder, exist_ok=True)
    counts: dict[str, int] = {}
    for language in sorted({row["language"] for row in heads}):
        counts[language] = _write(saved, language, os.path.join(folder, f"{language}.txt.zst"))
    return counts


def _packed(table: pa.Table) -> pa.Table:
    ordered = table.sort_by("number")
    head = {name: ordered[name][:1] for name in ("language", "position")}
    frames = _tidings.pack_lines(ordered.select(["line"]))
    return pa.table({**head, "lines": pa.array([len(ordered)]), "frames": pa.array([frames], pa.binary())})


def _write(saved: dataset.Dataset, language: str, path: str) -> int:
    rows = saved.to_table(filter=dataset.field("language") == language).sort_by("position")
    draft = f"{path}.tmp"
    with open(draft, "wb") as target:
        for frames in rows["frames"]:
            target.write(frames.as_buffer())
        target.flush()
        os.fsync(target.fileno())
    os.replace(draft, path)
    return sum(rows["lines"].to_pylist())
