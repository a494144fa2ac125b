"""Results are equal by value: copies of any kind are equal, and one changed number is seen."""

import copy
import dataclasses
import operator
import pickle

import numpy as np
import pandas as pd
import pytest

import rode
import sbth
import stablegpu
import tmd
from hetero.equality import are_equal, equal_by_value


def solve(rng=1):
    return rode.solve(  # with compiled code of other tests
        rode.relaxation(), "averaged-heun", t_span=(0, 1), h=0.5, delta=0.5, paths=1, rng=rng,
        reduction=("paths", "moments", "peaks"), device="cpu",
    )  # fmt: skip  # the variance of one path is NaN


def reduce_matrix(corner=4.0):
    return sbth.tridiagonalize(
        np.array([[4.0, 5.0, 6.0, corner], [1.0, 2.0, 1.0, 0.0], [0.5, 0.5, 0.0, 0.0]]), lower=True,
        keep_reflectors=True, device="cpu",
    )  # fmt: skip


def search(bits=20):
    return tmd.search("exp", (1, 1.00001), bits=bits, precision=24, device="cpu")


RESULTS = {
    "rode.Result": (solve, lambda: solve(2)),
    "sbth.TridiagonalReduction": (reduce_matrix, lambda: reduce_matrix(4.5)),
    "sbth.Reflectors": (
        lambda: reduce_matrix().reflectors,
        lambda: sbth.tridiagonalize(np.ones((3, 5)), keep_reflectors=True, device="cpu").reflectors,
    ),
    "sbth.Spectrum": (
        lambda: sbth.spectrum(np.diag([1.0, 2.0]), device="cpu"),
        lambda: sbth.spectrum(np.diag([1.0, 3.0]), device="cpu"),
    ),
    "tmd.Result": (lambda: search(4), lambda: search(5)),
    "tmd.Cases": (lambda: search(4).cases, lambda: search(5).cases),
    "stablegpu.FitResult": (
        lambda: stablegpu.fit(np.arange(20.0) ** 2, method="mcculloch", device="cpu"),
        lambda: stablegpu.fit(np.arange(21.0) ** 2, method="mcculloch", device="cpu"),
    ),
    "stablegpu.FitResults": (
        lambda: stablegpu.fit(np.arange(40.0).reshape(2, 20) ** 2, method="mcculloch"),
        lambda: stablegpu.fit(np.arange(42.0).reshape(2, 21) ** 2, method="mcculloch"),
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_copies_of_results_are_equal(name):
    make, make_other = RESULTS[name]
    result, other = make(), make_other()
    for same in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert same == result
        assert not operator.ne(same, result)
        if not isinstance(result, tuple):
            assert hash(same) == hash(result)
    assert make() == result  # computed again
    assert result != other
    assert not operator.eq(result, other)
    assert result != "a text"


def test_one_number_of_an_array_makes_results_unequal():
    result = solve()
    paths = result.paths.copy()
    paths[-1, 0, 0] = np.nextafter(paths[-1, 0, 0], 9.0)
    for other in (paths, result.paths.astype(np.float32), None):
        assert dataclasses.replace(result, values={**result.values, "paths": other}) != result


NAN = float("nan")


@pytest.mark.parametrize(("a", "b", "equal"), [
    (NAN, np.float64("nan"), True),
    (np.array([1.0, NAN]), np.array([1.0, NAN]), True),
    (np.array([1.0, NAN]), np.array([1.0, 2.0]), False),
    (np.array([1.0]), np.array([1]), False),
    (np.array([1.0]), np.array([[1.0]]), False),
    (np.array([NAN, "a"], object), np.array([NAN, "a"], object), True),
    ({"a": [np.zeros(2)]}, {"a": [np.zeros(2)]}, True),
    ({"a": [np.zeros(2)]}, {"a": (np.zeros(2),)}, False),
    ([1, 2], [1], False),
    (pd.Index(["a", "b"]), pd.Index(["a", "c"]), False),
])  # fmt: skip
def test_values_are_compared_with_their_types(a, b, equal):
    assert are_equal(a, b) is equal
    assert are_equal(b, a) is equal


def test_fields_that_are_not_compared_do_not_count():
    @equal_by_value
    @dataclasses.dataclass(frozen=True, eq=False)
    class Run:
        value: np.ndarray
        seconds: float = dataclasses.field(compare=False, default=0.0)

    assert Run(np.ones(2), 1.0) == Run(np.ones(2), 2.0)
    assert len({Run(np.ones(2), 1.0), Run(np.ones(2), 2.0)}) == 1
    assert Run(np.ones(2)) != Run(np.zeros(2))
