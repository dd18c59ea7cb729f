#!/usr/bin/env python3
"""Finds the weights in crates/lang/data/weights.tsv.

    cargo build --release -p tidings-lang --example features
    venv/bin/python fit.py --items items.jsonl --features TARGET/release/examples/features --out ../data/weights.tsv

Items are JSON lines with `id`, `text`, `lang` (ISO 639-3), `kind` and `src`. The model is a
multinomial logistic regression with weights shared by all languages and two biases per language, with
an L2 penalty on the biases, fitted by L-BFGS. With `--check` it is fitted to each half of the items and
tested on the other half, and macro-F1 over languages with a national press is printed instead.
"""

import argparse
import json
import pathlib
import re
import struct
import subprocess
import zlib

import numpy as np
import registry
from scipy.optimize import minimize

HERE = pathlib.Path(__file__).parent
FEATURES = re.findall(r'"([a-z-]+)"', re.search(r"FEATURES: \[&str; \d+\] = \[(.*?)\];", (HERE / "../src/identify/decide.rs").read_text(), re.S)[1])
NAMES = registry.languages()
# L2 penalties of the bias and of the bias per unit of length.
PENALTY, PENALTY_SLOPE = 3e-5, 3e-5
# Languages with a national press are what feeds are written in; short texts are where weights matter.
CORE = re.search(r'CORE: &str = "(.*?)"', (HERE / "../../../bench/text/src/lib.rs").read_text(), re.S)[1].replace("\\", " ").split()
OTHERS_COUNT, SHORT_COUNT = 0.6, 2.0


def folded(code):
    """The label of the items for one of our codes. Both kinds of Norwegian are one there."""
    if code in ("nb", "nn"):
        return "nor"
    # The first three-letter code is the language's own.
    three = [other for other in NAMES.get(code, {}).get("codes", "").split() if len(other) == 3]
    return three[0] if three else code


def rows(items, program):
    text = "".join(json.dumps({"text": item["text"]}) + "\n" for item in items)
    data = subprocess.run([program], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
    place, width, found = 0, 4 + 4 * len(FEATURES), []
    for _ in items:
        (count,) = struct.unpack_from("<I", data, place)
        place += 4
        found.append([(data[at : at + 4].rstrip(b"\0").decode(), np.frombuffer(data, "<f4", len(FEATURES), at + 4)) for at in range(place, place + count * width, width)])
        place += count * width
    return found


class Fit:
    def __init__(self, items, program):
        self.items, found = items, rows(items, program)
        self.codes = sorted({code for row in found for code, _ in row})
        number = {code: n for n, code in enumerate(self.codes)}
        self.said = np.zeros((len(items), len(self.codes), len(FEATURES)), np.float32)
        self.allowed = np.full((len(items), len(self.codes)), -1e4, np.float32)
        for item, row in enumerate(found):
            for code, numbers in row:
                self.said[item, number[code]] = numbers
                self.allowed[item, number[code]] = 0
        self.labels = np.array([folded(code) for code in self.codes])
        self.gold = np.array([item["lang"] for item in items])
        self.right = (self.labels[None, :] == self.gold[:, None]) & (self.allowed == 0)
        # Articles of law are not news; items without a right candidate are left out.
        self.weight = np.array([self.counts(item) for item in items]) * self.right.any(1)

    @staticmethod
    def counts(item):
        kind = SHORT_COUNT if item["kind"] == "short" else 1.0
        return {"udhr": 0.3, "noise": 0.0}.get(item["src"], 1.0) * kind * (1.0 if item["lang"] in CORE else OTHERS_COUNT)

    def parts(self, point):
        features, languages = len(FEATURES), len(self.codes)
        return point[:features], point[features : features + languages], point[features + languages :]

    def totals(self, point, chosen):
        weights, bias, slope = self.parts(point)
        return self.said[chosen] @ weights.astype(np.float32) + bias + slope * self.said[chosen, :, -1] + self.allowed[chosen]

    def loss(self, point, chosen):
        weights, bias, slope = self.parts(point)
        totals = self.totals(point, chosen)
        odds = np.exp(totals - totals.max(1, keepdims=True))
        right = odds * self.right[chosen]
        weight = self.weight[chosen] / self.weight[chosen].sum()
        share = right.sum(1) + 1e-30
        loss = -(weight * np.log(share / odds.sum(1))).sum()
        wrong = (odds / odds.sum(1, keepdims=True) - right / share[:, None]) * weight[:, None]
        steps = [np.einsum("il,ilf->f", wrong, self.said[chosen]), wrong.sum(0) + 2 * PENALTY * bias, (wrong * self.said[chosen, :, -1]).sum(0) + 2 * PENALTY_SLOPE * slope]
        steps[0][-1] = 0  # a weight for length alone is what the slopes are for
        return loss + PENALTY * (bias**2).sum() + PENALTY_SLOPE * (slope**2).sum(), np.concatenate(steps).astype(float)

    def fit(self, chosen):
        start = np.zeros(len(FEATURES) + 2 * len(self.codes))
        start[: len(FEATURES)] = 0.5
        start[len(FEATURES) - 1] = 0
        return minimize(self.loss, start, args=(chosen,), jac=True, method="L-BFGS-B", options={"maxiter": 120}).x


def macro_f1(gold, answers):
    gold, answers = gold[np.isin(gold, CORE)], answers[np.isin(gold, CORE)]
    scores = [2 * ((gold == label) & (answers == label)).sum() / ((gold == label).sum() + (answers == label).sum()) for label in sorted(set(gold))]
    return sum(scores) / len(scores)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--items", type=pathlib.Path, required=True)
    arguments.add_argument("--features", required=True)
    arguments.add_argument("--out", type=pathlib.Path)
    arguments.add_argument("--check", action="store_true")
    arguments = arguments.parse_args()
    fit = Fit([json.loads(line) for line in arguments.items.open()], arguments.features)
    half = np.array([zlib.crc32(item["id"].encode()) % 2 for item in fit.items])
    usable = fit.weight > 0
    if arguments.check:
        answers = np.array(["und"] * len(fit.items), dtype="<U4")
        for part in (0, 1):
            point = fit.fit(np.flatnonzero((half != part) & usable))
            asked = np.flatnonzero(half == part)
            answers[asked] = np.where((fit.allowed[asked] == 0).any(1), fit.labels[fit.totals(point, asked).argmax(1)], "und")
        for src in ("ntrex", "ud"):
            for kind in ("short", "sent", "para", "doc"):
                chosen = np.array([item["src"] == src and item["kind"] == kind for item in fit.items])
                if chosen.any():
                    print(src, kind, chosen.sum(), round(macro_f1(fit.gold[chosen], answers[chosen]), 4))
        return
    weights, bias, slope = fit.parts(fit.fit(np.flatnonzero(usable)))
    lines = ["# Made by model/fit.py. Weights of the features, then bias and length bias of each language."]
    lines += [f"{name}\t{weight:.4f}" for name, weight in zip(FEATURES, weights)]
    # Languages without items have biases too, so that they do not attract texts of others.
    lines += [f"{code}\t{b:.3f}\t{s:.3f}" for code, b, s in zip(fit.codes, bias, slope)]
    arguments.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
