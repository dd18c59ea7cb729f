"""``extract`` and ``bare_extraction`` with the argument names and defaults of Trafilatura.

Switching is one import. An argument that cannot be honoured raises ``TypeError`` unless it has its default, so that
nothing is ignored silently.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, overload

from . import _tidings
from ._tidings import Document

__all__ = ["bare_extraction", "extract"]

#: The writer of each output format; None for those in Trafilatura's own layout.
_WRITERS = {"txt": None, "markdown": None, "json": None, "csv": None, "html": "html", "xml": "xml", "xmltei": "tei"}

#: Arguments without a counterpart, each with its default and what to do instead.
_UNSUPPORTED = {
    "tei_validation": (False, "validate the output with a TEI schema"),
    "include_images": (False, "the address of the main image is Document.image"),
    "deduplicate": (False, "use tidings.Deduper"),
    "date_extraction_params": (None, "the source of the date is Document.date_source"),
    "max_tree_size": (None, "large pages are limited by their size"),
    "settingsfile": (None, "use the arguments of this function"),
    "prune_xpath": (None, "remove the elements before"),
    "config": (None, "use the arguments of this function"),
    "options": (None, "use the arguments of this function"),
}

_MISSING = object()


def extract(
    html: str | bytes = _MISSING,  # type: ignore[assignment]
    url: str | None = None,
    record_id: str | None = None,
    fast: bool = False,
    no_fallback: bool = False,
    favor_precision: bool = False,
    favor_recall: bool = False,
    include_comments: bool = True,
    output_format: str = "txt",
    tei_validation: bool = False,
    target_language: str | None = None,
    include_tables: bool = True,
    include_images: bool = False,
    include_formatting: bool | None = None,
    include_links: bool = False,
    deduplicate: bool = False,
    date_extraction_params: dict[str, Any] | None = None,
    with_metadata: bool = False,
    only_with_metadata: bool = False,
    max_tree_size: int | None = None,
    url_blacklist: Iterable[str] | None = None,
    author_blacklist: Iterable[str] | None = None,
    settingsfile: str | None = None,
    prune_xpath: str | list[str] | None = None,
    config: Any = None,
    options: Any = None,
    *,
    filecontent: str | bytes = _MISSING,  # type: ignore[assignment]
) -> str | None:
    """Extract the text of a page, without navigation and other boilerplate; None if it has none.

    ``html`` is the page: a ``str``, or ``bytes`` whose encoding is detected. The other arguments are Trafilatura's:

    * ``url``: the base of links, and evidence for the date
    * ``favor_precision``, ``favor_recall``: less text that is surely right, or more text
    * ``include_comments``, ``include_tables``, ``include_links``, ``include_formatting``: parts to keep
    * ``output_format``: ``txt``, ``markdown``, ``json``, ``csv`` (laid out as by Trafilatura), ``html``, ``xml`` or
      ``xmltei`` (as ``tidings extract`` writes them, always with metadata)
    * ``with_metadata``: metadata before the text, or in the JSON object
    * ``only_with_metadata``: None for pages without date, title or URL
    * ``target_language``: None for texts in other languages
    * ``url_blacklist``, ``author_blacklist``: pages to leave out, authors to leave out
    * ``record_id``: the id of the page in the output
    * ``fast``, ``no_fallback``: accepted; there is one way of extraction, and no slower fallback

    Arguments that cannot be honoured (``prune_xpath``, ``config``, …) raise ``TypeError`` unless they have their
    default.
    """
    if output_format not in _WRITERS:
        raise ValueError(f"unknown output_format {output_format!r}; known formats: {', '.join(_WRITERS)}")
    formatting = output_format == "markdown" if include_formatting is None else bool(include_formatting)
    given = locals()
    _check_unsupported({name: given[name] for name in _UNSUPPORTED})
    document = _read(
        _page(html, filecontent),
        url,
        record_id=record_id,
        favor_precision=favor_precision,
        favor_recall=favor_recall,
        include_comments=include_comments,
        include_tables=include_tables,
        formatting=formatting,
        include_links=include_links,
        target_language=target_language,
        only_with_metadata=only_with_metadata,
        url_blacklist=url_blacklist,
        author_blacklist=author_blacklist,
    )
    if document is None:
        return None
    writer = _WRITERS[output_format]
    if writer is not None:
        return document.write(writer)
    if output_format == "json":
        return _json(document, with_metadata)
    if output_format == "csv":
        return _csv(document)
    header = _header(document) if with_metadata else ""
    comments = document.comments
    return f"{header}{document.text}" if comments is None else f"{header}{document.text}\n{comments}"


@overload
def bare_extraction(
    html: str | bytes = ...,
    url: str | None = ...,
    fast: bool = ...,
    no_fallback: bool = ...,
    favor_precision: bool = ...,
    favor_recall: bool = ...,
    include_comments: bool = ...,
    output_format: str = ...,
    target_language: str | None = ...,
    include_tables: bool = ...,
    include_images: bool = ...,
    include_formatting: bool | None = ...,
    include_links: bool = ...,
    deduplicate: bool = ...,
    date_extraction_params: dict[str, Any] | None = ...,
    with_metadata: bool = ...,
    only_with_metadata: bool = ...,
    max_tree_size: int | None = ...,
    url_blacklist: Iterable[str] | None = ...,
    author_blacklist: Iterable[str] | None = ...,
    as_dict: Literal[False] = ...,
    prune_xpath: str | list[str] | None = ...,
    config: Any = ...,
    options: Any = ...,
    *,
    filecontent: str | bytes = ...,
) -> Document | None: ...


@overload
def bare_extraction(
    html: str | bytes = ...,
    url: str | None = ...,
    fast: bool = ...,
    no_fallback: bool = ...,
    favor_precision: bool = ...,
    favor_recall: bool = ...,
    include_comments: bool = ...,
    output_format: str = ...,
    target_language: str | None = ...,
    include_tables: bool = ...,
    include_images: bool = ...,
    include_formatting: bool | None = ...,
    include_links: bool = ...,
    deduplicate: bool = ...,
    date_extraction_params: dict[str, Any] | None = ...,
    with_metadata: bool = ...,
    only_with_metadata: bool = ...,
    max_tree_size: int | None = ...,
    url_blacklist: Iterable[str] | None = ...,
    author_blacklist: Iterable[str] | None = ...,
    *,
    as_dict: Literal[True],
    prune_xpath: str | list[str] | None = ...,
    config: Any = ...,
    options: Any = ...,
    filecontent: str | bytes = ...,
) -> dict[str, Any] | None: ...


def bare_extraction(
    html: str | bytes = _MISSING,  # type: ignore[assignment]
    url: str | None = None,
    fast: bool = False,
    no_fallback: bool = False,
    favor_precision: bool = False,
    favor_recall: bool = False,
    include_comments: bool = True,
    output_format: str = "python",
    target_language: str | None = None,
    include_tables: bool = True,
    include_images: bool = False,
    include_formatting: bool | None = None,
    include_links: bool = False,
    deduplicate: bool = False,
    date_extraction_params: dict[str, Any] | None = None,
    with_metadata: bool = False,
    only_with_metadata: bool = False,
    max_tree_size: int | None = None,
    url_blacklist: Iterable[str] | None = None,
    author_blacklist: Iterable[str] | None = None,
    as_dict: bool = False,
    prune_xpath: str | list[str] | None = None,
    config: Any = None,
    options: Any = None,
    *,
    filecontent: str | bytes = _MISSING,  # type: ignore[assignment]
) -> Document | dict[str, Any] | None:
    """Extract the text and metadata of a page as a ``Document``; None if it has no text.

    The arguments are those of ``extract``. Metadata are always there, whatever ``with_metadata`` says. With
    ``as_dict`` the result is a ``dict``.
    """
    if output_format != "python" and output_format not in _WRITERS:
        raise ValueError(f"unknown output_format {output_format!r}; known formats: python, {', '.join(_WRITERS)}")
    formatting = output_format == "markdown" if include_formatting is None else bool(include_formatting)
    given = locals()
    _check_unsupported({name: given[name] for name in _UNSUPPORTED if name in given})
    document = _read(
        _page(html, filecontent),
        url,
        record_id=None,
        favor_precision=favor_precision,
        favor_recall=favor_recall,
        include_comments=include_comments,
        include_tables=include_tables,
        formatting=formatting,
        include_links=include_links,
        target_language=target_language,
        only_with_metadata=only_with_metadata,
        url_blacklist=url_blacklist,
        author_blacklist=author_blacklist,
    )
    return document.as_dict() if as_dict and document is not None else document


def _page(html: Any, filecontent: Any) -> Any:
    if html is _MISSING and filecontent is _MISSING:
        raise TypeError("missing the page: html")
    if html is not _MISSING and filecontent is not _MISSING:
        raise TypeError("html and filecontent are the same argument")
    return filecontent if html is _MISSING else html


def _check_unsupported(given: dict[str, Any]) -> None:
    for name, value in given.items():
        default, instead = _UNSUPPORTED[name]
        if value is not None and value is not default:
            raise TypeError(f"{name} is not supported: {instead}")


def _read(
    html: Any,
    url: str | None,
    *,
    record_id: str | None,
    favor_precision: bool,
    favor_recall: bool,
    include_comments: bool,
    include_tables: bool,
    formatting: bool,
    include_links: bool,
    target_language: str | None,
    only_with_metadata: bool,
    url_blacklist: Iterable[str] | None,
    author_blacklist: Iterable[str] | None,
) -> Document | None:
    document = _tidings.read_page(
        html,
        url,
        preset="recall" if favor_recall else "precision" if favor_precision else "balanced",
        links=bool(include_links),
        comments=bool(include_comments),
        tables=bool(include_tables),
        formatting=formatting,
        style="markdown" if formatting else "links" if include_links else "plain",
        id=record_id,
        authors_left_out=_names("author_blacklist", author_blacklist),
    )
    left_out = _names("url_blacklist", url_blacklist)
    if document is None or document.url in left_out:
        return None
    if only_with_metadata and not (document.date and document.title and document.url):
        return None
    if target_language is not None and _language(document) != _primary(target_language):
        return None
    return document


def _names(argument: str, names: Iterable[str] | None) -> list[str]:
    if isinstance(names, (str, bytes)):
        raise TypeError(f"{argument} must be a set or list of str")
    return [] if names is None else list(names)


def _primary(language: str) -> str:
    if not isinstance(language, str):
        raise TypeError(f"target_language must be str, not {type(language).__name__}")
    return language.replace("_", "-").split("-")[0].lower()


def _language(document: Document) -> str:
    """The language of the text, or the declared one if the text is too short to tell."""
    language = document.language or "und"
    return _primary(document.declared_language or language if language == "und" else language)


_HEADER = "title author url hostname description sitename date categories tags id license".split()
_RESERVED = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null", "none", "~"})


def _header(document: Document) -> str:
    """The metadata as a YAML header."""
    values = ((name, getattr(document, name)) for name in _HEADER)
    fields = "".join(f"{name}: {_scalar(value)}\n" for name, value in values if value)
    return f"---\n{fields}---\n"


def _scalar(value: str | list[str]) -> str:
    import json

    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    is_plain = (
        value == value.strip()
        and value[0].isalpha()
        and ": " not in value
        and " #" not in value
        and not value.endswith(":")
        and value.lower() not in _RESERVED
        and all(char >= " " and char != "\x7f" for char in value)
    )
    return value if is_plain else json.dumps(value, ensure_ascii=False)


def _json(document: Document, with_metadata: bool) -> str:
    import json

    text, comments = document.raw_text, document.comments or ""
    if not with_metadata:
        return json.dumps({"text": text, "comments": comments}, ensure_ascii=False)
    fields = {
        "title": document.title,
        "author": document.author,
        "hostname": document.hostname,
        "date": document.date,
        "id": document.id,
        "license": document.license,
        "raw_text": text,
        "language": document.language,
        "image": document.image,
        "source": document.url,
        "source-hostname": document.sitename,
        "excerpt": document.description,
        "categories": ";".join(document.categories),
        "tags": ";".join(document.tags),
        "text": text,
        "comments": comments,
    }
    return json.dumps(fields, ensure_ascii=False)


def _csv(document: Document) -> str:
    """A row of Trafilatura's columns; its fingerprint and page type are null."""
    import csv
    import io

    row = (
        document.url,
        document.id,
        None,
        document.hostname,
        document.title,
        document.image,
        document.date,
        document.text,
        document.comments,
        document.license,
        None,
    )
    output = io.StringIO()
    csv.writer(output, delimiter="\t", quoting=csv.QUOTE_MINIMAL).writerow([value or "null" for value in row])
    return output.getvalue()
