"""The extension module. Use the functions of the package ``tidings``; these are its internals."""

import os
from typing import Any, final

__version__: str

class TidingsError(Exception):
    """Work that Tidings could not do."""

class InternalError(RuntimeError):
    """A bug in Tidings; please report it."""

@final
class Document:
    """The text and metadata of a page."""

    @property
    def text(self) -> str:
        """The text, one paragraph per line."""
    @property
    def raw_text(self) -> str:
        """The text without links and formatting."""
    @property
    def paragraphs(self) -> list[str]:
        """The paragraphs of the text."""
    @property
    def comments(self) -> str | None:
        """Reader comments, one per line; None if they were not extracted or there are none."""
    @property
    def title(self) -> str | None:
        """The headline, without the name of the site."""
    @property
    def author(self) -> str | None:
        """The authors in one string."""
    @property
    def authors(self) -> list[str]:
        """The authors."""
    @property
    def url(self) -> str | None:
        """The URL: the one given, else the one that the page declares."""
    @property
    def canonical(self) -> str | None:
        """The canonical URL that the page declares."""
    @property
    def hostname(self) -> str | None:
        """The host of the URL."""
    @property
    def sitename(self) -> str | None:
        """The name of the site."""
    @property
    def date(self) -> str | None:
        """The day of publication, YYYY-MM-DD."""
    @property
    def date_source(self) -> str | None:
        """The source of the date."""
    @property
    def modified(self) -> str | None:
        """The day of the last modification, YYYY-MM-DD."""
    @property
    def language(self) -> str | None:
        """The language (BCP 47), identified from the text; ``und`` if it is uncertain."""
    @property
    def declared_language(self) -> str | None:
        """The language that the page declares, if the text is in another one."""
    @property
    def page_type(self) -> str | None:
        """The type of the page: article, forum, documentation, product or listing; None if it has no text."""
    @property
    def description(self) -> str | None:
        """The description for link previews."""
    @property
    def categories(self) -> list[str]:
        """Sections of the site."""
    @property
    def tags(self) -> list[str]:
        """Keywords."""
    @property
    def license(self) -> str | None:
        """The licence that the page states."""
    @property
    def image(self) -> str | None:
        """The URL of the main image."""
    @property
    def id(self) -> str | None:
        """A stable hash of the URL and the content, or the id given by the caller."""
    @property
    def extractor(self) -> str:
        """The extractor and its version."""
    def as_dict(self) -> dict[str, Any]:
        """All attributes by name."""
    def write(self, format: str) -> str:
        """The document in a format: txt, md, json, xml, tei, csv or html; without a line end."""

@final
class Deduper:
    def __new__(cls, rule: str, scope: str, memory_mib: int) -> Deduper: ...
    def judge(self, line: bytes) -> tuple[list[_Mark], list[_Mark], int, int]: ...

_Mark = tuple[bool, str | None, float, str | None]
_Link = tuple[str, str | None, str | None, str]
_Entry = tuple[
    str | None,
    str,
    str | None,
    str | None,
    str | None,
    str | None,
    list[str],
    str | None,
    str | None,
]

def _document(json: str, style: str) -> Document: ...
def _panic() -> None: ...
def main(arguments: list[str]) -> int: ...
def read_page(
    html: str | bytes,
    url: str | None,
    *,
    preset: str,
    links: bool,
    comments: bool,
    tables: bool,
    formatting: bool,
    style: str,
    id: str | None,
    authors_left_out: list[str],
) -> Document | None: ...
def identify(text: str, declared: str | None, tld: str | None) -> tuple[str, float]: ...
def tokenize(text: str, lang: str | None) -> list[list[str]]: ...
def tag(text: str, lang: str | None) -> list[list[tuple[str, str, str, str, bool]]]: ...
def mask(text: str, rules: list[str] | None) -> tuple[str, list[tuple[str, int, int]]]: ...
def find_feeds(html: str | bytes, url: str | None) -> list[_Link]: ...
def fetch_feeds(url: str) -> list[_Link]: ...
def parse_feed(
    body: str | bytes, url: str | None, content_type: str | None
) -> tuple[str, str, str | None, list[_Entry]]: ...
def extract_batch(pages: Any, *, preset: str, comments: bool, threads: int | None) -> Any: ...
def identify_batch(texts: Any, *, declared: str | None, tld: str | None, threads: int | None) -> Any: ...
def tokenize_batch(texts: Any, *, lang: str | None, threads: int | None) -> Any: ...
def tag_batch(texts: Any, *, lang: str | None, threads: int | None) -> Any: ...
def clean_batch(pages: Any, *, home: str | os.PathLike[str] | None, threads: int | None) -> Any: ...

SAME_TEXT_LIMIT: int

def clean_settings(home: str | os.PathLike[str] | None) -> str: ...

@final
class PageFile:
    """The pages of a file after cleaning, as rows."""

    def __new__(cls, path: str, settings: str, format: str | None = None, downloaded: str = "") -> PageFile: ...
    def next(self, max_rows: int) -> Any: ...

@final
class FileCleaner:
    """Cleans whole files of pages of a home."""

    def __new__(cls, settings: str) -> FileCleaner: ...
    def clean(self, path: str, file: str) -> tuple[str, list[tuple[str, int, bytes]]]: ...

@final
class Assembler:
    """A locked home that takes cleaned files day by day."""

    def __new__(cls, home: str) -> Assembler: ...
    def due(self) -> list[tuple[str, list[str]]]: ...
    def begin(self, day: str) -> None: ...
    def add(self, summary: str, frames: list[tuple[str, int, bytes]]) -> None: ...
    def publish(self) -> int: ...
    def finish(self) -> str: ...
    def close(self) -> None: ...

@final
class ComponentJudge:
    """Judges the documents of whole components, in the order in which they are given."""

    def __new__(cls, rule: str, scope: str, marks: bool, memory_mib: int) -> ComponentJudge: ...
    def write(self, documents: Any) -> Any: ...

@final
class LinesFile:
    """The distinct lines of a file of texts with their languages."""

    def __new__(cls, path: str, min_chars: int) -> LinesFile: ...
    def next(self) -> Any: ...
    @property
    def damaged(self) -> int: ...

@final
class DayCounter:
    """Counts words, lemmas and n-grams by language, day and site."""

    def __new__(cls, kinds: list[str]) -> DayCounter: ...
    def add(self, documents: Any) -> int: ...
    def take(self) -> Any: ...

def dedup_keys(documents: Any, rule: str, scope: str) -> Any: ...
def pack_lines(lines: Any) -> bytes: ...
def annotate_lines(documents: Any) -> Any: ...

@final
class CorpusFiles:
    """The index of one language of a home."""

    def __new__(
        cls, path: str | os.PathLike[str], language: str | None = None, as_of: str | None = None
    ) -> CorpusFiles: ...
    @property
    def language(self) -> str:
        """The language."""
    def about(self) -> str:
        """The state, checksum, size and annotation of the corpus as JSON."""
    def answer(self, question_name: str, parameters: list[tuple[str, str]], time_limit: float | None = None) -> str:
        """The answer to a question as JSON."""
    def stream(
        self, question_name: str, parameters: list[tuple[str, str]], time_limit: float | None = None
    ) -> RowStream:
        """The rows of the answer to a question as they are found."""

@final
class RowStream:
    """The rows of an answer, in chunks of JSON lines."""

    @property
    def head(self) -> str:
        """The answer without its rows, as JSON."""
    def close(self) -> None:
        """Ends the search."""
    def __iter__(self) -> RowStream: ...
    def __next__(self) -> bytes: ...

STAGES: list[str]

def indexed_languages(path: str | os.PathLike[str]) -> list[str]: ...
def table_columns(question: str, fields: list[str]) -> list[tuple[str, str]]: ...
def table_values(question: str, fields: list[str], lines: bytes) -> list[tuple[str, str, list[Any]]]: ...
def table_arrow(question: str, fields: list[str], lines: bytes, about: str) -> Any: ...
def first_day(step: str) -> str | None: ...
def home_create(
    path: str | os.PathLike[str], contact: str | None = None, plan: str | os.PathLike[str] | None = None
) -> list[str]: ...
def home_add_feeds(path: str | os.PathLike[str], urls: list[str], labels: list[tuple[str, str]]) -> list[str]: ...
def home_call(path: str | os.PathLike[str], verb: str, options: str, progress: Any = None) -> str: ...
