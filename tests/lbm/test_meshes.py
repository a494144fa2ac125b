"""Cells of triangle meshes against exact solids and winding numbers; damaged meshes."""

import json
import sys
import warnings

import numpy as np
import pytest
from scipy.spatial import Delaunay
from scipy.spatial.transform import Rotation

import lbm
from lbm_runs import call
from surfaces import box, hull, mesh_of, sphere, torus, winding_numbers, write_stl


def write_text_stl(path, vertices, faces):
    """Write an STL file as text."""
    lines = ["solid body"]
    for triangle in np.asarray(vertices)[faces]:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += ["vertex " + " ".join(f"{c:.6e}" for c in corner) for corner in triangle]
        lines += ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid body", ""]))
    return path


# ---- exact solids ---------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 0.25, 0.5])
def test_a_box_has_the_cells_whose_centres_are_inside(shift):
    """Faces, edges and diagonals go through centres where the shift is a half: [low, high)."""
    low, high = np.array([2, 3, 1]) + shift, np.array([9, 7, 6]) + shift
    cells = mesh_of(*box(low, high)).cells((12, 10, 8))
    centres = lbm.geometry.centres((12, 10, 8))
    x, y, z = ((a <= c) & (c < b) for c, a, b in zip(centres, low, high, strict=True))
    expected = x & y & z
    assert np.array_equal(cells, expected)
    assert cells.sum() == 7 * 4 * 5


def test_a_rotated_box_is_six_half_spaces():
    angles, sides = (20.0, -35.0, 50.0), np.array([9.0, 6.0, 4.0])
    mesh = mesh_of(*box(-sides / 2, sides / 2))
    cells = mesh.place(dx=0.5, centre=(14, 15, 16), rotation=angles).cells((30, 30, 30))
    points = np.stack(np.broadcast_arrays(*lbm.geometry.centres((30, 30, 30))), -1) - (14, 15, 16)
    body = Rotation.from_euler("xyz", angles, degrees=True).inv().apply(points.reshape(-1, 3))
    depth = (sides - np.abs(body)).min(axis=1).reshape(cells.shape)  # half sides in cells
    clear = np.abs(depth) > 1e-9
    assert np.array_equal(cells[clear], depth[clear] > 0)
    assert clear.mean() > 0.999


# ---- winding numbers ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_random_bodies_agree_with_their_winding_numbers(seed):
    """Overlapping hulls, one of them inside out, at coordinates that are not uniform."""
    random = np.random.default_rng(seed)
    vertices, faces, count = [], [], 0
    for k in range(3):
        points, corners = hull(random.normal(size=(12, 3)) * 2 + random.normal(size=3) + 6)
        vertices.append(points)
        faces.append((corners[:, ::-1] if k == 2 and seed % 2 else corners) + count)
        count += len(points)
    vertices, faces = np.concatenate(vertices), np.concatenate(faces)
    mesh = mesh_of(vertices, faces)
    axes = [np.sort(random.uniform(0, 12, n)) for n in (9, 11, 10)]
    cells = mesh(*np.ix_(*axes))
    points = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
    winding = winding_numbers(vertices[faces], points)
    assert np.abs(winding - np.round(winding)).max() < 1e-6
    assert np.array_equal(cells.ravel(), np.round(winding) != 0)
    assert 0.02 < cells.mean() < 0.9


@pytest.mark.parametrize("seed", range(3))
def test_bodies_that_share_faces_share_no_cell_and_leave_none_out(seed):
    """Tetrahedra with corners on centres: lines meet corners, edges and faces all the time."""
    random = np.random.default_rng(seed)
    points = np.unique(random.integers(0, 9, (40, 3)), axis=0).astype(float)
    tetrahedra = Delaunay(points).simplices
    sides = ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))
    axes = np.ix_(*(np.arange(-1.0, 10.0),) * 3)
    total = np.zeros((11, 11, 11), int)
    for corners in tetrahedra:
        total += mesh_of(points, corners[np.array(sides)])(*axes)
    faces = np.concatenate([t[np.array(sides)] for t in tetrahedra])
    corners = points[tetrahedra]
    edges = corners[:, 1:] - corners[:, :1]
    inside_out = np.repeat(np.linalg.det(edges) < 0, 4)
    faces[inside_out] = faces[inside_out][:, ::-1]
    whole = mesh_of(points, faces)  # of the sides inside, both copies are removed
    assert len(whole.faces) < len(faces) / 2
    assert np.array_equal(total, whole(*axes))
    volume = np.abs(np.linalg.det(edges)).sum() / 6
    assert total.sum() == pytest.approx(volume, rel=0.1)


def test_coordinates_in_any_order_as_around_a_periodic_domain():
    mesh, shape = mesh_of(*torus()).place(length=14, centre=(8, 8, 3)), (16, 16, 6)
    whole = mesh.cells(shape)
    wrapped = [np.arange(-1, n + 1) % n for n in shape]
    cells = mesh(*np.ix_(*(i + 0.5 for i in wrapped)))
    assert np.array_equal(cells, whole[np.ix_(*wrapped)])
    with pytest.raises(ValueError, match=r"must have the shapes \(nx, 1, 1\)"):
        mesh(np.zeros((2, 2, 1)), np.zeros((1, 1, 1)), np.zeros((1, 1, 1)))


# ---- what files hold ------------------------------------------------------------------------


def test_orientation_repetition_and_degenerate_triangles_change_nothing():
    vertices, faces = torus(rows=24, columns=12)
    vertices = vertices + 3.2
    expected = mesh_of(vertices, faces).place(dx=0.3).cells((24, 24, 24))
    assert expected.any()
    degenerate = [[0, 0, 5], [3, 3, 3]]
    variants = [
        faces[:, ::-1], np.concatenate([faces, faces]),
        np.concatenate([faces, faces[:7, [1, 2, 0]]]), np.concatenate([faces, degenerate]),
        np.concatenate([faces, faces[:5], faces[:5, ::-1]]),
    ]  # fmt: skip
    for variant in variants:
        assert np.array_equal(mesh_of(vertices, variant).place(dx=0.3).cells((24,) * 3), expected)
    flipped = faces.copy()
    flipped[::3] = flipped[::3, ::-1]
    with pytest.warns(UserWarning, match="not oriented consistently"):
        mesh = lbm.TriangleMesh(vertices, flipped)
    assert np.array_equal(mesh.place(dx=0.3).cells((24,) * 3), expected)


def test_vertices_with_rounding_errors_are_welded_on_request():
    vertices, faces = torus(rows=24, columns=12)
    soup = vertices[faces].reshape(-1, 3)
    soup = soup + np.random.default_rng(3).normal(size=soup.shape) * 1e-7
    triangles = np.arange(len(soup)).reshape(-1, 3)
    with pytest.raises(ValueError, match=r"With weld=5\.5e-05, which merges .* 0 are left"):
        lbm.TriangleMesh(soup, triangles)
    mesh = mesh_of(soup, triangles, weld=5.5e-5)
    assert (len(mesh.vertices), len(mesh.faces)) == (288, 576)


VERTICES, FACES = box((0, 0, 0), (1, 1, 1))


@pytest.mark.parametrize(("vertices", "faces", "error", "words"), [
    (VERTICES, FACES[1:], ValueError, "not closed: 3 of its edges are open.*Close the holes"),
    (VERTICES, FACES + (FACES == 7), ValueError,
     "faces must be indices of the 8 vertices, got 0 to 8"),
    (VERTICES, [[0, 1, 2], [0, 2, 1]], ValueError, "degenerate or cancel each other"),
])  # fmt: skip
def test_bad_arrays_are_refused(vertices, faces, error, words):
    with pytest.raises(error, match=words):
        lbm.TriangleMesh(vertices, faces)


@pytest.mark.parametrize("write", [write_stl, write_text_stl])
def test_files_are_read_and_damaged_ones_are_refused(tmp_path, write):
    pytest.importorskip("trimesh")
    vertices, faces = torus(rows=24, columns=12)
    path = write(tmp_path / "body.stl", vertices, faces)
    mesh = lbm.read_mesh(path)
    assert len(mesh.faces) == len(faces)
    assert mesh.bounds == pytest.approx(np.stack([vertices.min(0), vertices.max(0)]), rel=1e-6)
    with pytest.raises(ValueError, match=r"body\.stl: the surface is not closed: 3 of its edges"):
        lbm.read_mesh(write(path, vertices, faces[1:]))
    contents = path.read_bytes()
    for size in (0, 50, 84, 200, len(contents) // 2, len(contents) - 30):
        path.write_bytes(contents[:size])
        with pytest.raises(ValueError, match=r"body\.stl (is empty|has|should have|ends before)"):
            lbm.read_mesh(path)


def test_other_files(tmp_path):
    pytest.importorskip("trimesh")
    vertices, faces = box((0, 0, 0), (1, 2, 3))
    lines = ["v " + " ".join(map(str, v)) for v in vertices]
    path = tmp_path / "body.obj"
    second = [f"v {x + 5} {y} {z}" for x, y, z in vertices]
    names = [f"o {name}\n" + "\n".join("f " + " ".join(str(k + 1 + m) for k in f) for f in faces)
             for name, m in (("first", 0), ("second", 8))]  # fmt: skip
    path.write_text("\n".join([*lines, *second, *names]))  # two objects in a file
    assert lbm.read_mesh(path).bounds.tolist() == [[0, 0, 0], [6, 2, 3]]
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"body\.obj (has no triangles|cannot be read)"):
        lbm.read_mesh(path)
    (tmp_path / "body.xyzzy").write_bytes(b"1")
    with pytest.raises(ValueError, match=r"trimesh does not read \.xyzzy"):
        lbm.read_mesh(tmp_path / "body.xyzzy")
    with pytest.raises(FileNotFoundError):
        lbm.read_mesh(tmp_path / "missing.stl")


def test_a_missing_trimesh_is_an_error_that_names_the_extra(tmp_path, monkeypatch):
    path = write_stl(tmp_path / "body.stl", *box((0, 0, 0), (1, 1, 1)))
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(ImportError, match=r"pip install 'heterokit\[mesh\]'"):
        lbm.read_mesh(path)


# ---- places ---------------------------------------------------------------------------------


def test_places():
    body = mesh_of(*box((100, 200, 300), (140, 220, 330)))  # 40 x 20 x 30 mm
    assert body.place(length=8).bounds == pytest.approx(np.array([(20, 40, 60), (28, 44, 66)]))
    placed = body.place(dx=5, centre=(9, 8, 7))
    assert placed.bounds == pytest.approx(np.array([(5, 6, 4), (13, 10, 10)]))
    standing = body.place(dx=5, corner=(3, 0, 2), rotation=(0, 0, 90))
    assert standing.bounds.tolist() == [[3, 0, 2], [7, 8, 8]]  # right angles are exact
    assert body.frontal_area() == pytest.approx(600, rel=2e-3)
    with pytest.raises(ValueError, match="either length, in cells, or dx"):
        body.place(centre=(1, 1, 1))
    with pytest.raises(ValueError, match="exclude each other"):
        body.place(dx=1, centre=(1, 1, 1), corner=(0, 0, 0))
    with pytest.raises(ValueError, match=r"lies outside of the domain of shape \(8, 8, 8\)"):
        body.place(dx=1).cells((8, 8, 8))
    with pytest.warns(UserWarning, match="is cut off"):
        assert body.place(dx=5, corner=(-2, 0, 0)).cells((8, 8, 8)).sum() == 6 * 4 * 6
    with warnings.catch_warnings():  # a body may touch faces
        warnings.simplefilter("error")
        assert body.place(dx=5, corner=(0, 0, 0)).cells((8, 4, 6)).all()


@pytest.mark.parametrize("axis", range(3))
def test_thin_parts_that_vanish_are_announced(axis):
    """A plate between two layers of centres has no cell."""
    high = np.full(3, 8.0)
    high[axis] = 0.4
    plate = mesh_of(*box((0, 0, 0), high))
    corner = np.full(3, 2.0)
    corner[axis] = 2.55
    with pytest.warns(UserWarning, match=f"along {'xyz'[axis]} through .* 100% contain no cell"):
        assert not plate.place(dx=1, corner=corner).cells((12, 12, 12)).any()
    corner[axis] = 2.3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert plate.place(dx=1, corner=corner).cells((12, 12, 12)).sum() == 64
        assert mesh_of(*sphere()).place(dx=2 / 32, centre=(20.3, 20.2, 20.1)).cells((41,) * 3).any()


# ---- case files -----------------------------------------------------------------------------

CASE = """
shape = [24, 12, 12]
steps = 200
units = { length = 0.006, cells = 6, speed = 0.05, viscosity = 1e-5 }
initial.u = [0.05, 0.0, 0.0]
[boundaries]
"x-" = { type = "velocity-inlet", velocity = [0.05, 0.0, 0.0] }
"x+" = { type = "pressure-outlet", pressure = 0.0 }
y = "free-slip"
z = "free-slip"
[solids.body]
shape = "mesh"
file = "meshes/body.stl"
length = 0.006
centre = [0.0083, 0.006, 0.006]
rotation = [0.0, 0.0, 90.0]
[output]
checkpoint = 200
[output.forces]
speed = 0.05
"""


@pytest.fixture
def case(tmp_path):
    """Write a case with a box in a folder beside it, and return its path."""
    pytest.importorskip("trimesh")
    (tmp_path / "meshes").mkdir()
    write_stl(tmp_path / "meshes/body.stl", *box((0, 0, 0), (60, 30, 20)))  # turned: 3 x 6 x 2
    path = tmp_path / "case.toml"
    path.write_text(CASE)
    return path


def test_a_case_computes_the_drag_of_a_mesh(case, tmp_path, capsys):
    code, text, err = call(capsys, "run", case, "--out", tmp_path / "a", "--json", "--quiet")
    assert (code, err) == (0, "")
    found = json.loads(text)["forces"]["body"]
    assert found["area"] == pytest.approx(6e-3 * 2e-3, rel=2e-3)
    mask = np.zeros((24, 12, 12), bool)
    mask[7:10, 3:9, 5:7] = True
    np.save(tmp_path / "mask.npy", mask)
    old = CASE[CASE.index('shape = "mesh"') : CASE.index("[output]")]
    case.write_text(CASE.replace(old, 'shape = "mask"\nfile = "mask.npy"\n'))
    code, text, err = call(capsys, "run", case, "--out", tmp_path / "b", "--json", "--quiet")
    assert (code, err) == (0, "")
    same = json.loads(text)["forces"]["body"]
    assert same["area"] == pytest.approx(6 * 2 * 1e-6)
    for name in ("checkpoint.state", "forces.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    rows = np.loadtxt(tmp_path / "a/forces.csv", delimiter=",", skiprows=1)
    assert (len(rows), rows[0, 0]) == (22, 9)  # samples an odd number of steps apart
    mean = rows[-10:, 2:].mean(axis=0)  # an even number of them
    assert found["coefficients"] == pytest.approx(mean / (0.5 * 0.05**2 * found["area"]))
    assert found["coefficients"][0] > 0.5
