#!/usr/bin/env python3
"""Fits the weights of fast lines: data/fast_lines.tsv.

    xz -dc langid-dev.jsonl.xz > items.jsonl
    cargo build --release -p tidings-lang --example features
    python3 fit_fast_lines.py --items items.jsonl --features target/release/examples/features --out ../data/fast_lines.tsv

Items are JSON lines with `text`, `lang` (ISO 639-3), `kind` and `src`. Their lines of at least 100 characters are sorted; every
fifth is held out for the test at the end. The others are read whole and in parts, as the program does. Needs numpy only.
"""

import argparse
import json
import pathlib
import struct
import subprocess

import numpy as np
import registry

FEATURES = ["quadgrams", "quadgrams-missing", "frequent", "frequent-missing"]
CODES = {
    other: code
    for code, language in registry.languages().items()
    if language.get("declared") != "ignored"
    for other in [code, *language.get("codes", "").split(), *language.get("includes", "").split()]
}
MIN_CHARS = 100
# Prefixes of lines in bytes, so that the weights fit short texts too.
PARTS = [96, 144]
# L2 penalty of the biases.
PENALTY = 1e-4
ROUNDS = 12


def lines_of(path):
    """The distinct lines with their language, sorted, as in bench/import."""
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
    data = subprocess.run([program, "fast-lines"], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
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
        # Lines with one candidate, and lines without a right candidate, are not used.
        known = self.right >= 0
        known[known] = self.allowed[known, self.right[known]] == 0
        self.useful = known & ((self.allowed == 0).sum(1) > 1)

    def totals(self, point, chosen):
        weights, bias, slope = point
        said = self.said[chosen]
        return said[:, :, :-1] @ weights.astype(np.float32) + bias + slope * said[:, :, -1] + self.allowed[chosen]

    def fit(self, chosen):
        """Adam with a decaying step size."""
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
                slopes = [np.einsum("il,ilf->f", wrong, said[:, :, :-1]), wrong.sum(0) + PENALTY * point[1], (wrong * said[:, :, -1]).sum(0) + PENALTY * point[2]]
                step += 1
                for n, slope in enumerate(slopes):
                    mean[n] = 0.9 * mean[n] + 0.1 * slope
                    square[n] = 0.99 * square[n] + 0.01 * slope**2
                    point[n] = point[n] - 0.05 * 0.75**turn * (mean[n] / (1 - 0.9**step)) / (np.sqrt(square[n] / (1 - 0.99**step)) + 1e-8)
        return point


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--items", type=pathlib.Path, required=True)
    arguments.add_argument("--features", required=True)
    arguments.add_argument("--out", type=pathlib.Path, required=True)
    arguments = arguments.parse_args()
    lines = lines_of(arguments.items)
    apart = [line for n, line in enumerate(lines) if n % 5 == 4]
    others = [line for n, line in enumerate(lines) if n % 5 != 4]
    texts = others + [(part(line, size), lang) for size in PARTS for line, lang in others]
    fit = Fit(texts + apart, arguments.features)
    point = fit.fit(np.flatnonzero(fit.useful[: len(texts)]))
    held_out = len(texts) + np.flatnonzero(fit.useful[len(texts) :])
    totals = fit.totals(point, held_out)
    ranked = np.sort(totals, 1)
    lead, right = ranked[:, -1] - ranked[:, -2], totals.argmax(1) == fit.right[held_out]
    print(f"{len(held_out)} held-out lines: {right.mean():.4f} right")
    for bound in (1, 2, 3, 4, 5, 6):
        print(f"lead of {bound}: {(lead >= bound).mean():.3f} of the lines, {right[lead >= bound].mean():.4f} right")
    table = ["# Made by model/fit_fast_lines.py. Weights of the features, then bias and length bias of each language."]
    table += [f"{name}\t{weight:.4f}" for name, weight in zip(FEATURES, point[0])]
    table += [f"{code}\t{bias:.3f}\t{slope:.3f}" for code, bias, slope in zip(fit.codes, *point[1:])]
    arguments.out.write_text("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
