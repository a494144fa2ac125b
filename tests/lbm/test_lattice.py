"""The lattice and the streaming patterns, as data."""

import itertools

import pytest

from lbm._model.lattice import CS2, OPPOSITE, PAIRS, W_EXACT, C, Q
from lbm._model.streaming_patterns import PATTERNS


def moment(*axes):
    total = 0
    for w, c in zip(W_EXACT, C, strict=True):
        for a in axes:
            w = w * c[a]
        total += w
    return total


def test_velocities_are_the_nineteen():
    assert Q == 19
    assert set(C) == {c for c in itertools.product((-1, 0, 1), repeat=3) if sum(map(abs, c)) < 3}


def test_weights_are_isotropic_to_fourth_order():
    assert moment() == 1
    for axes in itertools.product(range(3), repeat=2):
        assert moment(*axes) == CS2 * (axes[0] == axes[1])
    for a, b, c, d in itertools.product(range(3), repeat=4):
        pairs = (a == b) * (c == d) + (a == c) * (b == d) + (a == d) * (b == c)
        assert moment(a, b, c, d) == CS2**2 * pairs
    for n in (1, 3, 5):
        assert all(moment(*axes) == 0 for axes in itertools.product(range(3), repeat=n))


def test_opposites():
    for q, c in enumerate(C):
        assert C[OPPOSITE[q]] == tuple(-x for x in c)
    assert sorted(q for pair in PAIRS for q in pair) == list(range(1, Q))


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=str)
def test_a_step_reads_what_the_previous_step_has_stored(pattern):
    for odd in (0, 1):
        now, later = pattern.steps[odd], pattern.steps[1 - odd]
        for q in range(Q):  # stored by x, loaded by x + c
            stored, loaded = now.store[q], later.load[q]
            shift = tuple(c + s for c, s in zip(C[q], loaded.shift, strict=True))
            assert (stored.slot, stored.shift) == (loaded.slot, shift)


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=str)
def test_no_two_cells_use_an_address(pattern):
    for access in pattern.steps:
        for addresses in (access.load, access.store):
            assert len({a.slot for a in addresses}) == Q  # each once, so that cells never collide
        if pattern.copies == 1:
            assert set(access.load) == set(access.store)


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=str)
def test_a_wall_has_the_same_address_in_every_step_and_no_other_cell_uses_it(pattern):
    even, odd = pattern.steps
    assert even.wall == odd.wall
    for access in pattern.steps:
        for q in range(1, Q):
            wall = access.wall[q]
            for k in range(Q):
                # The cell x + wall.shift - address.shift loads from the wall's address of cell x.
                address = access.load[k]
                if address.slot != wall.slot:
                    continue
                user = tuple(a - b for a, b in zip(wall.shift, address.shift, strict=True))
                back = tuple(-c for c in C[q])
                assert user == (0, 0, 0) or user == back  # itself, or the wall's cell
