"""Lemmas and parts of speech of Russian by pymorphy3, for Tidings: python3 pymorphy-conllu.py

Reads and writes CoNLL-U; every word gets its likeliest reading. Install: pip install pymorphy3
"""
import functools
import sys

import pymorphy3

UPOS = {"NOUN": "NOUN", "ADJF": "ADJ", "ADJS": "ADJ", "COMP": "ADJ", "VERB": "VERB", "INFN": "VERB", "PRTF": "VERB",
        "PRTS": "VERB", "GRND": "VERB", "NUMR": "NUM", "ADVB": "ADV", "NPRO": "PRON", "PRED": "ADV", "PREP": "ADP",
        "CONJ": "CCONJ", "PRCL": "PART", "INTJ": "INTJ"}
analyser = pymorphy3.MorphAnalyzer()


@functools.lru_cache(1 << 18)
def analysed(form):
    best = analyser.parse(form)[0]
    if best.tag.POS is None:
        return best.normal_form, "PUNCT" if "PNCT" in best.tag else "NUM" if "NUMB" in best.tag else "X"
    return best.normal_form, "PROPN" if {"Name", "Surn", "Geox"} & best.tag.grammemes else UPOS[best.tag.POS]


for line in sys.stdin:
    columns = line.rstrip("\n").split("\t")
    if len(columns) == 10:
        columns[2:4] = analysed(columns[1])
    print(*columns, sep="\t", flush=len(columns) == 1)
