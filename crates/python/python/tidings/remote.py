"""The HTTP API of ``tidings serve`` as a source of answers."""

from __future__ import annotations

import gzip
import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any

from . import _tidings
from ._questions import QUESTIONS

#: Seconds to wait for a server; its own time limit is usually 30.
TIMEOUT_S = 90.0
#: Requests to a busy server before it counts as an error, and the longest wait between them.
ATTEMPTS = 4
MAX_WAIT_S = 30.0
#: Bytes that are read at once of a stream.
CHUNK_BYTES = 64 << 10


class _SameServer(urllib.request.HTTPRedirectHandler):
    """Follows redirects, and keeps the token from other servers."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None and _origin(newurl) != _origin(req.full_url):
            request.remove_header("Authorization")
        return request


def _origin(url: str) -> tuple[str, str]:
    parts = urllib.parse.urlsplit(url)
    return parts.scheme, parts.netloc


class Server:
    """A server of corpora.

    Args:
        url: Its address, such as ``https://corpora.example``.
        token: An access token.
        timeout: Seconds to wait for it.
        as_of: A frozen state that every question asks.
    """

    def __init__(
        self, url: str, token: str | None = None, timeout: float | None = None, as_of: str | None = None
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"{url}: give the address of a server, such as https://corpora.example")
        path = parts.path.rstrip("/")
        self._base = f"{parts.scheme}://{parts.netloc}{path.removesuffix('/api/v1')}/api/v1"
        if token is not None and not (token.isascii() and token.isprintable()):
            raise ValueError("token: it has characters that a token cannot have")
        self._token = token
        self._as_of = as_of
        self._timeout = TIMEOUT_S if timeout is None else float(timeout)
        self._languages: list[str] | None = None
        self._opener = urllib.request.build_opener(_SameServer)

    def languages(self) -> list[str]:
        if self._languages is None:
            self._languages = [corpus["corpus"] for corpus in self._json("corpora", {})["corpora"]]
        return self._languages

    def about(self, lang: str) -> dict[str, Any]:
        for corpus in self._json("corpora", {})["corpora"]:
            if corpus["corpus"] == lang:
                about: dict[str, Any] = corpus
                return about
        raise LookupError(f"no index for language {lang}")

    def answer(self, lang: str, method: str, parameters: dict[str, str]) -> dict[str, Any]:
        return self._json(*self._request(lang, method, parameters), method=method)

    def stream(self, lang: str, method: str, parameters: dict[str, str]) -> tuple[dict[str, Any], Iterator[bytes]]:
        path, query = self._request(lang, method, parameters)
        response = self._stream(path, query, method)
        head = json.loads(response.headers.get("Tidings-About", "{}"))
        return head, self._lines(response, head, path, query, method)

    def _request(self, lang: str, method: str, parameters: dict[str, str]) -> tuple[str, dict[str, str]]:
        path, query = _request(lang, method, parameters)
        return path, query if self._as_of is None else {**query, "as_of": self._as_of}

    def _stream(self, path: str, query: dict[str, str], method: str) -> Any:
        return self._open(path, {**query, "format": "jsonl"}, method, gzipped=False)

    def _lines(
        self, response: Any, head: dict[str, Any], path: str, query: dict[str, str], method: str
    ) -> Iterator[bytes]:
        """The lines of a stream. One that ends early, because the time limit of the server holds for the time that its
        reader takes, too, is continued behind its last row."""
        rows = 0
        while True:
            before = rows
            try:
                for lines in self._lines_of(response):
                    rows += lines.count(b"\n")
                    yield lines
                return
            except _EndedEarly:
                rest = _rest(method, query, head, rows)
                if rows == before or rest is None:
                    raise
            response = self._stream(path, rest, method)

    def _lines_of(self, response: Any) -> Iterator[bytes]:
        """The lines of one response; an error if it ends early."""
        with response:
            rest = b""
            try:
                while chunk := response.read1(CHUNK_BYTES):
                    lines, newline, rest = (rest + chunk).rpartition(b"\n")
                    if newline:
                        yield lines + newline
            except (http.client.HTTPException, OSError) as error:
                message = f"{self._base}: the stream ended before its last row; the server's time limit may be reached"
                raise _EndedEarly(message) from error
            if rest:
                raise _EndedEarly(f"{self._base}: the stream ended in the middle of a row")

    def _json(self, path: str, query: dict[str, str], method: str = "") -> dict[str, Any]:
        with self._open(path, query, method, gzipped=True) as response:
            try:
                body = response.read()
            except (http.client.HTTPException, OSError) as error:
                raise _tidings.TidingsError(f"{self._base}: the answer broke off: {error}") from error
            if response.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
        try:
            answer: dict[str, Any] = json.loads(body)
            return answer
        except ValueError as error:
            message = f"{self._base}/{path}: the answer is not JSON; is it a Tidings server?"
            raise _tidings.TidingsError(message) from error

    def _open(self, path: str, query: dict[str, str], method: str, gzipped: bool) -> Any:
        url = f"{self._base}/{path}"
        if query:
            url += "?" + urllib.parse.urlencode(query)
        headers = {"User-Agent": f"tidings-python/{_tidings.__version__}"}
        if gzipped:
            headers["Accept-Encoding"] = "gzip"
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._opener.open(urllib.request.Request(url, headers=headers), timeout=self._timeout)
            except urllib.error.HTTPError as error:
                with error:
                    wait = _retry_after(error)
                    if error.code not in (429, 503) or attempt == ATTEMPTS or wait > MAX_WAIT_S:
                        raise _exception(error, method) from None
                time.sleep(wait)
            except urllib.error.URLError as error:
                raise _tidings.TidingsError(f"cannot reach {self._base}: {error.reason}") from error
            except OSError as error:
                raise _tidings.TidingsError(f"cannot reach {self._base}: {error}") from error
        raise AssertionError("the last attempt returns or raises")


class _EndedEarly(_tidings.TidingsError):
    """A stream without its last rows."""


def _rest(method: str, query: dict[str, str], head: dict[str, Any], rows: int) -> dict[str, str] | None:
    """The question for the rows behind the first ones of a stream; None if they cannot be asked for by number, because it
    has no pages, is a sample, or lacks rows that the reader may not see."""
    about = head.get("about", {})
    is_whole = not head.get("withheld") and not head.get("rewrites") and not about.get("rights")
    if not QUESTIONS[method].is_paged or "sample" in query or "generation" not in about or not is_whole:
        return None
    _, _, first = query.get("cursor", "").rpartition("-")
    rest = {**query, "cursor": f"{about['generation']}-{int(first or 0) + rows}"}
    if "size" in query:
        rest["size"] = str(int(query["size"]) - rows)
    return rest


def _request(lang: str, method: str, parameters: dict[str, str]) -> tuple[str, dict[str, str]]:
    """The path and the query of a question."""
    path, query = QUESTIONS[method].path, dict(parameters)
    for name in list(query):
        brace = f"{{{name}}}"
        if brace in path:
            path = path.replace(brace, urllib.parse.quote(query.pop(name), safe=""))
    return f"{urllib.parse.quote(lang, safe='')}/{path}", query


def _retry_after(error: urllib.error.HTTPError) -> float:
    try:
        return max(0.0, float(error.headers.get("Retry-After", "1")))
    except ValueError:
        return 1.0


def _exception(error: urllib.error.HTTPError, method: str) -> Exception:
    """The exception that the files of a home would raise."""
    try:
        body = json.loads(error.read())
        message = str(body["error"])
    except (ValueError, KeyError, TypeError, OSError):
        return _tidings.TidingsError(f"{error.url}: the server answered {error.code} {error.reason}")
    if error.code == 400 and "shown" in body:
        kinds = {known.name: known.kind for known in QUESTIONS[method].parameters.values()} if method else {}
        language = "query" if kinds.get(body.get("parameter")) == "query" else "filter"
        return ValueError(f"invalid {language}: {body['shown']}")
    if error.code in (400, 410, 413, 414):
        return ValueError(message)
    if error.code in (401, 403):
        return PermissionError(message)
    if error.code == 404:
        return LookupError(message)
    return _tidings.TidingsError(message)
