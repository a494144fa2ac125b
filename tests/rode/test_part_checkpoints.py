"""Checkpoints of finished parts: what is stored, what is refused, and that nothing is repeated."""

import functools
import importlib
import importlib.util
import pickle

import numpy as np
import pytest

import hetero
import parts_worker
import rode
from rode._solver import finished_parts
from rode._solver.finished_parts import Checkpoint

SETTINGS = parts_worker.SETTINGS | {"paths": 40, "device": "cpu"}
"""Those of the other tests of parts, whose compiled code is then on disk."""


def opened(folder, **identity):
    checkpoint = Checkpoint(folder, "results")
    checkpoint.open(identity)
    return checkpoint


def test_folders_of_other_computations_are_refused(tmp_path):
    opened(tmp_path, run=1, seed=4)
    with pytest.raises(hetero.CheckpointError, match="with seed=4, but this one has 5"):
        opened(tmp_path, run=1, seed=5)
    with pytest.raises(hetero.CheckpointError, match="with more=None"):
        opened(tmp_path, run=1, seed=4, more=1)
    (tmp_path / "results.json").write_text("[]")
    with pytest.raises(hetero.CheckpointError, match="is not of a checkpoint"):
        opened(tmp_path, run=1)


USER_MODULE = """
import numba
import numpy as np

K = 1.0
PAIR = 1.0, 2.0
TABLE = np.ones(5000)

@numba.njit(cache=True)
def kept_by_numba(x):
    return x * 1.0

def helper(x, factor=1.0):
    return x * factor

def H(x, p):
    return (-K * PAIR[1] * TABLE[2500] * helper(x[0]) + 0.0 * kept_by_numba(x[0]),)

def B(p):
    return (1.0,)
"""

EDITS = [
    ("K = 1.0", "K = 1.5"),
    ("PAIR = 1.0, 2.0", "PAIR = 1.0, 2.5"),
    ("np.ones(5000)", "np.ones(5000); TABLE[2500] = 1.5"),
    ("x * factor", "x / factor"),
    ("factor=1.0", "factor=1.5"),
    ("return x * 1.0", "return x * 1.5"),
]


@pytest.fixture
def solve_with(tmp_path):
    """Return a function that solves the problem of a module's text, with one checkpoint for all."""

    def solve(text, name="user_model"):
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        problem = rode.additive(module.H, module.B, dimension=1, start=(1.0,))
        run = {"t_span": (0, 0.5), "h": 0.25, "delta": 0.125, "paths": 4, "parts": 2, "rng": 1}
        folder = tmp_path / "parts"
        return rode.solve(problem, "euler", **run, reduction="peaks", checkpoint=folder).peaks

    return solve


def test_a_checkpoint_is_refused_after_a_change_of_anything_that_functions_use(solve_with):
    reference = solve_with(USER_MODULE)
    same = USER_MODULE.replace("K = 1.0", "# a comment\nK = 1.0\nUNUSED = 3")
    assert np.array_equal(solve_with(same), reference)
    for old, new in EDITS:
        assert USER_MODULE.count(old) == 1
        with pytest.raises(hetero.CheckpointError, match="function H"):
            solve_with(USER_MODULE.replace(old, new))


def test_a_checkpoint_refuses_functions_that_cannot_be_compared(solve_with):
    text = USER_MODULE.replace("K = 1.0", "K = 1.0\nclass Options: PAIR = (0, 1)\nPAIR = Options()")
    with pytest.raises(ValueError, match=r"checkpoint: .* whether H of the problem is the same"):
        solve_with(text.replace("PAIR = 1.0, 2.0\n", "").replace("PAIR[1]", "PAIR.PAIR[1]"))


def test_a_checkpoint_is_refused_after_a_change_of_a_general_equation_or_of_a_functionals_end(
    tmp_path,
):
    run = {"t_span": (0, 0.5), "h": 0.25, "paths": 4, "parts": 2, "rng": 1, "sampling": "exact"}
    start_and_step = list(rode.energy().functions.values())[:2]

    def solve(rate, factor):
        problem = rode.general(lambda t, x, o, p: (rate * x[0] + o,), dimension=1)
        scale = functools.partial(lambda factor, state: factor * state[0], factor)
        final = rode.Functional("e", *start_and_step, scale)
        return rode.solve(problem, "euler", **run, reduction=final, checkpoint=tmp_path / "parts")

    reference = solve(-1.0, 1.0)
    assert np.array_equal(solve(-1.0, 1.0).values["e"], reference.values["e"])
    for rate, factor, name in ((-2.0, 1.0, "function f"), (-1.0, 2.0, "function final")):
        with pytest.raises(hetero.CheckpointError, match=name):
            solve(rate, factor)


def test_a_run_continues_and_is_the_same(tmp_path, monkeypatch):
    """The first call is interrupted after five of eight parts, in the second run for quantiles."""
    from rode import solving

    computed, compute = [], solving.compute

    def count(part, device):
        computed.append(part.first_path)
        if len(computed) == 6:
            raise KeyboardInterrupt
        return compute(part, device)

    problem = rode.relaxation()
    expected = rode.solve(problem, "averaged-heun", parts=4, **SETTINGS)
    monkeypatch.setattr(solving, "compute", count)
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


class Planted:
    def __reduce__(self):
        return pytest.fail, ("a file has run code",)


def test_planted_code_does_not_run(tmp_path):
    checkpoint = Checkpoint(tmp_path, "results")
    checkpoint.open({})
    checkpoint.add(0, [1])
    path = tmp_path / "results-0.part"
    for payload in (pickle.dumps(Planted()), b"", b"PK"):
        path.write_bytes(finished_parts._digest_of(payload) + payload)
        with pytest.raises(hetero.CheckpointError, match="is damaged"):
            checkpoint.load(1)
