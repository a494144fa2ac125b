"""A short campaign of random edits; `python tools/cache_campaign.py` runs long ones."""

import os

import pytest

from edit_campaign import run_campaign
from fork_server import ForkServer
from hetero.cuda.driver import SIMULATOR

pytestmark = [
    pytest.mark.skipif(SIMULATOR, reason="the cache is for compiled code"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked"),
]


@pytest.mark.parametrize("edits", [30, pytest.param(2000, marks=pytest.mark.slow)])
def test_random_edits_never_load_stale_code(tmp_path, edits):
    server = ForkServer(tmp_path)
    try:
        counts = run_campaign(server, tmp_path, edits, seed=edits)
    finally:
        server.close()
    assert counts["hits"] > edits // 10  # the cache was in use
