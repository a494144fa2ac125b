"""Ranks that are called with different arguments all raise an error, and nothing is mixed."""

import functools
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

import rode
import sbth
import stablegpu
import tmd
from hetero.distributed.agreement import agree_on_key, require_same

RANKS = 3


class Communicator:
    """A communicator between threads, with what agreement needs of mpi4py's."""

    def __init__(self, rank, shared, barrier):
        self._rank, self._shared, self._barrier = rank, shared, barrier

    def Get_rank(self):
        return self._rank

    def Get_size(self):
        return RANKS

    def allgather(self, value):
        self._shared[self._rank] = value
        self._barrier.wait()
        values = list(self._shared)
        self._barrier.wait()
        return values

    def bcast(self, value, root=0):
        return self.allgather(value)[root]


def on_ranks(call):
    """Return what call(comm, rank) returns or raises on each rank."""
    shared, barrier = [None] * RANKS, threading.Barrier(RANKS, timeout=60)

    def run(rank):
        try:
            return call(Communicator(rank, shared, barrier), rank)
        except Exception as error:
            return error

    with ThreadPoolExecutor(RANKS) as threads:
        return list(threads.map(run, range(RANKS)))


def make_problem(rate):
    return rode.additive(lambda x, p: (-rate * x[0],), lambda p: (1.0,), dimension=1)


PROBLEM = make_problem(1.0)
DATA = np.random.default_rng(1).standard_t(3, (4, 50))
MATRICES = np.random.default_rng(1).standard_normal((5, 4, 4))


def solve(comm, problem=PROBLEM, paths=100, rng=1, **other):
    settings = {"t_span": (0, 1), "h": 0.25, "delta": 0.125, "reduction": "peaks"} | other
    return rode.solve(problem, "euler", paths=paths, rng=rng, comm=comm, device="cpu", **settings)


def search(comm, bits=20):
    return tmd.search("exp", ("1.5", "0x1.8000008p+0"), bits=bits, comm=comm, device="cpu")


CALLS = {
    "paths": lambda comm, r: solve(comm, paths=1000 + 100 * r),
    "step": lambda comm, r: solve(comm, h=0.25 / (1 + (r == 2))),
    "seed": lambda comm, r: solve(comm, rng=r),
    "a function of the problem": lambda comm, r: solve(comm, make_problem(1.0 + (r == 1))),
    "data": lambda comm, r: stablegpu.fit(DATA + 1e-9 * (r == 1), comm=comm, device="cpu"),
    "method": lambda comm, r: stablegpu.fit(
        DATA, method=("ml", "mcculloch")[r == 2], comm=comm, device="cpu"
    ),
    "points": lambda comm, r: stablegpu.pdf(np.arange(9.0) + r, 1.5, 0.0, comm=comm, device="cpu"),
    "bits": lambda comm, r: search(comm, 20 + (r == 2)),
    "matrices": lambda comm, r: sbth.solve_batch(
        sbth.eigh, MATRICES[:, ::-1] if r else MATRICES, comm=comm, device="cpu"
    ),
    "random numbers": lambda comm, r: stablegpu.stable(1.5, 0.0, comm=comm).rvs(
        9, rng=[5, 6, 5][r]
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_ranks_with_different_arguments_all_raise(name):
    errors = on_ranks(CALLS[name])
    assert all(isinstance(error, ValueError) for error in errors), errors
    assert len(set(map(str, errors))) == 1
    assert "all ranks" in str(errors[0])


def values(rank):
    """Return what is equal on all ranks though it is not the same object."""
    array = np.arange(70_001.0)[:: 1 + (rank > 1)][:30_000].copy()
    array[:] = range(30_000)
    return {
        "array": array, "nan": [float("nan"), Fraction(1, 3), 10**6000],
        "function": make_problem(2.0).H, "partial": functools.partial(solve, paths=3),
        "text": "".join(["a", "b"]), "objects": np.array([1, "x"], object),
    }  # fmt: skip


def test_ranks_with_equal_values_agree():
    assert on_ranks(lambda comm, rank: require_same(comm, **values(rank))) == [None] * RANKS


@pytest.mark.parametrize(("name", "change"), [
    ("array", lambda v: np.roll(v, 1)),
    ("array", lambda v: np.where(np.arange(v.size) == 17_000, -1.0, v)),
    ("array", lambda v: v.view(np.int64)), ("nan", lambda v: [[v[0], v[1]], v[2]]),
    ("function", lambda v: make_problem(3.0).H),
    ("partial", lambda v: functools.partial(solve, paths=4)),
    ("objects", lambda v: np.array([1, "y"], object)),
])  # fmt: skip
def test_any_difference_is_found_and_named(name, change):
    def compare(comm, rank):
        mine = values(rank)
        require_same(comm, **(mine | {name: change(mine[name])} if rank == 2 else mine))

    for error in on_ranks(compare):
        assert str(error).startswith(f"ranks 0 and 2 differ in {name}")


def test_fresh_entropy_is_that_of_the_first_rank():
    assert on_ranks(lambda comm, rank: agree_on_key(comm, (rank, 7), None)) == [(0, 7)] * RANKS
