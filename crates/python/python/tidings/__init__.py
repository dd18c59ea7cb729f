"""Monitor corpora from the news web: extraction, language, duplicates, annotation, corpora, pipelines."""

from ._batch import Table, clean_batch, extract_batch, identify_batch, tag_batch, tokenize_batch
from ._compat import bare_extraction, extract
from ._text import (
    Deduper,
    Feed,
    FeedEntry,
    FoundFeed,
    Guess,
    Mark,
    MaskedText,
    MaskMatch,
    Token,
    Verdict,
    find_feeds,
    identify,
    mask,
    parse_feed,
    tag,
    tokenize,
)
from ._tidings import Document, InternalError, TidingsError, __version__
from .answer import Answer, CutOffWarning
from .corpus import Corpus
from .home import Home, Progress, RunError

__all__ = [
    "Answer",
    "Corpus",
    "CutOffWarning",
    "Deduper",
    "Document",
    "Feed",
    "FeedEntry",
    "FoundFeed",
    "Guess",
    "Home",
    "InternalError",
    "Mark",
    "MaskMatch",
    "MaskedText",
    "Progress",
    "RunError",
    "Table",
    "TidingsError",
    "Token",
    "Verdict",
    "__version__",
    "bare_extraction",
    "clean_batch",
    "extract",
    "extract_batch",
    "find_feeds",
    "identify",
    "identify_batch",
    "mask",
    "parse_feed",
    "tag",
    "tag_batch",
    "tokenize",
    "tokenize_batch",
]
