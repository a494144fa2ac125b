"""Ranks with GPUs compute the flow of ranks with CPUs, by each transport."""

import numpy as np
import pytest

from lbm_runs import ROOT, start

pytestmark = [pytest.mark.mpi, pytest.mark.cuda, pytest.mark.several_gpus]


@pytest.mark.parametrize(
    ("count", "transport"), [(2, "peer"), (2, "device"), (2, "host"), (3, "peer")]
)
def test_ranks_share_a_flow(count, transport, require_cuda, tmp_path):
    """Several ranks share a GPU if there are too few: they are correct, and warn."""
    output, used = run_worker(tmp_path, count, {"LBM_TRANSPORT": transport})
    from numba import cuda

    assert ("share cuda:" in output) == (count > len(cuda.gpus)), output
    assert used == [transport]


def test_ranks_with_a_gpu_and_cores_each_share_a_flow(require_cuda, tmp_path):
    """Copies in a rank are direct; the GPUs of two ranks are peers, and their cores use MPI."""
    _, used = run_worker(tmp_path, 2, {}, "0.4")
    assert used == ["direct", "host", "peer"]


def run_worker(folder, count, environment, *arguments):
    """Run `gpu_rank_worker.py`, check its errors, and return its output and its transports."""
    worker = ROOT / "tests/support/gpu_rank_worker.py"
    status, output, errors = start(count, worker, folder, *arguments, environment=environment,
                                   threads=None, timeout=280)  # fmt: skip
    assert status == 0, output + errors
    with np.load(folder / "errors.npz") as saved:
        assert max(saved["errors"]) < 1.0
        return output + errors, list(saved["used"])
