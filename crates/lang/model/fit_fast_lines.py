#!/usr/bin/env python3
"""Finds what evidence is worth at a glance: data/glance.tsv.

    xz -dc langid-dev.jsonl.xz > items.jsonl
    cargo build --release -p tidings-lang --example weighed
    python3 glance.py --items items.jsonl --weighed target/release/examples/weighed --out ../data/glance.tsv

Items are JSON lines with `text`, `lang` (ISO 639-3), `kind` and `src`. Their lines of at least 100 characters are put in order; every
fifth is kept apart and only asked at the end. The others are read as a whole and in parts, as the program does. Needs numpy only.
"""

import argparse
import json
import pathlib
import re
import struct
import subprocess

import numpy as np

HERE = pathlib.Path(__file__).parent
FEATURES = ["quads", "quads-missing", "frequent", "frequent-missing"]
NAMES = re.findall(r'\("(\w+)", "[^"]+", "([a-z ]*)"\)', (HERE / "../src/names.rs").read_text())
CODES = {other: code for code, others in reversed(NAMES) for other in [code, *others.split()]}
MIN_CHARS = 100
# The parts of a line that are read first, in bytes; what is learned is learned for short texts too.
PARTS = [96, 144]
# Handicaps are pulled towards zero.
PULL = 1e-4
ROUNDS = 12


def lines_of(path):
    """The lines with their language, in order, each once; as bench/import has them."""
    lines = {}
    for item in map(json.loads, path.open()):
        if item["src"] == "udhr" or item["kind"] not in ("sent", "para", "doc") or item["lang"] not in CODES:
            continue
        for line in item["text"].splitlines():
            if len(line := line.strip()) >= MIN_CHARS:
                lines[line] = min(CODES[item["lang"]], lines.get(line, "zzz"))
    return sorted(lines.items())


def part(line, size):
    """The beginning of a line, cut behind a word where there is one."""
    cut = line.encode()[:size].decode(errors="ignore")
    return cut.rpartition(" ")[0] or cut


def rows(texts, program):
    text = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    data = subprocess.run([program, "glance"], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
    place, kind, found = 0, np.dtype([("code", "S4"), ("said", "<f4", len(FEATURES) + 1)]), []
    for _ in texts:
        (count,) = struct.unpack_from("<I", data, place)
        place += 4
        found.append(np.frombuffer(data, kind, count, place))
        place += count * kind.itemsize
    return found


class Fit:
    def __init__(self, lines, program):
        found = rows([line for line, _ in lines], program)
        self.codes = sorted({code.decode() for row in found for code in row["code"]})
        number = {code: n for n, code in enumerate(self.codes)}
        self.said = np.zeros((len(lines), len(self.codes), len(FEATURES) + 1), np.float32)
        self.allowed = np.full((len(lines), len(self.codes)), -1e4, np.float32)
        for item, row in enumerate(found):
            places = [number[code.decode()] for code in row["code"]]
            self.said[item, places] = row["said"]
            self.allowed[item, places] = 0
        self.right = np.array([number.get(lang, -1) for _, lang in lines])
        # Where one language alone uses the script, and where no candidate is right, there is nothing to learn.
        known = self.right >= 0
        known[known] = self.allowed[known, self.right[known]] == 0
        self.useful = known & ((self.allowed == 0).sum(1) > 1)

    def totals(self, point, chosen):
        weights, bias, slope = point
        said = self.said[chosen]
        return said[:, :, :-1] @ weights.astype(np.float32) + bias + slope * said[:, :, -1] + self.allowed[chosen]

    def fit(self, chosen):
        """Adam, with steps that grow smaller."""
        point = [np.array([0.6, 0.2, 1.0, 0.0]), np.zeros(len(self.codes)), np.zeros(len(self.codes))]
        mean, square, step = [np.zeros_like(part) for part in point], [np.zeros_like(part) for part in point], 0
        random = np.random.default_rng(1)
        for turn in range(ROUNDS):
            order = random.permutation(chosen)
            for some in np.array_split(order, max(1, len(order) // 256)):
                totals = self.totals(point, some)
                wrong = np.exp(totals - totals.max(1, keepdims=True))
                wrong /= wrong.sum(1, keepdims=True)
                wrong[np.arange(len(some)), self.right[some]] -= 1
                wrong /= len(some)
                said = self.said[some]
                slopes = [np.einsum("il,ilf->f", wrong, said[:, :, :-1]), wrong.sum(0) + PULL * point[1], (wrong * said[:, :, -1]).sum(0) + PULL * point[2]]
                step += 1
                for n, slope in enumerate(slopes):
                    mean[n] = 0.9 * mean[n] + 0.1 * slope
                    square[n] = 0.99 * square[n] + 0.01 * slope**2
                    point[n] = point[n] - 0.05 * 0.75**turn * (mean[n] / (1 - 0.9**step)) / (np.sqrt(square[n] / (1 - 0.99**step)) + 1e-8)
        return point


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--items", type=pathlib.Path, required=True)
    arguments.add_argument("--weighed", required=True)
    arguments.add_argument("--out", type=pathlib.Path, required=True)
    arguments = arguments.parse_args()
    lines = lines_of(arguments.items)
    apart = [line for n, line in enumerate(lines) if n % 5 == 4]
    others = [line for n, line in enumerate(lines) if n % 5 != 4]
    texts = others + [(part(line, size), lang) for size in PARTS for line, lang in others]
    fit = Fit(texts + apart, arguments.weighed)
    point = fit.fit(np.flatnonzero(fit.useful[: len(texts)]))
    asked = len(texts) + np.flatnonzero(fit.useful[len(texts) :])
    totals = fit.totals(point, asked)
    ranked = np.sort(totals, 1)
    lead, right = ranked[:, -1] - ranked[:, -2], totals.argmax(1) == fit.right[asked]
    print(f"{len(asked)} lines apart: {right.mean():.4f} right")
    for bound in (1, 2, 3, 4, 5, 6):
        print(f"lead of {bound}: {(lead >= bound).mean():.3f} of the lines, {right[lead >= bound].mean():.4f} right")
    table = ["# Made by model/glance.py. First what each kind of evidence is worth, then each language's handicaps."]
    table += [f"{name}\t{weight:.4f}" for name, weight in zip(FEATURES, point[0])]
    table += [f"{code}\t{bias:.3f}\t{slope:.3f}" for code, bias, slope in zip(fit.codes, *point[1:])]
    arguments.out.write_text("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
