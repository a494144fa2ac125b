"""The choice of a call's device, and the errors if it cannot be used."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import hetero
from hetero import Device, DeviceUnavailableError, resolve, use_device
from hetero.cuda import driver

no_gpu = pytest.mark.skipif(driver.why_unavailable() is None, reason="this machine has a GPU")


def test_devices_are_values():
    assert Device.parse("CUDA:1") == Device("cuda", 1)
    assert str(Device("cuda", 1)) == "cuda:1"
    assert str(Device("cpu")) == "cpu"
    assert len({Device("cpu"), Device("cpu", 0)}) == 1
    assert str(Device("cuda", np.int64(1))) == "cuda:1"
    with pytest.raises(ValueError, match="device index"):
        Device("cuda", True)


@pytest.mark.parametrize(
    "spec", ["gpu", "cuda:", "cuda:x", "cuda:²", "cpu:1", "cuda:-1", ("cuda", 0), 1]
)
def test_bad_specifications(spec):
    with pytest.raises((ValueError, TypeError), match=r"device|CPU"):
        resolve(spec)


def test_order_of_precedence(monkeypatch):
    assert resolve(None) == Device("cpu")
    monkeypatch.setenv("HETERO_DEVICE", "cuda:7")
    assert resolve("cpu") == Device("cpu")
    with use_device("cpu"):
        assert resolve(None) == Device("cpu")
    with pytest.raises(DeviceUnavailableError, match="cuda:7"):
        resolve(None)
    assert resolve("cpu", np.ones(3), [1, 2], 3.0) == Device("cpu")
    # "auto" asks for the choice by size, whatever the environment says.
    assert resolve("auto") == Device("cpu")
    with use_device("auto") as chosen:
        assert chosen is None
        assert resolve(None) == Device("cpu")
    with use_device("cpu"), use_device("auto"):
        assert resolve(None) == Device("cpu")


def test_auto_takes_a_gpu_only_for_enough_work(monkeypatch):
    monkeypatch.setattr("hetero.devices._usable_gpus", lambda: 1)
    assert resolve(None, work=99, break_even=100) == Device("cpu")
    assert resolve(None, work=100, break_even=100) == Device("cuda", 0)
    assert resolve(None, work=1e9) == Device("cpu")
    monkeypatch.setattr("hetero.devices._usable_gpus", lambda: 0)
    assert resolve(None, work=1e9, break_even=1) == Device("cpu")


@no_gpu
def test_explicit_gpu_that_is_missing_raises_with_cause_and_remedy():
    with pytest.raises(DeviceUnavailableError, match=r"not available: .+ Remedy: .+") as caught:
        resolve("cuda")
    assert caught.value.cause
    assert caught.value.remedy
    assert ". " not in caught.value.cause  # one cause; the remedy is ours


@no_gpu
def test_a_default_device_that_is_missing_is_refused_on_entry():
    with pytest.raises(DeviceUnavailableError), use_device("cuda"):
        pytest.fail("the block must not be entered")
    assert resolve(None) == Device("cpu")


class OnGpu:
    """Pretends to be an array on a GPU."""

    def __init__(self, index):
        self.index = index

    def __dlpack_device__(self):
        return (2, self.index)


def test_arrays_on_two_devices_are_refused():
    with pytest.raises(ValueError, match="several devices"):
        resolve(None, OnGpu(0), OnGpu(1))
    with pytest.raises(ValueError, match="lives on cuda:1"):
        resolve("cpu", OnGpu(1))
    with pytest.raises(ValueError, match="lives on cuda:1"):
        resolve("cuda:0", OnGpu(1))


def test_threads():
    before = hetero.threads()
    with hetero.use_threads(1):
        assert hetero.threads() == 1
    assert hetero.threads() == before
    with hetero.use_threads(np.int64(1)):
        assert hetero.threads() == 1
    for bad in (0, 10**6, 1.5):
        with pytest.raises(ValueError, match="threads"):
            hetero.set_threads(bad)


def test_an_unavailable_device_reaches_other_processes():
    error = DeviceUnavailableError("cuda:7", "there is one GPU", "use cuda:0")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert copy.remedy == "use cuda:0"


_OTHERS_AFTER_US = """
import cupy
import numpy as np

from hetero import Device
from hetero.arrays import Workspace

device = Device("cuda")
with device.active():
    ours = Workspace(device).input("x", np.arange(3.0))
    assert float(cupy.arange(3).sum()) == 3.0
assert float(cupy.full(7, 0.5).sum()) == 3.5
np.testing.assert_array_equal(Workspace(device).result(ours, (3,)), np.arange(3.0))
"""


@pytest.mark.cuda
def test_a_thread_without_a_gpu_has_one_after_the_first_use(require_cuda):
    """CuPy would compile in no context, and a result could not be copied."""
    pytest.importorskip("cupy")
    subprocess.run([sys.executable, "-c", _OTHERS_AFTER_US], check=True)
