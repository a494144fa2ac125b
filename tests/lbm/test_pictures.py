"""Pictures of layers have all of their labels, and SI where the case has units."""

import pytest

from lbm._commands.cases.outputs import Recorder
from lbm._commands.cases.simulations import make_simulation
from lbm_runs import read_text


def test_pictures_of_a_case_with_units_are_in_si(tmp_path, monkeypatch):
    case = read_text(tmp_path, """
shape = [12, 8, 8]
steps = 5
initial.u = [1.0, 0.0, 0.0]
units = { length = 0.2, cells = 4, speed = 2.0, viscosity = 0.02, density = 998.0 }
devices.device = 'cpu'
output.pictures = { every = 5, field = 'ux' }
""")  # fmt: skip
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
    for field, label, value in (("rho", "density in kg/m^3", 998.0), ("drho", "pressure in Pa", 0)):
        axes, bar = s.plot(field=field, units=units).axes
        assert bar.get_ylabel().startswith(label)
        assert axes.images[0].get_array().mean() == pytest.approx(value, rel=1e-5, abs=1e-3)
    with pytest.raises(TypeError, match=r"units must be lbm\.Units"):
        s.plot(units="SI")
