"""Forks, Python threads and Ctrl-C: clear errors or correct results, never a hang or an abort."""

import itertools
import os
import subprocess
import sys

import pytest

from hetero.cpu.interruptible import MAX_GROWTH, ranges
from hetero.cpu.threading_layer import load_tbb
from hetero.numba_internals.parallel_layers import can_load

LOOP = """
import numpy as np
from numba import prange
from hetero.jit import parallel

@parallel
def double(x, out):
    for i in prange(x.size):
        out[i] = 2.0 * x[i]

def check_doubles(count=100_000):
    x = np.arange(float(count))
    out = np.empty_like(x)
    double(x, out)
    return bool((out == 2 * x).all())
"""

FORK = """
import multiprocessing
from concurrent.futures import ThreadPoolExecutor
import numba
from hetero.errors import ForkedProcessError
from loop import check_doubles

def answer(_):
    try:
        return check_doubles()
    except ForkedProcessError as error:
        assert "spawn" in str(error) and "tbb" in str(error)
        return "refused"

if __name__ == "__main__":
    if {is_late}:
        check_doubles()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map_async(answer, range(3)).get(timeout=60))
        try:
            print(pool.apply_async(check_doubles).get(timeout=60))
        except ForkedProcessError as error:
            print(type(error).__name__)
    print(check_doubles(), numba.threading_layer())
    with ThreadPoolExecutor(8) as threads:
        print(all(threads.map(lambda _: all(check_doubles() for _ in range(20)), range(16))))
"""


ALL_RIGHT = [str([True] * 3), "True"]


@pytest.fixture(params=["omp", "workqueue", "tbb"])
def layer(request) -> str:
    """Name of a threading layer of Numba that can be loaded here."""
    load_tbb()
    if not can_load(request.param):
        pytest.skip(f"Numba's {request.param} layer is not installed")
    return request.param


def run_script(folder, text: str, layer: str) -> list[str]:
    """Run `text` as a program in a new process, and return the lines that it prints."""
    (folder / "loop.py").write_text(LOOP)
    (folder / "program.py").write_text(text)
    environment = os.environ | {
        "NUMBA_THREADING_LAYER": layer,
        "PYTHONPATH": os.pathsep.join(["", *sys.path]).strip(os.pathsep),
    }
    done = subprocess.run([sys.executable, "program.py"], cwd=folder, env=environment,
                          capture_output=True, text=True, timeout=120)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_forked_processes_work_or_get_one_clear_error_and_threads_run_loops_at_once(
    tmp_path, layer
):
    """In the layer that was requested."""
    refused = layer == "omp" and sys.platform == "linux"  # GNU OpenMP
    in_children = [str(["refused"] * 3), "ForkedProcessError"] if refused else ALL_RIGHT
    found = run_script(tmp_path, FORK.format(is_late=True), layer)
    assert found == [*in_children, f"True {layer}", "True"]


def test_processes_forked_before_the_first_loop_can_run_loops(tmp_path):
    found = run_script(tmp_path, FORK.format(is_late=False), "omp")
    assert found == [*ALL_RIGHT, "True omp", "True"]


def test_ranges_cover_everything_once_and_grow_no_faster_than_allowed():
    pieces = list(ranges(10**7, first=1000, multiple=64))
    assert pieces[0] == (0, 960)
    assert [begin for begin, _ in pieces] == [0, *(end for _, end in pieces[:-1])]
    assert pieces[-1][1] == 10**7
    sizes = [end - begin for begin, end in pieces]
    assert all(size % 64 == 0 for size in sizes[:-1])
    assert all(b <= MAX_GROWTH * a for a, b in itertools.pairwise(sizes))
    assert list(ranges(0, first=10)) == []
    assert list(ranges(3, first=10, multiple=4)) == [(0, 3)]


def test_slow_ranges_become_shorter(monkeypatch):
    from hetero.cpu import interruptible

    clock = iter(range(1000))
    monkeypatch.setattr(interruptible.time, "perf_counter", lambda: float(next(clock)))
    sizes = [end - begin for begin, end in ranges(1000, first=500, multiple=1)]
    assert sizes[:3] == [500, 100, 100]  # a second for 500: 0.2 s for 100


KERNELS_ON_ALL_GPUS = """
import numpy as np
from numba import cuda
import hetero

hetero.Device.parse("cuda").require()
for offset in range(4):
    @cuda.jit
    def add(x):
        x[0] += offset

    for gpu in cuda.gpus:
        with gpu:
            x = cuda.to_device(np.zeros(1))
            add[1, 1](x)
            assert x.copy_to_host()[0] == offset
print("done")
"""


@pytest.mark.cuda
@pytest.mark.several_gpus
def test_a_process_ends_well_after_kernels_on_several_gpus(require_cuda):
    """Numba unloads a kernel once for each GPU, though it was loaded once: that must not happen."""
    from numba import cuda

    if len(cuda.gpus) < 2:
        pytest.skip("needs two GPUs")
    variables = {"NUMBA_CUDA_MAX_PENDING_DEALLOCS_COUNT": "0"}
    done = subprocess.run([sys.executable, "-c", KERNELS_ON_ALL_GPUS], env=os.environ | variables,
                          check=False, capture_output=True, text=True, timeout=120)  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


COMPILE_IN_A_THREAD = """
import os
import threading
import time
from numba.core.compiler_lock import global_compiler_lock
import loop

begun, done = threading.Event(), threading.Event()

def hold():
    with global_compiler_lock:
        begun.set()
        done.wait(0.5)

thread = threading.Thread(target=hold)
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    free = global_compiler_lock._lock.acquire(timeout=20)
    os._exit(0 if free else 1)
done.set()
thread.join()
print("compiles" if os.waitpid(child, 0)[1] == 0 else "hangs")
print(loop.check_doubles())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system")
def test_a_fork_while_another_thread_compiles(tmp_path):
    assert run_script(tmp_path, COMPILE_IN_A_THREAD, "omp") == ["compiles", "True"]


def test_a_compiler_that_is_switched_off_is_named(tmp_path, monkeypatch):
    program = """
import pickle
import hetero
import stablegpu
try:
    stablegpu.ndtr(0.0)
except hetero.CompilerDisabledError as error:
    print("NUMBA_DISABLE_JIT" in str(error) and "Remedy" in str(error))
    print(str(pickle.loads(pickle.dumps(error))) == str(error))
"""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert run_script(tmp_path, program, "omp") == ["True", "True"]
