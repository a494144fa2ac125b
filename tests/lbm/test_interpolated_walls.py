"""Interpolated walls: distances, steps against `lbm.reference`, orders, mass, forces, refusals."""

import warnings

import numpy as np
import pytest

import lbm
from flows import FORMS, PATTERNS, follow, on_parts, pair_in
from lbm.geometry.triangles import link_distances
from lbm.lattices import D3Q19
from lbm_runs import read_text
from surfaces import box as cuboid
from surfaces import mesh_of

SHAPE = (14, 11, 9)


def spin(x, y, z):
    return -0.01 * (y - 5.2), 0.01 * (x - 4.4), 0.0 * z


def spin_in_time(x, y, z, t):
    return -0.01 * np.cos(t) * (y - 5.2), 0.01 * (x - 4.4), 0.005 * np.sin(t) + 0.0 * z


BALL = lbm.Sphere((4.4, 5.2, 4.6), 2.3)


def cut(shape, velocity=None):
    """Return a solid with interpolated walls, which move if there is a velocity."""
    wall = lbm.NoSlip() if velocity is None else lbm.MovingWall(velocity)
    return lbm.Solid(shape, wall, "interpolated")


def slab(low, high, velocity=None):
    """Return a box across x."""
    return cut(lbm.Box((low, 2.2, 2), (high, 8.3, 7)), velocity)


FLOWS = {
    "ball": {"ball": cut(BALL)},
    "two balls": {"ball": cut(BALL, spin), "other": cut(lbm.Sphere((9.6, 5.4, 4.4), 1.9))},
    # One cell lies between each two boxes, near both, far from both, and near one of them.
    "slits": {"first": slab(1.2, 4.2), "second": slab(4.8, 6.8, (0.01, 0.02, -0.03)),
              "third": slab(8.3, 10.1), "fourth": slab(11.2, 12.9, spin)},
    "pipe": {"pipe": cut(~lbm.Cylinder((5.6, 4.4), 3.7, axis="x"))},
    "through a channel": {
        "y-": lbm.MovingWall((0.02, 0.0, 0.01)), "y+": lbm.NoSlip(),
        "wall": cut(lbm.Cylinder((6.3, 4.1), 2.2, axis="y"), spin_in_time),
        "block": cut(lbm.Box((10.2, 0, 2.1), (12.7, 3.3, 4.9))),
    },
    "open": {
        "x-": lbm.VelocityInlet(lambda t: (0.03 * np.cos(t), 0.0, 0.0)),
        "x+": lbm.PressureOutlet(1.01), "y-": lbm.NoSlip(), "y+": lbm.FreeSlip(), "z": lbm.NoSlip(),
        "floor": cut(lbm.HalfSpace((0, 2.3, 0), (0.1, 1.0, 0.1))),
        "ball": lbm.Solid(lbm.Sphere((6.4, 7.2, 4.6), 2.3)),
    },
}  # fmt: skip


TOLERANCE = {"float64": 2e-14, "float32": 1e-6, "float16": 4e-4}
FORCE = (1e-4, 0.0, 2e-5)


def make_both(name, pattern, device, storage="float64"):
    """Return a simulation and the reference from the same noise."""
    settings = {"boundaries": FLOWS[name], "force": FORCE}
    return pair_in(SHAPE, settings, pattern=pattern, device=device, **FORMS[storage])


@pytest.mark.parametrize(
    ("name", "pattern", "storage"),
    [("ball", "ab", "float64"), ("two balls", "aa", "float64"), ("two balls", "ab", "float32"),
     ("two balls", "esoteric", "float16"), *(("slits", p, "float64") for p in PATTERNS),
     ("pipe", "esoteric", "float64"), ("through a channel", "aa", "float64"),
     ("through a channel", "esoteric", "float64")],
)  # fmt: skip
def test_steps_match_the_reference(name, pattern, storage, device):
    ours, theirs = make_both(name, pattern, device, storage)
    follow(ours, theirs, 4, TOLERANCE[storage])
    links = ours.problem.links.cut
    assert len(links) == sum(len(cut.distance) for cut in theirs.cuts)
    assert (links.distance < 0.5).any()
    assert (links.distance >= 0.5).any()


@pytest.mark.parametrize("pattern", ["ab", "esoteric"])
def test_walls_that_meet_inlets_and_outlets(pattern, device):
    """What ran into an outlet is known but for the square of the velocity beside the wall."""
    s, theirs = make_both("open", pattern, device)
    assert (s.problem.links.cut.distance >= 0.5).any()
    for _ in range(4):
        s.run(1)
        theirs.step()
        error = np.abs(s.u - theirs.moments()[1])
        assert error[:, :9].max() < 1e-14  # four cells from the outlet
        assert 0.0 < error.max() < 4e-4  # of velocities up to 0.07


@pytest.mark.parametrize("grid", [(1, 1, 1), (7, 2, 3)])
@pytest.mark.parametrize("name", ["slits", "open", "through a channel"])
def test_a_checkpoint_goes_on_in_parts_with_another_pattern(name, grid, tmp_path):
    s, _ = make_both(name, "esoteric", "cpu")
    s.run(3).save(tmp_path / "three.state")
    s.run(3)
    other = lbm.Simulation(SHAPE, collision=lbm.TRT(0.7), boundaries=FLOWS[name], force=FORCE,
                           pattern="aa", dtype="float64", **on_parts(grid))  # fmt: skip
    other.restore(tmp_path / "three.state")
    with pytest.raises(ValueError, match="run a step after restoring"):
        other.force_on(next(iter(s.solids)))
    other.run(3)
    assert np.array_equal(s.populations(), other.populations())
    for body in s.solids:
        assert np.array_equal(s.force_on(body), other.force_on(body))
        assert np.array_equal(s.torque_on(body, (5, 4, 3)), other.torque_on(body, (5, 4, 3)))


def test_a_checkpoint_belongs_to_its_surface(tmp_path):
    def simulate(radius, wall):
        ball = lbm.Solid(lbm.Sphere((4.4, 5.2, 4.6), radius), wall=wall)
        return lbm.Simulation(SHAPE, boundaries={"ball": ball}, device="cpu")

    simulate(2.3, "interpolated").save(tmp_path / "ball.state")
    for radius, wall in ((2.301, "interpolated"), (2.3, "halfway")):
        with pytest.raises(lbm.CheckpointError, match="walls="):
            simulate(radius, wall).restore(tmp_path / "ball.state")


@pytest.mark.parametrize("name", ["two balls", "slits"])
def test_the_force_is_the_momentum_that_the_fluid_loses(name, device):
    """With walls at rest, and in a periodic box, nothing else changes the momentum of the fluid."""
    s, _ = make_both(name, "esoteric", device)
    drive, before = np.array(FORCE) * s.fluid.sum(), s.momentum()
    for _ in range(3):
        after = s.run(1).momentum()
        force = sum(s.force_on(body) for body in s.solids)
        # The constant part of the populations, w, pushes on the links of a closed body with no sum.
        assert np.abs(after - before - drive + force).max() < 1e-13
        before = after


def test_mass_is_kept_where_nothing_can_leave(device):
    s, _ = make_both("through a channel", "esoteric", device)
    mass = s.drho.sum()
    s.run(200)
    assert abs(s.drho.sum() - mass) < 1e-10
    sent, returned = s.interpolated.read(s.steps)
    assert abs((returned - sent).sum()) < 1e-11
    assert np.abs(returned - sent).sum() > 1e-3


@pytest.mark.simulator
@pytest.mark.parametrize("pattern", PATTERNS)
def test_two_steps_of_a_tiny_flow(pattern, device):
    post = cut(lbm.Cylinder((2.6, 1.9), 0.8), spin_in_time)
    settings = {"boundaries": {"y": lbm.NoSlip(), "post": post}, "force": (1e-300, 0.0, 0.0)}
    both = pair_in((5, 4, 4), settings, pattern=pattern, dtype="float64", device=device)
    follow(*both, 2, TOLERANCE["float64"])


# ---- distances and arguments -----------------------------------------------------------------

SHAPES = {
    "sphere": lbm.Sphere((5.2, 4.6, 5.1), 2.7),
    "bubble": ~lbm.Sphere((5.2, 4.6, 5.1), 3.7),
    "cylinder": lbm.Cylinder((4.4, 5.3), 2.2, axis="x"),
    "box": lbm.Box((2.2, 3.0, 2.7), (7.4, 6.1, 5.5)),
    "plane": lbm.HalfSpace((5.0, 4.3, 5.0), (0.3, -1.0, 0.2)),
}


def cut_links(shape):
    """Return the links of a box of 10^3 cells that a shape cuts: begins, directions."""
    grid = np.stack(np.meshgrid(*[np.arange(10) + 0.5] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    fluid = grid[~shape(*grid.T)]
    pairs = [(p, c) for p in fluid for c in np.array(D3Q19.velocities[1:], float)]
    points, directions = (np.array(a) for a in zip(*pairs, strict=True))
    ends = shape(*(points + directions).T)
    assert ends.any()
    return points[ends], directions[ends]


@pytest.mark.parametrize("name", SHAPES)
def test_distances_are_those_of_bisection(name):
    points, directions = cut_links(SHAPES[name])
    low, high = np.zeros(len(points)), np.ones(len(points))
    for _ in range(50):
        middle = (low + high) / 2
        inside = SHAPES[name](*(points + middle[:, None] * directions).T)
        low, high = np.where(inside, low, middle), np.where(inside, middle, high)
    assert np.abs(SHAPES[name].distances(points, directions) - high).max() < 1e-12


def test_triangles_beyond_all_links_are_looked_up_in_no_table(monkeypatch):
    """Compiled code read behind the end of a table there, and crashed now and then."""
    monkeypatch.setattr(link_distances, "meet_triangles", link_distances.meet_triangles.py_func)
    for side in np.array([*np.eye(3), *-np.eye(3)]):
        mesh = mesh_of(*cuboid(60 * side - 1, 60 * side + 1))
        assert np.isnan(mesh.distances(np.full((1, 3), 0.5), np.eye(3)[:1])).all()


def test_distances_to_the_triangles_of_a_box_are_those_to_the_box():
    box = SHAPES["box"]
    mesh, (points, directions) = mesh_of(*cuboid(box.low, box.high)), cut_links(box)
    away = mesh.distances(points, directions) - box.distances(points, directions)
    assert np.abs(away).max() < 1e-12
    assert np.isnan(mesh.distances(np.full((1, 3), 0.5), np.array([[1.0, 0.0, 0.0]]))).all()
    assert mesh.distances(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0,)

    def simulate(shape):
        s = lbm.Simulation(SHAPE, boundaries={"ball": cut(shape)}, force=(1e-4, 0, 0),
                           dtype="float64", device="cpu").run(20)  # fmt: skip
        shear = s.wall_shear("ball")
        return s.force_on("ball"), shear.normals, shear.stress

    for ours, theirs in ((mesh, box), (~mesh, ~box)):
        for a, b, tolerance in zip(simulate(ours), simulate(theirs), (1e-13, 1e-6, 1e-9),
                                   strict=True):  # fmt: skip
            assert np.abs(a - b).max() < tolerance


def test_a_slip_face_mirrors_an_interpolated_wall():
    """Links of half a ball meet its mirror image where they meet the other half of a whole one."""

    def find_links(nz):
        walls = {"ball": cut(lbm.Sphere((5.3, 5.1, 6.0), 2.6)), "z": lbm.FreeSlip()}
        s = lbm.Simulation((11, 10, nz), boundaries=walls, device="cpu")
        links = s.problem.links.cut
        return {(*cell, q): d for *cell, q, d in zip(*links.cells.T, links.q, links.distance,
                                                     strict=True)}  # fmt: skip

    whole, half = find_links(12), find_links(6)
    assert set(half) == {link for link in whole if link[0] < 6}
    assert max(abs(d - whole[link]) for link, d in half.items()) < 1e-14
    assert any(z == 5 and D3Q19.velocities[q][2] > 0 for z, _, _, q in half)


class Careless(lbm.Shape):
    """A ball that does not say where it ends, with distances that may not belong to its cells."""

    def __init__(self, distances, ball=BALL):
        self.distances, self.ball = distances, ball

    def __call__(self, x, y, z):
        return self.ball(x, y, z)


AT_FACE = lbm.Sphere((0.6, 5.0, 4.0), 2.2)


@pytest.mark.parametrize(("shape", "condition", "wall", "error", "words"), [
    (np.ones(SHAPE, bool), lbm.NoSlip(), "interpolated", TypeError, "know their surface"),
    (BALL, lbm.PressureOutlet(), "interpolated", ValueError, "NoSlip or MovingWall"),
    (Careless(lambda p, c: np.full(len(p), np.nan)), lbm.NoSlip(), "interpolated", ValueError,
     "does not cross .* links that end in its cells"),
    (Careless(lambda p, c: np.zeros(3)), lbm.NoSlip(), "interpolated", ValueError,
     "one number for each of the .* links"),
    (Careless(AT_FACE.distances, AT_FACE), lbm.NoSlip(), "interpolated", ValueError,
     "a periodic face: give a shape of your own its `bounds`"),
])  # fmt: skip
def test_refusals(shape, condition, wall, error, words):
    with pytest.raises(error, match=words):
        lbm.Simulation(SHAPE, boundaries={"ball": lbm.Solid(shape, condition, wall)}, device="cpu")


CASE = """
shape = [14, 11, 9]
steps = 3
fluid = { tau = 0.7, force = [1e-4, 0.0, 0.0] }
numerics = { dtype = "float64" }
devices = { device = "cpu" }
[solids.body]
"""


@pytest.mark.parametrize(("lines", "shape"), [
    ('shape = "sphere"\ncentre = [4.4, 5.2, 4.6]\nradius = 2.3', BALL),
    ('shape = "cylinder"\naxis = "y"\ncentre = [4.4, 4.6]\nradius = 2.3',
     lbm.Cylinder((4.4, 4.6), 2.3, "y")),
    ('shape = "box"\nfrom = [2.2, 3, 2.7]\nto = [7.4, 6.1, 5.5]',
     lbm.Box((2.2, 3, 2.7), (7.4, 6.1, 5.5))),
])  # fmt: skip
def test_case_files_have_interpolated_walls(lines, shape, tmp_path):
    case = read_text(tmp_path, f'{CASE}{lines}\nwall = "interpolated"\n')
    s = lbm.Simulation(**case.arguments).run(case.steps)
    body = {"body": lbm.Solid(shape, wall="interpolated")}
    direct = lbm.Simulation(**dict(case.arguments) | {"boundaries": body}).run(case.steps)
    assert np.array_equal(s.populations(), direct.populations())
    assert len(s.problem.links.cut)


# ---- published values ------------------------------------------------------------------------


def test_the_torque_and_the_stress_on_a_rotating_cylinder():
    """Between cylinders of radii n and 2 n (Couette); a staircase is wrong by 2 % with 16 cells.

    The velocity of the inner wall changes along it.
    """
    errors = []
    for n in (8, 16):
        nu, rate, middle = 0.1, 0.8 / n**2, 2 * n + 2.3

        def swirl(x, y, z, rate=rate, middle=middle):
            return -rate * (y - middle), rate * (x - middle), 0.0

        inner, outer = (lbm.Cylinder((middle, middle), radius) for radius in (n, 2 * n))
        walls = {"inner": cut(inner, swirl), "outer": cut(~outer)}
        s = lbm.Simulation((4 * n + 5, 4 * n + 5, 1), collision=lbm.TRT(0.8), boundaries=walls,
                           dtype="float64", device="cpu").run(round(1.2 * n**2 / nu))  # fmt: skip
        exact = 16.0 * np.pi / 3.0 * nu * rate * n**2
        torques = [s.torque_on(name, (middle, middle, 0.5))[2] / exact for name in walls]
        assert abs(sum(torques)) < 1e-4
        errors.append(abs(torques[0] + 1.0))
        for name, sign, radius in (("inner", -1.0, n), ("outer", 1.0, 2 * n)):
            shear = s.wall_shear(name)
            arm = shear.points - (middle, middle, 0.5)
            around = np.stack([-arm[:, 1], arm[:, 0], 0.0 * arm[:, 0]], axis=1) / radius
            size = exact / (2.0 * np.pi * radius**2)
            wrong = np.linalg.norm(shear.stress / size - sign * around, axis=1)
            assert wrong.max() < 0.42 / n
            assert np.sqrt((wrong**2).mean()) < 0.18 / n
            assert np.abs(np.hypot(*arm.T[:2]) - radius).max() < 0.1
    assert errors[1] < min(2e-4, errors[0] / 3.5)


@pytest.mark.slow
@pytest.mark.parametrize(("share", "drag"), [(0.125, 4.292), (0.216, 7.442), (0.343, 15.4)])
def test_the_drag_of_spheres_in_a_cubic_array(share, drag):
    """Zick and Homsy (1982, table 2): drag over Stokes', by the share of the spheres' volume."""
    n, nu = 32, 0.1
    radius, force = n * (0.75 * share / np.pi) ** (1 / 3), 1e-7
    ball = lbm.Solid(lbm.Sphere((n / 2 + 0.1,) * 3, radius), wall="interpolated")
    s = lbm.Simulation((n, n, n), collision=lbm.TRT(0.5 + 3 * nu), boundaries={"ball": ball},
                       force=(force, 0, 0), dtype="float64", device="cpu")  # fmt: skip
    before, mean = 0.0, 1.0
    while abs(mean - before) > 1e-5 * mean:
        s.run(128)
        before, mean = mean, float(s.u[0].mean())
    assert force * n**3 / (6 * np.pi * nu * radius * mean) == pytest.approx(drag, rel=0.01)


@pytest.mark.parametrize("edge", [5.7, 6.0, 6.2])
def test_touching_bodies_are_one(edge):
    """A link meets the body that it crosses first, also where it ends in the other one."""

    def box(low, high):
        return cut(lbm.Box((low, 3.2, 2.9), (high, 7.1, 6.4)))

    def run(**bodies):
        return lbm.Simulation(
            (14, 11, 10), boundaries={"y": lbm.NoSlip(), **bodies}, u=(0.03, 0.01, 0.005),
            collision=lbm.TRT(0.7), dtype="float64", device="cpu",
        ).run(30)  # fmt: skip

    one, two = run(whole=box(3.3, 8.6)), run(left=box(3.3, edge), right=box(edge, 8.6))
    np.testing.assert_array_equal(two.u, one.u)
    forces = two.force_on("left") + two.force_on("right")
    np.testing.assert_allclose(forces, one.force_on("whole"), rtol=0, atol=1e-15)


def warnings_of(shape, **boundaries):
    """Return the warnings of a simulation with interpolated bodies."""
    walls = {k: cut(value) if callable(value) else value for k, value in boundaries.items()}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lbm.Simulation(shape, boundaries=walls, device="cpu")
    return [str(w.message) for w in caught]


FLOOR = lbm.HalfSpace((0.0, 8.2, 0.0), (0.0, 1.0, 0.0))
ON_LINKS = lbm.HalfSpace((0.0, 8.0, 0.0), (0.0, 1.0, 0.0))


@pytest.mark.parametrize(("shape", "walls", "words"), [
    ((6, 12, 3), {"floor": FLOOR, "y": lbm.NoSlip()}, "18 of 90 links"),
    ((6, 12, 3), {"floor": FLOOR, "y": lbm.FreeSlip()}, None),
    ((6, 12, 3), {"floor": ON_LINKS, "y": lbm.NoSlip()}, None),
    ((24, 24, 24), {"body": ~mesh_of(*cuboid((2.2,) * 3, (21.7, 9.8, 14.3)))}, None),
    ((24, 24, 24), {"body": ~mesh_of(*cuboid((2.2,) * 3, (21.7, 5.8, 14.3)))}, "(body)"),
    ((24, 24, 24), {"ball": lbm.Sphere((12.1, 12.2, 6.9), 5.3), "z": lbm.NoSlip()}, "(ball)"),
])  # fmt: skip
def test_only_narrow_gaps_are_named(shape, walls, words):
    messages = warnings_of(shape, **walls)
    assert words in messages[0] if words else not messages


@pytest.mark.parametrize("distance", [0.1, 0.3, 0.9])
@pytest.mark.parametrize("cells", [1, 2, 4, 5])
def test_links_in_narrow_gaps_are_counted(cells, distance):
    """Those across the gap: 6 x 3 on each side, and with one cell all links."""
    low, high = 2.5 - distance, 1.5 + cells + distance
    gap = {"low": lbm.HalfSpace((0, low, 0), (0, 1, 0)),
           "high": lbm.HalfSpace((0, high, 0), (0, -1, 0))}  # fmt: skip
    messages = warnings_of((6, cells + 4, 3), **gap, y=lbm.NoSlip())
    if cells > 4:
        assert not messages
        return
    (message,) = messages
    count = 6 * 3 * 2 * (5 if cells == 1 else 1)
    assert message.startswith(f"{count} of 180 links into interpolated walls (low, high)")
