"""Run the code of documents and write what it prints into the blocks behind it.

    python tools/site/outputs.py README.md docs/guides/rode.md

A block of `text` that follows a block of `python` holds what the code prints. The blocks of a
document run in order, in one namespace and an empty folder. tests/test_documents.py compares what
the code prints with what the documents say.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\n\n```text\n(?P<output>.*?)^```$)?", re.M | re.S
)


class Block(NamedTuple):
    """Code, and the output that the document shows (None if it shows none)."""

    code: str
    output: str | None


def read_blocks(text: str) -> list[Block]:
    """Return the blocks of a document that run, in order."""
    return [Block(match["code"], match["output"]) for match in BLOCK.finditer(text)]


def run_block(code: str, name: str, names: dict) -> str:
    """Run a block in the namespace `names` and return what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), names)
    return "\n".join(line.rstrip() for line in printed.getvalue().splitlines())


def fill(text: str, name: str) -> str:
    """Return the document with the output of its blocks."""
    names: dict = {"__name__": "__main__"}

    def replace(match: re.Match) -> str:
        output = run_block(match["code"], name, names)
        block = f"```python\n{match['code']}```"
        return f"{block}\n\n```text\n{output}\n```" if output else block

    return BLOCK.sub(replace, text)


def main(paths: list[str]) -> None:
    """Fill the documents in place."""
    for path in map(Path, paths):
        path = path.resolve()
        start = Path.cwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            text = fill(path.read_text(encoding="utf-8"), path.name)
            os.chdir(start)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
