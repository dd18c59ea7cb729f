#!/usr/bin/env python3
"""Predicts machines, hours and storage for large corpora from measured costs.

model.py                      print the tables
model.py --check PAGE.md      fail unless the page has the tables as printed
model.py --write PAGE.md      replace the tables of the page

Costs are read from costs.json and bench/results; the arithmetic is linear, with the exceptions that the functions name.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "results"
BEGIN, END = "<!-- model -->\n", "<!-- end of the model -->\n"
SIZES = (1e9, 10e9, 100e9)
PAGES_A_DAY = 10e6
#: Steps whose units (days, files, languages) are independent.
DIVISIBLE = ("clean", "annotate", "compile")


def read_costs(path: Path = HERE / "costs.json", results: Path = RESULTS) -> dict[str, float]:
    """Costs and assumptions by name."""
    table = json.loads(path.read_text())
    costs = {name: row["value"] for name, row in table["assumptions"].items()}
    for name, row in table["costs"].items():
        if "file" not in row:
            costs[name] = float(row["value"])
            continue
        value = json.loads((results / row["file"]).read_text())
        for key in row["path"]:
            value = value[key]
        costs[name] = float(value) / row["per"]
    wrong = [name for name, value in costs.items() if not (value > 0 and math.isfinite(value))]
    if wrong:
        raise ValueError(f"costs must be positive: {', '.join(wrong)}")
    return costs


@dataclass(frozen=True)
class Prediction:
    """The work for a number of pages."""

    pages: float
    tokens: float
    #: CPU hours by step.
    cpu_hours: dict[str, float]
    #: GB by folder.
    gb: dict[str, float]


def predict(costs: dict[str, float], pages: float) -> Prediction:
    """CPU time and storage of all steps."""
    tokens = pages * costs["tokens_a_page"]
    seconds = {
        "fetch": pages * costs["fetch_cpu_ms_a_page"] / 1e3,
        "clean": pages * costs["clean_cpu_ms_a_page"] / 1e3,
        "dedup": tokens * costs["dedup_cpu_us_a_token"] / 1e6,
        "annotate": tokens * costs["annotate_cpu_us_a_token"] / 1e6,
        "compile": tokens * costs["compile_cpu_us_a_token"] / 1e6,
    }
    gb = {
        "pages": pages * costs["raw_kb_a_page"] / 1e6,
        "docs": tokens * costs["docs_bytes_a_token"] / 1e9,
        "seen": tokens * costs["dedup_bytes_a_token"] / 1e9,
        "text": tokens * costs["text_bytes_a_token"] / 1e9,
        "index": tokens * costs["index_bytes_a_token"] / 1e9,
    }
    return Prediction(pages, tokens, {step: value / 3600 for step, value in seconds.items()}, gb)


def efficiency(costs: dict[str, float], processes: float) -> float:
    """The part of their time that processes work, given the measured one of two: each doubling loses the same part,
    down to the least that is assumed."""
    if processes <= 1:
        return 1.0
    of_two = min(costs["speedup_of_two"] / 2, 1.0)
    return max(of_two ** math.log2(processes), costs["longest_efficiency"])


def hours(costs: dict[str, float], made: Prediction, machines: int) -> float:
    """The time to make a corpus from raw pages. Deduplication needs the days in order: one process does it."""
    cores = machines * costs["cores_a_machine"]
    divisible = sum(made.cpu_hours[step] for step in DIVISIBLE)
    return divisible / (cores * efficiency(costs, cores)) + made.cpu_hours["dedup"]


def machines(costs: dict[str, float], made: Prediction, limit_hours: float, most: int = 10_000) -> int | None:
    """The least number of machines for a time limit; `None` if deduplication alone takes longer."""
    if made.cpu_hours["dedup"] >= limit_hours:
        return None
    return next((number for number in range(1, most + 1) if hours(costs, made, number) <= limit_hours), None)


def hosts_for(costs: dict[str, float], pages_a_day: float) -> tuple[float, float]:
    """Hosts that publish so many pages a day, and the hours that the largest of them are asked."""
    a_host = costs["pages_a_day_of_a_host"]
    return pages_a_day / a_host, a_host * costs["seconds_between_requests"] / 3600


def mbit_a_second(costs: dict[str, float], pages_a_day: float) -> float:
    """The mean bandwidth of a harvest."""
    return pages_a_day * costs["wire_kb_a_page"] * 8 / 1e3 / 86_400


def query_ms(costs: dict[str, float], tokens: float, cores: float) -> tuple[float, float]:
    """A first page, which reads no more of a larger corpus, and a query that counts all hits on all cores."""
    whole = costs["query_cpu_ms_pattern"] * tokens / costs["query_tokens"]
    return costs["query_cpu_ms_first_page"], whole / (cores * efficiency(costs, cores))


def measured_queries(results: Path = RESULTS) -> Path | None:
    """The newest result of bench-query at large sizes, to compare with; the tables do not need it."""
    return max(results.glob("*-scale-queries.json"), default=None)


def number(value: float) -> str:
    """Three significant digits at most."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def size(gb: float) -> str:
    return f"{number(gb / 1000)} TB" if gb >= 1000 else f"{number(gb)} GB"


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |\n"


def tables(costs: dict[str, float]) -> str:
    """The tables in Markdown."""
    all_made = [predict(costs, tokens / costs["tokens_a_page"]) for tokens in SIZES]
    cores, limit = costs["cores_a_machine"], costs["hours"]
    text = row("Corpus from raw pages", *(f"{made.tokens / 1e9:.0f} G tokens" for made in all_made))
    text += row("---", *(["--:"] * len(all_made)))
    text += row("pages, millions", *(number(made.pages / 1e6) for made in all_made))
    for step in ("clean", "dedup", "annotate", "compile"):
        text += row(f"{step}, CPU hours", *(number(made.cpu_hours[step]) for made in all_made))
    text += row(f"hours on one machine of {cores:.0f} cores", *(number(hours(costs, made, 1)) for made in all_made))
    needed = [machines(costs, made, limit) for made in all_made]
    text += row(f"machines for {limit:.0f} hours", *("–" if n is None else str(n) for n in needed))
    for folder in all_made[0].gb:
        text += row(f"`{folder}/`", *(size(made.gb[folder]) for made in all_made))
    text += row("all folders", *(size(sum(made.gb.values())) for made in all_made))
    text += row("first page of a query, CPU ms", *(number(query_ms(costs, made.tokens, cores)[0]) for made in all_made))
    text += row(
        f"all hits of three tags in a row, ms on {cores:.0f} cores",
        *(number(query_ms(costs, made.tokens, cores)[1]) for made in all_made),
    )
    day = predict(costs, PAGES_A_DAY)
    hosts, asked = hosts_for(costs, PAGES_A_DAY)
    total = sum(day.cpu_hours.values())
    text += "\n" + row(f"Harvest of {PAGES_A_DAY / 1e6:.0f} M pages a day", "a day", "a year") + row("---", "--:", "--:")
    text += row("tokens", f"{number(day.tokens / 1e9)} G", f"{number(day.tokens * 365 / 1e9)} G")
    for step, value in day.cpu_hours.items():
        text += row(f"{step}, CPU hours", number(value), number(value * 365))
    text += row("cores at work, of 24 hours", number(total / 24), "")
    text += row(f"machines of {cores:.0f} cores", str(math.ceil(total / 24 / (cores * efficiency(costs, cores)))), "")
    text += row("bandwidth, Mbit/s", number(mbit_a_second(costs, PAGES_A_DAY)), "")
    text += row("hosts with 200 pages a day, thousands", number(hosts / 1e3), "")
    text += row("hours that each of them is asked", number(asked), "")
    for folder, value in day.gb.items():
        text += row(f"`{folder}/`", size(value), size(value * 365))
    return text


def replaced(page: str, new: str) -> str:
    """The page with other tables between its marks."""
    before, rest = page.split(BEGIN, 1)
    return before + BEGIN + new + END + rest.split(END, 1)[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", type=Path)
    parser.add_argument("--write", type=Path)
    args = parser.parse_args()
    text = tables(read_costs())
    page = args.check or args.write
    if page is None:
        print(text, end="")
        found = measured_queries()
        print(f"\nmeasured queries to compare with: {found.name if found else 'none in bench/results'}")
        return 0
    now = page.read_text()
    new = replaced(now, text)
    if args.write:
        page.write_text(new)
    elif new != now:
        print(f"{page} does not have the tables of the model; run bench/scale/model.py --write {page}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
