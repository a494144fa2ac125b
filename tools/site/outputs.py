"""Run the code of documents and write what it prints into the blocks behind it.

    python tools/site/outputs.py README.md docs/guides/rode.md

A block of `text` that follows a block of `python` or `sh run` holds what the code prints; one of
`text example` holds what it printed once, on a machine. A picture behind them shows the figure that
the code draws with pyplot; a new one is written to docs/images. The blocks of a document run in
order, in one namespace and an empty folder. tests/test_documents.py compares what the code prints
and draws with what the documents say and show.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"

BLOCK = re.compile(
    r"^```(?P<language>python|sh run)\n(?P<code>.*?)^```$"
    r"(?:\n\n```(?P<kind>text|text example)\n(?P<output>.*?)^```$)?"
    r"(?:\n\n!\[(?P<caption>[^\]]*)\]\((?P<picture>[^)]+)\))?",
    re.M | re.S,
)

MARKS = {
    "```python notest\n": "```python\n",
    "```sh run\n": "```sh\n",
    "```text example\n": "```text\n",
}
"""First lines of blocks whose second word says what the tests do, and those that the site has."""


FIGURE_SETTINGS = {"figure.figsize": (7.2, 3.6), "figure.constrained_layout.use": True}
FIGURE_WIDTH = 1200
"""Width of pictures in pixels: sharp on a telephone, and on a screen beside a menu."""

COLOURS = 255
"""Colours of a picture. The edges of letters need some; fewer make files smaller."""


class Block(NamedTuple):
    """Code, its language, its output (None if it may have any) and the picture of its figure."""

    code: str
    output: str | None
    language: str = "python"
    picture: str | None = None


def read_blocks(text: str) -> list[Block]:
    """Return the blocks of a document that run, in order."""
    return [
        Block(
            match["code"],
            match["output"] if match["kind"] == "text" else None,
            match["language"].partition(" ")[0],
            match["picture"] if match["language"] == "python" else None,
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


@contextlib.contextmanager
def figures_in_memory() -> Iterator[None]:
    """Draw figures in the project's style and without a window; close them in the end."""
    import matplotlib.pyplot as plt

    from hetero.display.figures import STYLE

    plt.switch_backend("agg")
    plt.close("all")  # others may have left figures open, which are not those of a document
    with plt.rc_context(STYLE | FIGURE_SETTINGS):
        yield
    plt.close("all")


def take_picture() -> bytes | None:
    """Return the open figure of pyplot as a PNG file of few colours, and close it."""
    import matplotlib.pyplot as plt
    from PIL import Image

    if not plt.get_fignums():
        return None
    figure = plt.figure(plt.get_fignums()[-1])
    drawn, reduced = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=FIGURE_WIDTH / figure.get_figwidth())
    plt.close("all")
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(COLOURS).save(reduced, "PNG", optimize=True)
    return reduced.getvalue()


def name_picture(document: Path, number: int) -> str:
    """Return a name such as guides-rode-1.png."""
    folder = "" if document.parent.name == "docs" else f"{document.parent.name}-"
    return f"{folder}{document.stem}-{number}.png"


def fill(text: str, path: Path) -> str:
    """Return the document with the output of its blocks, and write the pictures that they draw."""
    names: dict = {"__name__": "__main__"}
    count = itertools.count(1)

    def replace(match: re.Match) -> str:
        output = run_block(match["code"], path.name, names, match["language"].partition(" ")[0])
        parts = [f"```{match['language']}\n{match['code']}```"]
        if output:
            parts.append(f"```{match['kind'] or 'text'}\n{output}\n```")
        picture = take_picture() if match["language"] == "python" else None
        if picture is not None:
            address = match["picture"] or os.path.relpath(
                IMAGES / name_picture(path, next(count)), path.parent
            )
            (path.parent / address).write_bytes(picture)
            parts.append(f"![{match['caption'] or 'Figure drawn by the code above'}]({address})")
        return "\n\n".join(parts)

    with figures_in_memory():
        return BLOCK.sub(replace, text)


def main(paths: list[str]) -> None:
    """Fill the documents in place."""
    for path in map(Path, paths):
        path = path.resolve()
        start = Path.cwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            text = fill(path.read_text(encoding="utf-8"), path)
            os.chdir(start)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
