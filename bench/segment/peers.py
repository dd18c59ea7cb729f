"""Segments texts with a peer: peers.py PEER LANGUAGE <texts.json >answer.json"""

import json
import sys
import time


def spacy_blank(language):
    import spacy

    try:
        pipeline = spacy.blank(language)
    except (ImportError, ValueError):  # no such language, or one that needs more packages
        pipeline = spacy.blank("xx")
    pipeline.add_pipe("sentencizer")
    pipeline.max_length = 10_000_000

    def segment(text):
        return [[token.text for token in sentence if not token.is_space] for sentence in pipeline(text).sents]

    return segment


def syntok(language):
    from syntok import segmenter

    def segment(text):
        found = []
        for paragraph in segmenter.analyze(text):
            found.extend([token.value for token in sentence] for sentence in paragraph)
        return found

    return segment


def pysbd(language):
    import pysbd as package

    try:
        splitter = package.Segmenter(language=language, clean=False)
    except ValueError:
        splitter = package.Segmenter(language="en", clean=False)

    # It splits sentences only; tokens are separated by spaces.
    def segment(text):
        return [sentence.split() for sentence in splitter.segment(text)]

    return segment


PEERS = {"spacy": spacy_blank, "syntok": syntok, "pysbd": pysbd}


def main():
    segment = PEERS[sys.argv[1]](sys.argv[2])
    texts = json.load(sys.stdin)
    began = time.process_time()
    documents = [segment(text) for text in texts]
    seconds = time.process_time() - began
    json.dump({"seconds": seconds, "documents": documents}, sys.stdout)


main()
