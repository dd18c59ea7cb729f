"""An export in Parquet read with Hugging Face ``datasets``, as docs/how-to/python.md shows it."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("datasets")


def command(*words, home):
    return subprocess.run(
        [sys.executable, "-m", "tidings", "--quiet", "--home", str(home), *words],
        check=True,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    texts = [
        {
            "id": f"t{number}",
            "url": f"https://a.example/{number}",
            "created": f"2026-0{1 + number % 2}-03",
            "title": f"Storm {number}",
            "language": "en",
            "text": " ".join(
                f"Storm {number} closed {kind} {number}-{kind} near town {number}."
                for kind in ("bridge", "school", "road", "port")
            ),
            "metadata": {"license": "CC0-1.0"},
        }
        for number in range(20)
    ]
    lines = folder / "texts.jsonl"
    lines.write_text("".join(json.dumps(text) + "\n" for text in texts))
    home = folder / "home"
    command("init", str(home), home=home)
    command("import", str(lines), "--no-gate", home=home)
    command("run", "--from", "clean", home=home)
    command("export", "--format", "parquet", str(folder / "news-parquet"), home=home)
    manifest = json.loads((folder / "news-parquet.manifest.json").read_text())
    assert manifest["documents"]["written"] == len(texts)
    return folder / "news-parquet"


def test_datasets_reads_an_export_in_parquet(export, tmp_path):
    from datasets import load_dataset

    news = load_dataset("parquet", data_files=f"{export}/**/*.parquet", split="train", cache_dir=str(tmp_path))
    assert news.num_rows == 20
    assert {"id", "text", "title", "url"} <= set(news.column_names)
    assert all(row["text"].startswith("Storm ") for row in news)


def test_datasets_streams_an_export_in_parquet(export):
    from datasets import load_dataset

    rows = load_dataset("parquet", data_files=f"{export}/**/*.parquet", split="train", streaming=True)
    assert len({row["id"] for row in rows}) == 20
