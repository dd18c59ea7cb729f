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
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

try:
    from datatrove.data import Document, DocumentsPipeline
    from datatrove.pipeline.extractors.base import BaseExtractor
    from datatrove.pipeline.filters.base_filter import BaseFilter
    from datatrove.utils.typeshelper import StatHints
except ModuleNotFoundError as error:
    raise ImportError(f"tidings.datatrove needs {error.name}: pip install 'datatrove[processing]'") from error

import tidings

__all__ = ["LanguageFilter", "TidingsExtractor"]

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
