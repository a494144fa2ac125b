"""Pictures of layers have all of their labels, and SI where the case has units."""

import io

import numpy as np
import pytest
from matplotlib import image

import lbm
from lbm._cases.case import read_case
from lbm._cases.outputs import Recorder
from lbm._cases.simulations import make_simulation


def swirl(x, y, z):
    """Return a velocity whose numbers have labels of usual lengths."""
    return 0.05 * np.sin(x / 9 + y - y + z - z), 0.0123 * np.cos(y / 7 + x - x + z - z), 0 * x


@pytest.mark.parametrize("shape", [(24, 24, 1), (64, 24, 1), (24, 64, 1), (200, 16, 1)])
def test_no_label_is_cut_off(shape):
    """The outermost pixels are white."""
    file = io.BytesIO()
    lbm.Simulation(shape, u=swirl, device="cpu").plot(field="ux").savefig(file, dpi=100)
    file.seek(0)
    pixels = image.imread(file)[..., :3]
    for edge in (pixels[:, :1], pixels[:, -1:], pixels[:1], pixels[-1:]):
        assert edge.min() == 1.0


def test_pictures_of_a_case_with_units_are_in_si(tmp_path, monkeypatch):
    path = tmp_path / "case.toml"
    path.write_text(
        "shape = [12, 8, 8]\nsteps = 5\ninitial = { u = [1.0, 0.0, 0.0] }\n[units]\nlength = 0.2\n"
        "cells = 4\nspeed = 2.0\nviscosity = 0.02\ndensity = 998.0\n[devices]\ndevice = 'cpu'\n"
        "[output]\npictures = { every = 5, field = 'ux' }\n"
    )
    case = read_case(path)
    s, units = make_simulation(case), case.scales.units
    drawn, plot = [], s.plot
    monkeypatch.setattr(s, "plot", lambda *a, **k: drawn.append(plot(*a, **k)) or drawn[-1])
    monkeypatch.chdir(tmp_path)
    s.run(5, callbacks=Recorder(case, s).callbacks)
    axes, bar = drawn[0].axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x in m", "y in m")
    assert (bar.get_ylabel(), axes.get_xlim()[1]) == ("u along x in m/s", pytest.approx(0.6))
    assert axes.images[0].get_array().mean() == pytest.approx(1.0, rel=1e-5)
    assert axes.get_title(loc="left") == f"{units.to_physical(steps=5):.4g} s, z = 0.225 m"
    for field, label, value in (
        ("rho", "density in kg/m^3", 998.0),
        ("drho", "pressure in Pa", 0.0),
    ):
        axes, bar = s.plot(field=field, units=units).axes
        assert bar.get_ylabel().startswith(label)
        assert axes.images[0].get_array().mean() == pytest.approx(value, rel=1e-5, abs=1e-3)
    with pytest.raises(TypeError, match=r"units must be lbm\.Units"):
        s.plot(units="SI")
