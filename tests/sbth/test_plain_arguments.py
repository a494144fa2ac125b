"""NumPy arrays of floats pass by most checks, and meet the same refusals as arguments that do not.

An array of a subclass of NumPy's is no plain one: it goes through all checks, and is the oracle.
"""

import random

import numpy as np
import pytest

import hetero
import sbth

CASES = 150


class Subclass(np.ndarray):
    """Stands for arrays that need all checks."""


def draw_array(rng, kind, order):
    """Return the arguments of a solver for a random matrix."""
    if kind == "tridiagonal":
        return [rng.standard_normal(order), rng.standard_normal(max(order - 1, 0))]
    shape = (order, order) if kind == "full" else (min(3, max(order, 1)), order)
    array = rng.standard_normal(shape)
    if rng.random() < 0.3:
        array = array + 1j * rng.standard_normal(shape)
    return [array]


def spoil(array, choice):
    """Return an array of the same shape as odd as `choice` says; it may be a good one, too."""
    if array.size and choice in ("nan", "inf"):
        array = array.copy()
        array.flat[array.size // 2] = float(choice)
    factors = {"huge": 1e305, "tiny": 1e-170, "zero": 0.0}
    if choice in factors:
        array = array * factors[choice]
    if choice == "float32":
        array = array.astype(np.complex64 if array.dtype.kind == "c" else np.float32)
    if choice == "swapped bytes":
        array = array.astype(array.dtype.newbyteorder())
    if choice == "columns":
        array = np.asfortranarray(array)
    if choice == "wrong shape":
        array = np.concatenate([array, array])
    return array


CHOICES = (
    *("nan", "inf", "huge", "tiny", "zero", "float32"),
    *("swapped bytes", "columns", "wrong shape"),
)

ODD = {
    "select": ("a", "i", "v", "A", "x", 0, 1, 2, 3, True, None),
    "select_range": (None, (0, 1), (-1, 0), (1.5, 2), (2, 1), (0,), "ab", (-np.inf, 0.5), (0, 99)),
    "subset_by_index": (None, (0, 1), (-1, 0), (1.5, 2), (2, 1), (0,), "ab", (0, 99)),
    "subset_by_value": (None, (-np.inf, 0.5), (0.0, np.inf), (1.0, 0.0), (np.nan, 1.0)),
    "lower": (True, False, np.True_, "upper", 1, None),
    "eigvals_only": (True, False, np.True_, 1),
    "check_finite": (True, False, "no"),
    "progress": (False, 0, None),
    "tol": (None, 0.0, 1e-3, np.nan, "x"),
    "method": ("auto", "lapack", "sbth", "cusolver", "LAPACK", None),
    "device": (None, "auto", " CPU ", "cpu", "gpu", "cpu:1", hetero.Device("cpu"), 0, b"cpu"),
}

SUBSETS = {"subset_by_index", "subset_by_value"}
SELECTIONS = {"select", "select_range"}

SOLVERS = {
    "eigvalsh": ("full", set(ODD) - SUBSETS - {"lower", "eigvals_only", "check_finite"}),
    "eigh": ("full", set(ODD) - SELECTIONS - {"tol"}),
    "eigvals_banded": ("band", set(ODD) - SUBSETS - {"eigvals_only"}),
    "eig_banded": ("band", set(ODD) - SUBSETS),
    "eigvalsh_tridiagonal": ("tridiagonal", set(ODD) - SUBSETS - {"lower", "eigvals_only"}),
    "eigh_tridiagonal": ("tridiagonal", set(ODD) - SUBSETS - {"lower"}),
}


def outcome(function, arrays, options):
    """Return the error of a call as type and text, or its results."""
    try:
        results = function(*arrays, **options)
    except Exception as error:
        return type(error), str(error)
    return results if isinstance(results, tuple) else (results,)


@pytest.mark.parametrize("name", SOLVERS)
def test_plain_arrays_meet_the_same_refusals(name):
    """Each call is repeated, and must not profit from what the first one has left behind."""
    kind, arguments = SOLVERS[name]
    errors = 0
    for case in range(CASES):
        rng, draw = np.random.default_rng(case), random.Random(case)
        arrays = draw_array(rng, kind, draw.choice([0, 1, 2, 3, 9, 20]))
        if draw.random() < 0.5:
            place = draw.randrange(len(arrays))
            arrays[place] = spoil(arrays[place], draw.choice(CHOICES))
        chosen = draw.sample(sorted(arguments), draw.choice([0, 1, 2, 3]))
        options = {argument: draw.choice(ODD[argument]) for argument in chosen}
        before = [array.copy() for array in arrays]
        checked = outcome(getattr(sbth, name), [a.view(Subclass) for a in arrays], options)
        for _ in range(2):
            plain = outcome(getattr(sbth, name), arrays, options)
            for array, copy in zip(arrays, before, strict=True):
                np.testing.assert_array_equal(array, copy)
            if isinstance(checked[0], type):
                assert plain == checked, (case, options)
                continue
            for x, y in zip(plain, checked, strict=True):
                assert type(x) is np.ndarray
                assert x.dtype == y.dtype
                np.testing.assert_array_equal(x, y, err_msg=str((case, options)))
        errors += isinstance(checked[0], type)
    assert CASES // 5 < errors < CASES


def test_the_environment_is_read_in_each_call(monkeypatch):
    monkeypatch.delenv("HETERO_DEVICE", raising=False)
    sbth.eigvalsh(np.eye(3))
    monkeypatch.setenv("HETERO_DEVICE", "gpu")
    with pytest.raises(ValueError, match="got 'gpu'"):
        sbth.eigvalsh(np.eye(3))
    with hetero.use_device("cpu"):
        np.testing.assert_array_equal(sbth.eigvalsh(np.eye(3)), np.ones(3))


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("solve", [sbth.eig_banded, sbth.eigvals_banded])
def test_a_band_stored_by_columns_is_not_overwritten(solve, lower):
    band = np.asfortranarray(np.random.default_rng(0).standard_normal((3, 6)))
    before = band.copy()
    solve(band, lower=lower)
    np.testing.assert_array_equal(band, before)
