"""Edit sources of the packages at random, and compare results with and without compiled code.

    python tools/source_edits.py --edits 300 --workers 16 --json record.json

An edit adds a comment, changes a docstring, adds a function of the host, or changes a number: in a
formula, in a file that extends Numba, or in any file. After each a small call of the package runs
twice, without and with the code on disk that all states before it have left. Exit status 0: both
always give the same, or fail in the same way. What comments, docstrings and host code have compiled
again is counted.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from hetero import facts  # noqa: E402

CALLS = {
    "stablegpu": "import stablegpu; value = stablegpu.stable(1.5, 0.3).pdf([0.0, 2.0])",
    "rode": "import rode; value = rode.normal(64, rng=1)",
    "sbth": "import numpy, sbth; value = sbth.eigvals_banded(numpy.ones((4, 24)), method='sbth')",
    "lbm": "import lbm; lid = lbm.MovingWall((0.05, 0.0, 0.0)); "
    "walls = {'y': lbm.NoSlip(), 'z-': lbm.NoSlip(), 'z+': lid}; "
    "value = lbm.Simulation((6, 5, 4), boundaries=walls, device='cpu').run(3).u",
    "tmd": "import tmd; value = tmd.search('exp', (1.0, 1.0 + 2.0**-40), bits=4, device='cpu')"
    ".certificate['trivial']",
}
"""A small call of each package."""

RUN = """
import hashlib, numpy
{call}
from hetero.compile_cache.disk_cache import DiskCache
print(hashlib.sha256(numpy.asarray(value).tobytes()).hexdigest(), DiskCache.misses)
"""

KINDS = "comment", "docstring", "function", "number", "number", "number"
"""Kinds of edits, as often as they are drawn."""

CACHE = ROOT / "hetero" / "compile_cache", ROOT / "hetero" / "numba_internals"
"""Folders of the cache itself, which a wrong number breaks, so that calls with it fail."""

LATEST = 240.0
"""Seconds after which a call is stopped: a number may be what ends a loop."""


class StaleCodeError(Exception):
    """A process has loaded code that does not belong to its sources."""


class Copy:
    """A copy of the packages with compiled code of its own, in a folder."""

    def __init__(self, folder: Path, compiled: Path | None):
        self.folder, self.compiled = folder, folder / "compiled"
        for name in ("hetero", *CALLS):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        if compiled is not None:
            shutil.copytree(compiled, self.compiled)

    def run(self, package: str, cached: bool = True) -> list[str]:
        """Return what the call of a package gives: a hash and the number of functions that were
        compiled; or only how it failed."""
        path = os.pathsep.join(filter(None, (str(self.folder), os.environ.get("PYTHONPATH"))))
        environment = {
            "HETERO_CACHE": str(int(cached)),
            "HETERO_CACHE_DIR": str(self.compiled),
            "PYTHONPATH": path,
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_NUM_THREADS": "1",
            "NUMBA_OPT": "1",  # the time of a call is that of its compilations
        }
        command = [sys.executable, "-c", RUN.format(call=CALLS[package])]
        try:
            done = subprocess.run(command, cwd=self.folder, env=os.environ | environment,
                                  capture_output=True, text=True, timeout=LATEST)  # fmt: skip
        except subprocess.TimeoutExpired:
            return ["it took too long"]
        if done.returncode == 0:
            return done.stdout.split()
        return [(done.stderr.strip().splitlines() or [str(done.returncode)])[-1].partition(":")[0]]


def choose_file(package: str, rng: random.Random) -> Path:
    """Return a file of a package or of `hetero`: one with formulas, one that extends Numba, or any
    with the same probability."""
    top = package if rng.random() < 0.75 else "hetero"
    files = [path for path in sorted((ROOT / top).rglob("*.py")) if path.parent not in CACHE]
    texts = {path: path.read_text() for path in files}
    marks: dict[str, Callable[[Path], bool]] = {
        "formulas": lambda path: "formulas" in path.name,
        "extends": lambda path: "numba.extending" in texts[path] or "_intrinsics" in path.parts,
        "any": lambda path: True,
    }
    is_wanted = marks[rng.choice(list(marks))]
    found = [path for path in files if is_wanted(path)] or files
    return rng.choice(found).relative_to(ROOT)


def edit(text: str, kind: str, rng: random.Random) -> str | None:
    """Return a text after an edit; None if it has no place for it."""
    tree, lines = ast.parse(text), text.splitlines(keepends=True)
    stamp = rng.randrange(10**6)
    if kind == "comment":
        line = rng.choice(
            [node.lineno for node in tree.body if not hasattr(node, "decorator_list")]
        )
        return "".join([*lines[: line - 1], f"# Comment {stamp}.\n", *lines[line - 1 :]])
    if kind == "function":
        return f"{text}\n\ndef added_{stamp}(x):\n    return x + {stamp}\n"
    if kind == "docstring":
        kinds = ast.Module, ast.FunctionDef, ast.ClassDef
        owners = [node for node in ast.walk(tree) if isinstance(node, kinds)]
        firsts = [node.body[0] for node in owners if ast.get_docstring(node)]
        values = [first.value for first in firsts if isinstance(first, ast.Expr)]
        found = [value for value in values if isinstance(value, ast.Constant)]
    else:
        found = [n for n in ast.walk(tree)
                 if isinstance(n, ast.Constant) and type(n.value) in (int, float)]  # fmt: skip
    if not found:
        return None
    node = rng.choice(found)
    line, start, end = node.lineno - 1, node.col_offset, node.end_col_offset
    encoded = lines[line].encode()
    if kind == "docstring":
        new = encoded[: start + 3] + f"Edit {stamp}. ".encode() + encoded[start + 3 :]
    else:
        number = node.value
        assert isinstance(number, int | float)
        value = number + 1 if isinstance(number, int) else number * 1.25 + 0.125
        new = encoded[:start] + repr(value).encode() + encoded[end:]
    return "".join([*lines[:line], new.decode(), *lines[line + 1 :]])


def run_edits(
    edits: int, seed: int, until: float, compiled: Path, results: dict[str, list[str]]
) -> Counter:
    """Edit a copy so many times, each time from the sources as they are; return counts.

    No edit begins after the time `until` (of `time.monotonic`). `results` are those of the calls
    without an edit.
    """
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder), compiled)
        while counts["edits"] < edits and time.monotonic() < until:
            package, kind = rng.choice(list(CALLS)), rng.choice(KINDS)
            name = choose_file(package, rng)
            original = (ROOT / name).read_text()
            text = edit(original, kind, rng)
            if text is None:
                continue
            (copy.folder / name).write_text(text)
            expected = copy.run(package, cached=False) if kind == "number" else results[package]
            found = copy.run(package)
            (copy.folder / name).write_text(original)
            if expected[0] != found[0]:
                raise StaleCodeError(f"seed {seed}, {kind} in {name}: {found}, not {expected}")
            counts.update([kind, "edits"])
            if len(found) == 1:
                counts["failed alike"] += 1
            elif kind != "number":
                counts.update({"calls that nothing changed": 1,
                               "of these, compiled": found[1] != "0",
                               "functions compiled again": int(found[1])})  # fmt: skip
            else:
                counts["calls with another number that compiled"] += found[1] != "0"
    return counts


def main() -> int:
    """Run the campaign; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edits", type=int, default=300, help="number of edits in all")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=1, help="of the first worker")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no edit after this")
    parser.add_argument("--json", type=Path, help="file for the record")
    options = parser.parse_args()
    start = time.perf_counter()
    shares = [options.edits // options.workers] * options.workers
    shares[0] += options.edits - sum(shares)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.workers) as pool:
        pristine = Copy(Path(folder), None)
        results = dict(zip(CALLS, pool.map(pristine.run, CALLS), strict=True))
        for package, found in results.items():
            if len(found) == 1:
                print(f"the call of {package} fails without an edit: {found[0]}")
                return 1
        seeds = range(options.seed, options.seed + options.workers)
        until = time.monotonic() + options.seconds
        try:
            tasks = [pool.submit(run_edits, share, seed, until, pristine.compiled, results)
                     for share, seed in zip(shares, seeds, strict=True)]  # fmt: skip
            counts = sum((task.result() for task in tasks), Counter())
        except StaleCodeError as error:
            print(error)
            return 1
    seconds = round(time.perf_counter() - start)
    record = {
        "command": "python tools/source_edits.py " + " ".join(sys.argv[1:]),
        "seconds": seconds,
        "seeds": [seeds[0], seeds[-1]],
        **counts,
        "stale": 0,
        "facts": facts(),
    }
    print(json.dumps(counts))
    if options.json:
        options.json.write_text(json.dumps(record, indent=1, default=str) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
