"""Monitor corpora from the news web."""

from ._tidings import InternalError, TidingsError, __version__
from .answer import Answer, CutOffWarning
from .corpus import Corpus
from .home import Home, Progress, RunError

__all__ = [
    "Answer",
    "Corpus",
    "CutOffWarning",
    "Home",
    "InternalError",
    "Progress",
    "RunError",
    "TidingsError",
    "__version__",
]
