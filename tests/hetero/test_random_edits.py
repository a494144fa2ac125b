"""Short campaigns of random edits; `python tools/cache_campaign.py` runs long ones."""

import pytest

from edit_campaign import run_campaign
from package_campaign import run_package_campaign


@pytest.mark.parametrize("edits", [6, pytest.param(2000, marks=pytest.mark.slow)])
def test_random_edits_never_load_stale_code(server, tmp_path, edits):
    counts = run_campaign(server, tmp_path, edits, seed=edits)
    assert counts["hits"] > edits // 10  # the cache was in use


@pytest.mark.parametrize("edits", [12, pytest.param(1000, marks=pytest.mark.slow)])
def test_random_edits_of_a_package_recompile_little_more_than_they_change(server, tmp_path, edits):
    counts = run_package_campaign(server, tmp_path, edits, seed=edits)
    assert counts["edits"] == edits
    assert counts["needless"] <= 0.1 * counts["unchanged"]
    for kind in ("comment", "docstring", "plan", "formula", "constant", "intrinsic", "factor"):
        assert counts[f"needless after {kind}"] == 0
