"""Streaming patterns as data: where a step reads each population and where it writes it.

An `Address` is a slot (which of the arrays of populations) and a shift (whose cell, relative to the
one that is updated). A pattern of a lattice has one `Access` for even and one for odd steps. The
kernels of both targets, the halo exchange, the output and the checkpoints all read these tables and
nothing else.

A-B: Wellein et al. (2006). A-A: Bailey et al. (2009), the alpha and beta steps of Riesinger
(2017, section 13.3). Esoteric pull: Lehmann (2022), https://doi.org/10.3390/computation10060092.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from lbm.lattices import Lattice

NO_SHIFT = (0, 0, 0)


class Address(NamedTuple):
    """A slot of the cell at `shift` from the one that is updated."""

    slot: int
    shift: tuple[int, int, int]


@dataclass(frozen=True)
class Access:
    """Addresses that one step uses, each tuple indexed by population.

    Attributes
    ----------
    load : where population q, arriving from x - c_q, is read
    store : where it is written after the collision, on its way to x + c_q
    wall : where population q is read instead if x - c_q is a wall, and where the step writes the
        reflection of its opposite. This address is the same in every step, and no other cell uses
        it.
    opposite : the populations with the opposite velocities
    """

    load: tuple[Address, ...]
    store: tuple[Address, ...]
    wall: tuple[Address, ...]
    opposite: tuple[int, ...]

    @functools.cached_property
    def reflected(self) -> tuple[Address, ...]:
        """Addresses where population q is written if x + c_q is a wall."""
        return tuple(self.wall[q] for q in self.opposite)

    @functools.cached_property
    def bounces(self) -> bool:
        """Return whether walls change no address: the step then bounces back by itself."""
        return self.load == self.wall and self.store == self.reflected

    @functools.cached_property
    def shifts_along_x(self) -> frozenset[int]:
        """Shifts along x of all addresses that the step uses."""
        return frozenset(a.shift[0] for a in self.load + self.store + self.wall)


@dataclass(frozen=True)
class Pattern:
    """A streaming pattern of a lattice.

    Attributes
    ----------
    name : of the pattern
    lattice : the lattice
    copies : number of population arrays: 2 if a step reads one and writes the other, 1 in place
    steps : Access of even steps and of odd steps
    """

    name: str
    lattice: Lattice
    copies: int
    steps: tuple[Access, Access]


def _ab(lattice: Lattice) -> Pattern:
    step = Access(
        load=tuple(Address(q, _against(lattice, q)) for q in range(lattice.size)),
        store=tuple(Address(q, NO_SHIFT) for q in range(lattice.size)),
        wall=tuple(Address(q, NO_SHIFT) for q in lattice.opposite),
        opposite=lattice.opposite,
    )
    return Pattern("ab", lattice, 2, (step, step))


def _aa(lattice: Lattice) -> Pattern:
    c, opposite = lattice.velocities, lattice.opposite
    in_cell = tuple(Address(q, NO_SHIFT) for q in range(lattice.size))
    swapped = tuple(Address(q, NO_SHIFT) for q in opposite)
    alpha = Access(load=in_cell, store=swapped, wall=in_cell, opposite=opposite)
    beta = Access(
        load=tuple(Address(opposite[q], _against(lattice, q)) for q in range(lattice.size)),
        store=tuple(Address(q, c[q]) for q in range(lattice.size)),
        wall=in_cell,
        opposite=opposite,
    )
    return Pattern("aa", lattice, 1, (alpha, beta))


def _esoteric_pull(lattice: Lattice) -> Pattern:
    """Store i of each pair (i, j) in the cell and j in its neighbour at +c_i.

    The two slots swap their roles after every step.
    """

    def addresses(odd: bool, stored: bool) -> tuple[Address, ...]:
        result = [Address(0, NO_SHIFT)]
        for i, j in lattice.pairs:
            near = Address(i if odd else j, NO_SHIFT)
            far = Address(j if odd else i, lattice.velocities[i])
            result += [far, near] if stored else [near, far]
        return tuple(result)

    wall, opposite = addresses(odd=False, stored=False), lattice.opposite
    even = Access(addresses(False, False), addresses(False, True), wall, opposite)
    odd = Access(addresses(True, False), addresses(True, True), wall, opposite)
    return Pattern("esoteric", lattice, 1, (even, odd))


def _against(lattice: Lattice, q: int) -> tuple[int, int, int]:
    """Return the shift to the cell that population q comes from."""
    return lattice.velocities[lattice.opposite[q]]


PATTERNS: dict[str, Callable[[Lattice], Pattern]] = {
    "ab": _ab,
    "aa": _aa,
    "esoteric": _esoteric_pull,
}
"""Functions by the names of patterns; each makes the pattern of a lattice."""


@functools.cache
def make_pattern(name: str, lattice: Lattice) -> Pattern:
    """Return the pattern of this name for a lattice."""
    return PATTERNS[name](lattice)
