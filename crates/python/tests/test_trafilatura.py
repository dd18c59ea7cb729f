"""`extract` and `bare_extraction` take Trafilatura's arguments, and equal the command line."""

from __future__ import annotations

import csv
import inspect
import io
import json
import pickle

import pytest
import trafilatura
from conftest import filter_lines, run_tidings

import tidings

PAGE = """<html lang="en"><head><title>Rain over the hills | Gazette</title>
<script type="application/ld+json">{"@type":"NewsArticle","author":{"@type":"Person","name":"Maren Holt"}}</script>
<meta property="article:published_time" content="2026-03-01T10:00:00Z"></head><body><nav><a href="/">Home</a> <a href="/staff/holt">Maren Holt</a></nav><article>
<h1>Rain over the hills</h1><p>It rained for <b>three days</b>, and on the fourth the river came into
<a href="/town">the town</a> of Hill.</p><p>People carried their chairs upstairs, and waited for the water to leave.</p>
<table><tr><th>Day</th><th>Water level at the bridge</th></tr><tr><td>Monday</td><td>Two metres and ten</td></tr></table>
<p>The mayor said that the dam had held, and that the school would open again on Monday morning.</p></article>
</body></html>"""
URL = "https://gazette.example/2026/rain"


#: A page with comments.
RICH_PAGE = PAGE.replace(
    "</article>",
    "</article><ol class=commentlist><li class=comment><div class=comment-author>Old Salt</div>"
    "<p>About time, is all that I have to say on the matter.</p></li></ol>",
)
#: Values of arguments that are honoured: the result is another one. `extract` is called with the further arguments.
HONOURED = {
    "url": (URL, {"include_links": True}),
    "record_id": ("page-7", {"output_format": "json", "with_metadata": True}),
    "favor_precision": (True, {}),
    "favor_recall": (True, {}),
    "include_comments": (False, {}),
    "output_format": ("markdown", {}),
    "target_language": ("de", {}),
    "include_tables": (False, {}),
    "include_formatting": (True, {}),
    "include_links": (True, {"url": URL}),
    "with_metadata": (True, {}),
    "only_with_metadata": (True, {}),
    "url_blacklist": ({URL}, {"url": URL}),
    "author_blacklist": ({"Maren Holt"}, {"with_metadata": True}),
}
#: Arguments that hold whatever their value is: there is no slower second way to leave out.
ALWAYS_HONOURED = {"fast", "no_fallback"}
#: Values of arguments that cannot be honoured.
REJECTED = {
    "tei_validation": True,
    "include_images": True,
    "deduplicate": True,
    "date_extraction_params": {"extensive_search": False},
    "max_tree_size": 10,
    "settingsfile": "settings.cfg",
    "prune_xpath": "//aside",
    "config": trafilatura.settings.DEFAULT_CONFIG,
    "options": object(),
}


def parameters(function):
    """The names and defaults of the arguments, in order, without the page."""
    rows = list(inspect.signature(function).parameters.values())[1:]
    return {row.name: row.default for row in rows if row.name != "filecontent"}


@pytest.mark.parametrize("name", ["extract", "bare_extraction"])
def test_names_and_defaults_are_those_of_trafilatura(name):
    theirs = parameters(getattr(trafilatura, name))
    # Its settings are an object there.
    assert theirs.pop("config") is trafilatura.settings.DEFAULT_CONFIG
    ours = parameters(getattr(tidings, name))
    assert ours.pop("config") is None
    assert list(ours.items()) == list(theirs.items())
    page = next(iter(inspect.signature(getattr(trafilatura, name)).parameters))
    assert getattr(tidings, name)(**{page: PAGE}) == getattr(tidings, name)(PAGE)


@pytest.mark.parametrize("name", [*parameters(trafilatura.extract), "as_dict"])
def test_each_argument_of_trafilatura_is_honoured_or_an_error(name, repository):
    functions = [tidings.extract, tidings.bare_extraction]
    functions = [function for function in functions if name in parameters(function)]
    if name in REJECTED:
        for function in functions:
            with pytest.raises(TypeError, match=f"{name} is not supported: "):
                function(RICH_PAGE, **{name: REJECTED[name]})
            assert function(RICH_PAGE, **{name: parameters(function)[name]}) == function(RICH_PAGE)
    elif name in ALWAYS_HONOURED:
        assert all(function(RICH_PAGE, **{name: True}) == function(RICH_PAGE) for function in functions)
    elif name == "as_dict":
        assert tidings.bare_extraction(PAGE, as_dict=True) == tidings.bare_extraction(PAGE).as_dict()
    else:
        value, further = HONOURED[name]
        pages = [RICH_PAGE]
        if name.startswith("favor"):
            # Presets differ on pages with doubtful parts only.
            pages = [path.read_text() for path in sorted((repository / "fixtures/pages").glob("*.html"))]
        assert any(tidings.extract(page, **further, **{name: value}) != tidings.extract(page, **further) for page in pages)


def test_text_and_metadata_equal_the_filter(pages):
    for flags, arguments in [
        ((), {"include_comments": False}),
        (("--comments",), {}),
        (("--preset", "precision"), {"favor_precision": True, "include_comments": False}),
        (("--preset", "recall"), {"favor_recall": True, "include_comments": False}),
    ]:
        _compare(pages, flags, arguments)


def test_development_pages_equal_the_filter(development_pages):
    _compare(development_pages, ("--comments",), {})


def _compare(pages, flags, arguments):
    for page, expected in zip(pages, filter_lines(pages, "extract", *flags), strict=True):
        document = tidings.bare_extraction(page["html"], page["url"], **arguments)
        assert (document is None) == (expected["text"] == ""), page["id"]
        text = tidings.extract(page["html"], page["url"], **arguments)
        if document is None:
            assert text is None
            continue
        assert text == "\n".join(filter(None, [expected["text"], expected.get("comments")]))
        assert document.text == expected["text"]
        for ours, theirs in [("title", "title"), ("author", "author"), ("date", "date"), ("date_source", "date_source"),
                             ("modified", "modified"), ("language", "language"), ("description", "description"),
                             ("declared_language", "declared_language"), ("page_type", "page_type"),
                             ("sitename", "sitename"), ("hostname", "site"), ("canonical", "canonical"),
                             ("image", "image"), ("comments", "comments"), ("extractor", "extractor")]:  # fmt: skip
            assert (getattr(document, ours) or "") == (expected.get(theirs) or ""), (page["id"], ours)
        for name in ("authors", "categories", "tags"):
            assert getattr(document, name) == expected[name]
        assert document.license == (expected["licence"] or {}).get("name")


def test_bytes_equal_the_command_line(tmp_path, pages):
    html = PAGE.replace("<head>", '<head><meta charset="windows-1252">').replace("Hill", "Höll")
    path = tmp_path / "page.html"
    path.write_bytes(html.encode("cp1252"))
    for format, output_format in [("html", "html"), ("xml", "xml"), ("tei", "xmltei"), ("md", "markdown")]:
        written = run_tidings("extract", "--format", format, "--links", "--url", URL, str(path)).decode()
        got = tidings.extract(path.read_bytes(), URL, output_format=output_format, include_links=True,
                              include_formatting=True, include_comments=False)  # fmt: skip
        assert got == written.rstrip("\r\n"), format
    assert "Höll" in got
    assert tidings.extract(bytearray(path.read_bytes()), URL) == tidings.extract(path.read_bytes(), URL)
    assert tidings.extract(b"%PDF-1.4 <p>not a page</p>") is None
    assert tidings.extract(b"") is None


def test_formats_with_their_arguments():
    text = tidings.extract(PAGE, URL)
    assert "three days" in text and "Home" not in text and "\n\n" not in text
    assert tidings.extract(PAGE, URL, include_tables=False) == text.replace(
        "Day\tWater level at the bridge\nMonday\tTwo metres and ten\n", ""
    )
    linked = tidings.extract(PAGE, URL, include_links=True)
    assert "into [the town](https://gazette.example/town) of Hill." in linked.replace("\n", " ")
    markdown = tidings.extract(PAGE, URL, output_format="markdown")
    assert "**three days**" in markdown and "# Rain" in markdown
    assert tidings.extract(PAGE, URL, include_formatting=True) == markdown
    assert "**" not in tidings.extract(PAGE, URL, output_format="markdown", include_formatting=False)
    assert "three days</" not in tidings.extract(PAGE, URL, output_format="xml")
    assert "three days</" in tidings.extract(PAGE, URL, output_format="xml", include_formatting=True)
    assert tidings.extract(filecontent=PAGE, url=URL) == text


def test_json_csv_and_headers_are_laid_out_as_by_trafilatura():
    assert json.loads(tidings.extract(PAGE, URL, output_format="json")).keys() == {"text", "comments"}
    record = json.loads(tidings.extract(PAGE, URL, record_id="7", output_format="json", with_metadata=True))
    assert (record["source"], record["hostname"], record["id"]) == (URL, "gazette.example", "7")
    assert (record["title"], record["author"], record["date"]) == ("Rain over the hills", "Maren Holt", "2026-03-01")
    row = next(csv.reader(io.StringIO(tidings.extract(PAGE, URL, output_format="csv")), delimiter="\t"))
    assert (row[0], row[3], row[4], row[6], row[10]) == (URL, "gazette.example", "Rain over the hills", "2026-03-01", "null")
    header = tidings.extract(PAGE, URL, with_metadata=True)
    assert header.startswith(f'---\ntitle: Rain over the hills\nauthor: Maren Holt\nurl: {URL}\n')
    assert 'date: "2026-03-01"\n' in header


def test_the_language_is_that_of_the_text_not_of_the_markup():
    html = ("<html lang=en><article><p>Der Fluss ist in der Nacht über die Ufer getreten, und die Feuerwehr hat zwei "
            "Straßen gesperrt.</p><p>Am Morgen standen die Keller der Altstadt noch unter Wasser.</p></article>")  # fmt: skip
    document = tidings.bare_extraction(html)
    assert (document.language, document.declared_language) == ("de", "en")
    assert tidings.extract(html, target_language="de") and tidings.extract(html, target_language="en") is None
    # A text that is too short to tell counts as written in the language that the page declares.
    short = "<html lang=de><p>2026-03-01 12:30 14:50"
    document = tidings.bare_extraction(short)
    assert (document.language, document.declared_language) == ("und", "de")
    assert tidings.extract(short, target_language="de") and tidings.extract(short, target_language="en") is None


def test_pages_are_left_out_by_metadata_language_and_address():
    assert tidings.extract(PAGE, URL, only_with_metadata=True)
    assert tidings.extract(PAGE, only_with_metadata=True) is None
    assert tidings.extract(PAGE, target_language="en") and tidings.extract(PAGE, target_language="de") is None
    assert tidings.extract(PAGE, URL, url_blacklist={URL}) is None
    assert tidings.bare_extraction(PAGE, URL, author_blacklist={"Maren Holt"}).author is None


def test_wrong_arguments_raise():
    with pytest.raises(ValueError, match="known formats"):
        tidings.extract(PAGE, output_format="docx")
    with pytest.raises(TypeError, match="unexpected keyword"):
        tidings.extract(PAGE, no_such_argument=1)
    with pytest.raises(TypeError, match="str or bytes"):
        tidings.extract(17)
    with pytest.raises(TypeError):
        tidings.extract()


def test_documents_are_values():
    document = tidings.bare_extraction(PAGE, URL, include_links=True)
    assert pickle.loads(pickle.dumps(document)) == document
    assert document != tidings.bare_extraction(PAGE, URL)
    assert repr(document) == f"Document(title='Rain over the hills', url='{URL}', date='2026-03-01')"
    values = document.as_dict()
    assert values["text"] == document.text and values == tidings.bare_extraction(PAGE, URL, include_links=True, as_dict=True)
    assert "(https://gazette.example/town)" in document.text and "(" not in document.raw_text
    assert len(document.paragraphs) == document.raw_text.count("\n") + 1
    with pytest.raises(ValueError, match="known formats"):
        document.write("docx")
    with pytest.raises(AttributeError):
        document.title = "other"
