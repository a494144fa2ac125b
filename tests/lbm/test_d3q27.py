"""The lattice D3Q27: against plain NumPy that shares nothing with the package, and its own paths.

`test_steps_match_reference`, `test_collisions` and `test_features` compare both lattices with
`lbm.reference`, and parts, ranks and restarts with whole flows.
"""

import itertools

import numpy as np
import pytest

import lbm
from flows import PATTERNS, follow, noisy, pair
from lbm_runs import read_text

VELOCITIES = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)]
WEIGHTS = [(1, 4, 1)[x + 1] * (1, 4, 1)[y + 1] * (1, 4, 1)[z + 1] / 216 for x, y, z in VELOCITIES]


def plain_equilibrium(rho, u):
    """Second-order equilibrium, as a product of the momentum and the velocity."""
    j = rho * u
    return np.array([
        w * (rho + 3 * np.tensordot(c, j, 1) + 4.5 * np.tensordot(c, u, 1) * np.tensordot(c, j, 1)
             - 1.5 * (u * j).sum(axis=0))
        for c, w in zip(VELOCITIES, WEIGHTS, strict=True)
    ])  # fmt: skip


def plain_steps(rho, u, tau, steps, is_wall, lid):
    """BGK in a periodic box, some of whose cells are walls: each returns what runs into it.

    `lid` [c, x, y, z] is the velocity of the walls.
    """
    f = plain_equilibrium(rho, u)
    for _ in range(steps):
        rho = f.sum(axis=0)
        u = np.tensordot(np.array(VELOCITIES, float).T, f, 1) / rho
        after = f + (plain_equilibrium(rho, u) - f) / tau
        for q, c in enumerate(VELOCITIES):
            f[q] = np.roll(after[q], c, (0, 1, 2))
            for cell in itertools.product(*map(range, is_wall.shape)):
                origin = tuple((a - b) % n for a, b, n in zip(cell, c, is_wall.shape, strict=True))
                if is_wall[origin] and not is_wall[cell]:
                    push = 6 * WEIGHTS[q] * np.dot(c, lid[:, origin[0], origin[1], origin[2]])
                    f[(q, *cell)] = after[(26 - q, *cell)] + push  # 26 - q is opposite
    rho = f.sum(axis=0)
    return rho, np.tensordot(np.array(VELOCITIES, float).T, f, 1) / rho


def test_walls_and_a_lid_against_plain_numpy(device):
    inner, tau = (5, 4, 3), 0.7
    bgk = lbm.TRT(tau, magic=(tau - 0.5) ** 2)  # the same, and compiled for other tests
    rho, u = noisy(inner)
    walls = {"x": lbm.NoSlip(), "y-": lbm.NoSlip(), "y+": lbm.MovingWall((0.08, 0.0, -0.03)),
             "z": lbm.NoSlip()}  # fmt: skip
    body = np.zeros(inner, bool)
    body[2, 1, 1] = True
    s = lbm.Simulation(inner, collision=bgk, rho=rho, u=u, lattice="D3Q27", device=device,
                       boundaries={**walls, "body": lbm.Solid(body)}, dtype="float64",
                       force=(0.0, 0.0, 1e-300)).run(6)  # fmt: skip
    is_wall, lid = np.ones([n + 2 for n in inner], bool), np.zeros((3, *(n + 2 for n in inner)))
    is_wall[1:-1, 1:-1, 1:-1] = body
    lid[:, 1:-1, -1, 1:-1] = np.array([0.08, 0.0, -0.03])[:, None, None]
    start = np.ones(is_wall.shape), np.zeros((3, *is_wall.shape))
    start[0][1:-1, 1:-1, 1:-1], start[1][:, 1:-1, 1:-1, 1:-1] = rho, u
    expected_rho, expected_u = plain_steps(*start, tau, 6, is_wall, lid)
    fluid = ~body
    assert np.abs(s.rho - expected_rho[1:-1, 1:-1, 1:-1])[fluid].max() < 1e-14
    assert np.abs(s.u - expected_u[:, 1:-1, 1:-1, 1:-1])[:, fluid].max() < 1e-14


def test_corners_of_moving_walls_and_an_outlet_have_no_first_axis(device):
    walls = {"x": lbm.PressureOutlet(), "y": lbm.MovingWall((0.03, 0.0, 0.05)),
             "z": lbm.MovingWall((0.01, -0.04, 0.0))}  # fmt: skip
    turned = walls | {"y": lbm.MovingWall((0.01, 0.0, -0.04)), "z": lbm.MovingWall((0.03, 0.05, 0))}
    rho, u = noisy((4, 5, 3))
    one, two = (
        lbm.Simulation(r.shape, collision=lbm.TRT(0.7), boundaries=b, rho=r, u=v, lattice="D3Q27",
                       force=(0.0, 0.0, 1e-300), dtype="float64", device=device).run(3)
        for r, v, b in ((rho, u, walls), (rho.swapaxes(1, 2), u[[0, 2, 1]].swapaxes(2, 3), turned))
    )  # fmt: skip
    assert np.abs(one.u - two.u[[0, 2, 1]].swapaxes(2, 3)).max() < 1e-14


@pytest.mark.cuda
@pytest.mark.parametrize("pattern", PATTERNS)
def test_both_devices_compute_one_flow(pattern, require_cuda):
    options = {"pattern": pattern, "dtype": "float64"}
    one, theirs = pair("cavity with bodies", lbm.TRT(0.7), lbm.D3Q27, device="cpu", **options)
    two, _ = pair("cavity with bodies", lbm.TRT(0.7), lbm.D3Q27, device="cuda", ratio=0.4,
                  **options)  # fmt: skip
    follow(one, theirs, 4)
    assert np.abs(one.populations() - two.run(4).populations()).max() < 5e-15


def test_a_checkpoint_and_a_case_file_name_the_lattice(device, tmp_path):
    s, _ = pair("sponges", lbm.TRT(0.7), lbm.D3Q27, dtype="float64", device=device)
    assert s.save(tmp_path / "state").read_bytes().startswith(b"LBM-D3Q27 1\n")
    text = """
shape = [4, 4, 4]
steps = 2
fluid = { tau = 0.7, force = [1e-5, 0.0, 0.0] }
numerics = { lattice = "D3Q27", dtype = "float64" }
"""
    s = lbm.Simulation(**read_text(tmp_path, text).arguments | {"device": "cpu"})
    assert s.problem.lattice == lbm.D3Q27
    assert "lattice='D3Q27'" in repr(s)
    with pytest.raises(ValueError, match=r"lattice must be one of"):
        read_text(tmp_path, text.replace("27", "15"))
