"""The examples of docs/how-to/python.md, run as they are written."""

import doctest
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

for package in ("datasets", "datatrove", "pandas", "polars", "scrapy", "spacy"):
    pytest.importorskip(package)
pytest_plugins = ["demo_home"]

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = REPOSITORY / "docs" / "how-to" / "python.md"
FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>Gazette</title>
<item><title>Ferry service to return in spring</title><link>https://gazette.example/ferry</link></item>
</channel></rss>"""


@pytest.fixture
def folder(demo, tmp_path, monkeypatch):
    html = (REPOSITORY / "fixtures" / "pages" / "gazette.html").read_text(encoding="utf-8")
    link = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
    (tmp_path / "page.html").write_text(html.replace("</head>", f"{link}</head>"), encoding="utf-8")
    (tmp_path / "feed.xml").write_text(FEED)
    shutil.copytree(demo, tmp_path / "news", symlinks=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks(page):
    """The blocks of Python of a page that run, with the number of their first line."""
    text = page.read_text(encoding="utf-8")
    for block in re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        before = text[: block.start()].rstrip("\n").rpartition("\n")[2]
        if not before.startswith("<!-- not run"):
            yield text.count("\n", 0, block.start()) + 1, block.group(1)


def test_examples_of_the_python_page_give_what_they_show(folder):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(optionflags=flags)
    names, report = {}, []
    for line, source in blocks(PAGE):
        test = doctest.DocTestParser().get_doctest(source, names, PAGE.name, str(PAGE), line)
        test.globs = names
        runner.run(test, out=report.append, clear_globs=False)
    assert runner.tries > 30
    assert runner.failures == 0, "".join(report)


@pytest.mark.parametrize("module", ["spacy"])
def test_examples_of_docstrings_give_what_they_show(module):
    command = [
        sys.executable,
        "-c",
        f"import doctest, tidings.{module} as m; raise SystemExit(doctest.testmod(m).failed)",
    ]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
