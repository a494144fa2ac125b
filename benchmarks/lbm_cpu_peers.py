"""lbm on the CPU against lbmpy (generated C with vector instructions), in turn on one machine.

lbmpy runs in a process of its own, in this Python or in the one that the environment variable
LBMPY_PYTHON names. It needs `pip install lbmpy` and a C++ compiler.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import hetero
from benchmarks.measurements import Measurement
from lbm import TRT, Simulation
from lbm._kernels.intrinsics.vector_width import processor_features
from lbm.flows import cavity
from lbm.lattices.precision import PRECISIONS

TURN, ROUNDS = 0.1, 15
"""Seconds of a sample, so short that all see the same load of the machine; number of samples."""

PAUSE = 0.05
"""Seconds before a sample, in which idle threads of the one before stop waiting actively."""

WORKER = Path(__file__).with_name("lbmpy_worker.py")
TARGETS = {"X86_AVX": "avx", "X86_AVX512": "avx512f"}
"""Instruction sets for which lbmpy generates code, and LLVM's names of these."""

NOTE = (
    "TRT, steps only, in place; medians of samples taken in turn. lbmpy: compressible, shifted "
    "populations, periodic without the exchange of ghost layers"
)


class Sample(NamedTuple):
    """Times of some steps: on the wall clock, and of all threads on processors, in seconds."""

    wall: float
    processor: float


class Peer:
    """lbmpy in another process, which does steps on demand."""

    def __init__(self, python: str, target: str, n: int, dtype: str, threads: int):
        environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
        command = [python, str(WORKER), target, str(n), dtype]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True)
        assert process.stdin is not None  # as both are pipes
        assert process.stdout is not None
        self._process, self._orders, self._answers = process, process.stdin, process.stdout
        self.version = self._read()

    def _read(self) -> str:
        line = self._answers.readline()
        if not line:
            raise RuntimeError(f"lbmpy ended with code {self._process.wait()}; see its message")
        return line.strip()

    def sample(self, steps: int) -> Sample:
        """Return the times of this many steps."""
        print(steps, file=self._orders, flush=True)
        return Sample(*map(float, self._read().split()))

    def close(self) -> None:
        """End the process."""
        self._orders.close()
        self._process.wait()


class Own:
    """A simulation of this package with the same interface."""

    def __init__(self, simulation: Simulation):
        self._simulation = simulation
        simulation.advance(2)

    def sample(self, steps: int) -> Sample:
        """Return the times of this many steps."""
        start = time.perf_counter(), time.process_time()
        self._simulation.advance(steps)
        return Sample(time.perf_counter() - start[0], time.process_time() - start[1])


def run(device: hetero.Device, quick: bool) -> Iterator[Measurement]:
    """Measure a periodic domain and a cavity of 128^3 cells in both precisions.

    First with one thread, for which all processes are bound to one core, then with all threads.
    """
    python = os.environ.get("LBMPY_PYTHON", sys.executable)
    if device.kind != "cpu":
        print("lbm-peers compares CPUs: leave out --device", file=sys.stderr)
        return
    if subprocess.run([python, "-c", "import lbmpy"], capture_output=True).returncode:
        print(
            f"lbm-peers needs lbmpy, which {python} cannot import: pip install lbmpy there, "
            "or set LBMPY_PYTHON to the Python of another environment",
            file=sys.stderr,
        )
        return
    for threads in dict.fromkeys((1, hetero.threads())):
        with hetero.use_threads(threads), bound_to_one_core(threads == 1):
            for dtype in ("float32",) if quick else ("float32", "float64"):
                yield from compare(python, 32 if quick else 128, dtype, 3 if quick else ROUNDS)


@contextlib.contextmanager
def bound_to_one_core(is_bound: bool) -> Iterator[None]:
    """Bind this thread, and processes that it starts, to one core, if the system can do it."""
    if not is_bound or not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def compare(python: str, n: int, dtype: str, rounds: int) -> Iterator[Measurement]:
    """Measure the update rates in MLUPS of all flows and of lbmpy, in turn."""
    threads = hetero.threads()
    peers = {
        target: Peer(python, target, n, dtype, threads)
        for target, feature in TARGETS.items()
        if feature in processor_features()
    }
    options: dict[str, Any] = PRECISIONS[dtype].arguments | {"device": "cpu", "check": 0}
    own = {}
    for pattern in ("esoteric", "aa"):
        periodic = Simulation((n, n, n), collision=TRT(0.6), pattern=pattern, **options)
        own[f"periodic {n}^3, {dtype}, {pattern}"] = Own(periodic)
    own[f"cavity {n}^3, {dtype}, esoteric"] = Own(cavity(n, **options))
    runners = peers | own
    steps = {name: choose_steps(runner) for name, runner in runners.items()}
    samples: dict[str, list[Sample]] = {name: [] for name in runners}
    for _ in range(rounds):
        for name, runner in runners.items():
            time.sleep(PAUSE)
            samples[name].append(runner.sample(steps[name]))
    rates = {k: [n**3 * steps[k] / x.wall / 1e6 for x in v] for k, v in samples.items()}
    busy = {k: statistics.median(x.processor / x.wall for x in v) for k, v in samples.items()}
    medians = {name: statistics.median(values) for name, values in rates.items()}
    for peer in peers.values():
        peer.close()
    theirs = {f"{peer.version}, {target}": medians[target] for target, peer in peers.items()}
    word = "thread, bound to a core" if threads == 1 else "threads"
    for name in own:
        cores = ", ".join(f"{k} {busy[k]:.2f}" for k in (name, *peers))
        yield Measurement(
            f"{name}, {threads} {word}", medians[name], "MLUPS", peers=theirs,
            note=f"{NOTE}; processor time over wall time: {cores}",
            timing={
                "samples": rates[name], "peers": {t: rates[t] for t in peers},
                "processor time over wall time": {k: busy[k] for k in (name, *peers)},
            },
        )  # fmt: skip


def choose_steps(runner: Peer | Own) -> int:
    """Return an even number of steps that take about `TURN`."""
    return 2 * max(1, round(TURN / runner.sample(2).wall))
