"""Functions of single texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from . import _tidings
from ._tidings import Document

__all__ = [
    "Deduper",
    "Feed",
    "FeedEntry",
    "FoundFeed",
    "Guess",
    "Mark",
    "MaskMatch",
    "MaskedText",
    "Token",
    "Verdict",
    "find_feeds",
    "identify",
    "mask",
    "parse_feed",
    "tag",
    "tokenize",
]


class Guess(NamedTuple):
    """The language of a text."""

    lang: str
    """The language code; ``und`` if it cannot be identified."""
    score: float
    """The probability that it is right."""


def identify(text: str, *, declared: str | None = None, tld: str | None = None) -> Guess:
    """Identify the language of a text.

    The declared language and the top-level domain of the source are weak evidence.

    >>> identify("Es hat den ganzen Tag geregnet, und morgen soll es schneien.").lang
    'de'
    """
    return Guess(*_tidings.identify(text, declared, tld))


def tokenize(text: str, lang: str | None = None) -> list[list[str]]:
    """Split a text into sentences of words by the rules of a language; by general rules without one.

    >>> tokenize("It rained. It snowed.", "en")
    [['It', 'rained', '.'], ['It', 'snowed', '.']]
    """
    return _tidings.tokenize(text, lang)


class Token(NamedTuple):
    """A word in a text."""

    word: str
    """The word as written."""
    lemma: str
    """The lemma."""
    tag: str
    """The universal part of speech, such as ``NOUN``; empty in a language without a model."""
    feats: str
    """The morphological features, such as ``Number=Sing``."""
    space_after: bool
    """Whether white space follows."""


def tag(text: str, lang: str | None = None) -> list[list[Token]]:
    """Split a text into sentences of tokens with lemmas, parts of speech and features.

    The language is identified if it is not given.

    >>> [token.lemma for token in tag("She went home.", "en")[0]]
    ['she', 'go', 'home', '.']
    """
    make = Token._make
    return [[make(token) for token in sentence] for sentence in _tidings.tag(text, lang)]


class MaskMatch(NamedTuple):
    """Personal data in a text."""

    rule: str
    """``email``, ``iban``, ``card``, ``ip``, ``phone`` or ``id`` (of a person)."""
    start: int
    """Where it begins in the original text."""
    end: int
    """Where it ends in the original text."""


class MaskedText(str):
    """A text whose personal data were replaced: a ``str`` that knows what it lacks."""

    __slots__ = ("found",)

    found: list[MaskMatch]
    """The matches, from left to right."""

    def __new__(cls, text: str, found: Iterable[MaskMatch] = ()) -> MaskedText:
        masked = super().__new__(cls, text)
        masked.found = list(found)
        return masked

    def __reduce__(self) -> tuple[Any, ...]:
        return (MaskedText, (str(self), self.found))


def mask(text: str, *, rules: Iterable[str] | None = None) -> MaskedText:
    """Replace e-mail and IP addresses and account, card, telephone and identity numbers by placeholders.

    ``rules`` are the kinds of data to replace, all by default. The result is a ``str``; its attribute ``found`` lists
    the matches.

    >>> masked = mask("Write to jane@example.org before 01.03.2026.")
    >>> masked
    'Write to [EMAIL] before 01.03.2026.'
    >>> masked.found
    [MaskMatch(rule='email', start=9, end=25)]
    """
    if isinstance(rules, str):
        raise TypeError("rules must be a list of names, not str")
    masked, found = _tidings.mask(text, None if rules is None else list(rules))
    return MaskedText(masked, map(MaskMatch._make, found))


class FoundFeed(NamedTuple):
    """A link to a feed."""

    url: str
    """The absolute URL, if the URL of the page is known."""
    title: str | None
    """The title given by the page."""
    media_type: str | None
    """The declared media type."""
    evidence: str
    """``declared``, ``loose`` (declared, without the media type of a feed), ``address`` or ``text`` of a link."""


def find_feeds(html: str | bytes, url: str | None = None) -> list[FoundFeed]:
    """Find the feeds that a page links to, ordered by evidence.

    ``html`` is the page, and ``url`` its address. A page given by its address alone (``http://`` or ``https://``) is
    fetched, politely: the environment variable ``TIDINGS_FETCH_CONTACT`` must name a contact for publishers.

    >>> page = '<link rel="alternate" type="application/rss+xml" href="/feed/" title="News">'
    >>> find_feeds(page, "https://gazette.example/")[0].url
    'https://gazette.example/feed/'
    """
    if isinstance(html, str) and url is None and html[:8].lower().startswith(("http://", "https://")):
        return [FoundFeed._make(row) for row in _tidings.fetch_feeds(html)]
    return [FoundFeed._make(row) for row in _tidings.find_feeds(html, url)]


class FeedEntry(NamedTuple):
    """An entry of a feed."""

    link: str | None
    """The absolute URL."""
    title: str
    """The title as plain text."""
    id: str | None
    """The id given by the feed."""
    published: str | None
    """The time of publication, RFC 3339 in UTC."""
    updated: str | None
    """The time of the last change, RFC 3339 in UTC."""
    author: str | None
    """The first author."""
    categories: list[str]
    """The categories."""
    summary: str | None
    """The summary as HTML."""
    content_html: str | None
    """The full text as HTML."""


class Feed(NamedTuple):
    """A feed."""

    format: str
    """``rss``, ``atom``, ``rdf``, ``json`` or ``sitemap``."""
    title: str
    """The title as plain text."""
    language: str | None
    """The declared language."""
    entries: list[FeedEntry]
    """The entries, in the order of the feed."""


def parse_feed(body: str | bytes, url: str | None = None, *, content_type: str | None = None) -> Feed:
    """Read a feed, also a malformed or compressed one: RSS, Atom, RDF, JSON Feed or a news sitemap.

    ``url`` is the base of relative links, and ``content_type`` the HTTP header, if known. A document that is no feed
    is a ``ValueError``.

    >>> parse_feed("<rss><channel><title>Gazette</title></channel></rss>").title
    'Gazette'
    """
    format, title, language, entries = _tidings.parse_feed(body, url, content_type)
    return Feed(format, title, language, [FeedEntry._make(entry) for entry in entries])


class Mark(NamedTuple):
    """The verdict on a paragraph or sentence."""

    kept: bool
    """Whether it is new."""
    why: str | None
    """The kind of match of a duplicate: ``exact``, ``near``, ``between``, ``text``, ``document`` or ``page``."""
    share: float
    """The share of its words that was seen before."""
    of: str | None
    """The id of the earlier document where most of that was seen."""


class Verdict(NamedTuple):
    """The verdict on a document."""

    paragraphs: list[Mark]
    """A verdict for each paragraph."""
    sentences: list[Mark]
    """A verdict for each sentence, if the rule compares sentences."""
    words: int
    """The words of the document."""
    removed: int
    """The words in duplicates."""

    @property
    def share(self) -> float:
        """The share of words in duplicates."""
        return self.removed / self.words if self.words else 0.0

    @property
    def kept(self) -> bool:
        """Whether something of the document is new."""
        return not self.paragraphs or any(mark.kept for mark in self.paragraphs)


class Deduper:
    """Finds text that was published before, in documents that come in chronological order.

    ``rule`` is ``tidings``, ``onion``, ``aranea`` or ``now``. ``scope`` are the earlier documents to compare with:
    ``all``, ``month``, ``site``, or a window of days such as ``30d``. Recent fingerprints take ``memory_mib`` of
    memory; older ones are in a temporary folder that is deleted with the object.

    >>> deduper = Deduper()
    >>> deduper.judge("The river came into the town on Monday night.", id="a").kept
    True
    >>> deduper.judge("The river came into the town on Monday night.", id="b").paragraphs[0].of
    'a'
    """

    def __init__(self, rule: str = "tidings", scope: str = "all", *, memory_mib: int = 96) -> None:
        self._deduper = _tidings.Deduper(rule, scope, memory_mib)

    def judge(
        self,
        document: str | Document | Mapping[str, Any] | Iterable[str],
        *,
        id: str | None = None,
        date: str | None = None,
        site: str | None = None,
    ) -> Verdict:
        """Compare a document with all earlier ones, and remember it.

        A document is a text with a paragraph a line, a list of paragraphs, an extracted ``Document``, or a mapping
        with ``paragraphs`` and optionally ``id``, ``date`` and ``site``, as in the JSON lines of ``tidings dedup``.
        The arguments ``id``, ``date`` (``YYYY-MM-DD``) and ``site`` take precedence.
        """
        given = {name: value for name, value in (("id", id), ("date", date), ("site", site)) if value is not None}
        fields = {**_fields(document), **given}
        line = json.dumps(fields, default=_reject).encode()
        paragraphs, sentences, words, removed = self._deduper.judge(line)
        return Verdict([Mark._make(row) for row in paragraphs], [Mark._make(row) for row in sentences], words, removed)


def _fields(document: Any) -> dict[str, Any]:
    if isinstance(document, str):
        return {"paragraphs": document.splitlines()}
    if isinstance(document, Document):
        fields = {"id": document.url, "date": document.date, "site": document.hostname}
        return {"paragraphs": document.paragraphs, **{name: value for name, value in fields.items() if value}}
    if isinstance(document, Mapping):
        return dict(document)
    if isinstance(document, Iterable) and not isinstance(document, (bytes, bytearray, memoryview)):
        return {"paragraphs": list(document)}
    raise TypeError(f"expected a text, paragraphs, a Document or a mapping, not {type(document).__name__}")


def _reject(value: object) -> None:
    raise TypeError(f"a document cannot contain a value of type {type(value).__name__}")
