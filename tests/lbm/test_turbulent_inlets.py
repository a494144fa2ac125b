"""Turbulent inlets: statistics of synthetic eddies, flow rates, parts, restarts and mistakes."""

from dataclasses import replace

import numpy as np
import pytest

import hetero
import lbm
from covering import cover_pairs
from flows import follow
from hetero import philox
from lbm.geometry.wall_links import mass_inflow_of_classes
from lbm.reference import Reference
from lbm_runs import read_text

STRESSES = ((4e-5, -1e-5, 2e-6), (-1e-5, 2e-5, 0.0), (2e-6, 0.0, 3e-5))
WALLS = {"y": lbm.NoSlip(), "z": lbm.FreeSlip()}
GOLDEN = 0.5 * (5.0**0.5 - 1.0)


def make_flow(inlet, shape=(4, 16, 12), walls=None, face="x-", device="cpu", **settings):
    """Return a simulation in float64 with an inlet and an outlet opposite."""
    opposite = face[0] + ("+" if face[1] == "-" else "-")
    boundaries = {face: inlet, opposite: lbm.PressureOutlet(), **(walls or {})}
    settings = {"collision": lbm.TRT(0.6), "dtype": "float64"} | settings
    return lbm.Simulation(shape, boundaries=boundaries, device=device, **settings)


def velocity_of(eddies, face="x-", **settings):
    """Return the velocity of an inlet as the function that the simulation takes."""
    flow = make_flow(lbm.VelocityInlet(eddies), face=face, **settings)
    return flow.faces[("x-", "x+", "y-", "y+", "z-", "z+").index(face)].velocity


def times(velocity, count, length):
    """Return times at which each eddy is at all places of its way alike, in other passages."""
    passage = 8.0 / 3.0 * length / velocity.speed
    return (1.0 + GOLDEN) * passage * np.arange(1, count + 1)


def tent_correlation(r):
    """Return the integral of two tents at a distance r, over that of a tent's square."""
    x = np.linspace(-1.0, 3.0, 40001)
    tent = np.maximum(0.0, 1.0 - np.abs(x))
    other = np.maximum(0.0, 1.0 - np.abs(x - abs(r)))
    return float((tent * other).sum() / (tent**2).sum())


# ---- fluctuations --------------------------------------------------------------------------


def sum_by_brute_force(eddies, cells, wraps, face, speed, t):
    """Return the fluctuations of all eddies at all points, without the correction of the rate."""
    axes = [axis for axis in range(3) if axis != face // 2]
    lengths = np.broadcast_to(eddies.length, 3)
    depth, reach = 4 / 3 * lengths[face // 2], [4 / 3 * lengths[axis] for axis in axes]
    tiles = [int(n // r) for n, r in zip(cells, reach, strict=True)]
    width = [n / m for n, m in zip(cells, tiles, strict=True)]
    count = round(eddies.count * width[0] * width[1] / reach[0] / reach[1])
    share = (2 / 3) ** 3 * (2 * reach[0] * reach[1] * depth) / (2 * depth * width[0] * width[1])
    points = [0.5 * np.arange(2 * n + (not w)) for n, w in zip(cells, wraps, strict=True)]
    y, z = np.meshgrid(*points, indexing="ij")
    total = np.zeros((3, *y.shape))
    streams = [philox.STREAMS[f"lbm.SyntheticEddies{name}"] for name in (", phases", "")]
    beyond = [0 if w else 1 for w in wraps]
    for i in range(-beyond[0], tiles[0] + beyond[0]):
        for j in range(-beyond[1], tiles[1] + beyond[1]):
            for k in range(count):
                number = (i + beyond[0]) * (tiles[1] + 2) + j + beyond[1]
                path = (number * count + k) * 6 + face
                settings = {"rng": eddies.seed, "path": path}
                phase = philox.uniform(1, stream=streams[0], **settings)[0]
                age = t * speed / (2 * depth) + phase
                passage = int(np.floor(age))
                words = philox.words(4 * (passage + 1), stream=streams[1], **settings)[-4:]
                place = [(m + (word + 0.5) / 2**32) * w
                         for m, word, w in zip((i, j), words, width, strict=False)]  # fmt: skip
                height = max(0.0, 1.0 - abs(2 * (age - passage) - 1)) / np.sqrt(count * share / 2)
                shape = 1.0
                for axis, x in enumerate((y, z)):
                    images = (-1, 0, 1) if wraps[axis] else (0,)
                    shape = shape * sum(
                        np.maximum(0, 1 - abs(x - place[axis] - m * cells[axis]) / reach[axis])
                        for m in images
                    )
                signs = [1 - 2 * (int(words[2]) >> bit & 1) for bit in range(3)]
                total += height * shape * np.array(signs)[:, None, None]
    return total


@pytest.mark.parametrize(
    ("face", "shape", "walls"),
    [("x-", (4, 16, 12), {}), ("x+", (4, 11, 12), WALLS), ("z-", (12, 9, 4), {"y": lbm.NoSlip()})],
)
def test_fluctuations_are_those_of_all_eddies(face, shape, walls):
    """The loops look at the tiles around a point only."""
    axis, number = "xyz".index(face[0]), ("x-", "x+", "y-", "y+", "z-", "z+").index(face)
    mean = tuple((0.05 if face[1] == "-" else -0.05) * (a == axis) for a in range(3))
    eddies = lbm.SyntheticEddies(mean, intensity=0.2, length=(2.5, 2.0, 1.5), count=2, seed=3)
    velocity = velocity_of(eddies, face, shape=shape, walls=walls)
    cells = [shape[a] for a in range(3) if a != axis]
    wraps = ["xyz"[a] not in walls for a in range(3) if a != axis]
    for t in (0.5, 100.5, 999.5):
        expected = sum_by_brute_force(eddies, cells, wraps, number, 0.05, t)
        assert np.abs(velocity.fluctuations(t)[0] / 0.01 - expected).max() < 1e-12
        assert expected.std() > 0.5


@pytest.fixture(scope="module")
def samples():
    """Return an inlet between walls and its fluctuations [time, component, row, column]."""
    eddies = lbm.SyntheticEddies((0.05, 0.0, 0.0), stresses=STRESSES, length=(3.0, 2.0, 1.5))
    velocity = velocity_of(eddies, shape=(4, 16, 12), walls=WALLS)
    assert velocity.speed == pytest.approx(0.05)
    return velocity, np.array([velocity.fluctuations(t)[0] for t in times(velocity, 6000, 3.0)])


@pytest.mark.parametrize("point", [(0, 0), (32, 24), (16, 0), (11, 13)])
def test_mean_and_stresses_at_corners_edges_and_inside(samples, point):
    """A sample of n independent values: 5 standard errors of its mean and of its products."""
    u = samples[1][:, :, point[0], point[1]]
    n, expected = len(u), np.array(STRESSES)
    assert (np.abs(u.mean(axis=0)) < 5 * np.sqrt(np.diag(expected) / n)).all()
    products = u[:, :, None] * u[:, None, :]
    error = np.abs(products.mean(axis=0) - expected)
    assert (error < 5 * products.std(axis=0) / np.sqrt(n)).all()
    assert (5 * products.std(axis=0) / np.sqrt(n)).max() < 0.15 * expected.max()


@pytest.mark.parametrize(("axis", "reach"), [(0, 4 / 3 * 2.0), (1, 4 / 3 * 1.5)])
def test_two_point_correlations_are_those_of_tents(samples, axis, reach):
    u = np.moveaxis(samples[1], 2 + axis, 2)[:, 1] / STRESSES[1][1] ** 0.5
    for points in (1, 2, 4, 7, 10):
        products = (u[:, :-points] * u[:, points:]).mean(axis=(1, 2))
        error = products.std() / np.sqrt(len(products))
        assert abs(products.mean() - tent_correlation(0.5 * points / reach)) < 5 * error + 1e-6
        assert error < 0.005


def test_the_time_scale_is_that_of_the_length_along_the_flow(samples):
    """Frozen turbulence: correlations in time are those at the distance t U."""
    velocity = samples[0]
    start = times(velocity, 1500, 3.0)
    now = np.array([velocity.fluctuations(t)[0][2] for t in start])
    integral, lags = 0.0, np.arange(1, 9) / 8 * 2 * 4.0 / 0.05  # up to two reaches
    for lag in lags:
        later = np.array([velocity.fluctuations(t + lag)[0][2] for t in start])
        products = (now * later).mean(axis=(1, 2)) / STRESSES[2][2]
        error = products.std() / np.sqrt(len(products))
        assert abs(products.mean() - tent_correlation(lag * 0.05 / 4.0)) < 5 * error + 1e-6
        integral += products.mean() * (lags[1] - lags[0])
    integral += 0.5 * (lags[1] - lags[0])
    assert integral == pytest.approx(3.0 / 0.05, rel=0.05)


def test_profiles_of_the_mean_and_of_the_stresses():
    """Functions of position, the second of which vanishes at the walls."""

    def mean(x, y, z):
        return 0.1 * y * (16 - y) / 64, 0.0 * y, 0.0

    def stresses(x, y, z):
        k = 1e-5 * y * (16 - y) / 64
        return (2 * k, -0.5 * k, 0.0), (-0.5 * k, k, 0.0), (0.0, 0.0, k)

    eddies = lbm.SyntheticEddies(mean, stresses=stresses, length=2.0)
    velocity = velocity_of(eddies, walls={"y": lbm.NoSlip()})
    assert velocity.speed == pytest.approx(0.2 / 3, rel=0.01)
    u = np.array([velocity.fluctuations(t)[0] for t in times(velocity, 2000, 2.0)])
    assert np.abs(u[:, :, [0, -1]]).max() < 1e-12
    y = 0.5 * np.arange(1, 32)
    for a, b, share in ((0, 0, 2.0), (0, 1, -0.5), (2, 2, 1.0)):
        products = (u[:, a, 1:-1] * u[:, b, 1:-1]).mean(axis=2) / (1e-5 * y * (16 - y) / 64)
        error = products.std(axis=0) / np.sqrt(len(u))
        assert (np.abs(products.mean(axis=0) - share) < 5 * error).all()


# ---- flows ---------------------------------------------------------------------------------


def inflow_at(flow, step, axis=0, layer=0):
    """Return the mass that walls bring into a layer of cells, from the rows of all links."""
    links = flow.problem.links
    inflow = mass_inflow_of_classes(replace(links, wall_types=links.wall_types_in(step)))[0]
    return inflow[links.classes].take(layer, axis=2 - axis).sum()


SILL = {"sill": lbm.Solid(lambda x, y, z: (y < 4) & (z > 3) & (x < 2))}


@pytest.mark.parametrize(
    ("inlet", "lattice", "walls"),
    cover_pairs([lbm.VelocityInlet, lbm.NonReflectingInlet], ["D3Q19", "D3Q27"],
                [{}, {"y": lbm.NoSlip(), "z": lbm.NoSlip()}, WALLS | SILL]),
)  # fmt: skip
def test_the_flow_rate_is_that_of_the_mean(inlet, lattice, walls):
    """To rounding in each step, with edges at walls, slip faces and solids."""
    eddies = lbm.SyntheticEddies((0.05, 0.01, 0.0), stresses=STRESSES, length=2.0, seed=5)
    flow = make_flow(inlet(eddies), walls=walls, lattice=lattice)
    expected = inflow_at(make_flow(inlet((0.05, 0.01, 0.0)), walls=walls, lattice=lattice), 0)
    assert flow.faces[0].velocity.flow_rate == pytest.approx(expected, rel=1e-14)
    for step in (0, 1, 500):
        assert inflow_at(flow, step) == pytest.approx(expected, rel=1e-13)
        _, raw = flow.faces[0].velocity.fluctuations(step + 0.5)
        assert abs(raw) > 1e-6 * expected  # what is corrected


def test_steps_match_the_reference(device):
    shape, stream, walls = (8, 12, 8), (0.05, 0.0, 0.0), {"y": lbm.NoSlip()}
    inlet = lbm.VelocityInlet(lbm.SyntheticEddies(stream, stresses=STRESSES, length=2.0, seed=2))
    flow = make_flow(inlet, shape, walls, device=device, u=stream)
    walls |= {"x-": flow.faces[0], "x+": lbm.PressureOutlet()}
    reference = Reference(shape, collision=lbm.TRT(0.6), boundaries=walls)
    reference.set(np.ones(shape), np.full((3, *shape), np.reshape(stream, (3, 1, 1, 1))))
    follow(flow, reference, 3, 1e-13)
    assert flow.u[1].std() > 1e-4


def rows_on_device(flow):
    """Return the table of walls of the first part, in host memory."""
    engine = flow.domain.engines[0]
    engine.synchronize()
    table = engine.wall_types
    return table if isinstance(table, np.ndarray) else table.copy_to_host()


@pytest.mark.simulator
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_device_has_the_velocities_of_the_host(device, dtype):
    """Also with an outlet that changes with time, and a mean that does."""

    def mean(x, y, z, t):
        return 0.01 * y * (5 - y) * (1 + 0.1 * t), 0.001 * t, 0.0

    eddies = lbm.SyntheticEddies(mean, stresses=STRESSES, length=1.0, count=1, speed=0.05)
    walls = {"x-": lbm.VelocityInlet(eddies), "x+": lbm.PressureOutlet(lambda t: 1.0 + 0.01 * t)}
    flow = lbm.Simulation((3, 5, 4), boundaries=walls | {"y": lbm.NoSlip()}, dtype=dtype,
                          collision=lbm.TRT(0.8), device=device)  # fmt: skip
    for _ in range(2):
        expected = flow.problem.links.wall_types_in(flow.steps)
        assert np.abs(expected[:, 2:]).max() > 0.05
        table = rows_on_device(flow)
        assert np.abs(table - expected).max() < (1e-8 if dtype == "float32" else 1e-14)
        flow.run(1)


def test_any_number_of_threads_gives_the_same_bits_and_faces_and_seeds_others():
    def make(face, seed):
        mean = (0.05 if face == "x-" else -0.05, 0.0, 0.0)
        eddies = lbm.SyntheticEddies(mean, intensity=0.1, length=2.0, seed=seed)
        return velocity_of(eddies, face).fluctuations(33.5)

    field, rate = make("x-", 0)
    with hetero.use_threads(1):
        one = make("x-", 0)
    assert np.array_equal(field, one[0])
    assert rate == one[1]
    for other in (make("x-", 1), make("x+", 0)):
        assert abs(np.corrcoef(field.ravel(), other[0].ravel())[0, 1]) < 0.5


def test_cells_beside_the_inlet_have_its_fluctuations():
    """The velocity of the first cells follows that of the inlet, half a cell before them.

    Across the flow it is a little smaller: fluctuations that are not free of divergence make
    pressure, which turns part of them into sound.
    """
    n, u_rms, inside, before = 24, 0.005, [], []
    eddies = lbm.SyntheticEddies((0.05, 0.0, 0.0), intensity=u_rms / 0.05, length=6.0)
    flow = make_flow(lbm.VelocityInlet(eddies), (24, n, n), u=(0.05, 0, 0),
                     collision=lbm.TRT(0.51, magic=0.01)).run(300)  # fmt: skip

    def record(flow):
        inside.append(flow.u[:, 0])
        before.append(flow.faces[0].velocity.velocities(flow.steps - 0.5)[:, 1::2, 1::2].copy())

    flow.run(3600, callbacks=[lbm.Every(24, record)])
    u, of_inlet = (np.array(x) - [[[0.05]], [[0.0]], [[0.0]]] for x in (inside, before))
    for k, (least, most) in enumerate([(0.97, 1.05), (0.8, 1.0), (0.8, 1.0)]):
        assert least < (u[:, k] ** 2).mean() / (of_inlet[:, k] ** 2).mean() < most
        assert np.corrcoef(u[:, k].ravel(), of_inlet[:, k].ravel())[0, 1] > 0.95
    asked = u_rms**2 * np.array([1.0 - 4 * 36 / n**2, 1.0, 1.0])
    # 30 integral times of some 8 independent eddies: a standard error of 10 %.
    assert (of_inlet**2).mean(axis=(0, 2, 3)) == pytest.approx(asked, rel=0.3)


# ---- arguments -----------------------------------------------------------------------------


@pytest.mark.parametrize(("changes", "error", "words"), [
    ({"length": (3.0, 0.5, 3.0)}, ValueError, "length must lie in"),
    ({"intensity": 0.0}, ValueError, "intensity must lie in"),
    ({"intensity": None}, ValueError, "intensity .* or stresses .* is needed"),
    ({"stresses": STRESSES}, ValueError, "only one of them"),
    ({"mean": lambda t: (t, 0, 0)}, ValueError, "speed, with which eddies pass"),
    ({"mean": lambda a, b: (a, b, 0)}, TypeError, "mean must be a function"),
    *(({"intensity": None, "stresses": stresses}, error, words) for stresses, error, words in [
        (((1, 2, 0), (2, 1, 0), (0, 0, 1)), ValueError, "no negative eigenvalue"),
        (((1, 0.5, 0), (0, 1, 0), (0, 0, 1)), ValueError, "symmetric"),
        (1e-5, TypeError, "three rows"),
        (lambda t: 3 * [3 * [0.0]], TypeError, "function of position"),
    ]),
])  # fmt: skip
def test_bad_arguments(changes, error, words):
    arguments = {"mean": (0.05, 0.0, 0.0), "intensity": 0.1} | changes
    with pytest.raises(error, match=words):
        lbm.SyntheticEddies(**arguments)


@pytest.mark.parametrize(("changes", "walls", "words"), [
    ({"length": 6.1}, {}, "length must be at most 0.375 of the width.* periodic.* along y"),
    ({"length": (2, 2, 9.1)}, WALLS, "length must be at most 0.75 of the width.* along z"),
    ({"mean": (-0.05, 0, 0)}, {}, "mean must bring in fluid"),
    ({"mean": lambda x, y, z: (0.01 * y, 0)}, {}, "mean must return 3 components"),
    ({"intensity": None, "stresses": lambda x, y, z: ((1, 0, 0), (0, 1, 0), (0, 0, -y))}, {},
     "no negative eigenvalue"),
    ({}, {"dam": lbm.Solid(lambda x, y, z: (x < 1) & (y > -1) & (z > -1))}, "has no fluid"),
])  # fmt: skip
def test_what_does_not_suit_the_plane(changes, walls, words):
    arguments = {"mean": (0.05, 0.0, 0.0), "intensity": 0.1, "length": 2.0} | changes
    with pytest.raises(ValueError, match=words):
        make_flow(lbm.VelocityInlet(lbm.SyntheticEddies(**arguments)), walls=walls)


CASE = """
title = "wind tunnel"
shape = [8, 16, 12]
time = 0.5
units = { length = 0.5, cells = 16, speed = 2.0, viscosity = 0.05 }
[boundaries]
y = "no-slip"
z = "free-slip"
"x+" = { type = "pressure-outlet" }
[boundaries."x-"]
type = "velocity-inlet"
velocity = [2.0, 0.0, 0.0]
parabola = "y"
turbulence = { intensity = 0.1, length = 0.0625, seed = 4, count = 3 }
"""


def read_inlet(folder, *changes):
    """Return the scales of a changed case and the velocity of its inlet."""
    text = CASE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    case = read_text(folder, text)
    lbm.Simulation(**case.arguments | {"device": "cpu"})
    return case.scales, case.arguments["boundaries"]["x-"].velocity


def test_a_case_file_has_a_turbulent_inlet_in_si(tmp_path):
    scales, eddies = read_inlet(tmp_path)
    assert isinstance(eddies, lbm.SyntheticEddies)
    assert (eddies.length, eddies.seed, eddies.count) == (pytest.approx(2.0), 4, 3)
    assert eddies.intensity == 0.1
    middle = eddies.mean(np.zeros(1), np.full(1, 8.0), np.zeros(1))[0]
    assert middle == pytest.approx(scales.speed(2.0))
    stresses = "stresses = [[0.04, -0.01, 0.0], [-0.01, 0.02, 0.0], [0.0, 0.0, 0.02]]"
    changes = ("intensity = 0.1", stresses), ("= 0.0625", "= [0.125, 0.0625, 0.0625], speed = 1.5")
    scales, eddies = read_inlet(tmp_path, *changes)
    assert eddies.length == pytest.approx((4.0, 2.0, 2.0))
    assert eddies.speed == pytest.approx(scales.speed(1.5))
    assert eddies.stresses[0] == pytest.approx(np.array([0.04, -0.01, 0]) * scales.speed(1.0) ** 2)
