"""A small package with a cache of its own, for tests of the cache."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from fork_server import ROOT, ForkServer

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
    """A small package that is registered, beside a folder for compiled code."""

    def __init__(self, path: Path, server: ForkServer):
        self.path, self.cache, self._server = path, path / "cache", server
        register = (
            "from hetero.compile_cache.sources import register\nregister(__name__, __path__[0])\n"
        )
        self.write("toy/__init__.py", register)
        self.write("toy/helper.py", HELPER)
        self.write("toy/loops.py", LOOPS)

    @property
    def errors(self) -> str:
        """What the last run wrote to its standard error."""
        return self._server.errors

    def write(self, name: str, text: str) -> None:
        """Write a file; Python's own bytecode of it is always out of date then."""
        path = self.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)

    def run(self, code: str, *, bytecode: bool = False, **environment: str) -> list[str]:
        """Return the words that a forked process prints."""
        return self._server.run(
            code, path=self.path, bytecode=bytecode, environment={"HETERO_CACHE": "1"} | environment
        )

    def start(self, code: str, **environment: str) -> subprocess.Popen:
        """Start a new interpreter; modules in the folder come before all others."""
        folders = f"{self.path}{os.pathsep}{ROOT}"
        ours = {"HETERO_CACHE_DIR": str(self.cache), "PYTHONPATH": folders, "NUMBA_OPT": "1"}
        return subprocess.Popen(
            [sys.executable, "-c", code], cwd=self.path, env=os.environ | ours | environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run_fresh(self, code: str, **environment: str) -> list[str]:
        """Return the words that a new interpreter prints."""
        process = self.start(code, **environment)
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        return output.split()

    def folder(self) -> Path:
        """The folder that holds everything."""
        return self.cache / "heterokit-compiled-code"

    def files(self) -> list[Path]:
        """The files of compiled code."""
        return sorted(p for p in self.folder().glob("*/*") if p.is_file())
