"""Homes: pipelines from Python."""

import datetime
import http.server
import json
import logging
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading

import pytest
import tidings
import weather


def test_a_home_is_created_with_contact_and_feeds(tmp_path):
    home = tidings.Home.create(tmp_path / "news", contact='mailto:"me"@example.org', feeds=["https://a.example/feed"])
    settings = (tmp_path / "news/tidings.toml").read_text()
    assert '\ncontact = "mailto:\\"me\\"@example.org"\n' in settings
    assert home.add_feeds(["https://a.example/feed", "https://b.example/feed"], topic="politics") == [
        "https://b.example/feed"
    ]
    assert "https://b.example/feed\ttopic=politics\n" in (tmp_path / "news/feeds.txt").read_text()
    with pytest.raises(tidings.TidingsError, match="`ftp` is not an http or https URL"):
        home.add_feeds("ftp")
    tidings.Home.create(tmp_path / "news", contact="another")
    assert (tmp_path / "news/tidings.toml").read_text() == settings


def test_a_folder_without_a_home_is_an_error(tmp_path):
    for opened in (tidings.Home, tidings.Corpus):
        with pytest.raises(tidings.TidingsError, match=r"is not a Tidings home .*; create one with tidings.Home.create"):
            opened(tmp_path)


def test_texts_are_imported_once_and_become_a_corpus(tmp_path):
    folder = tmp_path
    home = weather.new_home(folder)
    assert home.corpus.count("storm").hits == weather.STORMS
    again = home.import_(folder / "weather.jsonl", gate=False)
    assert again["pages"] == 0 and again["files_known"] == 1
    extra = folder / "more.jsonl"
    extra.write_text(json.dumps({"text": f"A storm in the night. {weather.QUIET}", "url": "http://d.example/1"}) + "\n")
    counted = home.import_([extra], "jsonl", gate=False, date=datetime.date(2026, 7, 1), dry_run=True)
    assert counted["pages"] == 1
    corpus = home.corpus.en
    assert corpus.count("storm").hits == weather.STORMS
    home.import_([extra], "jsonl", gate=False, date=datetime.date(2026, 7, 1), lang="en")
    home.run(["clean", "annotate", "compile"])
    # An open corpus answers from the newest state.
    assert corpus.count("storm").hits == weather.STORMS + 1
    with pytest.raises(tidings.TidingsError, match="unknown format; give one of warc"):
        home.import_(extra, "docx")


def test_log_lines_reach_logging(tmp_path, caplog):
    # Without a contact no request is sent: the stage fails, and the round logs it.
    home = tidings.Home.create(tmp_path / "home", feeds=["https://a.example/feed"])
    with caplog.at_level(logging.INFO, "tidings"), pytest.raises(tidings.RunError, match="contact"):
        home.run(["update"])
    (line,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert line.name == "tidings.pipeline.round" and "update: " in line.getMessage()
    # The level of the logger decides what is passed on.
    caplog.clear()
    with caplog.at_level(logging.CRITICAL, "tidings"), pytest.raises(tidings.RunError):
        home.run(["update"])
    assert not caplog.records


def test_the_command_line_prints_its_messages_itself(tmp_path):
    command = [sys.executable, "-m", "tidings", "status", "--home", str(tmp_path / "none")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode != 0 and ended.stderr.startswith("error: ") and "ERROR" not in ended.stderr


def test_progress_is_called_on_this_thread_and_ends_with_outcomes(tmp_path):
    home = tidings.Home.create(tmp_path / "home")
    events = []
    home.import_(weather.texts(tmp_path / "a.jsonl"), gate=False, progress=events.append)
    assert events[0].event == "progress" and events[0].unit == "pages" and events[0].total == 0
    events.clear()
    outcome = home.run(["annotate", "clean"], progress=events.append)
    # Stages run in the order of the pipeline.
    assert list(outcome) == ["clean", "annotate"] and outcome["clean"]["documents"] == 216
    assert events[0].event == "stage-began" and events[0].stage == "clean"
    assert events[-1].event == "stage-ended" and events[-1].outcome == outcome["annotate"]
    shown = [event for event in events if event.event == "progress"]
    assert shown and all(event.stage in outcome and event.done <= event.total for event in shown)


def test_an_exception_of_the_callback_ends_the_run_and_is_raised(tmp_path):
    home = tidings.Home.create(tmp_path / "home")
    home.import_(weather.texts(tmp_path / "a.jsonl"), gate=False)

    def stop(event):
        if event.event == "progress":
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        home.run(["clean", "annotate"], progress=stop)
    # The lock is free, and the next run does the rest.
    assert home.run(["clean"])["clean"]["done"]


def test_a_round_runs_all_stages_without_feeds(tmp_path):
    home = tidings.Home.create(tmp_path / "home", contact="mailto:tests@weather.example")
    outcome = home.run()
    assert set(outcome) >= {"update", "fetch", "clean", "dedup", "annotate", "compile"}
    with pytest.raises(tidings.TidingsError, match="unknown stage `polish`; known stages: update, fetch"):
        home.run("polish")


def test_ctrl_c_ends_a_run_and_raises_keyboard_interrupt(tmp_path):
    home = tidings.Home.create(tmp_path / "home")
    home.import_(weather.texts(tmp_path / "a.jsonl"), gate=False)
    script = f"""
        import sys, tidings
        def say(event):
            print(event.event, event.stage, flush=True)
            sys.stdin.readline() if event.event == "stage-began" else None
        try:
            tidings.Home({home.path!r}).run(["clean", "annotate", "compile"], progress=say)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    words = [sys.executable, "-c", textwrap.dedent(script)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().split() == ["stage-began", "clean"]
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=120)
    assert rest.splitlines()[-1] == "interrupted", rest
    assert "stage-began compile" not in rest
    # The lock is free, and the next run does the rest.
    assert home.run(["clean", "annotate", "compile"])["compile"]["done"]


def test_documents_are_exported_with_a_manifest(tmp_path):
    home = weather.home()
    target = tmp_path / "june.jsonl"
    manifest = home.export(target, "jsonl", filter="site=a.example", from_="2026-06")
    lines = target.read_text().splitlines()
    assert manifest["documents"]["written"] == len(lines) == 12
    written = json.loads(pathlib.Path(f"{target}.manifest.json").read_text())
    assert written["documents"] == manifest["documents"]
    with pytest.raises((OSError, tidings.TidingsError)):
        home.export(target, "jsonl")
    assert home.export(target, "jsonl", cql='"heatdome"', force=True)["documents"]["written"] == 36
    with pytest.raises(TypeError, match="export\\(\\) has no option 'colour'"):
        home.export(target, "jsonl", colour="red")
    with pytest.raises(tidings.TidingsError, match="format: unknown format; give one of"):
        home.export(target, "docx")


def test_status_and_why_are_those_of_the_command_line():
    home = weather.home()
    status = home.status()
    assert status["state"] in ("ok", "warning", "critical") and status["done"]
    words = ["--home", home.path, "--json", "why", "http://a.example/2026-06-02"]
    assert home.why("http://a.example/2026-06-02") == json.loads(weather.output(*words))
    assert home.why("http://nowhere.example/")["done"] is False


def test_pages_are_removed_everywhere(tmp_path):
    home = weather.new_home(tmp_path)
    corpus = home.corpus
    preview = home.remove("a.example", dry_run=True)
    assert preview["pages"] == 72 and corpus.count("storm").hits == weather.STORMS
    removed = home.remove("a.example", reason="a test", later=True)
    assert removed["pages"] == 72 and removed["done"]
    assert corpus.count("storm").hits == weather.STORMS * 2 // 3
    assert home.import_(tmp_path / "weather.jsonl", gate=False, again=True)["pages"] == 144


class Site(http.server.BaseHTTPRequestHandler):
    """A site with a page and a feed."""

    ITEM = "<item><title>One</title><link>/1</link></item>"
    PAGES = {
        "/": ("text/html", "<html><head><link rel=alternate type='application/rss+xml' href='/rss'></head></html>"),
        "/rss": ("application/rss+xml", f"<rss version='2.0'><channel><title>A</title>{ITEM}</channel></rss>"),
    }

    def do_GET(self):
        kind, text = self.PAGES.get(self.path, ("text/plain", ""))
        self.send_response(200 if self.path in self.PAGES else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


def test_discovery_asks_a_site_and_adds_its_feeds(tmp_path):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = tidings.Home.create(tmp_path / "home", contact="mailto:tests@weather.example")
    settings = tmp_path / "home/tidings.toml"
    settings.write_text(settings.read_text().replace("[fetch]", "[fetch]\ndelay_s = 0.0\nfeed_delay_s = 0.0", 1))
    url = f"http://127.0.0.1:{server.server_port}/"
    try:
        found = home.discover(url, add=True, allow_private=["127.0.0.0/8"])
    finally:
        server.shutdown()
        server.server_close()
    assert [feed["feed"] for feed in found["feeds"]] == [f"{url}rss"]
    assert f"{url}rss" in (tmp_path / "home/feeds.txt").read_text()
