"""Documents of `spaCy <https://spacy.io>`_ from tokens and tags of Tidings.

>>> import spacy, tidings
>>> from tidings.spacy import to_doc
>>> nlp = spacy.blank("en")
>>> doc = to_doc(tidings.tag("Storms closed two bridges. Nobody was hurt.", lang="en"), nlp.vocab)
>>> [token.lemma_ for token in doc if token.pos_ == "NOUN"]
['storm', 'bridge']
>>> [sentence.text for sentence in doc.sents]
['Storms closed two bridges.', 'Nobody was hurt.']
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

try:
    from spacy.tokens import Doc, DocBin
    from spacy.vocab import Vocab
except ModuleNotFoundError as error:
    raise ImportError(f"tidings.spacy needs {error.name}: pip install spacy") from error

__all__ = ["to_doc", "to_docbin"]

# The layers that a DocBin keeps; words and spaces are always kept.
LAYERS = ["LEMMA", "POS", "MORPH", "SENT_START"]


def to_doc(sentences: Iterable[Iterable[Any]], vocab: Vocab) -> Doc:
    """A document with words, spaces, lemmas, tags of Universal Dependencies, features and sentences.

    ``sentences`` are those of :func:`tidings.tag`, whose tokens have ``word``, ``lemma``, ``tag``, ``feats`` and
    ``space_after``. Its text is that of the tokens: line breaks between paragraphs are blanks.
    """
    numbered = [(token, number == 0) for sentence in sentences for number, token in enumerate(sentence)]
    tokens = [token for token, _ in numbered]
    return Doc(
        vocab,
        words=[token.word for token in tokens],
        spaces=[bool(token.space_after) for token in tokens],
        lemmas=[token.lemma or "" for token in tokens],
        pos=[token.tag or "" for token in tokens],
        morphs=[token.feats or "" for token in tokens],
        sent_starts=[is_first for _, is_first in numbered],
    )


def to_docbin(texts: Iterable[Iterable[Iterable[Any]]], vocab: Vocab) -> DocBin:
    """The documents of several tagged texts in one ``DocBin``, which spaCy trains from and stores on disk."""
    return DocBin(attrs=LAYERS, docs=(to_doc(sentences, vocab) for sentences in texts))
