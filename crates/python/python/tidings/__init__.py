"""Monitor corpora from the news web: extraction, language, duplicates, annotation, corpora, pipelines.

Single texts: ``extract`` and ``bare_extraction`` (with the arguments of Trafilatura), ``identify``, ``tokenize``, ``tag``,
``mask``, ``find_feeds``, ``parse_feed``, ``Deduper``.

Tables of texts, Arrow in and out, on all cores: ``extract_batch``, ``identify_batch``, ``tokenize_batch``, ``tag_batch``,
``clean_batch``.

Corpora: ``Corpus("news").en`` in the files of a home, or ``Corpus("https://host", token=…).en`` behind a server, with a
method for each question: ``concordance``, ``timeline``, ``trends``, ``colloc``, ``sketch`` and so on. Each returns an
``Answer``: rows, ``to_pandas()``, ``to_polars()``, ``to_arrow()``, ``plot()``, ``about``.

Pipelines: ``Home("news")`` polls feeds, downloads, cleans, annotates and indexes as the command ``tidings`` does, which
is inside (``python -m tidings --help``).

>>> extract("<article><h1>Rain</h1><p>It rained for three days, and the river came into the town.</p></article>")
'Rain\\nIt rained for three days, and the river came into the town.'
"""

from . import _models
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

_models.use_installed_models()

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
