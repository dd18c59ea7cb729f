#!/usr/bin/env python3
"""Jobs of measure.py on an engine: jobs.py ENGINE JOB ARGUMENTS. Prints JSON."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "crates/python/tests"))

import spark_engines as engines  # noqa: E402
from tidings import spark as ts  # noqa: E402


def assemble(session, home: str, work: str) -> dict:
    shutil.rmtree(work, ignore_errors=True)
    return ts.assemble(ts.clean_files(ts.pages(session, home), ts.settings(home)), home, work=work)


def dedup(session, path: str, work: str, seed: str) -> dict:
    import pyarrow as pa
    import pyarrow.parquet as pq

    shutil.rmtree(work, ignore_errors=True)
    folder = Path(work) / "documents"
    folder.mkdir(parents=True)
    rows = [{"number": at, "line": line} for at, line in enumerate(Path(path).read_text().splitlines())]
    random.Random(int(seed)).shuffle(rows)
    for part in range(4):
        pq.write_table(pa.Table.from_pylist(rows[part::4]), folder / f"{part}.parquet")
    documents = session.read.parquet(str(folder))
    judged = ts.dedup(documents, work=f"{work}/work", order=["number"], buckets=4).collect()
    out = Path(work) / "judged.jsonl"
    out.write_text("".join(row["line"] + "\n" for row in sorted(judged, key=lambda row: row["number"])))
    return {"out": str(out)}


def lines(session, folder: str, out: str, work: str) -> dict:
    return ts.write_lines(ts.lines_by_language(ts.pages(session, folder)), out, work=work)


def main() -> None:
    engine, job, *words = sys.argv[1:]
    kills = {"assemble-killed": engines.in_the_middle(8), "dedup-killed": engines.after_stages(8)}
    work = {"assemble": assemble, "dedup": dedup, "lines": lines}[job.removesuffix("-killed")]
    # Messages of the engine are not the answer.
    answer = os.dup(1)
    os.dup2(2, 1)
    with contextlib.ExitStack() as stack:
        if engine == "sail":
            session, cluster = stack.enter_context(engines.sail()), None
        else:
            session, cluster = stack.enter_context(engines.spark())
        killer = None
        if job in kills:
            killer = stack.enter_context(engines.Killer(session, cluster, kills[job]))
        made = work(session, *words)
        if killer is not None:
            made["killed"] = killer.killed is not None
    os.write(answer, json.dumps(made).encode() + b"\n")


if __name__ == "__main__":
    main()
