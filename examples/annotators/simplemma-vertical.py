"""Lemmas of about fifty languages by simplemma, for Tidings: python3 simplemma-vertical.py LANG

Reads one token per line and writes it with its lemma, line by line. Install: pip install simplemma
"""
import sys

import simplemma

language = sys.argv[1]
for line in sys.stdin:
    word = line.rstrip("\n")
    if word.startswith("<"):  # <s> and </s>; in tokens < is escaped as &lt;
        print(word, flush=word == "</s>")
    else:
        print(word, simplemma.lemmatize(word, lang=language), sep="\t")
