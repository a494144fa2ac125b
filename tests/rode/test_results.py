"""Texts and tables of results and problems, and progress bars, which change no result."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import rode
from rode._solver.plan import make_plan
from rode._solver.summary import hash_of_functions, settings_of

QUAKE = rode.kanai_tajimi(start_process=0.3)
RUN = {"t_span": (0, 1), "h": 2.0**-6, "delta": 2.0**-8, "paths": 40, "rng": 2, "device": "cpu"}
EVERYTHING = ("paths", "moments", "peaks", rode.Quantiles(0.5, 0.9999999, 1.0))


@pytest.mark.parametrize("settings", [
    {"reduction": EVERYTHING, "save_every": 3},
    {"reduction": "peaks"},
    {"reduction": "moments", "parts": 4},
])  # fmt: skip
def test_a_progress_bar_changes_no_bit(settings, monkeypatch, capsys):
    expected = rode.solve(QUAKE, "averaged-euler", **RUN, **settings)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda self: True, raising=False)
    result = rode.solve(QUAKE, "averaged-euler", progress=True, **RUN, **settings)
    assert "Kanai-Tajimi" in capsys.readouterr().err
    for name in ("t", "paths", "mean", "variance", "peaks", "quantiles"):
        np.testing.assert_array_equal(getattr(result, name), getattr(expected, name))


def test_outputs_are_read_by_name():
    result = rode.solve(QUAKE, "averaged-euler", reduction=EVERYTHING, **RUN)
    velocity = result["velocity"]
    np.testing.assert_array_equal(velocity.paths, result.paths[:, 1])
    np.testing.assert_array_equal(velocity.mean, result.mean[:, 1])
    np.testing.assert_array_equal(velocity.quantiles, result.quantiles[:, :, 1])
    np.testing.assert_array_equal(velocity.peaks, result.peaks[1])
    assert rode.solve(QUAKE, "averaged-euler", **RUN)["velocity"].mean is None
    with pytest.raises(ValueError, match="output must be one of"):
        result["speed"]
    with pytest.raises(TypeError, match="by the name of an output, got 0"):
        list(result)


def test_frames_have_named_columns():
    result = rode.solve(QUAKE, "averaged-euler", reduction=EVERYTHING, **RUN)
    frame = result.to_frame()
    assert frame.index.name == "t"
    np.testing.assert_array_equal(frame.index, result.t)
    np.testing.assert_array_equal(frame["velocity_mean"], result.mean[:, 1])
    np.testing.assert_array_equal(frame["velocity_std"] ** 2, np.sqrt(result.variance[:, 1]) ** 2)
    for column, values in zip(("q0.5", "q0.9999999", "q1"), result.quantiles, strict=True):
        np.testing.assert_array_equal(frame[f"velocity_{column}"], values[:, 1])
    np.testing.assert_array_equal(result.to_frame("peaks")["acceleration"], result.peaks[2])
    paths = result.to_frame("paths")
    np.testing.assert_array_equal(paths["acceleration"][7], result.paths[:, 2, 7])
    only = rode.solve(QUAKE, "averaged-euler", reduction="peaks", **RUN)
    assert list(only.to_frame().columns) == list(only.outputs)
    with pytest.raises(ValueError, match="kind must be one of peaks, which this result has"):
        only.to_frame("statistics")


def test_datasets_have_named_dimensions():
    xarray = pytest.importorskip("xarray")
    result = rode.solve(QUAKE, "averaged-euler", reduction=EVERYTHING, **RUN)
    data = result.to_xarray()
    assert isinstance(data, xarray.Dataset)
    np.testing.assert_array_equal(data.peaks.sel(output="velocity"), result.peaks[1])
    np.testing.assert_array_equal(
        data.quantiles.sel(probability=0.5, output="velocity"), result.quantiles[0, :, 1]
    )
    np.testing.assert_array_equal(data.paths.sel(t=0.5, output="velocity"), result.paths[32, 1])
    only = rode.solve(QUAKE, "averaged-euler", reduction="peaks", **RUN).to_xarray()
    assert set(only.dims) == {"output", "path"}


def solve_range(first, count, dtype="float64", **changes):
    settings = RUN | {"reduction": ("paths", "moments", "peaks")} | changes
    settings |= {"first_path": first, "paths": count}
    result = rode.solve(QUAKE, "averaged-euler", **settings)
    return replace(result, settings=result.settings | {"dtype": dtype})


@pytest.fixture(scope="module")
def everything():
    return solve_range(0, 40)


def test_joined_results_are_those_of_all_paths_in_any_order(everything):
    parts = [solve_range(*r) for r in ((30, 10), (0, 7), (7, 23))]
    joined = rode.join_results(parts)
    for name in ("t", "paths", "peaks", "path_ranges", "settings", "work"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(everything, name))
    np.testing.assert_allclose(joined.mean, everything.mean, rtol=1e-12)
    np.testing.assert_allclose(joined.variance, everything.variance, rtol=1e-10)
    assert joined.path_ranges == (range(40),)
    gap = rode.join_results([parts[0], parts[1]])
    assert gap.path_ranges == (range(7), range(30, 40))
    np.testing.assert_array_equal(gap.peaks, everything.peaks[:, [*range(7), *range(30, 40)]])
    assert rode.join_results([gap, parts[2]]).work == everything.work


@pytest.mark.parametrize(("first", "count", "changes", "message"), [
    (39, 5, {}, "several have path 39"),
    (0, 40, {}, "several have path 0"),
    (40, 5, {"rng": 3}, "key is"),
    (40, 5, {"reduction": "peaks"}, "equal times and outputs"),
    (40, 5, {"reduction": ("paths", "moments")}, "reduction is"),
    (40, 5, {"dtype": "float32"}, "dtype is 'float64' and 'float32'"),
    (40, 5, {"delta": 2.0**-9}, "fine_steps is 4 and 8"),
    (40, 5, {"sampling": "exact"}, "sampling is 'path' and 'exact'"),
    (40, 5, {"save_every": 2}, "equal times"),
])  # fmt: skip
def test_results_that_do_not_belong_together_are_refused(
    everything, first, count, changes, message
):
    with pytest.raises(ValueError, match=f"results must have .*{message}"):
        rode.join_results([everything, solve_range(first, count, **changes)])


def test_settings_tell_coherences_and_functions_apart():
    """Checkpoints and `join_results` would take one computation for another."""
    digests = set()
    for rho, f in ((0.0, lambda t, x, u, p: u), (1.0, lambda t, x, u, p: (u[1], u[0]))):
        noise = rode.Spectrum([1.0, 2.0], np.ones((2, 2)), coherence=[[1.0, rho], [rho, 1.0]])
        problem = rode.general(f, dimension=2, excitation=noise)
        settings = {"t_span": (0, 1), "h": 0.5, "paths": 2, "sampling": "exact", "device": "cpu"}
        found = settings_of(make_plan(problem, "euler", **settings))
        digests |= {found["hash of excitation"], hash_of_functions(problem)}
    assert len(digests) == 4


def test_problems_and_results_compare_without_an_error():
    settings = RUN | {"paths": np.int32(3)}
    one, two, other = (
        rode.solve(QUAKE, "averaged-euler", **settings | {"rng": rng}) for rng in (1, 1, 2)
    )
    assert one == two
    assert one != other
    assert QUAKE != rode.kanai_tajimi()
    assert len({QUAKE, rode.kanai_tajimi()}) == 2
    assert rode.kanai_tajimi(outputs="acceleration").outputs == ("acceleration",)
