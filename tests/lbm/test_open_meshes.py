"""Cells and walls of meshes that are not closed, against sums of solid angles and exact shapes."""

import logging
import warnings

import numpy as np
import pytest

import lbm
from lbm_runs import call
from surfaces import box, hull, mesh_of, torus, winding_numbers, write_stl

SHAPE = (20, 18, 16)
CENTRE = (10.0, 9.0, 8.0)


def centres(shape=SHAPE):
    """Return the centres of all cells [cell, xyz]."""
    return np.stack(np.meshgrid(*(np.arange(n) + 0.5 for n in shape), indexing="ij"), -1)


def repaired(vertices, faces, **options):
    """Return a repaired mesh, without a warning."""
    return mesh_of(vertices, faces, repair=True, **options)


def ball(share=1.0, seed=0):
    """Return a sphere of 1,396 triangles, without some of them."""
    k = np.arange(700) + 0.5
    height, angle = 1.0 - 2.0 * k / 700, np.pi * (1.0 + 5.0**0.5) * k
    radius = np.sqrt(1.0 - height**2)
    vertices, faces = hull(np.stack([radius * np.cos(angle), radius * np.sin(angle), height], 1))
    return vertices, faces[np.random.default_rng(seed).random(len(faces)) < share]


def flipped(faces, share, seed=5):
    """Return faces, a share of them with the other orientation."""
    turned = np.random.default_rng(seed).random(len(faces)) < share
    return np.where(turned[:, None], faces[:, ::-1], faces)


BALL = ball()
HOLES = ball(0.95)
OTHER = BALL[0] + [0.0, 0.0, 0.7]


@pytest.mark.parametrize(("vertices", "faces", "note"), [
    (*HOLES, "holes or open ends"), (BALL[0], flipped(BALL[1], 0.3), "turned over"),
    (HOLES[0], flipped(HOLES[1], 0.3), "turned over"),
    (BALL[0], np.concatenate([BALL[1], BALL[1][:, ::-1]]), "have a copy"),
    (np.concatenate([BALL[0], 0.98 * BALL[0]]), np.concatenate([HOLES[1], HOLES[1] + len(BALL[0])]),
     "holes or open ends"),
], ids=[
    "5 % removed", "flipped", "removed and flipped", "doubled both ways", "doubled, open",
])  # fmt: skip
def test_a_damaged_sphere_has_the_cells_of_the_sphere(vertices, faces, note):
    mesh = repaired(vertices, faces)
    assert any(note in line for line in mesh.repairs)
    cells = mesh.place(length=14, centre=CENTRE).cells(SHAPE)
    r = np.linalg.norm(centres() - CENTRE, axis=3)
    far = np.abs(r - 7.0) >= 0.8
    assert np.array_equal(cells[far], (r < 7.0)[far])
    assert np.count_nonzero(cells != (r < 7.0)) < 0.03 * cells.sum()


@pytest.mark.parametrize("kind", ["holes", "torus", "soup", "bowl"])
def test_open_surfaces_agree_with_sums_of_solid_angles(kind):
    """The tree of moments and the integers of lines give the sum of all solid angles."""
    random = np.random.default_rng(4)
    if kind == "torus":
        vertices, faces = torus(rows=30, columns=16)
        faces = faces[random.random(len(faces)) < 0.7]
    else:
        vertices, faces = ball(0.9)
        if kind == "soup":
            vertices = vertices[faces].reshape(-1, 3)
            vertices = vertices + random.normal(size=vertices.shape) * 3e-3
            faces = np.arange(len(vertices)).reshape(-1, 3)
        elif kind == "bowl":
            faces = faces[vertices[faces][:, :, 2].max(axis=1) < 0.3]
    mesh = repaired(vertices, faces)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # parts of a torus and a soup are mostly open
        placed = mesh.place(length=15, centre=CENTRE, rotation=(20, 30, 0))
    cells = placed.cells(SHAPE)
    asked = random.random(SHAPE) < 0.15
    winding = np.abs(winding_numbers(placed.triangles, centres()[asked]))
    within = np.abs(winding - 0.5) > 0.015
    x, y, z = np.ix_(*(np.arange(n) + 0.5 for n in SHAPE))
    low, high = placed.bounds
    ends = zip((x, y, z), low, high, strict=True)
    boxed = np.logical_and.reduce(np.broadcast_arrays(*((a < c) & (c < b) for c, a, b in ends)))
    assert np.array_equal(cells[asked][within], ((winding > 0.5) & boxed[asked])[within])
    assert 0.02 < cells.mean() < 0.5
    # A rank finds the same cells in its part, whatever its corner.
    part = placed(x[3:14], y[:, 5:], z[:, :, 2:11])
    assert np.array_equal(part, cells[3:14, 5:, 2:11])


def test_trimesh_closes_holes_with_the_same_cells():
    trimesh = pytest.importorskip("trimesh")
    vertices, faces = BALL
    kept = faces[np.arange(len(faces)) % 40 != 7]
    body = trimesh.Trimesh(vertices, kept)
    assert not body.is_watertight
    assert body.fill_holes()
    closed = mesh_of(np.array(body.vertices), np.array(body.faces))
    ours, theirs = (m.place(length=15, centre=CENTRE).cells(SHAPE)
                    for m in (repaired(vertices, kept), closed))  # fmt: skip
    assert np.count_nonzero(ours != theirs) <= 3


def test_parts_that_overlap_are_one_body_even_inside_out():
    vertices = np.concatenate([BALL[0], OTHER])
    count = len(BALL[0])
    place = {"length": 14, "centre": CENTRE}
    good = np.concatenate([BALL[1], BALL[1] + count])
    expected = mesh_of(vertices, good).place(**place).cells(SHAPE)
    bad = np.concatenate([BALL[1], BALL[1][:, ::-1] + count])
    assert mesh_of(vertices, bad).place(**place).cells(SHAPE).sum() < 0.7 * expected.sum()
    mesh = repaired(vertices, bad)
    assert mesh.repairs == ("1 of 2 parts that face inwards are turned over",)
    assert np.array_equal(mesh.place(**place).cells(SHAPE), expected)


def test_closed_surfaces_stay_as_they_are():
    """Whatever faces inwards as a whole, or bounds a cavity, too."""
    vessel = np.concatenate([BALL[0], 0.6 * BALL[0]])
    hollow = np.concatenate([BALL[1], BALL[1][:, ::-1] + len(BALL[0])])
    for vertices, faces in (BALL, torus(rows=30, columns=16), (BALL[0], BALL[1][:, ::-1]),
                            (vessel, hollow)):  # fmt: skip
        plain, mesh = mesh_of(vertices, faces), repaired(vertices, faces)
        assert np.array_equal(plain.triangles, mesh.triangles)
        assert (mesh.repairs, mesh.crosses_links) == ((), True)
        place = {"length": 13.3, "centre": CENTRE, "rotation": (10, 20, 30)}
        assert np.array_equal(plain.place(**place).cells(SHAPE), mesh.place(**place).cells(SHAPE))


# ---- sheets ---------------------------------------------------------------------------------

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)
SHEET = np.array([[0, 1, 2], [0, 2, 3]])


def thick(vertices, faces, **place):
    """Return a placed mesh that is one cell thick, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mesh = lbm.TriangleMesh(vertices, faces, repair=True)
        return mesh.place(minimum_thickness=1, **place)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize(("height", "layer"), [(7.5, 7), (8.0, 7), (8.2, 8)])
def test_a_sheet_is_one_layer_of_cells(axis, height, layer):
    vertices = np.roll(CORNERS, axis, axis=1)
    corner = np.full(3, 4.0)
    normal = (2 + axis) % 3
    corner[normal] = height
    cells = thick(vertices, SHEET, length=10, corner=corner).cells(SHAPE)
    expected = np.zeros(SHAPE, bool)
    span = [slice(4, 14)] * 3
    span[normal] = slice(layer, layer + 1)
    expected[tuple(span)] = True
    assert np.array_equal(cells, expected)
    with pytest.warns(UserWarning, match="most of the surface is open.*minimum_thickness=1"):
        placed = lbm.TriangleMesh(vertices, SHEET, repair=True).place(length=10, corner=corner)
    assert not placed.cells(SHAPE).any()


def test_no_link_of_two_neighbours_outside_passes_through_a_tilted_sheet():
    placed = thick(CORNERS, SHEET, length=11, centre=CENTRE, rotation=(35, 20, 10))
    cells = placed.cells(SHAPE)
    normal = np.cross(*np.diff(placed.triangles[0], axis=0))
    normal /= np.linalg.norm(normal)
    distance = np.abs((centres() - placed.triangles[0, 0]) @ normal)
    assert distance[cells].max() <= 0.5 * np.abs(normal).max() + 1e-9
    for axis in range(3):
        first = np.moveaxis(centres(), axis, 0)[:-1].reshape(-1, 3)
        along = np.tile(np.eye(3)[axis], (len(first), 1))
        is_met = np.isfinite(placed.distances(first, along))
        moved = np.moveaxis(cells, axis, 0)
        solid = (moved[:-1] | moved[1:]).ravel()
        assert is_met.sum() > 20
        assert solid[is_met].all()
    part = placed(*np.ix_(*(np.arange(a, b) + 0.5 for a, b in ((7, 12), (3, 11), (6, 9)))))
    assert np.array_equal(part, cells[7:12, 3:11, 6:9])
    with pytest.raises(ValueError, match="must be centres"):
        placed(*np.ix_(*(np.arange(1.0, 4.0),) * 3))


# ---- flows ----------------------------------------------------------------------------------


def drag(mesh, wall):
    """Return the force of a slow stream on a body."""
    walls = {"x": lbm.FreeStream((0.05, 0, 0)), "y": lbm.FreeSlip(), "z": lbm.FreeSlip()}
    s = lbm.Simulation((24, 16, 16), boundaries=walls | {"body": lbm.Solid(mesh, wall=wall)},
                       collision=lbm.TRT(0.9), u=(0.05, 0, 0), force=(1e-300, 0, 0), device="cpu",
                       dtype="float64")  # fmt: skip
    return s.run(60).force_on("body")[0]


@pytest.mark.parametrize("wall", ["halfway", "interpolated"])
def test_forces_on_a_sphere_with_holes_are_those_on_the_sphere(wall):
    place = {"length": 7, "centre": (9.2, 8.1, 7.9)}
    whole, open_ = (repaired(*b).place(**place) for b in (BALL, HOLES))
    assert not open_.crosses_links
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*lie in gaps")
        assert drag(open_, wall) == pytest.approx(drag(whole, wall), rel=0.02)


def test_a_wind_tunnel_says_what_was_repaired(tmp_path, capsys, caplog):
    """An open car-like body, with sheets for its tail: a file, the command and a case."""
    pytest.importorskip("trimesh")
    v, f = box((0, 0, 0), (4, 1.6, 1.3))
    floorless = f[(v[f][:, :, 2] > 0).any(axis=1)]
    tail = CORNERS[:, [0, 2, 1]] + [4.0, 0.8, 0.3]
    vertices, faces = np.concatenate([v, tail]), np.concatenate([floorless, SHEET + 8])
    path = write_stl(tmp_path / "car.stl", vertices, faces)
    with pytest.raises(ValueError, match=r"car\.stl: the surface is not closed.*repair=True"):
        lbm.wind_tunnel(path, speed=30.0, length=5.0)
    arguments = {"speed": 30.0, "length": 5.0, "cells": 15, "margins": (1.0, 2.0, 1.0),
                 "repair": True, "minimum_thickness": 1, "device": "cpu"}  # fmt: skip
    with caplog.at_level(logging.INFO, "lbm"):
        tunnel = lbm.wind_tunnel(path, **arguments)
    assert "2 holes or open ends with 8 edges" in str(tunnel)
    assert "2 holes or open ends with 8 edges" in caplog.text
    solid = tunnel.plan.boundaries["body"].mask(tunnel.plan.shape)
    assert solid.sum() == 12 * 4 * 4 + 3 * 3
    result = tunnel.run(most=0.5, fewest=0.5)
    assert np.isfinite(result.drag.value)
    assert "mesh" in result.summary()["choices"]
    code, text, _ = call(capsys, "tunnel", path, "--speed", 30, "--length", 5, "--repair",
                         "--minimum-thickness", 1, "--dry-run")  # fmt: skip
    assert (code, "2 holes or open ends" in text) == (0, True)
    case = tmp_path / "case.toml"
    case.write_text('[tunnel]\nbody = "car.stl"\nspeed = 30.0\nlength = 5.0\nrepair = true\n'
                    "minimum_thickness = 1\ncells = 16\n")  # fmt: skip
    assert call(capsys, "run", case, "--dry-run")[0] == 0
    case.write_text(case.read_text().replace("repair = true\n", ""))
    assert "repair" in call(capsys, "run", case, "--dry-run")[2]
