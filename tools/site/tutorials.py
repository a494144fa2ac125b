"""Runs the Python blocks of a tutorial and inserts what they print and draw.

A tutorial is a Markdown file, which `jupytext` opens as a notebook. Its blocks run in one process,
in order, on the CPU. The output is kept in out/tutorials under a hash of the tutorial and of the
sources of the packages, so that an unchanged tutorial is not run again.

    python tools/site/tutorials.py docs/tutorials/rode.md     runs one and prints its output
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "out" / "tutorials"
PACKAGES = ("hetero", "stablegpu", "rode", "lbm", "sbth", "tmd")
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
TIME_LIMIT = 600
"""Seconds after which a tutorial is given up; most of them take less than 30 on two cores."""


@dataclass
class Result:
    """Output of a tutorial.

    Attributes
    ----------
    outputs : for each block a list of pairs: ("text", text) or ("picture", name)
    pictures : bytes of PNG files by name
    seconds : time that the blocks took, None if they did not run
    cores : number of cores of the machine
    """

    outputs: list[list[tuple[str, str]]] = field(default_factory=list)
    pictures: dict[str, bytes] = field(default_factory=dict)
    seconds: float | None = None
    cores: int = 0

    def insert_into(self, markdown: str) -> str:
        """Return the Markdown of the tutorial with the output behind each block."""
        outputs = iter(self.outputs)

        def replace(match: re.Match) -> str:
            parts = [match[0]]
            for kind, content in next(outputs, []):
                if kind == "text":
                    parts.append(f'```text title="Output"\n{content.rstrip()}\n```')
                else:
                    parts.append(f"![Figure drawn by the code above]({content})")
            return "\n\n".join(parts)

        text = BLOCK.sub(replace, markdown)
        if self.seconds is None:
            return text + "\n\n*The code of this page has not been run in this build.*\n"
        return text + (
            f"\n\n*The code of this page ran in {self.seconds:.0f} s on {self.cores} CPU cores. "
            "`jupytext --to notebook` turns the page's source into a notebook.*\n"
        )


def content_hash(source: Path) -> str:
    """Return a hash of the tutorial, of this file and of the sources of the packages."""
    digest = hashlib.sha256()
    files = [source, Path(__file__)]
    for package in PACKAGES:
        if re.search(rf"\b{package}\b", source.read_text(encoding="utf-8")) or package == "hetero":
            files += sorted((ROOT / package).rglob("*.py"))
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def load_or_run(source: Path, *, run: bool) -> Result:
    """Return the output of a tutorial from the cache; otherwise run it, or return no output."""
    cached = CACHE / f"{source.stem}-{content_hash(source)}.json"
    if not cached.exists():
        if not run:
            return Result()
        print(f"running {source.relative_to(ROOT)}", file=sys.stderr, flush=True)
        run_in_process(source, cached)
    data = json.loads(cached.read_text(encoding="utf-8"))
    pictures = {name: base64.b64decode(text) for name, text in data["pictures"].items()}
    return Result(data["outputs"], pictures, data["seconds"], data["cores"])


def run_in_process(source: Path, target: Path) -> None:
    """Run a tutorial in a process and a folder of its own, and keep its output in `target`."""
    CACHE.mkdir(parents=True, exist_ok=True)
    # Scripts import from their own folder, in which `records` and others would shadow packages.
    settings = {"HETERO_DEVICE": "cpu", "HETERO_NOTICE": "0", "MPLBACKEND": "agg"}
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.run(
            [sys.executable, __file__, str(source), str(target)],
            cwd=folder,
            env=os.environ | settings,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
        )
    if process.returncode:
        raise RuntimeError(f"{source} failed:\n{process.stdout}{process.stderr}")
    for outdated in CACHE.glob(f"{source.stem}-*.json"):
        if outdated != target:
            outdated.unlink()


def run_blocks(source: Path) -> Result:
    """Run the blocks of a tutorial in this process."""
    import matplotlib.pyplot as plt

    from hetero.display.figures import STYLE

    plt.rcParams.update(STYLE | {"figure.dpi": 110, "figure.figsize": (7.2, 3.8)})
    plt.rcParams["figure.constrained_layout.use"] = True
    begin = time.perf_counter()
    names: dict = {"__name__": "__main__"}
    result = Result(cores=os.cpu_count() or 1)
    for number, code in enumerate(BLOCK.findall(source.read_text(encoding="utf-8"))):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"{source.name}, block {number + 1}", "exec"), names)
        output = [("text", printed.getvalue())] if printed.getvalue().strip() else []
        for index in plt.get_fignums():
            name = f"{source.stem}-{number + 1}-{index}.png"
            buffer = io.BytesIO()
            plt.figure(index).savefig(buffer, format="png")
            result.pictures[name] = buffer.getvalue()
            output.append(("picture", name))
        plt.close("all")
        result.outputs.append(output)
    result.seconds = time.perf_counter() - begin
    return result


def main(source: str, target: str | None = None) -> None:
    """Run one tutorial; print its output, or write it to a file."""
    result = run_blocks(Path(source))
    if target is None:
        for number, output in enumerate(result.outputs, 1):
            for kind, content in output:
                print(f"--- block {number}, {kind}\n{content}")
        print(f"--- {result.seconds:.1f} s")
        return
    data = asdict(result)
    data["pictures"] = {
        name: base64.b64encode(content).decode("ascii") for name, content in result.pictures.items()
    }
    partial = Path(target).with_suffix(f".{os.getpid()}.part")
    partial.write_text(json.dumps(data), encoding="utf-8")
    partial.replace(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
