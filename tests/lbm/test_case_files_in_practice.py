"""`lbm run` with case files as people have them: other steps, folders, names, points, restarts."""

import json

import numpy as np
import pytest

from lbm.__main__ import main
from lbm._commands.cases.case import read_case
from lbm_runs import call

CASE = """
shape = [12, 8, 8]
steps = 6
fluid = { tau = 0.8, force = [1e-5, 0.0, 0.0] }
devices.device = "cpu"
[solids]
ball = { shape = "sphere", centre = [6.0, 4.0, 4.0], radius = 2.0 }
post = { shape = "cylinder", centre = [1.0, 1.0], radius = 1.0 }
[output]
checkpoint = 100
forces = { every = 4, speed = 0.01, length = 4.0 }
probes = { every = 3, cells = [[1, 2, 5]] }
"""


@pytest.fixture
def case(tmp_path):
    (tmp_path / "case.toml").write_text(CASE)
    return tmp_path / "case.toml"


@pytest.fixture
def run(case, tmp_path, capsys):
    """Return a function that runs the case and returns exit code, output and messages."""

    def call(*arguments, out=tmp_path / "out"):
        options = "run", case, "--quiet", "--out", out, *arguments
        return main([str(option) for option in options]), *capsys.readouterr()

    return call


@pytest.mark.parametrize("solids", ["", 'solids = ["ball"], '])
def test_a_run_without_a_row_of_forces_says_so(case, run, solids):
    """It ended with the error of a mean of nothing, or printed nan for one solid."""
    case.write_text(CASE.replace("every = 4", f"{solids}every = 4"))
    with pytest.warns(UserWarning, match=r"output.forces.every = 4 .* no sample in 3 steps"):
        code, text, _ = run("--steps", 3)
    assert (code, "no coefficients of ball: forces.csv has no row" in text) == (0, True)
    with pytest.warns(UserWarning, match=r"output.forces.every"):
        _, text, _ = run("--steps", 3, "--json", "--overwrite")
    assert json.loads(text)["forces"]["ball"]["coefficients"] is None
    assert run("--steps", 4, "--overwrite")[1].count("mean force coefficients of ball") == 1


def test_a_number_of_steps_on_the_command_line_counts_for_all_checks(case, run):
    case.write_text(CASE.replace("every = 4", "every = 9"))
    code, _, message = run("--steps", 8)
    assert (code, "output.forces.every leaves no row in 8 steps" in message) == (2, True)
    assert run("--steps", 9)[0] == 0
    case.write_text(CASE + "[output.statistics]\nstart = 7\nevery = 5\n")
    code, _, message = run("--overwrite")
    assert (code, "statistics.start leaves no sample in 6 steps" in message) == (2, True)
    assert run("--steps", 10, "--overwrite", "--dry-run")[0] == 0


def test_a_dry_run_refuses_what_the_run_would(case, run, tmp_path):
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        code, _, message = run("--dry-run", out=out)
        assert (code, f"{tmp_path / 'file'}" in message) == (2, True)
    assert run()[0] == 0
    restart = "--restart", tmp_path / "out" / "checkpoint.state", "--steps", 9
    before = {path: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert run(*restart, "--dry-run")[0] == 0
    case.write_text(CASE.replace("[1, 2, 5]", "[1, 2, 6]"))
    code, _, message = run(*restart, "--dry-run")
    assert (code, "probes.csv has other columns" in message) == (2, True)
    assert {path: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_points_on_faces_belong_to_the_cell_above_them(case):
    """In the unit of a file, 0.29 / 0.01 is below 29, and 49 cells of 1 / 49 m below 1 m."""
    units = "[units]\nlength = 1.0\nspeed = 1.0\nviscosity = 0.02\n"
    for cells, places, expected in (
        (100, (0.28, 0.29, 0.57, 0.295, 1.0), (28, 29, 57, 29, 99)),
        (49, (0.0, 1.0, 48 / 49, 1 / 49), (0, 48, 48, 1)),
    ):
        text = f"shape = [{cells}, 1, 1]\nsteps = 5\n{units}cells = {cells}\n[output.probes]\n"
        points = [[x, 0.0, 1.0 / cells] for x in places]
        case.write_text(f"{text}points = {points}\n")
        assert read_case(case).outputs.probes.cells == tuple((x, 0, 0) for x in expected)
        for bad in (-1e-9, 1.0001, "nan", "inf", 10**400):
            case.write_text(f"{text}points = [[{bad}, 0.0, 0.0]]\n")
            with pytest.raises(ValueError, match=r"probes.points must lie in the domain"):
                read_case(case)


def test_a_restart_stops_where_the_whole_run_does_with_its_images_and_pictures(case, run, tmp_path):
    """The last image of a run stays until a restart goes on from there; pictures are all due."""
    stop, often = "[stop]\ntolerance = 0.4\nevery = 3\n", "vtk = 4\npictures = { every = 3 }\n"
    case.write_text(CASE.replace("[output]\n", f"{stop}[output]\n{often}"))

    def images(folder):
        found = (tmp_path / folder).glob("*-*")
        return [f"{path.name[0]}{int(path.stem.split('-')[1])}" for path in sorted(found)]

    assert run("--steps", 6)[0] == 0
    assert images("out") == ["f4", "f6", "p3", "p6"]
    restart = "--restart", tmp_path / "out" / "checkpoint.state"
    assert run(*restart, "--steps", 60)[0] == 0
    assert run("--steps", 60, out=tmp_path / "whole")[0] == 0
    assert images("out") == images("whole") == ["f4", "f8", "f9", "p3", "p6", "p9"]
    assert len({(tmp_path / folder / "flow.pvd").read_text() for folder in ("out", "whole")}) == 1


PLATES = """
steps = 4000
shape = [{cells}, 8, 2]
units = {{ length = 0.008, cells = 8, speed = 0.01, viscosity = 1e-5, density = 998.0 }}
fluid = {{ magic = 0.1875, force = [{force}, 0.0, 0.0] }}
numerics = {{ dtype = "float64" }}
devices = {{ device = "cpu" }}
[scalars.temperature]
diffusivity = 1e-5
boundaries = {{ "y-" = 20.0, "y+" = 10.0{entering} }}
start = 15.0
[boundaries]
y = "no-slip"
{ends}
[output.flow]
every = 35
{sections}
[output.heat]
every = 35
{heat}
"""
"""Water between plates 8 mm apart, 2 mm wide, the lower one 10 K warmer."""

SCALES = "heat_capacity = 4182.0\ndifference = 10.0\nlength = 0.008"


def write_plates(folder, cells=4, force=0.01, entering="", ends="", sections="", heat=SCALES):
    """Write a case with plates into a folder."""
    text = PLATES.format(cells=cells, force=force, entering=entering, ends=ends,
                         sections=sections, heat=heat)  # fmt: skip
    (folder / "plates.toml").write_text(text)
    return folder / "plates.toml"


def test_flow_rate_and_heat_flux_between_plates_are_exact(tmp_path, capsys):
    command = "run", write_plates(tmp_path), "--out", tmp_path / "out", "--quiet"
    code, printed, _ = call(capsys, *command, "--json")
    assert code == 0
    means = json.loads(printed)
    found = means["flow rate at x = 0 m"]
    exact = 0.01 * 0.008**3 / (12 * 1e-5) * 0.002 * (1 + 0.5 / 8**2)  # the sum over 8 cells
    assert found["value"] == pytest.approx(exact, rel=1e-6)
    assert (found["unit"], found["settled"]) == ("m^3/s", True)
    assert found["error"] < 1e-6 * found["value"]
    assert means["pressure drop from x = 0 m to x = 0.004 m"]["value"] == pytest.approx(0, abs=1e-9)
    watts = 998.0 * 4182.0 * 1e-5 * 10.0 / 0.008 * (0.004 * 0.002)
    for wall, sign in (("y-", 1.0), ("y+", -1.0)):
        heat = means[f"heat flux through {wall}"]
        assert heat["value"] == pytest.approx(sign * watts, rel=1e-6)
        assert heat["unit"] == "W"
        number = means[f"Nusselt number of {wall}"]["value"]
        assert number == pytest.approx(sign, rel=1e-6)
    _, printed, _ = call(capsys, *command, "--overwrite", "--steps", 70)
    assert "heat flux through y-: " in printed
    assert "(not settled) W" in printed


def test_the_pressure_drop_of_a_channel_is_that_of_poiseuille(tmp_path, capsys):
    inlet = '"x-" = { type = "velocity-inlet", velocity = [0.005, 0.0, 0.0], parabola = "y" }'
    ends = f'{inlet}\n"x+" = {{ type = "pressure-outlet", pressure = 0.0 }}'
    path = write_plates(tmp_path, 24, 1e-290, ', "x-" = 15.0', ends, "sections = [0.0085, 0.0165]")
    code, printed, _ = call(capsys, "run", path, "--out", tmp_path / "out", "--quiet", "--json")
    assert code == 0
    means = json.loads(printed)
    rates = [means[f"flow rate at x = {x} m"]["value"] for x in (0.0085, 0.0165)]
    assert rates[0] == pytest.approx(rates[1], rel=1e-6)
    assert rates[0] == pytest.approx(2 / 3 * 0.005 * 0.008 * 0.002, rel=0.01)
    drop = means["pressure drop from x = 0.0085 m to x = 0.0165 m"]
    exact = 12 * 998.0 * 1e-5 * rates[0] / 0.002 / 0.008**3 * 0.008
    assert drop["value"] == pytest.approx(exact, rel=0.005)
    assert (drop["unit"], drop["settled"]) == ("Pa", True)
    rows = np.loadtxt(tmp_path / "out" / "flow.csv", delimiter=",", skiprows=1)
    assert rows[-1, -1] == rows[-1, -3] - rows[-1, -2]


def test_rows_of_heat_in_other_scales_are_not_continued(tmp_path, capsys):
    def run(scales, *options):
        path = write_plates(tmp_path, heat=f"{scales}\n[output]\ncheckpoint = 35")
        return call(capsys, "run", path, "--out", tmp_path / "out", "--quiet", *options)

    code, printed, _ = run(SCALES, "--steps", 35)
    assert (code, "nan" in printed) == (0, False)  # of one row
    restart = "--restart", tmp_path / "out" / "checkpoint.state", "--steps", 70
    code, _, err = run(SCALES.replace("4182", "1000"), *restart)
    assert code == 2
    assert "run with scales (heat_capacity, difference, length, area) of output.heat" in err
    assert run(SCALES, *restart)[0] == 0
