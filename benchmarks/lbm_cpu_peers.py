"""lbm on the CPU against lbmpy (generated C with vector instructions), in turn on one machine.

lbmpy runs in a process of its own, in this Python or in the one that the environment variable
LBMPY_PYTHON names. It needs `pip install lbmpy` and a C++ compiler.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import hetero
from benchmarks.measurements import Measurement
from hetero.simd.width import processor_features
from lbm import TRT, Simulation
from lbm._model.precision import PRECISIONS
from lbm.flows import cavity

STEPS, ROUNDS = 6, 15
"""Steps of a sample, short enough that both see the same load of the machine; number of samples."""

PAUSE = 0.05
"""Seconds before a sample, in which idle threads of the one before stop waiting actively."""

WORKER = Path(__file__).with_name("lbmpy_worker.py")
TARGETS = {"X86_AVX": "avx", "X86_AVX512": "avx512f"}
"""Instruction sets for which lbmpy generates code, and LLVM's names of these."""

NOTE = (
    "TRT, steps only, in place; medians of samples taken in turn. lbmpy: compressible, shifted "
    "populations, periodic without the exchange of ghost layers"
)


class Peer:
    """lbmpy in another process, which does steps on demand."""

    def __init__(self, python: str, target: str, n: int, dtype: str):
        environment = os.environ | {"OMP_NUM_THREADS": str(hetero.threads())}
        command = [python, str(WORKER), target, str(n), dtype]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen(command, env=environment, **pipes)
        self.version = self._read()

    def _read(self) -> str:
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"lbmpy ended with code {self._process.wait()}; see its message")
        return line.strip()

    def seconds(self, steps: int) -> float:
        """Return the time of this many steps."""
        print(steps, file=self._process.stdin, flush=True)
        return float(self._read())

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait()


class Own:
    """A simulation of this package with the same interface."""

    def __init__(self, simulation: Simulation):
        self._simulation = simulation
        simulation.advance(2)

    def seconds(self, steps: int) -> float:
        """Return the time of this many steps."""
        start = time.perf_counter()
        self._simulation.advance(steps)
        return time.perf_counter() - start


def run(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure a periodic domain and a cavity of 128^3 cells in both precisions."""
    python = os.environ.get("LBMPY_PYTHON", sys.executable)
    if device.kind != "cpu":
        print("lbm-peers compares CPUs: leave out --device", file=sys.stderr)
        return []
    if subprocess.run([python, "-c", "import lbmpy"], capture_output=True).returncode:
        print(
            f"lbm-peers needs lbmpy, which {python} cannot import: pip install lbmpy there, "
            "or set LBMPY_PYTHON to the Python of another environment",
            file=sys.stderr,
        )
        return []
    figures = []
    for dtype in ("float32",) if quick else ("float32", "float64"):
        figures += compare(python, 32 if quick else 128, dtype, 3 if quick else ROUNDS)
    return figures


def compare(python: str, n: int, dtype: str, rounds: int) -> list[Measurement]:
    """Measure the update rates in MLUPS of all flows and of lbmpy, in turn."""
    peers = {
        target: Peer(python, target, n, dtype)
        for target, feature in TARGETS.items()
        if feature in processor_features()
    }
    options = PRECISIONS[dtype].arguments | {"device": "cpu", "check": 0}
    own = {}
    for pattern in ("esoteric", "aa"):
        periodic = Simulation((n, n, n), collision=TRT(0.6), pattern=pattern, **options)
        own[f"periodic {n}^3, {dtype}, {pattern}"] = Own(periodic)
    own[f"cavity {n}^3, {dtype}, esoteric"] = Own(cavity(n, **options))
    runners = peers | own
    rates: dict[str, list[float]] = {name: [] for name in runners}
    for _ in range(rounds):
        for name, runner in runners.items():
            time.sleep(PAUSE)
            rates[name].append(n**3 * STEPS / runner.seconds(STEPS) / 1e6)
    medians = {name: statistics.median(values) for name, values in rates.items()}
    for peer in peers.values():
        peer.close()
    theirs = {f"{peer.version}, {target}": medians[target] for target, peer in peers.items()}
    return [
        Measurement(
            name, medians[name], "MLUPS", peers=theirs, note=NOTE,
            timing={"samples": rates[name], "peers": {t: rates[t] for t in peers}},
        )
        for name in own
    ]  # fmt: skip
