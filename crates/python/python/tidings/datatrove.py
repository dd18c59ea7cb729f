"""Steps for pipelines of `datatrove <https://github.com/huggingface/datatrove>`_.

>>> from datatrove.pipeline.readers import WarcReader
>>> from datatrove.pipeline.writers import JsonlWriter
>>> from tidings.datatrove import LanguageFilter, TidingsExtractor
>>> pipeline = [
...     WarcReader("crawl/"),
...     TidingsExtractor(favor_precision=True),
...     LanguageFilter(["en", "de"], min_score=0.8),
...     JsonlWriter("texts/"),
... ]

On Slurm, the ranks of an executor are tasks of an array; datatrove marks each that is done, and a second run does the
rest. ``HomeStage`` divides the stages of a home among ranks, and ``PagesReader`` reads the pages of homes and archives:

>>> from datatrove.executor import SlurmPipelineExecutor
>>> from tidings.datatrove import HomeStage, PagesReader
>>> cleaning = SlurmPipelineExecutor([HomeStage("news", "clean")], tasks=16, job_name="clean", time="4:00:00",
...     partition="batch", logging_dir="logs/clean")
>>> annotating = SlurmPipelineExecutor([HomeStage("news", "dedup", rank=0), HomeStage("news", "annotate")], tasks=16,
...     job_name="annotate", time="4:00:00", partition="batch", logging_dir="logs/annotate", depends=cleaning)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from typing import Any

try:
    from datatrove.data import Document, DocumentsPipeline
    from datatrove.pipeline.extractors.base import BaseExtractor
    from datatrove.pipeline.base import PipelineStep
    from datatrove.pipeline.filters.base_filter import BaseFilter
    from datatrove.pipeline.readers.base import BaseDiskReader
    from datatrove.utils.typeshelper import StatHints
except ModuleNotFoundError as error:
    raise ImportError(f"tidings.datatrove needs {error.name}: pip install 'datatrove[processing]'") from error

import tidings

from . import _tidings

__all__ = ["HomeStage", "LanguageFilter", "PagesReader", "TidingsExtractor"]

# Properties of a document that become metadata, if the page states them.
METADATA = ("title", "author", "date", "language", "sitename", "description", "license")


class TidingsExtractor(BaseExtractor):
    """Main text and metadata of HTML pages.

    Works in the process of the task. The extractors of datatrove start another one, because a parser may
    crash or hang; here a panic is an exception, which drops the page and counts as ``clean_error``.

    Args:
        with_metadata: whether to add title, author, date, language, site, description and licence to the
            metadata of the document. What a reader has put there stays.
        options: further arguments of :func:`tidings.bare_extraction`, such as ``favor_precision``.
    """

    name = "⛏ Tidings"

    def __init__(self, with_metadata: bool = True, **options: Any):
        super().__init__()
        self.with_metadata = with_metadata
        self.options = options

    def extract(self, text: str) -> str:
        """The main text of a page, or an empty text if it has none."""
        return tidings.extract(text, **self.options) or ""

    def run(self, data: DocumentsPipeline, rank: int = 0, world_size: int = 1) -> DocumentsPipeline:
        """Replaces the HTML of each document by its text, and drops documents without text."""
        for doc in data:
            self.stat_update(StatHints.total)
            with self.track_time():
                try:
                    page = tidings.bare_extraction(doc.text, url=doc.metadata.get("url"), **self.options)
                except (ValueError, RuntimeError):
                    self.stat_update("clean_error")
                    continue
            if page is None or not page.text:
                self.stat_update(StatHints.dropped)
                continue
            doc.text = page.text
            if self.with_metadata:
                self._add_metadata(doc, page)
            self.stat_update(StatHints.forwarded)
            self.update_doc_stats(doc)
            yield doc

    def _add_metadata(self, doc: Document, page: Any) -> None:
        for name in METADATA:
            value = getattr(page, name, None)
            if value:
                doc.metadata.setdefault(name, value)


class LanguageFilter(BaseFilter):
    """Keeps documents in one of some languages, and writes the language and its score to the metadata.

    Args:
        languages: codes of ISO 639-1, such as ``en``.
        min_score: the least score of the language, from 0 to 1.
        exclusion_writer: a writer for documents that are dropped.
    """

    name = "🌍 Tidings language"

    def __init__(self, languages: str | Iterable[str], min_score: float = 0.5, exclusion_writer: Any = None):
        super().__init__(exclusion_writer)
        self.languages = frozenset([languages] if isinstance(languages, str) else languages)
        self.min_score = min_score

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        guess = tidings.identify(doc.text)
        doc.metadata["language"] = guess.lang
        doc.metadata["language_score"] = guess.score
        if guess.lang not in self.languages:
            return False, "other_language"
        if guess.score < self.min_score:
            return False, "low_language_score"
        return True


class PagesReader(BaseDiskReader):
    """Documents of the pages in files: of the ``pages`` folder of a home, WARC, WET, or JSON lines.

    Pages are cleaned as by ``tidings clean``, with the settings of a home or the default ones; those that it drops are
    counted by reason. The text has a line for each paragraph. Metadata: url, date, language, title, site, file.

    Args:
        data_folder: The folder, local or as a URI. Each rank reads its own files.
        settings: What ``tidings.spark.settings`` returned for a home; the default settings if absent.
        format: The format of the files, as of ``tidings import``; detected by default.
        options: Further arguments of the readers of datatrove, such as ``glob_pattern`` and ``limit``.
    """

    name = "📰 Tidings pages"

    def __init__(self, data_folder: Any, settings: str | None = None, format: str | None = None, **options: Any):
        options.setdefault("recursive", True)
        super().__init__(data_folder, **options)
        self.settings = settings if settings is not None else _tidings.clean_settings(None)
        self.format = format

    def read_file(self, filepath: str) -> DocumentsPipeline:
        """The documents of a file."""
        with tempfile.TemporaryDirectory(prefix="tidings-") as folder:
            path = os.path.join(folder, os.path.basename(filepath))
            if self.data_folder.is_local():
                path = os.path.join(self.data_folder.path, filepath)
            else:
                self.data_folder.get_file(filepath, path)
            rows = _tidings.PageFile(path, self.settings, self.format)
            number = 0
            while (found := rows.next(256)) is not None:
                for row in _rows(found):
                    number += 1
                    if row["language"] is None:
                        self.stat_update(f"dropped_{row['reason'] or 'error'}")
                        continue
                    document = self._document(row, filepath, number - 1)
                    if document is not None:
                        yield document

    def _document(self, row: dict[str, Any], filepath: str, number: int) -> Document | None:
        found = json.loads(row["line"])
        metadata = {"url": row["url"], "date": row["day"], "language": row["language"], "file": filepath}
        metadata.update({name: found[name] for name in ("title", "site") if found.get(name)})
        if "dated" in found:
            metadata["date"] = found["dated"]["day"]
        text = "\n".join(paragraph["text"] for paragraph in found["paragraphs"])
        return self.get_document_from_dict(
            {"text": text, "id": found["id"], "metadata": metadata}, filepath, number
        )


def _rows(table: Any) -> list[dict[str, Any]]:
    import pyarrow

    return pyarrow.table(table).to_pylist()


class HomeStage(PipelineStep):
    """Runs a stage of a home; each rank does its share of the days, as ``tidings clean --shard 2/16``.

    The ranks may be on several machines that see the home on a shared file system with locks. A rank that failed is run
    again by starting the executor again; what is done stays. ``dedup`` needs all days in order and is one rank's work.

    Args:
        home: The folder of the home.
        stage: ``clean``, ``dedup``, ``annotate`` or ``compile``.
        rank: The only rank that works, for a stage that cannot be divided; the others wait for nothing.
    """

    name = "🏠 Tidings stage"
    type = "⚙️ - HOME"

    def __init__(self, home: str | os.PathLike[str], stage: str, rank: int | None = None):
        super().__init__()
        if stage not in ("clean", "dedup", "annotate", "compile"):
            raise ValueError(f"{stage!r} is no stage that ranks can do; use clean, dedup, annotate or compile")
        self.home = os.path.abspath(os.fspath(home))
        self.stage = stage
        self.rank = rank

    def run(self, data: DocumentsPipeline, rank: int = 0, world_size: int = 1) -> DocumentsPipeline:
        """Does the share of a rank. Documents of steps before are passed on."""
        yield from data or ()
        if self.rank not in (None, rank):
            return
        # Its own process: signals end it as they end the command, and its messages are in the log of the rank.
        shard = [] if self.rank is not None or world_size == 1 else ["--shard", f"{rank + 1}/{world_size}"]
        command = [sys.executable, "-m", "tidings", self.stage, "--home", self.home, "--json", *shard]
        with self.track_time():
            ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode != 0:
            raise RuntimeError(f"tidings {self.stage} of rank {rank} ended with {ran.returncode}: {ran.stderr.strip()}")
        outcome = json.loads(ran.stdout)
        for name in ("days", "pages", "documents", "tokens"):
            if outcome.get(name):
                self.stat_update(name, value=outcome[name])
