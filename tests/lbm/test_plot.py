"""Pictures of slices, in SI where a case has units."""

import numpy as np
import pytest

import lbm
from lbm._commands.cases.outputs import Recorder
from lbm._commands.cases.simulations import make_simulation
from lbm_runs import read_text

SHAPE = 6, 5, 4


def flow(**options):
    """Return a flow at its start, every cell of which differs, around a solid."""
    rng = np.random.default_rng(1)
    cells = np.zeros(SHAPE, bool)
    cells[2, 3, 1] = True
    return lbm.Simulation(SHAPE, u=rng.normal(0, 0.03, (3, *SHAPE)), dtype="float64",
                          rho=rng.uniform(0.9, 1.1, SHAPE), device="cpu",
                          boundaries={"solid": lbm.Solid(cells)}, **options)  # fmt: skip


def shown(figure):
    """Return the values of a picture, with NaN in solids."""
    return figure.axes[0].images[0].get_array().filled(np.nan)


@pytest.mark.parametrize("field", ["speed", "ux", "uy", "uz", "rho", "drho"])
@pytest.mark.parametrize(("axis", "index"), [("x", 2), ("y", 3), ("z", 1)])
def test_a_slice_shows_the_field_and_grey_solids(field, axis, index):
    s = flow()
    expected = {
        "speed": np.sqrt((s.u**2).sum(axis=0)), "ux": s.u[0], "uy": s.u[1], "uz": s.u[2],
        "rho": s.rho, "drho": s.drho,
    }[field]  # fmt: skip
    expected = np.where(s.fluid, expected, np.nan).take(index, "xyz".index(axis))
    figure = s.plot(axis, index, field)
    axes = figure.axes[0]
    np.testing.assert_allclose(shown(figure), expected.T)
    assert np.isnan(shown(figure)).sum() == 1
    low, high = axes.images[0].get_clim()
    assert low == -high if field not in ("speed", "rho") else low > 0
    names = [n for n in "xyz" if n != axis]
    assert [axes.get_xlabel(), axes.get_ylabel()] == [f"{n} in cells" for n in names]
    assert axes.get_title(loc="left") == f"step 0, {axis} = {index + 0.5}"


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
