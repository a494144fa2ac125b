"""Pictures of slices, on one rank and on several."""

import numpy as np
import pytest

import lbm
from hetero.command_line import save_figure
from hetero.display.figures import DATA_COLOUR

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


def test_the_middle_is_the_default_and_axes_are_reused(tmp_path):
    s = flow()
    figure = s.plot()
    assert np.array_equal(shown(figure), shown(s.plot("z", 2)))
    assert s.plot("x", ax=figure.axes[0]) is figure
    page = save_figure(lambda: figure, tmp_path / "slice.svg").read_text()
    assert DATA_COLOUR in page
    at_rest = lbm.Simulation((4, 4, 4), device="cpu").plot(field="ux")
    assert np.array_equal(shown(at_rest), np.zeros((4, 4)))
