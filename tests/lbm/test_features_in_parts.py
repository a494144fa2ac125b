"""Models, lattices, walls, ends and scalars on two devices of a process, and on 2 to 4 ranks.

The same bodies run on parts of a CPU, whose results must be those of one part bit for bit, and on
two GPUs, where rounding may differ.
"""

import functools
import os
from pathlib import Path

import numpy as np
import pytest

from flow_features import FEATURES
from hetero.cuda.driver import SIMULATOR
from lbm.launcher import find_launcher, run_ranks

pytestmark = pytest.mark.several_gpus
ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = {"cpu": 0.0, "cuda": 1e-13}
"""Largest difference of two fields, over 1 or their largest value if that is larger, by the kind of
the devices. Kernels for the edges of a part on a GPU may contract other products and sums."""


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def two_devices(request):
    """Names of two devices of a kind."""
    if request.param == "cpu":
        return ["cpu", "cpu"]
    request.getfixturevalue("require_cuda")
    from numba import cuda

    if SIMULATOR or len(cuda.gpus) < 2:
        pytest.skip("needs two GPUs")
    return ["cuda:0", "cuda:1"]


def assert_same_fields(one, two, kind):
    """Check that all fields of two runs agree."""
    assert set(one) == set(two)
    for name, values in one.items():
        scale = max(1.0, np.abs(values).max())
        assert np.isfinite(scale), name
        assert np.abs(values - two[name]).max() <= TOLERANCE[kind] * scale, name


@functools.cache
def run_on_one(name, device):
    """Return the fields of a flow that one device computes."""
    return FEATURES[name](device=device)


CUTS = {"z": (1, 1, 2), "y": (1, 2, 1), "x": (2, 1, 1)}
CASES = [
    pytest.param(name, cut, id=f"{name}-{axis}", marks=[pytest.mark.slow] * ((k + j) % 3 != 0))
    for k, name in enumerate(FEATURES)
    for j, (axis, cut) in enumerate(CUTS.items())
]
"""Every feature with a cut along each axis; two of the three are slow tests."""


@pytest.mark.parametrize(("name", "cut"), CASES)
def test_two_devices_of_a_process_compute_the_flow_of_one(name, cut, two_devices):
    two = FEATURES[name](device=two_devices, decomposition=cut)
    assert_same_fields(run_on_one(name, two_devices[0]), two, two_devices[0].partition(":")[0])


@pytest.mark.mpi
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("count", "transport"),
    [(2, None), pytest.param(3, None, marks=pytest.mark.slow), (4, None), (2, "host")],
    ids=["2", "3", "4", "2 through host memory"],
)  # fmt: skip
def test_ranks_compute_the_flow_of_one(count, transport, two_devices, tmp_path):
    """Two ranks have a GPU each, more share them; the transport of GPUs is "peer" by default."""
    pytest.importorskip("mpi4py")
    try:
        find_launcher()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    kind = two_devices[0].partition(":")[0]
    if kind == "cpu" and transport is not None:
        pytest.skip("ranks with CPUs have no other transport")
    paths = [str(ROOT), str(ROOT / "tests" / "support"), os.environ.get("PYTHONPATH", "")]
    environment = {"PYTHONPATH": os.pathsep.join(paths)}
    environment |= {} if transport is None else {"LBM_TRANSPORT": transport}
    worker = ROOT / "tests" / "support" / "feature_rank_worker.py"
    done = run_ranks(
        count, [str(worker), str(tmp_path), kind], timeout=580, environment=environment,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for name in FEATURES:
        with np.load(tmp_path / f"{name}.npz") as fields:
            assert_same_fields(run_on_one(name, two_devices[0]), dict(fields), kind)
