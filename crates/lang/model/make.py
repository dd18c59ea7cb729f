#!/usr/bin/env python3
"""Makes crates/lang/data/grams.bin, the feature table of language identification.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt
    cargo fetch            # brings the crate cld2-sys for bench-text's peers
    venv/bin/python make.py --cld2 DIR_OF_CRATE_CLD2_SYS --out ../data/grams.bin

Sources, all of them obtained through package registries:

* byte n-grams with log-probabilities per language, from the naive Bayes model inside py3langid
  (BSD-3-Clause). N-grams that a language does not have are at the floor of its smoothing; only
  weights above the floor are kept, in a byte each.
* frequent words of a hundred Wikipedias, from the lists inside jusText (BSD-2-Clause).
* letter quadgrams, words of up to eight letters, and words and word pairs of close languages, from the tables inside the crate cld2-sys (Apache-2.0).

docs/notes/language.md says why these, what each contributes and what their licences require.
"""

import argparse
import collections
import importlib.util
import io
import lzma
import pathlib
import re
import struct

import numpy as np
import py3langid
import registry

# Codes as corpora use them today: ISO 639-1 where there is one, ISO 639-3 elsewhere.
RENAMED = {
    "iw": "he", "jw": "jv", "no": "nb", "mo": "ro", "sr-ME": "sr", "tw": "ak", "bh": "bho", "fil": "tl",
    "kik": "ki", "gug": "gn", "fuv": "ff", "zh-Hant": "zh", "zxx": "und",
    # Uzbek in Arabic letters is still Uzbek.
    "uzs": "uz",
}
# What CLD2 calls Kurdish is written in Arabic letters, and so is what py3langid calls Southern
# Kurdish: both are what newspapers in Sorani look like.
SORANI = {("cld2", "ku"): "ckb", ("nb", "sdh"): "ckb"}
# Jokes, placeholders and encodings among the languages of CLD2.
IGNORED = re.compile(r"zz.|xxx|tlh|ut|un|x.*-.*")
STEP = 1 / 24  # one unit of a weight, as a natural logarithm


def code_of(source, code):
    if source == "cld2" and IGNORED.fullmatch(code):
        return None
    return SORANI.get((source, code)) or RENAMED.get(code, code)


def naive_bayes():
    path = pathlib.Path(py3langid.__file__).parent / "data" / "model.npz.xz"
    model = np.load(io.BytesIO(lzma.open(path).read()), allow_pickle=False)
    rows, row_of, feature_of = model["nextmove"].reshape(-1, 256), model["nextmove_row"], model["out_feat"]
    # The automaton's states, spelled out: the text that leads to each, in breadth-first order.
    text_of, queue = {0: b""}, collections.deque([0])
    while queue:
        state = queue.popleft()
        for byte, following in enumerate(rows[row_of[state]].tolist()):
            if following and following not in text_of:
                text_of[following] = text_of[state] + bytes([byte])
                queue.append(following)
    feature = {text: int(feature_of[state]) for state, text in text_of.items()}
    return feature, model["ptc"].astype(np.float32), model["pc"], [str(name) for name in model["classes"]]


def automaton(feature):
    """An Aho-Corasick automaton as a double-array trie: four numbers a slot, slot 0 is the root."""
    children = collections.defaultdict(dict)
    for text in feature:
        if text:
            children[text[:-1]][text[-1]] = text
    slot_of, taken, base_of = {b"": 0}, {0}, {}
    first_free = 1
    for text in sorted(feature, key=lambda text: (len(text), text)):
        below = children.get(text)
        if not below:
            continue
        block = first_free
        while True:
            # A base is only ever combined with a byte by XOR, so it stays inside its block of 256.
            anchor = next(iter(below))
            if block not in taken and all((block ^ anchor ^ byte) not in taken for byte in below):
                break
            block += 1
        base_of[text] = block ^ anchor
        for byte, child in below.items():
            slot = base_of[text] ^ byte
            slot_of[child] = slot
            taken.add(slot)
        while first_free in taken:
            first_free += 1
    size = (max(taken) // 256 + 1) * 256
    slots = np.zeros((size, 4), dtype="<u4")
    slots[:, 1] = 0xFFFFFFFF  # no parent
    for text, slot in slot_of.items():
        suffix = text[1:]
        while suffix not in slot_of and suffix:
            suffix = suffix[1:]
        parent = slot_of[text[:-1]] if text else 0xFFFFFFFF
        fail = slot_of[suffix] if text else 0
        slots[slot] = (base_of.get(text, 0), parent, fail, feature[text] + 1)
    return slots


def frequent_words():
    """Word lists by language, as languages/CODE/language.tsv names them. Serbo-Croatian is not identified."""
    folder = pathlib.Path(importlib.util.find_spec("justext").origin).parent / "stoplists"
    for code, language in registry.languages().items():
        name = language.get("stop-words", "off")
        if name not in ("off", "Serbo_Croatian"):
            yield code, {word.lower() for word in (folder / f"{name}.txt").read_text("utf-8").split()}


def fnv(word):
    value = 0xCBF29CE484222325
    for byte in word.encode():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value ^ value >> 29


def words_table(lists, label, known):
    """Buckets of four, as CLD2 has them: the upper bits of a hash, and below them the index of its set of languages."""
    owners = collections.defaultdict(set)
    for code, words in lists:
        if known(code):
            for word in words:
                owners[word].add(label(code))
    buckets, sets, places = np.zeros((1 << 16, 4), dtype="<u4"), {(): 0}, {}
    filled = collections.Counter()
    # Words of few languages carry more information and come first if a bucket is full.
    for word, who in sorted(owners.items(), key=lambda item: (len(item[1]), item[0])):
        value = sets.setdefault(tuple(sorted(who)), len(sets))
        hashed = fnv(word)
        bucket = hashed & 0xFFFF
        if len(who) <= 8 and value < 1 << 13 and filled[bucket] < 4:
            buckets[bucket, filled[bucket]] = hashed >> 32 & 0xFFFFE000 | value
            filled[bucket] += 1
    lists = sorted(sets, key=sets.get)[: 1 << 13]
    rows = b"".join(bytes(who[:8]).ljust(8, b"\xff") for who in lists)
    return buckets.tobytes(), rows, sum(filled.values())


def c_numbers(source, name):
    start = source.index("{", source.index(f" {name}["))
    body = re.sub(r"//[^\n]*", "", source[start : source.index("};", start)])
    return np.array([int(number, 16) for number in re.findall(r"0x[0-9a-f]+", body)], dtype="<u4")


def c_rows(source, name):
    start = source.index("{", source.index(f" {name}["))
    return [line.split(",")[0].strip(' "') for line in source[start : source.index("};", start)].splitlines()[1:] if "," in line]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--cld2", type=pathlib.Path, required=True, help="the source of the crate cld2-sys")
    arguments.add_argument("--out", type=pathlib.Path, required=True)
    arguments = arguments.parse_args()
    read = lambda name: (arguments.cld2 / "cld2" / "internal" / name).read_text("utf-8", "replace")

    labels = ["und"]

    def label(code):
        if code is None:
            return 255
        if code not in labels:
            labels.append(code)
        return labels.index(code)

    # Byte n-grams.
    feature, weights, priors, classes = naive_bayes()
    slots = automaton(feature)
    floors = weights.min(axis=0)
    excess = np.rint((weights - floors) / STEP).astype(int).clip(0, 255)
    pool, starts = bytearray(), []
    for row in excess:
        starts.append(len(pool) // 2)
        for number in np.flatnonzero(row > 3):
            pool += bytes([number, row[number]])
    starts.append(len(pool) // 2)
    class_labels = bytes(label(code_of("nb", name)) for name in classes)

    # Quadgrams and words.
    table = read("generated_language.cc")
    code_by_name = dict(zip(c_rows(table, "kLanguageToCName"), c_rows(table, "kLanguageToCode")))
    code_by_name["UNKNOWN_LANGUAGE"] = "un"
    script_labels = b""
    for name in ("kPLangToLanguageLatn", "kPLangToLanguageOthr"):
        codes = [code_by_name.get(row, "un") for row in c_rows(table, name)]
        script_labels += bytes(label(code_of("cld2", code)) for code in codes)
    header = read("cldutil_shared.h")
    start = header.index("kLgProbV2Tbl[")
    rows = re.findall(r"^\s*\d+,\d+,\d+,\d+,\d+,\s*(\d+),(\d+),(\d+),", header[start : header.index("};", start)], re.M)
    triples = bytes(int(number) for row in rows for number in row)
    quads, words, marks = read("cld2_generated_quad0122.cc"), read("cld2_generated_deltaocta0122.cc"), read("cld2_generated_distinctocta0122.cc")

    known = set(labels)
    frequent, owners, kept = words_table(frequent_words(), label, known.__contains__)
    print(kept, "frequent words")

    sections = [
        b"".join(code.encode().ljust(4, b"\0") for code in labels),
        class_labels,
        priors.astype("<f4").tobytes(),
        floors.astype("<f4").tobytes(),
        slots.tobytes(),
        np.array(starts, dtype="<u4").tobytes(),
        bytes(pool),
        script_labels,
        triples,
        c_numbers(quads, "kQuad0122").tobytes(),
        c_numbers(quads, "kQuad0122Ind").tobytes(),
        c_numbers(words, "kDeltaOcta0122").tobytes(),
        c_numbers(words, "kDeltaOcta0122Ind").tobytes(),
        c_numbers(marks, "kDistinctOcta0122").tobytes(),
        c_numbers(marks, "kDistinctOcta0122Ind").tobytes(),
        frequent,
        owners,
    ]
    out, place = bytearray(b"TIDGRAM2"), 8 + 8 * len(sections)
    for section in sections:
        out += struct.pack("<II", place, len(section))
        place += len(section)
    for section in sections:
        out += section
    arguments.out.write_bytes(out)
    print(f"{len(labels)} labels, {len(starts) - 1} n-grams, {len(out)} bytes:", [len(section) for section in sections])
    print(" ".join(sorted(labels)))


if __name__ == "__main__":
    main()
