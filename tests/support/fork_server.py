"""Fresh processes at a twentieth of the price: a process that has loaded Numba forks for each run.

The server has compiled a few functions without the cache, so that Numba's tables are full, but no
function of a test: what a child compiles or loads is new to it.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

ROOT = Path(__file__).parents[2]

SERVER = """
import contextlib, io, json, os, sys, traceback
os.environ["HETERO_CACHE"] = "0"
from numba import njit
from hetero.compile_cache.disk_cache import DiskCache
from hetero.jit import serial

@serial
def one(x):
    return x + 1.0

@serial
def other(x):
    return one(x) if x > 0.0 else -x

other(1.0), other(1)

def run(request, pipe):
    os.environ.update(request["environment"])
    os.chdir(request["path"])
    sys.path.insert(0, request["path"])
    sys.dont_write_bytecode = request["no_bytecode"]
    output, errors = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            exec(compile(request["code"], "<run>", "exec"), {"__name__": "__main__"})
        answer = output.getvalue().split(), DiskCache.hits, errors.getvalue()
    except BaseException as error:
        answer = traceback.format_exc(), type(error).__name__, errors.getvalue()
    os.write(pipe, json.dumps(answer).encode())

for line in sys.stdin:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        run(json.loads(line), writer)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        answer = file.read()
    os.waitpid(child, 0)
    print(answer or '["the process died", "signal", ""]', flush=True)
"""


class ForkServer:
    """Runs code in forked processes, in the folder `path`, from which modules can be imported.

    `hits` is the number of functions that the last run loaded from the cache, which is in that
    folder, and `errors` what it wrote to its standard error.
    """

    def __init__(self, path: Path):
        self.path, self.hits, self.errors = path, 0, ""
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed by `close`
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            # Less optimization: the time of a run is that of its compilations.
            env=os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_OPT": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def run(
        self,
        code: str,
        *,
        cached: bool = True,
        bytecode: bool = False,
        path: Path | None = None,
        may_fail: bool = False,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> list[str]:
        """Return the words that `code` prints in a fresh process, with variables of an environment.

        `bytecode` lets Python keep bytecode of imported modules, as it usually does. Raises
        RuntimeError if the code does; if it `may_fail`, the name of its error is returned instead.
        """
        path = path or self.path
        request = {
            "code": code,
            "path": str(path),
            "no_bytecode": not bytecode,
            "environment": {
                "HETERO_CACHE": str(int(cached)),
                "HETERO_CACHE_DIR": str(path / "cache"),
                **environment,
            },
        }
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            self._errors.seek(0)
            raise RuntimeError(self._errors.read())
        words, hits, self.errors = json.loads(answer)
        if isinstance(hits, int):
            self.hits = hits
            return words
        self.hits = 0
        if may_fail:
            return [hits]
        raise RuntimeError(words)

    def close(self) -> None:
        """End the server."""
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
        self._errors.close()
