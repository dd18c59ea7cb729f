#!/usr/bin/env python3
"""Other crawlers on the link graph: the same graph, seeds and number of requests, judged by the server's log.

Usage: peers.py SIMGRAPH [--sites N] [--seed N] [--budget N] [--json FILE] [--only scrapy|trafilatura]

SIMGRAPH is the binary of crates/simweb. The server is the HTTP proxy of the peers, so that no name server is needed.
Politeness pauses are off: only the order of requests is compared. Requirements: requirements.txt.
"""

import argparse
import json
import os
import subprocess
import sys
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


def run(simgraph, script, args):
    server = subprocess.Popen(
        [simgraph, "--sites", str(args.sites), "--seed", str(args.seed), "--budget", str(args.budget),
         "--seeds", str(max(4, args.sites // 75))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    port = int(server.stdout.readline())
    seeds = []
    while line := server.stdout.readline().strip():
        seeds.append(line)
    proxy = f"http://127.0.0.1:{port}"
    environment = dict(os.environ, http_proxy=proxy, HTTP_PROXY=proxy, no_proxy="", NO_PROXY="")
    started = time.monotonic()
    client = subprocess.Popen([sys.executable, "-c", script, str(args.budget), *seeds], env=environment)

    def limit():
        try:
            client.wait(timeout=args.seconds)
        except subprocess.TimeoutExpired:
            pass
        try:
            server.stdin.close()
        except BrokenPipeError:
            pass

    watch = threading.Thread(target=limit, daemon=True)
    watch.start()
    report = json.loads(server.stdout.readline())
    client.kill()
    server.wait()
    report["seconds"] = round(time.monotonic() - started, 1)
    return report


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("simgraph")
    parser.add_argument("--sites", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=int, default=20_000)
    parser.add_argument("--seconds", type=int, default=480)
    parser.add_argument("--json")
    parser.add_argument("--only")
    args = parser.parse_args()
    peers = {"scrapy": SCRAPY, "trafilatura": TRAFILATURA}
    reports = {}
    for name, script in peers.items():
        if args.only in (None, name):
            reports[name] = run(args.simgraph, script, args)
            score = reports[name]["score"]
            print(name, reports[name]["requests"], "requests,", score["tokens"], "tokens,",
                  round(score["tokens"] * 1e6 / max(1, reports[name]["bytes"])), "a MB,",
                  score["trap_requests"], "in traps", flush=True)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as out:
            json.dump({"sites": args.sites, "seed": args.seed, "budget": args.budget, "peers": reports}, out, indent=1)


if __name__ == "__main__":
    main()
