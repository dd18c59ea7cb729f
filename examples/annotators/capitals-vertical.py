#!/usr/bin/env python3
"""External annotator of further layers: the length of each word, and spans over runs of capitalised words.

    [annotate.external.en]
    command = ["python3", "capitals-vertical.py"]
    columns = ["word", "length:number"]
    spans = ["capitals"]
"""

import sys

sentence = []


def write(words):
    is_open = False
    for word in words:
        is_capital = word[:1].isupper()
        if is_capital and not is_open:
            print("<capitals>")
        if is_open and not is_capital:
            print("</capitals>")
        is_open = is_capital
        print(word, len(word), sep="\t")
    if is_open:
        print("</capitals>")


for line in sys.stdin:
    line = line.rstrip("\n")
    if line == "<s>":
        sentence = []
        print(line)
    elif line == "</s>":
        write(sentence)
        print(line, flush=True)
    else:
        sentence.append(line)
