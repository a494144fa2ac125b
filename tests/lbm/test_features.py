"""Models, lattices, walls, ends and scalars on two devices of a process, on 2 to 4 ranks, and after
restarts.

The same bodies run on parts of a CPU, whose results must be those of one part bit for bit, and on
two GPUs, where rounding may differ.
"""

import functools
from functools import partial

import numpy as np
import pytest

import lbm
from flow_features import BY_MOMENTS, FEATURES, STEPS, fields_of, heat, make, run
from flows import noisy, on_parts
from hetero.cuda.driver import SIMULATOR
from lbm_runs import ROOT, start

pytestmark = pytest.mark.several_gpus
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


def assert_same_fields(one, two, kind="cpu"):
    """Check that all fields of two runs agree."""
    assert set(one) == set(two)
    for name, values in one.items():
        scale = max(1.0, np.abs(values).max())
        assert np.isfinite(scale), name
        assert np.abs(values - two[name]).max() <= TOLERANCE[kind] * scale, name


@functools.cache
def run_on_one(name, device):
    """Return the fields of a flow that one device computes."""
    return run(name, device=device)


CUTS = {"z": (1, 1, 2), "y": (1, 2, 1), "x": (2, 1, 1)}
CASES = [
    pytest.param(name, cut, id=f"{name}-{axis}", marks=[pytest.mark.slow] * ((k + j) % 3 != 0))
    for k, name in enumerate(FEATURES)
    for j, (axis, cut) in enumerate(CUTS.items())
]  # fmt: skip
"""Every feature with a cut along each axis; two of the three are slow tests."""


@pytest.mark.parametrize(("name", "cut"), CASES)
def test_two_devices_of_a_process_compute_the_flow_of_one(name, cut, two_devices):
    two = run(name, device=two_devices, decomposition=cut)
    assert_same_fields(run_on_one(name, two_devices[0]), two, two_devices[0].partition(":")[0])


@pytest.mark.mpi
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("count", "transport"),
    [*(pytest.param(n, None, marks=pytest.mark.slow) for n in (2, 4)), (3, None), (2, "host")],
    ids=["2", "4", "3", "2 through host memory"],
)  # fmt: skip
def test_ranks_compute_the_flow_of_one(count, transport, two_devices, tmp_path):
    """Two ranks have a GPU each, more share them; the transport of GPUs is "peer" by default.

    A checkpoint has the same bytes, however many CPUs have computed its flow.
    """
    kind = two_devices[0].partition(":")[0]
    if kind == "cpu" and transport is not None:
        pytest.skip("ranks with CPUs have no other transport")
    names = [*FEATURES, *BY_MOMENTS]
    expected = {name: run_on_one(name, two_devices[0]) for name in names}
    status, _, errors = start(
        count, ROOT / "tests/support/feature_rank_worker.py", tmp_path, kind, *names,
        environment={} if transport is None else {"LBM_TRANSPORT": transport}, timeout=580,
        threads=None,
    )  # fmt: skip
    assert status == 0, errors
    for name in names:
        with np.load(tmp_path / f"{name}.npz") as fields:
            assert_same_fields(expected[name], dict(fields), kind)
        if kind == "cpu" and name in BY_MOMENTS:  # populations of a file have rounded moments
            state, one = tmp_path / f"{name}.state", BY_MOMENTS[name](device="cpu").run(STEPS)
            assert one.save(tmp_path / "again").read_bytes() == state.read_bytes()
            again = BY_MOMENTS[name](device=["cpu"] * 3).restore(state)
            assert np.abs(again.run(3).u - one.run(3).u).max() < 1e-15
        elif kind == "cpu":
            state, one = tmp_path / f"{name}.state", FEATURES[name](device="cpu")
            again = one.restore(state).save(tmp_path / "again")
            assert again.read_bytes() == state.read_bytes()
            assert np.array_equal(one.populations(), expected[name]["populations"])


@pytest.mark.parametrize("name", FEATURES)
def test_restarts_go_on_bit_for_bit(name, tmp_path):
    """Also in other parts; looking at fields between two steps changes nothing."""
    through = FEATURES[name](device="cpu").run(STEPS)
    file = through.save(tmp_path / "state")
    fields_of(through)
    assert through.save(tmp_path / "again").read_bytes() == file.read_bytes()
    expected = fields_of(through.run(STEPS + 1))
    for grid in (1, 1, 1), (2, 1, 2):
        again = FEATURES[name](**on_parts(grid)).restore(file)
        assert_same_fields(expected, fields_of(again.run(STEPS + 1)))


@pytest.mark.parametrize(("name", "other", "words"), [
    ("Vreman", partial(make, "cavity with bodies", lbm.Vreman(0.51, 2.0, every=4)),
     "collision="),
    ("D3Q27", partial(make, "cavity with bodies"), "lattice='D3Q27', but this simulation has"),
    ("inlets that do not reflect",
     partial(make, "inlets that do not reflect",
             walls={"x-": lbm.NonReflectingInlet((0.05, 0.01, 0.0), averaging=21.0)}),
     "averaging"),
    ("outlets that do not reflect",
     partial(make, "outlets that do not reflect",
             walls={"x+": lbm.NonReflectingOutlet(1.01, averaging=21.0)}), "averaging"),
    ("scalars, Vreman",
     partial(make, "open channel", lbm.Vreman(0.6, constant=2.0, every=2),
             scalars=heat(x_=0.5, still=-0.4)), "sponges, scalars and outlets="),
])  # fmt: skip
def test_a_checkpoint_belongs_to_its_settings(name, other, words, tmp_path):
    file = FEATURES[name](device="cpu").save(tmp_path / "state")
    with pytest.raises(lbm.CheckpointError, match=words):
        other(device="cpu").restore(file)


ENDS = {"x-": lbm.VelocityInlet((0.05, 0.0, 0.0)), "x+": lbm.PressureOutlet(1.01)}
HEAT = lbm.Scalar(0.001, {"y-": lbm.FixedValue(1.0)}, start=lambda x, y, z: np.sin(x + y + z),
                  buoyancy=(0.0, 5e-3, 0.0))  # fmt: skip
UNSTABLE = {
    "scalars": {"boundaries": {"y": lbm.NoSlip()}, "scalars": {"heat": HEAT}},
    "eddy viscosities": {"collision": lbm.Vreman(0.5001, constant=1.0, every=3),
                         "force": (4e-4, 0.0, 0.0)},
    "sponges": {"boundaries": ENDS, "sponges": {"x+": lbm.Sponge(12, averaging=4.0)}},
    "outlets": {"boundaries": ENDS | {"x+": lbm.NonReflectingOutlet(averaging=5.0)}},
}  # fmt: skip
"""Flows that blow up, by what belongs to their states beside populations."""


@pytest.mark.parametrize("name", UNSTABLE)
def test_a_flow_that_blows_up_returns_to_a_whole_state_and_starts_anew(name):
    """Averages, scalars and viscosities are those of the last good state, and of a new start."""
    shape = 16, 6, 4
    rho, u = noisy(shape)
    options = {"collision": lbm.TRT(0.5001), "dtype": "float64", "rho": rho, "u": u, "check": 8,
               "force": (1e-300, 0.0, 0.0)}  # fmt: skip  # it is lost, and takes compiled code
    unstable, careful, fresh = (
        lbm.Simulation(shape, device="cpu", **options | UNSTABLE[name]) for _ in range(3)
    )
    with pytest.raises(lbm.UnstableError):
        unstable.run(40000)
    assert name != "eddy viscosities" or unstable.steps % 3, "this state needs no viscosity"
    for other, steps in ((careful, unstable.steps), (fresh, 0)):
        other.advance(steps)
        for s in (unstable, other):
            s.advance(2)
        assert np.array_equal(unstable.populations(), other.populations())
        for scalar in unstable.scalars:
            assert np.array_equal(unstable.scalars[scalar].values, other.scalars[scalar].values)
        unstable.set(rho=rho, u=u)
