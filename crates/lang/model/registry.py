"""Reads languages/CODE/language.tsv of all languages."""

import pathlib

ROOT = pathlib.Path(__file__).parent / "../../../languages"


def languages():
    """The rows of every language by code."""
    files = sorted(ROOT.glob("*/language.tsv"))
    return {file.parent.name: dict(row.split("\t", 1) for row in file.read_text("utf-8").splitlines() if "\t" in row) for file in files}
