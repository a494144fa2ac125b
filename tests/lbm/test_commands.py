"""`lbm` from the shell: case files, their errors, restarts, and several ranks."""

import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import lbm
from lbm._commands.cases.coefficients import find_frequency, summarize_forces
from lbm._commands.cases.force_scales import ForceScales
from lbm._io.tables import REQUIRED, Table
from lbm_runs import ROOT, call, read_case, read_text, start
from vtk_images import read_image

EXAMPLE = ROOT / "examples/lattice_boltzmann/sphere-wake.toml"

CASE = """
title = "a test"
shape = [12, 8, 6]
steps = 20
devices.device = "cpu"
[fluid]
tau = 0.7
force = [1e-5, 0.0, 0.0]
[boundaries]
y = "no-slip"
z- = { type = "no-slip" }
"z+" = { type = "moving-wall", velocity = [0.05, 0.0, 0.0] }
[solids.ball]
shape = "sphere"
centre = [6.0, 4.0, 3.0]
radius = 1.6
[initial]
u = [0.01, 0.0, 0.0]
[numerics]
dtype = "float64"
[output]
checkpoint = 8
[output.probes]
cells = [[1, 2, 3], [9, 5, 2]]
every = 5
[output.forces]
every = 10
[output.statistics]
every = 2
start = 4
"""


@pytest.fixture
def case(tmp_path):
    """Write the case to a file and return its path."""
    path = tmp_path / "case.toml"
    path.write_text(CASE)
    return path


def refuse(words, capsys, *arguments):
    """Check that a command ends with status 2 and a message, and prints nothing else."""
    code, out, err = call(capsys, *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err
    return err


def change(path, old, new):
    """Replace a text of a case file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def expected_flow():
    """Return the flow of CASE, built by hand, with a probe and statistics."""
    cells = lbm.geometry.sphere((12, 8, 6), (6.0, 4.0, 3.0), 1.6)
    walls = {"y": lbm.NoSlip(), "z-": lbm.NoSlip(), "z+": lbm.MovingWall((0.05, 0.0, 0.0)),
             "ball": lbm.Solid(cells)}  # fmt: skip
    s = lbm.Simulation((12, 8, 6), collision=lbm.TRT(0.7), boundaries=walls, u=(0.01, 0.0, 0.0),
                       force=(1e-5, 0.0, 0.0), dtype="float64", device="cpu")  # fmt: skip
    probe, statistics = lbm.Probe([(1, 2, 3), (9, 5, 2)], 5), lbm.Statistics(2, 4)
    s.run(20, callbacks=[probe, statistics])
    return s, probe, statistics


def read_rows(path):
    """Return the numbers of a table."""
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


def test_a_case_file_is_the_flow_that_it_describes(case, tmp_path, capsys):
    out = tmp_path / "out"
    code, printed, err = call(capsys, "run", case, "--out", out, "--quiet", "--json")
    assert (code, err) == (0, "")
    result = json.loads(printed)
    assert (result["title"], result["shape"], result["steps"]) == ("a test", [12, 8, 6], 20)
    s, probe, statistics = expected_flow()
    rows = read_rows(out / "probes.csv")
    assert rows[:, 0].tolist() == probe.steps == [5, 10, 15, 20]
    assert np.array_equal(rows[:, 1:], np.reshape(probe.values, (4, 8)))
    rows = read_rows(out / "forces.csv")
    assert rows[:, 0].tolist() == [10, 20]
    assert np.array_equal(rows[1, 1:], s.force_on("ball"))
    with np.load(out / "statistics.npz") as found:
        assert found["samples"] == statistics.samples == 9
        assert np.array_equal(found["mean_u"], statistics.mean_u)
        assert np.array_equal(found["variance_rho"], statistics.variance_rho)
    assert np.array_equal(s.populations(), s.restore(out / "checkpoint.state").populations())
    assert s.steps == 20


def list_files(folder):
    """Return the contents of all files by name; those of archives as arrays."""
    files = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith("statistics"):
            with np.load(path) as saved:
                files[path.name] = {name: saved[name].tolist() for name in saved}
        else:
            files[path.name] = path.read_bytes()
    return files


def test_the_files_of_a_restarted_run_are_those_of_an_uninterrupted_one(case, tmp_path, capsys):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    change(case, "checkpoint = 8", "checkpoint = 8\nvtk = 4")
    assert call(capsys, "run", case, "--out", whole)[0] == 0
    assert call(capsys, "run", case, "--out", parts, "--steps", 12)[0] == 0
    state = parts / "checkpoint.state"
    (parts / "probes.csv").open("a").write("15,of a run that was killed")
    (parts / "flow-00000013.vti").write_text("of a run that was killed")
    assert call(capsys, "run", case, "--out", parts, "--restart", state)[0] == 0
    expected = list_files(whole)
    assert len(expected) == 6 + 6
    assert list_files(parts) == expected
    again = "run", case, "--out", parts, "--restart", state
    refuse("has 20 steps, and the case ends after 20", capsys, *again)


def test_a_restart_refuses_what_does_not_belong_to_it(case, tmp_path, capsys):
    out = tmp_path / "out"
    assert call(capsys, "run", case, "--out", out, "--steps", 8)[0] == 0
    state = out / "checkpoint.state"
    early, again = state.read_bytes(), ("run", case, "--out", out, "--restart", state)
    assert call(capsys, *again, "--steps", 12)[0] == 0
    state.write_bytes(early)
    (out / "flow-00000012.vti").write_text("an image")
    before = list_files(out)
    refuse("has the statistics of step 12, but the checkpoint is of step 8", capsys, *again)
    sums = out / "statistics.state"
    sums.write_bytes(sums.read_bytes()[:500])
    refuse("statistics.state cannot be read", capsys, *again)
    sums.unlink()
    change(case, "[9, 5, 2]", "[9, 5, 3]")
    refuse("probes.csv has other columns than this case writes", capsys, *again)
    before.pop("statistics.state")
    assert list_files(out) == before


@pytest.mark.parametrize(("old", "new", "key"), [
    ("density = 1.0", "density = 1000.0", "units = dx"),
    ("statistics = { every = 7", "statistics = { every = 4", "output.statistics = [7, 0]"),
    ("probes = { every = 4", "probes = { every = 2", "output.probes.every = 4"),
])  # fmt: skip
def test_a_restart_refuses_other_scales_and_times_of_samples(tmp_path, capsys, old, new, key):
    """All of these flows have the same tau: the checkpoint alone would be accepted."""
    case, out = tmp_path / "case.toml", tmp_path / "out"
    text = """
shape = [12, 8, 8]
steps = 20
units = { length = 1.0, cells = 4, speed = 2.0, viscosity = 1.0, density = 1.0 }
solids.ball = { shape = "sphere", centre = [1.5, 1.0, 1.0], radius = 0.5 }
[output]
checkpoint = 8
statistics = { every = 7 }
forces = { every = 4, solids = ["ball"], speed = 2.0 }
probes = { every = 4, cells = [[1, 1, 1]] }
"""
    case.write_text(text)
    assert call(capsys, "run", case, "--out", out, "--steps", 8)[0] == 0
    before, state = list_files(out), out / "checkpoint.state"
    change(case, old, new)
    refuse(key, capsys, "run", case, "--out", out, "--restart", state)
    assert list_files(out) == before
    other = "run", case, "--out", tmp_path / "other", "--restart", state
    assert call(capsys, *other)[0] == (0 if old.startswith(("forces", "probes")) else 2)
    case.write_text(text)
    assert call(capsys, "run", case, "--out", out, "--restart", state)[0] == 0


def test_a_used_folder_is_refused_and_overwritten_on_request(case, tmp_path, capsys):
    """Images of an earlier, longer run would stay beside the new ones, in one series."""
    out, clean = tmp_path / "out", tmp_path / "clean"
    change(case, "checkpoint = 8", "vtk = 4")
    assert call(capsys, "run", case, "--out", out)[0] == 0
    (out / "notes.txt").write_text("the user's")
    before = list_files(out)
    for more in ((), ("--dry-run",)):
        refuse("holds files of an earlier run (flow-00000004.vti and 9 more)", capsys, "run", case,
               "--out", out, "--steps", 8, *more)  # fmt: skip
        assert list_files(out) == before
    assert call(capsys, "run", case, "--out", out, "--steps", 8, "--overwrite")[0] == 0
    assert call(capsys, "run", case, "--out", clean, "--steps", 8)[0] == 0
    assert list_files(out) == list_files(clean) | {"notes.txt": b"the user's"}
    refuse("not allowed with", capsys, "run", case, "--restart", out / "x.state", "--overwrite")


def test_arrays_in_files(case, tmp_path):
    mask, u = np.zeros((12, 8, 6), bool), np.random.default_rng(1).normal(0, 0.01, (3, 12, 8, 6))
    mask[1, 1] = True
    np.save(tmp_path / "mask.npy", mask)
    np.save(tmp_path / "u.npy", u)
    change(case, "[initial]\nu = [0.01, 0.0, 0.0]", """
[solids.mask]
shape = "mask"
file = "mask.npy"
condition = { type = "moving-wall", velocity = [0.0, 0.01, 0.0] }
[initial]
u = "u.npy"
""")  # fmt: skip
    arguments = read_case(case).arguments
    assert np.array_equal(arguments["u"], u)
    solid = arguments["boundaries"]["mask"]
    assert np.array_equal(solid.mask((12, 8, 6)), mask)
    assert solid.condition == lbm.MovingWall((0.0, 0.01, 0.0))
    np.save(tmp_path / "mask.npy", mask.astype(int))
    with pytest.raises(ValueError, match=r"solids\.mask\.file must hold booleans"):
        read_case(case)


IN_CELLS = "[fluid]\ntau = 0.6"
IN_SI = "[units]\nlength = 0.01\ncells = 10\nspeed = 0.005\nviscosity = 1e-6"


@pytest.mark.parametrize(("scales", "cell"), [(IN_CELLS, 1), (IN_SI, 1e-3)], ids=["cells", "SI"])
def test_shapes_and_points_have_the_cells_of_their_lengths(scales, cell, tmp_path):
    shape, surface = (40, 20, 20), np.random.default_rng(1).uniform(0.5, 3.0, (40, 20))
    np.save(tmp_path / "ground.npy", surface * cell)

    def at(*position):
        return [round(c * cell, 6) for c in position]

    case = read_text(tmp_path, f"""
shape = [40, 20, 20]
steps = 700
{scales}
[solids]
ball = {{ shape = "sphere", centre = {at(13.3, 10.1, 9.9)}, radius = {3.37 * cell} }}
post = {{ shape = "cylinder", axis = "y", centre = {at(28.2, 7.1)}, radius = {2.2 * cell} }}
block = {{ shape = "box", from = {at(33.2, 4.4, 2.2)}, to = {at(37.7, 9.1, 16.6)} }}
ground = {{ shape = "heights", file = "ground.npy" }}
[output]
probes = {{ every = 4, points = [{at(20.7, 3.9, 0.2)}] }}
""")  # fmt: skip
    block = np.zeros(shape, bool)
    block[33:38, 4:9, 2:17] = True
    expected = {
        "ball": lbm.geometry.sphere(shape, (13.3, 10.1, 9.9), 3.37),
        "post": lbm.geometry.cylinder(shape, (28.2, 7.1), 2.2, axis=1),
        "block": block,
        "ground": lbm.geometry.heights(shape, surface),
    }
    for name, cells in expected.items():
        assert np.array_equal(case.arguments["boundaries"][name].mask(shape), cells), name
    assert case.outputs.probes.cells == ((20, 3, 0),)


def test_coefficients_and_pictures_of_a_case(tmp_path, capsys):
    path, out = tmp_path / "case.toml", tmp_path / "out"
    scales = "[output.forces]\nspeed = 0.02\narea = 8.0\nlength = 3.2"
    contents = CASE.replace("[output.forces]", scales) + "[output.pictures]\nevery = 10\n"
    path.write_text(contents + 'axis = "y"\nfield = "ux"\n')
    status, text, _ = call(capsys, "run", path, "--out", out, "--json")
    assert status == 0
    found = json.loads(text)["forces"]["ball"]
    rows = np.loadtxt(out / "forces.csv", delimiter=",", skiprows=1)
    assert found["coefficients"] == pytest.approx(rows[-1, 1:] / (0.5 * 0.02**2 * 8.0))
    assert found["strouhal"] is None
    assert [p.read_bytes()[:4] for p in sorted(out.glob("*.png"))] == [b"\x89PNG"] * 2
    assert call(capsys, "run", path, "--out", out)[0] == 2  # the pictures are files of a run
    path.write_text(path.read_text().replace("speed = 0.02", ""))
    assert "output.forces.speed is missing" in call(capsys, "run", path, "--overwrite")[2]
    path.write_text(contents + 'axis = "y"\nindex = 8\n')
    assert "output.pictures.index must be less than 8" in call(capsys, "run", path)[2]


@pytest.mark.parametrize("periods", [3.3, 7.8, 40.5, 120.0])
@pytest.mark.parametrize("count", [500, 1999])
def test_frequencies_do_not_depend_on_noise_other_tones_trends_or_sampling(periods, count):
    """Crossings of the middle are counted several times where noise crosses back and forth."""
    t = np.linspace(0.0, 1.0, count)
    rng = np.random.default_rng(int(10 * periods) + count)
    sine = np.sin(2 * np.pi * periods * t + rng.uniform(0.0, 6.0))
    tone = 0.1 * np.sin(2 * np.pi * 4.4 * periods * t + 1.0)
    noise = rng.standard_normal(count)
    for signal in (sine, sine + 0.02 * noise, sine + 0.1 * noise, sine + tone, sine + 2.0 * t,
                   3.0 + 1e-6 * sine):  # fmt: skip
        frequency, resolution = find_frequency(100.0 + 7.0 * t, signal)
        assert frequency == pytest.approx(periods / 7.0, rel=0.02 / periods + 1e-3)
        assert resolution == pytest.approx(1.0 / 7.0)
    shape = np.sign(sine) + 0.02 * noise  # a force with many harmonics
    assert find_frequency(t, shape)[0] == pytest.approx(periods, abs=0.1)


def test_strouhal_numbers_are_found_in_a_table(tmp_path):
    def summarize(rows, scale=0.0):
        np.savetxt(path := tmp_path / "t.csv", rows, header="", delimiter=",")
        return summarize_forces(path, ["post"], ForceScales(4.0, (1.0,), scale))["post"]

    steps = np.arange(1000.0, 3000.0, 10.0)
    wave = 2 * np.pi * (steps - 1234.0) / 217.0
    forces = np.stack([1.5 + 0.02 * np.cos(2 * wave), 0.3 * np.sin(wave), 0 * wave], axis=1)
    found = summarize(np.column_stack([steps, 4.0 * forces]), 1302.0)
    assert found["strouhal"] == pytest.approx(6.0, rel=2e-3)
    assert found["coefficients"][0] == pytest.approx(1.5, abs=2e-3)
    assert found["drift"] == 0.0  # the side force swings through more than two periods
    assert find_frequency(steps[:40], wave[:40] * 0.0) is None
    assert found["strouhal_resolution"] == pytest.approx(1302.0 / 990.0)
    decay = np.column_stack([steps, np.exp(-steps / 500.0), 0 * steps, 0 * steps])
    expected = pytest.approx(2.0 * np.tanh(0.5), rel=1e-2)  # quarters of 500 steps
    assert [summarize(rows)["drift"] for rows in (decay, decay[:2])] == [expected, None]


def test_tables_of_a_case_with_units_are_in_si(tmp_path, capsys):
    path = tmp_path / "case.toml"
    text = EXAMPLE.read_text().replace("[80, 40, 40]", "[40, 20, 20]")
    text = text.replace("time = 16.0", "steps = 10").replace("start = 600", "start = 0")
    text = text.replace("[0.026, 0.02, 0.02]", "[0.013, 0.01, 0.01]")
    path.write_text(text.replace("[0.053, 0.02, 0.02]", "[0.0285, 0.0093, 0.0093]"))
    assert call(capsys, "run", path, "--out", tmp_path, "--device", "cpu")[0] == 0
    units = read_case(path).scales.units
    head, row = (tmp_path / "forces.csv").read_text().splitlines()
    assert head == "step,time (s),ball fx (N),ball fy (N),ball fz (N)"
    step, time, force, *_ = map(float, row.split(","))
    assert (step, time) == (10, pytest.approx(10 * units.dt))
    arguments = dict(read_case(path).arguments)
    s = lbm.Simulation(arguments.pop("shape"), **(arguments | {"device": "cpu"})).run(10)
    assert force == pytest.approx(units.to_physical(force=s.force_on("ball")[0]))
    with np.load(tmp_path / "statistics.npz") as found:
        speed = units.dx / units.dt
        np.testing.assert_allclose(found["mean_u"], s.u * speed, rtol=1e-6)
        pressure = units.density * speed**2 * s.drho / 3.0
        np.testing.assert_allclose(found["mean_pressure"], pressure, rtol=1e-6)
    head, row = (tmp_path / "probes.csv").read_text().splitlines()
    speed = float(row.split(",")[head.split(",").index("ux at 0.0285 0.0093 0.0093 (m/s)")])
    assert speed == pytest.approx(units.to_physical(speed=float(s.u[0, 28, 9, 9])), rel=1e-6)
    (row,) = ElementTree.parse(tmp_path / "flow.pvd").getroot().iter("DataSet")
    assert row.get("file") == "flow-00000010.vti"
    assert float(row.get("timestep")) == pytest.approx(10 * units.dt)
    pytest.importorskip("vtkmodules.vtkIOXML")
    image, fields = read_image(tmp_path / "flow-00000010.vti")
    assert set(fields) == {"pressure", "u", "fluid", "vorticity", "q"}
    assert image.GetSpacing() == (units.dx,) * 3
    np.testing.assert_allclose(fields["u"], s.u * units.dx / units.dt, rtol=1e-6)


@pytest.mark.parametrize(("old", "new", "words"), [
    ("steps = 20", "", "steps is missing"),
    ("steps = 20", "stpes = 20\nsteps = 20", "unknown key 'stpes' (did you mean 'steps'?)"),
    ("steps = 20", "time = 1.0", "time is in seconds and needs [units]"),
    ("tau = 0.7", "", "fluid.tau and fluid.viscosity are both missing"),
    ("tau = 0.7", "tau = 0.7\nviscosity = 1", "are both there: remove one"),
    ("tau = 0.7", 'tau = 0.7\ncollision = "bgk"\nmagic = 0.1',
     "fluid.magic is a parameter of 'trt': remove it"),
    ('y = "no-slip"', 'y = "noslip"', "got 'noslip' (did you mean 'no-slip'?)"),
    ("centre = [6.0, 4.0, 3.0]", "centre = [6.0, 4.0, 30.0]",
     "solids.ball covers no cell of the domain: correct its position and its size, or remove "
     "it. The domain measures 12 x 8 x 6 cells"),
    ("radius = 1.6", 'radius = 1.6\ncondition = { type = "pressure-outlet" }',
     "output.forces.solids must list solids of this case that are no outlets (none"),
    ('"sphere"', '"mask"\nfile = "no.npy"', "solids.ball.file names"),
    ("[9, 5, 2]]", "[6, 4, 3]]", "output.probes.cells: [6, 4, 3] lies in a solid"),
    ("cells = [[1, 2, 3], [9, 5, 2]]", "points = [[1, 2, 6.5]]",
     "output.probes.points must lie in the domain (12.0, 8.0, 6.0) cells, got [1, 2, 6.5]"),
    ("[output.forces]", '[output.forces]\nsolids = ["bull"]', "must list solids of this case"),
    ("every = 5", "every = 21", "output.probes.every leaves no row in 20 steps, got 21"),
    ("checkpoint = 8", "checkpoint =", "not a valid TOML file"),
    ('"z+"', "z+", 'keys with a plus need quotes, as "x+"'),
])  # fmt: skip
def test_errors_name_the_file_the_key_and_the_remedy(old, new, words, case, tmp_path, capsys):
    change(case, old, new)
    for more in ((), ("--dry-run",)):
        err = refuse(words, capsys, "run", case, "--out", tmp_path / "out", *more)
        assert "case.toml" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("command", "words"), [
    ("cavity --n 12 --steps 120", "Re = 1000 is beyond the stable settings. Use --n 36"),
    ("vortices --n 16 --steps 900", "is lost among rounding errors: pass fewer --steps"),
])  # fmt: skip
def test_a_flow_without_an_answer_is_a_failed_computation(command, words, tmp_path, capsys):
    """Shortly before such a flow blows up it looks like any other one."""
    options = ("--out", tmp_path, "--device", "cpu", "--quiet")
    code, out, err = call(capsys, *command.split(), *options)
    assert (code, out) == (1, "")
    assert words in err


def test_a_case_without_checks_that_is_not_finite_fails(case, tmp_path, capsys):
    change(case, "tau = 0.7", "tau = 0.500001")
    change(case, 'dtype = "float64"', 'dtype = "float64"\ncheck = 0')
    change(case, "u = [0.01, 0.0, 0.0]", "u = [0.3, 0.1, 0.0]")
    change(case, "checkpoint = 8", "checkpoint = 0")
    code, out, err = call(capsys, "run", case, "--steps", 2000, "--out", tmp_path / "out")
    assert (code, out) == (1, "")
    assert "not finite" in err or "above 0.462" in err


def test_the_cavity_continues_from_a_checkpoint(tmp_path, capsys):
    options = ("--n", 36, "--device", "cpu", "--out", tmp_path, "--quiet")
    state = tmp_path / "state"
    code, whole, _ = call(capsys, "cavity", *options, "--steps", 300, "--json")
    assert code == 0
    saving = "--checkpoint", state, "--checkpoint-every", 90
    call(capsys, "cavity", *options, "--steps", 200, *saving)
    code, rest, _ = call(capsys, "cavity", *options, "--steps", 300, "--restart", state, "--json")
    assert code == 0
    whole, rest = json.loads(whole), json.loads(rest)
    assert (rest["steps"], rest["u"]) == (300, whole["u"])
    assert whole["largest_error"] > 0
    refuse("has 200 steps, and the run ends after 100", capsys, "cavity", *options, "--steps", 100,
           "--restart", state)  # fmt: skip


@pytest.mark.mpi
def test_ranks_run_a_case_and_report_a_mistake_once(case, tmp_path, capsys):
    change(case, "[output.statistics]", "[output.flow]\nevery = 5\n[output.statistics]")
    assert call(capsys, "run", case, "--out", tmp_path / "one")[0] == 0
    status, out, err = start(2, "-m", "lbm", "run", case, "--out", tmp_path / "two")
    assert status == 0, err
    assert out.count("a test") == 1
    assert "2 ranks" in out
    for name in ("probes.csv", "forces.csv", "flow.csv", "checkpoint.state"):
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
    status, out, err = start(2, "-m", "lbm", "run", case, "--decomposition", "2,2,1")
    assert (status, out) == (2, "")
    assert err.count("4 boxes") == 1


def test_the_page_of_case_files_has_every_key(case, tmp_path, monkeypatch):
    """The readers ask for exactly the keys that the page describes."""
    page = (ROOT / "docs/packages/lbm-cases.md").read_text()
    described = set(re.findall(r"`([\w.+-]+)`", "".join(re.findall(r"^\| (`.*?) \|", page, re.M))))
    asked, take, contains = set(), Table.take, Table.__contains__

    def note(table, key, default=REQUIRED):
        asked.add(table.full_name(key))
        return take(table, key, default)

    def has(table, key):
        asked.add(table.full_name(key))
        return contains(table, key)

    monkeypatch.setattr(Table, "take", note)
    monkeypatch.setattr(Table, "__contains__", has)
    mask = np.zeros((12, 8, 6), bool)
    mask[0, 0, 0] = True
    np.save(tmp_path / "mask.npy", mask)
    corners = "0 0 0\n2 0 0\n0 2 0\n0 0 2"
    (tmp_path / "mesh.off").write_text(f"OFF\n4 4 0\n{corners}\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3")
    solids = """
[stop]
tolerance = 1e-6
[solids.a]
shape = "cylinder"
centre = [9.0, 3.0]
radius = 1.5
motion = {amplitude = [0, 0.1, 0], period = 50, angular_velocity = [0, 0, 0.01], centre = [9, 3, 3]}
[solids]
b = { shape = "box", from = [2, 3, 1], to = [5, 6, 3], motion = { velocity = [0.0, 0.01, 0.0] } }
c = { shape = "mask", file = "mask.npy" }
d = { shape = "mesh", file = "mesh.off", length = 3.0, corner = [1, 0, 1] }
[sponges]
"x+" = { cells = 40, velocity = [0.0, 0.0, 0.0] }
[scalars]
heat = { diffusivity = 0.1, boundaries = { "y-" = { flux = 0.1 } } }
"""
    outputs = """
pictures = { every = 5 }
flow = { sections = [1.0, 9.0] }
heat = { scalar = "heat", difference = 1.0, length = 8.0 }
"""
    change(case, "[initial]", f"{solids}[initial]")
    change(case, "checkpoint = 8", f"checkpoint = 8{outputs}")
    read_case(case)
    read_case(EXAMPLE)
    tunnel = tmp_path / "tunnel.toml"
    tunnel.write_text('[tunnel]\nbody = "mesh.off"\nspeed = 1.0\nlength = 1.0\ncells = 8\n')
    read_case(tunnel)
    names = asked
    for pattern, general in ((r"^(solids|scalars)\.\w+\.", r"\1.NAME."),
                             (r"^sponges\.x\+\.", "sponges.FACE."),
                             (r"(NAME\.boundaries)\.[^.]+", r"\1.WALL")):  # fmt: skip
        names = {re.sub(pattern, general, name) for name in names}
    tables = {name for name in names if any(other.startswith(f"{name}.") for other in names)}
    inside = {name for name in names if re.match(r"boundaries\.[xyz][+-]?\.|.*condition\.", name)}
    bodies = {f"solids.{name}" for name in (*"abcd", "ball")}
    endings = ".state", ".csv", ".npz", ".vti", ".pvd", ".png", ".json"
    files = {name for name in described if name.endswith(endings)} - {"numerics.state"}
    faces = {f"boundaries.{axis}{side}" for axis in "xyz" for side in ("", "-", "+")}
    leaves = names - tables - inside - bodies - {"scalars.heat"}
    assert leaves | faces == described - files


ENDS = """
"x-" = { type = "velocity-inlet", velocity = [1.0, 0, 0] }
"x+" = { type = "pressure-outlet" }
"""


@pytest.mark.parametrize(("faces", "cells", "magic"), [(ENDS, 8, 0.03), ('y = "no-slip"', 4, 0.25)])
def test_units_choose_the_magic_parameter_that_suits_the_flow(faces, cells, magic, tmp_path):
    """The Reynolds number is 100; with 3/16 an inlet at a cell Reynolds number of 12.5 blows up."""
    text = f"""
shape = [16, 16, 16]
steps = 1
units = {{ length = 0.1, cells = {cells}, speed = 1.0, viscosity = 1e-3 }}
[boundaries]
{faces}
"""
    assert read_text(tmp_path, text).arguments["collision"].magic == magic
    given = read_text(tmp_path, f"{text}[fluid]\nmagic = 0.1\n")
    assert given.arguments["collision"].magic == 0.1
    coarse = text.replace(f"cells = {cells}", "cells = 1")
    with pytest.raises(ValueError, match=r"\[units\]: 1 cells are too few for Reynolds"):
        read_text(tmp_path, coarse)


@pytest.mark.mpi
def test_a_rank_that_fails_alone_ends_the_others(case, tmp_path):
    script = tmp_path / "program.py"
    script.write_text("""
import sys
import lbm.simulation
from lbm.__main__ import main
from lbm.launcher import world
def fail(self, steps):
    raise OSError("the disk of rank 1 is full")
if world().rank == 1:
    lbm.simulation.Simulation.advance = fail
sys.exit(main())
""")
    status, _, err = start(2, script, "run", case, "--steps", 10**8, timeout=100, cwd=tmp_path)
    assert status != 0
    assert "on rank 1 of 2" in err
    assert "the disk of rank 1 is full" in err
