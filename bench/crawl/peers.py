#!/usr/bin/env python3
"""Tidings and other crawlers on the link graph: the same graph, seeds and requests, judged by the server's log.

Usage: peers.py SIMGRAPH TIDINGS [--sites N] [--seed N] [--budget N] [--json FILE] [--only NAME] [--kill-every SECONDS]

SIMGRAPH is the binary of crates/simweb, TIDINGS that of crates/cli. All names of the graph are under localhost; the
server is the HTTP proxy of the peers, which do not resolve such names. Politeness pauses are off: only the order of
requests is compared. With --kill-every, Tidings is killed with SIGKILL and goes on, and the server counts the requests
that are repeated. Requirements: requirements.txt.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

SCRAPY = """
import sys, scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

class Breadth(scrapy.Spider):
    name = "breadth"
    links = LinkExtractor()

    async def start(self):
        for url in SEEDS:
            yield scrapy.Request(url)

    def parse(self, response):
        if not isinstance(response, scrapy.http.HtmlResponse):
            return
        for link in self.links.extract_links(response):
            if not link.nofollow:
                yield scrapy.Request(link.url)

SEEDS = sys.argv[2:]
process = CrawlerProcess({
    "LOG_LEVEL": "ERROR",
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "DOWNLOAD_DELAY": 0,
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "CLOSESPIDER_PAGECOUNT": int(sys.argv[1]),
})
process.crawl(Breadth)
process.start()
"""

# focused_crawler keeps to one site: sites take turns of fifty pages, and the sites that their pages link to follow.
TRAFILATURA = """
import socket, sys
from collections import deque
from copy import deepcopy
from urllib.parse import urlsplit
from courlan import extract_links
from trafilatura import spider
from trafilatura.settings import DEFAULT_CONFIG

PAGES_A_SITE = 50
config = deepcopy(DEFAULT_CONFIG)
config["DEFAULT"]["SLEEP_TIME"] = "0"
config["DEFAULT"]["SSRF_PROTECTION"] = "off"

# It speaks to SOCKS proxies only; all names of the graph are on this machine.
resolve = socket.getaddrinfo
socket.getaddrinfo = lambda host, port, *rest, **more: resolve("127.0.0.1", port, *rest, **more)

sites = deque(sys.argv[2:])
known = {urlsplit(url).netloc for url in sites}
process_links = spider.process_links

def note_sites(htmlstring, params, url=""):
    for link in extract_links(pagecontent=htmlstring, url=url or params.base, external_bool=True, strict=False):
        host = urlsplit(link).netloc
        if host not in known:
            known.add(host)
            sites.append(f"http://{host}/")
    return process_links(htmlstring, params, url)

spider.process_links = note_sites
todo = {}
while sites:
    front = sites.popleft()
    try:
        waiting, seen = spider.focused_crawler(
            front, max_seen_urls=PAGES_A_SITE, max_known_urls=100_000, config=config, todo=todo.pop(front, None))
    except Exception as error:
        print(front, error, file=sys.stderr)
        continue
    if waiting:
        todo[front] = waiting
        sites.append(front)
"""


# What a crawl of a graph on this machine needs: its addresses, no pauses, and someone to answer for it. Sites that have
# addresses of their own in the graph share one here, which must not be taken for one server.
TIDINGS_SETTINGS = """
[fetch]
contact = "mailto:peers@example.org"
allow_private = ["127.0.0.0/8", "::1/128"]
ip_delay_s = 0.0
shared_networks = ["127.0.0.0/8", "::1/128"]
[crawl]
host_delay_s = 0.0
max_pages_per_site_day = 100000
"""


class Python:
    """A crawler of a Python package, with the server as its proxy."""

    def __init__(self, script):
        self.script = script

    def start(self, proxy, budget, seeds):
        environment = dict(os.environ, http_proxy=proxy, HTTP_PROXY=proxy, no_proxy="", NO_PROXY="")
        return subprocess.Popen([sys.executable, "-c", self.script, str(budget), *seeds], env=environment)


class Tidings:
    """`tidings crawl`, killed again and again if that is asked for."""

    def __init__(self, binary, kill_every):
        self.binary, self.kill_every = binary, kill_every
        self.home = tempfile.TemporaryDirectory()
        self.kills = 0
        subprocess.run([binary, "init", self.home.name, "--contact", "peers@example.org"], check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(self.home.name, "tidings.toml"), "w", encoding="utf-8") as out:
            out.write(TIDINGS_SETTINGS)

    def start(self, _proxy, budget, seeds):
        command = [self.binary, "--home", self.home.name, "crawl", *seeds, "--lang", "de",
                   "--pages", str(budget)]
        self.client = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        if self.kill_every:
            threading.Thread(target=self.disturb, args=(command,), daemon=True).start()
        return self

    def disturb(self, command):
        while True:
            try:
                self.client.wait(timeout=self.kill_every)
                return
            except subprocess.TimeoutExpired:
                self.client.kill()
                self.client.wait()
                self.kills += 1
                self.client = subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def wait(self, timeout):
        """Waits for the end of the crawl, however often it was killed."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            client = self.client
            client.wait(timeout=end - time.monotonic())
            if client.returncode != -signal.SIGKILL:
                return

    def kill(self):
        self.kill_every = 1e9
        self.client.kill()
        self.client.wait()


def run(simgraph, crawler, args):
    server = subprocess.Popen(
        [simgraph, "--sites", str(args.sites), "--seed", str(args.seed), "--budget", str(args.budget),
         "--seeds", str(max(4, args.sites // 75)), "--local", "1"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    port = int(server.stdout.readline())
    seeds = []
    while line := server.stdout.readline().strip():
        seeds.append(line)
    started = time.monotonic()
    client = crawler.start(f"http://127.0.0.1:{port}", args.budget, seeds)

    def limit():
        try:
            client.wait(timeout=args.seconds)
        except subprocess.TimeoutExpired:
            pass
        try:
            server.stdin.close()
        except BrokenPipeError:
            pass

    threading.Thread(target=limit, daemon=True).start()
    report = json.loads(server.stdout.readline())
    report["seconds"] = round(time.monotonic() - started, 1)
    client.kill()
    if isinstance(crawler, Tidings):
        report["kills"] = crawler.kills
    server.wait()
    return report


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("simgraph")
    parser.add_argument("tidings")
    parser.add_argument("--sites", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=int, default=20_000)
    parser.add_argument("--seconds", type=int, default=480)
    parser.add_argument("--kill-every", type=float, default=0)
    parser.add_argument("--json")
    parser.add_argument("--only")
    args = parser.parse_args()
    crawlers = {
        "tidings": lambda: Tidings(args.tidings, args.kill_every),
        "scrapy": lambda: Python(SCRAPY),
        "trafilatura": lambda: Python(TRAFILATURA),
    }
    reports = {}
    for name, make in crawlers.items():
        if args.only in (None, name):
            reports[name] = run(args.simgraph, make(), args)
            score = reports[name]["score"]
            print(name, reports[name]["requests"], "requests,", score["tokens"], "tokens,",
                  round(score["tokens"] * 1e6 / max(1, reports[name]["bytes"])), "a MB,",
                  score["trap_requests"], "in traps,", reports[name]["repeated"], "repeated", flush=True)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as out:
            json.dump({"sites": args.sites, "seed": args.seed, "budget": args.budget,
                       "kill_every_s": args.kill_every, "crawlers": reports}, out, indent=1)
            out.write("\n")


if __name__ == "__main__":
    main()
