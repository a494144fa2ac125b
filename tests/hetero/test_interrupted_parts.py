"""Ctrl-C ends the work of a pool or of Dask at once, keeps finished parts, leaves no process."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hetero

PROGRAM = """
import os, sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

folder = Path(sys.argv[2])

def run_nine(compute, pool):
    from rode._solver.finished_parts import Checkpoint
    from hetero.distributed.parts import run_parts

    checkpoint = Checkpoint(folder, "results")
    checkpoint.open({})
    run_parts(compute, range(9), executor=pool, kind="cpu", checkpoint=checkpoint)

def wait(part, device):
    if part > 0:
        (folder / f"begun-{part}").touch()
        time.sleep(300.0)
    return part

def run_waits(pool):
    run_nine(wait, pool)

def loop(part, device):
    from hetero.distributed.cancellation import raise_if_stopped

    (folder / f"begun-{part}").touch()
    while part > 0:
        raise_if_stopped()
        time.sleep(0.01)
    return part

def run_loops(pool):
    try:
        run_nine(loop, pool)
    except KeyboardInterrupt:  # as in a notebook: the workers shall be free for other work
        for future in [pool.submit(abs, -part, pure=False) for part in range(4)]:
            future.result(timeout=10.0)
        (folder / "free").touch()
        raise

def run_tmd(pool):
    import tmd

    tmd.search("exp", (0.5, 1), bits=44, precision=30, device="cpu")
    tmd.search(
        "exp", (2.0**-30, 1), bits=44, precision=38, executor=pool, device="cpu",
        checkpoint=folder / "blocks",
    )

WORK = {"waits": run_waits, "loops": run_loops, "tmd": run_tmd}

def main_of_pool():
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for process in [pool.submit(time.sleep, 0.1) for _ in range(2)]:
            process.result()
        (folder / "workers").write_text(" ".join(map(str, pool._processes)))
        WORK[sys.argv[1]](pool)

def main_of_dask():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        (folder / "workers").write_text(" ".join(map(str, client.run(os.getpid).values())))
        WORK[sys.argv[1]](client.get_executor())

if __name__ == "__main__":
    {"pool": main_of_pool, "dask": main_of_dask}[sys.argv[3]]()
"""


def is_alive(process):
    """Return whether a process runs; one that has ended but was not waited for does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def start_program(work, folder, engine="pool"):
    """Start the program above in a session of its own."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    environment = os.environ | {"PYTHONPATH": str(Path(hetero.__file__).parents[1])}
    return subprocess.Popen(
        [sys.executable, str(program), work, str(folder), engine],
        env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def kept_parts(work, folder):
    """Return what a program has kept, which is nothing until its workers are busy."""
    if work in ("waits", "loops"):
        begun = [folder / "results-0.part", folder / "begun-1", folder / "begun-2"]
        return all(path.exists() for path in begun)
    blocks = folder / "blocks"
    return blocks.exists() and blocks.read_text().count("\n") > 1


def end_session(run):
    """Kill all processes of a program that are still there."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)
    run.wait()


def require_no_worker(folder):
    """Check that the two workers have ended, or end in some seconds."""
    workers = (folder / "workers").read_text().split()
    assert len(workers) == 2
    wait_for(lambda: not any(map(is_alive, workers)), 10.0)


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(("work", "engine", "to_all"), [
    *(("waits", "pool", True), ("loops", "dask", False)),
    *(slow("waits", "pool", False), slow("waits", "dask", True)),
    *(slow("tmd", engine, to_all) for engine in ("pool", "dask") for to_all in (False, True)),
])  # fmt: skip
def test_ctrl_c(work, engine, to_all, tmp_path):
    """Interrupt a program, or all processes of its terminal, when it has stored a part."""
    if engine == "dask":
        pytest.importorskip("distributed")
    run = start_program(work, tmp_path, engine)
    try:
        wait_for(lambda: kept_parts(work, tmp_path) or run.poll() is not None, 120.0)
        assert run.poll() is None, run.stderr.read()
        (os.killpg if to_all else os.kill)(run.pid, signal.SIGINT)
        start = time.monotonic()
        _, said = run.communicate(timeout=30)
        seconds = time.monotonic() - start
        assert "KeyboardInterrupt" in said
        assert run.returncode != 0
        assert seconds < 15.0
        assert kept_parts(work, tmp_path)
        require_no_worker(tmp_path)
    finally:
        end_session(run)
    if work == "loops":  # of a terminal, Dask's own workers end at Ctrl-C
        assert (tmp_path / "free").exists()  # cancelled tasks had stopped


def test_workers_do_not_survive_their_caller(tmp_path):
    run = start_program("waits", tmp_path)
    try:
        wait_for(lambda: kept_parts("waits", tmp_path) or run.poll() is not None, 120.0)
        assert run.poll() is None, run.stderr.read()
        run.kill()
        require_no_worker(tmp_path)
        assert kept_parts("waits", tmp_path)
    finally:
        end_session(run)
