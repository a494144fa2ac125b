"""The lattices and the streaming patterns, as data."""

import dataclasses
import itertools

import pytest

from lbm.lattices import CS2, D3Q19, D3Q27, LATTICES, choose_lattice, lattice_of_size
from lbm.lattices.streaming_patterns import PATTERNS, make_pattern

ALL_LATTICES = pytest.mark.parametrize("lattice", LATTICES.values(), ids=LATTICES)
ALL_PATTERNS = pytest.mark.parametrize(
    "pattern", [make_pattern(p, lattice) for p in PATTERNS for lattice in LATTICES.values()],
    ids=lambda p: f"{p.name}-{p.lattice.name}",
)  # fmt: skip


def moment(lattice, *axes):
    total = 0
    for w, c in zip(lattice.exact_weights, lattice.velocities, strict=True):
        for a in axes:
            w = w * c[a]
        total += w
    return total


def test_velocities_are_the_nineteen_and_the_twenty_seven():
    cube = list(itertools.product((-1, 0, 1), repeat=3))
    assert (D3Q19.size, D3Q27.size) == (19, 27)
    assert set(D3Q19.velocities) == {c for c in cube if sum(map(abs, c)) < 3}
    assert set(D3Q27.velocities) == set(cube)
    assert D3Q27.velocities[:19] == D3Q19.velocities


@ALL_LATTICES
def test_weights_are_isotropic_to_fourth_order(lattice):
    assert moment(lattice) == 1
    for axes in itertools.product(range(3), repeat=2):
        assert moment(lattice, *axes) == CS2 * (axes[0] == axes[1])
    for a, b, c, d in itertools.product(range(3), repeat=4):
        pairs = (a == b) * (c == d) + (a == c) * (b == d) + (a == d) * (b == c)
        assert moment(lattice, a, b, c, d) == CS2**2 * pairs
    for n in (1, 3, 5):
        assert all(moment(lattice, *axes) == 0 for axes in itertools.product(range(3), repeat=n))


@ALL_LATTICES
def test_opposites(lattice):
    for q, c in enumerate(lattice.velocities):
        assert lattice.velocities[lattice.opposite[q]] == tuple(-x for x in c)
    assert sorted(q for pair in lattice.pairs for q in pair) == list(range(1, lattice.size))


def test_other_lattices_are_refused():
    for lattice in ("D3Q15", 27, None):
        with pytest.raises(ValueError, match="lattice must be one of 'D3Q19', 'D3Q27'"):
            choose_lattice(lattice)
    with pytest.raises(ValueError, match="no lattice has 15 populations"):
        lattice_of_size(15)
    heavy = dataclasses.replace(D3Q19, exact_weights=D3Q19.exact_weights[::-1])
    turned = dataclasses.replace(D3Q27, velocities=D3Q27.velocities[::-1])
    for lattice in (heavy, turned):
        with pytest.raises(ValueError, match=r"but has other velocities or weights: use lbm\.D3Q"):
            choose_lattice(lattice)


@ALL_PATTERNS
def test_a_step_reads_what_the_previous_step_has_stored(pattern):
    for odd in (0, 1):
        now, later = pattern.steps[odd], pattern.steps[1 - odd]
        for q in range(pattern.lattice.size):  # stored by x, loaded by x + c
            stored, loaded = now.store[q], later.load[q]
            c = pattern.lattice.velocities[q]
            shift = tuple(x + s for x, s in zip(c, loaded.shift, strict=True))
            assert (stored.slot, stored.shift) == (loaded.slot, shift)


@ALL_PATTERNS
def test_no_two_cells_use_an_address(pattern):
    for access in pattern.steps:
        for addresses in (access.load, access.store):
            # Each slot is used once, so that cells never collide.
            assert len({a.slot for a in addresses}) == pattern.lattice.size
        if pattern.copies == 1:
            assert set(access.load) == set(access.store)


@ALL_PATTERNS
def test_a_wall_has_the_same_address_in_every_step_and_no_other_cell_uses_it(pattern):
    (even, odd), c = pattern.steps, pattern.lattice.velocities
    assert even.wall == odd.wall
    for access in pattern.steps:
        for q in range(1, len(c)):
            wall = access.wall[q]
            for k in range(len(c)):
                # The cell x + wall.shift - address.shift loads from the wall's address of cell x.
                address = access.load[k]
                if address.slot != wall.slot:
                    continue
                user = tuple(a - b for a, b in zip(wall.shift, address.shift, strict=True))
                back = tuple(-x for x in c[q])
                assert user == (0, 0, 0) or user == back  # itself, or the wall's cell
