"""Streaming patterns as data: where a step reads each population and where it writes it.

An `Address` is a slot (which of the 19 arrays) and a shift (whose cell, relative to the one that
is updated). A pattern has one `Access` for even and one for odd steps. The kernels of both targets,
the halo exchange, the output and the checkpoints all read these tables and nothing else.

A-B: Wellein et al. (2006). A-A: Bailey et al. (2009), the alpha and beta steps of Riesinger
(2017, section 13.3). Esoteric pull: Lehmann (2022), https://doi.org/10.3390/computation10060092.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from lbm._model.lattice import OPPOSITE, PAIRS, C, Q

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
    """

    load: tuple[Address, ...]
    store: tuple[Address, ...]
    wall: tuple[Address, ...]

    @property
    def reflected(self) -> tuple[Address, ...]:
        """Addresses where population q is written if x + c_q is a wall."""
        return tuple(self.wall[q] for q in OPPOSITE)

    @property
    def bounces(self) -> bool:
        """Return whether walls change no address: the step then bounces back by itself."""
        return self.load == self.wall and self.store == self.reflected

    def reaches(self, dx: int) -> bool:
        """Return whether the step uses an address of the neighbour at x + dx."""
        return any(a.shift[0] == dx for a in self.load + self.store + self.wall)


@dataclass(frozen=True)
class Pattern:
    """A streaming pattern.

    Attributes
    ----------
    copies : number of population arrays: 2 if a step reads one and writes the other, 1 in place
    steps : Access of even steps and of odd steps
    """

    name: str
    copies: int
    steps: tuple[Access, Access]


def _against(q: int) -> tuple[int, int, int]:
    """Shift to the cell that population q comes from."""
    return C[OPPOSITE[q]]


def _ab() -> Pattern:
    step = Access(
        load=tuple(Address(q, _against(q)) for q in range(Q)),
        store=tuple(Address(q, NO_SHIFT) for q in range(Q)),
        wall=tuple(Address(OPPOSITE[q], NO_SHIFT) for q in range(Q)),
    )
    return Pattern("ab", 2, (step, step))


def _aa() -> Pattern:
    in_cell = tuple(Address(q, NO_SHIFT) for q in range(Q))
    swapped = tuple(Address(OPPOSITE[q], NO_SHIFT) for q in range(Q))
    alpha = Access(load=in_cell, store=swapped, wall=in_cell)
    beta = Access(
        load=tuple(Address(OPPOSITE[q], _against(q)) for q in range(Q)),
        store=tuple(Address(q, C[q]) for q in range(Q)),
        wall=in_cell,
    )
    return Pattern("aa", 1, (alpha, beta))


def _esoteric_pull() -> Pattern:
    """Store i of each pair (i, j) in the cell and j in its neighbour at +c_i.

    The two slots swap their roles after every step.
    """

    def addresses(odd: bool, stored: bool) -> tuple[Address, ...]:
        result = [Address(0, NO_SHIFT)]
        for i, j in PAIRS:
            near, far = Address(i if odd else j, NO_SHIFT), Address(j if odd else i, C[i])
            result += [far, near] if stored else [near, far]
        return tuple(result)

    wall = addresses(odd=False, stored=False)
    even = Access(addresses(False, False), addresses(False, True), wall)
    odd = Access(addresses(True, False), addresses(True, True), wall)
    return Pattern("esoteric", 1, (even, odd))


PATTERNS = {p.name: p for p in (_ab(), _aa(), _esoteric_pull())}
