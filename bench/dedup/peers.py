"""Answers of a published tool, to be scored with `bench-dedup score FOLDER --answers FILE`.

    venv/bin/pip install -r requirements.txt
    venv/bin/python peers.py FOLDER > minhash.txt

MinHash with locality-sensitive hashing (datasketch) as large crawls use it: 5-grams of words, 14 bands of 8 hashes. It
knows whole documents only, so that a line is all ones or all zeros. CPU seconds go to standard error.
"""
import json
import re
import sys
import time

from datasketch import MinHash, MinHashLSH

BANDS, ROWS, NGRAM = 14, 8, 5


def main(folder):
    index = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS))
    began, words_seen = time.process_time(), 0
    for line in open(f"{folder}/docs.jsonl", encoding="utf-8"):
        document = json.loads(line)
        words = re.findall(r"\w+", " ".join(document["paragraphs"]).lower())
        words_seen += len(words)
        sketch = MinHash(num_perm=BANDS * ROWS, seed=1)
        grams = {" ".join(words[at : at + NGRAM]).encode() for at in range(max(1, len(words) - NGRAM + 1))}
        sketch.update_batch(grams)
        known = bool(index.query(sketch))
        if not known:
            index.insert(document["id"], sketch)
        print(("1" if known else "0") * len(document["paragraphs"]))
    seconds = time.process_time() - began
    print(f"{seconds:.1f} s of CPU, {words_seen / seconds / 1e6:.3f} M words/s", file=sys.stderr)


main(sys.argv[1])
