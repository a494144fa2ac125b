"""Public functions of all packages on cuda:1, in a thread whose current GPU is cuda:0.

A kernel that is launched on the current GPU instead reads and writes addresses of another one: the
results are wrong, or the process has lost its GPUs (CUDA_ERROR_ILLEGAL_ADDRESS).
"""

import numpy as np
import pytest

import hetero
import lbm
import rode
import sbth
import stablegpu
import tmd
from hetero.cuda.driver import SIMULATOR
from hetero.devices import device_of
from public_calls import CALLS, PARAMETERS, cavity

pytestmark = [pytest.mark.cuda, pytest.mark.several_gpus]

GPU = hetero.Device("cuda", 1)

NEEDS_CUPY = {"sbth.full_to_band", "sbth.eigvalsh", "sbth.eigsh"}
"""Calls that need CuPy on a GPU."""

LOOSE = {"stablegpu.fit, ml": 1e-5, "stablegpu.fit_windows": 1e-5, "stablegpu.FitResult": 1e-4,
         "stablegpu.bootstrap": 1e-4, "stablegpu.goodness_of_fit": 1e-4,
         "stablegpu.fit, koutrouvelis": 1e-6, "stable.rvs": 1e-8}  # fmt: skip
"""Tolerances of calls with iterations or a sensitive transform, of the largest value."""

TOLERANCE = 1e-9
"""Tolerance of all others: between devices only rounding differs."""

ARRAYS = {
    "stable.pdf": lambda x: stablegpu.stable(*PARAMETERS).pdf(x),
    "stable.ppf": lambda x: stablegpu.stable(*PARAMETERS).ppf(x),
    "stablegpu.pdf": lambda x: stablegpu.pdf(x, *PARAMETERS),
    "stablegpu.log_ndtr": stablegpu.log_ndtr,
    "stablegpu.logsumexp": stablegpu.logsumexp,
    "rode.average": lambda x: rode.average(x, 4),
    "sbth.eigvals_banded": lambda x: sbth.eigvals_banded(x.reshape(4, -1)),
}
"""Functions of an array with 64 elements in (0, 1), whose results are on its device."""


def flatten(result):
    """Return the numbers of a result, as one array or a tuple of several."""
    parts = result if isinstance(result, tuple | list) else (result,)
    return [np.asarray(part, np.float64).ravel() for part in parts]


@pytest.fixture
def current_gpu(require_cuda):
    """Make cuda:0 current, and let it be current at the end of the test."""
    from hetero.cuda.driver import cuda

    if SIMULATOR or len(cuda.gpus) < 2:
        pytest.skip("needs two GPUs")
    with cuda.gpus[0]:
        yield
        assert cuda.current_context().device.id == 0


@pytest.mark.parametrize("name", CALLS)
def test_values_on_the_second_gpu_are_those_of_the_cpu(name, current_gpu):
    from hetero.cuda.driver import cuda

    if name in NEEDS_CUPY:
        pytest.importorskip("cupy")
    expected = flatten(CALLS[name]("cpu"))
    computed = flatten(CALLS[name](str(GPU)))
    assert cuda.current_context().device.id == 0
    assert len(computed) == len(expected)
    for values, true in zip(computed, expected, strict=True):
        unit = max(1e-300, np.abs(true[np.isfinite(true)]).max(initial=0.0))
        scale = LOOSE.get(name, TOLERANCE) * unit
        np.testing.assert_allclose(values, true, rtol=0.0, atol=scale)


def make_numba(values):
    from hetero.cuda.driver import cuda

    with cuda.gpus[GPU.index]:
        return cuda.to_device(values), lambda array: array.copy_to_host()


def make_cupy(values):
    cupy = pytest.importorskip("cupy")
    with cupy.cuda.Device(GPU.index):
        return cupy.asarray(values), cupy.asnumpy


def make_torch(values):
    torch = pytest.importorskip("torch")
    return torch.tensor(values, device=str(GPU)), lambda tensor: tensor.cpu().numpy()


@pytest.mark.parametrize("make", [make_numba, make_cupy, make_torch])
@pytest.mark.parametrize("name", ARRAYS)
def test_results_are_on_the_gpu_that_holds_the_argument(name, make, current_gpu):
    from hetero.cuda.driver import cuda

    values = np.random.default_rng(3).uniform(0.05, 0.95, 64)
    array, to_host = make(values)
    result = ARRAYS[name](array)
    assert cuda.current_context().device.id == 0
    assert device_of(result) == GPU
    true = np.asarray(ARRAYS[name](values))
    np.testing.assert_allclose(to_host(result), true, rtol=0.0, atol=TOLERANCE * np.abs(true).max())


def test_a_flow_on_the_second_gpu_is_saved_and_restored(tmp_path, current_gpu):
    one = cavity(str(GPU)).run(6)
    one.save(tmp_path / "a.state")
    one.run(5)
    two = cavity(str(GPU)).restore(tmp_path / "a.state").run(5)
    np.testing.assert_array_equal(one.populations(), two.populations())


def test_a_flow_returns_to_a_good_state_on_the_second_gpu(current_gpu):
    s = lbm.Simulation((16, 16, 4), collision=lbm.BGK(0.5001), check=50, device=str(GPU),
                       u=lambda x, y, z: (0.2 * np.sin(y), 0.2 * np.sin(x), 0.0 * z))  # fmt: skip
    with pytest.raises(lbm.UnstableError):
        s.run(5000)
    assert np.isfinite(s.u).all()


def test_all_gpus_are_named_at_once(require_cuda):
    u = np.full((3, 8, 8, 8), 0.01)
    flows = [lbm.Simulation((8, 8, 8), u=u, device=device, dtype="float64").run(3)
             for device in ("cuda", "cuda:all")]  # fmt: skip
    np.testing.assert_allclose(flows[1].rho, flows[0].rho, rtol=1e-12)
    assert len(flows[1].devices) == sum(d.kind == "cuda" for d in hetero.available())
    searches = [
        tmd.search("exp", (1, 1 + 2.0**-20), bits=30, device=device)
        for device in ("cuda", "cuda:all")
    ]
    assert searches[0].certificate == searches[1].certificate
