"""Warnings of bodies that do not suit their domain, and errors that say what a checkpoint lacks."""

import tomllib
from pathlib import Path

import pytest

import lbm
from surfaces import box

CORNERS, FACES = box((0, 0, 0), (1, 1, 1))


def flow(boundaries=None, **settings):
    """Return a small flow between two walls."""
    walls = {"y": lbm.NoSlip()} | (boundaries or {})
    return lbm.Simulation((12, 8, 8), boundaries=walls, device="cpu", **settings)


def test_a_checkpoint_says_all_that_differs(tmp_path):
    scalar = lbm.Scalar(0.1, boundaries={"y-": lbm.FixedValue(1.0)})
    ball = lbm.Solid(lbm.Sphere((6, 4, 4), 2))
    state = flow({"ball": ball}, scalars={"heat": scalar}).save(tmp_path / "state")
    assert flow({"ball": ball}, scalars={"heat": scalar}).restore(state).steps == 0
    with pytest.raises(lbm.CheckpointError, match=r'scalars and outlets=\["heat: .* has \[\]$'):
        flow({"ball": ball}).restore(state)
    with pytest.raises(lbm.CheckpointError) as caught:
        flow({"y": lbm.FreeSlip()}, collision=lbm.TRT(0.9)).restore(state)
    message = str(caught.value)
    assert "\"ball: NoSlip(), 32 cells, wall='halfway'\"]" in message
    assert "has ['y-: FreeSlip()', 'y+: FreeSlip()']; and with collision=" in message
    assert '; and with sponges, scalars and outlets=["heat' in message
    moved = {"ball": lbm.Solid(lbm.Sphere((5, 4, 4), 2))}
    with pytest.raises(lbm.CheckpointError, match="cells of solids or velocities differ"):
        flow(moved, scalars={"heat": scalar}).restore(state)


def test_the_repairs_of_meshes_that_the_guide_names_run():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert any(line.startswith("networkx") for line in project["optional-dependencies"]["mesh"])
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("networkx")
    turned = trimesh.Trimesh(CORNERS, [FACES[0][::-1], *FACES[1:]], process=False)
    with pytest.warns(UserWarning, match="not oriented consistently"):
        lbm.TriangleMesh(turned.vertices, turned.faces)
    trimesh.repair.fix_normals(turned)
    assert lbm.TriangleMesh(turned.vertices, turned.faces).is_oriented
