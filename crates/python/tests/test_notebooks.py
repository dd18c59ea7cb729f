"""The notebooks of examples/notebooks, executed as they are.

``TIDINGS_DEMO`` names a home of ``tidings demo`` that exists already; without it, one is made.
"""

import os
from pathlib import Path

import pytest

for package in ("ipykernel", "matplotlib", "nbclient", "pandas", "pyarrow"):
    pytest.importorskip(package)
pytest_plugins = ["demo_home"]

NOTEBOOKS = sorted((Path(__file__).resolve().parents[3] / "examples" / "notebooks").glob("*.ipynb"))


def test_there_is_a_notebook_for_each_reader():
    assert [path.stem for path in NOTEBOOKS] == ["data-team", "lexicographer", "media-researcher"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_is_committed_without_output(path, demo, tmp_path):
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert cell.cell_type != "code" or (cell.outputs == [] and cell.execution_count is None), "clear the outputs"
    (tmp_path / "demo").symlink_to(demo)
    NotebookClient(
        notebook, timeout=240, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    shown = "".join(str(output) for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs)
    folder = os.environ.get("TIDINGS_NOTEBOOKS")
    if folder:
        nbformat.write(notebook, Path(folder) / path.name)
    for words in EXPECTED[path.stem]:
        assert words in shown, f"{path.name} does not show {words!r}"


# What a reader is told to see.
EXPECTED = {
    "data-team": ["no-licence", "tdm-reserved", "limited-licence", "duplicate"],
    "lexicographer": ["rainbank: first seen 2023-"],
    "media-researcher": ["courier.example", "G² =", "Share of stories"],
}
