"""A domain on two devices computes the same flow as on one."""

import numpy as np
import pytest

import hetero
import lbm
from flows import FLOWS, SHAPE, noisy, pair
from lbm._domain.load_balance import StepTimeModel
from lbm._domain.split_domain import SplitDomain
from lbm._fields.stability import LastGoodState
from lbm._model.streaming_patterns import PATTERNS


def split(simulation, cuts, devices):
    simulation.domain = SplitDomain(simulation.problem, cuts, devices, simulation.faces)
    rho, u = noisy(SHAPE)
    simulation.set(rho=rho, u=u)
    return simulation


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("cuts", [[1], [4], [8], [3, 4], [1, 4, 6]])
def test_parts_on_the_cpu_are_bit_for_bit_one(flow, pattern, cuts):
    options = {"dtype": "float64", "pattern": pattern, "device": "cpu"}
    one, _ = pair(flow, lbm.TRT(0.7), **options)
    two, _ = pair(flow, lbm.TRT(0.7), **options)
    split(two, cuts, [hetero.Device("cpu")] * (len(cuts) + 1))
    for _ in range(5):
        one.run(1)
        two.run(1)
        assert np.array_equal(one.populations(), two.populations())
    for body in one.solids:
        assert np.array_equal(one.force_on(body), two.force_on(body))


@pytest.mark.cuda
@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.5, 1.0, "auto"])
def test_cpu_and_gpu_together(ratio, require_cuda):
    options = {"dtype": "float64", "device": "cuda", "ratio": ratio}
    ours, theirs = pair("cavity with bodies", lbm.TRT(0.7), **options)
    for _ in range(6):
        ours.run(1)
        theirs.step()
        assert np.abs(ours.u - theirs.moments()[1]).max() < 5e-15


@pytest.mark.simulator
def test_a_gpu_moves_planes_of_the_cpus_block(device):
    if device != "cuda":
        pytest.skip("needs a GPU or its simulator beside the CPU")
    walls = {"x": lbm.NoSlip(), "y-": lbm.NoSlip(), "y+": lbm.MovingWall((0.05, 0.0, 0.0))}
    rho, u = noisy((4, 6, 3))
    options = {"collision": lbm.TRT(0.7), "boundaries": walls, "rho": rho, "u": u, "check": 0}
    one, two = (
        lbm.Simulation((4, 6, 3), dtype="float64", device=device, ratio=ratio, **options)
        for ratio in (0.0, 0.4)
    )
    for _ in range(2):
        assert np.abs(one.run(1).u - two.run(1).u).max() < 5e-15


def test_the_model_prefers_a_gpu_alone_unless_the_cpu_helps():
    slow = StepTimeModel(1e-6, 1e-4, 1e-5, 1e-5, 1e-4)
    assert slow.best_cpu_rows(512) == 0
    fair = StepTimeModel(1e-5, 3e-5, 1e-6, 1e-6, 1e-6)
    rows = fair.best_cpu_rows(512)
    assert 110 < rows < 140  # a quarter, minus the cost of the edges
    assert fair.predict_step(rows, 512) < 0.8 * fair.predict_step(0, 512)


@pytest.mark.parametrize("pattern", ["ab", pytest.param("esoteric", marks=pytest.mark.simulator)])
@pytest.mark.parametrize("cut", [0, 2])
def test_a_saved_state_is_restored_bit_for_bit(pattern, cut, device):
    rho, u = noisy((4, 5, 3))
    walls = {"x": lbm.NoSlip(), "y-": lbm.NoSlip(), "y+": lbm.MovingWall((0.05, 0.0, 0.0))}
    s = lbm.Simulation((4, 5, 3), collision=lbm.TRT(0.7), boundaries=walls, rho=rho, u=u, check=0,
                       dtype="float64", pattern=pattern, device=device)  # fmt: skip
    if cut:
        s.domain = SplitDomain(s.problem, [cut], [hetero.Device("cpu"), s.device], s.faces)
        s.set(rho=rho, u=u)
    good = LastGoodState()
    for steps in (1, 2):  # the second time in the memory of the first
        good.save_from(s.run(steps))
        assert good.step == s.steps
        before = s.populations()
        after = s.run(3).populations()
        good.restore_to(s)
        assert np.array_equal(s.populations(), before)
        assert np.array_equal(s.run(3).populations(), after)
        good.restore_to(s)
