"""Parts of a computation on devices, executors and ranks."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import hetero
import parts_worker
from hetero.cuda.driver import SIMULATOR
from hetero.distributed import worker_devices
from hetero.distributed.cancellation import current_flag
from hetero.distributed.parts import WorkerLostWarning, check_engine, count_workers, run_parts
from hetero.distributed.worker_devices import device_of_worker, several_devices
from lbm.launcher import find_launcher

CPU = hetero.Device("cpu")


def square(part, device):
    assert device == CPU
    return part**2


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        yield executor


def test_results_have_the_order_of_the_parts():
    def wait_and_square(part, device):
        time.sleep(0.01 * (5 - part))
        return square(part, device)

    order = []
    results = run_parts(
        wait_and_square, range(5), devices=[CPU, CPU], on_result=lambda n, r: order.append((n, r))
    )
    assert results == [0, 1, 4, 9, 16]
    assert sorted(order) == list(enumerate(results))


def test_an_error_ends_the_other_parts():
    begun, ended = [], []

    def compute(part, device):
        begun.append(part)
        if part == 0:
            raise ValueError("part 0 is wrong")
        stop = current_flag()
        while not stop[0]:
            time.sleep(0.001)
        time.sleep(0.1)
        ended.append(part)

    with pytest.raises(ValueError, match="part 0 is wrong"):
        run_parts(compute, range(100), devices=[CPU, CPU])
    assert len(begun) <= 4
    assert sorted([0, *ended]) == sorted(begun)


def test_devices_share_the_threads_of_the_caller():
    counts = run_parts(lambda *_: hetero.threads(), range(4), devices=[CPU, CPU])
    assert set(counts) == {max(1, hetero.threads() // 2)}


def test_threads_of_devices_are_kept_and_calls_within_calls_get_others():
    innermost = threading.Barrier(4)

    def call(depth, device=CPU):
        inner = run_parts(call, [depth - 1] * 2, devices=[CPU, CPU]) if depth else []
        if not depth:
            innermost.wait(timeout=60.0)
        return {threading.get_ident()}.union(*inner)

    threads = call(2)
    assert len(threads) == 1 + 2 + 4
    assert call(2) == threads


def test_workers_get_functions_by_value(pool):
    factor = 3
    results = run_parts(
        lambda part, device: (factor * part, str(device), os.getpid()),
        range(6), executor=pool, kind="cpu",
    )  # fmt: skip
    assert [r[:2] for r in results] == [(3 * k, "cpu") for k in range(6)]
    assert os.getpid() not in {r[2] for r in results}


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_parts_of_a_worker_that_dies_are_computed_here(tmp_path):
    here = os.getpid()

    def compute(part, device):
        done = tmp_path / f"{part}-{os.getpid()}"
        if part == 3 and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        done.touch()
        return part**2

    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        finished = []
        with pytest.warns(WorkerLostWarning, match="of 8 parts are computed by this process"):
            results = run_parts(
                compute, range(8), executor=executor, kind="cpu",
                on_result=lambda number, _: finished.append(number),
            )  # fmt: skip
    assert results == [k**2 for k in range(8)]
    assert sorted(finished) == list(range(8))
    assert (tmp_path / f"3-{here}").exists()


def test_an_executor_that_is_broken_is_no_obstacle():
    executor = ProcessPoolExecutor(1, get_context("spawn"))
    with pytest.raises(BrokenExecutor):
        executor.submit(os._exit, 1).result()
    with pytest.warns(WorkerLostWarning, match="3 of 3 parts"):
        assert run_parts(square, range(3), executor=executor, kind="cpu") == [0, 1, 4]


def test_engines_are_checked():
    with pytest.raises(TypeError, match="executor must be a concurrent"):
        check_engine(3, None)
    with pytest.raises(TypeError, match="comm must be a communicator of mpi4py"):
        check_engine(None, 3)
    with ThreadPoolExecutor(1) as executor, pytest.raises(ValueError, match="exclude each other"):
        check_engine(executor, type("Comm", (), {"allgather": print})())


def test_several_devices():
    assert several_devices("cpu") == several_devices(None) == ()
    assert several_devices(["cpu", CPU]) == (CPU, CPU)
    with pytest.raises(ValueError, match="one or more devices of one kind, got none"):
        several_devices([])
    with pytest.raises(TypeError, match="device must name each of several"):
        several_devices(["cpu", None])
    with pytest.raises(TypeError, match="device must be a list of devices"):
        several_devices(3)
    if not SIMULATOR and len(hetero.available()) == 1:
        with pytest.raises(hetero.DeviceUnavailableError):
            several_devices("cuda:all")


def test_workers_choose_their_devices(monkeypatch):
    monkeypatch.setattr(
        worker_devices, "available", lambda: (CPU, *(hetero.Device("cuda", k) for k in range(4)))
    )
    for name in worker_devices.LOCAL_RANKS:
        monkeypatch.delenv(name, raising=False)
    assert device_of_worker.__wrapped__("cpu") == CPU
    monkeypatch.setattr(worker_devices, "_claim", lambda gpu: gpu.index >= 2)
    assert str(device_of_worker.__wrapped__(None)) == "cuda:2"
    monkeypatch.setenv("SLURM_LOCALID", "5")
    assert str(device_of_worker.__wrapped__("cuda")) == "cuda:1"


@pytest.fixture(scope="module")
def expected():
    """What one device computes; the workers then have its compiled code from disk."""
    return parts_worker.run()


def assert_same(found, expected):
    for name, array in expected.items():
        if name in ("mean", "variance"):  # sums whose order depends on the parts
            np.testing.assert_allclose(found[name], array, rtol=1e-12, atol=1e-15)
        else:
            np.testing.assert_array_equal(found[name], array)


def run_ranks(action, out, ranks=3, module=()):
    """Run an action of parts_worker.py on ranks, which must all end."""
    program = [sys.executable, *module, parts_worker.__file__, action, str(out)]
    environment = os.environ | {"PYTHONPATH": str(Path(hetero.__file__).parents[1])}
    command = [find_launcher(), "-n", str(ranks), *program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.mpi
@pytest.mark.parametrize("engine", ["ranks", pytest.param("pool", marks=pytest.mark.slow)])
def test_ranks_and_pools_of_mpi(engine, tmp_path, expected):
    out = tmp_path / "found.npz"
    run = run_ranks(engine, out, module=[] if engine == "ranks" else ["-m", "mpi4py.futures"])
    assert run.returncode == 0, run.stderr
    with np.load(out) as found:
        assert_same(found, expected)


@pytest.mark.mpi
def test_an_error_of_one_rank_is_raised_by_all(tmp_path):
    run = run_ranks("errors", tmp_path / "out")
    assert run.returncode == 0, run.stderr
    own = ["MemoryError: too little here", "SystemExit: 3", "OSError: disk full"]
    for rank in range(3):
        said = (tmp_path / f"out.{rank}").read_text().splitlines()
        thrower = (1, 1, 0)
        assert said == [
            error if rank == by else f"RuntimeError: rank {by} failed: {error}"
            for error, by in zip(own, thrower, strict=True)
        ]


@pytest.mark.mpi
def test_a_job_that_died_resumes(tmp_path, expected):
    out = tmp_path / "found.npz"
    assert run_ranks("dies", out, 2).returncode != 0
    assert not out.exists()
    # A rank that is killed while it writes a part leaves a file with a longer name.
    names = [path.name for path in out.with_suffix(".parts").iterdir()]
    finished = [name for name in names if re.fullmatch(r"results-\d+\.part", name)]
    assert finished  # those of both ranks, up to the one in which a rank died
    assert "results-3.part" not in finished
    times = {name: (out.with_suffix(".parts") / name).stat().st_mtime_ns for name in finished}
    run = run_ranks("resumes", out, 3)
    assert run.returncode == 0, run.stderr
    with np.load(out) as found:
        assert_same(found, {name: expected[name] for name in found.files})
    for name, written in times.items():
        assert (out.with_suffix(".parts") / name).stat().st_mtime_ns == written


def test_processes(pool, expected):
    assert_same(parts_worker.run(executor=pool), expected)


def test_dask(expected):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = client.get_executor()
        assert count_workers(executor) == 2
        found = parts_worker.solve(executor=executor) | parts_worker.search(executor=executor)
        assert_same(found, {name: expected[name] for name in found})


def test_several_devices_give_the_same(expected):
    two = ["cpu", "cpu"]
    assert_same(parts_worker.run(two) | parts_worker.solve(two, parts=3), expected)
