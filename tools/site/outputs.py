"""Run the code of documents and write what it prints into the blocks behind it.

    python tools/site/outputs.py README.md docs/guides/rode.md

A block of `text` that follows a block of `python` or `sh run` holds what the code prints; one of
`text example` holds what it printed once, on a machine. The blocks of a document run in order, in
one namespace and an empty folder. tests/test_documents.py compares what the code prints with what
the documents say.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(
    r"^```(?P<language>python|sh run)\n(?P<code>.*?)^```$"
    r"(?:\n\n```(?P<kind>text|text example)\n(?P<output>.*?)^```$)?",
    re.M | re.S,
)

MARKS = {
    "```python notest\n": "```python\n",
    "```sh run\n": "```sh\n",
    "```text example\n": "```text\n",
}
"""First lines of blocks whose second word says what the tests do, and those that the site has."""


class Block(NamedTuple):
    """Code, its language, and the output that it must have (None if it may have any)."""

    code: str
    output: str | None
    language: str = "python"


def read_blocks(text: str) -> list[Block]:
    """Return the blocks of a document that run, in order."""
    return [
        Block(
            match["code"],
            match["output"] if match["kind"] == "text" else None,
            match["language"].partition(" ")[0],
        )
        for match in BLOCK.finditer(text)
    ]


def run_block(code: str, name: str, names: dict, language: str = "python") -> str:
    """Run a block, Python in the namespace `names`, and return what it prints."""
    if language == "sh":
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        run = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", code],
            env=os.environ | {"PATH": programs, "COLUMNS": "100"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        output = run.stdout
    else:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, name, "exec"), names)
        output = printed.getvalue()
    return "\n".join(line.rstrip() for line in output.splitlines())


def fill(text: str, name: str) -> str:
    """Return the document with the output of its blocks."""
    names: dict = {"__name__": "__main__"}

    def replace(match: re.Match) -> str:
        output = run_block(match["code"], name, names, match["language"].partition(" ")[0])
        block = f"```{match['language']}\n{match['code']}```"
        return f"{block}\n\n```{match['kind'] or 'text'}\n{output}\n```" if output else block

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
