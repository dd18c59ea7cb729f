"""Runs one published extractor over pages, to score it next to ours.

    python peers.py NAME < pages.jsonl > results.jsonl

Reads pages as {"id", "url", "html", "lang"} and writes results as {"id", "text", "title", "author",
"date", "ms"}, one JSON object per line; "ms" is the CPU time of the extraction alone. Every extractor
is called through the function that its documentation recommends, for main text with tables and
without comments, and for the date of first publication. A page on which an extractor fails counts as
a page without text, and the reason goes to stderr.
"""

import itertools
import json
import re
import sys
import time

# ISO 639-1 to the names of jusText's stop lists. Other codes fall back to English.
STOP_LISTS = {
    "af": "Afrikaans", "an": "Aragonese", "ar": "Arabic", "ast": "Asturian", "az": "Azerbaijani",
    "be": "Belarusian", "bg": "Bulgarian", "bn": "Bengali", "br": "Breton", "bs": "Bosnian",
    "ca": "Catalan", "cs": "Czech", "cv": "Chuvash", "cy": "Welsh", "da": "Danish", "de": "German",
    "el": "Greek", "en": "English", "eo": "Esperanto", "es": "Spanish", "et": "Estonian",
    "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French", "fy": "West_Frisian",
    "ga": "Irish", "gl": "Galician", "gu": "Gujarati", "he": "Hebrew", "hi": "Hindi",
    "hr": "Croatian", "ht": "Haitian", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian",
    "ig": "Igbo", "is": "Icelandic", "it": "Italian", "jv": "Javanese", "ka": "Georgian",
    "kk": "Kazakh", "kn": "Kannada", "ko": "Korean", "ku": "Kurdish", "ky": "Kyrgyz",
    "la": "Latin", "lb": "Luxembourgish", "lt": "Lithuanian", "lv": "Latvian",
    "mk": "Macedonian", "ml": "Malayalam", "mr": "Marathi", "ms": "Malay", "mt": "Maltese",
    "nb": "Norwegian_Bokmal", "ne": "Nepali", "nl": "Dutch", "nn": "Norwegian_Nynorsk",
    "no": "Norwegian_Bokmal", "oc": "Occitan", "pl": "Polish", "pt": "Portuguese",
    "qu": "Quechua", "ro": "Romanian", "ru": "Russian", "sh": "Serbo_Croatian", "sk": "Slovak",
    "sl": "Slovenian", "sq": "Albanian", "sr": "Serbian", "su": "Sundanese", "sv": "Swedish",
    "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "tk": "Turkmen", "tl": "Tagalog",
    "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek", "vi": "Vietnamese",
    "yo": "Yoruba",
}

# Written without spaces: there are no words to look up in a list.
SPACELESS = {"zh", "ja", "th", "lo", "km", "my"}

# What breaks the line when readability's HTML is turned into text.
BLOCKS = frozenset(
    "address article aside blockquote br dd div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li"
    " main nav ol p pre section table td th tr ul".split()
)


def trafilatura(**options):
    from trafilatura import bare_extraction

    def extract(page):
        document = bare_extraction(
            page["html"], url=page["url"] or None, with_metadata=True, include_comments=False, **options
        )
        if document is None:
            return {}
        return {"text": document.text, "title": document.title, "author": document.author, "date": document.date}

    return extract


def justext(**options):
    import justext as package

    lists = {}

    def extract(page):
        lang = page.get("lang") or "en"
        mode = dict(options)
        if lang in SPACELESS:
            words = frozenset()
            mode.update(stopwords_low=0.0, stopwords_high=0.0)
        else:
            name = STOP_LISTS.get(lang, "English")
            if name not in lists:
                lists[name] = package.get_stoplist(name)
            words = lists[name]
        good = [paragraph.text for paragraph in package.justext(page["html"], words, **mode)
                if not paragraph.is_boilerplate]
        return {"text": "\n".join(good), "paragraphs": good}

    return extract


def readability():
    import lxml.html
    from readability import Document

    def text_of(html):
        pieces = []
        for event, element in lxml.etree.iterwalk(lxml.html.fromstring(html), events=("start", "end")):
            if element.tag in BLOCKS:
                pieces.append("\n")
            words = element.text if event == "start" else element.tail
            if words and isinstance(element.tag, str) or event == "end" and words:
                pieces.append(words)
        return "".join(pieces)

    def extract(page):
        document = Document(page["html"], url=page["url"] or None)
        return {"text": text_of(document.summary()), "title": document.short_title()}

    return extract


def newspaper():
    from newspaper import Article, Config

    config = Config()
    config.fetch_images = False

    def extract(page):
        article = Article(page["url"] or "http://localhost/", config=config)
        article.download(input_html=page["html"])
        article.parse()
        day = article.publish_date
        return {
            "text": article.text,
            "title": article.title,
            "author": "; ".join(article.authors),
            "date": day.strftime("%Y-%m-%d") if hasattr(day, "strftime") else None,
        }

    return extract


def resiliparse():
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    def extract(page):
        tree = HTMLTree.parse(page["html"])
        return {"text": extract_plain_text(tree, main_content=True, comments=False), "title": tree.title}

    return extract


def htmldate(**options):
    from htmldate import find_date

    def extract(page):
        return {"date": find_date(page["html"], url=page["url"] or None, original_date=True, **options)}

    return extract


PEERS = {
    "trafilatura": lambda: trafilatura(),
    "trafilatura-fast": lambda: trafilatura(fast=True),
    "trafilatura-precision": lambda: trafilatura(favor_precision=True),
    "trafilatura-recall": lambda: trafilatura(favor_recall=True),
    "justext": lambda: justext(),
    # What the monitor corpora of the literature were made with, as far as the package has the parameter.
    "justext-production": lambda: justext(
        length_low=70, length_high=140, stopwords_low=0.15, stopwords_high=0.30, max_link_density=0.4,
        max_heading_distance=500,
    ),
    "readability-lxml": readability,
    "newspaper4k": newspaper,
    "resiliparse": resiliparse,
    "htmldate": lambda: htmldate(extensive_search=True),
    "htmldate-fast": lambda: htmldate(extensive_search=False),
}


def attempt(extract, page):
    """What the extractor says of a page, and how it failed if it did."""
    try:
        return extract(page), None
    except Exception as error:
        return {}, re.sub(r"\s+", " ", repr(error))[:200]


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in PEERS:
        sys.exit("usage: python peers.py NAME < pages.jsonl, where NAME is one of " + ", ".join(PEERS))
    extract = PEERS[sys.argv[1]]()
    lines = iter(sys.stdin)
    first = list(itertools.islice(lines, 5))
    # Lazy imports, dictionaries and compiled patterns belong to start-up: the first pages are read twice.
    for line in first:
        attempt(extract, json.loads(line))
    for line in itertools.chain(first, lines):
        page = json.loads(line)
        begin = time.process_time()
        result, failure = attempt(extract, page)
        ms = (time.process_time() - begin) * 1000
        if failure:
            print(page["id"], failure, file=sys.stderr)
        row = {"id": page["id"], "text": "", "title": None, "author": None, "date": None}
        row.update(result, ms=round(ms, 3))
        row["text"] = row["text"] or ""
        print(json.dumps(row, ensure_ascii=False))


if __name__ == "__main__":
    main()
