"""Functions of batches: Arrow in, Arrow out, on all cores."""

from __future__ import annotations

import os
from typing import Any

from . import _tidings

__all__ = ["Table", "clean_batch", "extract_batch", "identify_batch", "tag_batch", "tokenize_batch"]


class Table:
    """A table of results.

    It is an Arrow stream: ``pyarrow.table(t)``, ``polars.DataFrame(t)`` and DuckDB take it without a copy.
    """

    __slots__ = ("_table",)

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"Table({len(self)} rows: {', '.join(self.columns)})"

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._table.column_names)

    def to_arrow(self) -> Any:
        """The table as a ``pyarrow.Table``."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> Any:
        """The table as a ``pandas.DataFrame``; needs pyarrow."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """The table as a ``polars.DataFrame``."""
        import polars

        return polars.DataFrame(self)


def extract_batch(
    pages: Any, *, preset: str = "balanced", comments: bool = False, threads: int | None = None
) -> Table:
    """Extract the texts of pages.

    ``pages`` has the column ``html`` (texts, or bytes whose encoding is detected), and optionally ``id``, ``url`` and
    ``lang``; or it is a column of pages. ``preset`` is ``balanced``, ``precision``, ``recall`` or ``justext``. The
    columns of the result are the fields of ``tidings extract --jsonl``; a page without text has a ``reason``, and a
    row that cannot be read an ``error``.
    """
    return Table(_tidings.extract_batch(pages, preset=preset, comments=comments, threads=threads))


def identify_batch(
    texts: Any, *, declared: str | None = None, tld: str | None = None, threads: int | None = None
) -> Table:
    """Identify the languages of texts: the columns ``lang``, ``score`` and ``error``.

    ``texts`` has the column ``text``, and optionally ``id``, ``declared`` and ``tld``; or it is a column of texts.
    The arguments ``declared`` and ``tld`` hold for rows without a value.
    """
    return Table(_tidings.identify_batch(texts, declared=declared, tld=tld, threads=threads))


def tokenize_batch(texts: Any, *, lang: str | None = None, threads: int | None = None) -> Table:
    """Split texts into sentences of words: the columns ``sentences`` and ``error``.

    ``texts`` has the column ``text``, and optionally ``id`` and ``lang``; or it is a column of texts. The argument
    ``lang`` holds for rows without a value; without both, texts are split by general rules.
    """
    return Table(_tidings.tokenize_batch(texts, lang=lang, threads=threads))


def tag_batch(texts: Any, *, lang: str | None = None, threads: int | None = None) -> Table:
    """Annotate texts: the columns ``lang``, ``sentences`` and ``error``.

    A sentence is a list of tokens with ``form``, ``lemma``, ``upos``, ``feats`` and ``space``. ``texts`` has the column
    ``text``, and optionally ``id`` and ``lang``; or it is a column of texts. The language is identified where it is
    not given.
    """
    return Table(_tidings.tag_batch(texts, lang=lang, threads=threads))


def clean_batch(
    pages: Any, *, home: str | os.PathLike[str] | None = None, threads: int | None = None
) -> Table:
    """Turn lines of ``pages/`` into lines of ``docs/``, as ``tidings clean`` does.

    ``pages`` has the column ``line``, or is a column of lines. The columns of the result: ``url``, ``language`` (the
    folder of ``docs/``), ``reason`` (why a page is dropped), ``line`` (of ``docs/``, or of ``docs/dropped``) and
    ``error``. The settings are those of a home, or the default ones. A batch is a day: texts that stand under several
    addresses of a site are dropped by comparing all its pages.
    """
    return Table(_tidings.clean_batch(pages, home=home, threads=threads))
