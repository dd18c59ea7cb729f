"""Answers of a corpus: rows, tables, figures, and what they are an answer to."""

from __future__ import annotations

import html
import itertools
import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from . import _tidings
from ._questions import QUESTIONS, Question

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas
    import polars
    import pyarrow

Row = TypeVar("Row")

#: Rows that are shown of a long answer.
SHOWN_ROWS = 20
#: Rows that are fetched at once when rows of a long answer are looked up by number.
PAGE_ROWS = 200
#: The most rows that come as one page; more of them come as a stream.
MAX_PAGE_ROWS = 10_000


class CutOffWarning(UserWarning):
    """A limit stopped the search: counts are the least there can be, and rates and tests are left out."""


class Answer(Generic[Row]):
    """The answer to a question: a table of rows, with what it is an answer to.

    ``len(answer)``, ``answer[0]`` and iteration give rows as dictionaries. ``to_pandas()``,
    ``to_polars()``, ``to_arrow()`` and ``__arrow_c_stream__`` give tables, in which objects are
    spread over columns, tokens are text, and time steps are their first day.

    A concordance and a list of documents are whole, however long they are: ``len`` is the number
    of all hits, a notebook shows the first lines, and iteration streams. With ``size`` they have
    at most that many rows.
    """

    def __init__(
        self,
        method: str,
        parameters: dict[str, str],
        body: dict[str, Any],
        ask: Callable[[dict[str, str]], dict[str, Any]],
        stream: Callable[[dict[str, str]], Iterator[bytes]],
        size: int | None = None,
        digest: Callable[[int], str | None] = lambda generation: None,
    ) -> None:
        self._method = method
        self._question: Question = QUESTIONS[method]
        self._parameters = parameters
        self._body = body
        self._ask = ask
        self._stream = stream
        self._size = size
        self._digest = digest
        self._page: tuple[int, list[Row]] = (0, self._held())
        warning = body.get("about", {}).get("warning")
        if warning:
            message = f"{warning}; counts are the least there can be, and rates and tests are left out"
            warnings.warn(message, CutOffWarning, stacklevel=4)

    # What the answer is about.

    @property
    def question(self) -> str:
        """The method that asked, such as ``timeline``."""
        return self._method

    @property
    def about(self) -> dict[str, Any]:
        """The question and the state of the corpus that the answer belongs to.

        ``corpus`` is the language, ``generation`` the state of the index (equal states give equal
        answers), ``digest`` the checksum of the text (equal on all machines with the same corpus;
        None if it is not known, or the corpus has changed since), ``query`` and ``filter`` are in
        their canonical form, ``exactness`` says whether the numbers are exact, ``link`` is the
        address of the HTTP API that asks the same.
        """
        about = dict(self._body.get("about", {}))
        about["question"] = self._method
        if "frozen" in about:
            about["digest"] = about["frozen"]["digest"]
        elif "generation" in about:
            about["digest"] = self._digest(about["generation"])
        for name in ("link", "rewrites"):
            if name in self._body:
                about[name] = self._body[name]
        return about

    @property
    def is_exact(self) -> bool:
        """Whether all hits were counted and all of them are shown."""
        return bool(self._body.get("about", {}).get("exactness", {}).get("kind") == "exact")

    def __getattr__(self, name: str) -> Any:
        # Figures of the whole answer, such as `hits` and `tokens`.
        body = self.__dict__.get("_body", {})
        if name in body and not name.startswith("_"):
            return body[name]
        raise AttributeError(f"the answer to {self.__dict__.get('_method')} has no {name}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for name in self._body if name.isidentifier())})

    def to_dict(self) -> dict[str, Any]:
        """The answer as the HTTP API sends it, with all of its rows."""
        if self._is_complete():
            return self._body
        return {**self._body, self._question.rows: list(self), "next": None}

    # Rows.

    @property
    def rows(self) -> list[Row]:
        """All rows as a list. Iterate over a long concordance instead."""
        return list(self)

    def _held(self) -> list[Row]:
        if not self._question.rows:
            return [self._row_of_body()]
        rows: list[Row] = self._body[self._question.rows]
        return rows

    def _row_of_body(self) -> Any:
        return {name: value for name, value in self._body.items() if name not in ("about", "link", "rewrites")}

    def _is_complete(self) -> bool:
        """Whether the first page has all rows."""
        if self._body.get("next") is None:
            return True
        return self._size is not None and len(self._held()) >= self._size

    def _total(self) -> int | None:
        """The number of all rows; None if they were not counted."""
        if self._is_complete():
            return len(self._held())
        counted: int | None = self._body.get("documents" if self._method == "documents" else "hits")
        if counted is None:
            return None
        total: int = counted - self._body.get("withheld", 0)
        return total if self._size is None else min(total, self._size)

    def __len__(self) -> int:
        total = self._total()
        if total is None:
            raise TypeError("the hits were not counted (count=False); iterate over the lines instead")
        return total

    def __bool__(self) -> bool:
        return bool(self._held())

    def __iter__(self) -> Iterator[Row]:
        if self._is_complete():
            return iter(self._held())
        return itertools.islice(rows_of(self._stream(self._all_rows())), self._size)

    def _all_rows(self) -> dict[str, str]:
        parameters = {name: text for name, text in self._parameters.items() if name != "size"}
        if self._size is not None:
            parameters["size"] = str(self._size)
        return parameters

    @overload
    def __getitem__(self, at: int) -> Row: ...

    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...

    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        number = at
        if number < 0:
            number += len(self)
        held = self._held()
        if 0 <= number < len(held):
            return held[number]
        if number < 0 or self._is_complete() or (self._size is not None and number >= self._size):
            raise IndexError(f"the answer has {len(self)} rows")
        return self._row_at(number)

    def _row_at(self, number: int) -> Row:
        first, rows = self._page
        if not first <= number < first + len(rows):
            first = number - number % PAGE_ROWS
            generation = self._body["about"]["generation"]
            cursor = {"cursor": f"{generation}-{first}", "size": str(PAGE_ROWS)}
            rows = self._ask({**self._parameters, **cursor})[self._question.rows]
            self._page = (first, rows)
        if not first <= number < first + len(rows):
            raise IndexError(f"the answer has {first + len(rows)} rows")
        return rows[number - first]

    # Tables.

    @property
    def columns(self) -> list[str]:
        """The names of the columns of its tables."""
        return [name for name, _ in _tidings.table_columns(self._question.name, self._fields())]

    def _fields(self) -> list[str]:
        """The fields of documents that are columns."""
        parameter = self._question.parameters.get("fields")
        if parameter is None:
            return sorted(self._body.get("fields", {}))
        given = self._parameters.get("fields")
        names = given.split(",") if given is not None else parameter.default
        return [name for name in names if name]

    def _lines(self) -> bytes:
        """The rows as lines of JSON."""
        if self._is_complete():
            return b"\n".join(json.dumps(row).encode() for row in self._held())
        return b"".join(self._stream(self._all_rows()))

    def _table(self) -> Any:
        """The rows as an Arrow table, without another package."""
        about = json.dumps(self.about, ensure_ascii=False)
        return _tidings.table_arrow(self._question.name, self._fields(), self._lines(), about)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._table().schema.__arrow_c_schema__()

    def to_arrow(self) -> pyarrow.Table:
        """The rows as a ``pyarrow.Table``; its schema's metadata has ``tidings.about``."""
        return _needed("pyarrow", "to_arrow").table(self)

    def to_polars(self) -> polars.DataFrame:
        """The rows as a ``polars.DataFrame``."""
        frame: polars.DataFrame = _needed("polars", "to_polars").DataFrame(self._table())
        return frame

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a ``pandas.DataFrame``. It needs no other package."""
        pandas = _needed("pandas", "to_pandas")
        columns = {}
        for name, kind, values in _tidings.table_values(self._question.name, self._fields(), self._lines()):
            columns[name] = _series(pandas, kind, values)
        frame = pandas.DataFrame(columns)
        frame.attrs["about"] = self.about
        return frame

    def plot(self, **options: Any) -> matplotlib.figure.Figure:
        """Draws the answer with matplotlib.

        A timeline has the rate with its confidence interval, the hits, and a strip that shows how
        completely each step was collected. Lists of words are bars; trends are small multiples.

        Args:
            options: ``figsize``, ``rows`` (the number of rows to draw) and ``title``.
        """
        from . import plot

        return plot.plot(self, **options)

    # Text.

    def _heading(self) -> str:
        about = self._body.get("about", {})
        parts = [self._method]
        if about.get("query"):
            parts.append(about["query"])
        where = about.get("corpus", "")
        if about.get("filter"):
            where += f" where {about['filter']}"
        parts.append(self._amount())
        parts.append(f"in {where}, state {about.get('generation')}")
        return " · ".join(part for part in parts if part)

    def _amount(self) -> str:
        """The hits, documents or rows that the answer is about."""
        hits = self._body.get("hits")
        if hits is not None:
            at_least = "" if "warning" not in self._body.get("about", {}) else "at least "
            return at_least + _count(hits, "hit")
        if self._method == "documents":
            return _count(self._body["documents"], "document")
        if not self._question.rows:
            return ""
        rows, values = len(self._held()), self._body.get("values")
        return _count(rows, "row") if values is None or values <= rows else f"{rows:,} of {_count(values, 'row')}"

    def _exactness(self) -> str:
        exactness = self._body.get("about", {}).get("exactness", {})
        if exactness.get("kind") == "sample":
            return f"a sample of {exactness['hits']:,} of {exactness['of_hits']:,} hits, seed {exactness['seed']}"
        return str(self._body.get("about", {}).get("warning") or exactness.get("kind", ""))

    def __repr__(self) -> str:
        head = f"{self._heading()} ({self._exactness()})"
        rows = self._held()[:SHOWN_ROWS]
        if not rows:
            return head
        if self._method == "concordance":
            return "\n".join([head, *_kwic_lines(rows)])
        return "\n".join([head, *_text_table(self._cells(rows))])

    def _cells(self, rows: list[Any]) -> list[tuple[str, str, list[str]]]:
        """Columns of some rows: names, types, and values as text. Columns without values are left out."""
        lines = b"\n".join(json.dumps(row).encode() for row in rows)
        columns = []
        for name, kind, values in _tidings.table_values(self._question.name, self._fields(), lines):
            if any(value is not None for value in values):
                columns.append((name, kind, [_cell(kind, value) for value in values]))
        return columns

    def _repr_html_(self) -> str:
        heading = f"<b>{html.escape(self._heading())}</b> ({html.escape(self._exactness())})"
        notes = [*self._body.get("rewrites", []), *self._body.get("notes", [])]
        notes_html = "".join(f"<div><i>{html.escape(str(note))}</i></div>" for note in notes)
        rows = self._held()[:SHOWN_ROWS]
        if self._method == "concordance":
            table = _kwic_html(rows)
        else:
            table = _html_table(self._cells(rows)) if rows else ""
        total = self._total()
        rest = "" if total is None or total <= len(rows) else f"<div>… {total - len(rows):,} more</div>"
        return f"<div>{heading}{notes_html}{table}{rest}</div>"


def _count(number: int, unit: str) -> str:
    return f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"


def rows_of(chunks: Iterable[bytes]) -> Iterator[Any]:
    """The rows in chunks of JSON lines."""
    for chunk in chunks:
        for line in chunk.splitlines():
            yield json.loads(line)


def _needed(package: str, method: str) -> Any:
    import importlib

    try:
        return importlib.import_module(package)
    except ImportError as error:
        message = f"{method}() needs {package}; install it with: pip install {package}"
        raise ImportError(message, name=package) from error


def _series(pandas: Any, kind: str, values: list[Any]) -> Any:
    if kind == "date":
        return pandas.Series(pandas.to_datetime(values), dtype="datetime64[s]")
    if kind == "number":
        return pandas.Series(values, dtype="float64")
    if kind in ("integer", "boolean") and any(value is None for value in values):
        return pandas.array(values, dtype={"integer": "Int64", "boolean": "boolean"}[kind])
    if kind == "integer":
        return pandas.Series(values, dtype="int64")
    if kind == "boolean":
        return pandas.Series(values, dtype="bool")
    if kind == "text":
        return pandas.Series(values, dtype=None if values else "object")
    return pandas.Series(values, dtype="object")


def _cell(kind: str, value: Any) -> str:
    if value is None:
        return ""
    if kind == "integer":
        return f"{value:,}"
    if kind == "number":
        return _short(value)
    if kind == "numbers":
        return " ".join(_short(number) for number in value if number is not None)
    if kind == "texts":
        return " ".join(str(text) for text in value)
    return str(value)


def _short(number: float) -> str:
    """A number with its meaningful digits."""
    size = abs(number)
    if size >= 1000:
        return f"{number:,.0f}"
    if size >= 100:
        return f"{number:.0f}"
    if size >= 10:
        return f"{number:.1f}"
    if size >= 0.1 or size == 0:
        return f"{number:.2f}"
    return f"{number:.1e}"


def text_of(tokens: Iterable[dict[str, Any]] | None) -> str:
    """The text of tokens, such as ``line["left"]`` of a concordance."""
    parts = []
    for token in tokens or ():
        parts.append(token["word"])
        if token.get("space_after"):
            parts.append(" ")
    return "".join(parts).strip()


def _kwic_lines(rows: list[Any], side: int = 48) -> list[str]:
    heads = ["  ".join(row.get("fields", {}).values()) for row in rows]
    wide = min(max(len(head) for head in heads), 40)
    nodes = [text_of(row.get("node")) for row in rows]
    node_wide = min(max(len(node) for node in nodes), 40)
    lines = []
    for head, node, row in zip(heads, nodes, rows):
        left = text_of(row.get("left"))[-side:]
        right = text_of(row.get("right"))[:side]
        lines.append(f"{head[:wide]:<{wide}}  {left:>{side}}  {node:<{node_wide}}  {right}".rstrip())
    return lines


def _kwic_html(rows: list[Any]) -> str:
    lines = []
    for row in rows:
        fields = "".join(f"<td>{html.escape(str(value))}</td>" for value in row.get("fields", {}).values())
        left, node, right = (html.escape(text_of(row.get(part))) for part in ("left", "node", "right"))
        lines.append(
            f"<tr>{fields}<td style='text-align:right;white-space:nowrap;overflow:hidden;max-width:28em;"
            f"direction:rtl'><bdi>{left}</bdi></td><td style='text-align:center;white-space:nowrap'><b>{node}</b></td>"
            f"<td style='text-align:left;white-space:nowrap;overflow:hidden;max-width:28em'>{right}</td></tr>"
        )
    return f"<table>{''.join(lines)}</table>"


def _html_table(columns: list[tuple[str, str, list[str]]]) -> str:
    heads = "".join(f"<th>{html.escape(name)}</th>" for name, _, _ in columns)
    lines = []
    for cells in zip(*(values for _, _, values in columns)):
        line = "".join(
            f"<td style='text-align:{'right' if kind in ('integer', 'number') else 'left'}'>{html.escape(cell)}</td>"
            for (_, kind, _), cell in zip(columns, cells)
        )
        lines.append(f"<tr>{line}</tr>")
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _text_table(columns: list[tuple[str, str, list[str]]], most: int = 40) -> list[str]:
    texts = []
    for name, kind, values in columns:
        cells = [cell if len(cell) <= most else cell[: most - 1] + "…" for cell in [name, *values]]
        wide = max(len(cell) for cell in cells)
        is_number = kind in ("integer", "number")
        texts.append([cell.rjust(wide) if is_number else cell.ljust(wide) for cell in cells])
    return ["  ".join(cells).rstrip() for cells in zip(*texts)]
