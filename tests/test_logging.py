"""What the packages tell Python's `logging`: what they are about to compute, and where."""

import logging

import numpy as np
import pytest

import lbm
import rode
import sbth
import stablegpu
import tmd

RUN = {"t_span": (0.0, 1.0), "h": 2.0**-6, "delta": 2.0**-8, "paths": 3, "rng": 1, "device": "cpu"}
CALLS = {
    "stablegpu._fit.batch": (
        lambda: stablegpu.fit(np.arange(40.0).reshape(2, 20), method="mcculloch", device="cpu"),
        "2 sets, 40 observations in all, by mcculloch, on cpu"),
    "sbth._reduction.bands": (
        lambda: sbth.eigvals_banded(np.ones((3, 9)), method="sbth", device="cpu"),
        "order 9, 2 subdiagonals, float64: stages 1, method serial, on cpu"),
    "sbth.sparse": (lambda: sbth.eigsh(np.eye(9), 2),
                    "2 eigenvalues of order 9, float64: band, because an order of at most 300"),
    "tmd.searches": (lambda: tmd.search("exp", (1.0, 1.0 + 2.0**-40), bits=4, device="cpu"),
                     "exp: 4096 arguments, blocks by algorithm: 1 exhaustive, on cpu"),
    "lbm": (lambda: lbm.Simulation((4, 4, 4), device="cpu").run(1), "rank 0 of 1: parts"),
    "rode._solver.runner": (
        lambda: rode.solve(rode.kanai_tajimi(), "averaged-euler", **RUN),
        "3 paths, 64 steps by averaged-euler with 4 fine steps each, float64, on cpu"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_packages_say_what_they_compute(name, caplog):
    call, text = CALLS[name]
    with caplog.at_level(logging.INFO, logger=name):
        call()
    said = [record.getMessage() for record in caplog.records if record.name.startswith(name)]
    assert any(text in message for message in said), said
