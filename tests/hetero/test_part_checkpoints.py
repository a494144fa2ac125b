"""Checkpoints of finished parts: what is stored, what is refused, and that nothing is repeated."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import hetero
import rode
from hetero.distributed.checkpoints import Checkpoint, fingerprint
from hetero.distributed.parts import run_parts

CPU = hetero.Device("cpu")
sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
SETTINGS = importlib.import_module("parts_worker").SETTINGS | {"paths": 40, "device": "cpu"}
"""Those of the other tests of parts, whose compiled code is then on disk."""


def opened(folder, **identity):
    checkpoint = Checkpoint(folder, "results")
    checkpoint.open(identity)
    return checkpoint


def test_finished_parts_are_not_computed_again(tmp_path):
    begun = []

    def compute(part, device):
        begun.append(part)
        if part == 3 and len(begun) < 5:
            raise ValueError("part 3 is wrong")
        return np.full(2, part)

    checkpoint = opened(tmp_path, run=1)
    with pytest.raises(ValueError, match="part 3"):
        run_parts(compute, range(6), devices=[CPU], checkpoint=checkpoint)
    assert begun == [0, 1, 2, 3]
    for _ in range(2):
        results = run_parts(
            compute, range(6), devices=[CPU, CPU], checkpoint=opened(tmp_path, run=1)
        )
        assert [r.tolist() for r in results] == [[k, k] for k in range(6)]
    assert sorted(begun) == [0, 1, 2, 3, 3, 4, 5]


def test_folders_of_other_computations_are_refused(tmp_path):
    opened(tmp_path, run=1, seed=4)
    with pytest.raises(hetero.CheckpointError, match="with seed=4, but this one has 5"):
        opened(tmp_path, run=1, seed=5)
    with pytest.raises(hetero.CheckpointError, match="with more=None"):
        opened(tmp_path, run=1, seed=4, more=1)
    (tmp_path / "results.json").write_text("[]")
    with pytest.raises(hetero.CheckpointError, match="is not of a checkpoint"):
        opened(tmp_path, run=1)


def test_damaged_parts_are_named(tmp_path):
    checkpoint = opened(tmp_path, run=1)
    checkpoint.add(2, "result")
    path = tmp_path / "results-2.part"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(hetero.CheckpointError, match=r"results-2\.part is damaged: remove"):
        checkpoint.load(3)


def test_fingerprints_follow_code_constants_and_closures():
    def make(number):
        return lambda x: number * x

    one, two = make(1.0), make(2.0)
    assert fingerprint(one) == fingerprint(make(1.0)) != fingerprint(two)
    assert fingerprint(lambda x: x + 1.0) != fingerprint(lambda x: x + 2.0)
    assert fingerprint(lambda x: x + 1.0) != fingerprint(lambda x: x - 1.0)


def test_a_run_continues_and_is_the_same(tmp_path, monkeypatch):
    """The first call is interrupted after five of eight parts, in the second run for quantiles."""
    from rode._solver import shares

    computed, compute = [], shares.compute

    def count(share, device):
        computed.append(share.plan.first_path)
        if len(computed) == 6:
            raise KeyboardInterrupt
        return compute(share, device)

    problem = rode.relaxation()
    expected = rode.solve(problem, "averaged-heun", parts=4, **SETTINGS)
    monkeypatch.setattr(shares, "compute", count)
    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        rode.solve(problem, "averaged-heun", parts=4, checkpoint=folder, **SETTINGS)
    for _ in range(2):
        found = rode.solve(problem, "averaged-heun", checkpoint=folder, **SETTINGS)
        for name in ("paths", "mean", "variance", "peaks", "quantiles"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert computed == [0, 10, 20, 30, 0, 10, 10, 20, 30]


def test_other_settings_of_a_run_are_refused(tmp_path):
    def solve(problem, **settings):
        return rode.solve(problem, "averaged-heun", checkpoint=tmp_path, **SETTINGS | settings)

    solve(rode.relaxation(), paths=4)
    with pytest.raises(hetero.CheckpointError, match="with paths=4, but this one has 40"):
        solve(rode.relaxation())
    with pytest.raises(hetero.CheckpointError, match="with key="):
        solve(rode.relaxation(), paths=4, rng=4)
    other = rode.additive(lambda x, p: (-2.0 * x[0],), lambda p: (1.0,), dimension=1, linear=True)
    with pytest.raises(hetero.CheckpointError):
        solve(other, paths=4)
    with pytest.raises(ValueError, match="checkpoint needs rng"):
        solve(rode.relaxation(), paths=4, rng=None)
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="is a file"):
        rode.solve(rode.relaxation(), "averaged-heun", checkpoint=tmp_path / "file", **SETTINGS)
