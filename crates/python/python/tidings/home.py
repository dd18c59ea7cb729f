"""Homes: the folder of a corpus, and the pipeline that fills it."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from . import _tidings
from .corpus import Corpus


class Progress(NamedTuple):
    """An event of a run, as a progress callback receives it."""

    #: ``stage-began``, ``progress``, ``progress-ended`` or ``stage-ended``.
    event: str
    #: The stage, such as ``clean``; None outside of stages.
    stage: str | None
    #: Units done, of how many; 0 if that is not known.
    done: int
    total: int
    #: The unit, such as ``days``.
    unit: str
    #: More for people: a name, a rate.
    detail: str
    #: The outcome of a stage that has ended.
    outcome: dict[str, Any] | None


class RunError(_tidings.TidingsError):
    """Stages of a round failed. ``outcome`` has the outcomes of all stages."""

    def __init__(self, message: str, outcome: dict[str, Any]) -> None:
        super().__init__(message)
        self.outcome = outcome


class Home:
    """A home: the folder with the feeds, pages, documents and indexes of a corpus.

    Each method does what the command of the same name does and returns what it prints with
    ``--json``. Ctrl-C ends a run as it ends the command: the current work is finished or dropped
    in an orderly way, and then KeyboardInterrupt is raised.

    Args:
        path: The folder of the home. ``Home.create`` makes a new one.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: str = os.fspath(path)
        _tidings.indexed_languages(self.path)  # A folder without a home is an error at once.

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        contact: str | None = None,
        feeds: Iterable[str] = (),
        *,
        plan: str | os.PathLike[str] | None = None,
    ) -> Home:
        """Creates a home in a folder. The files of a home that exists stay unchanged.

        Args:
            path: The folder; it is created if it does not exist.
            contact: Your web page or email address, for publishers. It is part of the user agent
                and needed before anything is fetched.
            feeds: URLs of feeds.
            plan: An initial plan, for example FeedFetcher's plan.txt.
        """
        _tidings.home_create(os.fspath(path), contact, None if plan is None else os.fspath(plan))
        home = cls(path)
        feeds = list(feeds) if not isinstance(feeds, str) else [feeds]
        if feeds:
            home.add_feeds(feeds)
        return home

    def __repr__(self) -> str:
        return f"Home({self.path!r})"

    @property
    def corpus(self) -> Corpus:
        """Its corpora: ``home.corpus.en``, or ``home.corpus`` if there is one language."""
        return Corpus(self.path)

    def add_feeds(self, urls: str | Iterable[str], **labels: str) -> list[str]:
        """Adds feeds to the list of the home. Returns those that were not in it before.

        Args:
            urls: URLs of feeds. ``discover`` finds the feeds of sites.
            labels: Metadata of these feeds, which their documents get, such as
                ``topic="politics"``, ``genre="news"``, ``country="gb"``, ``lang="en"``.
        """
        urls = [urls] if isinstance(urls, str) else list(urls)
        return _tidings.home_add_feeds(self.path, urls, list(labels.items()))

    def discover(
        self,
        sites: str | Iterable[str],
        *,
        add: bool = False,
        again: bool = False,
        languages: Sequence[str] = (),
        max_requests: int | None = None,
        allow_private: Sequence[str] = (),
        progress: Callable[[Progress], object] | None = None,
    ) -> dict[str, Any]:
        """Finds the feeds of sites, with requests to them.

        Args:
            sites: URLs of sites or pages.
            add: Add the found feeds to the list of the home.
            again: Repeat searches that found no feed.
            languages: Languages to accept; the setting ``discover.languages`` by default.
            max_requests: Maximum requests per site; ``discover.max_requests`` by default.
            allow_private: Networks that are not public and may be asked, such as ``127.0.0.0/8``.
            progress: Called with each event.
        """
        options = {
            "sites": [sites] if isinstance(sites, str) else list(sites),
            "add": add,
            "again": again,
            "languages": list(languages),
            "max_requests": max_requests,
            "allow_private": list(allow_private),
        }
        return self._call("discover", options, progress)

    def run(
        self,
        stages: str | Sequence[str] | None = None,
        progress: Callable[[Progress], object] | None = None,
        *,
        time_limit: float | None = None,
    ) -> dict[str, Any]:
        """Runs the stages, from the feeds to the index, and returns the outcome of each.

        Args:
            stages: Stages to run, of ``update``, ``crawl``, ``fetch``, ``clean``, ``dedup``,
                ``annotate`` and ``compile``; those that are on by default, as ``tidings run``. A
                round goes on after a failed stage, and raises ``RunError`` at its end.
            progress: Called with a ``Progress`` for each event, on this thread: with a bar of
                tqdm, ``lambda event: bar.update(event.done - bar.n)``. An exception ends the run
                and is raised.
            time_limit: Seconds after which no further work is begun.
        """
        stages = [stages] if isinstance(stages, str) else stages
        options = {"stages": None if stages is None else list(stages), "time_limit": time_limit}
        outcome = self._call("run", options, progress)
        outcome = {stage: outcome[stage] for stage in _tidings.STAGES if stage in outcome}
        failed = [f"{stage}: {ended['error']}" for stage, ended in outcome.items() if "error" in ended]
        if failed:
            raise RunError("; ".join(failed), outcome)
        return outcome

    def import_(
        self,
        paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        format: str | None = None,
        *,
        date: str | datetime.date | None = None,
        lang: str | None = None,
        sites: Sequence[str] = (),
        gate: bool = True,
        min_chars: int = 100,
        columns: Sequence[str] | None = None,
        again: bool = False,
        dry_run: bool = False,
        progress: Callable[[Progress], object] | None = None,
    ) -> dict[str, Any]:
        """Imports pages, texts, annotated texts, feed lists and plans of other programs.

        Args:
            paths: Files and folders.
            format: ``warc``, ``wacz``, ``pages``, ``html``, ``jsonl``, ``vertical``, ``conllu``,
                ``tei``, ``opml`` or ``plan``; detected by default.
            date: The day of download of pages and texts without one; by default the modification
                time of the file.
            lang: The language of texts without one. A hint: the text decides.
            sites: Only pages of these hosts and their subdomains.
            gate: Whether texts must pass the quality gate.
            min_chars: Minimum length of a line of a WET file.
            columns: Columns of a vertical file: ``word``, ``lemma``, ``tag``, ``feats``, ``_``.
            again: Import files again that were imported before.
            dry_run: Only count.
            progress: Called with each event.
        """
        files = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
        options = {
            "paths": [os.fspath(path) for path in files],
            "format": format,
            "dry_run": dry_run,
            "again": again,
            "date": date.isoformat() if isinstance(date, datetime.date) else date,
            "lang": lang,
            "sites": list(sites),
            "gate": gate,
            "min_chars": min_chars,
            "columns": None if columns is None else list(columns),
        }
        return self._call("import", options, progress)

    def export(
        self,
        path: str | os.PathLike[str],
        format: str,
        *,
        filter: str | None = None,
        in_corpus: str | None = None,
        cql: str | None = None,
        from_: str | datetime.date | None = None,
        to: str | datetime.date | None = None,
        languages: str | Sequence[str] = (),
        sites: str | Sequence[str] = (),
        purpose: str = "research",
        force: bool = False,
        progress: Callable[[Progress], object] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Exports documents. Returns the manifest, which is also written beside the target.

        Args:
            path: The file or folder to write.
            format: Such as ``jsonl``, ``parquet``, ``conllu``, ``vertical`` or ``warc``.
            filter: Only documents with these properties, such as ``site=gazette.example``.
            in_corpus: Only documents of this virtual corpus.
            cql: Only documents with a hit of this query.
            from_: The first day, month or year.
            to: The last day, month or year.
            languages: Languages; all by default.
            sites: Sites; all by default.
            purpose: ``research``, ``public`` or ``train``; documents whose rights forbid it are
                left out, and the manifest counts them.
            force: Overwrite an existing target.
            progress: Called with each event.
            options: Options of single formats: ``n``, ``threshold``, ``seed``, ``pool``, ``bom``,
                ``level`` and ``no_duplicates``.
        """
        known = ("n", "threshold", "seed", "pool", "bom", "level", "no_duplicates")
        for name in options:
            if name not in known:
                raise TypeError(f"export() has no option {name!r}; available: {', '.join(known)}")
        call = {
            "target": os.fspath(path),
            "format": format,
            "filter": filter,
            "in_corpus": in_corpus,
            "cql": cql,
            "from": from_.isoformat() if isinstance(from_, datetime.date) else from_,
            "to": to.isoformat() if isinstance(to, datetime.date) else to,
            "languages": [languages] if isinstance(languages, str) else list(languages),
            "sites": [sites] if isinstance(sites, str) else list(sites),
            "purpose": purpose,
            "force": force,
            **options,
        }
        return self._call("export", call, progress)

    def status(self) -> dict[str, Any]:
        """The state of the home: alerts, stages, feeds, days, space."""
        return self._call("status", {}, None)

    def why(self, thing: str) -> dict[str, Any]:
        """The history of a page or feed by its URL, a document by its ID, or a host."""
        return self._call("why", thing, None)

    def remove(
        self,
        what: str | None = None,
        reason: str | None = None,
        *,
        dry_run: bool = False,
        exports: str | os.PathLike[str] | None = None,
        later: bool = False,
        progress: Callable[[Progress], object] | None = None,
    ) -> dict[str, Any]:
        """Deletes pages everywhere, and blocks them (takedown).

        Args:
            what: A URL, a host with its subdomains, or a pattern in which ``*`` matches any text;
                without it, an interrupted removal is completed.
            reason: The reason, for the record.
            dry_run: Only show what would be removed.
            exports: A folder of exports; those that contain the pages are listed.
            later: Leave the rebuild of the affected days to the next run.
            progress: Called with each event.
        """
        options = {
            "what": what,
            "reason": reason,
            "dry_run": dry_run,
            "exports": None if exports is None else os.fspath(exports),
            "later": later,
        }
        return self._call("remove", options, progress)

    def _call(self, verb: str, options: Any, progress: Callable[[Progress], object] | None) -> dict[str, Any]:
        on_event = None if progress is None else lambda event: progress(_progress(json.loads(event)))
        outcome: dict[str, Any] = json.loads(_tidings.home_call(self.path, verb, json.dumps(options), on_event))
        return outcome


def _progress(event: dict[str, Any]) -> Progress:
    return Progress(
        event=event["event"],
        stage=event.get("stage"),
        done=event.get("done", 0),
        total=event.get("total", 0),
        unit=event.get("unit", ""),
        detail=event.get("detail", ""),
        outcome=event.get("outcome"),
    )
