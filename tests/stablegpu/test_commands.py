"""`stablegpu fit`, `pdf`, `cdf`, `quantile` and `rvs`."""

import io
import json
import math
import subprocess
import sys
from functools import partial

import numpy as np
import pandas
import pytest

import stablegpu
from commands import call_main
from stablegpu.__main__ import main


@pytest.fixture(scope="module")
def sample():
    return stablegpu.stable(1.6, 0.3, loc=0.1, scale=2.0, device="cpu").rvs(400, rng=1)


@pytest.fixture
def table(tmp_path, sample):
    path = tmp_path / "returns.csv"
    prices = np.exp(np.cumsum(np.r_[0.0, 0.01 * sample]))
    rows = [
        f"{k},{'' if k == 0 else repr(float(0.01 * sample[k - 1]))},{price!r}"
        for k, price in enumerate(prices.tolist())
    ]
    path.write_text("\n".join(["day,return,close", *rows]) + "\n")
    return path


run = partial(call_main, main)


def test_fit_prints_a_table_and_draws(table, tmp_path, capsys):
    page = tmp_path / "fit.html"
    options = ("--column", "2", "--skip-missing", "--device", "cpu", "--plot", page)
    code, out, err = run(capsys, "fit", table, *options)
    assert (code, err) == (0, "")
    assert "alpha" in out
    assert "KS distance" in out
    html = page.read_text()
    assert "data:image/svg+xml;base64," in html
    assert "log-likelihood" in html
    assert "http" not in html.split("<style>")[1]  # nothing is loaded from elsewhere


def test_fit_as_json_is_the_fit_of_the_library(table, sample, capsys):
    code, out, err = run(
        capsys, "fit", table, "--column", "close", "--returns", "--json", "--device", "cpu"
    )
    assert (code, err) == (0, "")
    result, expected = json.loads(out), stablegpu.fit(0.01 * sample, device="cpu")
    for name in ("alpha", "beta", "loc", "scale", "loglik"):
        assert result[name] == pytest.approx(getattr(expected, name), rel=1e-6, abs=1e-9)
    assert result["converged"] is True
    assert result["interval"]["alpha"] == pytest.approx(expected.interval()["alpha"], rel=1e-5)
    assert result["ks_distance"] == pytest.approx(expected.ks_distance, rel=1e-5)


def test_several_columns_are_fitted_at_once(table, tmp_path, capsys):
    """Files say what JSON says."""
    options = ("--all-columns", "--skip-missing", "--device", "cpu", "--es", "0.975", "--json")
    code, out, _ = run(capsys, "fit", table, *options, "--out", tmp_path / "fits.npy")
    fits = json.loads(out)["fits"]
    assert code == (0 if all(one["converged"] for one in fits) else 1)
    assert [one["column"] for one in fits] == ["day", "return", "close"]
    alphas = np.load(tmp_path / "fits.npy")["alpha"]
    np.testing.assert_array_equal(alphas, [one["alpha"] for one in fits])
    run(capsys, "fit", table, *options, "--out", tmp_path / "fits.csv")
    rows = pandas.read_csv(tmp_path / "fits.csv", keep_default_na=False).to_dict("records")
    for row, one in zip(rows, fits, strict=True):
        for key in ("column", "status", "message", "converged", "bic"):
            assert row[key] == one[key]
        stderr = one["stderr"]["alpha"] or math.nan
        assert float(row["alpha_stderr"] or "nan") == pytest.approx(stderr, nan_ok=True)
        assert float(row["es_0.975"]) == float(one["risk"][0]["value"])


def test_returns_are_those_of_the_dates(tmp_path, capsys, sample):
    prices = np.exp(np.cumsum(np.r_[0.0, 0.01 * sample]))
    days = np.datetime64("2020-01-01") + np.arange(prices.size)
    options, betas = ("--column", "Close", "--returns", "--json", "--device", "cpu"), []
    texts = [f"2020-01-01,{day}" for day in days], [f"{day:%b %d %Y}" for day in days.tolist()]
    for dates, order in ((days, 1), (days, -1), (days.astype("M8[ms]").astype(int), -1),
                         (texts[0], -1), (texts[1], -1)):  # fmt: skip
        rows = [f"{day},{price!r}" for day, price in zip(dates, prices.tolist(), strict=True)]
        path = tmp_path / "prices.csv"
        path.write_text("\n".join(["Opened,Date,Close" if dates is texts[0] else "Date,Close",
                                   *rows[::order]]))  # fmt: skip
        code, out, err = run(capsys, "fit", path, *options)
        betas.append(json.loads(out)["beta"])
        assert code == 0
        assert err.count("\n") == ("rows were sorted by 'Date'" in err) == (order < 0)
    assert betas[0] > 0.0
    assert set(betas) == {betas[0]}
    path.write_text(path.read_text().replace("Mar", "März", 1))
    code, _, err = run(capsys, "fit", path, *options)
    assert (code, "'Date' holds something else than dates" in err) == (2, True)


def test_files_of_a_spreadsheet_are_read_and_the_reading_is_told(tmp_path, capsys, sample):
    plain, german = tmp_path / "plain.csv", tmp_path / "german.csv"
    values = 1000.0 * np.round(sample, 2)
    plain.write_text("x\n" + "\n".join(map(repr, values.tolist())))
    texts = (f"{v:,.2f}".translate(str.maketrans(",.", ".,")) for v in values)
    german.write_text("\ufeffTag;x\n" + "\n".join(f"Montag;{text}" for text in texts))
    fits = []
    for path in (plain, german):
        code, out, err = run(capsys, "fit", path, "--json", "--device", "cpu")
        fits.append(json.loads(out))
        assert code == 0
    words = "decimal commas, thousands marked by '.', columns separated by semicolon"
    assert err == f"{german}: read with {words}\n"
    assert fits[0]["alpha"] == fits[1]["alpha"]
    options = ("--delimiter", "semicolon", "--decimal", ".", "--column", "x")
    code, _, err = run(capsys, "fit", german, *options)
    assert code == 2
    assert "is not a number" in err


def test_risk_comes_with_intervals_and_a_test(table, capsys):
    options = ("--column", "return", "--skip-missing", "--var", "0.99", "--es", "0.95", "--json")
    code, out, _ = run(capsys, "fit", table, *options, "--device", "cpu")
    report = json.loads(out)
    assert code == 0
    assert [one["measure"] for one in report["risk"]] == ["value_at_risk", "expected_shortfall"]
    assert all(one["low"] < one["value"] < one["high"] for one in report["risk"])
    assert 0.0 < report["kupiec"]["0.99"]["pvalue"] <= 1.0


def test_a_fit_that_did_not_converge_ends_with_1(tmp_path, capsys):
    """The fixed support begins above the data."""
    path = tmp_path / "draws.npy"
    np.save(path, stablegpu.stable(1.5, 0.0, device="cpu").rvs((60, 2), rng=1))
    fixed = [word for value in ("alpha=0.5", "beta=1", "loc=1e9") for word in ("--fix", value)]
    command = ("fit", path, "--all-columns", *fixed, "--device", "cpu", "--json")
    code, out, _ = run(capsys, *command)
    assert code == 1
    assert [one["status"] for one in json.loads(out)["fits"]] == ["impossible"] * 2


def test_values_at_points_of_every_kind(tmp_path, capsys):
    d = stablegpu.stable(1.5, 0.5, loc=1.0, scale=2.0, device="cpu")
    common = ("1.5", "0.5", "--loc", "1", "--scale", "2", "--device", "cpu")
    code, out, _ = run(capsys, "pdf", *common, "--at", "-1e-1", "2", "--json")
    assert code == 0
    assert json.loads(out)["pdf"] == d.pdf([-0.1, 2.0]).tolist()
    code, out, _ = run(capsys, "cdf", *common, "--grid", "-5", "5", "3", "--upper", "--log")
    values = np.loadtxt(io.StringIO(out), delimiter=",", skiprows=1)
    np.testing.assert_array_equal(values[:, 1], d.logsf(np.linspace(-5.0, 5.0, 3)))
    points = tmp_path / "p.csv"
    points.write_text("p\n0\n0.25\n")
    code, out, _ = run(capsys, "quantile", *common, "--file", points, "--json")
    assert json.loads(out)["ppf"] == ["-Infinity", float(d.ppf(0.25))]


def test_samples_are_those_of_the_seed(tmp_path, capsys):
    path = tmp_path / "x.npy"
    assert run(capsys, "rvs", 1.5, 0.5, "--size", 50, "--seed", 7, "--out", path)[:2] == (0, "")
    expected = stablegpu.stable(1.5, 0.5, device="cpu").rvs(50, rng=7)
    np.testing.assert_array_equal(np.load(path), expected)
    _, out, _ = run(capsys, "rvs", 1.5, 0.5, "--size", 50, "--seed", 7)
    np.testing.assert_array_equal(np.array(out.split()[1:], float), expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit", "none.csv"), "none.csv: No such file"),
        (("fit", "{table}"), "choose a column with --column"),
        (("fit", "{table}", "--column", "2"), "--skip-missing leaves"),
        (("fit", "{table}", "--column", "9"), "'return' (2)"),
        (("fit", "{table}", "--column", "3", "--fix", "beta"), "--fix must be NAME=VALUE"),
        (("fit", "{table}", "--column", "3", "--plot", "fit.docx"), "--plot must end with .html"),
        (("fit", "{table}", "--column", "3", "--confidence", "95"), "--confidence must lie in"),
        (("rvs", "1.5", "0", "--size", "0"), "--size must be an integer >= 1"),
        (("quantile", "1.5", "0", "--at", "0.5", "99"), "probabilities in [0, 1], got 99"),
        (("pdf", "1.5", "0", "--at", "nan"), "--at must give numbers, got nan"),
        (("cdf", "1.5", "0", "--grid", "0", "inf", "3"), "--grid must be finite"),
        (("fit", "{table}", "--column", "3", "--var", "99"), "--var must lie in (0, 1)"),
        (("pdf", "1.5", "0"), "one of the arguments --at --grid --file is required"),
        ((), "the following arguments are required"),
    ],
)
def test_mistakes_are_explained_with_exit_code_2(arguments, message, table, capsys, monkeypatch):
    monkeypatch.chdir(table.parent)
    filled = [argument.format(table=table) for argument in arguments]
    code, out, err = run(capsys, *filled)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_a_reader_that_leaves_is_no_error():
    command = [sys.executable, "-m", "stablegpu", "rvs", "1.5", "0", "--size", "300000"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "x\n"
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


def test_results_show_themselves(sample):
    result = stablegpu.fit(sample, device="cpu")
    assert "<img" in result._repr_html_()
    summary = result.summary(0.9)
    assert "90 % interval" in summary
    assert len(result.plot().axes) == 3
    cdf = np.sort(result.distribution.cdf(np.sort(sample)))
    steps = np.arange(sample.size + 1) / sample.size
    distance = max((steps[1:] - cdf).max(), (cdf - steps[:-1]).max())
    assert result.ks_distance == pytest.approx(distance, rel=1e-9)


def test_fit_takes_rounded_and_truncated_data_and_compares(tmp_path, sample, capsys):
    path = tmp_path / "rounded.csv"
    path.write_text("\n".join(["x", *(f"{v:.1f}" for v in np.round(sample) if v > -2.5)]) + "\n")
    common = ("fit", path, "--device", "cpu", "--json", "--quiet")
    options = ("--rounding", 1, "--truncation", -2.5, "--compare", "--plot", tmp_path / "fit.html")
    code, out, _ = run(capsys, *common, *options)
    report = json.loads(out)
    assert code == 0
    assert {model["name"] for model in report["comparison"]} == {"stable", "Student t", "normal"}
    assert report["verdict"].endswith(".")
    assert report["aic"] == pytest.approx(2 * 4 - 2 * report["loglik"])
    code, _, err = run(capsys, *common, "--rounding", 0.7)
    assert code == 2
    assert "must be multiples of rounding=0.7" in err
    code, _, err = run(capsys, *common, "--rounding", 1, "--returns")
    assert code == 2
    assert "leave one of --rounding and --returns out" in err
