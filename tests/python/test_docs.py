"""The programs in the pages under docs/ and in the README run as they stand there."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if "```python" in page.read_text()
]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def program_of(page):
    """The Python blocks of a page as one program whose line numbers are those of the page."""
    text = page.read_text()
    lines = [""] * text.count("\n")
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1))
        code = block[1].splitlines()
        lines[first : first + len(code)] = code
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_programs_of_a_page_run(page, tmp_path, monkeypatch):
    if "import torch" in page.read_text():
        for package in ("torch", "onnxruntime", "onnxscript", "safetensors", "yaml"):
            pytest.importorskip(package, reason=f"{package} is not installed")
        import inkle.torch

        try:
            inkle.torch.load()
        except FileNotFoundError:
            pytest.skip("the operator libraries are not built")
    monkeypatch.chdir(tmp_path)
    program = tmp_path / f"{page.stem}.py"
    program.write_text(program_of(page))
    runpy.run_path(str(program))
