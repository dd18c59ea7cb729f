#!/usr/bin/env python3
"""Latency of first pages through a gateway over three shards, beside one server with the same documents.

    bench-query generate --tokens 10 DIR
    python3 bench/query/gateway.py --tidings target/quick/tidings --bench target/quick/bench-query DIR

Divides the generated corpus by site, indexes all of it and each part, starts the servers, and asks both for the same pages in
turn over connections that stay open. Prints a line of JSON for each question: the medians and the 95th percentiles in
milliseconds, and their ratio. Answers are compared, too.
"""

import argparse
import http.client
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import time
import urllib.parse
import zlib

SHARDS = 3
QUESTIONS = {
    "first page of a frequent word": "query?q=the",
    "first page of a phrase": 'query?q=[tag="DET"] [tag="NOUN"]&count=false',
    "first page, counted": 'query?q=[tag="DET"] [tag="NOUN"]',
    "first page of documents": "documents",
    "timeline of a word": "timeline?q=the&by=month",
    "count of a word": "count?q=the",
    "frequencies by site": "freq?q=the&by=site",
    "word list": "words?limit=100",
    "collocates": "colloc?q=government",
    "trends by quarter": "trends?by=quarter&attribute=lemma",
}


def divide(folder):
    """Writes the documents of each site to one of the parts."""
    parts = [folder / f"part{number}" for number in range(SHARDS)]
    for part in parts:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
    for year in sorted(folder.glob("[0-9]*.vert")):
        outs = [(part / year.name).open("wb") for part in parts]
        out = outs[0]
        with year.open("rb") as lines:
            for line in lines:
                if line.startswith(b"<doc"):
                    site = re.search(rb' site="([^"]*)"', line)
                    out = outs[zlib.crc32(site.group(1) if site else b"") % SHARDS]
                out.write(line)
        for out in outs:
            out.close()
    return parts


def home(arguments, vertical, name, settings):
    """A home with the index of a folder of vertical files."""
    subprocess.run([arguments.bench, "index", vertical], check=True, stdout=subprocess.DEVNULL)
    path = arguments.folder / f"home-{name}"
    shutil.rmtree(path, ignore_errors=True)
    subprocess.run([arguments.tidings, "init", path], check=True, stdout=subprocess.DEVNULL)
    (path / "index").mkdir(exist_ok=True)
    shutil.move(vertical / "index", path / "index" / "en")
    with (path / "tidings.toml").open("a") as toml:
        toml.write(settings)
    return path


def serve(arguments, path, port, *more):
    """Starts a server and waits until it answers."""
    command = [arguments.tidings, "serve", "--home", path, "--port", str(port), *more]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            return server, connection
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"the server of {path} does not answer")


def ask(connection, question):
    path, _, query = question.partition("?")
    pairs = [pair.split("=", 1) for pair in query.split("&") if pair]
    target = f"/api/v1/en/{path}?{urllib.parse.urlencode(pairs)}"
    began = time.perf_counter()
    # A server caches what took long; another limit each time would not be the same question.
    connection.request("GET", target, headers={"If-None-Match": "none"})
    response = connection.getresponse()
    body = response.read()
    took = (time.perf_counter() - began) * 1e3
    if response.status != 200:
        raise SystemExit(f"{target}: {response.status} {body[:300]!r}")
    return took, json.loads(body)


def body_of(answer):
    return {name: value for name, value in answer.items() if name not in ("about", "next", "link")}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tidings", required=True)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--port", type=int, default=7950)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    secret = arguments.folder / "shards.token"
    secret.write_text("0123456789abcdef" * 2)
    settings = f'\n[serve]\nshard_token_file = "{secret.resolve()}"\n'
    homes = [home(arguments, part, number, settings) for number, part in enumerate(divide(arguments.folder))]
    whole = home(arguments, arguments.folder, "whole", "")
    gateway = arguments.folder / "home-gateway"
    shutil.rmtree(gateway, ignore_errors=True)
    subprocess.run([arguments.tidings, "init", gateway], check=True, stdout=subprocess.DEVNULL)
    with (gateway / "tidings.toml").open("a") as toml:
        toml.write(settings)
    servers = []
    try:
        for number, path in enumerate(homes):
            servers.append(serve(arguments, path, arguments.port + number)[0])
        addresses = ",".join(f"http://127.0.0.1:{arguments.port + number}" for number in range(SHARDS))
        server, one = serve(arguments, whole, arguments.port + 10)
        servers.append(server)
        server, all_ = serve(arguments, gateway, arguments.port + 11, "--shards", addresses)
        servers.append(server)
        for name, question in QUESTIONS.items():
            times = ([], [])
            is_same = True
            runs = arguments.runs if "page" in name or "count" in name or "timeline" in name else 7
            for _ in range(runs):
                answers = []
                for taken, connection in zip(times, (one, all_)):
                    took, answer = ask(connection, question)
                    taken.append(took)
                    answers.append(body_of(answer))
                is_same = is_same and answers[0] == answers[1]
            medians = [statistics.median(taken) for taken in times]
            late = [sorted(taken)[int(len(taken) * 0.95)] for taken in times]
            print(json.dumps({
                "question": name, "runs": runs, "same": is_same,
                "one_ms": round(medians[0], 2), "gateway_ms": round(medians[1], 2),
                "ratio": round(medians[1] / medians[0], 2),
                "one_p95_ms": round(late[0], 2), "gateway_p95_ms": round(late[1], 2),
            }), flush=True)
    finally:
        for server in servers:
            server.terminate()


if __name__ == "__main__":
    main()
