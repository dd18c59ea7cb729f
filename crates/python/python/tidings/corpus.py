"""Corpora: the same questions over the files of a home and over the HTTP API."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from . import _tidings
from ._questions import QUESTIONS, Parameter, Questions
from .answer import MAX_PAGE_ROWS, SHOWN_ROWS, Answer, rows_of


class Source(Protocol):
    """A place that answers questions."""

    def languages(self) -> list[str]:
        """The languages that have an index."""
        ...

    def about(self, lang: str) -> dict[str, Any]:
        """The state, checksum, size and annotation of a corpus."""
        ...

    def answer(self, lang: str, method: str, parameters: dict[str, str]) -> dict[str, Any]:
        """The answer to a question."""
        ...

    def stream(self, lang: str, method: str, parameters: dict[str, str]) -> tuple[dict[str, Any], Iterator[bytes]]:
        """An answer without its rows, and the rows as they are found, in chunks of JSON lines."""
        ...


class Corpus(Questions):
    """A corpus: the index of a language, in the files of a home or behind a server.

    ``Corpus("news").en`` and ``Corpus("https://corpora.example", token=…)["en"]`` have the same
    methods with the same answers. A language need not be chosen if there is only one.

    Args:
        source: The folder of a home, or the address of a server (``tidings serve``).
        token: An access token of the server, made by ``tidings token add``.
        lang: The language, such as ``"en"``.
        time_limit: Seconds after which a search stops. An answer that was cut off says so in
            ``about`` and warns with ``CutOffWarning``. Searches in files have 60 seconds by
            default, lists and tests over the whole vocabulary have no limit; a server has its own
            limit, and this is the time to wait for it.
        as_of: A frozen state that is asked instead of the present one: its name, or the day on
            which it was frozen (``tidings corpus freeze``). ``about["frozen"]`` of each answer
            says what takedowns have removed from it since.
    """

    def __init__(
        self,
        source: str | os.PathLike[str],
        token: str | None = None,
        lang: str | None = None,
        *,
        time_limit: float | None = None,
        as_of: str | datetime.date | None = None,
    ) -> None:
        text = os.fspath(getattr(source, "path", source))
        self.source: str = text
        self._source: Source
        if text.startswith(("http://", "https://")):
            from .remote import Server

            self._source = Server(text, token, time_limit, _state(as_of))
        else:
            if token is not None:
                raise TypeError("token: only a server asks for one; a home is opened by its path")
            self._source = _Files(text, time_limit, _state(as_of))
        self._lang = None if lang is None else self._known(lang)
        #: Checksums by language and generation, so that answers of one state ask once.
        self._digests: dict[tuple[str, int], str] = {}

    def _known(self, lang: str) -> str:
        known = self._source.languages()
        if lang not in known:
            raise LookupError(f"no index for language {lang}; available: {', '.join(known) or 'none'}")
        return lang

    @property
    def languages(self) -> list[str]:
        """The languages that have an index."""
        return self._source.languages()

    @property
    def lang(self) -> str:
        """The language."""
        if self._lang is None:
            known = self._source.languages()
            if not known:
                raise LookupError("no index yet; run the stages clean, annotate and compile first (Home.run)")
            if len(known) > 1:
                raise ValueError(f"several languages are indexed; choose one with corpus[lang]: {', '.join(known)}")
            self._lang = known[0]
        return self._lang

    @property
    def about(self) -> dict[str, Any]:
        """The state of the corpus, its size and its annotation.

        ``corpus`` is the language, ``generation`` the state of the index, ``digest`` the checksum
        of the text (that of ``tidings digest --lang``: equal corpora have equal checksums on all
        machines), ``tokens`` and ``documents`` are its size, ``first_day`` and ``last_day`` its
        time, ``fields``, ``attributes``, ``features`` and ``spans`` what queries and filters may
        name, ``layers`` the annotators.

        The checksum is None while it is not known: a server makes it in the background, and for
        files with more than 256 MiB of new text ``tidings digest`` makes it.
        """
        return self._source.about(self.lang)

    def _digest(self, lang: str, generation: int) -> str | None:
        """The checksum of a state of the corpus; None if it is not known, or another state has come."""
        if (lang, generation) not in self._digests:
            about = self._source.about(lang)
            if about.get("generation") != generation or about.get("digest") is None:
                return None
            self._digests[lang, generation] = about["digest"]
        return self._digests[lang, generation]

    def __getitem__(self, lang: str) -> Corpus:
        chosen = Corpus.__new__(Corpus)
        chosen.source, chosen._source, chosen._digests = self.source, self._source, self._digests
        chosen._lang = self._known(lang)
        return chosen

    def __getattr__(self, name: str) -> Corpus:
        # Codes of languages are short; other names are not worth a look at the files.
        if name.startswith("_") or len(name) > 8 or name not in self._source.languages():
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._source.languages()})

    def __repr__(self) -> str:
        lang = f", lang={self._lang!r}" if self._lang else ""
        return f"Corpus({self.source!r}{lang})"

    def ask(self, question: str, **parameters: Any) -> Answer[Any]:
        """Asks any question by its name: that of the method, the command or the endpoint.

        Args:
            question: Such as ``"concordance"``, ``"query"`` or ``"new-words"``.
            parameters: As the method of the question has them.
        """
        method = _method(question)
        known = QUESTIONS[method].parameters
        for name in parameters:
            if name not in known:
                raise TypeError(f"{method}() has no parameter {name!r}; available: {', '.join(known)}")
        return self._ask(method, parameters)

    def _ask(self, method: str, parameters: Mapping[str, Any]) -> Answer[Any]:
        question = QUESTIONS[method]
        texts = {}
        for name, value in parameters.items():
            parameter = question.parameters[name]
            text = _text(name, parameter, value)
            if text is not None and not _is_default(parameter, value):
                texts[parameter.name] = text
        size = self._page_size(method, texts)
        lang, source = self.lang, self._source

        def ask(parameters: dict[str, str]) -> dict[str, Any]:
            return source.answer(lang, method, parameters)

        def stream(parameters: dict[str, str]) -> Iterator[bytes]:
            return source.stream(lang, method, parameters)[1]

        if texts.get("sample", "").isdecimal() and int(texts["sample"]) > MAX_PAGE_ROWS:
            # A sample has no pages: one that is longer than a page is read as a stream.
            head, chunks = source.stream(lang, method, texts)
            body = {**head, question.rows: list(rows_of(chunks)), "next": None}
        else:
            body = ask(texts)
        return Answer(method, texts, body, ask, stream, size, lambda generation: self._digest(lang, generation))

    def _page_size(self, method: str, texts: dict[str, str]) -> int | None:
        """The number of rows that were asked for. Those of a longer answer come as a stream."""
        if not QUESTIONS[method].is_paged or not texts.get("size", "").isdecimal():
            return None
        size = int(texts["size"])
        if size > MAX_PAGE_ROWS:
            texts["size"] = str(SHOWN_ROWS)
        return size


def _state(as_of: str | datetime.date | None) -> str | None:
    """The name of a frozen state, or its day."""
    return as_of.isoformat() if isinstance(as_of, datetime.date) else as_of


def _method(question: str) -> str:
    for method, known in QUESTIONS.items():
        if question in (method, known.name):
            return method
    raise ValueError(f"no question {question!r}; available: {', '.join(QUESTIONS)}")


def _is_default(parameter: Parameter, value: Any) -> bool:
    default = parameter.default
    if parameter.kind in ("names", "queries") and not isinstance(value, str):
        return default is not None and tuple(value) == tuple(default)
    return default is not None and type(value) is type(default) and value == default


def _text(name: str, parameter: Parameter, value: Any) -> str | None:
    """A value as it stands in an address; None if it is not given."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, datetime.datetime):
        return value.date().isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    if parameter.kind in ("names", "queries") and isinstance(value, (list, tuple)):
        if not all(isinstance(item, str) for item in value):
            raise TypeError(f"{name}: give names as texts")
        return ",".join(value)
    if parameter.kind in ("integer", "number"):
        try:
            number = value.__index__()
        except AttributeError:
            number = value if isinstance(value, float) else None
        if number is not None:
            return str(number)
    raise TypeError(f"{name}: {type(value).__name__} is not a value of this parameter")


class _Files:
    """The indexes of a home, opened when they are needed."""

    def __init__(self, path: str, time_limit: float | None, as_of: str | None) -> None:
        self._path = path
        self._time_limit = time_limit
        self._as_of = as_of
        self._open: dict[str, _tidings.CorpusFiles] = {}
        self.languages()  # A folder without a home is an error at once.

    def languages(self) -> list[str]:
        return _tidings.indexed_languages(self._path)

    def _files(self, lang: str) -> _tidings.CorpusFiles:
        if lang not in self._open:
            self._open[lang] = _tidings.CorpusFiles(self._path, lang, self._as_of)
        return self._open[lang]

    def about(self, lang: str) -> dict[str, Any]:
        about: dict[str, Any] = json.loads(self._files(lang).about())
        return about

    def answer(self, lang: str, method: str, parameters: dict[str, str]) -> dict[str, Any]:
        given = list(parameters.items())
        body: dict[str, Any] = json.loads(self._files(lang).answer(QUESTIONS[method].name, given, self._time_limit))
        return body

    def stream(self, lang: str, method: str, parameters: dict[str, str]) -> tuple[dict[str, Any], Iterator[bytes]]:
        given = list(parameters.items())
        rows = self._files(lang).stream(QUESTIONS[method].name, given, self._time_limit)
        return json.loads(rows.head), _closing(rows)


def _closing(rows: _tidings.RowStream) -> Iterator[bytes]:
    """Ends the search when no more rows are wanted."""
    try:
        yield from rows
    finally:
        rows.close()
