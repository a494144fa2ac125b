"""Ranks of a host share its cores."""

import socket
import warnings
from types import SimpleNamespace

import numba
import pytest

import hetero
from lbm._parallel.ranks import communication

HERE, THERE = socket.gethostname(), "another host"
LAUNCHER = frozenset(range(8))
"""Cores that the launcher may use."""


@pytest.fixture
def start(monkeypatch):
    """Return a function that starts ranks with cores of their own, and returns the threads."""

    def start(rank, everyone, chosen=None):
        calls = []
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", len(everyone[rank][1]))
        monkeypatch.setattr(hetero, "threads", lambda: chosen or len(everyone[rank][1]))
        monkeypatch.setattr(hetero, "set_threads", calls.append)
        mine = everyone[rank][1]
        monkeypatch.setattr(
            communication, "usable_cores", lambda process=0: LAUNCHER if process else mine
        )
        communication.share_cores(SimpleNamespace(rank=rank, size=len(everyone),
                                          gather_all=lambda value: everyone))  # fmt: skip
        return calls

    monkeypatch.setattr(communication, "_shares", set())
    for name in ("NUMBA_NUM_THREADS", communication.COUNT_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    return start


def test_ranks_that_may_use_the_same_cores_share_them_and_others_use_their_own(start):
    everyone = [(HERE, LAUNCHER)] * 3 + [(THERE, LAUNCHER)]
    assert start(0, everyone) == [2]
    assert start(0, [(HERE, frozenset({0, 1}))] * 3) == [1]
    assert start(1, [(HERE, frozenset({0, 1, 2})), (HERE, frozenset({3, 4, 5}))]) == [3]
    assert start(0, [(HERE, LAUNCHER)]) == []  # a process alone uses all cores


def test_a_chosen_number_of_threads_stays(start, monkeypatch):
    everyone = [(HERE, LAUNCHER)] * 2
    assert start(0, everyone, chosen=7) == []
    monkeypatch.setenv("NUMBA_NUM_THREADS", "8")
    assert start(0, everyone) == []


def test_idle_cores_are_told_once(start, monkeypatch):
    monkeypatch.setenv(communication.COUNT_VARIABLE, "2")
    bound = [(HERE, frozenset({0})), (HERE, frozenset({1}))]
    with pytest.warns(UserWarning, match=r"use 2 of the 8 cores .* --bind-to none"):
        start(0, bound)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        start(1, bound)
        start(0, [(HERE, LAUNCHER)] * 2)
    monkeypatch.setenv(communication.COUNT_VARIABLE, "1")
    with pytest.warns(UserWarning, match="use 1 of the 8 cores"):
        start(0, [(HERE, frozenset({0}))])
