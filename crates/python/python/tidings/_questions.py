"""The questions that a corpus answers, as methods.

Generated from the request and answer types; do not edit.
TIDINGS_BLESS=1 cargo test -p tidings-python --test generated writes it again.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

if TYPE_CHECKING:
    from .answer import Answer


class Parameter(NamedTuple):
    """A parameter of a question."""

    name: str
    kind: str
    default: Any


class Question(NamedTuple):
    """A question."""

    name: str
    path: str
    rows: str
    parameters: dict[str, Parameter]
    is_paged: bool


Availability = Literal["metadata", "kwic", "open"]

NameType = Literal["PER", "ORG", "LOC"]

Persistence = Literal["burst", "lasting", "open"]

Sequel = Literal["fell", "stayed", "open"]

Shape = Literal["steady", "late", "early"]

WordStatus = Literal["open", "accepted", "rejected", "later"]


class Band(TypedDict):
    """The interval of a value, with the confidence that was asked for."""

    low: float | None
    high: float | None


class BurstRow(TypedDict):
    """A word with its strongest burst."""

    value: str
    name: bool
    bin: str
    score: float | None
    log_ratio: float | None
    q: float | None
    hits: int
    documents: int
    sequel: Sequel


class Change(TypedDict):
    """A word whose frequency differs."""

    value: str
    before: int
    after: int
    before_documents: int
    after_documents: int
    before_document_share: float
    after_document_share: float
    before_per_million: float
    after_per_million: float
    log_ratio: float | None
    band: Band
    p: float | None
    q: float | None


class Citation(TypedDict):
    """A line of a document."""

    document: str
    date: str
    site: str
    title: str
    url: str
    left: str
    node: str
    right: str


class Collocate(TypedDict, total=False):
    """A word in the neighbourhood of hits."""

    value: str
    together: int
    hits: int
    positions: list[int]
    scores: Scores


class ConcordanceLine(TypedDict, total=False):
    """A line of a concordance."""

    document: str
    fields: dict[str, str]
    restricted: bool
    position: int
    left: list[KwicToken]
    node: list[KwicToken]
    right: list[KwicToken]


class CountAnswer(TypedDict):
    """The number of hits of a query."""

    hits: int
    tokens: int
    per_million: float | None


class CrosstabRow(TypedDict):
    """A query in a cell."""

    values: list[str]
    query: str
    hits: int | None
    hit_documents: int | None
    tokens: int
    documents: int
    per_million: float | None
    document_share: float | None
    query_share: float | None


class DispersionRow(TypedDict):
    """A part of the corpus."""

    part: int
    first: str | None
    hits: int | None


class DocumentAnswer(TypedDict, total=False):
    """The metadata of a document and, where it may be shown, its text."""

    id: str
    date: str
    seen: str
    title: str
    url: str
    tokens: int
    availability: Availability
    fields: dict[str, str]
    restricted: bool
    paragraphs: list[str]
    spans: list[DocumentSpan]
    hits: list[DocumentSpan]


class DocumentRow(TypedDict, total=False):
    """The metadata of a document."""

    id: str
    date: str
    seen: str
    title: str
    url: str
    tokens: int
    hits: int
    availability: Availability
    fields: dict[str, str]


class DocumentSpan(TypedDict):
    """A span of the text of a document, inside one paragraph."""

    span: str
    paragraph: int
    start: int
    end: int
    attributes: dict[str, str]


class FrequencyRow(TypedDict, total=False):
    """The frequency of one value."""

    value: str
    hits: int
    hit_documents: int
    documents: int
    document_share: float
    tokens: int
    per_million: float


class GroupRow(TypedDict):
    """The frequency of one combination of values."""

    values: list[str]
    hits: int
    share: float | None
    per_million: float | None


class Keyword(TypedDict):
    """A word, in focus and in the reference."""

    value: str
    score: float | None
    focus: int
    reference: int
    focus_per_million: float | None
    reference_per_million: float | None
    log_likelihood: float | None
    log_ratio: float | None
    din: float | None
    site_log_ratio: float | None
    p: float | None
    q: float | None


class KwicToken(TypedDict, total=False):
    """A token of a line."""

    word: str
    lemma: str
    tag: str
    feats: str
    layers: dict[str, str]
    space_after: bool


class MeaningCollocate(TypedDict):
    """A collocate that was gained or lost."""

    value: str
    before: int
    after: int
    before_documents: int
    after_documents: int


class MeaningRow(TypedDict):
    """A word whose collocates changed."""

    value: str
    before: int
    after: int
    before_compared: int
    after_compared: int
    distance: float
    gained: list[MeaningCollocate]
    lost: list[MeaningCollocate]
    p: float
    q: float


class NameRow(TypedDict, total=False):
    """A name."""

    name: str
    type: NameType
    mentions: int
    documents: int
    sites: int
    per_million: float | None
    first_seen: str | None
    last_seen: str | None
    query: str


class NeologismRow(TypedDict):
    """A candidate, or a word that was decided about. Counts are of all variants together."""

    value: str
    variants: list[str]
    status: WordStatus
    note: str
    decided: str
    candidate: bool
    first_seen: str | None
    last_seen: str | None
    hits: int
    documents: int
    sites: int
    days: int
    months: int
    fate: Persistence | None
    q: float | None
    citation: Citation | None


class NewWordRow(TypedDict):
    """A word that was not there before."""

    value: str
    name: bool
    first_seen: str
    hits: int
    documents: int
    sites: int
    days: int
    fate: Persistence
    q: float | None


class ParallelLine(TypedDict):
    """A hit in its sentence, and the translation."""

    document: str
    fields: dict[str, str]
    position: int
    left: list[KwicToken]
    node: list[KwicToken]
    right: list[KwicToken]
    translated: str
    translation: list[KwicToken]
    marked: list[int]
    score: float


class QuoteRow(TypedDict):
    """Quotations of one speaker, verb or site."""

    value: str
    quotes: int
    documents: int
    sites: int
    quoted_tokens: int
    share: float | None
    verb: str | None
    query: str


class RelationRow(TypedDict):
    """A collocate in a relation."""

    relation: str
    value: str
    together: int
    anywhere: int
    score: float | None
    query: str


class Scores(TypedDict):
    """Values by name"""

    log_dice: float | None
    mi: float | None
    mi3: float | None
    t_score: float | None
    log_likelihood: float | None
    dice: float | None
    min_sensitivity: float | None
    mi_log_f: float | None


class SeasonRow(TypedDict):
    """A word with a season."""

    value: str
    hits: int
    documents: int
    peak: int
    log_ratio: float | None
    strength: float | None
    p: float | None
    q: float | None
    months: list[float | None]
    per_million: list[float]


class ShownSentence(TypedDict):
    """A sentence of a document."""

    paragraph: int
    position: int
    tokens: list[KwicToken]


class SketchDiffRow(TypedDict):
    """A collocate in a relation of two lemmas."""

    relation: str
    value: str
    together: int
    other_together: int
    score: float | None
    other_score: float | None
    difference: float


class StepRow(TypedDict):
    """A word whose rate changes at once."""

    value: str
    hits: int
    documents: int
    bin: str
    log_ratio: float | None
    p: float | None
    q: float | None
    per_million: list[float]


class TermRow(TypedDict):
    """A term, in focus and in the reference."""

    value: str
    form: str
    score: float | None
    focus: int
    focus_documents: int
    reference: int
    reference_documents: int
    focus_per_million: float | None
    reference_per_million: float | None
    log_likelihood: float | None
    log_ratio: float | None


class ThesaurusRow(TypedDict):
    """A similar word."""

    value: str
    hits: int
    similarity: float
    shared: list[str]


class TimelinePoint(TypedDict, total=False):
    """One time step. Without tokens nothing was collected, and there is no rate; with tokens and
        zero hits the rate is zero. A step that was not searched to its end has neither hits nor
        rate."""

    bin: str
    query: str
    hits: int | None
    tokens: int
    documents: int
    sites: int
    days: int
    days_with_documents: int
    days_with_runs: int | None
    health: float
    hit_documents: int | None
    document_share: float | None
    per_million: float | None
    query_share: float | None
    band: Band | None


class TrendRow(TypedDict, total=False):
    """A word that rises or falls."""

    value: str
    name: bool
    hits: int
    documents: int
    shape: Shape
    log_ratio: float | None
    band: Band
    growth: float | None
    score: float | None
    p: float | None
    q: float | None
    kendall_z: float | None
    per_million: list[float]


class WordRow(TypedDict):
    """A word or n-gram."""

    value: str
    hits: int
    documents: int
    per_million: float | None


QUESTIONS: dict[str, Question] = {
    "concordance": Question(
        name="query",
        path="query",
        rows="lines",
        parameters={
            "q": Parameter("q", "query", None),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "with_": Parameter("with", "query", None),
            "without": Parameter("without", "query", None),
            "window": Parameter("window", "integer", 5),
            "context": Parameter("context", "integer", 12),
            "fields": Parameter("fields", "names", ("date", "site")),
            "sort": Parameter("sort", "names", ()),
            "sample": Parameter("sample", "integer", None),
            "seed": Parameter("seed", "integer", 1),
            "longest": Parameter("longest", "flag", False),
            "count": Parameter("count", "flag", True),
            "order": Parameter("order", "choice", "newest"),
            "size": Parameter("size", "integer", None),
        },
        is_paged=True,
    ),
    "parallel": Question(
        name="parallel",
        path="parallel",
        rows="lines",
        parameters={
            "q": Parameter("q", "query", None),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "to": Parameter("to", "text", None),
            "with_": Parameter("with", "query", None),
            "without": Parameter("without", "query", None),
            "fields": Parameter("fields", "names", ("date", "site")),
            "order": Parameter("order", "choice", "newest"),
            "size": Parameter("size", "integer", None),
        },
        is_paged=True,
    ),
    "count": Question(
        name="count",
        path="count",
        rows="",
        parameters={
            "q": Parameter("q", "query", None),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
        },
        is_paged=False,
    ),
    "freq": Question(
        name="freq",
        path="freq",
        rows="rows",
        parameters={
            "q": Parameter("q", "query", None),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "by": Parameter("by", "text", "lc"),
            "documents": Parameter("documents", "flag", False),
            "limit": Parameter("limit", "integer", 50),
        },
        is_paged=False,
    ),
    "group": Question(
        name="group",
        path="group",
        rows="rows",
        parameters={
            "q": Parameter("q", "query", None),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "by": Parameter("by", "names", ("lc", "year")),
            "min": Parameter("min", "integer", 1),
            "limit": Parameter("limit", "integer", 50),
        },
        is_paged=False,
    ),
    "crosstab": Question(
        name="crosstab",
        path="crosstab",
        rows="rows",
        parameters={
            "q": Parameter("q", "queries", None),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "by": Parameter("by", "names", ("site", "year")),
            "limit": Parameter("limit", "integer", 50),
        },
        is_paged=False,
    ),
    "dispersion": Question(
        name="dispersion",
        path="dispersion",
        rows="rows",
        parameters={
            "q": Parameter("q", "query", None),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "parts": Parameter("parts", "integer", 20),
        },
        is_paged=False,
    ),
    "colloc": Question(
        name="colloc",
        path="colloc",
        rows="rows",
        parameters={
            "q": Parameter("q", "query", None),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "attribute": Parameter("attribute", "attribute", None),
            "left": Parameter("left", "integer", 5),
            "right": Parameter("right", "integer", 5),
            "sentence": Parameter("sentence", "flag", False),
            "pos": Parameter("pos", "text", None),
            "positions": Parameter("positions", "flag", False),
            "measure": Parameter("measure", "choice", "log-dice"),
            "min": Parameter("min", "integer", 3),
            "all_words": Parameter("all_words", "flag", False),
            "punctuation": Parameter("punctuation", "flag", False),
            "limit": Parameter("limit", "integer", 50),
        },
        is_paged=False,
    ),
    "sketch": Question(
        name="sketch",
        path="sketch",
        rows="rows",
        parameters={
            "lemma": Parameter("lemma", "text", None),
            "pos": Parameter("pos", "text", None),
            "min": Parameter("min", "integer", 3),
            "size": Parameter("size", "integer", 12),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
        },
        is_paged=False,
    ),
    "sketch_diff": Question(
        name="sketch-diff",
        path="sketch-diff",
        rows="rows",
        parameters={
            "lemma": Parameter("lemma", "text", None),
            "other": Parameter("other", "text", None),
            "pos": Parameter("pos", "text", None),
            "min": Parameter("min", "integer", 3),
            "size": Parameter("size", "integer", 20),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
        },
        is_paged=False,
    ),
    "thesaurus": Question(
        name="thesaurus",
        path="thesaurus",
        rows="rows",
        parameters={
            "lemma": Parameter("lemma", "text", None),
            "pos": Parameter("pos", "text", None),
            "min": Parameter("min", "integer", 20),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "limit": Parameter("limit", "integer", 50),
        },
        is_paged=False,
    ),
    "words": Question(
        name="words",
        path="words",
        rows="rows",
        parameters={
            "regex": Parameter("regex", "text", None),
            "min": Parameter("min", "integer", None),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "attribute": Parameter("attribute", "attribute", "lc"),
            "ngram": Parameter("ngram", "integer", 1),
            "punctuation": Parameter("punctuation", "flag", False),
            "limit": Parameter("limit", "integer", 50),
        },
        is_paged=False,
    ),
    "keywords": Question(
        name="keywords",
        path="keywords",
        rows="rows",
        parameters={
            "focus": Parameter("focus", "filter", None),
            "against": Parameter("against", "filter", None),
            "measure": Parameter("measure", "choice", "simple-maths"),
            "add": Parameter("add", "number", 1.0),
            "panel": Parameter("panel", "flag", False),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "unit": Parameter("unit", "choice", "hits"),
            "min": Parameter("min", "integer", 5),
            "fdr": Parameter("fdr", "number", 0.05),
            "attribute": Parameter("attribute", "attribute", None),
            "ngram": Parameter("ngram", "integer", 1),
            "all_words": Parameter("all_words", "flag", False),
            "punctuation": Parameter("punctuation", "flag", False),
            "limit": Parameter("limit", "integer", 50),
        },
        is_paged=False,
    ),
    "terms": Question(
        name="terms",
        path="terms",
        rows="rows",
        parameters={
            "focus": Parameter("focus", "filter", None),
            "against": Parameter("against", "filter", None),
            "measure": Parameter("measure", "choice", "simple-maths"),
            "add": Parameter("add", "number", 1.0),
            "panel": Parameter("panel", "flag", False),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "min": Parameter("min", "integer", 5),
            "min_documents": Parameter("min_documents", "integer", 3),
            "names": Parameter("names", "flag", False),
            "limit": Parameter("limit", "integer", 50),
        },
        is_paged=False,
    ),
    "compare": Question(
        name="compare",
        path="compare",
        rows="rows",
        parameters={
            "before": Parameter("before", "filter", None),
            "after": Parameter("after", "filter", None),
            "min": Parameter("min", "integer", 10),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "attribute": Parameter("attribute", "attribute", None),
            "fdr": Parameter("fdr", "number", 0.05),
            "direction": Parameter("direction", "choice", "both"),
            "effect": Parameter("effect", "number", 1.25),
            "confidence": Parameter("confidence", "number", 0.95),
            "panel": Parameter("panel", "flag", False),
            "all_words": Parameter("all_words", "flag", False),
            "punctuation": Parameter("punctuation", "flag", False),
            "limit": Parameter("limit", "integer", 50),
        },
        is_paged=False,
    ),
    "meaning": Question(
        name="meaning",
        path="meaning",
        rows="rows",
        parameters={
            "before": Parameter("before", "filter", None),
            "after": Parameter("after", "filter", None),
            "min": Parameter("min", "integer", 20),
            "window": Parameter("window", "integer", 5),
            "collocates": Parameter("collocates", "integer", 8),
            "names": Parameter("names", "flag", False),
            "fdr": Parameter("fdr", "number", 0.05),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "limit": Parameter("limit", "integer", 50),
        },
        is_paged=False,
    ),
    "timeline": Question(
        name="timeline",
        path="timeline",
        rows="points",
        parameters={
            "q": Parameter("q", "queries", None),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "by": Parameter("by", "choice", None),
            "panel": Parameter("panel", "flag", False),
            "documents": Parameter("documents", "flag", False),
            "confidence": Parameter("confidence", "number", 0.95),
        },
        is_paged=False,
    ),
    "trends": Question(
        name="trends",
        path="trends",
        rows="rows",
        parameters={
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "attribute": Parameter("attribute", "attribute", None),
            "by": Parameter("by", "choice", None),
            "min": Parameter("min", "integer", 30),
            "fdr": Parameter("fdr", "number", 0.05),
            "direction": Parameter("direction", "choice", "both"),
            "effect": Parameter("effect", "number", 1.25),
            "all_words": Parameter("all_words", "flag", False),
            "panel": Parameter("panel", "flag", False),
            "limit": Parameter("limit", "integer", 50),
        },
        is_paged=False,
    ),
    "seasons": Question(
        name="seasons",
        path="seasons",
        rows="rows",
        parameters={
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "attribute": Parameter("attribute", "attribute", None),
            "by": Parameter("by", "choice", "month"),
            "min": Parameter("min", "integer", 30),
            "all_words": Parameter("all_words", "flag", False),
            "panel": Parameter("panel", "flag", False),
            "limit": Parameter("limit", "integer", 50),
            "fdr": Parameter("fdr", "number", 0.05),
            "effect": Parameter("effect", "number", 1.25),
        },
        is_paged=False,
    ),
    "steps": Question(
        name="steps",
        path="steps",
        rows="rows",
        parameters={
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "attribute": Parameter("attribute", "attribute", None),
            "by": Parameter("by", "choice", "month"),
            "min": Parameter("min", "integer", 30),
            "all_words": Parameter("all_words", "flag", False),
            "panel": Parameter("panel", "flag", False),
            "limit": Parameter("limit", "integer", 50),
            "fdr": Parameter("fdr", "number", 0.05),
            "direction": Parameter("direction", "choice", "both"),
            "effect": Parameter("effect", "number", 1.25),
        },
        is_paged=False,
    ),
    "bursts": Question(
        name="bursts",
        path="bursts",
        rows="rows",
        parameters={
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "attribute": Parameter("attribute", "attribute", None),
            "by": Parameter("by", "choice", None),
            "all_words": Parameter("all_words", "flag", False),
            "panel": Parameter("panel", "flag", False),
            "limit": Parameter("limit", "integer", 50),
        },
        is_paged=False,
    ),
    "new_words": Question(
        name="new-words",
        path="new-words",
        rows="rows",
        parameters={
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "since": Parameter("since", "date", None),
            "attribute": Parameter("attribute", "choice", None),
            "min_sites": Parameter("min_sites", "integer", None),
            "min_days": Parameter("min_days", "integer", 3),
            "min_documents": Parameter("min_documents", "integer", 5),
            "names": Parameter("names", "flag", False),
            "known": Parameter("known", "flag", False),
            "all_words": Parameter("all_words", "flag", False),
            "fdr": Parameter("fdr", "number", 0.05),
            "limit": Parameter("limit", "integer", 50),
        },
        is_paged=False,
    ),
    "neologisms": Question(
        name="neologisms",
        path="neologisms",
        rows="rows",
        parameters={
            "status": Parameter("status", "choice", "open"),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "since": Parameter("since", "date", None),
            "attribute": Parameter("attribute", "choice", None),
            "min_sites": Parameter("min_sites", "integer", None),
            "min_days": Parameter("min_days", "integer", 3),
            "min_documents": Parameter("min_documents", "integer", 5),
            "names": Parameter("names", "flag", False),
            "known": Parameter("known", "flag", False),
            "all_words": Parameter("all_words", "flag", False),
            "fdr": Parameter("fdr", "number", 0.05),
            "limit": Parameter("limit", "integer", 50),
        },
        is_paged=False,
    ),
    "names": Question(
        name="names",
        path="names",
        rows="rows",
        parameters={
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "type": Parameter("type", "choice", None),
            "since": Parameter("since", "date", None),
            "min_documents": Parameter("min_documents", "integer", 1),
            "min_sites": Parameter("min_sites", "integer", 1),
            "limit": Parameter("limit", "integer", 50),
        },
        is_paged=False,
    ),
    "quotes": Question(
        name="quotes",
        path="quotes",
        rows="rows",
        parameters={
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "by": Parameter("by", "choice", "speaker"),
            "pronouns": Parameter("pronouns", "flag", False),
            "min_documents": Parameter("min_documents", "integer", 1),
            "limit": Parameter("limit", "integer", 50),
        },
        is_paged=False,
    ),
    "documents": Question(
        name="documents",
        path="documents",
        rows="rows",
        parameters={
            "q": Parameter("q", "query", None),
            "filter": Parameter("filter", "filter", None),
            "in_corpus": Parameter("in", "text", None),
            "order": Parameter("order", "choice", "newest"),
            "size": Parameter("size", "integer", None),
            "fields": Parameter("fields", "names", ("site",)),
        },
        is_paged=True,
    ),
    "document": Question(
        name="document",
        path="documents/{id}",
        rows="",
        parameters={
            "id": Parameter("id", "text", None),
            "q": Parameter("q", "query", None),
        },
        is_paged=False,
    ),
    "context": Question(
        name="context",
        path="documents/{id}/context",
        rows="sentences",
        parameters={
            "id": Parameter("id", "text", None),
            "position": Parameter("position", "integer", None),
            "unit": Parameter("unit", "choice", "sentence"),
            "around": Parameter("around", "integer", 1),
        },
        is_paged=False,
    ),
}


class Questions:
    """The questions that a corpus answers."""

    def _ask(self, method: str, parameters: dict[str, Any]) -> Answer[Any]:
        raise NotImplementedError

    def concordance(
        self,
        q: str,
        *,
        filter: str | None = None,
        in_corpus: str | None = None,
        with_: str | None = None,
        without: str | None = None,
        window: int = 5,
        context: int = 12,
        fields: str | Sequence[str] = ("date", "site"),
        sort: str | Sequence[str] = (),
        sample: int | None = None,
        seed: int = 1,
        longest: bool = False,
        count: bool = True,
        order: Literal["newest", "oldest"] = "newest",
        size: int | None = None,
    ) -> Answer[ConcordanceLine]:
        """Show hits of a query in their context.

        Args:
            q: The query: a word, several words, or CQL.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            with_: Only hits with a hit of this query near them.
            without: Only hits without a hit of this query near them.
            window: The tokens before and behind the hit that are near it. From 1 to 100.
            context: Tokens on each side of the hit. From 0 to 200.
            fields: Fields of the documents to show, separated by commas.
            sort: Sort by left, right, node, a token beside the hit (left2, 1R.lemma), fields, or
                good examples (good), separated by commas.
            sample: The size of a random sample to show instead of a page. From 1 to 200000.
            seed: The seed of the sample: the same seed gives the same sample.
            longest: Take the longest of several matches that begin at one position.
            count: Whether to count all hits, which may take longer than the page.
            order: Which day comes first.
            size: Maximum rows; all if it is not given. From 0 to 1000000.
        """
        return self._ask(
            "concordance",
            {
                "q": q,
                "filter": filter,
                "in_corpus": in_corpus,
                "with_": with_,
                "without": without,
                "window": window,
                "context": context,
                "fields": fields,
                "sort": sort,
                "sample": sample,
                "seed": seed,
                "longest": longest,
                "count": count,
                "order": order,
                "size": size,
            },
        )

    def parallel(
        self,
        q: str,
        to: str,
        *,
        filter: str | None = None,
        in_corpus: str | None = None,
        with_: str | None = None,
        without: str | None = None,
        fields: str | Sequence[str] = ("date", "site"),
        order: Literal["newest", "oldest"] = "newest",
        size: int | None = None,
    ) -> Answer[ParallelLine]:
        """Show hits side by side with the sentences of their translations.

        Args:
            q: The query: a word, several words, or CQL.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            to: The language of the translations, such as de.
            with_: Only hits whose translation has a hit of this query.
            without: Only hits whose translation has no hit of this query.
            fields: Fields of the documents to show, separated by commas.
            order: Which day comes first.
            size: Maximum rows; all if it is not given. From 0 to 1000000.
        """
        return self._ask(
            "parallel",
            {
                "q": q,
                "filter": filter,
                "in_corpus": in_corpus,
                "to": to,
                "with_": with_,
                "without": without,
                "fields": fields,
                "order": order,
                "size": size,
            },
        )

    def count(
        self,
        q: str,
        *,
        filter: str | None = None,
        in_corpus: str | None = None,
    ) -> Answer[CountAnswer]:
        """Count the hits of a query.

        Args:
            q: The query: a word, several words, or CQL.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
        """
        return self._ask(
            "count",
            {
                "q": q,
                "filter": filter,
                "in_corpus": in_corpus,
            },
        )

    def freq(
        self,
        q: str,
        *,
        filter: str | None = None,
        in_corpus: str | None = None,
        by: str = "lc",
        documents: bool = False,
        limit: int = 50,
    ) -> Answer[FrequencyRow]:
        """Count hits by an attribute or a field.

        Args:
            q: The query: a word, several words, or CQL.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            by: Count by word, lc, lemma, tag, feats, a feature such as Case or another layer of the
                hit, by a field of its document such as site, date, feed, topic, or by an attribute
                of the span that the hit is or lies within, such as ne.name.
            documents: Count the documents with a hit, too, and their share among all documents;
                documents that the client may not read are left out.
            limit: Maximum rows. From 0 to 10000.
        """
        return self._ask(
            "freq",
            {
                "q": q,
                "filter": filter,
                "in_corpus": in_corpus,
                "by": by,
                "documents": documents,
                "limit": limit,
            },
        )

    def group(
        self,
        q: str,
        *,
        filter: str | None = None,
        in_corpus: str | None = None,
        by: str | Sequence[str] = ("lc", "year"),
        min: int = 1,
        limit: int = 50,
    ) -> Answer[GroupRow]:
        """Count hits by several values at once, also of neighbours.

        Args:
            q: The query: a word, several words, or CQL.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            by: Count by these values, separated by commas: attributes of the hit (lemma), of a
                neighbour (left1, right2.tag) or of a labelled token (a.lemma), fields of the
                document (site), year and month.
            min: Minimum hits of a row. At least 1.
            limit: Maximum rows. From 0 to 10000.
        """
        return self._ask(
            "group",
            {
                "q": q,
                "filter": filter,
                "in_corpus": in_corpus,
                "by": by,
                "min": min,
                "limit": limit,
            },
        )

    def crosstab(
        self,
        q: str | Sequence[str],
        *,
        filter: str | None = None,
        in_corpus: str | None = None,
        by: str | Sequence[str] = ("site", "year"),
        limit: int = 50,
    ) -> Answer[CrosstabRow]:
        """Count several queries by source and time, with shares of documents and of queries.

        Args:
            q: The queries, repeated or separated by commas: words, several words, or CQL; at most
                20.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            by: Count by these, at most two, separated by commas: fields of documents such as site,
                and day, week, month, quarter, half-year or year.
            limit: Maximum rows. From 0 to 10000.
        """
        return self._ask(
            "crosstab",
            {
                "q": q,
                "filter": filter,
                "in_corpus": in_corpus,
                "by": by,
                "limit": limit,
            },
        )

    def dispersion(
        self,
        q: str,
        *,
        filter: str | None = None,
        in_corpus: str | None = None,
        parts: int = 20,
    ) -> Answer[DispersionRow]:
        """Show how evenly hits are spread over the corpus (ARF, ALDF, DP).

        Args:
            q: The query: a word, several words, or CQL.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            parts: The number of equal parts of the corpus, the oldest documents first. From 1 to
                1000.
        """
        return self._ask(
            "dispersion",
            {
                "q": q,
                "filter": filter,
                "in_corpus": in_corpus,
                "parts": parts,
            },
        )

    def colloc(
        self,
        q: str,
        *,
        filter: str | None = None,
        in_corpus: str | None = None,
        attribute: str | None = None,
        left: int = 5,
        right: int = 5,
        sentence: bool = False,
        pos: str | None = None,
        positions: bool = False,
        measure: Literal["log-dice", "mi", "mi3", "t-score", "log-likelihood", "dice", "min-sensitivity", "mi-log-f"] = "log-dice",
        min: int = 3,
        all_words: bool = False,
        punctuation: bool = False,
        limit: int = 50,
    ) -> Answer[Collocate]:
        """Rank collocates of hits by association measures.

        Args:
            q: The query: a word, several words, or CQL.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            attribute: The attribute to count: lemma, lc, word, tag, feats, or a feature such as
                Case [default: lemma, which merges inflected forms, where the corpus has lemmas; lc
                elsewhere].
            left: Tokens before the hit. From 0 to 1000.
            right: Tokens after the hit. From 0 to 1000.
            sentence: The whole sentence instead of a window of tokens.
            pos: Only collocates of this part of speech, such as ADJ.
            positions: Count the collocates at each place of the window, too.
            measure: The association measure that orders the rows.
            min: Minimum co-occurrences. At least 1.
            all_words: Include punctuation, numbers, dates and function words.
            punctuation: Include punctuation.
            limit: Maximum rows. From 0 to 10000.
        """
        return self._ask(
            "colloc",
            {
                "q": q,
                "filter": filter,
                "in_corpus": in_corpus,
                "attribute": attribute,
                "left": left,
                "right": right,
                "sentence": sentence,
                "pos": pos,
                "positions": positions,
                "measure": measure,
                "min": min,
                "all_words": all_words,
                "punctuation": punctuation,
                "limit": limit,
            },
        )

    def sketch(
        self,
        lemma: str,
        *,
        pos: str | None = None,
        min: int = 3,
        size: int = 12,
        filter: str | None = None,
        in_corpus: str | None = None,
    ) -> Answer[RelationRow]:
        """Show a word sketch: collocates by grammatical relation.

        Args:
            lemma: The lemma, as a dictionary lists it.
            pos: The part of speech, such as NOUN [default: the most frequent one].
            min: Minimum co-occurrences. At least 1.
            size: Maximum collocates per relation. From 1 to 1000.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
        """
        return self._ask(
            "sketch",
            {
                "lemma": lemma,
                "pos": pos,
                "min": min,
                "size": size,
                "filter": filter,
                "in_corpus": in_corpus,
            },
        )

    def sketch_diff(
        self,
        lemma: str,
        other: str,
        *,
        pos: str | None = None,
        min: int = 3,
        size: int = 20,
        filter: str | None = None,
        in_corpus: str | None = None,
    ) -> Answer[SketchDiffRow]:
        """Compare the word sketches of two lemmas.

        Args:
            lemma: The first lemma, as a dictionary lists it.
            other: The second lemma.
            pos: The part of speech of both, such as NOUN [default: the most frequent one of the
                first].
            min: Minimum co-occurrences with one of the two. At least 1.
            size: Maximum collocates per relation. From 1 to 1000.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
        """
        return self._ask(
            "sketch_diff",
            {
                "lemma": lemma,
                "other": other,
                "pos": pos,
                "min": min,
                "size": size,
                "filter": filter,
                "in_corpus": in_corpus,
            },
        )

    def thesaurus(
        self,
        lemma: str,
        *,
        pos: str | None = None,
        min: int = 20,
        filter: str | None = None,
        in_corpus: str | None = None,
        limit: int = 50,
    ) -> Answer[ThesaurusRow]:
        """List words that occur in the same contexts.

        Args:
            lemma: The lemma, as a dictionary lists it.
            pos: The part of speech, such as NOUN [default: the most frequent one].
            min: Minimum hits of similar words. At least 1.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            limit: Maximum rows. From 0 to 10000.
        """
        return self._ask(
            "thesaurus",
            {
                "lemma": lemma,
                "pos": pos,
                "min": min,
                "filter": filter,
                "in_corpus": in_corpus,
                "limit": limit,
            },
        )

    def words(
        self,
        regex: str | None = None,
        *,
        min: int | None = None,
        filter: str | None = None,
        in_corpus: str | None = None,
        attribute: str = "lc",
        ngram: int = 1,
        punctuation: bool = False,
        limit: int = 50,
    ) -> Answer[WordRow]:
        """List words or n-grams with their frequencies.

        Args:
            regex: Only words that match this regular expression as a whole.
            min: Minimum hits [default: 1, for n-grams 5]. At least 1.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            attribute: The attribute to count: word, lc, lemma, tag, feats, or a feature such as
                Case.
            ngram: The number of consecutive words in a row, inside one sentence. From 1 to 5.
            punctuation: Include punctuation.
            limit: Maximum rows. From 0 to 10000.
        """
        return self._ask(
            "words",
            {
                "regex": regex,
                "min": min,
                "filter": filter,
                "in_corpus": in_corpus,
                "attribute": attribute,
                "ngram": ngram,
                "punctuation": punctuation,
                "limit": limit,
            },
        )

    def keywords(
        self,
        focus: str,
        *,
        against: str | None = None,
        measure: Literal["simple-maths", "log-likelihood", "log-ratio", "din", "chi-square"] = "simple-maths",
        add: float = 1.0,
        panel: bool = False,
        filter: str | None = None,
        in_corpus: str | None = None,
        unit: Literal["hits", "documents"] = "hits",
        min: int = 5,
        fdr: float = 0.05,
        attribute: str | None = None,
        ngram: int = 1,
        all_words: bool = False,
        punctuation: bool = False,
        limit: int = 50,
    ) -> Answer[Keyword]:
        """Show what is typical of a part of the corpus.

        Args:
            focus: The documents in focus, a filter such as date>=2026-03.
            against: The documents to compare with, a filter [default: all others].
            measure: The keyness measure that orders the rows.
            add: The constant that simple maths adds to both rates: 1 favours what is rare, 1000
                what is common. From 0.000000001 to 1000000.
            panel: Only sites with documents in both parts, so that new feeds do not look like new
                words.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            unit: What is counted: hits, or documents with the word (the share of stories). The test
                of significance is of hits.
            min: Minimum hits, or documents, in the focus subcorpus. At least 1.
            fdr: The accepted share of false discoveries among the words that come first
                (Benjamini–Hochberg); 0 orders all by the measure. From 0 to 1.
            attribute: The attribute to count: lemma, lc, word, tag, feats, or a feature such as
                Case [default: lemma, which merges inflected forms, where the corpus has lemmas; lc
                elsewhere].
            ngram: The number of consecutive words in a row, inside one sentence. From 1 to 5.
            all_words: Include punctuation, numbers, dates and function words.
            punctuation: Include punctuation.
            limit: Maximum rows. From 0 to 10000.
        """
        return self._ask(
            "keywords",
            {
                "focus": focus,
                "against": against,
                "measure": measure,
                "add": add,
                "panel": panel,
                "filter": filter,
                "in_corpus": in_corpus,
                "unit": unit,
                "min": min,
                "fdr": fdr,
                "attribute": attribute,
                "ngram": ngram,
                "all_words": all_words,
                "punctuation": punctuation,
                "limit": limit,
            },
        )

    def terms(
        self,
        focus: str,
        *,
        against: str | None = None,
        measure: Literal["simple-maths", "log-likelihood", "log-ratio", "din", "chi-square"] = "simple-maths",
        add: float = 1.0,
        panel: bool = False,
        filter: str | None = None,
        in_corpus: str | None = None,
        min: int = 5,
        min_documents: int = 3,
        names: bool = False,
        limit: int = 50,
    ) -> Answer[TermRow]:
        """Show terms of several words that are typical of a part of the corpus.

        Args:
            focus: The documents in focus, a filter such as date>=2026-03.
            against: The documents to compare with, a filter [default: all others].
            measure: The keyness measure that orders the rows.
            add: The constant that simple maths adds to both rates: 1 favours what is rare, 1000
                what is common. From 0.000000001 to 1000000.
            panel: Only sites with documents in both parts, so that new feeds do not look like new
                words.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            min: Minimum hits in the focus subcorpus. At least 1.
            min_documents: Minimum documents with the term in the focus subcorpus. At least 1.
            names: Include terms with proper nouns, most of which are names.
            limit: Maximum rows. From 0 to 10000.
        """
        return self._ask(
            "terms",
            {
                "focus": focus,
                "against": against,
                "measure": measure,
                "add": add,
                "panel": panel,
                "filter": filter,
                "in_corpus": in_corpus,
                "min": min,
                "min_documents": min_documents,
                "names": names,
                "limit": limit,
            },
        )

    def compare(
        self,
        before: str,
        after: str,
        *,
        min: int = 10,
        filter: str | None = None,
        in_corpus: str | None = None,
        attribute: str | None = None,
        fdr: float = 0.05,
        direction: Literal["both", "rising", "falling"] = "both",
        effect: float = 1.25,
        confidence: float = 0.95,
        panel: bool = False,
        all_words: bool = False,
        punctuation: bool = False,
        limit: int = 50,
    ) -> Answer[Change]:
        """Show which words rose or fell from one part of the corpus to another.

        Args:
            before: The documents to compare with, a filter such as date=2026-05.
            after: The documents in which words rose or fell, a filter such as date=2026-06.
            min: Minimum documents of a tested word. At least 1.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            attribute: The attribute to count: lemma, lc, word, tag, feats, or a feature such as
                Case [default: lemma, which merges inflected forms, where the corpus has lemmas; lc
                elsewhere].
            fdr: The accepted share of false discoveries among the rows (Benjamini–Hochberg). From 0
                to 1.
            direction: Only words that rise, or only words that fall.
            effect: The minimum change: the factor by which the rate rises or falls. From 1 to
                1000000.
            confidence: The confidence of the intervals. From 0.5 to 0.999999.
            panel: Only sites with documents in both parts, so that new feeds do not look like news.
            all_words: Include punctuation, numbers, dates and function words.
            punctuation: Include punctuation.
            limit: Maximum rows. From 0 to 10000.
        """
        return self._ask(
            "compare",
            {
                "before": before,
                "after": after,
                "min": min,
                "filter": filter,
                "in_corpus": in_corpus,
                "attribute": attribute,
                "fdr": fdr,
                "direction": direction,
                "effect": effect,
                "confidence": confidence,
                "panel": panel,
                "all_words": all_words,
                "punctuation": punctuation,
                "limit": limit,
            },
        )

    def meaning(
        self,
        before: str,
        after: str,
        *,
        min: int = 20,
        window: int = 5,
        collocates: int = 8,
        names: bool = False,
        fdr: float = 0.05,
        filter: str | None = None,
        in_corpus: str | None = None,
        limit: int = 50,
    ) -> Answer[MeaningRow]:
        """Show words whose collocates differ between two parts of the corpus.

        Args:
            before: The documents to compare with, a filter such as date=2025.
            after: The documents in which collocates are gained or lost, a filter such as date=2026.
            min: Minimum hits of a tested word in each part. At least 1.
            window: The tokens on each side of a word in which words are its collocates. From 1 to
                50.
            collocates: The most collocates gained, and as many lost, of each word. From 1 to 50.
            names: Test names, too: what stands beside a name changes with the news.
            fdr: The accepted share of false discoveries among the rows (Benjamini–Hochberg). From 0
                to 1.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            limit: Maximum rows. From 0 to 10000.
        """
        return self._ask(
            "meaning",
            {
                "before": before,
                "after": after,
                "min": min,
                "window": window,
                "collocates": collocates,
                "names": names,
                "fdr": fdr,
                "filter": filter,
                "in_corpus": in_corpus,
                "limit": limit,
            },
        )

    def timeline(
        self,
        q: str | Sequence[str],
        *,
        filter: str | None = None,
        in_corpus: str | None = None,
        by: Literal["day", "ten-days", "week", "month", "quarter", "half-year", "year"] | None = None,
        panel: bool = False,
        documents: bool = False,
        confidence: float = 0.95,
    ) -> Answer[TimelinePoint]:
        """Show hits over time.

        Args:
            q: The queries, repeated or separated by commas: words, several words, or CQL; at most
                20.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            by: The length of a time step [default: one that gives 24 to 60 periods].
            panel: Only sites with documents in every step, so that new feeds do not look like news.
            documents: Count the documents with a hit, too, and their share among all documents;
                documents that the client may not read are left out.
            confidence: The confidence of the intervals. From 0.5 to 0.999999.
        """
        return self._ask(
            "timeline",
            {
                "q": q,
                "filter": filter,
                "in_corpus": in_corpus,
                "by": by,
                "panel": panel,
                "documents": documents,
                "confidence": confidence,
            },
        )

    def trends(
        self,
        *,
        filter: str | None = None,
        in_corpus: str | None = None,
        attribute: str | None = None,
        by: Literal["day", "ten-days", "week", "month", "quarter", "half-year", "year"] | None = None,
        min: int = 30,
        fdr: float = 0.05,
        direction: Literal["both", "rising", "falling"] = "both",
        effect: float = 1.25,
        all_words: bool = False,
        panel: bool = False,
        limit: int = 50,
    ) -> Answer[TrendRow]:
        """Show which words rise or fall.

        Args:
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            attribute: The attribute to count: lemma, lc, word, tag, feats, or a feature such as
                Case [default: lemma, which merges inflected forms, where the corpus has lemmas; lc
                elsewhere].
            by: The length of a time step [default: one that gives 24 to 60 periods].
            min: Minimum documents of a tested word. At least 1.
            fdr: The accepted share of false discoveries among the rows (Benjamini–Hochberg). From 0
                to 1.
            direction: Only words that rise, or only words that fall.
            effect: The minimum change: the factor by which the rate rises or falls. From 1 to
                1000000.
            all_words: Include punctuation, numbers, dates and function words.
            panel: Only sites with documents in every step, so that new feeds do not look like news.
            limit: Maximum rows. From 0 to 10000.
        """
        return self._ask(
            "trends",
            {
                "filter": filter,
                "in_corpus": in_corpus,
                "attribute": attribute,
                "by": by,
                "min": min,
                "fdr": fdr,
                "direction": direction,
                "effect": effect,
                "all_words": all_words,
                "panel": panel,
                "limit": limit,
            },
        )

    def seasons(
        self,
        *,
        filter: str | None = None,
        in_corpus: str | None = None,
        attribute: str | None = None,
        by: Literal["day", "ten-days", "week", "month", "quarter", "half-year", "year"] = "month",
        min: int = 30,
        all_words: bool = False,
        panel: bool = False,
        limit: int = 50,
        fdr: float = 0.05,
        effect: float = 1.25,
    ) -> Answer[SeasonRow]:
        """Show which words come back every year.

        Args:
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            attribute: The attribute to count: lemma, lc, word, tag, feats, or a feature such as
                Case [default: lemma, which merges inflected forms, where the corpus has lemmas; lc
                elsewhere].
            by: The length of a time step.
            min: Minimum documents of a tested word. At least 1.
            all_words: Include punctuation, numbers, dates and function words.
            panel: Only sites with documents in every step, so that new feeds do not look like news.
            limit: Maximum rows. From 0 to 10000.
            fdr: The accepted share of false discoveries among the rows (Benjamini–Hochberg). From 0
                to 1.
            effect: The minimum factor of the rate in the three months around the peak by that of
                the other months. From 1 to 1000000.
        """
        return self._ask(
            "seasons",
            {
                "filter": filter,
                "in_corpus": in_corpus,
                "attribute": attribute,
                "by": by,
                "min": min,
                "all_words": all_words,
                "panel": panel,
                "limit": limit,
                "fdr": fdr,
                "effect": effect,
            },
        )

    def steps(
        self,
        *,
        filter: str | None = None,
        in_corpus: str | None = None,
        attribute: str | None = None,
        by: Literal["day", "ten-days", "week", "month", "quarter", "half-year", "year"] = "month",
        min: int = 30,
        all_words: bool = False,
        panel: bool = False,
        limit: int = 50,
        fdr: float = 0.05,
        direction: Literal["both", "rising", "falling"] = "both",
        effect: float = 1.25,
    ) -> Answer[StepRow]:
        """Show which words change at once and stay changed.

        Args:
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            attribute: The attribute to count: lemma, lc, word, tag, feats, or a feature such as
                Case [default: lemma, which merges inflected forms, where the corpus has lemmas; lc
                elsewhere].
            by: The length of a time step.
            min: Minimum documents of a tested word. At least 1.
            all_words: Include punctuation, numbers, dates and function words.
            panel: Only sites with documents in every step, so that new feeds do not look like news.
            limit: Maximum rows. From 0 to 10000.
            fdr: The accepted share of false discoveries among the rows (Benjamini–Hochberg). From 0
                to 1.
            direction: Only words that rise, or only words that fall.
            effect: The minimum change: the factor by which the rate rises or falls. From 1 to
                1000000.
        """
        return self._ask(
            "steps",
            {
                "filter": filter,
                "in_corpus": in_corpus,
                "attribute": attribute,
                "by": by,
                "min": min,
                "all_words": all_words,
                "panel": panel,
                "limit": limit,
                "fdr": fdr,
                "direction": direction,
                "effect": effect,
            },
        )

    def bursts(
        self,
        *,
        filter: str | None = None,
        in_corpus: str | None = None,
        attribute: str | None = None,
        by: Literal["day", "ten-days", "week", "month", "quarter", "half-year", "year"] | None = None,
        all_words: bool = False,
        panel: bool = False,
        limit: int = 50,
    ) -> Answer[BurstRow]:
        """Show words that were in the news for a while.

        Args:
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            attribute: The attribute to count: lemma, lc, word, tag, feats, or a feature such as
                Case [default: lemma, which merges inflected forms, where the corpus has lemmas; lc
                elsewhere].
            by: The length of a time step [default: week; day in corpora of up to four months, month
                where a week has few documents].
            all_words: Include punctuation, numbers, dates and function words.
            panel: Only sites with documents in every step, so that new feeds do not look like news.
            limit: Maximum rows. From 0 to 10000.
        """
        return self._ask(
            "bursts",
            {
                "filter": filter,
                "in_corpus": in_corpus,
                "attribute": attribute,
                "by": by,
                "all_words": all_words,
                "panel": panel,
                "limit": limit,
            },
        )

    def new_words(
        self,
        *,
        filter: str | None = None,
        in_corpus: str | None = None,
        since: str | datetime.date | None = None,
        attribute: Literal["word", "lemma"] | None = None,
        min_sites: int | None = None,
        min_days: int = 3,
        min_documents: int = 5,
        names: bool = False,
        known: bool = False,
        all_words: bool = False,
        fdr: float = 0.05,
        limit: int = 50,
    ) -> Answer[NewWordRow]:
        """Show words that were not there before.

        Args:
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            since: The first day of the window [default: the last quarter of the collected time].
            attribute: The attribute to look at [default: lemma, which merges inflected forms, where
                the corpus has lemmas].
            min_sites: Minimum sites of different owners [default: 3; 2 in a corpus of 3 to 5 sites,
                1 in a smaller one]. From 1 to 1073741824.
            min_days: Minimum days. From 1 to 1073741824.
            min_documents: Minimum documents. From 1 to 1073741824.
            names: Include names, which are told by their tags, or by capitals in a corpus without
                tags.
            known: Include words that the dictionary of the language has.
            all_words: Include punctuation, numbers, dates and function words.
            fdr: The accepted share of words that are first seen in the window by chance among the
                rows; 1 lists all candidates. From 0 to 1.
            limit: Maximum rows. From 0 to 10000.
        """
        return self._ask(
            "new_words",
            {
                "filter": filter,
                "in_corpus": in_corpus,
                "since": since,
                "attribute": attribute,
                "min_sites": min_sites,
                "min_days": min_days,
                "min_documents": min_documents,
                "names": names,
                "known": known,
                "all_words": all_words,
                "fdr": fdr,
                "limit": limit,
            },
        )

    def neologisms(
        self,
        *,
        status: Literal["open", "accepted", "rejected", "later", "all"] = "open",
        filter: str | None = None,
        in_corpus: str | None = None,
        since: str | datetime.date | None = None,
        attribute: Literal["word", "lemma"] | None = None,
        min_sites: int | None = None,
        min_days: int = 3,
        min_documents: int = 5,
        names: bool = False,
        known: bool = False,
        all_words: bool = False,
        fdr: float = 0.05,
        limit: int = 50,
    ) -> Answer[NeologismRow]:
        """List candidates for new words with first citation, spread and decisions.

        Args:
            status: The state of the words to list.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            since: The first day of the window [default: the last quarter of the collected time].
            attribute: The attribute to look at [default: lemma, which merges inflected forms, where
                the corpus has lemmas].
            min_sites: Minimum sites of different owners [default: 3; 2 in a corpus of 3 to 5 sites,
                1 in a smaller one]. From 1 to 1073741824.
            min_days: Minimum days. From 1 to 1073741824.
            min_documents: Minimum documents. From 1 to 1073741824.
            names: Include names, which are told by their tags, or by capitals in a corpus without
                tags.
            known: Include words that the dictionary of the language has.
            all_words: Include punctuation, numbers, dates and function words.
            fdr: The accepted share of words that are first seen in the window by chance among the
                rows; 1 lists all candidates. From 0 to 1.
            limit: Maximum rows. From 0 to 10000.
        """
        return self._ask(
            "neologisms",
            {
                "status": status,
                "filter": filter,
                "in_corpus": in_corpus,
                "since": since,
                "attribute": attribute,
                "min_sites": min_sites,
                "min_days": min_days,
                "min_documents": min_documents,
                "names": names,
                "known": known,
                "all_words": all_words,
                "fdr": fdr,
                "limit": limit,
            },
        )

    def names(
        self,
        *,
        filter: str | None = None,
        in_corpus: str | None = None,
        type: Literal["PER", "ORG", "LOC"] | None = None,
        since: str | datetime.date | None = None,
        min_documents: int = 1,
        min_sites: int = 1,
        limit: int = 50,
    ) -> Answer[NameRow]:
        """List the names of persons, organisations and places.

        Args:
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            type: Only names of this type. The type of many names is not known.
            since: Only names that do not occur before this day: new names.
            min_documents: Minimum documents. From 1 to 1073741824.
            min_sites: Minimum sites. From 1 to 1073741824.
            limit: Maximum rows. From 0 to 10000.
        """
        return self._ask(
            "names",
            {
                "filter": filter,
                "in_corpus": in_corpus,
                "type": type,
                "since": since,
                "min_documents": min_documents,
                "min_sites": min_sites,
                "limit": limit,
            },
        )

    def quotes(
        self,
        *,
        filter: str | None = None,
        in_corpus: str | None = None,
        by: Literal["speaker", "verb", "site"] = "speaker",
        pronouns: bool = False,
        min_documents: int = 1,
        limit: int = 50,
    ) -> Answer[QuoteRow]:
        """List who is quoted, with which verbs, and how much each source quotes.

        Args:
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            by: What quotations are counted by.
            pronouns: Include speakers that are a pronoun or another function word.
            min_documents: Minimum documents. From 1 to 1073741824.
            limit: Maximum rows. From 0 to 10000.
        """
        return self._ask(
            "quotes",
            {
                "filter": filter,
                "in_corpus": in_corpus,
                "by": by,
                "pronouns": pronouns,
                "min_documents": min_documents,
                "limit": limit,
            },
        )

    def documents(
        self,
        *,
        q: str | None = None,
        filter: str | None = None,
        in_corpus: str | None = None,
        order: Literal["newest", "oldest"] = "newest",
        size: int | None = None,
        fields: str | Sequence[str] = ("site",),
    ) -> Answer[DocumentRow]:
        """List documents by their metadata.

        Args:
            q: Only documents with a hit of this query: a word, several words, or CQL.
            filter: Only documents with these properties, such as site=gazette.example
                date>=2026-01.
            in_corpus: Only documents of this virtual corpus, made with `tidings corpus save`.
            order: Which day comes first.
            size: Maximum rows; all if it is not given. From 0 to 1000000.
            fields: Fields to show, separated by commas.
        """
        return self._ask(
            "documents",
            {
                "q": q,
                "filter": filter,
                "in_corpus": in_corpus,
                "order": order,
                "size": size,
                "fields": fields,
            },
        )

    def document(
        self,
        id: str,
        *,
        q: str | None = None,
    ) -> Answer[DocumentAnswer]:
        """Show the metadata and the text of a document.

        Args:
            id: The id of the document, 32 hexadecimal digits.
            q: The query whose hits are marked: a word, several words, or CQL.
        """
        return self._ask(
            "document",
            {
                "id": id,
                "q": q,
            },
        )

    def context(
        self,
        id: str,
        position: int,
        *,
        unit: Literal["sentence", "paragraph"] = "sentence",
        around: int = 1,
    ) -> Answer[ShownSentence]:
        """Show the sentences or paragraphs around a token.

        Args:
            id: The id of the document, 32 hexadecimal digits.
            position: The number of the token in the document, as lines state it. From 0 to
                4294967296.
            unit: The unit of text to show.
            around: Further units before and after. From 0 to 100.
        """
        return self._ask(
            "context",
            {
                "id": id,
                "position": position,
                "unit": unit,
                "around": around,
            },
        )
