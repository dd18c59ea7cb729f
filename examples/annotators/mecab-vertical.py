"""Lemmas and tags of Japanese by MeCab, for Tidings: python3 mecab-vertical.py [options of mecab]

MeCab keeps the given tokens (-p) and writes surface form and features, one line each. Install: apt install mecab
mecab-ipadic-utf8. Other dictionaries may have other columns for lemma and tag.
"""
import subprocess
import sys

mecab = subprocess.Popen(["mecab", "-p", *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
sentence = []
for line in sys.stdin:
    word = line.rstrip("\n")
    if word == "<s>":
        sentence = []
    elif word == "</s>":
        mecab.stdin.write("".join(f"{form}\t*\n" for form in sentence) + "EOS\n")
        mecab.stdin.flush()
        for form in sentence:
            features = mecab.stdout.readline().rstrip("\n").split("\t")[1].split(",")
            lemma = features[6] if len(features) > 6 and features[6] != "*" else form
            print(form, lemma, features[0], sep="\t")
        assert mecab.stdout.readline() == "EOS\n"
        print("</s>", flush=True)
    else:
        sentence.append(word)
