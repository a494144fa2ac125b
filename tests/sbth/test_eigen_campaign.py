"""A part of `python tools/eigen_campaign.py`: random matrices, ways, subsets and shifts."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).parents[2] / "tools" / "eigen_campaign.py"


@pytest.fixture(scope="module")
def campaign():
    """Import the tool, which is in no package."""
    spec = importlib.util.spec_from_file_location("eigen_campaign", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("first", [0, 20, 40])
def test_random_cases(first, campaign):
    for number in range(first, first + 20):
        assert campaign.run_case(4, number)[1] == ""


def test_wrong_results_are_deviations(campaign, monkeypatch, capsys):
    """A lost pair, a wrong vector and a wrong index are found, and the exit status is 1."""

    def spoil(function, change):
        return lambda *arguments, **options: change(*function(*arguments, **options))

    case = campaign.Case(1, 5)
    n, (w, v) = case.n, np.linalg.eigh(case.unit)
    case.judge("a", None, w * case.scale, v)
    for values, vectors in (
        (w[1:], v[:, 1:]),
        (w, np.hstack([v[:, :1], v[:, :-1]])),
        (w + 1e-6, v),
        (w, v * (1.0 + 1e-6)),
    ):
        with pytest.raises(campaign.Deviation):
            case.judge("a", None, values * case.scale, vectors)
    assert n > 1
    reverse = spoil(campaign.sbth.eigh, lambda w, v: (w, v[:, ::-1]))
    monkeypatch.setattr(campaign.sbth, "eigh", reverse, raising=False)
    assert campaign.main(["--cases", "20", "--seed", "4"]) == 1
    assert "python tools/eigen_campaign.py --seed 4 --first" in capsys.readouterr().out
