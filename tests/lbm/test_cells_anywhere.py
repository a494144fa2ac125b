"""On the CPU a cell gets the same bits wherever it lies: in a full vector, at an end, or beside."""

import itertools

import numpy as np
import pytest

import hetero
import lbm
from covering import cover_pairs
from flows import FORMS, PATTERNS
from lbm._kernels.cpu import create_engine
from lbm._kernels.problem import Box

SHAPE = (38, 5, 4)  # two vectors or more, and a few cells that fill none
CPU = hetero.Device("cpu")
FORCE = (1e-300, 0.0, 0.0)
"""A force that is lost: it takes the code that other tests have compiled."""


def noise(shape):
    rng = np.random.default_rng(5)
    return 1 + 0.02 * rng.standard_normal(shape), 0.03 * rng.standard_normal((3, *shape))


def solids(shape, shift):
    """Two bodies of scattered cells, one of which moves, all of them shifted.

    No cell at rest touches a moving one, because a flow without outlets keeps its mass only so.
    """
    draw = np.random.default_rng(6).random(shape)
    moving = draw > 0.97
    offsets = itertools.product((-1, 0, 1), repeat=3)
    near = np.any([np.roll(moving, offset, (0, 1, 2)) for offset in offsets], axis=0)
    at_rest = (draw < 0.06) & ~near
    assert min(at_rest.sum(), moving.sum()) > 4
    at_rest, moving = (np.roll(cells, shift, (0, 1, 2)) for cells in (at_rest, moving))
    wall = lbm.MovingWall((0.02, 0.01, -0.03))
    return {"rest": lbm.Solid(at_rest), "moving": lbm.Solid(moving, wall)}


def shift_and_run(shift, bodies, storage, pattern="esoteric", shape=SHAPE):
    """Return the populations after three steps of a flow that is shifted, at their first cells."""
    rho, u = noise(shape)
    s = lbm.Simulation(
        shape, collision=lbm.TRT(0.6), boundaries=solids(shape, shift) if bodies else {},
        rho=np.roll(rho, shift, (0, 1, 2)), u=np.roll(u, shift, (1, 2, 3)), pattern=pattern,
        force=FORCE, device="cpu", check=0, **FORMS[storage],
    ).run(3)  # fmt: skip
    return np.roll(s.populations(), [-n for n in shift], (1, 2, 3))


@pytest.mark.parametrize(
    ("pattern", "storage", "bodies", "shape"),
    [*(pytest.param(*c, SHAPE) for c in cover_pairs(PATTERNS, FORMS, [False, True])),
     ("esoteric", "float32", True, (37, 3, 3))],
)  # fmt: skip
def test_a_shifted_flow_has_the_same_bits(pattern, storage, bodies, shape):
    first = shift_and_run((0, 0, 0), bodies, storage, pattern, shape)
    for shift in [(1, 0, 0), (7, 1, 2), (20, 0, 3), (36, 2, 1)]:
        assert np.array_equal(shift_and_run(shift, bodies, storage, pattern, shape), first)


@pytest.mark.parametrize(("pattern", "storage"), itertools.product(PATTERNS, FORMS))
def test_a_step_by_boxes_has_the_same_bits(pattern, storage):
    rho, u = noise(SHAPE)
    body = lbm.Solid(np.random.default_rng(7).random(SHAPE) < 0.04)
    walls = {"x": lbm.NoSlip(), "y+": lbm.MovingWall((0.1, 0, 0)), "y-": lbm.NoSlip(), "body": body}
    s = lbm.Simulation(SHAPE, collision=lbm.TRT(0.6), boundaries=walls, rho=rho, u=u, force=FORCE,
                       pattern=pattern, device="cpu", **FORMS[storage])  # fmt: skip
    state = s.populations().transpose(0, 3, 2, 1)
    whole, parts = (create_engine(s.problem, CPU) for _ in range(2))
    for engine in whole, parts:
        engine.write(0, engine.box(), state, populations=True)
    nx, ny, nz = SHAPE
    for t in range(3):
        whole.step(t, whole.box())
        for (z0, z1), (y0, y1), (x0, x1) in itertools.product(
            ((2, nz), (0, 2)), ((0, 1), (3, ny), (1, 3)),
            itertools.pairwise((0, 1, 3, 20, nx - 1, nx)),
        ):  # fmt: skip
            parts.step(t, Box(x0, x1, y0, y1, z0, z1))
        fields = [engine.read(t + 1, engine.box(), populations=True) for engine in (whole, parts)]
        assert np.array_equal(*fields)


# ---- bodies that pass through periodic faces -------------------------------------------------

WIDE = (24, 14, 12)
MIDDLE = np.array([12.2, 7.3, 6.1])


def ball_of_triangles(centre):
    """Return an octahedron as a mesh."""
    corners = np.concatenate([np.eye(3), -np.eye(3)]) * 4.37 + centre
    ends = list(itertools.product((0, 3), repeat=3))
    faces = [(x, 1 + y, 2 + z) if (x + y + z) % 2 == 0 else (x, 2 + z, 1 + y) for x, y, z in ends]
    return lbm.TriangleMesh(corners, faces)


def spinning(centre):
    """Return a wall that rotates about a point of its body."""
    x0, y0, _ = centre
    return lbm.MovingWall(lambda x, y, z: (-0.01 * (y - y0), 0.01 * (x - x0), 0.0))


BODIES = {
    "sphere": lambda c: lbm.Solid(lbm.Sphere(c, 4.31)),
    "interpolated sphere": lambda c: lbm.Solid(lbm.Sphere(c, 4.31), wall="interpolated"),
    "spinning sphere": lambda c: lbm.Solid(lbm.Sphere(c, 4.31), spinning(c), "interpolated"),
    "spinning staircase": lambda c: lbm.Solid(lbm.Sphere(c, 4.31), spinning(c)),
    "cylinder": lambda c: lbm.Solid(lbm.Cylinder(c[:2], 3.2), wall="interpolated"),
    "box": lambda c: lbm.Solid(lbm.Box(c - 3.0, c + 3.5), wall="interpolated"),
    "mesh": lambda c: lbm.Solid(ball_of_triangles(c), wall="interpolated"),
    "vessel": lambda c: lbm.Solid(~lbm.Sphere(c, 5.31), wall="interpolated"),
    "array": lambda c: lbm.Solid(lbm.geometry.sphere(WIDE, c, 4.31, periodic="xyz")),
}


def run_around(body, shift):
    """Return a flow around a body at MIDDLE + shift, and its fields as those of the body there."""
    rho, u = noise(WIDE)
    roll = tuple(int(s) for s in shift)
    s = lbm.Simulation(
        WIDE, boundaries={"body": BODIES[body](MIDDLE + shift)}, dtype="float64", device="cpu",
        rho=np.roll(rho, roll, (0, 1, 2)), u=np.roll(u, roll, (1, 2, 3)),
    ).run(3)  # fmt: skip
    return s, np.roll(s.u, [-n for n in roll], (1, 2, 3))


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("shift", [(12, 0, 0), (-12, -7, 0), (10, 6, -5)])
def test_a_body_that_passes_through_periodic_faces_is_whole(body, shift):
    """The centre is within the domain: elsewhere a body that touches it comes back as its image."""
    (s, u), (t, v) = run_around(body, np.zeros(3)), run_around(body, np.array(shift))
    assert (~t.fluid).sum() == (~s.fluid).sum()
    assert np.abs(u - v).max() < 1e-13
    assert np.abs(s.force_on("body") - t.force_on("body")).max() < 1e-12
    if body not in ("cylinder", "vessel"):  # these fill the domain along an axis
        there = MIDDLE + np.array(shift)
        for arm in (np.zeros(3), np.array([1.0, -2.0, 0.5])):
            torques = s.torque_on("body", MIDDLE + arm), t.torque_on("body", there + arm)
            assert np.abs(torques[0] - torques[1]).max() < 1e-11


def test_arrays_of_bodies_go_on_along_periodic_axes():
    """Beside a search for the nearest of 27 images."""
    x, y, z = (g - 0.5 for g in np.ogrid[1:25, 1:15, 1:13])
    for centre in ((0.2, 13.8, 6.0), (23.5, 0.1, 11.9)):
        for axes in ("", "x", "yz", "xyz"):
            gaps = [
                np.minimum(abs(g - c), n - abs(g - c)) if axis in axes else abs(g - c)
                for g, c, n, axis in zip((x, y, z), centre, WIDE, "xyz", strict=True)
            ]
            ball = lbm.geometry.sphere(WIDE, centre, 3.71, periodic=axes)
            assert np.array_equal(ball, gaps[0] ** 2 + gaps[1] ** 2 + gaps[2] ** 2 < 3.71**2)
            rod = lbm.geometry.cylinder(WIDE, centre[:2], 3.71, periodic=axes)
            assert np.array_equal(rod[:, :, 0], (gaps[0] ** 2 + gaps[1] ** 2 < 3.71**2)[:, :, 0])
    with pytest.raises(ValueError, match="periodic must name axes"):
        lbm.geometry.sphere(WIDE, (1, 1, 1), 2, periodic="w")


def test_bodies_behind_walls_are_cut_off_and_long_ones_named():
    def count(body, **faces):
        s = lbm.Simulation(WIDE, boundaries={"body": lbm.Solid(body), **faces}, device="cpu")
        return int((~s.fluid).sum())

    assert count(lbm.Sphere((0.2, 7.0, 6.0), 4.31)) == count(lbm.Sphere((12.2, 7.0, 6.0), 4.3))
    beside_wall = count(lbm.Sphere((0.2, 7.0, 6.0), 4.31), x=lbm.NoSlip())
    assert beside_wall < 0.6 * count(lbm.Sphere((12.2, 7.0, 6.0), 4.31))
    step = lbm.Box((10.0, 0.0, -1.0), (40.0, 4.0, 99.0))
    with pytest.warns(UserWarning, match=r"body.* face across x, but is 30 cells long .* 24: what"):
        assert count(step) == 14 * 4 * 12
