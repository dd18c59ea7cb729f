"""An item pipeline for `Scrapy <https://scrapy.org>`_: pages in, text and metadata out.

In ``settings.py``::

    ITEM_PIPELINES = {"tidings.scrapy.TidingsPipeline": 300}
    TIDINGS_LANGUAGES = ["en", "de"]           # optional: drop pages in other languages
    TIDINGS_OPTIONS = {"favor_precision": True}  # optional: arguments of tidings.bare_extraction

and a spider yields the response: ``yield {"url": response.url, "response": response}``.
"""

from __future__ import annotations

from typing import Any, NoReturn

try:
    from itemadapter import ItemAdapter
    from scrapy.exceptions import DropItem
    from scrapy.http import Response, TextResponse
except ModuleNotFoundError as error:
    raise ImportError(f"tidings.scrapy needs {error.name}: pip install scrapy") from error

import tidings

__all__ = ["TidingsPipeline"]

# Properties of a document that become fields of the item, if the page states them and the item has such a field.
FIELDS = ("text", "title", "author", "date", "language", "sitename", "description", "categories", "tags", "license")


class TidingsPipeline:
    """Replaces the response of an item by its main text and metadata; drops pages without text.

    The page is the field ``response`` (a response of Scrapy) or ``html`` (text or bytes, with its address in
    ``url``). Fields that have a value keep it. The reasons why items were dropped are counted in the statistics
    of the crawl, as ``tidings/dropped/REASON``.
    """

    def __init__(self, languages: list[str] | None = None, options: dict[str, Any] | None = None, stats: Any = None):
        self.languages = frozenset(languages or ())
        self.options = dict(options or {})
        self.stats = stats

    @classmethod
    def from_crawler(cls, crawler: Any) -> TidingsPipeline:
        """Reads the settings of the crawl."""
        settings = crawler.settings
        return cls(settings.getlist("TIDINGS_LANGUAGES"), settings.getdict("TIDINGS_OPTIONS"), crawler.stats)

    def process_item(self, item: Any, spider: Any = None) -> Any:
        """Fills an item, or raises :class:`scrapy.exceptions.DropItem`."""
        fields = ItemAdapter(item)
        html, url = self._page(fields)
        page = tidings.bare_extraction(html, url=url, **self.options)
        if page is None or not page.text:
            self._drop("no-text", f"{url or 'the page'} has no text")
        language = tidings.identify(page.text).lang
        if self.languages and language not in self.languages:
            self._drop("other-language", f"{url or 'the page'} is in {language}")
        values = {name: getattr(page, name, None) for name in FIELDS}
        values["language"] = language
        for name, value in values.items():
            if value and not fields.get(name) and self._has_field(item, fields, name):
                fields[name] = value
        return item

    def _page(self, fields: ItemAdapter) -> tuple[str | bytes, str | None]:
        response = fields.pop("response", None) if "response" in fields else None
        if isinstance(response, TextResponse):
            return response.text, response.url
        if isinstance(response, Response):
            kind = response.headers.get("Content-Type", b"").decode("latin-1") or "no text"
            self._drop("not-html", f"{response.url} is no page but {kind}")
        html = fields.pop("html", None) if "html" in fields else None
        if not html:
            self._drop("no-page", "the item has neither `response` nor `html`")
        return html, fields.get("url")

    @staticmethod
    def _has_field(item: Any, fields: ItemAdapter, name: str) -> bool:
        return isinstance(item, dict) or name in fields.field_names()

    def _drop(self, reason: str, message: str) -> NoReturn:
        if self.stats is not None:
            self.stats.inc_value(f"tidings/dropped/{reason}")
        raise DropItem(message)
