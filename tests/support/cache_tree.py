"""A copy of `hetero` beside a small package, with a cache of its own, for tests of the cache."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

HELPER = """
from hetero.jit import scalar

@scalar
def twice(x):
    return 2.0 * x
"""

LOOPS = """
import numba
import numpy as np
from hetero.codegen import compile_source
from hetero.jit import parallel, serial
from toy.helper import twice

@serial
def plain(x):
    return twice(x) + 1.0

def make_sum(f, offset):
    @parallel
    def total(n):
        values = np.empty(n)
        for i in numba.prange(n):
            values[i] = f(float(i)) + offset
        return values.sum()

    return total

def make_generated(power):
    source = f"def generated(x):\\n    return twice({' * '.join(['x'] * power)})\\n"
    return serial(compile_source("generated", source, {"twice": twice}))
"""

COUNT = "; from hetero.compile_cache.disk_cache import DiskCache as C; print(C.hits, C.misses)"


class Tree:
    """A copy of `hetero`, a small package that is registered, and a folder for compiled code."""

    def __init__(self, path: Path):
        self.path, self.cache = path, path / "cache"
        self.errors = ""
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "hetero", path / "hetero", ignore=ignored)
        register = (
            "from hetero.compile_cache.sources import register\nregister(__name__, __path__[0])\n"
        )
        self.write("toy/__init__.py", register)
        self.write("toy/helper.py", HELPER)
        self.write("toy/loops.py", LOOPS)

    def write(self, name: str, text: str) -> None:
        """Write a file; Python's own bytecode of it is always out of date then."""
        path = self.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)

    def start(self, code: str, **environment: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=self.path,
            env=os.environ
            | {"HETERO_CACHE_DIR": str(self.cache), "PYTHONPATH": str(self.path)}
            | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, code: str, **environment: str) -> list[str]:
        """Return the words that a fresh process prints."""
        process = self.start(code, **environment)
        output, self.errors = process.communicate()
        assert process.returncode == 0, self.errors
        return output.split()

    def folder(self) -> Path:
        """The folder that holds everything."""
        return self.cache / "heterokit-compiled-code"

    def files(self) -> list[Path]:
        """The files of compiled code."""
        return sorted(p for p in self.folder().glob("*/*") if p.is_file())
