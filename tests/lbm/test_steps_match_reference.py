"""Every pattern, precision and boundary condition against the oracle, cell by cell."""

import numpy as np
import pytest

import lbm
from flows import FLOWS, pair
from lbm.patterns import PATTERNS

# Storage's rounding: eps of float64 and float32, 2^-11 of the largest shifted population.
CLOSE = {"float64": 5e-15, "float32": 3e-7, "float16": 2e-4}


def difference(ours, theirs):
    rho, u = theirs.moments()
    return max(np.abs(ours.rho - rho).max(), np.abs(ours.u - u).max())


def compare(flow, collision, precision, pattern, device, steps):
    ours, theirs = pair(flow, collision, precision=precision, pattern=pattern, device=device)
    assert difference(ours, theirs) < CLOSE[precision]
    for _ in range(steps):
        ours.run(1)
        theirs.step()
        assert difference(ours, theirs) < CLOSE[precision]


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_trt_in_float64(flow, pattern, device):
    compare(flow, lbm.TRT(0.7), "float64", pattern, device, 5)


@pytest.mark.parametrize("pattern", ["ab", "esoteric"])
@pytest.mark.parametrize("precision", ["float32", "float16"])
@pytest.mark.parametrize("flow", ["cavity with bodies", "open channel"])
def test_other_precisions(flow, precision, pattern, device):
    compare(flow, lbm.TRT(0.7), precision, pattern, device, 4)


def test_bgk(device):
    compare("cavity with bodies", lbm.BGK(0.8), "float64", "esoteric", device, 4)


@pytest.mark.simulator
@pytest.mark.parametrize("pattern", PATTERNS)
def test_two_steps(pattern, device):
    compare("cavity with bodies", lbm.TRT(0.7), "float64", pattern, device, 2)
