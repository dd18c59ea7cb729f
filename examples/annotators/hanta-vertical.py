"""Lemmas and tags of German, English or Dutch by HanTa, for Tidings: python3 hanta-vertical.py ger|en|dutch

Reads sentences of tokens, writes word, lemma and tag. The models come with the package. Install: pip install HanTa numpy
"""
import sys

from HanTa.HanoverTagger import HanoverTagger

tagger = HanoverTagger(f"morphmodel_{sys.argv[1]}.pgz")
sentence = []
for line in sys.stdin:
    word = line.rstrip("\n")
    if word == "<s>":
        sentence = []
    elif word == "</s>":
        for form, lemma, tag in tagger.tag_sent(sentence):
            print(form, lemma, tag, sep="\t")
        print("</s>", flush=True)
    else:
        sentence.append(word)
