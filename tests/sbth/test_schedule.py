"""Wavefronts run every task once, after its dependencies, and never two that share elements."""

import itertools

import pytest

from sbth._reduction.bulge_chasing import schedule_formulas as schedule


def wavefronts(n, d, b):
    """Return the tasks (sweep, number) of each step."""
    return [
        [(s, t - 2 * s) for s in range(*schedule.sweeps_in_step(t, n, d, b))]
        for t in range(schedule.step_count(n, d, b))
    ]


def modified_elements(s, k, n, d, b):
    """Return the (row, column) of all elements that a task modifies."""
    c0, m, rows = schedule.block_extents(s, k, n, d, b)
    return {(i, j) for j in range(c0, c0 + m) for i in range(j, c0 + m + rows)}


CASES = [(3, 2, 1), (9, 2, 1), (24, 5, 1), (17, 16, 1), (31, 7, 3), (40, 9, 8), (34, 33, 32)]


@pytest.mark.parametrize(("n", "d", "b"), CASES)
def test_every_task_runs_once_after_its_dependencies(n, d, b):
    tasks = {
        (s, k)
        for s in range(schedule.sweep_count(n, b))
        for k in range(schedule.last_task(s, n, d, b) + 1)
    }
    fronts = wavefronts(n, d, b)
    assert sorted(itertools.chain(*fronts)) == sorted(tasks)
    step = {task: t for t, front in enumerate(fronts) for task in front}
    for s, k in tasks:
        assert k == 0 or step[s, k - 1] < step[s, k]
        if s > 0:
            before = min(k + 1, schedule.last_task(s - 1, n, d, b))
            assert step[s - 1, before] < step[s, k]
            assert b > 1 or schedule.required_progress(s, k, n, d) == before + 1


@pytest.mark.parametrize(("n", "d", "b"), CASES)
def test_tasks_of_a_wavefront_modify_different_elements(n, d, b):
    for front in wavefronts(n, d, b):
        for one, other in itertools.combinations(front, 2):
            assert not modified_elements(*one, n, d, b) & modified_elements(*other, n, d, b)
