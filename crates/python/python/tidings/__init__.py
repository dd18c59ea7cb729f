"""Monitor corpora from the news web."""

from ._tidings import __version__

__all__ = ["__version__"]
