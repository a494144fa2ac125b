"""Old names of arguments, which work for one more release."""

import numpy as np
import pytest

import lbm
from lbm.flows import vortices


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("float64", {"dtype": "float64"}),
        ("float32", {}),
        ("float16", {"dtype": "float32", "storage": "float16"}),
    ],
)
def test_precision_stands_for_dtype_and_storage(old, new):
    with pytest.deprecated_call(match="the next release removes the old form") as caught:
        before = vortices(8, precision=old, device="cpu").simulation
    assert caught[0].filename == __file__
    after = vortices(8, **new, device="cpu").simulation
    assert repr(before) == repr(after)
    assert np.array_equal(before.run(3).u, after.run(3).u)


def test_a_simulation_takes_the_old_precision():
    with pytest.deprecated_call(match="dtype='float32', storage='float16'"):
        s = lbm.Simulation((4, 4, 4), precision="float16", device="cpu")
    assert "dtype='float32', storage='float16'" in repr(s)
