"""Corpora: questions over files and over HTTP, answers as tables and figures."""

import datetime
import http.server
import itertools
import json
import subprocess
import sys
import textwrap
import threading
import urllib.parse

import pytest
import tidings
import weather
from tidings._questions import QUESTIONS
from tidings.answer import rows_of


@pytest.fixture(scope="module")
def corpus():
    return tidings.Corpus(weather.home().path)


@pytest.fixture(scope="module")
def remote():
    with weather.Served(weather.home()) as server:
        corpus = tidings.Corpus(server.url, token=weather.admin_token(weather.home()))
        # The checksum is made in the background.
        while corpus.about["digest"] is None:
            pass
        yield corpus


#: A request for each question.
REQUESTS = {
    "concordance": {"q": "storm", "size": 7, "context": 3, "sort": ["left", "date"]},
    "count": {"q": '"the" [lc="st.*"]'},
    "freq": {"q": "storm", "by": "site"},
    "group": {"q": "storm", "by": ["left1", "site"]},
    "crosstab": {"q": ["storm", "bakery"], "by": ["site", "month"]},
    "dispersion": {"q": "storm", "parts": 6},
    "colloc": {"q": "storm", "min": 2, "measure": "mi"},
    "sketch": {"lemma": "storm", "min": 1},
    "sketch_diff": {"lemma": "storm", "other": "bakery", "min": 1},
    "thesaurus": {"lemma": "storm", "min": 1},
    "words": {"regex": "s.*", "limit": 5},
    "keywords": {"focus": "date=2026-06", "against": "date<2026-06", "limit": 10},
    "terms": {"focus": "date=2026-06", "min": 1, "min_documents": 1, "names": True},
    "compare": {"before": "date<=2026-03", "after": "date>=2026-04"},
    "meaning": {"before": "date<=2026-03", "after": "date>=2026-04", "min": 1, "fdr": 1.0},
    "timeline": {"q": "storm", "by": "week", "confidence": 0.9},
    "trends": {"by": "month", "direction": "rising"},
    "seasons": {"by": "week"},
    "steps": {"by": "day", "min": 5, "fdr": 1.0, "effect": 1.0},
    "bursts": {"by": "month"},
    "new_words": {"since": datetime.date(2026, 6, 1)},
    "neologisms": {"status": "all", "since": datetime.date(2026, 6, 1)},
    "names": {"type": "PER"},
    "quotes": {},
    "documents": {"filter": "site=a.example", "size": 5, "fields": ["site", "date"], "order": "oldest"},
    "document": None,
    "context": None,
}


#: Methods that one corpus can answer; a parallel concordance needs two languages.
METHODS = [method for method in QUESTIONS if method != "parallel"]


def request(corpus, method):
    if REQUESTS[method] is not None:
        return REQUESTS[method]
    line = corpus.concordance("storm", order="oldest", size=1)[0]
    return {"id": line["document"]} if method == "document" else {"id": line["document"], "position": line["position"]}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_the_same_answer_over_files_and_over_http(corpus, remote, method):
    parameters = request(corpus, method)
    here, there = (getattr(source, method)(**parameters) for source in (corpus, remote))
    assert here.to_dict() == there.to_dict()
    assert here.to_dict()["about"]["corpus"] == "en"
    assert here.columns == there.columns
    assert here.to_arrow().equals(there.to_arrow(), check_metadata=True)
    assert len(here) > 0 or method in ("compare", "meaning", "terms", "sketch", "thesaurus", "names", "seasons", "bursts"), here


@pytest.mark.parametrize("method", METHODS)
def test_tables_have_the_same_columns_and_values_in_all_packages(corpus, method):
    answer = corpus.ask(method, **request(corpus, method))
    table, frame, polars = answer.to_arrow(), answer.to_pandas(), answer.to_polars()
    assert table.column_names == list(frame.columns) == polars.columns == answer.columns
    assert table.num_rows == len(frame) == polars.height == len(answer)
    for name in answer.columns:
        values = table.column(name).to_pylist()
        assert polars[name].to_list() == values, name
        missing = [value is None for value in values]
        assert frame[name].isna().tolist() == missing or not missing, name
    assert json.loads(table.schema.metadata[b"tidings.about"]) == answer.about
    assert "<table" in answer._repr_html_() or not len(answer)
    assert repr(answer).startswith(method)


def test_a_parallel_concordance_is_the_same_over_files_and_over_http(tmp_path):
    words = {
        "en": ("The storm came from the sea on day", "Nobody in the small town was hurt that night"),
        "de": ("Der Sturm kam vom Meer am Tag", "Niemand in der kleinen Stadt wurde in jener Nacht verletzt"),
    }
    texts = tmp_path / "texts.jsonl"
    with texts.open("w", encoding="utf-8") as file:
        for number in range(3):
            for lang, (one, other) in words.items():
                text = f"{one} {number + 11}. {other}. {one} {number + 21}. {other}, said witness {number + 31}."
                line = {"url": f"http://{lang}.example/{number}", "title": "News", "date": "2026-03-01", "lang": lang}
                file.write(json.dumps({**line, "text": text}) + "\n")
    home = tidings.Home.create(tmp_path / "home", contact="mailto:tests@weather.example")
    home.import_(texts, gate=False)
    (tmp_path / "home" / "tidings.toml").write_text('[annotate]\nduplicates = "keep"\n')
    home = tidings.Home(tmp_path / "home")
    home.run(["clean", "annotate", "compile"])
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"http://en.example/{n}\thttp://de.example/{n}\n" for n in range(3)))
    assert "3 pairs" in weather.output("--home", home.path, "pairs", "add", str(pairs))
    here = tidings.Corpus(home.path).en.parallel("storm", to="de", with_="Sturm")
    assert here.to_dict()["hits"] == 6
    assert all("Sturm" in str(row["translation"]) for row in here)
    with weather.Served(home) as server:
        remote = tidings.Corpus(server.url, token=weather.admin_token(home)).en
        there = remote.parallel("storm", to="de", with_="Sturm")
    assert [dict(row) for row in here] == [dict(row) for row in there]


def test_questions_are_asked_by_the_names_of_methods_and_of_commands(corpus):
    named = corpus.concordance("storm", size=3).to_dict()
    assert named == corpus.ask("query", q="storm", size=3).to_dict()
    assert named == corpus.ask("concordance", q="storm", size=3).to_dict()
    assert corpus.ask("new-words", since="2026-06-01").to_dict() == corpus.new_words(since="2026-06-01").to_dict()
    with pytest.raises(ValueError, match="no question 'frequency'; available: concordance, parallel, count"):
        corpus.ask("frequency")
    with pytest.raises(TypeError, match="count\\(\\) has no parameter 'page'; available: q, filter, in_corpus"):
        corpus.ask("count", q="storm", page=2)
    with pytest.raises(TypeError):
        corpus.count("storm", page=2)


def test_parameters_that_are_keywords_of_python_have_an_underscore(corpus, remote):
    for source in (corpus, remote):
        assert source.count("storm").hits == source.concordance("storm", with_="sea", window=9).hits > 0
        assert source.concordance("storm", with_="heatdome", window=1).hits == 0


def test_the_checksum_of_a_corpus_is_the_same_over_files_over_http_and_on_the_command_line(corpus, remote):
    here, there = corpus.about, remote.about
    assert here == there
    assert here["digest"] == weather.output("--home", corpus.source, "digest", "--lang", "en").split()[0]
    assert here["documents"] == 216 and (here["first_day"], here["last_day"]) == ("2026-01-02", "2026-06-24")
    answer = corpus.en.timeline("storm")
    assert answer.about["digest"] == remote["en"].timeline("storm").about["digest"] == here["digest"]


def test_the_checksum_of_a_corpus_that_has_changed_is_not_given_to_an_earlier_answer(tmp_path):
    home = weather.new_home(tmp_path)
    early = home.corpus.count("storm")
    home.remove("a.example", reason="a test")
    late = home.corpus.count("storm")
    assert early.about["digest"] is None
    assert late.about["digest"] == home.corpus.about["digest"] is not None


def test_a_frozen_state_has_the_same_answers_over_files_and_over_http_while_the_corpus_changes(tmp_path):
    home = weather.new_home(tmp_path)
    weather.output("--home", home.path, "corpus", "freeze", "spring")
    digest = tidings.Corpus(home.path).about["digest"]
    home.import_(weather.more_texts(tmp_path / "more.jsonl"), gate=False)
    home.run(["clean", "annotate", "compile"])
    assert tidings.Corpus(home.path).count("storm").hits == weather.STORMS + 1
    with weather.Served(home) as server:
        token = weather.admin_token(home)
        files = tidings.Corpus(home.path, as_of="spring")
        states = [files, tidings.Corpus(server.url, token=token, as_of="spring")]
        answers = [[dict(row) for row in corpus.freq("storm", by="site")] for corpus in states]
        assert answers[0] == answers[1] and sum(row["hits"] for row in answers[0]) == weather.STORMS
        for corpus in states:
            about = corpus.count("storm").about
            assert (about["frozen"]["name"], about["frozen"]["withdrawn"], about["digest"]) == ("spring", [], digest)
            assert about["link"].endswith("as_of=spring")
        frozen_on = datetime.date.fromisoformat(about["frozen"]["frozen"][:10])
        assert tidings.Corpus(home.path, as_of=frozen_on).count("storm").hits == weather.STORMS
        home.remove("a.example", reason="a test")
        for corpus in states:
            answer = corpus.count("storm")
            assert (answer.hits, answer.about["frozen"]["withdrawn"][0]["documents"]) == (weather.STORMS * 2 // 3, 72)
            assert "72 were removed since" in answer.about["rewrites"][0]
        for corpus in [
            lambda: tidings.Corpus(home.path, as_of="autumn"),
            lambda: tidings.Corpus(server.url, token=token, as_of="autumn"),
        ]:
            with pytest.raises(LookupError, match="there are spring"):
                corpus().count("storm")


def test_numbers_are_those_of_the_texts(corpus):
    assert corpus.count("storm").hits == weather.STORMS
    timeline = corpus.timeline("storm", by="month")
    assert [point["hits"] for point in timeline] == [6, 12, 18, 24, 30, 36]
    assert timeline.about["query"] == '[word=="storm"%c]'
    assert timeline.about["exactness"] == {"kind": "exact"} and timeline.is_exact
    frame = timeline.to_pandas()
    assert frame["bin"].tolist() == [datetime.datetime(2026, month, 1) for month in range(1, 7)]
    assert frame["hits"].dtype == "int64" and frame["per_million"].dtype == "float64"
    both = corpus.timeline(["storm", "heatdome"], by="month")
    series = [[point["hits"] for point in both if point["query"] == query] for query in both.queries]
    assert series[0] == [6, 12, 18, 24, 30, 36] and series[1][:5] == [0] * 5 and series[1][5] > 0
    assert both[4]["query_share"] == 1 and 0 < both[5]["query_share"] < 1
    assert corpus.freq("storm", by="site").to_pandas()["hits"].tolist() == [weather.STORMS // 3] * 3
    assert "heatdome" in [row["value"] for row in corpus.new_words(since="2026-06-01")]
    line = corpus.concordance("storm", order="oldest", size=1, context=2)[0]
    assert tidings.answer.text_of(line["left"]) == "The" and tidings.answer.text_of(line["right"]) == "came from"


def test_languages_are_attributes_and_items(corpus):
    assert corpus.languages == ["en"] and corpus.lang == "en"
    assert corpus.en.count("storm").hits == corpus["en"].count("storm").hits == weather.STORMS
    assert "en" in dir(corpus) and not hasattr(corpus, "fr")
    with pytest.raises(LookupError, match="no index for language fr; available: en"):
        corpus["fr"]
    with pytest.raises(LookupError):
        tidings.Corpus(corpus.source, lang="fr")
    assert tidings.Corpus(weather.home(), lang="en").count("storm").hits == weather.STORMS


def test_a_folder_without_a_home_is_an_error(tmp_path):
    with pytest.raises((OSError, tidings.TidingsError)):
        tidings.Corpus(tmp_path)
    with pytest.raises(TypeError, match="token"):
        tidings.Corpus(weather.home().path, token="x")


def both(corpus, remote):
    return [corpus, remote]


def message(source, error, ask):
    with pytest.raises(error) as raised:
        ask(source)
    return str(raised.value)


def test_a_wrong_query_points_at_the_mistake(corpus, remote):
    def wrong(source):
        return source.concordance('[lemma="go"')

    here, there = (message(source, ValueError, wrong) for source in both(corpus, remote))
    assert here == there
    assert here.startswith("invalid query: ") and '[lemma="go"' in here
    assert here.splitlines()[-1].strip().startswith("^"), here


@pytest.mark.parametrize(
    ("error", "ask"),
    [
        (ValueError, lambda source: source.timeline("storm", filter="date>=")),
        (ValueError, lambda source: source.timeline("storm", by="fortnight")),
        (ValueError, lambda source: source.concordance("storm", context=1001)),
        (ValueError, lambda source: source.concordance("storm", fields=["nothing"])),
        (ValueError, lambda source: source.concordance('[colour="red"]')),
        (ValueError, lambda source: source.freq("storm", by="colour")),
        (LookupError, lambda source: source.document("0" * 32)),
    ],
)
def test_wrong_parameters_raise_the_same_over_files_and_over_http(corpus, remote, error, ask):
    here, there = (message(source, error, ask) for source in both(corpus, remote))
    assert here == there


def test_values_of_other_types_are_refused(corpus):
    for method, wrong in (("count", {"q": 7}), ("words", {"limit": []}), ("freq", {"q": "a", "by": b"x"})):
        with pytest.raises(TypeError, match="is not a value of this parameter"):
            corpus.ask(method, **wrong)


def test_a_concordance_is_whole_and_streams(corpus, remote):
    for source in both(corpus, remote):
        answer = source.concordance("storm", order="oldest", context=1)
        assert len(answer) == weather.STORMS
        assert len(answer.to_dict()["lines"]) == weather.STORMS
        assert sum(1 for _ in answer) == weather.STORMS
        dates = [line["fields"]["date"] for line in answer]
        assert dates == sorted(dates)
        assert answer[-1] == list(answer)[-1] and answer[100] == list(answer)[100]
        assert answer[19:22] == list(answer)[19:22]
        assert len(list(itertools.islice(answer, 3))) == 3
        assert len(source.concordance("storm", size=50)) == len(list(source.concordance("storm", size=50))) == 50
        assert answer.to_arrow().num_rows == len(answer.to_pandas()) == weather.STORMS
        with pytest.raises(IndexError):
            answer[weather.STORMS]
        uncounted = source.concordance("storm", count=False)
        assert sum(1 for _ in uncounted) == weather.STORMS
        with pytest.raises(TypeError, match="not counted"):
            len(uncounted)


def test_a_stream_is_read_in_chunks_and_closed_early(corpus):
    files = tidings._tidings.CorpusFiles(corpus.source, "en")
    rows = files.stream("query", [("q", "[]"), ("context", "20")], None)
    assert json.loads(rows.head)["about"]["corpus"] == "en"
    first = next(rows)
    # The rest waits in the queue: a chunk has 64 KiB or a little more.
    assert first.endswith(b"\n") and len(first) < 200_000
    rows.close()
    assert list(rows) == []
    with pytest.raises(ValueError, match="invalid query"):
        files.stream("query", [("q", "[")], None)


def test_iteration_needs_little_memory(corpus):
    script = f"""
        import resource, tidings
        corpus = tidings.Corpus({corpus.source!r})
        peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for line in corpus.concordance("[]", context=60, size=100):
            pass
        before = peak()
        lines = tokens = 0
        for line in corpus.concordance("[]", context=60):
            lines += 1
            tokens += len(line["left"]) + len(line["right"])
        print(lines, tokens, peak() - before)
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    lines, tokens, more_kib = map(int, ran.stdout.split())
    # The lines have 60 MB of JSON, and several times as much as dictionaries.
    assert lines == corpus.count("[]").hits and tokens > 500_000
    assert more_kib < 30_000


def test_a_sample_says_so(corpus):
    answer = corpus.concordance("storm", sample=5, seed=9)
    assert len(answer) == 5 and not answer.is_exact
    assert answer.about["exactness"]["of_hits"] == weather.STORMS
    assert "a sample of 5 of" in repr(answer) and "a sample of 5 of" in answer._repr_html_()
    again = [line["document"] for line in corpus.concordance("storm", sample=5, seed=9)]
    assert [line["document"] for line in answer] == again


def test_a_sample_that_is_longer_than_a_page_is_whole(corpus, remote):
    samples = [source.concordance("[]", sample=11_000, context=0) for source in both(corpus, remote)]
    assert [len(sample) for sample in samples] == [11_000, 11_000]
    assert samples[0].to_dict() == samples[1].to_dict()
    assert samples[0].about["exactness"]["hits"] == 11_000


def test_an_answer_that_was_cut_off_warns(corpus):
    hurried = tidings.Corpus(corpus.source, time_limit=1e-9)
    with pytest.warns(tidings.CutOffWarning, match="cut off after 0.000000001 s: 0 of .* tokens seen"):
        answer = hurried.timeline('[] [lc="the"]', by="month")
    assert not answer.is_exact and answer.about["exactness"]["kind"] == "cut-off"
    assert all(point["hits"] is None for point in answer)
    assert answer.to_pandas()["hits"].isna().all()


def test_html_is_escaped():
    parameters = {"by": "site"}
    about = {"corpus": "en", "generation": 1, "query": "<script>", "exactness": {"kind": "exact"}}
    body = {"about": about, "rows": [{"value": "<b>&", "hits": 3}], "notes": ["<i>"]}
    answer = tidings.Answer("freq", parameters, body, None, None)
    shown = answer._repr_html_()
    assert "<script>" not in shown and "&lt;b&gt;&amp;" in shown and "&lt;i&gt;" in shown


def test_concordance_lines_are_aligned(corpus):
    lines = repr(corpus.concordance("the", size=5)).splitlines()[1:]
    places = {line.lower().index("  the  ") for line in lines}
    assert len(lines) == 5 and len(places) == 1, "\n".join(lines)


FIGURES = ("timeline", "freq", "group", "dispersion", "thesaurus", "keywords", "trends", "colloc", "words", "new_words", "quotes")


@pytest.mark.parametrize("method", FIGURES)
def test_answers_have_figures(corpus, method, tmp_path):
    matplotlib = weather.needed("matplotlib")
    matplotlib.use("Agg")
    figure = corpus.ask(method, **REQUESTS[method]).plot()
    path = tmp_path / f"{method}.png"
    figure.savefig(path)
    assert path.stat().st_size > 5_000 and figure.axes
    matplotlib.pyplot.close(figure)


def test_a_concordance_has_no_figure_and_a_missing_package_is_named(corpus, monkeypatch):
    weather.needed("matplotlib")
    with pytest.raises(TypeError, match="no figure of concordance"):
        corpus.concordance("storm").plot()
    for package, ask in (
        ("matplotlib.figure", lambda: corpus.timeline("storm").plot()),
        ("pandas", lambda: corpus.timeline("storm").to_pandas()),
        ("pyarrow", lambda: corpus.timeline("storm").to_arrow()),
        ("polars", lambda: corpus.timeline("storm").to_polars()),
    ):
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, package, None)
            with pytest.raises(ImportError, match="pip install " + package.split(".")[0]):
                ask()


def test_pandas_tables_need_no_pyarrow(corpus):
    script = f"""
        import sys
        sys.modules["pyarrow"] = None
        import tidings
        corpus = tidings.Corpus({corpus.source!r})
        print(corpus.concordance("storm").to_pandas().shape, corpus.timeline("storm", by="month").to_pandas()["bin"].iloc[0].year)
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [f"({weather.STORMS},", "8)", "2026"], ran.stdout


def test_a_server_without_rights_is_a_permission_error(remote):
    with pytest.raises(PermissionError, match="token"):
        tidings.Corpus(remote.source, token="tidings_unknown").languages
    with pytest.raises(ValueError):
        tidings.Corpus(remote.source, token="a\nb")
    with pytest.raises(ValueError):
        tidings.Corpus("http://")


class Recorded(http.server.BaseHTTPRequestHandler):
    """Redirects to another server if it knows one, and records the tokens that it is sent."""

    tokens: list = []
    elsewhere = None

    def do_GET(self):
        type(self).tokens.append(self.headers.get("Authorization"))
        if self.elsewhere and self.server.server_port != self.elsewhere:
            self.send_response(302)
            self.send_header("Location", f"http://127.0.0.1:{self.elsewhere}{self.path}")
            body = b""
        else:
            self.send_response(200)
            body = b'{"corpora": [{"corpus": "en"}]}'
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_a_token_is_not_sent_to_the_server_of_a_redirect():
    servers = [http.server.HTTPServer(("127.0.0.1", 0), Recorded) for _ in range(2)]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    Recorded.tokens, Recorded.elsewhere = [], servers[1].server_port
    try:
        corpus = tidings.Corpus(f"http://127.0.0.1:{servers[0].server_port}", token="tidings_secret")
        assert corpus.languages == ["en"]
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
    assert Recorded.tokens == ["Bearer tidings_secret", None]


class Broken(http.server.BaseHTTPRequestHandler):
    """Sends one row of a stream, and goes away."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Tidings-About", '{"hits": 2}')
        self.end_headers()
        self.wfile.write(b'd\r\n{"value": "a"\r\n2\r\n}\n\r\n')
        self.close_connection = True

    def log_message(self, *_):
        pass


def test_a_stream_that_breaks_off_is_an_error():
    from tidings.remote import Server

    server = http.server.HTTPServer(("127.0.0.1", 0), Broken)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        head, chunks = Server(f"http://127.0.0.1:{server.server_port}").stream("en", "concordance", {"q": "a"})
        assert head == {"hits": 2} and json.loads(next(chunks)) == {"value": "a"}
        with pytest.raises(tidings.TidingsError, match="ended before its last row"):
            next(chunks)
    finally:
        server.shutdown()
        server.server_close()


class Interrupted(http.server.BaseHTTPRequestHandler):
    """Sends two rows of a stream from its cursor on, and ends it early unless they are the last ones."""

    protocol_version = "HTTP/1.1"
    rows = 5
    asked: list = []

    def do_GET(self):
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        Interrupted.asked.append((query.get("cursor"), query.get("size")))
        first = int(query.get("cursor", "7-0").partition("-")[2])
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Tidings-About", '{"about": {"generation": 7}, "hits": 5}')
        self.end_headers()
        for row in range(first, min(first + 2, Interrupted.rows)):
            self.wfile.write(b'8\r\n{"n": %d}\r\n1\r\n\n\r\n' % row)
        if first + 2 >= Interrupted.rows:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def log_message(self, *_):
        pass


def test_a_stream_that_a_time_limit_ends_is_continued_behind_its_last_row():
    from tidings.remote import Server

    server = http.server.HTTPServer(("127.0.0.1", 0), Interrupted)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ask = Server(f"http://127.0.0.1:{server.server_port}").stream
    try:
        Interrupted.asked.clear()
        _, chunks = ask("en", "concordance", {"q": "a", "size": "100000"})
        assert [row["n"] for row in rows_of(chunks)] == list(range(5))
        assert Interrupted.asked == [(None, "100000"), ("7-2", "99998"), ("7-4", "99996")]
        # The rows of a sample have no numbers.
        _, chunks = ask("en", "concordance", {"q": "a", "sample": "5"})
        with pytest.raises(tidings.TidingsError, match="ended before its last row"):
            list(chunks)
    finally:
        server.shutdown()
        server.server_close()


def test_a_stream_begins_at_its_cursor(corpus, remote):
    lines = list(corpus.concordance("storm"))
    generation = corpus.about["generation"]
    for asked in (corpus, remote.en):
        _, chunks = asked._source.stream("en", "concordance", {"q": "storm", "cursor": f"{generation}-100"})
        assert list(rows_of(chunks)) == lines[100:]


class Busy(http.server.BaseHTTPRequestHandler):
    """Answers 503 some times, then with an answer; counts requests."""

    refusals = 0
    requests = 0

    def do_GET(self):
        Busy.requests += 1
        if Busy.requests <= Busy.refusals:
            self.send_response(503)
            self.send_header("Retry-After", "0")
            body = b'{"error": "the server is busy"}'
        else:
            self.send_response(200)
            body = b'{"corpora": [{"corpus": "en"}]}'
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_a_busy_server_is_asked_again_a_few_times():
    server = http.server.HTTPServer(("127.0.0.1", 0), Busy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    try:
        Busy.refusals, Busy.requests = 2, 0
        assert tidings.Corpus(url).languages == ["en"] and Busy.requests == 3
        Busy.refusals, Busy.requests = 100, 0
        with pytest.raises(tidings.TidingsError, match="the server is busy"):
            tidings.Corpus(url).languages
        assert Busy.requests == 4
    finally:
        server.shutdown()
        server.server_close()
    with pytest.raises(tidings.TidingsError, match="cannot reach"):
        tidings.Corpus(url).languages
