"""The limits that the study of a cylinder that sheds vortices finds."""

import pytest

from studies.lbm.shedding import extrapolate


@pytest.mark.parametrize("order", [0.7, 1.7, 3.0])
@pytest.mark.parametrize("factor", [40.0, -40.0])
def test_a_power_of_the_size_is_found(order, factor):
    sizes = 20, 30, 40, 60
    values = [3.23 + factor / n**order for n in sizes]
    found, limit, _ = extrapolate(sizes, values)
    assert found == pytest.approx(order, abs=1e-6)
    assert limit == pytest.approx(3.23, abs=1e-6)


def test_the_limit_at_order_2_is_that_of_the_last_two():
    assert extrapolate((20, 30), [3.0 + 8.0 / n**2 for n in (20, 30)]) == (
        None, None, pytest.approx(3.0, abs=1e-12)
    )  # fmt: skip


@pytest.mark.parametrize("values", [(3.3, 3.2, 3.25), (3.3, 3.2, 3.0), (3.3, 3.3, 3.3)])
def test_values_that_approach_nothing_have_no_order(values):
    assert extrapolate((20, 30, 40), values)[:2] == (None, None)
