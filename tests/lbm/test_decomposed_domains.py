"""A domain in several parts computes the same flow as in one."""

import numpy as np
import pytest

import hetero
import lbm
from covering import cover_pairs
from flows import FORMS, OTHERS, PATTERNS, PLAIN, SHAPE, follow, noisy, on_parts, pair
from lbm._parallel.partition import choose_decomposition, cut_rows, make_partition
from lbm._post.stability import LastGoodState

GRIDS = [(1, 2, 1), (3, 2, 2), (1, 1, 7), (6, 1, 2)]


def assert_same_flow(one, two, steps):
    for _ in range(steps):
        one.run(1)
        two.run(1)
        assert np.array_equal(one.populations(), two.populations())
    for body in one.solids:
        assert np.array_equal(one.force_on(body), two.force_on(body))
        assert np.array_equal(one.torque_on(body, (5, 4, 3)), two.torque_on(body, (5, 4, 3)))
    assert np.array_equal(one.momentum(), two.momentum())
    assert np.array_equal(one.u, two.u)


CASES = [
    *cover_pairs(PLAIN, PATTERNS, FORMS, GRIDS),
    *cover_pairs(OTHERS, PATTERNS, ["float64"], GRIDS),
    *(pytest.param(*case, marks=pytest.mark.slow)
      for case in cover_pairs(OTHERS, PATTERNS, ["float32", "float16"], GRIDS)),
]  # fmt: skip
"""Cases in which every pair of two settings occurs. What is computed beside a step has the same
source in each form: other forms than float64 are slow tests there."""


@pytest.mark.parametrize(("flow", "pattern", "form", "grid"), CASES)
def test_parts_on_the_cpu_are_bit_for_bit_one(flow, pattern, form, grid):
    options = {"pattern": pattern, **FORMS[form]}
    one, _ = pair(flow, lbm.TRT(0.7), device="cpu", **options)
    two, _ = pair(flow, lbm.TRT(0.7), **on_parts(grid), **options)
    assert len(two.domain.parts) == np.prod(grid)
    assert_same_flow(one, two, 4)


def test_solids_and_starts_as_functions():
    def start(x, y, z):
        return 0.01 * np.sin(x), 0.02 * np.cos(y), 0.0 * z

    def ball(x, y, z):
        return (x - 4) ** 2 + (y - 4) ** 2 + (z - 3) ** 2 < 4

    x, y, z = np.ogrid[0.5:12, 0.5:9, 0.5:7]
    cells = np.broadcast_to(ball(x, y, z), SHAPE)
    u = np.stack([np.broadcast_to(c, SHAPE) for c in start(x, y, z)])
    by_arrays = lbm.Simulation(SHAPE, boundaries={"ball": lbm.Solid(cells)}, u=u, device="cpu")
    by_functions = lbm.Simulation(
        SHAPE, boundaries={"ball": lbm.Solid(ball)}, u=start, device=["cpu"] * 4
    )
    assert_same_flow(by_arrays, by_functions, 3)


def test_grids_have_the_cheapest_faces():
    """In a periodic domain each cut stands for two faces; one cut makes two."""
    assert choose_decomposition((512, 512, 512), 2).grid == (1, 1, 2)
    assert choose_decomposition((512, 512, 512), 4).grid == (1, 1, 4)
    assert choose_decomposition((64, 64, 64), 8).grid == (1, 2, 4)
    assert choose_decomposition((512, 1024, 64), 4).grid == (1, 4, 1)
    assert choose_decomposition((30, 20, 12), 1).grid == (1, 1, 1)


def test_weighted_boxes():
    weighted = lbm.Decomposition((1, 2, 3), weights=(None, (3, 1), None))
    assert weighted.bounds((8, 40, 9)) == ((0, 8), (0, 30, 40), (0, 3, 6, 9))
    tiny = lbm.Decomposition((3, 1, 1), weights=((1, 1e9, 1), None, None))
    assert tiny.bounds((12, 4, 4), lanes=2)[0] == (0, 2, 10, 12)
    for words, wrong in {
        "2 positive numbers": lambda: lbm.Decomposition((1, 2, 1), weights=(None, (1,), None)),
        "do not fit into 4 cells": lambda: lbm.Decomposition((1, 1, 5)).bounds((8, 8, 4)),
        "6 boxes": lambda: lbm.Simulation((8, 8, 8), decomposition=(1, 2, 3), device=["cpu"] * 2),
        "'auto'": lambda: lbm.Simulation((8, 8, 8), decomposition="best", device="cpu"),
        "cannot be cut into 7 boxes": lambda: lbm.Simulation((2, 2, 2), device=["cpu"] * 7),
    }.items():
        with pytest.raises(ValueError, match=words):
            wrong()


def test_a_share_between_0_and_1_gives_rows_to_both():
    assert [cut_rows(10, ratio) for ratio in (0.0, 1e-9, 0.26, 0.99, 1.0)] == [0, 1, 3, 9, 10]
    whole = make_partition((4, 10, 4), [lbm.Periodic()] * 6, lbm.Decomposition((1, 2, 1)))
    assert whole.split_rows(0.99).bounds[1] == (0, 4, 5, 9, 10)
    thin = make_partition((4, 3, 4), [lbm.Periodic()] * 6, lbm.Decomposition((1, 3, 1)))
    with pytest.raises(ValueError, match=r"ratio=0.5 cuts boxes .* fewer boxes along y"):
        thin.split_rows(0.5)


@pytest.mark.cuda
@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.5, 1.0, "auto"])
def test_cpu_and_gpu_together(ratio, require_cuda):
    options = {"dtype": "float64", "device": "cuda", "ratio": ratio}
    follow(*pair("cavity with bodies", lbm.TRT(0.7), **options), 6)


ON_GPUS = [((1, 1, 2), 0.0), ((1, 3, 1), 0.0), ((2, 2, 2), 0.0), ((2, 1, 2), 0.4)]
"""Grids of parts, and the share of the CPU in each."""


@pytest.mark.cuda
@pytest.mark.several_gpus
@pytest.mark.parametrize(
    ("flow", "pattern", "form", "parts"), cover_pairs([*OTHERS, *PLAIN], PATTERNS, FORMS, ON_GPUS)
)
def test_parts_on_gpus_are_one_flow(flow, pattern, form, parts, require_cuda):
    """Parts on all GPUs of this machine, or several on one GPU, with and without the CPU."""
    gpus = [str(d) for d in hetero.available() if d.kind == "cuda"]
    tolerance = {"float64": 1e-14, "float32": 2e-6, "float16": 2e-4}[form]
    options, (grid, ratio) = {"pattern": pattern, **FORMS[form]}, parts
    devices = [gpus[k % len(gpus)] for k in range(int(np.prod(grid)))]
    one, _ = pair(flow, lbm.TRT(0.7), device=gpus[0], **options)
    two, _ = pair(flow, lbm.TRT(0.7), device=devices, decomposition=grid, ratio=ratio, **options)
    for steps in (1, 3, 1):  # after which populations lie as after even and as after odd steps
        one.run(steps)
        two.run(steps)
        assert np.abs(one.populations() - two.populations()).max() < tolerance
    assert np.abs(one.u - two.u).max() < tolerance


def with_a_lid(shape, **options):
    """Return a flow between walls, one of which moves."""
    rho, u = noisy(shape)
    walls = {"x": lbm.NoSlip(), "y-": lbm.NoSlip(), "y+": lbm.MovingWall((0.05, 0.0, 0.0))}
    return lbm.Simulation(shape, collision=lbm.TRT(0.7), boundaries=walls, rho=rho, u=u, check=0,
                          force=(1e-300, 0.0, 0.0), dtype="float64", **options)  # fmt: skip


@pytest.mark.simulator
@pytest.mark.parametrize("grid", [(1, 2, 1), (2, 1, 2)])
def test_gpus_copy_planes_to_each_other(grid, device):
    if device != "cuda":
        pytest.skip("needs a GPU or its simulator")
    one, two = with_a_lid((4, 4, 2), device="cpu"), with_a_lid((4, 4, 2), **on_parts(grid, "cuda"))
    for _ in range(2):
        assert np.abs(one.run(1).u - two.run(1).u).max() < 5e-15


def with_velocities_and_scalars(shape, **options):
    """Return a flow whose parts exchange velocities and a scalar that drives it."""
    rho, u = noisy(shape)
    heat = lbm.Scalar(0.05, start=lambda x, y, z: np.sin(x + 2.0 * y + z), buoyancy=(1e-3, 0, 0))
    return lbm.Simulation(shape, boundaries={"x": lbm.NoSlip()}, rho=rho, u=u, check=0,
                          collision=lbm.Vreman(0.51, constant=2.0, every=2),
                          force=(1e-300, 0.0, 0.0),
                          scalars={"heat": heat}, **options)  # fmt: skip


def assert_same_fields(one, two, tolerance):
    """Check that populations, the scalar and the eddy viscosity of two flows agree."""
    assert np.abs(one.populations() - two.populations()).max() <= tolerance
    assert np.abs(one.scalars["heat"].values - two.scalars["heat"].values).max() <= tolerance
    assert np.abs(one.eddy_viscosity - two.eddy_viscosity).max() <= 10.0 * tolerance


@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 4, 2)])
def test_parts_one_cell_thick_exchange_velocities_and_scalars(shape):
    """Two axes are periodic: both neighbours of a part along them are the same one."""
    one, two = (with_velocities_and_scalars(shape, dtype="float64", **on_parts(grid))
                for grid in ((1, 1, 1), (2, 2, 2)))  # fmt: skip
    for _ in range(3):
        assert_same_fields(one.run(1), two.run(1), 0.0)


TWO_GPUS = {"device": ["cuda", "cuda"], "decomposition": (1, 2, 1), "dtype": "float64"}


@pytest.mark.simulator
@pytest.mark.parametrize(("parts", "has_access"), [
    (TWO_GPUS, True), (TWO_GPUS, False),
    ({"device": "cuda", "ratio": 0.4, "dtype": "float64"}, True),
], ids=["two GPUs", "through host memory", "a GPU and the CPU"])  # fmt: skip
def test_gpus_exchange_velocities_and_scalars(parts, has_access, device, monkeypatch):
    if device != "cuda":
        pytest.skip("needs a GPU or its simulator")
    from lbm._parallel.exchange import peers

    if not has_access:
        monkeypatch.setattr(peers, "can_store_into", lambda device, other: False)
    one = with_velocities_and_scalars((3, 5, 2), device="cpu", dtype="float64")
    two = with_velocities_and_scalars((3, 5, 2), **parts)
    for _ in range(3):
        assert_same_fields(one.run(1), two.run(1), 5e-15)


def test_fields_cross_faces_across_x_beside_populations_in_16_bits(device):
    """Words of two cells are a matter of the populations only, and of a GPU."""
    if device != "cuda":
        pytest.skip("needs a GPU")
    form = {"dtype": "float32", "storage": "float16"}
    one = with_velocities_and_scalars((8, 5, 2), device=device, **form)
    two = with_velocities_and_scalars((8, 5, 2), **TWO_GPUS | form | {"decomposition": (2, 1, 1)})
    for _ in range(3):
        assert_same_fields(one.run(1), two.run(1), 1e-4)


@pytest.mark.parametrize("pattern", ["ab", pytest.param("esoteric", marks=pytest.mark.simulator)])
@pytest.mark.parametrize("parts", [1, 2])
def test_a_saved_state_is_restored_bit_for_bit(pattern, parts, device):
    s = with_a_lid((4, 5, 3), pattern=pattern, device=[device] * parts)
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
