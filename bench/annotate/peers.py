"""Lemmatises sentences with a peer: peers.py PEER LANGUAGE <sentences.json >answer.json

A sentence is a list of words; the answer has [lemma, tag] for each, either of which may be null. The answer is null
if the peer does not support the language.
"""

import json
import sys
import time


def simplemma(language):
    import simplemma as package

    # Croatian and Serbian share a code there.
    language = {"nb": "nb", "hr": "hbs", "sr": "hbs"}.get(language, language)
    try:
        package.lemmatize("x", lang=language)
    except ValueError:
        return None
    return lambda words: [[package.lemmatize(word, lang=language), None] for word in words]


def hanta(language):
    from HanTa import HanoverTagger

    files = {"de": "morphmodel_ger.pgz", "en": "morphmodel_en.pgz", "nl": "morphmodel_dutch.pgz"}
    if language not in files:
        return None
    tagger = HanoverTagger.HanoverTagger(files[language])

    def upos(tag):
        """Maps the tag sets of its training corpora: STTS and Penn Treebank."""
        table = {
            "de": [("NE", "PROPN"), ("NN", "NOUN"), ("ADJ", "ADJ"), ("ADV", "ADV"), ("AP", "ADP"), ("ART", "DET"),
                   ("CARD", "NUM"), ("ITJ", "INTJ"), ("KOUS", "SCONJ"), ("KOUI", "SCONJ"), ("KOKOM", "CCONJ"),
                   ("KON", "CCONJ"), ("PPOSAT", "DET"), ("PIAT", "DET"), ("PDAT", "DET"), ("PIDAT", "DET"),
                   ("PRELAT", "DET"), ("PWAT", "DET"), ("PAV", "ADV"), ("PROAV", "ADV"), ("PWAV", "ADV"),
                   ("PTKVZ", "ADP"), ("PTK", "PART"), ("P", "PRON"), ("VA", "AUX"), ("VM", "AUX"), ("VV", "VERB"),
                   ("XY", "X"), ("FM", "X"), ("$", "PUNCT")],
            "en": [("NNP", "PROPN"), ("NN", "NOUN"), ("JJ", "ADJ"), ("RB", "ADV"), ("IN", "ADP"), ("DT", "DET"),
                   ("PDT", "DET"), ("CD", "NUM"), ("UH", "INTJ"), ("CC", "CCONJ"), ("PRP$", "PRON"), ("PRP", "PRON"),
                   ("WP", "PRON"), ("WDT", "PRON"), ("WRB", "ADV"), ("EX", "PRON"), ("MD", "AUX"), ("VB", "VERB"),
                   ("TO", "PART"), ("POS", "PART"), ("RP", "ADP"), ("FW", "X"), ("SYM", "SYM")],
        }.get(language)
        if table is None:
            return None
        return next((found for start, found in table if tag.startswith(start)), "PUNCT")

    return lambda words: [[lemma, upos(tag)] for _, lemma, tag in tagger.tag_sent(words)]


def pymorphy(language):
    import pymorphy3

    if language not in ("ru", "uk"):
        return None
    analyser = pymorphy3.MorphAnalyzer(lang=language)
    return lambda words: [[analyser.parse(word)[0].normal_form, None] for word in words]


PEERS = {"simplemma": simplemma, "hanta": hanta, "pymorphy3": pymorphy}


def main():
    lemmatise = PEERS[sys.argv[1]](sys.argv[2])
    sentences = json.load(sys.stdin)
    if lemmatise is None:
        json.dump(None, sys.stdout)
        return
    lemmatise(sentences[0])  # warm-up: loads the data
    began = time.process_time()
    answers = [lemmatise(words) for words in sentences]
    json.dump({"seconds": time.process_time() - began, "answers": answers}, sys.stdout)


main()
